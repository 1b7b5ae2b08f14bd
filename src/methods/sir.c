/*
 * Sliced inverse regression: with z the whitened x and zbar_h the mean of slice h (share p_h), the candidate
 * matrix is M = sum_h p_h zbar_h zbar_h' = A'A, with rows sqrt(p_h) zbar_h of A (slices x rank). The shares
 * weigh the means to 0, so M has rank at most slices - 1. With basis=poly a numeric response counts by its
 * powers and not by slices (methods/response_basis.h).
 */
#include <math.h>

#include "base/memory.h"
#include "math/linalg.h"
#include "methods/response_basis.h"

static const sn_param params[] = {
    SN_PARAM_SLICES,
    SN_PARAM_RIDGE,
    {"basis", SN_CHOICE, "slices", 0, 0, "slices|poly",
     "functions of a numeric target: indicators of slices, or its powers"},
    {"degree", SN_INTEGER, "3", 1, 10, NULL, "highest power (basis=poly)"},
};

/* The powers to use in place of slices; 0: slices it is, as always for classes. */
static int64_t powers(const sn_sample *sample, const sn_settings *settings)
{
    const bool poly = sn_is(settings, "basis", "poly") && sample->problem->task == SN_REGRESSION;
    return poly ? sn_int(settings, "degree") : 0;
}

/* root (slices x rank): rows sqrt(p_h) zbar_h. */
static void fill_root(const sn_sample *sample, double *root)
{
    const int64_t rank = sample->whitening.rank;
    for (int64_t h = 0; h < sample->slices.count; h++)
        for (int64_t k = 0; k < rank; k++)
            root[h * rank + k] = sqrt(sample->weight[h]) * sample->mean[h * rank + k];
}

/* A with rows sqrt(p_h) zbar_h (slices x rank), of which the caller computes M = A'A; or the matrix of the
   powers of y, which are known neither for weights nor for laws. */
static stonet_status find_matrix(const sn_sample *sample, const sn_settings *settings, sn_workspace *keep,
                                 sn_matrix *out)
{
    int64_t slices = sample->slices.count, rank = sample->whitening.rank;
    const int64_t degree = powers(sample, settings);
    if (degree > 0 && sample->problem->weight != NULL)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "sir: powers of the response (basis=poly) have no weighted form: use basis=slices");
    if (degree > 0 && sample->problem->law != NULL)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "sir: powers of a censored time or a count over an exposure are not known: use "
                       "basis=slices");
    if (degree > 0) return sn_basis_matrix(sample, degree, keep, out);
    out->form = SN_FORM_ROOT;
    out->rows = slices;
    out->most = slices - 1;
    SN_TRY(SN_TAKE(keep, out->m, slices * rank));
    fill_root(sample, out->m);
    return STONET_OK;
}

/* T_k = n sum_{j > k} lambda_j, chi-square with (rank - k)(most - k) degrees of freedom for normal x, most =
   slices - 1 or the powers. */
static stonet_status find_tests(const sn_sample *sample, const sn_matrix *matrix, const sn_eigen *eigen,
                                sn_tests *tests)
{
    double tail = 0.0;
    tests->count = eigen->count < SN_MAX_TESTS ? eigen->count : SN_MAX_TESTS;
    for (int64_t k = eigen->count - 1; k >= 0; k--) {
        tail += eigen->value[k];
        if (k >= tests->count) continue;
        tests->test[2 * k] = sample->rows * tail;
        tests->test[2 * k + 1] = (double)((sample->whitening.rank - k) * (matrix->most - k));
    }
    return STONET_OK;
}

/* sum_{a, b >= k} of the products of the entries of two blocks (rank x rank). */
static double block_product(int64_t rank, int64_t k, const double *a, const double *b)
{
    double sum = 0.0;
    for (int64_t i = k; i < rank; i++) sum += sn_dot(rank - k, a + i * rank + k, b + i * rank + k);
    return sum;
}

/*
 * Weighted chi-square (Bura and Cook 2001): T_k is a mixture with the eigenvalues of 1/n sum_i u_i u_i' as
 * weights, u_i = (V_2'e_i) (x) (U_2'z_i), U_2 and V_2 the vectors after the first k of B = A' = U S V' (rank
 * x slices), both sets completed to a basis. e_i is that of the row's slice, e_h = (1{g = h} - p_g) /
 * sqrt(p_g) over g, so sums over rows are sums over slices: sum w   = sum_h p_h |V_2'e_h|^2 tr(U_2' E[zz'|h]
 * U_2) sum w^2 = sum_{g,h} p_g p_h (e_g'V_2 V_2'e_h)^2 tr(U_2' E[zz'|g] U_2 U_2' E[zz'|h] U_2)
 */
static stonet_status find_general(const sn_sample *sample, const sn_settings *settings,
                                  const sn_matrix *matrix, const sn_eigen *eigen, sn_tests *tests)
{
    SN_TRY(find_tests(sample, matrix, eigen, tests));
    const int64_t degree = powers(sample, settings), slices = sample->slices.count,
                  rank = sample->whitening.rank;
    if (degree > 0) return sn_basis_general(sample, degree, tests);
    SN_ARRAY(slices * rank, double, root);
    SN_ARRAY(rank * rank, double, u);
    SN_ARRAY(slices * slices, double, v);
    SN_ARRAY(slices * slices, double, e);
    SN_ARRAY(slices * slices, double, slice); /* row h: V'e_h */
    SN_ARRAY(rank * rank, double, whole);
    SN_ARRAY(rank * rank, double, half);
    SN_ARRAY(slices * rank * rank, double, second); /* U' E[z z' | h] U of each slice */
    fill_root(sample, root);
    SN_TRY(sn_both_bases(slices, rank, root, u, v));
    for (int64_t h = 0; h < slices; h++)
        for (int64_t g = 0; g < slices; g++)
            e[h * slices + g] = ((g == h ? 1.0 : 0.0) - sample->weight[g]) / sqrt(sample->weight[g]);
    sn_multiply(sn_as(e, slices, slices), sn_as(v, slices, slices), slice);
    for (int64_t h = 0; h < slices; h++) {
        SN_TRY(sn_sample_second(sample, h, whole));
        sn_multiply(sn_as(whole, rank, rank), sn_as(u, rank, rank), half);
        sn_multiply(sn_turned(u, rank, rank), sn_as(half, rank, rank), second + h * rank * rank);
    }
    for (int64_t k = 0; k < tests->count; k++) {
        double sum = 0.0, squares = 0.0;
        for (int64_t g = 0; g < slices; g++) {
            const double *block = second + g * rank * rank;
            double trace = 0.0;
            for (int64_t a = k; a < rank; a++) trace += block[a * rank + a];
            for (int64_t h = 0; h < slices; h++) {
                const double inner = sn_dot(slices - k, slice + g * slices + k, slice + h * slices + k);
                if (h == g) sum += sample->weight[h] * inner * trace;
                squares += sample->weight[g] * sample->weight[h] * inner * inner *
                           block_product(rank, k, block, second + h * rank * rank);
            }
        }
        tests->test[2 * k] *= sum / squares;
        tests->test[2 * k + 1] = sum * sum / squares;
    }
    return STONET_OK;
}

static const sn_candidate candidate = {
    .sliced = true,
    .limit = "one fewer than the slices (or as many as the powers), or the rank of x",
    .matrix = find_matrix,
    .tests = find_tests,
    .general = find_general,
};

const sn_method sn_method_sir = {
    .name = "sir",
    .title = "Sliced inverse regression (Li 1991)",
    .python = "SlicedInverseRegression",
    .grid = {{"slices=5,10,20", SN_TASK_REGRESSION}, {"ridge=0,0.01,0.1,1", SN_TASK_BOTH}},
    SN_SLICING_METHOD,
};
