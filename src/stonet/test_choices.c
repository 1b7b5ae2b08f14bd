/* Where kernel regression may be asked, and what is told of held-out losses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stonet/kernel_point.h"
#include "stonet/select.h"

/* 50 to 20,000 rows without weights, 200 columns, 1e9 products (rows by the square of 200 landmarks and the
   columns, by the classes if they are more than two), and a layer before the last that holds what is linear.
 */
static void where_kernel_regression_may_be_asked(void **state)
{
    (void)state;
    static const float weight[1] = {1.0F};
    static const struct {
        int64_t n, p, outputs, units;
        sn_task task;
        bool weighted, fits;
    } cases[] = {
        {49, 3, 1, 1, SN_REGRESSION, false, false},
        {50, 3, 1, 1, SN_REGRESSION, false, true},
        {20000, 3, 1, 1, SN_REGRESSION, false, true},
        {20001, 3, 1, 1, SN_REGRESSION, false, false},
        {500, 200, 1, 1, SN_REGRESSION, false, true},
        {500, 201, 1, 1, SN_REGRESSION, false, false},
        {500, 200, 9, 9, SN_REGRESSION, false, true},
        {500, 3, 1, 1, SN_REGRESSION, true, false},
        {500, 3, 2, 1, SN_REGRESSION, false, false},
        {500, 3, 2, 2, SN_REGRESSION, false, true},
        {500, 200, 2, 1, SN_CLASSIFICATION, false, true},
        {500, 3, 3, 1, SN_CLASSIFICATION, false, false},
        {500, 3, 3, 2, SN_CLASSIFICATION, false, true},
        {2000, 24, 10, 9, SN_CLASSIFICATION, false, false},
        {2000, 23, 10, 9, SN_CLASSIFICATION, false, true},
        {20000, 23, 2, 1, SN_CLASSIFICATION, false, true},
        {20000, 24, 2, 1, SN_CLASSIFICATION, false, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const sn_problem problem = {.n = 9999,
                                    .p = cases[k].p,
                                    .task = cases[k].task,
                                    .outputs = cases[k].outputs,
                                    .weight = cases[k].weighted ? weight : NULL};
        const sn_shape shape = {
            .layers = 3, .width = {cases[k].p, 20, cases[k].units, cases[k].outputs}, .task = cases[k].task};
        const sn_stage_job job = {.problem = &problem, .shape = &shape, .rows = sn_rows_range(7, cases[k].n)};
        if (sn_kernel_point_fits(&job) != cases[k].fits) fail_msg("case %zu", k);
    }
}

/* The mean and its standard error; the share of wrong classes and that of a share. */
static void estimates(void **state)
{
    (void)state;
    double loss[4] = {1.0, 2.0, 4.0, 5.0};
    const sn_held_out cost = {.loss = loss, .mean = 3.0, .error_rate = 0.25}, none = {0};
    const sn_estimate got = sn_estimate_of(&cost, 4), nothing = sn_estimate_of(&none, 4);
    assert_true(got.loss == 3.0 && fabs(got.loss_se - sqrt(10.0 / 3.0 / 4.0)) < 1e-12);
    assert_true(got.error == 0.25 && fabs(got.error_se - sqrt(0.25 * 0.75 / 4.0)) < 1e-12);
    assert_true(isnan(nothing.loss) && isnan(nothing.loss_se) && isnan(nothing.error) &&
                isnan(nothing.error_se));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(where_kernel_regression_may_be_asked),
                                       cmocka_unit_test(estimates)};
    return cmocka_run_group_tests_name("stonet_choices", tests, NULL, NULL);
}
