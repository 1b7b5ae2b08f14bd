#include "base/memory.h"
#include "base/workspace.h"
#include "data/kin.h"
#include "select/jobs.h"

/* The task and the classes come from a schema of all rows, which is used for the response only. */
stonet_status sn_strata_create(const stonet_spec *spec, const stonet_data *data, sn_strata *out)
{
    *out = (sn_strata){0};
    SN_AUTO(sn_schema) *schema = NULL;
    if (stonet_data_targets(data, NULL) == NULL && stonet_data_classes(data, NULL) == NULL)
        return sn_fail(
            STONET_ERROR_DATA,
            "%s has no target: tuning and comparing score predictions, so they need one for every method",
            sn_table_name(data));
    SN_TRY(sn_schema_fit_response(data, sn_spec_task(spec), &schema));
    out->is_classifier = schema->task == SN_CLASSIFICATION;
    out->law = schema->law;
    if (!out->is_classifier) return STONET_OK;
    out->n_classes = sn_schema_outputs(schema);
    SN_TRY(SN_NEW(out->label, stonet_data_rows(data)));
    return sn_schema_encode_y(schema, data, out->label, NULL);
}

void sn_strata_free(sn_strata *strata)
{
    sn_free(strata->label);
    *strata = (sn_strata){0};
}

unsigned sn_strata_task(const sn_strata *strata)
{
    return strata->is_classifier ? SN_TASK_CLASSIFICATION : SN_TASK_REGRESSION;
}

stonet_status sn_splits_fold(const stonet_data *data, const sn_rows *rows, const sn_strata *strata, int folds,
                             uint64_t seed, sn_splits *out)
{
    *out = (sn_splits){0};
    const sn_rows all = sn_rows_range(0, stonet_data_rows(data));
    if (rows == NULL) rows = &all;
    if (folds < 2 || folds > rows->n)
        return sn_fail(STONET_ERROR_ARGUMENT, "%lld rows cannot be cut into %d folds: choose from 2 to %lld",
                       (long long)rows->n, folds, (long long)rows->n);
    SN_WORKSPACE(scratch);
    sn_problem problem = {.n = all.n,
                          .task = strata->is_classifier ? SN_CLASSIFICATION : SN_REGRESSION,
                          .label = strata->label,
                          .outputs = strata->n_classes};
    const sn_fold_plan plan = {.count = folds, .exactly = true, .by_class = true};
    SN_TRY(sn_kin_find(data, NULL, &scratch, &problem.kin));
    SN_TRY(sn_folds_cut(&problem, rows, &plan, seed, &out->folds));
    SN_TRY(SN_NEW(out->split, folds));
    for (; out->count < folds; out->count++) {
        const sn_fold *fold = &out->folds.fold[out->count];
        out->split[out->count] = (sn_split){.data = data, .train = fold->train, .held_out = fold->test};
    }
    return STONET_OK;
}

stonet_status sn_splits_test(const stonet_data *data, const stonet_data *test, sn_splits *out)
{
    *out = (sn_splits){.count = 1};
    SN_TRY(SN_NEW(out->split, 1));
    out->split[0] = (sn_split){.data = data, .test = test, .train = sn_rows_range(0, stonet_data_rows(data))};
    return STONET_OK;
}

void sn_splits_free(sn_splits *splits)
{
    sn_folds_free(&splits->folds);
    sn_free(splits->split);
    *splits = (sn_splits){0};
}
