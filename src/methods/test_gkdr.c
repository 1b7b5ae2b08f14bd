#include "methods/gkdr.h"
#include "methods/linear_map.h"
#define METHOD "gkdr"
#include "methods/test_kernel_help.h"

/* Leading eigenvectors (p x d) of (1/n) sum_i H_i' F H_i with every matrix written out. */
static double *textbook(const sn_problem *problem, const double *x, double epsilon, int64_t d)
{
    int64_t n = problem->n, p = problem->p;
    double s = plain_distance(n, p, x, true);
    SN_BLOCK double *k = plain_gram(n, n, p, x, x, 1.0 / (2.0 * s * s)), *ky = NULL;
    if (problem->task == SN_REGRESSION) {
        double sy = plain_distance(n, problem->outputs, problem->y, true);
        ky = plain_gram(n, n, problem->outputs, problem->y, problem->y, 1.0 / (2.0 * sy * sy));
    } else {
        ky = plain_response_gram(problem);
    }
    SN_BLOCK double *ridged = zeros(n * n), *m = zeros(p * p), *values = zeros(p), *v = zeros(p * p);
    double *out = zeros(p * d);
    memcpy(ridged, k, sizeof(double[n * n]));
    sn_add_diagonal(n, (double)n * epsilon, ridged);
    SN_BLOCK double *inverse = matrix_power(n, ridged, 0.0, -1.0, 0.0), *left = times(n, inverse, ky),
                    *f = times(n, left, inverse);
    for (int64_t i = 0; i < n; i++) {
        SN_BLOCK double *h = zeros(n * p);
        for (int64_t j = 0; j < n; j++)
            for (int64_t a = 0; a < p; a++)
                h[j * p + a] = k[j * n + i] * (x[j * p + a] - x[i * p + a]) / (s * s);
        SN_BLOCK double *fh = product(sn_as(f, n, n), sn_as(h, n, p));
        sn_gemm(1.0 / (double)n, sn_turned(h, n, p), sn_as(fh, n, p), 1.0, m);
    }
    OK(sn_eigh(p, m, values, v));
    sn_first_columns(p, p, v, d, out);
    return out;
}

static void check_textbook(int64_t classes, int64_t targets)
{
    enum { N = 40, P = 4, D = 2 };
    SN_FREED_BY(sample_free) sample s = make_sample(N, P, classes, targets, 1);
    SN_BLOCK double *expected = textbook(&s.problem, s.wide, 1e-3, D);
    const char *landmarks[] = {"none", "40"};
    for (int way = 0; way < 2; way++) {
        SN_FREED_BY(drop_result) sn_fit_result result;
        OK(fit(&s.problem, D, &result, "epsilon=1e-3 landmarks=%s", landmarks[way]));
        const sn_linear_map *map = result.state;
        assert_same_scores(P, D, expected, map->direction, 1e-8);
    }
}

TEST(test_textbook)
{
    check_textbook(3, 0);
    check_textbook(0, 1);
    check_textbook(0, 2);
}

RUN_TESTS(NULL, NULL)
