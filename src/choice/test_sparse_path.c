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

/* Columns stay until their last step, with half of their part of the longest beyond it. */
TEST(columns_stay_until_their_last_step)
{
    fixture f;
    make(&f, false);
    double stay[P], wanted[P] = {0.0};
    int steps = 0;
    SN_FREED_BY(sn_sparse_end) sn_sparse_path path = {0};
    OK(sn_sparse_begin(&f.job, &path));
    assert_int_equal(path.columns, P);
    for (;; steps++) {
        bool there;
        OK(sn_sparse_next(&path, &there));
        if (!there) break;
        assert_int_equal(path.step, steps);
        const double longest = fmax(path.length[0], fmax(path.length[1], path.length[2]));
        for (int c = 0; c < P; c++) {
            double square = 0.0;
            for (int64_t a = 0; a < path.shape.width[1]; a++)
                square += pow((double)path.theta[path.shape.weight_at[0] + a * P + c], 2);
            assert_true(fabs(path.length[c] - sqrt(square)) < 1e-9 * (1.0 + sqrt(square)));
            if (path.length[c] > 0.0) wanted[c] = path.step + 0.5 * path.length[c] / longest;
        }
    }
    assert_true(steps > 3);
    OK(sn_sparse_stay(&f.job, stay));
    int gone = 0;
    for (int c = 0; c < P; c++) {
        assert_true(fabs(stay[c] - wanted[c]) < 1e-12);
        gone += stay[c] < steps - 1;
    }
    assert_true(gone > 0 && stay[0] > stay[1] && stay[0] > stay[2]);
    assert_true(sn_sparse_penalty(0) == 0.0);
    for (int k = 1; k <= SN_SPARSE_STEPS; k++) {
        assert_int_equal(sn_sparse_step_of(sn_sparse_penalty(k)), k);
        assert_true(sn_sparse_penalty(k) > sn_sparse_penalty(k - 1));
    }
    assert_int_equal(sn_sparse_step_of(1e9), SN_SPARSE_STEPS);
    oracle_free(&f.o);
}

RUN_TESTS(NULL, NULL)
