/* Held-out rows, what a constant and the linear model cost on them, by hand and by brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "choice/beside.h"
#include "engine/oracle.h"
#include "net/loss.h"
#include "stonet/linear.h"

enum { P = 3 };

static sn_stage_job job_on(const oracle *o, const sn_config *config)
{
    return (sn_stage_job){.shape = &o->shape,
                          .problem = &o->problem,
                          .rows = sn_rows_range(0, o->problem.n),
                          .config = config,
                          .seed = 3,
                          .threads = 1};
}

static void assert_near(double got, double expected)
{
    assert_true(fabs(got - expected) <= 1e-9 * fmax(1.0, fabs(expected)));
}

/* The mean loss of the best constant: half the variance, or the entropy of shares with half a row more. */
static void the_best_constant(void **state)
{
    (void)state;
    const double y[] = {1, 10, 2, 20, 4, 60};
    const int32_t label[] = {0, 2, 2};
    const float weight[] = {1, 2, 1};
    const int64_t list[] = {2, 0, 1};
    const sn_rows all = sn_rows_list(list, 3);
    sn_problem numbers = {.n = 3, .task = SN_REGRESSION, .outputs = 2, .y = y};
    sn_problem classes = {.n = 3, .task = SN_CLASSIFICATION, .outputs = 3, .label = label};
    double loss;
    assert_int_equal(sn_constant_loss(&numbers, &all, &loss), STONET_OK);
    assert_near(loss, 0.5 * ((16.0 + 1.0 + 25.0) / 9 + (400.0 + 100.0 + 900.0)) / 3);
    assert_int_equal(sn_constant_loss(&classes, &all, &loss), STONET_OK);
    assert_near(loss, -(log(1.5 / 4.5) + 2.0 * log(2.5 / 4.5)) / 3);
    numbers.weight = classes.weight = weight;
    assert_int_equal(sn_constant_loss(&numbers, &all, &loss), STONET_OK);
    const double a = 9.0 / 4, b = 110.0 / 4;
    assert_near(loss, 0.5 *
                          (pow(1 - a, 2) + pow(10 - b, 2) + 2 * (pow(2 - a, 2) + pow(20 - b, 2)) +
                           pow(4 - a, 2) + pow(60 - b, 2)) /
                          4);
    assert_int_equal(sn_constant_loss(&classes, &all, &loss), STONET_OK);
    assert_near(loss, -(log(1.5 / 5.5) + 3.0 * log(3.5 / 5.5)) / 4);
}

/* The rows of one part, or five, and no row in both of its lists; weights are to the mean of the held-out. */
static void parts(void **state)
{
    (void)state;
    static const int64_t sizes[] = {3, 7, 1999, 2000};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const int64_t n = sizes[k], width[] = {P, 2, 2};
        oracle o = oracle_make(2, width, SN_TANH, SN_REGRESSION, n, 4);
        float *weight = malloc((size_t)n * sizeof *weight);
        int *seen = calloc((size_t)n, sizeof *seen);
        assert_true(weight != NULL && seen != NULL);
        for (int64_t i = 0; i < n; i++) weight[i] = (float)(1 + i % 4);
        o.problem.weight = weight;
        const sn_stage_job job = job_on(&o, NULL);
        sn_holdout holdout;
        assert_int_equal(sn_holdout_make(&job, &holdout), STONET_OK);
        assert_int_equal(holdout.folds, n < 5 ? n : n < 2000 ? 5 : 1);
        double sum = 0.0;
        int64_t rows = 0;
        for (int f = 0; f < holdout.folds; f++) {
            const sn_fold *fold = &holdout.fold[f];
            assert_int_equal(fold->first, rows);
            assert_int_equal(fold->train.n + fold->test.n, n);
            for (int64_t i = 0; i < fold->test.n; i++) {
                seen[sn_rows_at(&fold->test, i)]++;
                sum += (double)weight[sn_rows_at(&fold->test, i)];
            }
            for (int64_t i = 0; i < fold->train.n; i++) seen[sn_rows_at(&fold->train, i)] += 10;
            rows += fold->test.n;
        }
        assert_int_equal(holdout.rows, rows);
        for (int64_t i = 0; i < n; i++) {
            assert_true(seen[i] == 10 * (holdout.folds - 1) + 1 || (holdout.folds == 1 && seen[i] == 10));
            assert_near(sn_held_out_weight(&holdout, &o.problem, i),
                        (double)weight[i] / (sum / (double)rows));
        }
        sn_holdout_free(&holdout);
        free(weight);
        free(seen);
        oracle_free(&o);
    }
}

static oracle draw(sn_task task, int64_t n, bool weighted)
{
    const int64_t width[] = {P, 2, task == SN_CLASSIFICATION ? 3 : 2};
    oracle o = oracle_make(2, width, SN_TANH, task, n, 6);
    for (int64_t r = 0; r < n; r++) {
        const float *x = o.x + r * P;
        for (int64_t c = 0; c < width[2]; c++) o.y[r * width[2] + c] += (double)x[c];
        o.label[r] = x[0] > 0.5F ? 2 : x[1] > 0.0F ? 1 : o.label[r];
    }
    if (!weighted) return o;
    float *weight = malloc((size_t)n * sizeof *weight);
    assert_non_null(weight);
    for (int64_t r = 0; r < n; r++) weight[r] = (float)(1 + r % 3) / 2.0F;
    o.problem.weight = weight;
    return o;
}

/* The constant of the training rows for every fold, and what it costs on the others. */
static void the_constant_on_held_out_rows(void **state)
{
    (void)state;
    enum { N = 61 };
    for (int which = 0; which < 4; which++) {
        oracle o = draw((sn_task)(which % 2), N, which >= 2);
        const int64_t m = o.problem.outputs;
        const sn_stage_job job = job_on(&o, NULL);
        sn_holdout holdout;
        sn_held_out cost = {0};
        assert_int_equal(sn_holdout_make(&job, &holdout), STONET_OK);
        assert_int_equal(sn_constant_measure(&o.problem, &holdout, &cost), STONET_OK);
        double sum = 0.0, errors = 0.0;
        for (int f = 0; f < holdout.folds; f++) {
            const sn_fold *fold = &holdout.fold[f];
            double total[3] = {0}, weights = 0.0;
            for (int64_t i = 0; i < fold->train.n; i++) {
                const int64_t row = sn_rows_at(&fold->train, i);
                const double weight = sn_problem_weight(&o.problem, row);
                weights += weight;
                for (int64_t c = 0; c < m; c++)
                    total[c] += weight * (which % 2 == 1 ? o.label[row] == c : o.y[row * m + c]);
            }
            int32_t most = 0;
            for (int32_t c = 1; c < m; c++) most = total[c] > total[most] ? c : most;
            for (int64_t i = 0; i < fold->test.n; i++) {
                const int64_t row = sn_rows_at(&fold->test, i);
                double loss = 0.0;
                if (which % 2 == 1) loss = -log((total[o.label[row]] + 0.5) / (weights + 0.5 * (double)m));
                for (int64_t c = 0; which % 2 == 0 && c < m; c++)
                    loss += 0.5 * pow(o.y[row * m + c] - total[c] / weights, 2);
                loss *= sn_held_out_weight(&holdout, &o.problem, row);
                assert_near(cost.loss[fold->first + i], loss);
                sum += loss / N;
                if (o.label[row] != most) errors += sn_held_out_weight(&holdout, &o.problem, row) / N;
            }
        }
        assert_near(cost.mean, sum);
        if (which % 2 == 1)
            assert_near(cost.error_rate, errors);
        else
            assert_true(isnan(cost.error_rate));
        sn_free(cost.loss);
        sn_holdout_free(&holdout);
        free((void *)o.problem.weight);
        oracle_free(&o);
    }
}

/* The losses of the linear model at one penalty: fitted to each fold's training rows, felt on the others. */
static void linear_losses(const sn_stage_job *job, const sn_holdout *holdout, const sn_shape *shape,
                          double penalty, double *loss, double *errors)
{
    const sn_problem *problem = job->problem;
    const int64_t m = problem->outputs;
    float theta[256];
    assert_true(shape->parameters <= 256);
    *errors = 0.0;
    for (int f = 0; f < holdout->folds; f++) {
        const sn_fold *fold = &holdout->fold[f];
        bool found;
        const sn_ridge ridge = {.l2 = penalty * (double)fold->train.n, .enough = 1e-3};
        assert_int_equal(sn_linear_fit(shape, problem, &fold->train, ridge, NULL, theta, &found), STONET_OK);
        assert_true(found);
        for (int64_t i = 0; i < fold->test.n; i++) {
            const int64_t row = sn_rows_at(&fold->test, i);
            double value[2][8] = {{0}};
            for (int64_t j = 0; j < shape->width[0]; j++) value[0][j] = (double)problem->x[row * P + j];
            for (int l = 0; l < shape->layers; l++) /* every activation is the identity */
                for (int64_t a = 0; a < shape->width[l + 1]; a++) {
                    value[(l + 1) % 2][a] = (double)theta[shape->bias_at[l] + a];
                    for (int64_t j = 0; j < shape->width[l]; j++)
                        value[(l + 1) % 2][a] +=
                            (double)theta[shape->weight_at[l] + a * shape->width[l] + j] * value[l % 2][j];
                }
            const double *mu = value[shape->layers % 2];
            double sum = 0.0;
            int64_t most = 0;
            for (int64_t c = 0; c < m; c++) {
                sum += problem->label != NULL ? exp(mu[c]) : 0.5 * pow(problem->y[row * m + c] - mu[c], 2);
                most = mu[c] > mu[most] ? c : most;
            }
            const double weight = sn_held_out_weight(holdout, problem, row);
            loss[fold->first + i] =
                weight * (problem->label != NULL ? log(sum) - mu[problem->label[row]] : sum);
            if (problem->label != NULL && problem->label[row] != most) *errors += weight;
        }
    }
}

static void the_linear_model_at_its_best_penalty(void **state)
{
    (void)state;
    enum { N = 64, PENALTIES = 7 }; /* the last two in turn, while the least so far is the best */
    static const double penalties[PENALTIES] = {0.003, 0.0003, 0.03, 0.1, 0.3, 3e-5, 3e-6};
    const sn_config config = {.engine = sn_engine_find("ref")};
    for (int which = 0; which < 4; which++) {
        oracle o = draw((sn_task)(which % 2), N, which >= 2);
        const sn_stage_job job = job_on(&o, &config);
        sn_holdout holdout;
        sn_baseline got;
        sn_shape shape;
        double best[N], loss[N], errors, best_errors = 0.0, least = INFINITY, penalty = 0.0;
        assert_int_equal(sn_holdout_make(&job, &holdout), STONET_OK);
        assert_int_equal(sn_baseline_measure(&job, &holdout, &got), STONET_OK);
        assert_int_equal(sn_linear_shape(&o.shape, P, o.problem.outputs, &shape), STONET_OK);
        for (int k = 0; k < PENALTIES; k++) {
            double mean = 0.0;
            if (k >= 5 && penalty != penalties[k == 5 ? 1 : 5]) break;
            linear_losses(&job, &holdout, &shape, penalties[k], loss, &errors);
            for (int i = 0; i < N; i++) mean += loss[i] / N;
            if (mean >= least) continue;
            least = mean;
            best_errors = errors;
            penalty = penalties[k];
            memcpy(best, loss, sizeof best);
        }
        assert_true(got.penalty == penalty);
        for (int i = 0; i < N; i++) assert_true(fabs(got.linear.loss[i] - best[i]) < 1e-4);
        assert_true(fabs(got.linear.mean - least) < 1e-4);
        if (which % 2 == 1) assert_near(got.linear.error_rate, best_errors / N);
        assert_true(got.linear.mean < got.constant.mean);
        sn_baseline_free(&got);
        sn_holdout_free(&holdout);
        free((void *)o.problem.weight);
        oracle_free(&o);
    }
}

/* A response without noise wants next to no penalty. */
static void a_faint_penalty(void **state)
{
    (void)state;
    enum { N = 64 };
    const sn_config config = {.engine = sn_engine_find("ref")};
    oracle o = draw(SN_REGRESSION, N, false);
    for (int64_t i = 0; i < N * o.problem.outputs; i++)
        o.y[i] = (double)o.x[i / o.problem.outputs * P] - (double)o.x[i / o.problem.outputs * P + 1];
    const sn_stage_job job = job_on(&o, &config);
    sn_holdout holdout;
    sn_baseline got;
    assert_int_equal(sn_holdout_make(&job, &holdout), STONET_OK);
    assert_int_equal(sn_baseline_measure(&job, &holdout, &got), STONET_OK);
    assert_true(got.penalty == 3e-6);
    sn_baseline_free(&got);
    sn_holdout_free(&holdout);
    oracle_free(&o);
}

/* Each part has its share of each class, the first row's too. */
static void classes_in_parts(void **state)
{
    (void)state;
    enum { N = 10, FOLDS = 5 };
    const int32_t label[N] = {1, 0, 0, 1, 0, 1, 1, 0, 1, 0};
    const sn_problem problem = {.n = N, .p = 1, .task = SN_CLASSIFICATION, .outputs = 2, .label = label};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const sn_stage_job job = {.problem = &problem, .rows = sn_rows_range(0, N), .seed = seed};
        sn_holdout holdout;
        assert_int_equal(sn_holdout_make(&job, &holdout), STONET_OK);
        assert_int_equal(holdout.folds, FOLDS);
        for (int f = 0; f < FOLDS; f++) {
            assert_int_equal(holdout.fold[f].test.n, 2);
            assert_int_equal(
                label[sn_rows_at(&holdout.fold[f].test, 0)] + label[sn_rows_at(&holdout.fold[f].test, 1)], 1);
        }
        sn_holdout_free(&holdout);
    }
}

/* 10,000 rows held out are enough; the others stay with the training rows. */
static void many_rows(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{49000, 9800}, {51000, 10000}};
    for (int k = 0; k < 2; k++) {
        const sn_problem problem = {.n = sizes[k][0], .p = 1, .task = SN_REGRESSION, .outputs = 1};
        const sn_stage_job job = {.problem = &problem, .rows = sn_rows_range(0, sizes[k][0]), .seed = 3};
        sn_holdout holdout;
        assert_int_equal(sn_holdout_make(&job, &holdout), STONET_OK);
        assert_int_equal(holdout.folds, 1);
        assert_int_equal(holdout.rows, sizes[k][1]);
        assert_int_equal(holdout.fold[0].train.n, sizes[k][0] - sizes[k][1]);
        sn_holdout_free(&holdout);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_in_parts),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(the_best_constant),
        cmocka_unit_test(parts),
        cmocka_unit_test(the_constant_on_held_out_rows),
        cmocka_unit_test(the_linear_model_at_its_best_penalty),
        cmocka_unit_test(a_faint_penalty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
