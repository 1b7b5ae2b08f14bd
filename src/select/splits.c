#include "data/splits.h"
#include "base/memory.h"
#include "data/kin.h"
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

/* Takes rows out of the folds (fold -1) that have a class for themselves, or share it with their kin alone.
 */
static stonet_status keep_single_rows(const int32_t *label, int64_t n, int64_t n_classes, const int64_t *kin,
                                      int32_t *fold)
{
    enum { NONE = -1, SEVERAL = -2 };
    SN_WORKSPACE(scratch);
    int64_t *first = NULL, *only = NULL, count;
    bool *keeps = NULL;
    SN_TRY(SN_TAKE(&scratch, first, n));
    SN_TRY(SN_TAKE(&scratch, only, n_classes));
    SN_TRY(SN_TAKE_ZERO(&scratch, keeps, n));
    for (int64_t i = 0; i < n; i++) first[i] = i;
    if (kin != NULL) SN_TRY(sn_kin_first(kin, n, first, &count));
    for (int64_t c = 0; c < n_classes; c++) only[c] = NONE;
    for (int64_t i = 0; i < n; i++) {
        int64_t *seen = &only[label[i]];
        *seen = *seen == NONE || *seen == first[i] ? first[i] : SEVERAL;
    }
    for (int64_t c = 0; c < n_classes; c++)
        if (only[c] >= 0) keeps[only[c]] = true;
    for (int64_t i = 0; i < n; i++)
        if (keeps[first[i]]) fold[i] = -1;
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

static stonet_status assign_folds(const stonet_data *data, const int64_t *rows, int64_t n,
                                  const sn_strata *strata, int folds, uint64_t seed, int32_t *fold)
{
    SN_WORKSPACE(scratch);
    const int64_t *of_all = NULL;
    int64_t *kin = NULL;
    int32_t *label = NULL;
    SN_TRY(sn_kin_find(data, NULL, &scratch, &of_all));
    if (of_all != NULL) SN_TRY(SN_TAKE(&scratch, kin, n));
    if (strata->label != NULL) SN_TRY(SN_TAKE(&scratch, label, n));
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = rows != NULL ? rows[i] : i;
        if (kin != NULL) kin[i] = of_all[row];
        if (label != NULL) label[i] = strata->label[row];
    }
    SN_TRY(sn_split_folds(n, label, strata->n_classes, kin, folds, seed, fold));
    return label != NULL ? keep_single_rows(label, n, strata->n_classes, kin, fold) : STONET_OK;
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
    SN_GOTO(status, assign_folds(data, rows, n, strata, folds, seed, fold), done);
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
