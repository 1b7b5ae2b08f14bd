#include <string.h>

#include "explain/coef.h"
#include "math/linalg.h"
#include "math/noise.h"

static const double STEP = 0.01; /* of a scaled feature: small beside bends, large beside rounding */

/* The rows looked at, encoded (n x p): all, or SN_COEF_ROWS drawn by the seed. */
static stonet_status encode(const stonet_model *model, const stonet_data *data, uint64_t seed,
                            sn_workspace *keep, float **x, int64_t *n)
{
    const int64_t rows = stonet_data_rows(data), p = model->schema->p;
    *n = rows < SN_COEF_ROWS ? rows : SN_COEF_ROWS;
    SN_TRY(SN_TAKE(keep, *x, *n * p));
    if (*n == rows) return sn_schema_encode_x(model->schema, data, *x);
    int64_t *order = NULL;
    SN_TRY(SN_TAKE(keep, order, rows));
    SN_TRY(stonet_permutation(seed, SN_STREAM_SPLIT, rows, order));
    SN_AUTO(stonet_data) *drawn = NULL;
    SN_TRY(stonet_data_subset(data, order, *n, &drawn));
    return sn_schema_encode_x(model->schema, drawn, *x);
}

/* Column `feature` of J for all rows: n x q into slope[i * p * q + k * p + feature]. */
static stonet_status add_feature(const stonet_model *model, float *x, int64_t n, int64_t p, int64_t feature,
                                 float *z[2], double *slope)
{
    const int64_t q = model->dim;
    for (int side = 0; side < 2; side++) {
        const float step = (float)(side == 0 ? -STEP : 2.0 * STEP);
        for (int64_t i = 0; i < n; i++) x[i * p + feature] += step;
        SN_TRY(sn_model_reduce(model, x, n, NULL, z[side]));
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < q; k++)
            slope[(i * q + k) * p + feature] =
                ((double)z[1][i * q + k] - (double)z[0][i * q + k]) / (2.0 * STEP);
    return STONET_OK;
}

/* J_i = dZ/dx at row i (q x p) by central differences: mean (p x q) is mean_i J_i', outer (p x p) is mean_i
   J_i' J_i. slope holds all J_i one after the other, n q x p. */
stonet_status sn_coef_gradients(const stonet_model *model, const stonet_data *data, const stonet_run *run,
                                double *mean, double *outer)
{
    const int64_t p = model->schema->p, q = model->dim;
    SN_WORKSPACE(scratch);
    float *x = NULL, *z[2] = {NULL, NULL};
    int64_t n = 0;
    SN_TRY(encode(model, data, run->seed, &scratch, &x, &n));
    SN_ARRAY(n * q * p, double, slope);
    SN_ARRAY(n, float, column);
    for (int side = 0; side < 2; side++) SN_TRY(SN_TAKE(&scratch, z[side], n * q));
    for (int64_t j = 0; j < p; j++) {
        if (sn_should_stop(run))
            return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before all variables were looked at");
        for (int64_t i = 0; i < n; i++) column[i] = x[i * p + j];
        SN_TRY(add_feature(model, x, n, p, j, z, slope));
        for (int64_t i = 0; i < n; i++) x[i * p + j] = column[i];
    }
    memset(mean, 0, (size_t)(p * q) * sizeof *mean);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < q; k++)
            for (int64_t j = 0; j < p; j++) mean[j * q + k] += slope[(i * q + k) * p + j] / (double)n;
    sn_syrk_tn(p, n * q, 1.0 / (double)n, slope, 0.0, outer);
    return STONET_OK;
}
