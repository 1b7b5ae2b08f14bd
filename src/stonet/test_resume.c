/* A fit that is stopped again and again, and goes on from its checkpoint, is the fit that was left alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/checkpoint.h"
#include "data/test_source.h"
#include "engine/oracle.h"
#include "stonet/fitted.h"

enum { N = 60 };

/* The first feature is missing in every third row. */
typedef struct table {
    sn_row_source source;
    oracle o;
} table;

static void fetch(const sn_row_source *self, const sn_rows *rows, uint32_t draw, float *x, int64_t stride)
{
    const table *t = (const table *)self;
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        memcpy(x + i * stride, t->o.x + 3 * row, 3 * sizeof *x);
        if (row % 3 == 0)
            x[i * stride] =
                (float)(draw > 0 ? sn_noise_normal(3, SN_STREAM_TEST, (uint32_t)row, 0, 0, draw, 0) : 0.0);
    }
}

static sn_gaps gaps(const sn_row_source *self, int64_t row)
{
    (void)self;
    return row % 3 == 0 ? SN_GAPS_GAUSSIAN : SN_GAPS_NONE;
}

static void make(table *t, bool joint)
{
    const int64_t width[] = {3, 4, 1};
    t->o = oracle_make(2, width, SN_TANH, SN_REGRESSION, N, 17);
    for (int64_t r = 0; r < N; r++) t->o.y[r] = (double)(t->o.x[3 * r] * t->o.x[3 * r + 1]);
    t->source = (sn_row_source){.prepare = rows_are_ready, .fetch = fetch, .gaps = gaps};
    if (joint) t->o.problem.source = &t->source;
    t->o.problem.joint = joint;
}

static int stop_after(void *user)
{
    int64_t *left = user;
    return --*left < 0;
}

static sn_stonet *fit(const table *t, const char *const *pairs, stonet_run *run, stonet_outcome *outcome)
{
    sn_settings *settings = NULL;
    sn_stonet *net = NULL;
    assert_int_equal(sn_settings_create(sn_stonet_params, SN_STONET_PARAMS, &settings), STONET_OK);
    for (; pairs[0] != NULL; pairs += 2)
        assert_int_equal(sn_settings_set(settings, pairs[0], pairs[1]), STONET_OK);
    if (sn_stonet_fit(&t->o.problem, 1, settings, run, &net, outcome) != STONET_OK)
        fail_msg("%s", stonet_last_error());
    sn_settings_free(settings);
    return net;
}

static void assert_same(const sn_stonet *a, const sn_stonet *b)
{
    assert_int_equal(a->network.shape.parameters, b->network.shape.parameters);
    assert_memory_equal(a->network.theta, b->network.theta,
                        (size_t)a->network.shape.parameters * sizeof *a->network.theta);
    assert_int_equal(a->network.history.length, b->network.history.length);
    if (a->network.history.length > 0)
        assert_memory_equal(a->network.history.text, b->network.history.text, a->network.history.length);
    assert_true(a->training_loss == b->training_loss && a->smallest_step == b->smallest_step);
    assert_int_equal(a->iterations, b->iterations);
    assert_int_equal(a->stuck, b->stuck);
    assert_true(a->held_out.loss == b->held_out.loss || (isnan(a->held_out.loss) && isnan(b->held_out.loss)));
}

/* every: seconds between two records. At 0 all are written; at 1e9 those of a stop alone. */
static void in_pieces(const table *t, const char *const *pairs, double every, int64_t patience,
                      const sn_stonet *whole)
{
    char path[] = "/tmp/stonet-resume-XXXXXX";
    const int handle = mkstemp(path);
    assert_true(handle >= 0);
    close(handle);
    unlink(path);
    sn_hash hash;
    sn_hash_begin(&hash);
    for (int session = 1;; session++) {
        int64_t left = patience + session; /* so that some session gets somewhere */
        stonet_run run = STONET_RUN_INIT;
        stonet_outcome outcome;
        run.threads = 1;
        run.should_stop = stop_after;
        run.user = &left;
        assert_int_equal(stonet_checkpoint_open(path, every, &run.checkpoint), STONET_OK);
        assert_int_equal(sn_checkpoint_begin(run.checkpoint, "fit", &hash, &run), STONET_OK);
        sn_stonet *net = fit(t, pairs, &run, &outcome);
        assert_int_equal(sn_checkpoint_end(run.checkpoint, STONET_OK), STONET_OK);
        if (outcome == STONET_DONE) {
            assert_same(net, whole);
            assert_true(session > 1);
        }
        sn_stonet_free(net);
        stonet_checkpoint_free(run.checkpoint);
        if (outcome == STONET_DONE) break;
        assert_true(session < 500);
    }
    unlink(path);
}

static void goes_on(bool joint, const char *const *pairs, int64_t patience)
{
    table t;
    make(&t, joint);
    stonet_run run = STONET_RUN_INIT;
    stonet_outcome outcome;
    run.threads = 1;
    sn_stonet *whole = fit(&t, pairs, &run, &outcome);
    assert_int_equal(outcome, STONET_DONE);
    in_pieces(&t, pairs, 0.0, patience, whole);
    in_pieces(&t, pairs, 1e9, patience + 2, whole);
    sn_stonet_free(whole);
    oracle_free(&t.o);
}

static void both_stages(void **state)
{
    (void)state;
    goes_on(false,
            (const char *const[]){"engine", "ref", "hidden", "4", "epochs", "4", "weight_decay", "0.01",
                                  "batch", "20", "sdr_iterations", "5", NULL},
            3);
}

static void averages(void **state)
{
    (void)state;
    goes_on(false,
            (const char *const[]){"engine", "ref", "hidden", "4", "epochs", "6", "weight_decay", "0.01",
                                  "batch", "20", "schedule", "averaged", "sdr_iterations", "4", NULL},
            4);
}

static void missing_cells(void **state)
{
    (void)state;
    goes_on(true,
            (const char *const[]){"engine", "ref", "hidden", "4", "epochs", "4", "weight_decay", "0.01",
                                  "batch", "20", "sdr_iterations", "4", NULL},
            3);
}

/* Next to no step: every beginning is tried. */
static void a_network_that_is_stuck(void **state)
{
    (void)state;
    goes_on(false,
            (const char *const[]){"engine", "ref", "hidden", "4", "epochs", "4", "weight_decay", "0.01", "lr",
                                  "1e-9", "sdr_iterations", "2", NULL},
            0);
}

static void a_search(void **state)
{
    (void)state;
    goes_on(false,
            (const char *const[]){"hidden", "4", "activation", "tanh", "epochs", "6", "restarts", "2",
                                  "batch", "20", "sdr_iterations", "2", NULL},
            25);
}

/* The numbers of a record at their limits: what a training may have come to, and one more. They are, in this
   order: parameters, until, iteration, from, every, count, rows of the epoch, whether it is the last stage,
   its iterations, outcome, iterations in all, draw. */
static void records_at_their_limits(void **state)
{
    (void)state;
    const int64_t most = INT64_C(1) << 40;
    const struct {
        int at;
        int64_t value;
        bool fine;
    } cases[] = {{1, 0, true},
                 {1, most, true},
                 {1, most + 1, false},
                 {2, 0, true},
                 {2, -1, false},
                 {2, UINT32_MAX, true},
                 {2, INT64_C(1) << 32, false},
                 {3, most, true},
                 {4, 0, false}, /* what is averaged is counted by it */
                 {4, most, true},
                 {6, 0, true},
                 {8, most + 1, false},
                 {9, STONET_DIVERGED, true},
                 {9, STONET_STOPPED, false},
                 {10, 0, true},
                 {10, -1, false},
                 {11, 0, true},
                 {11, most + 1, false}};
    table t;
    make(&t, false);
    for (int averaged = 0; averaged < 2; averaged++) {
        sn_settings *settings = NULL;
        sn_config config;
        sn_trainer *trainer = NULL;
        sn_pack record = {0};
        assert_int_equal(sn_settings_create(sn_stonet_params, SN_STONET_PARAMS, &settings), STONET_OK);
        assert_int_equal(sn_settings_set(settings, "schedule", averaged ? "averaged" : "linear"), STONET_OK);
        assert_int_equal(sn_config_resolve(settings, &t.o.problem, &t.o.shape, &config), STONET_OK);
        const sn_stage_job job = {.shape = &t.o.shape,
                                  .problem = &t.o.problem,
                                  .rows = sn_rows_range(0, N),
                                  .config = &config,
                                  .seed = 5,
                                  .threads = 1};
        assert_int_equal(sn_trainer_create(&job, t.o.theta, &trainer), STONET_OK);
        assert_int_equal(sn_trainer_run(trainer, 3), STONET_OK);
        assert_int_equal(sn_trainer_pack(trainer, &record), STONET_OK);
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            int64_t right;
            memcpy(&right, record.bytes + 8 * cases[k].at, sizeof right);
            memcpy(record.bytes + 8 * cases[k].at, &cases[k].value, sizeof right);
            const bool fine = cases[k].fine || (cases[k].at == 4 && !averaged);
            assert_int_equal(sn_trainer_unpack(trainer, &(sn_unpack){record.bytes, record.size}),
                             fine ? STONET_OK : STONET_ERROR_FORMAT);
            memcpy(record.bytes + 8 * cases[k].at, &right, sizeof right);
        }
        /* a training that has not begun averages nothing */
        const int64_t none = 0;
        memcpy(record.bytes + 8, &none, sizeof none);
        memcpy(record.bytes + 32, &none, sizeof none);
        assert_int_equal(sn_trainer_unpack(trainer, &(sn_unpack){record.bytes, record.size}), STONET_OK);
        sn_pack_clear(&record);
        sn_trainer_free(trainer);
        sn_settings_free(settings);
    }
    oracle_free(&t.o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_stages),   cmocka_unit_test(averages),
        cmocka_unit_test(missing_cells), cmocka_unit_test(a_network_that_is_stuck),
        cmocka_unit_test(a_search),      cmocka_unit_test(records_at_their_limits),
    };
    return cmocka_run_group_tests_name("stonet_resume", tests, NULL, NULL);
}
