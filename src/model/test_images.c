/* front=conv through a model: fitted, kept, loaded, trained further, refused. */
#include "base/test_kit.h"
#include "model/test_table.h"

enum { ROWS = 200, SIDE = 10, PIXELS = SIDE * SIDE };

/* A bar of five pixels somewhere, upright or lying, in noise: no single pixel says which. */
static sn_table bars(uint32_t seed)
{
    static const char *const LABELS[] = {"down", "over"};
    sn_table table = {.x = sn_calloc(ROWS * PIXELS, sizeof(float))};
    int32_t code[ROWS];
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 9);
    for (int64_t i = 0; i < ROWS; i++) {
        float *image = table.x + i * PIXELS;
        for (int k = 0; k < PIXELS; k++) image[k] = (float)(0.3 * sn_random_normal(&random));
        code[i] = (int32_t)(i % 2);
        const uint64_t along = sn_random_below(&random, SIDE - 4), across = sn_random_below(&random, SIDE);
        for (uint64_t k = along; k < along + 5; k++)
            image[code[i] == 0 ? k * SIDE + across : across * SIDE + k] += 2.0F;
    }
    table.data = sn_testing_data(table.x, ROWS, PIXELS, NULL);
    OK(stonet_data_set_classes(table.data, code, LABELS, 2));
    return table;
}

static double error_of(const stonet_model *model, const stonet_data *data)
{
    double probability[ROWS * 2], wrong = 0.0;
    OK(stonet_predict(model, data, NULL, probability));
    for (int64_t i = 0; i < ROWS; i++) wrong += (probability[2 * i + 1] > 0.5) != (i % 2 == 1);
    return wrong / ROWS;
}

TEST(test_fit)
{
    stonet_run run = STONET_RUN_INIT;
    run.threads = 2;
    SN_TABLE train = bars(1), fresh = bars(2);
    SN_AUTO(stonet_model) *model = sn_testing_fit(
        "stonet 2 front=conv front_image=10,10 front_channels=6 epochs=20 batch=16", train.data, &run),
                          *loaded = sn_testing_again(model);
    const double error = error_of(model, fresh.data);
    if (!(error < 0.1)) fail_msg("an error of %g on new rows", error);
    SN_BLOCK char *about = stonet_model_json(model);
    assert_non_null(about);
    assert_non_null(strstr(about, "held_out_error"));
    assert_same_answers(model, loaded, fresh.data);
    OK(stonet_fit_more(model, fresh.data, NULL));
    assert_true(error_of(model, train.data) < 0.1);
}

TEST(test_refusals)
{
    static const char *const CASES[][2] = {
        {"front_image=auto", "needs images"},  {"front_image=10,9", "90 numbers"},
        {"front_image=100", "height,width"},   {"front_image=2,50", "too small"},
        {"front_channels=2,2,2", "too small"}, {"engine=cuda", "engine=cpu"},
        {"schedule=averaged", "front=conv"},   {"input_activation=tanh", "front=conv"},
        {"select=group", "front=conv"}};
    SN_TABLE table = bars(1);
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        const char *words = sn_testing_words("stonet 2 front=conv front_image=10,10 %s", CASES[k][0]);
        sn_testing_refused(words, table.data, CASES[k][1]);
    }
}

RUN_TESTS(NULL, NULL)
