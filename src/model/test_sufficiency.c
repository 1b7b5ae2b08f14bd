#include "base/test_kit.h"
#include "model/test_table.h"

enum { N = 240, P = 4 };

/* y depends on x_1 only, as a number or as a class; x_2 varies most. */
static stonet_data *draw(uint32_t substream, int classes)
{
    static float x[2][N * P];
    double y[N];
    int32_t code[N];
    sn_random random = sn_random_from(1, SN_STREAM_TEST, substream);
    float *values = x[substream % 2];
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < P; j++)
            values[i * P + j] = (float)(sn_random_normal(&random) * (j == 1 ? 5.0 : 1.0));
        y[i] = values[i * P] + 0.5 * sn_random_normal(&random);
        code[i] = y[i] > 0.3;
    }
    stonet_data *data = sn_testing_data(values, N, P, classes ? NULL : y);
    if (classes) OK(stonet_data_set_classes(data, code, (const char *const[]){"low", "high"}, 2));
    return data;
}

static stonet_sufficiency_result look_at(const char *words, int classes, int threads)
{
    SN_AUTO(stonet_data) *train = draw(0, classes);
    SN_AUTO(stonet_data) *test = draw(1, classes);
    stonet_run run = STONET_RUN_INIT;
    run.threads = threads;
    SN_AUTO(stonet_model) *model = sn_testing_fit(words, train, &run);
    stonet_sufficiency_result result = {0};
    OK(stonet_sufficiency(model, test, NULL, &run, &result));
    assert_int_equal(result.test, STONET_TEST_GCM);
    assert_int_equal(result.gain.n, N);
    return result;
}

/* All columns are sufficient; SIR finds x_1 but for a small error and loses next to nothing; the first
   principal component is x_2 and loses all. */
TEST(tells_sufficient_from_insufficient)
{
    for (int classes = 0; classes < 2; classes++) {
        stonet_sufficiency_result all = look_at("none scale=column", classes, 0);
        assert_true(all.p_value > 0.05);
        assert_true(all.gain.p_value > 0.05);
        assert_true(fabs(all.gain.explained_zx - all.gain.explained_z) < 0.01);
        stonet_sufficiency_result sir = look_at("sir 1 scale=column", classes, 0);
        assert_true(sir.gain.explained_z > 0.2);
        assert_true(sir.gain.explained_zx - sir.gain.explained_z < 0.02);
        stonet_sufficiency_result pca = look_at("pca 1 scale=none", classes, 0);
        assert_true(pca.p_value < 1e-3);
        assert_true(pca.gain.p_value < 1e-3);
        assert_true(pca.gain.explained_z < 0.02);
        assert_true(pca.gain.explained_zx - pca.gain.explained_z > 0.2);
    }
}

TEST(does_not_depend_on_threads)
{
    stonet_sufficiency_result one = look_at("sir 1 scale=column", 0, 1);
    stonet_sufficiency_result two = look_at("sir 1 scale=column", 0, 2);
    assert_true(one.p_value == two.p_value);
    assert_true(one.gain.p_value == two.gain.p_value);
    assert_true(one.gain.explained_zx == two.gain.explained_zx);
}

/* Forty rows say nothing about what is left given four columns. */
TEST(refuses_too_few_rows)
{
    SN_AUTO(stonet_data) *train = draw(0, 0), *few = sn_testing_rows(train, 0, 79, 1);
    SN_AUTO(stonet_model) *model = sn_testing_fit("none", train, NULL);
    stonet_sufficiency_result result;
    assert_says(stonet_sufficiency(model, few, NULL, NULL, &result), STONET_ERROR_DATA,
                "79 rows are too few");
    assert_non_null(strstr(stonet_last_error(), "at least 80"));
}

TEST(needs_a_response)
{
    SN_AUTO(stonet_data) *train = draw(0, 0), *bare = sn_testing_data(stonet_data_x(train), N, P, NULL);
    SN_AUTO(stonet_model) *model = sn_testing_fit("sir 1", train, NULL);
    stonet_sufficiency_result result;
    assert_int_not_equal(stonet_sufficiency(model, bare, NULL, NULL, &result), STONET_OK);
}

RUN_TESTS(NULL, NULL)
