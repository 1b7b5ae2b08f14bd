#include "base/test_kit.h"
#include "model/safetensors.h"
#include "model/test_table.h"

/* Saves, loads, and expects the same Z, predictions and file to the last bit; also from one call for both. */
static void assert_round_trip(const stonet_model *model, const stonet_data *data)
{
    int64_t n = stonet_data_rows(data), q = stonet_model_dim(model), m = stonet_model_outputs(model);
    SN_AUTO(stonet_model) *back = sn_testing_again(model);
    assert_same_model(model, back);

    assert_same_answers(model, back, data);
    SN_BLOCK float *z = test_zeros(n * q, sizeof *z), *at_once = test_zeros(n * q, sizeof *z);
    SN_BLOCK double *out = test_zeros(n * m, sizeof *out), *out_at_once = test_zeros(n * m, sizeof *out);
    bool predicts;
    OK(stonet_transform(model, data, NULL, z));
    OK(stonet_predict(model, data, NULL, out));
    OK(sn_model_answer(model, data, &(stonet_use_options)STONET_USE_OPTIONS_INIT, at_once, out_at_once,
                       &predicts));
    assert_true(predicts);
    assert_memory_equal(z, at_once, (size_t)(n * q) * sizeof *z);
    assert_memory_equal(out, out_at_once, (size_t)(n * m) * sizeof *out);
    for (int64_t i = 0; i < n * q; i++) assert_true(isfinite(z[i]));
    for (int64_t i = 0; i < n * m; i++) assert_true(isfinite(out[i]));
    assert_int_equal(stonet_model_dim(back), q);
    assert_int_equal(stonet_model_outputs(back), m);
    assert_int_equal(stonet_model_inputs(back), stonet_model_inputs(model));
    SN_BLOCK char *info = stonet_model_json(back), *info_before = stonet_model_json(model);
    assert_non_null(info);
    assert_string_equal(info, info_before);
}

/* Of a task that does not apply: refused by a sentence that names what does not do it. */
static void check(const char *words, const stonet_data *data, bool applies, const char *name)
{
    SN_AUTO(stonet_spec) *spec = sn_testing_spec_of(words);
    SN_AUTO(stonet_model) *model = NULL;
    const stonet_status status = stonet_fit(spec, data, NULL, &model);
    if (!applies) {
        assert_says(status, STONET_ERROR_UNSUPPORTED, name);
        return;
    }
    OK(status);
    assert_round_trip(model, data);
}

/* Every method of the registry, every task it claims. */
TEST(every_method_fits_saves_loads_and_predicts)
{
    SN_TABLE classes = sn_table_classes(90, 4, 3, 1), numbers = sn_table_numbers(90, 4, 1, 2);
    SN_TABLE many = sn_table_numbers(90, 4, 2, 3);
    for (size_t i = 0; i < sn_method_count(); i++) {
        const sn_method *method = sn_method_at(i);
        const char *words = sn_testing_words("%s 2 hurry", method->name);
        const struct {
            const sn_table *table;
            bool applies;
        } CASES[] = {{&classes, (method->tasks & SN_TASK_CLASSIFICATION) != 0},
                     {&numbers, (method->tasks & SN_TASK_REGRESSION) != 0},
                     {&many, (method->tasks & SN_TASK_REGRESSION) != 0 && method->multi_output}};
        for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
            check(words, CASES[k].table->data, CASES[k].applies, method->name);
        }
    }
}

TEST(every_learner_works_on_every_kind_of_method)
{
    SN_TABLE classes = sn_table_classes(60, 3, 2, 1), numbers = sn_table_numbers(60, 3, 1, 2);
    for (size_t i = 0; i < sn_learner_count(); i++) {
        const sn_learner *learner = sn_learner_at(i);
        const char *words = sn_testing_words("pca 2 learner=%s", learner->name);
        check(words, classes.data, (learner->tasks & SN_TASK_CLASSIFICATION) != 0, learner->name);
        check(words, numbers.data, (learner->tasks & SN_TASK_REGRESSION) != 0, learner->name);
    }
}

/* Kernels without their features, where Z is layer 1 or a later one, and what the network sees as it is. */
TEST(networks_behind_a_front_give_z_and_predictions_at_once)
{
    SN_TABLE table = sn_table_classes(60, 3, 2, 1);
    check("stonet 2 hurry front=kernel hidden=none", table.data, true, "");
    check("stonet 2 hurry front=kernel hidden=4", table.data, true, "");
    check("stonet 2 hurry front=components hidden=4", table.data, true, "");
}

TEST(without_a_learner_there_is_z_only)
{
    SN_TABLE table = sn_table_classes(30, 3, 2, 1);
    SN_AUTO(stonet_model) *model = sn_testing_fit("pca 1 learner=none", table.data, NULL);
    float z[30];
    double out[60];
    stonet_scores scores = STONET_SCORES_INIT;
    bool predicts;
    OK(stonet_transform(model, table.data, NULL, z));
    OK(sn_model_answer(model, table.data, &(stonet_use_options)STONET_USE_OPTIONS_INIT, z, out, &predicts));
    assert_false(predicts);
    assert_says(stonet_predict(model, table.data, NULL, out), STONET_ERROR_UNSUPPORTED, "without a learner");
    assert_says(stonet_score(model, table.data, NULL, &scores), STONET_ERROR_UNSUPPORTED,
                "without a learner");
    assert_says(stonet_transform(model, table.data,
                                 &(stonet_use_options){.size = sizeof(stonet_use_options), .draws = 3}, z),
                STONET_ERROR_UNSUPPORTED, "pca");
    assert_null(stonet_model_history_csv(model));
}

/* Numbers come back in units of y, and the scores are what their names say. */
TEST(scores_are_in_units_of_y)
{
    enum { N = 120, M = 2 };
    SN_TABLE table = sn_table_numbers(N, 3, M, 5);
    SN_AUTO(stonet_model) *model = sn_testing_fit("none 1", table.data, NULL);
    double out[N * M];
    const stonet_scores scores = sn_testing_scores(model, table.data, NULL);
    OK(stonet_predict(model, table.data, NULL, out));
    int64_t m;
    const double *y = stonet_data_targets(table.data, &m);
    assert_int_equal(m, M);
    double mse = 0, scaled = 0;
    for (int j = 0; j < M; j++) {
        double mean = 0, variance = 0, squares = 0;
        for (int i = 0; i < N; i++) mean += y[i * M + j] / N;
        for (int i = 0; i < N; i++) variance += pow(y[i * M + j] - mean, 2) / N;
        for (int i = 0; i < N; i++) squares += pow(y[i * M + j] - out[i * M + j], 2) / N;
        mse += squares / M;
        scaled += squares / variance / M;
    }
    assert_true(fabs(scores.mse - mse) < 1e-9 * mse);
    assert_true(fabs(scores.mse_scaled - scaled) < 1e-9 * scaled);
    assert_true(scores.r2 > 0.99 && scores.r2 < 1.0);
    assert_true(scores.correlation > 0.99);
    assert_true(isnan(scores.error_rate) && isnan(scores.log_loss));
    assert_int_equal(scores.is_classifier, 0);
    assert_int_equal(scores.n, N);
}

TEST(classes_keep_their_labels)
{
    SN_TABLE table = sn_table_classes(60, 2, 3, 1);
    SN_AUTO(stonet_model) *model = sn_testing_fit("sir 1", table.data, NULL);
    double out[180];
    const stonet_scores scores = sn_testing_scores(model, table.data, NULL);
    assert_int_equal(stonet_model_outputs(model), 3);
    assert_true(stonet_model_is_classifier(model));
    assert_null(stonet_model_class_label(model, 3));
    assert_null(stonet_model_class_label(model, -1));
    OK(stonet_predict(model, table.data, NULL, out));
    int64_t wrong = 0, n_classes;
    const int32_t *code = stonet_data_classes(table.data, &n_classes);
    for (int i = 0; i < 60; i++) {
        double sum = 0;
        int best = 0;
        for (int c = 0; c < 3; c++) {
            sum += out[i * 3 + c];
            if (out[i * 3 + c] > out[i * 3 + best]) best = c;
        }
        assert_true(fabs(sum - 1.0) < 1e-12);
        wrong +=
            strcmp(stonet_model_class_label(model, best), stonet_data_class_label(table.data, code[i])) != 0;
    }
    assert_true(fabs(scores.error_rate - (double)wrong / 60) < 1e-12);
    assert_true(fabs(scores.error_rate + scores.accuracy - 1.0) < 1e-12);
    assert_true(scores.error_rate < 0.2);
    assert_true(isnan(scores.mse));
}

/* More rows than a block: a table so wide that blocks are small. */
TEST(blocks_of_rows_join_without_a_seam)
{
    enum { N = 300, P = 40000 };
    SN_TABLE table = sn_table_features(N, P, 1);
    SN_BLOCK double *y = calloc(N, sizeof *y);
    for (int i = 0; i < N; i++) y[i] = i;
    OK(stonet_data_set_targets(table.data, y, 1));
    SN_AUTO(stonet_model) *model =
        sn_testing_fit("none 1 scale=none learner=none task=regression", table.data, NULL);
    SN_BLOCK float *z = malloc((size_t)N * P * sizeof *z);
    OK(stonet_transform(model, table.data, NULL, z));
    assert_memory_equal(z, table.x, (size_t)N * P * sizeof *z);
}

TEST(notes_travel_with_the_file)
{
    SN_TABLE table = sn_table_classes(40, 3, 2, 1);
    SN_AUTO(stonet_model) *model = sn_testing_fit("pca 2", table.data, NULL);
    assert_null(stonet_model_note(model));
    assert_int_equal(stonet_model_set_note(model, "\xff"), STONET_ERROR_ARGUMENT);
    OK(stonet_model_set_note(model, "first"));
    OK(stonet_model_set_note(model, "y ~ \"a\"\n\xc3\xa9"));
    SN_AUTO(stonet_model) *back = sn_testing_again(model);
    assert_string_equal(stonet_model_note(back), "y ~ \"a\"\n\xc3\xa9");
    OK(stonet_model_set_note(back, NULL));
    assert_null(stonet_model_note(back));
    assert_int_equal(stonet_model_set_note(NULL, "text"), STONET_ERROR_ARGUMENT);
}

TEST(files_are_named_in_errors)
{
    SN_TABLE table = sn_table_classes(40, 3, 2, 1);
    stonet_model *model = sn_testing_fit("pca 2", table.data, NULL), *back = NULL;
    char path[256];
    sn_testing_path(path, sizeof path, "model");
    OK(stonet_model_save(model, path));
    OK(stonet_model_load(path, &back));
    stonet_model_free(back);
    remove(path);
    assert_says(stonet_model_load(path, &back), STONET_ERROR_IO, path);
    assert_null(back);
    assert_says(stonet_model_save(model, "/nonexistent/folder/model"), STONET_ERROR_IO,
                "/nonexistent/folder/model");
    assert_says(stonet_model_save(model, "model.gz"), STONET_ERROR_ARGUMENT, "model.gz");
    SN_AUTO(sn_store) *store = NULL;
    OK(sn_store_create(&store));
    OK(sn_safetensors_write(store, path));
    assert_says(stonet_model_load(path, &back), STONET_ERROR_FORMAT, "not a model of stonet");
    assert_says(stonet_model_load(path, &back), STONET_ERROR_FORMAT, path);
    remove(path);
    stonet_model_free(model);
}

RUN_TESTS(NULL, NULL)
