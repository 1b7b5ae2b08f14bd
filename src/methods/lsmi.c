#include "methods/lsmi.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "math/noise.h"

static int64_t block_size(const sn_lsmi *lsmi, int64_t block)
{
    return lsmi->first[block + 1] - lsmi->first[block];
}

void sn_lsmi_free(sn_lsmi *lsmi)
{
    sn_free(lsmi->x);
    sn_free(lsmi->centres);
    sn_free(lsmi->first);
    sn_free(lsmi->label);
    sn_free(lsmi->y);
    sn_free(lsmi->v);
    sn_free(lsmi->phi_y);
    sn_free(lsmi->z);
    sn_free(lsmi->u);
    sn_free(lsmi->dz);
    sn_free(lsmi->du);
    sn_free(lsmi->phi);
    sn_free(lsmi->weight);
    memset(lsmi, 0, sizeof *lsmi);
}

/* Rows in a keyed order, so that folds are ranges of rows. */
static stonet_status copy_rows(const sn_problem *problem, uint64_t seed, sn_lsmi *lsmi)
{
    int64_t n = lsmi->n, p = lsmi->p, m = lsmi->m;
    int64_t *order = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(order, n), done);
    SN_GOTO(status, SN_NEW_RAW(lsmi->x, n * p), done);
    sn_random random;
    sn_random_init(&random, seed, SN_STREAM_SPLIT, 1);
    sn_random_permutation(&random, n, order);
    for (int64_t k = 0; k <= SN_LSMI_FOLDS; k++) lsmi->fold[k] = n * k / SN_LSMI_FOLDS;
    for (int64_t i = 0; i < n; i++) sn_widen(p, problem->x + order[i] * p, lsmi->x + i * p);
    if (problem->task == SN_CLASSIFICATION) {
        SN_GOTO(status, SN_NEW_RAW(lsmi->label, n), done);
        for (int64_t i = 0; i < n; i++) lsmi->label[i] = problem->label[order[i]];
    } else {
        SN_GOTO(status, SN_NEW_RAW(lsmi->y, n * m), done);
        for (int64_t i = 0; i < n; i++)
            memcpy(lsmi->y + i * m, problem->y + order[i] * m, (size_t)m * sizeof(double));
    }
done:
    sn_free(order);
    return status;
}

/* Centres: a keyed choice of the rows, class by class. */
static stonet_status choose_centres(uint64_t seed, sn_lsmi *lsmi)
{
    int64_t *rows = NULL, at = 0, p = lsmi->p, m = lsmi->m;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(rows, lsmi->b), done);
    SN_GOTO(status, SN_NEW_RAW(lsmi->centres, lsmi->b * p), done);
    SN_GOTO(status, SN_NEW_RAW(lsmi->v, lsmi->b * m), done);
    SN_GOTO(status, SN_NEW(lsmi->first, lsmi->blocks + 1), done);
    SN_GOTO(status, sn_choose_rows(lsmi->n, lsmi->b, seed, 3, rows), done);
    for (int64_t block = 0; block < lsmi->blocks; block++) {
        for (int64_t l = 0; l < lsmi->b; l++) {
            if (lsmi->label != NULL && lsmi->label[rows[l]] != block) continue;
            memcpy(lsmi->centres + at * p, lsmi->x + rows[l] * p, (size_t)p * sizeof(double));
            if (m > 0) memcpy(lsmi->v + at * m, lsmi->y + rows[l] * m, (size_t)m * sizeof(double));
            at++;
        }
        lsmi->first[block + 1] = at;
        if (block_size(lsmi, block) > lsmi->widest) lsmi->widest = block_size(lsmi, block);
    }
done:
    sn_free(rows);
    return status;
}

/* The median of the distances, or their mean where ties make that 0. */
static stonet_status typical_distance(int64_t n, int64_t p, const double *x, uint64_t seed, double *distance)
{
    SN_TRY(sn_median_distance(n, p, x, seed, distance));
    return *distance > 0.0 ? STONET_OK : sn_mean_distance(n, p, x, seed, distance);
}

static stonet_status check_response(uint64_t seed, sn_lsmi *lsmi)
{
    if (lsmi->label == NULL) {
        SN_TRY(typical_distance(lsmi->n, lsmi->m, lsmi->y, seed, &lsmi->y_scale));
        if (lsmi->y_scale > 0.0) return STONET_OK;
        return sn_fail(STONET_ERROR_DATA, "the target is constant, so there is nothing to explain");
    }
    for (int64_t i = 1; i < lsmi->n; i++)
        if (lsmi->label[i] != lsmi->label[0]) return STONET_OK;
    return sn_fail(STONET_ERROR_DATA, "all rows are of one class, so there is nothing to tell apart");
}

stonet_status sn_lsmi_create(const sn_problem *problem, int64_t centres, int64_t d, uint64_t seed,
                             sn_lsmi *lsmi)
{
    memset(lsmi, 0, sizeof *lsmi);
    lsmi->n = problem->n;
    lsmi->p = problem->p;
    lsmi->d = d;
    lsmi->b = centres < problem->n ? centres : problem->n;
    lsmi->blocks = problem->task == SN_CLASSIFICATION ? problem->outputs : 1;
    lsmi->m = problem->task == SN_CLASSIFICATION ? 0 : problem->outputs;
    lsmi->s = 1.0;
    lsmi->lambda = 0.1;
    stonet_status status;
    SN_GOTO(status, copy_rows(problem, seed, lsmi), failed);
    SN_GOTO(status, choose_centres(seed, lsmi), failed);
    SN_GOTO(status, check_response(seed, lsmi), failed);
    SN_GOTO(status, SN_NEW_RAW(lsmi->z, lsmi->n * d), failed);
    SN_GOTO(status, SN_NEW_RAW(lsmi->u, lsmi->b * d), failed);
    SN_GOTO(status, SN_NEW_RAW(lsmi->dz, lsmi->n * d), failed);
    SN_GOTO(status, SN_NEW_RAW(lsmi->du, lsmi->b * d), failed);
    SN_GOTO(status, SN_NEW_RAW(lsmi->phi, lsmi->n * lsmi->widest), failed);
    SN_GOTO(status, SN_NEW_RAW(lsmi->weight, lsmi->n * lsmi->widest), failed);
    if (lsmi->label == NULL) SN_GOTO(status, SN_NEW_RAW(lsmi->phi_y, lsmi->n * lsmi->b), failed);
    return STONET_OK;
failed:
    sn_lsmi_free(lsmi);
    return status;
}

stonet_status sn_lsmi_set_bandwidth(sn_lsmi *lsmi, double s)
{
    lsmi->s = s;
    if (lsmi->label != NULL) return STONET_OK;
    double gamma = 1.0 / (2.0 * s * s * lsmi->y_scale * lsmi->y_scale);
    return sn_gaussian_gram(lsmi->n, lsmi->b, lsmi->m, lsmi->y, lsmi->v, gamma, lsmi->phi_y);
}

static double z_gamma(const sn_lsmi *lsmi)
{
    return 1.0 / (2.0 * lsmi->s * lsmi->s * lsmi->z_scale * lsmi->z_scale);
}

static void project(sn_lsmi *lsmi, const double *b)
{
    sn_gemm(false, false, lsmi->n, lsmi->d, lsmi->p, 1.0, lsmi->x, b, 0.0, lsmi->z);
    sn_gemm(false, false, lsmi->b, lsmi->d, lsmi->p, 1.0, lsmi->centres, b, 0.0, lsmi->u);
}

/* phi (n x size of the block) at the current bandwidth. */
static stonet_status block_features(sn_lsmi *lsmi, int64_t block)
{
    return sn_gaussian_gram(lsmi->n, block_size(lsmi, block), lsmi->d, lsmi->z,
                            lsmi->u + lsmi->first[block] * lsmi->d, z_gamma(lsmi), lsmi->phi);
}

/* phi_y of row i at the centres (numbers). */
static const double *response_row(const sn_lsmi *lsmi, int64_t i)
{
    return lsmi->phi_y + i * lsmi->b;
}

/* h (size) = sum over rows from .. to - 1 of phi_z . phi_y. */
static void block_sums(const sn_lsmi *lsmi, int64_t block, int64_t from, int64_t to, double *h)
{
    int64_t size = block_size(lsmi, block);
    memset(h, 0, (size_t)size * sizeof *h);
    for (int64_t i = from; i < to; i++) {
        const double *phi = lsmi->phi + i * size;
        if (lsmi->label != NULL) {
            for (int64_t l = 0; l < size && lsmi->label[i] == block; l++) h[l] += phi[l];
        } else {
            const double *phi_y = response_row(lsmi, i);
            for (int64_t l = 0; l < size; l++) h[l] += phi[l] * phi_y[l];
        }
    }
}

/* r (size x size) = sum over rows from .. to - 1 of phi_y phi_y'. */
static void response_products(const sn_lsmi *lsmi, int64_t block, int64_t from, int64_t to, double *r)
{
    int64_t size = block_size(lsmi, block);
    if (lsmi->label == NULL) {
        sn_syrk_tn(size, to - from, 1.0, lsmi->phi_y + from * size, 0.0, r);
        return;
    }
    double count = 0.0;
    for (int64_t i = from; i < to; i++) count += lsmi->label[i] == block;
    for (int64_t i = 0; i < size * size; i++) r[i] = count;
}

typedef struct solved {
    double *h, *hh;                 /* h; H (size x size) */
    double *r;                      /* sum_i phi_y phi_y' */
    double *alpha, *beta, *h_alpha; /* (H + lambda)^{-1} h, (H + lambda)^{-1} H alpha, H alpha */
    double *factor;                 /* Cholesky of H + lambda; then the matrix T of the gradient */
} solved;

static void solved_free(solved *s)
{
    sn_free(s->h);
    sn_free(s->hh);
    sn_free(s->r);
    sn_free(s->alpha);
    sn_free(s->beta);
    sn_free(s->h_alpha);
    sn_free(s->factor);
}

static stonet_status solved_create(int64_t size, solved *s)
{
    memset(s, 0, sizeof *s);
    SN_TRY(SN_NEW_RAW(s->h, size));
    SN_TRY(SN_NEW_RAW(s->hh, size * size));
    SN_TRY(SN_NEW_RAW(s->r, size * size));
    SN_TRY(SN_NEW_RAW(s->alpha, size));
    SN_TRY(SN_NEW_RAW(s->beta, size));
    SN_TRY(SN_NEW_RAW(s->h_alpha, size));
    return SN_NEW_RAW(s->factor, size * size);
}

/* alpha, beta and the block's share h'alpha - alpha'H alpha / 2 of S. */
static stonet_status solve_block(const sn_lsmi *lsmi, int64_t block, solved *s, double *value)
{
    int64_t size = block_size(lsmi, block), n = lsmi->n;
    double rows = (double)n;
    block_sums(lsmi, block, 0, n, s->h);
    response_products(lsmi, block, 0, n, s->r);
    sn_syrk_tn(size, n, 1.0 / (rows * rows), lsmi->phi, 0.0, s->hh);
    for (int64_t l = 0; l < size; l++) s->alpha[l] = s->h[l] /= rows;
    for (int64_t i = 0; i < size * size; i++) s->factor[i] = s->hh[i] *= s->r[i];
    sn_add_diagonal(size, lsmi->lambda, s->factor);
    SN_TRY(sn_cholesky(size, s->factor));
    SN_TRY(sn_cholesky_solve(size, s->factor, 1, s->alpha));
    sn_gemv(false, size, size, 1.0, s->hh, s->alpha, 0.0, s->h_alpha);
    memcpy(s->beta, s->h_alpha, (size_t)size * sizeof(double));
    SN_TRY(sn_cholesky_solve(size, s->factor, 1, s->beta));
    *value += sn_dot(size, s->h, s->alpha) - 0.5 * sn_dot(size, s->alpha, s->h_alpha);
    return STONET_OK;
}

/* weight (n x size) = omega . phi with omega = a phi_y / n - phi T / n^2, T_lm = (alpha_l c_m + alpha_m c_l)
   r_lm, a = 2 alpha - beta, c = 1.5 alpha - beta. */
static void gradient_weights(sn_lsmi *lsmi, int64_t block, solved *s)
{
    int64_t size = block_size(lsmi, block);
    double n = (double)lsmi->n;
    for (int64_t l = 0; l < size; l++)
        for (int64_t m = 0; m < size; m++) {
            double cl = 1.5 * s->alpha[l] - s->beta[l], cm = 1.5 * s->alpha[m] - s->beta[m];
            s->factor[l * size + m] = (s->alpha[l] * cm + s->alpha[m] * cl) * s->r[l * size + m];
        }
    sn_gemm(false, false, lsmi->n, size, size, -1.0 / (n * n), lsmi->phi, s->factor, 0.0, lsmi->weight);
#pragma omp parallel for
    for (int64_t i = 0; i < lsmi->n; i++) {
        double *weight = lsmi->weight + i * size;
        const double *phi = lsmi->phi + i * size;
        const double *phi_y = lsmi->label == NULL ? response_row(lsmi, i) : NULL;
        double own = lsmi->label != NULL && lsmi->label[i] == block ? 1.0 : 0.0;
        for (int64_t l = 0; l < size; l++) {
            double a = 2.0 * s->alpha[l] - s->beta[l];
            weight[l] = (weight[l] + a * (phi_y != NULL ? phi_y[l] : own) / n) * phi[l];
        }
    }
}

/* dz += diag(V 1) z - V u and du = diag(V'1) u - V'z for V the weights, both times scale. */
static stonet_status add_gradient(sn_lsmi *lsmi, int64_t block, double scale)
{
    int64_t size = block_size(lsmi, block), d = lsmi->d;
    const double *v = lsmi->weight, *u = lsmi->u + lsmi->first[block] * d;
    double *du = lsmi->du + lsmi->first[block] * d, *columns = NULL;
    SN_TRY(SN_NEW(columns, size));
    sn_gemm(false, false, lsmi->n, d, size, -scale, v, u, 1.0, lsmi->dz);
    sn_gemm(true, false, size, d, lsmi->n, -scale, v, lsmi->z, 0.0, du);
    for (int64_t i = 0; i < lsmi->n; i++) {
        double sum = 0.0;
        for (int64_t l = 0; l < size; l++) {
            sum += v[i * size + l];
            columns[l] += v[i * size + l];
        }
        for (int64_t j = 0; j < d; j++) lsmi->dz[i * d + j] += scale * sum * lsmi->z[i * d + j];
    }
    for (int64_t l = 0; l < size; l++)
        for (int64_t j = 0; j < d; j++) du[l * d + j] += scale * columns[l] * u[l * d + j];
    sn_free(columns);
    return STONET_OK;
}

stonet_status sn_lsmi_value(sn_lsmi *lsmi, const double *b, double *value, double *gradient)
{
    solved s;
    stonet_status status;
    *value = -0.5;
    project(lsmi, b);
    SN_GOTO(status, solved_create(lsmi->widest, &s), done);
    if (gradient != NULL) memset(lsmi->dz, 0, (size_t)(lsmi->n * lsmi->d) * sizeof(double));
    for (int64_t block = 0; block < lsmi->blocks; block++) {
        if (block_size(lsmi, block) == 0) continue;
        SN_GOTO(status, block_features(lsmi, block), done);
        SN_GOTO(status, solve_block(lsmi, block, &s, value), done);
        if (gradient == NULL) continue;
        gradient_weights(lsmi, block, &s);
        SN_GOTO(status, add_gradient(lsmi, block, -2.0 * z_gamma(lsmi)), done);
    }
    if (gradient == NULL) goto done;
    sn_gemm(true, false, lsmi->p, lsmi->d, lsmi->n, 1.0, lsmi->x, lsmi->dz, 0.0, gradient);
    sn_gemm(true, false, lsmi->p, lsmi->d, lsmi->b, 1.0, lsmi->centres, lsmi->du, 1.0, gradient);
done:
    solved_free(&s);
    return status;
}

/* The sums of one range of rows, for one block. */
typedef struct part {
    double *z, *y; /* size x size: sum phi_z phi_z', sum phi_y phi_y' */
    double *h;     /* size */
} part;

/* H and h of the rows of `all` without those of `without` (NULL: of all). */
static void combine(int64_t size, double rows, const part *all, const part *without, double *hh, double *h)
{
    for (int64_t i = 0; i < size * size; i++) {
        double z = all->z[i] - (without != NULL ? without->z[i] : 0.0);
        double y = all->y[i] - (without != NULL ? without->y[i] : 0.0);
        hh[i] = z * y / (rows * rows);
    }
    for (int64_t l = 0; l < size; l++) h[l] = (all->h[l] - (without != NULL ? without->h[l] : 0.0)) / rows;
}

/* loss[j] += alpha'H alpha / 2 - h'alpha on the fold for alpha of the other rows with lambda[j]. work: 3 size
   x size and 3 size. */
static stonet_status fold_loss(int64_t size, double rows, double fold_rows, const part *all, const part *fold,
                               const double *lambda, int64_t n_lambda, double *work, double *loss)
{
    double *train = work, *test = train + size * size, *factor = test + size * size;
    double *h_train = factor + size * size, *h_test = h_train + size, *alpha = h_test + size;
    combine(size, rows - fold_rows, all, fold, train, h_train);
    combine(size, fold_rows, fold, NULL, test, h_test);
    for (int64_t j = 0; j < n_lambda; j++) {
        memcpy(factor, train, (size_t)(size * size) * sizeof(double));
        memcpy(alpha, h_train, (size_t)size * sizeof(double));
        sn_add_diagonal(size, lambda[j], factor);
        SN_TRY(sn_solve_spd(size, factor, 1, alpha));
        sn_gemv(false, size, size, 1.0, test, alpha, 0.0, factor);
        loss[j] += 0.5 * sn_dot(size, alpha, factor) - sn_dot(size, h_test, alpha);
    }
    return STONET_OK;
}

/* Adds the losses of one block over all folds, for the current s. memory: (folds + 1) parts and the work
 * space. */
static stonet_status block_loss(sn_lsmi *lsmi, int64_t block, const double *lambda, int64_t n_lambda,
                                double *memory, double *loss)
{
    int64_t size = block_size(lsmi, block), square = size * size, each = 2 * square + size;
    part parts[SN_LSMI_FOLDS + 1], *all = &parts[SN_LSMI_FOLDS];
    for (int64_t k = 0; k <= SN_LSMI_FOLDS; k++) {
        double *at = memory + k * each;
        parts[k] = (part){.z = at, .y = at + square, .h = at + 2 * square};
    }
    memset(all->z, 0, (size_t)each * sizeof(double));
    SN_TRY(block_features(lsmi, block));
    for (int64_t k = 0; k < SN_LSMI_FOLDS; k++) {
        int64_t from = lsmi->fold[k], to = lsmi->fold[k + 1];
        sn_syrk_tn(size, to - from, 1.0, lsmi->phi + from * size, 0.0, parts[k].z);
        response_products(lsmi, block, from, to, parts[k].y);
        block_sums(lsmi, block, from, to, parts[k].h);
        for (int64_t i = 0; i < each; i++) all->z[i] += parts[k].z[i];
    }
    double *work = memory + (SN_LSMI_FOLDS + 1) * each;
    for (int64_t k = 0; k < SN_LSMI_FOLDS; k++) {
        double rows = (double)(lsmi->fold[k + 1] - lsmi->fold[k]);
        if (rows > 0.0 && rows < (double)lsmi->n)
            SN_TRY(fold_loss(size, (double)lsmi->n, rows, all, &parts[k], lambda, n_lambda, work, loss));
    }
    return STONET_OK;
}

stonet_status sn_lsmi_tune(sn_lsmi *lsmi, const double *b, const double *s, int64_t n_s, const double *lambda,
                           int64_t n_lambda, uint64_t seed)
{
    double *memory = NULL, *loss = NULL, best = INFINITY, best_s = s[0], best_lambda = lambda[0];
    int64_t square = lsmi->widest * lsmi->widest;
    stonet_status status;
    project(lsmi, b);
    SN_GOTO(status, typical_distance(lsmi->n, lsmi->d, lsmi->z, seed, &lsmi->z_scale), done);
    if (!(lsmi->z_scale > 0.0)) {
        status = sn_fail(STONET_ERROR_DATA, "all rows have the same features, so there is nothing to reduce");
        goto done;
    }
    SN_GOTO(status, SN_NEW_RAW(memory, (2 * SN_LSMI_FOLDS + 5) * square + (SN_LSMI_FOLDS + 4) * lsmi->widest),
            done);
    SN_GOTO(status, SN_NEW_RAW(loss, n_lambda), done);
    for (int64_t i = 0; i < n_s && n_s * n_lambda > 1; i++) {
        SN_GOTO(status, sn_lsmi_set_bandwidth(lsmi, s[i]), done);
        memset(loss, 0, (size_t)n_lambda * sizeof *loss);
        for (int64_t block = 0; block < lsmi->blocks; block++)
            if (block_size(lsmi, block) > 0)
                SN_GOTO(status, block_loss(lsmi, block, lambda, n_lambda, memory, loss), done);
        for (int64_t j = 0; j < n_lambda; j++) {
            if (!(loss[j] < best)) continue;
            best = loss[j];
            best_s = s[i];
            best_lambda = lambda[j];
        }
    }
    lsmi->lambda = best_lambda;
    status = sn_lsmi_set_bandwidth(lsmi, best_s);
done:
    sn_free(memory);
    sn_free(loss);
    return status;
}
