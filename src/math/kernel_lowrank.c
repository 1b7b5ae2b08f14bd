#include "math/kernel_lowrank.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "math/serial_blas.h"

/* Kernel values are at most 1: what is left of a landmark below this is rounding. */
static const double landmark_tolerance = 1e-12;

enum { FIRST_ROOM = 32 };

static int64_t largest(int64_t n, const double *values)
{
    int64_t at = 0;
    for (int64_t i = 1; i < n; i++)
        if (values[i] > values[at]) at = i;
    return at;
}

/* Column `rank` of the factor, as row `rank` of rows: (k(., pivot) - sum_j f_j f_j[pivot]) / sqrt(rest). */
static void next_column(const sn_gaussian_rows *of, int64_t pivot, int64_t rank, double *rows, double *rest)
{
    const int64_t n = of->n, p = of->p;
    const double *x = of->x;
    double *column = rows + rank * n, scale = 1.0 / sqrt(rest[pivot]);
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        double squared = 0.0;
        for (int64_t j = 0; j < p; j++) {
            double difference = x[i * p + j] - x[pivot * p + j];
            squared += difference * difference;
        }
        double value = exp(-of->gamma * squared);
        for (int64_t r = 0; r < rank; r++) value -= rows[r * n + i] * rows[r * n + pivot];
        column[i] = value * scale;
    }
    for (int64_t i = 0; i < n; i++) rest[i] -= column[i] * column[i];
    rest[pivot] = 0.0;
}

stonet_status sn_incomplete_cholesky(const sn_gaussian_rows *of, double tolerance, int64_t most_rank,
                                     sn_workspace *keep, double **factor, int64_t *rank)
{
    const int64_t n = of->n, limit = most_rank < n ? most_rank : n;
    SN_BLOCK double *rows = NULL;
    int64_t room = 0, r = 0;
    SN_ARRAY(n, double, rest);
    for (int64_t i = 0; i < n; i++) rest[i] = 1.0;
    for (; r < limit; r++) {
        int64_t pivot = largest(n, rest);
        if (rest[pivot] <= tolerance) break;
        if (r == room) {
            room = room == 0 ? FIRST_ROOM : 2 * room;
            SN_TRY(SN_GROW(rows, room * n));
        }
        next_column(of, pivot, r, rows, rest);
    }
    SN_TRY(SN_TAKE(keep, *factor, n * r));
    sn_transpose(r, n, rows, *factor);
    *rank = r;
    return STONET_OK;
}

/* Pivoted Cholesky of gram (count x count) in place; the order of the pivots in `order`. */
static stonet_status pivoted_cholesky(int64_t count, double *gram, int *order, int64_t *rank)
{
    lapack_int found = 0;
    SN_SERIAL_BLAS;
    lapack_int info = LAPACKE_dpstrf(LAPACK_COL_MAJOR, 'U', (lapack_int)count, gram, (lapack_int)count, order,
                                     &found, landmark_tolerance);
    if (info < 0) return sn_lapack_status(info, "pivoted Cholesky decomposition of the landmarks' kernel");
    *rank = found;
    return STONET_OK;
}

stonet_status sn_landmarks_create(int64_t count, int64_t p, const double *centres, double gamma,
                                  sn_workspace *keep, sn_landmarks *out)
{
    memset(out, 0, sizeof *out);
    out->p = p;
    out->gamma = gamma;
    SN_ARRAY(count * count, double, gram);
    SN_ZEROS(count, int, order);
    SN_TRY(sn_gaussian_gram(count, count, p, centres, centres, gamma, gram));
    SN_TRY(pivoted_cholesky(count, gram, order, &out->rank));
    SN_TRY(SN_TAKE(keep, out->order, out->rank));
    SN_TRY(SN_TAKE(keep, out->centres, out->rank * p));
    SN_TRY(SN_TAKE_ZERO(keep, out->l, out->rank * out->rank));
    for (int64_t i = 0; i < out->rank; i++) {
        out->order[i] = order[i] - 1;
        memcpy(out->centres + i * p, centres + out->order[i] * p, (size_t)p * sizeof *centres);
        memcpy(out->l + i * out->rank, gram + i * count, (size_t)(i + 1) * sizeof *gram);
    }
    return STONET_OK;
}

stonet_status sn_landmarks_features(const sn_landmarks *landmarks, int64_t n, const double *x, double *phi)
{
    int64_t rank = landmarks->rank;
    SN_TRY(sn_gaussian_gram(n, rank, landmarks->p, x, landmarks->centres, landmarks->gamma, phi));
    sn_triangular_solve_rows(rank, landmarks->l, n, phi);
    return STONET_OK;
}

void sn_landmarks_coefficients(const sn_landmarks *landmarks, int64_t d, double *a)
{
    sn_triangular_solve(landmarks->rank, true, landmarks->l, d, a);
}
