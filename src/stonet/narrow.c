#include "stonet/narrow.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "stonet/axes.h"
#include "stonet/constants.h"

enum { SAMPLE = 4096 }; /* rows that axes and outputs are learned from */

/* How a value of variance 1 goes through psi: v = scale z + shift, psi(v) = slope z + height nearly. */
typedef struct passage {
    double scale, shift, slope, height;
} passage;

static const passage PASSAGES[] = {[SN_IDENTITY] = {1.0, 0.0, 1.0, 0.0},
                                   [SN_TANH] = {0.5, 0.0, 0.5, 0.0},
                                   [SN_SIGMOID] = {1.0, 0.0, 0.25, 0.5},
                                   [SN_RELU] = {1.0, 2.0, 1.0, 2.0}};

/* The new layer from the axes, and the outputs by their regression on the columns of z, which are
 * uncorrelated. */
static void fill(const sn_axes *axes, int64_t n, const float *z, const float *outputs, const sn_shape *shape,
                 float *theta)
{
    const int h = shape->layers - 2; /* the old last hidden layer */
    const int64_t q = axes->q, m = axes->width, d = shape->width[h + 2];
    const passage way = PASSAGES[shape->activation];
    float *w = theta + shape->weight_at[h], *b = theta + shape->bias_at[h];
    float *out_w = theta + shape->weight_at[h + 1], *out_b = theta + shape->bias_at[h + 1];
    for (int64_t o = 0; o < d; o++) {
        double sum = 0.0;
        for (int64_t i = 0; i < n; i++) sum += (double)outputs[i * d + o];
        out_b[o] = (float)(sum / (double)n);
    }
    for (int64_t k = 0; k < q; k++) {
        double variance = 0.0, shift = 0.0;
        for (int64_t i = 0; i < n; i++) variance += (double)z[i * q + k] * (double)z[i * q + k] / (double)n;
        const double sd = sqrt(variance) > 0.0 ? sqrt(variance) : 1.0;
        for (int64_t j = 0; j < m; j++) {
            const double weight = way.scale * axes->map[k * m + j] / sd;
            w[k * m + j] = (float)weight;
            shift -= weight * axes->mean[j];
        }
        b[k] = (float)(shift + way.shift);
        for (int64_t o = 0; o < d; o++) {
            double cross = 0.0;
            for (int64_t i = 0; i < n; i++)
                cross += (double)z[i * q + k] * (double)outputs[i * d + o] / (double)n;
            const double slope = cross / sd / way.slope; /* per unit of psi */
            out_w[o * q + k] = (float)slope;
            out_b[o] = (float)((double)out_b[o] - slope * way.height);
        }
    }
}

stonet_status sn_narrow_start(const sn_stage_job *job, const float *theta, int64_t q, sn_shape *shape,
                              float **out)
{
    const int64_t n = job->rows.n < SAMPLE ? job->rows.n : SAMPLE;
    const int64_t m = job->shape->width[job->shape->layers - 1], d = job->shape->width[job->shape->layers];
    const int64_t rank = job->shape->task == SN_CLASSIFICATION ? d - 1 : d;
    SN_FREED_BY(sn_axes_free) sn_axes axes = {0};
    *out = NULL;
    if (q >= rank || q >= m) return STONET_OK;
    SN_ARRAY(n, int64_t, list);
    SN_ARRAY(n * m, float, units);
    SN_ARRAY(n * d, float, outputs);
    const sn_rows rows = sn_rows_evenly(&job->rows, SAMPLE, list);
    const int h = job->shape->layers - 1;
    const sn_use use = sn_stage_use(job, theta);
    SN_TRY(sn_engine_forward(&use, &(sn_pass){.rows = rows, .layer = h, .activated = true}, units));
    SN_TRY(sn_engine_forward(&use, &(sn_pass){.rows = rows, .layer = h + 1}, outputs));
    SN_TRY(sn_axes_learn(job->shape, theta, n, units, SN_UNITS_ACTIVATED, q, &axes));
    if (axes.q == 0 || sn_axes_carried(&axes) >= 1.0 - SN_LITTLE) return STONET_OK;
    SN_ARRAY(n * axes.q, float, z);
    SN_TRY(sn_axes_apply(&axes, n, units, z));
    *shape = *job->shape; /* everything below the output layer stays, and the units come behind it */
    shape->layers++;
    shape->width[h + 1] = axes.q;
    shape->width[h + 2] = d;
    SN_TRY(sn_shape_layout(shape));
    SN_TRY(SN_NEW(*out, shape->parameters));
    for (int i = 0; i < h; i++) sn_shape_copy_layer(job->shape, theta, i, shape, *out);
    fill(&axes, n, z, outputs, shape, *out);
    return STONET_OK;
}
