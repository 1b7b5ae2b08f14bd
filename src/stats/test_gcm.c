#include "base/test_kit.h"
#include "math/noise.h"
#include "stats/independence.h"

enum { ROWS = 200, MOST = 6 };

typedef struct table {
    double x[ROWS * MOST], y[ROWS], z[ROWS * MOST];
} table;

static double test_of(const table *t, int64_t dx, int64_t dz, uint64_t seed)
{
    stonet_sides sides = {.n = ROWS, .dx = dx, .dy = 1, .dz = dz, .x = t->x, .y = t->y, .z = t->z};
    stonet_independence_options options = STONET_INDEPENDENCE_OPTIONS_INIT;
    stonet_run run = STONET_RUN_INIT;
    run.seed = seed;
    run.threads = 1;
    stonet_independence_result result;
    OK(sn_gcm_test(&sides, &options, &run, &result));
    return result.p_value;
}

/* y = 3 sin(2 x1) x2 + e / 2 (times e^{x3 / 2} with spread): a mean that regressions on six columns miss part
 * of. */
static void draw(uint64_t seed, table *t)
{
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 1);
    for (int i = 0; i < ROWS * MOST; i++) t->x[i] = sn_random_normal(&random);
    for (int i = 0; i < ROWS; i++)
        t->y[i] = 3 * sin(2 * t->x[i * MOST]) * t->x[i * MOST + 1] + 0.5 * sn_random_normal(&random);
}

/* z = x, an invertible map of x, and the mean itself with long tails: about one in twenty is rejected; of 60
   more than 9 would be by chance in one of a thousand studies. */
TEST(holds_its_level)
{
    enum { SETS = 60 };
    int rejected[3] = {0};
    for (uint64_t seed = 1; seed <= SETS; seed++) {
        table t;
        draw(seed, &t);
        memcpy(t.z, t.x, sizeof t.x);
        rejected[0] += test_of(&t, MOST, MOST, seed) < 0.05;
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < MOST; j++)
                t.z[i * MOST + j] = t.x[i * MOST + j] + (j > 0 ? 3 * t.x[i * MOST + j - 1] : 0.0);
        }
        rejected[1] += test_of(&t, MOST, MOST, seed) < 0.05;
        for (int i = 0; i < ROWS; i++) t.z[i] = sinh(2 * sin(2 * t.x[i * MOST]) * t.x[i * MOST + 1]);
        rejected[2] += test_of(&t, MOST, 1, seed) < 0.05;
    }
    for (int k = 0; k < 3; k++) {
        if (rejected[k] > 9) fail_msg("case %d: %d of %d", k, rejected[k], SETS);
    }
    assert_true(rejected[0] + rejected[1] + rejected[2] > 0);
}

/* z without x2; and z = x1 where x2 moves the spread alone. */
TEST(finds_what_is_missing)
{
    int found[2] = {0};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        table t;
        draw(seed, &t);
        for (int i = 0; i < ROWS; i++) t.z[i] = t.x[i * MOST];
        found[0] += test_of(&t, MOST, 1, seed) < 0.05;
        sn_random random = sn_random_from(seed, SN_STREAM_TEST, 2);
        for (int i = 0; i < ROWS; i++)
            t.y[i] = t.x[i * MOST] + exp(t.x[i * MOST + 1]) * sn_random_normal(&random);
        found[1] += test_of(&t, MOST, 1, seed) < 0.05;
    }
    assert_true(found[0] >= 18);
    assert_true(found[1] >= 18);
}

TEST(refuses_and_edges)
{
    table t;
    draw(1, &t);
    memcpy(t.z, t.x, sizeof t.x);
    stonet_sides sides = {.n = 99, .dx = MOST, .dy = 1, .dz = MOST, .x = t.x, .y = t.y, .z = t.z};
    stonet_independence_options options = STONET_INDEPENDENCE_OPTIONS_INIT;
    stonet_run run = STONET_RUN_INIT;
    stonet_independence_result result;
    assert_says(sn_gcm_test(&sides, &options, &run, &result), STONET_ERROR_DATA, "at least 100");
    for (int i = 0; i < ROWS; i++) t.y[i] = 4.0; /* nothing to be dependent */
    assert_true(test_of(&t, MOST, 2, 1) == 1.0);
    draw(1, &t);
    for (int i = 0; i < ROWS * MOST; i++) t.x[i] = 1.0;
    assert_true(test_of(&t, MOST, 2, 1) == 1.0);
}

RUN_TESTS(NULL, NULL)
