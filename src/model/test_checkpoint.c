/*
 * A fit that is stopped again and again, and goes on from its checkpoint with another number of threads each
 * time, gives the bytes of one that was left alone; so do the results of tuning.
 */
#include "base/test_kit.h"
#include "model/test_table.h"

static int stop_after(void *user)
{
    int64_t *left = user;
    return --*left < 0;
}

/* The sessions that a fit takes when each is stopped after a while, which grows; and its model. */
static int fit_in_pieces(const stonet_spec *spec, const stonet_data *data, int64_t patience,
                         stonet_model **out)
{
    char path[256];
    sn_testing_path(path, sizeof path, "kept.checkpoint");
    for (int session = 1;; session++) {
        int64_t left = patience + session;
        stonet_run run = STONET_RUN_INIT;
        SN_AUTO(stonet_model) *model = NULL;
        run.threads = 1 + session % 2;
        run.should_stop = stop_after;
        run.user = &left;
        OK(stonet_checkpoint_open(path, 1e6, &run.checkpoint));
        const stonet_status status = stonet_fit(spec, data, &run, &model);
        OK(status);
        const bool done = stonet_model_outcome(model) == STONET_DONE;
        if (done) OK(stonet_checkpoint_remove(run.checkpoint));
        stonet_checkpoint_free(run.checkpoint);
        if (done) {
            (void)SN_GIVE(model, out);
            return session;
        }
        assert_true(session < 1000);
    }
}

static void assert_goes_on(const stonet_spec *spec, const stonet_data *data, int64_t patience)
{
    SN_AUTO(stonet_model) *whole = NULL, *pieces = NULL;
    OK(stonet_fit(spec, data, NULL, &whole));
    assert_true(fit_in_pieces(spec, data, patience, &pieces) > 2);
    assert_same_model(whole, pieces);
}

/* Both stages of one training, stopped in either, for every kind of schedule. */
TEST(training_goes_on)
{
    SN_TABLE table = sn_table_numbers(500, 6, 2, 3);
    static const char *const schedules[] = {"schedule=linear", "schedule=averaged", "schedule=constant"};
    for (size_t k = 0; k < sizeof schedules / sizeof *schedules; k++) {
        SN_AUTO(stonet_spec) *spec =
            sn_testing_spec_of("stonet 2 epochs=7.5 weight_decay=0.001 hidden=5 restarts=1 batch=64");
        sn_testing_set(spec, schedules[k]);
        assert_goes_on(spec, table.data, 3);
    }
}

enum { N = 240, P = 3 };

/* A product, with a missing cell in every third row. */
static stonet_data *with_holes(void)
{
    static float x[N * P];
    static double y[N];
    for (int i = 0; i < N * P; i++) x[i] = (float)((i * 7919) % 1009) / 500.0F - 1.0F;
    for (int i = 0; i < N; i++) y[i] = (double)(x[i * P] * x[i * P + 1] + x[i * P + 2]);
    for (int i = 0; i < N; i += 3) x[i * P + i % P] = (float)NAN;
    return sn_testing_data(x, N, P, y);
}

/* Missing cells that are drawn given the response keep their state, in both stages, and in every training
   while settings are chosen. */
TEST(drawn_cells_go_on)
{
    SN_AUTO(stonet_data) *data = with_holes();
    SN_AUTO(stonet_spec) *one =
        sn_testing_spec_of("stonet 1 missing=joint hidden=4 restarts=1 weight_decay=0.001 epochs=6"),
                         *choice = sn_testing_spec_of(
                             "stonet 1 missing=joint hidden=4 restarts=2 activation=tanh front=none");
    assert_goes_on(one, data, 3);
    assert_goes_on(choice, data, 700);
}

/* The choice of settings: legs of lines on folds, the training on all rows. */
TEST(choice_goes_on)
{
    SN_TABLE table = sn_table_classes(100, 5, 3, 4);
    SN_AUTO(stonet_spec) *spec = sn_testing_spec_of("stonet 2 hidden=4 restarts=2 front=none");
    assert_goes_on(spec, table.data, 1500);
}

TEST(what_is_not_the_same_is_refused)
{
    char path[256];
    sn_testing_path(path, sizeof path, "refused.checkpoint");
    SN_TABLE table = sn_table_classes(60, 3, 2, 4), other = sn_table_classes(60, 3, 2, 5);
    SN_AUTO(stonet_spec) *spec = sn_testing_spec_of("stonet 1 epochs=2 weight_decay=0.01 restarts=1"),
                         *other_spec = NULL;
    OK(stonet_spec_copy(spec, &other_spec));
    OK(stonet_spec_set(other_spec, "lr", "0.01"));
    for (int change = 0; change <= 4; change++) {
        stonet_run run = STONET_RUN_INIT;
        SN_AUTO(stonet_model) *model = NULL;
        run.seed = change == 3 ? 2 : 1;
        OK(stonet_checkpoint_open(path, 0.0, &run.checkpoint));
        const stonet_status status =
            stonet_fit(change == 1 ? other_spec : spec, change == 2 ? other.data : table.data, &run, &model);
        const bool same = change == 0 || change == 4;
        assert_int_equal(status, same ? STONET_OK : STONET_ERROR_ARGUMENT);
        if (!same) assert_non_null(strstr(stonet_last_error(), "another job"));
        stonet_checkpoint_free(run.checkpoint);
    }
    unlink(path);
}

RUN_TESTS(NULL, NULL)
