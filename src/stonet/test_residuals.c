/* The look at held-out residuals: its level, and what it sees. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "math/noise.h"
#include "stonet/residuals.h"

enum { N = 600, P = 8 };

typedef enum law { CONSTANT, GROWS, EVEN } law;

/* Squared residuals e^2 with a spread of 1, exp(x_1), or (.2 + |x_2|)^2; e with long tails. */
static double look(law of, uint32_t seed)
{
    float x[N * P];
    double loss[N], p_value;
    sn_random random;
    sn_random_init(&random, 12, SN_STREAM_TEST, seed);
    for (int64_t i = 0; i < N; i++) {
        for (int j = 0; j < P; j++) x[i * P + j] = (float)sn_random_normal(&random);
        const double a = (double)x[i * P], b = (double)x[i * P + 1], e = sn_random_normal(&random);
        const double spread = of == GROWS ? exp(a) : of == EVEN ? pow(0.2 + fabs(b), 2.0) : 1.0;
        loss[i] = 0.5 * pow(spread * e * e * e, 2.0);
    }
    const sn_problem problem = {.n = N, .p = P, .x = x, .task = SN_REGRESSION, .outputs = 1};
    sn_holdout holdout = {.folds = 2, .rows = N};
    holdout.fold[0] = (sn_fold){.test = sn_rows_range(0, 100)};
    holdout.fold[1] = (sn_fold){.test = sn_rows_range(100, N - 100), .first = 100};
    assert_int_equal(sn_residuals_look(&problem, &holdout, loss, &p_value), STONET_OK);
    return p_value;
}

static void the_level_is_held(void **state)
{
    (void)state;
    int rejected = 0;
    for (uint32_t seed = 1; seed <= 400; seed++) rejected += look(CONSTANT, seed) < 0.05;
    assert_true(rejected >= 6 && rejected <= 32); /* 20 of 400, four standard errors either way */
}

static void what_depends_on_x_is_seen(void **state)
{
    (void)state;
    int seen[2] = {0, 0};
    for (uint32_t seed = 1; seed <= 20; seed++) {
        seen[0] += look(GROWS, seed) < 0.05;
        seen[1] += look(EVEN, seed) < 0.05;
    }
    assert_true(seen[0] >= 17 && seen[1] >= 17);
}

static void classes_are_not_looked_at(void **state)
{
    (void)state;
    const double loss[N] = {0};
    double p_value = 0.0;
    const sn_problem problem = {.n = N, .p = P, .task = SN_CLASSIFICATION, .outputs = 2};
    const sn_holdout holdout = {.folds = 1, .rows = N};
    assert_int_equal(sn_residuals_look(&problem, &holdout, loss, &p_value), STONET_OK);
    assert_true(isnan(p_value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_level_is_held),
        cmocka_unit_test(what_depends_on_x_is_seen),
        cmocka_unit_test(classes_are_not_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
