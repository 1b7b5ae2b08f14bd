/* An engine that takes many iterations at once trains as one that takes them one by one. */
#include "stonet/test_job.h"
#include "stonet/test_settings.h"

enum { N = 400, ROOM = 64 };

static int calls, longest;

static stonet_status create(const sn_shape *shape, const sn_problem *problem, uint64_t seed, int threads,
                            sn_engine **out);

/* One after the other, as the contract says. */
static stonet_status steps(sn_engine *engine, const sn_iteration *iterations, int count,
                           sn_step_report *reports)
{
    calls++;
    if (count > longest) longest = count;
    for (int k = 0; k < count; k++) {
        const stonet_status status = sn_engine_ref.step(engine, &iterations[k], &reports[k]);
        if (status != STONET_OK) return status;
    }
    return STONET_OK;
}

static sn_engine_ops queued;

static stonet_status create(const sn_shape *shape, const sn_problem *problem, uint64_t seed, int threads,
                            sn_engine **out)
{
    const stonet_status status = sn_engine_ref.create(shape, problem, seed, threads, out);
    if (status == STONET_OK) (*out)->ops = &queued;
    return status;
}

typedef struct result {
    float theta[ROOM];
    sn_train_report report;
    sn_epoch_log history;
} result;

static void train(const oracle *o, const sn_engine_ops *engine, const char *schedule, const char *lr,
                  const int64_t *until, result *out)
{
    SN_AUTO(sn_settings) *settings =
        settings_with(text_of("schedule %s lr %s epochs 3 batch 8", schedule, lr));
    const sn_net_kind kind = {.activation = SN_TANH};
    sn_config config;
    OK(sn_config_resolve(settings, &kind, &o->problem, &o->shape, &config));
    config.engine = engine;
    *out = (result){.report = {0}};
    sn_stage_job job = oracle_job(o, &config);
    job.history = &out->history;
    SN_AUTO(sn_trainer) *trainer = NULL;
    assert_true(o->shape.parameters <= ROOM);
    OK(sn_trainer_create(&job, o->theta, &trainer));
    for (; *until > 0; until++) OK(sn_trainer_run(trainer, *until));
    sn_trainer_parameters(trainer, out->theta);
    out->report = *sn_trainer_report(trainer);
}

/* wanted: calls, and the most iterations of one. */
static void check(const char *schedule, const char *lr, const int64_t *until, int wanted, int most)
{
    const int64_t width[] = {3, 4, 1};
    SN_FREED_BY(oracle_free) oracle o = oracle_make(2, width, SN_TANH, SN_REGRESSION, N, 17);
    static result plain, at_once;
    queued = sn_engine_ref;
    queued.create = create;
    queued.steps = steps;
    calls = longest = 0;
    train(&o, &sn_engine_ref, schedule, lr, until, &plain);
    train(&o, &queued, schedule, lr, until, &at_once);
    assert_int_equal(calls, wanted);
    assert_int_equal(longest, most);
    assert_memory_equal(plain.theta, at_once.theta, sizeof plain.theta);
    assert_int_equal(plain.report.outcome, at_once.report.outcome);
    assert_int_equal(plain.report.iterations, at_once.report.iterations);
    if (plain.report.outcome == STONET_DONE) assert_true(plain.report.loss == at_once.report.loss);
    assert_int_equal(plain.history.length, at_once.history.length);
    if (plain.history.length > 0)
        assert_memory_equal(plain.history.text, at_once.history.text, plain.history.length);
    sn_epoch_log_free(&plain.history);
    sn_epoch_log_free(&at_once.history);
}

/* Epochs of 50 batches: 32 and 18 of them; a pause ends what is asked for. */
TEST(whole_epochs_and_pauses)
{
    check("linear", "0.05", (const int64_t[]){150, 0}, 6, 32);
    check("linear", "0.05", (const int64_t[]){10, 50, 60, 0}, 4, 32); /* 10, 32 and 8, 10 */
}

/* Up to the iterates that are taken into the average, which somebody looks at: each of the last 25 of 50, and
   every second of the last 150 of 300. */
TEST(averages)
{
    check("averaged", "0.05", (const int64_t[]){50, 0}, 1 + 24, 26);
    check("averaged", "0.05", (const int64_t[]){300, 0}, 6 + 75, 32);
}

TEST(divergence)
{
    check("constant", "5000", (const int64_t[]){150, 0}, 1, 32);
}

/* Losses as they are told: `early` in the first epoch, `late` afterwards. */
static double early, late;

static stonet_status scripted_steps(sn_engine *engine, const sn_iteration *iterations, int count,
                                    sn_step_report *reports)
{
    (void)engine;
    for (int k = 0; k < count; k++)
        reports[k] = (sn_step_report){.loss = iterations[k].number < 50 ? early : late, .finite = true};
    return STONET_OK;
}

/* Whether a training goes on with such losses. */
static bool goes_on(sn_task task, int64_t outputs, double first, double then)
{
    const int64_t width[] = {3, 4, outputs};
    SN_FREED_BY(oracle_free) oracle o = oracle_make(2, width, SN_TANH, task, N, 17);
    static result got;
    early = first;
    late = then;
    queued = sn_engine_ref;
    queued.create = create;
    queued.steps = scripted_steps;
    train(&o, &queued, "constant", "0.01", (const int64_t[]){60, 0}, &got);
    const bool done = got.report.outcome == STONET_DONE;
    assert_int_equal(got.report.outcome, done ? STONET_DONE : STONET_DIVERGED);
    const bool at_once = !(first < 1e3);
    assert_int_equal(got.report.iterations, done ? 60 : at_once ? 1 : 51);
    if (done) assert_true(fabs(got.report.loss - then) < 1e-9);
    sn_epoch_log_free(&got.history);
    return done;
}

/* An explosion is a loss above 20 times that of the first epoch and of guessing: m / 2, or log C. */
TEST(explosions)
{
    const double little = 1e-6;
    assert_true(goes_on(SN_REGRESSION, 3, 0.1, 30.0 - little));
    assert_false(goes_on(SN_REGRESSION, 3, 0.1, 30.0 + little));
    assert_true(goes_on(SN_REGRESSION, 3, 2.5, 50.0 - little));
    assert_false(goes_on(SN_REGRESSION, 3, 2.5, 50.0 + little));
    assert_true(goes_on(SN_CLASSIFICATION, 3, 0.1, 20.0 * log(3.0) - little));
    assert_false(goes_on(SN_CLASSIFICATION, 3, 0.1, 20.0 * log(3.0) + little));
    assert_false(goes_on(SN_REGRESSION, 3, (double)INFINITY, 1.0));
    assert_false(goes_on(SN_REGRESSION, 3, (double)NAN, 1.0));
}

RUN_TESTS(NULL, NULL)
