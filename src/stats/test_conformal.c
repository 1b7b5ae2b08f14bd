/* Conformal intervals and sets against their definitions, and the temperature. */
#include "base/test_kit.h"
#include "math/noise.h"
#include "math/smallest.h"
#include "stats/conformal.h"
#include "stats/temperature.h"

TEST(ranks)
{
    assert_int_equal(sn_conformal_rank(9, 0.9), 9); /* 0.9 * 10 is 9, however it is stored */
    assert_int_equal(sn_conformal_rank(8, 0.9), 9); /* too few: no bound */
    assert_int_equal(sn_conformal_rank(99, 0.9), 90);
    assert_int_equal(sn_conformal_rank(100, 0.9), 91);
    assert_int_equal(sn_conformal_rank(99, 0.99), 99);
    assert_int_equal(sn_conformal_rank(98, 0.99), 99);
    assert_int_equal(sn_conformal_rank(9, 0.5), 5);
    assert_int_equal(sn_conformal_rank(0, 0.5), 1);
    assert_int_equal(sn_conformal_rank(9999, 1e-9), 1);
    for (int64_t m = 1; m < 3000; m++) /* level (m + 1) is whole: rounded neither up nor down */
        for (int64_t k = 1; k <= 9; k++)
            if (k * (m + 1) % 10 == 0)
                assert_int_equal(sn_conformal_rank(m, (double)k / 10), k * (m + 1) / 10);
}

enum { LISTS = 4, SCORES = 37 };

/* Scores in four lists of different lengths, some equal. */
static void make_scores(uint64_t seed, int64_t start[LISTS + 1], double score[SCORES])
{
    const int64_t from[] = {0, 5, 5, 20, SCORES};
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 0);
    for (int i = 0; i < SCORES; i++) score[i] = floor(20.0 * sn_random_uniform(&random)) / 10.0;
    for (int l = 0; l <= LISTS; l++) start[l] = from[l];
    for (int l = 0; l < LISTS; l++)
        qsort(score + start[l], (size_t)(start[l + 1] - start[l]), sizeof *score, sn_by_double);
}

TEST(interval_is_that_of_the_definition)
{
    int64_t start[LISTS + 1];
    double score[SCORES], room[SCORES], low, high;
    const double centre[LISTS] = {0.3, -2.0, 1.1, 0.7}, spread[LISTS] = {1.0, 2.0, 0.5, 3.0};
    for (uint64_t seed = 0; seed < 50; seed++) {
        make_scores(seed, start, score);
        const sn_score_lists lists = {LISTS, start, score};
        double below[SCORES], above[SCORES];
        for (int l = 0; l < LISTS; l++)
            for (int64_t i = start[l]; i < start[l + 1]; i++) {
                below[i] = centre[l] - spread[l] * score[i];
                above[i] = centre[l] + spread[l] * score[i];
            }
        qsort(below, SCORES, sizeof *below, sn_by_double);
        qsort(above, SCORES, sizeof *above, sn_by_double);
        for (int64_t rank = SCORES / 2 + 1; rank <= SCORES; rank++) {
            sn_conformal_interval(&lists, rank, centre, spread, room, &low, &high);
            assert_true(low == below[SCORES - rank] && high == above[rank - 1]);
        }
        sn_conformal_interval(&lists, SCORES + 1, centre, spread, room, &low, &high);
        assert_true(low == -INFINITY && high == INFINITY);
    }
}

TEST(one_list_is_the_quantile)
{
    const double score[] = {0.1, 0.5, 0.5, 0.9};
    const int64_t start[] = {0, 4};
    const sn_score_lists lists = {1, start, score};
    double low, high, room[4];
    const double centre = 2.0, spread = 3.0;
    sn_conformal_interval(&lists, 4, &centre, NULL, room, &low, &high);
    assert_true(low == 2.0 - 0.9 && high == 2.0 + 0.9);
    sn_conformal_interval(&lists, 2, &centre, &spread, room, &low, &high);
    assert_true(low == 2.0 - 1.5 && high == 2.0 + 1.5);
}

TEST(ties_are_not_below)
{
    const double score[] = {0.1, 0.5, 0.5, 0.9, 0.5, 0.6};
    const int64_t start[] = {0, 4, 6};
    const sn_score_lists lists = {2, start, score};
    assert_int_equal(sn_conformal_below(&lists, (double[]){0.5, 0.5}), 1);
    assert_int_equal(sn_conformal_below(&lists, (double[]){0.51, 0.6}), 4);
    assert_int_equal(sn_conformal_below(&lists, (double[]){9.0, 0.0}), 4);
}

TEST(class_scores)
{
    const double p[] = {0.2, 0.5, 0.2, 0.1};
    double score[4];
    int64_t order[4];
    sn_aps_scores(4, p, 0.5, order, score);
    const double expected[] = {0.6, 0.25, 0.8, 0.95}; /* of equal ones the first comes first */
    for (int c = 0; c < 4; c++) assert_true(fabs(score[c] - expected[c]) < 1e-12);
    sn_lac_scores(4, p, score);
    for (int c = 0; c < 4; c++) assert_true(fabs(score[c] - (1.0 - p[c])) < 1e-12);
}

/* Separated classes do not make a certainty, and a 0 where the label is gives a number. */
TEST(temperature_of_the_extremes)
{
    const double sure[] = {0.9, 0.1, 0.2, 0.8, 0.7, 0.3};
    const int32_t label[] = {0, 1, 0};
    const double t = sn_temperature_fit(3, 2, sure, label, NULL);
    assert_true(t > 0.1 && t < 1.0);
    const double wrong[] = {1.0, 0.0, 1.0, 0.0};
    const int32_t other[] = {1, 0};
    assert_true(isfinite(sn_temperature_fit(2, 2, wrong, other, NULL)));
    assert_true(fabs(sn_temperature_fit(0, 2, sure, label, NULL) - 1.0) < 1e-4);
    double p[] = {1.0, 0.0};
    sn_temperature_apply(1, 2, 2.0, p);
    assert_true(p[0] == 1.0 && p[1] == 0.0);
}

/* mean_i w_i -log q_i(T)[label_i] + t^2 / 2 at t = log T, every softmax written out. */
static double penalised_loss(int64_t n, int64_t classes, const double *p, const int32_t *label,
                             const double *weight, double t)
{
    double sum = 0.5 * t * t;
    for (int64_t i = 0; i < n; i++) {
        double all = 0.0;
        for (int64_t c = 0; c < classes; c++) all += exp(log(p[i * classes + c]) / exp(t));
        const double own = exp(log(p[i * classes + label[i]]) / exp(t)) / all;
        sum -= (weight != NULL ? weight[i] : 1.0) * log(own);
    }
    return sum;
}

/* The temperature is where the penalised loss is lowest, to the accuracy of the search, also near the ends.
 */
TEST(temperature_is_that_of_the_definition)
{
    const double sure[] = {0.7, 0.2, 0.1, 0.1, 0.6, 0.3, 0.25, 0.35, 0.4, 0.5, 0.3, 0.2, 0.05, 0.9, 0.05};
    const int32_t right[] = {0, 1, 2, 0, 1}, mixed[] = {0, 2, 2, 1, 1}, wrong[] = {2, 0, 0, 2, 0};
    const double weight[] = {1.0, 0.25, 3.0, 0.5, 2.0}, many[] = {900.0, 900.0, 900.0, 900.0, 900.0};
    const int32_t *const labels[] = {right, mixed, wrong};
    const double *const weights[] = {NULL, weight, many};
    for (int l = 0; l < 3; l++)
        for (int w = 0; w < 3; w++) {
            double best = -3.0, lowest = INFINITY;
            for (int k = 0; k <= 30000; k++) {
                const double t = -3.0 + 2e-4 * k, loss = penalised_loss(5, 3, sure, labels[l], weights[w], t);
                if (loss < lowest) {
                    lowest = loss;
                    best = t;
                }
            }
            const double found = log(sn_temperature_fit(5, 3, sure, labels[l], weights[w]));
            assert_true(fabs(found - best) < 2.5e-4);
        }
    double p[] = {0.7, 0.2, 0.1, 0.1, 0.6, 0.3};
    sn_temperature_apply(2, 3, 2.5, p);
    for (int i = 0; i < 2; i++) {
        double all = 0.0;
        for (int c = 0; c < 3; c++) all += pow(sure[i * 3 + c], 0.4);
        for (int c = 0; c < 3; c++) assert_true(fabs(p[i * 3 + c] - pow(sure[i * 3 + c], 0.4) / all) < 1e-14);
    }
    double hot[] = {0.0, 1e-200, 1e-190};
    sn_temperature_apply(1, 3, 0.5, hot); /* squares that are 0 in double precision */
    assert_true(hot[0] == 0.0 && fabs(hot[1] - 1e-20) < 1e-25 && hot[2] == 1.0);
}

RUN_TESTS(NULL, NULL)
