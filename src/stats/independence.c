#include "stats/independence.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/run.h"
#include "base/take_options.h"
#include "math/linalg.h"
#include "math/serial_blas.h"
#include "stats/covariance_test.h"

static const double ridge = 1e-10; /* on the covariance of the features of z, against collinear ones */

/* What all repeats share. */
typedef struct prepared {
    sn_standardised x, y, z; /* y is (y, z) for RCIT; z has no columns for RIT */
    int64_t mx, my, mz;      /* features */
    const stonet_independence_options *options;
    uint64_t seed;
    int threads;
} prepared;

double sn_cauchy_combination(int64_t count, const double *p)
{
    if (count == 1) return p[0];
    double sum = 0.0;
    for (int64_t k = 0; k < count; k++) {
        double clipped = fmin(fmax(p[k], DBL_MIN), 0.99);
        /* tan((1/2 - p) pi) = 1 / tan(p pi), which keeps its digits for small p */
        sum += 1.0 / tan(clipped * M_PI) / (double)count;
    }
    return sum > 0.0 ? atan(1.0 / sum) / M_PI : 0.5 - atan(sum) / M_PI;
}

static stonet_status check_finite(const char *what, int64_t n, int64_t d, const double *values)
{
    if (d > 0 && n > PTRDIFF_MAX / (int64_t)sizeof *values / d)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "no memory holds %lld rows of %lld columns: are the sizes of %s right?", (long long)n,
                       (long long)d, what);
    for (int64_t i = 0; i < n * d; i++) {
        if (isfinite(values[i])) continue;
        const int64_t row = i / d + 1;
        const int64_t column = i % d + 1;
        return sn_fail(STONET_ERROR_DATA,
                       "row %lld, column %lld of %s is not a finite number; leave such rows out",
                       (long long)row, (long long)column, what);
    }
    return STONET_OK;
}

static stonet_status check_range(const char *what, int64_t value, int64_t low, int64_t high)
{
    if (value >= low && value <= high) return STONET_OK;
    return sn_fail(STONET_ERROR_ARGUMENT, "the number of %s is %lld; it must be from %lld to %lld", what,
                   (long long)value, (long long)low, (long long)high);
}

/* The options come from C, Python or R, so numbers outside the enumerations are possible. has_z: there are
   columns to condition on. */
static stonet_status check_options(const stonet_independence_options *options, bool has_z)
{
    SN_TRY(check_range("features", options->features, 1, 40));
    SN_TRY(check_range("condition features", options->condition_features, 0, 1000));
    SN_TRY(check_range("repeats", options->repeats, 1, 1000));
    SN_TRY(check_range("permutations", options->permutations, 1, 1000000));
    if ((int)options->test < STONET_TEST_AUTO || options->test > STONET_TEST_GCM) {
        return sn_fail(STONET_ERROR_ARGUMENT, "there is no independence test number %d", (int)options->test);
    }
    if ((int)options->null_law < STONET_NULL_LPB4 || options->null_law > STONET_NULL_PERMUTATION) {
        return sn_fail(STONET_ERROR_ARGUMENT, "there is no null law number %d", (int)options->null_law);
    }
    bool conditional = options->test == STONET_TEST_RCIT || options->test == STONET_TEST_RCOT ||
                       options->test == STONET_TEST_GCM;
    if (conditional && !has_z) {
        return sn_fail(
            STONET_ERROR_ARGUMENT,
            "GCM, RCIT and RCoT test given other columns, and none are given; name them or use RIT");
    }
    if (has_z && (options->test == STONET_TEST_RIT || options->test == STONET_TEST_DCOR)) {
        return sn_fail(
            STONET_ERROR_ARGUMENT,
            "RIT and distance correlation do not condition on other columns; use GCM, RCIT or RCoT");
    }
    return STONET_OK;
}

/* beta (mz x me) = (C_zz + ridge I)^-1 C_ze and the degrees of freedom tr C_zz (C_zz + ridge I)^-1 it takes,
   for C_zz = V D V' (mz x mz, used up) and C_ze (mz x me). */
static stonet_status regress_on_z(int64_t me, int64_t mz, double *czz, const double *cze, double *beta,
                                  double *used)
{
    SN_ARRAY(mz, double, value);
    SN_ARRAY(mz * mz, double, vector);
    SN_ARRAY(mz * me, double, along); /* V' C_ze */
    SN_TRY(sn_eigh(mz, czz, value, vector));
    sn_multiply(sn_turned(vector, mz, mz), sn_as(cze, mz, me), along);
    *used = 0.0;
    for (int64_t k = 0; k < mz; k++) {
        const double eigenvalue = fmax(value[k], 0.0);
        *used += eigenvalue / (eigenvalue + ridge);
        for (int64_t j = 0; j < me; j++) along[k * me + j] /= eigenvalue + ridge;
    }
    sn_multiply(sn_as(vector, mz, mz), sn_as(along, mz, me), beta);
    return STONET_OK;
}

/* Takes the features of z, the last mz columns of f, out of those of x and y, the first: e (n x (mx + my))
   and the degrees of freedom used. */
static stonet_status condition_on_z(const prepared *p, const double *f, double *e, double *used)
{
    const int64_t n = p->x.n, mz = p->mz, me = p->mx + p->my, m = me + mz;
    const sn_operand z = {f + me, n, mz, m, false}, turned = {f + me, mz, n, m, true};
    const double share = 1.0 / (double)(n - 1);
    SN_ARRAY(mz * mz, double, czz);
    SN_ARRAY(mz * me, double, cze);
    SN_ARRAY(mz * me, double, beta);
    sn_gemm(share, turned, z, 0.0, czz);
    sn_gemm(share, turned, (sn_operand){f, n, me, m, false}, 0.0, cze);
    SN_TRY(regress_on_z(me, mz, czz, cze, beta, used));
    sn_first_columns(n, m, f, me, e);
    sn_gemm(-1.0, z, sn_as(beta, mz, me), 1.0, e);
    return STONET_OK;
}

/* One test with the features of repeat number `repeat`. */
static stonet_status one_repeat(const prepared *p, int64_t repeat, double *statistic, double *p_value,
                                bool *permuted)
{
    const int64_t n = p->x.n;
    const int64_t me = p->mx + p->my;
    const int64_t m = me + p->mz;
    sn_drawing how = {p->seed, (uint32_t)(3 * repeat), p->threads};
    sn_residuals residuals = {.n = n, .mx = p->mx, .my = p->my};
    SN_ARRAY(n * m, double, f);
    SN_ARRAY(p->mz > 0 ? n * me : 0, double, e);
    SN_TRY(sn_fourier_features(&p->x, p->mx, how, m, 0, f));
    how.substream++;
    SN_TRY(sn_fourier_features(&p->y, p->my, how, m, p->mx, f));
    residuals.e = f;
    if (p->mz > 0) {
        how.substream++;
        SN_TRY(sn_fourier_features(&p->z, p->mz, how, m, me, f));
        SN_TRY(condition_on_z(p, f, e, &residuals.used));
        residuals.e = e;
        residuals.dz = p->z.columns;
        residuals.z = p->z.values;
    }
    int64_t permutations = p->options->permutations;
    *permuted = sn_covariance_permutes(&residuals, p->options->null_law);
    how.substream = (uint32_t)(repeat * permutations);
    return sn_covariance_test(&residuals, p->options->null_law, permutations, how, statistic, p_value);
}

/* Repeats differ in their random numbers alone and run in parallel. Their p-values depend on each other,
   which the Cauchy combination allows for. The sentence of an error stays in its thread, so a new one is
   written here. */
static stonet_status run_repeats(const prepared *p, const stonet_run *run, stonet_independence_result *result)
{
    const int64_t repeats = p->options->repeats;
    int failure = STONET_OK;
    int stop = 0;
    SN_ARRAY(repeats, double, statistic);
    SN_ARRAY(repeats, double, p_value);
    SN_ZEROS(repeats, bool, permuted);
#pragma omp parallel for num_threads(repeats < p->threads ? (int)repeats : p->threads) schedule(dynamic)     \
    reduction(max                                                                                            \
              : failure)
    for (int64_t r = 0; r < repeats; r++) {
        if (sn_should_stop_shared(run, &stop)) continue;
        int code = (int)one_repeat(p, r, &statistic[r], &p_value[r], &permuted[r]);
        if (code > failure) failure = code;
    }
    if (stop) return sn_fail(STONET_ERROR_INTERRUPTED, "the independence test was stopped before its end");
    if (failure == STONET_ERROR_MEMORY)
        return sn_fail(STONET_ERROR_MEMORY,
                       "the independence test ran out of memory; use fewer threads or features");
    if (failure != STONET_OK)
        return sn_fail((stonet_status)failure,
                       "an eigenvalue problem of the independence test did not converge");
    for (int64_t r = 0; r < repeats; r++) {
        result->statistic += statistic[r] / (double)repeats;
        if (permuted[r]) result->null_law = STONET_NULL_PERMUTATION;
    }
    result->p_value = sn_cauchy_combination(repeats, p_value);
    return STONET_OK;
}

/* The number of features of z (n x dz). Too few leave part of the dependence on z in the residuals, which
   then looks like dependence given z, the more so the more columns z has; more than a fraction of n would
   explain anything and leave nothing to test. */
static int64_t condition_features(int64_t wish, int64_t n, int64_t dz)
{
    const int64_t usual = dz < 2 ? 100 : dz > 10 ? 500 : 50 * dz;
    const int64_t count = wish != 0 ? wish : usual, most = n / 4 > 0 ? n / 4 : 1;
    return count < most ? count : most;
}

/* The random-feature tests. result->test is set; p stays 1 where nothing can depend on anything. */
static stonet_status fourier_test(const stonet_sides *sides, const stonet_independence_options *options,
                                  const stonet_run *run, stonet_independence_result *result)
{
    SN_WORKSPACE(scratch);
    const int64_t n = sides->n;
    if (n < 4) return STONET_OK; /* no degrees of freedom to test with */
    prepared p = {.options = options, .seed = run->seed, .threads = sn_threads(run)};
    const sn_side none = {0, NULL}, x = {sides->dx, sides->x}, y = {sides->dy, sides->y},
                  z = {sides->dz, sides->z};
    if (sn_count_varying(n, z.d, z.values) == 0) result->test = STONET_TEST_RIT;
    if (sn_count_varying(n, x.d, x.values) == 0 || sn_count_varying(n, y.d, y.values) == 0) return STONET_OK;
    SN_TRY(sn_standardise(n, x, none, p.seed, &scratch, &p.x));
    SN_TRY(sn_standardise(n, y, result->test == STONET_TEST_RCIT ? z : none, p.seed, &scratch, &p.y));
    SN_TRY(sn_standardise(n, z, none, p.seed, &scratch, &p.z));
    p.mx = p.my = options->features;
    if (result->test != STONET_TEST_RIT)
        p.mz = condition_features(options->condition_features, n, p.z.columns);
    return run_repeats(&p, run, result);
}

static bool complete(const stonet_sides *s)
{
    return s != NULL && s->x != NULL && s->y != NULL && s->n > 0 && s->dx > 0 && s->dy > 0 &&
           (s->z == NULL || s->dz > 0);
}

static stonet_status check_sides(const stonet_sides *s)
{
    SN_TRY(check_finite("x", s->n, s->dx, s->x));
    SN_TRY(check_finite("y", s->n, s->dy, s->y));
    return s->z == NULL ? STONET_OK : check_finite("z", s->n, s->dz, s->z);
}

stonet_status stonet_independence(const stonet_sides *sides, const stonet_independence_options *options,
                                  const stonet_run *run, stonet_independence_result *result)
{
    stonet_independence_options how;
    stonet_run job;
    SN_TRY(SN_TAKE_OPTIONS(stonet_independence_options, STONET_INDEPENDENCE_OPTIONS_INIT, options, &how));
    SN_TRY(sn_take_run(run, &job));
    if (!complete(sides) || result == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "an independence test needs x and y with at least one row and column");
    SN_BLAS_THREADS(sn_threads(&job));
    stonet_sides s = *sides;
    if (s.z == NULL) s.dz = 0;
    SN_TRY(check_options(&how, s.z != NULL));
    SN_TRY(check_sides(&s));
    *result =
        (stonet_independence_result){.test = how.test, .null_law = how.null_law, .p_value = 1.0, .n = s.n};
    if (how.test == STONET_TEST_AUTO) result->test = s.z != NULL ? STONET_TEST_GCM : STONET_TEST_RIT;
    if (result->test == STONET_TEST_DCOR) result->null_law = STONET_NULL_PERMUTATION;
    if (result->test == STONET_TEST_DCOR)
        return sn_distance_correlation_test(&s, how.permutations, &job, &result->statistic, &result->p_value);
    if (result->test == STONET_TEST_GCM && sn_count_varying(s.n, s.dz, s.z) == 0)
        result->test = STONET_TEST_RIT;
    if (result->test == STONET_TEST_GCM) return sn_gcm_test(&s, &how, &job, result);
    return fourier_test(&s, &how, &job, result);
}

stonet_status stonet_prediction_compare(const stonet_sides *sides, const stonet_run *run,
                                        stonet_prediction_gain *gain)
{
    stonet_run job;
    SN_TRY(sn_take_run(run, &job));
    if (!complete(sides) || sides->z == NULL || gain == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "a comparison of predictions needs x, y and z with at least one row and column");
    SN_TRY(check_sides(sides));
    SN_BLAS_THREADS(sn_threads(&job));
    return sn_look_by_prediction(sides, &job, gain);
}
