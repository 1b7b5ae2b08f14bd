/* Kernel regression as a candidate: how many landmarks and how narrow a kernel it ends with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/run.h"
#include "engine/oracle.h"
#include "stonet/front_kernel.h"
#include "stonet/kernel_point.h"

enum { P = 2, SEED = 3, FEW = 200 };

/* Hills and hollows, three between -1 and 1, or a plane; with little noise. */
static oracle draw(int64_t n, bool hills)
{
    const int64_t width[] = {P, 2, 1};
    oracle o = oracle_make(2, width, SN_TANH, SN_REGRESSION, n, SEED);
    for (int64_t i = 0; i < n; i++) {
        const double a = (double)o.x[i * P], b = (double)o.x[i * P + 1];
        o.y[i] = (hills ? 2.0 * sin(5.0 * a) * sin(5.0 * b) : (a - b) / sqrt(2.0)) + 0.05 * o.y[i];
    }
    return o;
}

/* The candidate beside a rival whose loss is `times` that of a constant. */
static sn_kernel_point find(const oracle *o, double times)
{
    const sn_config config = {.engine = sn_engine_find("cpu")};
    const sn_stage_job job = {.problem = &o->problem,
                              .shape = &o->shape,
                              .rows = sn_rows_range(0, o->problem.n),
                              .config = &config,
                              .seed = SEED,
                              .threads = 1};
    sn_holdout holdout;
    assert_int_equal(sn_holdout_make(&job, &holdout), STONET_OK);
    sn_held_out rival = {.mean = 0.5 * times};
    assert_int_equal(SN_NEW(rival.loss, holdout.rows), STONET_OK);
    for (int64_t i = 0; i < holdout.rows; i++) rival.loss[i] = rival.mean;
    sn_kernel_point point;
    assert_int_equal(sn_kernel_point_find(&job, &holdout, &rival, &point), STONET_OK);
    assert_true(point.cost.loss != NULL && isfinite(point.cost.mean) && point.penalty > 0.0);
    sn_free(rival.loss);
    sn_holdout_free(&holdout);
    return point;
}

static void more_landmarks_where_the_function_wants_them(void **state)
{
    (void)state;
    static const struct {
        int64_t n;
        double rival; /* of the loss of a constant */
        bool hills, more;
    } cases[] = {
        {1000, 1.0, true, true},   /* what 200 bumps cannot follow */
        {1000, 1.0, false, false}, /* what needs no bump at all */
        {999, 1.0, true, false},   /* too few rows */
        {1000, 1e-4, true, false}, /* something else is far better */
        {5001, 1.0, true, false},  /* too many rows */
    };
    enum { CASES = sizeof cases / sizeof *cases };
    double loss[CASES];
    for (int k = 0; k < CASES; k++) {
        oracle o = draw(cases[k].n, cases[k].hills);
        sn_kernel_point point = find(&o, cases[k].rival);
        const sn_kernel_setting setting = sn_front_kernel_setting(point.front);
        loss[k] = point.cost.mean;
        if ((setting.landmarks > FEW) != cases[k].more)
            fail_msg("case %d: %lld landmarks, loss %g", k, (long long)setting.landmarks, point.cost.mean);
        sn_kernel_point_free(&point);
        oracle_free(&o);
    }
    assert_true(loss[0] < 0.5 * loss[3]); /* they are worth it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(more_landmarks_where_the_function_wants_them)};
    return cmocka_run_group_tests_name("stonet_kernel_point", tests, NULL, NULL);
}
