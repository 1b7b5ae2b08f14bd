/*
 * Shapley values of the loss: what each variable takes off the loss, shared out fairly between variables that
 * say the same. For an order of the variables, rows begin with the features of other rows drawn at random: no
 * variable is known. They get their own features back one variable after the other. What the mean loss falls
 * by belongs to that variable. Averaged over T orders, each followed by its reverse, whose errors go the
 * other way. Over all variables the values sum to the loss with nothing known less that with all known. Ends
 * early when every standard error is below a fortieth of the range of the values.
 */
#include <math.h>
#include <string.h>

#include "explain/importance.h"
#include "math/noise.h"

enum { MOST_ROWS = 256, FEWEST_PAIRS = 8, MOST_PAIRS = 256 };
static const double ENOUGH = 0.025;

typedef struct sharing {
    int64_t rows;                /* a batch */
    int64_t *order;              /* variables */
    int64_t *own, *other;        /* rows: numbers of rows of `asked` */
    float *x;                    /* rows x p */
    double *loss;                /* rows */
    double *pair, *sum, *square; /* variables: of one pair of orders, over all */
} sharing;

static stonet_status sharing_create(const sn_asked *asked, sn_workspace *keep, sharing *out)
{
    out->rows = asked->n < MOST_ROWS ? asked->n : MOST_ROWS;
    SN_TRY(SN_TAKE(keep, out->order, asked->variables));
    SN_TRY(SN_TAKE(keep, out->own, out->rows));
    SN_TRY(SN_TAKE(keep, out->other, out->rows));
    SN_TRY(SN_TAKE(keep, out->x, out->rows * asked->p));
    SN_TRY(SN_TAKE(keep, out->loss, out->rows));
    SN_TRY(SN_TAKE(keep, out->pair, asked->variables));
    SN_TRY(SN_TAKE_ZERO(keep, out->sum, asked->variables));
    return SN_TAKE_ZERO(keep, out->square, asked->variables);
}

static stonet_status mean_loss(const sn_asked *asked, sharing *at, double *mean)
{
    SN_TRY(sn_asked_losses(asked, at->x, at->own, at->rows, NULL, at->loss));
    *mean = 0.0;
    for (int64_t i = 0; i < at->rows; i++) *mean += at->loss[i] / (double)at->rows;
    return STONET_OK;
}

/* One walk through the order, forwards or backwards; half of what each variable takes off goes to pair. */
static stonet_status walk(const sn_asked *asked, bool backwards, sharing *at)
{
    const int64_t p = asked->p;
    double before = 0.0, after = 0.0;
    for (int64_t i = 0; i < at->rows; i++)
        memcpy(at->x + i * p, asked->x + at->other[i] * p, (size_t)p * sizeof *at->x);
    SN_TRY(mean_loss(asked, at, &before));
    for (int64_t s = 0; s < asked->variables; s++) {
        const int64_t j = at->order[backwards ? asked->variables - 1 - s : s];
        for (int64_t i = 0; i < at->rows; i++)
            memcpy(at->x + i * p + asked->variable[j]->first_feature,
                   asked->x + at->own[i] * p + asked->variable[j]->first_feature,
                   (size_t)asked->variable[j]->features * sizeof *at->x);
        SN_TRY(mean_loss(asked, at, &after));
        at->pair[j] += 0.5 * (before - after);
        before = after;
    }
    return STONET_OK;
}

/* One random order of the variables and its reverse, on the same draw of rows. Row i starts with the features
   of row other[i] and gets those of row own[i] back. sum and square collect the pair for means and standard
   errors. */
static stonet_status walk_pair(const sn_asked *asked, int64_t number, sharing *at)
{
    sn_random random = sn_random_from(asked->run->seed, SN_STREAM_PERMUTE, (uint32_t)number);
    sn_random_permutation(&random, asked->variables, at->order);
    for (int64_t i = 0; i < at->rows; i++) {
        at->own[i] = sn_asked_draw(asked, &random);
        at->other[i] = sn_asked_draw(asked, &random);
    }
    memset(at->pair, 0, (size_t)asked->variables * sizeof *at->pair);
    SN_TRY(walk(asked, false, at));
    SN_TRY(walk(asked, true, at));
    for (int64_t j = 0; j < asked->variables; j++) {
        at->sum[j] += at->pair[j];
        at->square[j] += at->pair[j] * at->pair[j];
    }
    return STONET_OK;
}

/* Means and standard errors over the pairs so far; the largest error over the range of the values. */
static double settle(const sn_asked *asked, const sharing *at, int64_t pairs,
                     stonet_importance_result *result)
{
    const double count = (double)pairs;
    double largest = 0.0, low = (double)INFINITY, high = -(double)INFINITY;
    for (int64_t j = 0; j < asked->variables; j++) {
        const double mean = at->sum[j] / count;
        const double variance = fmax(at->square[j] / count - mean * mean, 0.0);
        result->value[j] = mean;
        result->error[j] = sqrt(variance / fmax(count - 1.0, 1.0));
        largest = fmax(largest, result->error[j]);
        low = fmin(low, mean);
        high = fmax(high, mean);
    }
    return high > low ? largest / (high - low) : 0.0;
}

/* Goes on until the standard errors are small beside the range of the values, or for as many pairs of orders
   as `repeats` says. */
stonet_status sn_importance_shapley(const sn_asked *asked, stonet_importance_result *result)
{
    const int64_t most = asked->repeats > 0 ? asked->repeats : MOST_PAIRS;
    const double started = sn_seconds();
    SN_WORKSPACE(scratch);
    sharing at;
    SN_TRY(sharing_create(asked, &scratch, &at));
    for (int64_t t = 0; t < most; t++) {
        if (sn_should_stop(asked->run))
            return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before the values had settled");
        SN_TRY(walk_pair(asked, t, &at));
        const double unsettled = settle(asked, &at, t + 1, result);
        sn_progress_of(asked->run, "orders of the variables", t + 1, most, (double)NAN, started);
        if (asked->repeats == 0 && t + 1 >= FEWEST_PAIRS && unsettled < ENOUGH) break;
    }
    return STONET_OK;
}
