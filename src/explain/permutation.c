/*
 * Permutation importance: how much the loss grows when a variable comes from another row, L_i(perm_j) - L_i,
 * averaged over the rows i and R permutations; and for each column of Z the share of its variance that the
 * variable moves, mean (Z - Z_perm)^2 / (2 var Z), 1 for a Z that is a function of that variable alone. The
 * standard error is that of the mean over rows of the row's average over the permutations. Variables that
 * depend on each other are permuted out of the law of x: the loss then speaks of the model off its data.
 */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/failure.h"
#include "explain/importance.h"
#include "math/noise.h"

enum { REPEATS = 10 };
/* Pairs of rows that are enough for the share of a variance: of many rows, the first permutations have them.
 */
enum { ENOUGH_PAIRS = 20000 };
static const double COPIES_BYTES = 1e9; /* of the rows, for workers side by side */

/* x with the features of variable j from row order[i] in row i; the other features are those of x already. */
static void permute(const sn_asked *asked, int64_t j, const int64_t *order, float *x)
{
    const size_t bytes = (size_t)asked->features[j] * sizeof *x;
    for (int64_t i = 0; i < asked->n; i++)
        memcpy(x + i * asked->p + asked->first[j],
               asked->x + (order != NULL ? order[i] : i) * asked->p + asked->first[j], bytes);
}

/* What all variables are compared with. */
typedef struct start {
    const sn_asked *asked;
    int64_t repeats;
    double *before; /* n: losses */
    float *z;       /* n x dim */
    double *scale;  /* dim: twice the variance of each column of z; 1 where it is constant */
} start;

/* A worker's own memory, for one variable after the other. */
typedef struct tries {
    double *after, *growth; /* n */
    float *x, *moved;       /* n x p, n x dim */
    int64_t *order;         /* n */
} tries;

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

static stonet_status tries_create(const sn_asked *asked, sn_workspace *keep, tries *out)
{
    SN_TRY(SN_TAKE(keep, out->after, asked->n));
    SN_TRY(SN_TAKE(keep, out->growth, asked->n));
    SN_TRY(SN_TAKE(keep, out->x, asked->n * asked->p));
    SN_TRY(SN_TAKE(keep, out->moved, asked->n * asked->dim));
    SN_TRY(SN_TAKE(keep, out->order, asked->n));
    memcpy(out->x, asked->x, (size_t)(asked->n * asked->p) * sizeof *out->x);
    return STONET_OK;
}

static void add_movement(const start *from, const tries *at, double weight, double *z)
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
static stonet_status try_variable(const start *from, int64_t j, tries *at, stonet_importance_result *result)
{
    const sn_asked *asked = from->asked;
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

/* Shared by the workers. */
typedef struct common {
    int64_t next, done; /* variables */
    int stopped;
    double started;
} common;

/* Takes one variable after the other, until there are no more. Variables that the model does not look at
   change nothing. */
static stonet_status work(const start *from, const bool *used, common *all, stonet_importance_result *result)
{
    const sn_asked *asked = from->asked;
    SN_WORKSPACE(scratch);
    tries at;
    SN_TRY(tries_create(asked, &scratch, &at));
    for (;;) {
        int64_t j, done;
#pragma omp atomic capture
        j = all->next++;
        if (j >= asked->variables || sn_should_stop_shared(asked->run, &all->stopped)) return STONET_OK;
        if (used[j]) SN_TRY(try_variable(from, j, &at, result));
#pragma omp atomic capture
        done = ++all->done;
        if (omp_get_thread_num() != 0) continue; /* the caller's function need not be ready for others */
        sn_progress_of(asked->run, "permuting", done, asked->variables, (double)NAN, all->started);
    }
}

/* As many as there are threads, but for copies of the rows that would take much memory: then each prediction
   is shared out instead. */
static int count_workers(const sn_asked *asked)
{
    const double copies = COPIES_BYTES / ((double)asked->n * (double)asked->p * sizeof(float));
    const int threads = sn_threads(asked->run), most = copies > threads ? threads : (int)copies;
    return most > 1 ? most : 1;
}

static stonet_status work_together(const start *from, const bool *used, common *all,
                                   stonet_importance_result *result)
{
    const int workers = count_workers(from->asked);
    if (workers == 1) return work(from, used, all, result);
    sn_failure failure = {.status = STONET_OK};
#pragma omp parallel num_threads(workers)
    {
        SN_THREADS(1);
        sn_failure_note(&failure, omp_get_thread_num(), work(from, used, all, result));
    }
    return sn_failure_raise(&failure);
}

stonet_status sn_importance_permutation(const sn_asked *asked, stonet_importance_result *result)
{
    SN_WORKSPACE(scratch);
    start from = {.asked = asked, .repeats = asked->repeats > 0 ? asked->repeats : REPEATS};
    common all = {.started = sn_seconds()};
    SN_TRY(start_create(&scratch, &from));
    SN_ARRAY(asked->variables, bool, used);
    SN_TRY(sn_asked_used(asked, used));
    SN_TRY(work_together(&from, used, &all, result));
    if (all.stopped) return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before all variables were looked at");
    return STONET_OK;
}
