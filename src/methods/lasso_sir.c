/*
 * Lasso-SIR: sparse directions when columns are many. With the slice means m_h of centred x (shares p_h), let
 * (lambda_i, v_i) be the leading eigenpairs of sum_h p_h m_h m_h' and give every row of slice h the
 * pseudo-response m_h'v_i / lambda_i; its covariance with x is v_i itself. Direction i is the lasso of the
 * pseudo-response on x, with the penalty of least cross-validated error, scaled to length 1. No covariance
 * matrix is inverted.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/linalg.h"
#include "methods/lasso.h"
#include "methods/spectral.h"

enum { PATH = 100, PATH_SWEEPS = 1000, FINAL_SWEEPS = 20000 };

static const double SHORTEST = 1e-3; /* the end of the path, as a share of its start */
static const double PATH_TOLERANCE = 1e-6, FINAL_TOLERANCE = 1e-10;

static const sn_param params[] = {
    SN_PARAM_SLICES,
    {"penalty", SN_REAL, "auto", 0, 1, "auto",
     "lasso penalty as a share of the least one that removes every column; auto: by cross-validation"},
    {"folds", SN_INTEGER, "10", 2, 1000, NULL, "folds of the cross-validation of the penalty"},
};

/* The regression problems of the directions, over the k columns kept. */
typedef struct work {
    const sn_problem *problem;
    sn_slices slices;
    int64_t k, dim;
    int64_t *column; /* k: the columns of x kept */
    double *centre;  /* p: means of all columns */
    double *mean;    /* slices x p: slice means of the centred x */
    double *gram;    /* k x k: X'X/n */
    double *value;   /* slices: eigenvalues, descending */
    double *c;       /* dim x k: v_i, the covariances with the pseudo-responses */
    double *pseudo;  /* dim x slices */
    double *b;       /* dim x k: the lasso coefficients */
} work;

static void work_clear(work *w)
{
    sn_free(w->column);
    sn_free(w->centre);
    sn_free(w->mean);
    sn_free(w->gram);
    sn_free(w->value);
    sn_free(w->c);
    sn_free(w->pseudo);
    sn_free(w->b);
}

/* Slice means, exactly 0 for constant columns; centre is their average. */
static void slice_means(work *w)
{
    const sn_problem *problem = w->problem;
    int64_t p = problem->p;
    for (int64_t h = 0; h < w->slices.count; h++) {
        double *mean = w->mean + h * p;
        for (int64_t i = w->slices.start[h]; i < w->slices.start[h + 1]; i++)
            for (int64_t j = 0; j < p; j++)
                mean[j] += (double)problem->x[w->slices.row[i] * p + j] - (double)problem->x[j];
        for (int64_t j = 0; j < p; j++) w->centre[j] += mean[j] / (double)problem->n;
        double rows = (double)(w->slices.start[h + 1] - w->slices.start[h]);
        for (int64_t j = 0; j < p; j++) mean[j] /= rows;
    }
    for (int64_t h = 0; h < w->slices.count; h++)
        for (int64_t j = 0; j < p; j++) w->mean[h * p + j] -= w->centre[j];
    for (int64_t j = 0; j < p; j++) w->centre[j] += (double)problem->x[j];
}

static double share(const work *w, int64_t h)
{
    return (double)(w->slices.start[h + 1] - w->slices.start[h]) / (double)w->problem->n;
}

typedef struct ranked {
    double score;
    int64_t column;
} ranked;

static int by_score(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    return a->column < b->column ? -1 : a->column > b->column;
}

static int by_number(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* Keeps the n columns (all when p <= n) whose slice means vary most. */
static stonet_status screen(work *w)
{
    int64_t p = w->problem->p;
    ranked *order = NULL;
    SN_TRY(SN_NEW(order, p));
    for (int64_t j = 0; j < p; j++) {
        order[j].column = j;
        for (int64_t h = 0; h < w->slices.count; h++)
            order[j].score += share(w, h) * w->mean[h * p + j] * w->mean[h * p + j];
    }
    w->k = p < w->problem->n ? p : w->problem->n;
    stonet_status status = SN_NEW(w->column, w->k);
    if (status == STONET_OK) {
        qsort(order, (size_t)p, sizeof *order, by_score);
        for (int64_t j = 0; j < w->k; j++) w->column[j] = order[j].column;
        qsort(w->column, (size_t)w->k, sizeof *w->column, by_number);
    }
    sn_free(order);
    return status;
}

/* The kept columns of `count` rows of x, centred. */
static void kept_rows(const work *w, const int64_t *row, int64_t stride, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++) {
        const float *from = w->problem->x + row[i * stride] * w->problem->p;
        for (int64_t j = 0; j < w->k; j++)
            out[i * w->k + j] = (double)from[w->column[j]] - w->centre[w->column[j]];
    }
}

static stonet_status gram_matrix(work *w)
{
    int64_t n = w->problem->n, k = w->k, block = sn_block_rows(n, k);
    SN_TRY(sn_memory_require((uint64_t)(24.0 * (double)k * (double)k), "lasso-sir", "use fewer columns"));
    double *rows = NULL;
    SN_TRY(SN_NEW_RAW(rows, block * k));
    stonet_status status = SN_NEW(w->gram, k * k);
    for (int64_t first = 0; status == STONET_OK && first < n; first += block) {
        int64_t count = n - first < block ? n - first : block;
        kept_rows(w, w->slices.row + first, 1, count, rows);
        sn_syrk_tn(k, count, 1.0 / (double)n, rows, 1.0, w->gram);
    }
    sn_free(rows);
    return status;
}

/* The eigenpairs of the slice means and the pseudo-responses; w->dim is limited to what exists. */
static stonet_status pseudo_responses(work *w, int64_t wanted, const stonet_run *run)
{
    int64_t slices = w->slices.count, k = w->k, p = w->problem->p, count = slices < k ? slices : k, rank = 0;
    double *a = NULL, *vt = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(a, slices * k), done);
    SN_GOTO(status, SN_NEW_RAW(vt, count * k), done);
    SN_GOTO(status, SN_NEW(w->value, count), done);
    for (int64_t h = 0; h < slices; h++)
        for (int64_t j = 0; j < k; j++) a[h * k + j] = sqrt(share(w, h)) * w->mean[h * p + w->column[j]];
    SN_GOTO(status, sn_svd(slices, k, a, NULL, w->value, vt), done);
    while (rank < count && w->value[rank] > 1e-10 * w->value[0]) rank++;
    if (rank == 0) {
        status = sn_fail(STONET_ERROR_DATA, "lasso-sir: the slices of the response have the same mean of x");
        goto done;
    }
    w->dim = sn_limit_dim(run, "lasso-sir", wanted, rank, "one fewer than the slices, or the rank of x");
    SN_GOTO(status, SN_NEW(w->c, w->dim * k), done);
    SN_GOTO(status, SN_NEW(w->pseudo, w->dim * slices), done);
    SN_GOTO(status, SN_NEW(w->b, w->dim * k), done);
    for (int64_t i = 0; i < count; i++) w->value[i] *= w->value[i];
    memcpy(w->c, vt, (size_t)(w->dim * k) * sizeof *vt);
    for (int64_t i = 0; i < w->dim; i++)
        for (int64_t h = 0; h < slices; h++)
            for (int64_t j = 0; j < k; j++)
                w->pseudo[i * slices + h] += w->mean[h * p + w->column[j]] * w->c[i * k + j] / w->value[i];
done:
    sn_free(a);
    sn_free(vt);
    return status;
}

/* The penalty at step t of the path of direction i. */
static double path_penalty(const work *w, int64_t i, double t)
{
    double largest = 0.0;
    for (int64_t j = 0; j < w->k; j++) largest = fmax(largest, fabs(w->c[i * w->k + j]));
    return largest * pow(SHORTEST, t / (PATH - 1));
}

/* Everything one fold needs. */
typedef struct fold {
    int64_t most;    /* rows of the largest fold */
    double *x;       /* most x k */
    double *y;       /* most x dim: pseudo-responses */
    double *gram;    /* k x k, of the rows outside the fold */
    double *x_mean;  /* k, of the rows outside */
    double *c;       /* dim x k, of the rows outside */
    double *path;    /* dim x PATH x k: coefficients */
    double *fitted;  /* most x PATH */
    double *scratch; /* dim x 2 k */
} fold;

static void fold_clear(fold *f)
{
    sn_free(f->x);
    sn_free(f->y);
    sn_free(f->gram);
    sn_free(f->x_mean);
    sn_free(f->c);
    sn_free(f->path);
    sn_free(f->fitted);
    sn_free(f->scratch);
}

static stonet_status fold_create(const work *w, int64_t folds, fold *f)
{
    *f = (fold){.most = (w->problem->n + folds - 1) / folds};
    SN_TRY(SN_NEW(f->x, f->most * w->k));
    SN_TRY(SN_NEW(f->y, f->most * w->dim));
    SN_TRY(SN_NEW(f->gram, w->k * w->k));
    SN_TRY(SN_NEW(f->x_mean, w->k));
    SN_TRY(SN_NEW(f->c, w->dim * w->k));
    SN_TRY(SN_NEW(f->path, w->dim * PATH * w->k));
    SN_TRY(SN_NEW(f->fitted, f->most * PATH));
    return SN_NEW(f->scratch, w->dim * 2 * w->k);
}

static void path_of(const work *w, const fold *f, int64_t i)
{
    int64_t k = w->k;
    double *b = f->scratch + i * 2 * k, *slope = b + k;
    memset(b, 0, (size_t)k * sizeof *b);
    for (int64_t t = 0; t < PATH; t++) {
        sn_lasso(k, f->gram, f->c + i * k, path_penalty(w, i, (double)t), PATH_TOLERANCE, PATH_SWEEPS, b,
                 slope);
        memcpy(f->path + (i * PATH + t) * k, b, (size_t)k * sizeof *b);
    }
}

/*
 * Adds to error (dim x PATH) the squared errors on fold number `at`: the rows at, at + folds, ... in the
 * order of the slices, so that every fold has its part of each slice. The moments of the other rows come from
 * those of all rows (with mean 0) less those of the fold.
 */
static void fold_errors(const work *w, int64_t folds, int64_t at, int threads, fold *f, double *error)
{
    int64_t n = w->problem->n, k = w->k, dim = w->dim, slices = w->slices.count;
    int64_t count = (n - at + folds - 1) / folds, h = 0;
    double others = (double)(n - count);
    kept_rows(w, w->slices.row + at, folds, count, f->x);
    for (int64_t i = 0; i < count; i++) {
        while (at + i * folds >= w->slices.start[h + 1]) h++;
        for (int64_t d = 0; d < dim; d++) f->y[i * dim + d] = w->pseudo[d * slices + h];
    }
    memset(f->x_mean, 0, (size_t)k * sizeof *f->x_mean);
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < k; j++) f->x_mean[j] -= f->x[i * k + j] / others;
    for (int64_t j = 0; j < k * k; j++) f->gram[j] = w->gram[j] * (double)n / others;
    sn_syrk_tn(k, count, -1.0 / others, f->x, 1.0, f->gram);
    sn_syrk_tn(k, 1, -1.0, f->x_mean, 1.0, f->gram);
    for (int64_t j = 0; j < dim * k; j++) f->c[j] = w->c[j] * (double)n / others;
    sn_gemm(true, false, dim, k, count, -1.0 / others, f->y, f->x, 1.0, f->c);

#pragma omp parallel for num_threads(threads) schedule(dynamic) if (dim > 1)
    for (int64_t d = 0; d < dim; d++) {
        double y_mean = 0.0;
        for (int64_t i = 0; i < count; i++) y_mean -= f->y[i * dim + d] / others;
        for (int64_t j = 0; j < k; j++) f->c[d * k + j] -= y_mean * f->x_mean[j];
        path_of(w, f, d);
    }
    for (int64_t d = 0; d < dim; d++) {
        const double *path = f->path + d * PATH * k;
        double y_mean = 0.0;
        for (int64_t i = 0; i < count; i++) y_mean -= f->y[i * dim + d] / others;
        sn_gemm(false, true, count, PATH, k, 1.0, f->x, path, 0.0, f->fitted);
        for (int64_t t = 0; t < PATH; t++) {
            double intercept = y_mean - sn_dot(k, f->x_mean, path + t * k);
            for (int64_t i = 0; i < count; i++)
                error[d * PATH + t] += pow(f->y[i * dim + d] - intercept - f->fitted[i * PATH + t], 2);
        }
    }
}

/* step[i]: the place on the path of least error; never its start, where every coefficient is 0. */
static stonet_status cross_validate(const work *w, int64_t folds, const stonet_run *run, double *step)
{
    double *error = NULL;
    fold f = {0};
    stonet_status status;
    if (folds > w->problem->n) folds = w->problem->n;
    SN_GOTO(status, SN_NEW(error, w->dim * PATH), done);
    SN_GOTO(status, fold_create(w, folds, &f), done);
    for (int64_t at = 0; at < folds; at++) {
        if (sn_should_stop(run)) {
            status = sn_fail(STONET_ERROR_INTERRUPTED, "lasso-sir: stopped before the penalty was chosen");
            goto done;
        }
        fold_errors(w, folds, at, sn_threads(run), &f, error);
    }
    for (int64_t i = 0; i < w->dim; i++) {
        int64_t best = 1;
        for (int64_t t = 1; t < PATH; t++)
            if (error[i * PATH + t] <= error[i * PATH + best]) best = t;
        step[i] = (double)best;
    }
done:
    sn_free(error);
    fold_clear(&f);
    return status;
}

/* The coefficients at the chosen place, by way of the path before it, scaled to length 1. */
static stonet_status final_lasso(const work *w, int64_t i, double step, double *slope)
{
    int64_t k = w->k;
    double *b = w->b + i * k;
    for (int t = 1; t < PATH && t < step; t++)
        sn_lasso(k, w->gram, w->c + i * k, path_penalty(w, i, t), PATH_TOLERANCE, PATH_SWEEPS, b, slope);
    sn_lasso(k, w->gram, w->c + i * k, path_penalty(w, i, step), FINAL_TOLERANCE, FINAL_SWEEPS, b, slope);
    double length = sn_norm(k, b);
    if (length == 0.0)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "lasso-sir: the penalty leaves no column in direction %lld; use a "
                       "smaller one, or auto",
                       (long long)i + 1);
    for (int64_t j = 0; j < k; j++) b[j] /= length;
    return STONET_OK;
}

static stonet_status solve(work *w, const sn_settings *settings, const stonet_run *run)
{
    double *step = NULL, *slope = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW(step, w->dim), done);
    SN_GOTO(status, SN_NEW(slope, w->k), done);
    if (sn_is(settings, "penalty", "auto")) {
        SN_GOTO(status, cross_validate(w, sn_int(settings, "folds"), run, step), done);
    } else {
        double wanted = sn_real(settings, "penalty");
        for (int64_t i = 0; i < w->dim; i++) step[i] = (PATH - 1) * log(wanted) / log(SHORTEST);
    }
    for (int64_t i = 0; i < w->dim; i++) SN_GOTO(status, final_lasso(w, i, step[i], slope), done);
done:
    sn_free(step);
    sn_free(slope);
    return status;
}

static stonet_status hand_over(const work *w, sn_fit_result *result)
{
    sn_linear_map map = {.p = w->problem->p,
                         .dim = w->dim,
                         .centre = w->centre,
                         .n_values = w->slices.count < w->k ? w->slices.count : w->k,
                         .value = w->value};
    SN_TRY(SN_NEW(map.direction, map.p * map.dim));
    for (int64_t i = 0; i < w->dim; i++)
        for (int64_t j = 0; j < w->k; j++) map.direction[w->column[j] * w->dim + i] = w->b[i * w->k + j];
    stonet_status status = sn_linear_map_result(&map, result);
    sn_free(map.direction);
    return status;
}

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    SN_WORKSPACE(scratch);
    work w = {.problem = problem};
    stonet_status status;
    SN_GOTO(status,
            sn_slices_to_compare(problem, "lasso-sir", sn_int(settings, "slices"), &scratch, &w.slices),
            done);
    SN_GOTO(status, SN_NEW(w.centre, problem->p), done);
    SN_GOTO(status, SN_NEW(w.mean, w.slices.count * problem->p), done);
    slice_means(&w);
    SN_GOTO(status, screen(&w), done);
    SN_GOTO(status, pseudo_responses(&w, dim, run), done);
    SN_GOTO(status, gram_matrix(&w), done);
    SN_GOTO(status, solve(&w, settings, run), done);
    status = hand_over(&w, result);
done:
    work_clear(&w);
    return status;
}

extern const sn_method sn_method_lasso_sir;
const sn_method sn_method_lasso_sir = {
    .name = "lasso-sir",
    .title = "Lasso-SIR: sparse sliced inverse regression (Lin, Zhao and Liu 2019)",
    .python = "LassoSIR",
    .tasks = SN_TASK_BOTH,
    .multi_output = true,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    /* a fit chooses the penalty by itself */
    .grid = {{"slices=5,10,20", SN_TASK_REGRESSION}},
    .fit = fit,
    SN_LINEAR_MAP_STATE,
};
