#include "stonet/latent.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "engine/settle.h"
#include "math/noise.h"

/* The parameters follow the network every so many updates, by so many rows: often enough for the shortest
   training, and a tenth of its time. */
enum { EVERY = 25, ROWS = 1000 };

struct sn_latent {
    sn_problem problem;
    double *y; /* n */
    float *mu; /* of a batch */
    int64_t most;
    uint64_t seed;
    double parameter[SN_LAW_PARAMETERS];
};

void sn_latent_free(sn_latent *latent)
{
    if (latent == NULL) return;
    SN_FREE_ALL(latent->y, latent->mu, latent);
}

stonet_status sn_latent_create(const sn_problem *problem, int64_t most, uint64_t seed, sn_latent **out)
{
    SN_AUTO(sn_latent) *latent = NULL;
    SN_TRY(SN_NEW(latent, 1));
    latent->most = most;
    latent->seed = seed;
    SN_TRY(SN_NEW_RAW(latent->y, problem->n * problem->outputs));
    SN_TRY(SN_NEW_RAW(latent->mu, most * problem->outputs));
    memcpy(latent->y, problem->y, (size_t)(problem->n * problem->outputs) * sizeof *latent->y);
    latent->problem = *problem;
    latent->problem.y = latent->y;
    latent->problem.keep = NULL; /* what is kept of rows does not move with them */
    return SN_GIVE(latent, out);
}

const sn_problem *sn_latent_problem(const sn_latent *latent)
{
    return &latent->problem;
}

/* y of a row, given its outputs and u. */
static void draw_row(sn_latent *latent, int64_t row, const float *out, double u)
{
    const sn_problem *problem = &latent->problem;
    const double *seen = problem->seen + row * SN_LAW_SEEN;
    double own[2], mu, *y = latent->y + row * problem->outputs;
    const double *parameter = sn_law_read(problem->outputs, out, latent->parameter, own, &mu);
    if (problem->functions == NULL)
        *y = mu + problem->law->pull(problem->law, seen, mu, parameter, u);
    else
        problem->functions(problem->functions_of, sn_law_draw_time(problem->law, seen, mu, parameter, u), y);
}

stonet_status sn_latent_draw(sn_latent *latent, sn_engine *engine, const sn_shape *shape, const sn_rows *rows,
                             const sn_iteration *iteration)
{
    const sn_problem *problem = &latent->problem;
    if (iteration->number % EVERY == 0)
        SN_TRY(
            sn_settle(engine, shape->layers, problem, rows, ROWS, iteration->number == 0, latent->parameter));
    for (int64_t first = 0; first < iteration->rows.n; first += latent->most) {
        const int64_t left = iteration->rows.n - first;
        const sn_rows some = sn_rows_part(&iteration->rows, first, left < latent->most ? left : latent->most);
        SN_TRY(engine->ops->forward(engine, &(sn_pass){.rows = some, .layer = shape->layers}, latent->mu));
        for (int64_t i = 0; i < some.n; i++) {
            const int64_t row = sn_rows_at(&some, i);
            const uint32_t number = (uint32_t)(problem->first_row + row);
            draw_row(latent, row, latent->mu + i * problem->outputs,
                     sn_noise_uniform(latent->seed, SN_STREAM_RESPONSE, number, 0, 0, iteration->number, 0));
        }
    }
    return STONET_OK;
}

stonet_status sn_latent_pack(const sn_latent *latent, sn_pack *pack)
{
    return sn_pack_bytes(pack, latent->parameter, sizeof latent->parameter);
}

stonet_status sn_latent_unpack(sn_latent *latent, sn_unpack *from)
{
    SN_TRY(sn_unpack_bytes(from, latent->parameter, sizeof latent->parameter));
    for (int k = 0; k < SN_LAW_PARAMETERS; k++)
        if (!isfinite(latent->parameter[k]))
            return sn_fail(STONET_ERROR_FORMAT, "the checkpoint has a law whose parameters are no numbers");
    return STONET_OK;
}
