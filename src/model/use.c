/* Z and predictions for new rows, block by block so that memory stays flat. */
#include <math.h>

#include "base/memory.h"
#include "base/options.h"
#include "data/frame.h"
#include "data/readers.h"
#include "model/calibration.h"
#include "stats/temperature.h"

/* Floats of encoded features held at a time. */
enum { BLOCK_FLOATS = 8 << 20, SMALLEST_BLOCK = 256 };
/* Of intervals and sets, when no level is given. */
static const double USUAL_LEVEL = 0.9;

stonet_status sn_model_reduce(const stonet_model *model, const float *x, int64_t n,
                              const sn_transform_request *request, float *z)
{
    sn_transform_request plain = {.seed = model->seed};
    if (request == NULL) request = &plain;
    return model->method->transform(model->state, x, n, model->method->has_draws ? request : NULL, z);
}

static stonet_status not_finite(const stonet_model *model, const char *what, int64_t row)
{
    return sn_fail(
        STONET_ERROR_NUMERIC,
        "method '%s' gives no finite %s for row %lld: its values are too far from the rows that the "
        "model was fitted on",
        model->method->name, what, (long long)row + 1);
}

/* z is passes x rows x q. */
static stonet_status check_z(const stonet_model *model, const float *z, int64_t rows, int64_t passes)
{
    if (sn_all_finite(z, passes * rows * model->dim)) return STONET_OK;
    int64_t at = 0;
    while (isfinite(z[at])) at++;
    return not_finite(model, "Z", at / model->dim % rows);
}

static stonet_status check_predictions(const stonet_model *model, const double *out, int64_t first,
                                       int64_t rows)
{
    int64_t width = sn_schema_outputs(model->schema);
    for (int64_t i = 0; i < rows * width; i++)
        if (!isfinite(out[i])) return not_finite(model, "prediction", first + i / width);
    return STONET_OK;
}

/* Numbers from scaled targets back to units of y. */
static void unscale(const sn_schema *schema, int64_t n, double *out)
{
    int64_t m = sn_schema_outputs(schema);
    for (int64_t j = 0; j < m; j++) {
        double mean = sn_schema_target_mean(schema, j), sd = sn_schema_target_sd(schema, j);
        for (int64_t i = 0; i < n; i++) out[i * m + j] = mean + sd * out[i * m + j];
    }
}

stonet_status sn_model_predict(const stonet_model *model, const float *x, int64_t n, double *out)
{
    if (model->learner == NULL) {
        if (model->method->predict == NULL)
            return sn_fail(STONET_ERROR_UNSUPPORTED,
                           "this model was fitted without a learner, so it gives Z and no predictions");
        SN_TRY(model->method->predict(model->state, x, n, out));
    } else {
        float *z = NULL;
        SN_TRY(SN_NEW_RAW(z, n * model->dim));
        stonet_status status = sn_model_reduce(model, x, n, NULL, z);
        if (status == STONET_OK) status = model->learner->predict(model->learner_state, z, n, out);
        sn_free(z);
        SN_TRY(status);
    }
    if (sn_schema_task(model->schema) == SN_REGRESSION) unscale(model->schema, n, out);
    return STONET_OK;
}

stonet_status sn_model_spread(const stonet_model *model, const float *x, int64_t n, double *out)
{
    if (model->learner != NULL || model->method->spread == NULL)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "this model has no spread of its own: fit one of method stonet with "
                       "response=location-scale");
    SN_TRY(model->method->spread(model->state, x, n, out));
    const int64_t m = sn_schema_outputs(model->schema);
    for (int64_t k = 0; k < n * m; k++) out[k] *= sn_schema_target_sd(model->schema, k % m);
    return STONET_OK;
}

static int64_t block_rows(const stonet_model *model)
{
    int64_t rows = BLOCK_FLOATS / sn_schema_features(model->schema);
    return rows > SMALLEST_BLOCK ? rows : SMALLEST_BLOCK;
}

/* Numbers so far from those of the training rows that they leave single precision when they are scaled. */
static stonet_status check_encoded(const stonet_model *model, const stonet_data *data, int64_t first,
                                   int64_t count, const float *x)
{
    int64_t p = sn_schema_features(model->schema), at = 0;
    if (sn_all_finite(x, count * p)) return STONET_OK;
    while (isfinite(x[at])) at++;
    return sn_fail(
        STONET_ERROR_DATA,
        "%s: row %lld: the value of '%s' is too far from those of the training rows to compute with",
        data->source != NULL ? data->source : "the table", (long long)(first + at / p) + 1,
        sn_schema_feature_name(model->schema, at % p));
}

static stonet_status encode_rows(const stonet_model *model, const stonet_data *data, int64_t first,
                                 int64_t count, float *x)
{
    SN_TRY(sn_schema_encode_rows(model->schema, data, first, count, x));
    return check_encoded(model, data, first, count, x);
}

stonet_status sn_model_predict_rows(const stonet_model *model, const stonet_data *data, int64_t first,
                                    int64_t count, float *x, double *out)
{
    SN_TRY(encode_rows(model, data, first, count, x));
    SN_TRY(sn_model_predict(model, x, count, out));
    return check_predictions(model, out, first, count);
}

/* Encodes the rows in blocks and calls use for each. */
static stonet_status for_each_block(const stonet_model *model, const stonet_data *data,
                                    stonet_status (*use)(const stonet_model *model, const float *x,
                                                         int64_t first, int64_t count, void *user),
                                    void *user)
{
    int64_t n = stonet_data_rows(data), block = block_rows(model);
    float *x = NULL;
    SN_TRY(SN_NEW_RAW(x, (n < block ? n : block) * sn_schema_features(model->schema)));
    stonet_status status = STONET_OK;
    for (int64_t first = 0; first < n && status == STONET_OK; first += block) {
        int64_t count = n - first < block ? n - first : block;
        status = encode_rows(model, data, first, count, x);
        if (status == STONET_OK) status = use(model, x, first, count, user);
    }
    sn_free(x);
    return status;
}

stonet_status stonet_data_read_for(const stonet_model *model, const char *path,
                                   const stonet_read_options *options, stonet_data **out)
{
    if (model == NULL || path == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "stonet_data_read_for needs a model, a file and a place for the data");
    return sn_read_for(path, options, model->schema, out);
}

stonet_status stonet_data_end_for(const stonet_model *model, const stonet_columns *columns,
                                  const stonet_read_options *options, stonet_data **out)
{
    if (model == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_data_end_for needs the model that the rows are for");
    return sn_columns_read(columns, options, model->schema, out);
}

/* ---- transform ---- */

typedef struct reduction {
    const sn_transform_request *request; /* of the whole table; NULL: the plain Z */
    int64_t outputs;                     /* columns of request->y */
    float *z;
} reduction;

static stonet_status reduce_block(const stonet_model *model, const float *x, int64_t first, int64_t count,
                                  void *user)
{
    const reduction *to = user;
    float *z = to->z + first * model->dim;
    if (to->request == NULL) return sn_model_reduce(model, x, count, NULL, z);
    sn_transform_request part = *to->request;
    part.first_row = first;
    if (part.label != NULL) part.label += first;
    if (part.y != NULL) part.y += first * to->outputs;
    return sn_model_reduce(model, x, count, &part, z);
}

stonet_status sn_model_reduce_table(const stonet_model *model, const stonet_data *data, float *z)
{
    return for_each_block(model, data, reduce_block, &(reduction){.z = z});
}

static stonet_status transform(const stonet_model *model, const stonet_data *data,
                               sn_transform_request *request, float *z)
{
    const int64_t n = stonet_data_rows(data), outputs = sn_schema_outputs(model->schema);
    int32_t *label = NULL;
    double *y = NULL;
    stonet_status status = STONET_OK;
    request->table = n;
    if (request->impute) {
        if (sn_schema_task(model->schema) == SN_CLASSIFICATION)
            SN_GOTO(status, SN_NEW_RAW(label, n), done);
        else
            SN_GOTO(status, SN_NEW_RAW(y, n * outputs), done);
        SN_GOTO(status, sn_schema_encode_y(model->schema, data, label, y), done);
        request->label = label;
        request->y = y;
    }
    SN_GOTO(status, for_each_block(model, data, reduce_block, &(reduction){request, outputs, z}), done);
    status = check_z(model, z, n, request->draws > 0 ? request->draws : 1);
done:
    sn_free(label);
    sn_free(y);
    return status;
}

stonet_status stonet_transform(const stonet_model *model, const stonet_data *data,
                               const stonet_use_options *options, float *z)
{
    if (model == NULL || data == NULL || z == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_transform needs a model, data and room for Z");
    stonet_use_options how;
    SN_TRY(sn_take_use_options(options, &how));
    if (how.level != 0.0 || how.by_class != 0)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "stonet_transform takes no level and no by_class: these are for intervals and sets");
    if (how.draws < 0) return sn_fail(STONET_ERROR_ARGUMENT, "the number of draws cannot be negative");
    sn_transform_request request = {.draws = how.draws,
                                    .activated = how.activated != 0,
                                    .impute = how.impute != 0,
                                    .seed = how.seed,
                                    .threads = how.threads};
    if ((request.draws > 0 || request.activated || request.impute) && !model->method->has_draws)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "method '%s' has no noise and no activation: it only gives the plain Z",
                       model->method->name);
    int before = sn_model_threads(request.threads);
    stonet_status status = transform(model, data, &request, z);
    sn_model_threads(before);
    return status;
}

/* ---- predict ---- */

static stonet_status predict_block(const stonet_model *model, const float *x, int64_t first, int64_t count,
                                   void *user)
{
    double *out = (double *)user + first * sn_schema_outputs(model->schema);
    SN_TRY(sn_model_predict(model, x, count, out));
    if (model->calibration != NULL && sn_schema_task(model->schema) == SN_CLASSIFICATION)
        sn_temperature_apply(count, sn_schema_outputs(model->schema), model->calibration->temperature, out);
    return check_predictions(model, out, first, count);
}

stonet_status sn_use_level(const stonet_use_options *options, const char *call, stonet_use_options *how)
{
    SN_TRY(sn_take_use_options(options, how));
    if (how->draws != 0 || how->activated != 0 || how->impute != 0)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "%s takes no draws, activated or impute: these are for stonet_transform", call);
    if (how->level == 0.0) how->level = USUAL_LEVEL;
    return STONET_OK;
}

stonet_status sn_use_plain(const stonet_use_options *options, const char *call, stonet_use_options *how)
{
    SN_TRY(sn_use_level(options, call, how));
    if (how->level != USUAL_LEVEL || how->by_class != 0)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "%s takes no level and no by_class: these are for intervals and sets", call);
    return STONET_OK;
}

static stonet_status spread_block(const stonet_model *model, const float *x, int64_t first, int64_t count,
                                  void *user)
{
    double *out = (double *)user + first * sn_schema_outputs(model->schema);
    SN_TRY(sn_model_spread(model, x, count, out));
    return check_predictions(model, out, first, count);
}

stonet_status stonet_predict_spread(const stonet_model *model, const stonet_data *data,
                                    const stonet_use_options *options, double *out)
{
    if (model == NULL || data == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "stonet_predict_spread needs a model, data and room for the spreads");
    stonet_use_options how;
    SN_TRY(sn_use_plain(options, "stonet_predict_spread", &how));
    int before = sn_model_threads(how.threads);
    stonet_status status = for_each_block(model, data, spread_block, out);
    sn_model_threads(before);
    return status;
}

stonet_status stonet_predict(const stonet_model *model, const stonet_data *data,
                             const stonet_use_options *options, double *out)
{
    if (model == NULL || data == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "stonet_predict needs a model, data and room for the predictions");
    stonet_use_options how;
    SN_TRY(sn_use_plain(options, "stonet_predict", &how));
    if (sn_schema_outputs(model->schema) == 0)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "this model was fitted without a response: it gives Z and no "
                       "predictions; fit it with a target to predict and score");
    int before = sn_model_threads(how.threads);
    stonet_status status = for_each_block(model, data, predict_block, out);
    sn_model_threads(before);
    return status;
}
