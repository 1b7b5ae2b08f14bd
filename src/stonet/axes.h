/*
 * Z with meaning: the columns of Z turned to the principal axes of their effect on the output.
 *
 * Z = mu_h (n x q) reaches the output as f(Z) = W psi(Z), W = w_{h+1} (m x q; of classes, whose outputs are
 * known up to a common number, less the mean of its rows). Between two rows f differs by J (Z_i - Z_j) with
 * J = W diag(s) and s the slopes of psi's secants: exactly, where derivatives would miss what lies between
 * clusters of rows on the flat sides of psi. With S = Cov(Z) = V diag(l) V', the effect of Z in coordinates
 * where it has unit variance is
 *
 *     R = diag(sqrt l) V' E[J'J] V diag(sqrt l) = U diag(d) U'          (E over pairs of rows)
 *
 * and the axes are Z' = diag(sqrt d) U' diag(1 / sqrt l) V' (Z - mean): uncorrelated columns, each with the
 * variance that it gives the output, largest first. The same Z' comes from any other linear coordinates of Z.
 * Shares are d / sum d. A column's sign is that of its largest covariance with an output, the last of equals.
 *
 * Units of the last hidden layer may also be taken activated, U = psi(mu_h), and more of them than columns of
 * Z: then J = W, and the q leading axes are principal components of the output W U.
 *
 * Columns beyond the rank of the effect are the next principal axes of the units: with P the projection off
 * the axes so far, in coordinates of unit variance, the leading eigenvectors of P diag(l) P, each column with
 * the variance l that it has among the units. They are uncorrelated with those before, and their share is 0.
 *
 * The network stays as it is: Z' is a stored map of its units.
 */
#pragma once

#include <stdbool.h>

#include "base/words.h"
#include "net/shape.h"

typedef enum sn_units { SN_UNITS_PLAIN, SN_UNITS_ACTIVATED } sn_units;
#define SN_UNITS_WORDS(between) "plain" between "activated"
extern const sn_words sn_units_words;

typedef struct sn_axes {
    int64_t q;     /* 0: none, Z is mu_h itself */
    int64_t width; /* units of the last hidden layer */
    sn_units of;   /* what is mapped: mu_h, or psi of it */
    double *mean;  /* width */
    double *map;   /* q x width: Z' = map (U - mean) */
    double *share; /* q, of the effect on the output, descending */
} sn_axes;

/* The leading axes, `kept` of them, from the units (n x width) of n rows; none where all units are constant.
 */
stonet_status sn_axes_learn(const sn_shape *shape, const float *theta, int64_t n, const float *units,
                            sn_units of, int64_t kept, sn_axes *axes);
/* z (n x q) from units (n x width), which may be the same place when q is width; with axes only. */
stonet_status sn_axes_apply(const sn_axes *axes, int64_t n, const float *units, float *z);
/* (sum d)^2 / sum d^2: between 1 and q; NaN without axes or effect. */
double sn_axes_effective(const sn_axes *axes);
/* The part of the effect of all units that the columns carry together; 1 where there is none. */
double sn_axes_carried(const sn_axes *axes);
/* Leaves out the last columns where the units had no directions for so many: those would be constant. */
void sn_axes_trim(sn_axes *axes);
void sn_axes_free(sn_axes *axes);

/* As z_units, z_mean, z_map, explained_share and effective_dimension; files without them have none. */
stonet_status sn_axes_put(const sn_axes *axes, sn_store *store);
stonet_status sn_axes_get(const sn_store *store, int64_t width, sn_axes *axes);
