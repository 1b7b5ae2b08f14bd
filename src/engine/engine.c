#include "engine/engine.h"

#include <math.h>

#include "engine/settle.h"
#include "engine/team_sums.h"
#include "net/loss.h"

SN_DEFINE_WORDS(sn_integrator_words, "integrator", SN_EULER, SN_INTEGRATOR_WORDS);
SN_DEFINE_WORDS(sn_start_words, "start", SN_START_MODE, SN_START_WORDS);

enum { LOSS_ROWS = 4096 }; /* whose outputs are held at a time */

stonet_status sn_engine_check(const sn_shape *shape, const sn_problem *problem, int threads)
{
    if (threads < 1) return sn_fail(STONET_ERROR_ARGUMENT, "the engine needs at least one thread");
    if (shape->layers < 1 || shape->layers > SN_MAX_LAYERS)
        return sn_fail(STONET_ERROR_ARGUMENT, "the network has %d layers; 1 to %d are possible",
                       shape->layers, SN_MAX_LAYERS);
    if (shape->width[0] != problem->p || shape->width[shape->layers] != problem->outputs ||
        shape->task != problem->task)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "the network takes %lld columns and gives %lld outputs; the data has %lld and %lld",
                       (long long)shape->width[0], (long long)shape->width[shape->layers],
                       (long long)problem->p, (long long)problem->outputs);
    if (problem->n < 1 || problem->first_row < 0 || problem->first_row + problem->n > (int64_t)UINT32_MAX)
        return sn_fail(STONET_ERROR_DATA, "the data has %lld rows; 1 to %lld are possible",
                       (long long)(problem->first_row + problem->n), (long long)UINT32_MAX);
    for (int i = 0; i <= shape->layers; i++) /* the noise is keyed by 20 bits of unit / 4 */
        if (shape->width[i] < 1 || shape->width[i] > 4 << 20)
            return sn_fail(STONET_ERROR_ARGUMENT, "layer %d has %lld units; 1 to %d are possible", i,
                           (long long)shape->width[i], 4 << 20);
    return STONET_OK;
}

stonet_status sn_engine_iterate(sn_engine *engine, const sn_iteration *iteration, const sn_reduce *reduce,
                                sn_sums *sums, sn_step_report *report)
{
    if (reduce == NULL) return engine->ops->step(engine, iteration, report);
    if (iteration->rows.n > 0)
        SN_TRY(engine->ops->accumulate(engine, iteration, sums));
    else
        sn_sums_reset(sums, iteration->shards->total); /* more holders than shards */
    SN_TRY(reduce->join(reduce->user, sums));
    return engine->ops->apply(engine, iteration, sums, report);
}

void sn_group_factors(const sn_problem *problem, int64_t units, const sn_update *update, double *squares)
{
    const int64_t groups = problem->group != NULL ? problem->groups : problem->p;
    for (int64_t g = 0; g < groups; g++) {
        const int64_t first = problem->group != NULL ? problem->group[g] : g,
                      last = problem->group != NULL ? problem->group[g + 1] : g + 1;
        double square = 0.0;
        for (int64_t j = first; j < last; j++) square += squares[j];
        const double factor = update->group_factor != NULL ? update->group_factor[g] : 1.0;
        const double norm = sqrt(square), limit = update->rate[0] * update->group * factor *
                                                  sqrt((double)((last - first) * units));
        for (int64_t j = first; j < last; j++) squares[j] = norm > limit ? 1.0 - limit / norm : 0.0;
    }
}

double sn_row_loss(const sn_shape *shape, const sn_problem *problem, int64_t row, const float *mu,
                   double *room, bool *wrong)
{
    const int64_t d = shape->width[shape->layers];
    *wrong = false;
    if (problem->law != NULL && problem->parameter != NULL) {
        double own[2], at;
        const double *parameter = sn_law_read(d, mu, problem->parameter, own, &at);
        return problem->law->loss(problem->law, problem->seen + row * SN_LAW_SEEN, at, parameter, NULL);
    }
    if (shape->task == SN_CLASSIFICATION) return sn_class_loss(mu, d, sn_problem_label(problem, row), wrong);
    const double *y = sn_problem_targets(problem, row, room);
    return shape->spread ? sn_spread_loss(mu, d, y) : sn_square_loss(mu, d, y);
}

/* Adds the losses of one part of the rows, from their outputs mu. room: of one response. */
static void add_losses(const sn_shape *shape, const sn_problem *problem, const sn_rows *rows, const float *mu,
                       double *room, sn_root *sum)
{
    const int64_t d = shape->width[shape->layers];
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        const double weight = sn_problem_weight(problem, row);
        bool wrong;
        sum->weight += weight;
        sum->loss += weight * sn_row_loss(shape, problem, row, mu + i * d, room, &wrong);
    }
}

/* The sums of the shards of these rows. */
static stonet_status sum_losses(sn_engine *engine, const sn_shape *shape, const sn_problem *problem,
                                const sn_rows *rows, const sn_shards *shards, sn_sums *sums)
{
    SN_ARRAY((rows->n < LOSS_ROWS ? rows->n : LOSS_ROWS) * shape->width[shape->layers], float, mu);
    SN_ARRAY(shape->width[shape->layers], double, room); /* for the outputs of a row */
    sn_sums_reset(sums, shards->total);
    for (int v = 0; v < shards->count; v++) {
        SN_TRY(sn_sums_open(sums, shards->first + v));
        for (int64_t first = shards->border[v]; first < shards->border[v + 1]; first += LOSS_ROWS) {
            const int64_t left = shards->border[v + 1] - first;
            const sn_rows part = sn_rows_part(rows, first, left < LOSS_ROWS ? left : LOSS_ROWS);
            const sn_pass pass = {.rows = part, .layer = shape->layers};
            SN_TRY(engine->ops->forward(engine, &pass, mu));
            add_losses(shape, problem, &part, mu, room, &sums->root[sums->roots - 1]);
            if (problem->raw != NULL) sn_batch_expect(problem, &part, 0, part.n, SN_ROWS_REST);
        }
        sn_sums_close(sums);
    }
    return STONET_OK;
}

stonet_status sn_engine_forward(const sn_use *use, const sn_pass *pass, float *out)
{
    SN_AUTO(sn_engine) *engine = NULL;
    SN_TRY(use->engine->create(use->shape, use->problem, 0, use->threads, &engine));
    use->engine->start(engine, use->theta);
    return use->engine->forward(engine, pass, out);
}

stonet_status sn_engine_loss(const sn_use *use, const sn_rows *rows, stonet_team *team, double *loss)
{
    sn_shards shards;
    const sn_rows own = sn_team_rows(team, rows, &shards);
    SN_FREED_BY(sn_sums_clear) sn_sums sums = sn_sums_empty(0, false);
    SN_AUTO(sn_engine) *engine = NULL;
    double parameter[SN_LAW_PARAMETERS];
    sn_problem problem = *use->problem;
    SN_TRY(use->engine->create(use->shape, use->problem, 0, use->threads, &engine));
    use->engine->start(engine, use->theta);
    if (problem.law != NULL) {
        SN_TRY(sn_settle(engine, use->shape->layers, &problem, rows, SN_SETTLE_ROWS, true, parameter));
        problem.parameter = parameter;
    }
    SN_TRY(sum_losses(engine, use->shape, &problem, &own, &shards, &sums));
    if (sn_team_shares(team) && shards.total > 1) SN_TRY(sn_team_join_sums(team, &sums));
    *loss = sums.root[0].loss / sums.root[0].weight;
    return STONET_OK;
}

stonet_status sn_engine_sum_shards(const sn_problem *problem, const sn_rows *rows, const sn_shards *shards,
                                   const double *loss, const float *gradients, sn_sums *sums)
{
    sn_sums_reset(sums, shards->total);
    for (int v = 0; v < shards->count; v++) {
        const int64_t first = shards->border[v], last = shards->border[v + 1];
        SN_TRY(sn_sums_open(sums, shards->first + v));
        sn_root *root = &sums->root[sums->roots - 1];
        root->loss = loss != NULL ? loss[v] : 0.0;
        if (problem->weight == NULL)
            root->weight = (double)(last - first);
        else
            for (int64_t k = first; k < last; k++)
                root->weight += (double)problem->weight[sn_rows_at(rows, k)];
        for (int64_t j = 0; j < sums->parameters; j++)
            root->gradient[j] = (double)gradients[v * sums->parameters + j];
        sn_sums_close(sums);
    }
    return STONET_OK;
}

/* no test: a guess at the time of a row, by which threads are shared out. */
double sn_engine_row_cost(const sn_shape *shape, int sweeps)
{
    const int64_t *width = shape->width;
    double latents = 0.0, products = 2.0 * (double)(width[0] * width[1]);
    for (int i = 1; i < shape->layers; i++) {
        latents += (double)width[i];
        products += (2.0 * sweeps + 2.0) * (double)(width[i] * width[i + 1]);
    }
    return latents * sweeps + products / 40.0;
}
