/* Standard errors of Z against what is known of them. */
#include "base/test_kit.h"
#include "math/linalg.h"
#include "model/test_table.h"

enum { ROWS = 400, COLUMNS = 5 };

/* y = size (x'b) + noise of deviation sd, x standard normal. */
static sn_table make_linear(double size, double sd)
{
    const double b[COLUMNS] = {size, -0.5 * size, 0.0, 0.3 * size, 0.0};
    sn_random random = sn_random_from(4, SN_STREAM_TEST, 1);
    sn_table table = {.x = sn_calloc(ROWS * COLUMNS, sizeof(float))};
    double y[ROWS] = {0};
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            table.x[i * COLUMNS + j] = (float)sn_random_normal(&random);
            y[i] += b[j] * (double)table.x[i * COLUMNS + j];
        }
        y[i] += sd * sn_random_normal(&random);
    }
    table.data = sn_testing_data(table.x, ROWS, COLUMNS, y);
    return table;
}

/* Standard errors of x'b / |x'b| sqrt(n) by least squares on centred x, so in units where Z has size 1. */
static void least_squares(const sn_table *table, double sd, double *se)
{
    double x[ROWS * COLUMNS], gram[COLUMNS * COLUMNS], mean[COLUMNS] = {0};
    for (int i = 0; i < ROWS * COLUMNS; i++) mean[i % COLUMNS] += (double)table->x[i] / ROWS;
    for (int i = 0; i < ROWS * COLUMNS; i++) x[i] = (double)table->x[i] - mean[i % COLUMNS];
    sn_syrk_tn(COLUMNS, ROWS, 1.0, x, 0.0, gram);
    OK(sn_cholesky(COLUMNS, gram));
    for (int i = 0; i < ROWS; i++) {
        double row[COLUMNS];
        for (int j = 0; j < COLUMNS; j++) row[j] = x[i * COLUMNS + j];
        sn_triangular_solve(COLUMNS, false, gram, 1, row);
        se[i] = sd * sn_norm(COLUMNS, row);
    }
}

/* The last number of fits that were told, which may only grow to all of them. */
static void hear_progress(const stonet_progress *progress, void *last)
{
    assert_int_equal(progress->total, 40);
    assert_in_range(progress->done, *(int64_t *)last, 40);
    *(int64_t *)last = progress->done;
}

/* The gradient of a linear surface is that of least squares: Z moves as the fitted values do. */
TEST(linear_z_has_the_errors_of_least_squares)
{
    const double sd = 1.0;
    SN_TABLE table = make_linear(1.0, sd);
    SN_AUTO(stonet_model) *model = sn_testing_fit("opg 1", table.data, NULL);
    double se[ROWS], expected[ROWS], stability = 0.0;
    float z[ROWS];
    int64_t told = 0;
    stonet_run run = {
        .size = sizeof run, .seed = 1, .threads = 2, .on_progress = hear_progress, .user = &told};
    OK(stonet_transform_se(model, table.data, table.data, 40, &run, se, &stability));
    assert_true(told >= 32); /* the first of the last eight has begun */
    OK(stonet_transform(model, table.data, NULL, z));
    least_squares(&table, sd, expected);
    double mean = 0.0, size = 0.0, ratio = 0.0, signal = sqrt(1.0 + 0.25 + 0.09);
    for (int i = 0; i < ROWS; i++) mean += (double)z[i] / ROWS;
    for (int i = 0; i < ROWS; i++) size += ((double)z[i] - mean) * ((double)z[i] - mean) / ROWS;
    for (int i = 0; i < ROWS; i++) ratio += se[i] / sqrt(size) / (expected[i] / signal) / ROWS;
    assert_true(ratio > 0.8 && ratio < 1.25);
    assert_true(stability > 0.98 && stability <= 1.0 + 1e-9);
}

/* Where y has nothing to do with x, every fit finds another Z: that is not to look like a sure one. */
TEST(nothing_found_is_not_sure)
{
    SN_TABLE table = make_linear(0.0, 1.0);
    SN_AUTO(stonet_model) *model = sn_testing_fit("opg 1", table.data, NULL);
    double se[ROWS], stability = 0.0, errors = 0.0, squares = 0.0;
    float z[ROWS];
    OK(stonet_transform_se(model, table.data, table.data, 20, NULL, se, &stability));
    OK(stonet_transform(model, table.data, NULL, z));
    for (int i = 0; i < ROWS; i++) {
        errors += se[i] * se[i];
        squares += (double)z[i] * (double)z[i];
    }
    assert_true(stability < 0.9);
    assert_true(errors > 0.15 * squares);
}

/* What does not depend on the seed comes back to the last digit; columns are matched whatever their order. */
TEST(the_same_z_is_stable)
{
    SN_TABLE table = make_linear(1.0, 1.0), few = sn_table_numbers(50, COLUMNS, 1, 1);
    SN_AUTO(stonet_model) *model = sn_testing_fit("pca 3", table.data, NULL);
    double r[3];
    OK(stonet_stability(model, table.data, 3, NULL, r));
    for (int k = 0; k < 3; k++) assert_true(fabs(r[k] - 1.0) < 1e-6);
    SN_AUTO(stonet_model) *network =
        sn_testing_fit("stonet 2 hidden=2 weight_decay=0.01 epochs=30", table.data, NULL);
    OK(stonet_stability(network, table.data, 1, NULL, r));
    assert_true(r[0] > 0.95 && r[0] < 1.0); /* the linear surface, by another start */
    assert_true(r[1] >= 0.0 && r[1] < r[0]);
    assert_int_equal(stonet_stability(model, few.data, 1, NULL, r), STONET_ERROR_DATA);
    assert_int_equal(stonet_stability(model, table.data, -1, NULL, r), STONET_ERROR_ARGUMENT);
}

/* Rows of weight 0 and, with missing=drop, rows with a gap are no rows of the fit, wherever the table goes.
 */
TEST(rows_that_do_not_count_change_nothing)
{
    SN_TABLE table = make_linear(1.0, 1.0);
    SN_AUTO(stonet_data) *counted = NULL;
    double y[ROWS], weight[ROWS], se[ROWS], expected[ROWS], r[1];
    int64_t row[ROWS], count = 0;
    for (int i = 0; i < ROWS; i++) y[i] = exp((double)table.x[i * COLUMNS]);
    for (int i = 0; i < ROWS; i++) weight[i] = i % 5 == 0 ? 0.0 : 2.0;
    for (int i = 3; i < ROWS; i += 40) table.x[i * COLUMNS] = NAN;
    for (int i = 0; i < ROWS; i++)
        if (weight[i] > 0.0 && !isnan(table.x[i * COLUMNS])) row[count++] = i;
    SN_AUTO(stonet_data) *all = sn_testing_data(table.x, ROWS, COLUMNS, y);
    OK(stonet_data_set_weights(all, weight));
    OK(stonet_data_subset(all, row, count, &counted));
    SN_AUTO(stonet_model) *model = sn_testing_fit("sir 1 missing=drop", all, NULL),
                          *alone = sn_testing_fit("sir 1 missing=drop", counted, NULL);
    OK(stonet_transform_se(model, all, counted, 4, NULL, se, NULL));
    OK(stonet_transform_se(alone, counted, counted, 4, NULL, expected, NULL));
    assert_memory_equal(se, expected, (size_t)count * sizeof *se);
    OK(stonet_stability(model, all, 1, NULL, r));
    assert_true(fabs(r[0] - 1.0) < 1e-6);
    assert_int_equal(stonet_transform_se(model, table.data, counted, 4, NULL, se, NULL), STONET_ERROR_DATA);
}

TEST(refusals)
{
    SN_TABLE table = make_linear(1.0, 1.0), other = sn_table_numbers(50, COLUMNS, 1, 1);
    SN_AUTO(stonet_model) *model = sn_testing_fit("sir 1", table.data, NULL);
    double se[ROWS];
    assert_int_equal(stonet_transform_se(model, other.data, table.data, 0, NULL, se, NULL),
                     STONET_ERROR_DATA);
    assert_int_equal(stonet_transform_se(model, table.data, table.data, 1, NULL, se, NULL),
                     STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_transform_se(model, table.data, NULL, 2, NULL, se, NULL), STONET_ERROR_ARGUMENT);
}

RUN_TESTS(NULL, NULL)
