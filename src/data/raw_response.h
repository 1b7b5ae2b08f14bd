/*
 * The response of a table as it lies there, and the way of a row's to what a problem has: the class, or the
 * scaled numbers. A response on disk is read through it row by row; one that is to be in memory is copied by
 * it.
 */
#pragma once

#include <stdint.h>

typedef struct sn_raw_response {
    const int32_t *code;  /* n codes of labels, or */
    const double *number; /* n x columns */
    int64_t columns;
    int64_t classes;         /* 0: numbers, */
    const double *mean, *sd; /* which are scaled by these (NULL: they are not) */
    int32_t *class_of;       /* a code's; -1: none of the classes */
    double *value;           /* each class as a number */
} sn_raw_response;

/* Where the response of a row is, for a prefetch. */
static inline const void *sn_raw_place(const sn_raw_response *raw, int64_t row)
{
    return raw->code != NULL ? (const void *)(raw->code + row) : raw->number + row * raw->columns;
}

/* The class of a row; -1: none of them. */
static inline int32_t sn_raw_label(const sn_raw_response *raw, int64_t row)
{
    if (raw->code != NULL) return raw->class_of[raw->code[row]];
    int64_t c = 0;
    while (c < raw->classes && raw->value[c] != raw->number[row]) c++;
    return c < raw->classes ? (int32_t)c : -1;
}

static inline double sn_raw_number(const sn_raw_response *raw, int64_t row, int64_t k)
{
    const double number = raw->number[row * raw->columns + k];
    return raw->mean != NULL ? (number - raw->mean[k]) / raw->sd[k] : number;
}
