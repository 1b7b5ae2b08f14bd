/* One training serves every dimension: fits that share a checkpoint in memory are the fits made apart. */
#include "base/test_kit.h"
#include "model/test_table.h"

enum { ROWS = 60, COLUMNS = 4, MOST = 12 };

/* Counts how often a fit looks up: a training does so all the time. */
static int count_looks(void *user)
{
    ++*(int64_t *)user;
    return 0;
}

static stonet_model *fit(const char *words, int64_t dim, const stonet_data *data, stonet_checkpoint *shared,
                         int64_t *looks)
{
    stonet_run run = STONET_RUN_INIT;
    const char *all = sn_testing_words("%s dim=%lld", words, (long long)dim);
    *looks = 0;
    run.threads = 1;
    run.should_stop = count_looks;
    run.user = looks;
    run.checkpoint = shared;
    return sn_testing_fit(all, data, &run);
}

/* In any order, the same files as fits that share nothing. `times` less work where a training is shared. */
static void check(const char *words, const stonet_data *data, const int64_t *dims, int count, int64_t times)
{
    SN_AUTO(stonet_checkpoint) *shared = NULL;
    OK(stonet_checkpoint_open(NULL, -1.0, &shared));
    for (int k = 0; k < count; k++) {
        int64_t alone, together;
        SN_AUTO(stonet_model) *apart = fit(words, dims[k], data, NULL, &alone);
        SN_AUTO(stonet_model) *joined = fit(words, dims[k], data, shared, &together);
        assert_same_model(apart, joined);
        if (k > 0 && times > 0) assert_true(times * together < alone);
    }
}

TEST(dims_share_a_training)
{
    SN_TABLE numbers = sn_table_numbers(ROWS, COLUMNS, 1, 1);
    check("stonet epochs=15", numbers.data, (int64_t[]){1, 4, 2}, 3, 5);
    check("stonet epochs=15 response=ensemble", numbers.data, (int64_t[]){2, 1}, 2, 0);
}

/* Where q leaves out a part of the effect, the narrow layer is trained for each q by itself. */
TEST(narrow_layers_are_their_own)
{
    SN_TABLE classes = sn_table_classes(ROWS, COLUMNS, 4, 2);
    check("stonet epochs=15", classes.data, (int64_t[]){3, 1, 2, 1}, 4, 0);
}

/* Other units are another training: beyond ten columns, more columns than features, and layers with names. */
TEST(other_units_are_not_shared)
{
    SN_TABLE numbers = sn_table_numbers(ROWS, COLUMNS, 1, 3);
    check("stonet epochs=15", numbers.data, (int64_t[]){2, MOST, 6, 11}, 4, 0);
    check("stonet epochs=15 hidden=5", numbers.data, (int64_t[]){2, 3}, 2, 0);
    check("sir", numbers.data, (int64_t[]){1, 2}, 2, 0);
}

/* Z at q = 1 is the first column of Z at q = 4. */
TEST(first_columns_are_the_same)
{
    SN_TABLE numbers = sn_table_numbers(ROWS, COLUMNS, 1, 4);
    float z1[ROWS], z4[4 * ROWS];
    int64_t looks;
    SN_AUTO(stonet_model) *one = fit("stonet epochs=15", 1, numbers.data, NULL, &looks);
    SN_AUTO(stonet_model) *four = fit("stonet epochs=15", 4, numbers.data, NULL, &looks);
    OK(stonet_transform(one, numbers.data, NULL, z1));
    OK(stonet_transform(four, numbers.data, NULL, z4));
    for (int i = 0; i < ROWS; i++) assert_true(z1[i] == z4[4 * i]);
}

static double spread_of(const float *z, int64_t dim, int64_t k)
{
    double mean = 0.0, sum = 0.0;
    for (int i = 0; i < ROWS; i++) mean += (double)z[i * dim + k] / ROWS;
    for (int i = 0; i < ROWS; i++) sum += ((double)z[i * dim + k] - mean) * ((double)z[i * dim + k] - mean);
    return sum / ROWS;
}

/* A linear network has no more columns than the features have directions: Z is then smaller, not constant.
   Where the kind of network is open another one is taken. */
TEST(no_column_is_constant)
{
    enum { P = 3 };
    SN_TABLE numbers = sn_table_numbers(ROWS, P, 1, 5);
    for (int i = 0; i < ROWS; i++) numbers.x[i * P + 2] = numbers.x[i * P] - numbers.x[i * P + 1];
    static const struct {
        const char *words;
        int64_t asked, got;
    } cases[] = {{"stonet epochs=15 activation=identity", 5, 2},
                 {"stonet epochs=15 activation=tanh", 5, 5},
                 {"stonet epochs=15", 3, 3}};
    for (int c = 0; c < 3; c++) {
        float z[5 * ROWS];
        int64_t looks;
        SN_AUTO(stonet_model) *model = fit(cases[c].words, cases[c].asked, numbers.data, NULL, &looks);
        assert_int_equal(stonet_model_dim(model), cases[c].got);
        OK(stonet_transform(model, numbers.data, NULL, z));
        for (int64_t k = 0; k < cases[c].got; k++) assert_true(spread_of(z, cases[c].got, k) > 1e-8);
    }
}

RUN_TESTS(NULL, NULL)
