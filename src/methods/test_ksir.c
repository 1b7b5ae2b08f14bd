#define METHOD "ksir"
#include "methods/test_kernel_help.h"

/* Scores by the definition for classes: explicit covariances, B^{-1/2} A B^{-1/2}, standardised on the n
 * rows. */
static double *textbook(const sn_problem *problem, const double *x, int64_t rows, double ridge, int64_t d)
{
    int64_t n = problem->n, p = problem->p;
    double s = plain_distance(n, p, x, false), gamma = 1.0 / (2.0 * s * s);
    SN_BLOCK double *k = plain_gram(n, n, p, x, x, gamma), *mean = zeros(n), *cov = zeros(n * n),
                    *between = zeros(n * n);
    sn_column_means(n, n, k, mean);
    sn_subtract_row(n, n, mean, k);
    sn_syrk_tn(n, n, 1.0 / (double)n, k, 0.0, cov);
    for (int64_t c = 0; c < problem->outputs; c++) {
        SN_BLOCK double *slice = zeros(n);
        double count = 0.0;
        for (int64_t i = 0; i < n; i++) count += problem->label[i] == c;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n && problem->label[i] == c; j++) slice[j] += k[i * n + j] / count;
        sn_syrk_tn(n, 1, count / (double)n, slice, 1.0, between);
    }
    SN_BLOCK double *root = matrix_power(n, cov, ridge, -0.5, 0.0), *left = times(n, root, between),
                    *m = times(n, left, root);
    SN_BLOCK double *values = zeros(n), *v = zeros(n * n);
    OK(sn_eigh(n, m, values, v));
    SN_BLOCK double *b = times(n, root, v), *at_k = plain_gram(n, rows, p, x, x, gamma);
    return plain_scores(n, rows, d, at_k, b);
}

TEST(test_textbook)
{
    enum { N = 40, ROWS = 50, D = 2 };
    SN_FREED_BY(sample_free) sample s = make_sample(ROWS, 4, 3, 0, 1);
    s.problem.n = N;
    SN_BLOCK double *expected = textbook(&s.problem, s.wide, ROWS, 1e-3, D);
    assert_fits_score(&s, ROWS, D, expected, "ridge=1e-3");
}

RUN_TESTS(NULL, NULL)
