#include "model/score_law.h"

#include <math.h>

#include "base/memory.h"
#include "data/frame.h"
#include "math/noise.h"
#include "stats/distributions.h"
#include "stats/survival.h"

enum { MOST_PAIRED = 10000 }; /* rows whose pairs are looked at: of more, an even part */

/* The law of a model's times, y = log t = centre + scale e with e of scale 1, or the law of its counts. */
typedef struct fitted_law {
    const sn_law *law;
    double mean, sd; /* that y was scaled by */
    double scale;    /* of log times; counts: the dispersion, 0 for Poisson */
} fitted_law;

static stonet_status law_of(const stonet_model *model, fitted_law *out)
{
    const bool by_learner = model->learner != NULL;
    out->law = sn_law_find(model->schema->law, by_learner ? "auto" : sn_word(model->settings, "law"));
    out->mean = sn_schema_target_mean(model->schema, 0);
    out->sd = sn_schema_target_sd(model->schema, 0);
    out->scale = -1.0;
    if (by_learner && model->learner->scale != NULL) out->scale = model->learner->scale(model->learner_state);
    if (!by_learner && model->method->spread != NULL)
        SN_TRY(model->method->spread(model->state, NULL, 1, &out->scale));
    if (!(out->scale >= 0.0))
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "this model gives Z and no law of the response: leave learner=none out");
    out->scale *= out->sd;
    return STONET_OK;
}

/* P(T > t) of a row whose median is `median`. */
static double survival_of(const fitted_law *fitted, double median, double t)
{
    if (!(t > 0.0)) return 1.0;
    const double e = (log(t) - log(median)) / fitted->scale + sn_errors_median(fitted->law->errors);
    return exp(sn_errors_log_upper(fitted->law->errors, e));
}

static double weight_of(const stonet_data *data, int64_t i)
{
    return data->weight != NULL ? data->weight[i] : 1.0;
}

/* The log likelihood is that of times, and not of their logarithms: a seen time has 1 / t more. */
static double loss_of(const fitted_law *fitted, const double *seen, double predicted)
{
    const double scale = fitted->scale / fitted->sd;
    const double mu =
        (log(predicted) - fitted->mean) / fitted->sd - scale * sn_errors_median(fitted->law->errors);
    const double parameter[SN_LAW_PARAMETERS] = {0.0, log(scale), 1.0};
    const double loss = fitted->law->loss(fitted->law, seen, mu, parameter, NULL);
    const bool seen_time = sn_law_kind_of(fitted->law) == SN_LAW_TIMES && seen[0] == seen[1];
    return seen_time ? loss + log(fitted->sd) + fitted->mean + fitted->sd * seen[0] : loss;
}

stonet_status sn_law_losses(const stonet_model *model, int64_t n, const double *seen, const double *predicted,
                            double *loss)
{
    fitted_law fitted;
    SN_TRY(law_of(model, &fitted));
    for (int64_t i = 0; i < n; i++) loss[i] = loss_of(&fitted, seen + i * SN_LAW_SEEN, predicted[i]);
    return STONET_OK;
}

stonet_status sn_law_losses_without(const stonet_model *model, const stonet_data *train,
                                    const stonet_data *data, double *loss)
{
    fitted_law fitted;
    double parameter[SN_LAW_PARAMETERS], centre;
    SN_TRY(law_of(model, &fitted));
    SN_ARRAY(train->n * SN_LAW_SEEN, double, known);
    SN_ARRAY(data->n * SN_LAW_SEEN, double, seen);
    SN_TRY(sn_schema_encode_law(model->schema, train, known, NULL));
    SN_TRY(sn_schema_encode_law(model->schema, data, seen, NULL));
    sn_law_fit(fitted.law, &(sn_law_sample){.n = train->n, .seen = known, .weight = train->weight}, true,
               parameter);
    fitted.law->answer(fitted.law, 0.0, parameter, 1, &centre);
    fitted.scale = fitted.sd * exp(parameter[1]);
    for (int64_t i = 0; i < data->n; i++)
        loss[i] = loss_of(&fitted, seen + i * SN_LAW_SEEN, exp(fitted.mean + fitted.sd * centre));
    return STONET_OK;
}

typedef struct predicted_times {
    const fitted_law *fitted;
    const double *median;
} predicted_times;

static double survival_at(const void *user, int64_t row, double t)
{
    const predicted_times *of = user;
    return survival_of(of->fitted, of->median[row], t);
}

/* Targets are the time and, if there is a second column, 1 for a seen event and 0 for a censored row.
   Concordance compares pairs of rows, so at most MOST_PAIRED rows are used, evenly from all of them. */
static stonet_status score_times(const stonet_data *data, const fitted_law *fitted, const double *predicted,
                                 stonet_scores *scores)
{
    const int64_t n = data->n < MOST_PAIRED ? data->n : MOST_PAIRED, m = data->n_targets;
    SN_ARRAY(n, double, time);
    SN_ARRAY(n, double, event);
    SN_ARRAY(n, double, median);
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = (int64_t)((double)i / (double)n * (double)data->n);
        time[i] = data->y[row * m];
        event[i] = m > 1 ? data->y[row * m + 1] : 1.0;
        median[i] = predicted[row];
    }
    const sn_times rows = {n, time, event};
    SN_TRY(sn_concordance(&rows, median, &scores->concordance, &scores->uno));
    const predicted_times of = {fitted, median};
    SN_TRY(sn_survival_calibration(&rows, survival_at, &of, &scores->calibration_error));
    return sn_integrated_brier(&rows, survival_at, &of, &scores->integrated_brier);
}

/* 2 (k log(k / lambda) - k + lambda) */
static double deviance_of(double k, double lambda)
{
    return 2.0 * ((k > 0.0 ? k * log(k / lambda) : 0.0) - k + lambda);
}

stonet_status sn_count_spread(const stonet_model *model, int64_t n, const double *predicted, double *out)
{
    fitted_law fitted;
    SN_TRY(law_of(model, &fitted));
    for (int64_t i = 0; i < n; i++) out[i] = sqrt(predicted[i] + fitted.scale * predicted[i] * predicted[i]);
    return STONET_OK;
}

/* deviance = sum w D(k, e f) / sum w, with count k, exposure e, predicted rate f and D as in deviance_of.
   deviance_explained = 1 - deviance / (deviance of the common rate sum w k / sum w e). */
static void score_counts(const stonet_data *data, const double *predicted, stonet_scores *scores)
{
    const int64_t m = data->n_targets;
    double counts = 0.0, exposures = 0.0, total = 0.0, sums[2] = {0.0, 0.0};
    for (int pass = 0; pass < 2; pass++) /* the rate of all rows, and then what it is worse by */
        for (int64_t i = 0; i < data->n; i++) {
            const double weight = weight_of(data, i), k = data->y[i * m],
                         e = m > 1 ? data->y[i * m + 1] : 1.0;
            if (pass == 0) {
                counts += weight * k;
                exposures += weight * e;
                total += weight;
                continue;
            }
            sums[0] += weight * deviance_of(k, e * predicted[i]);
            sums[1] += weight * deviance_of(k, e * counts / exposures);
        }
    scores->deviance = sums[0] / total;
    scores->deviance_explained = 1.0 - sums[0] / sums[1];
}

stonet_status sn_quantile_residuals(const stonet_model *model, int64_t n, const double *seen,
                                    const double *predicted, uint64_t seed, double *out)
{
    fitted_law fitted;
    SN_TRY(law_of(model, &fitted));
    for (int64_t i = 0; i < n; i++) {
        const double *row = seen + i * SN_LAW_SEEN;
        double below = 0.0, here = 0.0;
        for (double k = 0.0; k <= row[0] && below + here < 1.0; k += 1.0) {
            below += here;
            here = exp(-loss_of(&fitted, (const double[]){k, row[1]}, predicted[i]));
        }
        const double u = below + here * sn_noise_uniform(seed, SN_STREAM_RESPONSE, (uint32_t)i, 0, 0, 0, 0);
        out[i] = sn_normal_quantile(fmin(fmax(u, 1e-15), 1.0 - 1e-15));
    }
    return STONET_OK;
}

stonet_status sn_score_law(const stonet_model *model, const stonet_data *data, const double *predicted,
                           stonet_scores *scores)
{
    fitted_law fitted;
    double sum = 0.0, total = 0.0;
    SN_ARRAY(data->n * SN_LAW_SEEN, double, seen);
    SN_TRY(sn_schema_encode_law(model->schema, data, seen, NULL)); /* and every row is looked at */
    SN_TRY(law_of(model, &fitted));
    for (int64_t i = 0; i < data->n; i++) {
        sum += weight_of(data, i) * loss_of(&fitted, seen + i * SN_LAW_SEEN, predicted[i]);
        total += weight_of(data, i);
    }
    scores->log_likelihood = -sum / total;
    if (model->schema->law == SN_LAW_COUNTS) score_counts(data, predicted, scores);
    return model->schema->law == SN_LAW_TIMES ? score_times(data, &fitted, predicted, scores) : STONET_OK;
}

/* The integral of P(T > t) from 0 to `end`, over log t by Simpson's rule; below exp(-20) of the end there is
   nothing. */
static double restricted_mean_of(const fitted_law *fitted, double median, double end)
{
    enum { PANELS = 400 };
    const double low = log(end) - 20.0, step = 20.0 / PANELS;
    double sum = 0.0;
    for (int k = 0; k <= PANELS; k++) {
        const double t = exp(low + k * step);
        const double share = k == 0 || k == PANELS ? 1.0 : k % 2 == 1 ? 4.0 : 2.0;
        sum += share * t * survival_of(fitted, median, t);
    }
    return sum * step / 3.0;
}

stonet_status stonet_predict_survival(const stonet_model *model, const stonet_data *data,
                                      const stonet_use_options *options, const double *times, int64_t count,
                                      double *survival, double *restricted_mean)
{
    fitted_law fitted;
    if (model == NULL || data == NULL || times == NULL || survival == NULL || count < 1)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "stonet_predict_survival needs a model, data, times and room for the probabilities");
    const sn_law_kind kind = model->schema->law;
    if (kind != SN_LAW_TIMES && kind != SN_LAW_INTERVALS)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "this model has no times: survival is of models of task=survival or interval");
    for (int64_t k = 0; k < count; k++)
        if (!(times[k] > (k > 0 ? times[k - 1] : 0.0)) || isinf(times[k]))
            return sn_fail(STONET_ERROR_ARGUMENT, "the times must be above 0 and ascend: %g does not",
                           times[k]);
    SN_TRY(law_of(model, &fitted));
    SN_ARRAY(data->n, double, median);
    SN_TRY(stonet_predict(model, data, options, median));
    for (int64_t i = 0; i < data->n; i++) {
        for (int64_t k = 0; k < count; k++)
            survival[i * count + k] = survival_of(&fitted, median[i], times[k]);
        if (restricted_mean != NULL)
            restricted_mean[i] = restricted_mean_of(&fitted, median[i], times[count - 1]);
    }
    return STONET_OK;
}

const char *stonet_model_task(const stonet_model *model)
{
    return model != NULL ? sn_schema_task_word(model->schema) : "none";
}
