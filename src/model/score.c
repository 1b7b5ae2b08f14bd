#include <math.h>

#include "base/memory.h"
#include "model/model.h"
#include "stats/metrics.h"

static stonet_status score_classes(const stonet_model *model, const stonet_data *data,
                                   const double *probability, stonet_scores *scores)
{
    int64_t n = scores->n, classes = sn_schema_outputs(model->schema);
    int32_t *label = NULL;
    SN_TRY(SN_NEW_RAW(label, n));
    stonet_status status = sn_schema_encode_y(model->schema, data, label, NULL);
    if (status == STONET_OK) {
        scores->error_rate = sn_error_rate(n, classes, probability, label);
        scores->accuracy = sn_accuracy(n, classes, probability, label);
        scores->log_loss = sn_log_loss(n, classes, probability, label);
    }
    sn_free(label);
    return status;
}

/* Mean over the outputs of MSE_j / (training variance of y_j). */
static double scaled_mse(const sn_schema *schema, int64_t n, const double *predicted, const double *y)
{
    int64_t m = sn_schema_outputs(schema);
    double sum = 0.0;
    for (int64_t j = 0; j < m; j++) {
        double sd = sn_schema_target_sd(schema, j), squares = 0.0;
        for (int64_t i = 0; i < n; i++) {
            double residual = (predicted[i * m + j] - y[i * m + j]) / sd;
            squares += residual * residual;
        }
        sum += squares / (double)n;
    }
    return sum / (double)m;
}

static stonet_status score_numbers(const stonet_model *model, const stonet_data *data,
                                   const double *predicted, stonet_scores *scores)
{
    int64_t n = scores->n, m = sn_schema_outputs(model->schema);
    double *y = NULL;
    SN_TRY(SN_NEW_RAW(y, n * m));
    stonet_status status = sn_schema_encode_y(model->schema, data, NULL, y);
    if (status == STONET_OK) {
        for (int64_t i = 0; i < n * m; i++)
            y[i] = sn_schema_target_mean(model->schema, i % m) +
                   sn_schema_target_sd(model->schema, i % m) * y[i];
        scores->mse = sn_mse(n, m, predicted, y);
        scores->mse_scaled = scaled_mse(model->schema, n, predicted, y);
        scores->r2 = sn_r2(n, m, predicted, y);
        scores->correlation = sn_correlation(n, m, predicted, y);
    }
    sn_free(y);
    return status;
}

stonet_status stonet_score(const stonet_model *model, const stonet_data *data,
                           const stonet_use_options *options, stonet_scores *scores)
{
    if (model == NULL || data == NULL || scores == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_score needs a model, data and room for the scores");
    stonet_use_options how;
    SN_TRY(sn_use_plain(options, "stonet_score", &how));
    *scores = (stonet_scores){.n = stonet_data_rows(data),
                              .is_classifier = stonet_model_is_classifier(model),
                              .error_rate = NAN,
                              .accuracy = NAN,
                              .log_loss = NAN,
                              .mse = NAN,
                              .mse_scaled = NAN,
                              .r2 = NAN,
                              .correlation = NAN};
    double *predicted = NULL;
    SN_TRY(SN_NEW_RAW(predicted, scores->n * sn_schema_outputs(model->schema)));
    stonet_status status = stonet_predict(model, data, &how, predicted);
    if (status == STONET_OK)
        status = scores->is_classifier ? score_classes(model, data, predicted, scores)
                                       : score_numbers(model, data, predicted, scores);
    sn_free(predicted);
    return status;
}
