#include "data/splits.h"
#include "base/memory.h"
#include "select/jobs.h"

/* The task and the classes come from a schema of all rows; only the response is taken from it. */
stonet_status sn_strata_create(const stonet_spec *spec, const stonet_data *data, sn_strata *out)
{
    *out = (sn_strata){0};
    sn_schema *schema = NULL;
    if (stonet_data_targets(data, NULL) == NULL && stonet_data_classes(data, NULL) == NULL)
        return sn_fail(
            STONET_ERROR_DATA,
            "%s has no target: tuning and comparing score predictions, so they need one for every method",
            sn_table_name(data));
    SN_TRY(sn_schema_fit_response(data, sn_spec_task(spec), &schema));
    stonet_status status = STONET_OK;
    out->is_classifier = sn_schema_task(schema) == SN_CLASSIFICATION;
    if (out->is_classifier) {
        out->n_classes = sn_schema_outputs(schema);
        status = SN_NEW(out->label, stonet_data_rows(data));
        if (status == STONET_OK) status = sn_schema_encode_y(schema, data, out->label, NULL);
    }
    sn_schema_free(schema);
    if (status != STONET_OK) sn_strata_free(out);
    return status;
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

/* Takes rows of classes that have just one out of the folds (fold -1). */
static stonet_status keep_single_rows(const int32_t *label, int64_t n, int64_t n_classes, int32_t *fold)
{
    int64_t *size = NULL;
    SN_TRY(SN_NEW(size, n_classes));
    for (int64_t i = 0; i < n; i++) size[label[i]]++;
    for (int64_t i = 0; i < n; i++)
        if (size[label[i]] == 1) fold[i] = -1;
    sn_free(size);
    return STONET_OK;
}

static stonet_status fill_split(const int64_t *rows, int64_t n, const int32_t *fold, int32_t k,
                                sn_split *split)
{
    SN_TRY(SN_NEW_RAW(split->train, n));
    SN_TRY(SN_NEW_RAW(split->held_out, n));
    for (int64_t i = 0; i < n; i++) {
        int64_t row = rows != NULL ? rows[i] : i;
        if (fold[i] == k)
            split->held_out[split->n_held_out++] = row;
        else
            split->train[split->n_train++] = row;
    }
    return STONET_OK;
}

static stonet_status assign_folds(const int64_t *rows, int64_t n, const sn_strata *strata, int folds,
                                  uint64_t seed, int32_t *fold)
{
    if (strata->label == NULL) return sn_split_folds(n, NULL, 0, folds, seed, fold);
    int32_t *label = NULL;
    SN_TRY(SN_NEW_RAW(label, n));
    for (int64_t i = 0; i < n; i++) label[i] = strata->label[rows != NULL ? rows[i] : i];
    stonet_status status = sn_split_folds(n, label, strata->n_classes, folds, seed, fold);
    if (status == STONET_OK) status = keep_single_rows(label, n, strata->n_classes, fold);
    sn_free(label);
    return status;
}

stonet_status sn_splits_fold(const stonet_data *data, const int64_t *rows, int64_t n_rows,
                             const sn_strata *strata, int folds, uint64_t seed, sn_splits *out)
{
    *out = (sn_splits){0};
    int64_t n = rows != NULL ? n_rows : stonet_data_rows(data);
    if (folds < 2 || folds > n)
        return sn_fail(STONET_ERROR_ARGUMENT, "%lld rows cannot be cut into %d folds: take from 2 to %lld",
                       (long long)n, folds, (long long)n);
    int32_t *fold = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW(fold, n), done);
    SN_GOTO(status, assign_folds(rows, n, strata, folds, seed, fold), done);
    SN_GOTO(status, SN_NEW(out->split, folds), done);
    out->count = folds;
    for (int32_t k = 0; k < folds && status == STONET_OK; k++) {
        out->split[k].data = data;
        status = fill_split(rows, n, fold, k, &out->split[k]);
    }
done:
    sn_free(fold);
    if (status != STONET_OK) sn_splits_free(out);
    return status;
}

stonet_status sn_splits_test(const stonet_data *data, const stonet_data *test, sn_splits *out)
{
    *out = (sn_splits){.count = 1};
    SN_TRY(SN_NEW(out->split, 1));
    out->split[0] = (sn_split){.data = data, .test = test, .n_train = stonet_data_rows(data)};
    return STONET_OK;
}

void sn_splits_free(sn_splits *splits)
{
    for (int64_t k = 0; splits->split != NULL && k < splits->count; k++) {
        sn_free(splits->split[k].train);
        sn_free(splits->split[k].held_out);
    }
    sn_free(splits->split);
    *splits = (sn_splits){0};
}
