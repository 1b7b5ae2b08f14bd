/*
 * Logistic regression, two classes or many, with an L2 penalty on the coefficients and none on the
 * intercepts:
 *
 *     min  sum_i w_i -log p(label_i | z_i) + l2/2 |W|^2
 *
 * Two classes have one coefficient vector, more have one each (symmetric softmax); l2 = 1 is what
 * scikit-learn calls C = 1. A class without rows gets probability 0: it has no finite intercept.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "learners/affine.h"
#include "learners/learner.h"
#include "math/logistic.h"
#include "net/forward.h"

static const sn_param params[] = {
    {"l2", SN_REAL, "1", 1e-8, 1e12, NULL,
     "penalty l2/2 |w|^2 on the coefficients, against the sum of losses"},
};

typedef struct logistic {
    int64_t classes;   /* C of the problem */
    int64_t present;   /* classes that have rows */
    int32_t *class_of; /* present: the code of each of them, ascending */
    sn_affine map;     /* one output for two classes (or one, unused), else one a class */
} logistic;

static void logistic_free(void *state)
{
    logistic *model = state;
    if (model == NULL) return;
    sn_free(model->class_of);
    sn_affine_clear(&model->map);
    sn_free(model);
}
SN_DROP(logistic, logistic_free)

/* Classes without rows are left out and renumbered for the solver; class_of leads back to the codes of the
   problem. With one class there is nothing to solve: it gets probability 1. */
static stonet_status logistic_fit(const sn_problem *problem, const sn_settings *settings,
                                  const stonet_run *run, void **state)
{
    SN_AUTO(logistic) *model = NULL;
    if (problem->n < 1) return sn_fail(STONET_ERROR_DATA, "logistic: there are no rows to fit on");
    SN_ARRAY(problem->outputs, int32_t, code); /* the new code of a class, -1 without rows */
    SN_ARRAY(problem->n, int32_t, label);
    int64_t present = 0;
    for (int64_t c = 0; c < problem->outputs; c++) code[c] = -1;
    for (int64_t i = 0; i < problem->n; i++)
        if (sn_problem_weight(problem, i) > 0.0) code[problem->label[i]] = 0;
    for (int64_t c = 0; c < problem->outputs; c++)
        if (code[c] == 0) code[c] = (int32_t)present++;
    for (int64_t i = 0; i < problem->n; i++) /* what counts nothing may be of any class */
        label[i] = code[problem->label[i]] < 0 ? 0 : code[problem->label[i]];
    SN_TRY(SN_NEW(model, 1));
    model->classes = problem->outputs;
    model->present = present;
    SN_TRY(SN_NEW(model->class_of, present));
    SN_TRY(sn_affine_create(&model->map, problem->p, present <= 2 ? 1 : present));
    for (int64_t c = 0; c < problem->outputs; c++)
        if (code[c] >= 0) model->class_of[code[c]] = (int32_t)c;
    if (present > 1) {
        const sn_logistic_problem call = {.n = problem->n,
                                          .p = problem->p,
                                          .m = model->map.outputs,
                                          .x = problem->x,
                                          .label = label,
                                          .weight = problem->weight,
                                          .l2 = sn_real(settings, "l2")};
        SN_TRY(sn_logistic(&call, run, model->map.coef, model->map.intercept));
    }
    return SN_GIVE(model, state);
}

/* out (n x classes): probabilities. Two classes have one logit eta of the second: 1 / (1 + exp(-eta)). More
   have the softmax. */
static stonet_status logistic_predict(const void *state, const float *z, int64_t n, double *out)
{
    const logistic *model = state;
    int64_t m = model->map.outputs, width = model->classes;
    SN_ARRAY(n * m, double, eta);
    SN_TRY(sn_affine_apply(&model->map, z, n, eta));
    if (m > 1) sn_softmax(n, m, eta);
    memset(out, 0, (size_t)(n * width) * sizeof *out);
    for (int64_t i = 0; i < n; i++) {
        double *row = out + i * width;
        if (model->present == 1) {
            row[model->class_of[0]] = 1;
        } else if (model->present == 2) {
            row[model->class_of[0]] = 1 / (1 + exp(eta[i]));
            row[model->class_of[1]] = 1 / (1 + exp(-eta[i]));
        } else {
            for (int64_t k = 0; k < m; k++) row[model->class_of[k]] = eta[i * m + k];
        }
    }
    return STONET_OK;
}

static stonet_status logistic_save(const void *state, sn_store *store)
{
    const logistic *model = state;
    SN_TRY(sn_store_put_int(store, "classes", model->classes));
    SN_TRY(sn_store_put_vector(store, "class_of", SN_I32, model->present, model->class_of));
    return sn_affine_save(&model->map, store);
}

static stonet_status logistic_load(const sn_store *store, void **state)
{
    const sn_tensor *class_of;
    SN_AUTO(logistic) *model = NULL;
    SN_TRY(SN_NEW(model, 1));
    SN_TRY(sn_store_get_int(store, "classes", 1, INT32_MAX, &model->classes));
    SN_TRY(sn_store_get_vector(store, "class_of", SN_I32, -1, &class_of));
    SN_TRY(sn_affine_load(store, &model->map));
    model->present = class_of->shape[0];
    if (model->present < 1 || model->map.outputs != (model->present <= 2 ? 1 : model->present))
        return sn_fail(STONET_ERROR_FORMAT, "logistic: the coefficients and the classes do not fit together");
    SN_TRY(SN_NEW(model->class_of, model->present));
    memcpy(model->class_of, class_of->data, (size_t)model->present * sizeof *model->class_of);
    for (int64_t k = 0; k < model->present; k++)
        if (model->class_of[k] < 0 || model->class_of[k] >= model->classes)
            return sn_fail(STONET_ERROR_FORMAT, "logistic: class code %d is outside 0..%lld",
                           model->class_of[k], (long long)model->classes - 1);
    return SN_GIVE(model, state);
}

static sn_sizes logistic_sizes(const void *state)
{
    const logistic *model = state;
    return (sn_sizes){.inputs = model->map.inputs, .outputs = model->classes};
}

const sn_learner sn_learner_logistic = {
    .name = "logistic",
    .title = "Logistic regression with an L2 penalty",
    .tasks = SN_TASK_CLASSIFICATION,
    .weighted = true,
    SN_PARAMS_OF(params),
    .fit = logistic_fit,
    .predict = logistic_predict,
    .save = logistic_save,
    .load = logistic_load,
    .free = logistic_free,
    .sizes = logistic_sizes,
};
