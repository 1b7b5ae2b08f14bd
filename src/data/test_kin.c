/* Which rows belong together: groups, exact copies, and what looks like copies but is chance. */
#include "base/test_messages.h"
#include "data/kin.h"
#include "data/test_tables.h"
#include "math/noise.h"

static const int64_t *kin_of(const stonet_data *data, sn_workspace *keep)
{
    const int64_t *kin;
    stonet_run run = STONET_RUN_INIT;
    run.on_message = sn_hear;
    sn_heard[0] = '\0';
    OK(sn_kin_find(data, &run, keep, &kin));
    return kin;
}

enum { ROWS = 80, TIMES = 4, N = ROWS * TIMES, P = 3 };
static float x[N * P];
static double y[N];

/* ROWS rows of noise, each TIMES times, the times ROWS rows apart. */
static stonet_data *copies(void)
{
    sn_random random = sn_random_from(7, SN_STREAM_DATA, 0);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < P; j++)
            x[i * P + j] = i < ROWS ? (float)sn_random_normal(&random) : x[(i - ROWS) * P + j];
        y[i] = i < ROWS ? sn_random_normal(&random) : y[i - ROWS];
    }
    return wrapped(x, N, P, y);
}

TEST(test_copies_are_kin)
{
    SN_WORKSPACE(keep);
    SN_AUTO(stonet_data) *data = copies();
    const int64_t *kin = kin_of(data, &keep);
    assert_non_null(kin);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) assert_int_equal(kin[i] == kin[k], i % ROWS == k % ROWS);
    assert_int_equal(sn_times_heard("\n"), 1);
    assert_non_null(strstr(sn_heard, "240 of 320 rows repeat another row exactly"));
    double weight[N]; /* says what a copy counts, not whether it is one */
    for (int i = 0; i < N; i++) weight[i] = 1.0 + i;
    OK(stonet_data_set_weights(data, weight));
    kin = kin_of(data, &keep);
    assert_true(kin != NULL && kin[0] == kin[ROWS]);
}

/* The same features with another response each time: nothing is done, and it is said. */
TEST(test_near_copies_are_said)
{
    SN_WORKSPACE(keep);
    SN_AUTO(stonet_data) *data = copies();
    for (int i = 0; i < N; i++) y[i] += i;
    OK(stonet_data_set_targets(data, y, 1));
    assert_null(kin_of(data, &keep));
    assert_int_equal(sn_times_heard("\n"), 1);
    assert_non_null(strstr(sn_heard, "100% of the rows have nearly the same features as another row"));
    for (int i = 0; i < N; i++) /* and so after the third digit */
        for (int j = 0; j < P; j++) x[i * P + j] *= 1.0F + 1e-6F * (float)(i / ROWS);
    assert_null(kin_of(data, &keep));
    assert_non_null(strstr(sn_heard, "of the rows have nearly the same features"));
}

/* Classes agree by chance where the same features are measured again: such rows are no copies. */
TEST(test_classes_that_agree_by_chance)
{
    SN_WORKSPACE(keep);
    int32_t code[N];
    static const char *const labels[] = {"a", "b"};
    sn_random random = sn_random_from(3, SN_STREAM_DATA, 0);
    for (int i = 0; i < N; i++) code[i] = (int32_t)sn_random_below(&random, 2);
    SN_AUTO(stonet_data) *data = copies();
    OK(stonet_data_set_classes(data, code, labels, 2));
    assert_null(kin_of(data, &keep));
    assert_non_null(strstr(sn_heard, "nearly the same features"));
}

/* A coarse table, such as all combinations of a few flags, repeats its rows by chance. */
TEST(test_coarse_tables_have_no_copies)
{
    enum { FLAGS = 4, MANY = 500 };
    SN_WORKSPACE(keep);
    static float flags[MANY * FLAGS];
    static double sum[MANY];
    sn_random random = sn_random_from(5, SN_STREAM_DATA, 0);
    for (int columns = 1; columns <= FLAGS; columns++) {
        for (int i = 0; i < MANY; i++) {
            int bits = 0;
            for (int j = 0; j < columns; j++) {
                const int bit = (int)sn_random_below(&random, 2);
                flags[i * columns + j] = (float)bit;
                bits ^= bit;
            }
            sum[i] = bits;
        }
        SN_AUTO(stonet_data) *data = wrapped(flags, MANY, columns, sum);
        assert_null(kin_of(data, &keep));
        assert_string_equal(sn_heard, "");
    }
}

/* Groups are kin, copies in two groups join these, and a subset keeps what it has of them. */
TEST(test_groups)
{
    SN_WORKSPACE(keep);
    int64_t group[N], rows[] = {5, 7, ROWS + 5, 9};
    for (int i = 0; i < N; i++) group[i] = 1000 * (i % ROWS / 2) - 3;
    stonet_data *data = copies(), *part = NULL;
    for (int i = 0; i < N; i++) y[i] += i;
    OK(stonet_data_set_targets(data, y, 1));
    OK(stonet_data_set_groups(data, group));
    const int64_t *kin = kin_of(data, &keep);
    assert_non_null(kin);
    assert_string_equal(sn_heard, "");
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) assert_int_equal(kin[i] == kin[k], group[i] == group[k]);
    OK(stonet_data_subset(data, rows, 4, &part));
    kin = kin_of(part, &keep);
    assert_true(kin[0] == kin[2] && kin[0] != kin[1] && kin[1] != kin[3]);
    stonet_data_free(part);
    stonet_data_free(data);

    data = copies();
    for (int i = 0; i < N; i++) group[i] = i; /* all but the first two are alone, and copies of one another */
    group[1] = 0;
    OK(stonet_data_set_groups(data, group));
    kin = kin_of(data, &keep);
    assert_true(kin[0] == kin[1] && kin[ROWS] == kin[2 * ROWS + 1] && kin[0] == kin[ROWS]);
    assert_true(kin[2] != kin[0] && kin[2] == kin[ROWS + 2]);
    memset(group, 0, sizeof group);
    OK(stonet_data_set_groups(data, group));
    assert_null(kin_of(data, &keep));
    assert_non_null(strstr(sn_heard, "all rows are of one group"));
    assert_int_equal(stonet_data_set_groups(data, NULL), STONET_ERROR_ARGUMENT);
    stonet_data_free(data);
}

RUN_TESTS(NULL, NULL)
