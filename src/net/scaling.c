#include "net/scaling.h"

#include <string.h>

#include "base/memory.h"
#include "math/columns.h"

static stonet_status allocate(sn_scaling *scaling, int64_t columns)
{
    scaling->columns = columns;
    SN_TRY(SN_NEW(scaling->mean, columns));
    return SN_NEW(scaling->factor, columns);
}

stonet_status sn_scaling_learn(sn_scaling *scaling, const float *x, int64_t n, int64_t columns)
{
    SN_ZEROS(columns, sn_column_moments, moments);
    SN_TRY(allocate(scaling, columns));
    sn_describe_columns(n, columns, x, moments);
    for (int64_t j = 0; j < columns; j++) {
        scaling->mean[j] = moments[j].mean;
        scaling->factor[j] = moments[j].sd != 0.0 ? 1.0 / moments[j].sd : 0.0;
    }
    return STONET_OK;
}

void sn_scaling_apply(const sn_scaling *scaling, const float *from, int64_t n, float *to)
{
    int64_t p = scaling->columns;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < p; j++)
            to[i * p + j] = (float)(((double)from[i * p + j] - scaling->mean[j]) * scaling->factor[j]);
}

stonet_status sn_scaling_save(const sn_scaling *scaling, sn_store *store)
{
    SN_TRY(sn_store_put_vector(store, "mean", SN_F64, scaling->columns, scaling->mean));
    return sn_store_put_vector(store, "factor", SN_F64, scaling->columns, scaling->factor);
}

stonet_status sn_scaling_load(const sn_store *store, int64_t columns, sn_scaling *scaling)
{
    const sn_tensor *mean, *factor;
    SN_TRY(sn_store_get_vector(store, "mean", SN_F64, columns, &mean));
    SN_TRY(sn_store_get_vector(store, "factor", SN_F64, columns, &factor));
    SN_TRY(sn_tensor_check_finite(mean));
    SN_TRY(sn_tensor_check_finite(factor));
    SN_TRY(allocate(scaling, columns));
    memcpy(scaling->mean, mean->data, (size_t)columns * sizeof *scaling->mean);
    memcpy(scaling->factor, factor->data, (size_t)columns * sizeof *scaling->factor);
    return STONET_OK;
}

void sn_scaling_clear(sn_scaling *scaling)
{
    sn_free(scaling->mean);
    sn_free(scaling->factor);
    memset(scaling, 0, sizeof *scaling);
}
