/*
 * Importance by refits: the model is fitted again without variable j, with its settings and seed, on its
 * training rows. Then
 *
 *     importance_j = mean_i (L_i without j - L_i)        over the given rows,
 *
 * with the standard error of that mean of paired differences. What other variables can say in its place
 * counts for them: of two copies neither is important.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/frame.h"
#include "explain/importance.h"

static stonet_status without(const stonet_data *data, const char *name, stonet_data **out)
{
    for (int64_t j = 0; j < data->n_columns; j++)
        if (strcmp(data->column[j].name, name) == 0) return sn_frame_without(data, j, out);
    return sn_fail(STONET_ERROR_DATA, "%s has no column '%s', which the model uses", sn_table_name(data),
                   name);
}

/* The losses of the rows under a model that was fitted without one of the columns. */
static stonet_status losses_of(const stonet_model *model, const stonet_data *data, const stonet_run *run,
                               double *loss)
{
    SN_WORKSPACE(scratch);
    sn_asked asked = {.run = run};
    SN_TRY(sn_asked_create(model, data, &scratch, &asked));
    return sn_asked_losses(&asked, asked.x, NULL, asked.n, NULL, loss);
}

/* Losses of the rows under a fit without one column. The seed is that of the model, so that the fits differ
   in the column alone. */
static stonet_status lose(const sn_asked *asked, const stonet_spec *spec, const char *name, double *loss)
{
    sn_quiet_run quiet;
    sn_quiet_run_init(&quiet, asked->run);
    quiet.run.size = sizeof quiet.run;
    quiet.run.seed = asked->model->seed;
    quiet.run.threads = asked->run->threads;
    SN_AUTO(stonet_data) *rows = NULL, *of = NULL;
    SN_AUTO(stonet_model) *model = NULL;
    SN_TRY(without(asked->train, name, &of));
    SN_TRY(without(asked->data, name, &rows));
    SN_TRY(stonet_fit(spec, of, &quiet.run, &model));
    if (stonet_model_outcome(model) != STONET_STOPPED) return losses_of(model, rows, asked->run, loss);
    return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before all variables were looked at");
}

/* value_j = mean_i (L_i without j - L_i). Fits run one after the other, each with all threads. */
static stonet_status refit_all(const sn_asked *asked, const stonet_spec *spec,
                               stonet_importance_result *result)
{
    const double started = sn_seconds();
    SN_ARRAY(asked->n, double, whole);
    SN_ARRAY(asked->n, double, loss);
    SN_TRY(sn_asked_losses(asked, asked->x, NULL, asked->n, NULL, whole));
    for (int64_t j = 0; j < asked->variables; j++) {
        if (sn_should_stop(asked->run))
            return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before all variables were looked at");
        const stonet_status status = lose(asked, spec, result->name[j], loss);
        if (status == STONET_ERROR_INTERRUPTED) return status;
        if (status != STONET_OK) return sn_fail_prefix(status, "the fit without '%s'", result->name[j]);
        for (int64_t i = 0; i < asked->n; i++) loss[i] -= whole[i];
        sn_asked_mean(asked, loss, &result->value[j], &result->error[j]);
        sn_progress_of(asked->run, "fits without a variable", j + 1, asked->variables, (double)NAN, started);
    }
    return STONET_OK;
}

stonet_status sn_importance_refit(const sn_asked *asked, stonet_importance_result *result)
{
    if (asked->variables < 2)
        return sn_fail(STONET_ERROR_DATA, "the model has one variable: nothing can be fitted without it");
    if (asked->train->n != asked->model->n_train)
        sn_message(asked->run, STONET_WARNING,
                   "the model was fitted on %lld rows and not on these %lld: part of what the refits lose or "
                   "gain is due to the rows",
                   (long long)asked->model->n_train, (long long)asked->train->n);
    SN_AUTO(stonet_spec) *spec = NULL;
    SN_TRY(stonet_model_spec(asked->model, &spec));
    return refit_all(asked, spec, result);
}
