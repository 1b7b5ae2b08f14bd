/* Missing cells drawn given the response: the exact posterior of a linear network, and no leak from noise. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "stonet/joint.h"
#include "stonet/test_table.h"

/* Two features, of which the first is missing in the even rows: there N(.5, .8) whatever the second is. */
static table_rows half_known(const float *x, sn_gaps kind)
{
    table_rows rows = table_of_rows(x, 2, 2);
    rows.mean = 0.5;
    rows.sd = sqrt(0.8);
    rows.kind = kind;
    return rows;
}

enum { N = 40, ROUNDS = 6000 };

/* f = .7 x_1 - .2 x_2 + .1 by a network without bend. */
static void linear_net(sn_shape *shape, float *theta)
{
    *shape = (sn_shape){.layers = 2, .width = {2, 1, 1}, .task = SN_REGRESSION};
    OK(sn_shape_layout(shape));
    memset(theta, 0, (size_t)shape->parameters * sizeof *theta);
    theta[shape->weight_at[0]] = 0.7F;
    theta[shape->weight_at[0] + 1] = -0.2F;
    theta[shape->bias_at[0]] = 0.1F;
    theta[shape->weight_at[1]] = 1.0F;
}

/* With v the variance of y: precision 1/.8 + .49/v, mean by completing the square. */
TEST(draws_have_the_exact_posterior)
{
    float x[2 * N], theta[16];
    double y[N];
    sn_shape shape;
    linear_net(&shape, theta);
    for (uint32_t i = 0; i < N; i++) {
        x[2 * i] = (float)i;
        x[2 * i + 1] = (float)sn_noise_normal(4, SN_STREAM_TEST, i, 0, 0, 0, 0);
        y[i] = 1.5 * sn_noise_normal(5, SN_STREAM_TEST, i, 0, 0, 0, 0);
    }
    for (int way = 0; way < 2; way++) {
        const table_rows from = half_known(x, way == 0 ? SN_GAPS_GAUSSIAN : SN_GAPS_OTHER);
        const sn_problem problem = {
            .n = N, .p = 2, .task = SN_REGRESSION, .outputs = 1, .y = y, .source = &from.base, .joint = true};
        const sn_rows all = sn_rows_range(0, N);
        const double v = 0.5;
        double first[N] = {0}, second[N] = {0};
        SN_AUTO(sn_joint) *joint = NULL;
        OK(sn_joint_create(&problem, &all, 1, &joint));
        for (uint32_t k = 1; k <= ROUNDS; k++) {
            OK(sn_joint_move(joint, &shape, theta, v / 2.0, k, 1));
            for (int64_t i = 0; i < N; i++) {
                const double now = (double)sn_joint_problem(joint)->x[2 * i];
                first[i] += now / ROUNDS;
                second[i] += now * now / ROUNDS;
                assert_true(sn_joint_problem(joint)->x[2 * i + 1] == x[2 * i + 1]);
            }
        }
        double worst = 0.0;
        for (int64_t i = 0; i < N; i++) {
            if (i % 2 != 0) {
                assert_true(sn_joint_problem(joint)->x[2 * i] == x[2 * i]);
                continue;
            }
            const double precision = 1.0 / 0.8 + 0.49 / v;
            const double left = y[i] - 0.1 + 0.2 * (double)x[2 * i + 1];
            const double mean = (0.5 / 0.8 + 0.7 * left / v) / precision;
            worst = fmax(worst, fabs(first[i] - mean) * sqrt(precision));
            assert_true(fabs((second[i] - first[i] * first[i]) * precision - 1.0) < (way == 0 ? 0.15 : 0.35));
        }
        assert_true(worst < (way == 0 ? 0.1 : 0.25));
    }
}

/* Where the response leaves next to nothing of the ellipse, the bracket shrinks to what is left: every row
   moves in every round. */
TEST(a_narrow_slice_is_found)
{
    float x[2 * N], before[2 * N], theta[16];
    double y[N];
    sn_shape shape;
    linear_net(&shape, theta);
    for (uint32_t i = 0; i < N; i++) {
        x[2 * i] = x[2 * i + 1] = 1.0F;
        y[i] = sn_noise_normal(5, SN_STREAM_TEST, i, 0, 0, 0, 0);
    }
    const table_rows from = half_known(x, SN_GAPS_GAUSSIAN);
    const sn_problem problem = {
        .n = N, .p = 2, .task = SN_REGRESSION, .outputs = 1, .y = y, .source = &from.base, .joint = true};
    const sn_rows all = sn_rows_range(0, N);
    SN_AUTO(sn_joint) *joint = NULL;
    OK(sn_joint_create(&problem, &all, 1, &joint));
    for (uint32_t k = 1; k <= 100; k++) {
        memcpy(before, sn_joint_problem(joint)->x, sizeof before);
        OK(sn_joint_move(joint, &shape, theta, 5e-5, k, 1));
        for (int64_t i = 0; i < N; i += 2) assert_true(sn_joint_problem(joint)->x[2 * i] != before[2 * i]);
    }
    for (int64_t i = 0; i < N; i += 2) {
        const double residual = y[i] - (0.7 * (double)sn_joint_problem(joint)->x[2 * i] - 0.1);
        assert_true(fabs(residual) < 0.06); /* six standard deviations */
    }
}

RUN_TESTS(NULL, NULL)
