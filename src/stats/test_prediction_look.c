/* The look by prediction against its definition: every fold by itself, every sum written out. */
#include "base/test_kit.h"
#include "base/workspace.h"
#include "math/noise.h"
#include "stats/distributions.h"
#include "stats/features.h"
#include "stats/independence.h"
#include "stats/smoother.h"

enum { N = 63, DX = 2, FOLDS = 10, RANDOM = N / 6, FIRST_STREAM = 1000, STREAMS = 9 };

typedef struct sides {
    double x[N * DX], y[N], z[N];
} sides;

static void draw(double of_x, sides *s)
{
    sn_random random = sn_random_from(12, SN_STREAM_TEST, 4);
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < DX; j++) s->x[i * DX + j] = sn_random_normal(&random);
        s->z[i] = s->x[i * DX];
        s->y[i] = s->z[i] + of_x * s->x[i * DX + 1] + 0.5 * sn_random_normal(&random);
    }
}

/* Lets the row that comes first in the random order, and so in the training rows, have the largest response.
 */
static void largest_first(sides *s)
{
    int64_t order[N], most = 0;
    sn_random random = sn_random_from(5, SN_STREAM_SPLIT, 0);
    sn_random_permutation(&random, N, order);
    for (int64_t i = 0; i < N; i++)
        if (s->y[i] > s->y[most]) most = i;
    double *const columns[] = {s->x, s->x + 1, s->y, s->z};
    for (int k = 0; k < 4; k++) {
        double *column = columns[k];
        const int64_t step = k < 2 ? DX : 1;
        const double held = column[most * step];
        column[most * step] = column[order[0] * step];
        column[order[0] * step] = held;
    }
}

/* The squared error on the rows of a fold, by features of z and then of `second`. */
static double error_of(const sn_scores *z, const sn_scores *second, uint32_t stream, int fold,
                       const int64_t fold_of[N], int64_t my, const double *y)
{
    SN_WORKSPACE(keep);
    const uint32_t base = FIRST_STREAM + STREAMS * (uint32_t)fold;
    const int64_t of_z = sn_regression_width(N, z->columns, SN_FEATURES_PLAIN, RANDOM);
    const int64_t m = of_z + sn_regression_width(N, second->columns, SN_FEATURES_PLAIN, RANDOM);
    SN_BLOCK double *f = test_zeros(N * m, sizeof *f), *train = test_zeros(N * m, sizeof *f);
    SN_BLOCK double *yt = test_zeros(N * my, sizeof *f), *coef = test_zeros(m * my, sizeof *f);
    double *penalty = test_zeros(my, sizeof *f), error = 0.0;
    OK(sn_regression_features(z, SN_FEATURES_PLAIN, RANDOM, (sn_drawing){5, base, 1}, m, 0, f));
    OK(sn_regression_features(second, SN_FEATURES_PLAIN, RANDOM, (sn_drawing){5, base + stream, 1}, m, of_z,
                              f));
    int64_t n = 0;
    for (int64_t i = 0; i < N; i++) n += fold_of[i] != fold;
    for (int64_t j = 0; j < m; j++) { /* all less the mean of the training rows */
        double mean = 0.0;
        for (int64_t i = 0; i < N; i++) mean += fold_of[i] != fold ? f[i * m + j] / (double)n : 0.0;
        for (int64_t i = 0; i < N; i++) f[i * m + j] -= mean;
    }
    int64_t at = 0;
    for (int64_t i = 0; i < N; i++) {
        if (fold_of[i] == fold) continue;
        for (int64_t j = 0; j < m; j++) train[at * m + j] = f[i * m + j];
        for (int64_t c = 0; c < my; c++) yt[at * my + c] = y[i * my + c];
        at++;
    }
    sn_smoother smoother;
    OK(sn_smoother_create(n, m, train, &keep, &smoother));
    OK(sn_smoother_choose(&smoother, my, yt, false, penalty));
    OK(sn_smoother_fit(&smoother, my, yt, penalty, coef));
    for (int64_t c = 0; c < my; c++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            low = fmin(low, yt[i * my + c]);
            high = fmax(high, yt[i * my + c]);
        }
        for (int64_t i = 0; i < N; i++) {
            double predicted = 0.0;
            for (int64_t j = 0; j < m; j++) predicted += f[i * m + j] * coef[j * my + c];
            if (fold_of[i] == fold) error += pow(y[i * my + c] - fmin(fmax(predicted, low), high), 2);
        }
    }
    free(penalty);
    return error;
}

static void look_slowly(const sides *s, stonet_prediction_gain *out)
{
    SN_WORKSPACE(keep);
    sn_scores x, z;
    double *functions = NULL, of_z[FOLDS], of_both[FOLDS], total = 0.0, sum_z = 0.0, sum_both = 0.0;
    int64_t my = 0, order[N], fold_of[N];
    OK(sn_scores_create(N, DX, s->x, &keep, &x));
    OK(sn_scores_create(N, 1, s->z, &keep, &z));
    OK(sn_response_functions(N, 1, s->y, &keep, &my, &functions));
    sn_random random = sn_random_from(5, SN_STREAM_SPLIT, 0);
    sn_random_permutation(&random, N, order);
    for (int64_t k = 0; k < N; k++) fold_of[order[k]] = k % FOLDS;
    for (int fold = 0; fold < FOLDS; fold++) {
        SN_BLOCK double *y = test_zeros(N * my, sizeof *y);
        for (int64_t c = 0; c < my; c++) {
            double mean = 0.0, n = 0.0;
            for (int64_t i = 0; i < N; i++) n += fold_of[i] != fold ? 1.0 : 0.0;
            for (int64_t i = 0; i < N; i++) mean += fold_of[i] != fold ? functions[i * my + c] / n : 0.0;
            for (int64_t i = 0; i < N; i++) {
                y[i * my + c] = functions[i * my + c] - mean;
                if (fold_of[i] == fold) total += pow(y[i * my + c], 2);
            }
        }
        of_z[fold] = error_of(&z, &z, 3, fold, fold_of, my, y);
        of_both[fold] = error_of(&z, &x, 6, fold, fold_of, my, y);
        sum_z += of_z[fold];
        sum_both += of_both[fold];
    }
    const double mean = (sum_z - sum_both) / FOLDS;
    double square = 0.0;
    for (int k = 0; k < FOLDS; k++) square += pow(of_z[k] - of_both[k] - mean, 2) / (FOLDS - 1);
    const double t = mean / sqrt(square * (1.0 / 10.0 + 1.0 / 9.0)), beyond = 0.5 * sn_t_two_sided(9, t);
    *out = (stonet_prediction_gain){.explained_z = 1.0 - sum_z / total,
                                    .explained_zx = 1.0 - sum_both / total,
                                    .p_value = t > 0.0 ? beyond : 1.0 - beyond,
                                    .n = N};
}

TEST(test_definition)
{
    static const double of_x[] = {0.0, 0.4, 2.0, 4.0};
    for (size_t k = 0; k < sizeof of_x / sizeof *of_x; k++) {
        static sides s;
        stonet_prediction_gain got, right;
        draw(of_x[k], &s);
        if (k == 3) largest_first(&s);
        const stonet_sides given = {.n = N, .dx = DX, .dy = 1, .dz = 1, .x = s.x, .y = s.y, .z = s.z};
        const stonet_run run = {.size = sizeof run, .seed = 5, .threads = 2};
        OK(sn_look_by_prediction(&given, &run, &got));
        look_slowly(&s, &right);
        assert_int_equal(got.n, N);
        assert_true(fabs(got.explained_z - right.explained_z) < 1e-6);
        assert_true(fabs(got.explained_zx - right.explained_zx) < 1e-6);
        assert_true(fabs(got.p_value - right.p_value) < 1e-5);
    }
}

/* x that is z, and x that is constant, add nothing; z that is constant cannot be looked at. */
TEST(test_nothing_to_add)
{
    static sides s;
    static double flat[N];
    stonet_prediction_gain got;
    draw(1.0, &s);
    const stonet_run run = {.size = sizeof run, .seed = 5, .threads = 1};
    stonet_sides given = {.n = N, .dx = 1, .dy = 1, .dz = 1, .x = flat, .y = s.y, .z = s.z};
    OK(sn_look_by_prediction(&given, &run, &got));
    assert_true(got.p_value == 1.0 && got.n == N && got.explained_z == 0.0);
    given.x = s.z;
    OK(sn_look_by_prediction(&given, &run, &got));
    assert_true(got.p_value > 0.05 && got.explained_z > 0.0);
}

RUN_TESTS(NULL, NULL)
