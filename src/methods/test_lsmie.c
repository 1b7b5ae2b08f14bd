#include "methods/linear_map.h"
#include "methods/lsmi.h"
#include "methods/test_kernel_help.h"

enum { N = 40, P = 4, D = 2, CENTRES = 12 };

static const sn_method *method(void)
{
    return sn_method_find("lsmie");
}

static const double start[P * D] = {0.8, 0.1, -0.3, 0.7, 0.2, -0.4, 0.5, 0.3};

/* The class of a centre, from the blocks. */
static int64_t class_of(const sn_lsmi *lsmi, int64_t centre)
{
    int64_t block = 0;
    while (lsmi->first[block + 1] <= centre) block++;
    return block;
}

static double squared(int64_t p, const double *a, const double *b)
{
    double sum = 0.0;
    for (int64_t j = 0; j < p; j++) sum += pow(a[j] - b[j], 2);
    return sum;
}

/* phi_z and phi_y (n x b) by the definition. */
static void plain_features(const sn_lsmi *lsmi, const double *b, double *phi_z, double *phi_y)
{
    int64_t n = lsmi->n, m = lsmi->b;
    double *z = zeros(n * D), *u = zeros(m * D);
    sn_gemm(false, false, n, D, P, 1.0, lsmi->x, b, 0.0, z);
    sn_gemm(false, false, m, D, P, 1.0, lsmi->centres, b, 0.0, u);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < m; l++) {
            phi_z[i * m + l] = exp(-squared(D, z + i * D, u + l * D) / (2 * pow(lsmi->s * lsmi->z_scale, 2)));
            if (lsmi->label != NULL)
                phi_y[i * m + l] = lsmi->label[i] == class_of(lsmi, l);
            else
                phi_y[i * m + l] = exp(-squared(lsmi->m, lsmi->y + i * lsmi->m, lsmi->v + l * lsmi->m) /
                                       (2 * pow(lsmi->s * lsmi->y_scale, 2)));
        }
    free(z);
    free(u);
}

/* H (b x b) over all pairs of the rows from .. to - 1 kept by `inside`, and h. */
static void plain_moments(const sn_lsmi *lsmi, const double *phi_z, const double *phi_y, int64_t from,
                          int64_t to, int inside, double *hh, double *h)
{
    int64_t m = lsmi->b;
    double rows = 0.0;
    memset(hh, 0, sizeof(double[m * m]));
    memset(h, 0, sizeof(double[m]));
    for (int64_t i = 0; i < lsmi->n; i++) {
        if ((i >= from && i < to) != inside) continue;
        rows += 1.0;
        for (int64_t l = 0; l < m; l++) h[l] += phi_z[i * m + l] * phi_y[i * m + l];
        for (int64_t j = 0; j < lsmi->n; j++) {
            if ((j >= from && j < to) != inside) continue;
            for (int64_t l = 0; l < m; l++)
                for (int64_t k = 0; k < m; k++)
                    hh[l * m + k] +=
                        phi_z[i * m + l] * phi_y[j * m + l] * phi_z[i * m + k] * phi_y[j * m + k];
        }
    }
    for (int64_t l = 0; l < m * m; l++) hh[l] /= rows * rows;
    for (int64_t l = 0; l < m; l++) h[l] /= rows;
}

static void plain_alpha(int64_t m, const double *hh, const double *h, double lambda, double *alpha)
{
    double *ridged = zeros(m * m);
    memcpy(ridged, hh, sizeof(double[m * m]));
    for (int64_t l = 0; l < m; l++) ridged[l * m + l] += lambda;
    double *inverse = matrix_power(m, ridged, -1.0, 0.0);
    sn_gemv(false, m, m, 1.0, inverse, h, 0.0, alpha);
    free(ridged);
    free(inverse);
}

static double quadratic(int64_t m, const double *hh, const double *alpha)
{
    double sum = 0.0;
    for (int64_t l = 0; l < m; l++)
        for (int64_t k = 0; k < m; k++) sum += alpha[l] * hh[l * m + k] * alpha[k];
    return sum;
}

static double textbook(const sn_lsmi *lsmi, const double *b)
{
    int64_t m = lsmi->b;
    double *phi_z = zeros(N * m), *phi_y = zeros(N * m), *hh = zeros(m * m), *h = zeros(m), *alpha = zeros(m);
    plain_features(lsmi, b, phi_z, phi_y);
    plain_moments(lsmi, phi_z, phi_y, 0, N, 1, hh, h);
    plain_alpha(m, hh, h, lsmi->lambda, alpha);
    double value = sn_dot(m, h, alpha) - 0.5 * quadratic(m, hh, alpha) - 0.5;
    free(phi_z);
    free(phi_y);
    free(hh);
    free(h);
    free(alpha);
    return value;
}

/* The cross-validated loss of the current s and this lambda. */
static double plain_loss(const sn_lsmi *lsmi, const double *b, double lambda)
{
    int64_t m = lsmi->b;
    double *phi_z = zeros(N * m), *phi_y = zeros(N * m), *hh = zeros(m * m), *h = zeros(m), *alpha = zeros(m);
    double loss = 0.0;
    plain_features(lsmi, b, phi_z, phi_y);
    for (int k = 0; k < SN_LSMI_FOLDS; k++) {
        plain_moments(lsmi, phi_z, phi_y, lsmi->fold[k], lsmi->fold[k + 1], 0, hh, h);
        plain_alpha(m, hh, h, lambda, alpha);
        plain_moments(lsmi, phi_z, phi_y, lsmi->fold[k], lsmi->fold[k + 1], 1, hh, h);
        loss += 0.5 * quadratic(m, hh, alpha) - sn_dot(m, h, alpha);
    }
    free(phi_z);
    free(phi_y);
    free(hh);
    free(h);
    free(alpha);
    return loss;
}

static sn_lsmi make_lsmi(const sample *s, double *b)
{
    sn_lsmi lsmi;
    const double bandwidth = 0.7, lambda = 0.02;
    memcpy(b, start, sizeof start);
    assert_int_equal(sn_orthonormalise(P, D, b), STONET_OK);
    assert_int_equal(sn_lsmi_create(&s->problem, CENTRES, D, 1, &lsmi), STONET_OK);
    assert_int_equal(sn_lsmi_tune(&lsmi, b, &bandwidth, 1, &lambda, 1, 1), STONET_OK);
    assert_true(lsmi.s == bandwidth && lsmi.lambda == lambda);
    return lsmi;
}

static void check_value_and_gradient(int64_t classes, int64_t targets)
{
    sample s = make_sample(N, P, classes, targets, 1);
    double b[P * D], gradient[P * D], value, above, below, step = 1e-5;
    sn_lsmi lsmi = make_lsmi(&s, b);
    assert_int_equal(sn_lsmi_value(&lsmi, b, &value, gradient), STONET_OK);
    assert_true(fabs(value - textbook(&lsmi, b)) < 1e-10);
    for (int i = 0; i < P * D; i++) {
        double at = b[i];
        b[i] = at + step;
        assert_int_equal(sn_lsmi_value(&lsmi, b, &above, NULL), STONET_OK);
        b[i] = at - step;
        assert_int_equal(sn_lsmi_value(&lsmi, b, &below, NULL), STONET_OK);
        b[i] = at;
        assert_true(fabs((above - below) / (2.0 * step) - gradient[i]) < 1e-7);
    }
    sn_lsmi_free(&lsmi);
    free_sample(&s);
}

static void test_value_and_gradient(void **state)
{
    (void)state;
    check_value_and_gradient(3, 0);
    check_value_and_gradient(0, 1);
    check_value_and_gradient(0, 2);
}

static void check_choice(int64_t classes)
{
    sample s = make_sample(N, P, classes, 1, 2);
    const double bandwidths[] = {0.3, 1.0, 3.0}, lambdas[] = {0.001, 0.05, 2.0};
    double b[P * D], best = INFINITY, best_s = 0.0, best_lambda = 0.0;
    sn_lsmi lsmi = make_lsmi(&s, b);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            assert_int_equal(sn_lsmi_set_bandwidth(&lsmi, bandwidths[i]), STONET_OK);
            double loss = plain_loss(&lsmi, b, lambdas[j]);
            if (loss >= best) continue;
            best = loss;
            best_s = bandwidths[i];
            best_lambda = lambdas[j];
        }
    assert_int_equal(sn_lsmi_tune(&lsmi, b, bandwidths, 3, lambdas, 3, 1), STONET_OK);
    assert_true(lsmi.s == best_s && lsmi.lambda == best_lambda);
    sn_lsmi_free(&lsmi);
    free_sample(&s);
}

static void test_cross_validation_chooses_the_smallest_loss(void **state)
{
    (void)state;
    check_choice(3);
    check_choice(0);
}

/* Distance of the two directions found to the true ones, e1 and e2 of p = 5. */
static double distance(int64_t n, int64_t classes)
{
    enum { COLUMNS = 5 };
    sample s = make_sample(n, COLUMNS, classes, 1, 5);
    sn_fit_result result;
    assert_int_equal(fit_with(method(), &s.problem, 2, &result, "restarts", "2", "landmarks", "60",
                              "iterations", "40", NULL),
                     STONET_OK);
    const sn_linear_map *map = result.state;
    double truth[COLUMNS * 2] = {[0] = 1.0, [3] = 1.0}, found;
    assert_int_equal(sn_subspace_distance(COLUMNS, 2, truth, map->direction, &found), STONET_OK);
    method()->free(result.state);
    free_sample(&s);
    return found;
}

static void test_recovers_the_subspace(void **state)
{
    (void)state;
    double few = distance(60, 0), many = distance(600, 0);
    assert_true(many < few);
    assert_true(many < 0.2);
    assert_true(distance(600, 3) < 0.35);
}

static void test_round_trip_and_limits(void **state)
{
    (void)state;
    sample s = make_sample(40, 3, 3, 0, 2);
    sn_fit_result result;
    assert_int_equal(fit_with(method(), &s.problem, 9, &result, "iterations", "5", NULL), STONET_OK);
    assert_int_equal(result.dim, 3);
    assert_non_null(strstr(last_message, "lsmie: 3 directions exist"));
    check_round_trip(method(), &s, &result);
    method()->free(result.state);
    free_sample(&s);
}

static void test_stops_with_a_usable_result(void **state)
{
    (void)state;
    sample s = make_sample(40, 3, 0, 1, 2);
    sn_fit_result result;
    assert_int_equal(fit_until(method(), &s, 3, &result), STONET_OK);
    assert_int_equal(result.outcome, STONET_STOPPED);
    check_round_trip(method(), &s, &result);
    method()->free(result.state);
    free_sample(&s);
}

static void test_unpleasant_data(void **state)
{
    (void)state;
    check_unpleasant(method());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value_and_gradient),
        cmocka_unit_test(test_cross_validation_chooses_the_smallest_loss),
        cmocka_unit_test(test_recovers_the_subspace),
        cmocka_unit_test(test_round_trip_and_limits),
        cmocka_unit_test(test_stops_with_a_usable_result),
        cmocka_unit_test(test_unpleasant_data),
    };
    return cmocka_run_group_tests_name("methods_lsmie", tests, NULL, NULL);
}
