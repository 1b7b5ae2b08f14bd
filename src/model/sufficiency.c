/* Whether Z keeps all that X says about Y: the test of Y independent of X given Z, and what X adds to Z. */
#include <string.h>

#include "base/memory.h"
#include "base/run.h"
#include "base/take_options.h"
#include "math/kernel.h"
#include "model/model.h"

/* x n x p: the features as the method sees them. */
static stonet_status encoded_features(const stonet_model *model, const stonet_data *data, int64_t n,
                                      double *x)
{
    const int64_t p = model->schema->p;
    SN_ARRAY(n * p, float, encoded);
    SN_TRY(sn_schema_encode_x(model->schema, data, encoded));
    sn_widen(n * p, encoded, x);
    return STONET_OK;
}

static stonet_status reduced_features(const stonet_model *model, const stonet_data *data,
                                      const stonet_run *run, int64_t n, double *z)
{
    SN_ARRAY(n * model->dim, float, reduced);
    stonet_use_options options = {.size = sizeof options, .threads = run->threads};
    SN_TRY(stonet_transform(model, data, &options, reduced));
    sn_widen(n * model->dim, reduced, z);
    return STONET_OK;
}

/* The response as numbers to test: n x columns. */
typedef struct response {
    int64_t columns;
    double *y;
} response;

static void response_free(response *self)
{
    sn_free(self->y);
}

/* Indicators of codes 0 .. classes - 1. */
static stonet_status indicators(const int32_t *code, int64_t n, int64_t classes, response *out)
{
    out->columns = classes;
    SN_TRY(SN_NEW(out->y, n * classes));
    for (int64_t i = 0; i < n; i++) out->y[i * classes + code[i]] = 1.0;
    return STONET_OK;
}

/* Of a model that was fitted without one: as the data has it. */
static stonet_status own_response(const stonet_data *data, int64_t n, response *out)
{
    int64_t classes = 0;
    const int32_t *code = stonet_data_classes(data, &classes);
    if (code != NULL) return indicators(code, n, classes, out);
    const double *y = stonet_data_targets(data, &out->columns);
    if (y == NULL)
        return sn_fail(STONET_ERROR_DATA, "the test of sufficiency needs the response, and %s has none",
                       sn_table_name(data));
    SN_TRY(SN_NEW_RAW(out->y, n * out->columns));
    memcpy(out->y, y, (size_t)(n * out->columns) * sizeof *y);
    return STONET_OK;
}

/* As the model knows it: indicators of its classes, or the scaled numbers. */
static stonet_status encoded_response(const stonet_model *model, const stonet_data *data, int64_t n,
                                      response *out)
{
    out->columns = sn_schema_outputs(model->schema);
    if (out->columns == 0) return own_response(data, n, out);
    if (sn_schema_has_law(model->schema))
        return sn_fail(
            STONET_ERROR_UNSUPPORTED,
            "there is no test of sufficiency for task=%s: censoring or an exposure that depends on x "
            "would look like something that Z has lost",
            sn_schema_task_word(model->schema));
    if (model->schema->task == SN_REGRESSION) {
        SN_TRY(SN_NEW_RAW(out->y, n * out->columns));
        return sn_schema_encode_y(model->schema, data, NULL, out->y);
    }
    SN_ARRAY(n, int32_t, label);
    SN_TRY(sn_schema_encode_y(model->schema, data, label, NULL));
    return indicators(label, n, out->columns, out);
}

/* The columns of Z after the first `from`: n x (dim - from). */
static stonet_status later_columns(const stonet_model *model, const stonet_data *data, const stonet_run *run,
                                   int64_t from, double *out)
{
    const int64_t n = stonet_data_rows(data), dim = model->dim, later = dim - from;
    SN_ARRAY(n * dim, double, z);
    SN_TRY(reduced_features(model, data, run, n, z));
    for (int64_t i = 0; i < n; i++) memcpy(out + i * later, z + i * dim + from, (size_t)later * sizeof *out);
    return STONET_OK;
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
    SN_ARRAY(n * p, double, x);
    SN_ARRAY(n * model->dim, double, z);
    SN_FREED_BY(response_free) response to = {0};
    SN_TRY(larger != NULL ? later_columns(larger, data, &how, model->dim, x)
                          : encoded_features(model, data, n, x));
    SN_TRY(encoded_response(model, data, n, &to));
    SN_TRY(reduced_features(model, data, &how, n, z));
    stonet_independence_result test;
    const stonet_sides sides = {
        .n = n, .dx = p, .dy = to.columns, .dz = model->dim, .x = x, .y = to.y, .z = z};
    SN_TRY(stonet_independence(&sides, options, &how, &test));
    *result =
        (stonet_sufficiency_result){.test = test.test, .statistic = test.statistic, .p_value = test.p_value};
    return stonet_prediction_compare(&sides, &how, &result->gain);
}
