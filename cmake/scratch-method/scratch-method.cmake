# A method is one file and one line in the registry: the program and the library once more with a method that
# has no other line anywhere, and a test that asks every place where methods show up.
file(READ src/methods/registry.c registry)
string(REPLACE "    /* end of the list */" "    method(scratch) \\\n    /* end of the list */" with_scratch "${registry}")
if(with_scratch STREQUAL registry)
  message(FATAL_ERROR "src/methods/registry.c has no end of its list to add a method at")
endif()
file(CONFIGURE OUTPUT scratch/registry.c CONTENT "${with_scratch}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/methods/registry.c)

# The archive's own registry is not taken, since this one has its symbols already.
add_executable(stonet_scratch cmake/scratch-method/scratch.c ${PROJECT_BINARY_DIR}/scratch/registry.c
                              $<TARGET_OBJECTS:stonet>)
target_include_directories(stonet_scratch PRIVATE src)
target_link_libraries(stonet_scratch PRIVATE stonet_internal stonet_flags)
set_target_properties(stonet_scratch PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/scratch
                                                OUTPUT_NAME stonet)
add_library(stonet_scratch_shared SHARED cmake/scratch-method/scratch.c ${PROJECT_BINARY_DIR}/scratch/registry.c
            $<FILTER:$<TARGET_OBJECTS:stonet_objects>,EXCLUDE,methods/registry>)
target_include_directories(stonet_scratch_shared PRIVATE include src)
target_link_libraries(stonet_scratch_shared PRIVATE PkgConfig::STONET_DEPENDS OpenMP::OpenMP_C m stonet_flags)
set_target_properties(stonet_scratch_shared PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/scratch
                                                       C_VISIBILITY_PRESET hidden)

if(NOT STONET_SANITIZE) # a Python without the sanitizers cannot load a library with them
  find_program(STONET_PYTHON python3)
endif()
add_test(NAME scratch_method
         COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:stonet_scratch>
                 -DLIBRARY=$<TARGET_FILE:stonet_scratch_shared> -DPYTHON=${STONET_PYTHON}
                 -DFOLDER=${PROJECT_BINARY_DIR}/scratch -DSOURCE=${PROJECT_SOURCE_DIR}
                 -P ${PROJECT_SOURCE_DIR}/cmake/scratch-method/check.cmake)
set_tests_properties(scratch_method PROPERTIES TIMEOUT 1200)
