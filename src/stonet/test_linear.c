/* The linear model: of many rows it is fitted on an even part, and where it is judged alone, roughly. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>

#include "base/memory.h"
#include "data/test_source.h"
#include "math/noise.h"
#include "net/forward.h"
#include "net/loss.h"
#include "stonet/linear.h"
#include "stonet/regression.h"

/* y = x1 in the first half of the rows and 3 x1 in the second: 2 x1, if both halves are heard alike. The
   penalty is the same for a row whether all are taken or a part. */
static void many_rows_are_heard_evenly(void **state)
{
    (void)state;
    enum { P = 100, MANY = 60000, FEW = 30000 };
    static const double penalty = 0.25; /* l2 / n; columns have variance 1 */
    float *x = NULL;
    double *y = NULL;
    assert_int_equal(SN_NEW_RAW(x, (int64_t)MANY * P), STONET_OK);
    assert_int_equal(SN_NEW_RAW(y, MANY), STONET_OK);
    sn_random random;
    sn_random_init(&random, 2, SN_STREAM_TEST, 0);
    for (int64_t i = 0; i < MANY; i++) {
        for (int64_t j = 0; j < P; j++) x[i * P + j] = (float)sn_random_normal(&random);
        y[i] = (i < MANY / 2 ? 1.0 : 3.0) * (double)x[i * P];
    }
    const sn_problem problem = {.n = MANY, .p = P, .x = x, .y = y, .outputs = 1, .task = SN_REGRESSION};
    const sn_shape like = {.layers = 1, .width = {P, 1}, .task = SN_REGRESSION};
    sn_shape shape;
    assert_int_equal(sn_linear_shape(&like, P, 1, &shape), STONET_OK);
    float *theta = NULL;
    assert_int_equal(SN_NEW(theta, shape.parameters), STONET_OK);
    const sn_rows rows[] = {sn_rows_range(0, MANY), sn_rows_range(MANY / 2 - FEW / 2, FEW)};
    for (int k = 0; k < 2; k++) {
        bool found = false;
        assert_int_equal(sn_linear_fit(&shape, &problem, &rows[k],
                                       (sn_ridge){.l2 = penalty * (double)rows[k].n}, NULL, theta, &found),
                         STONET_OK);
        assert_true(found);
        const double slope = (double)theta[shape.weight_at[0]] * (double)theta[shape.weight_at[1]];
        assert_true(fabs(slope - 2.0 / (1.0 + penalty)) < 0.03);
    }
    sn_free(theta);
    sn_free(x);
    sn_free(y);
}

/* Three classes by noisy linear scores; the penalised mean loss of a fit. */
static void rough_fits_are_close(void **state)
{
    (void)state;
    enum { N = 300, P = 5, CLASSES = 3 };
    static const double l2 = 3.0;
    float x[N * P], mu[N * CLASSES], theta[2][(P + 1 + CLASSES + 1) * CLASSES];
    int32_t label[N];
    double loss[2] = {0.0, 0.0}, apart = 0.0;
    sn_random random;
    sn_random_init(&random, 3, SN_STREAM_TEST, 0);
    for (int i = 0; i < N; i++) {
        double score[CLASSES];
        for (int j = 0; j < P; j++) x[i * P + j] = (float)sn_random_normal(&random);
        for (int k = 0; k < CLASSES; k++)
            score[k] = 2.0 * (double)x[i * P + k] + sn_random_normal(&random) + (k == 1 ? 1.0 : 0.0);
        label[i] = score[0] > score[1] && score[0] > score[2] ? 0 : score[1] > score[2] ? 1 : 2;
    }
    const sn_problem problem = {
        .n = N, .p = P, .x = x, .label = label, .outputs = CLASSES, .task = SN_CLASSIFICATION};
    const sn_shape like = {.layers = 1, .width = {P, CLASSES}, .task = SN_CLASSIFICATION};
    const sn_rows rows = sn_rows_range(0, N);
    sn_shape shape;
    assert_int_equal(sn_linear_shape(&like, P, CLASSES, &shape), STONET_OK);
    assert_int_equal(shape.parameters, (int64_t)(sizeof theta[0] / sizeof theta[0][0]));
    for (int k = 0; k < 2; k++) {
        bool found = false;
        assert_int_equal(sn_linear_fit(&shape, &problem, &rows,
                                       (sn_ridge){.l2 = l2, .enough = k == 0 ? 0.0 : 1e-3}, NULL, theta[k],
                                       &found),
                         STONET_OK);
        assert_true(found);
        assert_int_equal(sn_forward(&shape, theta[k], x, N, 2, false, 1, mu), STONET_OK);
        for (int i = 0; i < N; i++) {
            bool wrong;
            loss[k] += sn_class_loss(mu + (ptrdiff_t)(i * CLASSES), CLASSES, label[i], &wrong) / N;
        }
    }
    for (int64_t j = 0; j < shape.parameters; j++)
        apart = fmax(apart, fabs((double)(theta[0][j] - theta[1][j])));
    assert_true(fabs(loss[1] - loss[0]) < 1e-3 * loss[0]);
    assert_true(apart > 1e-7); /* it is another fit: it has ended earlier */
}

/* Rows of classes 0 and 3 alone, of four: the two are told apart as if there were no others, which get half a
   row's share where x = 0. Of one class there is no regression. */
static void classes_without_rows_get_little(void **state)
{
    (void)state;
    enum { N = 60, P = 2, CLASSES = 4 };
    float x[N * P];
    int32_t label[N], two[N];
    double coef[CLASSES * P], intercept[CLASSES], coef2[2 * P], intercept2[2];
    sn_random random;
    sn_random_init(&random, 5, SN_STREAM_TEST, 0);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < P; j++) x[i * P + j] = (float)sn_random_normal(&random);
        two[i] = (double)x[(ptrdiff_t)i * P] + sn_random_normal(&random) > 0.3 ? 1 : 0;
        label[i] = two[i] == 1 ? 3 : 0;
    }
    const sn_problem some = {
        .n = N, .p = P, .x = x, .label = label, .outputs = CLASSES, .task = SN_CLASSIFICATION};
    sn_problem both = some;
    both.label = two;
    both.outputs = 2;
    const sn_rows rows = sn_rows_range(0, N);
    sn_regression job = {.problem = &some, .rows = &rows, .d = P, .x = x, .l2 = 2.0};
    bool found = false;
    assert_int_equal(sn_regress(&job, NULL, coef, intercept, &found), STONET_OK);
    assert_true(found);
    job.problem = &both;
    assert_int_equal(sn_regress(&job, NULL, coef2, intercept2, &found), STONET_OK);
    for (int c = 0; c < CLASSES; c++) {
        const int at = c == 3 ? 1 : 0;
        const bool there = c == 0 || c == 3;
        const double little = log(0.5 * (exp(intercept2[0]) + exp(intercept2[1])) / N);
        assert_true(fabs(intercept[c] - (there ? intercept2[at] : little)) < 1e-12);
        for (int j = 0; j < P; j++) assert_true(coef[c * P + j] == (there ? coef2[at * P + j] : 0.0));
    }
    job.problem = &some;
    for (int i = 0; i < N; i++) label[i] = 2;
    assert_int_equal(sn_regress(&job, NULL, coef, intercept, &found), STONET_OK);
    assert_false(found);
}

/* The rows that are fetched: all, or max(4,000,000 / p, 200 p) of them, evenly from the first on. */
typedef struct counting {
    sn_row_source base;
    int64_t p, fetched, last;
} counting;

static void fetch_counting(const sn_row_source *self, const sn_rows *rows, uint32_t draw, float *x,
                           int64_t stride)
{
    counting *from = (counting *)self;
    (void)draw;
    from->fetched += rows->n;
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        for (int64_t j = 0; j < from->p; j++) x[i * stride + j] = 0.0F;
        x[i * stride] = (float)(row % 11) - 3.0F;
        if (row > from->last) from->last = row;
    }
}

static void no_more_rows_than_are_enough(void **state)
{
    (void)state;
    static const struct {
        int64_t n, p, wanted;
    } cases[] = {{100000, 40, 100000}, {100001, 40, 100000}, {120000, 50, 80000}, {28600, 142, 28400}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        counting from = {.base = {.prepare = rows_are_ready, .fetch = fetch_counting}, .p = cases[k].p};
        const sn_problem problem = {.n = cases[k].n, .p = cases[k].p, .source = &from.base};
        const sn_rows all = sn_rows_range(0, cases[k].n);
        const sn_shape like = {.layers = 1, .width = {cases[k].p, 1}, .task = SN_REGRESSION};
        sn_shape shape;
        float theta[256] = {0};
        double reach[2];
        assert_int_equal(sn_linear_shape(&like, cases[k].p, 1, &shape), STONET_OK);
        theta[shape.weight_at[0]] = -2.0F;
        assert_int_equal(sn_linear_reach(&shape, theta, &problem, &all, reach), STONET_OK);
        assert_true(reach[0] == 14.0); /* 2 times 7, the largest number */
        assert_int_equal(from.fetched, cases[k].wanted);
        assert_int_equal(from.last, (int64_t)((double)(cases[k].wanted - 1) / (double)cases[k].wanted *
                                              (double)cases[k].n));
    }
}

/* Networks of any layers that hold a linear model answer as it does. */
static void any_network_holds_the_linear_model(void **state)
{
    (void)state;
    enum { N = 50, P = 4, CLASSES = 3, Q = 2, ROOM = 128 };
    static const sn_activation activations[] = {SN_IDENTITY, SN_TANH, SN_RELU, SN_SIGMOID};
    sn_random random;
    sn_random_init(&random, 5, SN_STREAM_TEST, 0);
    float x[N * P], wanted[N * CLASSES], got[N * CLASSES], theta[ROOM], inside[ROOM];
    for (int i = 0; i < N * P; i++) x[i] = (float)sn_random_normal(&random);
    const sn_problem problem = {.n = N, .p = P, .x = x, .outputs = CLASSES, .task = SN_CLASSIFICATION};
    const sn_shape like = {.layers = 1, .width = {P, CLASSES}, .task = SN_CLASSIFICATION};
    sn_shape linear;
    assert_int_equal(sn_linear_shape(&like, P, Q, &linear), STONET_OK);
    for (int64_t k = 0; k < linear.parameters; k++) theta[k] = (float)sn_random_normal(&random);
    for (int64_t k = 0; k < Q; k++) theta[linear.bias_at[0] + k] = 0.0F;
    double reach[Q], largest[Q] = {0.0, 0.0};
    const sn_rows rows = sn_rows_range(0, N);
    assert_int_equal(sn_linear_reach(&linear, theta, &problem, &rows, reach), STONET_OK);
    assert_int_equal(sn_forward(&linear, theta, x, N, 1, false, 1, got), STONET_OK);
    for (int i = 0; i < N * Q; i++) largest[i % Q] = fmax(largest[i % Q], fabs((double)got[i]));
    for (int k = 0; k < Q; k++) assert_true(fabs(reach[k] - largest[k]) < 1e-5);
    assert_int_equal(sn_forward(&linear, theta, x, N, 2, false, 1, wanted), STONET_OK);
    for (int k = 0; k < 8; k++) {
        sn_shape shape = {.layers = 4,
                          .width = {P, 5, 3, Q, CLASSES},
                          .activation = activations[k / 2],
                          .linear_layer = k % 2,
                          .task = SN_CLASSIFICATION};
        assert_int_equal(sn_shape_layout(&shape), STONET_OK);
        assert_true(sn_linear_fits(&shape) && shape.parameters <= ROOM);
        sn_linear_inside(&linear, theta, reach, &shape, inside);
        assert_int_equal(sn_forward(&shape, inside, x, N, 4, false, 1, got), STONET_OK);
        for (int i = 0; i < N * CLASSES; i++) assert_true(fabsf(got[i] - wanted[i]) < 5e-3F);
    }
    sn_shape narrow = {.layers = 3, .width = {P, 1, Q, CLASSES}, .task = SN_CLASSIFICATION};
    assert_int_equal(sn_shape_layout(&narrow), STONET_OK);
    assert_false(sn_linear_fits(&narrow));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_rows_are_heard_evenly), cmocka_unit_test(rough_fits_are_close),
        cmocka_unit_test(classes_without_rows_get_little), cmocka_unit_test(no_more_rows_than_are_enough),
        cmocka_unit_test(any_network_holds_the_linear_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
