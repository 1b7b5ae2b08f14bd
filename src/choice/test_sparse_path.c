/* The path of select=group: its steps, and what is left when it is stopped before it begins. */
#include "base/test_kit.h"
#include "choice/sparse.h"
#include "choice/sparse_path.h"
#include "engine/test_oracle.h"

enum { N = 60, P = 3 };

typedef struct fixture {
    oracle o;
    sn_config config;
    stonet_run run;
    sn_stage_job job;
} fixture;

static int always(void *user)
{
    (void)user;
    return 1;
}

static void make(fixture *f, bool stops)
{
    const int64_t width[] = {P, 2, 1};
    f->o = oracle_make(2, width, SN_TANH, SN_REGRESSION, N, 3);
    for (int64_t i = 0; i < N; i++) f->o.y[i] = (double)f->o.x[i * P] + 0.1 * f->o.y[i];
    f->config = (sn_config){.engine = &sn_engine_cpu};
    f->run = (stonet_run)STONET_RUN_INIT;
    f->run.threads = 1;
    if (stops) f->run.should_stop = always;
    f->job = (sn_stage_job){.shape = &f->o.shape,
                            .problem = &f->o.problem,
                            .rows = sn_rows_range(0, N),
                            .config = &f->config,
                            .seed = 5,
                            .threads = 1,
                            .run = &f->run};
}

TEST(a_stop_leaves_all_columns)
{
    fixture f;
    make(&f, true);
    double stay[P] = {7.0, 7.0, 7.0};
    sn_sparse found;
    OK(sn_sparse_stay(&f.job, stay));
    for (int c = 0; c < P; c++) assert_true(stay[c] == 0.0);
    for (int given = 0; given < 2; given++) {
        OK(sn_sparse_choose(&f.job, given ? 0.5 : (double)NAN, &found));
        assert_null(found.front);
        assert_int_equal(found.kept, P);
        assert_int_equal(found.columns, P);
        assert_int_equal(found.held_out, 0);
        assert_true(found.penalty == 0.0 && found.better);
    }
    oracle_free(&f.o);
}

typedef struct seen {
    int steps;
    double length[SN_SPARSE_STEPS + 1][P];
} seen;

static stonet_status note(void *user, const sn_sparse_step *step, bool *enough)
{
    seen *s = user;
    assert_int_equal(step->number, s->steps++);
    assert_true(step->penalty == (step->number > 0 ? sn_sparse_penalty(step->number) : 0.0));
    assert_int_equal(step->columns, P);
    for (int c = 0; c < P; c++) {
        double square = 0.0;
        for (int64_t a = 0; a < step->shape->width[1]; a++)
            square += pow((double)step->theta[step->shape->weight_at[0] + a * P + c], 2);
        assert_true(fabs(step->length[c] - sqrt(square)) < 1e-9 * (1.0 + sqrt(square)));
        s->length[step->number][c] = step->length[c];
    }
    *enough = false;
    return STONET_OK;
}

/* Columns stay until their last step, with half of their part of the longest beyond it. */
TEST(columns_stay_until_their_last_step)
{
    fixture f;
    make(&f, false);
    static seen s;
    double stay[P];
    const sn_sparse_visitor visitor = {note, &s};
    OK(sn_sparse_walk(&f.job, &visitor));
    assert_true(s.steps > 3);
    OK(sn_sparse_stay(&f.job, stay));
    int gone = 0;
    for (int c = 0; c < P; c++) {
        double wanted = 0.0;
        for (int k = 0; k < s.steps; k++) {
            const double longest = fmax(s.length[k][0], fmax(s.length[k][1], s.length[k][2]));
            if (s.length[k][c] > 0.0) wanted = k + 0.5 * s.length[k][c] / longest;
        }
        assert_true(fabs(stay[c] - wanted) < 1e-12);
        gone += stay[c] < s.steps - 1;
    }
    assert_true(gone > 0 && stay[0] > stay[1] && stay[0] > stay[2]);
    for (int k = 1; k <= SN_SPARSE_STEPS; k++) {
        assert_int_equal(sn_sparse_step_of(sn_sparse_penalty(k)), k);
        if (k > 1) assert_true(sn_sparse_penalty(k) > sn_sparse_penalty(k - 1));
    }
    assert_int_equal(sn_sparse_step_of(1e9), SN_SPARSE_STEPS);
    oracle_free(&f.o);
}

RUN_TESTS(NULL, NULL)
