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

/* The products u = (V'g) (x) (U'z) of every row, in the singular vectors of A' = U S V', both sets complete.
 */
typedef struct products {
    basis basis;
    int64_t n, rank;
    double *u, *v;      /* rank x rank, K x K: vectors in columns */
    double *turned;     /* a block's rows x rank: U'z */
    double *row;        /* K rank */
    double *covariance; /* K rank x K rank: 1/n sum u u' */
} products;

static void add_products(const products *s, const double *z, int64_t first, int64_t count)
{
    const int64_t functions = s->basis.count, rank = s->rank, size = functions * rank;
    sn_multiply(sn_as(z, count, rank), sn_as(s->u, rank, rank), s->turned);
    for (int64_t i = 0; i < count; i++) {
        for (int64_t a = 0; a < functions; a++) {
            double g = 0.0;
            for (int64_t b = 0; b < functions; b++)
                g += s->v[b * functions + a] * s->basis.g[b * s->n + first + i];
            for (int64_t c = 0; c < rank; c++) s->row[a * rank + c] = g * s->turned[i * rank + c];
        }
        for (int64_t a = 0; a < size; a++)
            for (int64_t b = 0; b <= a; b++)
                s->covariance[a * size + b] += s->row[a] * s->row[b] / (double)s->n;
    }
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

/* The singular vectors u, v of the root, and the covariance of the products of functions and z in these
   coordinates. */
static stonet_status find_products(const sn_sample *sample, const double *root, sn_workspace *keep,
                                   products *s)
{
    const int64_t functions = s->basis.count, rank = s->rank, size = functions * rank;
    SN_WORKSPACE(scratch);
    sn_blocks rows = sn_whitened_blocks(&sample->whitening, sample->problem->x);
    SN_TRY(sn_blocks_open(&rows, 0, s->n, &scratch));
    SN_TRY(SN_TAKE(keep, s->u, rank * rank));
    SN_TRY(SN_TAKE(keep, s->v, functions * functions));
    SN_TRY(SN_TAKE(keep, s->turned, rows.most * rank));
    SN_TRY(SN_TAKE(keep, s->row, size));
    SN_TRY(SN_TAKE_ZERO(keep, s->covariance, size * size));
    SN_TRY(sn_both_bases(functions, rank, root, s->u, s->v));
    while (sn_blocks_next(&rows)) add_products(s, rows.z, rows.at, rows.count);
    return STONET_OK;
}

/*
 * T_k is a mixture of chi-squares with the eigenvalues of the covariance of u = (V_2'g) (x) (U_2'z) as
 * weights, U_2 and V_2 the vectors after the first k (as for slices, methods/sir.c): its trace and the sum of
 * its squared entries over a, c >= k are all that is wanted.
 */
stonet_status sn_basis_general(const sn_sample *sample, int64_t degree, sn_tests *tests)
{
    SN_WORKSPACE(scratch);
    products s = {.n = sample->problem->n, .rank = sample->whitening.rank};
    sn_matrix again = {0}; /* solving used the first one up */
    SN_TRY(make_basis(sample->problem, degree, &scratch, &s.basis));
    if (s.basis.count * s.rank > MOST_PRODUCTS) {
        tests->count = 0;
        return STONET_OK;
    }
    SN_TRY(sn_basis_matrix(sample, degree, &scratch, &again));
    SN_TRY(find_products(sample, again.m, &scratch, &s));
    const int64_t functions = s.basis.count, rank = s.rank, size = functions * rank;
    for (int64_t k = 0; k < tests->count; k++) {
        double sum = 0.0, squares = 0.0;
        for (int64_t a = 0; a < size; a++) {
            if (a / rank < k || a % rank < k) continue;
            sum += s.covariance[a * size + a];
            for (int64_t b = 0; b <= a; b++)
                if (b / rank >= k && b % rank >= k)
                    squares += (a == b ? 1.0 : 2.0) * s.covariance[a * size + b] * s.covariance[a * size + b];
        }
        tests->test[2 * k] *= sum / squares;
        tests->test[2 * k + 1] = sum * sum / squares;
    }
    return STONET_OK;
}
