/* Slices: equal counts, ties together, classes, several targets. */
#include "methods/slicing.h"
#include "methods/test_support.h"
#include "methods/whitening.h"

static sn_slices slices_of(sn_workspace *keep, int64_t n, const double *y, int64_t m, int64_t wanted)
{
    sn_problem problem = {.n = n, .p = 1, .task = SN_REGRESSION, .outputs = m, .y = y};
    sn_slices slices;
    OK(sn_slices_make(&problem, wanted, keep, &slices));
    /* every row once, slices not empty */
    assert_int_equal(slices.start[0], 0);
    assert_int_equal(slices.start[slices.count], n);
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += slices.row[i];
    assert_int_equal(sum, n * (n - 1) / 2);
    for (int64_t h = 0; h < slices.count; h++) assert_true(slices.start[h] < slices.start[h + 1]);
    return slices;
}

TEST(counts_are_as_equal_as_can_be)
{
    SN_WORKSPACE(scratch);
    double y[103];
    for (int i = 0; i < 103; i++) y[i] = (i * 37) % 103;
    sn_slices slices = slices_of(&scratch, 103, y, 1, 10);
    assert_int_equal(slices.count, 10);
    for (int h = 0; h < 10; h++) {
        int64_t rows = slices.start[h + 1] - slices.start[h];
        assert_true(rows == 10 || rows == 11);
        for (int64_t i = slices.start[h] + 1; i < slices.start[h + 1]; i++)
            assert_true(y[slices.row[i]] > y[slices.row[i - 1]]);
    }
}

TEST(ties_stay_together)
{
    SN_WORKSPACE(scratch);
    double y[100];
    for (int i = 0; i < 100; i++) y[i] = i < 55 ? 0.0 : i;
    sn_slices slices = slices_of(&scratch, 100, y, 1, 10);
    assert_int_equal(slices.start[1], 55);
    assert_int_equal(slices.start[2], 60);
    assert_int_equal(slices.count, 6);
    double few[20] = {3, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    slices = slices_of(&scratch, 20, few, 1, 10);
    assert_int_equal(slices.count, 3); /* one a value, however rare */
    assert_int_equal(slices.row[0], 1);
    assert_int_equal(slices.row[19], 0);
    slices = slices_of(&scratch, 20, few, 1, 3); /* as many values as slices */
    assert_int_equal(slices.count, 3);
    double constant[5] = {7, 7, 7, 7, 7};
    slices = slices_of(&scratch, 5, constant, 1, 10);
    assert_int_equal(slices.count, 1);
}

TEST(tiny_samples)
{
    SN_WORKSPACE(scratch);
    double y[3] = {2, 1, 3};
    sn_slices slices = slices_of(&scratch, 1, y, 1, 10);
    assert_int_equal(slices.count, 1);
    slices = slices_of(&scratch, 3, y, 1, 2);
    assert_int_equal(slices.count, 1); /* two rows a slice at least */
}

TEST(targets_cut_each_other)
{
    SN_WORKSPACE(scratch);
    double y[72];
    for (int i = 0; i < 36; i++) {
        y[2 * i] = i / 6;
        y[2 * i + 1] = i % 6;
    }
    sn_slices slices = slices_of(&scratch, 36, y, 2, 9);
    assert_int_equal(slices.count, 9);
    for (int h = 0; h < 9; h++) assert_int_equal(slices.start[h + 1] - slices.start[h], 4);
}

TEST(absent_classes_have_no_slice)
{
    SN_WORKSPACE(scratch);
    int32_t label[6] = {3, 0, 3, 1, 0, 3};
    sn_problem problem = {.n = 6, .p = 1, .task = SN_CLASSIFICATION, .outputs = 5, .label = label};
    sn_slices slices;
    OK(sn_slices_make(&problem, 10, &scratch, &slices));
    assert_int_equal(slices.count, 3);
    int64_t start[] = {0, 2, 3, 6}, row[] = {1, 4, 3, 0, 2, 5};
    assert_memory_equal(slices.start, start, sizeof start);
    assert_memory_equal(slices.row, row, sizeof row);
}

/* Columns that depend on each other up to float rounding, and constant ones, are not directions. */
TEST(whitening_finds_the_rank)
{
    SN_WORKSPACE(scratch);
    int64_t n = 500, p = 6;
    SN_FREED_BY(sample_free) sample data = sample_normal(n, p, 1, 3);
    for (int64_t i = 0; i < n; i++) {
        float *row = data.x + i * p;
        row[3] = 0.3f * row[0] - 1.7f * row[1] + 5.0f;
        row[4] = 1234.5f;
        row[5] *= 1e-6f; /* small, but a direction */
    }
    sn_whitening whitening;
    OK(sn_whitening_fit(&(sn_problem){.x = data.x, .n = n, .p = p}, 0.0, 0, NULL, &scratch, &whitening));
    assert_int_equal(whitening.rank, 4);
    double *z = NULL;
    OK(SN_TAKE(&scratch, z, n * 4));
    OK(sn_whiten_rows(&whitening, data.x, NULL, n, z));
    double covariance[16];
    sn_syrk_tn(4, n, 1.0 / (double)n, z, 0.0, covariance);
    for (int i = 0; i < 16; i++) assert_true(fabs(covariance[i] - (i % 5 == 0)) < 1e-9);
}

RUN_TESTS(NULL, NULL)
