#include "net/forward.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/serial_blas.h"
#include "net/activation.h"

/* Rows that are multiplied at a time: always so many, since the products of fewer rows round otherwise, and
   what comes out for a row must not depend on those beside it. The last block is filled up with zeros. */
enum { BLOCK = 64 };

/* The widest layer after the input. */
static int64_t widest(const sn_shape *shape, int layer)
{
    int64_t width = shape->width[0];
    for (int i = 1; i <= layer; i++)
        if (shape->width[i] > width) width = shape->width[i];
    return width;
}

/* One block: from, to are work arrays of BLOCK x widest; the result is left in the returned one. */
static float *forward_block(const sn_shape *shape, const float *theta, int layer, float *from, float *to)
{
    for (int i = 0; i < layer; i++) {
        const int64_t inputs = shape->width[i], outputs = shape->width[i + 1];
        sn_activate(sn_shape_activation(shape, i), BLOCK * inputs, from);
        for (int64_t r = 0; r < BLOCK; r++)
            memcpy(to + r * outputs, theta + shape->bias_at[i], (size_t)outputs * sizeof *to);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, BLOCK, (int)outputs, (int)inputs, 1.0F, from,
                    (int)inputs, theta + shape->weight_at[i], (int)inputs, 1.0F, to, (int)outputs);
        float *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

stonet_status sn_forward(const sn_shape *shape, const float *theta, const float *x, int64_t n, int layer,
                         bool activated, int threads, float *out)
{
    const int64_t width = widest(shape, layer), p = shape->width[0], d = shape->width[layer];
    const int64_t blocks = (n + BLOCK - 1) / BLOCK;
    stonet_status status = STONET_OK;
#pragma omp parallel num_threads(threads) if (blocks > 1)
    {
        sn_serial_blas();
        SN_BLOCK float *work = sn_malloc((size_t)2 * BLOCK * (size_t)width, sizeof *work);
        if (work == NULL) {
#pragma omp critical(sn_forward_status)
            status = STONET_ERROR_MEMORY;
        }
#pragma omp for schedule(static)
        for (int64_t b = 0; b < blocks; b++) {
            if (work == NULL) continue;
            const int64_t first = b * BLOCK, m = first + BLOCK <= n ? BLOCK : n - first;
            memcpy(work, x + first * p, (size_t)(m * p) * sizeof *work);
            memset(work + m * p, 0, (size_t)((BLOCK - m) * p) * sizeof *work);
            float *result = forward_block(shape, theta, layer, work, work + BLOCK * width);
            if (activated) sn_activate(sn_shape_activation(shape, layer), m * d, result);
            memcpy(out + first * d, result, (size_t)(m * d) * sizeof *out);
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
