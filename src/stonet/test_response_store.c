/* What is learned of a response comes back from a store, and nothing that cannot be. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "math/noise.h"
#include "stonet/response.h"

enum { N = 60, TARGETS = 2, UNITS = 3 };

typedef struct fixture {
    double y[N * TARGETS];
    float psi[N * UNITS];
    sn_response response;
    sn_store *store;
} fixture;

static void make(fixture *f)
{
    sn_random random = sn_random_from(3, SN_STREAM_TEST, 0);
    for (int i = 0; i < N * TARGETS; i++) f->y[i] = sn_random_normal(&random);
    for (int i = 0; i < N * UNITS; i++) f->psi[i] = (float)sn_random_normal(&random);
    const sn_problem problem = {.n = N, .p = 1, .task = SN_REGRESSION, .outputs = TARGETS, .y = f->y};
    const sn_rows all = sn_rows_range(0, N);
    OK(sn_response_learn(SN_RESPONSE_ENSEMBLE, &problem, &f->response));
    OK(sn_response_fit_head(&f->response, &problem, &all, UNITS, f->psi));
    OK(sn_store_create(&f->store));
    OK(sn_response_put(&f->response, f->store));
}

static void drop(fixture *f)
{
    sn_response_free(&f->response);
    sn_store_free(f->store);
}

TEST(an_ensemble_comes_back)
{
    static fixture f;
    make(&f);
    sn_response back;
    const int64_t outputs = f.response.outputs;
    OK(sn_response_get(f.store, outputs, UNITS, &back));
    assert_int_equal(back.kind, SN_RESPONSE_ENSEMBLE);
    assert_int_equal(back.targets, TARGETS);
    assert_int_equal(back.outputs, outputs);
    assert_int_equal(back.features, f.response.features);
    SN_BLOCK double *one = test_zeros(N * outputs, sizeof *one), *two = test_zeros(N * outputs, sizeof *two);
    OK(sn_response_encode(&f.response, N, f.y, one));
    OK(sn_response_encode(&back, N, f.y, two));
    assert_memory_equal(one, two, (size_t)(N * outputs) * sizeof *one);
    sn_response_predict(&f.response, N, f.psi, one);
    sn_response_predict(&back, N, f.psi, two);
    assert_memory_equal(one, two, (size_t)N * TARGETS * sizeof *one);
    sn_response_free(&back);
    /* not of a network of other outputs or units */
    assert_int_equal(sn_response_get(f.store, outputs + 1, UNITS, &back), STONET_ERROR_FORMAT);
    sn_response_free(&back);
    assert_int_equal(sn_response_get(f.store, outputs, UNITS + 1, &back), STONET_ERROR_FORMAT);
    sn_response_free(&back);
    drop(&f);
}

/* The same store, but for one number of a tensor. */
static void assert_wrong(const fixture *f, const char *name, int64_t at, double value, const char *words)
{
    sn_response back;
    for (size_t i = 0; i < sn_store_tensors(f->store); i++) {
        const sn_tensor *t = sn_store_tensor(f->store, i);
        if (strcmp(t->name, name) != 0) continue;
        double *numbers = (double *)t->data, right = numbers[at];
        numbers[at] = value;
        assert_says(sn_response_get(f->store, f->response.outputs, UNITS, &back), STONET_ERROR_FORMAT, words);
        sn_response_free(&back);
        numbers[at] = right;
        return;
    }
    fail_msg("no %s", name);
}

TEST(what_cannot_be_is_refused)
{
    static fixture f;
    make(&f);
    const double knot = f.response.knot[4];
    assert_wrong(&f, "response_knots", 5, knot - 1.0, "ascending");
    assert_wrong(&f, "response_knots", 2 * SN_RESPONSE_KNOTS - 1, -1e9, "ascending");
    assert_wrong(&f, "response_knots", 3, (double)NAN, "response_knots");
    assert_wrong(&f, "response_levels", 3, (double)INFINITY, "response_levels");
    assert_wrong(&f, "response_mean", 1, (double)NAN, "response_mean");
    assert_wrong(&f, "response_map", 1, (double)NAN, "response_map");
    assert_wrong(&f, "head_coef", 1, (double)NAN, "head_coef");
    assert_wrong(&f, "head_intercept", 1, (double)NAN, "head_intercept");
    drop(&f);
}

TEST(other_kinds)
{
    sn_response back;
    SN_AUTO(sn_store) *store = NULL;
    OK(sn_store_create(&store)); /* files before 0.2 */
    OK(sn_response_get(store, 3, UNITS, &back));
    assert_true(back.kind == SN_RESPONSE_MEAN && back.targets == 3 && back.outputs == 3);
    const sn_response spread = {.kind = SN_RESPONSE_LOCATION_SCALE, .targets = 2, .outputs = 4};
    OK(sn_response_put(&spread, store));
    OK(sn_response_get(store, 4, UNITS, &back));
    assert_true(back.kind == SN_RESPONSE_LOCATION_SCALE && back.targets == 2 && back.outputs == 4);
    assert_says(sn_response_get(store, 3, UNITS, &back), STONET_ERROR_FORMAT, "means and spreads");
}

RUN_TESTS(NULL, NULL)
