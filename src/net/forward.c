/*
 * Sixteen rows lie in the lanes of a vector, and a few units are worked on at a time: their sums stay in
 * registers. Every row goes through the same additions, whatever rows stand beside it. Products of BLAS do
 * not promise that: on some processors the last bits of a row depend on its place.
 */
#include "net/forward.h"

#include <math.h>
#include <string.h>

#include "base/isa.h"
#include "base/memory.h"
#include "net/activation.h"

enum { LANES = 16, GROUPS = 4, BLOCK = LANES * GROUPS };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

#define INLINE __attribute__((always_inline)) static inline

/* mu = b + w a of one layer: a is inputs x LANES a group, and mu outputs x LANES. */
typedef struct layer_pass {
    int64_t inputs, outputs, groups;
    const float *weight, *bias;
    const lanes *from;
    lanes *to;
} layer_pass;

/* Units u .. u + count - 1, for all groups of rows while their weights are in the first cache. */
INLINE void pass_units(const layer_pass *pass, int64_t u, int count)
{
    const float *weight = pass->weight + u * pass->inputs;
    for (int64_t g = 0; g < pass->groups; g++) {
        const lanes *from = pass->from + g * pass->inputs;
        lanes sum[8] = {{0}};
        for (int c = 0; c < count; c++) sum[c] = pass->bias[u + c] - (lanes){0};
        for (int64_t k = 0; k < pass->inputs; k++)
            for (int c = 0; c < count; c++) sum[c] += from[k] * weight[c * pass->inputs + k];
        memcpy(pass->to + g * pass->outputs + u, sum, (size_t)count * sizeof *sum);
    }
}

/* together: as many units as there are registers for. */
INLINE void pass_layer(const layer_pass *pass, int together)
{
    int64_t u = 0;
    for (; u + together <= pass->outputs; u += together) pass_units(pass, u, together);
    for (; u + 2 <= pass->outputs; u += 2) pass_units(pass, u, 2);
    if (u < pass->outputs) pass_units(pass, u, 1);
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512dq"))) static void pass_avx512(const layer_pass *pass)
{
    pass_layer(pass, 8);
}

__attribute__((target("avx2,fma"))) static void pass_avx2(const layer_pass *pass)
{
    pass_layer(pass, 6);
}
#endif

static void pass_any(const layer_pass *pass)
{
#if defined(__x86_64__)
    if (sn_isa_used() >= SN_ISA_AVX512) {
        pass_avx512(pass);
        return;
    }
    if (sn_isa_used() >= SN_ISA_AVX2) {
        pass_avx2(pass);
        return;
    }
#endif
    pass_layer(pass, 4);
}

/* Rows x (m x p) into the lanes of their groups, and back; lanes without a row are 0. */
static void rows_to_lanes(int64_t m, int64_t p, const float *x, float *out)
{
    for (int64_t r = 0; r < m; r++)
        for (int64_t j = 0; j < p; j++) out[(r / LANES * p + j) * LANES + r % LANES] = x[r * p + j];
    for (int64_t r = m; r % LANES != 0; r++)
        for (int64_t j = 0; j < p; j++) out[(r / LANES * p + j) * LANES + r % LANES] = 0.0F;
}

static void lanes_to_rows(int64_t m, int64_t p, const float *from, float *x)
{
    for (int64_t r = 0; r < m; r++)
        for (int64_t j = 0; j < p; j++) x[r * p + j] = from[(r / LANES * p + j) * LANES + r % LANES];
}

/* The widest layer up to this one. */
static int64_t widest(const sn_shape *shape, int layer)
{
    int64_t width = shape->width[0];
    for (int i = 1; i <= layer; i++)
        if (shape->width[i] > width) width = shape->width[i];
    return width;
}

/* `groups` groups of rows: from, to are work arrays of as many x the widest layer; the result is left in the
   returned one. */
static lanes *forward_block(const sn_forward_job *job, int64_t groups, lanes *from, lanes *to)
{
    const sn_shape *shape = job->shape;
    for (int i = 0; i < job->layer; i++) {
        const int64_t inputs = shape->width[i];
        sn_activate(sn_shape_activation(shape, i), groups * inputs * LANES, (float *)from);
        pass_any(&(layer_pass){.inputs = inputs,
                               .outputs = shape->width[i + 1],
                               .groups = groups,
                               .weight = job->theta + shape->weight_at[i],
                               .bias = job->theta + shape->bias_at[i],
                               .from = from,
                               .to = to});
        lanes *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

stonet_status sn_forward(const sn_forward_job *to, int64_t n, const float *x, float *out)
{
    const sn_shape *shape = to->shape;
    const int64_t width = widest(shape, to->layer), p = shape->width[0], d = shape->width[to->layer];
    const int64_t blocks = (n + BLOCK - 1) / BLOCK;
    stonet_status status = STONET_OK;
#pragma omp parallel num_threads(to->threads) if (blocks > 1)
    {
        SN_BLOCK lanes *work = sn_malloc((size_t)width * 2 * GROUPS, sizeof *work);
        if (work == NULL) {
#pragma omp critical(sn_forward_status)
            status = STONET_ERROR_MEMORY;
        }
#pragma omp for schedule(static)
        for (int64_t b = 0; b < blocks; b++) {
            if (work == NULL) continue;
            const int64_t first = b * BLOCK, m = first + BLOCK <= n ? BLOCK : n - first;
            const int64_t groups = (m + LANES - 1) / LANES;
            rows_to_lanes(m, p, x + first * p, (float *)work);
            float *result = (float *)forward_block(to, groups, work, work + GROUPS * width);
            if (to->activated) sn_activate(sn_shape_activation(shape, to->layer), groups * d * LANES, result);
            lanes_to_rows(m, d, result, out + first * d);
        }
    }
    if (status != STONET_OK) return sn_fail(status, "memory ran out in a forward pass");
    return STONET_OK;
}

void sn_softmax(int64_t n, int64_t c, double *values)
{
    for (int64_t r = 0; r < n; r++) {
        double *row = values + r * c;
        double largest = row[0], sum = 0.0;
        for (int64_t j = 1; j < c; j++) largest = fmax(largest, row[j]);
        for (int64_t j = 0; j < c; j++) sum += row[j] = exp(row[j] - largest);
        for (int64_t j = 0; j < c; j++) row[j] /= sum;
    }
}
