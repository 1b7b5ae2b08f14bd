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
#include "data/partitions.h"
#include "math/linalg.h"
#include "math/smallest.h"
#include "methods/lasso.h"
#include "methods/spectral.h"

enum { PATH = 100, STAGE = 10, PAST = 20, PATH_SWEEPS = 1000, FINAL_SWEEPS = 20000 };

static const double SHORTEST = 1e-3; /* the end of the path, as a share of its start */
static const double PATH_TOLERANCE = 1e-7, FINAL_TOLERANCE = 1e-10;
static const double WORSE = 1.03; /* by so much the error must have grown for the path to end */

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

/* Keeps the n columns (all when p <= n) whose slice means vary most. */
static stonet_status screen(sn_workspace *keep, work *w)
{
    int64_t p = w->problem->p;
    SN_ZEROS(p, sn_keyed, order); /* the most varying first: by minus the variance of their means */
    for (int64_t j = 0; j < p; j++) {
        order[j].row = j;
        for (int64_t h = 0; h < w->slices.count; h++)
            order[j].value -= share(w, h) * w->mean[h * p + j] * w->mean[h * p + j];
    }
    w->k = p < w->problem->n ? p : w->problem->n;
    SN_TRY(SN_TAKE(keep, w->column, w->k));
    qsort(order, (size_t)p, sizeof *order, sn_by_value);
    for (int64_t j = 0; j < w->k; j++) w->column[j] = order[j].row;
    qsort(w->column, (size_t)w->k, sizeof *w->column, sn_by_int);
    return STONET_OK;
}

/* The kept columns of `count` rows of x, centred. */
static void kept_rows(const work *w, const int64_t *row, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++) {
        const float *from = w->problem->x + row[i] * w->problem->p;
        for (int64_t j = 0; j < w->k; j++)
            out[i * w->k + j] = (double)from[w->column[j]] - w->centre[w->column[j]];
    }
}

static stonet_status gram_matrix(sn_workspace *keep, work *w)
{
    int64_t n = w->problem->n, k = w->k, block = sn_block_rows(n, k);
    SN_TRY(sn_memory_require((uint64_t)(24.0 * (double)k * (double)k), "lasso-sir", "use fewer columns"));
    SN_ARRAY(block * k, double, rows);
    SN_TRY(SN_TAKE_ZERO(keep, w->gram, k * k));
    for (int64_t first = 0; first < n; first += block) {
        int64_t count = n - first < block ? n - first : block;
        kept_rows(w, w->slices.row + first, count, rows);
        sn_syrk_tn(k, count, 1.0 / (double)n, rows, 1.0, w->gram);
    }
    return STONET_OK;
}

/* The eigenpairs of the slice means and the pseudo-responses; w->dim is limited to what exists. */
static stonet_status pseudo_responses(int64_t wanted, const stonet_run *run, sn_workspace *keep, work *w)
{
    int64_t slices = w->slices.count, k = w->k, p = w->problem->p, count = slices < k ? slices : k, rank = 0;
    SN_ARRAY(slices * k, double, a);
    SN_ARRAY(count * k, double, vt);
    SN_TRY(SN_TAKE(keep, w->value, count));
    for (int64_t h = 0; h < slices; h++)
        for (int64_t j = 0; j < k; j++) a[h * k + j] = sqrt(share(w, h)) * w->mean[h * p + w->column[j]];
    SN_TRY(sn_svd(slices, k, a, NULL, w->value, vt));
    while (rank < count && w->value[rank] > 1e-10 * w->value[0]) rank++;
    if (rank == 0)
        return sn_fail(STONET_ERROR_DATA, "lasso-sir: the slices of the response have the same mean of x");
    w->dim = sn_limit_dim(run, "lasso-sir", wanted, rank, "one fewer than the slices, or the rank of x");
    SN_TRY(SN_TAKE(keep, w->c, w->dim * k));
    SN_TRY(SN_TAKE_ZERO(keep, w->pseudo, w->dim * slices));
    SN_TRY(SN_TAKE(keep, w->b, w->dim * k));
    for (int64_t i = 0; i < count; i++) w->value[i] *= w->value[i];
    memcpy(w->c, vt, (size_t)(w->dim * k) * sizeof *vt);
    for (int64_t i = 0; i < w->dim; i++)
        for (int64_t h = 0; h < slices; h++)
            for (int64_t j = 0; j < k; j++)
                w->pseudo[i * slices + h] += w->mean[h * p + w->column[j]] * w->c[i * k + j] / w->value[i];
    return STONET_OK;
}

/* The penalty at step t of the path of direction i. */
static double path_penalty(const work *w, int64_t i, double t)
{
    double largest = 0.0;
    for (int64_t j = 0; j < w->k; j++) largest = fmax(largest, fabs(w->c[i * w->k + j]));
    return largest * pow(SHORTEST, t / (PATH - 1));
}

/* Everything the folds need: how far each has come, and work space for one of them. */
typedef struct folds {
    int count;
    int64_t most;    /* rows of the largest */
    int64_t *row;    /* the rows of fold 0, fold 1, .. */
    int64_t *start;  /* where each begins, and the end */
    int32_t *slice;  /* of each row of the problem */
    double *b;       /* count x dim x k: the solutions where the paths stand */
    double *x;       /* most x k */
    double *y;       /* most x dim: pseudo-responses */
    double *gram;    /* k x k, of the rows outside the fold */
    double *x_mean;  /* k, of the rows outside */
    double *y_mean;  /* dim, of the rows outside */
    double *c;       /* dim x k, of the rows outside */
    double *path;    /* dim x STAGE x k: coefficients */
    double *fitted;  /* most x STAGE */
    sn_lasso *lasso; /* dim */
} folds;

/* Every fold has its part of each slice, and rows that belong together are in one fold. */
static stonet_status folds_create(const work *w, int count, uint64_t seed, sn_workspace *keep, folds *f)
{
    const int64_t n = w->problem->n, k = w->k, dim = w->dim;
    const sn_rows all = sn_rows_range(0, n);
    sn_problem sliced = *w->problem;
    *f = (folds){.count = count};
    SN_ARRAY(n, int32_t, fold);
    SN_TRY(SN_TAKE(keep, f->slice, n));
    for (int64_t h = 0; h < w->slices.count; h++)
        for (int64_t i = w->slices.start[h]; i < w->slices.start[h + 1]; i++)
            f->slice[w->slices.row[i]] = (int32_t)h;
    sliced.task = SN_CLASSIFICATION;
    sliced.label = f->slice;
    sliced.outputs = w->slices.count;
    SN_TRY(sn_split_rows(&sliced, &all, n, seed, &f->count, fold));
    SN_TRY(SN_TAKE(keep, f->row, n));
    SN_TRY(SN_TAKE_ZERO(keep, f->start, f->count + 1));
    int64_t at = 0;
    for (int h = 0; h < f->count; h++) {
        for (int64_t i = 0; i < n; i++)
            if (fold[i] == h) f->row[at++] = i;
        f->start[h + 1] = at;
        if (at - f->start[h] > f->most) f->most = at - f->start[h];
    }
    SN_TRY(SN_TAKE_ZERO(keep, f->b, f->count * dim * k));
    SN_TRY(SN_TAKE(keep, f->x, f->most * k));
    SN_TRY(SN_TAKE(keep, f->y, f->most * dim));
    SN_TRY(SN_TAKE(keep, f->gram, k * k));
    SN_TRY(SN_TAKE(keep, f->x_mean, k));
    SN_TRY(SN_TAKE(keep, f->y_mean, dim));
    SN_TRY(SN_TAKE(keep, f->c, dim * k));
    SN_TRY(SN_TAKE(keep, f->path, dim * STAGE * k));
    SN_TRY(SN_TAKE(keep, f->fitted, f->most * STAGE));
    SN_TRY(SN_TAKE(keep, f->lasso, dim));
    for (int64_t d = 0; d < dim; d++) SN_TRY(sn_lasso_create(k, keep, &f->lasso[d]));
    return STONET_OK;
}

/* Fills in the rows of a fold and the moments of the others, which come from those of all rows (with mean 0)
   less those of the fold. Returns how many rows it has. */
static int64_t fold_moments(const work *w, int at, folds *f)
{
    const int64_t n = w->problem->n, k = w->k, dim = w->dim, slices = w->slices.count;
    const int64_t *row = f->row + f->start[at], count = f->start[at + 1] - f->start[at];
    const double others = (double)(n - count);
    kept_rows(w, row, count, f->x);
    memset(f->x_mean, 0, (size_t)k * sizeof *f->x_mean);
    memset(f->y_mean, 0, (size_t)dim * sizeof *f->y_mean);
    for (int64_t i = 0; i < count; i++) {
        for (int64_t d = 0; d < dim; d++) {
            f->y[i * dim + d] = w->pseudo[d * slices + f->slice[row[i]]];
            f->y_mean[d] -= f->y[i * dim + d] / others;
        }
        for (int64_t j = 0; j < k; j++) f->x_mean[j] -= f->x[i * k + j] / others;
    }
    for (int64_t j = 0; j < k * k; j++) f->gram[j] = w->gram[j] * (double)n / others;
    sn_syrk_tn(k, count, -1.0 / others, f->x, 1.0, f->gram);
    sn_syrk_tn(k, 1, -1.0, f->x_mean, 1.0, f->gram);
    for (int64_t j = 0; j < dim * k; j++) f->c[j] = w->c[j] * (double)n / others;
    sn_gemm(-1.0 / others, sn_turned(f->y, count, dim), sn_as(f->x, count, k), 1.0, f->c);
    for (int64_t d = 0; d < dim; d++)
        for (int64_t j = 0; j < k; j++) f->c[d * k + j] -= f->y_mean[d] * f->x_mean[j];
    return count;
}

/* The next steps of the path of direction d in fold `at`, from step `first` on. */
static void path_of(const work *w, const folds *f, int64_t at, int64_t d, int64_t first)
{
    int64_t k = w->k;
    sn_lasso *lasso = &f->lasso[d];
    double *b = f->b + (at * w->dim + d) * k;
    if (first == 0)
        sn_lasso_begin(lasso, f->gram, f->c + d * k);
    else
        sn_lasso_resume(lasso, f->gram, f->c + d * k, path_penalty(w, d, (double)(first - 1)), b);
    for (int64_t t = 0; t < STAGE; t++) {
        sn_lasso_solve(lasso, path_penalty(w, d, (double)(first + t)), PATH_TOLERANCE, PATH_SWEEPS);
        memcpy(f->path + (d * STAGE + t) * k, lasso->b, (size_t)k * sizeof *lasso->b);
    }
    memcpy(b, lasso->b, (size_t)k * sizeof *b);
}

/* Adds to error (dim x PATH) the squared errors on fold number `at` of the steps from `first` on of those
   directions whose path has not ended. */
static void stage_errors(const work *w, int at, int64_t first, const bool *ended, int threads, folds *f,
                         double *error)
{
    int64_t k = w->k, dim = w->dim, count = fold_moments(w, at, f);
#pragma omp parallel for num_threads(threads) schedule(dynamic) if (dim > 1)
    for (int64_t d = 0; d < dim; d++)
        if (!ended[d]) path_of(w, f, at, d, first);
    for (int64_t d = 0; d < dim; d++) {
        const double *path = f->path + d * STAGE * k;
        if (ended[d]) continue;
        sn_multiply(sn_as(f->x, count, k), sn_turned(path, STAGE, k), f->fitted);
        for (int64_t t = 0; t < STAGE; t++) {
            double intercept = f->y_mean[d] - sn_dot(k, f->x_mean, path + t * k);
            for (int64_t i = 0; i < count; i++) {
                double left = f->y[i * dim + d] - intercept - f->fitted[i * STAGE + t];
                error[d * PATH + first + t] += left * left;
            }
        }
    }
}

/*
 * step[d]: the place on the path of least error over all folds. The folds go down the path together, some
 * steps at a time, and stop where the error is clearly past its minimum: the rest, with most columns in use,
 * is nearly all of the work and never chosen.
 */
static stonet_status cross_validate(const work *w, int64_t wanted, const stonet_run *run, double *step)
{
    SN_WORKSPACE(scratch);
    bool all = false;
    folds f;
    SN_ZEROS(w->dim * PATH, double, error);
    SN_ZEROS(w->dim, bool, ended);
    const int count = (int)(wanted < w->problem->n ? wanted : w->problem->n);
    SN_TRY(folds_create(w, count, run->seed, &scratch, &f));
    for (int64_t first = 0; first < PATH && !all; first += STAGE) {
        for (int at = 0; at < f.count; at++) {
            if (sn_should_stop(run))
                return sn_fail(STONET_ERROR_INTERRUPTED, "lasso-sir: stopped before the penalty was chosen");
            stage_errors(w, at, first, ended, sn_threads(run), &f, error);
        }
        all = true;
        for (int64_t d = 0; d < w->dim; d++) {
            const double *own = error + d * PATH;
            int64_t last = first + STAGE - 1, best = 1; /* never the start, where every coefficient is 0 */
            for (int64_t t = 1; t <= last; t++)
                if (own[t] <= own[best]) best = t;
            if (!ended[d]) step[d] = (double)best;
            ended[d] = ended[d] || (last - best >= PAST && own[last] > WORSE * own[best]);
            all = all && ended[d];
        }
    }
    return STONET_OK;
}

/* The coefficients at the chosen place, by way of the path before it, scaled to length 1. */
static stonet_status final_lasso(const work *w, int64_t i, double step, sn_lasso *lasso)
{
    int64_t k = w->k;
    sn_lasso_begin(lasso, w->gram, w->c + i * k);
    for (int t = 1; t < PATH && t < step; t++)
        sn_lasso_solve(lasso, path_penalty(w, i, t), PATH_TOLERANCE, PATH_SWEEPS);
    sn_lasso_solve(lasso, path_penalty(w, i, step), FINAL_TOLERANCE, FINAL_SWEEPS);
    double length = sn_norm(k, lasso->b);
    if (length == 0.0)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "lasso-sir: the penalty leaves no column in direction %lld; use a "
                       "smaller one, or auto",
                       (long long)i + 1);
    for (int64_t j = 0; j < k; j++) w->b[i * k + j] = lasso->b[j] / length;
    return STONET_OK;
}

static stonet_status solve(const work *w, const sn_settings *settings, const stonet_run *run)
{
    SN_WORKSPACE(scratch);
    sn_lasso lasso;
    SN_ARRAY(w->dim, double, step);
    SN_TRY(sn_lasso_create(w->k, &scratch, &lasso));
    if (sn_is(settings, "penalty", "auto")) {
        SN_TRY(cross_validate(w, sn_int(settings, "folds"), run, step));
    } else {
        double wanted = sn_real(settings, "penalty");
        for (int64_t i = 0; i < w->dim; i++) step[i] = (PATH - 1) * log(wanted) / log(SHORTEST);
    }
    for (int64_t i = 0; i < w->dim; i++) SN_TRY(final_lasso(w, i, step[i], &lasso));
    return STONET_OK;
}

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    SN_WORKSPACE(scratch);
    work w = {.problem = problem};
    SN_TRY(sn_slices_to_compare(problem, "lasso-sir", sn_int(settings, "slices"), &scratch, &w.slices));
    SN_TRY(SN_TAKE_ZERO(&scratch, w.centre, problem->p));
    SN_TRY(SN_TAKE_ZERO(&scratch, w.mean, w.slices.count * problem->p));
    slice_means(&w);
    SN_TRY(screen(&scratch, &w));
    SN_TRY(pseudo_responses(dim, run, &scratch, &w));
    SN_TRY(gram_matrix(&scratch, &w));
    SN_TRY(solve(&w, settings, run));
    sn_linear_map map = {.p = problem->p,
                         .dim = w.dim,
                         .centre = w.centre,
                         .n_values = w.slices.count < w.k ? w.slices.count : w.k,
                         .value = w.value};
    SN_TRY(SN_TAKE_ZERO(&scratch, map.direction, map.p * map.dim));
    for (int64_t i = 0; i < w.dim; i++)
        for (int64_t j = 0; j < w.k; j++) map.direction[w.column[j] * w.dim + i] = w.b[i * w.k + j];
    return sn_linear_map_result(&map, result);
}

const sn_method sn_method_lasso_sir = {
    .name = "lasso-sir",
    .title = "Lasso-SIR: sparse sliced inverse regression (Lin, Zhao and Liu 2019)",
    .python = "LassoSIR",
    .tasks = SN_TASK_BOTH | SN_TASK_SLICES,
    .multi_output = true,
    SN_PARAMS_OF(params),
    /* a fit chooses the penalty by itself */
    .grid = {{"slices=5,10,20", SN_TASK_REGRESSION}},
    .fit = fit,
    SN_LINEAR_MAP_STATE,
};
