/* Whatever the table, a fit is a trained StoNet whose Z has the columns that were asked for, each alive. */
#include "base/test_kit.h"
#include "choice/test_fit.h"
#include "engine/test_oracle.h"

enum { N = 60, P = 4, MOST = 5 };

/* Signal of x0 x1 and x2, or none. */
static oracle make(sn_task task, int64_t outputs, double signal)
{
    const int64_t width[] = {P, 2, outputs};
    oracle o = oracle_make(2, width, SN_TANH, task, N, 12);
    for (int64_t r = 0; signal > 0.0 && r < N; r++) {
        const double value = (double)(o.x[r * P] * o.x[r * P + 1] + o.x[r * P + 2]);
        const int64_t place = (value > -0.6) + (value > 0.6);
        o.label[r] = (int32_t)(outputs == 2 ? value > 0.0 : place);
        o.y[r * outputs] = value + 0.3 * o.y[r * outputs];
    }
    return o;
}

static void check(sn_task task, int64_t outputs, double signal, int64_t q, const char *pairs)
{
    SN_FREED_BY(oracle_free) oracle o = make(task, outputs, signal);
    SN_AUTO(sn_stonet) *net = fit_with(&o.problem, q, pairs, NULL, NULL);
    float z[N * MOST];
    double spread[MOST], share = 0.0;
    assert_true(net->iterations > 0);
    assert_int_equal(sn_stonet_dim(net), q);
    OK(sn_stonet_reduce(net, &o.problem, false, 1, z));
    for (int64_t k = 0; k < q; k++) {
        double mean = 0.0;
        spread[k] = 0.0;
        for (int i = 0; i < N; i++) mean += (double)z[i * q + k] / N;
        for (int i = 0; i < N; i++) spread[k] += pow((double)z[i * q + k] - mean, 2) / N;
        if (!(spread[k] > 1e-10)) fail_msg("task %d, q %d: column %d is constant", task, (int)q, (int)k);
        share += net->axes.share[k];
        for (int64_t j = 0; j < k; j++) {
            double product = 0.0;
            for (int i = 0; i < N; i++) product += ((double)z[i * q + k] - mean) * (double)z[i * q + j] / N;
            assert_true(fabs(product) < 1e-3 * sqrt(spread[j] * spread[k]));
        }
    }
    assert_true(share < 1.0 + 1e-6);
}

TEST(columns_are_alive)
{
    static const struct {
        sn_task task;
        int64_t outputs;
        double signal;
        int64_t q;
        const char *pairs;
    } cases[] = {{SN_CLASSIFICATION, 2, 1.0, 1, "epochs 40"}, {SN_CLASSIFICATION, 2, 1.0, 2, ""},
                 {SN_CLASSIFICATION, 2, 1.0, 5, "epochs 40"}, {SN_CLASSIFICATION, 3, 1.0, 1, "epochs 40"},
                 {SN_REGRESSION, 1, 1.0, 3, "epochs 40"},     {SN_REGRESSION, 1, 0.0, 2, "epochs 40"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        check(cases[k].task, cases[k].outputs, cases[k].signal, cases[k].q, cases[k].pairs);
}

/* Given settings too, and units that a strong decay has sent to 0. */
TEST(given_settings)
{
    static const char *const cases[] = {"weight_decay 2",
                                        "weight_decay 2 hidden 6",
                                        "weight_decay 2 activation relu",
                                        "weight_decay 2 activation identity hidden none",
                                        "weight_decay 1 front kernel",
                                        "weight_decay 1 front components"};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int64_t q = 1; q <= 3; q++) {
            check(SN_REGRESSION, 1, 1.0, q, text_of("epochs 20 %s", cases[k]));
            check(SN_CLASSIFICATION, 3, 1.0, q, text_of("epochs 20 %s", cases[k]));
        }
}

/* One training serves every number of columns: Z for two is the first of Z for five. */
TEST(fewer_columns_are_the_first_of_more)
{
    SN_FREED_BY(oracle_free) oracle o = make(SN_CLASSIFICATION, 2, 1.0);
    const char *const pairs = "epochs 30 weight_decay 0.01";
    float z[2][N * 5];
    for (int k = 0; k < 2; k++) {
        SN_AUTO(sn_stonet) *net = fit_with(&o.problem, k ? 5 : 2, pairs, NULL, NULL);
        OK(sn_stonet_reduce(net, &o.problem, false, 1, z[k]));
    }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 2; k++) assert_true(fabsf(z[0][i * 2 + k] - z[1][i * 5 + k]) < 1e-5F);
}

RUN_TESTS(NULL, NULL)
