# The page of `stonet report`, made of src/report/page and d3, which Debian's package node-d3 has: pinned by version and hash, not
# in the tree, and part of the library with its licence. Included, it adds the page to the objects of the library; run with
# -P, it writes the source of that.
set(STONET_D3_VERSION 5.16.0)
set(STONET_D3_HASH 63cdc8691107d063922c58ece1b9b4eeb9fef305429a55d3d962eea0812f1e03)
set(page_folder ${CMAKE_CURRENT_LIST_DIR}/../src/report/page)

if(NOT CMAKE_SCRIPT_MODE_FILE)
  find_file(STONET_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist NO_DEFAULT_PATH)
  find_file(STONET_D3_LICENCE copyright PATHS /usr/share/doc/node-d3 NO_DEFAULT_PATH)
  mark_as_advanced(STONET_D3 STONET_D3_LICENCE)
  set(source ${PROJECT_BINARY_DIR}/page_parts.c)
  if((NOT STONET_D3 OR NOT STONET_D3_LICENCE) AND NOT (PROJECT_IS_TOP_LEVEL AND STONET_PROGRAMS))
    message(STATUS "stonet_report will refuse: there is no d3 ${STONET_D3_VERSION} (Debian's node-d3)")
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "#include \"report/page.h\"
const unsigned char sn_page_before[1], sn_page_after[1];
const size_t sn_page_before_size = 0, sn_page_after_size = 0;
")
    target_sources(stonet_objects PRIVATE ${source})
    return()
  endif()
  if(NOT STONET_D3 OR NOT STONET_D3_LICENCE)
    message(FATAL_ERROR "the charts of 'stonet report' need d3 ${STONET_D3_VERSION} with its licence: install Debian's package "
                        "node-d3 ('make setup' does), or give -DSTONET_D3=d3.min.js -DSTONET_D3_LICENCE=FILE")
  endif()
  file(SHA256 ${STONET_D3} found)
  if(NOT found STREQUAL STONET_D3_HASH)
    message(FATAL_ERROR "${STONET_D3} is not the d3 ${STONET_D3_VERSION} that the page was tested with: its SHA-256 is "
                        "${found}, not ${STONET_D3_HASH}")
  endif()
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DLIBRARY=${STONET_D3} -DLICENCE=${STONET_D3_LICENCE} -DOUT=${source}
            -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${page_folder}/page.html ${page_folder}/page.css ${page_folder}/plots.js ${page_folder}/page.js ${STONET_D3} ${STONET_D3_LICENCE}
            ${CMAKE_CURRENT_LIST_FILE}
    VERBATIM)
  target_sources(stonet_objects PRIVATE ${source})
  return()
endif()

file(READ ${page_folder}/page.html page)
file(READ ${page_folder}/page.css CSS)
file(READ ${page_folder}/plots.js plots)
file(READ ${page_folder}/page.js SCRIPT)
string(PREPEND SCRIPT "${plots}")
file(READ ${LIBRARY} LIBRARY)
file(READ ${LICENCE} LICENCE)
if("${SCRIPT}${LIBRARY}" MATCHES "</[sS][cC][rR][iI][pP][tT]")
  message(FATAL_ERROR "a script of the page would end too early")
endif()
foreach(pair "&|&amp" "<|&lt" ">|&gt")
  string(REPLACE "|" ";" pair "${pair}")
  list(GET pair 0 from)
  list(GET pair 1 to)
  string(REPLACE "${from}" "${to};" LICENCE "${LICENCE}")
endforeach()
foreach(part CSS LICENCE LIBRARY SCRIPT)
  string(REPLACE "@${part}@" "${${part}}" page "${page}")
endforeach()
string(FIND "${page}" "@DATA@" at)
string(SUBSTRING "${page}" 0 ${at} before)
math(EXPR at "${at} + 6")
string(SUBSTRING "${page}" ${at} -1 after)
set(source "/* Written by cmake/page.cmake. */\n#include \"report/page.h\"\n")
foreach(part before after)
  file(WRITE ${OUT}.part "${${part}}")
  file(READ ${OUT}.part bytes HEX)
  string(LENGTH "${bytes}" length)
  math(EXPR length "${length} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND source "const unsigned char sn_page_${part}[] = {${bytes}};\nconst size_t sn_page_${part}_size = ${length};\n")
endforeach()
file(REMOVE ${OUT}.part)
file(WRITE ${OUT} "${source}")
