/* sir with powers of the response: by its definition, and the law of its tests. */
#include "methods/spectral.h"
#include "methods/test_support.h"

enum { P = 5, N = 300 };

static sample two_index(int64_t n, uint64_t seed)
{
    sample data = sample_normal(n, P, 1, seed);
    sn_random random = sn_random_from(seed, SN_STREAM_TEST, 1);
    for (int64_t i = 0; i < n; i++) {
        const double a = (double)data.x[i * P], b = (double)data.x[i * P + 1];
        data.y[i] = a / (0.5 + (b + 1.5) * (b + 1.5)) + 0.2 * sn_random_normal(&random);
    }
    sample_scale_y(&data);
    return data;
}

/* The eigenvalues are the squared canonical correlations of x and (y, y^2, y^3): the roots of
   S_xx^-1 S_xf S_ff^-1 S_fx, worked out here from the moments. */
TEST(eigenvalues_are_canonical_correlations)
{
    SN_FREED_BY(sample_free) sample data = two_index(N, 3);
    enum { K = 3, ALL = P + K };
    double all[N * ALL], mean[ALL] = {0}, s[ALL * ALL], xx[P * P], xf[P * K], ff[K * K], solved[K * P],
                         product[P * P], trace = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < P; j++) all[i * ALL + j] = (double)data.x[i * P + j];
        for (int k = 0; k < K; k++) all[i * ALL + P + k] = pow(data.y[i], k + 1);
        for (int j = 0; j < ALL; j++) mean[j] += all[i * ALL + j] / N;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < ALL; j++) all[i * ALL + j] -= mean[j];
    sn_syrk_tn(ALL, N, 1.0 / N, all, 0.0, s);
    for (int a = 0; a < P; a++) {
        for (int b = 0; b < P; b++) xx[a * P + b] = s[a * ALL + b];
        for (int k = 0; k < K; k++) xf[a * K + k] = s[a * ALL + P + k];
    }
    for (int a = 0; a < K; a++)
        for (int b = 0; b < K; b++) ff[a * K + b] = s[(P + a) * ALL + P + b];
    sn_transpose(P, K, xf, solved);
    OK(sn_solve_spd(K, ff, P, solved));
    sn_multiply(sn_as(xf, P, K), sn_as(solved, K, P), product);
    OK(sn_solve_spd(P, xx, P, product));
    for (int j = 0; j < P; j++) trace += product[j * P + j];
    SN_AUTO(sn_linear_map) *map = fit_map("sir", &data.problem, 2, "basis=poly");
    assert_int_equal(map->n_values, K);
    assert_true(fabs(map->value[0] + map->value[1] + map->value[2] - trace) < 1e-6);
    assert_true(map->value[0] < 1 && map->value[2] > 0);
    /* T_0 = n (l_1 + l_2 + l_3) with p K degrees of freedom, T_1 with (p - 1)(K - 1) */
    assert_int_equal(map->n_tests, K);
    assert_true(fabs(map->test[0] - N * trace) < 1e-3);
    assert_true(map->test[1] == P * K && map->test[3] == (P - 1) * (K - 1));
}

/* Two values of y have one function; classes have slices whatever the basis is called. */
TEST(few_values_have_few_functions)
{
    SN_FREED_BY(sample_free) sample data = two_index(N, 5);
    for (int64_t i = 0; i < N; i++) data.y[i] = data.y[i] > 0;
    sample_scale_y(&data);
    SN_AUTO(sn_linear_map) *map = fit_map("sir", &data.problem, 1, "basis=poly"),
                           *slices = fit_map("sir", &data.problem, 1, "");
    assert_int_equal(map->n_values, 1);
    assert_true(fabs(map->value[0] - slices->value[0]) < 1e-9);
    for (int64_t i = 0; i < N; i++) data.y[i] = 0;
    sn_fit_result result;
    assert_int_equal(fit_with("sir", &data.problem, 1, "basis=poly", NULL, &result), STONET_ERROR_DATA);
}

/* The weighted statistics of the same data by slices and by powers of a y with three values are the same:
   both span the indicators. */
TEST(weighted_tests_agree_with_those_of_slices)
{
    SN_FREED_BY(sample_free) sample data = two_index(N, 6);
    for (int64_t i = 0; i < N; i++) data.y[i] = (data.y[i] > -0.4) + 1.7 * (data.y[i] > 0.5);
    sample_scale_y(&data);
    const sn_method *sir = sn_method_find("sir");
    sn_tests by[2] = {{0}, {0}};
    for (int way = 0; way < 2; way++) {
        SN_WORKSPACE(scratch);
        SN_AUTO(sn_settings) *settings = settings_of(sir, way == 0 ? "basis=slices" : "basis=poly");
        sn_solved solved;
        OK(sn_candidate_solve(sir, &data.problem, settings, NULL, &scratch, &solved));
        OK(sir->candidate->general(&solved.sample, settings, &solved.matrix, &solved.eigen, &by[way]));
    }
    assert_int_equal(by[0].count, 2);
    assert_int_equal(by[1].count, 2);
    for (int k = 0; k < 4; k++)
        if (!(fabs(by[0].test[k] - by[1].test[k]) < 1e-6 * by[0].test[k]))
            fail_msg("%d: %.9g by slices, %.9g by powers", k, by[0].test[k], by[1].test[k]);
}

RUN_TESTS(NULL, NULL)
