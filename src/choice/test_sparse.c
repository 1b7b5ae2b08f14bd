/* select=group: what columns count, the path, the choice by held-out rows, and a fit on what is left. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "choice/sparse.h"
#include "choice/sparse_path.h"
#include "choice/test_drawn.h"
#include "choice/test_fit.h"
#include "engine/engines.h"
#include "front/front_wide.h"
#include "math/noise.h"

enum { N = 10000, P = 9, COLUMNS = 7 };
/* The second and the fifth column have two features each. */
static const int64_t border[COLUMNS + 1] = {0, 1, 3, 4, 5, 7, 8, 9};

typedef struct fixture {
    sn_problem problem;
    sn_shape shape;
    sn_config config;
    sn_stage_job job;
    float x[N * P];
    double y[N];
} fixture;

/* y = a (x0 / 2 + x1 x3 + noise): the columns 0, 1 and 2 matter, 1 and 2 in a product alone. */
static fixture *make(int64_t n, double a)
{
    fixture *f = sn_calloc(1, sizeof *f);
    assert_non_null(f);
    sn_random random = sn_random_from(8, SN_STREAM_TEST, 0);
    double squares = 0.0;
    for (int64_t i = 0; i < n; i++) {
        float *x = f->x + i * P;
        for (int j = 0; j < P; j++) x[j] = (float)sn_random_normal(&random);
        f->y[i] = a * (0.5 * (double)x[0] + (double)x[1] * (double)x[3]) + 0.3 * sn_random_normal(&random);
        squares += f->y[i] * f->y[i];
    }
    for (int64_t i = 0; i < n; i++) f->y[i] /= sqrt(squares / (double)n);
    f->problem = (sn_problem){.n = n,
                              .p = P,
                              .x = f->x,
                              .y = f->y,
                              .outputs = 1,
                              .task = SN_REGRESSION,
                              .groups = COLUMNS,
                              .group = border};
    f->shape = (sn_shape){.task = SN_REGRESSION, .input_activation = SN_IDENTITY};
    f->config = (sn_config){.engine = &sn_engine_cpu};
    f->job = (sn_stage_job){.shape = &f->shape,
                            .problem = &f->problem,
                            .rows = sn_rows_range(0, n),
                            .config = &f->config,
                            .seed = 5,
                            .threads = 1};
    return f;
}

static void assert_columns(const sn_sparse *found, const int64_t *feature, int64_t count)
{
    assert_non_null(found->front);
    assert_int_equal(found->front->inputs, P);
    assert_int_equal(found->front->outputs, count);
    for (int64_t k = 0; k < count; k++) assert_int_equal(sn_front_columns_list(found->front)[k], feature[k]);
}

/* The features of a column come together, and what matters in a product is found. One held-out part is enough
   here. */
TEST(test_choice)
{
    const int64_t right[] = {0, 1, 2, 3};
    SN_BLOCK fixture *f = make(N, 1.0);
    sn_sparse found;
    OK(sn_sparse_choose(&f->job, (double)NAN, &found));
    assert_true(found.better && found.penalty > 0.0);
    assert_int_equal(found.kept, 3);
    assert_int_equal(found.columns, COLUMNS);
    assert_int_equal(found.held_out, N / 5);
    assert_columns(&found, right, 4);
    sn_front_free(found.front);
}

/* Several held-out parts, on any number of threads. */
TEST(test_small_data)
{
    SN_BLOCK fixture *f = make(80, 1.0);
    sn_sparse found[2];
    for (int k = 0; k < 2; k++) {
        f->job.threads = 1 + k;
        OK(sn_sparse_choose(&f->job, (double)NAN, &found[k]));
        assert_int_equal(found[k].held_out, 80);
    }
    assert_true(found[0].kept < COLUMNS && found[0].better);
    assert_columns(&found[1], sn_front_columns_list(found[0].front), found[0].front->outputs);
    assert_true(found[0].penalty == found[1].penalty);
    for (int k = 0; k < 2; k++) sn_front_free(found[k].front);
}

TEST(test_nothing_to_find)
{
    SN_BLOCK fixture *f = make(100, 0.0);
    sn_sparse found;
    OK(sn_sparse_choose(&f->job, (double)NAN, &found));
    assert_false(found.better);
    assert_true(found.kept >= 1); /* a network has an input */
    sn_front_free(found.front);
}

/* More penalty, fewer columns, and never none. */
TEST(test_given_penalty)
{
    SN_BLOCK fixture *f = make(150, 1.0);
    const double penalty[] = {1e-9, 1e6};
    int64_t kept[2];
    for (int k = 0; k < 2; k++) {
        sn_sparse found;
        OK(sn_sparse_choose(&f->job, penalty[k], &found));
        assert_int_equal(found.held_out, 0);
        kept[k] = found.kept;
        sn_front_free(found.front);
    }
    assert_true(kept[0] > kept[1] && kept[1] >= 1);
}

/* Columns stay until their last step of the path, with half of their part of the longest beyond it; those
   that matter stay longest. */
TEST(test_stay)
{
    SN_BLOCK fixture *f = make(400, 1.0);
    SN_FREED_BY(sn_sparse_end) sn_sparse_path path = {0};
    double stay[COLUMNS], wanted[COLUMNS] = {0.0};
    int steps = 0;
    OK(sn_sparse_begin(&f->job, &path));
    assert_int_equal(path.columns, COLUMNS);
    for (;; steps++) {
        bool there;
        double longest = 0.0;
        OK(sn_sparse_next(&path, &there));
        if (!there) break;
        assert_int_equal(path.step, steps);
        for (int c = 0; c < COLUMNS; c++) {
            double square = 0.0;
            for (int64_t a = 0; a < path.shape.width[1]; a++)
                for (int64_t j = border[c]; j < border[c + 1]; j++)
                    square += pow((double)path.theta[path.shape.weight_at[0] + a * P + j], 2);
            assert_true(fabs(path.length[c] - sqrt(square)) < 1e-9 * (1.0 + sqrt(square)));
            longest = fmax(longest, path.length[c]);
        }
        for (int c = 0; c < COLUMNS; c++)
            if (path.length[c] > 0.0) wanted[c] = path.step + 0.5 * path.length[c] / longest;
    }
    assert_true(steps > 3);
    OK(sn_sparse_stay(&f->job, stay));
    for (int c = 0; c < COLUMNS; c++) assert_true(fabs(stay[c] - wanted[c]) < 1e-12);
    for (int c = 3; c < COLUMNS; c++)
        for (int k = 0; k < 3; k++) assert_true(stay[k] > stay[c]);
}

TEST(penalties_of_steps)
{
    assert_true(sn_sparse_penalty(0) == 0.0);
    for (int k = 1; k <= SN_SPARSE_STEPS; k++) {
        assert_int_equal(sn_sparse_step_of(sn_sparse_penalty(k)), k);
        assert_true(sn_sparse_penalty(k) > sn_sparse_penalty(k - 1));
    }
    assert_int_equal(sn_sparse_step_of(1e9), SN_SPARSE_STEPS);
}

TEST(a_stop_leaves_all_columns)
{
    SN_BLOCK fixture *f = make(60, 1.0);
    int64_t left = 0;
    const stonet_run run = {.size = sizeof run, .should_stop = stop_after, .user = &left};
    double stay[COLUMNS] = {7.0};
    sn_sparse found;
    f->job.run = &run;
    OK(sn_sparse_stay(&f->job, stay));
    for (int c = 0; c < COLUMNS; c++) assert_true(stay[c] == 0.0);
    for (int given = 0; given < 2; given++) {
        OK(sn_sparse_choose(&f->job, given ? 0.5 : (double)NAN, &found));
        assert_null(found.front);
        assert_int_equal(found.kept, COLUMNS);
        assert_int_equal(found.columns, COLUMNS);
        assert_int_equal(found.held_out, 0);
        assert_true(found.penalty == 0.0 && found.better);
    }
}

static stonet_status fit(const fixture *f, const char *name, const char *value, sn_stonet **net)
{
    SN_AUTO(sn_settings) *settings =
        settings_with(text_of("select group epochs 2 weight_decay 0 %s %s", name, value));
    stonet_outcome outcome;
    const stonet_run run = {.size = sizeof run, .seed = 5, .threads = 1};
    const stonet_status status = sn_stonet_fit(&f->problem, 1, settings, &run, net, &outcome);
    return status;
}

TEST(test_fit)
{
    SN_BLOCK fixture *f = make(100, 1.0);
    SN_AUTO(sn_stonet) *net = NULL;
    const char *const other[] = {"kernel", "columns", "components"};
    for (int k = 0; k < 3; k++) {
        assert_says(fit(f, "front", other[k], &net), STONET_ERROR_ARGUMENT, "front=");
    }
    OK(fit(f, "select_penalty", "0.005", &net));
    assert_non_null(net->front);
    assert_int_equal(net->network.shape.width[0], net->front->outputs);
    assert_true(net->front->outputs < P && net->select_penalty > 0.0);
}

/* The columns are chosen before the lines are, and by the same engine. */
TEST(any_engine)
{
    SN_BLOCK fixture *f = make(100, 1.0);
    SN_AUTO(sn_stonet) *net = NULL;
    OK(fit(f, "engine", "auto", &net));
    assert_true(net->engine == sn_engine_auto());
}

/* Draws of missing cells that know the response must not know that of held-out rows. */
TEST(folds_draw_their_cells_themselves)
{
    SN_BLOCK fixture *f = make(60, 1.0);
    int draws[2] = {0};
    const drawn_rows rows = drawn_rows_of(P, f->x, draws);
    const stonet_run run = {
        .size = sizeof run, .seed = 5, .threads = 1, .should_stop = stop_after_draws, .user = draws};
    sn_sparse found;
    f->problem.x = NULL;
    f->problem.source = &rows.of.base;
    f->job.run = &run;
    OK(sn_sparse_choose(&f->job, (double)NAN, &found));
    assert_true(draws[0] == 0 && draws[1] > 20);
    sn_front_free(found.front);
}

/* A network of the choice takes the place of the fit then, and sees no more columns than the choice did. */
TEST(a_fit_that_is_stopped_sees_the_columns_that_are_kept)
{
    SN_BLOCK fixture *f = make(100, 1.0);
    int few = 0;
    for (int calls = 100; calls < 100000 && few == 0; calls *= 2) {
        int64_t left = calls;
        const stonet_run run = {
            .size = sizeof run, .seed = 5, .threads = 1, .should_stop = stop_after, .user = &left};
        stonet_outcome outcome;
        SN_AUTO(sn_stonet) *net =
            fit_with(&f->problem, 1, "select group select_penalty 0.005", &run, &outcome);
        few = outcome == STONET_STOPPED && net->front != NULL && net->held_out_rows == 0;
        assert_int_equal(net->network.shape.width[0], net->front != NULL ? net->front->outputs : P);
    }
    assert_true(few);
}

/* Columns: one number; a pair of indicators of the same thing; two numbers that are unrelated. */
TEST(effects_are_those_on_the_units)
{
    enum { ROWS = 400, WIDTH = 5, UNITS = 2 };
    static float x[ROWS * WIDTH];
    const int64_t begin[] = {0, 1, 3, 5};
    sn_random random = sn_random_from(3, SN_STREAM_TEST, 0);
    for (int i = 0; i < ROWS; i++) {
        float *row = x + i * WIDTH;
        row[0] = row[1] = i % 2 == 0 ? 1.0F : -1.0F;
        row[2] = -row[1];
        row[3] = (float)sn_random_normal(&random);
        row[4] = (float)sn_random_normal(&random);
    }
    const sn_problem problem = {.n = ROWS, .p = WIDTH, .x = x, .groups = 3, .group = begin};
    const sn_stage_job job = {.problem = &problem, .rows = sn_rows_range(0, ROWS)};
    /* The number and the pair do the same to both units. */
    const float weight[UNITS * WIDTH] = {0.6F, 0.3F, -0.3F, 0.6F, 0.0F, -0.8F, -0.4F, 0.4F, 0.0F, 0.8F};
    SN_WORKSPACE(keep);
    sn_sparse_groups groups;
    OK(sn_sparse_groups_measure(&job, &keep, &groups));
    const sn_sparse_extent one = sn_sparse_groups_extent(&groups, 0, weight, UNITS),
                           pair = sn_sparse_groups_extent(&groups, 1, weight, UNITS),
                           two = sn_sparse_groups_extent(&groups, 2, weight, UNITS);
    assert_true(fabs(one.length - 1.0) < 1e-6 && fabs(one.effect - 1.0) < 1e-6);
    assert_true(fabs(pair.length - sqrt(0.5)) < 1e-6 && fabs(pair.effect - 1.0) < 1e-6);
    assert_true(fabs(two.length - 1.0) < 1e-6 && fabs(two.effect - sqrt(0.5)) < 0.05);
}

/* y depends on a code of four values, which comes as a number and four indicators, as levels do; the other
   columns are noise. Few rows: a network learns them by heart. */
TEST(a_code_is_kept)
{
    enum { ROWS = 160, NOISE = 8, WIDTH = 5 + NOISE, CODED = 1 + NOISE };
    static float x[ROWS * WIDTH];
    static int32_t label[ROWS];
    int64_t begin[CODED + 1] = {0};
    for (int c = 1; c <= CODED; c++) begin[c] = 4 + c;
    sn_random random = sn_random_from(4, SN_STREAM_TEST, 0);
    for (int i = 0; i < ROWS; i++) {
        float *row = x + i * WIDTH;
        const int code = i % 4;
        row[0] = (float)((code - 1.5) / 1.118);
        for (int k = 0; k < 4; k++) row[1 + k] = 0.4F * ((code == k ? 1.0F : 0.0F) - 0.25F);
        for (int j = 5; j < WIDTH; j++) row[j] = (float)sn_random_normal(&random);
        label[i] = (code >= 2) != (sn_random_normal(&random) > 0.7);
    }
    const sn_problem problem = {.n = ROWS,
                                .p = WIDTH,
                                .x = x,
                                .label = label,
                                .outputs = 2,
                                .task = SN_CLASSIFICATION,
                                .groups = CODED,
                                .group = begin};
    const sn_shape shape = {.task = SN_CLASSIFICATION, .input_activation = SN_IDENTITY};
    const sn_config config = {.engine = &sn_engine_cpu};
    const sn_stage_job job = {.shape = &shape,
                              .problem = &problem,
                              .rows = sn_rows_range(0, ROWS),
                              .config = &config,
                              .seed = 5,
                              .threads = 1};
    sn_sparse found;
    OK(sn_sparse_choose(&job, (double)NAN, &found));
    assert_true(found.better);
    assert_true(found.kept < CODED / 2);
    assert_non_null(found.front);
    const int64_t *kept = sn_front_columns_list(found.front);
    for (int64_t k = 0; k < 5; k++) assert_int_equal(kept[k], k);
    sn_front_free(found.front);
}

RUN_TESTS(NULL, NULL)
