/*
 * Forward selection of columns (orthogonal matching pursuit, with squares).
 *
 * R (n x k) is the response less its mean and its projection on a basis; a column's score is the larger of
 * sum_c (x_j'R_c)^2 / |x_j - mean|^2 and the same of its square. The best column's x_j and x_j^2, orthogonal
 * to the basis so far, join it.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "stonet/wide.h"

enum { BLOCK = 256 /* columns */ };

typedef struct pursuit {
    int64_t n, p, k;
    const float *x;  /* n x p */
    double *rest;    /* R, n x k */
    double *norm[2]; /* p: of x_j and x_j^2 less their means, squared */
    double *score;   /* p */
    double *basis;   /* rows of n numbers */
    int64_t in_basis;
} pursuit;

static void centre(int64_t n, int64_t stride, double *values)
{
    double mean = 0.0;
    for (int64_t i = 0; i < n; i++) mean += values[i * stride] / (double)n;
    for (int64_t i = 0; i < n; i++) values[i * stride] -= mean;
}

static void fill_response(const sn_problem *problem, const sn_rows *rows, int64_t k, double *rest)
{
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        for (int64_t c = 0; c < k; c++)
            rest[i * k + c] = problem->label != NULL ? (problem->label[row] == c ? 1.0 : 0.0)
                                                     : problem->y[row * problem->outputs + c];
    }
    for (int64_t c = 0; c < k; c++) centre(rows->n, k, rest + c);
}

/* Squared norms of the columns and their squares about their means, block by block. */
static void fill_norms(pursuit *s)
{
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < s->p; first += BLOCK) {
        const int64_t count = s->p - first < BLOCK ? s->p - first : BLOCK;
        double sum[2][BLOCK] = {{0}}, squares[2][BLOCK] = {{0}};
        for (int64_t i = 0; i < s->n; i++) {
            const float *x = s->x + i * s->p + first;
            for (int64_t j = 0; j < count; j++) {
                const double value = (double)x[j], square = value * value;
                sum[0][j] += value;
                squares[0][j] += square;
                sum[1][j] += square;
                squares[1][j] += square * square;
            }
        }
        for (int way = 0; way < 2; way++)
            for (int64_t j = 0; j < count; j++) {
                const double about = squares[way][j] - sum[way][j] * sum[way][j] / (double)s->n;
                s->norm[way][first + j] = about > 1e-9 * squares[way][j] ? about : 0.0;
            }
    }
}

static void score_block(const pursuit *s, int64_t first, int64_t count)
{
    double total[2][BLOCK] = {{0}};
    for (int64_t c = 0; c < s->k; c++) {
        double sum[2][BLOCK] = {{0}};
        for (int64_t i = 0; i < s->n; i++) {
            const float *x = s->x + i * s->p + first;
            const double r = s->rest[i * s->k + c];
            for (int64_t j = 0; j < count; j++) {
                const double value = (double)x[j];
                sum[0][j] += r * value;
                sum[1][j] += r * value * value;
            }
        }
        for (int way = 0; way < 2; way++)
            for (int64_t j = 0; j < count; j++) total[way][j] += sum[way][j] * sum[way][j];
    }
    for (int64_t j = 0; j < count; j++) {
        double best = 0.0;
        for (int way = 0; way < 2; way++)
            if (s->norm[way][first + j] > 0.0) best = fmax(best, total[way][j] / s->norm[way][first + j]);
        s->score[first + j] = s->score[first + j] < 0.0 ? -1.0 : best; /* -1: taken already */
    }
}

static int64_t best_column(const pursuit *s)
{
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < s->p; first += BLOCK)
        score_block(s, first, s->p - first < BLOCK ? s->p - first : BLOCK);
    int64_t best = -1;
    for (int64_t j = 0; j < s->p; j++)
        if (s->score[j] >= 0.0 && (best < 0 || s->score[j] > s->score[best])) best = j;
    return best;
}

static double product(int64_t n, const double *a, int64_t stride, const double *b)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += a[i * stride] * b[i];
    return sum;
}

/* Adds the part of a vector that is orthogonal to the basis, if there is any, and takes it out of R. */
static void join_basis(pursuit *s, double *vector)
{
    const double before = product(s->n, vector, 1, vector);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t b = 0; b < s->in_basis; b++) {
            const double *other = s->basis + b * s->n;
            const double share = product(s->n, vector, 1, other);
            for (int64_t i = 0; i < s->n; i++) vector[i] -= share * other[i];
        }
    const double left = product(s->n, vector, 1, vector);
    if (!(left > 1e-9 * before)) return;
    for (int64_t i = 0; i < s->n; i++) vector[i] /= sqrt(left);
    for (int64_t c = 0; c < s->k; c++) {
        const double share = product(s->n, s->rest + c, s->k, vector);
        for (int64_t i = 0; i < s->n; i++) s->rest[i * s->k + c] -= share * vector[i];
    }
    s->in_basis++;
}

static void take_column(pursuit *s, int64_t column)
{
    s->score[column] = -1.0;
    for (int way = 0; way < 2; way++) {
        double *vector = s->basis + s->in_basis * s->n;
        for (int64_t i = 0; i < s->n; i++) {
            const double value = (double)s->x[i * s->p + column];
            vector[i] = way == 0 ? value : value * value;
        }
        centre(s->n, 1, vector);
        if (s->norm[way][column] > 0.0) join_basis(s, vector);
    }
}

stonet_status sn_wide_order(const sn_problem *problem, const sn_rows *rows, int64_t count, int64_t *columns)
{
    const int64_t n = rows->n, p = problem->p;
    pursuit s = {.n = n, .p = p, .k = problem->outputs};
    SN_WORKSPACE(scratch);
    float *x = NULL;
    SN_TRY(SN_TAKE(&scratch, x, n * p));
    SN_TRY(SN_TAKE(&scratch, s.rest, n * s.k));
    SN_TRY(SN_TAKE(&scratch, s.norm[0], p));
    SN_TRY(SN_TAKE(&scratch, s.norm[1], p));
    SN_TRY(SN_TAKE_ZERO(&scratch, s.score, p));
    SN_TRY(SN_TAKE(&scratch, s.basis, (2 * count + 2) * n));
    SN_TRY(sn_batch_prepare(problem, rows));
    sn_batch batch = {.x = x, .x_stride = p};
    sn_batch_fetch(problem, rows, &batch);
    s.x = x;
    fill_response(problem, rows, s.k, s.rest);
    fill_norms(&s);
    for (int64_t k = 0; k < count; k++) {
        columns[k] = best_column(&s);
        take_column(&s, columns[k]);
    }
    return STONET_OK;
}
