/* Fits with settings that are given: what they learn, how they end, and the same bits always. */
#include "choice/test_fit.h"
#include "base/memory.h"
#include "base/test_kit.h"
#include "engine/test_oracle.h"
#include "net/regression.h"
#include "stonet/test_table.h"

/* A learnable problem: y = x1 x2 (regression), or its sign (two classes). */
static oracle make_problem(sn_task task, int64_t n)
{
    const int64_t width[] = {3, 4, task == SN_CLASSIFICATION ? 2 : 1};
    oracle o = oracle_make(2, width, SN_TANH, task, n, 17);
    for (int64_t r = 0; r < n; r++) {
        o.y[r * width[2]] = (double)(o.x[3 * r] * o.x[3 * r + 1]);
        o.label[r] = o.x[3 * r] * o.x[3 * r + 1] > 0.0F;
    }
    return o;
}

static void assert_finite(const sn_stonet *net)
{
    for (int64_t j = 0; j < net->network.shape.parameters; j++) assert_true(isfinite(net->network.theta[j]));
}

TEST(test_learns_a_product)
{
    SN_FREED_BY(oracle_free) oracle o = make_problem(SN_REGRESSION, 300);
    SN_AUTO(sn_stonet) *net = fit_with(&o.problem, 2, "epochs 200 weight_decay 0 hidden 16", NULL, NULL);
    assert_true(net->training_loss < 0.05); /* |y|^2/2 is about 0.5 */
    assert_int_equal(net->settings_tried, 0);
    assert_int_equal(net->iterations, 200 * (300 / 64) + 30);
    assert_non_null(strstr(net->network.history.text, "\nsdr,30,"));
}

TEST(test_divergence_keeps_the_last_good_model)
{
    SN_FREED_BY(oracle_free) oracle o = make_problem(SN_REGRESSION, 100);
    stonet_outcome outcome;
    SN_AUTO(sn_stonet) *net = fit_with(&o.problem, 2, "epochs 50 weight_decay 0 lr 500", NULL, &outcome);
    assert_int_equal(outcome, STONET_DIVERGED);
    assert_finite(net);
}

static void count_new_beginnings(stonet_level level, const char *text, void *user)
{
    (void)level;
    *(int *)user += strstr(text, "starting again with a third of the step") != NULL;
}

/* With next to no friction, networks on kernel features win on the folds and diverge on all rows. The second
   choice takes x itself, and must not find the kernel of the first. */
TEST(a_fit_that_begins_again_has_no_front_of_before)
{
    enum { FEW = 100 };
    const struct {
        uint64_t seed;
        const char *epochs;
    } at[] = {{3, "22"}, {4, "19"}, {29, "16"}, {51, "13"}};
    int again = 0;
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        const int64_t width[] = {3, 4, 1};
        SN_FREED_BY(oracle_free) oracle o = oracle_make(2, width, SN_TANH, SN_REGRESSION, FEW, at[k].seed);
        for (int64_t r = 0; r < FEW; r++)
            o.y[r] = tanh(2.0 * (double)o.x[3 * r]) + 0.3 * (double)o.x[3 * r + 1];
        const stonet_run run = {.size = sizeof run,
                                .seed = at[k].seed,
                                .threads = 1,
                                .on_message = count_new_beginnings,
                                .user = &again};
        SN_AUTO(sn_stonet) *net = fit_with(
            &o.problem, 1,
            text_of("momentum 0.9999 schedule constant batch 10 activation tanh front_complexity 0.5 "
                    "front_landmarks 10 epochs %s",
                    at[k].epochs),
            &run, NULL);
        assert_int_equal(net->front != NULL ? net->front->outputs : 3, net->network.shape.width[0]);
    }
    assert_true(again > 0);
}

TEST(test_stopping_leaves_a_usable_model)
{
    SN_FREED_BY(oracle_free) oracle o = make_problem(SN_CLASSIFICATION, 120);
    float z[120];
    for (int open = 0; open < 2; open++) {
        for (int calls = 0; calls < 3000; calls = 3 * calls + 7) {
            int64_t left = calls;
            const stonet_run run = {
                .size = sizeof run, .seed = 1, .threads = 1, .should_stop = stop_after, .user = &left};
            stonet_outcome outcome;
            SN_AUTO(sn_stonet) *net =
                fit_with(&o.problem, 1, open ? "" : "epochs 100 weight_decay 0", &run, &outcome);
            if (calls < 90) assert_int_equal(outcome, STONET_STOPPED);
            assert_finite(net);
            OK(sn_stonet_reduce(net, &o.problem, false, 1, z));
            for (int i = 0; i < 120; i++) assert_true(isfinite(z[i]));
        }
    }
}

TEST(test_lasso_zeroes_weights)
{
    SN_FREED_BY(oracle_free) oracle o = make_problem(SN_REGRESSION, 200);
    const char *const pairs = "epochs 100 weight_decay 0 l1 0.02 hidden 10";
    SN_AUTO(sn_stonet) *net = fit_with(&o.problem, 2, pairs, NULL, NULL);
    int64_t zeros = 0;
    for (int64_t j = 0; j < 30; j++) zeros += net->network.theta[net->network.shape.weight_at[0] + j] == 0.0F;
    assert_true(zeros >= 10); /* the third input says nothing about y */
}

/* A whole fit, with selection, both stages and a refit, that never has its features in one piece. Large
   batches, so that there are shards; the bits are the same with 1 and 3 threads. */
TEST(test_a_fit_by_rows_is_the_same_fit)
{
    SN_FREED_BY(oracle_free) oracle o = make_problem(SN_CLASSIFICATION, 2300);
    const char *const pairs = "epochs 12 batch 600 hidden 12 output refit sdr_iterations 3";
    table_rows source = table_of_rows(o.x, 3, 0);
    source.base.raw = o.x;
    source.base.raw_width = 3;
    sn_problem by_rows = o.problem;
    by_rows.x = NULL;
    by_rows.source = &source.base;
    SN_AUTO(sn_stonet) *dense = fit_with(&o.problem, 2, pairs, NULL, NULL);
    for (int threads = 1; threads <= 3; threads += 2) {
        const stonet_run run = {.size = sizeof run, .seed = 1, .threads = threads};
        SN_AUTO(sn_stonet) *net = fit_with(&by_rows, 2, pairs, &run, NULL);
        assert_true(net->settings_tried > 0);
        assert_memory_equal(net->network.theta, dense->network.theta,
                            (size_t)net->network.shape.parameters * sizeof *net->network.theta);
        assert_true(net->training_loss == dense->training_loss && net->held_out.loss == dense->held_out.loss);
    }
}

TEST(test_tiny_data)
{
    for (int64_t n = 2; n <= 8; n++) {
        SN_FREED_BY(oracle_free) oracle o = make_problem(SN_CLASSIFICATION, n);
        o.label[0] = 0;
        o.label[1] = 1;
        SN_AUTO(sn_stonet) *net = fit_with(&o.problem, 2, "", NULL, NULL);
        assert_finite(net);
    }
}

/* Four classes by two signs, which one column of Z cannot tell apart as well as three: the networks of the
   folds go on with one unit. The printed error moves, and its interval with it. */
TEST(an_interval_is_of_the_printed_error)
{
    const int64_t width[] = {3, 4, 4}, dim[] = {3, 1};
    SN_FREED_BY(oracle_free) oracle o = oracle_make(2, width, SN_TANH, SN_CLASSIFICATION, 200, 17);
    for (int64_t r = 0; r < 200; r++) o.label[r] = 2 * (o.x[3 * r] > 0.0F) + (o.x[3 * r + 1] > 0.0F);
    const char *const pairs = "epochs 30 front none activation tanh";
    sn_estimate found[2];
    for (int k = 0; k < 2; k++) {
        SN_AUTO(sn_stonet) *net = fit_with(&o.problem, dim[k], pairs, NULL, NULL);
        found[k] = net->held_out;
    }
    const double more = found[1].error - found[0].error;
    assert_true(more > 0.0);
    assert_true(fabs(found[1].low - found[0].low - more) < 1e-9);
    assert_true(fabs(found[1].high - found[0].high - more) < 1e-9);
}

enum { ROWS = 240 };

/*
 * A StoNet of one identity unit on kernel features, with little noise, is kernel logistic regression. Decay
 * lambda on both layers costs lambda |B|_F of B = V W, whose slope is that of l2 / n |b|^2 / 2 on the
 * difference b of the classes' coefficients, |b|^2 = 2 |B|_F^2, for l2 / n = lambda / (2 |B|_F).
 */
TEST(one_identity_unit_is_kernel_logistic_regression)
{
    SN_FREED_BY(oracle_free) oracle o = make_problem(SN_CLASSIFICATION, ROWS);
    const double lambda = 0.01;
    const char *const pairs =
        "front kernel front_complexity 4 front_linear 0.5 front_landmarks 80 hidden none activation identity "
        "rho 0.0001 s_out 1e-6 weight_decay 0.01 epochs 3000 lr 0.2 batch 240 sdr_iterations 0";
    SN_AUTO(sn_stonet) *net = fit_with(&o.problem, 1, pairs, NULL, NULL);
    assert_non_null(net->front);
    const int64_t d = net->front->outputs;
    const sn_shape *shape = &net->network.shape;
    const float *w = net->network.theta + shape->weight_at[0], *v = net->network.theta + shape->weight_at[1];
    double norm = 0.0;
    for (int64_t j = 0; j < d; j++)
        for (int k = 0; k < 2; k++) norm += pow((double)v[k] * (double)w[j], 2);
    norm = sqrt(norm);
    sn_problem seen;
    OK(sn_front_problem(net->front, &o.problem, NULL, &seen));
    const sn_rows all = sn_rows_range(0, ROWS);
    const sn_regression ridge = {
        .problem = &seen, .rows = &all, .d = d, .x = seen.x, .l2 = ROWS * lambda / (2.0 * norm)};
    double *coef, intercept[2];
    bool found;
    OK(SN_NEW(coef, 2 * d));
    OK(sn_regress(&ridge, NULL, coef, intercept, &found));
    double ours[ROWS * 2];
    OK(sn_stonet_predict(net, &o.problem, 1, NULL, ours));
    double worst = 0.0, least = 1.0;
    for (int64_t i = 0; i < ROWS; i++) {
        double eta = intercept[1] - intercept[0];
        for (int64_t j = 0; j < d; j++) eta += (coef[d + j] - coef[j]) * (double)seen.x[i * d + j];
        const double p = 1.0 / (1.0 + exp(-eta));
        worst = fmax(worst, fabs(p - ours[2 * i + 1]));
        least = fmin(least, p);
    }
    if (!(worst < 1e-2)) fail_msg("probabilities differ by %g", worst);
    assert_true(least < 0.2); /* and they say something */
    sn_free(coef);
    sn_front_problem_free(&o.problem, &seen);
}

RUN_TESTS(NULL, NULL)
