/*
 * Permutation importance: how much the loss grows when a variable is taken from another row, L_i(perm_j) -
 * L_i, averaged over the rows i and R permutations; and for each column of Z the share of its variance that
 * the variable moves, mean (Z - Z_perm)^2 / (2 var Z), 1 for a Z that is a function of that variable alone.
 * The standard error is that of the mean over rows of the row's average over the permutations. Variables that
 * depend on each other are permuted out of the law of x: the loss then speaks of the model off its data.
 */
#include <math.h>
#include <string.h>

#include "explain/importance.h"
#include "math/noise.h"
#include "stats/metrics.h"

enum { REPEATS = 10 };
/* Pairs of rows that are enough for the share of a variance: of many rows, the first permutations have them.
 */
enum { ENOUGH_PAIRS = 20000 };

/* x with the features of variable j taken from row order[i]; the other features are those of x already. */
static void permute(const sn_asked *asked, int64_t j, const int64_t *order, float *x)
{
    const size_t bytes = (size_t)asked->features[j] * sizeof *x;
    for (int64_t i = 0; i < asked->n; i++)
        memcpy(x + i * asked->p + asked->first[j],
               asked->x + (order != NULL ? order[i] : i) * asked->p + asked->first[j], bytes);
}

/* Twice the variance of each column of z (n x dim); 1 where it is constant. */
static void twice_variances(int64_t n, int64_t dim, const float *z, double *out)
{
    for (int64_t k = 0; k < dim; k++) {
        double mean = 0.0, squares = 0.0;
        for (int64_t i = 0; i < n; i++) mean += (double)z[i * dim + k] / (double)n;
        for (int64_t i = 0; i < n; i++) squares += pow((double)z[i * dim + k] - mean, 2);
        out[k] = squares > 0.0 ? 2.0 * squares / (double)n : 1.0;
    }
}

/* Scratch for one variable after the other. */
typedef struct tries {
    double *before, *after, *growth; /* n */
    float *x, *z, *moved;            /* n x p, n x dim, n x dim */
    double *scale;                   /* dim */
    int64_t *order;                  /* n */
} tries;

static stonet_status tries_create(const sn_asked *asked, sn_workspace *keep, tries *out)
{
    SN_TRY(SN_TAKE(keep, out->before, asked->n));
    SN_TRY(SN_TAKE(keep, out->after, asked->n));
    SN_TRY(SN_TAKE(keep, out->growth, asked->n));
    SN_TRY(SN_TAKE(keep, out->x, asked->n * asked->p));
    SN_TRY(SN_TAKE(keep, out->z, asked->n * asked->dim));
    SN_TRY(SN_TAKE(keep, out->moved, asked->n * asked->dim));
    SN_TRY(SN_TAKE(keep, out->scale, asked->dim));
    SN_TRY(SN_TAKE(keep, out->order, asked->n));
    memcpy(out->x, asked->x, (size_t)(asked->n * asked->p) * sizeof *out->x);
    SN_TRY(sn_asked_losses(asked, asked->x, NULL, asked->n, out->before));
    SN_TRY(sn_model_reduce(asked->model, asked->x, asked->n, NULL, out->z));
    twice_variances(asked->n, asked->dim, out->z, out->scale);
    return STONET_OK;
}

static void add_movement(const sn_asked *asked, const tries *at, double weight, double *z)
{
    for (int64_t i = 0; i < asked->n; i++)
        for (int64_t k = 0; k < asked->dim; k++) {
            const double d = (double)at->moved[i * asked->dim + k] - (double)at->z[i * asked->dim + k];
            z[k] += weight * d * d / at->scale[k];
        }
}

static stonet_status try_variable(const sn_asked *asked, int64_t j, int64_t repeats, tries *at,
                                  stonet_importance_result *result)
{
    const double n = (double)asked->n;
    const int64_t enough = (ENOUGH_PAIRS + asked->n - 1) / asked->n,
                  of_z = enough < repeats ? enough : repeats;
    memset(at->growth, 0, (size_t)asked->n * sizeof *at->growth);
    for (int64_t r = 0; r < repeats; r++) {
        sn_random random;
        sn_random_init(&random, asked->run->seed, SN_STREAM_PERMUTE, (uint32_t)(j * repeats + r));
        sn_random_permutation(&random, asked->n, at->order);
        permute(asked, j, at->order, at->x);
        SN_TRY(sn_asked_losses(asked, at->x, NULL, asked->n, at->after));
        for (int64_t i = 0; i < asked->n; i++)
            at->growth[i] += (at->after[i] - at->before[i]) / (double)repeats;
        if (r >= of_z) continue;
        SN_TRY(sn_model_reduce(asked->model, at->x, asked->n, NULL, at->moved));
        add_movement(asked, at, 1.0 / (n * (double)of_z), result->z + j * asked->dim);
    }
    permute(asked, j, NULL, at->x);
    result->value[j] = sn_mean(asked->n, at->growth);
    result->error[j] = sn_standard_error(asked->n, at->growth);
    return STONET_OK;
}

stonet_status sn_importance_permutation(const sn_asked *asked, stonet_importance_result *result)
{
    const int64_t repeats = asked->repeats > 0 ? asked->repeats : REPEATS;
    const double started = sn_seconds();
    SN_WORKSPACE(scratch);
    tries at;
    SN_TRY(tries_create(asked, &scratch, &at));
    for (int64_t j = 0; j < asked->variables; j++) {
        if (sn_should_stop(asked->run))
            return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before all variables were looked at");
        SN_TRY(try_variable(asked, j, repeats, &at, result));
        sn_progress(asked->run, &(stonet_progress){.stage = "permuting",
                                                   .done = j + 1,
                                                   .total = asked->variables,
                                                   .loss = (double)NAN,
                                                   .validation_loss = (double)NAN,
                                                   .seconds = sn_seconds() - started});
    }
    return STONET_OK;
}
