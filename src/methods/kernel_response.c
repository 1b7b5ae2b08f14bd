#include "methods/kernel_response.h"

#include <math.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "methods/responses.h"
#include "methods/row_columns.h"
#include "methods/row_sums.h"

/* Gaussian kernels of a single target fall below 1e-12 within a few dozen directions; several targets need
   more, and past this many the rest no longer matters to a reduction. */
enum { MOST_RESPONSE_RANK = 2000 };
static const double response_tolerance = 1e-12;

stonet_status sn_classes_present(const sn_problem *problem, int64_t *count)
{
    SN_ZEROS(problem->outputs, bool, seen);
    *count = 0;
    for (int64_t i = 0; i < problem->n; i++) {
        *count += !seen[problem->label[i]];
        seen[problem->label[i]] = true;
    }
    if (*count < 2)
        return sn_fail(STONET_ERROR_DATA, "all rows are of one class, so there is nothing to tell apart");
    return STONET_OK;
}

stonet_status sn_response_factor(const sn_problem *problem, sn_distance_kind scale, uint64_t seed,
                                 sn_workspace *keep, double **factor, int64_t *rank)
{
    double s;
    const int64_t n = problem->n, m = problem->outputs;
    if (problem->task == SN_CLASSIFICATION) {
        int64_t present = 0;
        SN_TRY(sn_classes_present(problem, rank));
        SN_ARRAY(m, int64_t, column);
        SN_TRY(SN_TAKE_ZERO(keep, *factor, n * *rank));
        for (int64_t c = 0; c < m; c++) column[c] = -1;
        for (int64_t i = 0; i < n; i++) {
            int64_t *at = &column[problem->label[i]];
            if (*at < 0) *at = present++;
            (*factor)[i * *rank + *at] = 1.0;
        }
        return STONET_OK;
    }
    SN_TRY(scale == SN_MEDIAN_DISTANCE ? sn_typical_distance(n, m, problem->y, seed, &s)
                                       : sn_mean_distance(n, m, problem->y, seed, &s));
    if (!(s > 0.0))
        return sn_fail(STONET_ERROR_DATA, "the target is constant, so there is nothing to explain");
    const sn_gaussian_rows rows = {n, m, problem->y, 1.0 / (2.0 * s * s)};
    return sn_incomplete_cholesky(&rows, response_tolerance, MOST_RESPONSE_RANK, keep, factor, rank);
}

/* ---- the ridge -------------------------------------------------------------------------------------- */

enum { MOST_CENTRES = 500, SHARES = 33 };
static const double largest_share = 1.0, quarter_decade = 0.5623413251903491;
/* Directions of the features below this share of the first are rounding. */
static const double rounding = 1e-12;

/* A regression in the coordinates in which every ridge is a set of weights. */
typedef struct turned {
    sn_row_columns columns; /* the features, ... */
    double *mean;           /* ... their mean, ... */
    int64_t m;
    double *turn;  /* columns.m x m: ... and what turns them centred into left singular vectors u (n x m) */
    double *value; /* columns.m, descending: squared singular values */
    int64_t r;
    double *f;      /* n x r: the response */
    double *along;  /* m x r: u'f */
    double *weight; /* m x SHARES: of each ridge */
    double *scaled; /* m x SHARES r: weight times along */
} turned;

/* mean, m, turn, value, along. */
static stonet_status turn(sn_workspace *keep, turned *t)
{
    const int64_t all = t->columns.m;
    SN_ARRAY(all * all, double, gram);
    SN_ARRAY(all * all, double, v);
    SN_ARRAY(all * t->r, double, cross);
    SN_TRY(SN_TAKE_EACH(keep, all, &t->mean, &t->value));
    SN_TRY(sn_row_columns_products(&t->columns, t->r, t->f, t->mean, gram, cross));
    SN_TRY(sn_eigh(all, gram, t->value, v));
    for (t->m = 0; t->m < all && t->value[t->m] > rounding * t->value[0];) t->m++;
    SN_TRY(SN_TAKE(keep, t->turn, all * t->m));
    SN_TRY(SN_TAKE(keep, t->along, t->m * t->r));
    for (int64_t i = 0; i < all; i++)
        for (int64_t k = 0; k < t->m; k++) t->turn[i * t->m + k] = v[i * all + k] / sqrt(t->value[k]);
    sn_multiply(sn_turned(t->turn, all, t->m), sn_as(cross, all, t->r), t->along);
    return STONET_OK;
}

/* For each share the sum over some rows of the squared errors with each row left out. */
static stonet_status add_errors(const void *user, int64_t first, int64_t count, double *sum)
{
    const turned *t = user;
    const int64_t all = t->columns.m, r = t->r, block = sn_row_columns_block(count), end = first + count;
    SN_ARRAY(block * all, double, phi);
    SN_ARRAY(block * t->m, double, u);
    SN_ARRAY(block * SHARES * r, double, fitted);
    SN_ARRAY(block * SHARES, double, lever);
    for (; first < end; first += block) {
        const int64_t some = end - first < block ? end - first : block;
        SN_TRY(sn_row_columns_make(&t->columns, t->mean, first, some, phi));
        sn_multiply(sn_as(phi, some, all), sn_as(t->turn, all, t->m), u);
        sn_multiply(sn_as(u, some, t->m), sn_as(t->scaled, t->m, SHARES * r), fitted);
        for (int64_t i = 0; i < some * t->m; i++) u[i] *= u[i];
        sn_multiply(sn_as(u, some, t->m), sn_as(t->weight, t->m, SHARES), lever);
        for (int64_t i = 0; i < some; i++)
            for (int64_t s = 0; s < SHARES; s++) {
                const double rest = fmax(1.0 - 1.0 / (double)t->columns.n - lever[i * SHARES + s], 1e-6);
                double squares = 0.0;
                for (int64_t j = 0; j < r; j++) {
                    const double error = t->f[(first + i) * r + j] - fitted[(i * SHARES + s) * r + j];
                    squares += error * error;
                }
                sum[s] += squares / (rest * rest);
            }
    }
    return STONET_OK;
}

stonet_status sn_kernel_ridge_choose(const sn_kernel_input *input, int64_t rank, const double *f,
                                     const stonet_run *run, double *share)
{
    SN_WORKSPACE(scratch);
    sn_kernel_input few = *input;
    sn_landmarks landmarks;
    turned t = {0};
    int64_t kept = 0;
    double error[SHARES], lowest = INFINITY, tried = largest_share;
    SN_TRY(sn_leading_components(input->n, rank, 1.0, f, &scratch, &t.r, &t.f));
    if (few.m > MOST_CENTRES) SN_TRY(sn_kernel_thin(&few, MOST_CENTRES, run->seed, 4, &scratch));
    SN_TRY(sn_landmarks_create(few.m, few.p, few.centres, few.gamma, &scratch, &landmarks));
    t.columns = sn_feature_columns(&few, &landmarks, run->team);
    SN_TRY(turn(&scratch, &t));
    /* the shares with no more than n/2 degrees of freedom are the first */
    SN_TRY(SN_TAKE(&scratch, t.weight, t.m * SHARES));
    SN_TRY(SN_TAKE(&scratch, t.scaled, t.m * SHARES * t.r));
    for (int64_t s = 0; s < SHARES; s++, tried *= quarter_decade) {
        double freedom = 1.0;
        for (int64_t k = 0; k < t.m; k++) {
            const double weight = t.value[k] / (t.value[k] + tried * t.value[0]);
            t.weight[k * SHARES + s] = weight;
            freedom += weight;
            for (int64_t j = 0; j < t.r; j++)
                t.scaled[(k * SHARES + s) * t.r + j] = weight * t.along[k * t.r + j];
        }
        if (kept == s && freedom <= 0.5 * (double)t.columns.n) kept = s + 1;
    }
    SN_TRY(sn_row_sums(t.columns.team, input->n, SHARES, add_errors, &t, error));
    *share = tried = largest_share;
    for (int64_t s = 0; s < kept; s++, tried *= quarter_decade) {
        if (!(error[s] < lowest)) continue;
        lowest = error[s];
        *share = tried;
    }
    return STONET_OK;
}
