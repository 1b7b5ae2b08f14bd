# The library. Its objects are built once and become three things: the shared library and the archive for users, which
# show the names of stonet.h and no others, and an archive with all names for our own tests and programs.
file(GLOB STONET_SOURCES CONFIGURE_DEPENDS src/*/*.c)
list(FILTER STONET_SOURCES EXCLUDE REGEX "/test_[^/]*\\.c$")
add_library(stonet_objects OBJECT ${STONET_SOURCES})
set_target_properties(stonet_objects PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
target_include_directories(stonet_objects PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(stonet_objects PUBLIC PkgConfig::STONET_DEPENDS OpenMP::OpenMP_C m ${CMAKE_DL_LIBS} PRIVATE stonet_flags)
include(cmake/kernels.cmake)
include(cmake/page.cmake)

# While the major version is 0 a minor version may break what was, so that each has a soname of its own.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(STONET_SOVERSION 0.${PROJECT_VERSION_MINOR})
else()
  set(STONET_SOVERSION ${PROJECT_VERSION_MAJOR})
endif()
set(public_header $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

add_library(stonet_shared SHARED $<TARGET_OBJECTS:stonet_objects>)
add_library(stonet::stonet ALIAS stonet_shared)
set_target_properties(stonet_shared PROPERTIES OUTPUT_NAME stonet EXPORT_NAME stonet VERSION ${PROJECT_VERSION}
                                               SOVERSION ${STONET_SOVERSION}
                                               LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/stonet.map)
target_link_options(stonet_shared PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/stonet.map)
target_include_directories(stonet_shared INTERFACE ${public_header})
target_link_libraries(stonet_shared PRIVATE PkgConfig::STONET_DEPENDS OpenMP::OpenMP_C m stonet_flags)

# One object, in which what is not public has become local: a function of ours cannot meet one of the user's. (-d gives
# common symbols, such as the locks of named critical sections, a place, without which they cannot be local.)
set(whole ${PROJECT_BINARY_DIR}/stonet-whole.o)
add_custom_command(
  OUTPUT ${whole}
  COMMAND ${CMAKE_LINKER} -r -d -o ${whole} $<TARGET_OBJECTS:stonet_objects>
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden --wildcard --keep-global-symbol=stonet_* ${whole}
  DEPENDS stonet_objects $<TARGET_OBJECTS:stonet_objects>
  COMMENT "Hiding the internal names of the archive"
  COMMAND_EXPAND_LISTS VERBATIM)
add_library(stonet_static STATIC ${whole})
add_library(stonet::static ALIAS stonet_static)
set_target_properties(stonet_static PROPERTIES OUTPUT_NAME stonet EXPORT_NAME static LINKER_LANGUAGE C)
target_include_directories(stonet_static INTERFACE ${public_header})
target_link_libraries(stonet_static INTERFACE $<LINK_ONLY:PkgConfig::STONET_DEPENDS> $<LINK_ONLY:OpenMP::OpenMP_C> m)

add_library(stonet_internal STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:stonet_objects>)
set_target_properties(stonet_internal PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/internal)
target_link_libraries(stonet_internal PUBLIC stonet_objects)
