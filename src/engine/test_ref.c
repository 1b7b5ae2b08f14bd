/* The reference engine against the model's formulas: forces and parameter gradients by central differences.
 */
#include "base/test_kit.h"
#include "engine/test_oracle.h"
#include "net/activation.h"

/* log pi(Y_1..Y_h, y | x) of one row up to constants, written from the model's definition. */
static double log_density(const oracle *o, const double *theta, double *const *latent, const double *s)
{
    const sn_shape *sh = &o->shape;
    double total = 0.0;
    for (int i = 1; i <= sh->layers; i++) {
        double mu[8] = {0}, largest = -1e300, sum = 0.0;
        for (int64_t a = 0; a < sh->width[i]; a++) {
            mu[a] = theta[sh->bias_at[i - 1] + a];
            for (int64_t j = 0; j < sh->width[i - 1]; j++) {
                const double in = i == 1 ? sn_psi(sh->input_activation, (double)o->x[j])
                                         : sn_psi(sh->activation, latent[i - 1][j]);
                mu[a] += theta[sh->weight_at[i - 1] + a * sh->width[i - 1] + j] * in;
            }
            largest = fmax(largest, mu[a]);
        }
        for (int64_t a = 0; a < sh->width[i]; a++) sum += exp(mu[a] - largest);
        if (i == sh->layers && sh->task == SN_CLASSIFICATION) {
            total += (mu[o->label[0]] - largest - log(sum)) / s[i - 1];
            continue;
        }
        if (i == sh->layers && sh->spread) {
            const int64_t m = sh->width[i] / 2; /* locations, then logarithms of variances */
            for (int64_t a = 0; a < m; a++)
                total -=
                    ((o->y[a] - mu[a]) * (o->y[a] - mu[a]) / exp(mu[m + a]) + mu[m + a]) / (2.0 * s[i - 1]);
            continue;
        }
        for (int64_t a = 0; a < sh->width[i]; a++) {
            const double value = i < sh->layers ? latent[i][a] : o->y[a];
            total -= (value - mu[a]) * (value - mu[a]) / (2.0 * s[i - 1]);
        }
    }
    return total;
}

typedef struct one_row {
    oracle o;
    sn_engine *engine;
    double theta[256];
    double storage[8][8];
    double *latent[9];
} one_row;

/* What the outputs are. */
typedef enum kind { NUMBERS, CLASSES, SPREAD, TWO_SPREADS } kind;

static void setup_row(one_row *c, sn_activation activation, sn_activation input, kind of, int h)
{
    const sn_task task = of == CLASSES ? SN_CLASSIFICATION : SN_REGRESSION;
    const int64_t width[] = {3, 4, 2, 3, 2};
    int64_t w[5];
    for (int i = 0; i <= h; i++) w[i] = width[i];
    w[h + 1] = of == TWO_SPREADS ? 4 : task == SN_CLASSIFICATION ? 3 : 2;
    c->o = oracle_make(h + 1, w, activation, task, 1, 11);
    c->o.shape.input_activation = input;
    c->o.shape.spread = of == SPREAD || of == TWO_SPREADS;
    const int64_t last = c->o.shape.spread ? w[h] * w[h + 1] : 0;
    for (int64_t j = 0; j < last; j++) c->o.theta[c->o.shape.weight_at[h] + j] *= 0.2F; /* no far outliers */
    for (int64_t j = 0; j < c->o.shape.parameters; j++) c->theta[j] = (double)c->o.theta[j];
    OK(sn_engine_ref.create(&c->o.shape, &c->o.problem, 5, 1, &c->engine));
    sn_engine_ref.start(c->engine, c->o.theta);
    for (int i = 0; i < 8; i++) c->latent[i + 1] = c->storage[i];
}

static void impute(one_row *c, const sn_dynamics *d)
{
    const sn_iteration it = {.rows = sn_rows_range(0, 1), .number = 3, .dynamics = d};
    for (int i = 1; i < c->o.shape.layers; i++) {
        float out[8];
        OK(sn_engine_ref.impute(c->engine, &it, i, out));
        for (int64_t a = 0; a < c->o.shape.width[i]; a++) c->latent[i][a] = (double)out[a];
    }
}

static void teardown_row(one_row *c)
{
    sn_engine_ref.free(c->engine);
    oracle_free(&c->o);
}

static double derivative(const one_row *c, double *at, const double *s)
{
    const double h = 1e-5, kept = *at;
    *at = kept + h;
    const double up = log_density(&c->o, c->theta, c->latent, s);
    *at = kept - h;
    const double down = log_density(&c->o, c->theta, c->latent, s);
    *at = kept;
    return (up - down) / (2.0 * h);
}

/* Without friction and noise, one sweep of symplectic Euler from rest moves layer h by eps^2 g_h. */
static void check_force(sn_activation activation, kind of, int h)
{
    SN_FREED_BY(teardown_row) one_row c;
    setup_row(&c, activation, SN_IDENTITY, of, h);
    sn_dynamics d = oracle_dynamics(&c.o.shape, 0.7, 0.8, 0.5, 0.0, 1);
    d.start = SN_START_MODE; /* away from mu, or the pull towards it would be 0 and go untested */
    for (int i = 0; i < h - 1; i++) d.epsilon[i] = 0.0; /* only the last hidden layer moves */
    sn_dynamics still = d;
    still.epsilon[h - 1] = 0.0;
    impute(&c, &d);
    double moved[8];
    memcpy(moved, c.latent[h], sizeof moved);
    impute(&c, &still);
    for (int64_t a = 0; a < c.o.shape.width[h]; a++) {
        const double g = (moved[a] - c.latent[h][a]) / (d.epsilon[h - 1] * d.epsilon[h - 1]);
        const double expected = derivative(&c, &c.latent[h][a], d.s);
        assert_true(fabs(g - expected) < 1e-5 * (1.0 + fabs(expected)));
    }
}

static void check_gradient(sn_activation activation, sn_activation input, kind of, int h)
{
    SN_FREED_BY(teardown_row) one_row c;
    setup_row(&c, activation, input, of, h);
    const sn_dynamics d = oracle_dynamics(&c.o.shape, 0.5, 0.6, 0.4, 0.1, 7);
    impute(&c, &d);
    sn_update up = {0};
    for (int i = 0; i < c.o.shape.layers; i++) up.scale[i] = 1.0;
    const sn_iteration it = {.rows = sn_rows_range(0, 1), .number = 3, .dynamics = &d, .update = &up};
    sn_step_report report;
    OK(sn_engine_ref.step(c.engine, &it, &report));
    assert_int_equal(report.finite, 1);
    double theta[64], direction[64]; /* what there is of momentum after one step */
    sn_engine_state state = {theta, direction, 0};
    assert_true(c.o.shape.parameters <= 64);
    sn_engine_ref.get_state(c.engine, &state);
    for (int64_t j = 0; j < c.o.shape.parameters; j++) {
        const double expected = derivative(&c, &c.theta[j], d.s);
        assert_true(fabs(direction[j] - expected) <
                    2e-5 * (1.0 + fabs(expected))); /* latents came as float */
    }
}

TEST(test_forces_and_parameter_gradients_are_those_of_the_log_density)
{
    const sn_activation all[] = {SN_IDENTITY, SN_TANH, SN_RELU, SN_SIGMOID};
    for (int a = 0; a < 4; a++)
        for (int h = 1; h <= 3; h++)
            for (int of = NUMBERS; of <= TWO_SPREADS; of++) {
                check_force(all[a], (kind)of, h);
                check_gradient(all[a], of == CLASSES ? all[a] : SN_IDENTITY, (kind)of, h);
            }
}

/* The explicit form moves by the old velocity: after one sweep from rest nothing has moved yet. */
TEST(test_euler_uses_the_old_velocity)
{
    SN_FREED_BY(teardown_row) one_row c;
    setup_row(&c, SN_TANH, SN_IDENTITY, NUMBERS, 2);
    sn_dynamics d = oracle_dynamics(&c.o.shape, 0.5, 0.6, 0.4, 0.1, 1);
    d.integrator = SN_EULER;
    impute(&c, &d);
    double after_one = c.latent[2][0];
    sn_dynamics still = d;
    for (int i = 0; i < 2; i++) still.epsilon[i] = 0.0;
    impute(&c, &still);
    assert_true(after_one == c.latent[2][0]);
    d.sweeps = 2;
    impute(&c, &d);
    assert_true(after_one != c.latent[2][0]);
}

/* Mode start without sweeps to speak of: Y_h = mu_h + s_h g_h at the forward pass. */
TEST(test_mode_start_adds_the_scaled_gradient)
{
    SN_FREED_BY(teardown_row) one_row c;
    setup_row(&c, SN_TANH, SN_IDENTITY, CLASSES, 2);
    sn_dynamics d = oracle_dynamics(&c.o.shape, 0.5, 0.6, 0.0, 0.0, 1);
    impute(&c, &d);
    double expected[8] = {0};
    for (int64_t a = 0; a < c.o.shape.width[2]; a++) {
        sn_dynamics flat = d;
        flat.s[1] = 1e30; /* no pull to mu: the derivative is that of the response's term alone */
        expected[a] = c.latent[2][a] + d.s[1] * derivative(&c, &c.latent[2][a], flat.s);
    }
    d.start = SN_START_MODE;
    impute(&c, &d);
    for (int64_t a = 0; a < c.o.shape.width[2]; a++) assert_true(fabs(c.latent[2][a] - expected[a]) < 1e-5);
}

RUN_TESTS(NULL, NULL)
