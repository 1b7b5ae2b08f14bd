#include "stats/covariance_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/linalg.h"
#include "math/noise.h"
#include "math/smallest.h"
#include "stats/chisq_mixture.h"
#include "stats/distributions.h"
#include "stats/smoother.h"

enum { NEIGHBOURS = 10 }; /* rows permuted among each other given z; up to twice as many in a short table */

static const double LEAST_VARIANCE = 0.01; /* of the largest, in a statistic that is standardised */

/* c (mx x my) = sum_i e_x,order[i] e_y,i' / (n - 1); order NULL: as they are. */
static void cross_covariance(const sn_residuals *r, const int64_t *order, double *c)
{
    const int64_t width = r->mx + r->my;
    memset(c, 0, (size_t)(r->mx * r->my) * sizeof *c);
    for (int64_t i = 0; i < r->n; i++) {
        const double *ex = r->e + (order != NULL ? order[i] : i) * width;
        const double *ey = r->e + i * width + r->mx;
        for (int64_t a = 0; a < r->mx; a++) {
            for (int64_t b = 0; b < r->my; b++) c[a * r->my + b] += ex[a] * ey[b];
        }
    }
    for (int64_t k = 0; k < r->mx * r->my; k++) c[k] /= (double)(r->n - 1);
}

static double sum_of_squares(int64_t count, const double *values)
{
    double sum = 0.0;
    for (int64_t k = 0; k < count; k++) sum += values[k] * values[k];
    return sum;
}

/* From sums of products to the corrected Pi of the header. */
static double product_scale(const sn_residuals *r)
{
    const double n = (double)r->n;
    return n * n / ((n - 1.0) * (n - 1.0) * (n - 1.0 - r->used));
}

/* One pair of columns after the other: no room is needed. */
double sn_covariance_statistic(const sn_residuals *r)
{
    const int64_t width = r->mx + r->my;
    double total = 0.0;
    for (int64_t a = 0; a < r->mx; a++) {
        for (int64_t b = 0; b < r->my; b++) {
            double sum = 0.0;
            for (int64_t i = 0; i < r->n; i++) sum += r->e[i * width + a] * r->e[i * width + r->mx + b];
            total += sum * sum;
        }
    }
    const double divisor = (double)(r->n - 1);
    return (double)r->n * total / (divisor * divisor) / (1.0 + r->excess);
}

double sn_covariance_mean(const sn_residuals *r)
{
    double trace = 0.0;
    for (int64_t i = 0; i < r->n; i++) {
        const double *e = r->e + i * (r->mx + r->my);
        trace += sum_of_squares(r->mx, e) * sum_of_squares(r->my, e + r->mx);
    }
    return trace * product_scale(r);
}

/* Pi of the header, corrected: pi is d x d with d = mx my, u a row of work. */
static void product_covariance(const sn_residuals *r, double *u, double *pi)
{
    const int64_t d = r->mx * r->my;
    for (int64_t i = 0; i < r->n; i++) {
        const double *ex = r->e + i * (r->mx + r->my);
        const double *ey = ex + r->mx;
        for (int64_t a = 0; a < r->mx; a++) {
            for (int64_t b = 0; b < r->my; b++) u[a * r->my + b] = ex[a] * ey[b];
        }
        for (int64_t a = 0; a < d; a++) {
            for (int64_t b = 0; b <= a; b++) pi[a * d + b] += u[a] * u[b];
        }
    }
    const double scale = product_scale(r);
    for (int64_t a = 0; a < d; a++) {
        for (int64_t b = 0; b <= a; b++) {
            pi[a * d + b] *= scale;
            pi[b * d + a] = pi[a * d + b];
        }
    }
}

/* n c' Pi^+ c against a chi-square with as many degrees of freedom as directions are kept. Features of few
   columns are nearly collinear, and along directions with next to no variance c is far from normal at any
   usual n: with them the test rejects two or three times too often. */
static double chi2_p_value(double n, int64_t d, const double *c, const double *lambda, const double *vector)
{
    double quadratic = 0.0;
    int64_t rank = 0;
    for (int64_t k = 0; k < d && lambda[k] > LEAST_VARIANCE * lambda[0]; k++) {
        double along = 0.0;
        for (int64_t a = 0; a < d; a++) along += vector[a * d + k] * c[a];
        quadratic += along * along / lambda[k];
        rank++;
    }
    return rank > 0 ? sn_chisq_upper((double)rank, n * quadratic) : 1.0;
}

/* P(sum_k lambda_k chi2_1 >= T), lambda the eigenvalues of Pi, by an approximation of the mixture's law. The
   chi-square law uses another statistic, n c' Pi^+ c. c: vec(C), d numbers. */
static stonet_status asymptotic_p_value(const sn_residuals *r, stonet_null_law law, const double *c,
                                        double statistic, double *p_value)
{
    const int64_t d = r->mx * r->my;
    SN_ARRAY(d, double, u);
    SN_ZEROS(d * d, double, pi);
    SN_ARRAY(d, double, lambda);
    SN_ARRAY(d * d, double, vector);
    product_covariance(r, u, pi);
    SN_TRY(sn_eigh(d, pi, lambda, vector));
    /* eigenvalues that are zero but for rounding are not part of the law */
    for (int64_t k = 0; k < d; k++) {
        if (lambda[k] < 1e-14 * lambda[0]) lambda[k] = 0.0;
    }
    switch (law) {
    case STONET_NULL_HBE:
        *p_value = sn_mixture_hbe(d, lambda, statistic);
        return STONET_OK;
    case STONET_NULL_GAMMA:
        *p_value = sn_mixture_sw(d, lambda, statistic);
        return STONET_OK;
    case STONET_NULL_CHI2:
        *p_value = chi2_p_value((double)r->n / (1.0 + r->excess), d, c, lambda, vector);
        return STONET_OK;
    default:
        return sn_mixture_lpb4(d, lambda, statistic, p_value);
    }
}

/* k_x or k_y of the header: columns first .. first + count - 1. */
static double concentration(const sn_residuals *r, int64_t first, int64_t count)
{
    double square = 0.0;
    double fourth = 0.0;
    for (int64_t i = 0; i < r->n; i++) {
        const double size = sum_of_squares(count, r->e + i * (r->mx + r->my) + first);
        square += size;
        fourth += size * size;
    }
    return square > 0.0 ? (double)r->n * fourth / (square * square) : 0.0;
}

/* key (n): z itself, or the size of e_x that the columns of z lead to expect. */
static stonet_status keys_of_rows(const sn_residuals *r, double *key)
{
    SN_WORKSPACE(scratch);
    double mean = 0.0;
    double penalty;
    sn_smoother smoother = {0};
    if (r->dz == 1) {
        memcpy(key, r->z, (size_t)r->n * sizeof *key);
        return STONET_OK;
    }
    SN_ARRAY(r->n, double, size);
    for (int64_t i = 0; i < r->n; i++) {
        size[i] = sum_of_squares(r->mx, r->e + i * (r->mx + r->my));
        mean += size[i] / (double)r->n;
    }
    for (int64_t i = 0; i < r->n; i++) key[i] = size[i] -= mean;
    SN_TRY(sn_smoother_create(r->n, r->dz, r->z, &scratch, &smoother));
    SN_TRY(sn_smoother_choose(&smoother, 1, size, true, &penalty));
    SN_TRY(sn_smoother_residuals(&smoother, 1, &penalty, size));
    for (int64_t i = 0; i < r->n; i++) key[i] -= size[i];
    return STONET_OK;
}

/* near (n): the rows, neighbours beside each other; without z NULL. */
static stonet_status sort_rows(const sn_residuals *r, sn_workspace *keep, int64_t **near)
{
    if (r->dz == 0) return STONET_OK;
    SN_ARRAY(r->n, double, key);
    SN_ARRAY(r->n, sn_keyed, sorted);
    SN_TRY(SN_TAKE(keep, *near, r->n));
    SN_TRY(keys_of_rows(r, key));
    for (int64_t i = 0; i < r->n; i++) sorted[i] = (sn_keyed){key[i], i};
    qsort(sorted, (size_t)r->n, sizeof *sorted, sn_by_value);
    for (int64_t i = 0; i < r->n; i++) (*near)[i] = sorted[i].row;
    return STONET_OK;
}

/* A random order of the rows; with `near` each row changes places with its neighbours alone. */
static void draw_order(sn_random *random, int64_t n, const int64_t *near, int64_t *order)
{
    if (near == NULL) {
        sn_random_permutation(random, n, order);
        return;
    }
    const int64_t groups = n < NEIGHBOURS ? 1 : n / NEIGHBOURS;
    int64_t place[2 * NEIGHBOURS];
    for (int64_t g = 0; g < groups; g++) {
        const int64_t first = n * g / groups;
        const int64_t count = n * (g + 1) / groups - first;
        sn_random_permutation(random, count, place);
        for (int64_t k = 0; k < count; k++) order[near[first + k]] = near[first + place[k]];
    }
}

/* The sides of r turned to their principal axes, in e (n x (mx + my)), and the weight of each product of two
   axes in the statistic that is standardised: that of the chi-square law with the covariance that
   permutations have, of x times of y. Products with next to no variance have weight 0, as there. */
static stonet_status turn_to_axes(const sn_residuals *r, double *e, double *weight)
{
    const int64_t width = r->mx + r->my, sizes[2] = {r->mx, r->my};
    SN_ARRAY(r->n * width, double, side);
    SN_ARRAY(r->n * width, double, turned);
    SN_ARRAY(width * width, double, square);
    SN_ARRAY(width * width, double, vector);
    SN_ARRAY(width, double, lambda);
    for (int k = 0; k < 2; k++) {
        const int64_t m = sizes[k], first = k == 0 ? 0 : r->mx;
        for (int64_t i = 0; i < r->n; i++)
            memcpy(side + i * m, r->e + i * width + first, (size_t)m * sizeof *side);
        sn_syrk_tn(m, r->n, 1.0 / (double)(r->n - 1), side, 0.0, square);
        SN_TRY(sn_eigh(m, square, lambda + first, vector));
        sn_multiply(sn_as(side, r->n, m), sn_as(vector, m, m), turned);
        for (int64_t i = 0; i < r->n; i++)
            memcpy(e + i * width + first, turned + i * m, (size_t)m * sizeof *e);
    }
    const double least = LEAST_VARIANCE * lambda[0] * lambda[r->mx];
    for (int64_t a = 0; a < r->mx; a++) {
        for (int64_t b = 0; b < r->my; b++) {
            const double variance = lambda[a] * lambda[r->mx + b];
            weight[a * r->my + b] = variance > least ? 1.0 / variance : 0.0;
        }
    }
    return STONET_OK;
}

/* sum_k weight_k c_k^2; weight NULL: all are 1. */
static double weigh_squares(int64_t count, const double *weight, const double *c)
{
    if (weight == NULL) return sum_of_squares(count, c);
    double sum = 0.0;
    for (int64_t k = 0; k < count; k++) sum += weight[k] * c[k] * c[k];
    return sum;
}

/* (1 + number of permuted statistics at least as large) / (1 + number of permutations). */
static stonet_status share_above(const sn_residuals *r, const double *weight, int64_t permutations,
                                 sn_drawing how, double *p_value)
{
    const int64_t d = r->mx * r->my;
    const double scale = ((double)r->n - 1.0) / ((double)r->n - 1.0 - r->used);
    double observed = 0.0;
    SN_WORKSPACE(scratch);
    int64_t *near = NULL;
    SN_TRY(sort_rows(r, &scratch, &near));
    int64_t above = 0;
    int failed = 0;
#pragma omp parallel num_threads(how.threads) reduction(+ : above, failed)
    {
        SN_BLOCK int64_t *order = sn_malloc((size_t)r->n, sizeof *order);
        SN_BLOCK double *c = sn_malloc((size_t)d, sizeof *c);
        if (order == NULL || c == NULL) failed = 1;
#pragma omp single
        if (!failed) {
            cross_covariance(r, NULL, c);
            observed = weigh_squares(d, weight, c) / (1.0 + r->excess);
        }
#pragma omp for schedule(static)
        for (int64_t b = 0; b < permutations; b++) {
            if (failed) continue;
            sn_random random = sn_random_from(how.seed, SN_STREAM_PERMUTE, how.substream + (uint32_t)b);
            draw_order(&random, r->n, near, order);
            cross_covariance(r, order, c);
            /* the same value again, differently rounded, counts as at least as large */
            above += scale * weigh_squares(d, weight, c) * (1.0 + 1e-12) >= observed;
        }
    }
    if (failed) return sn_fail(STONET_ERROR_MEMORY, "memory ran out in the permutations of a test");
    *p_value = (double)(above + 1) / (double)(permutations + 1);
    return STONET_OK;
}

/* Permutations of the statistic that the law would have looked at. */
static stonet_status permutation_p_value(const sn_residuals *r, stonet_null_law law, int64_t permutations,
                                         sn_drawing how, double *p_value)
{
    if (law != STONET_NULL_CHI2) return share_above(r, NULL, permutations, how, p_value);
    sn_residuals turned = *r;
    SN_ARRAY(r->n * (r->mx + r->my), double, e);
    SN_ARRAY(r->mx * r->my, double, weight);
    SN_TRY(turn_to_axes(r, e, weight));
    turned.e = e;
    return share_above(&turned, weight, permutations, how, p_value);
}

bool sn_covariance_permutes(const sn_residuals *r, stonet_null_law law)
{
    return law == STONET_NULL_PERMUTATION ||
           concentration(r, 0, r->mx) * concentration(r, r->mx, r->my) / (double)r->n > SN_MOST_DOUBT;
}

stonet_status sn_covariance_test(const sn_residuals *residuals, stonet_null_law law, int64_t permutations,
                                 sn_drawing how, double *statistic, double *p_value)
{
    const int64_t d = residuals->mx * residuals->my;
    SN_ARRAY(d, double, c);
    cross_covariance(residuals, NULL, c);
    *statistic = (double)residuals->n * sum_of_squares(d, c) / (1.0 + residuals->excess);
    *p_value = 1.0;
    SN_TRY(sn_covariance_permutes(residuals, law)
               ? permutation_p_value(residuals, law, permutations, how, p_value)
               : asymptotic_p_value(residuals, law, c, *statistic, p_value));
    *p_value = fmin(fmax(*p_value, 0.0), 1.0);
    return STONET_OK;
}
