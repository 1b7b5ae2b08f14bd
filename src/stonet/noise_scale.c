#include "stonet/noise_scale.h"

#include <math.h>

#include "base/memory.h"
#include "engine/team_sums.h"
#include "stonet/dynamics.h"
#include "stonet/train_state.h"

void sn_noise_scale_add(sn_noise_scale *noise, int64_t parameters, const double *sum, double squares,
                        double weight, double shards)
{
    double whole = 0.0;
    for (int64_t j = 0; j < parameters; j++) whole += sum[j] * sum[j];
    const double variance = (squares - whole / weight) / (shards - 1.0);
    noise->variance += variance;
    noise->square += whole / (weight * weight) - variance / weight;
}

double sn_noise_scale_rows(const sn_noise_scale *noise)
{
    if (!(noise->square > 0.0)) return (double)INFINITY;
    return fmax(noise->variance, 0.0) / noise->square;
}

/* What is measured with. */
typedef struct gauge {
    const sn_stage_job *job;
    sn_engine *engine;
    sn_batches batches;
    sn_dynamics dynamics;
    sn_update update;
    sn_sums one;  /* of one shard */
    sn_sums tree; /* of all: the step, and two numbers more: |D_v|^2 / A_v, and 1 where A_v is not 0 */
} gauge;

/* Turns a gradient into its step: rate times scale, layer by layer. */
static void take_step(const gauge *g, double *gradient)
{
    const sn_shape *shape = g->job->shape;
    for (int i = 0; i < shape->layers; i++) {
        const double factor = g->update.rate[i] * g->update.scale[i];
        const int64_t units = shape->width[i + 1], weights = units * shape->width[i];
        for (int64_t j = 0; j < weights; j++) gradient[shape->weight_at[i] + j] *= factor;
        for (int64_t j = 0; j < units; j++) gradient[shape->bias_at[i] + j] *= factor;
    }
}

/* The sums of shard k of those drawn here, into the tree. */
static stonet_status add_shard(gauge *g, const sn_rows *rows, int k, uint32_t number)
{
    const sn_shards *drawn = &g->batches.shards;
    const int64_t first = drawn->border[k], count = drawn->border[k + 1] - first,
                  parameters = g->job->shape->parameters;
    const sn_shards own = {
        .total = drawn->total, .first = drawn->first + k, .count = 1, .border = {0, count}};
    const sn_iteration it = {.rows = sn_rows_part(rows, first, count),
                             .shards = &own,
                             .number = number,
                             .draw = 1,
                             .dynamics = &g->dynamics,
                             .update = &g->update};
    SN_TRY(g->engine->ops->accumulate(g->engine, &it, &g->one));
    SN_TRY(sn_sums_open(&g->tree, own.first));
    const sn_root *from = &g->one.root[0];
    sn_root *to = &g->tree.root[g->tree.roots - 1];
    take_step(g, from->gradient);
    to->weight = from->weight;
    double squares = 0.0;
    for (int64_t j = 0; j < parameters; j++) {
        to->gradient[j] = from->gradient[j];
        squares += from->gradient[j] * from->gradient[j];
    }
    if (from->weight > 0.0) {
        to->gradient[parameters] = squares / from->weight;
        to->gradient[parameters + 1] = 1.0;
    }
    sn_sums_close(&g->tree);
    return STONET_OK;
}

static stonet_status add_batch(gauge *g, const sn_rows *rows, uint32_t number, sn_noise_scale *noise)
{
    const int64_t parameters = g->job->shape->parameters;
    sn_sums_reset(&g->tree, g->batches.shards.total);
    for (int k = 0; k < g->batches.shards.count; k++) SN_TRY(add_shard(g, rows, k, number));
    if (sn_team_shares(g->job->team) && g->batches.shards.total > 1)
        SN_TRY(sn_team_join_sums(g->job->team, &g->tree));
    const sn_root *root = &g->tree.root[0];
    if (root->gradient[parameters + 1] > 1.0)
        sn_noise_scale_add(noise, parameters, root->gradient, root->gradient[parameters], root->weight,
                           root->gradient[parameters + 1]);
    return STONET_OK;
}

static void gauge_end(gauge *g)
{
    sn_engine_free(g->engine);
    sn_batches_clear(&g->batches);
    sn_sums_clear(&g->one);
    sn_sums_clear(&g->tree);
}

/* A batch has SN_MAX_SHARDS shards of SN_SHARD_ROWS rows, and ranks divide the shards. g.one has room for the
   sums of a shard, g.tree for those of a batch and two numbers more. */
stonet_status sn_noise_scale_measure(const sn_stage_job *job, const float *theta, int batches,
                                     sn_noise_scale *noise)
{
    SN_FREED_BY(gauge_end) gauge g = {.job = job};
    double factor;
    *noise = (sn_noise_scale){0};
    SN_TRY(sn_stage_batches(job, (int64_t)SN_MAX_SHARDS * SN_SHARD_ROWS, &g.batches));
    sn_dynamics_from(job->config, job->shape, &g.dynamics);
    sn_update_from(job->config, job->shape, &g.dynamics, job->rows.n, 1.0, &g.update);
    SN_TRY(sn_dynamics_safeguard(job->shape, theta, &g.dynamics, &factor));
    g.one = sn_sums_empty(job->shape->parameters, !job->config->engine->in_double);
    g.tree = sn_sums_empty(job->shape->parameters + 2, false);
    SN_TRY(job->config->engine->create(job->shape, job->problem, job->seed, job->threads, &g.engine));
    g.engine->ops->start(g.engine, theta);
    for (int b = 0; b < batches; b++) {
        if (b % g.batches.count == 0) sn_batches_shuffle(&g.batches, (uint32_t)(b / g.batches.count));
        const sn_rows rows = sn_batches_draw(&g.batches, b % g.batches.count);
        SN_TRY(add_batch(&g, &rows, (uint32_t)b, noise));
    }
    return STONET_OK;
}
