/* Golden values: hand computation, and golden/make_stats_golden.py for the t-test. */
#include <stonet/stonet.h>

#include "stats/distributions.h"
#include "stats/metrics.h"
#include "stats/test_textbook.h"

static stonet_scores of_classes(int64_t n, int64_t classes, const double *probability, const int32_t *label,
                                const double *weight)
{
    stonet_scores scores;
    OK(sn_score_classes(&(sn_class_rows){n, classes, probability, label, weight}, &scores));
    return scores;
}

static stonet_scores of_numbers(int64_t n, int64_t outputs, const double *predicted, const double *y,
                                const double *weight)
{
    stonet_scores scores;
    sn_score_numbers(n, outputs, predicted, y, weight, &scores);
    return scores;
}

TEST(test_classification)
{
    const double probability[] = {0.7, 0.2, 0.1, 0.4, 0.4, 0.2, 0.0, 1.0, 0.0, 0.1, 0.1, 0.8};
    const int32_t label[] = {0, 1, 0, 2}; /* right, a tie lost to class 0, surely wrong, right */
    const stonet_scores found = of_classes(4, 3, probability, label, NULL);
    assert_near(found.error_rate, 0.5, 1e-13);
    assert_near(found.accuracy, 0.5, 1e-13);
    assert_near(found.log_loss, -(log(0.7) + log(0.4) + log(1e-15) + log(0.8)) / 4, 1e-13);
    /* class 0: .7 > .4 and .1, 0 above neither; class 1: .4 > .2 and .1 alone; class 2: .8 > all */
    assert_near(found.auc, (2.0 / 4.0 + 2.0 / 3.0 + 1.0) / 3.0, 1e-13);
    const int32_t certain[] = {1};
    assert_true(of_classes(1, 3, probability + 6, certain, NULL).log_loss > 0.0); /* 1 is clipped too */
    const stonet_scores none = of_classes(0, 3, probability, label, NULL);
    assert_true(isnan(none.error_rate) && isnan(none.log_loss));
}

TEST(test_regression)
{
    const double y[] = {1, 2, 3, 4};
    const double predicted[] = {1.5, 2, 2.5, 4};
    const stonet_scores found = of_numbers(4, 1, predicted, y, NULL),
                        none = of_numbers(0, 1, predicted, y, NULL);
    assert_near(found.mse, 0.125, 1e-13);
    assert_near(found.r2, 1.0 - 0.5 / 5.0, 1e-13);
    assert_near(found.correlation, 4.0 / sqrt(3.5 * 5.0), 1e-13);
    assert_true(isnan(none.mse) && isnan(none.r2) && isnan(none.correlation));
}

TEST(test_several_outputs)
{
    /* first output as above, second reversed and scaled */
    const double y[] = {1, 1, 2, 2, 3, 3, 4, 4};
    const double predicted[] = {1.5, 4, 2, 3, 2.5, 2, 4, 1};
    const stonet_scores found = of_numbers(4, 2, predicted, y, NULL);
    assert_near(found.mse, (0.5 + 20.0) / 8, 1e-13);
    assert_near(found.r2, (0.9 + (1.0 - 20.0 / 5.0)) / 2, 1e-13);
    assert_near(found.correlation, (4.0 / sqrt(3.5 * 5.0) - 1.0) / 2, 1e-13);
}

TEST(test_constant_columns)
{
    const double flat[] = {2, 2, 2};
    const double other[] = {1, 2, 3};
    assert_near(of_numbers(3, 1, flat, flat, NULL).r2, 1.0, 1e-13);
    assert_near(of_numbers(3, 1, other, flat, NULL).r2, 0.0, 1e-13);
    assert_near(of_numbers(3, 1, flat, other, NULL).correlation, 0.0, 1e-13);
    assert_near(of_numbers(3, 1, other, flat, NULL).correlation, 0.0, 1e-13);
}

TEST(test_standard_error)
{
    const double v[] = {1, 2, 3, 4, 10};
    assert_near(sn_standard_error(5, v), sqrt(2.5), 1e-13);
    assert_near(sn_standard_error(1, v), 0.0, 1e-13);
    assert_true(isnan(sn_standard_error(0, v)));
}

TEST(test_probabilities)
{
    /* Five rows of two classes; the probabilities of the second are .1 .4 .35 .8 .4. */
    const double p[] = {0.9, 0.1, 0.6, 0.4, 0.65, 0.35, 0.2, 0.8, 0.6, 0.4};
    const int32_t label[] = {0, 0, 1, 1, 1};
    int64_t table[9];
    const stonet_scores found = of_classes(5, 2, p, label, NULL);
    assert_near(found.brier, 2.0 * (0.01 + 0.16 + 0.4225 + 0.04 + 0.36) / 5.0, 1e-13);
    /* Pairs in order: .35 > .1, .8 > both, .4 > .1 and ties with .4. */
    assert_near(found.auc, (1.0 + 2.0 + 1.5) / 6.0, 1e-13);
    assert_true(isnan(of_classes(2, 2, p, label, NULL).auc));
    sn_confusion(&(sn_class_rows){5, 2, p, label, NULL}, table);
    assert_true(table[0] == 2 && table[1] == 0 && table[2] == 2 && table[3] == 1);
    assert_near(found.balanced_accuracy, (1.0 + 1.0 / 3.0) / 2.0, 1e-13);
    /* Largest: .9 right, .6 right, .65 wrong, .8 right, .6 wrong; bins of .9 (13th: (.867, .933]), of .6
       twice (9th, (.533, .6]), of .65 (10th), of .8 (12th). */
    assert_near(found.calibration_error, (0.1 + 0.2 + 0.65 + 0.2) / 5.0, 1e-13);
    const double sure[] = {1.0, 0.0, 0.0, 1.0};
    assert_near(of_classes(2, 2, sure, label, NULL).calibration_error, 0.5, 1e-13);
    /* A class without rows has no say. */
    const double three[] = {0.9, 0.1, 0.0, 0.1, 0.9, 0.0};
    const int32_t two[] = {0, 0};
    assert_near(of_classes(2, 3, three, two, NULL).balanced_accuracy, 0.5, 1e-13);
}

/* Whole weights are rows that come several times. */
TEST(test_weights_repeat_rows)
{
    const double p[] = {0.9, 0.1, 0.3, 0.7, 0.65, 0.35, 0.2, 0.8}, weight[] = {2, 0, 3, 1};
    const int32_t label[] = {0, 1, 1, 1}, many_label[] = {0, 0, 1, 1, 1, 1};
    const double many[] = {0.9, 0.1, 0.9, 0.1, 0.65, 0.35, 0.65, 0.35, 0.65, 0.35, 0.2, 0.8};
    const double y[] = {1, 5, 2, 4}, guess[] = {1.5, 3, 2.5, 3}, many_y[] = {1, 1, 2, 2, 2, 4},
                 many_guess[] = {1.5, 1.5, 2.5, 2.5, 2.5, 3};
    const stonet_scores one = of_classes(4, 2, p, label, weight),
                        all = of_classes(6, 2, many, many_label, NULL);
    assert_near(one.error_rate, all.error_rate, 1e-13);
    assert_near(one.log_loss, all.log_loss, 1e-13);
    assert_near(one.brier, all.brier, 1e-13);
    assert_near(one.calibration_error, all.calibration_error, 1e-13);
    assert_near(one.balanced_accuracy, all.balanced_accuracy, 1e-13);
    assert_near(one.auc, all.auc, 1e-13);
    const stonet_scores own = of_numbers(4, 1, guess, y, weight),
                        rows = of_numbers(6, 1, many_guess, many_y, NULL);
    assert_near(own.mse, rows.mse, 1e-13);
    assert_near(own.r2, rows.r2, 1e-13);
    assert_near(own.correlation, rows.correlation, 1e-13);
}

TEST(test_paired_t)
{
    const double a[] = {0.12, 0.15, 0.11, 0.18, 0.14};
    const double b[] = {0.13, 0.19, 0.12, 0.17, 0.20};
    const double shifted[] = {1.25, 2.25, 3.25};
    const double whole[] = {1, 2, 3};
    assert_near(stonet_paired_t_test(5, a, b), 0.1509440536690174, 1e-13);
    assert_near(stonet_paired_t_test(5, b, a), 0.1509440536690174, 1e-13);
    assert_near(stonet_paired_t_test(5, a, a), 1.0, 1e-13);
    assert_near(stonet_paired_t_test(3, shifted, whole), 0.0, 1e-13);
    assert_near(stonet_paired_t_test(1, a, b), 1.0, 1e-13);
    assert_near(stonet_paired_t_test(5, a, NULL), 1.0, 1e-13);
    assert_near(stonet_paired_t_test(5, NULL, b), 1.0, 1e-13);
    /* The same t over sqrt(1 + 5 / 4), with 4 degrees of freedom. */
    const double t = sn_fold_t_test(5, 5, a, b), plain = stonet_paired_t_test(5, a, b);
    assert_true(t > plain && fabs(t - sn_t_two_sided(4.0, 1.7728105 / 1.5)) < 1e-4);
    assert_near(sn_fold_t_test(5, 5, b, a), t, 1e-13);
    assert_true(isnan(sn_fold_t_test(5, 5, a, a)) && isnan(sn_fold_t_test(3, 5, shifted, whole)));
    const double low[] = {0.1, 0.2, 0.3}, high[] = {0.2, 0.3, 0.4}; /* the same but for rounding */
    assert_true(isnan(sn_fold_t_test(3, 5, low, high)));
    assert_true(isnan(sn_fold_t_test(1, 5, a, b)) && isnan(sn_fold_t_test(0, 5, a, b)));
}

RUN_TESTS(NULL, NULL)
