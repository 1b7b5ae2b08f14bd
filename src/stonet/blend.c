#include "stonet/blend.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "stonet/front_kernel.h"
#include "stonet/linear.h"

bool sn_blend_fits(const sn_shape *network)
{
    return sn_linear_fits(network) && network->linear_layer == 0 && network->layers < SN_MAX_LAYERS &&
           (network->activation == SN_TANH || network->activation == SN_RELU);
}

/* Entry of U: column c of the basis, output k. */
static double basis(const sn_shape *shape, int64_t k, int64_t c)
{
    if (shape->task != SN_CLASSIFICATION) return k == c ? 1.0 : 0.0;
    const double norm = sqrt((double)(c + 1) * (double)(c + 2));
    return k <= c ? 1.0 / norm : k == c + 1 ? -(double)(c + 1) / norm : 0.0;
}

/* What the network gives for the rows: mu n x outputs. */
static stonet_status network_outputs(const sn_blend *b, float *mu)
{
    sn_engine *engine;
    SN_TRY(b->engine->create(b->network.shape, b->x, 0, b->threads, &engine));
    b->engine->start(engine, b->network.theta);
    const sn_pass pass = {.rows = b->rows, .layer = b->network.shape->layers};
    stonet_status status = b->engine->forward(engine, &pass, mu);
    b->engine->free(engine);
    return status;
}

/* W u of the rows: z n x r. */
static void linear_units(const sn_blend *b, int64_t r, double *z)
{
    const int64_t d = b->linear.shape->width[0];
    for (int64_t i = 0; i < b->rows.n; i++) {
        const float *u = b->u->x + sn_rows_at(&b->rows, i) * b->u->p;
        for (int64_t c = 0; c < r; c++) {
            const float *w = b->linear.theta + b->linear.shape->weight_at[0] + c * d;
            z[i * r + c] = 0.0;
            for (int64_t j = 0; j < d; j++) z[i * r + c] += (double)w[j] * (double)u[j];
        }
    }
}

/* How far |W u| and |T| go over the rows; r of each. */
typedef struct reaches {
    double *carried, *top;
} reaches;

static stonet_status find_reaches(const sn_blend *b, int64_t r, const reaches *out)
{
    const sn_shape *net = b->network.shape, *linear = b->linear.shape;
    const int64_t m = net->width[net->layers], n = b->rows.n, q = linear->width[1];
    SN_WORKSPACE(scratch);
    float *mu = NULL;
    double *z = NULL;
    SN_TRY(SN_TAKE(&scratch, mu, n * m));
    SN_TRY(SN_TAKE(&scratch, z, n * r));
    SN_TRY(network_outputs(b, mu));
    linear_units(b, r, z);
    const float *constant = b->network.theta + net->bias_at[net->layers - 1];
    const float *v = b->linear.theta + linear->weight_at[1];
    for (int64_t c = 0; c < r; c++) {
        out->carried[c] = out->top[c] = 0.0;
        for (int64_t i = 0; i < n; i++) {
            double t = 0.0;
            for (int64_t k = 0; k < m; k++) {
                double both = (double)mu[i * m + k] - (double)constant[k];
                for (int64_t a = 0; a < r; a++) both += (double)v[k * q + a] * z[i * r + a];
                t += 0.5 * basis(net, k, c) * both;
            }
            out->top[c] = fmax(out->top[c], fabs(t));
            out->carried[c] = fmax(out->carried[c], fabs(z[i * r + c]));
        }
    }
    return STONET_OK;
}

static stonet_status lay_out(const sn_blend *b, int64_t r, sn_shape *shape)
{
    const sn_shape *net = b->network.shape;
    const int h = net->layers - 1;
    *shape = *net;
    shape->layers = h + 2;
    shape->width[0] = b->front->outputs;
    for (int i = 1; i <= h; i++) shape->width[i] = net->width[i] + r;
    shape->width[h + 1] = net->width[h];
    shape->width[h + 2] = net->width[h + 1];
    return sn_shape_layout(shape);
}

/* Layer 1: the network's units see x where it is among the features, u_j = factor x_j - mean_j; the others
   hold W u. */
static void put_first(const sn_blend *b, int64_t r, const sn_passage *way, const sn_shape *shape, float *out)
{
    const sn_shape *net = b->network.shape, *linear = b->linear.shape;
    const sn_kernel_inputs x = sn_front_kernel_inputs(b->front);
    const int64_t d = shape->width[0], p = net->width[0], units = net->width[1], seen = linear->width[0];
    for (int64_t a = 0; a < units; a++) {
        double bias = (double)b->network.theta[net->bias_at[0] + a];
        for (int64_t j = 0; j < p; j++) {
            const double w = (double)b->network.theta[net->weight_at[0] + a * p + j] / x.factor;
            out[shape->weight_at[0] + a * d + x.first + j] = (float)w;
            bias += w * x.mean[j];
        }
        out[shape->bias_at[0] + a] = (float)bias;
    }
    for (int64_t c = 0; c < r; c++) {
        const float *w = b->linear.theta + linear->weight_at[0] + c * seen;
        for (int64_t j = 0; j < seen; j++)
            out[shape->weight_at[0] + (units + c) * d + j] = (float)(way[c].scale * (double)w[j]);
        out[shape->bias_at[0] + units + c] = (float)way[c].shift;
    }
}

/* Layers 2..h: the network's, and what is carried goes on as it is. */
static void put_middle(const sn_blend *b, int64_t r, const sn_shape *shape, float *out)
{
    const sn_shape *net = b->network.shape;
    for (int i = 1; i < net->layers - 1; i++) {
        const int64_t from = net->width[i], to = net->width[i + 1], wide = shape->width[i];
        for (int64_t a = 0; a < to; a++) {
            memcpy(out + shape->weight_at[i] + a * wide, b->network.theta + net->weight_at[i] + a * from,
                   (size_t)from * sizeof *out);
            out[shape->bias_at[i] + a] = b->network.theta[net->bias_at[i] + a];
        }
        for (int64_t c = 0; c < r; c++) out[shape->weight_at[i] + (to + c) * wide + from + c] = 1.0F;
    }
}

/* Layer h + 1 and the output: T, and what is made of it. */
static void put_top(const sn_blend *b, int64_t r, const sn_passage *way, const sn_passage *top,
                    const sn_shape *shape, float *out)
{
    const sn_shape *net = b->network.shape, *linear = b->linear.shape;
    const int h = net->layers - 1;
    const int64_t m = net->width[h + 1], units = net->width[h], wide = shape->width[h], q = linear->width[1];
    const float *v_a = b->network.theta + net->weight_at[h], *v_b = b->linear.theta + linear->weight_at[1];
    for (int64_t c = 0; c < r; c++) {
        float *w = out + shape->weight_at[h] + c * wide;
        double bias = top[c].shift;
        for (int64_t a = 0; a < units + r; a++) {
            double sum = 0.0;
            for (int64_t k = 0; k < m; k++)
                sum += basis(net, k, c) * (double)(a < units ? v_a[k * units + a] : v_b[k * q + a - units]);
            sum *= 0.5 * top[c].scale / (a < units ? 1.0 : way[a - units].scale);
            w[a] = (float)sum;
            if (a >= units) bias -= sum * way[a - units].shift;
        }
        out[shape->bias_at[h] + c] = (float)bias;
    }
    for (int64_t k = 0; k < m; k++) {
        double bias = 0.5 * ((double)b->network.theta[net->bias_at[h] + k] +
                             (double)b->linear.theta[linear->bias_at[1] + k]);
        for (int64_t c = 0; c < r; c++) {
            const double w = basis(net, k, c) / top[c].scale;
            out[shape->weight_at[h + 1] + k * units + c] = (float)w;
            bias -= w * top[c].shift;
        }
        out[shape->bias_at[h + 1] + k] = (float)bias;
    }
}

stonet_status sn_blend_make(const sn_blend *blend, sn_shape *shape, float **theta)
{
    const int64_t r = sn_linear_rank(blend->network.shape);
    SN_WORKSPACE(scratch);
    reaches reach = {0};
    sn_passage *way = NULL, *top = NULL;
    SN_TRY(SN_TAKE(&scratch, reach.carried, r));
    SN_TRY(SN_TAKE(&scratch, reach.top, r));
    SN_TRY(SN_TAKE(&scratch, way, r));
    SN_TRY(SN_TAKE(&scratch, top, r));
    SN_TRY(find_reaches(blend, r, &reach));
    for (int64_t c = 0; c < r; c++) {
        way[c] = sn_passage_of(blend->network.shape, reach.carried[c]);
        top[c] = sn_passage_of(blend->network.shape, reach.top[c]);
    }
    SN_TRY(lay_out(blend, r, shape));
    SN_TRY(SN_NEW(*theta, shape->parameters));
    put_first(blend, r, way, shape, *theta);
    put_middle(blend, r, shape, *theta);
    put_top(blend, r, way, top, shape, *theta);
    return STONET_OK;
}
