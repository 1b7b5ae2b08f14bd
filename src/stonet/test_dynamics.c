/* From settings to steps: every number of an iteration by its formula, and the regression behind the heads.
 */
#include "base/test_kit.h"
#include "engine/test_oracle.h"
#include "net/loss.h"
#include "net/regression.h"
#include "stonet/dynamics.h"

static void assert_near(double got, double expected)
{
    assert_true(fabs(got - expected) <= 1e-12 * fmax(1.0, fabs(expected)));
}

enum { LAYERS = 3 };

static sn_config config_of(bool absolute)
{
    return (sn_config){.sweeps = 7,
                       .integrator = (sn_integrator)1,
                       .start = (sn_start)1,
                       .absolute = absolute,
                       .s_out = 0.02,
                       .rho = 0.25,
                       .tau = 0.3,
                       .alpha = 0.6,
                       .sigma2 = {3e-3, 2e-2, 0.5},
                       .epsilon = {0.01, 0.07, 99.0},
                       .gamma = {1e-3, 2e-3, 3e-3},
                       .lr = 0.4,
                       .momentum = 0.75,
                       .weight_decay = 0.011,
                       .l1 = 0.02,
                       .group = 0.03};
}

static sn_shape shape_of(sn_task task, bool spread)
{
    sn_shape shape = {
        .layers = LAYERS, .width = {4, 3, 5, 2}, .activation = SN_TANH, .task = task, .spread = spread};
    OK(sn_shape_layout(&shape));
    return shape;
}

TEST(relative_and_absolute)
{
    const sn_shape shape = shape_of(SN_REGRESSION, false), spread = shape_of(SN_REGRESSION, true);
    sn_config config = config_of(false);
    sn_dynamics d;
    sn_dynamics_from(&config, &spread, &d);
    assert_true(d.beta == 1.0);
    sn_dynamics_from(&config, &shape, &d);
    assert_true(d.sweeps == 7 && d.beta == 0.0 && d.spread == 1.0);
    assert_true(d.integrator == config.integrator && d.start == config.start);
    assert_near(d.s[2], 0.02);
    assert_near(d.s[1], 0.25 * 0.02);
    assert_near(d.s[0], 0.25 * 0.25 * 0.02);
    for (int i = 0; i < 2; i++) {
        assert_near(d.epsilon[i], 0.3 * sqrt(d.s[i]));
        assert_near(d.alpha[i], 0.6);
    }
    assert_true(d.epsilon[2] == 0.0 && d.alpha[2] == 0.0); /* the output is not drawn */
    config = config_of(true);
    sn_dynamics_from(&config, &shape, &d);
    for (int i = 0; i < LAYERS; i++) assert_true(d.s[i] == config.sigma2[i]);
    for (int i = 0; i < 2; i++) assert_true(d.epsilon[i] == config.epsilon[i] && d.alpha[i] == 0.6);
    assert_true(d.epsilon[2] == 0.0);
}

TEST(rates_and_scales)
{
    static const double factor[2] = {1.0, 2.0};
    for (int which = 0; which < 8; which++) {
        const sn_shape shape = shape_of(which & 1 ? SN_CLASSIFICATION : SN_REGRESSION, false);
        sn_config config = config_of(false);
        config.residual_step = (which & 2) != 0;
        config.has_gamma = (which & 4) != 0;
        config.group_factor = factor;
        sn_dynamics d;
        sn_update u;
        sn_dynamics_from(&config, &shape, &d);
        sn_update_from(&config, &shape, &d, 50, 0.5, &u);
        assert_true(u.momentum == 0.75 && u.decay == 0.011 && u.group_factor == factor);
        assert_near(u.l1, 0.08);
        assert_near(u.group, 0.12);
        for (int i = 0; i < LAYERS; i++) {
            const bool residual = (which & 2) != 0 && (i < LAYERS - 1 || (which & 1) == 0);
            assert_near(u.scale[i], residual ? 2.0 * d.s[i] : d.s[2]);
            assert_near(u.rate[i], 0.5 * ((which & 4) != 0 ? config.gamma[i] * 50.0 / d.s[2] : 0.4));
        }
    }
}

/* The largest singular value by many more steps of another kind: of w'w, from another start. */
static double largest_singular(const float *w, int64_t rows, int64_t cols)
{
    double v[8] = {1, -1, 1, 0.5, 0.2, 3, 1, 1}, next[8], norm = 0.0;
    for (int step = 0; step < 2000; step++) {
        norm = 0.0;
        for (int64_t j = 0; j < cols; j++) {
            next[j] = 0.0;
            for (int64_t i = 0; i < rows; i++)
                for (int64_t k = 0; k < cols; k++)
                    next[j] += (double)w[i * cols + j] * (double)w[i * cols + k] * v[k];
            norm += next[j] * next[j];
        }
        norm = sqrt(norm);
        for (int64_t j = 0; j < cols; j++) v[j] = next[j] / norm;
    }
    return sqrt(norm);
}

/* eps = 0.95 / sqrt(curvature) where it was larger, alpha with it; other layers are left alone. */
TEST(the_safeguard)
{
    for (int which = 0; which < 4; which++) {
        const int64_t width[] = {4, 3, 5, 2};
        SN_FREED_BY(oracle_free)
        oracle o = oracle_make(LAYERS, width, SN_TANH, which == 1 ? SN_CLASSIFICATION : SN_REGRESSION, 5, 7);
        o.shape.spread = which >= 2;
        const double beta = (const double[]){0.0, 0.0, 0.5, 1.0}[which]; /* of a spread: where either leads */
        const double temper = which == 1 ? 2.0
                              : which >= 2
                                  ? 1.0 / fmax(exp((beta - 1.0) * SN_ETA_LOW), 0.5 * exp(beta * SN_ETA_HIGH))
                                  : 1.0;
        for (int tight = 0; tight < 4; tight++) { /* which of the two layers steps too far */
            sn_dynamics d = {.s = {0.4, 0.1, 0.3}, .alpha = {0.6, 0.7}, .beta = beta};
            double right[2], least = 1.0, factor, norm;
            for (int i = 0; i < 2; i++) {
                const float *w = o.theta + o.shape.weight_at[i + 1];
                const double exact = largest_singular(w, width[i + 2], width[i + 1]);
                OK(sn_spectral_norm(w, width[i + 2], width[i + 1], &norm));
                assert_true(fabs(norm / exact - 1.0) < 0.02);
                const double curvature = 1.0 / d.s[i] + norm * norm / ((i == 1 ? temper : 1.0) * d.s[i + 1]);
                const bool far = (tight >> i & 1) != 0;
                right[i] = 0.95 / sqrt(curvature);
                d.epsilon[i] = right[i] * (far ? 4.0 - i : 0.999);
                if (!far) right[i] = d.epsilon[i];
                if (far) least = fmin(least, 1.0 / (4.0 - i));
            }
            OK(sn_dynamics_safeguard(&o.shape, o.theta, &d, &factor));
            assert_near(factor, least);
            for (int i = 0; i < 2; i++) {
                assert_near(d.epsilon[i], right[i]);
                assert_near(d.alpha[i],
                            (i == 0 ? 0.6 : 0.7) * ((tight >> i & 1) != 0 ? 1.0 / (4.0 - i) : 1.0));
            }
        }
    }
}

/* ---- sn_regress: at the optimum the gradient is 0 ---- */

enum { N = 40, D = 3, MOST = 3 };

static void check_gradient(sn_task task, int64_t m, bool weighted, double l2)
{
    const int64_t width[] = {D, 2, m};
    SN_FREED_BY(oracle_free) oracle o = oracle_make(2, width, SN_TANH, task, 2 * N, 11);
    int64_t list[N];
    float x[N * D], weight[2 * N];
    double coef[MOST * D], intercept[MOST], by_coef[MOST * D], by_intercept[MOST] = {0};
    bool found = false;
    for (int64_t i = 0; i < 2 * N; i++) weight[i] = (float)(1 + i % 3);
    if (weighted) o.problem.weight = weight;
    for (int64_t i = 0; i < N; i++) list[i] = 2 * N - 1 - 2 * i;
    for (int k = 0; k < N * D; k++) x[k] = (float)(k % D) + (float)(1 + k % D) * o.x[list[k / D] * D + k % D];
    const sn_rows rows = sn_rows_list(list, N);
    const sn_regression job = {.problem = &o.problem, .rows = &rows, .d = D, .x = x, .l2 = l2};
    OK(sn_regress(&job, NULL, coef, intercept, &found));
    assert_true(found);
    const double half =
        task == SN_CLASSIFICATION && m == 2 ? 2.0 : 1.0; /* the penalty is on the difference */
    for (int64_t k = 0; k < m * D; k++) by_coef[k] = half * l2 * coef[k];
    for (int64_t i = 0; i < N; i++) {
        const int64_t row = list[i];
        double mu[MOST], sum = 0.0;
        for (int64_t c = 0; c < m; c++) {
            mu[c] = intercept[c];
            for (int64_t j = 0; j < D; j++) mu[c] += coef[c * D + j] * (double)x[i * D + j];
            sum += exp(mu[c]);
        }
        for (int64_t c = 0; c < m; c++) {
            const double pull = (weighted ? (double)weight[row] : 1.0) *
                                (task == SN_CLASSIFICATION ? exp(mu[c]) / sum - (o.label[row] == c)
                                                           : mu[c] - o.y[row * m + c]);
            by_intercept[c] += pull;
            for (int64_t j = 0; j < D; j++) by_coef[c * D + j] += pull * (double)x[i * D + j];
        }
    }
    for (int64_t c = 0; c < m; c++) {
        assert_true(fabs(by_intercept[c]) < 1e-4);
        for (int64_t j = 0; j < D; j++) assert_true(fabs(by_coef[c * D + j]) < 1e-4);
    }
    if (task == SN_CLASSIFICATION && m == 2) /* each has its half */
        for (int64_t j = 0; j < D; j++) assert_near(coef[j], -coef[D + j]);
    /* one class alone has rows, or rows that count */
    for (int64_t i = 0; i < N && task == SN_CLASSIFICATION; i++) {
        if (o.label[list[i]] != 1) weight[list[i]] = 0.0F;
        if (!weighted) o.label[list[i]] = 1;
    }
    if (task == SN_CLASSIFICATION) {
        const double before = coef[0];
        OK(sn_regress(&job, NULL, coef, intercept, &found));
        assert_true(!found && coef[0] == before);
    }
}

TEST(regressions_are_at_their_optimum)
{
    for (int weighted = 0; weighted < 2; weighted++) {
        check_gradient(SN_REGRESSION, 2, weighted, 3.0);
        check_gradient(SN_CLASSIFICATION, 2, weighted, 3.0);
        check_gradient(SN_CLASSIFICATION, 3, weighted, 0.7);
    }
}

/* Twenty steps of the power method from (1, 1.01): of diag(a, b) its vector is (a^2k, 1.01 b^2k) after k of
   them, whatever its length. */
TEST(the_norm_after_twenty_steps)
{
    const float matrix[4] = {1.0F, 0.0F, 0.0F, 0.96875F}, zero[4] = {0};
    const double a = 1.0, b = 0.96875, x = pow(a, 38), y = 1.01 * pow(b, 38);
    double norm;
    OK(sn_spectral_norm(matrix, 2, 2, &norm));
    assert_true(fabs(norm - sqrt((a * a * x * x + b * b * y * y) / (x * x + y * y))) < 1e-12);
    OK(sn_spectral_norm(zero, 2, 2, &norm));
    assert_true(norm == 0.0);
}

RUN_TESTS(NULL, NULL)
