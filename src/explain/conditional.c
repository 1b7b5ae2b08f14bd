/*
 * Whether the response depends on a variable given the others: the holdout randomisation test (Tansey,
 * Veitch, Zhang, Rabadan and Blei 2022). Variable j of every row is drawn anew from its law given the other
 * variables. That law is a Gaussian of normal scores (data/imputer.h), learned from the same rows. If y is
 * independent of x_j given the others, true and drawn rows have the same law whatever the model is. Then
 *
 *     p_j = (1 + draws with a loss no larger than that of the rows) / (1 + draws)
 *
 * is a p-value, as far as the law of x is right. Draws end at the tenth such loss, the l-th draw: p_j = 10 /
 * l (Besag and Clifford 1991). q_j is the p-value of Benjamini and Hochberg: those with q_j <= a have a share
 * of false ones of a at most, on the average. importance_j is the mean growth of the loss over the first ten
 * draws.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/imputer.h"
#include "data/schema.h"
#include "explain/importance.h"

enum { DRAWS = 1000, ENOUGH = 10, AVERAGED = 10 };

typedef struct law {
    const sn_asked *asked;
    const sn_imputer *imputer;
    const double *before; /* n: losses of the rows as they are */
    double loss;          /* their mean */
    int64_t draws;
    stonet_importance_result *result;
} law;

/* x with variable j drawn; the other features are those of the rows already. */
static void draw_variable(const law *of, int64_t j, uint32_t draw, float *x)
{
    const sn_asked *asked = of->asked;
    const int64_t first = asked->variable[j]->first_feature, end = first + asked->variable[j]->features;
    for (int64_t i = 0; i < asked->n; i++) {
        float *row = x + i * asked->p;
        for (int64_t k = 0; k < of->imputer->gaussian.d; k++) {
            const int64_t f = of->imputer->margin[k].feature;
            if (f >= first && f < end) row[f] = NAN;
        }
        const sn_cell_draw which = {.seed = asked->run->seed, .row = (uint32_t)i, .draw = draw};
        sn_imputer_fill(of->imputer, asked->model->schema, &which, row);
    }
}

/* Draws variable j again and again and counts the draws whose mean loss is no larger than that of the rows
   themselves. Ends at the tenth such draw, which saves most draws of variables that do not matter. A draw
   depends on seed, row and number alone, so the result is the same for any number of threads. */
static stonet_status test_variable(const void *job, int64_t j, sn_tries *at, int *stopped)
{
    const law *of = job;
    const sn_asked *asked = of->asked;
    stonet_importance_result *result = of->result;
    int64_t done = 0, no_larger = 0;
    memset(at->growth, 0, (size_t)asked->n * sizeof *at->growth);
    while (done < of->draws && no_larger < ENOUGH && !sn_should_stop_shared(asked->run, stopped)) {
        draw_variable(of, j, (uint32_t)++done, at->x);
        SN_TRY(sn_asked_losses(asked, at->x, NULL, asked->n, NULL, at->after));
        no_larger += sn_asked_average(asked, at->after) <= of->loss;
        for (int64_t i = 0; done <= AVERAGED && i < asked->n; i++)
            at->growth[i] += at->after[i] - of->before[i];
    }
    memcpy(at->x, asked->x, (size_t)(asked->n * asked->p) * sizeof *at->x);
    const int64_t averaged = done < AVERAGED ? done : AVERAGED;
    for (int64_t i = 0; i < asked->n; i++) at->growth[i] /= (double)(averaged > 0 ? averaged : 1);
    sn_asked_mean(asked, at->growth, &result->value[j], &result->error[j]);
    result->p_value[j] = no_larger == ENOUGH ? (double)ENOUGH / (double)done
                                             : (1.0 + (double)no_larger) / (1.0 + (double)done);
    return STONET_OK;
}

/* q_(i) = min over k >= i of v p_(k) / k, v variables by ascending p. */
static void adjust(int64_t v, const double *p, double *q)
{
    for (int64_t j = 0; j < v; j++) q[j] = 1.0;
    for (int64_t k = 0; k < v; k++) {
        int64_t rank = 0;
        for (int64_t l = 0; l < v; l++) rank += p[l] <= p[k];
        for (int64_t j = 0; j < v; j++)
            if (p[j] <= p[k]) q[j] = fmin(q[j], p[k] * (double)v / (double)rank);
    }
}

/* result->p_value holds the p-values and then the q-values, one of each for a variable. Variables that the
   model does not use get p = 1 without a draw. */
stonet_status sn_importance_conditional(const sn_asked *asked, stonet_importance_result *result)
{
    law of = {.asked = asked, .draws = asked->repeats > 0 ? asked->repeats : DRAWS, .result = result};
    SN_AUTO(sn_imputer) *imputer = NULL;
    SN_ARRAY(asked->n, double, before);
    SN_TRY(SN_NEW(result->p_value, 2 * asked->variables));
    SN_TRY(sn_asked_losses(asked, asked->x, NULL, asked->n, NULL, before));
    SN_TRY(sn_imputer_fit(asked->model->schema, asked->data, NULL, false, &imputer));
    if (imputer == NULL)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "the law of a variable given the others is learned for %d features at most, and the "
                       "model has %lld: choose columns first, by --kind stability say",
                       SN_FULL_MOST, (long long)asked->p);
    of.imputer = imputer;
    of.before = before;
    of.loss = sn_asked_average(asked, before);
    for (int64_t j = 0; j < asked->variables; j++) result->p_value[j] = 1.0;
    SN_TRY(sn_asked_try_each(asked, NULL, test_variable, &of));
    adjust(asked->variables, result->p_value, result->p_value + asked->variables);
    return STONET_OK;
}
