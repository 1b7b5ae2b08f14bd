/* The loss of gmddnet by its formula, and its gradient by differences. */
#include "base/test_kit.h"
#include "math/noise.h"
#include "methods/gmddnet_loss.h"

enum { N = 20, B = 9, M = 2, BEFORE = 2 };

typedef struct fixture {
    double y[N * M], centred[B], pull[B];
    int32_t label[N];
    float z[N * BEFORE], mu[B];
    int64_t rows[B];
    sn_divergence loss;
} fixture;

static void make(sn_distance kind, fixture *f)
{
    sn_random random = sn_random_from(3, SN_STREAM_TEST, 6);
    for (int k = 0; k < N * M; k++) f->y[k] = sn_random_normal(&random);
    for (int k = 0; k < N; k++) f->label[k] = (int32_t)sn_random_below(&random, 3);
    for (int k = 0; k < N * BEFORE; k++) f->z[k] = (float)sn_random_normal(&random);
    for (int k = 0; k < B; k++) {
        f->mu[k] = (float)(2.0 + 1.5 * sn_random_normal(&random));
        f->rows[k] = (7 * k + 3) % N;
    }
    f->loss = (sn_divergence){.kind = kind,
                              .before = BEFORE,
                              .z = f->z,
                              .penalty = 0.3,
                              .ortho = 0.7,
                              .centred = f->centred,
                              .pull = f->pull};
}

static double distance(const fixture *f, bool classes, int64_t a, int64_t b)
{
    const double d = hypot(f->y[a * M] - f->y[b * M], f->y[a * M + 1] - f->y[b * M + 1]);
    if (classes) return f->label[a] == f->label[b] ? 0.0 : 1.0;
    /* in the order of sn_distance */
    const double rho[] = {d, log(1.0 + d * d / 2.0), d * d / (1.0 + d * d), 1.0 - exp(-d * d / 2.0),
                          pow(d, 1.5)};
    return rho[f->loss.kind];
}

/* The three terms of the header file at z. */
static double written_out(const fixture *f, bool classes, const double z[B], double *first)
{
    double mean = 0.0, variance = 0.0, loss = 0.0;
    for (int k = 0; k < B; k++) mean += z[k] / B;
    for (int k = 0; k < B; k++) variance += pow(z[k] - mean, 2) / (B - 1);
    for (int k = 0; k < B; k++)
        for (int l = 0; l < B; l++)
            loss += (z[k] - mean) * (z[l] - mean) * distance(f, classes, f->rows[k], f->rows[l]) / (B * B);
    *first = loss;
    loss += f->loss.penalty * pow(variance - 1.0, 2);
    for (int j = 0; j < BEFORE; j++) {
        double other = 0.0, covariance = 0.0;
        for (int k = 0; k < B; k++) other += (double)f->z[f->rows[k] * BEFORE + j] / B;
        for (int k = 0; k < B; k++)
            covariance += (z[k] - mean) * ((double)f->z[f->rows[k] * BEFORE + j] - other) / (B - 1);
        loss += f->loss.ortho * covariance * covariance;
    }
    return loss;
}

TEST(the_loss_and_its_gradient)
{
    for (int kind = SN_DISTANCE_ABSOLUTE; kind <= SN_DISTANCE_POWER; kind++) {
        for (int classes = 0; classes < 2; classes++) {
            fixture f;
            float slope[B];
            double z[B], first, unused;
            make((sn_distance)kind, &f);
            const sn_problem problem = {.n = N,
                                        .task = classes ? SN_CLASSIFICATION : SN_REGRESSION,
                                        .outputs = classes ? 3 : M,
                                        .y = classes ? NULL : f.y,
                                        .label = classes ? f.label : NULL};
            for (int k = 0; k < B; k++) z[k] = (double)f.mu[k];
            const double right = written_out(&f, classes, z, &first);
            assert_true(fabs(sn_divergence_batch(&f.loss, &problem, f.rows, B, f.mu, slope) - right) < 1e-9);
            for (int k = 0; k < B; k++) {
                const double step = 1e-4, at = z[k];
                z[k] = at + step;
                double difference = written_out(&f, classes, z, &unused);
                z[k] = at - step;
                difference -= written_out(&f, classes, z, &unused);
                z[k] = at;
                assert_true(fabs((double)slope[k] - difference / (2.0 * step)) < 1e-5);
            }
            assert_true(fabs(sn_divergence_dependence(&f.loss, &problem, f.rows, B, f.mu) - first) < 1e-9);
            assert_true(first < 0.0); /* as the method's text says of it */
        }
    }
}

/* A batch of one row has nothing to say. */
TEST(one_row)
{
    fixture f;
    float slope[1];
    make(SN_DISTANCE_ABSOLUTE, &f);
    const sn_problem problem = {.n = N, .task = SN_REGRESSION, .outputs = M, .y = f.y};
    assert_true(fabs(sn_divergence_batch(&f.loss, &problem, f.rows, 1, f.mu, slope) - 0.3) < 1e-12);
    assert_true(slope[0] == 0.0F);
}

RUN_TESTS(NULL, NULL)
