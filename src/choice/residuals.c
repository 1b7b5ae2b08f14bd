#include "choice/residuals.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/smallest.h"
#include "stats/distributions.h"

enum { LEAST_ROWS = 50, MOST_ROWS = 2000, MOST_COLUMNS = 2000 };

/* Ranks, less their mean; ties share the middle of theirs. `order` has room for n. */
static void centred_ranks(int64_t n, sn_keyed *order, double *rank)
{
    qsort(order, (size_t)n, sizeof *order, sn_by_value);
    for (int64_t first = 0, last; first < n; first = last + 1) {
        last = first;
        while (last + 1 < n && order[last + 1].value == order[first].value) last++;
        for (int64_t k = first; k <= last; k++)
            rank[order[k].row] = (double)(first + last) / 2.0 - (double)(n - 1) / 2.0;
    }
}

/* Two-sided p-value of the correlation of two columns of centred ranks; 1 when one is constant. */
static double rank_test(int64_t n, const double *a, const double *b)
{
    double ab = 0.0, aa = 0.0, bb = 0.0;
    for (int64_t i = 0; i < n; i++) {
        ab += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    if (!(aa > 0.0 && bb > 0.0)) return 1.0;
    const double r = ab / sqrt(aa * bb);
    return sn_t_two_sided((double)(n - 2), r * sqrt((double)(n - 2) / fmax(1.0 - r * r, 1e-12)));
}

/* The smallest p-value over the columns of x (n x p) and their distances from the mean. */
static double smallest(int64_t n, int64_t p, const float *x, const double *size, sn_keyed *order,
                       double *rank)
{
    double least = 1.0;
    for (int64_t j = 0; j < p; j++) {
        double mean = 0.0;
        for (int64_t i = 0; i < n; i++) mean += (double)x[i * p + j] / (double)n;
        for (int kind = 0; kind < 2; kind++) {
            for (int64_t i = 0; i < n; i++) {
                const double value = (double)x[i * p + j];
                order[i] = (sn_keyed){kind == 0 ? value : fabs(value - mean), i};
            }
            centred_ranks(n, order, rank);
            least = fmin(least, rank_test(n, size, rank));
        }
    }
    return least;
}

/* What is expected in missing cells lies near the means of columns, and such rows have larger residuals. */
static bool has_gaps(const sn_problem *problem, int64_t row)
{
    const sn_row_source *source = problem->source;
    return source != NULL && source->gaps != NULL && source->gaps(source, row) != SN_GAPS_NONE;
}

stonet_status sn_residuals_look(const sn_problem *problem, const sn_folds *folds, const double *loss,
                                double *p_value)
{
    const int64_t most = folds->rows < MOST_ROWS ? folds->rows : MOST_ROWS, p = problem->p;
    int64_t n = 0;
    *p_value = (double)NAN;
    if (problem->task == SN_CLASSIFICATION || problem->law != NULL || problem->weight != NULL ||
        p > MOST_COLUMNS)
        return STONET_OK;
    SN_ARRAY(most, int64_t, list);
    SN_ARRAY(most, double, size);
    SN_ARRAY(most, double, rank);
    SN_ARRAY(most, sn_keyed, order);
    for (int k = 0; k < folds->count; k++)
        for (int64_t i = 0; i < folds->fold[k].test.n && n < most; i++) {
            const int64_t row = sn_rows_at(&folds->fold[k].test, i);
            if (has_gaps(problem, row)) continue;
            order[n] = (sn_keyed){loss[folds->fold[k].first + i], n};
            list[n++] = row;
        }
    if (n < LEAST_ROWS) return STONET_OK;
    SN_ARRAY(n * p, float, x);
    const sn_rows rows = sn_rows_list(list, n);
    SN_TRY(sn_batch_features(problem, &rows, x));
    centred_ranks(n, order, size);
    *p_value = fmin(1.0, 2.0 * (double)p * smallest(n, p, x, size, order, rank));
    return STONET_OK;
}
