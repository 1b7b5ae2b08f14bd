#include "methods/row_columns.h"

#include <string.h>

#include "math/kernel.h"
#include "math/linalg.h"
#include "methods/row_sums.h"

enum { BLOCK_ROWS = 1024 };

sn_row_columns sn_kernel_columns(const sn_kernel_input *input, stonet_team *team)
{
    return (sn_row_columns){.n = input->n,
                            .m = input->m,
                            .p = input->p,
                            .x = input->x,
                            .gamma = input->gamma,
                            .centres = input->centres,
                            .team = team};
}

sn_row_columns sn_feature_columns(const sn_kernel_input *input, const sn_landmarks *landmarks,
                                  stonet_team *team)
{
    return (sn_row_columns){.n = input->n,
                            .m = landmarks->rank,
                            .p = input->p,
                            .x = input->x,
                            .gamma = input->gamma,
                            .centres = landmarks->centres,
                            .landmarks = landmarks,
                            .team = team};
}

int64_t sn_row_columns_block(int64_t count)
{
    return count < BLOCK_ROWS ? count : BLOCK_ROWS;
}

stonet_status sn_row_columns_make(const sn_row_columns *columns, const double *mean, int64_t first,
                                  int64_t count, double *out)
{
    const double *x = columns->x + first * columns->p;
    if (columns->landmarks != NULL)
        SN_TRY(sn_landmarks_features(columns->landmarks, count, x, out));
    else
        SN_TRY(sn_gaussian_gram(count, columns->m, columns->p, x, columns->centres, columns->gamma, out));
    if (mean != NULL) sn_subtract_row(count, columns->m, mean, out);
    return STONET_OK;
}

/* Sums of the kernel functions, also where features are wanted. */
static stonet_status add_kernels(const void *user, int64_t first, int64_t count, double *sum)
{
    const sn_row_columns *columns = user;
    sn_row_columns plain = *columns;
    SN_WORKSPACE(scratch);
    const int64_t m = columns->m, block = sn_row_columns_block(count), end = first + count;
    double *k = NULL;
    plain.landmarks = NULL;
    SN_TRY(SN_TAKE(&scratch, k, block * m));
    for (; first < end; first += block) {
        const int64_t some = end - first < block ? end - first : block;
        SN_TRY(sn_row_columns_make(&plain, NULL, first, some, k));
        for (int64_t i = 0; i < some; i++)
            for (int64_t j = 0; j < m; j++) sum[j] += k[i * m + j];
    }
    return STONET_OK;
}

/* The mean of L^{-1} k(x) is L^{-1} times the mean of k(x). */
stonet_status sn_row_columns_mean(const sn_row_columns *columns, double *mean)
{
    SN_TRY(sn_row_sums(columns->team, columns->n, columns->m, add_kernels, columns, mean));
    for (int64_t j = 0; j < columns->m; j++) mean[j] /= (double)columns->n;
    if (columns->landmarks != NULL) sn_triangular_solve(columns->m, false, columns->landmarks->l, 1, mean);
    return STONET_OK;
}

typedef struct products {
    const sn_row_columns *columns;
    const double *mean, *f;
    int64_t rank;
} products;

/* m x m, and after that m x rank. */
static stonet_status add_products(const void *user, int64_t first, int64_t count, double *sum)
{
    const products *of = user;
    SN_WORKSPACE(scratch);
    const int64_t m = of->columns->m, block = sn_row_columns_block(count), end = first + count;
    double *c = NULL;
    SN_TRY(SN_TAKE(&scratch, c, block * m));
    for (; first < end; first += block) {
        const int64_t some = end - first < block ? end - first : block;
        SN_TRY(sn_row_columns_make(of->columns, of->mean, first, some, c));
        sn_syrk_tn(m, some, 1.0, c, 1.0, sum);
        sn_gemm(true, false, m, of->rank, some, 1.0, c, of->f + first * of->rank, 1.0, sum + m * m);
    }
    return STONET_OK;
}

stonet_status sn_row_columns_products(const sn_row_columns *columns, const double *mean, int64_t rank,
                                      const double *f, double *gram, double *cross)
{
    SN_WORKSPACE(scratch);
    const products of = {.columns = columns, .mean = mean, .f = f, .rank = rank};
    const int64_t m = columns->m;
    double *both = NULL;
    SN_TRY(SN_TAKE(&scratch, both, m * (m + rank)));
    SN_TRY(sn_row_sums(columns->team, columns->n, m * (m + rank), add_products, &of, both));
    memcpy(gram, both, (size_t)(m * m) * sizeof *gram);
    memcpy(cross, both + m * m, (size_t)(m * rank) * sizeof *cross);
    return STONET_OK;
}
