# What users build against: libraries, headers, a pkg-config file and a CMake package. All find their files from where
# they stand themselves, so that an installed tree may be moved.
install(TARGETS stonet_shared EXPORT stonet-shared
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS stonet_static EXPORT stonet-static
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY include/stonet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

set(pc_folder ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH STONET_TO_PREFIX ${pc_folder} ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH STONET_TO_INCLUDE ${pc_folder} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
list(JOIN STONET_PKG_CONFIG " " STONET_PC_REQUIRES)
configure_file(cmake/stonet.pc.in stonet.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/stonet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/stonet)
set(compatible SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatible SameMinorVersion) # as the soname
endif()
configure_package_config_file(cmake/stonet-config.cmake.in stonet-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(stonet-config-version.cmake COMPATIBILITY ${compatible})
install(FILES ${PROJECT_BINARY_DIR}/stonet-config.cmake ${PROJECT_BINARY_DIR}/stonet-config-version.cmake
        DESTINATION ${package_folder} COMPONENT development)
foreach(kind shared static)
  install(EXPORT stonet-${kind} NAMESPACE stonet:: DESTINATION ${package_folder} COMPONENT development)
endforeach()
