#include "data/partitions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "data/kin.h"
#include "math/kernel.h"
#include "math/noise.h"
#include "math/smallest.h"

/* Rows in random order, grouped by class when there are labels: dealing them out in turn then gives every
   fold its share of every class, and sizes that differ by at most one. */
static stonet_status group_by_class(int64_t n, const int32_t *label, int64_t n_classes, const int64_t *order,
                                    int64_t *grouped)
{
    SN_ZEROS(n_classes + 1, int64_t, start);
    for (int64_t i = 0; i < n; i++) start[label[i] + 1]++;
    for (int64_t c = 0; c < n_classes; c++) start[c + 1] += start[c];
    for (int64_t i = 0; i < n; i++) grouped[start[label[order[i]]]++] = order[i];
    return STONET_OK;
}

/* Rows by kin: those that the first row of a kin begins are member[start[first]] and the next size[first]. */
typedef struct families {
    int64_t count;
    int64_t *first, *size, *start, *member;
} families;

static stonet_status find_families(int64_t n, const int64_t *kin, sn_workspace *keep, families *out)
{
    SN_TRY(SN_TAKE(keep, out->first, n));
    SN_TRY(SN_TAKE_ZERO(keep, out->size, n));
    SN_TRY(SN_TAKE_ZERO(keep, out->start, n + 1));
    SN_TRY(SN_TAKE(keep, out->member, n));
    SN_TRY(sn_kin_first(kin, n, out->first, &out->count));
    for (int64_t i = 0; i < n; i++) out->size[out->first[i]]++;
    for (int64_t i = 0; i < n; i++) out->start[i + 1] = out->start[i] + out->size[i];
    for (int64_t i = n - 1; i >= 0; i--)
        out->member[out->start[out->first[i]] + --out->size[out->first[i]]] = i;
    for (int64_t i = 0; i < n; i++) out->size[i] = out->start[i + 1] - out->start[i];
    return STONET_OK;
}

/* The first rows of all kin, the largest kin in front, those of one size in the order given. */
static stonet_status largest_first(int64_t n, const families *all, const int64_t *order, int64_t *head)
{
    SN_ZEROS(n + 2, int64_t, start);
    for (int64_t i = 0; i < n; i++)
        if (all->size[i] > 0) start[n - all->size[i] + 1]++;
    for (int64_t s = 0; s < n; s++) start[s + 1] += start[s];
    for (int64_t i = 0; i < n; i++)
        if (all->size[order[i]] > 0) head[start[n - all->size[order[i]]]++] = order[i];
    return STONET_OK;
}

/* What is in the folds so far. */
typedef struct loads {
    int64_t n, folds, classes;
    const int32_t *label; /* NULL: no classes */
    double *rows;         /* folds */
    double *of_class;     /* folds x classes */
    double *total;        /* classes */
} loads;

/* How full a fold is for these rows: the share of all rows that it has, and of each class of theirs. */
static double fullness(const loads *all, int64_t fold, const int64_t *row, int64_t count)
{
    double sum = (double)count * all->rows[fold] / (double)all->n;
    for (int64_t i = 0; all->label != NULL && i < count; i++) {
        const int32_t c = all->label[row[i]];
        sum += all->of_class[fold * all->classes + c] / all->total[c];
    }
    return sum;
}

/* Each kin, the largest first, goes to the fold that is least full for it. An empty fold is that always. */
static void deal_families(const loads *all, const families *by, const int64_t *head, int32_t *fold)
{
    for (int64_t h = 0; h < by->count; h++) {
        const int64_t *row = by->member + by->start[head[h]], count = by->size[head[h]];
        int32_t best = 0;
        double least = (double)INFINITY;
        for (int32_t f = 0; f < all->folds; f++) {
            const double full = fullness(all, f, row, count);
            if (!(full < least)) continue;
            least = full;
            best = f;
        }
        for (int64_t i = 0; i < count; i++) {
            fold[row[i]] = best;
            if (all->label != NULL) all->of_class[best * all->classes + all->label[row[i]]] += 1.0;
        }
        all->rows[best] += (double)count;
    }
}

/* Whoever holds out one fold alone takes number 0: it should be of ordinary size. */
static void put_ordinary_first(const loads *all, int32_t *fold)
{
    const double fair = (double)all->n / (double)all->folds;
    int32_t best = 0;
    for (int32_t f = 1; f < all->folds; f++)
        if (fabs(all->rows[f] - fair) < fabs(all->rows[best] - fair)) best = f;
    for (int64_t i = 0; best > 0 && i < all->n; i++)
        fold[i] = fold[i] == best ? 0 : fold[i] == 0 ? best : fold[i];
}

/* Families of rows that stay together go to folds one by one, the largest first, each to the fold that is
   emptiest by class. */
static stonet_status split_families(const families *by, const int32_t *label, int64_t n_classes, int folds,
                                    const int64_t *order, int64_t n, int32_t *fold)
{
    SN_WORKSPACE(scratch);
    loads all = {.n = n, .folds = folds, .classes = label != NULL ? n_classes : 0, .label = label};
    if (by->count < folds)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "%d folds of %lld groups of rows: the folds must be at most the groups", folds,
                       (long long)by->count);
    SN_ARRAY(n, int64_t, head);
    SN_TRY(SN_TAKE_ZERO(&scratch, all.rows, folds));
    SN_TRY(SN_TAKE_ZERO(&scratch, all.of_class, folds * all.classes));
    SN_TRY(SN_TAKE_ZERO(&scratch, all.total, all.classes));
    for (int64_t i = 0; label != NULL && i < n; i++) all.total[label[i]] += 1.0;
    SN_TRY(largest_first(n, by, order, head));
    deal_families(&all, by, head, fold);
    put_ordinary_first(&all, fold);
    return STONET_OK;
}

stonet_status sn_split_folds(int64_t n, const int32_t *label, int64_t n_classes, const int64_t *kin,
                             int folds, uint64_t seed, int32_t *fold)
{
    if (folds < 2 || folds > n)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "%d folds of %lld rows: the folds must be at least 2 and at most the rows", folds,
                       (long long)n);
    SN_WORKSPACE(scratch);
    int64_t *grouped = NULL;
    families by = {.count = n};
    SN_ARRAY(n, int64_t, order);
    sn_random random = sn_random_from(seed, SN_STREAM_SPLIT, 0);
    sn_random_permutation(&random, n, order);
    if (kin != NULL) SN_TRY(find_families(n, kin, &scratch, &by));
    if (by.count < n) return split_families(&by, label, n_classes, folds, order, n, fold);
    if (label != NULL) {
        SN_TRY(SN_TAKE(&scratch, grouped, n));
        SN_TRY(group_by_class(n, label, n_classes, order, grouped));
    }
    const int64_t *dealt = label != NULL ? grouped : order;
    for (int64_t i = 0; i < n; i++) fold[dealt[i]] = (int32_t)(i % folds);
    return STONET_OK;
}

/* Kin that would make fold 0 larger than that go to fold 1; where no kin is small enough, all stay. */
static void shrink_first(int64_t n, int64_t most, const families *by, int32_t *fold)
{
    int64_t have = 0;
    bool any = false;
    for (int64_t i = 0; i < n; i++) any = any || (fold[i] == 0 && by->first[i] == i && by->size[i] <= most);
    for (int64_t i = 0; any && i < n; i++) {
        if (by->first[i] != i || fold[i] != 0) continue;
        const bool stays = have + by->size[i] <= most;
        if (stays) have += by->size[i];
        for (int64_t k = 0; !stays && k < by->size[i]; k++) fold[by->member[by->start[i] + k]] = 1;
    }
}

/* A count over a large exposure says more than many small ones together, and a fold that had all of these
   would be judged by what was learned of next to nothing. So rows are put in order of their exposure, and as
   many as there are folds make a class; those of one exposure are in one. */
static stonet_status group_by_exposure(const sn_problem *problem, const sn_rows *rows, int folds,
                                       int32_t *label)
{
    const int64_t n = rows->n;
    SN_ARRAY(n, sn_keyed, sorted);
    for (int64_t i = 0; i < n; i++)
        sorted[i] = (sn_keyed){problem->seen[sn_rows_at(rows, i) * SN_LAW_SEEN + 1], i};
    qsort(sorted, (size_t)n, sizeof *sorted, sn_by_value);
    for (int64_t i = 0, first = 0; i < n; i++) {
        if (sorted[i].value > sorted[first].value) first = i;
        label[sorted[i].row] = (int32_t)(first / folds);
    }
    return STONET_OK;
}

stonet_status sn_split_rows(const sn_problem *problem, const sn_rows *rows, int64_t most, uint64_t seed,
                            int *folds, int32_t *fold)
{
    const int64_t n = rows->n;
    const bool counts = problem->law != NULL && sn_law_kind_of(problem->law) == SN_LAW_COUNTS;
    SN_WORKSPACE(scratch);
    int32_t *label = NULL;
    int64_t *kin = NULL;
    families by = {.count = n};
    if (problem->task == SN_CLASSIFICATION) {
        SN_TRY(SN_TAKE(&scratch, label, n));
        for (int64_t i = 0; i < n; i++) label[i] = sn_problem_label(problem, sn_rows_at(rows, i));
    }
    if (problem->kin != NULL) {
        SN_TRY(SN_TAKE(&scratch, kin, n));
        for (int64_t i = 0; i < n; i++) kin[i] = problem->kin[sn_rows_at(rows, i)];
        SN_TRY(find_families(n, kin, &scratch, &by));
        if (by.count == 1) kin = NULL; /* no kin can be held out of one */
        if (kin != NULL && by.count < *folds) *folds = (int)by.count;
    }
    if (counts && *folds > 1) {
        SN_TRY(SN_TAKE(&scratch, label, n));
        SN_TRY(group_by_exposure(problem, rows, *folds, label));
    }
    SN_TRY(sn_split_folds(n, label, counts ? n : problem->outputs, kin, *folds, seed, fold));
    if (kin != NULL) shrink_first(n, most, &by, fold);
    return STONET_OK;
}

stonet_status sn_split_half(int64_t n, const int64_t *kin, sn_random *random, int64_t *order, int64_t *half)
{
    sn_random_permutation(random, n, order);
    *half = n / 2;
    if (kin == NULL) return STONET_OK;
    SN_WORKSPACE(scratch);
    int64_t at = 0, best = 0;
    families by;
    SN_ARRAY(n, int64_t, drawn);
    SN_TRY(find_families(n, kin, &scratch, &by));
    if (by.count < 2) return STONET_OK;
    memcpy(drawn, order, (size_t)n * sizeof *drawn);
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = by.first[drawn[i]];
        for (int64_t k = 0; k < by.size[first]; k++) order[at++] = by.member[by.start[first] + k];
        by.size[first] = 0;
        if (at < n && llabs(2 * at - n) < llabs(2 * best - n)) best = at;
    }
    *half = best;
    return STONET_OK;
}

stonet_status sn_problem_subset(const sn_problem *problem, const int64_t *rows, int64_t count,
                                sn_problem *out)
{
    const sn_rows some = sn_rows_list(rows, count);
    SN_BLOCK float *x = NULL;
    SN_BLOCK float *weight = NULL;
    SN_BLOCK int32_t *label = NULL;
    SN_BLOCK double *y = NULL;
    SN_BLOCK double *seen = NULL;
    SN_BLOCK int64_t *kin = NULL;
    SN_TRY(sn_batch_prepare(problem, &some));
    SN_TRY(SN_NEW_RAW(x, count * problem->p));
    if (problem->task == SN_CLASSIFICATION) SN_TRY(SN_NEW_RAW(label, count));
    if (problem->task == SN_REGRESSION) SN_TRY(SN_NEW_RAW(y, count * problem->outputs));
    if (problem->weight != NULL) SN_TRY(SN_NEW_RAW(weight, count));
    if (problem->kin != NULL) SN_TRY(SN_NEW_RAW(kin, count));
    if (problem->seen != NULL) SN_TRY(SN_NEW_RAW(seen, count * SN_LAW_SEEN));
    for (int64_t i = 0; kin != NULL && i < count; i++) kin[i] = problem->kin[rows[i]];
    for (int64_t i = 0; seen != NULL && i < count; i++)
        memcpy(seen + i * SN_LAW_SEEN, problem->seen + rows[i] * SN_LAW_SEEN, SN_LAW_SEEN * sizeof *seen);
    sn_batch_look(problem, &some,
                  &(sn_batch){.x = x, .x_stride = problem->p, .label = label, .y = y, .weight = weight});
    *out = *problem;
    out->n = count;
    out->source = NULL;
    out->raw = NULL;
    (void)SN_GIVE(x, &out->x);
    (void)SN_GIVE(label, &out->label);
    (void)SN_GIVE(y, &out->y);
    (void)SN_GIVE(weight, &out->weight);
    (void)SN_GIVE(seen, &out->seen);
    return SN_GIVE(kin, &out->kin);
}

stonet_status sn_problem_sample(const sn_problem *problem, int64_t count, uint64_t seed, sn_problem *out)
{
    *out = (sn_problem){0};
    count = count < problem->n ? count : problem->n;
    SN_ARRAY(count, int64_t, row);
    SN_TRY(sn_choose_rows(problem->n, count, seed, 2, row));
    return sn_problem_subset(problem, row, count, out);
}

void sn_problem_subset_free(sn_problem *subset)
{
    if (subset == NULL) return;
    SN_FREE_ALL((void *)(uintptr_t)subset->x, (void *)(uintptr_t)subset->label, (void *)(uintptr_t)subset->y,
                (void *)(uintptr_t)subset->weight, (void *)(uintptr_t)subset->seen,
                (void *)(uintptr_t)subset->kin);
    *subset = (sn_problem){0};
}
