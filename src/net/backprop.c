#include "net/backprop.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/noise.h"
#include "math/serial_blas.h"
#include "net/activation.h"
#include "net/loss.h"

enum { MIN_BLOCK_ROWS = 32 };

stonet_status sn_backprop_create(sn_backprop *b, int64_t capacity)
{
    const sn_shape *shape = b->shape;
    b->capacity = capacity;
    for (int i = 0; i <= shape->layers; i++) {
        SN_TRY(SN_NEW(b->value[i], capacity * shape->width[i]));
        if (i > 0) SN_TRY(SN_NEW(b->delta[i], capacity * shape->width[i]));
    }
    if (b->dropout > 0) SN_TRY(SN_NEW(b->keep, capacity * shape->width[shape->layers - 1]));
    int64_t blocks = (capacity + MIN_BLOCK_ROWS - 1) / MIN_BLOCK_ROWS;
    if (blocks > SN_BACKPROP_BLOCKS) blocks = SN_BACKPROP_BLOCKS;
    SN_TRY(SN_NEW(b->partial, blocks * shape->parameters));
    b->gradient = b->partial;
    return STONET_OK;
}

void sn_backprop_clear(sn_backprop *b)
{
    for (int i = 0; i <= SN_MAX_LAYERS; i++) {
        sn_free(b->value[i]);
        sn_free(b->delta[i]);
    }
    sn_free(b->keep);
    sn_free(b->partial);
    memset(b, 0, sizeof *b);
}

/* ---- activations ------------------------------------------------------------------------------- */

/* delta *= psi'(mu), given a = psi(mu). */
static void multiply_slope(sn_activation activation, int64_t count, const float *a, float *delta)
{
    if (activation == SN_TANH)
        for (int64_t i = 0; i < count; i++) delta[i] *= 1 - a[i] * a[i];
    if (activation == SN_RELU)
        for (int64_t i = 0; i < count; i++) delta[i] = a[i] > 0 ? delta[i] : 0;
    if (activation == SN_SIGMOID)
        for (int64_t i = 0; i < count; i++) delta[i] *= a[i] * (1 - a[i]);
}

/* ---- dropout ----------------------------------------------------------------------------------- */

/* One Philox call decides for eight units, 16 bits each. */
static uint32_t threshold(double dropout)
{
    return (uint32_t)lround(dropout * 65536);
}

static float kept_scale(const sn_backprop *b)
{
    return (float)(65536.0 / (65536.0 - threshold(b->dropout)));
}

/* bits (8 x groups): the 16 bits of each unit of a row, group by group. */
static void unit_bits(const sn_backprop *b, int64_t row, int64_t group, int64_t groups, uint32_t iteration,
                      int32_t *bits)
{
    sn_address at = {b->seed, SN_STREAM_DROPOUT, .row = (uint32_t)row, .iteration = iteration};
    for (int64_t g = 0; g < groups; g++) {
        uint32_t words[4];
        at.group = (uint32_t)(group + g);
        sn_noise_words(&at, words);
        for (int64_t w = 0; w < 4; w++) {
            bits[8 * g + 2 * w] = (int32_t)(words[w] & 0xFFFF);
            bits[8 * g + 2 * w + 1] = (int32_t)(words[w] >> 16);
        }
    }
}

/* The bits are laid down first and looked at in a loop of their own, which compiles without branches: on
   random bits a branch is mispredicted so often that masks took most of the time of a step. */
static void drop(const sn_backprop *b, const int64_t *rows, int64_t first, int64_t last, uint32_t iteration)
{
    enum { GROUPS = 16, UNITS = 8 * GROUPS };
    int h = b->shape->layers - 1;
    int64_t width = b->shape->width[h];
    int32_t limit = (int32_t)threshold(b->dropout), bits[UNITS] = {0};
    float kept = kept_scale(b);
    for (int64_t i = first; i < last; i++)
        for (int64_t from = 0; from < width; from += UNITS) {
            int64_t units = width - from < UNITS ? width - from : UNITS;
            float *keep = b->keep + i * width + from, *a = b->value[h] + i * width + from;
            unit_bits(b, rows[i], from / 8, (units + 7) / 8, iteration, bits);
            for (int64_t u = 0; u < units; u++) keep[u] = bits[u] >= limit ? kept : 0;
            for (int64_t u = 0; u < units; u++) a[u] *= keep[u];
        }
}

/* From d loss / d (a . keep) to d loss / d a, and a . keep back to a where it was kept (it is 0 elsewhere).
 */
static void undrop(const sn_backprop *b, int64_t first, int64_t last)
{
    int h = b->shape->layers - 1;
    int64_t width = b->shape->width[h];
    float kept = kept_scale(b);
    const float *keep = b->keep;
    float *delta = b->delta[h], *value = b->value[h];
    for (int64_t i = first * width; i < last * width; i++) delta[i] *= keep[i];
    for (int64_t i = first * width; i < last * width; i++) value[i] /= kept;
}

/* ---- one block of rows ------------------------------------------------------------------------- */

static void gather(const sn_backprop *b, const sn_problem *problem, const int64_t *rows, int64_t first,
                   int64_t last)
{
    int64_t p = b->shape->width[0];
    for (int64_t i = first; i < last; i++) {
        const float *from = problem->x + rows[i] * p;
        if (b->scaling != NULL)
            sn_scaling_apply(b->scaling, from, 1, b->value[0] + i * p);
        else
            memcpy(b->value[0] + i * p, from, (size_t)p * sizeof *from);
    }
    sn_activate(sn_shape_activation(b->shape, 0), (last - first) * p, b->value[0] + first * p);
}

static void forward(const sn_backprop *b, const int64_t *rows, int64_t first, int64_t last,
                    const float *theta, uint32_t iteration)
{
    const sn_shape *shape = b->shape;
    for (int i = 1; i <= shape->layers; i++) {
        int64_t in = shape->width[i - 1], out = shape->width[i];
        float *to = b->value[i] + first * out;
        for (int64_t r = 0; r < last - first; r++)
            memcpy(to + r * out, theta + shape->bias_at[i - 1], (size_t)out * sizeof *to);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)(last - first), (int)out, (int)in, 1.0F,
                    b->value[i - 1] + first * in, (int)in, theta + shape->weight_at[i - 1], (int)in, 1.0F, to,
                    (int)out);
        if (i == shape->layers) break;
        sn_activate(sn_shape_activation(shape, i), (last - first) * out, to);
        if (i == shape->layers - 1 && b->dropout > 0) drop(b, rows, first, last, iteration);
    }
}

/* Sum of the block's losses; gain x d loss / d mu of the last layer. count: rows of the whole batch. */
static double output_delta(const sn_backprop *b, const sn_problem *problem, const int64_t *rows,
                           int64_t first, int64_t last, int64_t count)
{
    int layers = b->shape->layers;
    int64_t m = b->shape->width[layers];
    double loss = 0;
    for (int64_t i = first; i < last; i++) {
        const float *mu = b->value[layers] + i * m;
        float *delta = b->delta[layers] + i * m;
        if (problem->label != NULL) {
            loss += sn_class_slope(mu, m, problem->label[rows[i]], (float)b->gain / (float)count, delta);
            continue;
        }
        for (int64_t k = 0; k < m; k++) {
            double y = problem->y != NULL ? problem->y[rows[i] * m + k] : (double)b->value[0][i * m + k];
            delta[k] = (float)(b->gain * sn_square_slope((double)mu[k], y, &loss) / (double)count);
        }
    }
    return loss;
}

/* The joint loss of the batch; gain x d loss / d mu of the last layer. */
static double joint_delta(const sn_backprop *b, const sn_problem *problem, const int64_t *rows, int64_t count)
{
    const int layers = b->shape->layers;
    float *delta = b->delta[layers];
    const double loss = b->joint->slope(b->joint->user, problem, rows, count, b->value[layers], delta);
    for (int64_t i = 0; i < count * b->shape->width[layers]; i++) delta[i] *= (float)b->gain;
    return loss;
}

/* From the output's delta to the block's part of the gradient. */
static void backward(const sn_backprop *b, int64_t first, int64_t last, const float *theta, float *gradient)
{
    const sn_shape *shape = b->shape;
    int rows = (int)(last - first);
    for (int i = shape->layers; i >= 1; i--) {
        int64_t in = shape->width[i - 1], out = shape->width[i];
        const float *delta = b->delta[i] + first * out;
        const float *below = b->value[i - 1] + first * in;
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)out, (int)in, rows, 1.0F, delta, (int)out,
                    below, (int)in, 0.0F, gradient + shape->weight_at[i - 1], (int)in);
        float *bias = gradient + shape->bias_at[i - 1];
        memset(bias, 0, (size_t)out * sizeof *bias);
        for (int r = 0; r < rows; r++)
            for (int64_t k = 0; k < out; k++) bias[k] += delta[r * out + k];
        if (i == 1) break;
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, (int)in, (int)out, 1.0F, delta, (int)out,
                    theta + shape->weight_at[i - 1], (int)in, 0.0F, b->delta[i - 1] + first * in, (int)in);
        if (i == shape->layers && b->dropout > 0) undrop(b, first, last);
        multiply_slope(sn_shape_activation(shape, i - 1), rows * in, below, b->delta[i - 1] + first * in);
    }
}

double sn_backprop_gradient(sn_backprop *b, const sn_problem *problem, const int64_t *rows, int64_t count,
                            const float *theta, uint32_t iteration)
{
    int64_t block_rows = (count + SN_BACKPROP_BLOCKS - 1) / SN_BACKPROP_BLOCKS;
    if (block_rows < MIN_BLOCK_ROWS) block_rows = MIN_BLOCK_ROWS;
    int64_t blocks = (count + block_rows - 1) / block_rows, size = b->shape->parameters;
    double loss[SN_BACKPROP_BLOCKS] = {0}, joint_loss = 0;
#pragma omp parallel num_threads(blocks > 1 ? b->threads : 1)
    {
        sn_serial_blas();
#pragma omp for schedule(static, 1)
        for (int64_t k = 0; k < blocks; k++) {
            int64_t first = k * block_rows, last = first + block_rows < count ? first + block_rows : count;
            gather(b, problem, rows, first, last);
            forward(b, rows, first, last, theta, iteration);
            if (b->joint == NULL) loss[k] = output_delta(b, problem, rows, first, last, count);
            if (b->joint == NULL) backward(b, first, last, theta, b->partial + k * size);
        }
        if (b->joint != NULL) {
#pragma omp single
            joint_loss = joint_delta(b, problem, rows, count);
#pragma omp for schedule(static, 1)
            for (int64_t k = 0; k < blocks; k++) {
                int64_t first = k * block_rows,
                        last = first + block_rows < count ? first + block_rows : count;
                backward(b, first, last, theta, b->partial + k * size);
            }
        }
#pragma omp for schedule(static)
        for (int64_t j = 0; j < size; j++) {
            float sum = b->partial[j];
            for (int64_t k = 1; k < blocks; k++) sum += b->partial[k * size + j];
            b->gradient[j] = sum;
        }
    }
    if (b->joint != NULL) return joint_loss;
    double total = 0;
    for (int64_t k = 0; k < blocks; k++) total += loss[k];
    return total / (double)count;
}
