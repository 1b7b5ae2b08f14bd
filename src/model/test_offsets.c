/*
 * A column moved far from 0 says what it said before: every method gives the same Z and the same predictions,
 * bit for bit. The numbers are such that moving them is exact in double (not in float): multiples of 2^-20
 * and of 2^-13, moved by 2^20 and 2^30, and as many rows as a power of 2, so that the means are exact too.
 */
#include "base/test_kit.h"
#include "math/noise.h"
#include "model/test_table.h"

enum { ROWS = 128, COLUMNS = 3 };

static double near_zero[ROWS * COLUMNS], far_away[ROWS * COLUMNS], y[ROWS];

static int make_numbers(void **state)
{
    (void)state;
    static const double unit[COLUMNS] = {0x1p-20, 0x1p-20, 0x1p-13}, offset[COLUMNS] = {0.0, 0x1p20, 0x1p30};
    sn_random random = sn_random_from(3, SN_STREAM_TEST, 0);
    for (int64_t i = 0; i < (int64_t)ROWS * COLUMNS; i++) {
        near_zero[i] = (double)sn_random_below(&random, 1 << 20) * unit[i % COLUMNS];
        far_away[i] = near_zero[i] + offset[i % COLUMNS];
    }
    for (int64_t i = 0; i < ROWS; i++) {
        const double *row = near_zero + i * COLUMNS;
        y[i] = row[1] * row[1] + row[2] / 128.0 + 0.1 * sn_random_normal(&random);
    }
    return 0;
}

/* Z and the predictions of a model fitted to x. */
static void use(const char *words, const double *x, float *z, double *predictions)
{
    SN_AUTO(stonet_data) *data = NULL;
    OK(stonet_data_wrap_double(x, ROWS, COLUMNS, &data));
    OK(stonet_data_set_targets(data, y, 1));
    SN_AUTO(stonet_model) *model = sn_testing_fit(words, data, NULL);
    OK(stonet_transform(model, data, NULL, z));
    OK(stonet_predict(model, data, NULL, predictions));
}

TEST(an_offset_changes_nothing)
{
    for (size_t i = 0; i < sn_method_count(); i++) {
        const char *name = sn_method_at(i)->name;
        static float z[2][ROWS * COLUMNS];
        static double predictions[2][ROWS];
        const char *words =
            sn_testing_words("%s %d hurry%s%s", name, strcmp(name, "none") == 0 ? 3 : 1,
                             strcmp(name, "stonet") == 0 ? " weight_decay=0.001 activation=tanh" : "",
                             sn_method_at(i)->unsupervised ? "" : " task=regression");
        use(words, near_zero, z[0], predictions[0]);
        use(words, far_away, z[1], predictions[1]);
        bool same = true;
        for (int64_t k = 0; k < (int64_t)ROWS * COLUMNS; k++) same = same && z[0][k] == z[1][k];
        for (int64_t k = 0; k < ROWS; k++) same = same && predictions[0][k] == predictions[1][k];
        if (!same) fail_msg("%s: columns moved away from 0 give another result", name);
    }
}

RUN_TESTS(make_numbers, NULL)
