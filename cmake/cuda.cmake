# The CUDA engine's module, which the library loads at run time where there is one. `make gpu` builds it with nvcc, for
# the devices of STONET_CUDA_ARCHITECTURES and, as code that the driver compiles, for later ones. For the tests it is
# built with the processor for a device too (x86-64, where there is a C++ compiler).
set(STONET_CUDA_ARCHITECTURES "80;90a" CACHE STRING "compute capabilities the CUDA module is built for")
file(GLOB STONET_CUDA_SOURCES CONFIGURE_DEPENDS src/engine/cuda*.cu src/engine/cuda*.cuh src/engine/cuda_module.h)
find_program(STONET_NVCC nvcc HINTS /usr/local/cuda/bin ENV CUDA_HOME PATH_SUFFIXES bin)
mark_as_advanced(STONET_NVCC)
if(STONET_NVCC)
  set(STONET_NVCC_CODES "")
  foreach(architecture ${STONET_CUDA_ARCHITECTURES})
    list(APPEND STONET_NVCC_CODES -gencode=arch=compute_${architecture},code=sm_${architecture})
    string(REPLACE "a" "" latest ${architecture})
  endforeach()
  list(APPEND STONET_NVCC_CODES -gencode=arch=compute_${latest},code=compute_${latest})
  if("90a" IN_LIST STONET_CUDA_ARCHITECTURES) # with the instructions that Hopper devices alone have
    list(APPEND STONET_NVCC_CODES -DSN_CUDA_SM90A)
  endif()
  set(module ${PROJECT_BINARY_DIR}/lib/libstonet-cuda.so)
  add_custom_command(
    OUTPUT ${module}
    COMMAND ${STONET_NVCC} -std=c++17 -O3 --prec-div=false -ftz=true -lineinfo ${STONET_NVCC_CODES} -Xcompiler -fPIC,-fvisibility=hidden -shared
            -I ${PROJECT_SOURCE_DIR}/src -o ${module} ${PROJECT_SOURCE_DIR}/src/engine/cuda_module.cu
    DEPENDS ${STONET_CUDA_SOURCES}
    COMMENT "Building the CUDA module"
    VERBATIM)
  add_custom_target(stonet_cuda DEPENDS ${module})
  install(FILES ${module} DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
endif()

if(STONET_TESTS AND NOT STONET_SANITIZE AND NOT STONET_FUZZ AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  include(CheckLanguage)
  check_language(CXX)
  if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
    add_library(stonet_cuda_emulated MODULE src/engine/cuda_emulated.cpp)
    set_target_properties(stonet_cuda_emulated PROPERTIES CXX_STANDARD 17 CXX_VISIBILITY_PRESET hidden
                                                          LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    target_include_directories(stonet_cuda_emulated PRIVATE src)
    target_compile_options(stonet_cuda_emulated PRIVATE -O2 -Wall -Wextra -Wno-unknown-pragmas
                                                        $<$<BOOL:${STONET_WERROR}>:-Werror>)
  endif()
endif()
