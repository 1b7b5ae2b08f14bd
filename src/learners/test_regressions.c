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

/* Room for n rows. */
static sample new_sample(int64_t n, int64_t p, sn_task task, int64_t outputs)
{
    sample s = {.problem = {.n = n, .p = p, .task = task, .outputs = outputs}};
    OK(SN_NEW(s.x, n * p));
    OK(SN_NEW(s.y, n * outputs));
    OK(SN_NEW(s.label, n));
    s.problem.x = s.x;
    s.problem.label = task == SN_CLASSIFICATION ? s.label : NULL;
    s.problem.y = task == SN_CLASSIFICATION ? NULL : s.y;
    return s;
}

static double number(FILE *file)
{
    double value;
    assert_int_equal(fscanf(file, "%lf", &value), 1);
    return value;
}

/* The next case: its rows, the fit to them, the coefficients of scikit-learn (rows x (p + 1), the intercept
   last). false: there is none. */
static bool check_case(FILE *file)
{
    char name[64], kind[16], penalty[32];
    long long n, p, outputs, rows;
    if (fscanf(file, " case %63s %15s %lld %lld %lld %31s", name, kind, &n, &p, &outputs, penalty) != 6)
        return false;
    const bool classes = strcmp(kind, "logistic") == 0;
    const int64_t targets = classes ? 1 : outputs;
    SN_FREED_BY(free_sample)
    sample s = new_sample(n, p, classes ? SN_CLASSIFICATION : SN_REGRESSION, outputs);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < p; j++) s.x[i * p + j] = (float)number(file);
        for (int64_t k = 0; k < targets; k++) s.y[i * targets + k] = number(file);
        s.label[i] = (int32_t)s.y[i * targets];
    }
    assert_int_equal(fscanf(file, " coef %lld", &rows), 1);
    void *state =
        fit_learner(kind, &s.problem, 0, (const char *const[]){classes ? "l2" : "ridge", penalty, NULL});
    SN_AUTO(sn_store) *store = NULL;
    OK(sn_store_create(&store));
    OK(sn_learner_find(kind)->save(state, store));
    const sn_tensor *coef, *intercept;
    OK(sn_store_get_matrix(store, "coef", SN_F64, rows, p, &coef));
    OK(sn_store_get_vector(store, "intercept", SN_F64, rows, &intercept));
    double size = 0, gap = 0;
    for (int64_t k = 0; k < rows; k++)
        for (int64_t j = 0; j <= p; j++) {
            const double ours = j < p ? ((double *)coef->data)[k * p + j] : ((double *)intercept->data)[k],
                         theirs = number(file);
            size += theirs * theirs;
            gap += (ours - theirs) * (ours - theirs);
        }
    if (!(sqrt(gap) <= 1e-7 * sqrt(size)))
        fail_msg("%s %s: coefficients differ by %.2e relative", kind, name, sqrt(gap / size));
    sn_learner_find(kind)->free(state);
    return true;
}

TEST(agrees_with_scikit_learn)
{
    char path[1024];
    const char *root = getenv("STONET_GOLDEN");
    snprintf(path, sizeof path, "%s/src/learners/golden/regressions.txt", root != NULL ? root : ".");
    FILE *file = fopen(path, "r");
    if (file == NULL) fail_msg("cannot open %s (set STONET_GOLDEN to the repository root)", path);
    int cases = 0;
    while (check_case(file)) cases++;
    fclose(file);
    assert_int_equal(cases, 19);
}

/* x normal, labels by the largest of `classes` noisy linear scores, y a noisy linear map. */
static sample make_sample(int64_t n, int64_t p, sn_task task, int64_t outputs)
{
    sample s = new_sample(n, p, task, outputs);
    sn_random random = sn_random_from(7, SN_STREAM_TEST, 0);
    for (int64_t i = 0; i < n * p; i++) s.x[i] = (float)sn_random_normal(&random);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < outputs; k++) {
            double *y = s.y + i * outputs;
            y[k] = sn_random_normal(&random);
            for (int64_t j = 0; j < p; j++) y[k] += s.x[i * p + j] * sin(1.0 + (double)(j * outputs + k));
            if (y[k] > y[s.label[i]]) s.label[i] = (int32_t)k;
        }
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
