#include "methods/lsmi.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/partitions.h"
#include "math/exponential.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "math/noise.h"
#include "math/serial_blas.h"

/* Features of so many rows that they stay in the cache of a core, within limits good for BLAS. */
enum { CACHED_FEATURES = 1 << 15, FEWEST_ROWS = 64, MOST_ROWS = 1024 };

static int64_t block_size(const sn_lsmi *lsmi, int64_t block)
{
    return lsmi->first[block + 1] - lsmi->first[block];
}

/* ---- rows and centres -------------------------------------------------------------------------- */

/* An order in which folds are ranges of rows, and the responses in it. */
static stonet_status order_rows(const sn_problem *problem, uint64_t seed, sn_workspace *keep, sn_lsmi *lsmi)
{
    int64_t n = lsmi->n, m = lsmi->m, at = 0;
    int folds = n < SN_LSMI_FOLDS ? (int)n : SN_LSMI_FOLDS; /* those that are left stay empty */
    const sn_rows all = sn_rows_range(0, n);
    SN_TRY(SN_TAKE(keep, lsmi->row, n));
    SN_ARRAY(n, int32_t, part);
    SN_TRY(sn_split_rows(problem, &all, n, seed, &folds, part));
    for (int k = 0; k < SN_LSMI_FOLDS; k++) {
        for (int64_t i = 0; i < n; i++)
            if (part[i] == k) lsmi->row[at++] = i;
        lsmi->fold[k + 1] = at;
    }
    if (problem->task == SN_REGRESSION) {
        SN_TRY(SN_TAKE(keep, lsmi->y, n * m));
        sn_take_rows(n, m, problem->y, lsmi->row, lsmi->y);
        return STONET_OK;
    }
    SN_TRY(SN_TAKE(keep, lsmi->label, n));
    SN_TRY(SN_TAKE_ZERO(keep, lsmi->count, lsmi->blocks * (SN_LSMI_FOLDS + 1)));
    for (int64_t k = 0; k < SN_LSMI_FOLDS; k++)
        for (int64_t i = lsmi->fold[k]; i < lsmi->fold[k + 1]; i++) {
            lsmi->label[i] = problem->label[lsmi->row[i]];
            int64_t *count = lsmi->count + (int64_t)lsmi->label[i] * (SN_LSMI_FOLDS + 1);
            count[k]++;
            count[SN_LSMI_FOLDS]++;
        }
    return STONET_OK;
}

/* A keyed choice of the rows, class by class. */
static stonet_status choose_centres(uint64_t seed, sn_workspace *keep, sn_lsmi *lsmi)
{
    int64_t at = 0;
    SN_ARRAY(lsmi->b, int64_t, rows);
    SN_TRY(SN_TAKE(keep, lsmi->centre, lsmi->b));
    SN_TRY(SN_TAKE_ZERO(keep, lsmi->first, lsmi->blocks + 1));
    SN_TRY(SN_TAKE_ZERO(keep, lsmi->sums_at, lsmi->blocks + 1));
    SN_TRY(sn_choose_rows(lsmi->n, lsmi->b, seed, 3, rows));
    for (int64_t block = 0; block < lsmi->blocks; block++) {
        for (int64_t l = 0; l < lsmi->b; l++)
            if (lsmi->label == NULL || lsmi->label[rows[l]] == block) lsmi->centre[at++] = rows[l];
        lsmi->first[block + 1] = at;
        int64_t size = block_size(lsmi, block);
        lsmi->sums_at[block + 1] = lsmi->sums_at[block] + (SN_LSMI_FOLDS + 1) * (size * size + size);
        if (size > lsmi->widest) lsmi->widest = size;
    }
    return STONET_OK;
}

/* All that is large, once its size is known and found to fit. */
static stonet_status create_work(double besides, sn_workspace *keep, sn_lsmi *lsmi)
{
    int64_t n = lsmi->n, b = lsmi->b, width = lsmi->d + 2, widest = lsmi->widest;
    int64_t rows = CACHED_FEATURES / (widest + 1);
    lsmi->threads = omp_get_max_threads();
    lsmi->rows = rows < FEWEST_ROWS ? FEWEST_ROWS : rows > MOST_ROWS ? MOST_ROWS : rows;
    int64_t features = lsmi->rows * (2 * widest + width + 2), solving = widest * widest + 2 * widest;
    lsmi->scratch = features > solving ? features : solving;
    int64_t sums = lsmi->sums_at[lsmi->blocks], work = lsmi->threads * lsmi->scratch;
    double count = (double)(n * width + (SN_LSMI_SLABS + 1) * b * width + sums + work);
    if (lsmi->label == NULL) count += (double)(n * b + (SN_LSMI_FOLDS + 2) * b * b);
    SN_TRY(sn_memory_require((uint64_t)(8.0 * (count + besides)), "lsmie",
                             "set fewer landmarks (landmarks=200)"));
    SN_TRY(SN_TAKE(keep, lsmi->z, n * width));
    SN_TRY(SN_TAKE(keep, lsmi->u, b * width));
    SN_TRY(SN_TAKE(keep, lsmi->du, SN_LSMI_SLABS * b * width));
    SN_TRY(SN_TAKE(keep, lsmi->sums, sums));
    SN_TRY(SN_TAKE(keep, lsmi->work, work));
    SN_TRY(SN_TAKE_EACH(keep, b, &lsmi->alpha, &lsmi->beta));
    if (lsmi->label != NULL) return STONET_OK;
    SN_TRY(SN_TAKE(keep, lsmi->phi_y, n * b));
    SN_TRY(SN_TAKE(keep, lsmi->t, b * b));
    return SN_TAKE(keep, lsmi->response, (SN_LSMI_FOLDS + 1) * b * b);
}

stonet_status sn_lsmi_create(const sn_problem *problem, int64_t centres, int64_t d, uint64_t seed,
                             double besides, sn_workspace *keep, sn_lsmi *lsmi)
{
    const bool classes = problem->task == SN_CLASSIFICATION;
    *lsmi = (sn_lsmi){.n = problem->n,
                      .d = d,
                      .b = centres < problem->n ? centres : problem->n,
                      .blocks = classes ? problem->outputs : 1,
                      .m = classes ? 0 : problem->outputs};
    SN_TRY(order_rows(problem, seed, keep, lsmi));
    SN_TRY(choose_centres(seed, keep, lsmi));
    SN_TRY(create_work(besides, keep, lsmi));
    if (lsmi->label != NULL) return STONET_OK;
    SN_TRY(sn_typical_distance(lsmi->n, lsmi->m, lsmi->y, seed, &lsmi->y_scale));
    if (lsmi->y_scale > 0.0) return STONET_OK;
    return sn_fail(STONET_ERROR_DATA, "the target is constant, so there is nothing to explain");
}

/* ---- settings ---------------------------------------------------------------------------------- */

/* phi_y at this bandwidth and its products. */
static stonet_status set_response(sn_lsmi *lsmi, double s)
{
    int64_t b = lsmi->b, square = b * b;
    double *all = lsmi->response + SN_LSMI_FOLDS * square;
    double gamma = 1.0 / (2.0 * s * s * lsmi->y_scale * lsmi->y_scale);
    SN_ARRAY(b * lsmi->m, double, centre);
    sn_take_rows(b, lsmi->m, lsmi->y, lsmi->centre, centre);
    SN_TRY(sn_gaussian_gram(lsmi->n, b, lsmi->m, lsmi->y, centre, gamma, lsmi->phi_y));
#pragma omp parallel num_threads(lsmi->threads)
    {
        sn_serial_blas();
#pragma omp for
        for (int64_t k = 0; k < SN_LSMI_FOLDS; k++)
            sn_syrk_tn(b, lsmi->fold[k + 1] - lsmi->fold[k], 1.0, lsmi->phi_y + lsmi->fold[k] * b, 0.0,
                       lsmi->response + k * square);
    }
    memset(all, 0, (size_t)square * sizeof *all);
    for (int64_t k = 0; k < SN_LSMI_FOLDS; k++)
        for (int64_t i = 0; i < square; i++) all[i] += lsmi->response[k * square + i];
    return STONET_OK;
}

stonet_status sn_lsmi_set(sn_lsmi *lsmi, double s, double lambda)
{
    lsmi->lambda = lambda;
    if (s == lsmi->s) return STONET_OK;
    if (lsmi->label == NULL) SN_TRY(set_response(lsmi, s));
    lsmi->s = s;
    return STONET_OK;
}

/*
 * Puts the point z in place: with rows z_i less their mean, rows (z_i, |z_i|^2, 1) and, for the centres, (2
 * gamma u_l, -gamma, -gamma |u_l|^2), gamma = 1 / (2 s^2 m_z^2), whose inner products are the exponents
 * -gamma |z_i - u_l|^2.
 */
static stonet_status place(sn_lsmi *lsmi, const double *z)
{
    int64_t d = lsmi->d, width = d + 2;
    const double scale = lsmi->s * lsmi->z_scale;
    SN_ARRAY(d, double, mean);
    sn_column_means(lsmi->n, d, z, mean);
#pragma omp parallel for num_threads(lsmi->threads)
    for (int64_t i = 0; i < lsmi->n; i++) {
        double *row = lsmi->z + i * width, square = 0.0;
        for (int64_t j = 0; j < d; j++) {
            row[j] = z[i * d + j] - mean[j];
            square += row[j] * row[j];
        }
        row[d] = square;
        row[d + 1] = 1.0;
    }
    lsmi->gamma = 1.0 / (2.0 * scale * scale);
    for (int64_t l = 0; l < lsmi->b; l++) {
        const double *row = lsmi->z + lsmi->centre[l] * width;
        double *u = lsmi->u + l * width;
        for (int64_t j = 0; j < d; j++) u[j] = 2.0 * lsmi->gamma * row[j];
        u[d] = -lsmi->gamma;
        u[d + 1] = -lsmi->gamma * row[d];
    }
    return STONET_OK;
}

stonet_status sn_lsmi_set_unit(sn_lsmi *lsmi, const double *z, uint64_t seed)
{
    SN_TRY(sn_typical_distance(lsmi->n, lsmi->d, z, seed, &lsmi->z_scale));
    if (lsmi->z_scale > 0.0) return STONET_OK;
    return sn_fail(STONET_ERROR_DATA, "all rows have the same features, so there is nothing to reduce");
}

/* ---- sums over rows ---------------------------------------------------------------------------- */

static double *thread_work(const sn_lsmi *lsmi)
{
    return lsmi->work + omp_get_thread_num() * lsmi->scratch;
}

/* phi_z (rows x size of the block) of rows from .. to - 1. */
static void block_features(const sn_lsmi *lsmi, int64_t block, int64_t from, int64_t to, double *phi)
{
    int64_t size = block_size(lsmi, block), width = lsmi->d + 2;
    sn_multiply(sn_as(lsmi->z + from * width, to - from, width),
                sn_turned(lsmi->u + lsmi->first[block] * width, size, width), phi);
    sn_exp_nonpositive((to - from) * size, phi);
}

/* The sums of one range of rows, for one block. */
typedef struct part {
    double *z; /* size x size: sum phi_z phi_z' */
    double *h; /* size: sum phi_z . phi_y */
} part;

/* Fold k, or all rows. */
static part part_of(const sn_lsmi *lsmi, int64_t block, int64_t k)
{
    int64_t size = block_size(lsmi, block);
    double *at = lsmi->sums + lsmi->sums_at[block] + k * (size * size + size);
    return (part){.z = at, .h = at + size * size};
}

/* Sums of fold k for one block of basis functions: z = sum phi phi' (size x size), h = sum of phi where the
   pair of x and y is one row. */
static void add_fold(const sn_lsmi *lsmi, int64_t block, int64_t k)
{
    int64_t size = block_size(lsmi, block);
    part sum = part_of(lsmi, block, k);
    double *phi = thread_work(lsmi);
    memset(sum.z, 0, (size_t)(size * size + size) * sizeof(double));
    for (int64_t from = lsmi->fold[k]; from < lsmi->fold[k + 1]; from += lsmi->rows) {
        int64_t to = from + lsmi->rows < lsmi->fold[k + 1] ? from + lsmi->rows : lsmi->fold[k + 1];
        block_features(lsmi, block, from, to, phi);
        sn_syrk_tn(size, to - from, 1.0, phi, 1.0, sum.z);
        for (int64_t i = from; i < to; i++) {
            const double *row = phi + (i - from) * size;
            if (lsmi->label == NULL) {
                const double *phi_y = lsmi->phi_y + i * size;
                for (int64_t l = 0; l < size; l++) sum.h[l] += row[l] * phi_y[l];
            } else if (lsmi->label[i] == block) {
                for (int64_t l = 0; l < size; l++) sum.h[l] += row[l];
            }
        }
    }
}

/* All sums at the point in place. */
static void add_rows(sn_lsmi *lsmi)
{
#pragma omp parallel num_threads(lsmi->threads)
    {
        sn_serial_blas();
#pragma omp for schedule(dynamic)
        for (int64_t task = 0; task < lsmi->blocks * SN_LSMI_FOLDS; task++)
            add_fold(lsmi, task / SN_LSMI_FOLDS, task % SN_LSMI_FOLDS);
#pragma omp for schedule(dynamic)
        for (int64_t block = 0; block < lsmi->blocks; block++) {
            int64_t size = block_size(lsmi, block), count = size * size + size;
            double *all = part_of(lsmi, block, SN_LSMI_FOLDS).z;
            memset(all, 0, (size_t)count * sizeof *all);
            for (int64_t k = 0; k < SN_LSMI_FOLDS; k++) {
                const double *fold = part_of(lsmi, block, k).z;
                for (int64_t i = 0; i < count; i++) all[i] += fold[i];
            }
        }
    }
}

/* ---- value ------------------------------------------------------------------------------------- */

/* H (hh, size x size) and h of some of the rows: all times the sums over all rows plus fold times those of
   fold k. */
static void moments(const sn_lsmi *lsmi, int64_t block, int64_t k, double all, double fold, double *hh,
                    double *h)
{
    int64_t size = block_size(lsmi, block), square = size * size;
    part whole = part_of(lsmi, block, SN_LSMI_FOLDS), own = part_of(lsmi, block, k);
    double rows = all * (double)lsmi->n + fold * (double)(lsmi->fold[k + 1] - lsmi->fold[k]);
    if (lsmi->label != NULL) {
        const int64_t *count = lsmi->count + block * (SN_LSMI_FOLDS + 1);
        double y = (all * (double)count[SN_LSMI_FOLDS] + fold * (double)count[k]) / (rows * rows);
        for (int64_t i = 0; i < square; i++) hh[i] = (all * whole.z[i] + fold * own.z[i]) * y;
    } else {
        const double *y = lsmi->response + SN_LSMI_FOLDS * square, *own_y = lsmi->response + k * square;
        for (int64_t i = 0; i < square; i++)
            hh[i] = (all * whole.z[i] + fold * own.z[i]) * (all * y[i] + fold * own_y[i]) / (rows * rows);
    }
    for (int64_t l = 0; l < size; l++) h[l] = (all * whole.h[l] + fold * own.h[l]) / rows;
}

/* alpha, beta and the block's share h'alpha - alpha'H alpha / 2 of S. */
static stonet_status solve_block(const sn_lsmi *lsmi, int64_t block, double *value)
{
    int64_t size = block_size(lsmi, block);
    double *factor = thread_work(lsmi), *h = factor + size * size;
    double *alpha = lsmi->alpha + lsmi->first[block], *beta = lsmi->beta + lsmi->first[block];
    moments(lsmi, block, 0, 1.0, 0.0, factor, h);
    memcpy(alpha, h, (size_t)size * sizeof *alpha);
    sn_add_diagonal(size, lsmi->lambda, factor);
    SN_TRY(sn_cholesky(size, factor));
    SN_TRY(sn_cholesky_solve(size, factor, 1, alpha));
    for (int64_t l = 0; l < size; l++) beta[l] = h[l] - lsmi->lambda * alpha[l]; /* H alpha */
    *value = sn_dot(size, h, alpha) - 0.5 * sn_dot(size, alpha, beta);
    return sn_cholesky_solve(size, factor, 1, beta);
}

static stonet_status not_finite(void)
{
    return sn_fail(STONET_ERROR_NUMERIC, "the products of the basis functions are not positive definite");
}

stonet_status sn_lsmi_value(sn_lsmi *lsmi, const double *z, double *value)
{
    bool failed = false;
    SN_TRY(place(lsmi, z));
    SN_ZEROS(lsmi->blocks, double, share);
    add_rows(lsmi);
#pragma omp parallel num_threads(lsmi->threads)
    {
        sn_serial_blas();
#pragma omp for schedule(dynamic) reduction(|| : failed)
        for (int64_t block = 0; block < lsmi->blocks; block++)
            if (block_size(lsmi, block) > 0 && solve_block(lsmi, block, &share[block]) != STONET_OK)
                failed = true;
    }
    *value = -0.5;
    for (int64_t block = 0; block < lsmi->blocks; block++) *value += share[block];
    return failed ? not_finite() : STONET_OK;
}

/* ---- gradient ---------------------------------------------------------------------------------- */

/*
 * weight (rows x size) = omega . phi, omega = a phi_y / n - phi T / n^2 with T_lm = (alpha_l c_m + alpha_m
 * c_l) r_lm, a = 2 alpha - beta, c = 1.5 alpha - beta, r = sum_i phi_y phi_y'. For classes r is constant and
 * phi T = r ((phi alpha) c' + (phi c) alpha').
 */
static void weigh(const sn_lsmi *lsmi, int64_t block, int64_t from, int64_t to, const double *phi,
                  double *pair, double *weight)
{
    int64_t size = block_size(lsmi, block), rows = to - from;
    const double *alpha = lsmi->alpha + lsmi->first[block], *beta = lsmi->beta + lsmi->first[block];
    double n = (double)lsmi->n;
    if (lsmi->label == NULL) {
        sn_gemm(-1.0 / (n * n), sn_as(phi, rows, size), sn_as(lsmi->t, size, size), 0.0, weight);
        for (int64_t i = 0; i < rows; i++) {
            const double *phi_y = lsmi->phi_y + (from + i) * size, *row = phi + i * size;
            double *out = weight + i * size;
            for (int64_t l = 0; l < size; l++)
                out[l] = (out[l] + (2.0 * alpha[l] - beta[l]) * phi_y[l] / n) * row[l];
        }
        return;
    }
    double r = -(double)lsmi->count[block * (SN_LSMI_FOLDS + 1) + SN_LSMI_FOLDS] / (n * n);
    sn_gemv(r, sn_as(phi, rows, size), alpha, 0.0, pair);
    sn_gemv(r, sn_as(phi, rows, size), beta, 0.0, pair + rows);
    for (int64_t i = 0; i < rows; i++) {
        const double *row = phi + i * size;
        double *out = weight + i * size, own = lsmi->label[from + i] == block ? 1.0 / n : 0.0;
        double with_alpha = 3.0 * pair[i] - pair[rows + i] + 2.0 * own, with_beta = -pair[i] - own;
        for (int64_t l = 0; l < size; l++) out[l] = (with_alpha * alpha[l] + with_beta * beta[l]) * row[l];
    }
}

/* dz of rows from .. to - 1, and what they add to the centres: with V the weights, dz_i = 2 gamma sum_l V_il
   (u_l - z_i), and du (b x (d + 2)) = V'(z, |z|^2, 1). */
static void slab_gradient(const sn_lsmi *lsmi, int64_t from, int64_t to, double *du, double *dz)
{
    int64_t d = lsmi->d, width = d + 2;
    double *phi = thread_work(lsmi), *weight = phi + lsmi->rows * lsmi->widest;
    double *sum = weight + lsmi->rows * lsmi->widest, *pair = sum + lsmi->rows * width;
    memset(du, 0, (size_t)(lsmi->b * width) * sizeof *du);
    for (int64_t at = from; at < to; at += lsmi->rows) {
        int64_t end = at + lsmi->rows < to ? at + lsmi->rows : to, rows = end - at;
        const double *z = lsmi->z + at * width;
        memset(sum, 0, (size_t)(rows * width) * sizeof *sum);
        for (int64_t block = 0; block < lsmi->blocks; block++) {
            int64_t size = block_size(lsmi, block), first = lsmi->first[block];
            if (size == 0) continue;
            block_features(lsmi, block, at, end, phi);
            weigh(lsmi, block, at, end, phi, pair, weight);
            sn_gemm(1.0, sn_as(weight, rows, size), sn_as(lsmi->u + first * width, size, width), 1.0, sum);
            sn_gemm(1.0, sn_turned(weight, rows, size), sn_as(z, rows, width), 1.0, du + first * width);
        }
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < d; j++)
                dz[(at + i) * d + j] = sum[i * width + j] + 2.0 * sum[i * width + d] * z[i * width + j];
    }
}

void sn_lsmi_gradient(sn_lsmi *lsmi, double *dz)
{
    const int64_t n = lsmi->n, b = lsmi->b, d = lsmi->d, width = d + 2, size = b * width;
    const double *alpha = lsmi->alpha, *beta = lsmi->beta;
    if (lsmi->label == NULL) { /* the T of weigh() */
        const double *r = lsmi->response + SN_LSMI_FOLDS * b * b;
#pragma omp parallel for num_threads(lsmi->threads)
        for (int64_t l = 0; l < b; l++)
            for (int64_t m = 0; m < b; m++)
                lsmi->t[l * b + m] =
                    (3.0 * alpha[l] * alpha[m] - alpha[l] * beta[m] - alpha[m] * beta[l]) * r[l * b + m];
    }
#pragma omp parallel num_threads(lsmi->threads)
    {
        sn_serial_blas();
#pragma omp for schedule(dynamic)
        for (int64_t slab = 0; slab < SN_LSMI_SLABS; slab++)
            slab_gradient(lsmi, n * slab / SN_LSMI_SLABS, n * (slab + 1) / SN_LSMI_SLABS,
                          lsmi->du + slab * size, dz);
    }
    for (int64_t slab = 1; slab < SN_LSMI_SLABS; slab++)
        for (int64_t i = 0; i < size; i++) lsmi->du[i] += lsmi->du[slab * size + i];
    for (int64_t l = 0; l < b; l++) { /* du_l = 2 gamma sum_i V_il (z_i - u_l), in the rows of the centres */
        const double *du = lsmi->du + l * width, *u = lsmi->u + l * width;
        double *row = dz + lsmi->centre[l] * d;
        for (int64_t j = 0; j < d; j++) row[j] += 2.0 * lsmi->gamma * du[j] - du[d + 1] * u[j];
    }
}

/* ---- choice of the settings -------------------------------------------------------------------- */

/* loss[j] = alpha'H alpha / 2 - h'alpha on fold k for alpha of the other rows with lambda[j], for the j
   wanted. */
static stonet_status fold_loss(const sn_lsmi *lsmi, int64_t block, int64_t k, const sn_lsmi_grid *grid,
                               const bool *wanted, double *loss)
{
    int64_t size = block_size(lsmi, block);
    double *hh = thread_work(lsmi), *h = hh + size * size, *alpha = h + size;
    for (int64_t j = 0; j < grid->n_lambda; j++) {
        if (!wanted[j]) continue;
        moments(lsmi, block, k, 1.0, -1.0, hh, alpha);
        sn_add_diagonal(size, grid->lambda[j], hh);
        SN_TRY(sn_solve_spd(size, hh, 1, alpha));
        moments(lsmi, block, k, 0.0, 1.0, hh, h);
        loss[j] = -sn_dot(size, h, alpha);
        for (int64_t l = 0; l < size; l++) loss[j] += 0.5 * alpha[l] * sn_dot(size, hh + l * size, alpha);
    }
    return STONET_OK;
}

/* The losses (n_lambda, only those wanted) at bandwidth i of the grid. */
static stonet_status bandwidth_loss(sn_lsmi *lsmi, const double *z, const sn_lsmi_grid *grid, int64_t i,
                                    const bool *wanted, double *loss)
{
    int64_t tasks = lsmi->blocks * SN_LSMI_FOLDS, count = grid->n_lambda;
    bool failed = false;
    SN_TRY(sn_lsmi_set(lsmi, grid->s[i], lsmi->lambda));
    SN_TRY(place(lsmi, z));
    SN_ZEROS(tasks * count, double, share);
    add_rows(lsmi);
#pragma omp parallel num_threads(lsmi->threads)
    {
        sn_serial_blas();
#pragma omp for schedule(dynamic) reduction(|| : failed)
        for (int64_t task = 0; task < tasks; task++) {
            int64_t block = task / SN_LSMI_FOLDS, k = task % SN_LSMI_FOLDS;
            int64_t rows = lsmi->fold[k + 1] - lsmi->fold[k];
            if (block_size(lsmi, block) == 0 || rows == 0) continue;
            if (fold_loss(lsmi, block, k, grid, wanted, share + task * count) != STONET_OK) failed = true;
        }
    }
    for (int64_t j = 0; j < count; j++) {
        if (!wanted[j]) continue;
        loss[j] = 0.0;
        for (int64_t task = 0; task < tasks; task++) loss[j] += share[task * count + j];
    }
    return failed ? not_finite() : STONET_OK;
}

stonet_status sn_lsmi_loss(sn_lsmi *lsmi, const double *z, double *loss)
{
    const double s = lsmi->s, lambda = lsmi->lambda;
    const sn_lsmi_grid one = {.s = &s, .lambda = &lambda, .n_s = 1, .n_lambda = 1};
    const bool wanted = true;
    return bandwidth_loss(lsmi, z, &one, 0, &wanted, loss);
}

/* Fills loss (n_s x n_lambda, NaN where not known) in the window of `reach` around the choice. */
static stonet_status window_loss(sn_lsmi *lsmi, const double *z, const sn_lsmi_grid *grid, int64_t reach,
                                 bool *wanted, double *loss)
{
    for (int64_t i = 0; i < grid->n_s; i++) {
        bool any = false;
        double *row = loss + i * grid->n_lambda;
        if (llabs(i - grid->at_s) > reach) continue;
        for (int64_t j = 0; j < grid->n_lambda; j++) {
            wanted[j] = llabs(j - grid->at_lambda) <= reach && isnan(row[j]);
            any = any || wanted[j];
        }
        if (any) SN_TRY(bandwidth_loss(lsmi, z, grid, i, wanted, row));
    }
    return STONET_OK;
}

stonet_status sn_lsmi_tune(sn_lsmi *lsmi, const double *z, sn_lsmi_grid *grid)
{
    int64_t count = grid->n_s * grid->n_lambda, at = -1;
    int64_t reach = grid->at_s < 0 ? count : 1;
    if (count == 1) {
        grid->at_s = grid->at_lambda = 0;
        return sn_lsmi_set(lsmi, grid->s[0], grid->lambda[0]);
    }
    SN_ARRAY(count, double, loss);
    SN_ARRAY(grid->n_lambda, bool, wanted);
    for (int64_t i = 0; i < count; i++) loss[i] = NAN;
    for (int64_t best = -1; best != at || at < 0; reach = 1) {
        at = best;
        SN_TRY(window_loss(lsmi, z, grid, reach, wanted, loss));
        for (int64_t i = 0; i < count; i++)
            if (loss[i] < INFINITY && (best < 0 || loss[i] < loss[best])) best = i;
        if (best < 0) break;
        grid->at_s = best / grid->n_lambda;
        grid->at_lambda = best % grid->n_lambda;
    }
    return at < 0 ? not_finite() : sn_lsmi_set(lsmi, grid->s[grid->at_s], grid->lambda[grid->at_lambda]);
}
