/* Refits that share a choice of settings: no row that a refit holds out had a say in it. */
#include <string.h>

#include "base/test_kit.h"
#include "base/test_messages.h"
#include "data/folds.h"
#include "model/calibration.h"
#include "model/test_table.h"
#include "stonet/config.h"

enum { N = 160, P = 3, FOLDS = 4, SEED = 3 };

typedef struct rows {
    float x[N * P];
    double y[N];
    stonet_data *data;
} rows;

static void make(rows *r)
{
    sn_random random = sn_random_from(1, SN_STREAM_TEST, 0);
    for (int64_t k = 0; k < (int64_t)N * P; k++) r->x[k] = (float)sn_random_normal(&random);
    for (int64_t i = 0; i < N; i++)
        r->y[i] = tanh(2.0 * (double)r->x[i * P]) + 0.3 * sn_random_normal(&random);
    r->data = sn_testing_data(r->x, N, P, r->y);
}

static const stonet_run RUN = {.size = sizeof RUN, .seed = SEED, .threads = 1, .on_message = sn_hear};
#define OPEN "stonet 1 activation=tanh front=none"

/* Whether the folds shared a choice. */
static int calibrate(stonet_model *model, const rows *r)
{
    sn_heard[0] = '\0';
    const stonet_calibrate_options how = {.size = sizeof how, .kind = STONET_CALIBRATION_CV, .folds = FOLDS};
    OK(stonet_calibrate(model, r->data, &how, &RUN));
    return sn_times_heard("chooses the settings twice more");
}

static bool same_predictions(const stonet_model *a, const stonet_model *b, const rows *r)
{
    static double of_a[N], of_b[N];
    OK(stonet_predict(a, r->data, NULL, of_a));
    OK(stonet_predict(b, r->data, NULL, of_b));
    int64_t same = 0;
    while (same < N && of_a[same] == of_b[same]) same++;
    return same == N;
}

static sn_folds cut(void)
{
    sn_folds folds = {0};
    const sn_problem problem = {.n = N};
    const sn_rows all = sn_rows_range(0, N);
    OK(sn_folds_cut(&problem, &all, &(sn_fold_plan){.count = FOLDS, .exactly = true}, SEED, &folds));
    return folds;
}

/* Other responses in a fold change what the other refits chose and learned, and nothing of its own. */
TEST(held_out_rows_have_no_say)
{
    static rows r;
    make(&r);
    stonet_model *before = sn_testing_fit(OPEN, r.data, &RUN), *after = sn_testing_fit(OPEN, r.data, &RUN);
    assert_true(calibrate(before, &r));
    sn_folds folds = cut();
    for (int64_t i = 0; i < folds.fold[0].test.n; i++)
        r.y[sn_rows_at(&folds.fold[0].test, i)] = 5.0 + (double)(i % 7);
    OK(stonet_data_set_targets(r.data, r.y, 1));
    assert_true(calibrate(after, &r));
    stonet_model **one = before->calibration->member, **two = after->calibration->member;
    assert_true(same_predictions(one[0], two[0], &r));
    for (int k = 1; k < FOLDS; k++) assert_false(same_predictions(one[k], two[k], &r));
    for (int k = 0; k < FOLDS; k += 2) /* two folds, one choice */
        assert_true(sn_real(one[k]->settings, "weight_decay") ==
                        sn_real(one[k + 1]->settings, "weight_decay") &&
                    sn_real(one[k]->settings, "epochs") == sn_real(one[k + 1]->settings, "epochs"));
    sn_folds_free(&folds);
    stonet_model_free(before);
    stonet_model_free(after);
    stonet_data_free(r.data);
}

TEST(given_settings_are_not_chosen)
{
    static rows r;
    make(&r);
    SN_AUTO(stonet_model) *model = sn_testing_fit(OPEN " weight_decay=0.01 epochs=5", r.data, &RUN);
    assert_false(calibrate(model, &r));
    assert_true(sn_real(model->calibration->member[0]->settings, "epochs") == 5.0);
    stonet_data_free(r.data);
}

/* The rows of the last folds have one class, and no choice can be made on them. */
TEST(a_half_without_a_choice_is_no_failure)
{
    static rows r;
    static int32_t code[N];
    make(&r);
    sn_folds folds = cut();
    for (int k = 0; k < FOLDS / 2; k++)
        for (int64_t i = 0; i < 5; i++) code[sn_rows_at(&folds.fold[k].test, i)] = 1;
    OK(stonet_data_set_classes(r.data, code, (const char *const[]){"often", "rare"}, 2));
    SN_AUTO(stonet_model) *model = sn_testing_fit(OPEN, r.data, &RUN);
    assert_true(calibrate(model, &r));
    assert_true(sn_config_given(model->calibration->member[FOLDS - 1]->settings, "epochs"));
    assert_false(sn_config_given(model->calibration->member[0]->settings, "epochs"));
    sn_folds_free(&folds);
    stonet_data_free(r.data);
}

RUN_TESTS(NULL, NULL)
