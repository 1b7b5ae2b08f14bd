#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "data/splits.h"

static void test_folds_are_even(void **state)
{
    (void)state;
    int32_t fold[103], again[103], other[103];
    assert_int_equal(sn_split_folds(103, NULL, 0, 10, 1, fold), STONET_OK);
    int count[10] = {0};
    for (int i = 0; i < 103; i++) count[fold[i]]++;
    for (int k = 0; k < 10; k++) assert_in_range(count[k], 10, 11);
    assert_int_equal(sn_split_folds(103, NULL, 0, 10, 1, again), STONET_OK);
    assert_memory_equal(fold, again, sizeof fold);
    assert_int_equal(sn_split_folds(103, NULL, 0, 10, 2, other), STONET_OK);
    assert_memory_not_equal(fold, other, sizeof fold);
}

static void test_folds_keep_class_shares(void **state)
{
    (void)state;
    enum { N = 500, CLASSES = 3, FOLDS = 7 };
    int32_t label[N], fold[N];
    int size[CLASSES] = {0}, count[FOLDS][CLASSES] = {{0}};
    for (int i = 0; i < N; i++) label[i] = i % 11 == 0 ? 2 : i % 3 == 0;
    assert_int_equal(sn_split_folds(N, label, CLASSES, FOLDS, 5, fold), STONET_OK);
    for (int i = 0; i < N; i++) {
        size[label[i]]++;
        count[fold[i]][label[i]]++;
    }
    for (int k = 0; k < FOLDS; k++) {
        int total = 0;
        for (int c = 0; c < CLASSES; c++) {
            assert_in_range(count[k][c], size[c] / FOLDS, size[c] / FOLDS + 1);
            total += count[k][c];
        }
        assert_in_range(total, N / FOLDS, N / FOLDS + 1);
    }
}

static void test_bad_folds(void **state)
{
    (void)state;
    int32_t fold[5];
    assert_int_equal(sn_split_folds(5, NULL, 0, 1, 1, fold), STONET_ERROR_ARGUMENT);
    assert_int_equal(sn_split_folds(5, NULL, 0, 6, 1, fold), STONET_ERROR_ARGUMENT);
    assert_int_equal(sn_split_folds(5, NULL, 0, 5, 1, fold), STONET_OK);
}

static void test_subset(void **state)
{
    (void)state;
    float x[] = {1, 2, 3, 4, 5, 6};
    double y[] = {10, 20, 30, 40, 50, 60};
    int32_t label[] = {0, 1, 1};
    int64_t rows[] = {2, 0, 2};
    sn_problem regression = {.n = 3, .p = 2, .x = x, .task = SN_REGRESSION, .outputs = 2, .y = y}, part;
    assert_int_equal(sn_problem_subset(&regression, rows, 3, &part), STONET_OK);
    assert_int_equal(part.n, 3);
    assert_memory_equal(part.x, ((float[]){5, 6, 1, 2, 5, 6}), 6 * sizeof(float));
    assert_memory_equal(part.y, ((double[]){50, 60, 10, 20, 50, 60}), 6 * sizeof(double));
    assert_null(part.label);
    sn_problem_subset_free(&part);
    sn_problem_subset_free(NULL);
    sn_problem classes = {.n = 3, .p = 2, .x = x, .task = SN_CLASSIFICATION, .outputs = 2, .label = label};
    assert_int_equal(sn_problem_subset(&classes, rows, 2, &part), STONET_OK);
    assert_int_equal(part.label[0], 1);
    assert_int_equal(part.label[1], 0);
    assert_null(part.y);
    sn_problem_subset_free(&part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_folds_are_even),
                                       cmocka_unit_test(test_folds_keep_class_shares),
                                       cmocka_unit_test(test_bad_folds), cmocka_unit_test(test_subset)};
    return cmocka_run_group_tests_name("data_splits", tests, NULL, NULL);
}
