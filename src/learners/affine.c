#include "learners/affine.h"

#include <string.h>

#include "base/memory.h"
#include "math/linalg.h"

/* How many rows are turned to double and multiplied at once. A short block is filled up to this size, because
   products of other sizes round differently: the result of a row must not depend on the rows beside it. */
enum { BLOCK_ROWS = 64 };

stonet_status sn_affine_create(sn_affine *affine, int64_t inputs, int64_t outputs)
{
    affine->inputs = inputs;
    affine->outputs = outputs;
    SN_TRY(SN_NEW(affine->coef, outputs * inputs));
    return SN_NEW(affine->intercept, outputs);
}

void sn_affine_clear(sn_affine *affine)
{
    sn_free(affine->coef);
    sn_free(affine->intercept);
    memset(affine, 0, sizeof *affine);
}

stonet_status sn_affine_apply(const sn_affine *affine, const float *z, int64_t n, double *out)
{
    int64_t p = affine->inputs, m = affine->outputs;
    SN_ZEROS(BLOCK_ROWS * p, double, block);
    SN_ARRAY(BLOCK_ROWS * m, double, result);
    for (int64_t first = 0; first < n; first += BLOCK_ROWS) {
        int64_t rows = n - first < BLOCK_ROWS ? n - first : BLOCK_ROWS;
        for (int64_t i = 0; i < rows * p; i++) block[i] = (double)z[first * p + i];
        for (int64_t i = 0; i < BLOCK_ROWS; i++)
            memcpy(result + i * m, affine->intercept, (size_t)m * sizeof *result);
        sn_gemm(1.0, sn_as(block, BLOCK_ROWS, p), sn_turned(affine->coef, m, p), 1.0, result);
        memcpy(out + first * m, result, (size_t)(rows * m) * sizeof *out);
    }
    return STONET_OK;
}

stonet_status sn_affine_save(const sn_affine *affine, sn_store *store)
{
    SN_TRY(sn_store_put_matrix(store, "coef", SN_F64, affine->outputs, affine->inputs, affine->coef));
    return sn_store_put_vector(store, "intercept", SN_F64, affine->outputs, affine->intercept);
}

stonet_status sn_affine_load(const sn_store *store, sn_affine *affine)
{
    const sn_tensor *coef, *intercept;
    SN_TRY(sn_store_get_matrix(store, "coef", SN_F64, -1, -1, &coef));
    SN_TRY(sn_store_get_vector(store, "intercept", SN_F64, coef->shape[0], &intercept));
    SN_TRY(sn_tensor_check_finite(coef));
    SN_TRY(sn_tensor_check_finite(intercept));
    SN_TRY(sn_affine_create(affine, coef->shape[1], coef->shape[0]));
    memcpy(affine->coef, coef->data, (size_t)sn_tensor_count(coef) * sizeof *affine->coef);
    memcpy(affine->intercept, intercept->data, (size_t)affine->outputs * sizeof *affine->intercept);
    return STONET_OK;
}
