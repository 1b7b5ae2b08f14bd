/*
 * Simple contour regression (Li, Zha and Chiaromonte 2005): along directions that matter, rows with nearly
 * the same response lie near each other. With z the whitened x and the mean over the pairs of rows with the
 * smallest |y_i - y_j| (a given share of all pairs; for classes, the pairs within a class), the candidate
 * matrix is
 *
 *     M = I - A / 2,   A = mean (z_i - z_j)(z_i - z_j)'
 *
 * whose leading eigenvectors are those of the smallest eigenvalues of A. For rows in the order of y the rows
 * close enough to row i are those from[i] .. to[i] - 1, c_i of them with sum s_i, and the sum over pairs is
 * sum_i z_i (c_i z_i - s_i)': all pairs cost no more than all rows.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/linalg.h"
#include "math/smallest.h"
#include "methods/spectral.h"

static const sn_param params[] = {
    {"share", SN_REAL, "0.1", 1e-6, 1, NULL, "share of all pairs of rows, those with the closest targets"},
    {"distance", SN_CHOICE, "values", 0, 0, "values|ranks",
     "how far targets are apart; ranks for long-tailed ones, though they are blind to symmetric links"},
    SN_PARAM_RIDGE,
};

/* The pairs that lie within `width` of each other, and, where `from` is not NULL, the windows of the rows. */
static double pairs_within(int64_t n, const sn_keyed *order, double width, int64_t *from, int64_t *to)
{
    double pairs = 0.0;
    int64_t first = 0, last = 0;
    for (int64_t i = 0; i < n; i++) {
        while (order[i].value - order[first].value > width) first++;
        while (last < n && order[last].value - order[i].value <= width) last++;
        pairs += (double)(last - i - 1);
        if (from == NULL) continue;
        from[i] = first;
        to[i] = last;
    }
    return pairs;
}

/* The smallest width, to a millionth of the range, that takes in the wanted share of the pairs. */
static double find_width(int64_t n, const sn_keyed *order, double share)
{
    const double wanted = share * 0.5 * (double)n * (double)(n - 1);
    double low = 0.0, high = order[n - 1].value - order[0].value;
    if (pairs_within(n, order, 0.0, NULL, NULL) >= wanted) return 0.0;
    for (int step = 0; step < 40 && high - low > 1e-6 * high; step++) {
        const double middle = 0.5 * (low + high);
        if (pairs_within(n, order, middle, NULL, NULL) >= wanted)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* m (rank x rank) = sum_i z_i (c_i z_i - s_i)' over the windows; z is n x rank in the order of y. */
static stonet_status sum_over_pairs(int64_t n, int64_t rank, const double *z, const int64_t *from,
                                    const int64_t *to, double *m)
{
    SN_ARRAY(n * rank, double, left);
    SN_ZEROS(rank, double, sum);
    int64_t first = 0, last = 0;
    for (int64_t i = 0; i < n; i++) {
        for (; last < to[i]; last++)
            for (int64_t k = 0; k < rank; k++) sum[k] += z[last * rank + k];
        for (; first < from[i]; first++)
            for (int64_t k = 0; k < rank; k++) sum[k] -= z[first * rank + k];
        const double count = (double)(to[i] - from[i]);
        for (int64_t k = 0; k < rank; k++) left[i * rank + k] = count * z[i * rank + k] - sum[k];
    }
    sn_multiply(sn_turned(z, n, rank), sn_as(left, n, rank), m);
    return STONET_OK;
}

/* Rows in order of the response; the pairs whose responses differ by at most `width` give the candidate
   matrix. */
static stonet_status find_matrix(const sn_sample *sample, const sn_settings *settings, sn_workspace *keep,
                                 sn_matrix *out)
{
    const sn_problem *problem = sample->problem;
    const int64_t n = problem->n, rank = sample->whitening.rank;
    const bool classes = problem->task == SN_CLASSIFICATION;
    SN_ARRAY(n, sn_keyed, order);
    SN_ARRAY(n, int64_t, row);
    SN_ARRAY(n, int64_t, from);
    SN_ARRAY(n, int64_t, to);
    SN_ARRAY(n * rank, double, z);
    SN_TRY(SN_TAKE(keep, out->m, rank * rank));
    for (int64_t i = 0; i < n; i++)
        order[i] = (sn_keyed){.value = classes ? (double)problem->label[i] : problem->y[i], .row = i};
    qsort(order, (size_t)n, sizeof *order, sn_by_value);
    if (order[0].value == order[n - 1].value)
        return sn_fail(STONET_ERROR_DATA,
                       "all rows have the same response, so scr has nothing to learn from");
    const bool ranks = !classes && sn_is(settings, "distance", "ranks"); /* those of equals are their mean */
    for (int64_t first = 0, last = 0; ranks && first < n; first = last) {
        while (last < n && order[last].value == order[first].value) last++;
        for (int64_t k = first; k < last; k++) order[k].value = 0.5 * (double)(first + last);
    }
    const double width = classes ? 0.0 : find_width(n, order, sn_real(settings, "share"));
    const double pairs = pairs_within(n, order, width, from, to);
    if (pairs < 1.0)
        return sn_fail(STONET_ERROR_DATA, "no two rows are of the same class, so scr has no pairs");
    for (int64_t i = 0; i < n; i++) row[i] = order[i].row;
    SN_TRY(sn_whiten_rows(&sample->whitening, problem->x, row, n, z));
    SN_TRY(sum_over_pairs(n, rank, z, from, to, out->m));
    for (int64_t a = 0; a < rank; a++) {
        for (int64_t b = 0; b <= a; b++) {
            const double half = 0.25 * (out->m[a * rank + b] + out->m[b * rank + a]) / pairs;
            out->m[a * rank + b] = out->m[b * rank + a] = (a == b ? 1.0 : 0.0) - half;
        }
    }
    out->form = SN_FORM_MATRIX;
    return STONET_OK;
}

static const sn_candidate candidate = {
    .matrix = find_matrix,
};

const sn_method sn_method_scr = {
    .name = "scr",
    .title = "Simple contour regression (Li, Zha and Chiaromonte 2005)",
    .python = "ContourRegression",
    .tasks = SN_TASK_BOTH,
    SN_PARAMS_OF(params),
    .grid = {{"share=0.05,0.1,0.2", SN_TASK_REGRESSION}, {"ridge=0,0.01,0.1,1", SN_TASK_BOTH}},
    .candidate = &candidate,
    SN_LINEAR_MAP_STATE,
};
