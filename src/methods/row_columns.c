#include "methods/row_columns.h"

#include <string.h>

#include "base/memory.h"
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
    sn_row_columns columns = sn_kernel_columns(input, team);
    columns.m = landmarks->rank;
    columns.centres = landmarks->centres;
    columns.landmarks = landmarks;
    return columns;
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

/* About the mean of the columns: that of some rows, evenly from all. */
/* no test: any guess does, since its error is subtracted again. */
static stonet_status guess_mean(const sn_row_columns *columns, double *guess)
{
    const int64_t p = columns->p, count = columns->n < BLOCK_ROWS ? columns->n : BLOCK_ROWS;
    sn_row_columns some = *columns;
    SN_ARRAY(count * p, double, x);
    SN_ARRAY(count * columns->m, double, c);
    for (int64_t i = 0; i < count; i++)
        memcpy(x + i * p, columns->x + i * columns->n / count * p, (size_t)p * sizeof *x);
    some.x = x;
    SN_TRY(sn_row_columns_make(&some, NULL, 0, count, c));
    sn_column_means(count, columns->m, c, guess);
    return STONET_OK;
}

typedef struct products {
    const sn_row_columns *columns;
    const double *shift, *f;
    int64_t rank;
} products;

/* With c the columns minus the shift: c'c (m x m), c'f (m x rank), the sums of c (m). */
static stonet_status add_products(const void *user, int64_t first, int64_t count, double *sum)
{
    const products *of = user;
    const int64_t m = of->columns->m, block = sn_row_columns_block(count), end = first + count;
    double *cross = sum + m * m, *total = cross + m * of->rank;
    SN_ARRAY(block * m, double, c);
    for (; first < end; first += block) {
        const int64_t some = end - first < block ? end - first : block;
        SN_TRY(sn_row_columns_make(of->columns, of->shift, first, some, c));
        sn_syrk_tn(m, some, 1.0, c, 1.0, sum);
        sn_gemm(1.0, sn_turned(c, some, m), sn_as(of->f + first * of->rank, some, of->rank), 1.0, cross);
        for (int64_t i = 0; i < some; i++)
            for (int64_t j = 0; j < m; j++) total[j] += c[i * m + j];
    }
    return STONET_OK;
}

stonet_status sn_row_columns_products(const sn_row_columns *columns, int64_t rank, const double *f,
                                      double *mean, double *gram, double *cross)
{
    const products of = {.columns = columns, .shift = mean, .f = f, .rank = rank};
    const int64_t n = columns->n, m = columns->m, size = m * (m + rank + 1);
    SN_ARRAY(size, double, all);
    if (mean != NULL) SN_TRY(guess_mean(columns, mean));
    SN_TRY(sn_row_sums(columns->team, n, size, add_products, &of, all));
    memcpy(gram, all, (size_t)(m * m) * sizeof *gram);
    memcpy(cross, all + m * m, (size_t)(m * rank) * sizeof *cross);
    if (mean == NULL) return STONET_OK;
    /* the guess was `off` away from the mean, by which little is subtracted */
    double *off = all + m * (m + rank);
    SN_ZEROS(rank, double, total);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < rank; j++) total[j] += f[i * rank + j];
    for (int64_t j = 0; j < m; j++) {
        off[j] /= (double)n;
        mean[j] += off[j];
    }
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < m; j++) gram[i * m + j] -= (double)n * off[i] * off[j];
        for (int64_t j = 0; j < rank; j++) cross[i * rank + j] -= off[i] * total[j];
    }
    return STONET_OK;
}
