/*
 * What every method gives on small tables, beside what it gave when its definition was last checked
 * (golden/test_kept_methods.h): a result must not change unless that is meant. Searches are cut short, where
 * each step of their way still shows.
 *
 * After a change that is meant: STONET_KEEP=1 build/tests/test_methods_kept >
 * src/methods/golden/test_kept_methods.h
 */
#include "methods/golden/test_kept_methods.h"
#include "methods/spectral.h"
#include "methods/test_support.h"

/* The response, the rows. */
enum { NUMBER, NUMBERS, CLASSES, PAIR, STEPS, NARROW, WEIGHTED, WEIGHTED_CLASSES };

typedef struct kept_case {
    const char *method, *options;
    int response;
    int64_t n, p, dim;
} kept_case;

static const kept_case cases[] = {
#include "methods/golden/test_kept_methods_cases.h"
};

/* Columns of different means and spreads, each leaning on the one before; y by the first two. */
static sample make_table(const kept_case *c)
{
    sample data = sample_normal(c->n, c->p, c->response == NUMBERS ? 2 : 1, 77);
    sn_random random = sn_random_from(5, SN_STREAM_TEST, 1);
    for (int64_t i = 0; i < c->n; i++) {
        float *x = data.x + i * c->p;
        for (int64_t j = 0; j < c->p; j++)
            x[j] =
                0.3F * (float)(j % 4) + (0.8F + 0.1F * (float)(j % 3)) * x[j] + (j > 0 ? 0.3F * x[j - 1] : 0);
        for (int64_t j = 4; j < c->p && c->response == NARROW; j++) x[j] = 0.0F;
        const double noise = 0.3 * sn_random_normal(&random), y = x[0] + 0.5 * x[1] * x[1] + noise;
        data.y[i * data.problem.outputs] = c->response == STEPS ? floor(y) : y;
        if (c->response == NUMBERS) data.y[i * 2 + 1] = sin(x[1]) - x[2] + 0.3 * sn_random_normal(&random);
    }
    sample_scale_y(&data);
    if (c->response == CLASSES || c->response == WEIGHTED_CLASSES)
        sample_cut_y(&data, 3, (double[]){-0.5, 0.3});
    else if (c->response == PAIR)
        sample_cut_y(&data, 2, (double[]){0.1});
    return data;
}

/* Numbers, and how far from them what is kept may be. */
typedef struct numbers {
    double value[64], slack[64];
    int count;
} numbers;

static void put(numbers *to, double value, double slack)
{
    assert_true(to->count < 64);
    to->value[to->count] = value;
    to->slack[to->count++] = slack;
}

/* The length of a vector, and its product with a fixed one. */
static void put_vector(numbers *to, int64_t count, const double *v, double slack)
{
    double square = 0.0, product = 0.0;
    for (int64_t i = 0; i < count; i++) {
        const double place = 0.6180339887498949 * (double)(i + 1);
        square += v[i] * v[i];
        product += v[i] * (place - floor(place) - 0.5);
    }
    put(to, sqrt(square), slack * sqrt(square) + 1e-12);
    put(to, product, slack * sqrt(square) + 1e-12);
}

/* Z, and predictions where there are any, of the rows by both states are the same bits. */
static void check_same_answers(const sn_method *method, const void *one, const void *two,
                               const sn_problem *problem)
{
    const int64_t n = problem->n, dim = method->sizes(one).dim;
    SN_BLOCK float *z = test_zeros(2 * n * dim, sizeof *z);
    SN_BLOCK double *v = test_zeros(2 * n * problem->outputs, sizeof *v);
    OK(method->transform(one, problem->x, n, NULL, z));
    OK(method->transform(two, problem->x, n, NULL, z + n * dim));
    assert_memory_equal(z, z + n * dim, (size_t)(n * dim) * sizeof *z);
    if (method->predict == NULL) return;
    OK(method->predict(one, problem->x, n, NULL, v));
    OK(method->predict(two, problem->x, n, NULL, v + n * problem->outputs));
    assert_memory_equal(v, v + n * problem->outputs, (size_t)(n * problem->outputs) * sizeof *v);
}

/* A state that is loaded is the one that was saved. */
static void check_round_trip(const sn_method *method, const void *state, const sn_problem *problem,
                             const sn_store *store)
{
    SN_AUTO(sn_store) *again = NULL;
    void *loaded = NULL;
    OK(sn_store_create(&again));
    if (method->load(store, &loaded) != STONET_OK) fail_msg("%s: %s", method->name, stonet_last_error());
    OK(method->save(loaded, again));
    const sn_sizes was = method->sizes(state), is = method->sizes(loaded);
    assert_true(was.inputs == is.inputs && was.dim == is.dim && was.outputs == is.outputs);
    assert_true(sn_store_hash(store, "") == sn_store_hash(again, ""));
    check_same_answers(method, state, loaded, problem);
    method->free(loaded);
    method->free(NULL);
}

static void put_state(numbers *to, const sn_method *method, const void *state, const sn_problem *problem)
{
    SN_AUTO(sn_store) *store = NULL;
    OK(sn_store_create(&store));
    OK(method->save(state, store));
    for (size_t t = 0; t < sn_store_tensors(store); t++) {
        const sn_tensor *tensor = sn_store_tensor(store, t);
        const int64_t count = sn_tensor_count(tensor);
        SN_BLOCK double *v = test_zeros(count + 1, sizeof *v);
        for (int64_t i = 0; i < count; i++)
            v[i] = tensor->dtype == SN_F64   ? ((const double *)tensor->data)[i]
                   : tensor->dtype == SN_F32 ? (double)((const float *)tensor->data)[i]
                                             : 0.0;
        put_vector(to, count, v, tensor->dtype == SN_F64 ? 1e-6 : 1e-3);
    }
    check_round_trip(method, state, problem, store);
}

static void put_answers(numbers *to, const sn_method *method, const void *state, const sn_problem *problem,
                        int64_t dim)
{
    const int64_t n = problem->n, wide = dim > problem->outputs ? dim : problem->outputs;
    SN_BLOCK float *z = test_zeros(n * dim, sizeof *z);
    SN_BLOCK double *v = test_zeros(n * wide, sizeof *v);
    if (!method->has_draws) OK(method->transform(state, problem->x, 0, NULL, z));
    OK(method->transform(state, problem->x, n, NULL, z));
    for (int64_t i = 0; i < n * dim; i++) v[i] = (double)z[i];
    put_vector(to, n * dim, v, 1e-3);
    if (method->predict != NULL) {
        OK(method->predict(state, problem->x, n, NULL, v));
        put_vector(to, n * problem->outputs, v, 1e-3);
    }
}

/* What rules that choose a dimension see of an eigenproblem: values, vectors, both kinds of tests. */
static void put_candidate(numbers *to, const sn_method *method, const sn_problem *problem,
                          const sn_settings *settings)
{
    SN_WORKSPACE(scratch);
    sn_solved solved;
    sn_tests tests = {0}, general = {0};
    SN_BLOCK double *vector = test_zeros(problem->p, sizeof *vector);
    const sn_candidate *candidate = method->candidate;
    OK(sn_candidate_solve(method, problem, settings, NULL, &scratch, &solved));
    put(to, (double)solved.eigen.count, 0.0);
    put(to, (double)solved.eigen.available, 0.0);
    put(to, solved.matrix.noise, 1e-6 * fabs(solved.matrix.noise) + 1e-12);
    put(to, solved.matrix.scale, 1e-6 * fabs(solved.matrix.scale) + 1e-12);
    put_vector(to, solved.eigen.count, solved.eigen.value, 1e-6);
    OK(sn_solved_vectors(&solved, 1, vector));
    sn_fix_signs(problem->p, 1, vector);
    put_vector(to, problem->p, vector, 1e-6);
    if (candidate->tests != NULL) OK(candidate->tests(&solved.sample, &solved.matrix, &solved.eigen, &tests));
    if (candidate->general != NULL)
        OK(candidate->general(&solved.sample, settings, &solved.matrix, &solved.eigen, &general));
    put_vector(to, 2 * tests.count, tests.test, 1e-5);
    put_vector(to, 2 * general.count, general.test, 1e-5);
}

static numbers result_of(const kept_case *c)
{
    numbers all = {.count = 0};
    SN_FREED_BY(sample_free) sample data = make_table(c);
    SN_BLOCK float *weight = test_zeros(c->n, sizeof *weight);
    for (int64_t i = 0; i < c->n; i++) weight[i] = 0.5F + 0.25F * (float)(i % 5);
    if (c->response == WEIGHTED || c->response == WEIGHTED_CLASSES) data.problem.weight = weight;
    const sn_method *method = sn_method_find(c->method);
    assert_non_null(method);
    SN_AUTO(sn_settings) *settings = settings_of(method, c->options);
    stonet_run run = STONET_RUN_INIT;
    run.seed = 3;
    run.threads = 1;
    omp_set_num_threads(1);
    sn_fit_result result = {0};
    if (sn_method_fit(method, &data.problem, c->dim, settings, &run, &result) != STONET_OK)
        fail_msg("%s %s: %s", c->method, c->options, stonet_last_error());
    put(&all, (double)result.dim, 0.0);
    put_state(&all, method, result.state, &data.problem);
    put_answers(&all, method, result.state, &data.problem, result.dim);
    if (method->candidate != NULL && c->p < 100) put_candidate(&all, method, &data.problem, settings);
    method->free(result.state);
    return all;
}

static void print_kept(void)
{
    puts(
        "/* Made by STONET_KEEP=1 test_methods_kept: do not edit. For each case, how many numbers, and they. "
        "*/\nstatic const double kept[] = {");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const numbers now = result_of(&cases[i]);
        printf("%d,", now.count);
        for (int k = 0; k < now.count; k++) printf(" %.9g,", now.value[k]);
        puts("");
    }
    puts("};");
}

static void test_results_are_kept(void **state)
{
    (void)state;
    const double *at = kept;
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const numbers now = result_of(&cases[i]);
        assert_true(at < kept + sizeof kept / sizeof *kept);
        const int count = (int)*at++;
        for (int k = 0; k < now.count && k < count; k++)
            if (!(fabs(now.value[k] - at[k]) <= now.slack[k] + 1e-8 * fabs(at[k]))) {
                print_message("%s %s, response %d: number %d is %.12g, was %.12g\n", cases[i].method,
                              cases[i].options, cases[i].response, k, now.value[k], at[k]);
                wrong++;
            }
        wrong += now.count != count;
        at += count;
    }
    assert_true(at == kept + sizeof kept / sizeof *kept);
    assert_int_equal(wrong, 0);
}

/* A caller who says nothing about the run is answered, too. */
static void test_no_run(void **state)
{
    (void)state;
    omp_set_num_threads(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].n > 60 || strcmp(cases[i].method, "stonet") == 0) continue; /* which asks its caller */
        SN_FREED_BY(sample_free) sample data = make_table(&cases[i]);
        const sn_method *method = sn_method_find(cases[i].method);
        SN_AUTO(sn_settings) *settings = settings_of(method, cases[i].options);
        sn_fit_result result = {0};
        if (sn_method_fit(method, &data.problem, cases[i].dim, settings, NULL, &result) != STONET_OK)
            fail_msg("%s: %s", method->name, stonet_last_error());
        method->free(result.state);
    }
}

int main(void)
{
    if (getenv("STONET_KEEP") != NULL) {
        print_kept();
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_results_are_kept),
                                       cmocka_unit_test(test_no_run)};
    return cmocka_run_group_tests_name("methods_kept", tests, NULL, NULL);
}
