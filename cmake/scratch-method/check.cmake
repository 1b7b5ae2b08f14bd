# cmake -DPROGRAM=.. -DLIBRARY=.. -DPYTHON=.. -DFOLDER=.. -DSOURCE=.. -P check.cmake

# Runs a command, which must succeed and print every text of WANTED.
function(must_print)
  cmake_parse_arguments(given "" "" "COMMAND;WANTED" ${ARGN})
  execute_process(COMMAND ${given_COMMAND} OUTPUT_VARIABLE said ERROR_VARIABLE complained RESULT_VARIABLE failed
                  WORKING_DIRECTORY ${FOLDER})
  list(JOIN given_COMMAND " " shown)
  if(failed)
    message(FATAL_ERROR "${shown}: ${failed}\n${complained}")
  endif()
  foreach(text ${given_WANTED})
    string(FIND "${said}" "${text}" at)
    if(at LESS 0)
      message(FATAL_ERROR "${shown}: '${text}' is not in\n${said}")
    endif()
  endforeach()
endfunction()

must_print(COMMAND ${PROGRAM} methods WANTED "scratch" "The first columns")
must_print(COMMAND ${PROGRAM} methods scratch WANTED "stretch" "factor of the columns" "stretch=1,2")
must_print(COMMAND ${PROGRAM} methods scratch --json WANTED "\"ScratchReduction\"" "\"stretch=1,2\"")
must_print(COMMAND ${PROGRAM} generate m1 --rows 60 --seed 1 --out data.csv)
must_print(COMMAND ${PROGRAM} fit data.csv --target y --dim 2 --method scratch --set stretch=2 --out a.model)
must_print(COMMAND ${PROGRAM} info a.model WANTED "scratch")
must_print(COMMAND ${PROGRAM} transform a.model data.csv WANTED "z1,z2")
must_print(COMMAND ${PROGRAM} tune data.csv --target y --dim 1 --method scratch --folds 2 --json
           WANTED "\"stretch\": 1" "\"stretch\": 2")
must_print(COMMAND ${PROGRAM} compare data.csv --target y --methods scratch,none --dim 1 --folds 2 WANTED "scratch")

if(NOT PYTHON)
  message(STATUS "python3 is not here: what the Python package makes of the method was not looked at")
  return()
endif()
# The generator loads the library and nothing else, so that it runs without NumPy.
set(generator ${CMAKE_COMMAND} -E env STONET_LIBRARY=${LIBRARY} PYTHONPATH=${SOURCE}/python/src
              PYTHONDONTWRITEBYTECODE=1 ${PYTHON} ${SOURCE}/python/tools/generate_estimators.py)
must_print(COMMAND ${generator} --print
           WANTED "class ScratchReduction(_ScratchReduction, UnsupervisedReduction):" "    stretch: float = 1.0\n")
must_print(COMMAND ${generator} --print _names.py WANTED "\"ScratchReduction\",")
