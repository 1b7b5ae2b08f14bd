/* Whether Z keeps all that X says about Y: the test of Y independent of X given Z, and what X adds to Z. */
#include <string.h>

#include "base/memory.h"
#include "base/run.h"
#include "base/take_options.h"
#include "base/workspace.h"
#include "math/kernel.h"
#include "model/model.h"

/* The columns of Z after the first `from`: n x (dim - from). */
static stonet_status later_columns(const stonet_model *model, const stonet_data *data, int threads,
                                   int64_t from, double *out)
{
    const int64_t n = stonet_data_rows(data), dim = model->dim, later = dim - from;
    SN_ARRAY(n * dim, double, z);
    SN_TRY(sn_model_wide_z(model, data, threads, z));
    for (int64_t i = 0; i < n; i++) memcpy(out + i * later, z + i * dim + from, (size_t)later * sizeof *out);
    return STONET_OK;
}

/* Indicators of codes 0 .. classes - 1 as the response. */
static stonet_status set_indicators(const int32_t *code, int64_t classes, sn_workspace *keep,
                                    stonet_sides *to)
{
    double *y = NULL;
    SN_TRY(SN_TAKE_ZERO(keep, y, to->n * classes));
    for (int64_t i = 0; i < to->n; i++) y[i * classes + code[i]] = 1.0;
    to->y = y;
    to->dy = classes;
    return STONET_OK;
}

/* Of a model that was fitted without one: as the data has it. */
static stonet_status set_own_response(const stonet_data *data, sn_workspace *keep, stonet_sides *to)
{
    int64_t classes = 0;
    const int32_t *code = stonet_data_classes(data, &classes);
    if (code != NULL) return set_indicators(code, classes, keep, to);
    to->y = stonet_data_targets(data, &to->dy);
    if (to->y != NULL) return STONET_OK;
    return sn_fail(STONET_ERROR_DATA, "the test of sufficiency needs the response, and %s has none",
                   sn_table_name(data));
}

/* As the model knows it: indicators of its classes, or the scaled numbers. */
static stonet_status set_response(const stonet_model *model, const stonet_data *data, sn_workspace *keep,
                                  stonet_sides *to)
{
    to->dy = sn_schema_outputs(model->schema);
    if (to->dy == 0) return set_own_response(data, keep, to);
    if (sn_schema_has_law(model->schema))
        return sn_fail(
            STONET_ERROR_UNSUPPORTED,
            "there is no test of sufficiency for task=%s: censoring or an exposure that depends on x "
            "would look like something that Z has lost",
            sn_schema_task_word(model->schema));
    if (model->schema->task == SN_REGRESSION) {
        double *y = NULL;
        SN_TRY(SN_TAKE(keep, y, to->n * to->dy));
        to->y = y;
        return sn_schema_encode_y(model->schema, data, NULL, y);
    }
    SN_ARRAY(to->n, int32_t, label);
    SN_TRY(sn_schema_encode_y(model->schema, data, label, NULL));
    return set_indicators(label, to->dy, keep, to);
}

stonet_status stonet_sufficiency(const stonet_model *model, const stonet_data *data,
                                 const stonet_independence_options *options, const stonet_run *run,
                                 stonet_sufficiency_result *result)
{
    if (model == NULL || data == NULL || result == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "stonet_sufficiency needs a model, data and room for the result");
    return sn_sufficiency(model, NULL, data, options, run, result);
}

stonet_status sn_sufficiency(const stonet_model *model, const stonet_model *larger, const stonet_data *data,
                             const stonet_independence_options *options, const stonet_run *run,
                             stonet_sufficiency_result *result)
{
    stonet_run how;
    SN_TRY(sn_take_run(run, &how));

    SN_AUTO(stonet_data) *part = NULL;
    SN_TRY(sn_frame_complete_rows(data, &part));
    if (part != NULL) {
        sn_message(&how, STONET_NOTE, "the %lld rows of %lld without a missing cell are tested",
                   (long long)stonet_data_rows(part), (long long)stonet_data_rows(data));
        data = part;
    }
    const int64_t n = stonet_data_rows(data);
    const int64_t p = larger != NULL ? larger->dim - model->dim : model->schema->p;
    SN_TRY(sn_memory_require((uint64_t)n * (uint64_t)p * 2 * sizeof(double), "the test of sufficiency",
                             "test a sample of the rows"));
    SN_WORKSPACE(scratch);
    SN_ARRAY(n * p, double, x);
    SN_ARRAY(n * model->dim, double, z);
    stonet_sides sides = {.n = n, .dx = p, .dz = model->dim, .x = x, .z = z};
    if (larger != NULL) {
        SN_TRY(later_columns(larger, data, how.threads, model->dim, x));
    } else { /* the features as the method sees them */
        SN_ARRAY(n * p, float, encoded);
        SN_TRY(sn_schema_encode_x(model->schema, data, encoded));
        sn_widen(n * p, encoded, x);
    }
    SN_TRY(set_response(model, data, &scratch, &sides));
    SN_TRY(sn_model_wide_z(model, data, how.threads, z));
    stonet_independence_result test;
    SN_TRY(stonet_independence(&sides, options, &how, &test));
    *result =
        (stonet_sufficiency_result){.test = test.test, .statistic = test.statistic, .p_value = test.p_value};
    return stonet_prediction_compare(&sides, &how, &result->gain);
}
