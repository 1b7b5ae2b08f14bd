/* Matrices of several tiles and blocks: the same numbers as the definitions, the same bits for any threads.
 */
#include <omp.h>

#include "base/test_kit.h"
#include "math/linalg.h"
#include "math/tiles.h"

enum { MOST_THREADS = 3 };

static double *numbers(int64_t count, uint64_t seed)
{
    double *a = test_zeros(count, sizeof *a);
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        a[i] = (double)(seed >> 11) / 9007199254740992.0 - 0.5;
    }
    return a;
}

static double *copy(int64_t count, const double *a)
{
    double *b = test_zeros(count, sizeof *b);
    memcpy(b, a, (size_t)count * sizeof *b);
    return b;
}

static void assert_near(int64_t count, const double *a, const double *b)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) < 1e-11)) fail_msg("entry %lld: %.17g, %.17g", (long long)i, a[i], b[i]);
}

/* Calls work(threads) -> a result of `count` numbers, with 1, 2 and 3 threads; the first is the caller's. */
static double *same_for_any_threads(double *(*work)(void *), void *context, int64_t count)
{
    omp_set_num_threads(1);
    double *first = work(context);
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        omp_set_num_threads(threads);
        SN_BLOCK double *result = work(context);
        assert_int_equal(omp_get_max_threads(), threads); /* left as it was */
        assert_memory_equal(first, result, (size_t)count * sizeof *first);
    }
    omp_set_num_threads(1);
    return first;
}

TEST(cuts)
{
    const int64_t lengths[] = {1, 7, 255, 256, 257, 511, 784, 1024, 1025, 4096, 20001};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        sn_cut cut = sn_cut_side(lengths[l]);
        int64_t sum = 0;
        for (int64_t i = 0; i < cut.count; i++) {
            assert_true(sn_cut_part(&cut, i) > 0 && sn_cut_part(&cut, i) <= cut.size);
            assert_true(i == cut.count - 1 || sn_cut_part(&cut, i) == cut.size);
            sum += sn_cut_part(&cut, i);
        }
        assert_int_equal(sum, lengths[l]);
        assert_true(cut.size <= 1024 && (lengths[l] <= 256) == (cut.count == 1));
    }
}

typedef struct gemm {
    bool ta, tb;
    int64_t m, n, k;
    const double *a, *b, *start;
} gemm;

static double *run_gemm(void *context)
{
    gemm *g = context;
    double *c = copy(g->m * g->n, g->start);
    sn_gemm(2.0, g->ta ? sn_turned(g->a, g->k, g->m) : sn_as(g->a, g->m, g->k),
            g->tb ? sn_turned(g->b, g->n, g->k) : sn_as(g->b, g->k, g->n), -0.5, c);
    return c;
}

TEST(products)
{
    const int64_t shapes[][3] = {{7, 5, 9}, {530, 600, 37}, {531, 9, 700}, {9, 523, 700}};
    for (int s = 0; s < 4; s++) {
        for (int way = 0; way < 4; way++) {
            gemm g = {way & 1, way & 2, shapes[s][0], shapes[s][1], shapes[s][2], NULL, NULL, NULL};
            SN_BLOCK double *a = numbers(g.m * g.k, 1), *b = numbers(g.k * g.n, 2),
                            *start = numbers(g.m * g.n, 3), *expected = copy(g.m * g.n, start);
            g.a = a;
            g.b = b;
            g.start = start;
            for (int64_t i = 0; i < g.m; i++) {
                for (int64_t j = 0; j < g.n; j++) {
                    double sum = 0.0;
                    for (int64_t l = 0; l < g.k; l++)
                        sum += (g.ta ? a[l * g.m + i] : a[i * g.k + l]) *
                               (g.tb ? b[j * g.k + l] : b[l * g.n + j]);
                    expected[i * g.n + j] = 2.0 * sum - 0.5 * start[i * g.n + j];
                }
            }
            SN_BLOCK double *c = same_for_any_threads(run_gemm, &g, g.m * g.n);
            assert_near(g.m * g.n, c, expected);
        }
    }
}

typedef struct square {
    int64_t n, k;
    const double *a; /* k x n, or n x n */
    const double *l, *b;
    bool transpose;
} square;

static double *run_syrk(void *context)
{
    square *s = context;
    double *c = numbers(s->n * s->n, 9);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < i; j++) c[i * s->n + j] = c[j * s->n + i];
    sn_syrk_tn(s->n, s->k, 0.5, s->a, 1.0, c);
    return c;
}

TEST(large_moments)
{
    square s = {.n = 613, .k = 41};
    SN_BLOCK double *a = numbers(s.n * s.k, 4), *start = numbers(s.n * s.n, 9);
    s.a = a;
    SN_BLOCK double *c = same_for_any_threads(run_syrk, &s, s.n * s.n);
    for (int64_t i = 0; i < s.n; i++) {
        for (int64_t j = 0; j < s.n; j++) {
            double sum = i < j ? start[i * s.n + j] : start[j * s.n + i];
            for (int64_t l = 0; l < s.k; l++) sum += 0.5 * a[l * s.n + i] * a[l * s.n + j];
            assert_true(fabs(c[i * s.n + j] - sum) < 1e-12);
            assert_true(c[i * s.n + j] == c[j * s.n + i]);
        }
    }
}

static double *run_cholesky(void *context)
{
    square *s = context;
    double *l = copy(s->n * s->n, s->a);
    OK(sn_cholesky(s->n, l));
    return l;
}

static double *run_solve(void *context)
{
    square *s = context;
    double *x = copy(s->n * s->k, s->b);
    sn_triangular_solve(s->n, s->transpose, s->l, s->k, x);
    return x;
}

static double *run_solve_rows(void *context)
{
    square *s = context;
    double *x = copy(s->n * s->k, s->b);
    sn_triangular_solve_rows(s->n, s->l, s->k, x);
    return x;
}

/* n x n with entries of size 1 off the diagonal and n on it. */
static double *positive_definite(int64_t n)
{
    double *a = numbers(n * n, 5);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) a[i * n + j] = a[j * n + i];
        a[i * n + i] += (double)n;
    }
    return a;
}

static void check_triangular_systems(int64_t n, int64_t k)
{
    square s = {.n = n, .k = k};
    SN_BLOCK double *a = positive_definite(n), *b = numbers(n * k, 6), *product = copy(n * n, a);
    s.a = a;
    s.b = b;
    SN_BLOCK double *l = same_for_any_threads(run_cholesky, &s, n * n);
    s.l = l;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) assert_true(l[i * n + j] == 0.0);
    omp_set_num_threads(1);
    sn_multiply(sn_as(l, n, n), sn_turned(l, n, n), product);
    assert_near(n * n, product, a);
    for (int transpose = 0; transpose < 2; transpose++) {
        s.transpose = transpose;
        SN_BLOCK double *x = same_for_any_threads(run_solve, &s, n * k), *back = copy(n * k, x);
        sn_multiply(transpose ? sn_turned(l, n, n) : sn_as(l, n, n), sn_as(x, n, k), back);
        assert_near(n * k, back, b);
    }
    SN_BLOCK double *x = same_for_any_threads(run_solve_rows, &s, n * k), *back = copy(n * k, x); /* k x n */
    sn_multiply(sn_as(x, k, n), sn_turned(l, n, n), back);
    assert_near(n * k, back, b);
    memcpy(x, b, (size_t)(n * k) * sizeof *x);
    OK(sn_solve_spd(n, product, k, x));
    sn_multiply(sn_as(a, n, n), sn_as(x, n, k), back);
    assert_near(n * k, back, b);
}

TEST(triangular_systems)
{
    check_triangular_systems(8, 3);
    check_triangular_systems(600, 300);
}

TEST(failures_in_a_later_block)
{
    enum { N = 400 };
    SN_BLOCK double *a = positive_definite(N), *b = copy(N * N, a);
    a[300 * N + 300] = -1e6;
    assert_says(sn_cholesky(N, a), STONET_ERROR_NUMERIC, "row 301");
    double indefinite[4] = {1, 2, 2, 1};
    assert_int_equal(sn_cholesky(2, indefinite), STONET_ERROR_NUMERIC);
    b[350 * N + 20] = NAN;
    assert_says(sn_cholesky(N, b), STONET_ERROR_NUMERIC, "not finite");
}

typedef struct decomposition {
    int64_t m, n;
    const double *a;
} decomposition;

/* Values and vectors of A'A, singular values and vectors of A, Q of A, in one array. */
static double *run_decompositions(void *context)
{
    decomposition *d = context;
    int64_t m = d->m, n = d->n;
    SN_BLOCK double *gram = malloc((size_t)(n * n) * sizeof *gram), *a = copy(m * n, d->a);
    double *out = malloc((size_t)(n * n + n + n + n * n + n + n * 3 + m * n) * sizeof *out), *at = out;
    sn_syrk_tn(n, m, 1.0, d->a, 0.0, gram);
    SN_BLOCK double *again = copy(n * n, gram);
    OK(sn_eigh(n, gram, at, at + n));
    at += n + n * n;
    OK(sn_eigh_top(n, 3, again, at, at + n));
    for (int64_t i = 3; i < n; i++) at[i] = 0.0;
    at += n + 3 * n;
    OK(sn_svd(m, n, a, NULL, at, at + n));
    at += n + n * n;
    memcpy(at, d->a, (size_t)(m * n) * sizeof *at);
    OK(sn_orthonormalise(m, n, at));
    return out;
}

TEST(decompositions)
{
    decomposition d = {.m = 900, .n = 150};
    SN_BLOCK double *a = numbers(d.m * d.n, 8);
    d.a = a;
    free(same_for_any_threads(run_decompositions, &d, 2 * d.n * d.n + 6 * d.n + d.m * d.n));
}

RUN_TESTS(NULL, NULL)
