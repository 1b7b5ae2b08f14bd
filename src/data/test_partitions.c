#include <math.h>

#include "base/test_kit.h"
#include "data/partitions.h"

/* Every fold has its share of all rows and of every class (label NULL: there is one), up to a row. */
static void check_shares(int n, const int32_t *label, int folds, const int32_t *fold)
{
    int size[4] = {n}, count[16][4] = {{0}};
    for (int i = 0; i < n; i++) {
        count[fold[i]][0]++;
        if (label == NULL) continue;
        size[1 + label[i]]++;
        count[fold[i]][1 + label[i]]++;
    }
    for (int k = 0; k < folds; k++)
        for (int c = 0; c < 4; c++)
            assert_in_range(count[k][c], size[c] / folds, (size[c] + folds - 1) / folds);
}

TEST(test_folds_are_even)
{
    enum { N = 103 };
    int32_t fold[N], again[N], other[N];
    OK(sn_split_folds(N, NULL, 0, NULL, 10, 1, fold));
    check_shares(N, NULL, 10, fold);
    OK(sn_split_folds(N, NULL, 0, NULL, 10, 1, again));
    assert_memory_equal(fold, again, sizeof fold);
    OK(sn_split_folds(N, NULL, 0, NULL, 10, 2, other));
    assert_memory_not_equal(fold, other, sizeof fold);
}

TEST(test_folds_keep_class_shares)
{
    enum { N = 500 };
    int32_t label[N], fold[N];
    for (int i = 0; i < N; i++) label[i] = i % 11 == 0 ? 2 : i % 3 == 0;
    OK(sn_split_folds(N, label, 3, NULL, 7, 5, fold));
    check_shares(N, label, 7, fold);
}

TEST(test_bad_folds)
{
    int32_t fold[5];
    assert_int_equal(sn_split_folds(5, NULL, 0, NULL, 1, 1, fold), STONET_ERROR_ARGUMENT);
    assert_int_equal(sn_split_folds(5, NULL, 0, NULL, 6, 1, fold), STONET_ERROR_ARGUMENT);
    OK(sn_split_folds(5, NULL, 0, NULL, 5, 1, fold));
}

/* Every fold has one of the five largest exposures, one of the next five and so on, in whatever order the
   rows come; where all exposures are the same, the folds are those of plain numbers. */
TEST(folds_share_out_exposure)
{
    enum { N = 60, FOLDS = 5 };
    double seen[N * SN_LAW_SEEN];
    int32_t fold[N], plain[N];
    int folds = FOLDS;
    const sn_rows all = sn_rows_range(0, N);
    const sn_problem counts = {.n = N, .outputs = 1, .law = sn_law_find(SN_LAW_COUNTS, "auto"), .seen = seen};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        for (int i = 0; i < N; i++) seen[i * SN_LAW_SEEN + 1] = log(1.0 + i * 7 % N);
        OK(sn_split_rows(&counts, &all, N, seed, &folds, fold));
        for (int block = 0; block < N / FOLDS; block++) {
            int has = 0;
            for (int i = 0; i < N; i++)
                if (i * 7 % N / FOLDS == block) has |= 1 << fold[i];
            assert_int_equal(has, (1 << FOLDS) - 1);
        }
        for (int i = 0; i < N; i++) seen[i * SN_LAW_SEEN + 1] = 2.0;
        OK(sn_split_rows(&counts, &all, N, seed, &folds, fold));
        OK(sn_split_folds(N, NULL, 0, NULL, FOLDS, seed, plain));
        assert_memory_equal(fold, plain, sizeof fold);
    }
}

/* What a partition by kin promises: none is parted, no fold is empty, sizes differ by the largest kin at the
   most. Gives that difference. */
static int64_t check_kin(int64_t n, const int64_t *kin, int folds, const int32_t *fold)
{
    int64_t rows[16] = {0}, low = n, high = 0;
    for (int64_t i = 0; i < n; i++) {
        assert_in_range(fold[i], 0, folds - 1);
        rows[fold[i]]++;
        for (int64_t k = 0; k < i; k++)
            if (kin[i] == kin[k]) assert_int_equal(fold[i], fold[k]);
    }
    for (int k = 0; k < folds; k++) {
        low = rows[k] < low ? rows[k] : low;
        high = rows[k] > high ? rows[k] : high;
    }
    assert_true(low > 0);
    return high - low;
}

TEST(test_kin_is_never_parted)
{
    enum { N = 240 };
    int64_t kin[N];
    int32_t fold[N], again[N];
    const int64_t families[] = {11, 30, 100, 239};
    for (uint64_t seed = 1; seed <= 5; seed++)
        for (int f = 0; f < 4; f++) {
            int64_t size[N] = {0}, largest = 0;
            sn_random random = sn_random_from(seed, SN_STREAM_TEST, 0);
            for (int i = 0; i < N; i++) {
                const int64_t family =
                    i < families[f] ? i : (int64_t)sn_random_below(&random, (uint64_t)families[f]);
                kin[i] = 7919 * family - 5;
                largest = ++size[family] > largest ? size[family] : largest;
            }
            OK(sn_split_folds(N, NULL, 0, kin, 10, seed, fold));
            assert_true(check_kin(N, kin, 10, fold) <= largest);
            OK(sn_split_folds(N, NULL, 0, kin, 10, seed, again));
            assert_memory_equal(fold, again, sizeof fold);
            OK(sn_split_folds(N, NULL, 0, kin, 10, seed + 100, again));
            assert_memory_not_equal(fold, again, sizeof fold);
        }
    for (int i = 0; i < N; i++) kin[i] = i / 60;
    assert_says(sn_split_folds(N, NULL, 0, kin, 5, 1, fold), STONET_ERROR_ARGUMENT, "5 folds of 4 groups");
}

/* Equal kin are dealt out evenly, classes with them. */
TEST(test_kin_keeps_class_shares)
{
    enum { N = 400, FOLDS = 5 };
    int64_t kin[N];
    int32_t label[N], fold[N];
    for (int i = 0; i < N; i++) {
        kin[i] = i / 4;
        label[i] = i / 4 % 5 == 0; /* a fifth of the kin */
    }
    OK(sn_split_folds(N, label, 2, kin, FOLDS, 3, fold));
    assert_int_equal(check_kin(N, kin, FOLDS, fold), 0);
    check_shares(N, label, FOLDS, fold);
}

/* Numbers that no two rows share say nothing. */
TEST(test_lone_kin_changes_nothing)
{
    enum { N = 103 };
    int64_t kin[N];
    int32_t label[N], fold[N], plain[N];
    for (int i = 0; i < N; i++) {
        kin[i] = 1000 - 3 * i;
        label[i] = i % 3 == 0;
    }
    for (int classes = 0; classes <= 2; classes += 2) {
        const int32_t *strata = classes > 0 ? label : NULL;
        OK(sn_split_folds(N, strata, classes, kin, 10, 4, fold));
        OK(sn_split_folds(N, strata, classes, NULL, 10, 4, plain));
        assert_memory_equal(fold, plain, sizeof fold);
    }
}

/* Whoever holds out the first part alone gets one of ordinary size, whole kin, and no more than is wished. */
TEST(test_first_part)
{
    enum { N = 1000 };
    int64_t kin[N];
    int32_t fold[N];
    float x[N] = {0};
    double y[N] = {0};
    for (int i = 0; i < N; i++) kin[i] = i < 400 ? 0 : i / 10;
    const sn_problem problem = {
        .n = N, .p = 1, .x = x, .task = SN_REGRESSION, .outputs = 1, .y = y, .kin = kin};
    const sn_rows all = sn_rows_range(0, N), some = sn_rows_range(395, 105), one = sn_rows_range(0, 400);
    int folds = 5, held_out = 0;
    OK(sn_split_rows(&problem, &all, 55, 1, &folds, fold));
    assert_int_equal(folds, 5);
    (void)check_kin(N, kin, folds, fold);
    for (int i = 0; i < N; i++) held_out += fold[i] == 0;
    assert_int_equal(held_out, 50);
    folds = 20;
    OK(sn_split_rows(&problem, &some, N, 1, &folds, fold));
    assert_int_equal(folds, 11); /* as many as there are kin among these rows */
    (void)check_kin(some.n, kin + 395, folds, fold);
    folds = 5;
    OK(sn_split_rows(&problem, &one, N, 1, &folds, fold));
    assert_int_equal(folds, 5); /* one kin: rows are alone */
}

TEST(test_halves_keep_kin)
{
    enum { N = 101 };
    int64_t kin[N], order[N], plain[N], half;
    for (int i = 0; i < N; i++) kin[i] = i / 7;
    sn_random random = sn_random_from(1, SN_STREAM_SPLIT, 0);
    OK(sn_split_half(N, kin, &random, order, &half));
    assert_in_range(half, N / 2 - 3, N / 2 + 4);
    int side[N], seen[N] = {0};
    for (int i = 0; i < N; i++) {
        seen[order[i]]++;
        side[order[i]] = i < half;
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(seen[i], 1);
        assert_int_equal(side[i], side[i / 7 * 7]);
    }
    random = sn_random_from(1, SN_STREAM_SPLIT, 0);
    sn_random_permutation(&random, N, plain);
    random = sn_random_from(1, SN_STREAM_SPLIT, 0);
    OK(sn_split_half(N, NULL, &random, order, &half));
    assert_int_equal(half, N / 2);
    assert_memory_equal(order, plain, sizeof plain);
}

TEST(test_subset)
{
    float x[] = {1, 2, 3, 4, 5, 6};
    double y[] = {10, 20, 30, 40, 50, 60};
    int32_t label[] = {0, 1, 1};
    int64_t rows[] = {2, 0, 2};
    int64_t kin[] = {4, 5, 6};
    const double seen[] = {.1, .2, .3, .4, .5, .6};
    sn_problem regression = {.n = 3,
                             .p = 2,
                             .x = x,
                             .task = SN_REGRESSION,
                             .outputs = 2,
                             .y = y,
                             .seen = seen,
                             .kin = kin},
               part;
    OK(sn_problem_subset(&regression, rows, 3, &part));
    assert_int_equal(part.n, 3);
    assert_memory_equal(part.x, ((float[]){5, 6, 1, 2, 5, 6}), 6 * sizeof(float));
    assert_memory_equal(part.y, ((double[]){50, 60, 10, 20, 50, 60}), 6 * sizeof(double));
    assert_memory_equal(part.seen, ((double[]){.5, .6, .1, .2, .5, .6}), sizeof seen);
    assert_memory_equal(part.kin, ((int64_t[]){6, 4, 6}), sizeof kin);
    assert_null(part.label);
    sn_problem_subset_free(&part);
    sn_problem_subset_free(NULL);
    sn_problem classes = {.n = 3, .p = 2, .x = x, .task = SN_CLASSIFICATION, .outputs = 2, .label = label};
    OK(sn_problem_subset(&classes, rows, 2, &part));
    assert_int_equal(part.label[0], 1);
    assert_int_equal(part.label[1], 0);
    assert_null(part.y);
    assert_null(part.kin);
    sn_problem_subset_free(&part);
}

RUN_TESTS(NULL, NULL)
