#include "stats/independence.h"

#include <math.h>

#include "base/memory.h"
#include "base/run.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "math/noise.h"
#include "stats/features.h"
#include "stats/metrics.h"
#include "stats/smoother.h"

enum {
    FOLDS = 10,
    MOST_ROWS = 10000, /* more are drawn from */
    MOST_COLUMNS = 200 /* of x; more are first reduced to as many random directions */
};
/* Streams of random numbers of a fold; a set of features takes three. */
enum { STREAM_COMMON, STREAM_OF_Z = 3, STREAM_OF_X = 6, STREAMS = 9, FIRST_STREAM = 1000 };

typedef struct task {
    sn_scores x, z;
    int64_t n, my, random;
    double *y; /* n x my */
    uint64_t seed;
    int threads;
} task;

/* The rows of a fold are those at k, k + FOLDS, .. of a random order: rows n_train .. n - 1 of `order` after
 * this.
 */
static int64_t deal(int64_t n, const int64_t *shuffled, int64_t fold, int64_t *order)
{
    int64_t train = 0;
    int64_t held_out = n;
    for (int64_t k = 0; k < n; k++) {
        if (k % FOLDS == fold)
            order[--held_out] = shuffled[k];
        else
            order[train++] = shuffled[k];
    }
    return train;
}

/* out (n x width) = the given rows of `from` in order, less their mean over the first n_train. */
static void gather_centred(int64_t n, int64_t n_train, int64_t width, const double *from,
                           const int64_t *order, double *mean, double *out)
{
    sn_take_rows(n, width, from, order, out);
    sn_column_means(n_train, width, out, mean);
    sn_subtract_row(n, width, mean, out);
}

/* The squared error of one column of predictions for rows n_train .. n - 1 of y, both with `width` columns.
   Predictions are cut to the range of y in the training rows: the functions of y are bounded, and a single
   far row would otherwise decide the comparison. */
static double column_error(int64_t width, int64_t n_train, int64_t n, const double *y,
                           const double *predicted)
{
    double low = INFINITY;
    double high = -INFINITY;
    double error = 0.0;
    for (int64_t i = 0; i < n_train; i++) {
        low = fmin(low, y[i * width]);
        high = fmax(high, y[i * width]);
    }
    for (int64_t i = n_train; i < n; i++)
        error += pow(y[i * width] - fmin(fmax(predicted[(i - n_train) * width], low), high), 2);
    return error;
}

/* The squared error on the held-out rows of the regression of y on features (both n x .., gathered). */
static stonet_status held_out_error(const task *t, int64_t n_train, int64_t m, const double *features,
                                    const double *y, double *error)
{
    SN_WORKSPACE(scratch);
    const int64_t held_out = t->n - n_train;
    sn_smoother smoother = {0};
    SN_ARRAY(t->my, double, penalty);
    SN_ARRAY(m * t->my, double, coef);
    SN_ARRAY(held_out * t->my, double, predicted);
    SN_TRY(sn_smoother_create(n_train, m, features, &scratch, &smoother));
    SN_TRY(sn_smoother_choose(&smoother, t->my, y, false, penalty));
    SN_TRY(sn_smoother_fit(&smoother, t->my, y, penalty, coef));
    sn_multiply(sn_as(features + n_train * m, held_out, m), sn_as(coef, m, t->my), predicted);
    *error = 0.0;
    for (int64_t c = 0; c < t->my; c++) *error += column_error(t->my, n_train, t->n, y + c, predicted + c);
    return STONET_OK;
}

/* A fold: its training rows first in `order`, and y in that order. */
typedef struct fold {
    uint32_t number;
    int64_t n_train;
    const int64_t *order;
    const double *y;
} fold;

/* One learner on one fold: features of z, and further ones of `second` (x, or z again). */
static stonet_status learn(const task *t, const sn_scores *second, uint32_t stream, const fold *of,
                           double *error)
{
    const uint32_t base = FIRST_STREAM + STREAMS * of->number;
    const int64_t of_z = sn_regression_width(t->n, t->z.columns, SN_FEATURES_PLAIN, t->random);
    const int64_t m = of_z + sn_regression_width(t->n, second->columns, SN_FEATURES_PLAIN, t->random);
    SN_ARRAY(t->n * m, double, features);
    SN_ARRAY(t->n * m, double, gathered);
    SN_ARRAY(m, double, mean);
    SN_TRY(sn_regression_features(&t->z, SN_FEATURES_PLAIN, t->random,
                                  (sn_drawing){t->seed, base + STREAM_COMMON, t->threads}, m, 0, features));
    SN_TRY(sn_regression_features(second, SN_FEATURES_PLAIN, t->random,
                                  (sn_drawing){t->seed, base + stream, t->threads}, m, of_z, features));
    gather_centred(t->n, of->n_train, m, features, of->order, mean, gathered);
    return held_out_error(t, of->n_train, m, gathered, of->y, error);
}

/* total, by z and by (z, x): the squared errors on the rows of each fold. */
typedef struct errors {
    double total[FOLDS], z[FOLDS], zx[FOLDS];
} errors;

/* For each fold: the squared errors of the training mean, of the learner on z alone, and of the learner on
   (z, x). */
static stonet_status run_folds(const task *t, const stonet_run *run, errors *found)
{
    SN_ARRAY(t->n, int64_t, shuffled);
    SN_ARRAY(t->n, int64_t, order);
    SN_ARRAY(t->n * t->my, double, y);
    SN_ARRAY(t->my, double, mean);
    sn_random random = sn_random_from(t->seed, SN_STREAM_SPLIT, 0);
    sn_random_permutation(&random, t->n, shuffled);
    for (uint32_t k = 0; k < FOLDS; k++) {
        if (sn_should_stop(run))
            return sn_fail(STONET_ERROR_INTERRUPTED, "the look by prediction was stopped before its end");
        const int64_t train = deal(t->n, shuffled, k, order);
        const fold of = {.number = k, .n_train = train, .order = order, .y = y};
        gather_centred(t->n, train, t->my, t->y, order, mean, y);
        found->total[k] = 0.0;
        for (int64_t i = train * t->my; i < t->n * t->my; i++) found->total[k] += y[i] * y[i];
        SN_TRY(learn(t, &t->z, STREAM_OF_Z, &of, &found->z[k]));
        SN_TRY(learn(t, &t->x, STREAM_OF_X, &of, &found->zx[k]));
    }
    return STONET_OK;
}

/* The test of folds is of both sides; p is 1 where the errors do not differ. */
static void conclude(int64_t n, const errors *found, stonet_prediction_gain *out)
{
    double total = 0.0, z = 0.0, zx = 0.0;
    for (int k = 0; k < FOLDS; k++) {
        total += found->total[k];
        z += found->z[k];
        zx += found->zx[k];
    }
    const double both = sn_fold_t_test(FOLDS, FOLDS, found->z, found->zx);
    *out = (stonet_prediction_gain){.p_value = 1.0, .n = n};
    if (!isnan(both)) out->p_value = z > zx ? 0.5 * both : 1.0 - 0.5 * both;
    if (total > 0.0) {
        out->explained_z = 1.0 - z / total;
        out->explained_zx = 1.0 - zx / total;
    }
}

/* At most n / 6 random features in a set, and at most 100. When no column of x or of z varies there is
   nothing to compare: p = 1. */
static stonet_status look(const stonet_sides *sides, const stonet_run *run, stonet_prediction_gain *out)
{
    SN_WORKSPACE(scratch);
    task t = {.n = sides->n, .seed = run->seed, .threads = sn_threads(run)};
    sn_scores few = {0};
    errors found = {0};
    t.random = t.n / 6 < 100 ? t.n / 6 : 100;
    SN_TRY(sn_scores_create(t.n, sides->dz, sides->z, &scratch, &t.z));
    SN_TRY(sn_check_rows_for(t.n, t.z.columns));
    SN_TRY(sn_scores_create(t.n, sides->dx, sides->x, &scratch, &t.x));
    SN_TRY(sn_response_functions(t.n, sides->dy, sides->y, &scratch, &t.my, &t.y));
    if (t.x.columns > MOST_COLUMNS) {
        SN_TRY(sn_scores_project(&t.x, MOST_COLUMNS, t.seed, FIRST_STREAM - 1, &scratch, &few));
        t.x = few;
    }
    if (t.x.columns == 0 || t.z.columns == 0) {
        *out = (stonet_prediction_gain){.p_value = 1.0, .n = t.n};
        return STONET_OK;
    }
    SN_TRY(run_folds(&t, run, &found));
    conclude(t.n, &found, out);
    return STONET_OK;
}

stonet_status sn_look_by_prediction(const stonet_sides *sides, const stonet_run *run,
                                    stonet_prediction_gain *out)
{
    if (sides->n <= MOST_ROWS) return look(sides, run, out);
    stonet_sides some = *sides;
    sn_shuffle order;
    SN_ARRAY(MOST_ROWS, int64_t, row);
    SN_ARRAY(MOST_ROWS * sides->dx, double, x);
    SN_ARRAY(MOST_ROWS * sides->dy, double, y);
    SN_ARRAY(MOST_ROWS * sides->dz, double, z);
    sn_shuffle_init(&order, (uint64_t)sides->n, run->seed, 1);
    sn_shuffle_rows(&order, 0, MOST_ROWS, row); /* drawn without order */
    sn_take_rows(MOST_ROWS, sides->dx, sides->x, row, x);
    sn_take_rows(MOST_ROWS, sides->dy, sides->y, row, y);
    sn_take_rows(MOST_ROWS, sides->dz, sides->z, row, z);
    some.n = MOST_ROWS;
    some.x = x;
    some.y = y;
    some.z = z;
    return look(&some, run, out);
}
