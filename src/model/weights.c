/* What the rows of a fit count: the weights of the table, times those of their classes. */
#include "base/memory.h"
#include "model/model.h"

static bool balances(const sn_settings *common)
{
    return sn_is(common, "class_weight", "balanced");
}

stonet_status sn_weights_check(const stonet_model *model, const stonet_data *train)
{
    const bool balanced = balances(model->common);
    if (balanced && model->schema->task != SN_CLASSIFICATION)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "class_weight=balanced is for classes, and this target is a number");
    if (train->weight == NULL && !balanced) return STONET_OK;
    if (!model->method->weighted)
        return sn_fail(
            STONET_ERROR_UNSUPPORTED,
            "method '%s' has no weighted form: leave the weights out, or use one of pca, sir, save, "
            "dr, phd, none and stonet",
            model->method->name);
    if (model->learner != NULL && !model->learner->weighted)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "learner '%s' has no weighted form: leave the weights out, or use learner=%s",
                       model->learner->name,
                       model->schema->task == SN_CLASSIFICATION ? "logistic" : "linear");
    return STONET_OK;
}

/* w_i <- w_i W / (C W_c): every class counts the same, and all rows as much as before. */
static stonet_status balance(const sn_problem *problem, float *weight)
{
    double total = 0.0, classes = 0.0;
    SN_ZEROS(problem->outputs, double, of_class);
    for (int64_t i = 0; i < problem->n; i++) {
        of_class[sn_problem_label(problem, i)] += (double)weight[i];
        total += (double)weight[i];
    }
    for (int64_t c = 0; c < problem->outputs; c++) classes += of_class[c] > 0.0;
    for (int64_t i = 0; i < problem->n; i++)
        if (weight[i] > 0.0F)
            weight[i] =
                (float)((double)weight[i] * total / (classes * of_class[sn_problem_label(problem, i)]));
    return STONET_OK;
}

stonet_status sn_weights_of(const sn_settings *common, const stonet_data *data, const sn_problem *problem,
                            float **out)
{
    const bool balanced = balances(common) && problem->task == SN_CLASSIFICATION;
    *out = NULL;
    if (data->weight == NULL && !balanced) return STONET_OK;
    double total = 0.0;
    SN_TRY(SN_NEW_RAW(*out, problem->n));
    for (int64_t i = 0; i < problem->n; i++) {
        (*out)[i] = data->weight != NULL ? (float)data->weight[i] : 1.0F;
        total += (double)(*out)[i];
    }
    if (!(total > 0.0))
        return sn_fail(STONET_ERROR_DATA, "%s: all weights are 0: no row counts", sn_table_name(data));
    return balanced ? balance(problem, *out) : STONET_OK;
}
