/* No reduction: Z is x. For baselines, where a learner sees all columns. */
#include <string.h>

#include "base/memory.h"
#include "methods/method.h"

/* The state is the number of columns. */
static stonet_status create(int64_t p, void **out)
{
    int64_t *state = NULL;
    SN_TRY(SN_NEW(state, 1));
    *state = p;
    return SN_GIVE(state, out);
}

/* Whatever dim says: keeping fewer columns would be a reduction. */
static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    (void)dim;
    (void)settings;
    (void)run;
    SN_TRY(create(problem->p, &result->state));
    result->dim = problem->p;
    result->outcome = STONET_DONE;
    return STONET_OK;
}

static stonet_status transform(const void *state, const float *x, int64_t n,
                               const sn_transform_request *request, float *z)
{
    (void)request;
    memcpy(z, x, (size_t)(n * *(const int64_t *)state) * sizeof *z);
    return STONET_OK;
}

static stonet_status save(const void *state, sn_store *store)
{
    return sn_store_put_int(store, "columns", *(const int64_t *)state);
}

static stonet_status load(const sn_store *store, void **state)
{
    int64_t p;
    SN_TRY(sn_store_get_int(store, "columns", 1, INT64_MAX, &p));
    return create(p, state);
}

static sn_sizes sizes(const void *state)
{
    const int64_t p = *(const int64_t *)state;
    return (sn_sizes){.inputs = p, .dim = p};
}

const sn_method sn_method_none = {
    .name = "none",
    .title = "No reduction: Z is x itself",
    .tasks = SN_TASK_BOTH,
    .multi_output = true,
    .weighted = true,
    .unsupervised = true,
    .fit = fit,
    .transform = transform,
    .save = save,
    .load = load,
    .free = sn_free,
    .sizes = sizes,
};
