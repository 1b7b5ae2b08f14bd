/*
 * Partial least squares by SIMPLS (simpls.h): Z = (x - mean) R with uncorrelated columns of variance 1, each
 * with the largest covariance with the response that those before leave. Classes are indicators (PLS-DA). The
 * linear learner on Z is the classical PLS regression.
 *
 * PLS does not change when x is turned. In the coordinates of the principal components X'X is diagonal, and
 * directions that are rounding are left out; so the passes over the rows are those of pca, and one for X'Y.
 * These moments do for every number of components: fits that differ in the dimension alone share them by the
 * checkpoint of the run.
 */
#include <math.h>
#include <string.h>

#include "base/checkpoint.h"
#include "base/memory.h"
#include "base/pack.h"
#include "math/linalg.h"
#include "methods/row_sums.h"
#include "methods/simpls.h"
#include "methods/whitening.h"

/* What all numbers of components need: one block of numbers, and what lies where in it. */
typedef struct moments {
    int64_t p, rank, m; /* columns, principal components, responses */
    double *squares;    /* of the responses about their means, summed */
    double *mean;       /* p: of x */
    double *gram;       /* rank: sums of squares of the components */
    double *turn;       /* p x rank: the components */
    double *cross;      /* rank x m: sums of products of the components and the responses */
} moments;

static size_t moments_bytes(const moments *of)
{
    return (size_t)(1 + of->p + of->rank + of->p * of->rank + of->rank * of->m) * sizeof(double);
}

static stonet_status moments_create(int64_t p, int64_t rank, int64_t m, sn_workspace *keep, moments *out)
{
    *out = (moments){.p = p, .rank = rank, .m = m};
    SN_TRY(SN_TAKE(keep, out->squares, moments_bytes(out) / sizeof(double)));
    out->mean = out->squares + 1;
    out->gram = out->mean + p;
    out->turn = out->gram + rank;
    out->cross = out->turn + p * rank;
    return STONET_OK;
}

/* The rows of a pass, and the columns of the response: one says it all of two classes. */
typedef struct pass {
    const sn_problem *problem;
    const double *mean; /* of x */
    int64_t m;
} pass;

/* Adds X'Y (p x m) of some rows, then the sums (m) and the squares (m) of the responses. */
static stonet_status add_cross(const void *user, int64_t first, int64_t count, double *sum)
{
    const pass *of = user;
    const int64_t p = of->problem->p, m = of->m, block = sn_block_rows(count, p), end = first + count;
    double *total = sum + p * m, *squares = total + m;
    SN_ARRAY(block * p, double, x);
    SN_ARRAY(block * m, double, y);
    for (; first < end; first += block) {
        const int64_t some = end - first < block ? end - first : block;
        sn_centred_rows(of->problem->x, p, of->mean, NULL, first, some, x);
        for (int64_t i = 0; i < some; i++) {
            const double weight = sn_problem_weight(of->problem, first + i);
            for (int64_t k = 0; k < m; k++) {
                const double value = of->problem->task == SN_CLASSIFICATION
                                         ? of->problem->label[first + i] == k + of->problem->outputs - m
                                         : of->problem->y[(first + i) * m + k];
                y[i * m + k] = weight * value;
                total[k] += weight * value;
                squares[k] += weight * value * value;
            }
        }
        sn_gemm(1.0, sn_turned(x, some, p), sn_as(y, some, m), 1.0, sum);
    }
    return STONET_OK;
}

/* n is the sum of the weights. gram = n var of the components; cross = turn' X'Y, where Y need not be centred
   since X is; squares = sum_k (sum_i w_i y_ik^2 - (sum_i w_i y_ik)^2 / n). */
static stonet_status find_moments(const sn_problem *problem, int64_t m, const stonet_run *run,
                                  sn_workspace *keep, moments *out)
{
    const int64_t p = problem->p;
    const double rows = sn_problem_total(problem);
    SN_WORKSPACE(scratch);
    sn_whitening x;
    SN_TRY(sn_components_fit(problem, run->team, &scratch, &x));
    SN_ARRAY((p + 2) * m, double, sum);
    SN_TRY(moments_create(p, x.rank, m, keep, out));
    memcpy(out->mean, x.mean, (size_t)p * sizeof *x.mean);
    memcpy(out->turn, x.turn, (size_t)(p * x.rank) * sizeof *x.turn);
    for (int64_t k = 0; k < x.rank; k++) out->gram[k] = rows * x.variance[k];
    const pass of = {.problem = problem, .mean = x.mean, .m = m};
    SN_TRY(sn_row_sums(run->team, problem->n, (p + 2) * m, add_cross, &of, sum));
    sn_multiply(sn_turned(x.turn, p, x.rank), sn_as(sum, p, m), out->cross);
    *out->squares = 0.0;
    for (int64_t k = 0; k < m; k++)
        *out->squares += sum[(p + 1) * m + k] - sum[p * m + k] * sum[p * m + k] / rows;
    return STONET_OK;
}

/* The same, or what the checkpoint has of it from a fit with another dimension. */
static stonet_status get_moments(const sn_problem *problem, const stonet_run *run, sn_workspace *keep,
                                 moments *out)
{
    static const char KEY[] = "pls.moments";
    const bool pair = problem->task == SN_CLASSIFICATION && problem->outputs == 2;
    const int64_t m = problem->outputs - pair;
    if (run->checkpoint == NULL) return find_moments(problem, m, run, keep, out);
    SN_FREED_BY(sn_pack_clear) sn_pack record = {0};
    SN_TRY(sn_checkpoint_get_shared(run->checkpoint, run->team, KEY, &record));
    if (record.size > 0) {
        sn_unpack from = {record.bytes, record.size};
        int64_t rank;
        SN_TRY(sn_unpack_int(&from, &rank));
        if (rank < 1 || rank > problem->p)
            return sn_fail(STONET_ERROR_FORMAT, "a record of finished work does not belong to these columns");
        SN_TRY(moments_create(problem->p, rank, m, keep, out));
        SN_TRY(sn_unpack_bytes(&from, out->squares, moments_bytes(out)));
        return sn_unpack_end(&from);
    }
    SN_TRY(find_moments(problem, m, run, keep, out));
    SN_TRY(sn_pack_int(&record, out->rank));
    SN_TRY(sn_pack_bytes(&record, out->squares, moments_bytes(out)));
    return sn_checkpoint_put(run->checkpoint, KEY, &record);
}

/* SIMPLS in the coordinates of the components gives weights r (rank x most). direction = sqrt(n) turn r gives
   each column of Z variance 1. value: the share of the response's sum of squares that a column explains. */
static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    (void)settings;
    SN_WORKSPACE(scratch);
    moments of;
    int64_t found;
    sn_linear_map map = {.p = problem->p};
    const stonet_status status = get_moments(problem, run, &scratch, &of);
    if (status != STONET_OK) return sn_fail_prefix(status, "pls");
    const int64_t most = dim < of.rank ? dim : of.rank;
    SN_ARRAY(of.rank * most, double, r);
    SN_TRY(SN_TAKE(&scratch, map.value, most));
    const sn_simpls_moments given = {of.rank, of.m, of.gram, true, of.cross};
    SN_TRY(sn_simpls(&given, most, r, map.value, &found));
    if (found == 0)
        return sn_fail(STONET_ERROR_DATA,
                       "pls: no column of x varies with the response, so there is no component");
    map.dim = map.n_values = sn_limit_dim(run, "pls", dim, found, "no more of x varies with the response");
    SN_ARRAY(of.rank * map.dim, double, kept);
    SN_TRY(SN_TAKE(&scratch, map.direction, of.p * map.dim));
    sn_first_columns(of.rank, most, r, map.dim, kept);
    sn_gemm(sqrt(sn_problem_total(problem)), sn_as(of.turn, of.p, of.rank), sn_as(kept, of.rank, map.dim),
            0.0, map.direction);
    for (int64_t k = 0; k < map.dim; k++) map.value[k] /= *of.squares;
    map.centre = of.mean;
    return sn_linear_map_result(&map, result);
}

const sn_method sn_method_pls = {
    .name = "pls",
    .title = "Partial least squares (SIMPLS, de Jong 1993)",
    .python = "PartialLeastSquares",
    .tasks = SN_TASK_BOTH,
    .multi_output = true,
    .weighted = true,
    .shares = true,
    .keeps = true,
    .nested = true,
    .fit = fit,
    SN_LINEAR_MAP_STATE,
};
