/*
 * Columns that float is too coarse for.
 *
 * Features are floats by the time a method sees them, centred and scaled. A table keeps its numbers as floats
 * too, which loses nothing of a column whose values spread over a good part of their size. It would lose the
 * differences of 1000000.25, 1000000.5, ..: such columns are kept in double beside the floats, so that they
 * can be centred first and rounded after.
 */
#pragma once

#include <stdbool.h>

#include "base/status.h"

/* A column while it is being read. */
typedef struct sn_digits {
    bool wide;        /* the values so far spread over a good part of their size */
    bool enough;      /* floats will do: nothing is kept */
    double low, high; /* of the values so far */
    double *value;    /* in double; NULL: those so far are floats */
} sn_digits;

sn_digits sn_digits_none(void);
/* Whether values from low to high spread over so much of their size that floats keep what they say. Values
   beside them change nothing about it: the answer does not depend on the order in which parts are joined. */
bool sn_digits_enough(double low, double high);
/* Lets go of the values. */
void sn_digits_give_up(sn_digits *digits);

/* A column of a table in double: at[row * step]. */
typedef struct sn_exact {
    const double *at; /* NULL: floats are all there is */
    int64_t step;
    double *owned; /* the block behind it; NULL: somebody else's */
} sn_exact;
