/* Each shim against its defining equation, on matrices small enough to multiply out by hand-written loops. */
#include "base/test_kit.h"
#include "math/linalg.h"

enum { MAX = 40 };

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0 - 0.5;
}

static void fill(int64_t count, double *a, uint64_t seed)
{
    for (int64_t i = 0; i < count; i++) a[i] = uniform(&seed);
}

/* c (m x n) = op(a) b by the definition, with k inner products; ta: op turns a. */
static void multiply(bool ta, int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            double sum = 0.0;
            for (int64_t l = 0; l < k; l++) sum += (ta ? a[l * m + i] : a[i * k + l]) * b[l * n + j];
            c[i * n + j] = sum;
        }
    }
}

static double gap(int64_t count, const double *a, const double *b)
{
    double worst = 0.0;
    for (int64_t i = 0; i < count; i++) worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

#define assert_close(count, a, b, tolerance) assert_true(gap(count, a, b) <= (tolerance))

static void assert_orthonormal(int64_t m, int64_t n, const double *a)
{
    double product[MAX * MAX];
    multiply(true, n, n, m, a, a, product);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) assert_true(fabs(product[i * n + j] - (i == j)) < 1e-13);
}

/* Products of matrices are in test_tiles.c. */
TEST(products_with_vectors)
{
    int64_t m = 7, n = 5, k = 9;
    double a[MAX * MAX], b[MAX * MAX];
    fill(m * k, a, 1);
    fill(k * n, b, 2);
    double y[MAX] = {0}, reference[MAX];
    multiply(false, m, 1, k, a, b, reference);
    sn_gemv(1.0, sn_as(a, m, k), b, 0.0, y);
    assert_close(m, y, reference, 1e-13);
    multiply(true, k, 1, m, a, b, reference);
    sn_gemv(1.0, sn_turned(a, m, k), b, 0.0, y);
    assert_close(k, y, reference, 1e-13);
}

/* That the whole of it fills both triangles is in test_tiles.c. */
TEST(syrk_of_the_lower_triangle_leaves_the_upper_one)
{
    enum { N = 150 };
    static double a[15 * N], c[N * N], expected[N * N];
    fill(15 * N, a, 4);
    multiply(true, N, N, 15, a, a, expected);
    fill(N * N, c, 5);
    for (int64_t i = 0; i < N; i++)
        memcpy(expected + i * N + i + 1, c + i * N + i + 1, (size_t)(N - i - 1) * sizeof *c);
    sn_syrk_tn_lower(N, 15, 1.0, a, 0.0, c);
    assert_close(N * N, c, expected, 1e-13);
}

TEST(empty_products)
{
    double a[1] = {7}, c[4] = {1, 2, 3, 4};
    sn_multiply(sn_as(a, 2, 0), sn_as(a, 0, 2), c);
    for (int i = 0; i < 4; i++) assert_true(c[i] == 0.0);
    sn_multiply(sn_as(a, 0, 3), sn_as(a, 3, 2), c);
    sn_gemv(1.0, sn_turned(a, 0, 3), a, 0.0, c);
    assert_true(sn_dot(0, a, a) == 0.0 && sn_norm(0, a) == 0.0);
    OK(sn_eigh(0, a, c, c));
    OK(sn_svd(0, 3, a, c, c, c));
    OK(sn_cholesky(0, a));
}

TEST(norm_of_extremes)
{
    double x[2] = {3e200, 4e200};
    assert_true(fabs(sn_norm(2, x) / 5e200 - 1.0) < 1e-15);
}

/* A v_j = lambda_j v_j, descending, for all and for the largest few. */
TEST(eigenvectors)
{
    int64_t n = 12;
    double g[MAX * MAX], a[MAX * MAX], work[MAX * MAX], values[MAX], v[MAX * MAX], av[MAX * MAX];
    fill(n * n, g, 5);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) a[i * n + j] = g[i * n + j] + g[j * n + i];
    int64_t counts[] = {n, 3, 1};
    double largest = 0.0;
    for (int c = 0; c < 3; c++) {
        int64_t count = counts[c];
        memcpy(work, a, sizeof work);
        if (c == 0)
            OK(sn_eigh(n, work, values, v));
        else
            OK(sn_eigh_top(n, count, work, values, v));
        multiply(false, n, count, n, a, v, av);
        for (int64_t j = 0; j < count; j++) {
            assert_true(j == 0 || values[j] <= values[j - 1]);
            for (int64_t i = 0; i < n; i++)
                assert_true(fabs(av[i * count + j] - values[j] * v[i * count + j]) < 1e-13);
        }
        assert_orthonormal(n, count, v);
        if (c == 0) largest = values[0];
        assert_true(fabs(values[0] - largest) < 1e-13);
    }
    assert_int_equal(sn_eigh_top(n, n + 1, a, values, v), STONET_ERROR_ARGUMENT);
}

TEST(singular_values)
{
    int64_t shapes[][2] = {{9, 4}, {4, 9}, {5, 5}, {1, 6}};
    for (int t = 0; t < 4; t++) {
        int64_t m = shapes[t][0], n = shapes[t][1], r = m < n ? m : n;
        double a[MAX * MAX] = {0}, work[MAX * MAX], u[MAX * MAX], s[MAX], vt[MAX * MAX], rebuilt[MAX * MAX];
        fill(m * n, a, 8 + (uint64_t)t);
        memcpy(work, a, sizeof a);
        OK(sn_svd(m, n, work, u, s, vt));
        double us[MAX * MAX];
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < r; j++) us[i * r + j] = u[i * r + j] * s[j];
        multiply(false, m, n, r, us, vt, rebuilt);
        assert_close(m * n, rebuilt, a, 1e-13);
        assert_orthonormal(m, r, u);
        double s2[MAX], u2[MAX * MAX], vt2[MAX * MAX];
        memcpy(work, a, sizeof a);
        OK(sn_svd(m, n, work, NULL, s2, NULL));
        assert_close(r, s, s2, 1e-13);
        memcpy(work, a, sizeof a);
        OK(sn_svd(m, n, work, u2, s2, NULL));
        assert_close(m * r, u, u2, 1e-12);
        memcpy(work, a, sizeof a);
        OK(sn_svd(m, n, work, NULL, s2, vt2));
        assert_close(r * n, vt, vt2, 1e-12);
    }
}

TEST(orthonormal_bases)
{
    int64_t m = 10, n = 4;
    double a[MAX * MAX], q[MAX * MAX], coefficients[MAX * MAX], rebuilt[MAX * MAX];
    fill(m * n, a, 30);
    for (int64_t i = 0; i < m; i++) a[i * n + 2] = a[i * n] - 2.0 * a[i * n + 1]; /* rank 3 */
    memcpy(q, a, sizeof a);
    OK(sn_orthonormalise(m, n, q));
    assert_orthonormal(m, n, q);
    multiply(true, n, n, m, q, a, coefficients);
    multiply(false, m, n, n, q, coefficients, rebuilt);
    assert_close(m * n, rebuilt, a, 1e-13);
    memcpy(a, q, sizeof q);
    OK(sn_orthonormalise(m, n, q));
    assert_close(m * n, q, a, 1e-13);
    memset(a, 0, sizeof a);
    OK(sn_orthonormalise(m, n, a));
    assert_orthonormal(m, n, a);
    assert_int_equal(sn_orthonormalise(3, 4, a), STONET_ERROR_ARGUMENT);
}

TEST(signs)
{
    double a[6] = {1, 0, -3, 0, 2, 0}; /* columns (1, -3, 2) and 0 */
    sn_fix_signs(3, 2, a);
    assert_true(a[0] == -1 && a[2] == 3 && a[4] == -2 && a[1] == 0);
}

TEST(rearrangements)
{
    double a[6] = {1, 2, 3, 4, 5, 6}, turned[6], first[4];
    sn_transpose(2, 3, a, turned);
    const double expected[6] = {1, 4, 2, 5, 3, 6}, leading[4] = {1, 2, 4, 5};
    assert_memory_equal(turned, expected, sizeof expected);
    sn_first_columns(2, 3, a, 2, first);
    assert_memory_equal(first, leading, sizeof leading);
    sn_first_columns(2, 3, a, 2, a); /* in place */
    assert_memory_equal(a, leading, sizeof leading);
}

TEST(not_a_number_is_refused)
{
    double a[4] = {1, NAN, NAN, 1}, values[2], v[4];
    assert_int_equal(sn_eigh(2, a, values, v), STONET_ERROR_NUMERIC);
    double b[4] = {1, NAN, 2, 1};
    assert_int_equal(sn_svd(2, 2, b, NULL, values, v), STONET_ERROR_NUMERIC);
}

RUN_TESTS(NULL, NULL)
