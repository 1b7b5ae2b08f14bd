#include "base/test_kit.h"
#include "model/test_table.h"

enum { ROWS = 120, COLUMNS = 5, CLASSES = 3 };

static stonet_model *fit_short(const stonet_data *data)
{
    return sn_testing_fit("stonet 2 epochs=2 weight_decay=0.001 hidden=8 sdr_iterations=0 batch=10", data,
                          NULL);
}

/* Pieces of the same population go on improving the fit to rows that no piece had. */
TEST(learns_from_pieces)
{
    SN_TABLE first = sn_table_classes(ROWS, COLUMNS, CLASSES, 1);
    SN_TABLE unseen = sn_table_classes(ROWS, COLUMNS, CLASSES, 99);
    SN_AUTO(stonet_model) *model = fit_short(first.data);
    const double before = sn_testing_scores(model, unseen.data, NULL).log_loss;
    for (uint32_t piece = 2; piece < 12; piece++) {
        SN_TABLE more = sn_table_classes(ROWS, COLUMNS, CLASSES, piece);
        OK(stonet_fit_more(model, more.data, NULL));
    }
    const double after = sn_testing_scores(model, unseen.data, NULL).log_loss;
    print_message("log loss from %g to %g\n", before, after);
    assert_true(after < 0.7 * before);
    assert_int_equal(model->n_train, 11 * ROWS);
    SN_BLOCK char *history = stonet_model_history_csv(model);
    int lines = 0;
    for (const char *at = history; (at = strchr(at, '\n')) != NULL; at++) lines++;
    assert_int_equal(lines, 1 + 11 * 2);
}

/* The same from a model that went through its file, and for any number of threads. */
TEST(continues_a_loaded_model)
{
    SN_TABLE first = sn_table_classes(ROWS, COLUMNS, CLASSES, 1);
    SN_TABLE second = sn_table_classes(ROWS, COLUMNS, CLASSES, 2);
    SN_AUTO(stonet_model) *model = fit_short(first.data), *loaded = sn_testing_again(model);
    stonet_run run = STONET_RUN_INIT;
    run.threads = 1;
    OK(stonet_fit_more(model, second.data, &run));
    run.threads = 2;
    OK(stonet_fit_more(loaded, second.data, &run));
    assert_same_model(model, loaded);
}

TEST(chosen_settings_are_kept)
{
    SN_TABLE first = sn_table_numbers(60, COLUMNS, 1, 1);
    SN_AUTO(stonet_model) *model = sn_testing_fit("stonet 1", first.data, NULL);
    const double before = sn_testing_scores(model, first.data, NULL).mse;
    OK(stonet_fit_more(model, first.data, NULL));
    assert_true(sn_testing_scores(model, first.data, NULL).mse < 2.0 * before);
}

/* A fit that chose its settings learns from further pieces, weighted ones too, and none of them throws it
   off. */
TEST(default_fits_go_on)
{
    enum { PIECES = 8 };
    SN_TABLE first = sn_table_classes(ROWS, COLUMNS, CLASSES, 1);
    SN_TABLE unseen = sn_table_classes(4 * ROWS, COLUMNS, CLASSES, 99);
    SN_AUTO(stonet_model) *model = sn_testing_fit("stonet 2", first.data, NULL);
    double weight[ROWS];
    for (int i = 0; i < ROWS; i++) weight[i] = 1.0 + i % 2;
    const double before = sn_testing_scores(model, unseen.data, NULL).log_loss;
    for (uint32_t piece = 2; piece < 2 + PIECES; piece++) {
        SN_TABLE more = sn_table_classes(ROWS, COLUMNS, CLASSES, piece);
        OK(stonet_data_set_weights(more.data, weight));
        OK(stonet_fit_more(model, more.data, NULL));
        assert_int_equal(stonet_model_outcome(model), STONET_DONE);
    }
    const double after = sn_testing_scores(model, unseen.data, NULL).log_loss;
    print_message("log loss from %g to %g\n", before, after);
    assert_true(after < before);
}

TEST(refuses_what_does_not_fit)
{
    SN_TABLE first = sn_table_classes(ROWS, COLUMNS, CLASSES, 1);
    SN_TABLE wide = sn_table_classes(ROWS, COLUMNS + 1, CLASSES, 2);
    SN_TABLE strange = sn_table_classes(ROWS, COLUMNS, CLASSES + 1, 2);
    SN_TABLE bare = sn_table_features(ROWS, COLUMNS, 2);
    SN_AUTO(stonet_model) *model = fit_short(first.data), *same = fit_short(first.data);
    assert_says(stonet_fit_more(model, wide.data, NULL), STONET_ERROR_DATA, "column");
    assert_says(stonet_fit_more(model, strange.data, NULL), STONET_ERROR_DATA, "grey");
    assert_says(stonet_fit_more(model, bare.data, NULL), STONET_ERROR_DATA, "no target");
    assert_same_model(model, same);
}

RUN_TESTS(NULL, NULL)
