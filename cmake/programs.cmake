# The command line, and the paper's experiments, which are not for installing.
function(stonet_program name folder) # further arguments: sources of other folders
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c)
  list(FILTER sources EXCLUDE REGEX "/test_[^/]*\\.c$")
  add_executable(${name} ${sources} ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE stonet_static PkgConfig::STONET_DEPENDS stonet_flags) # the public names alone
endfunction()
stonet_program(stonet cli)
foreach(loaded IN ITEMS stonet_mpi stonet_mpich) # under mpirun
  if(TARGET ${loaded})
    add_dependencies(stonet ${loaded})
  endif()
endforeach()
set(STONET_CLI_PARTS cli/files.c cli/options.c cli/progress.c cli/room.c cli/say.c cli/show.c cli/signals.c cli/svg.c
                     cli/svg_parts.c) # that both programs use
stonet_program(stonet-paper paper ${STONET_CLI_PARTS})
target_link_libraries(stonet-paper PRIVATE OpenMP::OpenMP_C) # trials on threads
install(TARGETS stonet RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)

# Manual pages and what shells complete by: the program prints them from its own tables of options.
if(NOT CMAKE_CROSSCOMPILING)
  add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/share/stamp
    COMMAND ${PROJECT_SOURCE_DIR}/tools/manuals.sh $<TARGET_FILE:stonet> ${PROJECT_BINARY_DIR}/share
    DEPENDS stonet ${PROJECT_SOURCE_DIR}/tools/manuals.sh
    VERBATIM)
  add_custom_target(stonet_manuals ALL DEPENDS ${PROJECT_BINARY_DIR}/share/stamp)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
  install(FILES ${PROJECT_BINARY_DIR}/share/completion/stonet
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
  install(FILES ${PROJECT_BINARY_DIR}/share/completion/_stonet
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
  install(FILES ${PROJECT_BINARY_DIR}/share/completion/stonet.fish
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
endif()
