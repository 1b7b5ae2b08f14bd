#include "choice/sparse_groups.h"

#include <math.h>

#include "base/memory.h"

enum {
    ROWS = 1000,  /* to measure covariances by, evenly from all */
    BLOCK = 64,   /* of them at a time */
    CROWDED = 256 /* features of a column, above which they count as unrelated and of variance 1 */
};

int64_t sn_problem_columns(const sn_problem *problem)
{
    return problem->group != NULL ? problem->groups : problem->p;
}

int64_t sn_problem_column_at(const sn_problem *problem, int64_t column)
{
    if (column == sn_problem_columns(problem)) return problem->p;
    return problem->group != NULL ? problem->group[column] : column;
}

/* Adds rows (count x p) to sums of features and of their products. */
static void add_rows(const sn_problem *problem, const float *x, int64_t count, const int64_t *at, double *sum,
                     double *product)
{
    const int64_t columns = sn_problem_columns(problem);
    for (int64_t c = 0; c < columns; c++) {
        if (at[c] < 0) continue;
        const int64_t first = sn_problem_column_at(problem, c),
                      m = sn_problem_column_at(problem, c + 1) - first;
        for (int64_t i = 0; i < count; i++) {
            const float *row = x + i * problem->p + first;
            for (int64_t j = 0; j < m; j++) {
                sum[first + j] += (double)row[j];
                for (int64_t k = 0; k < m; k++) product[at[c] + j * m + k] += (double)row[j] * (double)row[k];
            }
        }
    }
}

/* S_jk = sum_i x_ij x_ik / n - mean_j mean_k within each column c with at[c] >= 0, over up to ROWS rows,
   evenly from all. covariance + at[c] has the m x m numbers of column c, 0 at the start. */
static stonet_status measure(const sn_stage_job *job, const int64_t *at, double *covariance)
{
    const sn_problem *problem = job->problem;
    const int64_t rows = job->rows.n < ROWS ? job->rows.n : ROWS, p = problem->p;
    SN_ARRAY(rows, int64_t, list);
    SN_ARRAY(BLOCK * p, float, x);
    SN_ZEROS(p, double, sum);
    const sn_rows evenly = sn_rows_evenly(&job->rows, ROWS, list);
    for (int64_t first = 0; first < rows; first += BLOCK) {
        const int64_t count = rows - first < BLOCK ? rows - first : BLOCK;
        const sn_rows some = sn_rows_part(&evenly, first, count);
        SN_TRY(sn_batch_features(problem, &some, x));
        add_rows(problem, x, count, at, sum, covariance);
    }
    for (int64_t c = 0; c < sn_problem_columns(problem); c++) {
        if (at[c] < 0) continue;
        const int64_t first = sn_problem_column_at(problem, c),
                      m = sn_problem_column_at(problem, c + 1) - first;
        for (int64_t j = 0; j < m; j++)
            for (int64_t k = 0; k < m; k++) {
                double *cell = &covariance[at[c] + j * m + k];
                *cell = (*cell - sum[first + j] * sum[first + k] / (double)rows) / (double)rows;
            }
    }
    return STONET_OK;
}

stonet_status sn_sparse_groups_measure(const sn_stage_job *job, sn_workspace *keep, sn_sparse_groups *out)
{
    const int64_t columns = sn_problem_columns(job->problem);
    int64_t *at = NULL, cells = 0;
    double *covariance = NULL;
    SN_TRY(SN_TAKE(keep, at, columns));
    for (int64_t c = 0; c < columns; c++) {
        const int64_t m = sn_problem_column_at(job->problem, c + 1) - sn_problem_column_at(job->problem, c);
        at[c] = m > 1 && m <= CROWDED ? cells : -1;
        if (at[c] >= 0) cells += m * m;
    }
    SN_TRY(SN_TAKE_ZERO(keep, covariance, cells));
    if (cells > 0) SN_TRY(measure(job, at, covariance));
    *out = (sn_sparse_groups){.problem = job->problem, .covariance = covariance, .at = at};
    return STONET_OK;
}

/* (trace S)^2 / trace S^2. */
static double freedom(const double *covariance, int64_t m)
{
    double trace = 0.0, squares = 0.0;
    for (int64_t j = 0; j < m; j++) trace += covariance[j * m + j];
    for (int64_t k = 0; k < m * m; k++) squares += covariance[k] * covariance[k];
    return squares > 0.0 ? trace * trace / squares : 1.0;
}

/* length = sqrt(sum_a |w_a|^2), effect = sqrt(sum_a w_a' S w_a / freedom). Without S the m features count as
   unrelated and of variance 1: effect = length / sqrt(m). */
sn_sparse_extent sn_sparse_groups_extent(const sn_sparse_groups *groups, int64_t column, const float *weight,
                                         int64_t units)
{
    const sn_problem *problem = groups->problem;
    const int64_t p = problem->p, first = sn_problem_column_at(problem, column),
                  m = sn_problem_column_at(problem, column + 1) - first;
    const double *covariance = groups->at[column] >= 0 ? groups->covariance + groups->at[column] : NULL;
    double square = 0.0, spread = 0.0;
    for (int64_t a = 0; a < units; a++) {
        const float *own = weight + a * p + first;
        for (int64_t j = 0; j < m; j++) {
            square += (double)own[j] * (double)own[j];
            for (int64_t k = 0; covariance != NULL && k < m; k++)
                spread += (double)own[j] * covariance[j * m + k] * (double)own[k];
        }
    }
    const double length = sqrt(square);
    if (covariance == NULL) return (sn_sparse_extent){length, length / sqrt((double)m)};
    return (sn_sparse_extent){length, sqrt(fmax(spread, 0.0) / freedom(covariance, m))};
}
