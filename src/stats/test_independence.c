/* Causal examples and corner cases of the random-feature independence tests; their levels: test_levels.c. */
#include <omp.h>

#include <stonet/stonet.h>

#include "base/test_kit.h"
#include "math/noise.h"
#include "stats/independence.h"

enum { MAX_N = 1000 };

typedef struct sample {
    int64_t n;
    double x[MAX_N], y[MAX_N], z[MAX_N];
} sample;

typedef enum world {
    INDEPENDENT, /* x, y, z have nothing to do with each other */
    CHAIN,       /* x -> z -> y: dependent, but not given z */
    COLLIDER,    /* x -> z <- y: independent, but not given z */
    DIRECT       /* x -> z -> y and x -> y */
} world;

static void draw(world kind, int64_t n, uint32_t substream, sample *s)
{
    sn_random random = sn_random_from(3, SN_STREAM_TEST, substream);
    s->n = n;
    for (int64_t i = 0; i < n; i++) {
        double a = sn_random_normal(&random);
        double b = sn_random_normal(&random);
        double c = sn_random_normal(&random);
        s->x[i] = a;
        s->y[i] = b;
        s->z[i] = c;
        if (kind == CHAIN || kind == DIRECT) {
            s->z[i] = tanh(a) + 0.5 * c;
            s->y[i] = s->z[i] * s->z[i] + s->z[i] + 0.5 * b + (kind == DIRECT ? 0.7 * a : 0.0);
        }
        if (kind == COLLIDER) s->z[i] = a + b + 0.3 * c;
    }
}

static stonet_independence_options options_for(stonet_test test, stonet_null_law law)
{
    stonet_independence_options options = STONET_INDEPENDENCE_OPTIONS_INIT;
    options.test = test;
    options.null_law = law;
    options.permutations = 199;
    return options;
}

/* One column each. */
static stonet_status ask(const double *x, int64_t n, const double *y, const double *z,
                         const stonet_independence_options *options, const stonet_run *run,
                         stonet_independence_result *result)
{
    const stonet_sides sides = {.n = n, .dx = 1, .dy = 1, .dz = 1, .x = x, .y = y, .z = z};
    return stonet_independence(&sides, options, run, result);
}

static double p_value(const sample *s, const stonet_independence_options *options, uint64_t seed, int threads)
{
    stonet_run run = STONET_RUN_INIT;
    run.seed = seed;
    run.threads = threads;
    bool given = options->test == STONET_TEST_RCIT || options->test == STONET_TEST_RCOT;
    stonet_independence_result result;
    if (ask(s->x, s->n, s->y, given ? s->z : NULL, options, &run, &result) != STONET_OK) {
        abort();
    }
    if (!(result.p_value >= 0.0 && result.p_value <= 1.0)) abort();
    return result.p_value;
}

TEST(test_causal_examples)
{
    static sample s;
    const stonet_test given[] = {STONET_TEST_RCIT, STONET_TEST_RCOT};
    const stonet_null_law laws[] = {STONET_NULL_LPB4, STONET_NULL_HBE, STONET_NULL_GAMMA,
                                    STONET_NULL_PERMUTATION};
    const stonet_independence_options alone = options_for(STONET_TEST_RIT, STONET_NULL_LPB4);
    for (int t = 0; t < 2; t++) {
        for (int k = 0; k < 4; k++) {
            stonet_independence_options options = options_for(given[t], laws[k]);
            draw(CHAIN, 1000, 1, &s);
            assert_true(p_value(&s, &options, 1, 0) > 0.05);
            assert_true(p_value(&s, &alone, 1, 0) < 1e-6);
            draw(COLLIDER, 1000, 1, &s);
            assert_true(p_value(&s, &options, 1, 0) < 0.01);
            assert_true(p_value(&s, &alone, 1, 0) > 0.05);
            draw(DIRECT, 1000, 1, &s);
            assert_true(p_value(&s, &options, 1, 0) < 0.01);
        }
    }
}

TEST(test_reproducible)
{
    static sample s;
    draw(DIRECT, 700, 5, &s);
    const stonet_test tests[] = {STONET_TEST_RIT, STONET_TEST_RCIT, STONET_TEST_RCOT, STONET_TEST_DCOR};
    for (int t = 0; t < 4; t++) {
        stonet_independence_options options = options_for(tests[t], STONET_NULL_LPB4);
        options.repeats = tests[t] == STONET_TEST_DCOR ? 1 : 3;
        draw(t == 0 ? INDEPENDENT : CHAIN, 700, 5, &s);
        double p = p_value(&s, &options, 9, 1);
        assert_true(p == p_value(&s, &options, 9, 2));
        assert_true(p == p_value(&s, &options, 9, 4));
        int before = omp_get_max_threads();
        omp_set_num_threads(1);
        assert_true(p == p_value(&s, &options, 9, 2));
        omp_set_num_threads(before);
        if (tests[t] != STONET_TEST_DCOR) assert_true(p != p_value(&s, &options, 10, 1));
    }
}

static int note_threads(void *user)
{
    *(int *)user = omp_get_max_threads();
    return 0;
}

/* Matrix products keep to the threads of the run, too, and leave the caller's as they were. */
TEST(test_threads_are_those_of_the_run)
{
    static sample s;
    int seen = 0;
    const int before = omp_get_max_threads();
    stonet_run run = STONET_RUN_INIT;
    stonet_independence_result result;
    stonet_prediction_gain gain;
    run.threads = 1;
    run.should_stop = note_threads;
    run.user = &seen;
    draw(CHAIN, 100, 5, &s);
    const stonet_sides sides = {.n = 100, .dx = 1, .dy = 1, .dz = 1, .x = s.x, .y = s.y, .z = s.z};
    omp_set_num_threads(3);
    OK(stonet_independence(&sides, NULL, &run, &result));
    assert_int_equal(seen, 1);
    seen = 0;
    OK(stonet_prediction_compare(&sides, &run, &gain));
    assert_int_equal(seen, 1);
    assert_int_equal(omp_get_max_threads(), 3);
    omp_set_num_threads(before);
}

TEST(test_constant_and_tiny)
{
    static sample s;
    const stonet_test tests[] = {STONET_TEST_RIT, STONET_TEST_RCIT, STONET_TEST_RCOT, STONET_TEST_DCOR};
    const stonet_null_law laws[] = {STONET_NULL_LPB4, STONET_NULL_HBE, STONET_NULL_GAMMA, STONET_NULL_CHI2,
                                    STONET_NULL_PERMUTATION};
    for (int t = 0; t < 4; t++) {
        for (int k = 0; k < 5; k++) {
            stonet_independence_options options = options_for(tests[t], laws[k]);
            for (int64_t n = 1; n <= 12; n++) { /* any p-value will do, as long as it is one */
                draw(CHAIN, n, 2, &s);
                double p = p_value(&s, &options, 1, 1);
                if (n == 1) assert_true(p == 1.0);
            }
            draw(CHAIN, 60, 2, &s);
            for (int64_t i = 0; i < s.n; i++) s.x[i] = 0.1;
            assert_true(p_value(&s, &options, 1, 1) == 1.0);
            draw(CHAIN, 60, 2, &s);
            for (int64_t i = 0; i < s.n; i++) s.y[i] = -3e7;
            assert_true(p_value(&s, &options, 1, 1) == 1.0);
        }
    }
}

/* Whole duplicated rows, few distinct values and huge offsets are data like any other. */
TEST(test_awkward_values)
{
    static sample s;
    static sample t;
    stonet_independence_options options = options_for(STONET_TEST_RCIT, STONET_NULL_LPB4);
    draw(DIRECT, 400, 4, &s);
    for (int64_t i = 0; i < s.n; i++) {
        s.x[i] = s.x[i / 4 * 4] > 0.0;
        s.y[i] = floor(s.y[i / 4 * 4]);
        s.z[i] = floor(2.0 * s.z[i / 4 * 4]);
    }
    assert_true(p_value(&s, &options, 1, 1) < 0.05);
    draw(INDEPENDENT, 400, 4, &s);
    t = s;
    for (int64_t i = 0; i < s.n; i++) {
        t.x[i] = 1e9 + 1e3 * s.x[i];
        t.y[i] = 1e-30 * s.y[i];
        t.z[i] = 1e200 * s.z[i];
    }
    assert_true(fabs(p_value(&s, &options, 1, 1) - p_value(&t, &options, 1, 1)) < 1e-3);
}

/* A constant z conditions on nothing. */
TEST(test_constant_z)
{
    static sample s;
    draw(CHAIN, 300, 4, &s);
    for (int64_t i = 0; i < s.n; i++) s.z[i] = 4.0;
    stonet_independence_result with_z;
    stonet_independence_result without;
    OK(ask(s.x, s.n, s.y, s.z, NULL, NULL, &with_z));
    OK(ask(s.x, s.n, s.y, NULL, NULL, NULL, &without));
    assert_int_equal(with_z.test, STONET_TEST_RIT);
    assert_true(with_z.p_value == without.p_value && with_z.statistic == without.statistic);
}

TEST(test_cauchy_combination)
{
    const double same[] = {0.03, 0.03, 0.03};
    assert_true(fabs(sn_cauchy_combination(3, same) - 0.03) < 1e-15);
    const double tiny[] = {1e-200, 0.5};
    assert_true(fabs(sn_cauchy_combination(2, tiny) / 2e-200 - 1.0) < 1e-12);
    const double one[] = {1e-6, 1.0};
    assert_true(sn_cauchy_combination(2, one) < 1e-5);
    const double zero[] = {0.0, 0.7};
    assert_true(sn_cauchy_combination(2, zero) >= 0.0 && sn_cauchy_combination(2, zero) < 1e-300);
    const double high[] = {0.9, 0.8};
    assert_true(sn_cauchy_combination(2, high) > 0.8 && sn_cauchy_combination(2, high) < 0.9);
    const double single[] = {1.0};
    assert_true(sn_cauchy_combination(1, single) == 1.0);
}

RUN_TESTS(NULL, NULL)
