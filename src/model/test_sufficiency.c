#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include <stonet/stonet.h>

#include "math/noise.h"

enum { N = 800, P = 4 };

/* y depends on x_1 only, as a number or as a class; x_2 varies most. */
static stonet_data *draw(uint32_t substream, int classes)
{
    static float x[2][N * P];
    double y[N];
    int32_t code[N];
    sn_random random;
    sn_random_init(&random, 1, SN_STREAM_TEST, substream);
    float *values = x[substream % 2];
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < P; j++) {
            values[i * P + j] = (float)(sn_random_normal(&random) * (j == 1 ? 5.0 : 1.0));
        }
        y[i] = values[i * P] + 0.5 * sn_random_normal(&random);
        code[i] = y[i] > 0.3;
    }
    stonet_data *data = NULL;
    const char *labels[] = {"low", "high"};
    assert_int_equal(stonet_data_wrap(values, N, P, &data), STONET_OK);
    if (classes) {
        assert_int_equal(stonet_data_set_classes(data, code, labels, 2), STONET_OK);
    } else {
        assert_int_equal(stonet_data_set_targets(data, y, 1), STONET_OK);
    }
    return data;
}

static double p_value(const char *method, const char *scale, int classes, int threads)
{
    stonet_data *train = draw(0, classes);
    stonet_data *test = draw(1, classes);
    stonet_spec *spec = NULL;
    stonet_model *model = NULL;
    stonet_run run = STONET_RUN_INIT;
    run.threads = threads;
    stonet_independence_result result = {0};
    assert_int_equal(stonet_spec_create(method, &spec), STONET_OK);
    assert_int_equal(stonet_spec_set(spec, "dim", "1"), STONET_OK);
    assert_int_equal(stonet_spec_set(spec, "scale", scale), STONET_OK);
    assert_int_equal(stonet_fit(spec, train, &run, &model), STONET_OK);
    assert_int_equal(stonet_sufficiency(model, test, NULL, &run, &result), STONET_OK);
    assert_int_equal(result.test, STONET_TEST_RCIT);
    assert_int_equal(result.n, N);
    stonet_model_free(model);
    stonet_spec_free(spec);
    stonet_data_free(train);
    stonet_data_free(test);
    return result.p_value;
}

/* SIR finds x_1 and keeps what there is; the first principal component is x_2 and loses it. */
static void tells_sufficient_from_insufficient(void **state)
{
    (void)state;
    for (int classes = 0; classes < 2; classes++) {
        assert_true(p_value("sir", "column", classes, 0) > 0.05);
        assert_true(p_value("pca", "none", classes, 0) < 1e-3);
    }
}

static void does_not_depend_on_threads(void **state)
{
    (void)state;
    assert_true(p_value("sir", "column", 0, 1) == p_value("sir", "column", 0, 2));
}

static void needs_a_response(void **state)
{
    (void)state;
    stonet_data *train = draw(0, 0);
    stonet_data *bare = NULL;
    stonet_spec *spec = NULL;
    stonet_model *model = NULL;
    stonet_independence_result result;
    assert_int_equal(stonet_spec_create("sir", &spec), STONET_OK);
    assert_int_equal(stonet_spec_set(spec, "dim", "1"), STONET_OK);
    assert_int_equal(stonet_fit(spec, train, NULL, &model), STONET_OK);
    assert_int_equal(stonet_data_wrap(stonet_data_x(train), N, P, &bare), STONET_OK);
    assert_int_not_equal(stonet_sufficiency(model, bare, NULL, NULL, &result), STONET_OK);
    assert_int_equal(stonet_sufficiency(NULL, bare, NULL, NULL, &result), STONET_ERROR_ARGUMENT);
    stonet_model_free(model);
    stonet_spec_free(spec);
    stonet_data_free(train);
    stonet_data_free(bare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_sufficient_from_insufficient),
        cmocka_unit_test(does_not_depend_on_threads),
        cmocka_unit_test(needs_a_response),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
