#include "base/test_kit.h"
#include "data/moments.h"
#include "math/noise.h"

enum { COLUMNS = 3, BLOCK = 1024 };

static float *make_table(int64_t n)
{
    float *x = test_zeros(n * COLUMNS, sizeof *x);
    sn_random random = sn_random_from(4, SN_STREAM_TEST, 0);
    for (int64_t i = 0; i < n * COLUMNS; i++)
        x[i] = (float)(sn_random_normal(&random) * (i % COLUMNS == 1 ? 1e4 : 0.3) +
                       (i % COLUMNS == 2 ? 77.0 : 0.0));
    return x;
}

TEST(test_against_long_double)
{
    const int64_t sizes[] = {1, 2, 1023, 1024, 1025, 5 * BLOCK + 7, 37 * BLOCK};
    for (int s = 0; s < 7; s++) {
        const int64_t n = sizes[s];
        SN_BLOCK float *x = make_table(n);
        SN_BLOCK double *wide = test_zeros(n * COLUMNS, sizeof *wide);
        for (int64_t i = 0; i < n * COLUMNS; i++) wide[i] = (double)x[i];
        sn_moments floats, doubles;
        OK(sn_moments_of(&(sn_numbers){.floats = x, .n = n, .m = COLUMNS}, &floats));
        OK(sn_moments_of(&(sn_numbers){.doubles = wide, .n = n, .m = COLUMNS}, &doubles));
        for (int64_t j = 0; j < COLUMNS; j++) {
            long double sum = 0, squares = 0;
            double low = wide[j], high = wide[j];
            for (int64_t i = 0; i < n; i++) sum += (long double)x[i * COLUMNS + j];
            const long double mean = sum / (long double)n;
            for (int64_t i = 0; i < n; i++) {
                const double value = wide[i * COLUMNS + j];
                squares += ((long double)value - mean) * ((long double)value - mean);
                low = fmin(low, value);
                high = fmax(high, value);
            }
            const double variance = (double)(squares / (long double)n), spread = sqrt(variance) + 1e-300;
            assert_true(fabs(floats.mean[j] - (double)mean) < 1e-13 * (spread + fabs((double)mean)));
            assert_true(fabs(floats.variance[j] - variance) <= 1e-12 * variance);
            assert_true(floats.low[j] == low && floats.high[j] == high);
            assert_true(floats.mean[j] == doubles.mean[j] && floats.variance[j] == doubles.variance[j]);
        }
        sn_moments_clear(&floats);
        sn_moments_clear(&doubles);
    }
}

/* Whoever has half of the blocks can sum them alone: the sum of all is that of the two halves, to the bit.
   Sums that run through from the first row to the last are not. */
TEST(test_halves_add_up)
{
    enum { N = 16 * BLOCK };
    SN_BLOCK double *x = test_zeros(N * COLUMNS, sizeof *x);
    sn_random random = sn_random_from(5, SN_STREAM_TEST, 0);
    for (int64_t i = 0; i < N * COLUMNS; i++) x[i] = sn_random_normal(&random);
    sn_moments whole, half[2];
    OK(sn_moments_of(&(sn_numbers){.doubles = x, .n = N, .m = COLUMNS}, &whole));
    for (int k = 0; k < 2; k++)
        OK(sn_moments_of(&(sn_numbers){.doubles = x + k * N / 2 * COLUMNS, .n = N / 2, .m = COLUMNS},
                         &half[k]));
    int different = 0;
    for (int64_t j = 0; j < COLUMNS; j++) { /* N is a power of two: the division is exact */
        assert_true(whole.mean[j] == (half[0].mean[j] + half[1].mean[j]) / 2);
        double sum = 0.0;
        for (int64_t i = 0; i < N; i++) sum += x[i * COLUMNS + j];
        different += sum / N != whole.mean[j];
    }
    assert_true(different > 0);
    sn_moments_clear(&whole);
    for (int k = 0; k < 2; k++) sn_moments_clear(&half[k]);
}

RUN_TESTS(NULL, NULL)
