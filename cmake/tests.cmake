# Tests live beside what they test: src/ROOM/test_THING.c becomes the test ROOM_THING.
enable_testing()
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
file(GLOB STONET_TEST_SOURCES CONFIGURE_DEPENDS src/*/test_*.c cli/test_*.c paper/test_*.c)
foreach(source ${STONET_TEST_SOURCES})
  get_filename_component(room ${source} DIRECTORY)
  get_filename_component(room ${room} NAME)
  get_filename_component(thing ${source} NAME_WE)
  string(REGEX REPLACE "^test_" "" thing ${thing})
  set(name ${room}_${thing})
  add_executable(test_${name} ${source})
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR} src)
  target_link_libraries(test_${name} PRIVATE stonet_internal stonet_flags PkgConfig::CMOCKA)
  if(room STREQUAL "paper") # a program is no library: its files, but the one with main, go into the test
    file(GLOB paper_sources CONFIGURE_DEPENDS paper/*.c)
    list(FILTER paper_sources EXCLUDE REGEX "/(test_[^/]*|main)\\.c$")
    target_sources(test_${name} PRIVATE ${paper_sources} ${STONET_CLI_PARTS})
  elseif(name STREQUAL "cli_svg")
    target_sources(test_${name} PRIVATE cli/progress.c cli/room.c cli/say.c) # beside those that it includes
  endif()
  add_test(NAME ${name} COMMAND test_${name})
  # The limit ends what hangs; no test may come near it, on a busy machine either.
  set_tests_properties(${name} PROPERTIES TIMEOUT 1200
    ENVIRONMENT "STONET_PROGRAM=$<TARGET_FILE_DIR:test_${name}>/../bin/stonet;STONET_GOLDEN=${PROJECT_SOURCE_DIR};OMP_WAIT_POLICY=passive;ASAN_OPTIONS=allocator_may_return_null=1")
endforeach()

# GCC 12 for ARM breaks down when it makes vectors of a sum in this file.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  set_source_files_properties(src/net/test_backprop.c PROPERTIES COMPILE_OPTIONS -fno-tree-vectorize)
endif()

# Models of every release, and fits, give what they gave by all kernels: the best of the machine above, and the others.
set(paths portable)
if(EXISTS /proc/cpuinfo AND NOT CMAKE_CROSSCOMPILING)
  file(STRINGS /proc/cpuinfo avx2 REGEX "[ \t]avx2( |$)" LIMIT_COUNT 1)
  if(avx2)
    list(APPEND paths avx2)
  endif()
endif()
foreach(path ${paths})
  foreach(name model_old_files choice_kept)
    add_test(NAME ${name}_${path} COMMAND test_${name})
    set_tests_properties(${name}_${path} PROPERTIES TIMEOUT 1200
      ENVIRONMENT "STONET_CPU=${path};STONET_GOLDEN=${PROJECT_SOURCE_DIR};OMP_WAIT_POLICY=passive")
  endforeach()
endforeach()

# Those that take longest begin first, so that no processor waits for one of them at the end.
set_tests_properties(cli_ranks model_defaults refit_calibrate stats_independence PROPERTIES COST 100)

# The CUDA engine's kernels with the processor for a device.
if(TARGET stonet_cuda_emulated)
  foreach(name engine_cuda engine_contract model_responses)
    add_test(NAME ${name}_emulated COMMAND test_${name})
    add_dependencies(test_${name} stonet_cuda_emulated)
    set_tests_properties(${name}_emulated PROPERTIES TIMEOUT 1200 COST 100
      ENVIRONMENT "STONET_CUDA=$<TARGET_FILE:stonet_cuda_emulated>;OMP_WAIT_POLICY=passive")
  endforeach()
endif()

# What people read has short sentences.
find_program(STONET_PYTHON3 python3)
if(STONET_PYTHON3)
  add_test(NAME words COMMAND ${PROJECT_SOURCE_DIR}/tools/check-words.sh)
  add_test(NAME words_are_checked COMMAND sh -c
    "seq -f word%g -s ' ' 31 > words.md && ! ${PROJECT_SOURCE_DIR}/tools/check-words.sh $PWD/words.md && rm words.md")
endif()

# Who may include whom.
add_test(NAME includes COMMAND ${PROJECT_SOURCE_DIR}/tools/check-includes.sh)
add_test(NAME includes_are_checked COMMAND ${PROJECT_SOURCE_DIR}/tools/test-check-includes.sh)

include(cmake/scratch-method/scratch-method.cmake)
