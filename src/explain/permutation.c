/*
 * Permutation importance: how much the loss grows when a variable comes from another row, L_i(perm_j) - L_i,
 * averaged over the rows i and R permutations; and for each column of Z the share of its variance that the
 * variable moves, mean (Z - Z_perm)^2 / (2 var Z), 1 for a Z that is a function of that variable alone. The
 * standard error is that of the mean over rows of the row's average over the permutations. Variables that
 * depend on each other are permuted out of the law of x: the loss then speaks of the model off its data.
 */
#include <string.h>

#include "explain/importance.h"
#include "math/noise.h"

enum { REPEATS = 10 };
/* Pairs of rows that are enough for the share of a variance: of many rows, the first permutations have them.
 */
enum { ENOUGH_PAIRS = 20000 };

/* x with the features of variable j from row order[i] in row i; the other features are those of x already. */
static void permute(const sn_asked *asked, int64_t j, const int64_t *order, float *x)
{
    const int64_t first = asked->variable[j]->first_feature;
    const size_t bytes = (size_t)asked->variable[j]->features * sizeof *x;
    for (int64_t i = 0; i < asked->n; i++)
        memcpy(x + i * asked->p + first, asked->x + (order != NULL ? order[i] : i) * asked->p + first, bytes);
}

/* What all variables are compared with. */
typedef struct start {
    const sn_asked *asked;
    int64_t repeats;
    double *before; /* n: losses */
    float *z;       /* n x dim */
    double *scale;  /* dim: twice the variance of each column of z; 1 where it is constant */
    stonet_importance_result *result;
} start;

static stonet_status start_create(sn_workspace *keep, start *out)
{
    const sn_asked *asked = out->asked;
    SN_TRY(SN_TAKE(keep, out->before, asked->n));
    SN_TRY(SN_TAKE(keep, out->z, asked->n * asked->dim));
    SN_TRY(SN_TAKE(keep, out->scale, asked->dim));
    SN_TRY(sn_asked_losses(asked, asked->x, NULL, asked->n, out->z, out->before));
    for (int64_t k = 0; k < asked->dim; k++) {
        const double variance = sn_asked_variance(asked, out->z + k, asked->dim);
        out->scale[k] = variance > 0.0 ? 2.0 * variance : 1.0;
    }
    return STONET_OK;
}

static void add_movement(const start *from, const sn_tries *at, double weight, double *z)
{
    const int64_t dim = from->asked->dim;
    for (int64_t i = 0; i < from->asked->n; i++)
        for (int64_t k = 0; k < dim; k++) {
            const double d = (double)at->moved[i * dim + k] - (double)from->z[i * dim + k];
            z[k] += sn_asked_weight(from->asked, i) * weight * d * d / from->scale[k];
        }
}

/* value_j = mean_i mean_r (L_i(permutation r) - L_i). Shares of the variance of Z come from the first
   permutations, as many as have ENOUGH_PAIRS pairs of rows. at->x is put back at the end. */
static stonet_status try_variable(const void *job, int64_t j, sn_tries *at, int *stopped)
{
    (void)stopped; /* few predictions */
    const start *from = job;
    const sn_asked *asked = from->asked;
    stonet_importance_result *result = from->result;
    const int64_t repeats = from->repeats, enough = (ENOUGH_PAIRS + asked->n - 1) / asked->n,
                  of_z = enough < repeats ? enough : repeats;
    memset(at->growth, 0, (size_t)asked->n * sizeof *at->growth);
    for (int64_t r = 0; r < repeats; r++) {
        sn_random random = sn_random_from(asked->run->seed, SN_STREAM_PERMUTE, (uint32_t)(j * repeats + r));
        sn_asked_shuffle(asked, &random, at->order);
        permute(asked, j, at->order, at->x);
        SN_TRY(sn_asked_losses(asked, at->x, NULL, asked->n, r < of_z ? at->moved : NULL, at->after));
        for (int64_t i = 0; i < asked->n; i++)
            at->growth[i] += (at->after[i] - from->before[i]) / (double)repeats;
        if (r < of_z)
            add_movement(from, at, 1.0 / ((double)asked->n * (double)of_z), result->z + j * asked->dim);
    }
    permute(asked, j, NULL, at->x);
    sn_asked_mean(asked, at->growth, &result->value[j], &result->error[j]);
    return STONET_OK;
}

stonet_status sn_importance_permutation(const sn_asked *asked, stonet_importance_result *result)
{
    SN_WORKSPACE(scratch);
    start from = {.asked = asked, .repeats = asked->repeats > 0 ? asked->repeats : REPEATS, .result = result};
    SN_TRY(start_create(&scratch, &from));
    return sn_asked_try_each(asked, "permuting", try_variable, &from);
}
