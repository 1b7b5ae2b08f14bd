#include "data/folds.h"

#include "base/memory.h"
#include "base/workspace.h"
#include "data/kin.h"
#include "data/partitions.h"

/* A thousand copies of one row would decide like a thousand rows, and are no more than one. *first: of each
   row, the first that it is a copy of; NULL: there are no copies. */
static stonet_status find_copies(const sn_problem *problem, const sn_rows *rows, sn_workspace *keep,
                                 int64_t **first)
{
    int64_t count;
    *first = NULL;
    if (problem->kin == NULL || !problem->copies) return STONET_OK;
    SN_ARRAY(rows->n, int64_t, kin);
    SN_TRY(SN_TAKE(keep, *first, rows->n));
    for (int64_t i = 0; i < rows->n; i++) kin[i] = problem->kin[sn_rows_at(rows, i)];
    return sn_kin_first(kin, rows->n, *first, &count);
}

static stonet_status make_fold(const sn_rows *rows, const int32_t *part, const int64_t *first, int32_t k,
                               int64_t most, sn_fold *fold)
{
    int64_t n[2] = {0, 0}; /* training and held-out rows */
    for (int kind = 0; kind < 2; kind++) SN_TRY(SN_NEW(fold->lists[kind], rows->n));
    for (int64_t i = 0; i < rows->n; i++) {
        const int kind = part[i] == k && n[1] < most ? 1 : 0;
        if (kind == 1 && first != NULL && first[i] != i) continue;
        fold->lists[kind][n[kind]++] = sn_rows_at(rows, i);
    }
    fold->train = sn_rows_list(fold->lists[0], n[0]);
    fold->test = sn_rows_list(fold->lists[1], n[1]);
    return STONET_OK;
}

/* Chains the held-out rows that belong together: they are all in one fold. */
static stonet_status find_kin(const sn_problem *problem, sn_folds *folds)
{
    if (problem->kin == NULL) return STONET_OK;
    int64_t units, at = 0;
    SN_ARRAY(folds->rows, int64_t, kin);
    SN_ARRAY(folds->rows, int64_t, first);
    SN_ARRAY(folds->rows, int64_t, last);
    for (int k = 0; k < folds->count; k++)
        for (int64_t i = 0; i < folds->fold[k].test.n; i++)
            kin[at++] = problem->kin[sn_rows_at(&folds->fold[k].test, i)];
    SN_TRY(sn_kin_first(kin, folds->rows, first, &units));
    if (units == folds->rows) return STONET_OK;
    SN_TRY(SN_NEW(folds->kin, folds->rows));
    SN_TRY(SN_NEW(folds->is_first, folds->rows));
    for (int64_t i = 0; i < folds->rows; i++) {
        folds->is_first[i] = first[i] == i;
        if (first[i] != i) folds->kin[last[first[i]]] = i;
        folds->kin[i] = -1;
        last[first[i]] = i;
    }
    return STONET_OK;
}

/* Of the held-out rows; 1 when they count nothing, so that it can be divided by. */
static double average_weight(const sn_folds *folds, const sn_problem *problem)
{
    double sum = 0.0;
    for (int k = 0; k < folds->count; k++)
        for (int64_t i = 0; i < folds->fold[k].test.n; i++)
            sum += sn_problem_weight(problem, sn_rows_at(&folds->fold[k].test, i));
    return sum > 0.0 ? sum / (double)folds->rows : 1.0;
}

/* Takes rows out of the folds (part -1) that have a class for themselves, or share it with their kin alone.
 */
static stonet_status keep_single_rows(const sn_problem *problem, const sn_rows *rows, int32_t *part)
{
    enum { NONE = -1, SEVERAL = -2 };
    const int64_t n = rows->n;
    int64_t count;
    SN_ARRAY(n, int64_t, kin);
    SN_ARRAY(n, int64_t, first);
    SN_ARRAY(problem->outputs, int64_t, only);
    SN_ZEROS(n, bool, keeps);
    for (int64_t i = 0; i < n; i++) kin[i] = problem->kin != NULL ? problem->kin[sn_rows_at(rows, i)] : i;
    SN_TRY(sn_kin_first(kin, n, first, &count));
    for (int64_t c = 0; c < problem->outputs; c++) only[c] = NONE;
    for (int64_t i = 0; i < n; i++) {
        int64_t *seen = &only[sn_problem_label(problem, sn_rows_at(rows, i))];
        *seen = *seen == NONE || *seen == first[i] ? first[i] : SEVERAL;
    }
    for (int64_t c = 0; c < problem->outputs; c++)
        if (only[c] >= 0) keeps[only[c]] = true;
    for (int64_t i = 0; i < n; i++)
        if (keeps[first[i]]) part[i] = -1;
    return STONET_OK;
}

static stonet_status part_rows(const sn_problem *problem, const sn_rows *rows, const sn_fold_plan *plan,
                               uint64_t seed, int *parts, int32_t *part)
{
    sn_problem seen = *problem;
    if (!plan->by_class) seen.task = SN_REGRESSION;
    *parts = !plan->exactly && rows->n < plan->count ? (int)rows->n : plan->count;
    SN_TRY(sn_split_rows(&seen, rows, plan->most > 0 ? plan->most : rows->n, seed, parts, part));
    if (plan->exactly && *parts < plan->count)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "%d folds of %d groups of rows: the folds must be at most the groups", plan->count,
                       *parts);
    return seen.task == SN_CLASSIFICATION ? keep_single_rows(problem, rows, part) : STONET_OK;
}

stonet_status sn_folds_cut(const sn_problem *problem, const sn_rows *rows, const sn_fold_plan *plan,
                           uint64_t seed, sn_folds *folds)
{
    *folds = (sn_folds){0};
    SN_WORKSPACE(scratch);
    int parts;
    SN_ARRAY(rows->n, int32_t, part);
    int64_t *first = NULL;
    SN_TRY(part_rows(problem, rows, plan, seed, &parts, part));
    SN_TRY(find_copies(problem, rows, &scratch, &first));
    SN_TRY(SN_NEW(folds->fold, parts));
    while (folds->count < parts && (plan->enough == 0 || folds->rows < plan->enough)) {
        sn_fold *fold = &folds->fold[folds->count];
        SN_TRY(make_fold(rows, part, first, folds->count++, plan->most > 0 ? plan->most : rows->n, fold));
        fold->first = folds->rows;
        folds->rows += fold->test.n;
    }
    folds->average = average_weight(folds, problem);
    return find_kin(problem, folds);
}

void sn_folds_free(sn_folds *folds)
{
    for (int k = 0; k < folds->count; k++)
        for (int kind = 0; kind < 2; kind++) sn_free(folds->fold[k].lists[kind]);
    sn_free(folds->fold);
    sn_free(folds->kin);
    sn_free(folds->is_first);
    *folds = (sn_folds){0};
}

int64_t sn_folds_rows(const sn_folds *folds, int count)
{
    return count < folds->count ? folds->fold[count].first : folds->rows;
}

double sn_folds_weight(const sn_folds *folds, const sn_problem *problem, int64_t row)
{
    return sn_problem_weight(problem, row) / folds->average;
}
