/* The axes of Z against what their header file says of them, with every matrix written out, and where they
   have no direction of their own. */
#include "base/store.h"
#include "base/test_kit.h"
#include "math/noise.h"
#include "net/activation.h"
#include "stonet/axes.h"

enum { N = 1500, Q = 3, M = 4, LAGS = 8 }; /* more rows than go into one block */

typedef struct fixture {
    sn_shape shape;
    float theta[64];
    float z[N * Q];
} fixture;

static fixture *make(sn_activation activation, sn_task task, int64_t outputs)
{
    fixture *f = test_zeros(1, sizeof *f);
    f->shape = (sn_shape){.layers = 2, .width = {2, Q, outputs}, .activation = activation, .task = task};
    OK(sn_shape_layout(&f->shape));
    sn_random random = sn_random_from(9, SN_STREAM_TEST, 1);
    for (int64_t k = 0; k < f->shape.parameters; k++) f->theta[k] = (float)sn_random_normal(&random);
    for (int i = 0; i < N; i++) {
        const double a = sn_random_normal(&random), b = sn_random_normal(&random);
        f->z[i * Q] = (float)(0.3 + a);
        f->z[i * Q + 1] = (float)(0.8 * a + 0.5 * b - 0.2);
        f->z[i * Q + 2] = (float)(2.0 * b + 0.2 * sn_random_normal(&random));
        if (i % 50 == 0)
            memcpy(f->z + i * Q, f->z + (i > 0 ? i - 1 : 0) * Q, Q * sizeof *f->z); /* equal rows */
    }
    return f;
}

/* W, of classes less the mean over them. */
static void weights(const fixture *f, double w[M][Q])
{
    for (int k = 0; k < Q; k++) {
        double mean = 0.0;
        for (int a = 0; a < M; a++) {
            w[a][k] = (double)f->theta[f->shape.weight_at[1] + a * Q + k];
            mean += w[a][k] / M;
        }
        for (int a = 0; a < M && f->shape.task == SN_CLASSIFICATION; a++) w[a][k] -= mean;
    }
}

/* Whether units are bent on their way to the outputs. */
static bool bends(const fixture *f, sn_units of)
{
    return of == SN_UNITS_PLAIN && f->shape.activation == SN_TANH;
}

static double psi(const fixture *f, sn_units of, double value)
{
    return bends(f, of) ? tanh(value) : value;
}

/* E[J'J], J = W diag(slopes), over the pairs of rows at eight distances. */
static void effect(const fixture *f, sn_units of, double w[M][Q], double jj[Q][Q])
{
    memset(jj, 0, sizeof(double[Q][Q]));
    for (int lag = 0; lag < LAGS; lag++) {
        const int distance = 1 + (N - 1) * lag / (LAGS + 1);
        for (int i = 0; i < N; i++) {
            double slope[Q];
            for (int k = 0; k < Q; k++) {
                const double a = (double)f->z[i * Q + k], b = (double)f->z[(i + distance) % N * Q + k];
                slope[k] = fabs(a - b) < 1e-5 ? (bends(f, of) ? 1.0 - pow(tanh(a), 2) : 1.0)
                                              : (psi(f, of, a) - psi(f, of, b)) / (a - b);
            }
            for (int j = 0; j < Q; j++)
                for (int k = 0; k < Q; k++)
                    for (int a = 0; a < M; a++)
                        jj[j][k] += w[a][j] * slope[j] * w[a][k] * slope[k] / (N * LAGS);
        }
    }
}

/* Covariance of the units (or of psi of them) with the units, and their means. */
static void covariances(const fixture *f, sn_units of, double mean[Q], double s[Q][Q], double with_psi[Q][Q])
{
    memset(mean, 0, sizeof(double[Q]));
    memset(s, 0, sizeof(double[Q][Q]));
    memset(with_psi, 0, sizeof(double[Q][Q]));
    for (int i = 0; i < N * Q; i++) mean[i % Q] += (double)f->z[i] / N;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < Q; j++)
            for (int k = 0; k < Q; k++) {
                const double a = (double)f->z[i * Q + j], b = (double)f->z[i * Q + k] - mean[k];
                s[j][k] += (a - mean[j]) * b / N;
                with_psi[j][k] += psi(f, of, a) * b / N;
            }
}

/* map S map' = D and A'E[J'J]A = D with A = S map' D^(-1/2): the axes of the definition, and no others. */
static void check(sn_activation activation, sn_task task, sn_units of, int kept)
{
    SN_BLOCK fixture *f = make(activation, task, M);
    double w[M][Q], jj[Q][Q], mean[Q], s[Q][Q], with_psi[Q][Q], a[Q][Q] = {{0}}, d[Q] = {0}, total = 0.0;
    SN_FREED_BY(sn_axes_free) sn_axes axes = {0};
    weights(f, w);
    effect(f, of, w, jj);
    covariances(f, of, mean, s, with_psi);
    OK(sn_axes_learn(&f->shape, f->theta, N, f->z, of, kept, &axes));
    assert_true(axes.q == kept && axes.width == Q && axes.of == of);
    for (int j = 0; j < Q; j++) {
        assert_true(fabs(axes.mean[j] - mean[j]) < 1e-6);
        for (int k = 0; k < Q; k++) total += s[j][k] * jj[k][j]; /* tr S E[J'J] = sum d */
    }
    for (int k = 0; k < kept; k++) {
        d[k] = axes.share[k] * total;
        assert_true(k == 0 || d[k] < d[k - 1]);
        for (int j = 0; j < Q; j++)
            for (int i = 0; i < Q; i++) a[j][k] += s[j][i] * axes.map[k * Q + i] / sqrt(d[k]);
    }
    for (int k = 0; k < kept; k++) {
        for (int l = 0; l < kept; l++) {
            double spread = 0.0, reach = 0.0;
            for (int i = 0; i < Q; i++)
                for (int j = 0; j < Q; j++) {
                    spread += axes.map[k * Q + i] * s[i][j] * axes.map[l * Q + j];
                    reach += a[i][k] * jj[i][j] * a[j][l];
                }
            assert_true(fabs(spread - (k == l ? d[k] : 0.0)) < 1e-5 * d[0]);
            assert_true(fabs(reach - (k == l ? d[k] : 0.0)) < 1e-5 * d[0]);
        }
        double largest = 0.0;
        for (int o = 0; o < M; o++) {
            double c = 0.0;
            for (int i = 0; i < Q; i++)
                for (int j = 0; j < Q; j++) c += w[o][i] * with_psi[i][j] * axes.map[k * Q + j];
            if (fabs(c) > fabs(largest)) largest = c;
        }
        assert_true(largest > 0.0);
    }
    double squares = 0.0, sum = 0.0;
    for (int k = 0; k < kept; k++) {
        squares += d[k] * d[k];
        sum += d[k];
    }
    assert_true(fabs(sn_axes_effective(&axes) - sum * sum / squares) < 1e-9);
}

TEST(axes_are_those_of_the_definition)
{
    check(SN_TANH, SN_REGRESSION, SN_UNITS_PLAIN, Q);
    check(SN_TANH, SN_CLASSIFICATION, SN_UNITS_PLAIN, Q);
    check(SN_TANH, SN_REGRESSION, SN_UNITS_ACTIVATED, 2);
    check(SN_TANH, SN_CLASSIFICATION, SN_UNITS_ACTIVATED, Q);
    check(SN_IDENTITY, SN_REGRESSION, SN_UNITS_PLAIN, Q);
}

TEST(axes_are_applied)
{
    double mean[Q] = {1, -2, 0.5}, map[2 * Q] = {1, 2, 3, -4, 5, 0.25}, share[2] = {0.7, 0.2};
    const sn_axes axes = {.q = 2, .width = Q, .mean = mean, .map = map, .share = share};
    const float units[2 * Q] = {1, 0, 2.5F, 3, -2, 0.5F};
    float z[4];
    OK(sn_axes_apply(&axes, 2, units, z));
    assert_true(z[0] == 10.0F && z[1] == 10.5F && z[2] == 2.0F && z[3] == -8.0F);
    const sn_axes none = {0};
    assert_true(isnan(sn_axes_effective(&none)));
}

/* Axes come back from a store, but not those that cannot be: shares that are none, other units. */
TEST(axes_come_back_from_a_store)
{
    static const double shares[][2] = {{0.7, 0.3}, {0.7, 0.2}, {0.9, 0.3}, {1.1, -0.2}, {0, 0}};
    for (int k = 0; k < 5; k++) {
        double mean[Q] = {3, 0, -1}, map[2 * Q] = {1, 0, 0, 0, 1, 0}, share[2] = {shares[k][0], shares[k][1]};
        for (int of = SN_UNITS_PLAIN; of <= SN_UNITS_ACTIVATED; of++) {
            const sn_axes axes = {
                .q = 2, .width = Q, .of = (sn_units)of, .mean = mean, .map = map, .share = share};
            SN_FREED_BY(sn_axes_free) sn_axes back = {0};
            SN_AUTO(sn_store) *store = NULL;
            OK(sn_store_create(&store));
            OK(sn_axes_get(store, Q, &back));
            assert_int_equal(back.q, 0); /* files before 0.2 */
            OK(sn_axes_put(&axes, store));
            assert_int_equal(sn_axes_get(store, Q + 1, &back), STONET_ERROR_FORMAT);
            const stonet_status status = sn_axes_get(store, Q, &back);
            assert_int_equal(status, k == 2 || k == 3 ? STONET_ERROR_FORMAT : STONET_OK);
            if (status != STONET_OK) continue;
            assert_true(back.q == 2 && back.share[1] == share[1]);
            assert_memory_equal(back.map, map, sizeof map);
            assert_memory_equal(back.mean, mean, sizeof mean);
        }
    }
}

/* A unit of mean 1,000 whose variance is the rounding of its floats says nothing, whichever it is; nor does
   one of a part of 1e-10 of the largest variance. More than that is a column, with a share of 0 where its
   effect is next to none. */
TEST(rounding_is_no_direction)
{
    sn_shape shape = {.layers = 2, .width = {2, 2, 2}, .activation = SN_TANH, .task = SN_REGRESSION};
    OK(sn_shape_layout(&shape));
    float theta[16] = {0}, z[2 * N];
    theta[shape.weight_at[1]] = theta[shape.weight_at[1] + 3] = 1.0F; /* W: the units themselves */
    sn_random random;
    for (int noisy = 0; noisy < 4; noisy++) {
        random = sn_random_from(9, SN_STREAM_TEST, 2);
        for (int i = 0; i < N; i++) {
            const double a = sn_random_normal(&random), b = sn_random_normal(&random);
            const int k = noisy % 2;
            z[2 * i + 1 - k] = (float)a;
            z[2 * i + k] = noisy < 2 ? 1000.0F + (b > 0.0 ? 6.1e-5F : 0.0F) : (float)(0.5e-6 * b);
        }
        SN_FREED_BY(sn_axes_free) sn_axes axes = {0};
        OK(sn_axes_learn(&shape, theta, N, z, SN_UNITS_ACTIVATED, 2, &axes));
        assert_int_equal(axes.q, 2);
        assert_true(axes.share[0] == 1.0 && axes.share[1] == 0.0);
        assert_true(axes.map[2] == 0.0 && axes.map[3] == 0.0);
    }
    const double small[][2] = {{2e-5, 1.0}, {2e-3, 1.0}, {1e-8, 1e-4}};
    const double share[][2] = {{1.0, 0.0}, {1.0, 4e-6}, {0.0, 0.0}};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 2 * N; i++) z[i] = (float)(small[k][i % 2] * sn_random_normal(&random));
        SN_FREED_BY(sn_axes_free) sn_axes axes = {0};
        OK(sn_axes_learn(&shape, theta, N, z, SN_UNITS_ACTIVATED, 2, &axes));
        for (int j = 0; j < 2; j++) assert_true(fabs(axes.share[j] - share[k][j]) <= 0.2 * share[k][j]);
        assert_true(axes.map[1] != 0.0 && axes.map[2] != 0.0); /* both columns are there */
    }
}

static float *output_weights(fixture *f)
{
    return f->theta + f->shape.weight_at[1];
}

/* Cov of columns a and b of N rows of `width` columns. */
static double product(int width, const float *z, int a, int b)
{
    double mean[2] = {0}, sum = 0.0;
    for (int64_t i = 0; i < N; i++) {
        mean[0] += (double)z[i * width + a] / N;
        mean[1] += (double)z[i * width + b] / N;
    }
    for (int64_t i = 0; i < N; i++)
        sum += ((double)z[i * width + a] - mean[0]) * ((double)z[i * width + b] - mean[1]) / N;
    return sum;
}

TEST(a_line_is_told_from_a_plane)
{
    SN_BLOCK fixture *f = make(SN_TANH, SN_REGRESSION, 1);
    SN_FREED_BY(sn_axes_free) sn_axes axes = {0};
    for (int64_t i = 0; i < N; i++) {
        f->z[i * Q + 1] = 2.0F * f->z[i * Q] + 1e-4F * f->z[i * Q + 1];
        f->z[i * Q + 2] = 0.7F; /* and a column that is constant */
    }
    for (int k = 0; k < Q; k++) output_weights(f)[k] = 1.0F;
    OK(sn_axes_learn(&f->shape, f->theta, N, f->z, SN_UNITS_PLAIN, Q, &axes));
    assert_true(axes.share[0] > 0.999);
    assert_true(sn_axes_effective(&axes) < 1.01);
    OK(sn_axes_apply(&axes, N, f->z, f->z));
    const double spread = product(Q, f->z, 0, 0) * product(Q, f->z, 1, 1);
    assert_true(fabs(product(Q, f->z, 0, 1)) < 1e-5 * sqrt(spread) + 1e-12);
    for (int64_t i = 0; i < N; i++) assert_true(f->z[i * Q + 2] == 0.0F);
    for (int64_t i = 0; i < N * Q; i++) f->z[i] = 1.0F; /* nothing but constants */
    sn_axes_free(&axes);
    OK(sn_axes_learn(&f->shape, f->theta, N, f->z, SN_UNITS_PLAIN, Q, &axes));
    assert_int_equal(axes.q, 0);
}

/* The second of two classes, whose covariances are each other's opposite, is where the first axis points. */
TEST(the_sign_is_that_of_the_last_class)
{
    for (int way = -1; way <= 1; way += 2) {
        SN_BLOCK fixture *f = make(SN_TANH, SN_CLASSIFICATION, 2);
        SN_FREED_BY(sn_axes_free) sn_axes axes = {0};
        static float z[N * Q];
        double with = 0.0;
        for (int k = 0; k < Q; k++) {
            output_weights(f)[k] = k == 0 ? (float)way : 0.0F;
            output_weights(f)[Q + k] = 5.0F + (k == 0 ? (float)-way : 0.0F);
        }
        OK(sn_axes_learn(&f->shape, f->theta, N, f->z, SN_UNITS_PLAIN, Q, &axes));
        OK(sn_axes_apply(&axes, N, f->z, z));
        const float *w = output_weights(f);
        for (int64_t i = 0; i < N * Q; i++)
            with += (double)(w[Q + i % Q] - w[i % Q]) * tanh((double)f->z[i]) * (double)z[i / Q * Q];
        assert_true(with > 0.0);
    }
}

/* Columns beyond the effect are the next axes of the units: uncorrelated with all before, alive, share 0. The
   columns for q are the first of those for more. */
TEST(columns_beyond_the_effect)
{
    for (int units = SN_UNITS_PLAIN; units <= SN_UNITS_ACTIVATED; units++) {
        SN_BLOCK fixture *f = make(SN_TANH, SN_REGRESSION, units == SN_UNITS_PLAIN ? 2 : 1);
        const int of_effect = units == SN_UNITS_PLAIN ? 0 : 1; /* no weight at all, or one output */
        if (of_effect == 0) memset(output_weights(f), 0, sizeof(float[2 * Q]));
        static float z[Q][N * Q];
        for (int q = Q; q >= 1; q--) {
            SN_FREED_BY(sn_axes_free) sn_axes axes = {0};
            OK(sn_axes_learn(&f->shape, f->theta, N, f->z, (sn_units)units, q, &axes));
            assert_int_equal(axes.q, q);
            OK(sn_axes_apply(&axes, N, f->z, z[q - 1]));
            for (int k = 0; k < q; k++) {
                assert_true(fabs(axes.share[k] - (k < of_effect ? 1.0 : 0.0)) < 1e-9);
                assert_true(product(q, z[q - 1], k, k) > 1e-3);
                for (int j = 0; j < k; j++) {
                    const double spread = product(q, z[q - 1], j, j) * product(q, z[q - 1], k, k);
                    assert_true(fabs(product(q, z[q - 1], j, k)) < 1e-5 * sqrt(spread));
                }
                if (k > of_effect)
                    assert_true(product(q, z[q - 1], k, k) < product(q, z[q - 1], k - 1, k - 1));
                for (int64_t i = 0; i < N; i++)
                    assert_true(fabsf(z[q - 1][i * q + k] - z[Q - 1][i * Q + k]) < 1e-5F);
            }
            assert_true(fabs(sn_axes_carried(&axes) - 1.0) < 1e-9);
        }
    }
}

RUN_TESTS(NULL, NULL)
