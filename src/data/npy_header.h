/* The beginning of an array that is written as NPY. */
#pragma once

#include "base/file.h"

/* For n x m numbers of a type such as "<f4"; padded so that they begin at a multiple of `align` bytes, 64 to
   4096. */
stonet_status sn_npy_write_header(sn_writer *writer, const char *type, int64_t n, int64_t m, int align);
