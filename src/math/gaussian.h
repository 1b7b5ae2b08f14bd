/*
 * Gaussian vectors of which entries are missing (NaN): the law is learned from incomplete rows by EM, and
 * says what is to be expected where an entry is missing, given the others.
 *
 * Of up to SN_FULL_MOST entries any covariance, kept as the precision W = S^-1: with u the missing entries of
 * a row and o the others,
 *
 *     x_u | x_o ~ N(m_u - W_uu^-1 W_uo (x_o - m_o),  W_uu^-1)
 *
 * which costs a factor of W_uu alone, and rows have few missing entries as a rule. Of more entries a factor
 * model, x = m + L f + e, f ~ N(0, I_k), e ~ N(0, diag(noise)): given x_o,
 *
 *     f ~ N(P^-1 b, P^-1),  P = I + sum_o L_o'L_o / noise_o,  b = sum_o L_o' (x_o - m_o) / noise_o
 */
#pragma once

#include <stdbool.h>

#include "base/status.h"

enum { SN_FULL_MOST = 200, SN_FACTORS_MOST = 20 };

typedef struct sn_gaussian {
    int64_t d;
    double *mean;      /* d */
    double *precision; /* d x d; NULL: a factor model */
    int64_t factors;   /* k, 0 .. SN_FACTORS_MOST */
    double *loadings;  /* L, d x k */
    double *noise;     /* d */
    double *all;       /* I + sum over all entries of L_j'L_j / noise_j, k x k: made by sn_gaussian_ready */
} sn_gaussian;

typedef struct sn_gaussian_fit {
    int64_t n, d;
    const float *x; /* n x d, NaN: missing; every column has a value, of variance about 1 */
    double prior; /* rows that the diagonal of S counts as much as, which shrinks correlations; d is usual */
    int iterations; /* at most; 0: as many as it takes */
} sn_gaussian_fit;

/* On failure nothing is left to free. covariance (d x d) may be NULL: S as EM has it, before the prior. */
stonet_status sn_gaussian_fit_full(const sn_gaussian_fit *fit, double *covariance, sn_gaussian *out);
/* k factors; k = 0: means and variances. */
stonet_status sn_gaussian_fit_factors(const sn_gaussian_fit *fit, int64_t k, sn_gaussian *out);
/* What is worked out once, of a Gaussian whose other members are there. */
stonet_status sn_gaussian_ready(sn_gaussian *gaussian);
/* The law of the first d entries. On failure nothing is left to free. */
stonet_status sn_gaussian_first(const sn_gaussian *gaussian, int64_t d, sn_gaussian *out);
void sn_gaussian_free(sn_gaussian *gaussian);
/* Hands `made` over and leaves it empty; STONET_OK. */
stonet_status sn_gaussian_give(sn_gaussian *made, sn_gaussian *out);

/* C y = b and C'y = b in place, for entries from .. to - 1 alone; row i of C, lower, is at i (i + 1) / 2. */
void sn_packed_forward(int64_t from, int64_t to, const double *c, double *b);
void sn_packed_backward(int64_t from, int64_t to, const double *c, double *b);

/* The missing entries of a row given the others, of a full Gaussian. Lives on the stack. */
typedef struct sn_full_row {
    int64_t count;
    int64_t at[SN_FULL_MOST]; /* the missing ones */
    double mean[SN_FULL_MOST];
    double
        factor[SN_FULL_MOST * (SN_FULL_MOST + 1) / 2]; /* of W_uu: row i of C at i (i + 1) / 2, W_uu = C C' */
} sn_full_row;

/* z has d entries, NaN: missing. Missing entries are in ascending order but for those of `early` (d bools, or
   NULL: none), which come after the others, in descending order. */
void sn_full_condition(const sn_gaussian *gaussian, const double *z, const bool *early, sn_full_row *row);
/* The variance of missing entry i, 0 .. count - 1. */
double sn_full_variance(const sn_full_row *row, int64_t i);

/*
 * The same piece by piece, from the last entry to the first, where some are not drawn from the Gaussian: with
 * W_uu = C C' and g the entries less their means,
 *
 *     C_bb' g_b = rest_b + normal_b,   rest_b = - sum over the entries a after the piece b of C_ab' g_a
 *
 * has the law of the piece given those after it. rest (count) begins as 0.
 */
/* g of entries from .. to - 1: what is expected (normal: NULL), or drawn. */
void sn_full_piece(const sn_full_row *row, int64_t from, int64_t to, const double *rest, const double *normal,
                   double *g);
/* Tells those before the piece that it has come to g. */
void sn_full_settle(const sn_full_row *row, int64_t from, int64_t to, const double *g, double *rest);

/* The same of a factor model, entry by entry: start, every entry as known or missing, solve; then the missing
   ones one after the other. */
typedef struct sn_factor_row {
    double precision[SN_FACTORS_MOST * (SN_FACTORS_MOST + 1) / 2]; /* P, later its factor; packed */
    double f[SN_FACTORS_MOST];                                     /* b, later P^-1 b or a draw */
} sn_factor_row;

void sn_factor_start(const sn_gaussian *gaussian, sn_factor_row *row);
void sn_factor_known(const sn_gaussian *gaussian, int64_t entry, double z, sn_factor_row *row);
void sn_factor_missing(const sn_gaussian *gaussian, int64_t entry, sn_factor_row *row);
void sn_factor_solve(const sn_gaussian *gaussian, sn_factor_row *row);
/* f + C'^-1 normal (k), P = C C'. */
void sn_factor_draw(const sn_gaussian *gaussian, const double *normal, sn_factor_row *row);
/* m + L f of an entry at the present f, and the variance of the entry given what is known. */
double sn_factor_mean(const sn_gaussian *gaussian, int64_t entry, const sn_factor_row *row);
double sn_factor_variance(const sn_gaussian *gaussian, int64_t entry, const sn_factor_row *row);
