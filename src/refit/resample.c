#include "refit/resample.h"

#include <math.h>
#include <omp.h>

#include "base/memory.h"
#include "base/work_queue.h"
#include "data/frame.h"
#include "data/kin.h"
#include "data/partitions.h"
#include "math/noise.h"

enum { AT_ONCE = 8 }; /* refits in memory */

/* What the fits share. */
typedef struct refits {
    const sn_refits *wanted;
    int64_t count, done; /* pieces of work: */
    int64_t each;        /* models in one, with a training in common or alone */
    const stonet_run *run;
    sn_quiet_run quiet; /* of each fit */
    double started;
    stonet_model **model;
} refits;

static stonet_status fit_model(const refits *self, int64_t m, const stonet_run *run)
{
    const sn_refits *wanted = self->wanted;
    const sn_rows *part = &wanted->part[m / wanted->specs];
    SN_AUTO(stonet_data) *rows = NULL;
    SN_TRY(stonet_data_subset(wanted->data, part->list, part->n, &rows));
    stonet_status status = stonet_fit(wanted->spec[m % wanted->specs], rows, run, &self->model[m]);
    if (status == STONET_OK && stonet_model_outcome(self->model[m]) == STONET_DIVERGED)
        status = sn_fail(STONET_ERROR_NUMERIC, "the training diverged; a smaller lr may help");
    return status == STONET_OK ? STONET_OK
                               : sn_fail_prefix(status, "the fit on %lld of the rows", (long long)part->n);
}

static void report(const refits *self, int64_t done)
{
    const sn_refits *wanted = self->wanted;
    const bool others = wanted->all > 0;
    sn_progress_of(self->run, wanted->stage, wanted->before + done, others ? wanted->all : self->count,
                   (double)NAN, others ? wanted->started : self->started);
}

static stonet_status fit_piece(void *user, int64_t k, sn_pack *record)
{
    (void)record;
    refits *self = user;
    stonet_run own = self->quiet.run;
    SN_THREADS(own.threads);
    int64_t done;
    SN_AUTO(stonet_checkpoint) *shared = NULL;
    if (sn_should_stop(&own)) return STONET_OK;
    if (self->each > 1) SN_TRY(stonet_checkpoint_open(NULL, -1.0, &shared));
    own.checkpoint = shared;
    for (int64_t m = k * self->each; m < (k + 1) * self->each && !sn_should_stop(&own); m++)
        SN_TRY(fit_model(self, m, &own));
#pragma omp atomic capture
    done = ++self->done;
    if (omp_get_thread_num() == 0) report(self, done);
    return STONET_OK;
}

/* Side by side with a thread each; few, one after the other with all threads. */
stonet_status sn_refit(const sn_refits *wanted, const stonet_run *run, stonet_model **model)
{
    const int64_t models = wanted->parts * wanted->specs;
    refits self = {.wanted = wanted, .each = 1, .run = run, .started = sn_seconds(), .model = model};
    if (wanted->spec[0]->method->keeps) self.each = wanted->specs;
    self.count = models / self.each;
    const int threads = sn_threads(run), beside = 2 * self.count <= threads ? 1 : threads;
    sn_quiet_run_init(&self.quiet, run);
    self.quiet.run.size = sizeof self.quiet.run;
    self.quiet.run.seed = run->seed;
    self.quiet.run.threads = beside > 1 ? 1 : threads;
    self.quiet.stopped = sn_should_stop(run); /* a wish that was there before starts nothing */
    report(&self, 0);
    stonet_status status =
        sn_work_queue_run(&(sn_work_set){.count = self.count, .work = fit_piece, .user = &self}, beside, run);
    if (self.quiet.stopped) status = sn_fail(STONET_ERROR_INTERRUPTED, "stopped before all fits were done");
    for (int64_t m = 0; status != STONET_OK && m < models; m++) {
        stonet_model_free(model[m]);
        model[m] = NULL;
    }
    return status;
}

stonet_status sn_refit_check_names(const stonet_model *model, const stonet_data *data)
{
    if (data->has_header || !model->schema->has_header) return STONET_OK;
    return sn_fail(STONET_ERROR_DATA,
                   "the model knows its columns by name, and %s has no names: refits need them too",
                   sn_table_name(data));
}

stonet_status sn_refit_check_columns(const stonet_model *model, stonet_model *const *refit, int64_t count)
{
    const int64_t used = sn_schema_used(model->schema);
    if (model->schema->has_header || used == model->schema->n_inputs) return STONET_OK;
    for (int64_t k = 0; k < count; k++)
        if (sn_schema_used(refit[k]->schema) != used)
            return sn_fail(
                STONET_ERROR_DATA,
                "a column that the model uses is constant in a part of the rows, and columns without names "
                "cannot be told apart then. Remove the constant columns from the data, or name all columns.");
    return STONET_OK;
}

stonet_status sn_refit_used_rows(const stonet_model *model, const stonet_data *train, stonet_data **part,
                                 int64_t *n)
{
    SN_AUTO(stonet_spec) *spec = NULL;
    sn_quiet_run quiet;
    sn_quiet_run_init(&quiet, NULL);
    SN_TRY(stonet_model_spec(model, &spec));
    SN_TRY(sn_spec_rows(spec, train, &quiet.run, part));
    *n = stonet_data_rows(*part != NULL ? *part : train);
    return STONET_OK;
}

stonet_status sn_refit_same_rows(const stonet_model *model, const stonet_data *train, const char *what,
                                 stonet_data **part)
{
    SN_AUTO(stonet_data) *used = NULL;
    int64_t n;
    SN_TRY(sn_refit_used_rows(model, train, &used, &n));
    if (n != model->n_train)
        return sn_fail(STONET_ERROR_DATA,
                       "the model was fitted on %lld rows, and %s has %lld: %s the rows it was fitted on",
                       (long long)model->n_train, sn_table_name(train), (long long)n, what);
    return SN_GIVE(used, part);
}

/* Refits number first .. first + count - 1. */
static stonet_status look_at_halves(const sn_refits *wanted, const stonet_model *model, const int64_t *kin,
                                    int64_t first, const stonet_run *run, sn_half_look *look, void *of)
{
    stonet_model *refit[AT_ONCE] = {0};
    const int64_t n = stonet_data_rows(wanted->data);
    SN_ARRAY(n * wanted->parts, int64_t, row);
    sn_rows part[AT_ONCE];
    sn_refits halves = *wanted;
    halves.part = part;
    for (int64_t b = 0; b < wanted->parts; b++) {
        int64_t half;
        sn_random random = sn_random_from(run->seed, SN_STREAM_PERMUTE, (uint32_t)(first + b));
        SN_TRY(sn_split_half(n, kin, &random, row + b * n, &half));
        part[b] = sn_rows_list(row + b * n, half);
    }
    stonet_status status = sn_refit(&halves, run, refit);
    if (status == STONET_OK) status = sn_refit_check_columns(model, refit, wanted->parts);
    for (int64_t b = 0; b < wanted->parts; b++) {
        if (status == STONET_OK) status = look(of, refit[b], first + b);
        stonet_model_free(refit[b]);
    }
    return status;
}

stonet_status sn_refit_halves(const stonet_model *model, const stonet_spec *spec, const stonet_data *train,
                              int64_t count, const stonet_run *run, sn_half_look *look, void *of)
{
    SN_WORKSPACE(scratch);
    const int64_t *kin = NULL;
    SN_TRY(sn_refit_check_names(model, train));
    SN_TRY(sn_kin_find(train, NULL, &scratch, &kin));
    const double started = sn_seconds();
    for (int64_t first = 0; first < count; first += AT_ONCE) {
        const int64_t parts = count - first < AT_ONCE ? count - first : AT_ONCE;
        const sn_refits wanted = {&spec, 1, train, NULL, parts, "standard errors", first, count, started};
        SN_TRY(look_at_halves(&wanted, model, kin, first, run, look, of));
    }
    return STONET_OK;
}
