#include "math/kernel_spectrum.h"

#include <math.h>
#include <string.h>

#include "base/workspace.h"
#include "math/linalg.h"
#include "math/noise.h"

enum { LEAST_BLOCK = 8, MOST_BLOCK = 64, MOST_VECTORS = 1200 };

typedef struct lanczos {
    int64_t n, limit; /* length of the vectors, how many there is room for */
    int64_t k;        /* basis vectors so far */
    int64_t last;     /* of these, in the newest block */
    double *basis;    /* limit x n, a vector a row */
    double *t;        /* limit x limit: basis' A basis */
    double *in, *out; /* n x MOST_BLOCK */
    double *project;  /* limit x MOST_BLOCK */
    double *ritz_values, *ritz_vectors, *work;
    uint32_t refills;
} lanczos;

static stonet_status lanczos_create(sn_workspace *keep, lanczos *l, int64_t n, int64_t count)
{
    memset(l, 0, sizeof *l);
    int64_t wanted = MOST_VECTORS > 4 * count ? MOST_VECTORS : 4 * count;
    l->n = n;
    l->limit = n < wanted ? n : wanted;
    SN_TRY(SN_TAKE(keep, l->basis, l->limit * n));
    SN_TRY(SN_TAKE_ZERO(keep, l->t, l->limit * l->limit));
    SN_TRY(SN_TAKE_EACH(keep, n * MOST_BLOCK, &l->in, &l->out));
    SN_TRY(SN_TAKE(keep, l->project, l->limit * MOST_BLOCK));
    SN_TRY(SN_TAKE(keep, l->ritz_values, l->limit));
    return SN_TAKE_EACH(keep, l->limit * l->limit, &l->ritz_vectors, &l->work);
}

static void fill_random(lanczos *l, int64_t columns, double *block)
{
    sn_random random = sn_random_from(0, SN_STREAM_START, l->refills++);
    for (int64_t i = 0; i < l->n * columns; i++) block[i] = sn_random_normal(&random);
}

/* block (n x columns) minus its part in the basis; project (k x columns) receives basis' block. */
static void remove_basis(lanczos *l, int64_t columns, double *block)
{
    sn_multiply(sn_as(l->basis, l->k, l->n), sn_as(block, l->n, columns), l->project);
    sn_gemm(-1.0, sn_turned(l->basis, l->k, l->n), sn_as(l->project, l->k, columns), 1.0, block);
}

/* Makes the columns of block orthonormal and orthogonal to the basis and appends them. A block that has lost
   rank is completed arbitrarily by the QR, so it is orthogonalised against the basis once more. */
static stonet_status append_block(lanczos *l, int64_t columns, double *block)
{
    for (int pass = 0; pass < 2; pass++) {
        SN_TRY(sn_orthonormalise(l->n, columns, block));
        if (l->k > 0) remove_basis(l, columns, block);
    }
    SN_TRY(sn_orthonormalise(l->n, columns, block));
    for (int64_t c = 0; c < columns; c++)
        for (int64_t i = 0; i < l->n; i++) l->basis[(l->k + c) * l->n + i] = block[i * columns + c];
    l->k += columns;
    l->last = columns;
    return STONET_OK;
}

/* out = A (newest block); fills its rows and columns of t; leaves in out what is outside the basis. */
static stonet_status expand(lanczos *l, const sn_operator *a)
{
    int64_t first = l->k - l->last;
    for (int64_t c = 0; c < l->last; c++)
        for (int64_t i = 0; i < l->n; i++) l->in[i * l->last + c] = l->basis[(first + c) * l->n + i];
    SN_TRY(a->apply(a->context, l->last, l->in, l->out));
    remove_basis(l, l->last, l->out);
    for (int64_t i = 0; i < l->k; i++) {
        for (int64_t c = 0; c < l->last; c++) {
            double value = l->project[i * l->last + c];
            l->t[i * l->limit + first + c] = value;
            l->t[(first + c) * l->limit + i] = value;
        }
    }
    remove_basis(l, l->last, l->out);
    return STONET_OK;
}

/* Ritz pairs of t, and the largest residual |A x - theta x| among the first count: with A V = V T + W E' (W
   in out, E the newest block) it is |W y| for the newest entries y of the Ritz vector. */
static stonet_status rayleigh_ritz(lanczos *l, int64_t count, double *residual)
{
    for (int64_t i = 0; i < l->k; i++)
        for (int64_t j = 0; j < l->k; j++)
            l->work[i * l->k + j] = 0.5 * (l->t[i * l->limit + j] + l->t[j * l->limit + i]);
    SN_TRY(sn_eigh(l->k, l->work, l->ritz_values, l->ritz_vectors));
    *residual = l->k < count ? INFINITY : 0.0;
    if (l->k == l->n || l->k < count) return STONET_OK;
    const double *newest = l->ritz_vectors + (l->k - l->last) * l->k;
    for (int64_t j = 0; j < count; j++) {
        double sum = 0.0;
        for (int64_t i = 0; i < l->n; i++) {
            double entry = 0.0;
            for (int64_t c = 0; c < l->last; c++) entry += l->out[i * l->last + c] * newest[c * l->k + j];
            sum += entry * entry;
        }
        *residual = fmax(*residual, sqrt(sum));
    }
    return STONET_OK;
}

static void ritz_columns(const lanczos *l, int64_t count, double *v)
{
    sn_first_columns(l->k, l->k, l->ritz_vectors, count, l->work);
    sn_multiply(sn_turned(l->basis, l->k, l->n), sn_as(l->work, l->k, count), v);
}

/* How many vectors the basis is likely to have in the end. */
static int64_t expected_size(const lanczos *l, double before, double residual, double enough)
{
    if (!isfinite(residual)) return l->limit;
    const double left = sn_steps_left(isfinite(before) ? before : 0.0, residual, enough);
    return (int64_t)fmin((double)l->k + left * (double)l->last, (double)l->limit);
}

/* Block Lanczos: adds a block A q to the Krylov basis and solves the small problem, until the residual of
   the wanted eigenvectors is small or the basis is full. */
static stonet_status iterate(lanczos *l, int64_t count, const sn_operator *a, double tolerance,
                             const stonet_run *run)
{
    int64_t block = count + 2 > LEAST_BLOCK ? count + 2 : LEAST_BLOCK;
    block = block < MOST_BLOCK ? block : MOST_BLOCK;
    double started = sn_seconds();
    fill_random(l, block < l->n ? block : l->n, l->out);
    SN_TRY(append_block(l, block < l->n ? block : l->n, l->out));
    double residual = 0.0;
    for (;;) {
        const double before = residual;
        SN_TRY(expand(l, a));
        SN_TRY(rayleigh_ritz(l, count, &residual));
        double scale = fmax(fabs(l->ritz_values[0]), fabs(l->ritz_values[l->k - 1]));
        sn_progress_of(run, "eigenvectors", l->k, expected_size(l, before, residual, tolerance * scale),
                       residual / scale, started);
        if (residual <= tolerance * scale) return STONET_OK;
        if (sn_should_stop(run))
            return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before the eigenvectors were found");
        int64_t columns = l->last < l->limit - l->k ? l->last : l->limit - l->k;
        if (columns == 0) {
            sn_message(run, STONET_WARNING,
                       "the eigenvectors are accurate to %.1e of the largest eigenvalue only",
                       residual / scale);
            return STONET_OK;
        }
        if (columns < l->last)
            for (int64_t i = 0; i < l->n; i++)
                memmove(l->out + i * columns, l->out + i * l->last, (size_t)columns * sizeof *l->out);
        SN_TRY(append_block(l, columns, l->out));
    }
}

stonet_status sn_top_eigenpairs(const sn_operator *a, int64_t count, double tolerance, const stonet_run *run,
                                double *values, double *v)
{
    if (count < 1 || count > a->n)
        return sn_fail(STONET_ERROR_ARGUMENT, "%lld eigenvectors are wanted of an operator of order %lld",
                       (long long)count, (long long)a->n);
    SN_WORKSPACE(scratch);
    lanczos l;
    SN_TRY(lanczos_create(&scratch, &l, a->n, count));
    SN_TRY(iterate(&l, count, a, tolerance, run));
    memcpy(values, l.ritz_values, (size_t)count * sizeof *values);
    if (v != NULL) ritz_columns(&l, count, v);
    return STONET_OK;
}

typedef struct matrix {
    int64_t n;
    const double *a;
} matrix;

static stonet_status apply_matrix(void *context, int64_t columns, const double *in, double *out)
{
    const matrix *m = context;
    sn_multiply(sn_as(m->a, m->n, m->n), sn_as(in, m->n, columns), out);
    return STONET_OK;
}

/* Eigenvalues converge with the square of the residual, so 1e-8 gives all digits. */
stonet_status sn_largest_eigenvalue(int64_t n, const double *a, double *value)
{
    matrix m = {n, a};
    return sn_top_eigenpairs(&(sn_operator){n, apply_matrix, &m}, 1, 1e-8, NULL, value, NULL);
}
