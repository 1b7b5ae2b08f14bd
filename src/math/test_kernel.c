#include <omp.h>

#include "base/memory.h"
#include "base/test_kit.h"
#include "math/kernel.h"
#include "math/kernel_lowrank.h"
#include "math/kernel_spectrum.h"
#include "math/kernel_sum.h"
#include "math/linalg.h"
#include "math/noise.h"

static double *normals(int64_t count, uint32_t substream)
{
    double *values = malloc((size_t)count * sizeof *values);
    sn_random random = sn_random_from(7, SN_STREAM_TEST, substream);
    for (int64_t i = 0; i < count; i++) values[i] = sn_random_normal(&random);
    return values;
}

static double squared_distance(int64_t p, const double *a, const double *b)
{
    double sum = 0.0;
    for (int64_t j = 0; j < p; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

TEST(test_gram)
{
    enum { N = 700, M = 33, P = 5 };
    SN_BLOCK double *a = normals(N * P, 0), *b = normals(M * P, 1), *k = malloc(sizeof(double[N * M]));
    OK(sn_gaussian_gram(N, M, P, a, b, 0.3, k));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < M; j++) {
            double expected = exp(-0.3 * squared_distance(P, a + i * P, b + j * P));
            assert_true(fabs(k[i * M + j] - expected) < 1e-13);
        }
}

TEST(test_distances)
{
    enum { P = 2 };
    const double x[] = {0, 0, 3, 4, 0, 0, 6, 8}; /* distances 5 0 10 5 5 10 */
    double value;
    OK(sn_mean_distance(4, P, x, 1, &value));
    assert_true(fabs(value - 35.0 / 6.0) < 1e-14);
    OK(sn_median_distance(4, P, x, 1, &value));
    assert_true(fabs(value - 5.0) < 1e-14);
    OK(sn_mean_distance(1, P, x, 1, &value));
    assert_true(value == 0.0);
}

TEST(test_large_samples_are_subsampled)
{
    enum { N = 6000 };
    double *x = normals(N, 0), mean, median, again;
    OK(sn_mean_distance(N, 1, x, 1, &mean));
    OK(sn_mean_distance(N, 1, x, 1, &again));
    assert_true(mean == again);
    assert_true(fabs(mean - 2.0 / sqrt(M_PI)) < 0.05); /* E|N(0,2)| */
    OK(sn_median_distance(N, 1, x, 1, &median));
    assert_true(fabs(median - 0.6744897501960817 * M_SQRT2) < 0.05);
    free(x);
}

TEST(test_chosen_rows)
{
    int64_t rows[20];
    OK(sn_choose_rows(1000, 20, 3, 0, rows));
    for (int i = 1; i < 20; i++) assert_true(rows[i] > rows[i - 1]);
    assert_true(rows[0] >= 0 && rows[19] < 1000);
    OK(sn_choose_rows(5, 20, 3, 0, rows));
    for (int i = 0; i < 5; i++) assert_int_equal(rows[i], i);
}

TEST(test_centring)
{
    enum { N = 9 };
    double *x = normals(N * 2, 0), k[N * N], old[N * N], mean[N];
    OK(sn_gaussian_gram(N, N, 2, x, x, 0.5, k));
    for (int i = 0; i < N * N; i++) old[i] = k[i];
    sn_centre_gram(N, k, mean);
    for (int i = 0; i < N; i++) {
        double row = 0.0, old_row = 0.0;
        for (int j = 0; j < N; j++) {
            row += k[i * N + j];
            old_row += old[i * N + j];
        }
        assert_true(fabs(row) < 1e-13);
        assert_true(fabs(mean[i] - old_row / N) < 1e-14);
    }
    free(x);
}

TEST(test_incomplete_cholesky)
{
    SN_WORKSPACE(scratch);
    enum { N = 400 };
    SN_BLOCK double *x = normals(N, 0), *k = malloc(sizeof(double[N * N]));
    double *f = NULL;
    x[7] = x[3]; /* a duplicate must not become a pivot of its own */
    int64_t rank = 0;
    OK(sn_incomplete_cholesky(&(sn_gaussian_rows){N, 1, x, 0.5}, 1e-12, N, &scratch, &f, &rank));
    assert_true(rank > 5 && rank < 60);
    OK(sn_gaussian_gram(N, N, 1, x, x, 0.5, k));
    sn_gemm(-1.0, sn_as(f, N, rank), sn_turned(f, N, rank), 1.0, k);
    for (int64_t i = 0; i < N * N; i++) assert_true(fabs(k[i]) < 2e-12);
    OK(sn_incomplete_cholesky(&(sn_gaussian_rows){N, 1, x, 0.5}, 1e-12, 4, &scratch, &f, &rank));
    assert_int_equal(rank, 4);
}

TEST(test_landmarks)
{
    SN_WORKSPACE(scratch);
    enum { N = 60, P = 2, M = 20 };
    double *x = normals(N * P, 0), k[M * M], difference[M * M];
    x[2] = x[0], x[3] = x[1]; /* rows 0 and 1 equal: one of them is left out */
    sn_landmarks landmarks;
    OK(sn_landmarks_create(M, P, x, 0.7, &scratch, &landmarks));
    assert_true(landmarks.rank <= M - 1 && landmarks.rank > 10);
    SN_BLOCK double *phi = malloc(sizeof(double) * N * (size_t)landmarks.rank);
    OK(sn_landmarks_features(&landmarks, N, x, phi));
    /* On the landmarks themselves the Nystrom kernel is the kernel. */
    OK(sn_gaussian_gram(M, M, P, x, x, 0.7, k));
    sn_multiply(sn_as(phi, M, landmarks.rank), sn_turned(phi, M, landmarks.rank), difference);
    for (int i = 0; i < M * M; i++) assert_true(fabs(k[i] - difference[i]) < 1e-11);
    free(x);
}

typedef struct dense {
    int64_t n;
    const double *a;
    int calls;
} dense;

static stonet_status apply_dense(void *context, int64_t columns, const double *in, double *out)
{
    dense *d = context;
    d->calls++;
    sn_multiply(sn_as(d->a, d->n, d->n), sn_as(in, d->n, columns), out);
    return STONET_OK;
}

static void check_spectrum(int64_t n, int64_t count, const double *a, double tolerance)
{
    SN_BLOCK double *copy = malloc((size_t)(n * n) * sizeof *copy),
                    *values = malloc((size_t)n * sizeof *values),
                    *vectors = malloc((size_t)(n * n) * sizeof *vectors),
                    *v = malloc((size_t)(n * count) * sizeof *v);
    double found[32];
    for (int64_t i = 0; i < n * n; i++) copy[i] = a[i];
    OK(sn_eigh(n, copy, values, vectors));
    dense d = {n, a, 0};
    OK(sn_top_eigenpairs(&(sn_operator){n, apply_dense, &d}, count, 1e-11, NULL, found, v));
    for (int64_t j = 0; j < count; j++) {
        assert_true(fabs(found[j] - values[j]) <= tolerance * values[0]);
        double residual = 0.0, length = 0.0;
        for (int64_t i = 0; i < n; i++) {
            double product = 0.0;
            for (int64_t l = 0; l < n; l++) product += a[i * n + l] * v[l * count + j];
            residual += pow(product - found[j] * v[i * count + j], 2);
            length += v[i * count + j] * v[i * count + j];
        }
        assert_true(sqrt(residual) <= 1e-10 * values[0]);
        assert_true(fabs(length - 1.0) < 1e-12);
    }
}

TEST(test_top_eigenpairs)
{
    enum { N = 300 };
    SN_BLOCK double *x = normals(N * 3, 0), *k = malloc(sizeof(double[N * N]));
    OK(sn_gaussian_gram(N, N, 3, x, x, 0.2, k));
    check_spectrum(N, 10, k, 1e-13);
    for (int i = 0; i < N; i++) /* diag(1, 1, 1, 1/2, 1/3, ...): a multiple eigenvalue, and a slow one */
        for (int j = 0; j < N; j++) k[i * N + j] = i != j ? 0.0 : i < 3 ? 1.0 : 1.0 / (i - 1);
    check_spectrum(N, 5, k, 1e-13);
    for (int i = 0; i < N * N; i++) k[i] = x[i / N] * x[i % N]; /* rank one: more asked than there is */
    check_spectrum(N, 3, k, 1e-13);
    const double small[] = {2, 1, 0, 0, 1, 2, 0, 0, 0, 0, 5, 1, 0, 0, 1, -5};
    check_spectrum(4, 4, small, 1e-13);
}

TEST(test_largest_eigenvalue)
{
    const double a[] = {2, 1, 1, 2};
    double value;
    OK(sn_largest_eigenvalue(2, a, &value));
    assert_true(fabs(value - 3.0) < 1e-14);
    OK(sn_largest_eigenvalue(1, a, &value));
    assert_true(fabs(value - 2.0) < 1e-14);
}

/* f by its definition, row by row. */
static double kernel_sum_of(const sn_kernel_sum *sum, const float *x, int64_t u)
{
    double f = sum->constant[u];
    for (int64_t k = 0; sum->slope != NULL && k < sum->p; k++) f += (double)x[k] * sum->slope[k * sum->w + u];
    for (int64_t j = 0; j < sum->m; j++) {
        double squared = 0.0;
        for (int64_t k = 0; k < sum->p; k++) squared += pow((double)x[k] - sum->centre[j * sum->p + k], 2);
        f += sum->weight[j * sum->w + u] * exp(-sum->gamma * squared);
    }
    return f;
}

/* Numbers of centres and rows that fill no vector, a row that is a centre, one that is far from all. */
TEST(sums_of_kernels_are_what_they_say)
{
    enum { MOST = 700, P = 5, M = 11, W = 3 };
    static float x[MOST * P], f[MOST * W], again[MOST * W];
    double z[M * P], c[M * W], a[P * W], b[W];
    sn_random random = sn_random_from(7, SN_STREAM_TEST, 0);
    for (int k = 0; k < MOST * P; k++) x[k] = (float)sn_random_normal(&random);
    for (int k = 0; k < M * P; k++) z[k] = k < P ? (double)x[k] : sn_random_normal(&random);
    for (int k = 0; k < M * W; k++) c[k] = sn_random_normal(&random);
    for (int k = 0; k < P * W; k++) a[k] = sn_random_normal(&random);
    for (int k = 0; k < W; k++) b[k] = sn_random_normal(&random);
    for (int k = 0; k < P; k++) x[P + k] = 1e6F;
    for (int64_t m = 0; m <= M; m += M) {
        const sn_kernel_sum sum = {P, m, W, 0.3, z, c, m == 0 ? NULL : a, b};
        omp_set_num_threads(2);
        OK(sn_kernel_sum_apply(&sum, MOST, x, f));
        omp_set_num_threads(1);
        OK(sn_kernel_sum_apply(&sum, MOST, x, again));
        assert_memory_equal(f, again, sizeof f);
        for (int64_t i = 0; i < MOST; i++) {
            float alone[W];
            OK(sn_kernel_sum_apply(&sum, 1, x + i * P, alone));
            assert_memory_equal(alone, f + i * W, sizeof alone);
            for (int64_t u = 0; u < W; u++) {
                const double wanted = kernel_sum_of(&sum, x + i * P, u);
                assert_true(fabs((double)alone[u] - wanted) <= 1e-6 * fmax(1.0, fabs(wanted)));
            }
        }
    }
}

RUN_TESTS(NULL, NULL)
