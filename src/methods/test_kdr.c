#include "methods/kdr_objective.h"
#include "methods/kernel_response.h"
#define METHOD "kdr"
#include "methods/test_kernel_help.h"

enum { N = 30, P = 4, D = 2 };

/* Tr[G_Y (G_Z + n epsilon I)^{-1}] with every matrix written out. */
static double textbook(const sn_problem *problem, const double *x, const double *b, double gamma,
                       double epsilon)
{
    int64_t n = problem->n;
    double value = 0.0;
    SN_BLOCK double *z = zeros(n * D), *ky = plain_response_gram(problem);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < D; j++)
            for (int64_t l = 0; l < P; l++) z[i * D + j] += x[i * P + l] * b[l * D + j];
    SN_BLOCK double *k = plain_gram(n, n, D, z, z, gamma), *g = centred(n, k), *gy = centred(n, ky);
    for (int64_t i = 0; i < n; i++) g[i * n + i] += (double)n * epsilon;
    SN_BLOCK double *inverse = matrix_power(n, g, 0.0, -1.0, 0.0);
    for (int64_t i = 0; i < n * n; i++) value += gy[i] * inverse[i];
    return value;
}

typedef struct fixture {
    sample s;
    sn_kernel_input input;
    double *f;
    int64_t rank;
    sn_kdr kdr;
    sn_workspace keep;
    double b[P * D];
} fixture;

/* landmarks 0: exact. */
static fixture make_fixture(int64_t classes, int64_t landmarks)
{
    fixture t = {.s = make_sample(N, P, classes, 1, 1)};
    t.input = (sn_kernel_input){
        .n = N, .p = P, .m = N, .exact = landmarks == 0, .x = t.s.wide, .centres = t.s.wide};
    if (landmarks > 0) t.input.m = landmarks;
    OK(sn_response_factor(&t.s.problem, SN_MEAN_DISTANCE, 1, &t.keep, &t.f, &t.rank));
    for (int64_t j = 0; j < t.rank; j++) {
        double mean = 0.0;
        for (int64_t i = 0; i < N; i++) mean += t.f[i * t.rank + j] / N;
        for (int64_t i = 0; i < N; i++) t.f[i * t.rank + j] -= mean;
    }
    const double b[] = {0.8, 0.1, -0.3, 0.7, 0.2, -0.4, 0.5, 0.3};
    memcpy(t.b, b, sizeof b);
    OK(sn_orthonormalise(P, D, t.b));
    return t;
}

static void free_fixture(fixture *t)
{
    sn_workspace_free(&t->keep);
    sample_free(&t->s);
}

TEST(test_value)
{
    for (int64_t classes = 0; classes <= 3; classes += 3) {
        for (int64_t landmarks = 0; landmarks <= N; landmarks += N) {
            SN_FREED_BY(free_fixture) fixture t = make_fixture(classes, landmarks);
            double value, expected = textbook(&t.s.problem, t.s.wide, t.b, 0.7, 1e-3);
            OK(sn_kdr_create(&t.input, D, 1e-3, t.rank, t.f, &t.keep, &t.kdr));
            OK(sn_kdr_value(&t.kdr, t.b, 0.7, &value, NULL));
            assert_true(fabs(value - expected) < 1e-8 * expected);
        }
    }
}

TEST(test_gradient)
{
    const int64_t landmarks[] = {0, 12, N};
    for (int way = 0; way < 3; way++) {
        SN_FREED_BY(free_fixture) fixture t = make_fixture(way == 1 ? 3 : 0, landmarks[way]);
        double value, gradient[P * D], below, above, step = 1e-6, largest = 0.0;
        OK(sn_kdr_create(&t.input, D, 1e-3, t.rank, t.f, &t.keep, &t.kdr));
        OK(sn_kdr_value(&t.kdr, t.b, 0.7, &value, gradient));
        for (int i = 0; i < P * D; i++) largest = fmax(largest, fabs(gradient[i]));
        for (int i = 0; i < P * D; i++) {
            double at = t.b[i];
            t.b[i] = at + step;
            OK(sn_kdr_value(&t.kdr, t.b, 0.7, &above, NULL));
            t.b[i] = at - step;
            OK(sn_kdr_value(&t.kdr, t.b, 0.7, &below, NULL));
            t.b[i] = at;
            assert_true(fabs((above - below) / (2.0 * step) - gradient[i]) < 1e-6 * largest);
        }
    }
}

TEST(test_some_of_the_rows)
{
    SN_FREED_BY(sample_free) sample s = make_sample(40, 3, 3, 0, 2);
    SN_FREED_BY(drop_result) sn_fit_result result;
    OK(fit(&s.problem, 1, &result, "rows=20 iterations=5"));
}

RUN_TESTS(NULL, NULL)
