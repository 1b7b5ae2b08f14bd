/* Which kernel, before any network: by the error of ridge regression on rows left out (front_kernel.h). */
#include <math.h>
#include <string.h>

#include "base/failure.h"
#include "base/memory.h"
#include "base/run.h"
#include "base/workspace.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "stonet/front_kernel.h"
#include "stonet/holdout.h"

static const double COMPLEXITIES[] = {1.5, 4.0, 0.5, 12.0}, LINEAR_SHARES[] = {0.5, 0.0};
enum { NARROW_FROM = 1000 }; /* rows: fewer are too far apart for the last */
static const double PENALTIES[] = {0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001, 1e-5}; /* l2 / n */
/* Standard errors by which a kernel without a linear share must be better, for numbers. */
static const double WITHOUT_ERRORS = 1.0;
enum {
    N_COMPLEXITIES = sizeof COMPLEXITIES / sizeof *COMPLEXITIES,
    N_SHARES = sizeof LINEAR_SHARES / sizeof *LINEAR_SHARES,
    N_PENALTIES = sizeof PENALTIES / sizeof *PENALTIES,
    MOST_ROWS = 1000,
    MOST_LANDMARKS = 200,
    ROWS = 303 /* substream of the seed */
};

/* The response of the rows in columns of mean 0: numbers, or indicators of all classes but the first. */
static stonet_status responses(const sn_problem *problem, const sn_rows *rows, sn_workspace *keep, double **y,
                               int64_t *columns)
{
    const bool classes = problem->task == SN_CLASSIFICATION;
    const int64_t m = problem->outputs, k = classes ? m - 1 : m;
    SN_TRY(SN_TAKE(keep, *y, rows->n * k));
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        for (int64_t c = 0; c < k; c++)
            (*y)[i * k + c] = classes ? (sn_problem_label(problem, row) == c + 1 ? 1.0 : 0.0)
                                      : sn_problem_target(problem, row, c);
    }
    for (int64_t c = 0; c < k; c++) {
        double mean = 0.0;
        for (int64_t i = 0; i < rows->n; i++) mean += (*y)[i * k + c] / (double)rows->n;
        for (int64_t i = 0; i < rows->n; i++) (*y)[i * k + c] -= mean;
    }
    *columns = k;
    return STONET_OK;
}

/*
 * The squared errors of rows left out one at a time, with the penalty that has the least mean of them. u n x
 * d with columns of mean 0, u'u = V G V', P = u V: the fit is P (G + l2)^-1 P'y, the leverage of row i is 1/n
 * + sum_j P_ij^2 / (G_j + l2), and its residual when it is left out is r_i / (1 - leverage).
 */
static stonet_status left_out_error(int64_t n, int64_t d, const double *u, int64_t k, const double *y,
                                    sn_held_out *best)
{
    SN_WORKSPACE(scratch);
    double *gram = NULL, *g = NULL, *v = NULL, *p = NULL, *t = NULL, *shrunk = NULL, *fit = NULL,
           *error = NULL;
    SN_TRY(SN_TAKE(&scratch, gram, d * d));
    SN_TRY(SN_TAKE(&scratch, g, d));
    SN_TRY(SN_TAKE(&scratch, v, d * d));
    SN_TRY(SN_TAKE(&scratch, p, n * d));
    SN_TRY(SN_TAKE(&scratch, t, d * k));
    SN_TRY(SN_TAKE(&scratch, shrunk, d * k));
    SN_TRY(SN_TAKE(&scratch, fit, n * k));
    SN_TRY(SN_TAKE(&scratch, error, n));
    sn_syrk_tn_lower(d, n, 1.0, u, 0.0, gram);
    SN_TRY(sn_eigh(d, gram, g, v));
    sn_gemm(false, false, n, d, d, 1.0, u, v, 0.0, p);
    sn_gemm(true, false, d, k, n, 1.0, p, y, 0.0, t);
    best->mean = (double)INFINITY;
    for (int at = 0; at < N_PENALTIES; at++) {
        const double l2 = PENALTIES[at] * (double)n;
        double mean = 0.0;
        for (int64_t j = 0; j < d; j++)
            for (int64_t c = 0; c < k; c++) shrunk[j * k + c] = t[j * k + c] / (fmax(g[j], 0.0) + l2);
        sn_gemm(false, false, n, k, d, 1.0, p, shrunk, 0.0, fit);
        for (int64_t i = 0; i < n; i++) {
            double leverage = 1.0 / (double)n;
            for (int64_t j = 0; j < d; j++) leverage += p[i * d + j] * p[i * d + j] / (fmax(g[j], 0.0) + l2);
            const double rest = fmax(1.0 - leverage, 1e-6);
            error[i] = 0.0;
            for (int64_t c = 0; c < k; c++) {
                const double off = (y[i * k + c] - fit[i * k + c]) / rest;
                error[i] += off * off;
            }
            mean += error[i] / (double)n;
        }
        if (!(mean < best->mean)) continue;
        best->mean = mean;
        memcpy(best->loss, error, (size_t)n * sizeof *error);
    }
    return STONET_OK;
}

/* The rows through one front. */
static stonet_status score(const sn_problem *problem, const sn_rows *rows, const sn_kernel_setting *setting,
                           uint64_t seed, int64_t k, const double *y, sn_held_out *error)
{
    SN_WORKSPACE(scratch);
    sn_front *front;
    float *x = NULL, *u = NULL;
    double *wide = NULL;
    SN_TRY(sn_front_kernel_create(problem, rows, setting, seed, &front));
    const int64_t d = front->outputs;
    stonet_status status;
    SN_GOTO(status, SN_TAKE(&scratch, x, rows->n * problem->p), done);
    SN_GOTO(status, SN_TAKE(&scratch, u, rows->n * d), done);
    SN_GOTO(status, SN_TAKE(&scratch, wide, rows->n * d), done);
    sn_batch batch = {.x = x, .x_stride = problem->p};
    sn_batch_fetch(problem, rows, &batch);
    SN_GOTO(status, front->ops->apply(front, rows->n, x, u), done);
    sn_widen(rows->n * d, u, wide);
    status = left_out_error(rows->n, d, wide, k, y, error);
done:
    sn_front_free(front);
    return status;
}

/* Of all points, side by side; those that a stop leaves out have an infinite error, the first excepted. */
static stonet_status score_all(const sn_problem *problem, const sn_rows *rows, const sn_kernel_setting *point,
                               int count, uint64_t seed, const stonet_run *run, int64_t k, const double *y,
                               sn_held_out *error)
{
    sn_failure failure = {.status = STONET_OK};
    int stopped = 0;
#pragma omp parallel for num_threads(sn_threads(run) < count ? sn_threads(run) : count) schedule(dynamic)
    for (int at = 0; at < count; at++) {
        error[at].mean = (double)INFINITY;
        if (at > 0 && sn_should_stop_shared(run, &stopped)) continue;
        sn_failure_note(&failure, at, score(problem, rows, &point[at], seed, k, y, &error[at]));
    }
    return sn_failure_raise(&failure);
}

/* Of the points with or without a linear share, the one with the least error; -1: there is none. */
static int least_of(const sn_kernel_setting *point, const sn_held_out *error, int count, bool linear)
{
    int best = -1;
    for (int k = 0; k < count; k++) {
        if ((point[k].linear > 0.0) != linear) continue;
        if (best < 0 || error[k].mean < error[best].mean) best = k;
    }
    return best;
}

/* One without a linear share only where it is better by so many standard errors. */
static int choose_point(const sn_kernel_setting *point, const sn_held_out *error, int count, int64_t n,
                        double errors)
{
    const int with = least_of(point, error, count, true), without = least_of(point, error, count, false);
    if (with < 0 || without < 0) return with < 0 ? without : with;
    if (!isfinite(error[with].mean) || !isfinite(error[without].mean))
        return isfinite(error[with].mean) ? with : without;
    const sn_difference gain = sn_held_out_difference(&error[with], &error[without], 0, n);
    return gain.mean > errors * gain.se ? without : with;
}

stonet_status sn_kernel_choose(const sn_problem *problem, const sn_rows *rows, uint64_t seed,
                               const stonet_run *run, sn_kernel_setting *setting)
{
    const bool any_c = isnan(setting->complexity), any_share = isnan(setting->linear);
    if (!any_c && !any_share) return STONET_OK;
    SN_WORKSPACE(scratch);
    int64_t *list = NULL, columns;
    double *y = NULL;
    const int64_t n = rows->n < MOST_ROWS ? rows->n : MOST_ROWS;
    SN_TRY(SN_TAKE(&scratch, list, n));
    SN_TRY(sn_choose_rows(rows->n, n, seed, ROWS, list));
    for (int64_t i = 0; i < n; i++) list[i] = sn_rows_at(rows, list[i]);
    const sn_rows some = sn_rows_list(list, n);
    SN_TRY(responses(problem, &some, &scratch, &y, &columns));
    sn_kernel_setting point[N_COMPLEXITIES * N_SHARES];
    sn_held_out error[N_COMPLEXITIES * N_SHARES];
    int count = 0;
    const int complexities = rows->n < NARROW_FROM ? N_COMPLEXITIES - 1 : N_COMPLEXITIES;
    for (int c = 0; c < (any_c ? complexities : 1); c++)
        for (int share = 0; share < (any_share ? N_SHARES : 1); share++, count++) {
            point[count] = *setting;
            error[count] = (sn_held_out){0};
            SN_TRY(SN_TAKE(&scratch, error[count].loss, n));
            if (any_c) point[count].complexity = COMPLEXITIES[c];
            if (any_share) point[count].linear = LINEAR_SHARES[share];
            if (point[count].landmarks > MOST_LANDMARKS) point[count].landmarks = MOST_LANDMARKS;
        }
    SN_TRY(score_all(problem, &some, point, count, seed, run, columns, y, error));
    /* Far from all landmarks kernel features alone give the mean of the response, whatever is there. Numbers
       go on rising there, shares of classes do not. */
    const double errors = problem->task == SN_REGRESSION ? WITHOUT_ERRORS : 0.0;
    const int best = choose_point(point, error, count, n, errors);
    setting->complexity = point[best].complexity;
    setting->linear = point[best].linear;
    return STONET_OK;
}
