# The command line, and the paper's experiments, which are not for installing.
function(stonet_program name folder) # further arguments: sources of other folders
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c)
  list(FILTER sources EXCLUDE REGEX "/test_[^/]*\\.c$")
  add_executable(${name} ${sources} ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE stonet_static PkgConfig::STONET_DEPENDS stonet_flags) # the public names alone
endfunction()
stonet_program(stonet cli)
if(TARGET stonet_mpi) # which it loads under mpirun
  add_dependencies(stonet stonet_mpi)
endif()
set(STONET_CLI_PARTS cli/files.c cli/options.c cli/progress.c cli/say.c cli/show.c cli/signals.c cli/svg.c
                     cli/svg_parts.c) # that both programs use
stonet_program(stonet-paper paper ${STONET_CLI_PARTS})
install(TARGETS stonet RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
