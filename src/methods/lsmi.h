/*
 * Least-squares estimate of the squared-loss mutual information of Z (rows z_i) and the response, and its
 * gradient.
 *
 * The density ratio is modelled by basis functions at b centres, phi_l(z, y) = exp(-|z - u_l|^2 / (2 s^2
 * m_z^2)) times 1{y = v_l} for classes, exp(-|y - v_l|^2 / (2 s^2 m_y^2)) for numbers; (u_l, v_l) are
 * training rows, so that u_l moves with Z, and m_z, m_y put both on one scale. With h_l = mean_i phi_l(z_i,
 * y_i), H = (1/n^2) (sum_i phi_z phi_z') . (sum_i phi_y phi_y') and alpha = (H + lambda I)^{-1} h,
 *
 *     S(Z) = h'alpha - alpha'H alpha / 2 - 1/2.
 *
 * m_y is the median distance of y, m_z that of Z where the caller last set the unit. It stays there while Z
 * moves: a unit that followed Z would change S under the search, and what one choice of s gained the next
 * would lose.
 *
 * For classes H is block diagonal, a block a class, and is kept that way. phi_z is never held whole: it is
 * computed for a few rows at a time, summed while they are in the cache, and computed again for the gradient.
 * Sums run over fixed parts of the rows, so that they do not depend on the number of threads.
 */
#pragma once

#include "base/run.h"
#include "base/workspace.h"
#include "data/problem.h"

enum { SN_LSMI_FOLDS = 5, SN_LSMI_SLABS = 16 };

typedef struct sn_lsmi {
    int64_t n, d, b;
    int64_t *row;                    /* n rows of the problem, in an order that puts those of a fold together;
                                        z, y and label are in this order */
    int64_t fold[SN_LSMI_FOLDS + 1]; /* fold k is rows fold[k] .. fold[k + 1] - 1 */
    int64_t blocks, *first;          /* block k is centres first[k] .. first[k + 1] - 1 */
    int64_t widest;                  /* centres of the largest block */
    int64_t *centre;                 /* b rows, those of a class together */
    int32_t *label;                  /* classes: n, else NULL; block k is class k */
    int64_t m;                       /* numbers: columns of y */
    double *y;                       /* n x m */
    double y_scale, z_scale;         /* m_y, m_z */
    double s, lambda;
    double *phi_y;    /* numbers: n x b for the current s */
    double *response; /* numbers: sum phi_y phi_y' (b x b) of each fold, then of all rows */
    int64_t *count;   /* classes: rows of class k in each fold, then in all */
    /* The point last placed. */
    double gamma;         /* 1 / (2 s^2 m_z^2) */
    double *z, *u;        /* n x (d + 2), b x (d + 2): see place() */
    double *sums;         /* of a block: sum phi_z phi_z' and sum phi_z . phi_y of each fold, then of all */
    int64_t *sums_at;     /* where they begin, by block */
    double *alpha, *beta; /* b: (H + lambda)^{-1} h, (H + lambda)^{-1} H alpha */
    /* Work space. */
    int threads;
    int64_t rows;    /* features are computed for so many rows at a time */
    int64_t scratch; /* doubles of work space of a thread */
    double *work;    /* threads x scratch */
    double *du;      /* SN_LSMI_SLABS x b x (d + 2) */
    double *t;       /* numbers: b x b */
} sn_lsmi;

/* The settings to choose from, and the choice: indices, -1 before the first. */
typedef struct sn_lsmi_grid {
    const double *s, *lambda;
    int64_t n_s, n_lambda, at_s, at_lambda;
} sn_lsmi_grid;

/* centres is cut to the number of rows. Fails on numbers that do not vary, and where this and `besides`
   doubles more do not fit in memory. The arrays lie in `keep`. */
stonet_status sn_lsmi_create(const sn_problem *problem, int64_t centres, int64_t d, uint64_t seed,
                             double besides, sn_workspace *keep, sn_lsmi *lsmi);
/* Makes the median distance of z (n x d) the unit of bandwidths. Fails on rows that are all equal. */
stonet_status sn_lsmi_set_unit(sn_lsmi *lsmi, const double *z, uint64_t seed);
/* Uses these settings; s in units of m_z and m_y. */
stonet_status sn_lsmi_set(sn_lsmi *lsmi, double s, double lambda);
/* Chooses s and lambda at z (n x d) by cross-validation of the least-squares loss: the smallest of the whole
   grid at the first choice, later the smallest that is reached from the last choice from neighbour to
   neighbour. */
stonet_status sn_lsmi_tune(sn_lsmi *lsmi, const double *z, sn_lsmi_grid *grid);
/* The loss that sn_lsmi_tune compares, at z (n x d) with the settings in use: alpha'H alpha / 2 - h'alpha
   with alpha from the other folds, summed over the folds. Unlike S it can be compared between different
   settings, and the smallest means the most information. */
stonet_status sn_lsmi_loss(sn_lsmi *lsmi, const double *z, double *loss);
/* S at z (n x d). */
stonet_status sn_lsmi_value(sn_lsmi *lsmi, const double *z, double *value);
/* dS/dz (n x d) at the z of the last sn_lsmi_value, the way of the centres included. */
void sn_lsmi_gradient(sn_lsmi *lsmi, double *dz);
