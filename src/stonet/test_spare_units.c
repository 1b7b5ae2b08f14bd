/* Units for columns that the output does not need: they change no output, and are directions of their own. */
#include "math/linalg.h"
#include "stonet/spare_units.h"
#include "stonet/test_job.h"

enum { N = 300, P = 8, UNITS = 3, MOST = 12 };

/* Eigenvalues of the covariance of the last hidden layer's activated units above a ten-thousandth of the
   first. */
static int live_directions(const oracle *o, const sn_shape *shape, const float *theta)
{
    static float u[N * MOST];
    const int64_t units = shape->width[shape->layers - 1];
    double centred[N * MOST], cov[MOST * MOST], value[MOST], vector[MOST * MOST], mean[MOST] = {0};
    int live = 0;
    oracle_pass(o, shape, theta, shape->layers - 1, true, u);
    for (int64_t i = 0; i < N * units; i++) mean[i % units] += (double)u[i] / N;
    for (int64_t i = 0; i < N * units; i++) centred[i] = (double)u[i] - mean[i % units];
    sn_syrk_tn(units, N, 1.0 / N, centred, 0.0, cov);
    OK(sn_eigh(units, cov, value, vector));
    for (int64_t k = 0; k < units; k++) live += value[k] > 1e-4 * value[0] && value[k] > 1e-6;
    return live;
}

/* A network of one or two hidden layers, `dead` of whose last units decay has sent to 0. */
static void check(int layers, sn_activation activation, int dead, int wanted)
{
    const int64_t one[] = {P, UNITS, 2}, two[] = {P, 9, UNITS, 2};
    SN_FREED_BY(oracle_free)
    oracle o = oracle_make(layers, layers == 2 ? one : two, activation, SN_REGRESSION, N, 8);
    sn_config config = {.engine = &sn_engine_ref};
    sn_shape shape = o.shape;
    float *theta = test_zeros(shape.parameters, sizeof *theta), before[N * 2], after[N * 2];
    const int64_t inputs = shape.width[layers - 2];
    for (int64_t k = 0; k < dead * inputs; k++) o.theta[shape.weight_at[layers - 2] + k] = 0.0F;
    for (int k = 0; k < dead; k++) o.theta[shape.bias_at[layers - 2] + k] = 0.1F;
    for (int64_t k = dead; activation == SN_RELU && k < UNITS; k++)
        o.theta[shape.bias_at[layers - 2] + k] = 2.0F; /* the others look at rows */
    memcpy(theta, o.theta, (size_t)shape.parameters * sizeof *theta);
    const sn_stage_job job = oracle_job(&o, &config);
    assert_int_equal(live_directions(&o, &shape, theta), UNITS - dead);
    OK(sn_spare_units(&job, wanted, &shape, &theta));
    const int64_t added = shape.width[layers - 1] - UNITS;
    assert_int_equal(added, wanted > UNITS - dead ? wanted - (UNITS - dead) : 0);
    assert_true(live_directions(&o, &shape, theta) >= wanted);
    oracle_pass(&o, &o.shape, o.theta, layers, false, before);
    oracle_pass(&o, &shape, theta, layers, false, after);
    assert_memory_equal(before, after, sizeof before);
    /* what is added has a standard deviation of 1 at least, off what was alive */
    static float mu[N * MOST];
    oracle_pass(&o, &shape, theta, layers - 1, false, mu);
    for (int64_t k = UNITS; k < UNITS + added; k++) {
        double mean = 0.0, square = 0.0;
        for (int i = 0; i < N; i++) mean += (double)mu[i * (UNITS + added) + k] / N;
        for (int i = 0; i < N; i++) square += pow((double)mu[i * (UNITS + added) + k] - mean, 2) / N;
        assert_true(fabs(mean) < 1e-3 && square > 0.99);
    }
    free(theta);
}

TEST(units_are_added_where_directions_are_missing)
{
    const sn_activation activations[] = {SN_TANH, SN_RELU, SN_SIGMOID, SN_IDENTITY};
    for (int layers = 2; layers <= 3; layers++)
        for (int k = 0; k < 4; k++)
            for (int dead = 0; dead <= UNITS; dead++)
                for (int wanted = 1; wanted <= 5; wanted++) check(layers, activations[k], dead, wanted);
}

/* Rows have as many directions as they have: more than there are cannot be added. */
TEST(no_more_than_there_are)
{
    const int64_t width[] = {2, UNITS, 1};
    SN_FREED_BY(oracle_free) oracle o = oracle_make(2, width, SN_IDENTITY, SN_REGRESSION, N, 8);
    sn_config config = {.engine = &sn_engine_ref};
    sn_shape shape = o.shape;
    const sn_stage_job job = oracle_job(&o, &config);
    assert_int_equal(live_directions(&o, &shape, o.theta), 2);
    OK(sn_spare_units(&job, 5, &shape, &o.theta));
    assert_int_equal(shape.width[1], UNITS);
}

RUN_TESTS(NULL, NULL)
