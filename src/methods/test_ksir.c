#include "methods/test_kernel_help.h"

static const sn_method *method(void)
{
    return sn_method_find("ksir");
}

/* Scores by the definition for classes: explicit covariances, B^{-1/2} A B^{-1/2}, standardised on the n
 * rows. */
static double *textbook(const sn_problem *problem, const double *x, int64_t rows, double ridge, int64_t d)
{
    int64_t n = problem->n, p = problem->p;
    double s = plain_mean_distance(n, p, x), gamma = 1.0 / (2.0 * s * s);
    double *k = plain_gram(rows, n, p, x, x, gamma), *mean = zeros(n), *cov = zeros(n * n),
           *between = zeros(n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) mean[j] += k[i * n + j] / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t a = 0; a < n; a++)
            for (int64_t b = 0; b < n; b++)
                cov[a * n + b] += (k[i * n + a] - mean[a]) * (k[i * n + b] - mean[b]) / (double)n;
    for (int64_t c = 0; c < problem->outputs; c++) {
        double *slice = zeros(n), count = 0.0;
        for (int64_t i = 0; i < n; i++) count += problem->label[i] == c;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n && problem->label[i] == c; j++) slice[j] += k[i * n + j] / count;
        for (int64_t a = 0; a < n; a++)
            for (int64_t b = 0; b < n; b++)
                between[a * n + b] += count / (double)n * (slice[a] - mean[a]) * (slice[b] - mean[b]);
        free(slice);
    }
    double top = top_eigenvalue(n, cov);
    for (int64_t i = 0; i < n; i++) cov[i * n + i] += ridge * top;
    double *root = matrix_power(n, cov, -0.5, 0.0), *left = times(n, root, between),
           *m = times(n, left, root);
    double *values = zeros(n), *v = zeros(n * n), *scores = zeros(rows * d);
    OK(sn_eigh(n, m, values, v));
    double *b = times(n, root, v);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < d; j++)
            for (int64_t l = 0; l < n; l++) scores[i * d + j] += k[i * n + l] * b[l * n + j];
    standardise(n, rows, d, scores);
    double *all[] = {k, mean, cov, between, root, left, m, values, v, b};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    return scores;
}

TEST(test_textbook)
{
    enum { N = 40, ROWS = 50, D = 2 };
    SN_FREED_BY(free_sample) sample s = make_sample(ROWS, 4, 3, 0, 1);
    s.problem.n = N;
    double *expected = textbook(&s.problem, s.wide, ROWS, 1e-3, D), z[ROWS * D];
    const char *landmarks[] = {"none", "40"};
    for (int way = 0; way < 2; way++) {
        sn_fit_result result;
        OK(fit_with(method(), &s.problem, D, &result, "ridge", "1e-3", "landmarks", landmarks[way], NULL));
        OK(sn_kernel_map_scores(result.state, ROWS, s.wide, z));
        assert_same_scores(ROWS, D, expected, z, 1e-8);
        method()->free(result.state);
    }
    free(expected);
}

TEST(test_slices_of_a_number_are_classes)
{
    enum { N = 60 };
    SN_FREED_BY(free_sample)
    sample classes = make_sample(N, 3, 4, 0, 2), numbers = make_sample(N, 3, 0, 1, 2);
    for (int i = 0; i < N; i++) numbers.y[i] = classes.label[i];
    sn_fit_result one, two;
    double a[2 * N], b[2 * N];
    OK(fit_with(method(), &classes.problem, 2, &one, NULL));
    OK(fit_with(method(), &numbers.problem, 2, &two, NULL));
    OK(sn_kernel_map_scores(one.state, N, classes.wide, a));
    OK(sn_kernel_map_scores(two.state, N, classes.wide, b));
    for (int i = 0; i < 2 * N; i++) assert_true(fabs(a[i] - b[i]) < 1e-9);
    method()->free(one.state);
    method()->free(two.state);
}

TEST(test_rank_and_round_trip)
{
    SN_FREED_BY(free_sample) sample s = make_sample(50, 3, 0, 2, 3);
    sn_fit_result result;
    OK(fit_with(method(), &s.problem, 6, &result, "slices", "4", NULL));
    assert_int_equal(result.dim, 3);
    assert_non_null(strstr(last_message, "ksir: 3 directions exist"));
    check_round_trip(method(), &s, &result);
    method()->free(result.state);
    OK(fit_with(method(), &s.problem, 2, &result, "landmarks", "15", NULL));
    check_round_trip(method(), &s, &result);
    method()->free(result.state);
}

/* A link that is symmetric in x1 has no linear direction for SIR; kernel columns see x1^2. */
static double symmetric_link(int64_t n)
{
    SN_FREED_BY(free_sample) sample s = make_sample(n, 3, 0, 1, 4), fresh = make_sample(400, 3, 0, 1, 5);
    for (int64_t i = 0; i < n; i++) s.y[i] = pow(s.wide[i * 3], 2);
    sn_fit_result result;
    OK(fit_with(method(), &s.problem, 1, &result, "ridge", "1e-3", NULL));
    double z[400], zz = 0.0, tt = 0.0, zt = 0.0;
    OK(sn_kernel_map_scores(result.state, 400, fresh.wide, z));
    for (int64_t i = 0; i < 400; i++) {
        double truth = fabs(fresh.wide[i * 3]) - sqrt(2.0 / M_PI);
        zz += z[i] * z[i];
        tt += truth * truth;
        zt += z[i] * truth;
    }
    method()->free(result.state);
    return fabs(zt) / sqrt(zz * tt);
}

TEST(test_symmetric_link)
{
    double few = symmetric_link(60), many = symmetric_link(600);
    assert_true(many > few);
    assert_true(many > 0.85);
}

TEST(test_unpleasant_data)
{
    check_unpleasant(method());
    check_too_large(method());
}

RUN_TESTS(NULL, NULL)
