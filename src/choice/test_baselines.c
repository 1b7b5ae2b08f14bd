/* A constant guess and linear regression on held-out rows, by hand and by the normal equations. */
#include "base/test_kit.h"
#include "choice/baselines.h"
#include "engine/test_oracle.h"
#include "math/linalg.h"

enum { N = 61, P = 3, M = 2 };

static void assert_near(double got, double expected)
{
    assert_true(fabs(got - expected) <= 1e-9 * fmax(1.0, fabs(expected)));
}

/* The mean loss of the best constant: half the variance, or the entropy of shares with half a row more. */
TEST(the_best_constant)
{
    const double y[] = {1, 10, 2, 20, 4, 60};
    const int32_t label[] = {0, 2, 2};
    const float weight[] = {1, 2, 1};
    const int64_t list[] = {2, 0, 1};
    const sn_rows all = sn_rows_list(list, 3);
    sn_problem numbers = {.n = 3, .task = SN_REGRESSION, .outputs = 2, .y = y};
    sn_problem classes = {.n = 3, .task = SN_CLASSIFICATION, .outputs = 3, .label = label};
    double loss;
    OK(sn_constant_loss(&numbers, &all, &loss));
    assert_near(loss, 0.5 * ((16.0 + 1.0 + 25.0) / 9 + (400.0 + 100.0 + 900.0)) / 3);
    OK(sn_constant_loss(&classes, &all, &loss));
    assert_near(loss, -(log(1.5 / 4.5) + 2.0 * log(2.5 / 4.5)) / 3);
    numbers.weight = classes.weight = weight;
    OK(sn_constant_loss(&numbers, &all, &loss));
    const double a = 9.0 / 4, b = 110.0 / 4;
    assert_near(loss, 0.5 *
                          (pow(1 - a, 2) + pow(10 - b, 2) + 2 * (pow(2 - a, 2) + pow(20 - b, 2)) +
                           pow(4 - a, 2) + pow(60 - b, 2)) /
                          4);
    OK(sn_constant_loss(&classes, &all, &loss));
    assert_near(loss, -(log(1.5 / 5.5) + 3.0 * log(3.5 / 5.5)) / 4);
}

/* Six rows of ten have the first class: Wilson's interval of 4 in 10 (with half a row more for each
   class, 4.5 in 11), or as far as the held-out estimate if that lies beyond. */
TEST(the_interval_of_a_constant)
{
    static const int32_t label[] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 0};
    const sn_problem problem = {.n = 10, .task = SN_CLASSIFICATION, .outputs = 2, .label = label};
    const sn_rows all = sn_rows_range(0, 10);
    const double z2 = 1.959963984540054 * 1.959963984540054, p = 4.5 / 11.0;
    const double middle = (p + z2 / 20.0) / (1.0 + z2 / 10.0),
                 half = sqrt(z2 * (p * (1.0 - p) / 10.0 + z2 / 400.0)) / (1.0 + z2 / 10.0);
    sn_estimate estimate = {.error = 0.5};
    OK(sn_constant_interval(&problem, &all, &estimate));
    assert_near(estimate.low, middle - half);
    assert_near(estimate.high, middle + half);
    estimate.error = 0.9;
    OK(sn_constant_interval(&problem, &all, &estimate));
    assert_true(estimate.high == 0.9 && estimate.low < 0.2);
}

/* y and classes that depend on x, with weights or without. */
static oracle draw(sn_task task, float *weight, sn_folds *folds)
{
    const int64_t width[] = {P, 2, M};
    const sn_rows all = sn_rows_range(0, N);
    oracle o = oracle_make(2, width, SN_TANH, task, N, 6);
    for (int64_t r = 0; r < N; r++) {
        o.label[r] = (double)(o.x[r * P] + 0.5F * o.x[r * P + 1]) + 0.5 * o.y[r * M] > 0.2;
        for (int64_t c = 0; c < M; c++) o.y[r * M + c] += 1.0 + (double)o.x[r * P + c];
        if (weight != NULL) weight[r] = (float)(1 + r % 3) / 2.0F;
    }
    o.problem.weight = weight;
    OK(sn_folds_make(&o.problem, &all, 3, folds));
    return o;
}

/* The constant of each fold's training rows on the others. */
TEST(the_constant_on_held_out_rows)
{
    for (int which = 0; which < 4; which++) {
        float weight[N];
        SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
        SN_FREED_BY(sn_held_out_free) sn_held_out cost = {0};
        const bool classes = which % 2 == 1;
        SN_FREED_BY(oracle_free)
        oracle o = draw(classes ? SN_CLASSIFICATION : SN_REGRESSION, which >= 2 ? weight : NULL, &folds);
        OK(sn_held_out_create(&folds, &cost));
        OK(sn_constant_measure(&o.problem, &folds, &cost));
        for (int f = 0; f < folds.count; f++) {
            const sn_fold *fold = &folds.fold[f];
            double total[M] = {0}, weights = 0.0;
            for (int64_t i = 0; i < fold->train.n; i++) {
                const int64_t row = sn_rows_at(&fold->train, i);
                const double w = sn_problem_weight(&o.problem, row);
                weights += w;
                for (int c = 0; c < M; c++) total[c] += w * (classes ? o.label[row] == c : o.y[row * M + c]);
            }
            for (int64_t i = 0; i < fold->test.n; i++) {
                const int64_t row = sn_rows_at(&fold->test, i);
                const double w = sn_folds_weight(&folds, &o.problem, row);
                double loss = 0.0;
                if (classes) loss = -log((total[o.label[row]] + 0.5) / (weights + 0.5 * M));
                for (int c = 0; !classes && c < M; c++)
                    loss += 0.5 * pow(o.y[row * M + c] - total[c] / weights, 2);
                assert_near(cost.loss[fold->first + i], w * loss);
                assert_near(cost.wrong[fold->first + i],
                            classes && o.label[row] != (total[1] > total[0]) ? w : 0.0);
            }
        }
    }
}

/* (X'X + l2 I) b = X'y of centred columns, over the training rows of a fold; the held-out losses of it. */
static void ridge_by_hand(const oracle *o, const sn_fold *fold, double penalty, double *loss)
{
    const double n = (double)fold->train.n;
    double x_mean[P] = {0}, y_mean[M] = {0}, gram[P * P] = {0}, b[P * M] = {0};
    for (int64_t i = 0; i < fold->train.n; i++) {
        const int64_t row = sn_rows_at(&fold->train, i);
        for (int j = 0; j < P; j++) x_mean[j] += (double)o->x[row * P + j] / n;
        for (int c = 0; c < M; c++) y_mean[c] += o->y[row * M + c] / n;
    }
    for (int64_t i = 0; i < fold->train.n; i++) {
        const int64_t row = sn_rows_at(&fold->train, i);
        for (int j = 0; j < P; j++) {
            const double x = (double)o->x[row * P + j] - x_mean[j];
            for (int k = 0; k < P; k++) gram[j * P + k] += x * ((double)o->x[row * P + k] - x_mean[k]);
            for (int c = 0; c < M; c++) b[j * M + c] += x * (o->y[row * M + c] - y_mean[c]);
        }
    }
    for (int j = 0; j < P; j++) gram[j * P + j] += penalty * n;
    OK(sn_solve_spd(P, gram, M, b));
    for (int64_t i = 0; i < fold->test.n; i++) {
        const int64_t row = sn_rows_at(&fold->test, i);
        loss[i] = 0.0;
        for (int c = 0; c < M; c++) {
            double mu = y_mean[c];
            for (int j = 0; j < P; j++) mu += b[j * M + c] * ((double)o->x[row * P + j] - x_mean[j]);
            loss[i] += 0.5 * pow(o->y[row * M + c] - mu, 2);
        }
    }
}

TEST(ridge_is_that_of_the_normal_equations)
{
    SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
    SN_FREED_BY(sn_held_out_free) sn_held_out cost = {0};
    SN_FREED_BY(sn_baselines_free) sn_baselines baselines = {0};
    SN_FREED_BY(oracle_free) oracle o = draw(SN_REGRESSION, NULL, &folds);
    const double penalties[] = {0.003, 0.3, 0.03, 3e-4, 3e-5};
    double least = (double)INFINITY, loss[N];
    bool found;
    OK(sn_held_out_create(&folds, &cost));
    for (int k = 0; k < 5; k++) {
        double mean = 0.0;
        for (int f = 0; f < folds.count; f++) {
            ridge_by_hand(&o, &folds.fold[f], penalties[k], loss);
            OK(sn_linear_measure(&o.problem, &folds, f, penalties[k], NULL, &cost, &found));
            assert_true(found);
            for (int64_t i = 0; i < folds.fold[f].test.n; i++) {
                assert_true(fabs(cost.loss[folds.fold[f].first + i] - loss[i]) < 1e-4 * (1.0 + loss[i]));
                mean += loss[i] / N;
            }
        }
        least = fmin(least, mean);
    }
    /* and beside a network stands the best of the penalties */
    OK(sn_baselines_measure(&o.problem, &folds, &o.shape, NULL, &baselines));
    assert_true(fabs(sn_mean_loss(baselines.linear.loss, 0, N) - least) < 1e-5);
    assert_true(sn_mean_loss(baselines.linear.loss, 0, N) < sn_mean_loss(baselines.constant.loss, 0, N));
}

/* Logistic regression says something of classes; where there is one class alone, there is none. */
TEST(classes)
{
    SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
    SN_FREED_BY(sn_baselines_free) sn_baselines baselines = {0};
    SN_FREED_BY(oracle_free) oracle o = draw(SN_CLASSIFICATION, NULL, &folds);
    OK(sn_baselines_measure(&o.problem, &folds, &o.shape, NULL, &baselines));
    assert_true(sn_mean_loss(baselines.linear.loss, 0, N) <
                0.9 * sn_mean_loss(baselines.constant.loss, 0, N));
    assert_true(sn_mean_loss(baselines.linear.wrong, 0, N) < sn_mean_loss(baselines.constant.wrong, 0, N));
    sn_baselines_free(&baselines);
    for (int i = 0; i < N; i++) o.label[i] = 1;
    OK(sn_baselines_measure(&o.problem, &folds, &o.shape, NULL, &baselines));
    assert_null(baselines.linear.loss);
}

RUN_TESTS(NULL, NULL)
