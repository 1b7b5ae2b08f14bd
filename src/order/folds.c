/*
 * Cross-validation with a paired rule of one standard error, for every method that predicts. All k are fitted
 * on the same folds; L_i(k) is the loss of held-out row i (log loss, or squared error over the variance of
 * y). With d_i = L_i(k) - L_i(best), the smallest k with mean d <= sd(d) / sqrt(n) (k = 0: twice that), or at
 * most a twentieth of what the best explains, is chosen. Rows are counted, not folds, since five folds have
 * no degrees of freedom. k = 0 guesses the mean or the class shares of its training rows. Means are weighted
 * where rows have weights: with sum w = 1 the squared standard error of mean d is sum w^2 (d - mean d)^2.
 *
 * A flexible network needs as many numbers as there are responses and no more, and its fits take long: larger
 * k are fitted two at a time, and only while the choice is one of the last two.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/failure.h"
#include "base/number.h"
#include "order/order.h"
#include "select/jobs.h"

enum { FOLDS = 5, LARGEST = 10, CANDIDATES = 64, AT_FIRST = 4, AT_A_TIME = 2 };
static const double SMALLEST_PROBABILITY = 1e-12;

/* What the fits share: loss has a row for each candidate (n each), NaN where a row was never held out. */
typedef struct folds {
    const sn_order_job *job;
    sn_splits splits;
    int64_t n, outputs;
    bool is_classifier;
    double variance; /* of the targets, summed over them */
    int64_t count;   /* of candidates */
    int64_t fitted;  /* the first so many are */
    int64_t k[CANDIDATES];
    double *loss;
} folds;

/* 0 1 2 3 4 6 8 10 15 20 .. up to the limit, which is always there. */
static void list_candidates(int64_t limit, folds *self)
{
    for (int64_t k = 0; k < limit && self->count < CANDIDATES - 1; k += k < 4 ? 1 : k < 10 ? 2 : 5)
        self->k[self->count++] = k;
    self->k[self->count++] = limit;
}

/* Whether Z can be any function of x. */
static bool is_flexible(const sn_order_job *job)
{
    return strcmp(job->spec->method->name, "stonet") == 0 && !sn_is(job->spec->settings, "hidden", "none");
}

/* What theory leaves: a network needs a number for each mean, one fewer than the classes for them. Its fits
   with more columns are the same training. */
static int64_t natural_limit(const folds *self, int64_t columns)
{
    int64_t limit = columns < LARGEST ? columns : LARGEST;
    const int64_t needed = self->is_classifier ? self->outputs - 1 : self->outputs;
    return is_flexible(self->job) && needed < limit ? needed : limit;
}

static double squared(const double *predicted, const double *y, int64_t m)
{
    double sum = 0.0;
    for (int64_t j = 0; j < m; j++) sum += (predicted[j] - y[j]) * (predicted[j] - y[j]);
    return sum;
}

/* Losses of held-out rows by predictions (n_held_out x outputs of the model's schema). */
static stonet_status take_losses(const folds *self, const sn_schema *schema, const stonet_data *held_out,
                                 const sn_split *split, const double *predicted, double *loss)
{
    const int64_t outputs = sn_schema_outputs(schema);
    int64_t m = 0;
    const double *y = self->is_classifier ? NULL : stonet_data_targets(held_out, &m);
    SN_WORKSPACE(scratch);
    int32_t *label = NULL;
    if (self->is_classifier) {
        SN_TRY(SN_TAKE(&scratch, label, split->n_held_out));
        SN_TRY(sn_schema_encode_y(schema, held_out, label, NULL));
    }
    for (int64_t i = 0; i < split->n_held_out; i++) {
        const double *row = predicted + i * outputs;
        loss[split->held_out[i]] = self->is_classifier ? -log(fmax(row[label[i]], SMALLEST_PROBABILITY))
                                                       : squared(row, y + i * m, m) / self->variance;
    }
    return STONET_OK;
}

/* The constant guess of the training rows, for every held-out row. */
static stonet_status guess(const folds *self, const stonet_data *train, const sn_split *split,
                           const sn_schema *schema, double *predicted)
{
    const int64_t outputs = sn_schema_outputs(schema), n = split->n_train;
    SN_WORKSPACE(scratch);
    double *mean = NULL;
    SN_TRY(SN_TAKE_ZERO(&scratch, mean, outputs));
    if (self->is_classifier) {
        int32_t *label = NULL;
        SN_TRY(SN_TAKE(&scratch, label, n));
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
    for (int64_t i = 0; i < split->n_held_out; i++)
        memcpy(predicted + i * outputs, mean, (size_t)outputs * sizeof *mean);
    return STONET_OK;
}

/* Fits candidate c on the training rows of fold f, and takes the losses of the rows held out. */
static stonet_status fit_one(const folds *self, const stonet_run *run, int64_t c, int64_t f)
{
    const sn_split *split = &self->splits.split[f];
    stonet_data *train = NULL, *held_out = NULL;
    stonet_spec *spec = NULL;
    stonet_model *model = NULL;
    char dim[24];
    stonet_status status;
    SN_WORKSPACE(scratch);
    double *predicted = NULL;
    snprintf(dim, sizeof dim, "%lld", (long long)(self->k[c] > 0 ? self->k[c] : 1));
    SN_GOTO(status, stonet_data_subset(self->job->data, split->train, split->n_train, &train), done);
    SN_GOTO(status, stonet_data_subset(self->job->data, split->held_out, split->n_held_out, &held_out), done);
    SN_GOTO(status, SN_TAKE(&scratch, predicted, split->n_held_out * self->outputs), done);
    if (self->k[c] == 0) {
        sn_schema *schema = NULL;
        SN_GOTO(status, sn_schema_fit_response(train, sn_spec_task(self->job->spec), &schema), done);
        status = guess(self, train, split, schema, predicted);
        if (status == STONET_OK)
            status = take_losses(self, schema, held_out, split, predicted, self->loss + c * self->n);
        sn_schema_free(schema);
        goto done;
    }
    SN_GOTO(status, stonet_spec_copy(self->job->spec, &spec), done);
    SN_GOTO(status, stonet_spec_set(spec, "dim", dim), done);
    SN_GOTO(status, stonet_fit(spec, train, run, &model), done);
    stonet_use_options use = STONET_USE_OPTIONS_INIT;
    use.threads = 1;
    SN_GOTO(status, stonet_predict(model, held_out, &use, predicted), done);
    status = take_losses(self, model->schema, held_out, split, predicted, self->loss + c * self->n);
done:
    stonet_model_free(model);
    stonet_spec_free(spec);
    stonet_data_free(held_out);
    stonet_data_free(train);
    return status;
}

typedef struct shared_stop {
    const stonet_run *run;
    int *stopped;
} shared_stop;

static int should_stop(void *user)
{
    const shared_stop *stop = user;
    return sn_should_stop_shared(stop->run, stop->stopped);
}

/* The next candidates, up to `end`, on every fold; the largest first, since they take longest. */
static stonet_status fit_up_to(folds *self, int64_t end)
{
    const stonet_run *outer = self->job->run;
    const int64_t jobs = (end - self->fitted) * self->splits.count;
    const double started = sn_seconds();
    sn_failure failure = {.status = STONET_OK};
    int64_t finished = 0;
    int stopped = 0;
#pragma omp parallel num_threads(sn_threads(outer))
    {
        shared_stop stop = {.run = outer, .stopped = &stopped};
        const stonet_run run = {
            .size = sizeof run, .seed = outer->seed, .threads = 1, .should_stop = should_stop, .user = &stop};
        const int before = sn_model_threads(1);
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < jobs; i++) {
            if (sn_should_stop_shared(outer, &stopped)) continue;
            const int64_t c = end - 1 - i / self->splits.count, f = i % self->splits.count;
            sn_failure_note(&failure, i, fit_one(self, &run, c, f));
#pragma omp critical
            finished++;
            if (omp_get_thread_num() == 0)
                sn_progress(outer, &(stonet_progress){.stage = "fitting each dimension",
                                                      .done = finished,
                                                      .total = jobs,
                                                      .loss = (double)NAN,
                                                      .validation_loss = (double)NAN,
                                                      .seconds = sn_seconds() - started});
        }
        sn_model_threads(before);
    }
    if (stopped) return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before there was an answer");
    SN_TRY(sn_failure_raise(&failure));
    self->fitted = end;
    return STONET_OK;
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
   easier to fit with more numbers than it needs, and what that is worth is told by many rows. */
static const double NEGLIGIBLE = 0.05;
/* Standard errors by which the best must beat a constant: one is beaten by chance in every sixth data set. */
static const double FOR_ANY = 2.0;

/* Which of those fitted so far has the smallest loss, and which is chosen. */
typedef struct choice {
    int64_t best, chosen;
} choice;

static choice choose(const folds *self)
{
    choice made = {0, 0};
    for (int64_t c = 1; c < self->fitted; c++)
        if (compare(self, c, -1).mean < compare(self, made.best, -1).mean) made.best = c;
    const double explained = compare(self, 0, made.best).mean;
    for (made.chosen = 0; made.chosen < made.best; made.chosen++) {
        const average excess = compare(self, made.chosen, made.best);
        const double doubt = (self->k[made.chosen] == 0 ? FOR_ANY : 1.0) * excess.error;
        if (excess.mean <= fmax(doubt, NEGLIGIBLE * explained)) break;
    }
    return made;
}

static stonet_status tell(const folds *self, stonet_order_result *result)
{
    static const char *const names[] = {"k", "loss", "se", "excess", "excess_se"};
    const choice made = choose(self);
    SN_TRY(sn_order_table(result, 0, self->fitted, 5, names));
    for (int64_t c = 0; c < self->fitted; c++) {
        const average loss = compare(self, c, -1), excess = compare(self, c, made.best);
        *sn_order_cell(result, c, 0) = (double)self->k[c];
        *sn_order_cell(result, c, 1) = loss.mean;
        *sn_order_cell(result, c, 2) = loss.error;
        *sn_order_cell(result, c, 3) = excess.mean;
        *sn_order_cell(result, c, 4) = excess.error;
    }
    result->chosen = self->k[made.chosen];
    const char *only =
        is_flexible(self->job) && !sn_is(self->job->spec->settings, "response", "mean") &&
                !self->is_classifier
            ? "; the mean of the response alone is judged, rule independence asks for all of it"
            : "";
    const double least = *sn_order_cell(result, made.best, 1);
    if (made.chosen == made.best)
        sn_format(result->reason, sizeof result->reason,
                  "%lld has the smallest held-out loss (%.4g), and no smaller one is within a standard error "
                  "of it or explains 95 %% as much%s",
                  (long long)result->chosen, least, only);
    else
        sn_format(result->reason, sizeof result->reason,
                  "%lld is the smallest whose held-out loss (%.4g) is within a standard error of the best "
                  "one's (%.4g, with %lld), or that explains 95 %% as much%s",
                  (long long)result->chosen, *sn_order_cell(result, made.chosen, 1), least,
                  (long long)self->k[made.best], only);
    return STONET_OK;
}

/* Variance of the targets, summed over the columns. */
static double target_variance(const stonet_data *data)
{
    int64_t m = 0;
    const double *y = stonet_data_targets(data, &m);
    const int64_t n = stonet_data_rows(data);
    double sum = 0.0;
    for (int64_t j = 0; j < m; j++) {
        double mean = 0.0, squares = 0.0;
        for (int64_t i = 0; i < n; i++) mean += y[i * m + j] / (double)n;
        for (int64_t i = 0; i < n; i++) squares += (y[i * m + j] - mean) * (y[i * m + j] - mean);
        sum += squares / (double)n;
    }
    return sum > 0.0 ? sum : 1.0;
}

static stonet_status prepare(const sn_order_job *job, sn_workspace *keep, folds *self)
{
    sn_strata strata = {0};
    SN_TRY(sn_strata_create(job->spec, job->data, &strata));
    self->is_classifier = strata.is_classifier;
    self->outputs = strata.n_classes;
    if (!self->is_classifier) {
        (void)stonet_data_targets(job->data, &self->outputs);
        self->variance = target_variance(job->data);
    }
    const int wanted = job->folds > 0 ? job->folds : FOLDS;
    stonet_status status = sn_splits_fold(job->data, NULL, 0, &strata, wanted, job->run->seed, &self->splits);
    sn_strata_free(&strata);
    SN_TRY(status);
    const int64_t columns = stonet_data_columns(job->data);
    int64_t limit = job->max > 0 ? job->max : natural_limit(self, columns);
    list_candidates(limit, self);
    SN_TRY(SN_TAKE(keep, self->loss, self->count * self->n));
    for (int64_t i = 0; i < self->count * self->n; i++) self->loss[i] = (double)NAN;
    return STONET_OK;
}

stonet_status sn_order_folds(const sn_order_job *job, stonet_order_result *result)
{
    SN_WORKSPACE(scratch);
    folds self = {.job = job, .n = stonet_data_rows(job->data)};
    stonet_status status = prepare(job, &scratch, &self);
    const bool all = job->max > 0 || !is_flexible(job);
    while (status == STONET_OK && self.fitted < self.count &&
           (self.fitted == 0 || all || choose(&self).chosen >= self.fitted - AT_A_TIME)) {
        const int64_t next = all ? self.count : self.fitted == 0 ? AT_FIRST : self.fitted + AT_A_TIME;
        status = fit_up_to(&self, next < self.count ? next : self.count);
    }
    if (status == STONET_OK) status = tell(&self, result);
    sn_splits_free(&self.splits);
    return status;
}
