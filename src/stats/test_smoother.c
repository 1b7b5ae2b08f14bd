/* Ridge regressions against matrices that are written out, and the penalties against all of the grid. */
#include "base/workspace.h"
#include "math/noise.h"
#include "stats/smoother.h"
#include "stats/test_textbook.h"

enum { N = 14, M = 11, K = 3, RANK = 10 };

/* Centred columns; the last of the features is the sum of two others. */
static void draw(double f[N * M], double a[N * K])
{
    sn_random random = sn_random_from(2, SN_STREAM_TEST, 3);
    for (int k = 0; k < N * M; k++) f[k] = sn_random_normal(&random) * (1.0 + k % M);
    for (int i = 0; i < N; i++) {
        f[i * M + M - 1] = f[i * M] + f[i * M + 1];
        for (int c = 0; c < K; c++) /* much, little and nothing of what the features say */
            a[i * K + c] =
                (c == 2 ? 0.0 : f[i * M + 2 + c]) + (c == 0 ? 0.1 : 4.0) * sn_random_normal(&random);
    }
    centre_columns(N, M, f);
    centre_columns(N, K, a);
}

/* inverse = (F'F + l I)^-1 */
static void invert_ridge(const double f[N * M], double penalty, double inverse[M * M])
{
    double left[M * M] = {0};
    for (int p = 0; p < M; p++) {
        for (int q = 0; q < M; q++)
            for (int i = 0; i < N; i++) left[p * M + q] += f[i * M + p] * f[i * M + q];
        left[p * M + p] += penalty;
    }
    invert(M, left, inverse);
}

/* s = 1 1'/n + F (F'F + l I)^-1 F'. */
static void smoother_matrix(const double f[N * M], double penalty, double s[N * N])
{
    double inverse[M * M];
    invert_ridge(f, penalty, inverse);
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < N; k++) {
            s[i * N + k] = 1.0 / N;
            for (int p = 0; p < M; p++)
                for (int q = 0; q < M; q++) s[i * N + k] += f[i * M + p] * inverse[p * M + q] * f[k * M + q];
        }
    }
}

/* |a - S a|^2 of a column. */
static double left_over(const double s[N * N], const double a[N * K], int c)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++) {
        double left = a[i * K + c];
        for (int k = 0; k < N; k++) left -= s[i * N + k] * a[k * K + c];
        sum += left * left;
    }
    return sum;
}

TEST(test_fit)
{
    SN_WORKSPACE(keep);
    static const double penalty[K] = {0.3, 20.0, 4000.0};
    double f[N * M], a[N * K], coef[M * K], residual[N * K];
    sn_smoother smoother;
    draw(f, a);
    OK(sn_smoother_create(N, M, f, &keep, &smoother));
    assert_int_equal(smoother.rank, RANK);
    OK(sn_smoother_fit(&smoother, K, a, penalty, coef));
    memcpy(residual, a, sizeof residual);
    OK(sn_smoother_residuals(&smoother, K, penalty, residual));
    for (int c = 0; c < K; c++) {
        double inverse[M * M], s[N * N], trace = 0.0;
        invert_ridge(f, penalty[c], inverse);
        for (int p = 0; p < M; p++) {
            double sum = 0.0;
            for (int q = 0; q < M; q++)
                for (int i = 0; i < N; i++) sum += inverse[p * M + q] * f[i * M + q] * a[i * K + c];
            assert_near(coef[p * K + c], sum, 1e-7);
        }
        smoother_matrix(f, penalty[c], s);
        for (int i = 0; i < N; i++) {
            double left = a[i * K + c];
            for (int k = 0; k < N; k++) {
                const double of_noise = (i == k ? 1.0 : 0.0) - s[i * N + k];
                left -= s[i * N + k] * a[k * K + c];
                trace += of_noise * of_noise; /* S is symmetric */
            }
            assert_near(residual[i * K + c], left, 1e-7);
        }
        assert_near(sn_smoother_left(&smoother, penalty[c]), trace, 1e-7);
    }
    assert_near(sn_smoother_left(&smoother, 0.0), N - 1 - RANK, 1e-7); /* a projection */
}

TEST(test_choice)
{
    SN_WORKSPACE(keep);
    enum { STEPS = 21 };
    double f[N * M], a[N * K], each[K], one[K], best[K + 1], right[K + 1];
    sn_smoother smoother;
    draw(f, a);
    OK(sn_smoother_create(N, M, f, &keep, &smoother));
    OK(sn_smoother_choose(&smoother, K, a, false, each));
    OK(sn_smoother_choose(&smoother, K, a, true, one));
    for (int c = 0; c <= K; c++) best[c] = INFINITY;
    int refused = 0;
    for (int step = 0; step < STEPS; step++) {
        const double penalty = smoother.value[0] * pow(10.0, 0.5 * step - 10.0);
        double s[N * N], degrees = 0.0, together = 0.0;
        smoother_matrix(f, fmax(penalty, 1e-7), s); /* where the inverse is lost none is chosen */
        for (int i = 0; i < N; i++) degrees += s[i * N + i];
        refused += degrees > 0.7 * N;
        if (degrees > 0.7 * N) continue;
        for (int c = 0; c <= K; c++) {
            const double left = c < K ? left_over(s, a, c) : together;
            const double criterion = left / pow(1.0 - degrees / N, 2);
            together += left;
            if (criterion >= best[c]) continue;
            best[c] = criterion;
            right[c] = penalty;
        }
    }
    assert_true(refused > 0 && refused < STEPS - 2); /* both sides of the limit are tried */
    for (int c = 0; c < K; c++) {
        assert_near(each[c], right[c], 1e-7);
        assert_near(one[c], right[K], 1e-7);
    }
    assert_true(right[0] < right[2]);                              /* more noise, larger penalty */
    assert_true(fabs(right[2] / smoother.value[0] - 1.0) < 1e-12); /* up to the end of the grid */
}

/* What is a feature itself asks for no penalty. */
TEST(test_no_noise)
{
    SN_WORKSPACE(keep);
    enum { FEW = 3 };
    double f[N * M], few[N * FEW], a[N * K], chosen;
    sn_smoother smoother;
    draw(f, a);
    for (int k = 0; k < N * FEW; k++) few[k] = f[k / FEW * M + k % FEW];
    for (int i = 0; i < N; i++) a[i] = few[i * FEW];
    OK(sn_smoother_create(N, FEW, few, &keep, &smoother));
    OK(sn_smoother_choose(&smoother, 1, a, false, &chosen));
    assert_true(chosen < 1e-6 * smoother.value[0]);
}

/* Features that are all 0 explain nothing, and break nothing. */
TEST(test_nothing_to_explain_by)
{
    SN_WORKSPACE(keep);
    double f[N * M] = {0}, g[N * M], a[N * K], before[N * K], penalty[K];
    sn_smoother smoother;
    draw(g, a);
    memcpy(before, a, sizeof before);
    OK(sn_smoother_create(N, M, f, &keep, &smoother));
    assert_int_equal(smoother.rank, 0);
    OK(sn_smoother_choose(&smoother, K, a, false, penalty));
    for (int c = 0; c < K; c++) assert_true(penalty[c] == 1.0);
    OK(sn_smoother_residuals(&smoother, K, penalty, a));
    assert_memory_equal(a, before, sizeof before);
    assert_true(sn_smoother_left(&smoother, 1.0) == N - 1);
}

RUN_TESTS(NULL, NULL)
