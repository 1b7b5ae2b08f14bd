/* The statistic of the random-feature tests and its laws, written out for a few numbers. */
#include "math/linalg.h"
#include "math/noise.h"
#include "stats/chisq_mixture.h"
#include "stats/covariance_test.h"
#include "stats/distributions.h"
#include "stats/test_textbook.h"

enum { N = 600, PERMUTATIONS = 199, SEED = 5, SUBSTREAM = 1000 };

/* Two columns with mean 0, weakly related. */
static void draw(double *e)
{
    sn_random random = sn_random_from(4, SN_STREAM_TEST, 0);
    for (int i = 0; i < N; i++) {
        e[2 * i] = sn_random_normal(&random);
        e[2 * i + 1] = 0.04 * e[2 * i] + sn_random_normal(&random);
    }
    centre_columns(N, 2, e);
}

/* Of one column a side, given dz columns z. */
static double p_value(const double *e, stonet_null_law law, int64_t dz, const double *z)
{
    const sn_residuals residuals = {.n = N, .mx = 1, .my = 1, .e = e, .dz = dz, .z = z};
    double statistic, p;
    OK(sn_covariance_test(&residuals, law, PERMUTATIONS, (sn_drawing){SEED, SUBSTREAM, 1}, &statistic, &p));
    return p;
}

enum { MX = 2, MY = 3, WIDTH = MX + MY, D = MX * MY };

/* The columns of one side are related, those of the two sides weakly so, and the second is small. */
static void draw_several(double e[N * WIDTH])
{
    sn_random random = sn_random_from(9, SN_STREAM_TEST, 1);
    for (int i = 0; i < N; i++) {
        double *row = e + i * WIDTH;
        for (int j = 0; j < WIDTH; j++)
            row[j] = (j == 1 ? 0.05 : 1.0) *
                     (sn_random_normal(&random) + (j == 1 || j == MX ? 0.05 * row[0] : 0.0) +
                      (j > MX ? 0.3 * row[MX] : 0.0));
    }
    centre_columns(N, WIDTH, e);
}

/* C = sum_i e_x,order(i) e_y,i' / (n - 1) as a vector. */
static void covariances(const double e[N * WIDTH], const int64_t *order, double c[D])
{
    for (int a = 0; a < MX; a++) {
        for (int b = 0; b < MY; b++) {
            c[a * MY + b] = 0.0;
            for (int i = 0; i < N; i++)
                c[a * MY + b] +=
                    e[(order != NULL ? order[i] : i) * WIDTH + a] * e[i * WIDTH + MX + b] / (N - 1);
        }
    }
}

static double squares(const double c[D])
{
    double sum = 0.0;
    for (int k = 0; k < D; k++) sum += c[k] * c[k];
    return sum;
}

/* The p-value of a law from the eigenvalues of Pi; the chi-square leaves small ones out. */
static double expected_p(stonet_null_law law, double statistic, double excess, const double c[D],
                         const double lambda[D], const double vector[D * D])
{
    double p = -1.0, quadratic = 0.0;
    int rank = 0;
    if (law == STONET_NULL_HBE) return sn_mixture_hbe(D, lambda, statistic);
    if (law == STONET_NULL_GAMMA) return sn_mixture_sw(D, lambda, statistic);
    if (law == STONET_NULL_LPB4) {
        OK(sn_mixture_lpb4(D, lambda, statistic, &p));
        return p;
    }
    for (int k = 0; k < D; k++) {
        double along = 0.0;
        for (int a = 0; a < D; a++) along += vector[a * D + k] * c[a];
        if (lambda[k] > 0.01 * lambda[0]) quadratic += along * along / lambda[k];
        rank += lambda[k] > 0.01 * lambda[0];
    }
    assert_true(rank > 1 && rank < D);
    return sn_chisq_upper(rank, N / (1.0 + excess) * quadratic);
}

/* Permutations replace a law where few rows decide, and there alone. */
TEST(few_rows_that_decide)
{
    double e[2 * N];
    for (int apart = 5; apart <= 60; apart += 55) { /* every such row is a one */
        const double mean = 1.0 / apart;
        for (int i = 0; i < N; i++) {
            e[2 * i] = (i % apart == 0) - mean;
            e[2 * i + 1] = (i % apart == (i < N / 2)) - mean;
        }
        const double permuted = p_value(e, STONET_NULL_PERMUTATION, 0, NULL);
        for (stonet_null_law law = STONET_NULL_LPB4; law < STONET_NULL_PERMUTATION; law++)
            assert_true((p_value(e, law, 0, NULL) == permuted) == (apart > 5));
    }
    for (int i = 0; i < N; i++) e[2 * i + 1] = 0.0; /* all permutations are as large */
    assert_true(p_value(e, STONET_NULL_PERMUTATION, 0, NULL) == 1.0);
}

/* Given z, rows change places with the ten that z, or the size of e_x that it says, puts beside them. The
   rows are in the order of z here, and the size of e_x grows with z. */
TEST(neighbours_change_places)
{
    double e[2 * N], z[N], two[2 * N], c = 0.0;
    int above = 0;
    draw(e);
    for (int i = 0; i < N; i++) {
        z[i] = i - 0.5 * (N - 1);
        e[2 * i] *= 1.0 + 2.0 * i / N;
        two[2 * i] = 0.0; /* says nothing */
        two[2 * i + 1] = z[i];
        c += e[2 * i] * e[2 * i + 1];
    }
    for (uint32_t b = 0; b < PERMUTATIONS; b++) {
        double permuted = 0.0;
        sn_random random = sn_random_from(SEED, SN_STREAM_PERMUTE, SUBSTREAM + b);
        for (int first = 0; first < N; first += 10) {
            int64_t place[10];
            sn_random_permutation(&random, 10, place);
            for (int k = 0; k < 10; k++) permuted += e[2 * (first + place[k])] * e[2 * (first + k) + 1];
        }
        above += fabs(permuted) >= fabs(c);
    }
    const double p = p_value(e, STONET_NULL_PERMUTATION, 1, z);
    assert_true(fabs(p - (above + 1.0) / (PERMUTATIONS + 1.0)) < 1e-12);
    assert_true(p != p_value(e, STONET_NULL_PERMUTATION, 0, NULL));
    assert_true(p == p_value(e, STONET_NULL_PERMUTATION, 2, two));
}

TEST(several_features)
{
    const double used = 0.3 * N, excess = 0.4;
    double e[N * WIDTH], c[D], pi[D * D] = {0}, lambda[D], vector[D * D], mean = 0.0;
    draw_several(e);
    covariances(e, NULL, c);
    const double right = N * squares(c) / (1.0 + excess);
    const double scale = pow(N, 3) / (pow(N - 1, 2) * (N - 1 - used)) / N;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < D * D; k++)
            pi[k] += scale * e[i * WIDTH + k / D / MY] * e[i * WIDTH + MX + k / D % MY] *
                     e[i * WIDTH + k % D / MY] * e[i * WIDTH + MX + k % D % MY];
    OK(sn_eigh(D, pi, lambda, vector));
    for (int k = 0; k < D; k++) mean += lambda[k];
    const sn_residuals r = {.n = N, .mx = MX, .my = MY, .e = e, .used = used, .excess = excess};
    assert_true(fabs(sn_covariance_statistic(&r) - right) < 1e-10);
    assert_true(fabs(sn_covariance_mean(&r) - mean) < 1e-10);
    for (stonet_null_law law = STONET_NULL_LPB4; law <= STONET_NULL_PERMUTATION; law++) {
        double statistic, p, expected;
        OK(sn_covariance_test(&r, law, PERMUTATIONS, (sn_drawing){SEED, SUBSTREAM, 2}, &statistic, &p));
        assert_true(fabs(statistic - right) < 1e-10);
        int above = 0;
        for (uint32_t b = 0; law == STONET_NULL_PERMUTATION && b < PERMUTATIONS; b++) {
            int64_t order[N];
            double permuted[D];
            sn_random random = sn_random_from(SEED, SN_STREAM_PERMUTE, SUBSTREAM + b);
            sn_random_permutation(&random, N, order);
            covariances(e, order, permuted);
            above += N * squares(permuted) * (N - 1) / (N - 1 - used) >= right;
        }
        expected = law == STONET_NULL_PERMUTATION ? (above + 1.0) / (PERMUTATIONS + 1.0)
                                                  : expected_p(law, right, excess, c, lambda, vector);
        assert_true(fabs(p - expected) < 1e-9 && p > 0.001 && p < 0.9);
    }
}

/* Where permutations replace the chi-square, they permute a statistic that no linear map of a side changes,
   and find what T, ruled by the largest columns, does not see. */
TEST(permuted_chi_square_is_standardised)
{
    enum { FEW = 90 };
    double e[N * WIDTH], turned[N * WIDTH], statistic, p[2][2];
    draw_several(e);
    for (int i = 0; i < FEW; i++) {
        double *row = e + i * WIDTH;
        row[1] *= 6.0; /* still small, but not left out */
        row[MX] += row[1];
        for (int j = 0; j < WIDTH; j++) turned[i * WIDTH + j] = row[j];
        turned[i * WIDTH] = row[0] - 0.5 * row[1];
        turned[i * WIDTH + 1] = 0.8 * row[1];
        turned[i * WIDTH + MX] = -2.0 * row[MX] + 0.1 * row[WIDTH - 1];
    }
    const stonet_null_law laws[] = {STONET_NULL_CHI2, STONET_NULL_LPB4};
    for (int k = 0; k < 4; k++) {
        const sn_residuals r = {.n = FEW, .mx = MX, .my = MY, .e = k % 2 == 0 ? e : turned};
        assert_true(sn_covariance_permutes(&r, laws[k / 2]));
        OK(sn_covariance_test(&r, laws[k / 2], PERMUTATIONS, (sn_drawing){SEED, SUBSTREAM, 2}, &statistic,
                              &p[k / 2][k % 2]));
    }
    assert_true(p[0][0] == p[0][1]);
    assert_true(p[1][0] != p[1][1]);
    assert_true(p[0][0] < 0.05 && p[0][0] < p[1][0]);
}

RUN_TESTS(NULL, NULL)
