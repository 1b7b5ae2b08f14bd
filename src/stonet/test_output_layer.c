/* The output layer fitted anew: it solves its regression, and nothing else changes. */
#include "base/test_kit.h"
#include "engine/test_oracle.h"
#include "net/forward.h"
#include "net/regression.h"
#include "stonet/output_layer.h"

enum { N = 60, Q = 3 };

/* A network 4-5-3-outputs at random weights; labels and y from the inputs, none of them easy. */
static oracle make_network(sn_task task, int64_t outputs)
{
    const int64_t width[] = {4, 5, Q, outputs};
    oracle o = oracle_make(3, width, SN_TANH, task, N, 23);
    for (int64_t i = 0; i < N; i++) {
        const float *x = o.x + 4 * i;
        o.label[i] = (int32_t)((int64_t)fabsf(3.0F * x[0] + x[1] + 5.0F * x[2] * x[3]) % outputs);
        for (int64_t k = 0; k < outputs; k++) o.y[i * outputs + k] = (double)(x[0] * x[1] - x[k]) + 0.3;
    }
    return o;
}

static void refit(oracle *o, sn_rows rows)
{
    SN_AUTO(sn_engine) *engine = NULL;
    OK(sn_engine_cpu.create(&o->shape, &o->problem, 1, 1, &engine));
    OK(sn_refit_output(engine, &o->shape, &o->problem, &rows, NULL, NULL, o->theta));
}

/* Whether the output layer is the regression of the response on the units below it (net/regression.h). */
static bool is_solved(const oracle *o)
{
    const int top = o->shape.layers - 1;
    const int64_t m = o->shape.width[top + 1];
    const sn_rows rows = sn_rows_range(0, N);
    float psi[N * Q];
    double coef[4 * Q], intercept[4], worst = 0.0;
    bool found;
    OK(sn_forward(&(sn_forward_job){&o->shape, o->theta, top, true, 1}, N, o->x, psi));
    const sn_regression job = {.problem = &o->problem, .rows = &rows, .d = Q, .x = psi, .l2 = 0.1};
    OK(sn_regress(&job, NULL, coef, intercept, &found));
    for (int64_t k = 0; k < m * Q; k++)
        worst = fmax(worst, fabs((double)o->theta[o->shape.weight_at[top] + k] - coef[k]));
    for (int64_t k = 0; k < m; k++)
        worst = fmax(worst, fabs((double)o->theta[o->shape.bias_at[top] + k] - intercept[k]));
    return found && worst < 1e-3;
}

static void check_solved(sn_task task, int64_t outputs)
{
    SN_FREED_BY(oracle_free) oracle o = make_network(task, outputs);
    const size_t below = (size_t)o.shape.weight_at[o.shape.layers - 1] * sizeof(float);
    SN_BLOCK float *before = test_zeros(1, below);
    memcpy(before, o.theta, below);
    assert_false(is_solved(&o));
    refit(&o, sn_rows_range(0, N));
    assert_true(is_solved(&o));
    assert_memory_equal(before, o.theta, below);
}

TEST(test_solves_its_regression)
{
    check_solved(SN_CLASSIFICATION, 2);
    check_solved(SN_CLASSIFICATION, 4);
    check_solved(SN_REGRESSION, 1);
    check_solved(SN_REGRESSION, 3);
}

/* The chosen rows, and no other, count. */
TEST(test_rows)
{
    SN_FREED_BY(oracle_free)
    oracle all = make_network(SN_CLASSIFICATION, 2), part = make_network(SN_CLASSIFICATION, 2);
    int64_t odd[N / 2];
    for (int64_t i = 0; i < N / 2; i++) odd[i] = 2 * i + 1;
    for (int64_t i = 0; i < N / 2; i++) {
        memcpy(part.x + 4 * i, all.x + 4 * odd[i], 4 * sizeof(float));
        part.label[i] = all.label[odd[i]];
    }
    refit(&all, sn_rows_list(odd, N / 2));
    refit(&part, sn_rows_range(0, N / 2));
    assert_memory_equal(all.theta, part.theta, (size_t)all.shape.parameters * sizeof(float));
}

static void check_untouched(oracle *o)
{
    const size_t size = (size_t)o->shape.parameters * sizeof(float);
    SN_BLOCK float *before = test_zeros(1, size);
    memcpy(before, o->theta, size);
    refit(o, sn_rows_range(0, N));
    assert_memory_equal(before, o->theta, size);
    oracle_free(o);
}

TEST(test_leaves_what_it_cannot_fit)
{
    oracle alike = make_network(SN_CLASSIFICATION, 4);
    for (int64_t i = 0; i < N; i++) alike.label[i] = 1;
    check_untouched(&alike);
    oracle constant = make_network(SN_CLASSIFICATION, 2);
    memset(constant.theta, 0, (size_t)constant.shape.weight_at[2] * sizeof(float));
    check_untouched(&constant);
}

RUN_TESTS(NULL, NULL)
