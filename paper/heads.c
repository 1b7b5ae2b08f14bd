#include "paper/heads.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/progress.h"

void kept_reduction_free(kept_reduction *self)
{
    reduced_split_free(&self->z);
    *self = (kept_reduction){0};
}

static bool is_kept(const kept_reduction *kept, const cell *what, const column *by)
{
    return (by->flags & COLUMN_NESTED) != 0 && kept->trial == what->trial && kept->dim >= what->q &&
           strcmp(kept->row, what->row) == 0 && strcmp(kept->method, what->method) == 0;
}

static stonet_status make(lab *self, const cell *what, const column *by, const split *parts,
                          kept_reduction *out)
{
    stonet_spec *spec = NULL;
    stonet_model *model = NULL;
    int64_t q = what->q > 0 ? what->q : stonet_data_columns(parts->train);
    stonet_status status = fits_spec(by->method, q, by->settings, &spec);
    stonet_run run = lab_stonet_run(self, 2);
    double start = progress_clock();
    clock_t worked = clock();
    if (status == STONET_OK) status = stonet_fit(spec, parts->train, &run, &model);
    out->seconds = progress_clock() - start;
    out->processor_seconds = (double)(clock() - worked) / CLOCKS_PER_SEC;
    bool is_stonet = column_is_stonet(by);
    out->own = (stonet_scores)STONET_SCORES_INIT;
    if (status == STONET_OK && is_stonet) status = stonet_score(model, parts->test, NULL, &out->own);
    if (status == STONET_OK) status = fits_reduce(model, parts, is_stonet, &out->z);
    stonet_model_free(model);
    stonet_spec_free(spec);
    if (status != STONET_OK) return status;
    out->trial = what->trial;
    out->dim = what->q;
    memcpy(out->row, what->row, sizeof out->row);
    memcpy(out->method, what->method, sizeof out->method);
    return STONET_OK;
}

stonet_status heads_score(lab *self, const cell *what, const column *by, const heads *on, const split *parts,
                          kept_reduction *kept, head_scores *out)
{
    stonet_status status = STONET_OK;
    if (!is_kept(kept, what, by)) {
        kept_reduction_free(kept);
        status = make(self, what, by, parts, kept);
    }
    *out = (head_scores){.has_own = column_is_stonet(by),
                         .own = kept->own,
                         .seconds = kept->seconds,
                         .processor_seconds = kept->processor_seconds};
    reduced_split cut = {0};
    const split *z = &kept->z.parts;
    if (status == STONET_OK && what->q > 0 && what->q < stonet_data_columns(z->train)) {
        status = fits_first_columns(z, what->q, &cut);
        z = &cut.parts;
    }
    if (status == STONET_OK) status = fits_head(self, z, on->dnn, &out->dnn);
    if (status == STONET_OK) status = fits_head(self, z, on->plain, &out->plain);
    reduced_split_free(&cut);
    return status;
}

void heads_describe(const column *by, const heads *on, cell *what)
{
    snprintf(what->settings, sizeof what->settings, "%s; on Z: %s; %s", by->settings, on->dnn, on->plain);
}
