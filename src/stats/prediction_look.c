#include "stats/prediction_look.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/run.h"
#include "math/linalg.h"
#include "math/noise.h"
#include "stats/distributions.h"
#include "stats/features.h"
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
    memset(mean, 0, (size_t)width * sizeof *mean);
    for (int64_t i = 0; i < n_train; i++) {
        for (int64_t j = 0; j < width; j++) mean[j] += from[order[i] * width + j] / (double)n_train;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < width; j++) out[i * width + j] = from[order[i] * width + j] - mean[j];
    }
}

/* The squared error of one column of predictions for rows n_train .. n - 1 of y, both with `width` columns.
   What is predicted beyond the range of the training rows is taken back to it: the functions of y are
   bounded, and a single far row would otherwise decide the comparison. */
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
    const int64_t held_out = t->n - n_train;
    double *penalty = NULL;
    double *coef = NULL;
    double *predicted = NULL;
    sn_smoother smoother = {0};
    stonet_status status = STONET_OK;
    SN_GOTO(status, SN_NEW_RAW(penalty, t->my), done);
    SN_GOTO(status, SN_NEW_RAW(coef, m * t->my), done);
    SN_GOTO(status, SN_NEW_RAW(predicted, held_out * t->my), done);
    SN_GOTO(status, sn_smoother_create(n_train, m, features, &smoother), done);
    SN_GOTO(status, sn_smoother_choose(&smoother, t->my, y, false, penalty), done);
    SN_GOTO(status, sn_smoother_fit(&smoother, t->my, y, penalty, coef), done);
    sn_gemm(false, false, held_out, t->my, m, 1.0, features + n_train * m, coef, 0.0, predicted);
    *error = 0.0;
    for (int64_t c = 0; c < t->my; c++) *error += column_error(t->my, n_train, t->n, y + c, predicted + c);
done:
    sn_smoother_free(&smoother);
    sn_free(penalty);
    sn_free(coef);
    sn_free(predicted);
    return status;
}

/* One learner on one fold: features of z, and further ones of `second` (x, or z again). */
static stonet_status learn(const task *t, const sn_scores *second, uint32_t stream, int64_t fold,
                           int64_t n_train, const int64_t *order, const double *y, double *error)
{
    const uint32_t base = FIRST_STREAM + STREAMS * (uint32_t)fold;
    const int64_t of_z = sn_regression_width(t->n, t->z.columns, SN_FEATURES_PLAIN, t->random);
    const int64_t m = of_z + sn_regression_width(t->n, second->columns, SN_FEATURES_PLAIN, t->random);
    double *features = NULL;
    double *gathered = NULL;
    double *mean = NULL;
    stonet_status status = STONET_OK;
    SN_GOTO(status, SN_NEW_RAW(features, t->n * m), done);
    SN_GOTO(status, SN_NEW_RAW(gathered, t->n * m), done);
    SN_GOTO(status, SN_NEW_RAW(mean, m), done);
    SN_GOTO(status,
            sn_regression_features(&t->z, SN_FEATURES_PLAIN, t->random, t->seed, base + STREAM_COMMON,
                                   t->threads, m, 0, features),
            done);
    SN_GOTO(status,
            sn_regression_features(second, SN_FEATURES_PLAIN, t->random, t->seed, base + stream, t->threads,
                                   m, of_z, features),
            done);
    gather_centred(t->n, n_train, m, features, order, mean, gathered);
    status = held_out_error(t, n_train, m, gathered, y, error);
done:
    sn_free(features);
    sn_free(gathered);
    sn_free(mean);
    return status;
}

/* total, by z and by (z, x): the squared errors on the rows of each fold. */
typedef struct errors {
    double total[FOLDS], z[FOLDS], zx[FOLDS];
} errors;

static stonet_status run_folds(const task *t, const stonet_run *run, errors *found)
{
    int64_t *shuffled = NULL;
    int64_t *order = NULL;
    double *y = NULL;
    double *mean = NULL;
    stonet_status status = STONET_OK;
    SN_GOTO(status, SN_NEW_RAW(shuffled, t->n), done);
    SN_GOTO(status, SN_NEW_RAW(order, t->n), done);
    SN_GOTO(status, SN_NEW_RAW(y, t->n * t->my), done);
    SN_GOTO(status, SN_NEW_RAW(mean, t->my), done);
    sn_random random;
    sn_random_init(&random, t->seed, SN_STREAM_SPLIT, 0);
    sn_random_permutation(&random, t->n, shuffled);
    for (int64_t fold = 0; fold < FOLDS; fold++) {
        if (sn_should_stop(run)) {
            status = sn_fail(STONET_ERROR_INTERRUPTED, "the look by prediction was stopped before its end");
            goto done;
        }
        const int64_t train = deal(t->n, shuffled, fold, order);
        gather_centred(t->n, train, t->my, t->y, order, mean, y);
        found->total[fold] = 0.0;
        for (int64_t i = train * t->my; i < t->n * t->my; i++) found->total[fold] += y[i] * y[i];
        SN_GOTO(status, learn(t, &t->z, STREAM_OF_Z, fold, train, order, y, &found->z[fold]), done);
        SN_GOTO(status, learn(t, &t->x, STREAM_OF_X, fold, train, order, y, &found->zx[fold]), done);
    }
done:
    sn_free(shuffled);
    sn_free(order);
    sn_free(y);
    sn_free(mean);
    return status;
}

static void conclude(int64_t n, const errors *found, stonet_prediction_gain *out)
{
    double total = 0.0;
    double z = 0.0;
    double zx = 0.0;
    double square = 0.0;
    for (int k = 0; k < FOLDS; k++) {
        total += found->total[k];
        z += found->z[k];
        zx += found->zx[k];
    }
    const double mean = (z - zx) / FOLDS;
    for (int k = 0; k < FOLDS; k++) square += pow(found->z[k] - found->zx[k] - mean, 2);
    const double sd = sqrt(square / (FOLDS - 1));
    *out = (stonet_prediction_gain){.p_value = 1.0, .n = n};
    if (total > 0.0) {
        out->explained_z = 1.0 - z / total;
        out->explained_zx = 1.0 - zx / total;
    }
    if (sd > 1e-12 * total) {
        const double statistic = mean / (sd * sqrt(1.0 / FOLDS + 1.0 / (FOLDS - 1)));
        out->p_value = sn_t_lower(FOLDS - 1, -statistic);
    }
}

/* `count` of the rows, drawn without order. */
static stonet_status sample_rows(int64_t n, int64_t count, int64_t d, const double *values, uint64_t seed,
                                 double **out)
{
    sn_shuffle order;
    SN_TRY(SN_NEW_RAW(*out, count * d));
    sn_shuffle_init(&order, (uint64_t)n, seed, 1);
    for (int64_t i = 0; i < count; i++)
        memcpy(*out + i * d, values + (int64_t)sn_shuffle_at(&order, (uint64_t)i) * d,
               (size_t)d * sizeof **out);
    return STONET_OK;
}

static stonet_status look(const stonet_sides *sides, const stonet_run *run, stonet_prediction_gain *out)
{
    task t = {.n = sides->n, .seed = run->seed, .threads = sn_threads(run)};
    sn_scores few = {0};
    errors found = {0};
    stonet_status status = STONET_OK;
    t.random = t.n / 6 < 100 ? t.n / 6 : 100;
    SN_GOTO(status, sn_scores_create(t.n, sides->dz, sides->z, &t.z), done);
    SN_GOTO(status, sn_check_rows_for(t.n, t.z.columns), done);
    SN_GOTO(status, sn_scores_create(t.n, sides->dx, sides->x, &t.x), done);
    SN_GOTO(status, sn_response_functions(t.n, sides->dy, sides->y, &t.my, &t.y), done);
    if (t.x.columns > MOST_COLUMNS) {
        SN_GOTO(status, sn_scores_project(&t.x, MOST_COLUMNS, t.seed, FIRST_STREAM - 1, &few), done);
        sn_scores_free(&t.x);
        t.x = few;
    }
    if (t.x.columns == 0 || t.z.columns == 0) {
        *out = (stonet_prediction_gain){.p_value = 1.0, .n = t.n};
        goto done;
    }
    SN_GOTO(status, run_folds(&t, run, &found), done);
    conclude(t.n, &found, out);
done:
    sn_scores_free(&t.x);
    sn_scores_free(&t.z);
    sn_free(t.y);
    return status;
}

stonet_status sn_look_by_prediction(const stonet_sides *sides, const stonet_run *run,
                                    stonet_prediction_gain *out)
{
    if (sides->n <= MOST_ROWS) return look(sides, run, out);
    double *x = NULL;
    double *y = NULL;
    double *z = NULL;
    stonet_status status = STONET_OK;
    SN_GOTO(status, sample_rows(sides->n, MOST_ROWS, sides->dx, sides->x, run->seed, &x), done);
    SN_GOTO(status, sample_rows(sides->n, MOST_ROWS, sides->dy, sides->y, run->seed, &y), done);
    SN_GOTO(status, sample_rows(sides->n, MOST_ROWS, sides->dz, sides->z, run->seed, &z), done);
    stonet_sides some = {
        .n = MOST_ROWS, .dx = sides->dx, .dy = sides->dy, .dz = sides->dz, .x = x, .y = y, .z = z};
    status = look(&some, run, out);
done:
    sn_free(x);
    sn_free(y);
    sn_free(z);
    return status;
}
