/*
 * How often every test of independence rejects, at 5 %, what is independent: rare indicators, long tails, few
 * rows. A sample of the cells is the test. `test_stats_levels REPETITIONS ROWS ..` prints all of them for
 * tables of these sizes, and how often three kinds of dependence are found (`make check-levels`).
 */
#include <stonet/stonet.h>

#include "base/test_kit.h"
#include "math/noise.h"
#include "stats/distributions.h"

enum { MOST_ROWS = 5000, PERMUTATIONS = 199, WIDTH = 4, PREDICTION = -1, LAWS = STONET_NULL_PERMUTATION + 1 };

typedef enum shape { NORMAL, T2, LOGNORMAL, HALF, TENTH, TWENTIETH, FIFTIETH } shape;
static const char *const shape_names[] = {"normal",  "t, 2 df",  "lognormal", "ones .5",
                                          "ones .1", "ones .05", "ones .02"};
static const double ones[] = {[HALF] = 0.5, [TENTH] = 0.1, [TWENTIETH] = 0.05, [FIFTIETH] = 0.02};

/* How x, y and z hang together. Only in the last three y has to do with x, given z or not. */
typedef enum world {
    ALONE,     /* no z */
    APART,     /* z has nothing to do with x and y */
    SHARED,    /* x and y lean on z */
    REDUCTION, /* x has four columns; y leans on their sum z, which is sufficient */
    LINE,      /* y leans on x */
    PARABOLA,  /* y leans on x^2 */
    SPREAD,    /* x is the logarithm of the spread of y */
    WORLDS
} world;
static const char *const world_names[] = {
    "no z",
    "given z apart from x and y",
    "given z that x and y lean on",
    "x: normal and ones .1, .05, .02; given their sum, which y leans on",
    "y = x / 3 + e",
    "y = x^2 / 3 + e",
    "y = e^(x / 3) e"};

typedef struct cell {
    world kind;
    shape x, y;
    int64_t n;
} cell;

typedef struct table {
    double x[MOST_ROWS * WIDTH], y[MOST_ROWS], z[MOST_ROWS];
} table;

/* A normal number as one of another shape: its quantiles go to theirs. */
static double shaped(shape kind, double a)
{
    if (kind == NORMAL) return a;
    if (kind == LOGNORMAL) return exp(a);
    const double u = fmin(fmax(sn_normal_lower(a), 1e-15), 1.0 - 1e-15);
    if (kind == T2) return (2.0 * u - 1.0) / sqrt(2.0 * u * (1.0 - u));
    return u > 1.0 - ones[kind] ? 1.0 : 0.0;
}

static double y_of(const cell *c, double x, double z, double noise)
{
    if (c->kind == LINE) return x / 3.0 + noise;
    if (c->kind == PARABOLA) return x * x / 3.0 + noise;
    if (c->kind == SPREAD) return exp(x / 3.0) * noise;
    const double lean = c->kind == SHARED || c->kind == REDUCTION ? M_SQRT1_2 : 0.0;
    return shaped(c->y, lean * z + sqrt(1.0 - lean * lean) * noise);
}

static void draw(const cell *c, uint32_t replication, table *t)
{
    static const shape columns[WIDTH] = {NORMAL, TENTH, TWENTIETH, FIFTIETH};
    const double lean = c->kind == SHARED ? M_SQRT1_2 : 0.0;
    sn_random random = sn_random_from(17, SN_STREAM_TEST, replication);
    for (int64_t i = 0; i < c->n; i++) {
        double z = sn_random_normal(&random);
        double x = lean * z + sqrt(1.0 - lean * lean) * sn_random_normal(&random);
        t->x[i] = shaped(c->x, x);
        if (c->kind == REDUCTION) {
            z = 0.0;
            for (int j = 0; j < WIDTH; j++) {
                const double a = sn_random_normal(&random);
                z += 0.5 * a;
                t->x[i * WIDTH + j] = shaped(columns[j], a);
            }
        }
        t->z[i] = z;
        t->y[i] = y_of(c, x, z, sn_random_normal(&random));
    }
}

static double p_of_table(const stonet_sides *sides, int test, stonet_null_law law, uint64_t seed, int threads)
{
    stonet_independence_options options = STONET_INDEPENDENCE_OPTIONS_INIT;
    options.null_law = law;
    options.permutations = PERMUTATIONS;
    stonet_run run = STONET_RUN_INIT;
    run.seed = seed;
    run.threads = threads;
    stonet_independence_result result;
    stonet_prediction_gain gain;
    if (test == PREDICTION) {
        if (stonet_prediction_compare(sides, &run, &gain) != STONET_OK) abort();
        return gain.p_value;
    }
    options.test = (stonet_test)test;
    if (stonet_independence(sides, &options, &run, &result) != STONET_OK) abort();
    return result.p_value;
}

static bool has_laws(int test)
{
    return test != STONET_TEST_DCOR && test != PREDICTION;
}

/* p[law] of one table. Where permutations replace one law they replace all: its p-value is that of perm, but
   for chi2, which has a statistic of its own. */
static void p_of_laws(const cell *c, int test, uint32_t replication, double p[LAWS])
{
    static _Thread_local table t;
    draw(c, replication, &t);
    const stonet_sides sides = {.n = c->n,
                                .dx = c->kind == REDUCTION ? WIDTH : 1,
                                .dy = 1,
                                .dz = 1,
                                .x = t.x,
                                .y = t.y,
                                .z = test == STONET_TEST_RIT || test == STONET_TEST_DCOR ? NULL : t.z};
    for (int law = LAWS - 1; law >= 0; law--) {
        const bool known = law < STONET_NULL_PERMUTATION &&
                           (!has_laws(test) ||
                            (law < STONET_NULL_GAMMA && p[STONET_NULL_GAMMA] == p[STONET_NULL_PERMUTATION]));
        p[law] = known ? p[LAWS - 1]
                       : p_of_table(&sides, test, (stonet_null_law)law, (uint64_t)replication + 1, 1);
    }
}

/* share[law]: of `replications` tables of a cell, those that a test rejects. */
static void rejected(const cell *c, int test, int replications, double share[LAWS])
{
    int count[LAWS] = {0};
#pragma omp parallel for schedule(dynamic) reduction(+ : count[:LAWS])
    for (int r = 0; r < replications; r++) {
        double p[LAWS];
        p_of_laws(c, test, (uint32_t)r, p);
        for (int law = 0; law < LAWS; law++) count[law] += p[law] <= 0.05;
    }
    for (int law = 0; law < LAWS; law++) share[law] = (double)count[law] / replications;
}

/* A right test fails with a chance below 1e-5: .05 and more than five standard errors of 200. */
static void assert_level(cell c, int test)
{
    double share[LAWS];
    rejected(&c, test, 200, share);
    for (int law = 0; law < LAWS; law++) {
        if (share[law] > 0.13)
            fail_msg("%s, n = %d, %s and %s: test %d, law %d rejects %.3f", world_names[c.kind], (int)c.n,
                     shape_names[c.x], shape_names[c.y], test, law, share[law]);
    }
}

static void levels_hold(void **state)
{
    (void)state;
    not_for_sanitizers();
    const int conditional[] = {STONET_TEST_GCM, STONET_TEST_RCIT, STONET_TEST_RCOT};
    assert_level((cell){ALONE, TENTH, TENTH, 100}, STONET_TEST_RIT);
    assert_level((cell){ALONE, TWENTIETH, TWENTIETH, 500}, STONET_TEST_RIT);
    assert_level((cell){ALONE, TENTH, TENTH, 100}, STONET_TEST_DCOR);
    for (int t = 0; t < 3; t++) {
        assert_level((cell){APART, TENTH, TENTH, 100}, conditional[t]);
        assert_level((cell){SHARED, FIFTIETH, FIFTIETH, 100}, conditional[t]);
    }
    assert_level((cell){REDUCTION, NORMAL, FIFTIETH, 200}, STONET_TEST_GCM);
    assert_level((cell){ALONE, NORMAL, NORMAL, 50}, STONET_TEST_RIT);
    assert_level((cell){SHARED, NORMAL, NORMAL, 300}, STONET_TEST_RCIT);
    assert_level((cell){SHARED, NORMAL, NORMAL, 300}, STONET_TEST_RCOT);
}

/* log of n choose k */
static double log_choose(int n, int k)
{
    return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
}

/* The probability that a random overlap of a ones with b ones is as far from its mean as `both`. */
static double exact_p(int n, int a, int b, int both)
{
    const double mean = (double)a * b / n;
    double p = 0.0;
    for (int k = 0; k <= b; k++) {
        if (fabs(k - mean) >= fabs(both - mean) - 1e-9)
            p += exp(log_choose(a, k) + log_choose(n - a, b - k) - log_choose(n, b));
    }
    return p;
}

/* 100 and 80 ones of 5,000, some of them in the same rows: the test of the overlap is Fisher's. */
static void two_indicators_as_counted(void **state)
{
    (void)state;
    enum { N = 5000, A = 100, B = 80 };
    static table t;
    const int conditional[] = {STONET_TEST_GCM, STONET_TEST_RCIT, STONET_TEST_RCOT};
    const stonet_sides given = {.n = N, .dx = 1, .dy = 1, .dz = 1, .x = t.x, .y = t.y, .z = t.z};
    stonet_sides alone = given;
    alone.z = NULL;
    draw(&(cell){APART, NORMAL, NORMAL, N}, 1, &t);
    for (int both = 0; both <= 6; both += 2) {
        for (int i = 0; i < N; i++) {
            t.x[i] = i < A;
            t.y[i] = i >= A - both && i < A - both + B;
        }
        const double expected = exact_p(N, A, B, both);
        const double error = 5.0 * sqrt(expected * (1.0 - expected) / PERMUTATIONS) + 1.0 / PERMUTATIONS;
        const double p = p_of_table(&alone, STONET_TEST_RIT, STONET_NULL_LPB4, 1, 1);
        if (!(fabs(p - expected) < error)) fail_msg("%d rows with both: %g, not %g", both, p, expected);
        assert_true(p == p_of_table(&alone, STONET_TEST_RIT, STONET_NULL_LPB4, 1, 2));
        for (int k = 0; k < 3 && both == 0; k++) {
            const double given_z = p_of_table(&given, conditional[k], STONET_NULL_LPB4, 1, 1);
            assert_true(given_z > 0.05);
            assert_true(given_z == p_of_table(&given, conditional[k], STONET_NULL_LPB4, 1, 2));
        }
    }
}

/* A row of the page: the tests, each with the laws lpb4, hbe, gamma, chi2 and perm where it has them. */
static void print_cell(const cell *c, int tests, const int *test, int replications)
{
    printf("| %lld | %s | %s |", (long long)c->n, shape_names[c->x], shape_names[c->y]);
    for (int t = 0; t < tests; t++) {
        double share[LAWS];
        rejected(c, test[t], replications, share);
        for (int law = 0; law < (has_laws(test[t]) ? LAWS : 1); law++) printf(" %.3f", share[law]);
        printf(" |");
    }
    puts("");
    fflush(stdout);
}

static void print_world(world kind, int64_t n, int replications)
{
    static const shape pairs[][2] = {
        {HALF, HALF},     {TENTH, TENTH},  {TWENTIETH, TWENTIETH}, {FIFTIETH, FIFTIETH},
        {HALF, NORMAL},   {TENTH, NORMAL}, {TWENTIETH, NORMAL},    {FIFTIETH, NORMAL},
        {NORMAL, NORMAL}, {T2, T2},        {LOGNORMAL, LOGNORMAL}, {FIFTIETH, LOGNORMAL}};
    static const int marginal[] = {STONET_TEST_RIT, STONET_TEST_DCOR};
    static const int conditional[] = {STONET_TEST_GCM, STONET_TEST_RCIT, STONET_TEST_RCOT};
    static const int all[] = {STONET_TEST_RIT, STONET_TEST_DCOR, STONET_TEST_GCM, STONET_TEST_RCIT,
                              STONET_TEST_RCOT};
    static const int sufficiency[] = {STONET_TEST_GCM, PREDICTION};
    const int cells = kind > REDUCTION ? 1 : (int)(sizeof pairs / sizeof *pairs);
    for (int k = 0; k < cells; k++) {
        cell c = {kind, pairs[k][0], pairs[k][1], n};
        if (kind > REDUCTION) c.x = c.y = NORMAL;
        if (kind == ALONE) print_cell(&c, 2, marginal, replications);
        if (kind == APART || kind == SHARED) print_cell(&c, 3, conditional, replications);
        if (kind > REDUCTION) print_cell(&c, 5, all, replications);
        if (kind == REDUCTION && c.x == c.y) { /* y alone differs */
            c.x = NORMAL;
            print_cell(&c, 2, sufficiency, replications);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_indicators_as_counted),
        cmocka_unit_test(levels_hold),
    };
    if (argc < 3) return cmocka_run_group_tests_name("stats_levels", tests, NULL, NULL);
    for (world kind = ALONE; kind < WORLDS; kind++) {
        printf("\n%s: %s\n\n", world_names[kind],
               kind == ALONE       ? "rit, dcor"
               : kind <= SHARED    ? "gcm, rcit, rcot"
               : kind == REDUCTION ? "gcm, prediction"
                                   : "rit, dcor, gcm, rcit, rcot");
        for (int k = 2; k < argc; k++) {
            const long long n = atoll(argv[k]);
            if (n >= 50 && n <= MOST_ROWS) print_world(kind, n, atoi(argv[1]));
        }
    }
    return 0;
}
