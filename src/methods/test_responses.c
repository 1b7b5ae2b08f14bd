/* What methods regress on x: indicators, targets, and the principal components of cumulative indicators. */
#include "base/test_kit.h"
#include "math/linalg.h"
#include "math/noise.h"
#include "math/smallest.h"
#include "methods/responses.h"

enum { MOST = 130 };

/* a (n x k) = the indicators of y <= quantile, less their means. */
static void indicators(int64_t n, int64_t m, int64_t levels, const double *y, double *a)
{
    const int64_t k = levels * m;
    for (int64_t j = 0; j < k; j++) {
        double sorted[MOST], mean = 0.0;
        for (int64_t i = 0; i < n; i++) sorted[i] = y[i * m + j / levels];
        qsort(sorted, (size_t)n, sizeof *sorted, sn_by_double);
        const double quantile = sorted[(j % levels + 1) * n / (levels + 1)];
        for (int64_t i = 0; i < n; i++) a[i * k + j] = y[i * m + j / levels] <= quantile ? 1.0 : 0.0;
        for (int64_t i = 0; i < n; i++) mean += a[i * k + j] / (double)n;
        for (int64_t i = 0; i < n; i++) a[i * k + j] -= mean;
    }
}

/* Components are known up to their signs: their products between rows are those of the indicators, but for
   the hundredth of the variance that is left out, and no component more is needed for that. */
static void check_distribution(int64_t n, int64_t m, int64_t levels, bool constant)
{
    const int64_t k = levels * m;
    SN_BLOCK double *y = test_zeros(n * m, sizeof *y), *a = test_zeros(n * k, sizeof *a);
    double *out = NULL;
    SN_BLOCK double *gram = test_zeros(n * n, sizeof *gram), *value = test_zeros(n, sizeof *value);
    SN_BLOCK double *vector = test_zeros(n * n, sizeof *vector);
    double total = 0.0, held = 0.0;
    sn_random random = sn_random_from(14, SN_STREAM_TEST, (uint32_t)(n + m));
    for (int64_t i = 0; i < n * m; i++)
        y[i] = constant     ? 2.0
               : i % m == 1 ? floor(3.0 * sn_random_normal(&random))
                            : sn_random_normal(&random);
    const sn_problem problem = {.n = n, .task = SN_REGRESSION, .outputs = m, .y = y};
    SN_WORKSPACE(keep);
    int64_t count = 0, right = 0;
    OK(sn_responses(&problem, true, &keep, &count, &out));
    indicators(n, m, levels, y, a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < n; l++) {
            gram[i * n + l] = 0.0;
            for (int64_t j = 0; j < k; j++) gram[i * n + l] += a[i * k + j] * a[l * k + j];
            total += i == l ? gram[i * n + l] : 0.0;
        }
    OK(sn_eigh(n, gram, value, vector));
    while (held < 0.99 * total) held += value[right++];
    assert_int_equal(count, right > 0 ? right : 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < n; l++) {
            double sum = 0.0;
            for (int64_t c = 0; c < count; c++)
                sum += out[i * count + c] * out[l * count + c] -
                       (c < right ? value[c] * vector[i * n + c] * vector[l * n + c] : 0.0);
            assert_true(fabs(sum) < 1e-8);
        }
}

TEST(laws_of_numbers)
{
    check_distribution(23, 1, 23, false); /* as many levels as rows, */
    check_distribution(23, 2, 23, false);
    check_distribution(MOST, 1, 99, false); /* and 99 at most */
    check_distribution(9, 1, 9, true);
}

TEST(targets_and_classes)
{
    enum { N = 5 };
    const double y[N * 2] = {1, 10, 2, 20, 3, 60, 4, 0, 5, 10};
    const int32_t two[N] = {0, 1, 1, 0, 1}, three[N] = {0, 2, 1, 2, 2};
    const sn_problem numbers = {.n = N, .task = SN_REGRESSION, .outputs = 2, .y = y};
    const sn_problem pair = {.n = N, .task = SN_CLASSIFICATION, .outputs = 2, .label = two};
    const sn_problem more = {.n = N, .task = SN_CLASSIFICATION, .outputs = 3, .label = three};
    SN_WORKSPACE(keep);
    int64_t count;
    double *out;
    OK(sn_responses(&numbers, false, &keep, &count, &out));
    assert_int_equal(count, 2);
    for (int i = 0; i < N; i++)
        assert_true(fabs(out[2 * i] - (y[2 * i] - 3.0)) < 1e-12 &&
                    fabs(out[2 * i + 1] - (y[2 * i + 1] - 20.0)) < 1e-12);
    for (int distribution = 0; distribution < 2; distribution++) { /* which classes have anyway */
        OK(sn_responses(&pair, distribution, &keep, &count, &out));
        assert_int_equal(count, 1);
        for (int i = 0; i < N; i++) assert_true(fabs(out[i] - ((two[i] == 1) - 0.6)) < 1e-12);
        OK(sn_responses(&more, distribution, &keep, &count, &out));
        assert_int_equal(count, 3);
        const double share[] = {0.2, 0.2, 0.6};
        for (int i = 0; i < N * 3; i++)
            assert_true(fabs(out[i] - ((three[i / 3] == i % 3) - share[i % 3])) < 1e-12);
    }
}

RUN_TESTS(NULL, NULL)
