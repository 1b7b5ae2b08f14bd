/* Stochastic use of a fitted network: forward draws, and imputation given the response. */
#include <math.h>
#include <omp.h>

#include "base/memory.h"
#include "math/noise.h"
#include "net/activation.h"
#include "net/forward.h"
#include "stonet/fit.h"

typedef struct draw_job {
    const sn_stonet *net;
    uint64_t seed;
    uint32_t row, draw;
    double *latent, *psi; /* work arrays as wide as the widest hidden layer */
} draw_job;

/* Adds the noise of layer i (1-based) to the d means in latent. */
static void add_noise(const draw_job *job, int i)
{
    const double sigma = sqrt(job->net->dynamics.s[i - 1]);
    for (int64_t a = 0; a < job->net->shape.width[i]; a++)
        job->latent[a] += sigma * sn_noise_normal(job->seed, SN_STREAM_DRAWS, job->row, (uint32_t)i,
                                                  (uint32_t)a, job->draw, 0);
}

/* One row from mu_1 to Y_h. */
static void draw_row(const draw_job *job, const float *mean_1)
{
    const sn_shape *shape = &job->net->shape;
    for (int64_t a = 0; a < shape->width[1]; a++) job->latent[a] = (double)mean_1[a];
    add_noise(job, 1);
    for (int i = 2; i < shape->layers; i++) {
        const int64_t inputs = shape->width[i - 1];
        const float *w = job->net->theta + shape->weight_at[i - 1],
                    *b = job->net->theta + shape->bias_at[i - 1];
        for (int64_t j = 0; j < inputs; j++) job->psi[j] = sn_psi(shape->activation, job->latent[j]);
        for (int64_t a = 0; a < shape->width[i]; a++) {
            double sum = (double)b[a];
            for (int64_t j = 0; j < inputs; j++) sum += (double)w[a * inputs + j] * job->psi[j];
            job->latent[a] = sum;
        }
        add_noise(job, i);
    }
}

static int64_t widest_hidden(const sn_shape *shape)
{
    int64_t width = 1;
    for (int i = 1; i < shape->layers; i++)
        if (shape->width[i] > width) width = shape->width[i];
    return width;
}

stonet_status sn_stonet_draw(const sn_stonet *net, const float *x, int64_t n, int64_t draws, bool activated,
                             uint64_t seed, int threads, float *out)
{
    const sn_shape *shape = &net->shape;
    const int64_t q = shape->width[shape->layers - 1], width = widest_hidden(shape);
    float *mean_1 = NULL;
    double *work = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(mean_1, n * shape->width[1]), done);
    SN_GOTO(status, SN_NEW_RAW(work, 2 * width * threads), done);
    SN_GOTO(status, sn_forward(shape, net->theta, x, NULL, n, 1, false, threads, mean_1), done);
#pragma omp parallel num_threads(threads)
    {
        draw_job job = {.net = net, .seed = seed};
        job.latent = work + 2 * width * omp_get_thread_num();
        job.psi = job.latent + width;
#pragma omp for schedule(static)
        for (int64_t k = 0; k < draws * n; k++) {
            job.row = (uint32_t)(k % n);
            job.draw = (uint32_t)(k / n);
            draw_row(&job, mean_1 + (k % n) * shape->width[1]);
            for (int64_t a = 0; a < q; a++)
                out[k * q + a] =
                    (float)(activated ? sn_psi(shape->activation, job.latent[a]) : job.latent[a]);
        }
    }
done:
    sn_free(mean_1);
    sn_free(work);
    return status;
}

stonet_status sn_stonet_impute(const sn_stonet *net, const sn_problem *problem, bool activated, uint64_t seed,
                               int threads, float *out)
{
    const int h = net->shape.layers - 1;
    sn_engine *engine;
    SN_TRY(sn_engine_cpu.create(&net->shape, problem, seed, threads, &engine));
    engine->ops->set_parameters(engine, net->theta);
    const sn_iteration it = {.count = problem->n, .dynamics = &net->dynamics};
    stonet_status status = engine->ops->impute(engine, &it, h, out);
    engine->ops->free(engine);
    if (status != STONET_OK || !activated) return status;
    for (int64_t k = 0; k < problem->n * net->shape.width[h]; k++)
        out[k] = (float)sn_psi(net->shape.activation, (double)out[k]);
    return STONET_OK;
}
