/* A block of numbers in a file, as NPY, NPZ and IDX have it, turned into a frame. */
#pragma once

#include "base/file.h"
#include "data/readers.h"

enum { SN_ARRAY_RANK = 8 };

typedef struct sn_array {
    char kind; /* 'f' float, 'i' signed, 'u' unsigned, 'b' bool */
    int size;  /* bytes of one number: 1, 2, 4 or 8 */
    bool big_endian;
    bool fortran; /* first index fastest */
    int rank;     /* 1 to SN_ARRAY_RANK */
    int64_t shape[SN_ARRAY_RANK];
} sn_array;

/* Reads the numbers that follow in the source. The first index is the row; the others together are the
   column. The sizes are checked against what the source can hold before anything is allocated. */
stonet_status sn_array_read(sn_source *source, const sn_array *array, const sn_read_wish *wish,
                            stonet_data **out);
/* The header of an NPY file, up to the numbers. */
stonet_status sn_npy_header(sn_source *source, sn_array *out);
/* The same to be written, for n x m numbers of a type such as "<f4"; padded so that they begin at a multiple
   of `align` bytes, 64 to 4096. */
stonet_status sn_npy_write_header(sn_writer *writer, const char *type, int64_t n, int64_t m, int align);
