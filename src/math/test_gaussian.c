/* Gaussians with missing entries, against closed forms. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "math/gaussian.h"
#include "math/linalg.h"
#include "math/noise.h"

enum { D = 5, N = 400 };

static double normal(uint32_t i, uint32_t j)
{
    return sn_noise_normal(3, SN_STREAM_TEST, i, 0, j, 0, 0);
}

/* x_j = .8 x_{j-1} + .6 e, moved to a mean of j / 2; those are missing for whom a normal is below `missing`.
 */
static void make_rows(double missing, float *x)
{
    for (uint32_t i = 0; i < N; i++) {
        double value = 0.0;
        for (uint32_t j = 0; j < D; j++) {
            value = j == 0 ? normal(i, j) : 0.8 * value + 0.6 * normal(i, j);
            const bool there = sn_noise_normal(4, SN_STREAM_TEST, i * D + j, 0, 0, 0, 0) >= missing;
            x[i * D + j] = there ? (float)(value + 0.5 * (double)j) : NAN;
        }
    }
}

/* entry = mean + C'^-1 normal: all missing entries as one piece. */
static void draw(const sn_full_row *row, const double *normal, double *entry)
{
    const double rest[SN_FULL_MOST] = {0};
    sn_full_piece(row, 0, row->count, rest, normal, entry);
    for (int64_t i = 0; i < row->count; i++) entry[i] += row->mean[i];
}

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.10g is not %.10g", a, b);
}

TEST(complete_rows_give_sample_moments)
{
    float x[N * D];
    double s[D * D];
    SN_FREED_BY(sn_gaussian_free) sn_gaussian g = {0};
    make_rows(-(double)INFINITY, x);
    OK(sn_gaussian_fit_full(&(sn_gaussian_fit){.n = N, .d = D, .x = x}, s, &g));
    for (int64_t a = 0; a < D; a++) {
        double mean = 0.0;
        for (int64_t i = 0; i < N; i++) mean += (double)x[i * D + a] / N;
        near(g.mean[a], mean, 1e-9);
        for (int64_t b = 0; b < D; b++) {
            double sum = 0.0;
            for (int64_t i = 0; i < N; i++)
                sum += ((double)x[i * D + a] - g.mean[a]) * ((double)x[i * D + b] - g.mean[b]) / N;
            near(s[a * D + b], sum, 1e-9);
        }
    }
}

/* One column has gaps, the other none: the likelihood is that of a regression and of a mean. */
TEST(gaps_in_one_column_have_a_closed_form)
{
    float x[2 * N];
    double s[4];
    SN_FREED_BY(sn_gaussian_free) sn_gaussian g = {0};
    double n = 0, m1 = 0, m2 = 0, s11 = 0, s12 = 0, s22 = 0, all1 = 0, all11 = 0;
    for (int64_t i = 0; i < N; i++) {
        const double a = normal((uint32_t)i, 0), b = 0.7 * a + 0.5 * normal((uint32_t)i, 1) + 1.0;
        x[2 * i] = (float)a;
        x[2 * i + 1] = a > 0.3 ? NAN : (float)b; /* missing at random, not completely */
    }
    for (int64_t i = 0; i < N; i++) {
        const double a = (double)x[2 * i], b = (double)x[2 * i + 1];
        all1 += a / N;
        all11 += a * a / N;
        if (isnan(b)) continue;
        n += 1, m1 += a, m2 += b, s11 += a * a, s12 += a * b, s22 += b * b;
    }
    m1 /= n, m2 /= n, s11 = s11 / n - m1 * m1, s12 = s12 / n - m1 * m2, s22 = s22 / n - m2 * m2;
    const double slope = s12 / s11, rest = s22 - slope * s12, v1 = all11 - all1 * all1;
    OK(sn_gaussian_fit_full(&(sn_gaussian_fit){.n = N, .d = 2, .x = x, .iterations = 1000}, s, &g));
    near(g.mean[0], all1, 1e-6);
    near(g.mean[1], m2 + slope * (all1 - m1), 3e-3);
    near(s[0], v1, 1e-6);
    near(s[1], slope * v1, 3e-3);
    near(s[3], rest + slope * slope * v1, 3e-3);
}

/* log N(x_o; m_o, S_oo), summed over the rows. */
static double likelihood(const float *x, const double *mean, const double *s)
{
    double sum = 0.0;
    for (int64_t i = 0; i < N; i++) {
        int64_t at[D], count = 0;
        double a[D * D], b[D];
        for (int64_t j = 0; j < D; j++)
            if (!isnan(x[i * D + j])) at[count++] = j;
        if (count == 0) continue;
        for (int64_t j = 0; j < count; j++) {
            b[j] = (double)x[i * D + at[j]] - mean[at[j]];
            for (int64_t k = 0; k < count; k++) a[j * count + k] = s[at[j] * D + at[k]];
        }
        OK(sn_cholesky(count, a));
        sn_triangular_solve(count, false, a, 1, b);
        for (int64_t j = 0; j < count; j++) sum -= b[j] * b[j] / 2.0 + log(a[j * count + j]);
    }
    return sum;
}

TEST(the_likelihood_never_falls)
{
    float x[N * D];
    double before = -(double)INFINITY, s[D * D];
    make_rows(-0.6, x);
    for (int k = 1; k <= 12; k++) {
        SN_FREED_BY(sn_gaussian_free) sn_gaussian g = {0};
        const sn_gaussian_fit fit = {.n = N, .d = D, .x = x, .iterations = k};
        OK(sn_gaussian_fit_full(&fit, s, &g));
        const double now = likelihood(x, g.mean, s);
        if (now < before - 1e-6) fail_msg("step %d: %.8g after %.8g", k, now, before);
        before = now;
    }
}

/* The textbook: m_u + S_uo S_oo^-1 (x_o - m_o) and S_uu - S_uo S_oo^-1 S_ou, of entries 1 and 3. */
static void check_conditional(const double *mean, const double *s, const double *z, const double *got_mean,
                              const double *got_variance)
{
    const int64_t u[] = {1, 3}, o[] = {0, 2, 4};
    for (int a = 0; a < 2; a++) {
        double soo[9], b[3];
        for (int i = 0; i < 3; i++) {
            b[i] = s[u[a] * D + o[i]];
            for (int j = 0; j < 3; j++) soo[i * 3 + j] = s[o[i] * D + o[j]];
        }
        OK(sn_solve_spd(3, soo, 1, b));
        double expected = mean[u[a]], variance = s[u[a] * D + u[a]];
        for (int i = 0; i < 3; i++) {
            expected += b[i] * (z[o[i]] - mean[o[i]]);
            variance -= b[i] * s[u[a] * D + o[i]];
        }
        near(got_mean[a], expected, 1e-8);
        near(got_variance[a], variance, 1e-8);
    }
}

TEST(conditional_laws_are_those_of_the_book)
{
    float x[N * D];
    double s[D * D], z[D] = {0.3, (double)NAN, 1.7, (double)NAN, -0.4}, variance[2];
    SN_FREED_BY(sn_gaussian_free) sn_gaussian g = {0};
    sn_full_row row;
    make_rows(-1.0, x);
    OK(sn_gaussian_fit_full(&(sn_gaussian_fit){.n = N, .d = D, .x = x}, s, &g));
    sn_full_condition(&g, z, NULL, &row);
    assert_int_equal(row.count, 2);
    for (int i = 0; i < 2; i++) variance[i] = sn_full_variance(&row, i);
    check_conditional(g.mean, s, z, row.mean, variance);
    /* Draws have these moments. */
    enum { DRAWS = 40000 };
    double first[2] = {0}, second[2] = {0}, cross = 0.0;
    for (uint32_t d = 0; d < DRAWS; d++) {
        double e[2] = {normal(d, 7), normal(d, 8)};
        draw(&row, e, e);
        for (int i = 0; i < 2; i++) {
            first[i] += e[i] / DRAWS;
            second[i] += (e[i] - row.mean[i]) * (e[i] - row.mean[i]) / DRAWS;
        }
        cross += (e[0] - row.mean[0]) * (e[1] - row.mean[1]) / DRAWS;
    }
    for (int i = 0; i < 2; i++) {
        near(first[i], row.mean[i], 4.0 * sqrt(variance[i] / DRAWS));
        near(second[i], variance[i], 0.04 * variance[i]);
    }
    const double *w = g.precision, det = w[1 * D + 1] * w[3 * D + 3] - w[1 * D + 3] * w[1 * D + 3];
    near(cross, -w[1 * D + 3] / det, 0.02 * sqrt(variance[0] * variance[1]));
}

/* Pieces from the last entry to the first have the law of the whole: the last two given what is known, and
   the first given these as well, which is what conditioning anew says. */
TEST(pieces_are_laws_given_those_after_them)
{
    float x[N * D];
    double s[D * D], z[D] = {0.3, (double)NAN, 1.7, (double)NAN, (double)NAN};
    const bool early[D] = {false, true, false, false, true};
    SN_FREED_BY(sn_gaussian_free) sn_gaussian g = {0};
    sn_full_row row, anew;
    make_rows(-(double)INFINITY, x);
    OK(sn_gaussian_fit_full(&(sn_gaussian_fit){.n = N, .d = D, .x = x}, s, &g));
    sn_full_condition(&g, z, NULL, &anew);
    sn_full_condition(&g, z, early, &row);
    const int64_t order[] = {3, 4, 1};
    const int in_anew[] = {1, 2, 0};
    double rest[3] = {0}, gap[3], normals[3] = {0.0, 0.5, -1.2};
    assert_int_equal(row.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(row.at[i], order[i]);
        near(row.mean[i], anew.mean[in_anew[i]], 1e-10);
        near(sn_full_variance(&row, i), sn_full_variance(&anew, in_anew[i]), 1e-10);
    }
    sn_full_piece(&row, 1, 3, rest, NULL, gap);
    near(gap[1], 0.0, 1e-12);
    near(gap[2], 0.0, 1e-12);
    /* All at once and in pieces the same draw. */
    double whole[3];
    normals[0] = 0.7;
    draw(&row, normals, whole);
    sn_full_piece(&row, 1, 3, rest, normals, gap);
    sn_full_settle(&row, 1, 3, gap, rest);
    sn_full_piece(&row, 0, 1, rest, normals, gap);
    for (int i = 0; i < 3; i++) near(row.mean[i] + gap[i], whole[i], 1e-10);
    /* What is expected of the first, when the others are known. */
    z[4] = row.mean[1] + gap[1];
    z[1] = row.mean[2] + gap[2];
    sn_full_condition(&g, z, NULL, &anew);
    sn_full_piece(&row, 0, 1, rest, NULL, gap);
    near(row.mean[0] + gap[0], anew.mean[0], 1e-10);
}

/* The factor model is the Gaussian with S = L L' + noise. */
TEST(factors_say_what_their_covariance_says)
{
    SN_FREED_BY(sn_gaussian_free) sn_gaussian g = {.d = D, .factors = 2};
    OK(SN_NEW(g.mean, D));
    OK(SN_NEW(g.loadings, D * 2));
    OK(SN_NEW(g.noise, D));
    double s[D * D];
    const double z[D] = {0.3, (double)NAN, 1.7, (double)NAN, -0.4};
    for (int64_t j = 0; j < D; j++) {
        g.mean[j] = 0.1 * (double)j;
        g.noise[j] = 0.2 + 0.1 * (double)j;
        for (int64_t a = 0; a < 2; a++) g.loadings[j * 2 + a] = normal((uint32_t)j, (uint32_t)(20 + a));
    }
    for (int64_t i = 0; i < D; i++)
        for (int64_t j = 0; j < D; j++) {
            s[i * D + j] = i == j ? g.noise[i] : 0.0;
            for (int64_t a = 0; a < 2; a++) s[i * D + j] += g.loadings[i * 2 + a] * g.loadings[j * 2 + a];
        }
    OK(sn_gaussian_ready(&g));
    sn_factor_row row;
    sn_factor_start(&g, &row);
    for (int64_t j = 0; j < D; j++) {
        if (isnan(z[j]))
            sn_factor_missing(&g, j, &row);
        else
            sn_factor_known(&g, j, z[j], &row);
    }
    sn_factor_solve(&g, &row);
    const double mean[] = {sn_factor_mean(&g, 1, &row), sn_factor_mean(&g, 3, &row)},
                 variance[] = {sn_factor_variance(&g, 1, &row), sn_factor_variance(&g, 3, &row)};
    check_conditional(g.mean, s, z, mean, variance);
}

/* From rows of a one-factor model with gaps, the covariance comes back. */
TEST(factors_are_found)
{
    enum { ROWS = 3000, WIDE = 12 };
    SN_BLOCK float *x = test_zeros(ROWS * WIDE, sizeof *x);
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t j = 0; j < WIDE; j++) {
            x[i * WIDE + j] = (float)(1.0 + 0.9 * normal(i, 50) + 0.5 * normal(i, 60 + j));
            if (normal(i, 100 + j) < -0.8) x[i * WIDE + j] = NAN;
        }
    SN_FREED_BY(sn_gaussian_free) sn_gaussian g = {0};
    OK(sn_gaussian_fit_factors(&(sn_gaussian_fit){.n = ROWS, .d = WIDE, .x = x}, 2, &g));
    for (int64_t j = 0; j < WIDE; j++) {
        near(g.mean[j], 1.0, 0.07);
        double variance = g.noise[j], cross = 0.0;
        for (int64_t a = 0; a < 2; a++) {
            variance += g.loadings[j * 2 + a] * g.loadings[j * 2 + a];
            cross += g.loadings[j * 2 + a] * g.loadings[(j + 1) % WIDE * 2 + a];
        }
        near(variance, 0.81 + 0.25, 0.08);
        near(cross, 0.81, 0.08);
    }
}

/* The law of the first entries has their mean and their part of the covariance. */
TEST(the_first_entries_keep_their_law)
{
    enum { FEW = 3 };
    float x[N * D];
    double s[D * D], back[FEW * FEW] = {0};
    SN_FREED_BY(sn_gaussian_free) sn_gaussian g = {0}, first = {0}, factors = {0}, of_factors = {0};
    make_rows(-1.0, x);
    const sn_gaussian_fit fit = {.n = N, .d = D, .x = x};
    OK(sn_gaussian_fit_full(&fit, s, &g));
    OK(sn_gaussian_first(&g, FEW, &first));
    assert_int_equal(first.d, FEW);
    for (int64_t a = 0; a < FEW; a++) back[a * FEW + a] = 1.0;
    OK(sn_solve_spd(FEW, first.precision, FEW, back));
    for (int64_t a = 0; a < FEW; a++) {
        near(first.mean[a], g.mean[a], 0.0);
        for (int64_t b = 0; b < FEW; b++) near(back[a * FEW + b], s[a * D + b], 1e-6);
    }
    OK(sn_gaussian_fit_factors(&fit, 2, &factors));
    OK(sn_gaussian_first(&factors, FEW, &of_factors));
    double all[4] = {1.0, 0.0, 0.0, 1.0};
    for (int64_t j = 0; j < FEW; j++) {
        near(of_factors.noise[j], factors.noise[j], 0.0);
        for (int64_t a = 0; a < 4; a++)
            all[a] += factors.loadings[j * 2 + a / 2] * factors.loadings[j * 2 + a % 2] / factors.noise[j];
    }
    for (int64_t a = 0; a < 4; a++) near(of_factors.all[a], all[a], 1e-9);
}

RUN_TESTS(NULL, NULL)
