/* A fitted network at work, through its engine: passes, draws, and imputation given the response. */
#include "base/memory.h"
#include "net/activation.h"
#include "stonet/fit.h"

/* An engine with the network's parameters. */
static stonet_status wake(const sn_stonet *net, const sn_problem *problem, uint64_t seed, int threads,
                          sn_engine **out)
{
    SN_TRY(net->engine->create(&net->network.shape, problem, seed, threads, out));
    net->engine->start(*out, net->network.theta);
    return STONET_OK;
}

stonet_status sn_stonet_forward(const sn_stonet *net, const sn_problem *problem, int layer, bool activated,
                                int threads, float *out)
{
    sn_engine *engine;
    SN_TRY(wake(net, problem, 0, threads, &engine));
    const sn_pass pass = {.rows = sn_rows_range(0, problem->n), .layer = layer, .activated = activated};
    stonet_status status = net->engine->forward(engine, &pass, out);
    net->engine->free(engine);
    return status;
}

stonet_status sn_stonet_draw(const sn_stonet *net, const sn_problem *problem, int64_t draws, bool activated,
                             uint64_t seed, int threads, int64_t apart, float *out)
{
    const int h = net->network.shape.layers - 1;
    sn_engine *engine;
    SN_TRY(wake(net, problem, seed, threads, &engine));
    stonet_status status = STONET_OK;
    for (int64_t draw = 0; draw < draws && status == STONET_OK; draw++) {
        const sn_pass pass = {.rows = sn_rows_range(0, problem->n),
                              .layer = h,
                              .activated = activated,
                              .s = net->dynamics.s,
                              .draw = (uint32_t)draw};
        status = net->engine->forward(engine, &pass, out + draw * apart * net->network.shape.width[h]);
    }
    net->engine->free(engine);
    return status;
}

stonet_status sn_stonet_impute(const sn_stonet *net, const sn_problem *problem, bool activated, uint64_t seed,
                               int threads, float *out)
{
    const int h = net->network.shape.layers - 1;
    sn_engine *engine;
    SN_TRY(wake(net, problem, seed, threads, &engine));
    const sn_iteration it = {.rows = sn_rows_range(0, problem->n), .dynamics = &net->dynamics};
    stonet_status status = net->engine->impute(engine, &it, h, out);
    net->engine->free(engine);
    if (status != STONET_OK || !activated) return status;
    for (int64_t k = 0; k < problem->n * net->network.shape.width[h]; k++)
        out[k] = (float)sn_psi(net->network.shape.activation, (double)out[k]);
    return STONET_OK;
}
