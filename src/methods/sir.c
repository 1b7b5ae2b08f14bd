/*
 * Sliced inverse regression: with z the whitened x and zbar_h the mean of slice h (share p_h), the candidate
 * matrix is M = sum_h p_h zbar_h zbar_h' = A'A, with rows sqrt(p_h) zbar_h of A (slices x rank). The shares
 * weigh the means to 0, so M has rank at most slices - 1.
 *
 * With basis=poly smooth functions of a numeric y are in the place of slices (principal inverse regression):
 * with g_1 .. g_K its powers, centred and orthonormal over the rows, A = 1/n G'Z (K x rank), which has the
 * variance of the regression of the whitened x on those functions. Slices are the special case of indicators.
 */
#include <math.h>

#include "base/memory.h"
#include "math/linalg.h"
#include "methods/spectral.h"

static const sn_param params[] = {
    SN_PARAM_SLICES,
    SN_PARAM_RIDGE,
    {"basis", SN_CHOICE, "slices", 0, 0, "slices|poly",
     "functions of a numeric target: indicators of slices, or its powers"},
    {"degree", SN_INTEGER, "3", 1, 10, NULL, "highest power (basis=poly)"},
};

/* ---- powers of the response ----------------------------------------------------------------------- */

/* A function of y must keep at least this share of its variance once the functions before are regressed out.
   Else it says nothing new: a y with two values has one function only. */
static const double NOTHING_NEW = 1e-9;

/* Above so many products g_a z_b their covariance is not made. */
enum { MOST_PRODUCTS = 2000 };

typedef struct basis {
    int64_t count;
    double *g; /* count x n, rows with mean 0, orthogonal, of mean square 1 */
} basis;

/* Takes the mean and the functions before it out of f (n); returns its mean square then. */
static double take_out(const basis *before, int64_t n, double *f)
{
    double mean = 0.0;
    for (int64_t i = 0; i < n; i++) mean += f[i] / (double)n;
    for (int64_t i = 0; i < n; i++) f[i] -= mean;
    for (int64_t k = 0; k < before->count; k++) {
        const double *g = before->g + k * n, part = sn_dot(n, f, g) / (double)n;
        for (int64_t i = 0; i < n; i++) f[i] -= part * g[i];
    }
    return sn_dot(n, f, f) / (double)n;
}

/* The powers 1 .. degree of every target, each made orthogonal to the constant and those before, with mean
   square 1. A power that adds nothing is left out. */
static stonet_status make_basis(const sn_problem *problem, int64_t degree, sn_workspace *keep, basis *out)
{
    const int64_t n = problem->n, m = problem->outputs;
    out->count = 0;
    SN_TRY(SN_TAKE(keep, out->g, degree * m * n));
    for (int64_t t = 0; t < m; t++)
        for (int64_t power = 1; power <= degree; power++) {
            double *f = out->g + out->count * n;
            for (int64_t i = 0; i < n; i++) f[i] = pow(problem->y[i * m + t], (double)power);
            const double whole = take_out(&(basis){0, NULL}, n, f);
            take_out(out, n, f); /* twice: once leaves rounding of large powers behind */
            const double left = take_out(out, n, f);
            if (!(left > NOTHING_NEW * whole) || !isfinite(left)) continue;
            for (int64_t i = 0; i < n; i++) f[i] /= sqrt(left);
            out->count++;
        }
    if (out->count > 0) return STONET_OK;
    return sn_fail(STONET_ERROR_DATA, "sir: the response is constant, so there is nothing to regress on it");
}

/* A = 1/n G'Z (K x rank) of the powers up to `degree` of each target. */
static stonet_status basis_matrix(const sn_sample *sample, int64_t degree, sn_workspace *keep, sn_matrix *out)
{
    const int64_t n = sample->problem->n, rank = sample->whitening.rank;
    SN_WORKSPACE(scratch);
    basis of;
    sn_blocks rows = sn_whitened_blocks(&sample->whitening, sample->problem->x);
    SN_TRY(make_basis(sample->problem, degree, &scratch, &of));
    SN_TRY(SN_TAKE_ZERO(keep, out->m, of.count * rank));
    SN_TRY(sn_blocks_open(&rows, 0, n, &scratch));
    while (sn_blocks_next(&rows))
        for (int64_t k = 0; k < of.count; k++)
            sn_gemv(1.0 / (double)n, sn_turned(rows.z, rows.count, rank), of.g + k * n + rows.at, 1.0,
                    out->m + k * rank);
    out->form = SN_FORM_ROOT;
    out->rows = out->most = of.count;
    return STONET_OK;
}

/* The eigenvectors of A'A (u, rank x rank) and of A A' (v, rows x rows) for A rows x rank, in columns: unlike
   a thin SVD, both are a full basis. */
static stonet_status both_bases(int64_t rows, int64_t rank, const double *root, double *u, double *v)
{
    SN_ARRAY(rank * rank, double, left);
    SN_ARRAY(rows * rows, double, right);
    SN_ARRAY(rank > rows ? rank : rows, double, value);
    sn_multiply(sn_turned(root, rows, rank), sn_as(root, rows, rank), left);
    sn_multiply(sn_as(root, rows, rank), sn_turned(root, rows, rank), right);
    SN_TRY(sn_eigh(rank, left, value, u));
    return sn_eigh(rows, right, value, v);
}

/*
 * T_k is a mixture of chi-squares with the eigenvalues of the covariance of u = (V_2'g) (x) (U_2'z) as
 * weights, U_2 and V_2 the vectors after the first k (as for slices, below): its trace and the sum of
 * its squared entries over a, c >= k are all that is wanted. So u is made in the singular vectors of
 * A' = U S V', both sets complete. There are no tests where there are too many columns for that.
 */
static stonet_status basis_general(const sn_sample *sample, int64_t degree, sn_tests *tests)
{
    const int64_t n = sample->problem->n, rank = sample->whitening.rank;
    SN_WORKSPACE(scratch);
    basis of;
    sn_matrix again = {0}; /* solving used the first one up */
    sn_blocks rows = sn_whitened_blocks(&sample->whitening, sample->problem->x);
    SN_TRY(make_basis(sample->problem, degree, &scratch, &of));
    const int64_t functions = of.count, size = functions * rank;
    if (size > MOST_PRODUCTS) {
        tests->count = 0;
        return STONET_OK;
    }
    SN_TRY(basis_matrix(sample, degree, &scratch, &again));
    SN_TRY(sn_blocks_open(&rows, 0, n, &scratch));
    SN_ARRAY(rank * rank, double, u);
    SN_ARRAY(functions * functions, double, v);
    SN_ARRAY(rows.most * rank, double, turned);
    SN_ARRAY(size, double, row);
    SN_ZEROS(size * size, double, covariance); /* 1/n sum u u', its lower triangle */
    SN_TRY(both_bases(functions, rank, again.m, u, v));
    while (sn_blocks_next(&rows)) {
        sn_multiply(sn_as(rows.z, rows.count, rank), sn_as(u, rank, rank), turned);
        for (int64_t i = 0; i < rows.count; i++) {
            for (int64_t a = 0; a < functions; a++) {
                double g = 0.0;
                for (int64_t b = 0; b < functions; b++) g += v[b * functions + a] * of.g[b * n + rows.at + i];
                for (int64_t c = 0; c < rank; c++) row[a * rank + c] = g * turned[i * rank + c];
            }
            for (int64_t a = 0; a < size; a++)
                for (int64_t b = 0; b <= a; b++) covariance[a * size + b] += row[a] * row[b] / (double)n;
        }
    }
    for (int64_t k = 0; k < tests->count; k++) {
        double sum = 0.0, squares = 0.0;
        for (int64_t a = 0; a < size; a++) {
            if (a / rank < k || a % rank < k) continue;
            sum += covariance[a * size + a];
            for (int64_t b = 0; b <= a; b++)
                if (b / rank >= k && b % rank >= k)
                    squares += (a == b ? 1.0 : 2.0) * covariance[a * size + b] * covariance[a * size + b];
        }
        tests->test[2 * k] *= sum / squares;
        tests->test[2 * k + 1] = sum * sum / squares;
    }
    return STONET_OK;
}

/* ---- slices ------------------------------------------------------------------------------------------ */

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
    if (degree > 0) return basis_matrix(sample, degree, keep, out);
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
 * sqrt(p_g) over g, so sums over rows are sums over slices:
 *
 *     sum w   = sum_h p_h |V_2'e_h|^2 tr(U_2' E[zz'|h] U_2)
 *     sum w^2 = sum_{g,h} p_g p_h (e_g'V_2 V_2'e_h)^2 tr(U_2' E[zz'|g] U_2 U_2' E[zz'|h] U_2)
 */
static stonet_status find_general(const sn_sample *sample, const sn_settings *settings,
                                  const sn_matrix *matrix, const sn_eigen *eigen, sn_tests *tests)
{
    SN_TRY(find_tests(sample, matrix, eigen, tests));
    const int64_t degree = powers(sample, settings), slices = sample->slices.count,
                  rank = sample->whitening.rank;
    if (degree > 0) return basis_general(sample, degree, tests);
    SN_ARRAY(slices * rank, double, root);
    SN_ARRAY(rank * rank, double, u);
    SN_ARRAY(slices * slices, double, v);
    SN_ARRAY(slices * slices, double, e);
    SN_ARRAY(slices * slices, double, slice); /* row h: V'e_h */
    SN_ARRAY(rank * rank, double, whole);
    SN_ARRAY(rank * rank, double, half);
    SN_ARRAY(slices * rank * rank, double, second); /* U' E[z z' | h] U of each slice */
    fill_root(sample, root);
    SN_TRY(both_bases(slices, rank, root, u, v));
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
