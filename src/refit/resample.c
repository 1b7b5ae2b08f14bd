#include "refit/resample.h"

#include <math.h>
#include <omp.h>

#include "base/failure.h"
#include "base/memory.h"
#include "data/frame.h"

/* What the fits share. */
typedef struct refits {
    const stonet_spec *spec;
    const stonet_data *data;
    const sn_part *part;
    int64_t count, done;
    const char *stage;
    const stonet_run *run;
    double started;
    int failed; /* one of them has */
    sn_failure failure;
    stonet_model **model;
} refits;

static stonet_status fit_part(const refits *self, int64_t k, const stonet_run *run)
{
    stonet_data *rows = NULL;
    SN_TRY(stonet_data_subset(self->data, self->part[k].row, self->part[k].count, &rows));
    stonet_status status = stonet_fit(self->spec, rows, run, &self->model[k]);
    stonet_data_free(rows);
    if (status == STONET_OK && stonet_model_outcome(self->model[k]) == STONET_DIVERGED)
        status = sn_fail(STONET_ERROR_NUMERIC, "the training diverged; a smaller lr may help");
    return status == STONET_OK
               ? STONET_OK
               : sn_fail_prefix(status, "the fit on %lld of the rows", (long long)self->part[k].count);
}

static void report(const refits *self)
{
    sn_progress(self->run, &(stonet_progress){.stage = self->stage,
                                              .done = self->done,
                                              .total = self->count,
                                              .loss = (double)NAN,
                                              .validation_loss = (double)NAN,
                                              .seconds = sn_seconds() - self->started});
}

static void take_result(refits *self, int64_t k, stonet_status status)
{
    sn_failure_note(&self->failure, k, status);
#pragma omp critical(sn_refit_result)
    {
        if (status != STONET_OK) {
#pragma omp atomic write
            self->failed = 1;
        }
        self->done++;
    }
}

static bool has_failed(const refits *self)
{
    int failed;
#pragma omp atomic read
    failed = self->failed;
    return failed != 0;
}

/* One fit has all threads; several have one each. */
static bool fit_parts(refits *self)
{
    sn_quiet_run quiet;
    sn_quiet_run_init(&quiet, self->run);
    quiet.run.size = sizeof quiet.run;
    quiet.run.seed = self->run->seed;
    quiet.run.threads = self->count > 1 ? 1 : self->run->threads;
    if (sn_should_stop(self->run)) return true; /* a wish that was there before starts nothing */
    if (self->count == 1) {
        take_result(self, 0, fit_part(self, 0, &quiet.run));
        return quiet.stopped != 0;
    }
#pragma omp parallel num_threads(sn_threads(self->run))
    {
        const int before = sn_model_threads(1);
#pragma omp for schedule(dynamic)
        for (int64_t k = 0; k < self->count; k++) {
            if (sn_should_stop_shared(self->run, &quiet.stopped) || has_failed(self)) continue;
            take_result(self, k, fit_part(self, k, &quiet.run));
            if (omp_get_thread_num() == 0) report(self);
        }
        sn_model_threads(before);
    }
    return quiet.stopped != 0;
}

stonet_status sn_refit(const stonet_spec *spec, const stonet_data *data, const sn_part *part, int64_t count,
                       const char *stage, const stonet_run *run, stonet_model **model)
{
    refits self = {.spec = spec,
                   .data = data,
                   .part = part,
                   .count = count,
                   .stage = stage,
                   .run = run,
                   .started = sn_seconds(),
                   .model = model};
    report(&self);
    const stonet_status status = fit_parts(&self)
                                     ? sn_fail(STONET_ERROR_INTERRUPTED, "stopped before all fits were done")
                                     : sn_failure_raise(&self.failure);
    for (int64_t k = 0; status != STONET_OK && k < count; k++) {
        stonet_model_free(model[k]);
        model[k] = NULL;
    }
    return status;
}

stonet_status sn_refit_check_names(const stonet_model *model, const stonet_data *data)
{
    if (data->has_header || !sn_schema_has_header(model->schema)) return STONET_OK;
    return sn_fail(STONET_ERROR_DATA,
                   "the model knows its columns by name, and %s has no names: refits need them too",
                   sn_table_name(data));
}

stonet_status sn_refit_check_columns(const stonet_model *model, stonet_model *const *refit, int64_t count)
{
    const int64_t used = sn_schema_used(model->schema);
    if (sn_schema_has_header(model->schema) || used == sn_schema_inputs(model->schema)) return STONET_OK;
    for (int64_t k = 0; k < count; k++)
        if (sn_schema_used(refit[k]->schema) != used)
            return sn_fail(
                STONET_ERROR_DATA,
                "a column that the model uses is constant in a part of the rows, and columns without names "
                "cannot be told apart then. Remove the constant columns from the data, or name all columns.");
    return STONET_OK;
}
