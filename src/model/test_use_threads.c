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

static stonet_model *fit(const char *method, const stonet_data *data)
{
    static const char *const quick[][2] = {{"epochs", "1"}, {"weight_decay", "0.01"}, {"activation", "tanh"}};
    stonet_run run = STONET_RUN_INIT;
    run.threads = 1;
    stonet_model *model = NULL;
    SN_AUTO(stonet_spec) *spec = sn_testing_spec(method, "2");
    for (size_t k = 0; k < 3 && strcmp(method, "stonet") == 0; k++)
        OK(stonet_spec_set(spec, quick[k][0], quick[k][1]));
    OK(stonet_fit(spec, data, &run, &model));
    return model;
}

TEST(calls_take_the_threads_they_are_given)
{
    SN_FREED_BY(sn_table_free) sn_table table = sn_table_classes(ROWS, COLUMNS, 3, 1);
    SN_AUTO(stonet_model) *stonet = fit("stonet", table.data), *sir = fit("sir", table.data);
    use_all(stonet, table.data, 1);
    use_all(sir, table.data, 1);
    assert_int_equal(threads_alive(), 1);
    const int before = omp_get_max_threads();
    use_all(stonet, table.data, MORE);
    assert_int_equal(threads_alive(), MORE);
    assert_int_equal(omp_get_max_threads(), before); /* the caller's own setting is as it was */
}

/* 0 leaves it to OpenMP: OMP_NUM_THREADS, or what the program has set. */
TEST(none_given_is_what_openmp_says)
{
    const int before = omp_get_max_threads();
    SN_FREED_BY(sn_table_free) sn_table table = sn_table_classes(ROWS, COLUMNS, 3, 1);
    SN_AUTO(stonet_model) *model = fit("stonet", table.data);
    omp_set_num_threads(MORE + 2);
    use_all(model, table.data, 0);
    assert_int_equal(threads_alive(), MORE + 2);
    omp_set_num_threads(before);
}

RUN_TESTS(NULL, NULL)
