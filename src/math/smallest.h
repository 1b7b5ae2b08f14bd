/* Numbers in order, and the k-th smallest of them without sorting. */
#pragma once

#include <stdint.h>

/* k from 0. The values are rearranged: those before place k are no larger, those after it no smaller. */
double sn_kth_smallest(int64_t count, int64_t k, double *values);

/* A number and the row it belongs to. */
typedef struct sn_keyed {
    double value;
    int64_t row;
} sn_keyed;

/* For qsort, ascending: sn_keyed by value, equal ones by row; doubles; floats; whole numbers. */
int sn_by_value(const void *a, const void *b);
int sn_by_double(const void *a, const void *b);
int sn_by_float(const void *a, const void *b);
int sn_by_int(const void *a, const void *b);
