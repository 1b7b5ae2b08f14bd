#include "front/front_gradient.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "front/front_conv.h"
#include "math/serial_blas.h"

enum { BLOCK_ROWS = 32 }; /* of a product, each on one thread */
/* Of |phi|, in one update. A longer step can push filters so far that none of them is ever above 0 again, for
   any image. */
static const double LONGEST_STEP = 0.01;

struct sn_learning {
    sn_front *front;
    const sn_problem *raw;
    float *seen; /* n x outputs */
    const sn_shape *shape;
    int64_t rows;
    int threads;
    sn_conv_room *room;
    float *x, *u, *du;              /* rows x inputs, rows x outputs */
    float *y, *mu;                  /* rows x d_1; y becomes r_1 */
    float *parameters;              /* of the network */
    float *gradient, *speed, *good; /* of the front */
    double weights;                 /* A of the batch */
};

void sn_learning_free(sn_learning *l)
{
    if (l == NULL) return;
    sn_conv_close(l->room);
    SN_FREE_ALL(l->x, l->u, l->du, l->y, l->mu, l->parameters, l->gradient, l->speed, l->good, l);
}

static stonet_status make_room(sn_learning *l)
{
    const int64_t inputs = l->front->inputs, outputs = l->front->outputs, units = l->shape->width[1];
    SN_TRY(sn_conv_open(sn_front_conv_shape(l->front), l->rows, l->threads, &l->room));
    SN_TRY(SN_NEW_RAW(l->x, l->rows * inputs));
    SN_TRY(SN_NEW_RAW(l->u, l->rows * outputs));
    SN_TRY(SN_NEW_RAW(l->du, l->rows * outputs));
    SN_TRY(SN_NEW_RAW(l->y, l->rows * units));
    SN_TRY(SN_NEW_RAW(l->mu, l->rows * units));
    SN_TRY(SN_NEW_RAW(l->parameters, l->shape->parameters));
    SN_TRY(SN_NEW(l->gradient, l->front->parameters));
    SN_TRY(SN_NEW(l->speed, l->front->parameters));
    return SN_NEW_RAW(l->good, l->front->parameters);
}

stonet_status sn_learning_create(sn_front *front, const sn_problem *raw, const sn_problem *seen,
                                 const sn_shape *shape, int64_t rows, int threads, sn_learning **out)
{
    sn_learning *l;
    SN_TRY(SN_NEW(l, 1));
    *l = (sn_learning){.front = front,
                       .raw = raw,
                       .seen = (float *)seen->x, /* made by sn_front_problem */
                       .shape = shape,
                       .rows = rows,
                       .threads = threads};
    stonet_status status = make_room(l);
    if (status != STONET_OK) {
        sn_learning_free(l);
        return status;
    }
    sn_learning_mark(l);
    *out = l;
    return STONET_OK;
}

/* u of the rows, to their places. */
static stonet_status show(sn_learning *l, const sn_rows *rows, uint32_t draw)
{
    const int64_t outputs = l->front->outputs;
    SN_TRY(sn_batch_prepare(l->raw, rows));
    sn_batch batch = {.x = l->x, .x_stride = l->raw->p, .draw = draw};
    sn_batch_fetch(l->raw, rows, &batch);
    sn_conv_forward(l->room, l->front->theta, rows->n, l->x, l->u);
    for (int64_t i = 0; i < rows->n; i++)
        memcpy(l->seen + sn_rows_at(rows, i) * outputs, l->u + i * outputs, (size_t)outputs * sizeof *l->u);
    return STONET_OK;
}

/* y = a (Y_1 - mu_1) / s_1, and the sum of the a. */
static void make_residuals(sn_learning *l, const sn_rows *rows, double s)
{
    const int64_t units = l->shape->width[1];
    l->weights = 0.0;
    for (int64_t i = 0; i < rows->n; i++) {
        const double a = sn_problem_weight(l->raw, sn_rows_at(rows, i));
        const float factor = (float)(a / s);
        l->weights += a;
        for (int64_t j = i * units; j < (i + 1) * units; j++) l->y[j] = factor * (l->y[j] - l->mu[j]);
    }
}

/* du = r_1 w_1: rows x d_0. */
static void take_back(sn_learning *l, int64_t n)
{
    const int64_t units = l->shape->width[1], inputs = l->shape->width[0];
    const float *w = l->parameters + l->shape->weight_at[0];
#pragma omp parallel num_threads(l->threads)
    {
        sn_serial_blas();
#pragma omp for schedule(static)
        for (int64_t first = 0; first < n; first += BLOCK_ROWS) {
            const int64_t rows = n - first < BLOCK_ROWS ? n - first : BLOCK_ROWS;
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)inputs, (int)units, 1.0F,
                        l->y + first * units, (int)units, w, (int)inputs, 0.0F, l->du + first * inputs,
                        (int)inputs);
        }
    }
}

stonet_status sn_learning_look(sn_learning *l, sn_engine *engine, const sn_iteration *iteration)
{
    const sn_rows *rows = &iteration->rows;
    SN_TRY(show(l, rows, iteration->draw));
    SN_TRY(engine->ops->impute(engine, iteration, 1, l->y));
    SN_TRY(engine->ops->forward(engine, &(sn_pass){.rows = *rows, .layer = 1}, l->mu));
    engine->ops->get_parameters(engine, l->parameters);
    make_residuals(l, rows, iteration->dynamics->s[0]);
    take_back(l, rows->n);
    sn_conv_backward(l->room, l->front->theta, l->du, l->gradient);
    return STONET_OK;
}

static double length(int64_t n, const float *v)
{
    double sum = 0.0;
    for (int64_t j = 0; j < n; j++) sum += (double)v[j] * (double)v[j];
    return sqrt(sum);
}

void sn_learning_step(sn_learning *l, const sn_update *update)
{
    const sn_front *front = l->front;
    const int64_t n = front->parameters;
    const double scale = update->scale[0] / l->weights;
    for (int64_t j = 0; j < n; j++) {
        const double decay = sn_conv_is_kernel(sn_front_conv_shape(front), j) ? update->decay : 0.0;
        const double d = scale * (double)l->gradient[j] - decay * (double)front->theta[j];
        l->speed[j] = (float)(update->momentum * (double)l->speed[j] + d);
    }
    const double step = update->rate[0] * length(n, l->speed), most = LONGEST_STEP * length(n, front->theta);
    if (step > most)
        for (int64_t j = 0; j < n; j++) l->speed[j] = (float)(most / step * (double)l->speed[j]);
    for (int64_t j = 0; j < n; j++) front->theta[j] += (float)(update->rate[0] * (double)l->speed[j]);
}

void sn_learning_mark(sn_learning *l)
{
    memcpy(l->good, l->front->theta, (size_t)l->front->parameters * sizeof *l->good);
}

void sn_learning_restore(sn_learning *l)
{
    memcpy(l->front->theta, l->good, (size_t)l->front->parameters * sizeof *l->good);
}
