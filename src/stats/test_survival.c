#include <math.h>

#include "base/memory.h"
#include "math/noise.h"
#include "stats/survival.h"
#include "stats/test_textbook.h"

enum { N = 12 };
static const double TIME[N] = {3, 5, 1, 8, 2, 9, 4, 7, 12, 6, 5, 3};
static const double EVENT[N] = {1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 0};
static const double SCORE[N] = {2, 3, 1, 5, 4, 6, 2, 9, 8, 7, 1, 3};

static const sn_times ROWS = {N, TIME, EVENT};

/* What survfit and concordance of R's survival have of these twelve rows. */
TEST(curves_are_those_of_survfit)
{
    sn_kaplan curve;
    OK(sn_kaplan_create(&ROWS, false, &curve));
    assert_near(sn_kaplan_at(&curve, 0.5), 1.0, 1e-9);
    assert_near(sn_kaplan_at(&curve, 3.0), 0.75, 1e-9);
    assert_near(sn_kaplan_at(&curve, 5.0), 0.5625, 1e-9);
    assert_near(sn_kaplan_before(&curve, 8.0), 0.3375, 1e-9);
    assert_near(sn_kaplan_at(&curve, 8.5), 0.225, 1e-9);
    sn_kaplan_free(&curve);
    /* Of the censoring: an event at the same time comes first, and is not at risk of it. */
    OK(sn_kaplan_create(&ROWS, true, &curve));
    assert_near(sn_kaplan_at(&curve, 3.0), 8.0 / 9.0, 1e-9);
    assert_near(sn_kaplan_at(&curve, 5.0), 8.0 / 9.0 * 5.0 / 6.0, 1e-9);
    assert_near(sn_kaplan_at(&curve, 12.0), 0.0, 1e-9);
    sn_kaplan_free(&curve);
}

/* What survdiff has, with ties, and nothing where there is nothing to compare. */
TEST(log_rank_is_that_of_survdiff)
{
    const double time[N] = {5, 8, 3, 9, 5, 2, 7, 5, 11, 4, 6, 1}, none[N] = {0};
    const double event[N] = {1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 0};
    const int group[N] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}, one[N] = {0};
    double p;
    OK(sn_log_rank(&(sn_times){N, time, event}, group, 3, &p));
    assert_near(p, 0.96623544759789, 1e-9);
    OK(sn_log_rank(&(sn_times){N, time, event}, one, 3, &p));
    assert_true(isnan(p));
    OK(sn_log_rank(&(sn_times){N, time, none}, group, 3, &p));
    assert_true(isnan(p));
}

TEST(concordances_are_those_of_survival)
{
    double harrell, uno;
    OK(sn_concordance(&ROWS, SCORE, &harrell, &uno));
    assert_near(harrell, 0.75, 1e-9);
    assert_true(fabs(uno - 0.7235231533) < 1e-9);
}

/* Of exponential times S(t) = exp(-t / scale): the law that they were drawn from is calibrated, twice its
   scale is not, with and without censoring. */
static double exponential(const void *user, int64_t row, double t)
{
    (void)row;
    return exp(-t / *(const double *)user);
}

TEST(calibration_is_that_of_the_promise)
{
    enum { M = 5000 };
    static double time[M], event[M];
    sn_random random = sn_random_from(3, SN_STREAM_TEST, 0);
    for (int i = 0; i < M; i++) {
        const double t = -log(sn_random_uniform(&random)), end = -2.0 * log(sn_random_uniform(&random));
        time[i] = fmin(t, end);
        event[i] = t <= end ? 1.0 : 0.0;
    }
    const double right = 1.0, wrong = 2.0;
    double close, far;
    OK(sn_survival_calibration(&(sn_times){M, time, event}, exponential, &right, &close));
    OK(sn_survival_calibration(&(sn_times){M, time, event}, exponential, &wrong, &far));
    assert_true(close < 0.02);
    /* seen times are exponential with rate 1.5: their quartiles, and what 1 / 2 in place of 1 is off by there
     */
    double expected = 0.0;
    for (int q = 1; q <= 3; q++) {
        const double t = -log(1.0 - q / 4.0) / 1.5;
        expected += (exp(-t / 2.0) - exp(-t)) / 3.0;
    }
    assert_true(fabs(far - expected) < 0.02);
    OK(sn_survival_calibration(&(sn_times){4, time, event}, exponential, &right, &close));
    assert_true(isnan(close));
}

static double fading(const void *user, int64_t row, double t)
{
    const bool *inverted = user;
    const double s = exp(-t / SCORE[row]);
    return *inverted ? 1.0 - s : s;
}

/* S(t) = exp(-t / score) and its opposite, in times without ties: what survfit gives for the censoring, put
   into Graf's formula (brier() of bench/responses.R). */
TEST(brier_is_that_of_grafs_formula)
{
    const double time[N] = {3, 5, 1, 8, 2, 9, 4, 7, 12, 6, 10, 11};
    const bool as_it_is = false, inverted = true;
    double brier;
    OK(sn_integrated_brier(&(sn_times){N, time, EVENT}, fading, &as_it_is, &brier));
    assert_near(brier, 0.269144733982, 1e-9);
    OK(sn_integrated_brier(&(sn_times){N, time, EVENT}, fading, &inverted, &brier));
    assert_near(brier, 0.435747345988, 1e-9);
}

TEST(rows_without_events_have_no_scores)
{
    const double none[N] = {0}, scale = 1.0;
    double harrell, uno, brier;
    OK(sn_concordance(&(sn_times){N, TIME, none}, SCORE, &harrell, &uno));
    OK(sn_integrated_brier(&(sn_times){N, TIME, none}, exponential, &scale, &brier));
    assert_true(isnan(harrell) && isnan(uno) && isnan(brier));
}

RUN_TESTS(NULL, NULL)
