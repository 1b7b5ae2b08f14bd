/*
 * Sliced average variance estimation: the candidate matrix is M = sum_h p_h (I - V_h)^2, with V_h the
 * covariance (divisor n_h) of the whitened x in slice h.
 */
#include "base/memory.h"
#include "math/linalg.h"
#include "methods/square_terms.h"

static const sn_param params[] = {SN_PARAM_SLICES, SN_PARAM_RIDGE};

/* a (rank x rank) = I - V_h = I - E[ZZ'|h] + zbar_h zbar_h'. */
static stonet_status departure(const sn_sample *sample, int64_t h, double *a)
{
    int64_t rank = sample->whitening.rank;
    const double *mean = sample->mean + h * rank;
    SN_TRY(sn_sample_second(sample, h, a));
    for (int64_t i = 0; i < rank; i++)
        for (int64_t j = 0; j < rank; j++)
            a[i * rank + j] = (i == j ? 1.0 : 0.0) - a[i * rank + j] + mean[i] * mean[j];
    return STONET_OK;
}

static stonet_status find_matrix(const sn_sample *sample, const sn_settings *settings, sn_workspace *keep,
                                 sn_matrix *out)
{
    (void)settings;
    int64_t rank = sample->whitening.rank;
    SN_ARRAY(rank * rank, double, a);
    SN_TRY(SN_TAKE_ZERO(keep, out->m, rank * rank));
    for (int64_t h = 0; h < sample->slices.count; h++) {
        SN_TRY(departure(sample, h, a));
        sn_syrk_tn(rank, rank, sample->weight[h], a, 1.0, out->m);
    }
    return STONET_OK;
}

/*
 * T_k = n/2 sum_h p_h |theta'(I - V_h) theta|_F^2, theta the eigenvectors after the first k; chi-square with
 * (slices - 1)(rank - k)(rank - k + 1)/2 degrees of freedom for normal x.
 */
static stonet_status find_tests(const sn_sample *sample, const sn_matrix *matrix, const sn_eigen *eigen,
                                sn_tests *tests)
{
    (void)matrix;
    int64_t rank = sample->whitening.rank, count = rank < SN_MAX_TESTS ? rank : SN_MAX_TESTS;
    double *test = tests->test;
    SN_ARRAY(rank * rank, double, a);
    SN_ARRAY(rank * rank, double, au);
    SN_ARRAY(rank * rank, double, q);
    for (int64_t h = 0; h < sample->slices.count; h++) {
        SN_TRY(departure(sample, h, a));
        sn_multiply(sn_as(a, rank, rank), sn_as(eigen->vector, rank, rank), au);
        sn_multiply(sn_turned(eigen->vector, rank, rank), sn_as(au, rank, rank), q);
        double tail = 0.0;
        for (int64_t k = rank - 1; k >= 0; k--) { /* the block of q from row and column k on */
            const double *row = q + k * rank;
            tail += 2.0 * sn_dot(rank - k, row + k, row + k) - row[k] * row[k];
            if (k < count) test[2 * k] += 0.5 * sample->rows * sample->weight[h] * tail;
        }
    }
    for (int64_t k = 0; k < count; k++)
        test[2 * k + 1] =
            0.5 * (double)(sample->slices.count - 1) * (double)(rank - k) * (double)(rank - k + 1);
    tests->count = count;
    return STONET_OK;
}

/* For x of any law (Shao, Cook and Weisberg 2007): with S the covariance of vec(theta'zz'theta) / 2, the
   statistic is T_k tr(S) / tr(S^2) with (slices - 1) tr(S)^2 / tr(S^2) degrees of freedom. */
static stonet_status find_general(const sn_sample *sample, const sn_settings *settings,
                                  const sn_matrix *matrix, const sn_eigen *eigen, sn_tests *tests)
{
    (void)settings;
    if (sample->whitening.rank > SN_SQUARE_TERMS_RANK) return STONET_OK;
    SN_WORKSPACE(scratch);
    sn_square_terms terms;
    SN_TRY(sn_square_terms_make(sample, eigen->vector, NULL, &scratch, &terms));
    SN_TRY(find_tests(sample, matrix, eigen, tests));
    for (int64_t k = 0; k < tests->count; k++) {
        double trace = 0.0, squares = 0.0;
        sn_square_terms_traces(&terms, k, &trace, &squares);
        tests->test[2 * k] *= 0.5 * trace / (0.25 * squares);
        tests->test[2 * k + 1] = (double)(sample->slices.count - 1) * trace * trace / squares;
    }
    return STONET_OK;
}

static const sn_candidate candidate = {
    .sliced = true,
    .matrix = find_matrix,
    .tests = find_tests,
    .general = find_general,
};

const sn_method sn_method_save = {
    .name = "save",
    .title = "Sliced average variance estimation (Cook and Weisberg 1991)",
    .python = "SlicedAverageVariance",
    .grid = {{"slices=3,5,10", SN_TASK_REGRESSION}, {"ridge=0,0.01,0.1,1", SN_TASK_BOTH}},
    SN_SLICING_METHOD,
};
