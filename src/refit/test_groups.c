/* Rows that come again and again do not make held-out errors, comparisons and intervals look better than new
   rows do. */

#include "base/json.h"
#include "base/test_kit.h"
#include "model/calibration.h"
#include "model/test_table.h"

enum { ROWS = 80, TIMES = 4, N = ROWS * TIMES, P = 5, FRESH = 1000 };

/* A response that has nothing to do with the features, in rows that come `times` times, `apart` from each
   other. */
typedef struct noise {
    float x[FRESH * P];
    double y[FRESH];
    int64_t group[FRESH];
    stonet_data *data;
} noise;

static void make_noise(noise *to, uint64_t seed, int rows, int times, double apart)
{
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 4);
    for (int i = 0; i < rows * times; i++) {
        to->group[i] = i % rows;
        for (int j = 0; j < P; j++) {
            const double base = i < rows ? sn_random_normal(&random) : (double)to->x[i % rows * P + j];
            to->x[i * P + j] = (float)(base + apart * sn_random_normal(&random));
        }
        to->y[i] = (i < rows ? sn_random_normal(&random) : to->y[i % rows]) + apart * i;
    }
    to->data = sn_testing_data(to->x, rows * times, P, to->y);
}

/* The mse of a fit that chooses its settings, on the rows it held out and on fresh ones, in units of the
   variance. */
static void errors_of(const noise *from, double *held_out, double *on_fresh)
{
    static noise fresh;
    SN_AUTO(stonet_model) *model = sn_testing_fit("stonet 1 front=kernel", from->data, NULL);
    SN_BLOCK char *text = stonet_model_json(model);
    SN_AUTO(json_t) *about = json_loads(text, 0, NULL);
    *held_out = 2.0 * json_number_value(json_object_get(json_object_get(about, "fitted"), "held_out_loss"));
    make_noise(&fresh, 1000, FRESH, 1, 0.0);
    *on_fresh = sn_testing_scores(model, fresh.data, NULL).mse_scaled;
    stonet_data_free(fresh.data);
}

TEST(test_held_out_errors_are_those_of_new_rows)
{
    static noise from;
    double held_out, on_fresh;
    make_noise(&from, 1, ROWS, TIMES, 0.0);
    errors_of(&from, &held_out, &on_fresh);
    assert_true(held_out > 0.7 && fabs(held_out - on_fresh) < 0.4);
    stonet_data_free(from.data);
    make_noise(&from, 1, ROWS, TIMES, 1e-6); /* nobody can know that these belong together, */
    errors_of(&from, &held_out, &on_fresh);
    assert_true(held_out < 0.3 && on_fresh > 0.7);
    OK(stonet_data_set_groups(from.data, from.group)); /* until it is said */
    errors_of(&from, &held_out, &on_fresh);
    assert_true(held_out > 0.7 && fabs(held_out - on_fresh) < 0.4);
    stonet_data_free(from.data);
}

/* The mean coverage of intervals at .9 over a few data sets. */
static double coverage(double apart, bool grouped)
{
    enum { SETS = 6 };
    static noise from, fresh;
    double sum = 0.0;
    for (uint64_t seed = 1; seed <= SETS; seed++) {
        make_noise(&from, seed, ROWS, TIMES, apart);
        if (grouped) OK(stonet_data_set_groups(from.data, from.group));
        SN_AUTO(stonet_model) *model = sn_testing_fit("gsir 1", from.data, NULL);
        OK(stonet_calibrate(model, from.data, NULL, NULL));
        make_noise(&fresh, 1000 + seed, FRESH, 1, 0.0);
        const stonet_use_options how = {.size = sizeof how, .level = 0.9};
        sum += sn_testing_scores(model, fresh.data, &how).coverage / SETS;
        stonet_data_free(fresh.data);
        stonet_data_free(from.data);
    }
    return sum;
}

TEST(test_intervals_cover_new_rows)
{
    assert_true(coverage(0.0, false) >= 0.85);
    assert_true(coverage(1e-6, false) < 0.7);
    assert_true(coverage(1e-6, true) >= 0.85);
}

/* Fewer groups than folds: as many folds, unless a number was asked for. */
TEST(test_few_groups)
{
    static noise from;
    make_noise(&from, 2, ROWS, TIMES, 1e-6);
    for (int i = 0; i < N; i++) from.group[i] = i % 3;
    OK(stonet_data_set_groups(from.data, from.group));
    SN_AUTO(stonet_model) *model = sn_testing_fit("sir 1", from.data, NULL);
    OK(stonet_calibrate(model, from.data, NULL, NULL));
    assert_int_equal(model->calibration->n_members, 3);
    const stonet_calibrate_options four = {.size = sizeof four, .kind = STONET_CALIBRATION_CV, .folds = 4};
    assert_int_equal(stonet_calibrate(model, from.data, &four, NULL), STONET_ERROR_ARGUMENT);
    stonet_data_free(from.data);
}

RUN_TESTS(NULL, NULL)
