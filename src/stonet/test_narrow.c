/* A layer of fewer units behind the last: it begins where it says what the leading axes say. */
#include "math/linalg.h"
#include "stonet/narrow.h"
#include "stonet/test_job.h"

enum { N = 300, P = 4, WIDE = 6, M = 4 };

typedef struct fixture {
    oracle o;
    sn_config config;
    sn_stage_job job;
} fixture;

/* A network P - WIDE - M whose outputs each follow another column of x most. */
static void make(fixture *f, sn_activation activation, sn_task task)
{
    const int64_t width[] = {P, WIDE, M};
    f->o = oracle_make(2, width, activation, task, N, 8);
    for (int layer = 0; layer < 2; layer++)
        for (int64_t k = 0; k < width[layer] * width[layer + 1]; k++) {
            float *w = &f->o.theta[f->o.shape.weight_at[layer] + k];
            *w = 0.2F * *w + (k % width[layer] == k / width[layer] ? 0.5F : 0.0F);
        }
    if (activation == SN_RELU) /* above 0 for all rows */
        for (int k = 0; k < WIDE; k++) f->o.theta[f->o.shape.bias_at[0] + k] = 6.0F;
    f->config = (sn_config){.engine = &sn_engine_ref};
    f->job = oracle_job(&f->o, &f->config);
}

/* The projection of the outputs (of classes, less their mean in a row) on their first q principal axes. */
static void project(bool classes, int q, const float *mu, double *out)
{
    double mean[M] = {0}, cov[M * M] = {0}, value[M], vector[M * M];
    for (int i = 0; i < N * M; i++) out[i] = (double)mu[i];
    for (int i = 0; classes && i < N; i++) {
        const double row = (out[i * M] + out[i * M + 1] + out[i * M + 2] + out[i * M + 3]) / M;
        for (int c = 0; c < M; c++) out[i * M + c] -= row;
    }
    for (int i = 0; i < N * M; i++) mean[i % M] += out[i] / N;
    for (int i = 0; i < N * M; i++) out[i] -= mean[i % M];
    sn_syrk_tn(M, N, 1.0 / N, out, 0.0, cov);
    OK(sn_eigh(M, cov, value, vector));
    for (int i = 0; i < N; i++) {
        double along[M] = {0};
        for (int k = 0; k < q; k++)
            for (int c = 0; c < M; c++) along[k] += out[i * M + c] * vector[c * M + k];
        for (int c = 0; c < M; c++) {
            out[i * M + c] = mean[c];
            for (int k = 0; k < q; k++) out[i * M + c] += along[k] * vector[c * M + k];
        }
    }
}

/* Exactly with identity units; nearly where psi is next to straight. */
TEST(outputs_are_those_of_the_leading_axes)
{
    static const struct {
        sn_activation activation;
        double most; /* off, in parts of the spread of the outputs */
    } cases[] = {{SN_IDENTITY, 1e-4}, {SN_TANH, 0.2}, {SN_SIGMOID, 0.2}, {SN_RELU, 0.2}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int task = SN_REGRESSION; task <= SN_CLASSIFICATION; task++)
            for (int q = 1; q <= 2; q++) {
                static float wide[N * M], narrow[N * M];
                static double wanted[N * M];
                fixture f;
                sn_shape shape;
                SN_BLOCK float *theta = NULL;
                double off = 0.0, spread = 0.0;
                const bool classes = task == SN_CLASSIFICATION;
                make(&f, cases[k].activation, (sn_task)task);
                OK(sn_narrow_start(&f.job, f.o.theta, q, &shape, &theta));
                assert_non_null(theta);
                assert_int_equal(shape.layers, 3);
                assert_int_equal(shape.width[2], q);
                oracle_pass(&f.o, &f.o.shape, f.o.theta, 2, false, wide);
                oracle_pass(&f.o, &shape, theta, 3, false, narrow);
                project(classes, q, wide, wanted);
                for (int i = 0; i < N; i++) {
                    double row = 0.0; /* classes know their outputs up to a common number */
                    for (int c = 0; classes && c < M; c++) row += (double)narrow[i * M + c] / M;
                    for (int c = 0; c < M; c++) {
                        off += pow((double)narrow[i * M + c] - row - wanted[i * M + c], 2);
                        spread += pow(wanted[i * M + c], 2);
                    }
                }
                if (!(sqrt(off / spread) < cases[k].most))
                    fail_msg("activation %d, task %d, q %d: %g", cases[k].activation, task, q,
                             sqrt(off / spread));
                oracle_free(&f.o);
            }
}

/* As many columns as outputs, or axes that carry all but a hundredth: nothing to do. */
TEST(no_layer_without_need)
{
    fixture f;
    sn_shape shape;
    float *theta;
    make(&f, SN_TANH, SN_REGRESSION);
    for (int64_t q = 1; q <= WIDE; q++) {
        OK(sn_narrow_start(&f.job, f.o.theta, q, &shape, &theta));
        assert_int_equal(theta != NULL, q < M);
        free(theta);
    }
    f.o.shape.task = SN_CLASSIFICATION; /* four classes have three differences */
    OK(sn_narrow_start(&f.job, f.o.theta, M - 1, &shape, &theta));
    assert_null(theta);
    f.o.shape.task = SN_REGRESSION;
    float *w = f.o.theta + f.o.shape.weight_at[1]; /* the outputs all but follow the first */
    for (int k = 0; k < M * WIDE; k++) w[k] = w[k % WIDE] + (k < WIDE ? 0.0F : 0.02F * w[k]);
    OK(sn_narrow_start(&f.job, f.o.theta, 1, &shape, &theta));
    assert_null(theta);
    oracle_free(&f.o);
}

RUN_TESTS(NULL, NULL)
