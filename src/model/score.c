#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "base/take_options.h"
#include "base/workspace.h"
#include "model/calibration.h"
#include "model/score_law.h"
#include "stats/metrics.h"

/* Coverage, and as width the mean number of classes in a set. */
static stonet_status score_sets(const stonet_model *model, const stonet_data *data, const int32_t *label,
                                const stonet_use_options *how, stonet_scores *scores)
{
    const int64_t n = scores->n, classes = sn_schema_outputs(model->schema);
    SN_WORKSPACE(scratch);
    unsigned char *inside = NULL;
    SN_TRY(SN_TAKE(&scratch, inside, n * classes));
    SN_TRY(stonet_predict_set(model, data, how, inside));
    double covered = 0.0, size = 0.0, total = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double weight = data->weight != NULL ? data->weight[i] : 1.0;
        total += weight;
        covered += weight * inside[i * classes + label[i]];
        for (int64_t c = 0; c < classes; c++) size += weight * inside[i * classes + c];
    }
    scores->level = how->level;
    scores->coverage = covered / total;
    scores->width = size / total;
    return STONET_OK;
}

/* probability: n x classes. Ordered classes also get scores of ranks, and a calibrated model gets the
   coverage and size of its sets. */
static stonet_status score_classes(const stonet_model *model, const stonet_data *data,
                                   const double *probability, const stonet_use_options *how,
                                   stonet_scores *scores)
{
    const int64_t n = scores->n, classes = sn_schema_outputs(model->schema);
    SN_ARRAY(n, int32_t, label);
    SN_TRY(sn_schema_response(model->schema, data, label, NULL));
    const sn_class_rows rows = {n, classes, probability, label, data->weight};
    SN_TRY(sn_score_classes(&rows, scores));
    if (model->schema->law == SN_LAW_ORDERED) sn_score_ranks(&rows, scores);
    return model->calibration != NULL ? score_sets(model, data, label, how, scores) : STONET_OK;
}

/* Mean over the outputs of MSE_j / (training variance of y_j). */
static double scaled_mse(const sn_schema *schema, int64_t n, const double *predicted, const double *y,
                         const double *weight)
{
    int64_t m = sn_schema_outputs(schema);
    double sum = 0.0;
    for (int64_t j = 0; j < m; j++) {
        double sd = sn_schema_target_sd(schema, j), squares = 0.0, total = 0.0;
        for (int64_t i = 0; i < n; i++) {
            double residual = (predicted[i * m + j] - y[i * m + j]) / sd;
            squares += (weight != NULL ? weight[i] : 1.0) * residual * residual;
            total += weight != NULL ? weight[i] : 1.0;
        }
        sum += squares / total;
    }
    return sum / (double)m;
}

/* Coverage (all outputs of a row inside) and mean width. */
static stonet_status score_intervals(const stonet_model *model, const stonet_data *data, const double *y,
                                     const stonet_use_options *how, stonet_scores *scores)
{
    const int64_t n = scores->n, m = sn_schema_outputs(model->schema);
    SN_ARRAY(n * m, double, low);
    SN_ARRAY(n * m, double, high);
    SN_TRY(stonet_predict_interval(model, data, how, low, high));
    double covered = 0.0, width = 0.0, total = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double weight = data->weight != NULL ? data->weight[i] : 1.0;
        bool inside = true;
        for (int64_t j = i * m; j < (i + 1) * m; j++) {
            inside = inside && y[j] >= low[j] && y[j] <= high[j];
            width += weight * (high[j] - low[j]);
        }
        total += weight;
        if (inside) covered += weight;
    }
    scores->level = how->level;
    scores->coverage = covered / total;
    scores->width = width / (total * (double)m);
    return STONET_OK;
}

static stonet_status score_numbers(const stonet_model *model, const stonet_data *data,
                                   const double *predicted, const stonet_use_options *how,
                                   stonet_scores *scores)
{
    const int64_t n = scores->n, m = sn_schema_outputs(model->schema);
    SN_ARRAY(n * m, double, y);
    SN_TRY(sn_schema_response(model->schema, data, NULL, y));
    sn_score_numbers(n, m, predicted, y, data->weight, scores);
    scores->mse_scaled = scaled_mse(model->schema, n, predicted, y, data->weight);
    return model->calibration != NULL ? score_intervals(model, data, y, how, scores) : STONET_OK;
}

static stonet_status predicted_rows(const stonet_model *model, const stonet_data *data,
                                    const stonet_use_options *asked, sn_workspace *keep, double **predicted)
{
    stonet_use_options how = *asked; /* but for what is of intervals and sets alone */
    how.level = 0.0;
    how.by_class = 0;
    SN_TRY(SN_TAKE(keep, *predicted, stonet_data_rows(data) * sn_schema_outputs(model->schema)));
    return stonet_predict(model, data, &how, *predicted);
}

/* Each NaN: all that follows the first score is numbers. */
static stonet_scores no_scores(void)
{
    static const double NONE = NAN;
    stonet_scores none = STONET_SCORES_INIT;
    for (size_t at = offsetof(stonet_scores, error_rate); at < sizeof none; at += sizeof NONE)
        memcpy((char *)&none + at, &NONE, sizeof NONE);
    return none;
}

/* A score that does not belong to the response of the model stays NaN. The result is copied up to the size
   that the caller's header knows. */
stonet_status stonet_score(const stonet_model *model, const stonet_data *data,
                           const stonet_use_options *options, stonet_scores *scores)
{
    if (model == NULL || data == NULL || scores == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_score needs a model, data and room for the scores");
    stonet_use_options how;
    stonet_scores found;
    SN_TRY(sn_use_level(options, data, "stonet_score", &how));
    SN_TRY(sn_options_take(&found, sizeof found, scores, "stonet_scores"));
    found = no_scores();
    found.n = stonet_data_rows(data);
    found.is_classifier = stonet_model_is_classifier(model);
    SN_WORKSPACE(scratch);
    double *predicted = NULL;
    SN_TRY(predicted_rows(model, data, &how, &scratch, &predicted));
    const bool has_law = sn_schema_has_law(model->schema);
    SN_TRY(has_law               ? sn_score_law(model, data, predicted, &found) /* looks at every response */
           : found.is_classifier ? score_classes(model, data, predicted, &how, &found)
                                 : score_numbers(model, data, predicted, &how, &found));
    if (has_law && model->calibration != NULL) /* counts, without an exposure */
        SN_TRY(score_intervals(model, data, data->y, &how, &found));
    found.size = scores->size;
    memcpy(scores, &found, found.size < sizeof found ? found.size : sizeof found);
    return STONET_OK;
}

stonet_status stonet_confusion(const stonet_model *model, const stonet_data *data,
                               const stonet_use_options *options, int64_t *table)
{
    if (model == NULL || data == NULL || table == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_confusion needs a model, data and room for the table");
    if (!stonet_model_is_classifier(model))
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "this model predicts numbers, so it has no table of classes");
    stonet_use_options how;
    SN_TRY(sn_use_plain(options, data, "stonet_confusion", &how));
    SN_WORKSPACE(scratch);
    double *predicted = NULL;
    SN_ARRAY(stonet_data_rows(data), int32_t, label);
    SN_TRY(predicted_rows(model, data, &how, &scratch, &predicted));
    SN_TRY(sn_schema_response(model->schema, data, label, NULL));
    sn_confusion(&(sn_class_rows){.n = stonet_data_rows(data),
                                  .classes = sn_schema_outputs(model->schema),
                                  .probability = predicted,
                                  .label = label},
                 table);
    return STONET_OK;
}
