/* pca, sir, save, dr and phd against other software, and the laws they obey exactly. */
#include "methods/golden/linear.h"
#include "methods/lasso.h"
#include "methods/test_support.h"

static sample golden_sample(void)
{
    sample data = sample_normal(GOLDEN_N, GOLDEN_P, 1, 1);
    for (int i = 0; i < GOLDEN_N * GOLDEN_P; i++) data.x[i] = (float)golden_x[i];
    memcpy(data.y, golden_y, sizeof golden_y);
    return data;
}

static void to_classes(sample *data)
{
    data->label = sn_calloc(GOLDEN_N, sizeof(int32_t));
    assert_non_null(data->label);
    for (int i = 0; i < GOLDEN_N; i++) data->label[i] = (int32_t)golden_label[i];
    data->problem.task = SN_CLASSIFICATION;
    data->problem.outputs = GOLDEN_CLASSES;
    data->problem.label = data->label;
    data->problem.y = NULL;
}

static void check(const char *method, const sn_problem *problem, const char *options, const double *direction,
                  int64_t n_values, const double *value)
{
    sn_linear_map *map = fit_map(method, problem, GOLDEN_D, options);
    assert_int_equal(map->dim, GOLDEN_D);
    unit_columns(GOLDEN_P, GOLDEN_D, map->direction);
    assert_true(largest_gap(GOLDEN_P * GOLDEN_D, map->direction, direction) < 1e-8);
    assert_int_equal(map->n_values, GOLDEN_P);
    assert_true(largest_gap(n_values, map->value, value) < 1e-10);
    sn_linear_map_free(map);
}

static void pca_is_that_of_scikit_learn(void **unused)
{
    (void)unused;
    sample data = golden_sample();
    sn_linear_map *map = fit_map("pca", &data.problem, 3, "");
    assert_true(largest_gap(GOLDEN_P * 3, map->direction, golden_pca_component) < 1e-12);
    assert_true(largest_gap(3, map->value, golden_pca_variance) < 1e-10);
    float z[GOLDEN_N * 3];
    assert_int_equal(sn_linear_map_transform(map, data.x, GOLDEN_N, NULL, z), STONET_OK);
    for (int i = 0; i < GOLDEN_N * 3; i++)
        assert_true(fabs((double)z[i] - golden_pca_score[i]) < 1e-6 * (1.0 + fabs(golden_pca_score[i])));
    sn_linear_map_free(map);
    sample_free(&data);
}

static void directions_are_those_of_statsmodels_and_the_textbook(void **unused)
{
    (void)unused;
    sample data = golden_sample();
    check("sir", &data.problem, "slices=6", golden_sir_direction, GOLDEN_P, golden_sir_value);
    check("save", &data.problem, "slices=6", golden_save_direction, GOLDEN_P, golden_save_value);
    check("dr", &data.problem, "slices=6", golden_dr_direction, GOLDEN_P, golden_dr_value);
    check("phd", &data.problem, "", golden_phd_residual_direction, 0, NULL);
    check("phd", &data.problem, "response=raw", golden_phd_raw_direction, 0, NULL);
    to_classes(&data);
    check("save", &data.problem, "", golden_class_save_direction, GOLDEN_P, golden_class_save_value);
    check("dr", &data.problem, "", golden_class_dr_direction, GOLDEN_P, golden_class_dr_value);
    sample_free(&data);
}

/* Every row is an anchor in the slow version. */
static void opg_and_mave_are_the_slow_ones(void **unused)
{
    (void)unused;
    sample data = golden_sample();
    check("opg", &data.problem, "anchors=120", golden_opg_direction, GOLDEN_P, golden_opg_value);
    double distance = recovery("mave", &data.problem, GOLDEN_D, "anchors=120", golden_mave_direction);
    assert_true(distance < 1e-7);
    sample_free(&data);
}

/* The lasso in covariance form, on the moments of the golden data. */
static void lasso_is_that_of_scikit_learn(void **unused)
{
    (void)unused;
    double mean[GOLDEN_P] = {0}, gram[GOLDEN_P * GOLDEN_P] = {0}, c[GOLDEN_P] = {0}, slope[GOLDEN_P];
    for (int i = 0; i < GOLDEN_N * GOLDEN_P; i++) mean[i % GOLDEN_P] += golden_x[i] / GOLDEN_N;
    for (int i = 0; i < GOLDEN_N; i++) {
        for (int j = 0; j < GOLDEN_P; j++) {
            double xj = golden_x[i * GOLDEN_P + j] - mean[j];
            c[j] += xj * golden_y[i] / GOLDEN_N;
            for (int k = 0; k < GOLDEN_P; k++)
                gram[j * GOLDEN_P + k] += xj * (golden_x[i * GOLDEN_P + k] - mean[k]) / GOLDEN_N;
        }
    }
    double small[GOLDEN_P] = {0}, large[GOLDEN_P] = {1, -1, 1, -1, 1};
    sn_lasso(GOLDEN_P, gram, c, 0.01, 1e-14, 100000, small, slope);
    assert_true(largest_gap(GOLDEN_P, small, golden_lasso_small) < 1e-7);
    sn_lasso(GOLDEN_P, gram, c, 0.3, 1e-14, 100000, large, slope);
    assert_true(largest_gap(GOLDEN_P, large, golden_lasso_large) < 1e-7);
}

static void sir_for_two_classes_is_the_discriminant(void **unused)
{
    (void)unused;
    sample data = golden_sample();
    to_classes(&data);
    for (int i = 0; i < GOLDEN_N; i++) data.label[i] = data.label[i] > 0;
    data.problem.outputs = 2;
    heard messages;
    sn_fit_result result;
    assert_int_equal(fit_with("sir", &data.problem, 4, "", &messages, &result), STONET_OK);
    assert_int_equal(result.dim, 1);
    assert_int_equal(messages.warnings, 1);
    assert_non_null(strstr(messages.last, "1 direction"));
    sn_linear_map *map = result.state;
    unit_columns(GOLDEN_P, 1, map->direction);
    assert_true(largest_gap(GOLDEN_P, map->direction, golden_lda_direction) < 1e-8);
    sn_linear_map_free(map);
    sample_free(&data);
}

/* The first dim scores of a method on data, in double. */
static void scores(const char *method, const sn_problem *problem, int64_t dim, double *z)
{
    sn_linear_map *map = fit_map(method, problem, dim, "");
    for (int64_t i = 0; i < problem->n; i++) {
        for (int64_t k = 0; k < dim; k++) {
            z[i * dim + k] = 0.0;
            for (int64_t j = 0; j < problem->p; j++)
                z[i * dim + k] +=
                    ((double)problem->x[i * problem->p + j] - map->centre[j]) * map->direction[j * dim + k];
        }
    }
    sn_linear_map_free(map);
    /* the sign convention is on the coefficients, which an affine map changes */
    for (int64_t k = 0; k < dim; k++) {
        double sign = z[k] < 0.0 ? -1.0 : 1.0;
        for (int64_t i = 0; i < problem->n; i++) z[i * dim + k] *= sign;
    }
}

/* x -> x A + b leaves the scores of the whitening methods alone, and the scores are white. */
static void affine_maps_do_not_change_the_scores(void **unused)
{
    (void)unused;
    sample data = golden_sample();
    sample moved = golden_sample();
    /* a triangular map with powers of two is exact up to one rounding */
    for (int i = 0; i < GOLDEN_N; i++) {
        float *row = moved.x + i * GOLDEN_P;
        row[0] = 4.0f * row[0] - 2.0f * row[3];
        row[1] = 0.5f * row[1] + row[2];
        row[4] = row[4] + 8.0f;
    }
    const char *methods[] = {"sir", "save", "dr", "phd"};
    for (int m = 0; m < 4; m++) {
        double before[GOLDEN_N * 2], after[GOLDEN_N * 2], gram[4];
        scores(methods[m], &data.problem, 2, before);
        scores(methods[m], &moved.problem, 2, after);
        assert_true(largest_gap(GOLDEN_N * 2, before, after) < 1e-4); /* float rounding of the moved x */
        sn_syrk_tn(2, GOLDEN_N, 1.0 / GOLDEN_N, before, 0.0, gram);
        assert_true(fabs(gram[0] - 1) < 1e-10 && fabs(gram[3] - 1) < 1e-10 && fabs(gram[1]) < 1e-10);
    }
    sample_free(&data);
    sample_free(&moved);
}

static void slicing_methods_see_only_the_order_of_y(void **unused)
{
    (void)unused;
    sample data = golden_sample();
    const char *methods[] = {"sir", "save", "dr", "lasso-sir"};
    for (int m = 0; m < 4; m++) {
        sn_linear_map *plain = fit_map(methods[m], &data.problem, 2, "");
        sample bent = golden_sample();
        for (int i = 0; i < GOLDEN_N; i++) bent.y[i] = exp(bent.y[i]) + pow(bent.y[i], 3);
        sn_linear_map *other = fit_map(methods[m], &bent.problem, 2, "");
        assert_memory_equal(plain->direction, other->direction, GOLDEN_P * 2 * sizeof(double));
        sn_linear_map_free(plain);
        sn_linear_map_free(other);
        sample_free(&bent);
    }
    sample_free(&data);
}

/* Sum of p_h over slices of anything with k = 0 left: T_0 is n times the trace, and so on down to 0. */
static void dimension_tests(void **unused)
{
    (void)unused;
    sample data = golden_sample();
    sn_linear_map *map = fit_map("sir", &data.problem, 1, "slices=6");
    assert_int_equal(map->n_tests, 5);
    double tail = map->value[3] + map->value[4];
    assert_true(fabs(map->test[6] - GOLDEN_N * tail) < 1e-9);
    assert_true(map->test[7] == (5 - 3) * (6 - 3 - 1));
    sn_linear_map_free(map);
    map = fit_map("save", &data.problem, 1, "slices=6");
    double trace = 0.0;
    for (int k = 0; k < GOLDEN_P; k++) trace += map->value[k];
    assert_true(fabs(map->test[0] - 0.5 * GOLDEN_N * trace) < 1e-9); /* sum_h p_h |I - V_h|^2 = tr M */
    assert_true(map->test[1] == 5 * 15);
    for (int k = 1; k < GOLDEN_P; k++) assert_true(map->test[2 * k] < map->test[2 * k - 2]);
    sn_linear_map_free(map);
    map = fit_map("phd", &data.problem, 1, "");
    assert_int_equal(map->n_tests, GOLDEN_P);
    assert_true(map->test[1] == 15 && map->test[9] == 1);
    sn_linear_map_free(map);
    sample_free(&data);
}

static void several_targets_and_many_classes(void **unused)
{
    (void)unused;
    sample data = sample_normal(400, 6, 2, 5);
    for (int64_t i = 0; i < 400; i++) {
        data.y[2 * i] = data.x[6 * i];
        data.y[2 * i + 1] = data.x[6 * i + 1] + 0.5 * data.x[6 * i + 2];
    }
    sample_scale_y(&data);
    double truth[12] = {1, 0, 0, 1, 0, 0.5};
    assert_true(recovery("sir", &data.problem, 2, "slices=16", truth) < 0.2);
    assert_true(recovery("dr", &data.problem, 2, "slices=16", truth) < 0.2);
    assert_true(recovery("save", &data.problem, 2, "slices=16", truth) < 0.3);
    sample_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pca_is_that_of_scikit_learn),
        cmocka_unit_test(directions_are_those_of_statsmodels_and_the_textbook),
        cmocka_unit_test(opg_and_mave_are_the_slow_ones),
        cmocka_unit_test(lasso_is_that_of_scikit_learn),
        cmocka_unit_test(sir_for_two_classes_is_the_discriminant),
        cmocka_unit_test(affine_maps_do_not_change_the_scores),
        cmocka_unit_test(slicing_methods_see_only_the_order_of_y),
        cmocka_unit_test(dimension_tests),
        cmocka_unit_test(several_targets_and_many_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
