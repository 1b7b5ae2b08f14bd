/*
 * Conditional independence in sequence: for k = 1, 2, .. the method is fitted on one half of the rows, and on
 * the other half the response is tested for independence of x given Z; the halves are exchanged and the two
 * p-values combined (Cauchy). The first k that is not rejected is chosen. A network that is under-fitted is
 * rejected at every k, and that is then what the reason says.
 */
#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "data/splits.h"
#include "order/order.h"
#include "select/jobs.h"

enum { LARGEST = 5 };

/* Fits k dimensions on the rows of one split and tests those held out. */
static stonet_status test_half(const sn_order_job *job, const sn_split *split, int64_t k, double *p_value)
{
    stonet_data *train = NULL, *held_out = NULL;
    stonet_spec *spec = NULL;
    stonet_model *model = NULL;
    stonet_status status;
    char dim[24];
    snprintf(dim, sizeof dim, "%lld", (long long)k);
    SN_GOTO(status, stonet_data_subset(job->data, split->train, split->n_train, &train), done);
    SN_GOTO(status, stonet_data_subset(job->data, split->held_out, split->n_held_out, &held_out), done);
    SN_GOTO(status, stonet_spec_copy(job->spec, &spec), done);
    SN_GOTO(status, stonet_spec_set(spec, "dim", dim), done);
    SN_GOTO(status, stonet_fit(spec, train, job->run, &model), done);
    stonet_sufficiency_result found = {.p_value = 0.0};
    status = stonet_sufficiency(model, held_out, NULL, job->run, &found);
    *p_value = found.p_value;
done:
    stonet_model_free(model);
    stonet_spec_free(spec);
    stonet_data_free(held_out);
    stonet_data_free(train);
    return status;
}

/* The Cauchy combination of two p-values, which may depend on each other. */
static double combine(double a, double b)
{
    const double pi = 3.14159265358979323846;
    return 0.5 - atan(0.5 * (tan((0.5 - a) * pi) + tan((0.5 - b) * pi))) / pi;
}

static stonet_status test_each(const sn_order_job *job, const sn_splits *halves, stonet_order_result *result)
{
    static const char *const names[] = {"k", "p_value", "p_first_half", "p_second_half"};
    const int64_t most = job->max > 0 ? job->max : LARGEST;
    SN_TRY(sn_order_table(result, 1, most, 4, names));
    for (int64_t k = 1; k <= most; k++) {
        double *p = sn_order_cell(result, k - 1, 1);
        for (int64_t half = 0; half < 2; half++)
            SN_TRY(test_half(job, &halves->split[half], k, sn_order_cell(result, k - 1, 2 + half)));
        if (sn_should_stop(job->run))
            return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before there was an answer");
        *p = combine(*sn_order_cell(result, k - 1, 2), *sn_order_cell(result, k - 1, 3));
        if (*p <= job->level) continue;
        result->rows = k;
        result->chosen = k;
        sn_format(result->reason, sizeof result->reason,
                  "%lld is the first dimension with no sign that x says more about the response than Z (p = "
                  "%.3g)",
                  (long long)k, *p);
        return STONET_OK;
    }
    result->chosen = most;
    sn_format(
        result->reason, sizeof result->reason,
        "not sufficient at any dimension tried (up to %lld): the fit loses something at all of them, so "
        "this is no choice but the largest that was tried",
        (long long)most);
    return STONET_OK;
}

stonet_status sn_order_independence(const sn_order_job *job, stonet_order_result *result)
{
    sn_strata strata = {0};
    sn_splits halves = {0};
    SN_TRY(sn_strata_create(job->spec, job->data, &strata));
    stonet_status status = sn_splits_fold(job->data, NULL, 0, &strata, 2, job->run->seed, &halves);
    sn_strata_free(&strata);
    if (status == STONET_OK) status = test_each(job, &halves, result);
    sn_splits_free(&halves);
    return status;
}
