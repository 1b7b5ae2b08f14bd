/* Folds by their plan. What they promise for a choice of settings is in src/choice/test_folds.c. */
#include "base/test_kit.h"
#include "data/folds.h"

enum { N = 40 };

/* How often each row is held out. */
static void count_held_out(const sn_folds *folds, int *count)
{
    memset(count, 0, N * sizeof *count);
    for (int k = 0; k < folds->count; k++) {
        assert_int_equal(folds->fold[k].train.n + folds->fold[k].test.n, N);
        for (int64_t i = 0; i < folds->fold[k].test.n; i++) count[sn_rows_at(&folds->fold[k].test, i)]++;
    }
}

/* A class of one row, or of one kin, is trained on in every fold; all other rows are held out once. */
TEST(single_classes_are_kept)
{
    int32_t label[N];
    int64_t kin[N];
    int count[N];
    for (int i = 0; i < N; i++) {
        label[i] = i < 3 ? 2 : i % 2;
        kin[i] = i < 3 ? 0 : i;
    }
    label[N - 1] = 3;
    const sn_problem problem = {.n = N, .task = SN_CLASSIFICATION, .outputs = 4, .label = label, .kin = kin};
    const sn_rows all = sn_rows_range(0, N);
    for (int by_class = 0; by_class < 2; by_class++) {
        const sn_fold_plan plan = {.count = 4, .exactly = true, .by_class = by_class == 1};
        SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
        OK(sn_folds_cut(&problem, &all, &plan, 7, &folds));
        assert_int_equal(folds.count, 4);
        count_held_out(&folds, count);
        for (int i = 0; i < N; i++)
            assert_int_equal(count[i], by_class == 1 && (i < 3 || i == N - 1) ? 0 : 1);
        assert_int_equal(folds.rows, by_class == 1 ? N - 4 : N);
    }
}

TEST(plans_have_limits)
{
    int64_t kin[N];
    int count[N], held_out = 0;
    for (int i = 0; i < N; i++) kin[i] = i / 10;
    const sn_problem problem = {.n = N, .task = SN_REGRESSION, .outputs = 1, .kin = kin};
    const sn_rows all = sn_rows_range(0, N);
    SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
    const sn_fold_plan exact = {.count = 5, .exactly = true}, fewer = {.count = 5},
                       one = {.count = 4, .enough = 1};
    assert_says(sn_folds_cut(&problem, &all, &exact, 1, &folds), STONET_ERROR_ARGUMENT,
                "5 folds of 4 groups");
    sn_folds_free(&folds);
    OK(sn_folds_cut(&problem, &all, &fewer, 1, &folds));
    assert_int_equal(folds.count, 4);
    sn_folds_free(&folds);
    OK(sn_folds_cut(&problem, &all, &one, 1, &folds));
    assert_int_equal(folds.count, 1);
    count_held_out(&folds, count);
    for (int i = 0; i < N; i++) {
        held_out += count[i];
        assert_int_equal(count[i], count[i / 10 * 10]);
    }
    assert_int_equal(held_out, 10);
    sn_folds_free(&folds);
    const sn_rows two = sn_rows_range(9, 2);
    assert_int_equal(sn_folds_cut(&problem, &two, &(sn_fold_plan){.count = 3, .exactly = true}, 1, &folds),
                     STONET_ERROR_ARGUMENT);
}

RUN_TESTS(NULL, NULL)
