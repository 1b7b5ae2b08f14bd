/*
 * The sampler and the stochastic approximation against exact answers. Every engine must pass. Rows that are
 * copies of one another are independent chains on one target, so sample moments have known standard errors.
 * The thresholds are such that, with other seeds, all of it together would raise a false alarm less often
 * than once in a million runs.
 */
#include "base/test_kit.h"
#include "engine/test_oracle.h"
#include "math/linalg.h"
#include "net/activation.h"
#include "stats/distributions.h"

enum { LATENTS = 4, STATE = 8 }; /* two hidden layers of two units; position and velocity */

static double weight(const oracle *o, int layer, int64_t out, int64_t in)
{
    return (double)o->theta[o->shape.weight_at[layer - 1] + out * o->shape.width[layer - 1] + in];
}

static double bias(const oracle *o, int layer, int64_t out)
{
    return (double)o->theta[o->shape.bias_at[layer - 1] + out];
}

/* Identity activation, widths 3-2-2-1: precision and linear term of the Gaussian posterior of (Y_1, Y_2). */
static void exact_posterior(const oracle *o, const double *s, double *precision, double *linear)
{
    memset(precision, 0, LATENTS * LATENTS * sizeof *precision);
    for (int a = 0; a < 2; a++) {
        double mu = bias(o, 1, a);
        for (int j = 0; j < 3; j++) mu += weight(o, 1, a, j) * (double)o->x[j];
        precision[a * LATENTS + a] += 1.0 / s[0];
        linear[a] = mu / s[0];
        for (int c = 0; c < 2; c++) {
            linear[a] -= weight(o, 2, c, a) * bias(o, 2, c) / s[1];
            precision[a * LATENTS + 2 + c] -= weight(o, 2, c, a) / s[1];
            precision[(2 + c) * LATENTS + a] -= weight(o, 2, c, a) / s[1];
            for (int b = 0; b < 2; b++)
                precision[a * LATENTS + b] += weight(o, 2, c, a) * weight(o, 2, c, b) / s[1];
        }
    }
    for (int a = 0; a < 2; a++) {
        precision[(2 + a) * LATENTS + 2 + a] += 1.0 / s[1];
        linear[2 + a] = bias(o, 2, a) / s[1] + weight(o, 3, 0, a) * (o->y[0] - bias(o, 3, 0)) / s[2];
        for (int b = 0; b < 2; b++)
            precision[(2 + a) * LATENTS + 2 + b] += weight(o, 3, 0, a) * weight(o, 3, 0, b) / s[2];
    }
}

/* One sweep of symplectic SGHMC as a linear map on (Y, v) - (mean, 0), with its noise: z <- A z + B xi. Layer
   2 (latents 2, 3) moves before layer 1. */
static void linear_sweep(const double *precision, const sn_dynamics *d, double *a_map, double *b_map)
{
    memset(a_map, 0, STATE * STATE * sizeof *a_map);
    memset(b_map, 0, STATE * LATENTS * sizeof *b_map);
    for (int column = 0; column < STATE + LATENTS; column++) {
        double z[STATE] = {0}, xi[LATENTS] = {0};
        if (column < STATE)
            z[column] = 1.0;
        else
            xi[column - STATE] = 1.0;
        for (int layer = 1; layer >= 0; layer--) {
            double force[2];
            for (int a = 0; a < 2; a++) {
                force[a] = 0.0;
                for (int j = 0; j < LATENTS; j++) force[a] -= precision[(2 * layer + a) * LATENTS + j] * z[j];
            }
            for (int a = 0; a < 2; a++) {
                double *v = &z[LATENTS + 2 * layer + a];
                *v = (1.0 - d->alpha[layer]) * *v + d->epsilon[layer] * force[a] +
                     sqrt(2.0 * d->alpha[layer]) * xi[2 * layer + a];
                z[2 * layer + a] += d->epsilon[layer] * *v;
            }
        }
        for (int r = 0; r < STATE; r++) {
            if (column < STATE)
                a_map[r * STATE + column] = z[r];
            else
                b_map[r * LATENTS + column - STATE] = z[r];
        }
    }
}

/* P = A P A' + B B' by repeated substitution. */
static void stationary_covariance(const double *a_map, const double *b_map, double *p)
{
    double noise[STATE * STATE], ap[STATE * STATE];
    sn_multiply(sn_as(b_map, STATE, LATENTS), sn_turned(b_map, STATE, LATENTS), noise);
    memcpy(p, noise, sizeof noise);
    for (int k = 0; k < 20000; k++) {
        sn_multiply(sn_as(a_map, STATE, STATE), sn_as(p, STATE, STATE), ap);
        memcpy(p, noise, sizeof noise);
        sn_gemm(1.0, sn_as(ap, STATE, STATE), sn_turned(a_map, STATE, STATE), 1.0, p);
    }
}

typedef struct gaussian_case {
    oracle o;
    sn_dynamics d;
    double mean[LATENTS], target[LATENTS * LATENTS], chain[STATE * STATE];
} gaussian_case;

static gaussian_case make_gaussian(int64_t n, double tau)
{
    const int64_t width[] = {3, 2, 2, 1};
    gaussian_case c = {.o = oracle_make(3, width, SN_IDENTITY, SN_REGRESSION, n, 21)};
    oracle_repeat_first_row(&c.o);
    c.d = oracle_dynamics(&c.o.shape, 0.4, 0.7, tau, tau, (int)(60.0 / tau));
    double precision[LATENTS * LATENTS], copy[LATENTS * LATENTS], a_map[STATE * STATE],
        b_map[STATE * LATENTS];
    exact_posterior(&c.o, c.d.s, precision, c.mean);
    memcpy(copy, precision, sizeof copy);
    OK(sn_solve_spd(LATENTS, copy, 1, c.mean));
    memset(c.target, 0, sizeof c.target);
    for (int i = 0; i < LATENTS; i++) c.target[i * LATENTS + i] = 1.0;
    memcpy(copy, precision, sizeof copy);
    OK(sn_solve_spd(LATENTS, copy, LATENTS, c.target));
    linear_sweep(precision, &c.d, a_map, b_map);
    stationary_covariance(a_map, b_map, c.chain);
    return c;
}

static void draw(const sn_engine_ops *ops, const oracle *o, const sn_dynamics *d, uint32_t number, float *y1,
                 float *y2)
{
    SN_AUTO(sn_engine) *engine = NULL;
    OK(ops->create(&o->shape, &o->problem, 77, 2, &engine));
    ops->start(engine, o->theta);
    const sn_iteration it = {.rows = sn_rows_range(0, o->problem.n), .number = number, .dynamics = d};
    OK(ops->impute(engine, &it, 1, y1));
    if (y2 != NULL) OK(ops->impute(engine, &it, 2, y2));
}

/* Means within 6 standard errors of the exact posterior mean; variances within 6 of the chain's own: 2e-9
   each. */
TEST(test_linear_network_has_its_gaussian_posterior)
{
    enum { N = 8000 };
    for (int e = 0; sn_engine_at(e) != NULL; e++) {
        if (!sn_engine_usable(sn_engine_at(e))) continue;
        gaussian_case c = make_gaussian(N, 0.2);
        SN_BLOCK float *y = test_zeros(2 * 2 * N, sizeof *y);
        draw(sn_engine_at(e), &c.o, &c.d, 1, y, y + 2 * N);
        for (int k = 0; k < LATENTS; k++) {
            double sum = 0.0, squares = 0.0;
            for (int r = 0; r < N; r++) sum += (double)y[(k / 2) * 2 * N + 2 * r + k % 2];
            const double mean = sum / N;
            for (int r = 0; r < N; r++)
                squares += pow((double)y[(k / 2) * 2 * N + 2 * r + k % 2] - mean, 2.0);
            const double variance = squares / (N - 1), expected = c.chain[k * STATE + k];
            assert_true(fabs(mean - c.mean[k]) < 6.0 * sqrt(expected / N));
            assert_true(fabs(variance / expected - 1.0) < 6.0 * sqrt(2.0 / N));
        }
        oracle_free(&c.o);
    }
}

/* The discretised chain's stationary variance tends to the target's as the step goes to 0. */
TEST(test_discretisation_bias_vanishes_with_the_step)
{
    double previous = 0.0;
    const double taus[] = {0.4, 0.2, 0.1};
    for (int t = 0; t < 3; t++) {
        gaussian_case c = make_gaussian(1, taus[t]);
        double worst = 0.0;
        for (int k = 0; k < LATENTS; k++)
            worst = fmax(worst, fabs(c.chain[k * STATE + k] / c.target[k * LATENTS + k] - 1.0));
        if (t > 0) assert_true(worst < 0.6 * previous); /* at least first order */
        previous = worst;
        oracle_free(&c.o);
    }
    assert_true(previous < 0.06);
}

/* Back-propagated gradient of the mean output loss (sign: ascent), for one-hidden-layer tanh regression. */
static void backpropagate(const oracle *o, double *direction)
{
    const int64_t p = o->shape.width[0], q = o->shape.width[1];
    double z[8], psi[8], mu = bias(o, 2, 0);
    for (int64_t a = 0; a < q; a++) {
        z[a] = bias(o, 1, a);
        for (int64_t j = 0; j < p; j++) z[a] += weight(o, 1, a, j) * (double)o->x[j];
        psi[a] = tanh(z[a]);
        mu += weight(o, 2, 0, a) * psi[a];
    }
    const double r = o->y[0] - mu;
    for (int64_t a = 0; a < q; a++) {
        const double back = r * weight(o, 2, 0, a) * (1.0 - psi[a] * psi[a]);
        for (int64_t j = 0; j < p; j++) direction[o->shape.weight_at[0] + a * p + j] = back * (double)o->x[j];
        direction[o->shape.bias_at[0] + a] = back;
        direction[o->shape.weight_at[1] + a] = r * psi[a];
    }
    direction[o->shape.bias_at[1]] = r;
}

/*
 * Fisher's identity: the expected update is the gradient of the marginal likelihood, whose variance at small
 * noise is s_2 + s_1 |w psi'|^2. Times s_2 it tends to the DNN's gradient as s_1 falls against s_2, with a
 * gap linear in the ratio (letting both fall together leaves the gap where it is).
 */
TEST(test_small_noise_update_tends_to_back_propagation)
{
    enum { N = 40000 };
    const int64_t width[] = {2, 2, 1};
    SN_FREED_BY(oracle_free) oracle o = oracle_make(2, width, SN_TANH, SN_REGRESSION, N, 4);
    oracle_repeat_first_row(&o);
    double expected[16] = {0}, gap[2];
    backpropagate(&o, expected);
    const double ratio_of_noise[] = {0.5, 0.05};
    for (int k = 0; k < 2; k++) {
        const sn_dynamics d = oracle_dynamics(&o.shape, 5e-4, ratio_of_noise[k], 0.2, 0.2, 120);
        sn_update up = {.scale = {d.s[1], d.s[1]}};
        const sn_iteration it = {.rows = sn_rows_range(0, N), .number = 2, .dynamics = &d, .update = &up};
        SN_AUTO(sn_engine) *engine = NULL;
        sn_step_report report;
        OK(sn_engine_ref.create(&o.shape, &o.problem, 8, 1, &engine));
        sn_engine_ref.start(engine, o.theta);
        OK(sn_engine_ref.step(engine, &it, &report));
        double theta[16], direction[16]; /* what there is of momentum after one step */
        sn_engine_state state = {theta, direction, 0};
        sn_engine_ref.get_state(engine, &state);
        gap[k] = 0.0;
        for (int64_t j = 0; j < o.shape.parameters; j++) gap[k] += fabs(direction[j] - expected[j]);
    }
    assert_true(gap[0] > 0.02); /* at a large ratio the two differ, or the test would show nothing */
    const double ratio = gap[0] / gap[1];
    assert_true(ratio > 6.0 && ratio < 16.0); /* a tenth of the noise, a tenth of the gap */
}

/*
 * y = b + w x through one latent unit whose output weight is held at 1: the marginal model is a linear
 * regression with known optimum. |theta_k - theta*|^2 averaged over replications must fall like gamma_k.
 */
static double mean_square_error(int64_t iterations, double *gamma)
{
    enum { N = 16, REPLICATIONS = 300 };
    const int64_t width[] = {1, 1, 1};
    SN_FREED_BY(oracle_free) oracle o = oracle_make(2, width, SN_IDENTITY, SN_REGRESSION, N, 6);
    double sx = 0, sy = 0, sxx = 0, sxy = 0, total = 0.0;
    for (int r = 0; r < N; r++) {
        sx += (double)o.x[r];
        sy += o.y[r];
        sxx += (double)o.x[r] * (double)o.x[r];
        sxy += (double)o.x[r] * o.y[r];
    }
    const double slope = (sxy - sx * sy / N) / (sxx - sx * sx / N), offset = (sy - slope * sx) / N;
    const sn_dynamics d = oracle_dynamics(&o.shape, 0.5, 1.0, 0.3, 0.3, 30);
    for (int rep = 0; rep < REPLICATIONS; rep++) {
        SN_AUTO(sn_engine) *engine = NULL;
        OK(sn_engine_cpu.create(&o.shape, &o.problem, 1000 + (uint64_t)rep, 1, &engine));
        float theta[4] = {(float)slope, (float)offset, 1.0F, 0.0F};
        sn_engine_cpu.start(engine, theta);
        for (int64_t k = 1; k <= iterations; k++) {
            *gamma = 1.0 / (10.0 + pow((double)k, 0.8));
            sn_update up = {.rate = {*gamma, 0.0}, .scale = {1.0, 1.0}};
            const sn_iteration it = {
                .rows = sn_rows_range(0, N), .number = (uint32_t)k, .dynamics = &d, .update = &up};
            sn_step_report report;
            OK(sn_engine_cpu.step(engine, &it, &report));
        }
        sn_engine_cpu.get_parameters(engine, theta);
        total += pow((double)theta[0] - slope, 2.0) + pow((double)theta[1] - offset, 2.0);
    }
    return total / REPLICATIONS;
}

TEST(test_parameter_error_falls_like_gamma)
{
    double gamma_early, gamma_late;
    const double early = mean_square_error(60, &gamma_early), late = mean_square_error(600, &gamma_late);
    const double exponent = log(early / late) / log(gamma_early / gamma_late);
    /* Its standard error is 0.065: a mean square over 300 replications has a relative one of 0.07, and the
       two rates are a factor 4.8 apart. */
    assert_true(exponent > 0.64 && exponent < 1.36);
}

/* ---- calibration: the prior's latents are ranked among their posterior draws --------------------------- */

enum { CHAINS = 4000, DRAWS = 19 };

/* Draws Y_1 from the model (tanh, 2-1-1), then y given Y_1, into the rows; keeps Y_1. */
static oracle joint_draws(const sn_dynamics *d, double *truth)
{
    const int64_t width[] = {2, 1, 1};
    oracle o = oracle_make(2, width, SN_TANH, SN_REGRESSION, CHAINS, 13);
    o.theta[o.shape.weight_at[1]] = 1.7F;
    for (int r = 0; r < CHAINS; r++) {
        double mu = bias(&o, 1, 0);
        for (int j = 0; j < 2; j++) mu += weight(&o, 1, 0, j) * (double)o.x[2 * r + j];
        truth[r] = mu + sqrt(d->s[0]) * sn_noise_normal(31, SN_STREAM_TEST, (uint32_t)r, 1, 0, 0, 0);
        o.y[r] = bias(&o, 2, 0) + weight(&o, 2, 0, 0) * tanh(truth[r]) +
                 sqrt(d->s[1]) * sn_noise_normal(31, SN_STREAM_TEST, (uint32_t)r, 2, 0, 0, 0);
    }
    return o;
}

/* Chi-square p-value of the ranks' uniformity when the sampler runs with `used` on data made with `model`. */
static double calibration_p(const sn_engine_ops *ops, const sn_dynamics *model, const sn_dynamics *used)
{
    static double truth[CHAINS];
    static float y[CHAINS];
    static int rank[CHAINS];
    SN_FREED_BY(oracle_free) oracle o = joint_draws(model, truth);
    memset(rank, 0, sizeof rank);
    for (int k = 0; k < DRAWS; k++) {
        draw(ops, &o, used, (uint32_t)k, y, NULL);
        for (int r = 0; r < CHAINS; r++) rank[r] += (double)y[r] < truth[r];
    }
    double count[DRAWS + 1] = {0}, statistic = 0.0;
    const double expected = (double)CHAINS / (DRAWS + 1);
    for (int r = 0; r < CHAINS; r++) count[rank[r]]++;
    for (int b = 0; b <= DRAWS; b++) statistic += pow(count[b] - expected, 2.0) / expected;
    return sn_chisq_upper(DRAWS, statistic);
}

TEST(test_posterior_ranks_are_uniform_and_mutants_are_caught)
{
    const int64_t width[] = {2, 1, 1};
    sn_shape shape = {.layers = 2, .width = {width[0], width[1], width[2]}};
    const sn_dynamics good = oracle_dynamics(&shape, 0.3, 1.0, 0.08, 0.08, 700);
    assert_true(calibration_p(&sn_engine_cpu, &good, &good) > 1e-7);
    sn_dynamics no_noise = good, doubled = good, no_prior = good;
    no_noise.alpha[0] = 0.0;
    doubled.s[0] *= 4.0;
    no_prior.s[0] *= 1e9;
    assert_true(calibration_p(&sn_engine_cpu, &good, &no_noise) < 1e-9);
    assert_true(calibration_p(&sn_engine_cpu, &good, &doubled) < 1e-9);
    assert_true(calibration_p(&sn_engine_cpu, &good, &no_prior) < 1e-9);
}

RUN_TESTS(NULL, NULL)
