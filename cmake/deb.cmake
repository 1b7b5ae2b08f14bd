# Debian packages by CPack (`make deb`): stonet, the program; libstonetX, the library; libstonet-dev, what one needs to
# build with it; python3-stonet, the Python package over that library; libstonet-mpi, what both load under mpirun.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME stonet)
set(CPACK_PACKAGE_CONTACT "The stonet authors <stonet@stonet.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY >=)
set(CPACK_COMPONENTS_ALL program library development python mpi)
set(full_version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(library_package libstonet${STONET_SOVERSION})
# The library sets the number of threads through OpenMP, which BLAS must be built with to obey.
set(blas libopenblas0-openmp)

string(CONCAT about "The stochastic neural network (StoNet) and classic, kernel and neural\n"
       "methods reduce many variables X to the few numbers that keep what X says\n"
       "about a response Y, for regression and classification.\n\n")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME stonet)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS ${blas})
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS libstonet-mpi)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "${about}This package has the command-line program.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS ${blas})
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "${about}This package has the shared library.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libstonet-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "${library_package} (= ${full_version}), libopenblas-openmp-dev, liblapacke-dev, libjansson-dev, zlib1g-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "${about}This package has what one needs to build with the library.")

if(NOT TARGET stonet_mpi)
  message(FATAL_ERROR "libstonet-mpi needs Open MPI: install libopenmpi-dev (tools/setup.sh mpi)")
endif()
set(CPACK_DEBIAN_MPI_PACKAGE_NAME libstonet-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS
    "stonet (= ${full_version}) | ${library_package} (= ${full_version}), openmpi-bin")
set(CPACK_DEBIAN_MPI_DESCRIPTION "${about}This package lets several processes under mpirun work together.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-stonet)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "${library_package} (= ${full_version}), python3 (>= 3.9), python3-numpy, python3-sklearn")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS python3-matplotlib)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS python3-pandas)
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "${about}This package has estimators for scikit-learn.")
set(python_folder lib/python3/dist-packages)
install(DIRECTORY python/src/stonet DESTINATION ${python_folder} COMPONENT python
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
# The package loads the library that lies beside it: here, a link to the system's.
file(RELATIVE_PATH to_library /usr/${python_folder}/stonet
     /usr/${CMAKE_INSTALL_LIBDIR}/libstonet.so.${STONET_SOVERSION})
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/python)
file(CREATE_LINK ${to_library} ${PROJECT_BINARY_DIR}/python/libstonet.so SYMBOLIC)
install(FILES ${PROJECT_BINARY_DIR}/python/libstonet.so DESTINATION ${python_folder}/stonet COMPONENT python)
file(WRITE ${PROJECT_BINARY_DIR}/python/METADATA
     "Metadata-Version: 2.1\nName: stonet\nVersion: ${PROJECT_VERSION}\nRequires-Dist: numpy\nRequires-Dist: scikit-learn\n")
install(FILES ${PROJECT_BINARY_DIR}/python/METADATA COMPONENT python
        DESTINATION ${python_folder}/stonet-${PROJECT_VERSION}.dist-info)

# Each package has its changelog and the licences: ours, and that of the headers that are compiled in.
set(doc ${PROJECT_BINARY_DIR}/doc)
string(TIMESTAMP STONET_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC) # of the last commit, by SOURCE_DATE_EPOCH
configure_file(${CMAKE_CURRENT_LIST_DIR}/debian-changelog.in ${doc}/changelog.Debian @ONLY)
execute_process(COMMAND gzip -9nf ${doc}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
file(READ LICENSE licence)
file(READ /usr/share/doc/librandom123-dev/copyright random123)
file(READ ${STONET_D3_LICENCE} d3)
file(WRITE ${doc}/copyright "${licence}\nThe library contains code from the headers of Random123, of which this is said:\n\n${random123}\nThe pages of the program contain d3, of which this is said:\n\n${d3}")
foreach(component PROGRAM LIBRARY DEVELOPMENT PYTHON MPI)
  string(TOLOWER ${component} name)
  install(FILES ${doc}/copyright ${doc}/changelog.Debian.gz COMPONENT ${name}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${component}_PACKAGE_NAME})
endforeach()
include(CPack)
