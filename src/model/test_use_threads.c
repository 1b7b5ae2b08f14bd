/*
 * The threads that a call was given are the threads that it takes: seen by counting those of the process.
 * OpenMP keeps the threads it has started, so that after a call there are as many as it wanted, or as many
 * as an earlier one did.
 */
#include <dirent.h>
#include <omp.h>

#include "base/test_kit.h"
#include "model/test_table.h"

enum { ROWS = 6000, COLUMNS = 6, MORE = 3 };

static int threads_alive(void)
{
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL) skip();
    int count = 0;
    for (const struct dirent *task; (task = readdir(tasks)) != NULL;) count += task->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* Everything that answers for one row of a calibrated model. */
static void use_one_row(const stonet_model *model, const stonet_data *row)
{
    float z[36]; /* none: Z is x */
    double low, high;
    const stonet_use_options how = {.size = sizeof how, .threads = 4};
    OK(stonet_transform(model, row, &how, z));
    OK(stonet_predict(model, row, &how, &low));
    OK(stonet_predict_interval(model, row, &how, &low, &high));
}

/* Must be the first: a thread that was started once stays. */
TEST(one_row_starts_no_threads)
{
    enum { N = 60, P = 36 };
    static const char *const fronts[] = {"none", "kernel", "columns", "components", "conv"};
    SN_TABLE table = sn_table_numbers(N, P, 1, 3);
    SN_AUTO(stonet_data) *row = sn_testing_data(table.x, 1, P, NULL);
    stonet_run run = STONET_RUN_INIT;
    run.threads = 1;
    stonet_calibrate_options fresh = STONET_CALIBRATE_OPTIONS_INIT;
    fresh.kind = STONET_CALIBRATION_FRESH;
    for (size_t k = 0; k < sn_method_count() + 5; k++) {
        const char *front = k < 5 ? fronts[k] : "none";
        const char *method = k < 5 ? "stonet" : sn_method_at(k - 5)->name;
        const char *words = sn_testing_words("%s 2 hurry%s%s%s", method, k < 5 ? " front=" : "",
                                             k < 5 ? front : "", k == 4 ? " front_image=6,6" : "");
        SN_AUTO(stonet_model) *model = sn_testing_fit(words, table.data, &run);
        OK(stonet_calibrate(model, table.data, &fresh, &run));
        assert_int_equal(threads_alive(), 1);
        use_one_row(model, row);
        if (threads_alive() != 1) fail_msg("%s used %d threads for one row", words, threads_alive());
    }
}

/* Everything that sends rows through a model. */
static void use_all(const stonet_model *model, const stonet_data *data, int threads)
{
    static float z[ROWS * COLUMNS];
    static double out[ROWS * COLUMNS];
    const stonet_use_options how = {.size = sizeof how, .threads = threads, .seed = 1};
    stonet_scores scores = {.size = sizeof scores};
    OK(stonet_transform(model, data, &how, z));
    OK(stonet_predict(model, data, &how, out));
    OK(stonet_score(model, data, &how, &scores));
}

#define QUICK "stonet 2 hurry epochs=1 weight_decay=0.01 activation=tanh"
static const stonet_run ALONE = {.size = sizeof ALONE, .seed = 1, .threads = 1};

TEST(calls_take_the_threads_they_are_given)
{
    SN_TABLE table = sn_table_classes(ROWS, COLUMNS, 3, 1);
    static const char *const models[] = {"sir 2", "nnsdr 2 hurry", "none 2 learner=mlp learner.epochs=1",
                                         QUICK};
    const int before = omp_get_max_threads();
    for (size_t k = 0; k < 4; k++) {
        SN_AUTO(stonet_model) *model = sn_testing_fit(models[k], table.data, &ALONE);
        use_all(model, table.data, 1);
        if (threads_alive() != 1) fail_msg("%s used %d threads, not one", models[k], threads_alive());
        if (k == 3) use_all(model, table.data, MORE);
    }
    assert_int_equal(threads_alive(), MORE);
    assert_int_equal(omp_get_max_threads(), before); /* the caller's own setting is as it was */
}

/* 0 leaves it to OpenMP: OMP_NUM_THREADS, or what the program has set. */
TEST(none_given_is_what_openmp_says)
{
    const int before = omp_get_max_threads();
    SN_TABLE table = sn_table_classes(ROWS, COLUMNS, 3, 1);
    SN_AUTO(stonet_model) *model = sn_testing_fit(QUICK, table.data, &ALONE);
    omp_set_num_threads(MORE + 2);
    use_all(model, table.data, 0);
    assert_int_equal(threads_alive(), MORE + 2);
    omp_set_num_threads(before);
}

RUN_TESTS(NULL, NULL)
