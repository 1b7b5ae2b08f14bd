/*
 * What another fit would change: the model is fitted again on halves of its training rows, and the importance
 * of every variable measured by each of these fits on the same rows. With e_j the error over the rows and
 * s_j^2 the variance over the fits (refit/resample.h: that of fits on all training rows),
 *
 *     se_j = sqrt(e_j^2 + s_j^2)
 *
 * A variable that a fit leaves out, being constant in its half, has importance 0 there.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "explain/importance.h"
#include "refit/resample.h"

enum { REFITS = 20 };

typedef struct fit_error {
    const stonet_data *data;
    const stonet_importance_options *how;
    const stonet_run *run;
    const stonet_importance_result *result;
    double *mean, *squares; /* of the refits so far, and of their deviations: variables each */
} fit_error;

static double importance_of(const stonet_importance_result *found, const char *name)
{
    for (int64_t j = 0; j < found->variables; j++)
        if (strcmp(found->name[j], name) == 0) return found->value[j];
    return 0.0;
}

/* By Welford's recursion. */
static stonet_status add_refit(void *of, const stonet_model *refit, int64_t number)
{
    const fit_error *job = of;
    SN_AUTO(stonet_importance_result) *found = NULL;
    SN_TRY(SN_NEW(found, 1));
    SN_TRY(sn_importance_measure(refit, job->data, job->how, job->run, found));
    for (int64_t j = 0; j < job->result->variables; j++) {
        const double value = importance_of(found, job->result->name[j]), step = value - job->mean[j];
        job->mean[j] += step / (double)(number + 1);
        job->squares[j] += step * (value - job->mean[j]);
    }
    return STONET_OK;
}

stonet_status sn_importance_add_fit_error(const stonet_model *model, const stonet_data *data,
                                          const stonet_importance_options *how, const stonet_run *run,
                                          stonet_importance_result *result)
{
    SN_AUTO(stonet_spec) *spec = NULL;
    SN_ZEROS(result->variables, double, mean);
    SN_ZEROS(result->variables, double, squares);
    sn_quiet_run quiet;
    SN_AUTO(stonet_data) *part = NULL;
    SN_TRY(sn_refit_same_rows(model, how->train, "standard errors that include the fit need", &part));
    sn_quiet_run_init(&quiet, run);
    quiet.run.seed = run->seed;
    quiet.run.threads = run->threads;
    fit_error job = {data, how, &quiet.run, result, mean, squares};
    SN_TRY(stonet_model_spec(model, &spec));
    SN_TRY(sn_refit_halves(model, spec, part != NULL ? part : how->train, REFITS, run, add_refit, &job));
    for (int64_t j = 0; j < result->variables; j++)
        result->error[j] = sqrt(result->error[j] * result->error[j] + squares[j] / (double)(REFITS - 1));
    return STONET_OK;
}
