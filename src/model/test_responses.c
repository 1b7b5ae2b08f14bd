/* Censored times, counts and ordered classes from a table to a prediction. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/test_kit.h"
#include "engine/engines.h"
#include "model/test_table.h"

enum { N = 400, P = 3 };

/* eta = 0.8 x1 - 0.5 x2: log T = 1 + eta + 0.4 e, counts with mean E exp(eta), classes by a score. */
typedef struct table {
    float x[N * P];
    double eta[N], log_time[N];
    double survival[N * 2], interval[N * 2], count[N * 2], ordered[N];
    stonet_data *data;
} table;

static double poisson(sn_random *random, double mean)
{
    double k = 0.0, p = exp(-mean), below = p;
    for (const double u = sn_random_uniform(random); u > below; below += p) p *= mean / ++k;
    return k;
}

/* Made anew in the same place. */
static table *make(void)
{
    static table made, *const t = &made;
    sn_random random = sn_random_from(11, SN_STREAM_TEST, 0);
    for (int64_t k = 0; k < (int64_t)N * P; k++) t->x[k] = (float)sn_random_normal(&random);
    for (int64_t i = 0; i < N; i++) {
        t->eta[i] = 0.8 * (double)t->x[i * P] - 0.5 * (double)t->x[i * P + 1];
        t->log_time[i] = 1.0 + t->eta[i] + 0.4 * sn_random_normal(&random);
        const double end = 1.3 + sn_random_normal(&random), exposure = 0.5 + 3.0 * sn_random_uniform(&random);
        t->survival[2 * i] = exp(fmin(t->log_time[i], end));
        t->survival[2 * i + 1] = t->log_time[i] <= end ? 1.0 : 0.0;
        t->interval[2 * i] = floor(exp(t->log_time[i]));
        t->interval[2 * i + 1] = t->interval[2 * i] + 1.0;
        t->count[2 * i] = poisson(&random, exposure * exp(t->eta[i]));
        t->count[2 * i + 1] = exposure;
        const double u = sn_random_uniform(&random), score = 2.0 * t->eta[i] + log(u / (1.0 - u));
        t->ordered[i] = (score > -1.0) + (score > 0.5) + (score > 2.0);
    }
    t->data = sn_testing_data(t->x, N, P, NULL);
    return t;
}

static void drop(table **t)
{
    stonet_data_free((*t)->data);
}
#define TABLE(t) SN_FREED_BY(drop) table *t = make()

typedef struct response {
    const char *task;
    size_t at; /* of its numbers in the table */
    int64_t columns;
    const char *kind; /* the setting `response` */
} response;

static const response ALL[] = {{"survival", offsetof(table, survival), 2, "mean"},
                               {"interval", offsetof(table, interval), 2, "mean"},
                               {"count", offsetof(table, count), 2, "mean"},
                               {"ordinal", offsetof(table, ordered), 1, "mean"},
                               {"survival", offsetof(table, survival), 2, "ensemble"}};
enum { KINDS = sizeof ALL / sizeof *ALL };

static void give(const table *t, const response *r)
{
    OK(stonet_data_set_targets(t->data, (const double *)(const void *)((const char *)t + r->at), r->columns));
}

/* A linear network: what is known of linear models is known of it. */
static stonet_spec *linear_spec(const response *r)
{
    const char *words = sn_testing_words(
        "stonet 1 task=%s response=%s activation=identity front=none epochs=60 weight_decay=0.0001", r->task,
        r->kind);
    return sn_testing_spec_of(words);
}

/* With further settings. */
static stonet_model *fit_with(const table *t, const response *r, int threads, const char *more)
{
    const stonet_run run = {.size = sizeof run, .seed = 5, .threads = threads};
    SN_AUTO(stonet_spec) *spec = linear_spec(r);
    stonet_model *model = NULL;
    sn_testing_set(spec, more);
    give(t, r);
    OK(stonet_fit(spec, t->data, &run, &model));
    return model;
}

static stonet_model *fit(const table *t, const response *r, int threads)
{
    return fit_with(t, r, threads, "");
}

/* The slope of b on a. */
static double slope_of(const double *a, const double *b)
{
    double mean[2] = {0.0, 0.0}, ab = 0.0, aa = 0.0;
    for (int64_t i = 0; i < N; i++) {
        mean[0] += a[i] / N;
        mean[1] += b[i] / N;
    }
    for (int64_t i = 0; i < N; i++) {
        ab += (a[i] - mean[0]) * (b[i] - mean[1]);
        aa += (a[i] - mean[0]) * (a[i] - mean[0]);
    }
    return ab / aa;
}

/* Where the truth is linear, its slope comes back; that of the censored times themselves is far below 1. */
TEST(linear_truth_is_recovered)
{
    TABLE(t);
    double known[N], naive[N];
    for (int k = 0; k < 3; k++) {
        SN_AUTO(stonet_model) *model = fit(t, &ALL[k], 1);
        OK(stonet_predict(model, t->data, NULL, known));
        for (int64_t i = 0; i < N; i++) known[i] = log(known[i]);
        const double slope = slope_of(t->eta, known);
        if (!(fabs(slope - 1.0) < 0.08)) fail_msg("%s: slope %g", ALL[k].task, slope);
        assert_string_equal(stonet_model_task(model), ALL[k].task);
    }
    for (int64_t i = 0; i < N; i++) naive[i] = log(t->survival[2 * i]);
    assert_true(slope_of(t->eta, naive) < 0.75);
}

TEST(scores_are_of_the_response)
{
    TABLE(t);
    for (int k = 0; k < KINDS; k++) {
        SN_AUTO(stonet_model) *model = fit(t, &ALL[k], 1);
        const stonet_scores scores = sn_testing_scores(model, t->data, NULL);
        assert_true(isnan(scores.mse));
        if (k % 4 == 0) {
            assert_true(scores.concordance > 0.8 && scores.uno > 0.8 && scores.integrated_brier < 0.12);
            assert_true(scores.calibration_error < 0.1);
        } else if (k == 2) {
            assert_true(scores.deviance_explained > 0.4 && scores.deviance < 1.3);
        } else if (k == 3) {
            assert_true(scores.rank_error < 0.7 && scores.kappa > 0.5 && scores.log_loss < 1.1);
        }
        assert_true(k == 3 || scores.log_likelihood > -2.5);
    }
}

/* Probabilities fall with the time, are one half at the median, and their integral is the restricted mean. */
TEST(survival_belongs_to_the_median)
{
    TABLE(t);
    SN_AUTO(stonet_model) *model = fit(t, &ALL[0], 1);
    static double median[N], survival[N * 3], mean[N], fine[N];
    OK(stonet_predict(model, t->data, NULL, median));
    OK(stonet_predict_survival(model, t->data, NULL, (const double[]){1.0, 2.0, 4.0}, 3, survival, mean));
    for (int64_t i = 0; i < N; i++) {
        assert_true(survival[3 * i] > survival[3 * i + 1] && survival[3 * i + 1] > survival[3 * i + 2]);
        assert_true((survival[3 * i + 1] > 0.5) == (median[i] > 2.0));
        fine[i] = 0.0;
    }
    enum { STEPS = 400 };
    for (int k = 0; k < STEPS; k++) {
        OK(stonet_predict_survival(model, t->data, NULL, (const double[]){4.0 * (k + 0.5) / STEPS}, 1,
                                   survival, NULL));
        for (int64_t i = 0; i < N; i++) fine[i] += survival[i] * 4.0 / STEPS;
    }
    for (int64_t i = 0; i < N; i++) assert_true(fabs(fine[i] - mean[i]) < 1e-3);
    assert_says(stonet_predict_survival(model, t->data, NULL, (const double[]){2.0, 1.0}, 2, survival, NULL),
                STONET_ERROR_ARGUMENT, "ascend");
}

/* |correlation|, of columns that lie so far apart. */
static double correlation(const float *a, int64_t a_apart, const float *b, int64_t b_apart)
{
    double mean[2] = {0.0, 0.0}, aa = 0.0, bb = 0.0, ab = 0.0;
    for (int64_t i = 0; i < N; i++) {
        mean[0] += (double)a[i * a_apart] / N;
        mean[1] += (double)b[i * b_apart] / N;
    }
    for (int64_t i = 0; i < N; i++) {
        const double u = (double)a[i * a_apart] - mean[0], v = (double)b[i * b_apart] - mean[1];
        aa += u * u;
        bb += v * v;
        ab += u * v;
    }
    return fabs(ab) / sqrt(aa * bb);
}

/* log T = x1 + exp(x3) e / 2, some of it censored: the ensemble has x3 in Z, the mean has not. */
TEST(functions_of_times_see_what_spreads_them)
{
    TABLE(t);
    static float z[N * 2];
    sn_random random = sn_random_from(12, SN_STREAM_TEST, 1);
    for (int64_t i = 0; i < N; i++) {
        const double spread = 0.5 * exp((double)t->x[i * P + 2]);
        const double log_time = (double)t->x[i * P] + spread * sn_random_normal(&random);
        const double end = 0.5 + sn_random_normal(&random);
        t->survival[2 * i] = exp(fmin(log_time, end));
        t->survival[2 * i + 1] = log_time <= end ? 1.0 : 0.0;
    }
    stonet_model *model = fit_with(t, &ALL[4], 1, "2");
    OK(stonet_transform(model, t->data, NULL, z));
    const double first = correlation(z, 2, t->x + 2, P), second = correlation(z + 1, 2, t->x + 2, P);
    if (!(first * first + second * second > 0.7)) fail_msg("x3 in Z: %g and %g", first, second);
    stonet_model_free(model);
    model = fit(t, &ALL[0], 1);
    OK(stonet_transform(model, t->data, NULL, z));
    const double alone = correlation(z, 1, t->x + 2, P);
    if (!(alone < 0.5)) fail_msg("x3 in Z of the mean: %g", alone);
    stonet_model_free(model);
    SN_AUTO(stonet_spec) *spec = linear_spec(&ALL[4]);
    OK(stonet_spec_set(spec, "task", "count"));
    give(t, &ALL[2]);
    assert_says(stonet_fit(spec, t->data, NULL, &model), STONET_ERROR_UNSUPPORTED,
                "for plain numbers and times");
}

/* Engines know nothing of laws: after a few updates they differ by rounding. */
static void agrees_with_ref(const char *engine)
{
    TABLE(t);
    for (int k = 0; k < KINDS; k++) {
        SN_AUTO(stonet_model) *wanted = fit_with(t, &ALL[k], 1, "epochs=3 engine=ref"),
                              *got = fit_with(t, &ALL[k], 1, engine);
        double out[2][N * 4];
        OK(stonet_predict(wanted, t->data, NULL, out[0]));
        OK(stonet_predict(got, t->data, NULL, out[1]));
        for (int64_t i = 0; i < N * stonet_model_outputs(got); i++)
            if (!(fabs(out[1][i] - out[0][i]) <= 1e-3 * (1.0 + fabs(out[0][i]))))
                fail_msg("%s, %s: %g is not %g", ALL[k].task, engine, out[1][i], out[0][i]);
    }
}

TEST(cpu_agrees_with_ref)
{
    agrees_with_ref("epochs=3 engine=cpu");
}

/* On a device, or the emulated one of the test model_responses_emulated. */
TEST(cuda_agrees_with_ref)
{
    if (sn_engine_cuda.available() != STONET_OK) {
        print_message("skipped: %s\n", stonet_last_error());
        skip();
    }
    agrees_with_ref("epochs=3 engine=cuda");
}

/* The same bytes for any number of threads, and from the file the same answers. */
TEST(threads_and_files_change_nothing)
{
    TABLE(t);
    for (int k = 0; k < KINDS; k++) {
        SN_AUTO(stonet_model) *one = fit(t, &ALL[k], 1), *two = fit(t, &ALL[k], 3),
                              *back = sn_testing_again(one);
        assert_same_model(one, two);
        assert_same_answers(one, back, t->data);
        assert_string_equal(stonet_model_task(back), ALL[k].task);
    }
}

/* .8 x1 - .5 x2, and x3 is noise: by any loss. */
TEST(importance_is_by_the_likelihood)
{
    TABLE(t);
    const stonet_run run = {.size = sizeof run, .seed = 3, .threads = 1};
    for (int k = 0; k < KINDS; k++) {
        SN_AUTO(stonet_model) *model = fit(t, &ALL[k], 1);
        for (int kind = STONET_IMPORTANCE_PERMUTATION; kind <= STONET_IMPORTANCE_SHAPLEY; kind++) {
            const stonet_importance_options how = {.size = sizeof how, .kind = (stonet_importance_kind)kind};
            SN_AUTO(stonet_importance_result) *found = NULL;
            stonet_importance_row_values row[P];
            OK(stonet_importance(model, t->data, &how, &run, &found));
            for (int64_t j = 0; j < P; j++) OK(stonet_importance_row(found, j, &row[j]));
            assert_true(row[0].importance > row[1].importance);
            if (!(row[1].importance > 3.0 * fabs(row[2].importance)))
                fail_msg("%s, %s: %g, %g", ALL[k].task, ALL[k].kind, row[1].importance, row[2].importance);
        }
    }
}

/* The criterion is what stonet_score says of the held-out rows; x says something, so k = 1. */
TEST(settings_and_dimensions_are_judged_by_the_likelihood)
{
    static const stonet_criterion other[] = {STONET_CRITERION_DISCORDANCE, STONET_CRITERION_AUTO,
                                             STONET_CRITERION_DEVIANCE, STONET_CRITERION_ERROR_RATE,
                                             STONET_CRITERION_DISCORDANCE};
    TABLE(t);
    const stonet_run run = {.size = sizeof run, .seed = 3, .threads = 2};
    for (int k = 0; k < KINDS; k++) {
        const char *const grid[] = {"weight_decay=0.0001,3"};
        stonet_tune_options how = {.size = sizeof how, .folds = 3, .grid = grid, .n_grid = 1};
        SN_AUTO(stonet_spec) *spec = linear_spec(&ALL[k]);
        stonet_results *results = NULL;
        SN_AUTO(stonet_order_result) *order = NULL;
        give(t, &ALL[k]);
        OK(stonet_tune(spec, t->data, &how, &run, &results));
        assert_string_equal(stonet_results_criterion(results), "log_loss");
        assert_int_equal(stonet_results_best(results), 0);
        stonet_results_free(results);
        how.criterion = other[k];
        OK(stonet_tune(spec, t->data, &how, &run, &results));
        assert_int_equal(stonet_results_best(results), 0);
        stonet_results_free(results);
        how.criterion = STONET_CRITERION_MSE;
        assert_says(stonet_tune(spec, t->data, &how, &run, &results), STONET_ERROR_ARGUMENT,
                    "mse is not for");
        OK(stonet_order(spec, t->data, NULL, &run, &order));
        assert_int_equal(stonet_order_chosen(order), 1);
        assert_true(stonet_order_value(order, 0, 3) > 0.1); /* what is lost without x */
    }
}

TEST(pages_show_the_response)
{
    static const char *const part[] = {"\"survival\":", "\"points\":", "randomised quantile residual",
                                       "\"confusion\":", "\"survival\":"};
    TABLE(t);
    for (int k = 0; k < KINDS; k++) {
        SN_AUTO(stonet_model) *model = fit(t, &ALL[k], 1);
        SN_BLOCK char *page = NULL;
        OK(stonet_report(model, t->data, NULL, NULL, &page));
        assert_non_null(strstr(page, part[k]));
    }
}

/* Counts without an exposure: whole numbers that cover what they should. */
TEST(counts_are_calibrated)
{
    TABLE(t);
    static double k[N], low[N], high[N];
    for (int64_t i = 0; i < N; i++) k[i] = t->count[2 * i];
    OK(stonet_data_set_targets(t->data, k, 1));
    SN_AUTO(stonet_spec) *spec = linear_spec(&ALL[2]);
    stonet_model *model = NULL;
    stonet_scores scores = STONET_SCORES_INIT;
    OK(stonet_fit(spec, t->data, NULL, &model));
    OK(stonet_calibrate(model, t->data, NULL, NULL));
    OK(stonet_predict_interval(model, t->data, NULL, low, high));
    for (int64_t i = 0; i < N; i++)
        assert_true(low[i] >= 0.0 && low[i] == floor(low[i]) && high[i] == floor(high[i]));
    OK(stonet_score(model, t->data, NULL, &scores));
    assert_true(scores.coverage >= 0.88 && scores.coverage <= 0.99 && scores.width > 1.0);
    SN_AUTO(stonet_data) *bare = sn_testing_data(t->x, N, P, NULL);
    assert_says(stonet_score(model, bare, NULL, &scores), STONET_ERROR_DATA, "no target");
    const stonet_calibrate_options fresh = {.size = sizeof fresh, .kind = STONET_CALIBRATION_FRESH};
    assert_says(stonet_calibrate(model, bare, &fresh, NULL), STONET_ERROR_DATA, "no target");
    const double before = high[0];
    for (int64_t i = 1; i < N; i++) k[i] += 20.0; /* what all rows say counts */
    OK(stonet_data_set_targets(t->data, k, 1));
    OK(stonet_calibrate(model, t->data, &fresh, NULL));
    OK(stonet_predict_interval(model, t->data, NULL, low, high));
    assert_true(high[0] > before + 10.0);
    k[1] = 1.5;
    OK(stonet_data_set_targets(t->data, k, 1));
    assert_says(stonet_calibrate(model, t->data, &fresh, NULL), STONET_ERROR_DATA, "row 2 has 1.5");
    stonet_model_free(model);
    for (int of = 0; of <= 2; of += 2) {
        model = fit(t, &ALL[of], 1);
        assert_says(stonet_calibrate(model, t->data, NULL, NULL), STONET_ERROR_UNSUPPORTED,
                    of == 0 ? "the law of the censoring" : "depends on the exposure");
        stonet_model_free(model);
    }
}

/* Slices of (event, time) and of the log rate find eta; the line on Z under the law has its slope. */
TEST(slices_of_what_was_seen_find_the_direction)
{
    static const char *const method[] = {"sir", "dr", "ksir", "lasso-sir", "save"};
    TABLE(t);
    for (int k = 0; k <= 2; k += 2)
        for (size_t m = 0; m < sizeof method / sizeof *method; m++) {
            double known[N], out[N];
            const char *words = sn_testing_words("%s 1 task=%s", method[m], ALL[k].task);
            give(t, &ALL[k]);
            SN_AUTO(stonet_model) *model = sn_testing_fit(words, t->data, NULL),
                                  *back = sn_testing_again(model);
            OK(stonet_predict(model, t->data, NULL, out));
            for (int64_t i = 0; i < N; i++) known[i] = log(out[i]);
            if (m != 2 && m != 4 && !(fabs(slope_of(t->eta, known) - 1.0) < 0.1))
                fail_msg("%s: slope %g", words, slope_of(t->eta, known));
            const stonet_scores scores = sn_testing_scores(model, t->data, NULL);
            assert_true(m == 4 || (k == 0 ? scores.concordance > 0.8 : scores.deviance_explained > 0.4));
            assert_same_answers(model, back, t->data);
            assert_true(sn_testing_scores(back, t->data, NULL).log_likelihood == scores.log_likelihood);
        }
    give(t, &ALL[1]);
    sn_testing_refused("sir 1 task=interval", t->data, "knows no response of task=interval");
    give(t, &ALL[0]);
    sn_testing_refused("sir 1 task=survival basis=poly", t->data, "use basis=slices");
    sn_testing_refused("sir 1 task=survival learner=kernel", t->data, "use learner=linear");
    SN_AUTO(stonet_model) *reduces = sn_testing_fit("sir 1 task=survival learner=none", t->data, NULL);
}

static void refuse_numbers(table *t, const double *y, int64_t m, const char *task, const char *words)
{
    const char *settings = sn_testing_words("stonet 1 task=%s", task);
    OK(stonet_data_set_targets(t->data, y, m));
    sn_testing_refused(settings, t->data, words);
}

TEST(bad_responses_are_refused_with_a_reason)
{
    TABLE(t);
    static double y[N * 3];
    memcpy(y, t->survival, sizeof t->survival);
    y[6] = -1.0;
    refuse_numbers(t, y, 2, "survival", "row 4 has the time -1");
    y[6] = 0.0;
    refuse_numbers(t, y, 2, "survival", "times must be above 0");
    y[6] = 1.0;
    y[7] = 2.0;
    refuse_numbers(t, y, 2, "survival", "an event is 1 (seen) or 0 (censored)");
    for (int64_t i = 0; i < N; i++) y[2 * i + 1] = 0.0;
    refuse_numbers(t, y, 2, "survival", "are censored on the right");
    refuse_numbers(t, y, 3, "survival", "takes a time and its event");
    memcpy(y, t->interval, sizeof t->interval);
    y[0] = y[1] + 1.0;
    refuse_numbers(t, y, 2, "interval", "above the");
    y[0] = -2.0;
    refuse_numbers(t, y, 2, "interval", "must be above 0");
    refuse_numbers(t, y, 1, "interval", "a lower and an upper bound");
    memcpy(y, t->count, sizeof t->count);
    y[2] = 1.5;
    refuse_numbers(t, y, 2, "count", "row 2 has 1.5");
    y[2] = -1.0;
    refuse_numbers(t, y, 2, "count", "whole numbers from 0");
    y[2] = 1.0;
    y[3] = 0.0;
    refuse_numbers(t, y, 2, "count", "the exposure 0");
    for (int64_t i = 0; i < N; i++) y[i] = 0.0;
    refuse_numbers(t, y, 1, "count", "nothing to learn");
    refuse_numbers(t, y, 1, "ordinal", "nothing to learn");
}

/* An infinite bound is for task=interval alone, and is infinite nowhere else: neither in a fit nor in a
 * score. */
TEST(upper_bounds_may_be_open)
{
    TABLE(t);
    t->interval[1] = t->interval[5] = (double)INFINITY;
    stonet_model *model = fit(t, &ALL[1], 1);
    stonet_scores scores = STONET_SCORES_INIT;
    OK(stonet_score(model, t->data, NULL, &scores));
    assert_true(isfinite(scores.log_likelihood));
    stonet_model_free(model);
    sn_testing_refused("stonet 1 task=regression", t->data, "open bounds are for task=interval");
    sn_testing_refused("stonet 1 task=survival", t->data, "open bounds are for task=interval");
    model = fit(t, &(response){"regression", offsetof(table, survival), 2, "mean"}, 1);
    OK(stonet_data_set_targets(t->data, t->interval, 2));
    assert_says(stonet_score(model, t->data, NULL, &scores), STONET_ERROR_DATA, "open bounds");
    t->interval[0] = (double)INFINITY;
    assert_says(stonet_data_set_targets(t->data, t->interval, 2), STONET_ERROR_DATA, "infinite");
    stonet_model_free(model);
}

/* Labels of the caller have an order, which rows in another order do not change. */
TEST(labels_in_order_are_ranks)
{
    TABLE(t);
    static int32_t code[N];
    static double by_number[N * 4], by_label[N * 4];
    SN_AUTO(stonet_model) *numbers = fit(t, &ALL[3], 1), *labels = NULL;
    OK(stonet_predict(numbers, t->data, NULL, by_number));
    for (int64_t i = 0; i < N; i++) code[i] = (int32_t)t->ordered[i];
    const stonet_run run = {.size = sizeof run, .seed = 5, .threads = 1};
    SN_AUTO(stonet_spec) *spec = NULL;
    OK(stonet_model_spec(numbers, &spec));
    OK(stonet_data_set_classes(t->data, code, (const char *const[]){"low", "fair", "good", "best"}, 4));
    SN_AUTO(stonet_data) *rows = sn_testing_rows(t->data, 0, N, 1);
    OK(stonet_fit(spec, rows, &run, &labels));
    OK(stonet_predict(labels, rows, NULL, by_label));
    assert_string_equal(stonet_model_class_label(labels, 0), "low");
    assert_memory_equal(by_label, by_number, sizeof by_label);
}

TEST(what_knows_no_law_says_so)
{
    TABLE(t);
    stonet_model *model = fit(t, &ALL[0], 1);
    static float z[N];
    static double out[N];
    const stonet_use_options impute = {.size = sizeof impute, .impute = 1};
    sn_testing_refused("mave 1 task=survival", t->data, "knows no response of task=survival");
    sn_testing_refused("pca 1 task=survival", t->data, "knows no response of task=survival");
    assert_says(stonet_transform(model, t->data, &impute, z), STONET_ERROR_UNSUPPORTED, "task=survival");
    stonet_sufficiency_result sufficient;
    assert_says(stonet_sufficiency(model, t->data, NULL, NULL, &sufficient), STONET_ERROR_UNSUPPORTED,
                "no test of sufficiency for task=survival");
    assert_says(stonet_predict_spread(model, t->data, NULL, out), STONET_ERROR_UNSUPPORTED, "task=survival");
    stonet_model_free(model);
    model = fit(t, &ALL[3], 1);
    assert_says(stonet_transform(model, t->data, &impute, z), STONET_ERROR_UNSUPPORTED, "task=ordinal");
    assert_says(stonet_predict_spread(model, t->data, NULL, out), STONET_ERROR_UNSUPPORTED, "classes");
    assert_says(stonet_predict_survival(model, t->data, NULL, (const double[]){1.0}, 1, out, NULL),
                STONET_ERROR_UNSUPPORTED, "no times");
    stonet_model_free(model);
}

RUN_TESTS(NULL, NULL)
