/* Counter-based noise: known answers, moments, tails, independence of streams, and the shuffle. */
#include "base/test_kit.h"
#include "math/noise.h"

TEST(test_philox_known_answers)
{
    const struct {
        uint32_t counter[4], key[2], expected[4];
    } cases[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t out[4];
        sn_philox(cases[i].counter, cases[i].key, out);
        assert_memory_equal(out, cases[i].expected, sizeof out);
    }
}

/* Mean, variance, skewness and kurtosis of N normals within five standard errors; tails by counts. */
TEST(test_normals_have_normal_moments_and_tails)
{
    enum { ROWS = 4000, UNITS = 500 };
    const double n = (double)ROWS * UNITS;
    double sum[5] = {0};
    double beyond[3] = {0}; /* |z| > 2, 3, 4 */
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t group = 0; group < UNITS / 4; group++) {
            double z[4];
            sn_noise_normal4(&(sn_address){42, SN_STREAM_TEST, row, 1, group, 7, 3}, z);
            for (int k = 0; k < 4; k++) {
                for (int m = 1; m <= 4; m++) sum[m] += pow(z[k], m);
                for (int t = 0; t < 3; t++) beyond[t] += fabs(z[k]) > 2.0 + t;
            }
        }
    const double moment[] = {0, 0, 1, 0, 3}, variance[] = {0, 1, 2, 15, 96};
    for (int m = 1; m <= 4; m++) assert_true(fabs(sum[m] / n - moment[m]) < 5.0 * sqrt(variance[m] / n));
    for (int t = 0; t < 3; t++) {
        const double p = erfc((2.0 + t) / sqrt(2.0));
        assert_true(fabs(beyond[t] - n * p) < 5.0 * sqrt(n * p));
    }
}

static double correlation(int64_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum / (double)n;
}

/* Neighbouring addresses (row, layer, unit, iteration, sweep, stream, seed) share nothing. */
TEST(test_neighbouring_streams_are_uncorrelated)
{
    enum { N = 100000 };
    SN_BLOCK double *base = test_zeros(N, sizeof *base), *other = test_zeros(N, sizeof *other);
    for (uint32_t i = 0; i < N; i++) base[i] = sn_noise_normal(1, SN_STREAM_TEST, i, 1, 0, 0, 0);
    for (int change = 0; change < 8; change++) {
        for (uint32_t i = 0; i < N; i++)
            other[i] = sn_noise_normal(change == 0 ? 2 : 1, change == 1 ? SN_STREAM_DRAWS : SN_STREAM_TEST,
                                       change == 2 ? i + 1 : i, change == 3 ? 2 : 1,
                                       change == 4   ? 1
                                       : change == 5 ? 4
                                                     : 0,
                                       change == 6, change == 7);
        assert_true(fabs(correlation(N, base, other)) < 5.0 / sqrt(N));
    }
}

TEST(test_addresses_are_pure)
{
    double four[4];
    sn_noise_normal4(&(sn_address){9, SN_STREAM_IMPUTE, 123, 2, 5, 17, 4}, four);
    for (uint32_t k = 0; k < 4; k++)
        assert_true(four[k] == sn_noise_normal(9, SN_STREAM_IMPUTE, 123, 2, 20 + k, 17, 4));
}

TEST(test_sequential_numbers_are_uniform)
{
    enum { N = 200000, BINS = 50, BOUND = 7 };
    sn_random random = sn_random_from(3, SN_STREAM_TEST, 1);
    double counts[BINS] = {0}, below[BOUND] = {0}, statistic = 0.0;
    for (int i = 0; i < N; i++) {
        const double u = sn_random_uniform(&random);
        assert_true(u > 0.0 && u < 1.0);
        counts[(int)(u * BINS)]++;
        below[sn_random_below(&random, BOUND)]++;
    }
    for (int b = 0; b < BINS; b++) statistic += pow(counts[b] - (double)N / BINS, 2.0) / ((double)N / BINS);
    assert_true(statistic < 110.0); /* chi-square with 49 degrees of freedom: p = 1e-6 */
    statistic = 0.0;
    for (int b = 0; b < BOUND; b++) statistic += pow(below[b] - (double)N / BOUND, 2.0) / ((double)N / BOUND);
    assert_true(statistic < 40.0);
}

static void check_permutation(uint64_t n, uint32_t epoch)
{
    sn_shuffle shuffle;
    sn_shuffle_init(&shuffle, n, 5, epoch);
    SN_BLOCK char *seen = test_zeros((int64_t)n, 1);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t at = sn_shuffle_at(&shuffle, i);
        assert_true(at < n);
        assert_int_equal(seen[at], 0);
        seen[at] = 1;
    }
}

TEST(test_shuffle_visits_every_row_once)
{
    const uint64_t sizes[] = {1, 2, 3, 4, 5, 16, 17, 140, 1000, 4097, 65536, 100003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint32_t epoch = 0; epoch < 3; epoch++) check_permutation(sizes[i], epoch);
}

/* One by one, by the definition: the Feistel network in plain steps, until it is back inside. */
static uint64_t plain_shuffle(const sn_shuffle *shuffle, uint64_t value)
{
    const uint64_t mask = (UINT64_C(1) << shuffle->half_bits) - 1;
    do {
        uint64_t left = value >> shuffle->half_bits, right = value & mask;
        for (int round = 0; round < 6; round++) {
            uint32_t mixed = (uint32_t)right ^ shuffle->key[round];
            mixed *= 0x9e3779b1U;
            mixed ^= mixed >> 15;
            mixed *= 0x85ebca77U;
            mixed ^= mixed >> 13;
            const uint64_t next = left ^ ((mixed + shuffle->key[round]) & mask);
            left = right;
            right = next;
        }
        value = left << shuffle->half_bits | right;
    } while (value >= shuffle->n);
    return value;
}

TEST(test_shuffle_of_many_rows_is_that_of_each)
{
    const uint64_t sizes[] = {1, 2, 5, 17, 67, 140, 300, UINT64_C(1) << 32, UINT64_C(1) << 62};
    int64_t rows[300];
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const int64_t count = sizes[k] < 300 ? (int64_t)sizes[k] : 300, first = sizes[k] > 1000 ? 12345 : 0;
        sn_shuffle shuffle;
        sn_shuffle_init(&shuffle, sizes[k], 9, 4);
        sn_shuffle_rows(&shuffle, first, count, rows);
        for (int64_t i = 0; i < count; i++) {
            assert_true((uint64_t)rows[i] == plain_shuffle(&shuffle, (uint64_t)(first + i)));
            assert_true(sn_shuffle_at(&shuffle, (uint64_t)(first + i)) == (uint64_t)rows[i]);
        }
    }
}

/* Every row is equally likely at every position (n small enough to count). */
TEST(test_shuffle_is_fair)
{
    enum { N = 10, EPOCHS = 20000 };
    double count[N][N] = {{0}};
    for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
        sn_shuffle shuffle;
        sn_shuffle_init(&shuffle, N, 8, epoch);
        for (uint64_t i = 0; i < N; i++) count[i][sn_shuffle_at(&shuffle, i)]++;
    }
    double statistic = 0.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) statistic += pow(count[i][j] - EPOCHS / N, 2.0) / (EPOCHS / N);
    assert_true(statistic < 160.0); /* chi-square, about 81 degrees of freedom */
}

TEST(test_permutation_is_a_permutation)
{
    int64_t order[100];
    char seen[100] = {0};
    sn_random random = sn_random_from(3, SN_STREAM_TEST, 2);
    sn_random_permutation(&random, 100, order);
    for (int i = 0; i < 100; i++) seen[order[i]]++;
    for (int i = 0; i < 100; i++) assert_int_equal(seen[i], 1);
}

RUN_TESTS(NULL, NULL)
