/* Linear and logistic regression against scikit-learn (golden/make.py), and on data that is not nice. */
#include "learners/test_learner.h"

#include <stdio.h>

typedef struct sample {
    sn_problem problem;
    float *x;
    double *y;
    int32_t *label;
} sample;

static void free_sample(sample *s)
{
    SN_FREE_ALL(s->x, s->y, s->label);
}

static void describe(sample *s, int64_t n, int64_t p, sn_task task, int64_t outputs)
{
    s->problem = (sn_problem){.n = n, .p = p, .x = s->x, .task = task, .outputs = outputs};
    if (task == SN_CLASSIFICATION)
        s->problem.label = s->label;
    else
        s->problem.y = s->y;
}

typedef struct golden {
    char name[64], kind[16];
    double penalty;
    sample s;
    int64_t rows; /* of coef */
    double *coef; /* rows x (p + 1), the intercept last */
} golden;

static double number(FILE *file)
{
    double value;
    assert_int_equal(fscanf(file, "%lf", &value), 1);
    return value;
}

static bool read_case(FILE *file, golden *g)
{
    long long n, p, outputs, rows;
    if (fscanf(file, " case %63s %15s %lld %lld %lld %lf", g->name, g->kind, &n, &p, &outputs, &g->penalty) !=
        6)
        return false;
    bool classes = strcmp(g->kind, "logistic") == 0;
    int64_t targets = classes ? 1 : outputs;
    OK(SN_NEW(g->s.x, n * p));
    OK(SN_NEW(g->s.y, n * targets));
    OK(SN_NEW(g->s.label, n));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < p; j++) g->s.x[i * p + j] = (float)number(file);
        for (int64_t k = 0; k < targets; k++) g->s.y[i * targets + k] = number(file);
        g->s.label[i] = (int32_t)g->s.y[i * targets];
    }
    assert_int_equal(fscanf(file, " coef %lld", &rows), 1);
    g->rows = rows;
    OK(SN_NEW(g->coef, rows * (p + 1)));
    for (int64_t i = 0; i < rows * (p + 1); i++) g->coef[i] = number(file);
    describe(&g->s, n, p, classes ? SN_CLASSIFICATION : SN_REGRESSION, outputs);
    return true;
}

static void check_case(const golden *g)
{
    char penalty[32];
    snprintf(penalty, sizeof penalty, "%.17g", g->penalty);
    const char *name = strcmp(g->kind, "logistic") == 0 ? "l2" : "ridge";
    void *state = fit_learner(g->kind, &g->s.problem, 0, (const char *const[]){name, penalty, NULL});
    SN_AUTO(sn_store) *store = NULL;
    OK(sn_store_create(&store));
    OK(sn_learner_find(g->kind)->save(state, store));
    const sn_tensor *coef, *intercept;
    OK(sn_store_get_matrix(store, "coef", SN_F64, g->rows, g->s.problem.p, &coef));
    OK(sn_store_get_vector(store, "intercept", SN_F64, g->rows, &intercept));
    int64_t p = g->s.problem.p;
    double size = 0, gap = 0;
    for (int64_t k = 0; k < g->rows; k++)
        for (int64_t j = 0; j <= p; j++) {
            double ours = j < p ? ((double *)coef->data)[k * p + j] : ((double *)intercept->data)[k];
            double theirs = g->coef[k * (p + 1) + j];
            size += theirs * theirs;
            gap += (ours - theirs) * (ours - theirs);
        }
    if (!(sqrt(gap) <= 1e-7 * sqrt(size)))
        fail_msg("%s %s: coefficients differ by %.2e relative", g->kind, g->name, sqrt(gap / size));
    sn_learner_find(g->kind)->free(state);
}

TEST(agrees_with_scikit_learn)
{
    char path[1024];
    const char *root = getenv("STONET_GOLDEN");
    snprintf(path, sizeof path, "%s/src/learners/golden/regressions.txt", root != NULL ? root : ".");
    FILE *file = fopen(path, "r");
    if (file == NULL) fail_msg("cannot open %s (set STONET_GOLDEN to the repository root)", path);
    int cases = 0;
    golden g = {0};
    while (read_case(file, &g)) {
        check_case(&g);
        free_sample(&g.s);
        sn_free(g.coef);
        cases++;
    }
    fclose(file);
    assert_int_equal(cases, 19);
}

/* x normal, labels by the largest of `classes` noisy linear scores, y a noisy linear map. */
static sample make_sample(int64_t n, int64_t p, sn_task task, int64_t outputs)
{
    sample s = {0};
    sn_random random = sn_random_from(7, SN_STREAM_TEST, 0);
    OK(SN_NEW(s.x, n * p));
    OK(SN_NEW(s.y, n * outputs));
    OK(SN_NEW(s.label, n));
    for (int64_t i = 0; i < n * p; i++) s.x[i] = (float)sn_random_normal(&random);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < outputs; k++) {
            double *y = s.y + i * outputs;
            y[k] = sn_random_normal(&random);
            for (int64_t j = 0; j < p; j++) y[k] += s.x[i * p + j] * sin(1.0 + (double)(j * outputs + k));
            if (y[k] > y[s.label[i]]) s.label[i] = (int32_t)k;
        }
    describe(&s, n, p, task, outputs);
    return s;
}

TEST(classes_without_rows_get_probability_zero)
{
    SN_FREED_BY(free_sample) sample s = make_sample(200, 3, SN_CLASSIFICATION, 5);
    double out[200 * 5];
    for (int keep = 1; keep <= 4; keep++) { /* classes 1..keep have rows, 0 and the rest have none */
        for (int i = 0; i < 200; i++) s.label[i] = 1 + i % keep;
        fit_and_predict("logistic", &s.problem, 2, NULL, out);
        assert_probabilities(200, 5, out);
        for (int i = 0; i < 200; i++)
            for (int k = 0; k < 5; k++)
                assert_true(k >= 1 && k <= keep ? out[i * 5 + k] > 0 : out[i * 5 + k] == 0);
    }
}

TEST(one_row_fits)
{
    float x[2] = {1.5F, -2};
    int32_t label = 1;
    double y[2] = {0.5, -1}, out[2];
    sn_problem classes = {.n = 1, .p = 2, .x = x, .task = SN_CLASSIFICATION, .outputs = 2, .label = &label};
    fit_and_predict("logistic", &classes, 1, NULL, out);
    assert_true(out[0] == 0 && out[1] == 1);
    sn_problem numbers = {.n = 1, .p = 2, .x = x, .task = SN_REGRESSION, .outputs = 2, .y = y};
    fit_and_predict("linear", &numbers, 1, NULL, out);
    assert_true(fabs(out[0] - 0.5) < 1e-14 && fabs(out[1] + 1) < 1e-14);
}

TEST(huge_and_constant_features_do_no_harm)
{
    SN_FREED_BY(free_sample) sample s = make_sample(300, 4, SN_CLASSIFICATION, 3);
    double plain[300 * 3], out[300 * 3];
    const float scale = 1e30F;
    for (int i = 0; i < 300; i++) s.x[i * 4 + 3] = 0;
    /* A weak penalty: then the units of the columns hardly matter. */
    const char *weak[] = {"l2", "1e-8", NULL};
    fit_and_predict("logistic", &s.problem, 1, weak, plain);
    for (int i = 0; i < 300; i++) {
        s.x[i * 4] *= scale;
        s.x[i * 4 + 1] += 1000;
        s.x[i * 4 + 3] = 3e38F;
    }
    fit_and_predict("logistic", &s.problem, 1, weak, out);
    for (int i = 0; i < 900; i++) assert_true(fabs(out[i] - plain[i]) < 1e-3);
    free_sample(&s);

    s = make_sample(300, 4, SN_REGRESSION, 2);
    for (int i = 0; i < 300; i++) s.x[i * 4 + 3] = 3e38F;
    fit_and_predict("linear", &s.problem, 1, NULL, out);
    for (int i = 0; i < 600; i++) assert_true(isfinite(out[i]));
}

static int stop_at_once(void *user)
{
    ++*(int *)user;
    return 1;
}

TEST(a_stop_request_keeps_the_fit_so_far)
{
    SN_FREED_BY(free_sample) sample s = make_sample(50, 3, SN_CLASSIFICATION, 3);
    const sn_learner *learner = sn_learner_find("logistic");
    SN_AUTO(sn_settings) *settings = NULL;
    OK(sn_settings_create(learner->params, learner->n_params, &settings));
    int asked = 0;
    stonet_run run = STONET_RUN_INIT;
    run.should_stop = stop_at_once;
    run.user = &asked;
    void *state;
    OK(learner->fit(&s.problem, settings, &run, &state));
    assert_int_equal(asked, 1);
    double out[150];
    OK(learner->predict(state, s.x, 50, out));
    assert_probabilities(50, 3, out);
    learner->free(state);
}

TEST(a_damaged_store_is_refused)
{
    SN_AUTO(sn_store) *store = NULL;
    void *state = NULL;
    OK(sn_store_create(&store));
    assert_int_equal(sn_learner_find("linear")->load(store, &state), STONET_ERROR_FORMAT);
    assert_null(state);
    int32_t class_of[3] = {0, 1, 9};
    double zeros[6] = {0};
    OK(sn_store_put_int(store, "classes", 3));
    OK(sn_store_put_vector(store, "class_of", SN_I32, 3, class_of));
    OK(sn_store_put_matrix(store, "coef", SN_F64, 3, 2, zeros));
    OK(sn_store_put_vector(store, "intercept", SN_F64, 3, zeros));
    assert_says(sn_learner_find("logistic")->load(store, &state), STONET_ERROR_FORMAT, "class code 9");
    sn_learner_find("logistic")->free(NULL);
    sn_learner_find("linear")->free(NULL);
}

TEST(the_registry_knows_its_names)
{
    for (size_t i = 0; i < sn_learner_count(); i++)
        assert_ptr_equal(sn_learner_find(sn_learner_at(i)->name), sn_learner_at(i));
    assert_null(sn_learner_find("no such learner"));
    assert_null(sn_learner_at(sn_learner_count()));
}

RUN_TESTS(NULL, NULL)
