#include "data/splits.h"

#include "base/memory.h"
#include "base/workspace.h"
#include "math/kernel.h"
#include "math/noise.h"

/* Rows in random order, grouped by class when there are labels: dealing them out in turn then gives every
   fold its share of every class, and sizes that differ by at most one. */
static stonet_status group_by_class(int64_t n, const int32_t *label, int64_t n_classes, const int64_t *order,
                                    int64_t *grouped)
{
    int64_t *start;
    SN_TRY(SN_NEW(start, n_classes + 1));
    for (int64_t i = 0; i < n; i++) start[label[i] + 1]++;
    for (int64_t c = 0; c < n_classes; c++) start[c + 1] += start[c];
    for (int64_t i = 0; i < n; i++) grouped[start[label[order[i]]]++] = order[i];
    sn_free(start);
    return STONET_OK;
}

stonet_status sn_split_folds(int64_t n, const int32_t *label, int64_t n_classes, int folds, uint64_t seed,
                             int32_t *fold)
{
    if (folds < 2 || folds > n)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "%d folds of %lld rows: the folds must be at least 2 and at most the rows", folds,
                       (long long)n);
    int64_t *order, *grouped = NULL;
    SN_TRY(SN_NEW_RAW(order, n));
    sn_random random;
    sn_random_init(&random, seed, SN_STREAM_SPLIT, 0);
    sn_random_permutation(&random, n, order);
    stonet_status status = STONET_OK;
    if (label != NULL) {
        status = SN_NEW_RAW(grouped, n);
        if (status == STONET_OK) status = group_by_class(n, label, n_classes, order, grouped);
    }
    const int64_t *dealt = label != NULL ? grouped : order;
    for (int64_t i = 0; status == STONET_OK && i < n; i++) fold[dealt[i]] = (int32_t)(i % folds);
    sn_free(grouped);
    sn_free(order);
    return status;
}

stonet_status sn_problem_subset(const sn_problem *problem, const int64_t *rows, int64_t count,
                                sn_problem *out)
{
    const sn_rows some = sn_rows_list(rows, count);
    sn_batch batch = {.x_stride = problem->p};
    *out = *problem;
    out->n = count;
    out->source = NULL;
    out->raw = NULL;
    stonet_status status = sn_batch_prepare(problem, &some);
    if (status == STONET_OK) status = SN_NEW_RAW(batch.x, count * problem->p);
    if (status == STONET_OK && problem->task == SN_CLASSIFICATION) status = SN_NEW_RAW(batch.label, count);
    if (status == STONET_OK && problem->task == SN_REGRESSION)
        status = SN_NEW_RAW(batch.y, count * problem->outputs);
    if (status == STONET_OK && problem->weight != NULL) status = SN_NEW_RAW(batch.weight, count);
    if (status == STONET_OK) sn_batch_look(problem, &some, &batch);
    out->x = batch.x;
    out->label = batch.label;
    out->y = batch.y;
    out->weight = batch.weight;
    if (status != STONET_OK) sn_problem_subset_free(out);
    return status;
}

stonet_status sn_problem_sample(const sn_problem *problem, int64_t count, uint64_t seed, sn_problem *out)
{
    SN_WORKSPACE(scratch);
    int64_t *row = NULL;
    *out = (sn_problem){0};
    count = count < problem->n ? count : problem->n;
    SN_TRY(SN_TAKE(&scratch, row, count));
    SN_TRY(sn_choose_rows(problem->n, count, seed, 2, row));
    return sn_problem_subset(problem, row, count, out);
}

void sn_problem_subset_free(sn_problem *subset)
{
    if (subset == NULL) return;
    sn_free((void *)(uintptr_t)subset->x);
    sn_free((void *)(uintptr_t)subset->label);
    sn_free((void *)(uintptr_t)subset->y);
    sn_free((void *)(uintptr_t)subset->weight);
    subset->x = NULL;
    subset->label = NULL;
    subset->y = NULL;
    subset->weight = NULL;
}
