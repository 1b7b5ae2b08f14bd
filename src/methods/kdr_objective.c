#include "methods/kdr_objective.h"

#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/kernel_lowrank.h"
#include "math/linalg.h"

stonet_status sn_kdr_create(const sn_kernel_input *input, int64_t d, double epsilon, int64_t rank,
                            const double *f, sn_workspace *keep, sn_kdr *kdr)
{
    int64_t n = input->n, m = input->m;
    *kdr = (sn_kdr){.input = input, .d = d, .mu = epsilon * (double)n, .rank = rank, .f = f};
    SN_TRY(SN_TAKE_EACH(keep, n * d, &kdr->z, &kdr->dz));
    SN_TRY(SN_TAKE_EACH(keep, m * d, &kdr->u, &kdr->du));
    SN_TRY(SN_TAKE_EACH(keep, n * m, &kdr->k, &kdr->a));
    return SN_TAKE(keep, kdr->s, n * rank);
}

/* rows (n x m) <- weights . kernel, sums (n) their row sums. */
static void weigh(int64_t n, int64_t m, const double *kernel, double *rows, double *sums)
{
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int64_t j = 0; j < m; j++) {
            rows[i * m + j] *= kernel[i * m + j];
            sum += rows[i * m + j];
        }
        sums[i] = sum;
    }
}

/* out (n x d) += scale (diag(sums) points - rest), rest already in out times -scale. */
static void add_scaled_rows(int64_t n, int64_t d, double scale, const double *sums, const double *points,
                            double *out)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) out[i * d + j] += scale * sums[i] * points[i * d + j];
}

/*
 * S = (G_Z + mu)^{-1} F, J = Tr F'S. dJ = -Tr S'dG S gives, with W = (S S') . K_Z (S is centred because F
 * is), dJ/dZ = 4 gamma (diag(W 1) - W) Z.
 */
static stonet_status exact_value(sn_kdr *kdr, double gamma, double *value, bool with_gradient)
{
    int64_t n = kdr->input->n, d = kdr->d;
    SN_ARRAY(n, double, mean);
    SN_TRY(sn_gaussian_gram(n, n, d, kdr->z, kdr->z, gamma, kdr->k));
    memcpy(kdr->a, kdr->k, (size_t)(n * n) * sizeof(double));
    sn_centre_gram(n, kdr->a, mean);
    sn_add_diagonal(n, kdr->mu, kdr->a);
    SN_TRY(sn_cholesky(n, kdr->a));
    memcpy(kdr->s, kdr->f, (size_t)(n * kdr->rank) * sizeof(double));
    SN_TRY(sn_cholesky_solve(n, kdr->a, kdr->rank, kdr->s));
    *value = sn_dot(n * kdr->rank, kdr->f, kdr->s);
    if (!with_gradient) return STONET_OK;
    sn_multiply(sn_as(kdr->s, n, kdr->rank), sn_turned(kdr->s, n, kdr->rank), kdr->a);
    weigh(n, n, kdr->k, kdr->a, mean);
    sn_gemm(-4.0 * gamma, sn_as(kdr->a, n, n), sn_as(kdr->z, n, d), 0.0, kdr->dz);
    add_scaled_rows(n, d, 4.0 * gamma, mean, kdr->z, kdr->dz);
    return STONET_OK;
}

/* The part of the gradient that comes from C = K(z, u) and N = K(u, u): with V = (S alpha') . C and
   V2 = (alpha alpha') . N,
       dJ/dz = 4 gamma (diag(V 1) z - V u),
       dJ/du = 4 gamma (diag(V'1) u - V'z) - 4 gamma (diag(V2 1) - V2) u.
   Only the landmarks in use (order) have a du. */
static stonet_status landmark_gradient(sn_kdr *kdr, const sn_landmarks *landmarks, double gamma,
                                       const double *alpha)
{
    int64_t n = kdr->input->n, d = kdr->d, m = landmarks->rank;
    const double *u = landmarks->centres;
    SN_ARRAY(n, double, sums);
    SN_ZEROS(m, double, column_sums);
    SN_ARRAY(m * m, double, inner);
    SN_ARRAY(m * m, double, weight);
    SN_ARRAY(m * d, double, du);
    SN_TRY(sn_gaussian_gram(n, m, d, kdr->z, u, gamma, kdr->k));
    sn_multiply(sn_as(kdr->s, n, kdr->rank), sn_turned(alpha, m, kdr->rank), kdr->a);
    weigh(n, m, kdr->k, kdr->a, sums);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) column_sums[j] += kdr->a[i * m + j];
    sn_gemm(-4.0 * gamma, sn_as(kdr->a, n, m), sn_as(u, m, d), 0.0, kdr->dz);
    add_scaled_rows(n, d, 4.0 * gamma, sums, kdr->z, kdr->dz);
    sn_gemm(-4.0 * gamma, sn_turned(kdr->a, n, m), sn_as(kdr->z, n, d), 0.0, du);
    add_scaled_rows(m, d, 4.0 * gamma, column_sums, u, du);

    SN_TRY(sn_gaussian_gram(m, m, d, u, u, gamma, inner));
    sn_multiply(sn_as(alpha, m, kdr->rank), sn_turned(alpha, m, kdr->rank), weight);
    weigh(m, m, inner, weight, sums);
    sn_gemm(4.0 * gamma, sn_as(weight, m, m), sn_as(u, m, d), 1.0, du);
    add_scaled_rows(m, d, -4.0 * gamma, sums, u, du);
    memset(kdr->du, 0, (size_t)(kdr->input->m * d) * sizeof(double));
    for (int64_t j = 0; j < m; j++)
        memcpy(kdr->du + landmarks->order[j] * d, du + j * d, (size_t)d * sizeof(double));
    return STONET_OK;
}

/*
 * With K_Z = Phi Phi', Phi centred: S = (F - Phi beta) / mu for beta = (Phi'Phi + mu)^{-1} Phi'F, J = Tr F'S,
 * and alpha = L^{-T} beta satisfies alpha = N^{-1} C'S (C centred), which is all that dJ = -2 Tr S'dC alpha +
 * Tr alpha'dN alpha needs.
 */
static stonet_status landmark_value(sn_kdr *kdr, double gamma, double *value, bool with_gradient)
{
    SN_WORKSPACE(scratch);
    int64_t n = kdr->input->n, d = kdr->d;
    sn_landmarks landmarks;
    SN_TRY(sn_landmarks_create(kdr->input->m, d, kdr->u, gamma, &scratch, &landmarks));
    int64_t m = landmarks.rank;
    SN_ARRAY(m, double, mean);
    SN_ARRAY(m * m, double, gram);
    SN_ARRAY(m * kdr->rank, double, beta);
    SN_TRY(sn_landmarks_features(&landmarks, n, kdr->z, kdr->k));
    sn_column_means(n, m, kdr->k, mean);
    sn_subtract_row(n, m, mean, kdr->k);
    sn_syrk_tn(m, n, 1.0, kdr->k, 0.0, gram);
    sn_add_diagonal(m, kdr->mu, gram);
    sn_multiply(sn_turned(kdr->k, n, m), sn_as(kdr->f, n, kdr->rank), beta);
    SN_TRY(sn_solve_spd(m, gram, kdr->rank, beta));
    memcpy(kdr->s, kdr->f, (size_t)(n * kdr->rank) * sizeof(double));
    sn_gemm(-1.0 / kdr->mu, sn_as(kdr->k, n, m), sn_as(beta, m, kdr->rank), 1.0 / kdr->mu, kdr->s);
    *value = sn_dot(n * kdr->rank, kdr->f, kdr->s);
    if (!with_gradient) return STONET_OK;
    sn_landmarks_coefficients(&landmarks, kdr->rank, beta);
    return landmark_gradient(kdr, &landmarks, gamma, beta);
}

stonet_status sn_kdr_value(sn_kdr *kdr, const double *b, double gamma, double *value, double *gradient)
{
    const sn_kernel_input *input = kdr->input;
    bool with_gradient = gradient != NULL;
    sn_multiply(sn_as(input->x, input->n, input->p), sn_as(b, input->p, kdr->d), kdr->z);
    if (input->exact) {
        SN_TRY(exact_value(kdr, gamma, value, with_gradient));
    } else {
        sn_multiply(sn_as(input->centres, input->m, input->p), sn_as(b, input->p, kdr->d), kdr->u);
        SN_TRY(landmark_value(kdr, gamma, value, with_gradient));
    }
    if (!with_gradient) return STONET_OK;
    sn_multiply(sn_turned(input->x, input->n, input->p), sn_as(kdr->dz, input->n, kdr->d), gradient);
    if (!input->exact)
        sn_gemm(1.0, sn_turned(input->centres, input->m, input->p), sn_as(kdr->du, input->m, kdr->d), 1.0,
                gradient);
    return STONET_OK;
}
