/* pls against textbook versions that deflate the rows, and the laws it obeys. */
#include "methods/test_support.h"

/* Columns that lean on each other, and m responses by some of them. */
static sample make(int64_t n, int64_t p, int64_t m)
{
    sample data = sample_normal(n, p, m, 31);
    sn_random random = sn_random_from(8, SN_STREAM_TEST, 2);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 1; j < p; j++) data.x[i * p + j] += 0.6F * data.x[i * p + j - 1] + 0.5F;
        for (int64_t k = 0; k < m; k++)
            data.y[i * m + k] = (double)data.x[i * p + k] - 0.5 * (double)data.x[i * p + k + 2] +
                                (double)(k + 1) * 0.3 * sn_random_normal(&random);
    }
    sample_scale_y(&data);
    return data;
}

/* What the slow versions begin with: centred columns of both. */
static void centred(const sn_problem *problem, double *x, double *y)
{
    const int64_t n = problem->n, p = problem->p, m = problem->outputs;
    for (int64_t j = 0; j < p + m; j++) {
        double mean = 0.0, total = 0.0;
        for (int64_t i = 0; i < n; i++) {
            const double value = j < p ? (double)problem->x[i * p + j] : problem->y[i * m + j - p];
            mean += sn_problem_weight(problem, i) * value;
            total += sn_problem_weight(problem, i);
        }
        for (int64_t i = 0; i < n; i++) {
            const double root = sqrt(sn_problem_weight(problem, i));
            if (j < p)
                x[i * p + j] = root * ((double)problem->x[i * p + j] - mean / total);
            else
                y[i * m + j - p] = root * (problem->y[i * m + j - p] - mean / total);
        }
    }
}

/* The scores by the definition of SIMPLS, n x k: r has the largest covariance of X r with Y among all with X
   r uncorrelated with the scores before. Those are r = (I - L (L'L)^{-1} L') v, L = X'T. */
static void simpls_scores(int64_t n, int64_t p, int64_t m, int64_t k, const double *x, const double *y,
                          double *score)
{
    SN_BLOCK double *s = test_zeros(p * m, sizeof *s), *u = test_zeros(p * m, sizeof *u),
                    *r = test_zeros(p, sizeof *r), *t = test_zeros(n, sizeof *t),
                    *load = test_zeros(p * k, sizeof *load), *value = test_zeros(m, sizeof *value);
    for (int64_t a = 0; a < k; a++) {
        sn_multiply(sn_turned(x, n, p), sn_as(y, n, m), s);
        if (a > 0) {
            SN_BLOCK double *basis = test_zeros(p * a, sizeof *basis), *in = test_zeros(a * m, sizeof *in);
            sn_first_columns(p, k, load, a, basis);
            OK(sn_orthonormalise(p, a, basis));
            sn_multiply(sn_turned(basis, p, a), sn_as(s, p, m), in);
            sn_gemm(-1.0, sn_as(basis, p, a), sn_as(in, a, m), 1.0, s);
        }
        OK(sn_svd(p, m, s, u, value, NULL));
        for (int64_t j = 0; j < p; j++) r[j] = u[j * m];
        sn_gemv(1.0, sn_as(x, n, p), r, 0.0, t);
        const double length = sn_norm(n, t);
        for (int64_t i = 0; i < n; i++) score[i * k + a] = t[i] /= length;
        sn_gemv(1.0, sn_turned(x, n, p), t, 0.0, r);
        for (int64_t j = 0; j < p; j++) load[j * k + a] = r[j];
    }
}

/* Z of the method beside the scores of a slow version, column by column and up to signs. */
static void check_scores(const sn_problem *problem, int64_t k)
{
    const int64_t n = problem->n, p = problem->p, m = problem->outputs;
    SN_BLOCK double *x = test_zeros(n * p, sizeof *x), *y = test_zeros(n * m, sizeof *y),
                    *score = test_zeros(n * k, sizeof *score), *z = test_zeros(n * k, sizeof *z);
    SN_AUTO(sn_linear_map) *map = fit_map("pls", problem, k, "");
    assert_int_equal(map->dim, k);
    centred(problem, x, y);
    sn_gemm(1.0 / sqrt(sn_problem_total(problem)), sn_as(x, n, p), sn_as(map->direction, p, k), 0.0, z);
    simpls_scores(n, p, m, k, x, y, score);
    assert_same_scores(n, k, score, z, 1e-8);
    for (int64_t a = 0; a < k; a++) {
        double explained = 0.0, squares = 0.0; /* of the scores in the response */
        for (int64_t c = 0; c < m; c++) {
            double product = 0.0;
            for (int64_t i = 0; i < n; i++) {
                product += score[i * k + a] * y[i * m + c];
                squares += y[i * m + c] * y[i * m + c];
            }
            explained += product * product;
        }
        assert_true(fabs(map->value[a] - explained / squares) < 1e-10);
    }
}

TEST(scores_are_those_of_the_textbook)
{
    static const int64_t sizes[][3] = {{50, 8, 1}, {20, 40, 1}, {50, 8, 3}, {20, 40, 3}};
    for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
        SN_FREED_BY(sample_free) sample data = make(sizes[c][0], sizes[c][1], sizes[c][2]);
        check_scores(&data.problem, 5);
        float weight[50];
        for (int i = 0; i < 50; i++) weight[i] = 0.5F + (float)(i % 3);
        data.problem.weight = weight;
        check_scores(&data.problem, 5);
    }
}

TEST(components_are_nested_and_all_of_them_are_least_squares)
{
    enum { N = 60, P = 6 };
    SN_FREED_BY(sample_free) sample data = make(N, P, 1);
    SN_AUTO(sn_linear_map) *two = fit_map("pls", &data.problem, 2, ""),
                           *all = fit_map("pls", &data.problem, P, "");
    double explained = 0.0;
    for (int j = 0; j < P; j++)
        for (int a = 0; a < 2; a++) assert_true(two->direction[j * 2 + a] == all->direction[j * P + a]);
    for (int a = 0; a < P; a++) explained += all->value[a];
    double x[N * P], y[N], left[N], gram[P * P], b[P];
    centred(&data.problem, x, y);
    memcpy(left, y, sizeof left);
    sn_syrk_tn(P, N, 1.0, x, 0.0, gram);
    sn_gemv(1.0, sn_turned(x, N, P), y, 0.0, b);
    OK(sn_solve_spd(P, gram, 1, b));
    sn_gemv(-1.0, sn_as(x, N, P), b, 1.0, left);
    assert_true(fabs(explained - (1.0 - sn_dot(N, left, left) / sn_dot(N, y, y))) < 1e-10);
}

TEST(classes_are_their_indicators)
{
    static const double cut[] = {-0.4, 0.5};
    SN_FREED_BY(sample_free) sample data = make(60, 6, 1), as_numbers = make(60, 6, 3);
    sample_cut_y(&data, 3, cut);
    for (int i = 0; i < 60; i++)
        for (int c = 0; c < 3; c++) as_numbers.y[i * 3 + c] = data.label[i] == c;
    SN_AUTO(sn_linear_map) *classes = fit_map("pls", &data.problem, 4, ""),
                           *numbers = fit_map("pls", &as_numbers.problem, 4, "");
    assert_true(largest_gap(6 * 4, classes->direction, numbers->direction) < 1e-9);
}

TEST(what_cannot_be_had_is_said)
{
    SN_FREED_BY(sample_free) sample data = make(30, 4, 1);
    heard messages;
    sn_fit_result result;
    OK(fit_with("pls", &data.problem, 9, "", &messages, &result));
    assert_int_equal(result.dim, 4);
    assert_int_equal(messages.warnings, 1);
    sn_linear_map_free(result.state);
    for (int i = 0; i < 30; i++) data.y[i] = 0.0;
    assert_says(fit_with("pls", &data.problem, 1, "", NULL, &result), STONET_ERROR_DATA,
                "no column of x varies with the response");
    for (int i = 0; i < 30 * 4; i++) data.x[i] = 1.0F;
    assert_says(fit_with("pls", &data.problem, 1, "", NULL, &result), STONET_ERROR_DATA, "constant");
}

RUN_TESTS(NULL, NULL)
