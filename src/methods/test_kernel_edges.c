/* What every kernel method does with awkward data, too much of it, and a caller who wants to stop. */
static const char *METHOD;
#include "methods/test_kernel_help.h"

static const struct {
    const char *name;
    bool searches; /* in steps, and can be stopped between them */
} methods[] = {{"gsir", false}, {"gsave", false}, {"ksir", false}, {"kpls", false},
               {"gkdr", false}, {"kdr", true},    {"lsmie", true}};
enum { METHODS = sizeof methods / sizeof *methods };

/* Stops at the call at which the counter reaches 0. */
static int stop_later(void *user)
{
    int *calls = user;
    return --*calls <= 0;
}

/* A fit whose caller wants to stop at the given question. */
static stonet_status fit_until(const sample *s, int calls, sn_fit_result *result)
{
    SN_AUTO(sn_settings) *settings = settings_of(method(), "");
    stonet_run run = STONET_RUN_INIT;
    run.should_stop = stop_later;
    run.user = &calls;
    *result = (sn_fit_result){0};
    return sn_method_fit(method(), &s->problem, 1, settings, &run, result);
}

/* A search that is stopped on its way gives a usable result that says so; another fit, that or none. */
TEST(test_stopping)
{
    SN_FREED_BY(sample_free) sample s = make_sample(40, 3, 0, 1, 2);
    for (int m = 0; m < METHODS; m++) {
        sn_fit_result result;
        METHOD = methods[m].name;
        for (int calls = 1; calls <= (methods[m].searches ? 3 : 1); calls += 2) {
            const stonet_status status = fit_until(&s, calls, &result);
            assert_true(calls == 1 ? status == STONET_ERROR_INTERRUPTED || status == STONET_OK
                                   : status == STONET_OK);
            if (status == STONET_OK) assert_int_equal(result.outcome, STONET_STOPPED);
            method()->free(result.state);
        }
    }
}

/* More directions wanted than there are: as many as there are, and a warning. */
TEST(test_limits)
{
    static const struct {
        const char *method, *options;
        int64_t n, p, classes, targets, exist;
    } cases[] = {{"gsir", "landmarks=none", 50, 3, 3, 0, 2},
                 {"gsir", "landmarks=20", 50, 3, 3, 0, 2},
                 {"ksir", "slices=4", 50, 3, 0, 2, 3},
                 {"gkdr", "", 60, 4, 2, 0, 4},
                 {"kdr", "iterations=5 restarts=2", 40, 3, 3, 0, 3},
                 {"lsmie", "iterations=5 restarts=2", 40, 3, 3, 0, 3}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        SN_FREED_BY(sample_free)
        sample s = make_sample(cases[k].n, cases[k].p, cases[k].classes, cases[k].targets, 3);
        char message[64];
        METHOD = cases[k].method;
        SN_FREED_BY(drop_result) sn_fit_result result;
        OK(fit(&s.problem, 9, &result, cases[k].options));
        assert_int_equal(result.dim, cases[k].exist);
        snprintf(message, sizeof message, "%s: %d directions exist", METHOD, (int)cases[k].exist);
        assert_non_null(strstr(said.last, message));
    }
}

/* More rows than any memory holds as a matrix: refused before a row is looked at, with what to do. */
TEST(test_too_large)
{
    const int32_t label = 0;
    const sn_problem problem = {
        .n = 30000000, .p = 3, .task = SN_CLASSIFICATION, .outputs = 2, .label = &label};
    for (int m = 0; m < METHODS && !methods[m].searches; m++) {
        sn_fit_result result;
        METHOD = methods[m].name;
        assert_says(fit(&problem, 1, &result, ""), STONET_ERROR_MEMORY, "landmarks=2000");
        assert_says(fit(&problem, 1, &result, "landmarks=1000000"), STONET_ERROR_MEMORY, "fewer landmarks");
    }
}

/* One class or a constant target, one row, equal rows: an error that says so. */
static void check_refusals(void)
{
    sn_fit_result result;
    SN_FREED_BY(sample_free)
    sample classes = make_sample(30, 3, 3, 0, 40), numbers = make_sample(30, 3, 0, 1, 41);
    for (int64_t i = 0; i < 30; i++) classes.label[i] = 1;
    assert_int_equal(fit(&classes.problem, 1, &result, ""), STONET_ERROR_DATA);
    numbers.problem.n = 1;
    assert_int_equal(fit(&numbers.problem, 1, &result, ""), STONET_ERROR_DATA);
    numbers.problem.n = 30;
    SN_BLOCK double *y = numbers.y;
    numbers.problem.y = numbers.y = zeros(30);
    assert_int_equal(fit(&numbers.problem, 1, &result, ""), STONET_ERROR_DATA);
    numbers.problem.y = y;
    for (int64_t i = 0; i < 90; i++) numbers.x[i] = 1.0f;
    assert_int_equal(fit(&numbers.problem, 1, &result, ""), STONET_ERROR_DATA);
}

/* A constant column and duplicate rows: a fit, and rows one by one give what they give together. */
static void check_duplicates(void)
{
    SN_FREED_BY(sample_free) sample s = make_sample(40, 3, 2, 0, 43);
    SN_FREED_BY(drop_result) sn_fit_result result;
    float z[40];
    for (int64_t i = 0; i < 20; i++) {
        memcpy(s.x + (20 + i) * 3, s.x + i * 3, 3 * sizeof(float));
        s.x[i * 3 + 2] = s.x[(20 + i) * 3 + 2] = 0.5f;
    }
    OK(fit(&s.problem, 1, &result, ""));
    OK(method()->transform(result.state, s.x, 40, NULL, z));
    for (int i = 0; i < 40; i++) { /* and alone: nothing is centred by new rows */
        float one;
        OK(method()->transform(result.state, s.x + 3 * i, 1, NULL, &one));
        assert_true(isfinite(z[i]) && fabsf(one - z[i]) < 1e-5f);
    }
    for (int i = 0; i < 20; i++) assert_true(fabsf(z[i] - z[20 + i]) < 1e-5f);
}

TEST(test_unpleasant_data)
{
    for (int m = 0; m < METHODS; m++) {
        METHOD = methods[m].name;
        check_refusals();
        check_duplicates();
    }
}

/* How far the directions that a fit finds are from the true ones of make_sample, or its first score, on new
   rows, from correlation 1 with x1 + x2^2 / 2. */
static double miss(int64_t n, int64_t p, int64_t classes, const char *settings)
{
    enum { NEW = 500 };
    SN_FREED_BY(sample_free)
    sample s = make_sample(n, p, classes, 1, 5), fresh = make_sample(NEW, p, 0, 1, 6);
    SN_FREED_BY(drop_result) sn_fit_result result;
    SN_BLOCK double *truth = zeros(p * 2);
    const bool linear = method()->load == sn_linear_map_load;
    double score[NEW], distance;
    float z[NEW];
    OK(fit(&s.problem, linear ? 2 : 1, &result, "%s", settings));
    truth[0] = truth[3] = 1.0;
    if (linear) {
        OK(sn_subspace_distance(p, 2, truth, ((const sn_linear_map *)result.state)->direction, &distance));
        return distance;
    }
    for (int i = 0; i < NEW; i++) score[i] = fresh.wide[i * p] + 0.5 * pow(fresh.wide[i * p + 1], 2);
    OK(method()->transform(result.state, fresh.x, NEW, NULL, z));
    return 1.0 - fabs(correlation(NEW, z, 1, score));
}

TEST(test_recovery)
{
    static const struct {
        const char *method;
        int64_t n, p, classes;
        const char *settings;
        double within;
    } cases[] = {{"gsir", 600, 4, 0, "ex=0.001", 0.07},
                 {"gsir", 600, 4, 0, "ex=0.001 landmarks=100", 0.08},
                 {"ksir", 600, 4, 0, "ridge=1e-3", 0.07},
                 {"gsave", 400, 3, 0, "landmarks=60", 0.25},
                 {"gkdr", 800, 6, 0, "", 0.1},
                 {"gkdr", 800, 6, 4, "", 0.2},
                 {"gkdr", 800, 6, 0, "landmarks=150", 0.15},
                 {"gkdr", 400, 6, 0, "steps=4", 0.15},
                 {"kdr", 300, 5, 0, "", 0.12},
                 {"kdr", 300, 5, 3, "", 0.35},
                 {"kdr", 300, 5, 0, "landmarks=60", 0.15},
                 {"lsmie", 150, 5, 0, "restarts=2 landmarks=60 iterations=40", 0.35},
                 {"lsmie", 600, 5, 0, "restarts=2 landmarks=60 iterations=40", 0.2},
                 {"lsmie", 600, 5, 3, "restarts=2 landmarks=60 iterations=40", 0.35},
                 /* more than the search takes */
                 {"lsmie", 600, 5, 3, "restarts=2 landmarks=300 iterations=40", 0.35}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        METHOD = cases[k].method;
        const double far = miss(cases[k].n, cases[k].p, cases[k].classes, cases[k].settings);
        print_message("%s %s, %d classes: %.3f\n", METHOD, cases[k].settings, (int)cases[k].classes, far);
        assert_true(far < cases[k].within);
    }
}

RUN_TESTS(NULL, NULL)
