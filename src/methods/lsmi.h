/*
 * Least-squares estimate of the squared-loss mutual information of Z = X B and the response, and its
 * gradient.
 *
 * The density ratio is modelled by basis functions at b centres, phi_l(z, y) = exp(-|z - u_l|^2 / (2 s^2
 * m_z^2)) times 1{y = v_l} for classes, exp(-|y - v_l|^2 / (2 s^2 m_y^2)) for numbers; (u_l, v_l) are
 * training rows, u_l = B'c_l moves with B, and m_z, m_y are the median distances that put both on one scale.
 * With h_l = mean_i phi_l(z_i, y_i), H = (1/n^2) (sum_i phi_z phi_z') . (sum_i phi_y phi_y') and alpha = (H +
 * lambda I)^{-1} h,
 *
 *     S(B) = h'alpha - alpha'H alpha / 2 - 1/2.
 *
 * For classes H is block diagonal, a block a class, and is kept that way.
 */
#ifndef SN_METHODS_LSMI_H
#define SN_METHODS_LSMI_H

#include "base/run.h"
#include "data/problem.h"

enum { SN_LSMI_FOLDS = 5 };

typedef struct sn_lsmi {
    int64_t n, p, d, b;
    double *x;                       /* n x p, in an order that puts the rows of a fold together */
    double *centres;                 /* b x p, those of a class together */
    int64_t fold[SN_LSMI_FOLDS + 1]; /* fold k is rows fold[k] .. fold[k + 1] - 1 */
    int64_t blocks, *first;          /* block k is centres first[k] .. first[k + 1] - 1 */
    int64_t widest;                  /* centres of the largest block */
    int32_t *label;                  /* classes: n, else NULL; block k is class k */
    int64_t m;                       /* numbers: columns of y */
    double *y, *v;                   /* n x m, b x m */
    double y_scale, z_scale;         /* m_y, m_z */
    double s, lambda;
    double *phi_y; /* numbers: n x b for the current s */
    /* Work space. */
    double *z, *u, *dz, *du;
    double *phi, *weight; /* n x widest */
} sn_lsmi;

/* centres is cut to the number of rows. Fails on a response that does not vary. */
stonet_status sn_lsmi_create(const sn_problem *problem, int64_t centres, int64_t d, uint64_t seed,
                             sn_lsmi *lsmi);
void sn_lsmi_free(sn_lsmi *lsmi);
/* Takes m_z from Z = X B and chooses s and lambda from the lists by cross-validation of the least-squares
   loss (nothing to do when both lists have one entry). */
stonet_status sn_lsmi_tune(sn_lsmi *lsmi, const double *b, const double *s, int64_t n_s, const double *lambda,
                           int64_t n_lambda, uint64_t seed);
/* Uses this bandwidth, in units of the median distances. */
stonet_status sn_lsmi_set_bandwidth(sn_lsmi *lsmi, double s);
/* S at B (p x d), and dS/dB (p x d) unless gradient is NULL. */
stonet_status sn_lsmi_value(sn_lsmi *lsmi, const double *b, double *value, double *gradient);

#endif
