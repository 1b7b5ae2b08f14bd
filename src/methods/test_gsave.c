#include "methods/gsave_middle.h"
#define METHOD "gsave"
#include "methods/test_kernel_help.h"

/* P by its definition with k = [1'; K_Y], ridge for numbers and Moore-Penrose for classes. */
static double *plain_smoother(const sn_problem *problem, double ey)
{
    int64_t n = problem->n, m = n + 1;
    SN_BLOCK double *ky = plain_response_gram(problem), *k = zeros(m * n);
    for (int64_t j = 0; j < n; j++) {
        k[j] = 1.0;
        for (int64_t i = 0; i < n; i++) k[(i + 1) * n + j] = ky[i * n + j];
    }
    SN_BLOCK double *kk = product(sn_as(k, m, n), sn_turned(k, m, n));
    const int scalar = problem->task == SN_REGRESSION;
    SN_BLOCK double *inverse = matrix_power(m, kk, scalar ? ey : 0.0, -1.0, scalar ? 0.0 : 1e-9),
                    *half = product(sn_as(inverse, m, m), sn_as(k, m, n));
    return product(sn_turned(k, m, n), sn_as(half, m, n));
}

/* Mid as the sum over rows of squared matrices. */
static double *plain_middle(const sn_problem *problem, double ey)
{
    int64_t n = problem->n;
    SN_BLOCK double *p = plain_smoother(problem, ey), *q = centring(n);
    double *mid = zeros(n * n);
    for (int64_t j = 0; j < n; j++) {
        SN_BLOCK double *lambda = zeros(n * n);
        for (int64_t a = 0; a < n; a++)
            for (int64_t b = 0; b < n; b++)
                lambda[a * n + b] = (a == b ? p[a * n + j] : 0.0) - p[a * n + j] * p[b * n + j];
        SN_BLOCK double *of_j = centred(n, lambda), *term = zeros(n * n);
        for (int64_t i = 0; i < n * n; i++) term[i] = q[i] / (double)n - of_j[i];
        SN_BLOCK double *square = times(n, term, term);
        for (int64_t i = 0; i < n * n; i++) mid[i] += square[i];
    }
    return mid;
}

static void check_middle(int64_t classes, int64_t targets)
{
    enum { N = 30 };
    SN_FREED_BY(sample_free) sample s = make_sample(N, 3, classes, targets, 1);
    SN_BLOCK double *mid = plain_middle(&s.problem, 0.05), *q = centring(N), *out = zeros(N * N);
    SN_WORKSPACE(scratch);
    sn_middle *middle = NULL;
    OK(sn_middle_create(&s.problem, 0.05, 1, &scratch, &middle));
    OK(sn_middle_apply(middle, N, q, out)); /* Mid Q = Mid */
    for (int64_t i = 0; i < N * N; i++) assert_true(fabs(out[i] - mid[i]) < 1e-11);
}

TEST(test_middle)
{
    check_middle(3, 0);
    check_middle(0, 1);
    check_middle(0, 2);
}

/* Scores by the definition with the symmetric root, centred by the training means. */
static double *textbook(const sn_problem *problem, const double *x, int64_t rows, double ex, double ey,
                        int64_t d)
{
    int64_t n = problem->n, p = problem->p;
    double s = plain_distance(n, p, x, false), gamma = 1.0 / (2.0 * s * s);
    SN_BLOCK double *k = plain_gram(n, rows, p, x, x, gamma), *own = plain_gram(n, n, p, x, x, gamma),
                    *q = centring(n);
    SN_BLOCK double *kq = times(n, own, q), *kqk = times(n, kq, own);
    SN_BLOCK double *root = matrix_power(n, kqk, ex, -0.5, 0.0), *kk = times(n, root, kq),
                    *mid = plain_middle(problem, ey);
    SN_BLOCK double *left = times(n, kk, mid), *v = vectors_of_product(n, left, kk), *b = times(n, root, v);
    return plain_scores(n, rows, d, k, b);
}

static void check_textbook(int64_t classes, int64_t targets, int64_t d)
{
    enum { N = 40, ROWS = 50, P = 3 };
    SN_FREED_BY(sample_free) sample s = make_sample(ROWS, P, classes, targets, 2);
    s.problem.n = N;
    SN_BLOCK double *expected = textbook(&s.problem, s.wide, ROWS, 0.02, 0.1, d);
    assert_fits_score(&s, ROWS, d, expected, "ex=0.02 ey=0.1");
}

TEST(test_textbook)
{
    check_textbook(3, 0, 3);
    check_textbook(0, 1, 3);
    check_textbook(0, 2, 2);
}

RUN_TESTS(NULL, NULL)
