/* Training: schedules, pauses, averages and records. */
#include "base/checkpoint.h"
#include "stonet/test_job.h"
#include "stonet/test_settings.h"
#include "stonet/train_state.h"

#define AT(number) offsetof(sn_train_numbers, number)

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

TEST(test_schedules)
{
    const sn_schedule constant = {.kind = SN_CONSTANT}, linear = {.kind = SN_LINEAR};
    const sn_schedule averaged = {.kind = SN_AVERAGED, .steady = 1000},
                      later = {.kind = SN_AVERAGED, .steady = 6000};
    assert_true(fabs(sn_schedule_factor(&averaged, 15000, 7) - 0.125) < 1e-12);
    assert_true(fabs(sn_schedule_factor(&later, 90000, 7) - 0.125) < 1e-12);
    const sn_schedule power = {.kind = SN_POWER, .c = 1000, .a = 0.6};
    assert_true(sn_schedule_factor(&constant, 7, 10) == 1.0);
    assert_true(sn_schedule_factor(&constant, 1, 200) == 1.0); /* nothing to warm up */
    assert_true(sn_schedule_factor(&linear, 1, 10) == 1.0);
    assert_true(fabs(sn_schedule_factor(&linear, 10, 10) - 0.1) < 1e-15);
    assert_true(sn_schedule_factor(&linear, 1, 1) == 1.0);
    assert_true(sn_schedule_factor(&power, 1, 10) == 1.0);
    assert_true(fabs(sn_schedule_factor(&power, 32, 64) - 1001.0 / (1000.0 + 8.0)) < 1e-12);
    const sn_schedule warm = {.kind = SN_CONSTANT, .warm = 0.2}; /* to 1 in 10 of 200 steps */
    assert_true(fabs(sn_schedule_factor(&warm, 1, 200) - 0.28) < 1e-12);
    assert_true(fabs(sn_schedule_factor(&warm, 5, 200) - 0.6) < 1e-12);
    assert_true(sn_schedule_factor(&warm, 10, 200) == 1.0);
}

static const sn_net_kind KIND = {.activation = SN_TANH, .weight_decay = 0.001};

static sn_stage_job averaged_job(const oracle *o, sn_config *config)
{
    SN_AUTO(sn_settings) *settings = settings_with("schedule averaged");
    OK(sn_config_resolve(settings, &KIND, &o->problem, &o->shape, config));
    return oracle_job(o, config);
}

/* Looking at what a training has reached on its way changes nothing, and every length is what a run of that
   length would give. */
TEST(test_every_length_of_one_run_is_a_run_of_that_length)
{
    SN_FREED_BY(oracle_free) oracle o = make_problem(SN_REGRESSION, 200);
    sn_config config;
    const sn_stage_job job = averaged_job(&o, &config);
    float theta[2][64], start[64];
    assert_true(o.shape.parameters <= 64);
    sn_shape_start(&o.shape, 5, start);
    SN_AUTO(sn_trainer) *paused = NULL;
    OK(sn_trainer_create(&job, start, &paused));
    for (int64_t until = 10; until <= 160; until *= 2) {
        OK(sn_trainer_run(paused, until));
        SN_AUTO(sn_trainer) *whole = NULL;
        OK(sn_trainer_create(&job, start, &whole));
        OK(sn_trainer_run(whole, until));
        sn_trainer_parameters(paused, theta[0]);
        sn_trainer_parameters(whole, theta[1]);
        assert_memory_equal(theta[0], theta[1], (size_t)o.shape.parameters * sizeof(float));
        assert_true(sn_trainer_report(paused)->loss == sn_trainer_report(whole)->loss);
    }
}

/* The average over 5..10 is the mean of what runs of 6, 7, .., 10 iterations end at. */
TEST(test_the_average_is_over_the_last_half)
{
    SN_FREED_BY(oracle_free) oracle o = make_problem(SN_REGRESSION, 200);
    sn_config config;
    const sn_stage_job job = averaged_job(&o, &config);
    float theta[64], start[64];
    double mean[64] = {0};
    sn_shape_start(&o.shape, 5, start);
    SN_AUTO(sn_trainer) *trainer = NULL;
    OK(sn_trainer_create(&job, start, &trainer));
    for (int64_t until = 6; until <= 10; until++) { /* pieces of one iteration: an average of one iterate */
        if (until == 6) OK(sn_trainer_run(trainer, 5));
        OK(sn_trainer_run(trainer, until));
        sn_trainer_parameters(trainer, theta);
        for (int64_t j = 0; j < o.shape.parameters; j++) mean[j] += (double)theta[j] / 5.0;
    }
    sn_trainer_free(trainer);
    OK(sn_trainer_create(&job, start, &trainer));
    OK(sn_trainer_run(trainer, 10));
    sn_trainer_parameters(trainer, theta);
    for (int64_t j = 0; j < o.shape.parameters; j++) assert_true(fabs((double)theta[j] - mean[j]) < 1e-6);
}

/* A stop after the last batch of an epoch is kept like any other: of few rows every batch is the last one. */
TEST(a_stop_at_the_end_of_an_epoch_is_kept)
{
    SN_FREED_BY(oracle_free) oracle o = make_problem(SN_REGRESSION, 60);
    SN_AUTO(stonet_checkpoint) *checkpoint = NULL;
    int64_t left = 4;
    sn_config config;
    sn_hash hash;
    stonet_run run = {.size = sizeof run, .threads = 1, .should_stop = stop_after, .user = &left};
    sn_stage_job job = averaged_job(&o, &config);
    SN_AUTO(sn_trainer) *stopped = NULL, *resumed = NULL;
    assert_int_equal(sn_train_batches(&config, 60), 1);
    sn_hash_begin(&hash);
    OK(stonet_checkpoint_open(NULL, 1e9, &checkpoint));
    OK(sn_checkpoint_begin(checkpoint, "fit", &hash, &run));
    run.checkpoint = checkpoint;
    job.run = &run;
    OK(sn_trainer_create(&job, o.theta, &stopped));
    OK(sn_trainer_keep_at(stopped, "training"));
    OK(sn_trainer_run(stopped, 50));
    assert_int_equal(sn_trainer_report(stopped)->outcome, STONET_STOPPED);
    OK(sn_trainer_create(&job, o.theta, &resumed));
    OK(sn_trainer_keep_at(resumed, "training"));
    assert_int_equal(sn_trainer_report(resumed)->outcome, STONET_DONE);
    assert_int_equal(sn_trainer_report(resumed)->iterations, sn_trainer_report(stopped)->iterations);
}

/* A record of a training whose numbers nothing could have come to is refused, and never counted or divided
   by; at their limits they are fine. */
TEST(test_impossible_records_are_refused)
{
    const int64_t most = INT64_C(1) << 40;
    const struct {
        size_t at;
        int64_t value;
        bool fine;
    } cases[] = {{AT(parameters), 1, false},
                 {AT(until), -1, false},
                 {AT(until), 0, true},
                 {AT(until), most, true},
                 {AT(until), most + 1, false},
                 {AT(iteration), -1, false},
                 {AT(iteration), 0, true},
                 {AT(iteration), UINT32_MAX, true},
                 {AT(iteration), INT64_C(1) << 32, false},
                 {AT(from), -1, false},
                 {AT(from), most, true},
                 {AT(from), INT64_MAX, false},
                 {AT(every), -1, false},
                 {AT(every), 0, false}, /* what is averaged is counted by it */
                 {AT(every), most, true},
                 {AT(count), -1, false},
                 {AT(epoch_rows), -1, false},
                 {AT(epoch_rows), 0, true},
                 {AT(full_done), -1, false},
                 {AT(full_done), most + 1, false},
                 {AT(report.outcome), 77, false},
                 {AT(report.outcome), STONET_DIVERGED, true},
                 {AT(report.outcome), STONET_STOPPED, false},
                 {AT(report.iterations), -1, false},
                 {AT(draw), most + 1, false}};
    SN_FREED_BY(oracle_free) oracle o = make_problem(SN_REGRESSION, 200);
    sn_config config;
    const sn_stage_job job = averaged_job(&o, &config);
    SN_AUTO(sn_trainer) *trainer = NULL;
    sn_pack record = {0};
    OK(sn_trainer_create(&job, o.theta, &trainer));
    OK(sn_trainer_run(trainer, 10));
    OK(sn_trainer_pack(trainer, &record));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        unsigned char *at = record.bytes + cases[k].at;
        const stonet_outcome outcome = (stonet_outcome)cases[k].value;
        const bool is_outcome = cases[k].at == AT(report.outcome);
        int64_t right;
        memcpy(&right, at, sizeof right);
        memcpy(at, is_outcome ? (const void *)&outcome : &cases[k].value,
               is_outcome ? sizeof outcome : sizeof right);
        const stonet_status status = sn_trainer_unpack(trainer, &(sn_unpack){record.bytes, record.size});
        if (cases[k].fine)
            OK(status);
        else
            assert_says(status, STONET_ERROR_FORMAT, "another network");
        memcpy(at, &right, sizeof right);
    }
    sn_pack_clear(&record);
}

RUN_TESTS(NULL, NULL)
