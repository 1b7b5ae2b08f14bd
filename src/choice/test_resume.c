/* A fit that is stopped again and again, and goes on from its checkpoint, is the fit that was left alone. */
#include <unistd.h>

#include "base/checkpoint.h"
#include "base/test_kit.h"
#include "choice/test_fit.h"
#include "engine/test_oracle.h"
#include "stonet/test_table.h"

enum { N = 60 };

typedef struct table {
    table_rows rows;
    oracle o;
} table;

/* Joint: the first feature is missing in every third row. */
static void make(table *t, bool joint)
{
    const int64_t width[] = {3, 4, 1};
    t->o = oracle_make(2, width, SN_TANH, SN_REGRESSION, N, 17);
    for (int64_t r = 0; r < N; r++) t->o.y[r] = (double)(t->o.x[3 * r] * t->o.x[3 * r + 1]);
    t->rows = table_of_rows(t->o.x, 3, 3);
    if (joint) t->o.problem.source = &t->rows.base;
    t->o.problem.joint = joint;
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
static void in_pieces(const table *t, const char *pairs, double every, int64_t patience,
                      const sn_stonet *whole)
{
    char path[] = "/tmp/stonet-resume-XXXXXX";
    const int handle = mkstemp(path);
    assert_true(handle >= 0);
    close(handle);
    unlink(path);
    SN_AUTO(sn_settings) *settings = settings_with(pairs);
    sn_hash hash;
    sn_hash_begin(&hash);
    for (int session = 1;; session++) {
        int64_t left = patience + session; /* so that some session gets somewhere */
        stonet_run run = STONET_RUN_INIT;
        stonet_outcome outcome;
        run.threads = 1;
        run.should_stop = stop_after;
        run.user = &left;
        OK(stonet_checkpoint_open(path, every, &run.checkpoint));
        OK(sn_checkpoint_begin(run.checkpoint, "fit", &hash, &run));
        sn_stonet *net = NULL;
        const stonet_status status = sn_stonet_fit(&t->o.problem, 1, settings, &run, &net, &outcome);
        if (status == STONET_ERROR_INTERRUPTED)
            outcome = STONET_STOPPED; /* no network yet */
        else
            OK(status);
        OK(sn_checkpoint_end(run.checkpoint, STONET_OK));
        if (outcome == STONET_DONE) {
            assert_same(net, whole);
            assert_true(session > 1);
        }
        if (net != NULL) sn_stonet_free(net);
        stonet_checkpoint_free(run.checkpoint);
        if (outcome == STONET_DONE) break;
        assert_true(session < 500);
    }
    unlink(path);
}

TEST(a_fit_goes_on)
{
    static const struct {
        const char *pairs;
        bool joint;
        int64_t patience;
    } cases[] = {
        {"engine ref hidden 4 epochs 4 weight_decay 0.01 batch 20 sdr_iterations 5", false, 3},
        {"engine ref hidden 4 epochs 6 weight_decay 0.01 batch 20 schedule averaged sdr_iterations 4", false,
         4},
        {"engine ref hidden 4 epochs 4 weight_decay 0.01 batch 20 sdr_iterations 4", true, 3},
        {"activation tanh front none epochs 6 batch 20 sdr_iterations 2", false, 25}}; /* a choice */
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        table t;
        make(&t, cases[k].joint);
        SN_AUTO(sn_stonet) *whole = fit_with(&t.o.problem, 1, cases[k].pairs, NULL, NULL);
        in_pieces(&t, cases[k].pairs, 0.0, cases[k].patience, whole);
        in_pieces(&t, cases[k].pairs, 1e9, cases[k].patience + 2, whole);
        oracle_free(&t.o);
    }
}

RUN_TESTS(NULL, NULL)
