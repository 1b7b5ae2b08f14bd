/* The axes of Z: uncorrelated, ordered by what they do to the output, the same for every way to write Z. */
#include "base/test_kit.h"
#include "math/noise.h"
#include "stonet/axes.h"

static const int64_t N_Q = 400L * 3;
enum { N = 400, Q = 3, M = 4 };

typedef struct fixture {
    sn_shape shape;
    float theta[2 * Q + Q + M * Q + M];
    float z[N * Q];
} fixture;

/* A network 2-3-m with random output weights, and a Z of rows that are correlated and far from 0. */
static fixture make(sn_activation activation, sn_task task, int64_t outputs)
{
    fixture f = {.shape = {.layers = 2, .width = {2, Q, outputs}, .activation = activation, .task = task}};
    OK(sn_shape_layout(&f.shape));
    sn_random random = sn_random_from(5, SN_STREAM_TEST, 1);
    for (int64_t k = 0; k < f.shape.parameters; k++) f.theta[k] = (float)sn_random_normal(&random);
    for (int64_t i = 0; i < N; i++) {
        const double a = sn_random_normal(&random), b = sn_random_normal(&random),
                     c = sn_random_normal(&random);
        f.z[i * Q] = (float)(0.3 + a);
        f.z[i * Q + 1] = (float)(0.8 * a + 0.5 * b - 0.2);
        f.z[i * Q + 2] = (float)(0.5 * b + 0.2 * c);
    }
    return f;
}

static float *weights(fixture *f)
{
    return f->theta + f->shape.weight_at[1];
}

static sn_axes learn(const fixture *f)
{
    sn_axes axes;
    OK(sn_axes_learn(&f->shape, f->theta, N, f->z, SN_UNITS_PLAIN, Q, &axes));
    return axes;
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

static double covariance(const float *z, int a, int b)
{
    return product(Q, z, a, b);
}

static void assert_uncorrelated(const float *z)
{
    for (int a = 0; a < Q; a++)
        for (int b = 0; b < a; b++)
            assert_true(fabs(covariance(z, a, b)) <
                        1e-5 * sqrt(covariance(z, a, a) * covariance(z, b, b)) + 1e-12);
}

/* Z in other units and directions, with W to match: the same axes, signs included. */
TEST(axes_do_not_depend_on_the_coordinates)
{
    fixture f = make(SN_IDENTITY, SN_REGRESSION, M), other = f;
    for (int64_t i = 0; i < N; i++) { /* (u, v, w) <- (-2 u, v + u, w / 10) */
        const float u = f.z[i * Q];
        other.z[i * Q] = -2.0F * u;
        other.z[i * Q + 1] += u;
        other.z[i * Q + 2] /= 10.0F;
    }
    for (int64_t a = 0; a < M; a++) {
        const float *from = weights(&f) + a * Q;
        float *to = weights(&other) + a * Q;
        to[0] = (from[0] - from[1]) / -2.0F;
        to[2] = 10.0F * from[2];
    }
    SN_FREED_BY(sn_axes_free) sn_axes axes = learn(&f), same = learn(&other);
    OK(sn_axes_apply(&axes, N, f.z, f.z));
    OK(sn_axes_apply(&same, N, other.z, other.z));
    for (int64_t i = 0; i < N_Q; i++) assert_true(fabsf(f.z[i] - other.z[i]) < 1e-3F);
}

/* What saturates still counts: two clusters on the flat sides of tanh differ by 2 w. */
TEST(flat_sides_count)
{
    fixture f = make(SN_TANH, SN_REGRESSION, 1);
    const float w[Q] = {1.0F, 0.1F, 0.0F};
    memcpy(weights(&f), w, sizeof w);
    for (int64_t i = 0; i < N; i++) f.z[i * Q] = i < N / 2 ? 20.0F : -20.0F;
    SN_FREED_BY(sn_axes_free) sn_axes axes = learn(&f);
    assert_true(axes.share[0] > 0.9);
    const double along = fabs(axes.map[0]) * 20.0; /* of the first axis, what the clusters are apart by */
    OK(sn_axes_apply(&axes, N, f.z, f.z));
    assert_true(along > 0.5 * sqrt(covariance(f.z, 0, 0)));
}

TEST(a_line_is_told_from_a_plane)
{
    fixture f = make(SN_TANH, SN_REGRESSION, 1);
    for (int64_t i = 0; i < N; i++) {
        f.z[i * Q + 1] = 2.0F * f.z[i * Q] + 1e-4F * f.z[i * Q + 1];
        f.z[i * Q + 2] = 0.7F; /* and a column that is constant */
    }
    for (int k = 0; k < Q; k++) weights(&f)[k] = 1.0F;
    SN_FREED_BY(sn_axes_free) sn_axes axes = learn(&f);
    assert_true(axes.share[0] > 0.999);
    assert_true(sn_axes_effective(&axes) < 1.01);
    OK(sn_axes_apply(&axes, N, f.z, f.z));
    assert_uncorrelated(f.z);
    for (int64_t i = 0; i < N; i++) assert_true(f.z[i * Q + 2] == 0.0F);
}

/* The second of two classes is where the first axis points. */
TEST(the_sign_is_that_of_the_last_class)
{
    for (int way = -1; way <= 1; way += 2) {
        fixture f = make(SN_TANH, SN_CLASSIFICATION, 2);
        for (int k = 0; k < Q; k++) {
            weights(&f)[k] = k == 0 ? (float)way : 0.0F;
            weights(&f)[Q + k] = 5.0F + (k == 0 ? (float)-way : 0.0F);
        }
        SN_FREED_BY(sn_axes_free) sn_axes axes = learn(&f);
        OK(sn_axes_apply(&axes, N, f.z, f.z));
        double with = 0.0;
        fixture again = make(SN_TANH, SN_CLASSIFICATION, 2);
        memcpy(again.theta, f.theta, sizeof f.theta);
        for (int64_t i = 0; i < N; i++) {
            double logit = 0.0;
            for (int k = 0; k < Q; k++)
                logit +=
                    (double)(weights(&again)[Q + k] - weights(&again)[k]) * tanh((double)again.z[i * Q + k]);
            with += logit * (double)f.z[i * Q];
        }
        assert_true(with > 0.0);
    }
}

/* Columns beyond the effect are the next axes of the units: uncorrelated with all before, alive, share 0. The
   columns for q are the first of those for more. */
TEST(columns_beyond_the_effect)
{
    for (int units = SN_UNITS_PLAIN; units <= SN_UNITS_ACTIVATED; units++) {
        fixture f = make(SN_TANH, SN_REGRESSION, units == SN_UNITS_PLAIN ? 2 : 1);
        const int of_effect = units == SN_UNITS_PLAIN ? 0 : 1; /* no weight at all, or one output */
        if (of_effect == 0) memset(weights(&f), 0, sizeof(float[2 * Q]));
        float z[Q][N * Q];
        for (int q = Q; q >= 1; q--) {
            SN_FREED_BY(sn_axes_free) sn_axes axes = {0};
            OK(sn_axes_learn(&f.shape, f.theta, N, f.z, (sn_units)units, q, &axes));
            assert_int_equal(axes.q, q);
            OK(sn_axes_apply(&axes, N, f.z, z[q - 1]));
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

TEST(constant_units_have_no_axes)
{
    fixture f = make(SN_TANH, SN_REGRESSION, 2);
    for (int64_t i = 0; i < N_Q; i++) f.z[i] = 1.0F;
    const sn_axes axes = learn(&f);
    assert_int_equal(axes.q, 0);
}

TEST(axes_come_back_from_a_store)
{
    fixture f = make(SN_TANH, SN_REGRESSION, M);
    sn_axes axes = learn(&f), back;
    SN_AUTO(sn_store) *store = NULL;
    OK(sn_store_create(&store));
    OK(sn_axes_get(store, Q, &back));
    assert_int_equal(back.q, 0);
    OK(sn_axes_put(&axes, store));
    OK(sn_axes_get(store, Q, &back));
    assert_memory_equal(axes.map, back.map, sizeof(double[Q * Q]));
    assert_memory_equal(axes.mean, back.mean, Q * sizeof(double));
    sn_axes_free(&back);
    assert_int_equal(sn_axes_get(store, Q + 1, &back), STONET_ERROR_FORMAT);
    sn_axes_free(&axes);
}

RUN_TESTS(NULL, NULL)
