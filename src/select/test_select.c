#include <pthread.h>

#include "base/json.h"
#include "base/test_kit.h"
#include "model/test_table.h"
#include "select/jobs.h"
#include "select/results.h"

static stonet_result_row row_of(const stonet_results *results, int64_t index)
{
    stonet_result_row row;
    OK(stonet_results_row(results, index, &row));
    return row;
}

/* Three classes where only the second principal component matters: dim 1 fails and dim 2 does not. */
static sn_table hidden_classes(int64_t n, uint32_t seed)
{
    sn_table table = sn_table_classes(n, 3, 3, seed);
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 9);
    for (int64_t i = 0; i < n; i++) {
        table.x[i * 3 + 1] = (float)(30.0 * sn_random_normal(&random));
        table.x[i * 3 + 2] = (float)sn_random_normal(&random);
    }
    return table;
}

/* Points of one entry of a grid; NULL: of the method's own. */
static stonet_status tune(const char *words, const stonet_data *data, const char *entry, int folds,
                          stonet_results **results)
{
    SN_AUTO(stonet_spec) *spec = sn_testing_spec_of(words);
    const stonet_tune_options options = {.size = sizeof options,
                                         .folds = folds,
                                         .grid = entry != NULL ? &entry : NULL,
                                         .n_grid = entry != NULL};
    return stonet_tune(spec, data, &options, NULL, results);
}

/* ---- splits ---- */

TEST(folds_part_the_rows_by_class)
{
    enum { N = 100, FOLDS = 4 };
    SN_FREED_BY(sn_table_free) sn_table table = sn_table_classes(N, 2, 3, 1);
    SN_AUTO(stonet_spec) *spec = sn_testing_spec("pca", "1");
    SN_FREED_BY(sn_strata_free) sn_strata strata = {0};
    sn_splits splits;
    OK(sn_strata_create(spec, table.data, &strata));
    assert_true(strata.is_classifier);
    assert_int_equal(strata.n_classes, 3);
    OK(sn_splits_fold(table.data, NULL, &strata, FOLDS, 1, &splits));
    int held_out[N] = {0};
    for (int k = 0; k < FOLDS; k++) {
        const sn_split *split = &splits.split[k];
        assert_int_equal(split->train.n + split->held_out.n, N);
        int per_class[3] = {0};
        for (int64_t i = 0; i < split->held_out.n; i++) {
            held_out[split->held_out.list[i]]++;
            per_class[strata.label[split->held_out.list[i]]]++;
        }
        for (int c = 0; c < 3; c++) assert_in_range(per_class[c], 33 / FOLDS, 34 / FOLDS + 1);
    }
    for (int i = 0; i < N; i++) assert_int_equal(held_out[i], 1);
    sn_splits_free(&splits);
    /* Folds of some rows only. */
    int64_t rows[30];
    for (int i = 0; i < 30; i++) rows[i] = 3 * i + 1;
    const sn_rows some = sn_rows_list(rows, 30);
    OK(sn_splits_fold(table.data, &some, &strata, 3, 1, &splits));
    for (int64_t i = 0; i < splits.split[0].train.n; i++)
        assert_int_equal(sn_rows_at(&splits.split[0].train, i) % 3, 1);
    sn_splits_free(&splits);
    assert_says(sn_splits_fold(table.data, NULL, &strata, 1, 1, &splits), STONET_ERROR_ARGUMENT, "folds");
    assert_says(sn_splits_fold(table.data, NULL, &strata, 101, 1, &splits), STONET_ERROR_ARGUMENT, "folds");
}

TEST(a_class_of_one_row_is_never_held_out)
{
    SN_FREED_BY(sn_table_free) sn_table table = sn_table_classes(20, 2, 2, 1);
    static const char *const LABELS[] = {"a", "b", "lonely"};
    int32_t code[20];
    for (int i = 0; i < 20; i++) code[i] = i % 2;
    code[7] = 2;
    OK(stonet_data_set_classes(table.data, code, LABELS, 3));
    SN_AUTO(stonet_results) *results = NULL;
    OK(tune("pca 1", table.data, "dim=1", 4, &results));
    assert_null(row_of(results, 0).failure);
}

/* ---- tune ---- */

TEST(tuning_finds_the_dimension)
{
    SN_FREED_BY(sn_table_free) sn_table table = hidden_classes(120, 1);
    SN_AUTO(stonet_results) *results = NULL;
    OK(tune("pca 1 scale=centre", table.data, "dim=1,2", 4, &results));
    assert_int_equal(stonet_results_rows(results), 2);
    assert_int_equal(stonet_results_best(results), 1);
    assert_int_equal(stonet_results_outcome(results), STONET_DONE);
    assert_string_equal(stonet_results_criterion(results), "error_rate");
    stonet_result_row bad = row_of(results, 0), good = row_of(results, 1);
    assert_true(bad.mean > 0.4 && good.mean < 0.15);
    assert_int_equal(good.dim, 2);
    assert_int_equal(good.n_values, 4);
    assert_true(isnan(good.p_value));
    double mean = 0, variance = 0;
    for (int k = 0; k < 4; k++) mean += good.values[k] / 4;
    for (int k = 0; k < 4; k++) variance += pow(good.values[k] - mean, 2) / 3;
    assert_true(fabs(good.mean - mean) < 1e-12);
    assert_true(fabs(good.se - sqrt(variance / 4)) < 1e-12);
    assert_int_not_equal(stonet_results_row(results, 2, &bad), STONET_OK);

    SN_AUTO(stonet_spec) *best = NULL, *spec = NULL;
    OK(stonet_results_spec(results, stonet_results_best(results), &best));
    SN_BLOCK char *config = stonet_spec_json(best);
    OK(stonet_spec_parse(config, &spec));
    assert_int_equal(sn_int(spec->common, "dim"), 2);
    assert_says(stonet_results_spec(results, 2, &best), STONET_ERROR_ARGUMENT, "no such row");
}

/* Three rows by hand: the last is best, the first .1 above it with a standard error of .1 / sqrt 3, the
   second .02 above it with none. */
TEST(the_simplest_is_the_first_that_is_close)
{
    static const double VALUES[3][3] = {{0.1, 0.2, 0.3}, {0.12, 0.12, 0.12}, {0.1, 0.1, 0.1}};
    SN_AUTO(stonet_spec) *spec = sn_testing_spec("pca", "1");
    const stonet_spec *const specs[3] = {spec, spec, spec};
    SN_AUTO(stonet_results) *results = NULL;
    OK(sn_results_create(specs, 3, 3, STONET_CRITERION_MSE, &results));
    for (int i = 0; i < 3; i++) memcpy(results->row[i].value, VALUES[i], sizeof VALUES[i]);
    results->best = 2;
    assert_int_equal(stonet_results_simplest(results, 0.0), 2);
    assert_int_equal(stonet_results_simplest(results, 1.0), 2);
    assert_int_equal(stonet_results_simplest(results, 1.7), 2);
    assert_int_equal(stonet_results_simplest(results, 1.8), 0); /* sqrt 3 = 1.73 */
    results->row[0].value[1] = NAN;                             /* not finished: not comparable */
    assert_int_equal(stonet_results_simplest(results, 1e6), 2);
    memcpy(results->row[1].value, VALUES[2], sizeof VALUES[2]);
    assert_int_equal(stonet_results_simplest(results, 0.0), 1);
    results->best = -1;
    assert_int_equal(stonet_results_simplest(results, 1.0), -1);
}

/* A fold without a pair to compare gives no number, whatever is fitted: the others decide. */
TEST(what_is_no_number_does_not_count)
{
    enum { POINTS = 3, FOLDS = 2 };
    static const double VALUES[POINTS][FOLDS] = {{NAN, 0.4}, {NAN, 0.1}, {NAN, 0.2}};
    sn_job job[POINTS * FOLDS] = {{0}};
    for (int i = 0; i < POINTS * FOLDS; i++) {
        job[i].found.done = true;
        job[i].found.value = VALUES[i / FOLDS][i % FOLDS];
    }
    assert_int_equal(sn_best_of_jobs(job, POINTS, FOLDS), 1);
}

TEST(results_are_written_as_json_and_csv)
{
    SN_FREED_BY(sn_table_free) sn_table table = hidden_classes(60, 3);
    SN_AUTO(stonet_results) *results = NULL;
    OK(tune("pca 1 scale=centre", table.data, "dim=1,2", 4, &results));
    SN_BLOCK char *text = stonet_results_json(results);
    SN_AUTO(json_t) *list = json_loads(text, 0, NULL);
    assert_int_equal(json_array_size(list), 2);
    json_t *row = json_array_get(list, 1);
    assert_string_equal(json_string_value(json_object_get(row, "method")), "pca");
    assert_int_equal(json_integer_value(json_object_get(row, "dim")), 2);
    assert_string_equal(json_string_value(json_object_get(json_object_get(row, "settings"), "scale")),
                        "centre");
    assert_true(json_is_real(json_object_get(row, "mean")));
    assert_true(json_is_real(json_object_get(row, "se")));
    assert_true(json_is_real(json_object_get(row, "seconds")));
    assert_int_equal(json_array_size(json_object_get(row, "values")), 4);
    assert_null(json_object_get(row, "p_value"));
    stonet_string_free(text);
    text = stonet_results_csv(results);
    assert_non_null(
        strstr(text, "method,dim,settings,learner,mean,se,seconds,split1,split2,split3,split4,failure\n"));
    assert_non_null(strstr(text, "\npca,2,\"{\"\"scale\"\": \"\"centre\"\"}\","));
}

TEST(a_point_that_fails_does_not_stop_the_others)
{
    SN_FREED_BY(sn_table_free) sn_table table = hidden_classes(60, 3);
    stonet_results *results = NULL;
    OK(tune("pca 2", table.data, "learner=linear,logistic", 2, &results));
    assert_int_equal(stonet_results_best(results), 1);
    assert_non_null(strstr(row_of(results, 0).failure, "linear"));
    assert_true(isnan(row_of(results, 0).mean));
    SN_BLOCK char *text = stonet_results_json(results);
    SN_AUTO(json_t) *list = json_loads(text, 0, NULL);
    assert_true(json_is_null(json_object_get(json_array_get(list, 0), "mean")));
    stonet_results_free(results);
    assert_says(tune("pca 2", table.data, "learner=linear", 2, &results), STONET_ERROR_NUMERIC, "linear");
    assert_null(results);
}

TEST(criteria_must_suit_the_task)
{
    SN_FREED_BY(sn_table_free)
    sn_table classes = hidden_classes(60, 3), numbers = sn_table_numbers(60, 3, 1, 1);
    SN_AUTO(stonet_spec) *spec = sn_testing_spec("pca", "2");
    SN_AUTO(stonet_results) *results = NULL;
    stonet_tune_options options = {.size = sizeof options, .folds = 2, .criterion = STONET_CRITERION_MSE};
    assert_says(stonet_tune(spec, classes.data, &options, NULL, &results), STONET_ERROR_ARGUMENT, "mse");
    options.criterion = STONET_CRITERION_LOG_LOSS;
    assert_says(stonet_tune(spec, numbers.data, &options, NULL, &results), STONET_ERROR_ARGUMENT, "log_loss");
    OK(stonet_tune(spec, classes.data, &options, NULL, &results));
    assert_string_equal(stonet_results_criterion(results), "log_loss");
    stonet_results_free(results);
    options.criterion = STONET_CRITERION_AUTO;
    OK(stonet_tune(spec, numbers.data, &options, NULL, &results));
    assert_string_equal(stonet_results_criterion(results), "mse");
}

/* ---- the caller's functions ---- */

typedef struct watch {
    pthread_t caller;
    int64_t done, total, calls_left;
    bool elsewhere;
} watch;

static void on_progress(const stonet_progress *progress, void *user)
{
    watch *self = user;
    if (!pthread_equal(self->caller, pthread_self())) self->elsewhere = true;
    assert_true(progress->done >= self->done && progress->done <= progress->total);
    self->done = progress->done;
    self->total = progress->total;
}

static int should_stop(void *user)
{
    watch *self = user;
    if (!pthread_equal(self->caller, pthread_self())) self->elsewhere = true;
    return self->calls_left-- <= 0;
}

TEST(stopping_keeps_what_is_finished)
{
    SN_FREED_BY(sn_table_free) sn_table table = hidden_classes(60, 3);
    SN_AUTO(stonet_spec) *spec = sn_testing_spec("pca", "2");
    static const char *const GRID[] = {"dim=1,2,3"};
    stonet_tune_options options = {.size = sizeof options, .folds = 5, .grid = GRID, .n_grid = 1};
    stonet_results *results = NULL;
    for (int threads = 1; threads <= 2; threads++) {
        watch self = {.caller = pthread_self(), .calls_left = 12};
        stonet_run run = {.size = sizeof run,
                          .seed = 1,
                          .threads = threads,
                          .on_progress = on_progress,
                          .should_stop = should_stop,
                          .user = &self};
        if (stonet_tune(spec, table.data, &options, &run, &results) == STONET_OK) {
            assert_true(stonet_results_best(results) >= 0);
            if (threads == 1) {
                assert_int_equal(stonet_results_outcome(results), STONET_STOPPED);
                assert_true(isnan(row_of(results, 2).values[4]));
            }
            stonet_results_free(results);
        }
        assert_false(self.elsewhere);
        self = (watch){.caller = pthread_self(), .calls_left = 0};
        assert_says(stonet_tune(spec, table.data, &options, &run, &results), STONET_ERROR_INTERRUPTED,
                    "stopped");
        self = (watch){.caller = pthread_self(), .calls_left = INT64_MAX};
        OK(stonet_tune(spec, table.data, &options, &run, &results));
        assert_int_equal(self.total, 15);
        assert_false(self.elsewhere);
        stonet_results_free(results);
    }
}

/* ---- compare ---- */

enum { MOST_SPECS = 3 };
typedef struct spec_list {
    const stonet_spec *list[MOST_SPECS];
} spec_list;

static spec_list specs_of(int count, const char *const *words)
{
    spec_list made = {{NULL}};
    for (int i = 0; i < count; i++) made.list[i] = sn_testing_spec_of(words[i]);
    return made;
}

static void specs_free(spec_list *specs)
{
    for (int i = 0; i < MOST_SPECS; i++) stonet_spec_free((stonet_spec *)(uintptr_t)specs->list[i]);
}
#define SPECS(count, ...)                                                                                    \
    SN_FREED_BY(specs_free) spec_list specs = specs_of(count, (const char *const[]){__VA_ARGS__})

TEST(methods_are_compared_on_the_same_folds)
{
    SN_FREED_BY(sn_table_free) sn_table table = hidden_classes(120, 5);
    SPECS(3, "pca 1 scale=centre", "sir 1", "sir 2");
    SN_AUTO(stonet_results) *results = NULL;
    stonet_compare_options options = {.size = sizeof options, .folds = 5};
    OK(stonet_compare(specs.list, 3, table.data, &options, NULL, &results));
    int64_t best = stonet_results_best(results);
    assert_true(best == 1 || best == 2);
    assert_true(row_of(results, 0).p_value < 0.05);
    assert_true(isnan(row_of(results, best).p_value));
    const double other = row_of(results, 3 - best).p_value; /* NaN when both are the same in every fold */
    assert_true(isnan(other) || (other >= 0.0 && other <= 1.0));
    SN_BLOCK char *text = stonet_results_csv(results);
    assert_non_null(strstr(text, "p_value"));
}

TEST(a_test_set_takes_the_place_of_folds)
{
    SN_FREED_BY(sn_table_free) sn_table train = hidden_classes(120, 5), test = hidden_classes(60, 6);
    SPECS(1, "sir 1");
    SN_AUTO(stonet_results) *results = NULL;
    stonet_compare_options options = {.size = sizeof options, .test = test.data};
    OK(stonet_compare(specs.list, 1, train.data, &options, NULL, &results));
    SN_AUTO(stonet_model) *model = sn_testing_fit("sir 1", train.data, NULL);
    stonet_scores scores = STONET_SCORES_INIT;
    OK(stonet_score(model, test.data, NULL, &scores));
    assert_int_equal(row_of(results, 0).n_values, 1);
    assert_true(row_of(results, 0).values[0] == scores.error_rate);
    assert_true(isnan(row_of(results, 0).se));
}

/* Counts its calls by the rows it is shown. */
static stonet_status choose_two(const stonet_spec *spec, const stonet_data *train, const stonet_run *run,
                                int64_t *dim)
{
    (void)run;
    assert_non_null(spec);
    if (stonet_data_rows(train) != 60)
        return stonet_fail(STONET_ERROR_ARGUMENT, "these are not the training rows alone");
    *dim = 2;
    return STONET_OK;
}

/* An open dimension is chosen on the rows of each training part and fitted with: the values are those of the
   dimension itself, the row says 0, and the choice stands beside every split. */
TEST(an_open_dimension_is_chosen_in_each_training_part)
{
    SN_FREED_BY(sn_table_free) sn_table table = hidden_classes(90, 7);
    SPECS(2, "pca 1", "pca 2");
    const int open[2] = {1, 0};
    stonet_compare_options options = {
        .size = sizeof options, .folds = 3, .choose_dim = choose_two, .open_dims = open};
    stonet_results *results = NULL;
    OK(stonet_compare(specs.list, 2, table.data, &options, NULL, &results));
    const stonet_result_row chosen = row_of(results, 0), fixed = row_of(results, 1);
    assert_null(chosen.failure);
    assert_int_equal(chosen.dim, 0);
    assert_int_equal(fixed.dim, 2);
    for (int k = 0; k < 3; k++) assert_true(chosen.values[k] == fixed.values[k]);
    SN_BLOCK char *text = stonet_results_json(results);
    SN_AUTO(json_t) *list = json_loads(text, 0, NULL);
    const json_t *of_splits = json_object_get(json_array_get(list, 0), "chosen");
    assert_int_equal(json_array_size(of_splits), 3);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(of_splits, 2), "dim")), 2);
    assert_null(json_object_get(json_array_get(list, 1), "chosen"));
    stonet_results_free(results);
    stonet_tune_options tuning = {.size = sizeof tuning, .folds = 2};
    options.tuning = &tuning;
    assert_says(stonet_compare(specs.list, 2, table.data, &options, NULL, &results), STONET_ERROR_ARGUMENT,
                "either chosen or tuned");
}

/* The settings chosen for a split must not depend on its held-out rows: with the classes of the test set
   permuted, the choice is the same. */
TEST(tuning_sees_the_training_part_only)
{
    SN_FREED_BY(sn_table_free)
    sn_table train = hidden_classes(90, 7), test = hidden_classes(60, 8), spoiled = hidden_classes(60, 8);
    static const char *const LABELS[] = {"green", "blue", "red"};
    int64_t n_classes;
    int32_t code[60];
    memcpy(code, stonet_data_classes(spoiled.data, &n_classes), sizeof code);
    OK(stonet_data_set_classes(spoiled.data, code, LABELS, 3));
    static const char *const GRID[] = {"pca:dim=1,2,3", "learner.l2=0.01,1,1000"};
    SPECS(2, "pca 1 learner=logistic", "none 1 learner=logistic");
    char *chosen[2];
    double mean[2];
    for (int k = 0; k < 2; k++) {
        SN_AUTO(stonet_results) *results = NULL;
        stonet_tune_options tuning = {.size = sizeof tuning, .folds = 3, .grid = GRID, .n_grid = 2};
        stonet_compare_options options = {
            .size = sizeof options, .test = k == 0 ? test.data : spoiled.data, .tuning = &tuning};
        OK(stonet_compare(specs.list, 2, train.data, &options, NULL, &results));
        SN_BLOCK char *text = stonet_results_json(results);
        SN_AUTO(json_t) *list = json_loads(text, 0, NULL);
        chosen[k] = json_dumps(json_object_get(json_array_get(list, 0), "chosen"), JSON_SORT_KEYS);
        mean[k] = row_of(results, 0).mean;
    }
    assert_string_equal(chosen[0], chosen[1]);
    assert_true(mean[0] < 0.2 && mean[1] > 0.8);
    for (int i = 0; i < 2; i++) free(chosen[i]);
}

TEST(tuned_comparisons_are_the_same_for_any_threads)
{
    SN_FREED_BY(sn_table_free) sn_table table = hidden_classes(60, 9);
    static const char *const GRID[] = {"pca:dim=1,2", "slices=3,6"};
    SPECS(3, "pca 1", "sir 1", "none 1");
    double values[2][9];
    for (int k = 0; k < 2; k++) {
        stonet_run run = STONET_RUN_INIT;
        run.threads = k == 0 ? 1 : 3;
        SN_AUTO(stonet_results) *results = NULL;
        stonet_tune_options tuning = {.size = sizeof tuning, .folds = 2, .grid = GRID, .n_grid = 2};
        stonet_compare_options options = {.size = sizeof options, .folds = 3, .tuning = &tuning};
        OK(stonet_compare(specs.list, 3, table.data, &options, &run, &results));
        for (int i = 0; i < 3; i++) memcpy(&values[k][3 * i], row_of(results, i).values, 3 * sizeof(double));
    }
    assert_memory_equal(values[0], values[1], sizeof values[0]);
    stonet_results *results = NULL;
    static const char *const LOST[] = {"kdr:epsilon=1,2"};
    stonet_tune_options tuning = {.size = sizeof tuning, .folds = 2, .grid = LOST, .n_grid = 1};
    stonet_compare_options options = {.size = sizeof options, .folds = 3, .tuning = &tuning};
    assert_says(stonet_compare(specs.list, 3, table.data, &options, NULL, &results), STONET_ERROR_ARGUMENT,
                "kdr:epsilon");
}

/* Says what stonet_compare would say, and fits nothing: these fits would not end. */
TEST(a_check_finds_what_a_comparison_would)
{
    SN_FREED_BY(sn_table_free) sn_table table = hidden_classes(60, 10);
    SPECS(1, "autoencoder 1 epochs=9000000");
    static const char *const LOST[] = {"slices=2,3"};
    stonet_tune_options tuning = STONET_TUNE_OPTIONS_INIT;
    stonet_compare_options fine = {.size = sizeof fine, .folds = 3, .tuning = &tuning}, wrong = fine;
    OK(stonet_compare_check(specs.list, 1, table.data, &fine));
    wrong.folds = 61;
    assert_says(stonet_compare_check(specs.list, 1, table.data, &wrong), STONET_ERROR_ARGUMENT, "61 folds");
    wrong = fine;
    tuning.folds = 41;
    assert_says(stonet_compare_check(specs.list, 1, table.data, &wrong), STONET_ERROR_ARGUMENT, "to tune on");
    tuning.folds = 0;
    wrong = fine;
    wrong.criterion = STONET_CRITERION_MSE;
    assert_says(stonet_compare_check(specs.list, 1, table.data, &wrong), STONET_ERROR_ARGUMENT, "mse");
    wrong = fine;
    tuning.grid = LOST;
    tuning.n_grid = 1;
    assert_says(stonet_compare_check(specs.list, 1, table.data, &wrong), STONET_ERROR_ARGUMENT, "slices=2,3");
}

/* A comparison where everything fails is one that says why, row by row. */
TEST(specs_that_all_fail_give_their_reasons)
{
    SN_FREED_BY(sn_table_free) sn_table table = hidden_classes(60, 11);
    SPECS(2, "pca 1 learner=linear", "sir 1 learner=linear");
    SN_AUTO(stonet_results) *results = NULL;
    stonet_compare_options options = {.size = sizeof options, .folds = 3};
    OK(stonet_compare(specs.list, 2, table.data, &options, NULL, &results));
    assert_int_equal(stonet_results_best(results), -1);
    for (int i = 0; i < 2; i++) {
        assert_non_null(strstr(row_of(results, i).failure, "'linear' does not do classification"));
        assert_true(isnan(row_of(results, i).mean) && isnan(row_of(results, i).p_value));
    }
}

RUN_TESTS(NULL, NULL)
