/* A fitted network at work, through its engine: passes, draws, and imputation given the response. */
#include "base/memory.h"
#include "net/activation.h"
#include "stonet/fit.h"

/* A network that has been given parameters and rows. */
typedef struct awake {
    sn_problem seen; /* the rows as the front shows them */
    sn_engine *engine;
} awake;

static stonet_status wake(const sn_stonet *net, const sn_problem *problem, uint64_t seed, int threads,
                          awake *out)
{
    *out = (awake){0};
    SN_TRY(sn_front_problem(net->front, problem, &out->seen));
    stonet_status status = net->engine->create(&net->network.shape, &out->seen, seed, threads, &out->engine);
    if (status != STONET_OK) {
        sn_front_problem_free(net->front, &out->seen);
        return status;
    }
    net->engine->start(out->engine, net->network.theta);
    return STONET_OK;
}

static void let_go(const sn_stonet *net, awake *at)
{
    net->engine->free(at->engine);
    sn_front_problem_free(net->front, &at->seen);
}

stonet_status sn_stonet_forward(const sn_stonet *net, const sn_problem *problem, int layer, bool activated,
                                int threads, float *out)
{
    awake at;
    SN_TRY(wake(net, problem, 0, threads, &at));
    const sn_pass pass = {.rows = sn_rows_range(0, problem->n), .layer = layer, .activated = activated};
    stonet_status status = net->engine->forward(at.engine, &pass, out);
    let_go(net, &at);
    return status;
}

/* Rows that axes are learned from, and numbers of Z; evenly over the table. */
enum { AXES_ROWS = 100000, AXES_NUMBERS = 1 << 24 };

stonet_status sn_stonet_turn(sn_stonet *net, const sn_problem *problem, int threads)
{
    const int h = net->network.shape.layers - 1;
    const int64_t q = net->network.shape.width[h], most = AXES_NUMBERS / q;
    int64_t n = problem->n < AXES_ROWS ? problem->n : AXES_ROWS;
    if (n > most) n = most > 2 ? most : 2;
    if (n > problem->n) n = problem->n;
    awake at = {0};
    int64_t *list = NULL;
    float *z = NULL;
    stonet_status status;
    sn_axes_free(&net->axes);
    SN_GOTO(status, SN_NEW_RAW(list, n), done);
    SN_GOTO(status, SN_NEW_RAW(z, n * q), done);
    for (int64_t i = 0; i < n; i++) list[i] = i * problem->n / n;
    SN_GOTO(status, wake(net, problem, 0, threads, &at), done);
    const sn_pass pass = {.rows = sn_rows_list(list, n), .layer = h};
    SN_GOTO(status, net->engine->forward(at.engine, &pass, z), done);
    status = sn_axes_learn(&net->network.shape, net->network.theta, n, z, &net->axes);
done:
    if (at.engine != NULL) let_go(net, &at);
    sn_free(list);
    sn_free(z);
    return status;
}

stonet_status sn_stonet_reduce(const sn_stonet *net, const sn_problem *problem, bool activated, int threads,
                               float *z)
{
    SN_TRY(sn_stonet_forward(net, problem, net->network.shape.layers - 1, activated, threads, z));
    return activated ? STONET_OK : sn_axes_apply(&net->axes, problem->n, z);
}

stonet_status sn_stonet_draw(const sn_stonet *net, const sn_problem *problem, int64_t draws, bool activated,
                             uint64_t seed, int threads, int64_t apart, float *out)
{
    const int h = net->network.shape.layers - 1;
    awake at;
    SN_TRY(wake(net, problem, seed, threads, &at));
    stonet_status status = STONET_OK;
    for (int64_t draw = 0; draw < draws && status == STONET_OK; draw++) {
        const sn_pass pass = {.rows = sn_rows_range(0, problem->n),
                              .layer = h,
                              .activated = activated,
                              .s = net->dynamics.s,
                              .draw = (uint32_t)draw};
        float *to = out + draw * apart * net->network.shape.width[h];
        status = net->engine->forward(at.engine, &pass, to);
        if (status == STONET_OK && !activated) status = sn_axes_apply(&net->axes, problem->n, to);
    }
    let_go(net, &at);
    return status;
}

stonet_status sn_stonet_impute(const sn_stonet *net, const sn_problem *problem, bool activated, uint64_t seed,
                               int threads, float *out)
{
    const int h = net->network.shape.layers - 1;
    awake at;
    SN_TRY(wake(net, problem, seed, threads, &at));
    const sn_iteration it = {.rows = sn_rows_range(0, problem->n), .dynamics = &net->dynamics};
    stonet_status status = net->engine->impute(at.engine, &it, h, out);
    let_go(net, &at);
    if (status != STONET_OK) return status;
    if (!activated) return sn_axes_apply(&net->axes, problem->n, out);
    for (int64_t k = 0; k < problem->n * net->network.shape.width[h]; k++)
        out[k] = (float)sn_psi(net->network.shape.activation, (double)out[k]);
    return STONET_OK;
}
