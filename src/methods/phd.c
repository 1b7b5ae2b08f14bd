/*
 * Principal Hessian directions: with z the whitened x and r the response (or its residuals of a linear fit),
 * the eigenvectors of M = 1/n sum_i r_i z_i z_i' of largest |eigenvalue|. With several responses (targets, or
 * the class indicators less their means) they are the right singular vectors of M_1 .. M_K on top of each
 * other, the same thing for K = 1.
 */
#include <math.h>

#include "base/memory.h"
#include "math/linalg.h"
#include "methods/row_sums.h"
#include "methods/square_terms.h"

static const sn_param params[] = {
    {"response", SN_CHOICE, "residual", 0, 0, "residual|raw",
     "take the Hessian of the residuals of a linear fit, or of the response itself"},
    SN_PARAM_RIDGE,
};

/* Whitened rows and their responses (n x K). */
typedef struct answered {
    const sn_sample *sample;
    int64_t k;
    const double *r;
} answered;

/* slope (rank x K) += Z'r / n of some rows. */
static stonet_status add_slope(const void *user, int64_t first, int64_t count, double *slope)
{
    const answered *of = user;
    const sn_problem *problem = of->sample->problem;
    const int64_t rank = of->sample->whitening.rank, k = of->k;
    SN_WORKSPACE(scratch);
    sn_blocks rows = sn_whitened_blocks(&of->sample->whitening, problem->x);
    SN_TRY(sn_blocks_open(&rows, first, count, &scratch));
    while (sn_blocks_next(&rows)) {
        for (int64_t i = 0; i < rows.count; i++)
            for (int64_t c = 0; c < rank; c++)
                rows.z[i * rank + c] *= sn_problem_weight(problem, rows.at + i);
        sn_gemm(1.0 / of->sample->rows, sn_turned(rows.z, rows.count, rank),
                sn_as(of->r + rows.at * k, rows.count, k), 1.0, slope);
    }
    return STONET_OK;
}

/* hessian (K blocks of rank x rank, each symmetric): M_k = 1/n sum_i r_ik z_i z_i', of some rows. */
static stonet_status add_hessians(const void *user, int64_t first, int64_t count, double *hessian)
{
    const answered *of = user;
    const sn_problem *problem = of->sample->problem;
    const int64_t rank = of->sample->whitening.rank, k = of->k;
    SN_WORKSPACE(scratch);
    sn_blocks rows = sn_whitened_blocks(&of->sample->whitening, problem->x);
    SN_TRY(sn_blocks_open(&rows, first, count, &scratch));
    SN_ARRAY(rows.most * rank, double, weighted);
    while (sn_blocks_next(&rows))
        for (int64_t j = 0; j < k; j++) {
            for (int64_t i = 0; i < rows.count; i++)
                for (int64_t c = 0; c < rank; c++)
                    weighted[i * rank + c] = sn_problem_weight(problem, rows.at + i) *
                                             of->r[(rows.at + i) * k + j] * rows.z[i * rank + c];
            sn_gemm(1.0 / of->sample->rows, sn_turned(weighted, rows.count, rank),
                    sn_as(rows.z, rows.count, rank), 1.0, hessian + j * rank * rank);
        }
    return STONET_OK;
}

/* r (n x K): the centred responses, or their residuals. */
static stonet_status find_responses(const sn_sample *sample, const sn_settings *settings, double *r)
{
    const sn_problem *problem = sample->problem;
    const int64_t n = problem->n, k = problem->outputs;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++)
            r[i * k + j] =
                problem->task == SN_CLASSIFICATION ? (double)(problem->label[i] == j) : problem->y[i * k + j];
    for (int64_t j = 0; j < k; j++) {
        double mean = 0.0;
        for (int64_t i = 0; i < n; i++) mean += sn_problem_weight(problem, i) * r[i * k + j];
        for (int64_t i = 0; i < n; i++) r[i * k + j] -= mean / sn_problem_total(problem);
    }
    const double before = sn_norm(n * k, r);
    if (sn_is(settings, "response", "residual")) {
        /* r -= Z (Z'r / n): of least squares on the whitened x (of ridge regression when it has a ridge).
           Ranks take those of their rows, and get those of the others. */
        const answered of = {.sample = sample, .k = k, .r = r};
        const int64_t rank = sample->whitening.rank;
        const int own = stonet_team_rank(sample->team);
        const int64_t first = sn_team_border(sample->team, n, own);
        SN_WORKSPACE(scratch);
        sn_blocks rows = sn_whitened_blocks(&sample->whitening, problem->x);
        SN_ARRAY(rank * k, double, slope);
        SN_TRY(sn_row_sums(sample->team, n, rank * k, add_slope, &of, slope));
        SN_TRY(sn_blocks_open(&rows, first, sn_team_border(sample->team, n, own + 1) - first, &scratch));
        while (sn_blocks_next(&rows))
            sn_gemm(-1.0, sn_as(rows.z, rows.count, rank), sn_as(slope, rank, k), 1.0, r + rows.at * k);
        SN_TRY(sn_team_gather(sample->team, n, (size_t)k * sizeof *r, r));
    }
    if (sn_norm(n * k, r) > 1e-9 * before) return STONET_OK;
    return sn_fail(STONET_ERROR_DATA,
                   "phd: a linear fit leaves no residuals (%lld columns of rank %lld, %lld "
                   "rows): set response=raw or a ridge",
                   (long long)problem->p, (long long)sample->whitening.rank, (long long)n);
}

static stonet_status find_matrix(const sn_sample *sample, const sn_settings *settings, sn_workspace *keep,
                                 sn_matrix *out)
{
    const sn_problem *problem = sample->problem;
    int64_t n = problem->n, rank = sample->whitening.rank, k = problem->outputs;
    SN_ARRAY(n * k, double, r);
    out->form = SN_FORM_STACK;
    out->rows = k * rank;
    SN_TRY(SN_TAKE(keep, out->m, k * rank * rank));
    SN_TRY(find_responses(sample, settings, r));
    const answered of = {.sample = sample, .k = k, .r = r};
    SN_TRY(sn_row_sums(sample->team, n, k * rank * rank, add_hessians, &of, out->m));
    for (int64_t i = 0; i < n * k; i++) r[i] *= sqrt(sn_problem_weight(problem, i / k));
    out->scale = sn_norm(n * k, r) / sqrt(sample->rows); /* the deviation of r, whose units M has */
    return STONET_OK;
}

/* T_k = n / (2 var r) sum_{j > k} lambda_j^2 (var with divisor n - 1), chi-square with
   (rank - k)(rank - k + 1)/2 degrees of freedom for normal x and a single response independent of it. */
static stonet_status find_tests(const sn_sample *sample, const sn_matrix *matrix, const sn_eigen *eigen,
                                sn_tests *tests)
{
    int64_t rank = eigen->count;
    double tail = 0.0;
    if (sample->problem->outputs != 1) return STONET_OK;
    tests->count = rank < SN_MAX_TESTS ? rank : SN_MAX_TESTS;
    for (int64_t k = rank - 1; k >= 0; k--) {
        tail += eigen->value[k] * eigen->value[k];
        if (k >= tests->count) continue;
        tests->test[2 * k] = 0.5 * (sample->rows - 1.0) * tail / (matrix->scale * matrix->scale);
        tests->test[2 * k + 1] = 0.5 * (double)(rank - k) * (double)(rank - k + 1);
    }
    return STONET_OK;
}

/* For x of any law: a mixture with the eigenvalues of cov(W) / (2 var r) as weights, W the terms
   r (v_a^2 - 1) and sqrt(2) r v_a v_b of the coordinates v after the first k eigenvectors. */
static stonet_status find_general(const sn_sample *sample, const sn_settings *settings,
                                  const sn_matrix *matrix, const sn_eigen *eigen, sn_tests *tests)
{
    const int64_t n = sample->problem->n;
    if (sample->problem->outputs != 1 || sample->whitening.rank > SN_SQUARE_TERMS_RANK) return STONET_OK;
    SN_WORKSPACE(scratch);
    sn_square_terms terms;
    SN_ARRAY(n, double, r);
    SN_TRY(find_responses(sample, settings, r));
    SN_TRY(sn_square_terms_make(sample, eigen->vector, r, &scratch, &terms));
    SN_TRY(find_tests(sample, matrix, eigen, tests));
    /* matrix->scale^2 and the covariance of W have divisor n; the terms come with n - 1 */
    const double divisor = (double)(n - 1) / (double)n;
    const double scale = 0.5 * divisor * divisor / (matrix->scale * matrix->scale);
    for (int64_t k = 0; k < tests->count; k++) {
        double trace = 0.0, squares = 0.0;
        sn_square_terms_traces(&terms, k, &trace, &squares);
        tests->test[2 * k] *= trace / (scale * squares);
        tests->test[2 * k + 1] = trace * trace / squares;
    }
    return STONET_OK;
}

static const sn_candidate candidate = {
    .matrix = find_matrix,
    .tests = find_tests,
    .general = find_general,
};

const sn_method sn_method_phd = {
    .name = "phd",
    .title = "Principal Hessian directions (Li 1992)",
    .python = "PrincipalHessianDirections",
    .tasks = SN_TASK_BOTH,
    SN_PARAMS_OF(params),
    .grid = {{"response=residual,raw", SN_TASK_BOTH}},
    SN_SPECTRAL_METHOD,
};
