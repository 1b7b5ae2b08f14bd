/* Scores, features and bandwidths against their definitions, worked out the slow way. */
#include "base/workspace.h"
#include "math/noise.h"
#include "math/smallest.h"
#include "stats/distributions.h"
#include "stats/features.h"
#include "stats/test_textbook.h"

enum { N = 60, D = 4, Q = 3, CONSTANT = 1 }; /* one of the D columns is constant */

/* The columns have other units, means and tails; the last one has few values. */
static void draw(double v[N * D])
{
    sn_random random = sn_random_from(4, SN_STREAM_TEST, 1);
    for (int64_t i = 0; i < N; i++) {
        v[i * D] = 5.0 + 3.0 * sn_random_normal(&random);
        v[i * D + CONSTANT] = 7.0;
        v[i * D + 2] = exp(2.0 * sn_random_normal(&random));
        v[i * D + 3] = (double)sn_random_below(&random, 4) - 100.0;
    }
}

static const int64_t varying[Q] = {0, 2, 3};

/* out = column, less its mean, with the mean of its squares (times n over `over`) as given. */
static void scaled(int64_t n, const double *column, double variance, double over, double *out)
{
    double mean = 0.0, square = 0.0;
    for (int64_t i = 0; i < n; i++)
        mean += (column[i] - column[0]) / (double)n; /* exact beside a large mean */
    for (int64_t i = 0; i < n; i++) square += pow(column[i] - column[0] - mean, 2) / over;
    for (int64_t i = 0; i < n; i++) out[i] = (column[i] - column[0] - mean) * sqrt(variance / square);
}

TEST(test_scores)
{
    SN_WORKSPACE(keep);
    double v[N * D], column[N], plain[N];
    sn_scores s;
    draw(v);
    OK(sn_scores_create(N, D, v, &keep, &s));
    assert_int_equal(s.columns, Q);
    for (int64_t j = 0; j < Q; j++) {
        for (int64_t i = 0; i < N; i++) column[i] = v[i * D + varying[j]];
        scaled(N, column, 1.0, N, plain);
        for (int64_t i = 0; i < N; i++) {
            int64_t less = 0, equal = 0;
            for (int64_t k = 0; k < N; k++) {
                less += column[k] < column[i];
                equal += column[k] == column[i];
            }
            const double rank = (double)less + 0.5 * (double)(equal + 1);
            assert_near(s.values[i * Q + j], sn_normal_quantile((rank - 0.5) / N), 1e-9);
            assert_near(s.plain[i * Q + j], plain[i], 1e-9);
        }
    }
    const double almost[] = {1, 2, 1, 2, 3, 2, 1, 2, 1, 0}; /* one row is another, at the top or below */
    OK(sn_scores_create(5, 2, almost, &keep, &s));
    assert_int_equal(s.columns, 2);
}

/* Columns that tell nothing new are left out; what is left has the covariance I and says the same. */
TEST(test_whitening)
{
    SN_WORKSPACE(keep);
    double v[N * D], *white = NULL;
    int64_t rank = 0;
    sn_scores s;
    draw(v);
    for (int64_t i = 0; i < N; i++) v[i * D + CONSTANT] = v[i * D] - 2.0 * v[i * D + 3];
    OK(sn_scores_create(N, D, v, &keep, &s));
    OK(sn_scores_whiten(&s, &keep, &rank, &white));
    assert_int_equal(rank, 3);
    double along[3][D] = {0};
    for (int64_t a = 0; a < rank; a++) {
        for (int64_t b = 0; b < rank; b++) {
            double sum = 0.0;
            for (int64_t i = 0; i < N; i++) sum += white[i * rank + a] * white[i * rank + b] / N;
            assert_near(sum, a == b ? 1.0 : 0.0, 1e-9);
        }
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < D; j++) along[a][j] += white[i * rank + a] * s.plain[i * D + j] / N;
    }
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < D; j++) {
            double sum = 0.0;
            for (int64_t a = 0; a < rank; a++) sum += white[i * rank + a] * along[a][j];
            assert_near(sum, s.plain[i * D + j], 1e-9);
        }
    }
}

/* Two columns that are almost one: a variance of 1e-12 of the largest is the least that counts. */
TEST(test_almost_one_column)
{
    SN_WORKSPACE(keep);
    static const double off[] = {1.414e-6, 2.828e-6}; /* variances of 1e-12 and 4e-12 beside one of 2 */
    for (int k = 0; k < 2; k++) {
        double v[N * 2], *white = NULL;
        int64_t rank = 0;
        sn_scores s;
        for (int64_t i = 0; i < N; i++) {
            const double angle = 2.0 * M_PI * (double)i / N;
            v[i * 2] = sin(angle);
            v[i * 2 + 1] = sin(angle) + off[k] * cos(angle);
        }
        OK(sn_scores_create(N, 2, v, &keep, &s));
        OK(sn_scores_whiten(&s, &keep, &rank, &white));
        assert_int_equal(rank, 1 + k);
    }
}

TEST(test_projection)
{
    SN_WORKSPACE(keep);
    enum { COUNT = 2 };
    double v[N * D], along[N * COUNT] = {0}, direction[Q * COUNT];
    sn_scores s, few, right;
    draw(v);
    OK(sn_scores_create(N, D, v, &keep, &s));
    OK(sn_scores_project(&s, COUNT, 9, 5, &keep, &few));
    sn_random random = sn_random_from(9, SN_STREAM_FEATURES, 5);
    for (int64_t k = 0; k < Q * COUNT; k++) direction[k] = sn_random_normal(&random);
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < COUNT; k++)
            for (int64_t j = 0; j < Q; j++)
                along[i * COUNT + k] += s.values[i * Q + j] * direction[j * COUNT + k];
    OK(sn_scores_create(N, COUNT, along, &keep, &right));
    assert_int_equal(few.n, N);
    assert_int_equal(few.columns, COUNT);
    for (int64_t k = 0; k < N * COUNT; k++) {
        assert_near(few.values[k], right.values[k], 1e-9);
        assert_near(few.plain[k], right.plain[k], 1e-9);
    }
}

/* K of the header file, by hand; products for up to 20 columns. */
TEST(test_widths)
{
    assert_int_equal(sn_regression_width(60, 3, SN_FEATURES_RICH, 7), 3 * (3 + 5) + 6 + 7);
    assert_int_equal(sn_regression_width(60, 3, SN_FEATURES_PLAIN, 7), 3 * (3 + 3) + 7);
    assert_int_equal(sn_regression_width(1000000, 1, SN_FEATURES_RICH, 0), 3 + 10 + 1);
    assert_int_equal(sn_regression_width(1000, 20, SN_FEATURES_RICH, 0), 20 * (3 + 4) + 210);
    assert_int_equal(sn_regression_width(1000, 21, SN_FEATURES_RICH, 0), 21 * (3 + 4));
    assert_int_equal(sn_regression_width(1000, 200, SN_FEATURES_RICH, 0), 200 * (3 + 2));
    assert_int_equal(sn_regression_width(1000, 400, SN_FEATURES_RICH, 0), 400 * 3);
}

/* The waves of one width: cos(w's + b). */
static void wave(const sn_scores *s, double bandwidth, sn_random *random, double out[N])
{
    double weight[Q];
    for (int64_t j = 0; j < Q; j++) weight[j] = sn_random_normal(random) / bandwidth;
    const double phase = 2.0 * M_PI * sn_random_uniform(random);
    for (int64_t i = 0; i < N; i++) {
        double angle = phase;
        for (int64_t j = 0; j < Q; j++) angle += weight[j] * s->values[i * Q + j];
        out[i] = cos(angle);
    }
}

static void check_column(const double *f, int64_t width, int64_t *at, const double column[N], double variance)
{
    double right[N];
    scaled(N, column, variance, N, right);
    for (int64_t i = 0; i < N; i++) assert_near(f[i * width + *at], right[i], 1e-9);
    ++*at;
}

static void check_features(const sn_scores *s, sn_richness rich, int64_t k_max, int64_t random_ones)
{
    enum { FIRST = 2, MOST = 64 };
    static double f[N * MOST];
    double column[N];
    const int64_t own = sn_regression_width(N, Q, rich, random_ones), width = FIRST + own + 1;
    for (int64_t k = 0; k < N * width; k++) f[k] = -99.0;
    OK(sn_regression_features(s, rich, random_ones, (sn_drawing){3, 20, 2}, width, FIRST, f));
    int64_t at = FIRST;
    for (int64_t j = 0; j < Q; j++) {
        for (int64_t k = -2; k <= k_max; k++) {
            for (int64_t i = 0; i < N; i++) {
                const double value = s->values[i * Q + j];
                column[i] = k == -2   ? s->plain[i * Q + j]
                            : k == -1 ? value
                            : k == 0  ? value * value
                                      : cos((double)k * M_PI * sn_normal_lower(value));
            }
            check_column(f, width, &at, column, k < 1 ? 100.0 : 1.0 / (double)(k * k));
        }
    }
    for (int64_t j = 0; j < Q && rich == SN_FEATURES_RICH; j++) {
        for (int64_t k = j; k < Q; k++) {
            for (int64_t i = 0; i < N; i++) column[i] = s->plain[i * Q + j] * s->plain[i * Q + k];
            check_column(f, width, &at, column, 1.0);
        }
    }
    const int64_t border[4] = {0, random_ones / 3, 2 * random_ones / 3, random_ones};
    for (int part = 0; part < 3; part++) {
        sn_random random = sn_random_from(3, SN_STREAM_FEATURES, 20 + (uint32_t)part);
        for (int64_t k = border[part]; k < border[part + 1]; k++) {
            wave(s, sqrt(2.0 * Q) * pow(2.0, part - 1), &random, column);
            check_column(f, width, &at, column, (double)Q / (double)random_ones);
        }
    }
    assert_int_equal(at, width - 1);
    for (int64_t i = 0; i < N; i++) /* columns of others are left alone */
        assert_true(f[i * width] == -99.0 && f[i * width + 1] == -99.0 && f[i * width + width - 1] == -99.0);
}

TEST(test_regression_features)
{
    SN_WORKSPACE(keep);
    double v[N * D];
    sn_scores s;
    draw(v);
    OK(sn_scores_create(N, D, v, &keep, &s));
    check_features(&s, SN_FEATURES_RICH, 5, 7);
    check_features(&s, SN_FEATURES_PLAIN, 3, 7);
    check_features(&s, SN_FEATURES_PLAIN, 3, 0);
}

static double distance(const sn_standardised *data, int64_t a, int64_t b)
{
    double sum = 0.0;
    for (int64_t j = 0; j < data->columns; j++)
        sum += pow(data->values[a * data->columns + j] - data->values[b * data->columns + j], 2);
    return sqrt(sum);
}

/* The median over all pairs of the drawn rows; as many of them lie below as above. */
static void check_bandwidth(const sn_standardised *data, int64_t rows, uint64_t seed)
{
    static double all[200 * 199 / 2];
    sn_shuffle order;
    sn_shuffle_init(&order, (uint64_t)data->n, seed, 0);
    int64_t pairs = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < i; j++)
            all[pairs++] = distance(data, (int64_t)sn_shuffle_at(&order, (uint64_t)i),
                                    (int64_t)sn_shuffle_at(&order, (uint64_t)j));
    qsort(all, (size_t)pairs, sizeof *all, sn_by_double);
    assert_near(data->bandwidth,
                pairs % 2 == 1 ? all[pairs / 2] : 0.5 * (all[pairs / 2] + all[pairs / 2 - 1]), 1e-9);
}

/* Columns of numbers whose squares are no numbers, or 0, are standardised like all others. */
TEST(test_standardised)
{
    SN_WORKSPACE(keep);
    enum { ROWS = 230 };
    static double a[ROWS * 3], b[ROWS * 2];
    sn_random random = sn_random_from(8, SN_STREAM_TEST, 2);
    for (int64_t i = 0; i < ROWS; i++) {
        a[i * 3] = 1e200 * (2.0 + sn_random_normal(&random));
        a[i * 3 + 1] = 0.1; /* constant, and no sum of 0.1 is exact */
        a[i * 3 + 2] = 1e-200 * sn_random_normal(&random);
        b[i * 2] = 40.0;
        b[i * 2 + 1] = 4e9 + 0.25 * sn_random_uniform(&random);
    }
    static const int64_t rows[] = {7, 8, 199, 201,
                                   ROWS}; /* an odd and an even number of pairs, part of them */
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const int64_t n = rows[k];
        double column[ROWS], right[ROWS];
        sn_standardised data;
        OK(sn_standardise(n, (sn_side){3, a}, (sn_side){2, b}, 6, &keep, &data));
        assert_int_equal(data.columns, 3);
        for (int64_t j = 0; j < 3; j++) {
            for (int64_t i = 0; i < n; i++)
                column[i] = j == 0 ? a[i * 3] / 1e200 : j == 1 ? a[i * 3 + 2] / 1e-200 : b[i * 2 + 1];
            scaled(n, column, 1.0, (double)(n - 1), right);
            for (int64_t i = 0; i < n; i++) assert_near(data.values[i * 3 + j], right[i], 1e-9);
        }
        check_bandwidth(&data, n < 200 ? n : 200, 6);
    }
}

/* Most rows alike: the median distance is 0, and 1 takes its place; so it does with one row or no column. */
TEST(test_bandwidth_without_distances)
{
    SN_WORKSPACE(keep);
    const double few[] = {1, 1, 1, 1, 1, 2}, flat[] = {3, 3, 3};
    sn_standardised data;
    OK(sn_standardise(6, (sn_side){1, few}, (sn_side){0, NULL}, 1, &keep, &data));
    assert_true(data.columns == 1 && data.bandwidth == 1.0);
    OK(sn_standardise(3, (sn_side){1, flat}, (sn_side){0, NULL}, 1, &keep, &data));
    assert_true(data.columns == 0 && data.bandwidth == 1.0);
    OK(sn_standardise(1, (sn_side){1, flat}, (sn_side){1, few}, 1, &keep, &data));
    assert_true(data.columns == 0 && data.bandwidth == 1.0);
}

RUN_TESTS(NULL, NULL)
