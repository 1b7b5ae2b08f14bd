/* Z and predictions for new rows, block by block so that memory stays flat. */
#include <math.h>

#include "base/memory.h"
#include "base/take_options.h"
#include "base/team.h"
#include "base/workspace.h"
#include "data/arrow.h"
#include "data/frame.h"
#include "data/readers.h"
#include "math/kernel.h"
#include "model/average.h"
#include "model/calibration.h"
#include "model/score_law.h"
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

/* Numbers from scaled targets back to units of y; of times and counts from their logarithms. */
static void unscale(const sn_schema *schema, int64_t n, double *out)
{
    int64_t m = sn_schema_outputs(schema);
    for (int64_t j = 0; j < m; j++) {
        double mean = sn_schema_target_mean(schema, j), sd = sn_schema_target_sd(schema, j);
        for (int64_t i = 0; i < n; i++) out[i * m + j] = mean + sd * out[i * m + j];
        for (int64_t i = 0; sn_schema_has_law(schema) && i < n; i++) out[i * m + j] = exp(out[i * m + j]);
    }
}

stonet_status sn_model_predict(const stonet_model *model, const float *x, int64_t n, float *z, double *out)
{
    if (model->learner == NULL) {
        if (model->method->predict == NULL)
            return sn_fail(STONET_ERROR_UNSUPPORTED,
                           "this model was fitted without a learner, so it gives Z and no predictions");
        SN_TRY(model->method->predict(model->state, x, n, z, out));
    } else {
        SN_BLOCK float *own = NULL;
        if (z == NULL) SN_TRY(SN_NEW_RAW(own, n * model->dim));
        if (z == NULL) z = own;
        SN_TRY(sn_model_reduce(model, x, n, NULL, z));
        SN_TRY(model->learner->predict(model->learner_state, z, n, out));
    }
    if (model->schema->task == SN_REGRESSION) unscale(model->schema, n, out);
    return STONET_OK;
}

stonet_status sn_model_spread(const stonet_model *model, const float *x, int64_t n, double *out)
{
    if (model->schema->law == SN_LAW_COUNTS) {
        SN_TRY(sn_model_predict(model, x, n, NULL, out));
        return sn_count_spread(model, n, out, out);
    }
    if (sn_schema_has_law(model->schema))
        return sn_fail(
            STONET_ERROR_UNSUPPORTED,
            "a model of task=%s has no standard deviation: of times, use the survival probabilities",
            sn_schema_task_word(model->schema));
    if (model->schema->task == SN_CLASSIFICATION)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "this model predicts classes, and only numbers have a standard deviation");
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
    int64_t rows = BLOCK_FLOATS / model->schema->p;
    return rows > SMALLEST_BLOCK ? rows : SMALLEST_BLOCK;
}

/* Numbers so far from those of the training rows that they leave single precision when they are scaled. */
static stonet_status check_encoded(const stonet_model *model, const stonet_data *data, int64_t first,
                                   int64_t count, const float *x)
{
    int64_t p = model->schema->p, at = 0;
    if (sn_all_finite(x, count * p)) return STONET_OK;
    while (isfinite(x[at])) at++;
    return sn_fail(
        STONET_ERROR_DATA,
        "%s: row %lld: the value of '%s' is too far from those of the training rows to compute with",
        data->source != NULL ? data->source : "the table", (long long)(first + at / p) + 1,
        model->schema->feature_name[at % p]);
}

static stonet_status ask_prediction(const sn_average *average, const float *x, int64_t n, const int64_t *row,
                                    double *out)
{
    (void)row;
    return sn_model_predict(average->model, x, n, NULL, out);
}

/* How predictions of rows with missing cells come about. */
static sn_average average_predictions(const stonet_model *model, const stonet_data *data,
                                      const stonet_use_options *how)
{
    return (sn_average){.model = model,
                        .data = data,
                        .draws = how->cell_draws > 0 ? how->cell_draws : SN_CELL_DRAWS,
                        .seed = how->seed,
                        .width = sn_schema_outputs(model->schema),
                        .ask = ask_prediction};
}

stonet_status sn_model_predict_rows(const stonet_model *model, const stonet_data *data, int64_t first,
                                    int64_t count, float *x, double *out)
{
    const sn_average average = average_predictions(model, data, &(stonet_use_options)STONET_USE_OPTIONS_INIT);
    SN_TRY(sn_schema_encode_rows(model->schema, data, first, count, x));
    SN_TRY(check_encoded(model, data, first, count, x));
    SN_TRY(sn_model_predict(model, x, count, NULL, out));
    SN_TRY(sn_average_rows(&average, first, count, out, NULL));
    return check_predictions(model, out, first, count);
}

/* The first row of a rank's share: the ranks of a team share out whole blocks, whose rows go through together
   on whatever rank. */
static int64_t first_row_of(const stonet_model *model, int64_t n, const stonet_team *team, int rank)
{
    const int64_t block = block_rows(model),
                  first = sn_team_border(team, (n + block - 1) / block, rank) * block;
    return first < n ? first : n;
}

/* `width` numbers of `size` bytes a row: every rank gets those of all, of which each has made its share. */
static stonet_status share_rows(const stonet_model *model, int64_t n, stonet_team *team, size_t size,
                                void *out)
{
    for (int rank = 0; rank < stonet_team_ranks(team); rank++) {
        const int64_t first = first_row_of(model, n, team, rank),
                      last = first_row_of(model, n, team, rank + 1);
        SN_TRY(sn_team_spread(team, rank, (char *)out + (size_t)first * size, (size_t)(last - first) * size));
    }
    return STONET_OK;
}

/* All ranks must have the same model and the same rows. */
static stonet_status check_same(const stonet_model *model, const stonet_data *data, stonet_team *team)
{
    if (!sn_team_shares(team)) return STONET_OK;
    sn_hash hash;
    SN_BLOCK char *about = stonet_model_json(model);
    if (about == NULL) return STONET_ERROR_MEMORY;
    sn_hash_begin(&hash);
    sn_hash_text(&hash, about);
    SN_TRY(sn_frame_check(data));
    sn_frame_hash_some(data, &hash);
    return sn_team_agree(team, &hash);
}

/* Encodes the rows in blocks, with that draw of their missing cells (0: as expected), and calls use for each;
   of a team, each rank for its share. */
static stonet_status for_each_block(const sn_average *average, stonet_team *team, uint32_t draw,
                                    stonet_status (*use)(const sn_average *average, const float *x,
                                                         int64_t first, int64_t count, const void *to),
                                    const void *to)
{
    const stonet_model *model = average->model;
    const stonet_data *data = average->data;
    SN_TRY(check_same(model, data, team));
    const int rank = stonet_team_rank(team);
    int64_t n = first_row_of(model, stonet_data_rows(data), team, rank + 1), block = block_rows(model);
    SN_ARRAY((n < block ? n : block) * model->schema->p, float, x);
    for (int64_t first = first_row_of(model, stonet_data_rows(data), team, rank); first < n; first += block) {
        int64_t count = n - first < block ? n - first : block;
        SN_TRY(draw > 0 ? sn_average_encode(average, first, count, draw, x)
                        : sn_schema_encode_rows(model->schema, data, first, count, x));
        SN_TRY(check_encoded(model, data, first, count, x));
        SN_TRY(use(average, x, first, count, to));
    }
    return STONET_OK;
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

stonet_status stonet_data_from_arrow_for(const stonet_model *model, struct ArrowArrayStream *stream,
                                         const stonet_read_options *options, stonet_data **out)
{
    if (model != NULL) return sn_arrow_read(stream, options, model->schema, out);
    if (stream != NULL && stream->release != NULL) stream->release(stream);
    return sn_fail(STONET_ERROR_ARGUMENT, "stonet_data_from_arrow_for needs the model that the rows are for");
}

stonet_status stonet_check_rows(const stonet_model *model, const stonet_data *data, const stonet_run *run)
{
    stonet_run how;
    if (model == NULL || data == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_check_rows needs a model and data");
    SN_TRY(sn_take_run(run, &how));
    SN_TRY(sn_frame_check(data));
    return sn_schema_tell_unseen(model->schema, data, &how);
}

/* ---- transform ---- */

typedef struct reduction {
    const sn_transform_request *request; /* of the whole table; NULL: the plain Z */
    int64_t outputs;                     /* columns of request->y */
    float *z;
    bool averages; /* rows with missing cells */
} reduction;

/* Z of some rows, with their own labels or responses where the request imputes. */
static stonet_status ask_z(const sn_average *average, const float *x, int64_t n, const int64_t *row,
                           double *out)
{
    const reduction *to = average->user;
    const stonet_model *model = average->model;
    sn_transform_request part = *to->request;
    SN_ARRAY(n * model->dim, float, z);
    SN_ARRAY(n, int32_t, label);
    SN_ARRAY(n * to->outputs, double, y);
    for (int64_t i = 0; i < n; i++) {
        if (part.label != NULL) label[i] = part.label[row[i]];
        for (int64_t k = 0; part.y != NULL && k < to->outputs; k++)
            y[i * to->outputs + k] = part.y[row[i] * to->outputs + k];
    }
    if (part.label != NULL) part.label = label;
    if (part.y != NULL) part.y = y;
    part.first_row = row[0];
    SN_TRY(sn_model_reduce(model, x, n, &part, z));
    for (int64_t k = 0; k < n * model->dim; k++) out[k] = (double)z[k];
    return STONET_OK;
}

/* Puts the means over draws of the missing cells in place of the Z of rows that have some. */
static stonet_status average_z(const sn_average *average, int64_t first, int64_t count, float *z)
{
    const int64_t cells = count * average->model->dim;
    SN_ARRAY(cells, double, mean);
    sn_widen(cells, z, mean);
    SN_TRY(sn_average_rows(average, first, count, mean, NULL));
    for (int64_t k = 0; k < cells; k++) z[k] = (float)mean[k];
    return STONET_OK;
}

static stonet_status reduce_block(const sn_average *average, const float *x, int64_t first, int64_t count,
                                  const void *user)
{
    const reduction *to = user;
    const stonet_model *model = average->model;
    float *z = to->z + first * model->dim;
    if (to->request == NULL) return sn_model_reduce(model, x, count, NULL, z);
    sn_transform_request part = *to->request;
    part.first_row = first;
    if (part.label != NULL) part.label += first;
    if (part.y != NULL) part.y += first * to->outputs;
    SN_TRY(sn_model_reduce(model, x, count, &part, z));
    return to->averages ? average_z(average, first, count, z) : STONET_OK;
}

stonet_status sn_model_reduce_table(const stonet_model *model, const stonet_data *data, float *z)
{
    return for_each_block(&(sn_average){.model = model, .data = data}, NULL, 0, reduce_block,
                          &(reduction){.z = z});
}

/* Every stochastic pass has a draw of the missing cells of its own. */
static stonet_status draw_all(const sn_average *average, const reduction *to)
{
    sn_transform_request request = *to->request;
    request.draws = 1;
    for (int64_t draw = 0; draw < to->request->draws; draw++) {
        const reduction one = {&request, to->outputs,
                               to->z + draw * stonet_data_rows(average->data) * average->model->dim, false};
        request.first_draw = draw;
        SN_TRY(for_each_block(average, NULL, (uint32_t)draw + 1, reduce_block, &one));
    }
    return STONET_OK;
}

static stonet_status reduce_all(const stonet_model *model, const stonet_data *data,
                                const stonet_use_options *how, reduction *to)
{
    sn_average average = average_predictions(model, data, how);
    average.width = model->dim;
    average.ask = ask_z;
    average.user = to;
    to->averages = sn_average_wanted(model, data);
    if (to->averages && to->request->draws > 0) return draw_all(&average, to);
    /* the rows of draws do not lie together: every rank makes all */
    stonet_team *team = to->request->draws > 0 ? NULL : how->team;
    SN_TRY(for_each_block(&average, team, 0, reduce_block, to));
    return share_rows(model, stonet_data_rows(data), team, (size_t)model->dim * sizeof *to->z, to->z);
}

/* z: draws x n x dim, or n x dim without draws. With request->impute the last hidden layer is drawn given the
   response, so the response of the rows is encoded too. */
static stonet_status transform(const stonet_model *model, const stonet_data *data,
                               const stonet_use_options *how, sn_transform_request *request, float *z)
{
    SN_WORKSPACE(scratch);
    const int64_t n = stonet_data_rows(data), outputs = sn_schema_outputs(model->schema);
    int32_t *label = NULL;
    double *y = NULL;
    request->table = n;
    if (request->impute) {
        if (model->schema->task == SN_CLASSIFICATION)
            SN_TRY(SN_TAKE(&scratch, label, n));
        else
            SN_TRY(SN_TAKE(&scratch, y, n * outputs));
        SN_TRY(sn_schema_encode_y(model->schema, data, label, y));
        request->label = label;
        request->y = y;
    }
    reduction to = {.request = request, .outputs = outputs, .z = z};
    SN_TRY(reduce_all(model, data, how, &to));
    return check_z(model, z, n, request->draws > 0 ? request->draws : 1);
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
    if (stonet_data_rows(data) == 1 && how.draws == 0) how.threads = 1;
    sn_transform_request request = {.draws = how.draws,
                                    .activated = how.activated != 0,
                                    .impute = how.impute != 0,
                                    .seed = how.seed,
                                    .threads = how.threads};
    if ((request.draws > 0 || request.activated || request.impute) && !model->method->has_draws)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "method '%s' has no noise and no activation: it only gives the plain Z",
                       model->method->name);
    SN_THREADS(request.threads);
    return transform(model, data, &how, &request, z);
}

stonet_status sn_model_wide_z(const stonet_model *model, const stonet_data *data, int threads, double *z)
{
    const int64_t cells = stonet_data_rows(data) * model->dim;
    SN_ARRAY(cells, float, single);
    const stonet_use_options how = {.size = sizeof how, .threads = threads};
    SN_TRY(stonet_transform(model, data, &how, single));
    sn_widen(cells, single, z);
    return STONET_OK;
}

/* ---- predict ---- */

/* Where the answers of a table go. */
typedef struct answers {
    double *out;
    float *z; /* Z beside them, of complete rows; NULL: not wanted */
} answers;

static stonet_status predict_block(const sn_average *average, const float *x, int64_t first, int64_t count,
                                   const void *user)
{
    const answers *to = user;
    const stonet_model *model = average->model;
    double *out = to->out + first * sn_schema_outputs(model->schema);
    float *z = to->z != NULL ? to->z + first * model->dim : NULL;
    SN_TRY(sn_model_predict(model, x, count, z, out));
    SN_TRY(sn_average_rows(average, first, count, out, NULL));
    if (model->calibration != NULL && model->schema->task == SN_CLASSIFICATION)
        sn_temperature_apply(count, sn_schema_outputs(model->schema), model->calibration->temperature, out);
    return check_predictions(model, out, first, count);
}

stonet_status sn_use_level(const stonet_use_options *options, const stonet_data *data, const char *call,
                           stonet_use_options *how)
{
    SN_TRY(sn_take_use_options(options, how));
    if (how->draws != 0 || how->activated != 0 || how->impute != 0)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "%s takes no draws, activated or impute: these are for stonet_transform", call);
    if (how->level == 0.0) how->level = USUAL_LEVEL;
    if (stonet_data_rows(data) == 1) how->threads = 1;
    return STONET_OK;
}

stonet_status sn_use_plain(const stonet_use_options *options, const stonet_data *data, const char *call,
                           stonet_use_options *how)
{
    SN_TRY(sn_use_level(options, data, call, how));
    if (how->level != USUAL_LEVEL || how->by_class != 0)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "%s takes no level and no by_class: these are for intervals and sets", call);
    return STONET_OK;
}

static stonet_status ask_variance(const sn_average *average, const float *x, int64_t n, const int64_t *row,
                                  double *out)
{
    (void)row;
    SN_TRY(sn_model_spread(average->model, x, n, out));
    for (int64_t k = 0; k < n * average->width; k++) out[k] *= out[k];
    return STONET_OK;
}

/* Of a row with missing cells: v + (1 + 1/M) b, v the mean over M draws of the variance given all cells, b
   the variance of the predictions between them (Rubin 1987). */
static stonet_status spread_incomplete(const sn_average *predictions, int64_t first, int64_t count,
                                       double *out)
{
    if (!sn_average_wanted(predictions->model, predictions->data)) return STONET_OK;
    const int64_t m = predictions->width;
    SN_ARRAY(count * m, double, variance);
    SN_ARRAY(count * m, double, between);
    sn_average variances = *predictions;
    variances.ask = ask_variance;
    for (int64_t k = 0; k < count * m; k++) variance[k] = out[k] * out[k];
    SN_TRY(sn_average_rows(&variances, first, count, variance, NULL));
    SN_TRY(sn_average_rows(predictions, first, count, NULL, between));
    const double more = 1.0 + 1.0 / (double)predictions->draws;
    for (int64_t k = 0; k < count * m; k++)
        if (!sn_frame_row_is_complete(predictions->data, first + k / m))
            out[k] = sqrt(variance[k] + more * between[k] * between[k]);
    return STONET_OK;
}

static stonet_status spread_block(const sn_average *average, const float *x, int64_t first, int64_t count,
                                  const void *user)
{
    const answers *to = user;
    double *out = to->out + first * average->width;
    SN_TRY(sn_model_spread(average->model, x, count, out));
    SN_TRY(spread_incomplete(average, first, count, out));
    return check_predictions(average->model, out, first, count);
}

stonet_status stonet_predict_spread(const stonet_model *model, const stonet_data *data,
                                    const stonet_use_options *options, double *out)
{
    if (model == NULL || data == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "stonet_predict_spread needs a model, data and room for the spreads");
    stonet_use_options how;
    SN_TRY(sn_use_plain(options, data, "stonet_predict_spread", &how));
    SN_THREADS(how.threads);
    const sn_average average = average_predictions(model, data, &how);
    return for_each_block(&average, NULL, 0, spread_block, &(answers){.out = out});
}

stonet_status stonet_predict(const stonet_model *model, const stonet_data *data,
                             const stonet_use_options *options, double *out)
{
    if (model == NULL || data == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "stonet_predict needs a model, data and room for the predictions");
    stonet_use_options how;
    SN_TRY(sn_use_plain(options, data, "stonet_predict", &how));
    if (sn_schema_outputs(model->schema) == 0)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "this model was fitted without a response: it gives Z and no "
                       "predictions; fit it with a target to predict and score");
    SN_THREADS(how.threads);
    const sn_average average = average_predictions(model, data, &how);
    SN_TRY(for_each_block(&average, how.team, 0, predict_block, &(answers){.out = out}));
    return share_rows(model, stonet_data_rows(data), how.team,
                      (size_t)sn_schema_outputs(model->schema) * sizeof *out, out);
}

stonet_status sn_model_answer(const stonet_model *model, const stonet_data *data,
                              const stonet_use_options *how, float *z, double *out, bool *predicts)
{
    *predicts =
        sn_schema_outputs(model->schema) > 0 && (model->learner != NULL || model->method->predict != NULL);
    if (!*predicts || sn_average_wanted(model, data)) {
        SN_TRY(stonet_transform(model, data, how, z));
        return *predicts ? stonet_predict(model, data, how, out) : STONET_OK;
    }
    SN_THREADS(how->threads);
    const sn_average average = average_predictions(model, data, how);
    SN_TRY(for_each_block(&average, NULL, 0, predict_block, &(answers){out, z}));
    return check_z(model, z, stonet_data_rows(data), 1);
}

stonet_status stonet_missing_spread(const stonet_model *model, const stonet_data *data,
                                    const stonet_use_options *options, double *z, double *prediction)
{
    if (model == NULL || data == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_missing_spread needs a model and data");
    stonet_use_options how;
    SN_TRY(sn_use_plain(options, data, "stonet_missing_spread", &how));
    if (prediction != NULL && sn_schema_outputs(model->schema) == 0)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "this model was fitted without a response: it gives Z and no predictions");
    SN_THREADS(how.threads);
    const int64_t n = stonet_data_rows(data);
    sn_average average = average_predictions(model, data, &how);
    if (prediction != NULL) SN_TRY(sn_average_rows(&average, 0, n, NULL, prediction));
    const sn_transform_request plain = {.seed = how.seed, .threads = how.threads};
    const reduction to = {.request = &plain, .outputs = sn_schema_outputs(model->schema)};
    average.width = model->dim;
    average.ask = ask_z;
    average.user = &to;
    return z != NULL ? sn_average_rows(&average, 0, n, NULL, z) : STONET_OK;
}
