/* The gradient noise scale against its definition, and the batch that follows from it: the same for any
 * number of ranks. */
#include "base/test_kit.h"
#include "base/test_wire.h"
#include "stonet/batch_size.h"
#include "stonet/dynamics.h"
#include "stonet/noise_scale.h"
#include "stonet/test_job.h"

enum { N = 16384, P = 3 };

/* Shards of one row each: the trace of the sample covariance, and what is left of the square of the mean. */
TEST(test_sums_give_the_covariance)
{
    static const double row[4][2] = {{1, 2}, {3, -1}, {0, 4}, {2, 7}};
    double sum[2] = {0}, squares = 0.0, trace = 0.0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++) {
            sum[j] += row[i][j];
            squares += row[i][j] * row[i][j];
        }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++) trace += (row[i][j] - sum[j] / 4) * (row[i][j] - sum[j] / 4) / 3;
    const double mean = (sum[0] * sum[0] + sum[1] * sum[1]) / 16;
    sn_noise_scale noise = {0};
    sn_noise_scale_add(&noise, 2, sum, squares, 4.0, 4.0);
    assert_true(fabs(noise.variance - trace) < 1e-12);
    assert_true(fabs(noise.square - (mean - trace / 4)) < 1e-12);
    assert_true(fabs(sn_noise_scale_rows(&noise) - trace / (mean - trace / 4)) < 1e-12);
    sn_noise_scale_add(&noise, 2, (double[2]){0, 0}, 100.0, 4.0, 4.0); /* noise and nothing else */
    assert_true(isinf(sn_noise_scale_rows(&noise)));
}

/* Rows of two kinds, a fifth of them of the second, in no order. */
static oracle two_kinds(const int32_t **kinds)
{
    static int32_t kind[N];
    const int64_t width[] = {P, 4, 1};
    oracle o = oracle_make(2, width, SN_TANH, SN_REGRESSION, N, 17);
    sn_random random = sn_random_from(3, SN_STREAM_TEST, 1);
    for (int64_t r = 2; r < N; r++) {
        kind[r] = sn_random_below(&random, 5) == 0;
        memcpy(o.x + r * P, o.x + kind[r] * P, P * sizeof *o.x);
        o.y[r] = o.y[kind[r]];
    }
    kind[1] = 1;
    *kinds = kind;
    return o;
}

static sn_config config_of(const oracle *o, const sn_engine_ops *engine)
{
    sn_config config;
    OK(sn_config_default(engine, &o->problem, &o->shape, &config));
    return config;
}

/* The mean gradient of the rows of one kind. */
static void gradient_of_kind(const sn_stage_job *job, const float *theta, const int32_t *kinds, int32_t kind,
                             double *out, double *share)
{
    static int64_t list[N];
    int64_t count = 0;
    for (int64_t r = 0; r < N; r++)
        if (kinds[r] == kind) list[count++] = r;
    SN_AUTO(sn_engine) *engine = NULL;
    sn_sums sums = sn_sums_empty(job->shape->parameters, false);
    sn_dynamics dynamics;
    double factor;
    sn_dynamics_from(job->config, job->shape, &dynamics);
    OK(sn_dynamics_safeguard(job->shape, theta, &dynamics, &factor));
    const sn_update update = {0};
    const sn_iteration it = {
        .rows = sn_rows_list(list, count), .draw = 1, .dynamics = &dynamics, .update = &update};
    OK(job->config->engine->create(job->shape, job->problem, 5, 1, &engine));
    engine->ops->start(engine, theta);
    OK(engine->ops->accumulate(engine, &it, &sums));
    for (int64_t j = 0; j < job->shape->parameters; j++) out[j] = sums.root[0].gradient[j] / (double)count;
    *share = (double)count / N;
    sn_sums_clear(&sums);
}

/* Gradients that are g or h with probability 1 - q and q have mean (1 - q) g + q h and a covariance of trace
   q (1 - q) |g - h|^2; what the drawn latents add is next to nothing. */
TEST(test_against_the_definition)
{
    const int32_t *kinds;
    SN_FREED_BY(oracle_free) oracle o = two_kinds(&kinds);
    sn_config config = config_of(&o, &sn_engine_ref);
    const sn_stage_job job = oracle_job(&o, &config);
    double g[64], h[64], q, rest, trace = 0.0, square = 0.0;
    assert_true(o.shape.parameters <= 64);
    gradient_of_kind(&job, o.theta, kinds, 0, g, &rest);
    gradient_of_kind(&job, o.theta, kinds, 1, h, &q);
    for (int64_t j = 0; j < o.shape.parameters; j++) {
        trace += q * rest * (g[j] - h[j]) * (g[j] - h[j]);
        square += (rest * g[j] + q * h[j]) * (rest * g[j] + q * h[j]);
    }
    sn_noise_scale noise;
    OK(sn_noise_scale_measure(&job, o.theta, 16, &noise));
    const double step = config.lr * config.s_out; /* of a gradient, in each of 16 batches */
    assert_true(fabs(noise.variance / (16 * step * step) / trace - 1.0) < 0.1);
    assert_true(fabs(noise.square / (16 * step * step) / square - 1.0) < 0.02);
}

typedef struct choice {
    const oracle *o;
    sn_noise_scale noise;
    sn_config config;
} choice;

static const sn_batch_limits LIMITS = {.updates = 16, .rows = 2048, .pilot = 200};

static void choose(stonet_team *team, choice *c)
{
    sn_stage_job job = oracle_job(c->o, &c->config);
    job.team = team;
    if (sn_noise_scale_measure(&job, c->o->theta, 3, &c->noise) != STONET_OK) abort();
    if (sn_batch_choose(&job, c->o->theta, &LIMITS, &c->config) != STONET_OK) abort();
}

static void choose_on_rank(test_rank *self)
{
    choose(self->team, self->user);
}

static choice asked(const oracle *o, bool auto_batch)
{
    choice c = {.o = o, .config = config_of(o, &sn_engine_cpu)};
    c.config.auto_batch = auto_batch;
    c.config.auto_lr = true;
    c.config.batch = 64;
    c.config.epochs = 2.0;
    return c;
}

TEST(test_any_number_of_ranks)
{
    const int64_t width[] = {P, 4, 1};
    SN_FREED_BY(oracle_free)
    oracle o = oracle_make(2, width, SN_TANH, SN_REGRESSION, N, 17); /* the response is noise */
    choice alone = asked(&o, true);
    choose(NULL, &alone);
    assert_true(alone.config.batch > 64 && alone.config.batch <= 2048);
    assert_int_equal(alone.config.batch & (alone.config.batch - 1), 0);
    assert_true(alone.config.lr > 0.05 && alone.config.lr <= 0.2);
    assert_true(fabs(alone.config.schedule.warm * alone.config.lr - 0.05) < 1e-12);
    for (int ranks = 2; ranks <= 7; ranks += ranks == 3 ? 4 : 1) {
        choice each[TEST_RANKS];
        for (int r = 0; r < ranks; r++) each[r] = asked(&o, true);
        test_run_ranks(ranks, choose_on_rank, each, sizeof each[0]);
        for (int r = 0; r < ranks; r++) {
            assert_memory_equal(&each[r].noise, &alone.noise, sizeof alone.noise);
            assert_int_equal(each[r].config.batch, alone.config.batch);
            assert_true(each[r].config.lr == alone.config.lr);
        }
    }
}

TEST(test_what_is_left_alone)
{
    const int64_t width[] = {P, 4, 1};
    SN_FREED_BY(oracle_free) oracle o = oracle_make(2, width, SN_TANH, SN_REGRESSION, N, 17);
    choice given = asked(&o, false), brief = asked(&o, true), step = asked(&o, true);
    choose(NULL, &given);
    assert_int_equal(given.config.batch, 64);
    brief.config.epochs = 0.1; /* 1638 rows in 16 updates or more */
    choose(NULL, &brief);
    assert_int_equal(brief.config.batch, 64);
    brief.config.epochs = 0.2;
    choose(NULL, &brief);
    assert_int_equal(brief.config.batch, 128);
    step.config.auto_lr = false;
    choose(NULL, &step);
    assert_true(step.config.batch > 64 && step.config.lr == 0.05 && step.config.schedule.warm == 0.0);
}

RUN_TESTS(NULL, NULL)
