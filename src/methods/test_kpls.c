#define METHOD "kpls"
#include "methods/test_kernel_help.h"

/* Of Rosipal and Trejo: t = K u, K <- (I - tt') K (I - tt'), y <- y - t t'y with one response; K centred. */
static void kernel_scores(int64_t n, int64_t k, double *gram, double *y, double *score)
{
    SN_BLOCK double *t = zeros(n), *row = zeros(n);
    for (int64_t a = 0; a < k; a++) {
        sn_gemv(1.0, sn_as(gram, n, n), y, 0.0, t);
        const double length = sn_norm(n, t);
        for (int64_t i = 0; i < n; i++) score[i * k + a] = t[i] /= length;
        for (int side = 0; side < 2; side++) {
            sn_gemv(1.0, side == 0 ? sn_turned(gram, n, n) : sn_as(gram, n, n), t, 0.0, row);
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < n; j++) gram[i * n + j] -= side == 0 ? t[i] * row[j] : row[i] * t[j];
        }
        const double along = sn_dot(n, t, y);
        for (int64_t i = 0; i < n; i++) y[i] -= along * t[i];
    }
}

TEST(scores_are_those_of_the_textbook)
{
    enum { N = 40, P = 3, K = 4 };
    SN_FREED_BY(sample_free) sample s = make_sample(N, P, 0, 1, 1);
    const double distance = plain_distance(N, P, s.wide, false);
    SN_BLOCK double *k = plain_gram(N, N, P, s.wide, s.wide, 1.0 / (2.0 * distance * distance)),
                    *gram = centred(N, k);
    double y[N], score[N * K], mean = 0.0;
    for (int i = 0; i < N; i++) mean += s.y[i] / N;
    for (int i = 0; i < N; i++) y[i] = s.y[i] - mean;
    kernel_scores(N, K, gram, y, score);
    standardise(N, N, K, score);
    assert_fits_score(&s, N, K, score, "");
}

RUN_TESTS(NULL, NULL)
