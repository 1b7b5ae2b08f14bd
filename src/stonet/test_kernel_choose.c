/* The choice of a kernel against ridge regressions that are fitted anew without each of the rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/oracle.h"
#include "math/kernel.h"
#include "stonet/front_kernel.h"

enum { N = 26, P = 2, LANDMARKS = 9, MOST = LANDMARKS + P + 1, ROWS_STREAM = 303, SEED = 4 };

typedef enum truth { LINE, WAVE, RIPPLE, CLASSES, NOISE } truth;

static oracle draw(truth what, uint64_t seed)
{
    const int64_t width[] = {P, 2, what == CLASSES ? 3 : 2};
    oracle o = oracle_make(2, width, SN_TANH, what == CLASSES ? SN_CLASSIFICATION : SN_REGRESSION, N, seed);
    for (int64_t i = 0; i < N; i++) {
        const double a = (double)o.x[i * P], b = (double)o.x[i * P + 1];
        for (int64_t c = 0; c < 2 && what != CLASSES; c++) {
            const double mean = what == LINE     ? a - b
                                : what == WAVE   ? a * a - 1.0
                                : what == RIPPLE ? sin(3.0 * a)
                                                 : 0.0;
            o.y[i * 2 + c] = (c == 0 ? 1.0 : 0.3) * mean + 0.2 * o.y[i * 2 + c];
        }
        o.label[i] = a * a + b * b > 2.0 ? 2 : a > 0.0 ? 1 : 0;
    }
    return o;
}

/* Solves a x = b in place (a: size x size). */
static void solve(int64_t size, double a[MOST][MOST], double b[MOST])
{
    for (int64_t p = 0; p < size; p++)
        for (int64_t r = 0; r < size; r++) {
            const double factor = a[r][p] / a[p][p];
            for (int64_t k = 0; k < size && r != p; k++) a[r][k] -= factor * a[p][k];
            if (r != p) b[r] -= factor * b[p];
        }
    for (int64_t p = 0; p < size; p++) b[p] /= a[p][p];
}

/* The squared error of row `out`, which the regression of y on (1, u) with penalty l2 on u has not seen. */
static double error_without(int64_t out, int64_t d, const float *u, const double y[N], double l2)
{
    double a[MOST][MOST] = {{0}}, b[MOST] = {0};
    for (int64_t i = 0; i < N; i++) {
        if (i == out) continue;
        for (int64_t j = 0; j <= d; j++) {
            const double uj = j < d ? (double)u[i * d + j] : 1.0;
            b[j] += uj * y[i];
            for (int64_t k = 0; k <= d; k++) a[j][k] += uj * (k < d ? (double)u[i * d + k] : 1.0);
        }
    }
    for (int64_t j = 0; j < d; j++) a[j][j] += l2;
    solve(d + 1, a, b);
    double fit = b[d];
    for (int64_t j = 0; j < d; j++) fit += (double)u[out * d + j] * b[j];
    return pow(y[out] - fit, 2);
}

/* The squared errors of all rows, each left out in turn, with the penalty that has the least mean. */
typedef struct left_out {
    sn_kernel_setting setting;
    double row[N], mean;
} left_out;

static left_out errors_of(const oracle *o, const sn_rows *rows, const sn_kernel_setting *setting)
{
    static const double penalties[] = {0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001, 1e-5};
    float x[N * P], u[N * MOST];
    sn_front *front;
    assert_int_equal(sn_front_kernel_create(&o->problem, rows, setting, SEED, &front), STONET_OK);
    for (int64_t i = 0; i < N; i++) memcpy(x + i * P, o->x + sn_rows_at(rows, i) * P, P * sizeof *x);
    assert_true(front->outputs < MOST);
    assert_int_equal(front->ops->apply(front, N, x, u), STONET_OK);
    left_out best = {.mean = INFINITY};
    for (int at = 0; at < 8; at++) {
        left_out now = {.setting = *setting};
        for (int64_t c = 0; c < 2; c++) { /* two numbers, or two of the three classes */
            double y[N];
            for (int64_t i = 0; i < N; i++) {
                const int64_t row = sn_rows_at(rows, i);
                y[i] = o->problem.label != NULL ? (o->label[row] == c + 1 ? 1.0 : 0.0) : o->y[row * 2 + c];
            }
            for (int64_t i = 0; i < N; i++)
                now.row[i] += error_without(i, front->outputs, u, y, penalties[at] * N);
        }
        for (int64_t i = 0; i < N; i++) now.mean += now.row[i] / N;
        if (now.mean < best.mean) best = now;
    }
    sn_front_free(front);
    return best;
}

/* Keeps the lower of two; *margin: by how much, if that is less than it was. */
static void keep_lower(left_out *best, const left_out *now, double *margin)
{
    if (isfinite(best->mean)) *margin = fmin(*margin, fabs(now->mean / best->mean - 1.0));
    if (now->mean < best->mean) *best = *now;
}

/* How many standard errors a is above b. */
static double behind(const left_out *a, const left_out *b)
{
    const double mean = a->mean - b->mean;
    double squares = 0.0;
    for (int64_t i = 0; i < N; i++) squares += pow(a->row[i] - b->row[i] - mean, 2);
    return mean / sqrt(squares / (N - 1) / N);
}

/* The best of the settings that are open, one without a linear share only if it is better by a standard
   error; and by how much. */
static double best_setting(const oracle *o, const sn_kernel_setting *given, sn_kernel_setting *best)
{
    static const double complexities[] = {1.5, 4.0, 0.5}, shares[] = {0.5, 0.0};
    int64_t list[N];
    double margin = INFINITY;
    left_out with = {.mean = INFINITY}, without = with;
    assert_int_equal(sn_choose_rows(N, N, SEED, ROWS_STREAM, list), STONET_OK);
    const sn_rows rows = sn_rows_list(list, N);
    for (int c = 0; c < (isnan(given->complexity) ? 3 : 1); c++) {
        for (int s = 0; s < (isnan(given->linear) ? 2 : 1); s++) {
            sn_kernel_setting point = *given;
            if (isnan(given->complexity)) point.complexity = complexities[c];
            if (isnan(given->linear)) point.linear = shares[s];
            const left_out now = errors_of(o, &rows, &point);
            keep_lower(point.linear > 0.0 ? &with : &without, &now, &margin);
        }
    }
    *best = with.setting;
    if (!isfinite(without.mean)) return margin;
    const double lead = behind(&with, &without), asked = o->problem.task == SN_REGRESSION ? 1.0 : 0.0;
    if (lead > asked) *best = without.setting;
    return fmin(margin, fabs(lead - asked));
}

static void the_least_error_of_rows_left_out(void **state)
{
    (void)state;
    const sn_kernel_setting given[] = {{.complexity = NAN, .linear = NAN, .landmarks = LANDMARKS},
                                       {.complexity = NAN, .linear = 0.3, .landmarks = LANDMARKS},
                                       {.complexity = 2.0, .linear = NAN, .landmarks = LANDMARKS}};
    const sn_rows all = sn_rows_range(0, N);
    int seen[3][2] = {{0}}, clear = 0, alone = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        for (truth what = LINE; what <= NOISE; what++) {
            oracle o = draw(what, seed);
            for (int k = 0; k < 3; k++) {
                sn_kernel_setting got = given[k], right = given[k];
                const double margin = best_setting(&o, &given[k], &right);
                assert_int_equal(sn_kernel_choose(&o.problem, &all, SEED, NULL, &got), STONET_OK);
                assert_true(got.landmarks == LANDMARKS);
                if (margin < 1e-3) continue; /* too close for floats */
                clear++;
                assert_true(got.complexity == right.complexity && got.linear == right.linear);
                if (k == 0)
                    seen[got.complexity == 1.5 ? 0 : got.complexity == 4.0 ? 1 : 2][got.linear > 0.0]++;
                alone += got.linear == 0.0;
            }
            oracle_free(&o);
        }
    }
    assert_true(clear > 40);
    assert_true(alone > 0);
    for (int c = 0; c < 3; c++) assert_true(seen[c][0] + seen[c][1] > 0); /* each is the best for some */
}

/* What is given stays. */
static void nothing_to_choose(void **state)
{
    (void)state;
    oracle o = draw(LINE, 1);
    const sn_rows all = sn_rows_range(0, N);
    sn_kernel_setting got = {.complexity = 2.0, .linear = 0.1, .landmarks = 3};
    assert_int_equal(sn_kernel_choose(&o.problem, &all, SEED, NULL, &got), STONET_OK);
    assert_true(got.complexity == 2.0 && got.linear == 0.1 && got.landmarks == 3);
    oracle_free(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_error_of_rows_left_out),
        cmocka_unit_test(nothing_to_choose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
