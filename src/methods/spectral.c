#include "methods/spectral.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "methods/row_sums.h"
#include "stats/ellipticity.h"

/* A slice mean of coordinates with variance 1, or a singular value made of such, below this is rounding. */
static const double NOTHING = 1e-10;

/* Columns of so few distinct numbers are codes and indicators: nobody takes them for elliptical. */
enum { FEWEST_VALUES = 10 };

static bool is_continuous(const sn_problem *problem, const int64_t *row, int64_t n, int64_t column)
{
    float seen[FEWEST_VALUES];
    int count = 0;
    for (int64_t i = 0; i < n; i++) {
        const float value = problem->x[row[i] * problem->p + column];
        int k = 0;
        while (k < count && seen[k] != value) k++;
        if (k < count) continue;
        if (count == FEWEST_VALUES) return true;
        seen[count++] = value;
    }
    return false;
}

/* Says so when x is far from the elliptical law that the method needs. Looks at no more rows than show what
   is far: of very many, every table is significantly something else. */
static stonet_status tell_shape(const char *method, const sn_problem *problem, const stonet_run *run)
{
    enum { MOST_ROWS = 1000, MOST_COLUMNS = 100, SUBSTREAM = 91 };
    const double level = 0.01;
    const int64_t n = problem->n < MOST_ROWS ? problem->n : MOST_ROWS;
    int64_t column[MOST_COLUMNS], p = 0;
    double p_value;
    SN_ARRAY(n, int64_t, row);
    SN_ARRAY(n * MOST_COLUMNS, double, x);
    SN_TRY(sn_choose_rows(problem->n, n, run->seed, SUBSTREAM, row));
    for (int64_t j = 0; j < problem->p && p < MOST_COLUMNS; j++)
        if (is_continuous(problem, row, n, j)) column[p++] = j;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < p; j++) x[i * p + j] = (double)problem->x[row[i] * problem->p + column[j]];
    SN_TRY(sn_ellipticity(n, p, x, &p_value));
    if (p_value < level)
        sn_message(run, STONET_NOTE,
                   "the columns of x are far from elliptical (p = %.2g), which %s needs: its directions and "
                   "their number can be wrong. Compare with mave or stonet, or choose the number by "
                   "'stonet order --rule cv'.",
                   p_value, method);
    return STONET_OK;
}

/* What the rows of slice h count together. */
static double slice_rows(const sn_sample *sample, int64_t h)
{
    double sum = 0.0;
    for (int64_t i = sample->slices.start[h]; i < sample->slices.start[h + 1]; i++)
        sum += sn_problem_weight(sample->problem, sample->slices.row[i]);
    return sum;
}

/* The rows of a slice that are to be summed, and whether their squares are wanted. */
typedef struct slice_job {
    const sn_sample *sample;
    int64_t start; /* of the slice among the rows of all */
    bool second;
} slice_job;

/* Whitens rows of a slice block by block and adds them (sum: rank), or their products (rank x rank). */
static stonet_status add_slice(const void *user, int64_t first, int64_t count, double *sum)
{
    const slice_job *job = user;
    const sn_sample *sample = job->sample;
    const int64_t rank = sample->whitening.rank;
    SN_WORKSPACE(scratch);
    sn_blocks rows = sn_whitened_blocks(&sample->whitening, sample->problem->x);
    rows.row = sample->slices.row;
    SN_TRY(sn_blocks_open(&rows, job->start + first, count, &scratch));
    while (sn_blocks_next(&rows)) {
        for (int64_t i = 0; i < rows.count; i++) {
            const double weight = sn_problem_weight(sample->problem, rows.row[rows.at + i]);
            const double root = sqrt(weight);
            for (int64_t k = 0; k < rank; k++) {
                if (!job->second) sum[k] += weight * rows.z[i * rank + k];
                rows.z[i * rank + k] *= root;
            }
        }
        if (job->second) sn_syrk_tn(rank, rows.count, 1.0, rows.z, 1.0, sum);
    }
    return STONET_OK;
}

/* The sum of the whitened rows of slice h (rank), or of their products (rank x rank). */
static stonet_status slice_sums(const sn_sample *sample, int64_t h, bool second, double *sum)
{
    const int64_t rank = sample->whitening.rank, start = sample->slices.start[h];
    const slice_job job = {.sample = sample, .start = start, .second = second};
    return sn_row_sums(sample->team, sample->slices.start[h + 1] - start, second ? rank * rank : rank,
                       add_slice, &job, sum);
}

stonet_status sn_sample_second(const sn_sample *sample, int64_t h, double *second)
{
    int64_t rank = sample->whitening.rank;
    const double rows = slice_rows(sample, h);
    SN_TRY(slice_sums(sample, h, true, second));
    for (int64_t k = 0; k < rank * rank; k++) second[k] /= rows;
    return STONET_OK;
}

/* The slices of the sample, their shares and their means of z. */
static stonet_status slice(const char *method, int64_t wanted, sn_workspace *keep, sn_sample *sample)
{
    const sn_problem *problem = sample->problem;
    SN_TRY(sn_slices_to_compare(problem, method, wanted, keep, &sample->slices));
    int64_t count = sample->slices.count, rank = sample->whitening.rank;
    SN_TRY(SN_TAKE(keep, sample->weight, count));
    SN_TRY(SN_TAKE_ZERO(keep, sample->mean, count * rank));
    for (int64_t h = 0; h < count; h++) {
        const double rows = slice_rows(sample, h);
        double *mean = sample->mean + h * rank;
        SN_TRY(slice_sums(sample, h, false, mean));
        for (int64_t k = 0; k < rank; k++) mean[k] /= rows;
        sample->weight[h] = rows / sample->rows;
    }
    return STONET_OK;
}

static stonet_status solve(const sn_matrix *matrix, int64_t rank, sn_workspace *keep, sn_eigen *eigen)
{
    const bool rows = matrix->form == SN_FORM_ROOT || matrix->form == SN_FORM_STACK;
    const int64_t columns = rows && matrix->rows < rank ? matrix->rows : rank;
    *eigen = (sn_eigen){.columns = columns};
    SN_TRY(SN_TAKE(keep, eigen->value, columns));
    SN_TRY(SN_TAKE_ZERO(keep, eigen->vector, rank * columns));
    if (rows) { /* by the singular vectors of m: more digits than by way of m'm */
        SN_ARRAY(columns * rank, double, vt);
        SN_TRY(sn_svd(matrix->rows, rank, matrix->m, NULL, eigen->value, vt));
        sn_transpose(columns, rank, vt, eigen->vector);
    } else if (matrix->form == SN_FORM_MATRIX) {
        SN_TRY(sn_eigh(rank, matrix->m, eigen->value, eigen->vector));
    } else {
        memcpy(eigen->value, matrix->m, (size_t)rank * sizeof *eigen->value);
        sn_add_diagonal(rank, 1.0, eigen->vector);
    }
    eigen->count = matrix->most > 0 && matrix->most < columns ? matrix->most : columns;
    eigen->available = eigen->count;
    if (matrix->form != SN_FORM_ROOT) return STONET_OK;
    while (eigen->available > 0 && eigen->value[eigen->available - 1] <= NOTHING) eigen->available--;
    for (int64_t k = 0; k < columns; k++) eigen->value[k] *= eigen->value[k];
    return STONET_OK;
}

stonet_status sn_candidate_solve(const sn_method *method, const sn_problem *problem,
                                 const sn_settings *settings, const stonet_run *run, sn_workspace *keep,
                                 sn_solved *out)
{
    const sn_candidate *candidate = method->candidate;
    const bool whitened = !candidate->as_it_is;
    const double ridge = whitened ? sn_real(settings, "ridge") : 0.0;
    stonet_team *team = run != NULL ? run->team : NULL;
    *out = (sn_solved){.sample = {.problem = problem, .team = team, .rows = sn_problem_total(problem)},
                       .matrix = {.scale = 1.0}};
    sn_whitening *whitening = &out->sample.whitening;
    const stonet_status status = whitened ? sn_whitening_fit(problem, ridge, 0, team, keep, whitening)
                                          : sn_components_fit(problem, team, keep, whitening);
    if (status != STONET_OK) return sn_fail_prefix(status, "%s", method->name);
    if (whitened && whitening->rank >= problem->n - 1 && ridge == 0.0)
        sn_message(
            run, STONET_WARNING,
            "%s: %lld columns fit any response of %lld rows exactly, so the directions will not hold for new "
            "rows. Set ridge (try 1), or use lasso-sir or fewer columns.",
            method->name, (long long)problem->p, (long long)problem->n);
    if (whitened && run != NULL && run->on_message != NULL) SN_TRY(tell_shape(method->name, problem, run));
    if (candidate->sliced) SN_TRY(slice(method->name, sn_int(settings, "slices"), keep, &out->sample));
    SN_TRY(candidate->matrix(&out->sample, settings, keep, &out->matrix));
    SN_TRY(solve(&out->matrix, whitening->rank, keep, &out->eigen));
    if (out->eigen.available > 0) return STONET_OK;
    return sn_fail(STONET_ERROR_DATA, "%s: the slices of the response have the same mean of x", method->name);
}

stonet_status sn_solved_vectors(const sn_solved *solved, int64_t count, double *vector)
{
    const sn_whitening *whitening = &solved->sample.whitening;
    SN_ARRAY(whitening->rank * count, double, leading);
    sn_first_columns(whitening->rank, solved->eigen.columns, solved->eigen.vector, count, leading);
    sn_multiply(sn_as(whitening->turn, whitening->p, whitening->rank), sn_as(leading, whitening->rank, count),
                vector);
    return STONET_OK;
}

/* With a candidate matrix: the linear map along the leading eigenvectors. */
stonet_status sn_method_fit(const sn_method *method, const sn_problem *problem, int64_t dim,
                            const sn_settings *settings, const stonet_run *run, sn_fit_result *result)
{
    const stonet_run defaults = STONET_RUN_INIT;
    const sn_candidate *candidate = method->candidate;
    if (run == NULL) run = &defaults;
    if (candidate == NULL) return method->fit(problem, dim, settings, run, result);
    SN_WORKSPACE(scratch);
    sn_solved solved;
    sn_tests tests = {0};
    SN_TRY(sn_candidate_solve(method, problem, settings, run, &scratch, &solved));
    const sn_eigen *eigen = &solved.eigen;
    const char *limit = candidate->limit != NULL ? candidate->limit : "the rank of x";
    dim = sn_limit_dim(run, method->name, dim, eigen->available, limit);
    if (candidate->tests != NULL && sn_real(settings, "ridge") == 0.0)
        SN_TRY(candidate->tests(&solved.sample, &solved.matrix, eigen, &tests));
    const sn_linear_map found = {.dim = dim,
                                 .n_values = eigen->count,
                                 .value = eigen->value,
                                 .n_tests = tests.count,
                                 .test = tests.test};
    return sn_whitened_result(&solved.sample.whitening, &found, eigen->columns, eigen->vector, result);
}
