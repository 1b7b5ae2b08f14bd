# libstonet-mpi.so, by which several processes work together under mpirun: made where Open MPI is, and loaded when it is
# needed, so that neither the program nor the library leans on it.
option(STONET_MPI "Build libstonet-mpi.so if Open MPI is there" ON)
if(STONET_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI QUIET COMPONENTS C)
endif()
if(MPI_C_FOUND)
  add_library(stonet_mpi MODULE mpi/wire.c)
  set_target_properties(stonet_mpi PROPERTIES OUTPUT_NAME stonet-mpi C_VISIBILITY_PRESET hidden)
  target_include_directories(stonet_mpi PRIVATE src)
  target_link_libraries(stonet_mpi PRIVATE MPI::MPI_C stonet_flags)
  install(TARGETS stonet_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi)
endif()
