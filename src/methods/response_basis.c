#include "methods/response_basis.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/linalg.h"

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

stonet_status sn_basis_matrix(const sn_sample *sample, int64_t degree, sn_workspace *keep, sn_matrix *out)
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

stonet_status sn_both_bases(int64_t rows, int64_t rank, const double *root, double *u, double *v)
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
 * weights, U_2 and V_2 the vectors after the first k (as for slices, methods/sir.c): its trace and the sum of
 * its squared entries over a, c >= k are all that is wanted. So u is made in the singular vectors of
 * A' = U S V', both sets complete.
 */
stonet_status sn_basis_general(const sn_sample *sample, int64_t degree, sn_tests *tests)
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
    SN_TRY(sn_basis_matrix(sample, degree, &scratch, &again));
    SN_TRY(sn_blocks_open(&rows, 0, n, &scratch));
    SN_ARRAY(rank * rank, double, u);
    SN_ARRAY(functions * functions, double, v);
    SN_ARRAY(rows.most * rank, double, turned);
    SN_ARRAY(size, double, row);
    SN_ZEROS(size * size, double, covariance); /* 1/n sum u u', its lower triangle */
    SN_TRY(sn_both_bases(functions, rank, again.m, u, v));
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
