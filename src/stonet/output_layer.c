#include "stonet/output_layer.h"

#include "base/memory.h"
#include "net/regression.h"

static const double penalty = 0.1;

static bool is_constant(int64_t n, int64_t q, const float *psi)
{
    for (int64_t i = q; i < n * q; i++)
        if (psi[i] != psi[i % q]) return false;
    return true;
}

static void put(const sn_shape *shape, const double *coef, const double *intercept, float *theta)
{
    const int top = shape->layers - 1;
    const int64_t q = shape->width[top];
    for (int64_t k = 0; k < shape->width[top + 1]; k++) {
        for (int64_t j = 0; j < q; j++) theta[shape->weight_at[top] + k * q + j] = (float)coef[k * q + j];
        theta[shape->bias_at[top] + k] = (float)intercept[k];
    }
}

/* psi(mu_h) of the rows, each rank its share. */
static stonet_status features(sn_engine *engine, int h, const sn_rows *rows, int64_t q, stonet_team *team,
                              float *psi)
{
    const int rank = stonet_team_rank(team);
    const int64_t first = sn_team_border(team, rows->n, rank), last = sn_team_border(team, rows->n, rank + 1);
    const sn_pass pass = {.rows = sn_rows_part(rows, first, last - first), .layer = h, .activated = true};
    if (last > first) SN_TRY(engine->ops->forward(engine, &pass, psi + first * q));
    return sn_team_gather(team, rows->n, (size_t)q * sizeof *psi, psi);
}

stonet_status sn_refit_output(sn_engine *engine, const sn_shape *shape, const sn_problem *problem,
                              const sn_rows *rows, stonet_team *team, const stonet_run *run, float *theta)
{
    const int h = shape->layers - 1;
    const int64_t n = rows->n, q = shape->width[h], outputs = shape->width[h + 1];
    bool found;
    SN_ARRAY(n * q, float, psi);
    SN_ZEROS(outputs * q, double, coef);
    SN_ZEROS(outputs, double, intercept);
    engine->ops->start(engine, theta);
    SN_TRY(features(engine, h, rows, q, team, psi));
    if (is_constant(n, q, psi)) return STONET_OK;
    const sn_regression regression = {.problem = problem, .rows = rows, .d = q, .x = psi, .l2 = penalty};
    SN_TRY(sn_regress(&regression, run, coef, intercept, &found));
    if (found) put(shape, coef, intercept, theta);
    return STONET_OK;
}
