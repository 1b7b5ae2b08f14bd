/* The group penalty of layer 1: with one layer it is the group lasso, whose minimum is known by its
   conditions; and what it leaves at 0 is 0 to the bit. */
#include "base/test_kit.h"
#include "engine/test_oracle.h"
#include "math/noise.h"

enum { N = 120, P = 9, D = 2, GROUPS = 6 };
/* Columns of one feature, and two of several. */
static const int64_t border[GROUPS + 1] = {0, 1, 4, 5, 6, 8, 9};

typedef struct fixture {
    sn_shape shape;
    sn_problem problem;
    sn_dynamics dynamics;
    sn_update update;
    float x[N * P], theta[P * D + D];
    double y[N * D];
} fixture;

/* y depends on the groups 0, 1 and 4 and on nothing else. */
static void make(fixture *f, double penalty)
{
    sn_random random = sn_random_from(3, SN_STREAM_TEST, 0);
    memset(f, 0, sizeof *f);
    f->shape = (sn_shape){.layers = 1, .width = {P, D}, .task = SN_REGRESSION, .activation = SN_IDENTITY};
    OK(sn_shape_layout(&f->shape));
    for (int i = 0; i < N; i++) {
        float *x = f->x + (ptrdiff_t)i * P;
        for (int j = 0; j < P; j++)
            x[j] = (float)(sn_random_normal(&random) + 0.3 * (j > 0 ? x[j - 1] : 0.0F));
        f->y[i * D] = 1.0 * (double)x[0] - 0.5 * (double)x[2] + 0.2 * sn_random_normal(&random);
        f->y[i * D + 1] = 0.4 * (double)x[6] + 0.3 * (double)x[1] + 1.0 + 0.2 * sn_random_normal(&random);
    }
    f->problem = (sn_problem){.n = N,
                              .p = P,
                              .x = f->x,
                              .y = f->y,
                              .outputs = D,
                              .task = SN_REGRESSION,
                              .groups = GROUPS,
                              .group = border};
    f->dynamics.s[0] = 0.01;
    f->update = (sn_update){.rate = {0.05}, .scale = {0.01}, .momentum = 0.9, .group = penalty / (1.0 - 0.9)};
}

static void train(const fixture *f, const sn_engine_ops *ops, int steps, float *theta)
{
    SN_AUTO(sn_engine) *engine = NULL;
    OK(ops->create(&f->shape, &f->problem, 1, 2, &engine));
    ops->start(engine, f->theta);
    sn_iteration it = {.rows = sn_rows_range(0, N), .dynamics = &f->dynamics, .update = &f->update};
    sn_step_report report = {0};
    for (; it.number < (uint32_t)steps; it.number++) OK(ops->step(engine, &it, &report));
    assert_true(report.finite);
    ops->get_parameters(engine, theta);
}

/* minus d (mean |y - b - w x|^2 / 2) / d w[a][j] */
static double slope(const fixture *f, const float *theta, int a, int j)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++) {
        double left = f->y[i * D + a] - (double)theta[P * D + a];
        for (int k = 0; k < P; k++) left -= (double)theta[a * P + k] * (double)f->x[i * P + k];
        sum += left * (double)f->x[i * P + j];
    }
    return sum / N;
}

/* At the minimum the slope of a group is factor penalty sqrt(m d) c / |c|, or not longer than that where c =
 * 0. */
static int check_minimum(const fixture *f, const float *theta, double penalty, double tolerance)
{
    int zeros = 0;
    for (int g = 0; g < GROUPS; g++) {
        double norm = 0.0, length = 0.0;
        for (int a = 0; a < D; a++)
            for (int j = (int)border[g]; j < border[g + 1]; j++) {
                norm += pow((double)theta[a * P + j], 2);
                length += pow(slope(f, theta, a, j), 2);
            }
        norm = sqrt(norm);
        const double limit = penalty * (f->update.group_factor != NULL ? f->update.group_factor[g] : 1.0) *
                             sqrt((double)(D * (border[g + 1] - border[g])));
        if (norm == 0.0) {
            zeros++;
            assert_true(sqrt(length) <= limit + tolerance);
            continue;
        }
        for (int a = 0; a < D; a++)
            for (int j = (int)border[g]; j < border[g + 1]; j++)
                assert_true(fabs(slope(f, theta, a, j) - limit * (double)theta[a * P + j] / norm) <
                            tolerance);
    }
    return zeros;
}

TEST(test_one_layer_is_the_group_lasso)
{
    const double penalty[] = {0.01, 0.05, 0.15};
    const int least[] = {0, 1, 3};
    for (int k = 0; k < 3; k++) {
        fixture f;
        float theta[P * D + D];
        make(&f, penalty[k]);
        train(&f, &sn_engine_ref, 3000, theta);
        assert_true(check_minimum(&f, theta, penalty[k], 1e-6) >= least[k]);
        train(&f, &sn_engine_cpu, 3000, theta);
        assert_true(check_minimum(&f, theta, penalty[k], 1e-4) >= least[k]);
    }
}

/* Columns that are to count less shrink more. */
TEST(test_factors)
{
    const double factor[GROUPS] = {1, 1, 1, 1, 40, 1}, penalty = 0.02;
    for (const sn_engine_ops *ops = NULL; (ops = next_engine(ops)) != NULL;) {
        fixture f;
        float theta[P * D + D];
        make(&f, penalty);
        f.update.group_factor = factor;
        train(&f, ops, 3000, theta);
        check_minimum(&f, theta, penalty, 1e-4);
        assert_true(theta[0] > 0.5F && theta[P + 6] == 0.0F); /* what y[1] needs most */
    }
}

/* From a network that uses everything: weights become 0 to the bit, biases are left alone, and once the
   penalty falls the weights come back. */
TEST(test_all_zero_and_back)
{
    for (const sn_engine_ops *ops = NULL; (ops = next_engine(ops)) != NULL;) {
        fixture f;
        float theta[P * D + D];
        make(&f, 10.0);
        for (int k = 0; k < P * D; k++) f.theta[k] = 0.5F;
        train(&f, ops, 500, theta);
        for (int k = 0; k < P * D; k++) assert_true(theta[k] == 0.0F);
        assert_true(fabs((double)theta[P * D + 1] - 1.0) < 0.2);
        memcpy(f.theta, theta, sizeof theta);
        f.update.group = 0.05 / (1.0 - 0.9);
        train(&f, ops, 3000, theta);
        check_minimum(&f, theta, 0.05, 1e-4);
        assert_true(theta[0] > 0.5F);
    }
}

RUN_TESTS(NULL, NULL)
