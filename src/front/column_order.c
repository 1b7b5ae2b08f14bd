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
#include "data/cells.h"
#include "front/front_wide.h"

enum { BLOCK = 256 /* columns */ };

typedef struct pursuit {
    int64_t n, p, k;
    const float *x; /* n x p, or */
    const sn_scaled_cells *sparse;
    const sn_rows *rows;
    double *sum;     /* sparse: k x 2 x p */
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
            rest[i * k + c] = problem->task == SN_CLASSIFICATION
                                  ? (sn_problem_label(problem, row) == c ? 1.0 : 0.0)
                                  : sn_problem_target(problem, row, c);
    }
    for (int64_t c = 0; c < k; c++) centre(rows->n, k, rest + c);
}

/* The sum of squares about the mean; 0 of what is but rounding. */
static double about_mean(const pursuit *s, double squares, double sum)
{
    const double about = squares - sum * sum / (double)s->n;
    return about > 1e-9 * squares ? about : 0.0;
}

/* The score of a column from sum_c (s'R_c)^2 of both ways, x and its square; -1: it is in the basis already.
 */
static void put_score(const pursuit *s, int64_t f, double plain, double square)
{
    double best = 0.0;
    if (s->norm[0][f] > 0.0) best = fmax(best, plain / s->norm[0][f]);
    if (s->norm[1][f] > 0.0) best = fmax(best, square / s->norm[1][f]);
    if (!(s->score[f] < 0.0)) s->score[f] = best;
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
            for (int64_t j = 0; j < count; j++)
                s->norm[way][first + j] = about_mean(s, squares[way][j], sum[way][j]);
    }
}

/* score_j = max over s in {x_j, x_j^2} of sum_c (s'R_c)^2 / |s - mean s|^2 for `count` columns from `first`
   on. R is centred, so s need not be. Blocks of columns keep the reads of x in order. */
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
    for (int64_t j = 0; j < count; j++) put_score(s, first + j, total[0][j], total[1][j]);
}

/* Squared norms from the cells that are kept: a number that is 0 before it is scaled counts as z = -centre
   factor, and has n - kept rows. */
static void fill_sparse_norms(pursuit *s)
{
    const sn_scaled_cells *from = s->sparse;
    double *sum[2] = {s->sum, s->sum + s->p};
    memset(s->sum, 0, (size_t)(2 * s->p) * sizeof *s->sum);
    memset(s->norm[0], 0, (size_t)s->p * sizeof *s->norm[0]);
    memset(s->norm[1], 0, (size_t)s->p * sizeof *s->norm[1]);
    /* Sums over all rows of what a cell has more than an empty one. */
    for (int64_t i = 0; i < s->n; i++) {
        const int64_t row = sn_rows_at(s->rows, i);
        for (int64_t c = from->cells->start[row]; c < from->cells->start[row + 1]; c++) {
            const int64_t f = from->feature[from->cells->column[c]];
            if (f < 0) continue;
            const double zero = -from->centre[f] * from->factor[f];
            const double value = zero + (double)from->cells->value[c] * from->factor[f];
            const double square = value * value, none = zero * zero;
            sum[0][f] += value - zero;
            s->norm[0][f] += square - none;
            sum[1][f] += square - none;
            s->norm[1][f] += square * square - none * none;
        }
    }
    const double n = (double)s->n;
    for (int64_t f = 0; f < s->p; f++) {
        const double zero = -from->centre[f] * from->factor[f], none = zero * zero;
        s->norm[0][f] = about_mean(s, s->norm[0][f] + n * none, sum[0][f] + n * zero);
        s->norm[1][f] = about_mean(s, s->norm[1][f] + n * none * none, sum[1][f] + n * none);
    }
}

/* sum_i R_ic x_ij and the same of x^2, for all columns j; R is centred, so that what all rows have in common
   falls out. */
static void sparse_products(const pursuit *s, int64_t c, double *sum)
{
    const sn_scaled_cells *from = s->sparse;
    memset(sum, 0, (size_t)(2 * s->p) * sizeof *sum);
    for (int64_t i = 0; i < s->n; i++) {
        const int64_t row = sn_rows_at(s->rows, i);
        const double r = s->rest[i * s->k + c];
        for (int64_t k = from->cells->start[row]; k < from->cells->start[row + 1]; k++) {
            const int64_t f = from->feature[from->cells->column[k]];
            if (f < 0) continue;
            const double zero = -from->centre[f] * from->factor[f];
            const double more = (double)from->cells->value[k] * from->factor[f];
            sum[f] += r * more;
            sum[s->p + f] += r * more * (more + 2.0 * zero);
        }
    }
}

static void score_sparse(const pursuit *s)
{
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < s->k; c++) sparse_products(s, c, s->sum + c * 2 * s->p);
    for (int64_t f = 0; f < s->p; f++) {
        double total[2] = {0.0, 0.0};
        for (int64_t k = 0; k < 2 * s->k; k++) total[k % 2] += s->sum[k * s->p + f] * s->sum[k * s->p + f];
        put_score(s, f, total[0], total[1]);
    }
}

static void score_all(const pursuit *s)
{
    if (s->sparse != NULL) {
        score_sparse(s);
        return;
    }
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < s->p; first += BLOCK)
        score_block(s, first, s->p - first < BLOCK ? s->p - first : BLOCK);
}

/* The number of row i in a column. */
static double value_at(const pursuit *s, int64_t i, int64_t f)
{
    if (s->sparse == NULL) return (double)s->x[i * s->p + f];
    const sn_cells *cells = s->sparse->cells;
    const int64_t row = sn_rows_at(s->rows, i);
    double value = 0.0; /* columns are not features, so the few cells of the row are looked through */
    for (int64_t k = cells->start[row]; k < cells->start[row + 1]; k++)
        if (s->sparse->feature[cells->column[k]] == f) value = (double)cells->value[k];
    return (value - s->sparse->centre[f]) * s->sparse->factor[f];
}

static int64_t best_column(const pursuit *s)
{
    score_all(s);
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
            const double value = value_at(s, i, column);
            vector[i] = way == 0 ? value : value * value;
        }
        centre(s->n, 1, vector);
        if (s->norm[way][column] > 0.0) join_basis(s, vector);
    }
}

stonet_status sn_column_order(const sn_problem *problem, const sn_rows *rows, int64_t count, int64_t *columns)
{
    const int64_t n = rows->n, p = problem->p;
    pursuit s = {.n = n, .p = p, .k = problem->outputs};
    SN_WORKSPACE(scratch);
    float *x = NULL;
    s.rows = rows;
    const bool dense = problem->x != NULL || problem->source == NULL || problem->source->sparse == NULL;
    s.sparse = dense ? NULL : problem->source->sparse;
    if (!dense)
        SN_TRY(SN_TAKE(&scratch, s.sum, 2 * p * (s.k > 0 ? s.k : 1)));
    else
        SN_TRY(SN_TAKE(&scratch, x, n * p));
    SN_TRY(SN_TAKE(&scratch, s.rest, n * s.k));
    SN_TRY(SN_TAKE_EACH(&scratch, p, &s.norm[0], &s.norm[1]));
    SN_TRY(SN_TAKE_ZERO(&scratch, s.score, p));
    SN_TRY(SN_TAKE(&scratch, s.basis, (2 * count + 2) * n));
    SN_TRY(sn_batch_prepare(problem, rows));
    fill_response(problem, rows, s.k, s.rest);
    if (!dense) {
        fill_sparse_norms(&s);
    } else {
        sn_batch batch = {.x = x, .x_stride = p};
        sn_batch_fetch(problem, rows, &batch);
        s.x = x;
        fill_norms(&s);
    }
    for (int64_t k = 0; k < count; k++) {
        columns[k] = best_column(&s);
        take_column(&s, columns[k]);
    }
    return STONET_OK;
}
