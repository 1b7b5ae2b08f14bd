/* What kernel methods are given: centres, bandwidths, and the limits of memory and rank. */
#include "methods/kernel_input.h"
#define METHOD "gsir"
#include "methods/test_kernel_help.h"

/* 8 bytes of: exact n^2 for all kernel functions, n m and 3 m^2 for m landmarks; rows and centres. */
TEST(test_memory)
{
    const double m = 1e6, p = 2e6;
    const struct {
        double n;
        const char *landmarks;
        double numbers;
        const char *advice;
    } cases[] = {{3e6, "landmarks=none", 1.5 * 9e12 + 6e6 * p, "set landmarks=2000"},
                 {3e6, "landmarks=1000000", 0.7 * 3e6 * m + 3 * m * m + (3e6 + m) * p, "fewer landmarks"},
                 {9e5, "landmarks=1000000", 1.5 * 9e5 * 9e5 + 2 * 9e5 * p, ""}, /* more than rows: all */
                 {1e6, "landmarks=1000000", 1.5 * m * m + 2 * m * p, ""}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const sn_problem problem = {.n = (int64_t)cases[k].n, .p = (int64_t)p};
        SN_AUTO(sn_settings) *settings = settings_of(method(), cases[k].landmarks);
        assert_says(sn_kernel_memory(&problem, settings, "gsir", 1.5, 0.7), STONET_ERROR_MEMORY,
                    cases[k].advice);
        assert_non_null(strstr(stonet_last_error(), "gsir needs "));
        const double gigabytes = strtod(strstr(stonet_last_error(), "needs ") + 6, NULL);
        assert_true(fabs(gigabytes - 8e-9 * cases[k].numbers) < 0.2);
    }
    const sn_problem small = {.n = 100, .p = 3};
    SN_AUTO(sn_settings) *settings = settings_of(method(), "");
    OK(sn_kernel_memory(&small, settings, "gsir", 1.5, 0.7));
}

TEST(test_rank)
{
    static const double values[] = {5.0, 1.0, 6e-10, 4e-10, 1e-12}, none[] = {0.0, 0.0};
    static const struct {
        int64_t dim, count, allowed;
    } cases[] = {{3, 5, 3}, {4, 5, 3}, {2, 5, 2}, {4, 2, 2}};
    stonet_run run = STONET_RUN_INIT;
    int64_t allowed = 0;
    run.on_message = hear;
    run.user = &said;
    for (int k = 0; k < 4; k++) {
        said.last[0] = '\0';
        OK(sn_kernel_limit(&run, "gsir", cases[k].dim, cases[k].count, values, "so it is", &allowed));
        assert_int_equal(allowed, cases[k].allowed);
        assert_true((strstr(said.last, "so it is") != NULL) == (allowed < cases[k].dim));
    }
    assert_int_equal(sn_kernel_limit(&run, "gsir", 1, 2, none, "so it is", &allowed), STONET_ERROR_DATA);
    assert_int_equal(sn_kernel_limit(&run, "gsir", 1, 0, none, "so it is", &allowed), STONET_ERROR_DATA);
}

/* Centres are rows; two rows are enough, one is not. */
TEST(test_centres)
{
    SN_WORKSPACE(scratch);
    SN_FREED_BY(sample_free) sample s = make_sample(12, 3, 0, 1, 8);
    sn_kernel_input input;
    const int64_t landmarks[] = {0, 5, 12, 40}, expected[] = {12, 5, 12, 12};
    for (int k = 0; k < 4; k++) {
        OK(sn_kernel_rows(&s.problem, landmarks[k], 1, &scratch, &input));
        assert_int_equal(input.m, expected[k]);
        assert_int_equal(input.exact, k == 0);
        for (int64_t l = 0; l < input.m; l++) {
            int found = 0;
            for (int64_t i = 0; i < 12; i++)
                found += memcmp(input.centres + l * 3, s.wide + i * 3, 3 * sizeof(double)) == 0;
            assert_int_equal(found, 1);
        }
    }
    s.problem.n = 2;
    OK(sn_kernel_rows(&s.problem, 0, 1, &scratch, &input));
    s.problem.n = 1;
    assert_int_equal(sn_kernel_rows(&s.problem, 0, 1, &scratch, &input), STONET_ERROR_DATA);
}

/* gamma = c / (2 s^2), s the mean distance over all pairs or as given; the median of rows that are mostly
   equal is 0, and the mean takes its place. */
TEST(test_bandwidth)
{
    SN_WORKSPACE(scratch);
    SN_FREED_BY(sample_free) sample s = make_sample(12, 3, 0, 1, 8);
    sn_kernel_input input;
    SN_AUTO(sn_settings) *settings = settings_of(method(), "complexity=3");
    const double mean = plain_distance(12, 3, s.wide, false);
    OK(sn_kernel_input_create(&s.problem, settings, SN_MEAN_DISTANCE, 1, &scratch, &input));
    assert_true(fabs(input.gamma - 3.0 / (2.0 * mean * mean)) < 1e-12);
    OK(sn_settings_set(settings, "bandwidth", "2.5"));
    OK(sn_kernel_input_create(&s.problem, settings, SN_MEAN_DISTANCE, 1, &scratch, &input));
    assert_true(fabs(input.gamma - 3.0 / 12.5) < 1e-15);
    double median, instead, x[24] = {0};
    input.x = x;
    input.p = 2;
    x[0] = 3.0;
    x[1] = 4.0;
    OK(sn_kernel_distance(&input, SN_MEDIAN_DISTANCE, 1, &median));
    OK(sn_kernel_distance(&input, SN_MEAN_DISTANCE, 1, &instead));
    assert_true(median == instead && fabs(instead - plain_distance(12, 2, x, false)) < 1e-12);
    x[0] = x[1] = 0.0;
    assert_int_equal(sn_kernel_distance(&input, SN_MEDIAN_DISTANCE, 1, &median), STONET_ERROR_DATA);
    for (int i = 0; i < 12; i++) x[2 * i] = (double)(i * i);
    OK(sn_kernel_distance(&input, SN_MEDIAN_DISTANCE, 1, &median));
    OK(sn_kernel_distance(&input, SN_MEAN_DISTANCE, 1, &instead));
    assert_true(median > 0.0 && median != instead);
}

RUN_TESTS(NULL, NULL)
