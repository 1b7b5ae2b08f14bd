/* The columns of rows that are made when they are wanted, and their products, against sums over all rows. */
#include "base/test_kit.h"
#include "math/noise.h"
#include "methods/row_columns.h"

enum { N = 2500, M = 5, P = 2, RANK = 3 }; /* more rows than are made at once, twice */

static double x[N * P], centres[M * P], f[N * RANK], c[N * M];

/* k(x_i, u_l) = exp(-gamma |x_i - u_l|^2); f has a mean. */
static sn_row_columns make_columns(void)
{
    const double gamma = 0.3;
    sn_random random = sn_random_from(5, SN_STREAM_TEST, 3);
    for (int i = 0; i < N * P; i++) x[i] = sn_random_normal(&random);
    for (int i = 0; i < M * P; i++) centres[i] = sn_random_normal(&random);
    for (int i = 0; i < N * RANK; i++) f[i] = 1.0 + i % RANK + sn_random_normal(&random);
    for (int i = 0; i < N; i++)
        for (int l = 0; l < M; l++) {
            double square = 0.0;
            for (int j = 0; j < P; j++) square += pow(x[i * P + j] - centres[l * P + j], 2);
            c[i * M + l] = exp(-gamma * square);
        }
    return (sn_row_columns){.n = N, .m = M, .p = P, .x = x, .gamma = gamma, .centres = centres};
}

static void check_products(const sn_row_columns *columns, int64_t n, bool centred)
{
    double mean[M], gram[M * M], cross[M * RANK], expected[M] = {0};
    OK(sn_row_columns_products(columns, RANK, f, centred ? mean : NULL, gram, cross));
    for (int64_t i = 0; i < n; i++)
        for (int l = 0; l < M; l++) expected[l] += centred ? c[i * M + l] / (double)n : 0.0;
    for (int l = 0; l < M; l++) {
        if (centred) assert_true(fabs(mean[l] - expected[l]) < 1e-13);
        for (int k = 0; k < M + RANK; k++) {
            double sum = 0.0;
            for (int64_t i = 0; i < n; i++)
                sum +=
                    (c[i * M + l] - expected[l]) * (k < M ? c[i * M + k] - expected[k] : f[i * RANK + k - M]);
            assert_true(fabs((k < M ? gram[l * M + k] : cross[l * RANK + k - M]) - sum) < 1e-9);
        }
    }
}

TEST(test_products)
{
    sn_row_columns columns = make_columns();
    const int64_t rows[] = {N, 1024, 1025, 7};
    for (int k = 0; k < 4; k++)
        for (int centred = 0; centred < 2; centred++) {
            columns.n = rows[k];
            check_products(&columns, rows[k], centred);
        }
}

RUN_TESTS(NULL, NULL)
