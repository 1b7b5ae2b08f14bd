#define _GNU_SOURCE /* qsort_r */
#include "methods/slicing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static stonet_status by_class(const sn_problem *problem, sn_slices *out)
{
    int64_t n = problem->n, classes = problem->outputs;
    SN_ZEROS(classes + 1, int64_t, at);
    for (int64_t i = 0; i < n; i++) at[problem->label[i] + 1] += sn_problem_weight(problem, i) > 0.0;
    out->start[0] = 0;
    for (int64_t c = 0; c < classes; c++) {
        if (at[c + 1] > 0) out->start[++out->count] = at[c] + at[c + 1];
        at[c + 1] += at[c];
    }
    for (int64_t i = 0; i < n; i++)
        if (sn_problem_weight(problem, i) > 0.0) out->row[at[problem->label[i]]++] = i;
    return STONET_OK;
}

/* One column of y, and how to find it. */
typedef struct target {
    const double *y;
    int64_t stride;
    const sn_problem *problem;
    bool whole; /* all weights are whole numbers: rows that count several times */
} target;

static double count_of(const int64_t *row, int64_t count, const target *of)
{
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++) sum += sn_problem_weight(of->problem, row[i]);
    return sum;
}

static int by_value(const void *left, const void *right, void *context)
{
    const target *of = context;
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    double ya = of->y[a * of->stride], yb = of->y[b * of->stride];
    if (ya != yb) return ya < yb ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int64_t tie_end(const int64_t *row, int64_t count, const target *of, int64_t at)
{
    while (at < count && of->y[row[at] * of->stride] == of->y[row[at - 1] * of->stride]) at++;
    return at;
}

/* Cuts row[0..count) into at most `pieces`; writes where they end, counted from `offset`, and returns how
 * many. */
static int64_t cut(int64_t *row, int64_t count, const target *of, int64_t pieces, int64_t offset,
                   int64_t *end)
{
    qsort_r(row, (size_t)count, sizeof *row, by_value, (void *)of);
    int64_t made = 0, last = 0, distinct = 0;
    for (int64_t at = 0; at < count; at = tie_end(row, count, of, at + 1)) distinct++;
    if (distinct <= pieces) {
        while (last < count) end[made++] = offset + (last = tie_end(row, count, of, last + 1));
        return made;
    }
    const double total = count_of(row, count, of), rows = of->whole ? total : (double)count;
    if ((double)pieces > rows / 2.0)
        pieces = (int64_t)(rows / 2.0); /* one row says nothing about its spread */
    if (pieces < 1) pieces = 1;
    double before = 0.0; /* what row[0..last) counts */
    for (int64_t k = 1; k <= pieces; k++) {
        double goal = (double)k * total / (double)pieces;
        if (of->whole) goal = floor(goal + 1e-9);
        if (k == pieces) goal = total;
        if (goal <= before || last == count) continue;
        int64_t at = last;
        while (at < count && (before < goal || at == last))
            before += sn_problem_weight(of->problem, row[at++]);
        last = tie_end(row, count, of, at);
        before += count_of(row + at, last - at, of);
        end[made++] = offset + last;
    }
    return made;
}

/* Cuts by the first target, each slice by the second, and so on: pieces^m >= wanted slices. Rows of weight
   0 are in none. */
static stonet_status by_targets(const sn_problem *problem, int64_t wanted, sn_slices *out)
{
    int64_t n = problem->n, m = problem->outputs;
    int64_t pieces = (int64_t)ceil(pow((double)wanted, 1.0 / (double)m) - 1e-9);
    SN_ZEROS(n + 1, int64_t, coarse);
    int64_t kept = 0;
    bool whole = true;
    for (int64_t i = 0; i < n; i++) {
        const double weight = sn_problem_weight(problem, i);
        whole = whole && weight == floor(weight);
        if (weight > 0.0) out->row[kept++] = i;
    }
    out->count = 1;
    out->start[1] = kept;
    for (int64_t k = 0; k < m; k++) {
        target of = {problem->y + k, m, problem, whole};
        int64_t before = out->count;
        memcpy(coarse, out->start, (size_t)(before + 1) * sizeof *coarse);
        out->count = 0;
        for (int64_t h = 0; h < before; h++)
            out->count += cut(out->row + coarse[h], coarse[h + 1] - coarse[h], &of, pieces, coarse[h],
                              out->start + 1 + out->count);
    }
    return STONET_OK;
}

/* The end that was seen, or not, and when. */
static stonet_status by_time(const sn_problem *problem, int64_t wanted, sn_slices *out)
{
    SN_ARRAY(2 * problem->n, double, y);
    for (int64_t i = 0; i < problem->n; i++) {
        const double *seen = problem->seen + i * SN_LAW_SEEN;
        y[2 * i] = seen[0] == seen[1] ? 1.0 : 0.0;
        y[2 * i + 1] = seen[0];
    }
    sn_problem two = *problem;
    two.outputs = 2;
    two.y = y;
    return by_targets(&two, wanted, out);
}

stonet_status sn_slices_make(const sn_problem *problem, int64_t wanted, sn_workspace *keep, sn_slices *out)
{
    *out = (sn_slices){0};
    int64_t most = problem->n > problem->outputs ? problem->n : problem->outputs;
    SN_TRY(SN_TAKE_ZERO(keep, out->row, problem->n));
    SN_TRY(SN_TAKE_ZERO(keep, out->start, most + 1));
    if (problem->task == SN_CLASSIFICATION) return by_class(problem, out);
    const bool times = problem->law != NULL && sn_law_kind_of(problem->law) == SN_LAW_TIMES;
    return times ? by_time(problem, wanted, out) : by_targets(problem, wanted, out);
}

stonet_status sn_slices_to_compare(const sn_problem *problem, const char *method, int64_t wanted,
                                   sn_workspace *keep, sn_slices *out)
{
    SN_TRY(sn_slices_make(problem, wanted, keep, out));
    if (out->count >= 2) return STONET_OK;
    return sn_fail(STONET_ERROR_DATA,
                   "%s: the response makes a single slice of the %lld rows, so there is nothing to compare; "
                   "it needs at least two different values and four rows",
                   method, (long long)problem->n);
}
