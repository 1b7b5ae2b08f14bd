#include "stonet/refit.h"

#include "base/memory.h"
#include "stonet/regression.h"

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

stonet_status sn_refit_output(sn_engine *engine, const sn_shape *shape, const sn_problem *problem,
                              const sn_rows *rows, const stonet_run *run, float *theta)
{
    const int h = shape->layers - 1;
    const int64_t n = rows->n, q = shape->width[h], outputs = shape->width[h + 1];
    float *psi = NULL;
    double *coef = NULL, *intercept = NULL;
    bool found = true;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(psi, n * q), done);
    SN_GOTO(status, SN_NEW(coef, outputs * q), done);
    SN_GOTO(status, SN_NEW(intercept, outputs), done);
    engine->ops->start(engine, theta);
    SN_GOTO(status,
            engine->ops->forward(engine, &(sn_pass){.rows = *rows, .layer = h, .activated = true}, psi),
            done);
    if (is_constant(n, q, psi)) goto done;
    const sn_regression regression = {.problem = problem, .rows = rows, .d = q, .x = psi, .l2 = penalty};
    SN_GOTO(status, sn_regress(&regression, run, coef, intercept, &found), done);
    if (found) put(shape, coef, intercept, theta);
done:
    sn_free(psi);
    sn_free(coef);
    sn_free(intercept);
    return status;
}
