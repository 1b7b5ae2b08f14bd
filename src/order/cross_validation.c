/*
 * Cross-validation with a paired rule of one standard error, for every method that predicts. All k are fitted
 * on the same folds; L_i(k) is the loss of held-out row i: log loss, squared error over the variance of y, or
 * minus the log likelihood of times and counts. With d_i = L_i(k) - L_i(best), the smallest k with mean d <=
 * sd(d) / sqrt(n) is chosen (k = 0: twice that). A mean d of at most a twentieth of what the best explains
 * will do too, but not for nested components. Rows are counted, not folds, since five folds have no degrees
 * of freedom. k = 0 guesses the mean or the class shares of its training rows. Means are weighted where rows
 * have weights: with sum w = 1 the squared standard error of mean d is sum w^2 (d - mean d)^2.
 *
 * A flexible network needs as many numbers as there are responses and no more. On a fold one training of it
 * serves all k.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "model/score_law.h"
#include "order/order.h"
#include "refit/resample.h"
#include "select/jobs.h"

enum { FOLDS = 5, LARGEST = 10, LARGEST_NESTED = 20, CANDIDATES = 64 };
static const double SMALLEST_PROBABILITY = 1e-12;

/* What the fits share: loss has a row for each candidate (n each), NaN where a row was never held out. */
typedef struct folds {
    const sn_order_job *job;
    sn_splits splits;
    int64_t n, outputs;
    bool is_classifier;
    bool has_law;    /* of times or counts: no numbers as they are */
    double variance; /* of the targets, summed over them */
    int64_t count;   /* of candidates */
    int64_t k[CANDIDATES];
    double *loss;
} folds;

static void folds_clear(folds *self)
{
    sn_splits_free(&self->splits);
}

/* Whether Z can be any function of x. */
static bool is_flexible(const sn_order_job *job)
{
    return strcmp(job->spec->method->name, "stonet") == 0 && !sn_is(job->spec->settings, "hidden", "none");
}

/* Losses of held-out rows by predictions (n_held_out x outputs of the model's schema). */
static stonet_status take_losses(const folds *self, const sn_schema *schema, const stonet_data *held_out,
                                 const double *predicted, double *loss)
{
    const int64_t outputs = sn_schema_outputs(schema), n = stonet_data_rows(held_out);
    int64_t m = 0;
    const double *y = self->is_classifier ? NULL : stonet_data_targets(held_out, &m);
    SN_ARRAY(n, int32_t, label);
    if (self->is_classifier) SN_TRY(sn_schema_encode_y(schema, held_out, label, NULL));
    for (int64_t i = 0; i < n; i++) {
        const double *row = predicted + i * outputs;
        double squares = 0.0;
        for (int64_t j = 0; j < m; j++) squares += (row[j] - y[i * m + j]) * (row[j] - y[i * m + j]);
        loss[i] =
            self->is_classifier ? -log(fmax(row[label[i]], SMALLEST_PROBABILITY)) : squares / self->variance;
    }
    return STONET_OK;
}

/* The losses of the constant guess of the training rows. */
static stonet_status guess_losses(const folds *self, const stonet_data *train, const stonet_data *held_out,
                                  double *predicted, double *loss)
{
    SN_AUTO(sn_schema) *schema = NULL;
    SN_TRY(sn_schema_fit_response(train, sn_spec_task(self->job->spec), &schema));
    const int64_t outputs = sn_schema_outputs(schema), n = stonet_data_rows(train);
    SN_ZEROS(outputs, double, mean);
    if (self->is_classifier) {
        SN_ARRAY(n, int32_t, label);
        SN_TRY(sn_schema_encode_y(schema, train, label, NULL));
        double total = 0.0;
        for (int64_t i = 0; i < n; i++) {
            const double weight = train->weight != NULL ? train->weight[i] : 1.0;
            mean[label[i]] += weight;
            total += weight;
        }
        for (int64_t j = 0; j < outputs; j++) mean[j] /= total;
    } else {
        for (int64_t j = 0; j < outputs; j++) mean[j] = sn_schema_target_mean(schema, j);
    }
    for (int64_t i = 0; i < stonet_data_rows(held_out); i++)
        memcpy(predicted + i * outputs, mean, (size_t)outputs * sizeof *mean);
    return take_losses(self, schema, held_out, predicted, loss);
}

/* The losses of a model. */
static stonet_status model_losses(const folds *self, const stonet_model *model, const stonet_data *held_out,
                                  double *predicted, double *loss)
{
    const stonet_use_options use = {.size = sizeof use, .threads = sn_threads(self->job->run)};
    const int64_t n = stonet_data_rows(held_out);
    SN_TRY(stonet_predict(model, held_out, &use, predicted));
    if (!self->has_law) return take_losses(self, model->schema, held_out, predicted, loss);
    SN_ARRAY(n * SN_LAW_SEEN, double, seen);
    SN_TRY(sn_schema_encode_law(model->schema, held_out, seen, NULL));
    return sn_law_losses(model, n, seen, predicted, loss);
}

/* The losses of the rows that fold f holds out: by a constant (under a law: that without x), and by the
   models of the other candidates. */
static stonet_status judge(const folds *self, int64_t f, stonet_model *const *model)
{
    const sn_split *split = &self->splits.split[f];
    const int64_t n = split->held_out.n;
    SN_AUTO(stonet_data) *train = NULL, *held_out = NULL;
    SN_ARRAY(n * self->outputs, double, predicted);
    SN_ARRAY(n, double, loss);
    SN_TRY(stonet_data_subset(self->job->data, split->train.list, split->train.n, &train));
    SN_TRY(stonet_data_subset(self->job->data, split->held_out.list, n, &held_out));
    for (int64_t c = 0; c < self->count; c++) {
        SN_TRY(c > 0           ? model_losses(self, model[c - 1], held_out, predicted, loss)
               : self->has_law ? sn_law_losses_without(model[0], train, held_out, loss)
                               : guess_losses(self, train, held_out, predicted, loss));
        for (int64_t i = 0; i < n; i++) self->loss[c * self->n + split->held_out.list[i]] = loss[i];
    }
    return STONET_OK;
}

stonet_status sn_order_fit(const sn_order_job *job, const sn_splits *splits, const int64_t *k, int64_t count,
                           stonet_model **model)
{
    SN_WORKSPACE(scratch);
    stonet_spec **spec = NULL;
    sn_rows *part = NULL;
    stonet_status status = STONET_OK;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
    SN_TRY(SN_TAKE_ZERO(&scratch, spec, count));
    SN_TRY(SN_TAKE(&scratch, part, splits->count));
    for (int64_t f = 0; f < splits->count; f++) part[f] = splits->split[f].train;
    for (int64_t c = 0; c < count && status == STONET_OK; c++) {
        char dim[24];
        snprintf(dim, sizeof dim, "%lld", (long long)k[c]);
        status = stonet_spec_copy(job->spec, &spec[c]);
        if (status == STONET_OK) status = stonet_spec_set(spec[c], "dim", dim);
    }
    const sn_refits wanted = {.spec = (const stonet_spec *const *)spec,
                              .specs = count,
                              .data = job->data,
                              .part = part,
                              .parts = splits->count,
                              .stage = "fitting each dimension"};
    if (status == STONET_OK) status = sn_refit(&wanted, job->run, model);
    for (int64_t c = 0; c < count; c++) stonet_spec_free(spec[c]);
    return status;
}

/* A mean over the rows that were held out, and its standard error. */
typedef struct average {
    double mean, error;
} average;

/* Of the losses of candidate a less those of candidate b (negative: none). */
static average compare(const folds *self, int64_t a, int64_t b)
{
    const double *weight = self->job->data->weight, *first = self->loss + a * self->n,
                 *second = b >= 0 ? self->loss + b * self->n : NULL;
    double sum = 0.0, squares = 0.0, total = 0.0, rows = 0.0;
    for (int64_t i = 0; i < self->n; i++) {
        const double d = first[i] - (second != NULL ? second[i] : 0.0), w = weight != NULL ? weight[i] : 1.0;
        if (isnan(d) || w == 0.0) continue;
        rows += 1.0;
        total += w;
        sum += w * d;
    }
    const double mean = sum / total;
    for (int64_t i = 0; i < self->n; i++) {
        const double d = first[i] - (second != NULL ? second[i] : 0.0) - mean,
                     w = weight != NULL ? weight[i] : 1.0;
        if (!isnan(d)) squares += w * w * d * d;
    }
    return (average){mean, sqrt(squares * rows / fmax(rows - 1.0, 1.0)) / total};
}

/* What must be given up of the explained part of the loss before a number counts as needed: a network is
   easier to fit with more numbers than it needs, and what that is worth is told by many rows. Components
   that are nested have no such trouble, and the last per cent is what a calibration is for. */
static double negligible(const folds *self)
{
    return self->job->spec->method->nested ? 0.0 : 0.05;
}
/* Standard errors by which the best must beat a constant: one is beaten by chance in every sixth data set. */
static const double FOR_ANY = 2.0;

/* The table has a row for each k: its loss, its excess over the best k, and their standard errors. The reason
   of the choice is a sentence without its full stop. */
static stonet_status tell(const folds *self, stonet_order_result *result)
{
    static const char *const names[] = {"k", "loss", "se", "excess", "excess_se"};
    int64_t best = 0, chosen;
    for (int64_t c = 1; c < self->count; c++)
        if (compare(self, c, -1).mean < compare(self, best, -1).mean) best = c;
    const double explained = compare(self, 0, best).mean;
    for (chosen = 0; chosen < best; chosen++) {
        const average excess = compare(self, chosen, best);
        const double doubt = (self->k[chosen] == 0 ? FOR_ANY : 1.0) * excess.error;
        if (excess.mean <= fmax(doubt, negligible(self) * explained)) break;
    }
    SN_TRY(sn_order_table(result, 0, self->count, 5, names));
    for (int64_t c = 0; c < self->count; c++) {
        const average loss = compare(self, c, -1), excess = compare(self, c, best);
        *sn_order_cell(result, c, 0) = (double)self->k[c];
        *sn_order_cell(result, c, 1) = loss.mean;
        *sn_order_cell(result, c, 2) = loss.error;
        *sn_order_cell(result, c, 3) = excess.mean;
        *sn_order_cell(result, c, 4) = excess.error;
    }
    result->chosen = self->k[chosen];
    const char *only =
        is_flexible(self->job) && !sn_is(self->job->spec->settings, "response", "mean") &&
                !self->is_classifier
            ? "; the mean of the response alone is judged, rule independence asks for all of it"
            : "";
    const double least = *sn_order_cell(result, best, 1);
    const bool exact = negligible(self) == 0.0;
    if (chosen == best)
        sn_format(result->reason, sizeof result->reason,
                  "%lld has the smallest held-out loss (%.4g), and no smaller one is within a standard error "
                  "of it%s%s",
                  (long long)result->chosen, least, exact ? "" : " or explains 95 % as much", only);
    else
        sn_format(result->reason, sizeof result->reason,
                  "%lld is the smallest whose held-out loss (%.4g) is within a standard error of the best "
                  "one's (%.4g, with %lld)%s%s",
                  (long long)result->chosen, *sn_order_cell(result, chosen, 1), least,
                  (long long)self->k[best], exact ? "" : ", or that explains 95 % as much", only);
    return STONET_OK;
}

/* Draws the folds, lists the candidates k and reserves their losses (count x n, NaN), in `keep`. outputs:
   numbers that a prediction has for each row. */
static stonet_status prepare(const sn_order_job *job, sn_workspace *keep, folds *self)
{
    const int64_t n = self->n, columns = stonet_data_columns(job->data);
    const bool nested = job->spec->method->nested;
    int64_t m = 0;
    const double *y = stonet_data_targets(job->data, &m);
    SN_FREED_BY(sn_strata_free) sn_strata strata = {0};
    SN_TRY(sn_strata_create(job->spec, job->data, &strata));
    self->is_classifier = strata.is_classifier;
    self->has_law = !strata.is_classifier && strata.law != SN_LAW_NONE;
    self->outputs = strata.is_classifier ? strata.n_classes : self->has_law ? 1 : m;
    for (int64_t j = 0; !strata.is_classifier && j < m; j++) {
        double mean = 0.0, squares = 0.0;
        for (int64_t i = 0; i < n; i++) mean += y[i * m + j] / (double)n;
        for (int64_t i = 0; i < n; i++) squares += (y[i * m + j] - mean) * (y[i * m + j] - mean);
        self->variance += squares / (double)n;
    }
    if (!(self->variance > 0.0)) self->variance = 1.0;
    SN_TRY(sn_splits_fold(job->data, NULL, &strata, job->folds > 0 ? job->folds : FOLDS, job->run->seed,
                          &self->splits));
    /* What theory leaves: a network needs a number for each mean, one fewer than the classes for them. Its
       fits with more columns are the same training. */
    const int64_t largest = nested ? LARGEST_NESTED : LARGEST,
                  natural = columns < largest ? columns : largest,
                  needed = self->is_classifier ? self->outputs - 1 : self->outputs,
                  limit = job->max > 0                           ? job->max
                          : is_flexible(job) && needed < natural ? needed
                                                                 : natural;
    /* 0 1 2 3 4 6 8 10 15 20 .. up to the limit, which is always there; each number where it costs little */
    for (int64_t k = 0; k < limit && self->count < CANDIDATES - 1; k += nested || k < 4 ? 1 : k < 10 ? 2 : 5)
        self->k[self->count++] = k;
    self->k[self->count++] = limit;
    SN_TRY(SN_TAKE(keep, self->loss, self->count * n));
    for (int64_t i = 0; i < self->count * n; i++) self->loss[i] = (double)NAN;
    return STONET_OK;
}

stonet_status sn_order_folds(const sn_order_job *job, stonet_order_result *result)
{
    SN_WORKSPACE(scratch);
    SN_FREED_BY(folds_clear) folds self = {.job = job, .n = stonet_data_rows(job->data)};
    SN_TRY(prepare(job, &scratch, &self));
    const int64_t each = self.count - 1; /* k = 0 needs no fit */
    stonet_model **model = NULL;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
    SN_TRY(SN_TAKE_ZERO(&scratch, model, each * self.splits.count));
    stonet_status status = sn_order_fit(job, &self.splits, self.k + 1, each, model);
    for (int64_t f = 0; f < self.splits.count && status == STONET_OK; f++)
        status = judge(&self, f, model + f * each);
    for (int64_t m = 0; m < each * self.splits.count; m++) stonet_model_free(model[m]);
    return status == STONET_OK ? tell(&self, result) : status;
}
