/*
 * Least-squares mutual information estimation for dimension reduction (Suzuki and Sugiyama 2010, 2013).
 *
 * Maximises S(B) (methods/lsmi.h) over B (p x d) with orthonormal columns by natural gradient ascent on the
 * Grassmann manifold: G = dS/dB - B B'dS/dB, and along the geodesic of its SVD G = U D V',
 *
 *     B(t) = B V cos(D t) V' + U sin(D t) V',
 *
 * with a step by backtracking (Armijo). The bandwidth and the ridge are chosen again by cross-validation
 * every few steps. Starts: gKDR directions from a small kernel regression, then random ones; the largest S
 * wins.
 */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "math/noise.h"
#include "methods/gkdr.h"
#include "methods/linear_map.h"
#include "methods/lsmi.h"

static const sn_param params[] = {
    {"landmarks", SN_INTEGER, "200", 2, 1e6, NULL, "basis functions, at rows chosen by the seed"},
    {"bandwidths", SN_REALS, "0.1,0.178,0.316,0.562,1,1.78,3.16,5.62,10", 1e-6, 1e6, NULL,
     "bandwidths to choose from, in median distances of z and y; one: no choice"},
    {"lambdas", SN_REALS, "0.001,0.00316,0.01,0.0316,0.1,0.316,1,3.16,10", 1e-12, 1e6, NULL,
     "ridges to choose from"},
    {"iterations", SN_INTEGER, "100", 1, 1e6, NULL, "gradient steps a start"},
    {"tune_every", SN_INTEGER, "5", 1, 1e6, NULL, "steps between two choices of bandwidth and ridge"},
    {"restarts", SN_INTEGER, "5", 1, 1e4, NULL, "starts: gKDR, then random directions"},
};

enum { MOST_HALVINGS = 20, START_LANDMARKS = 500 };
static const double armijo = 1e-4, first_angle = 0.5, largest_angle = 1.5, still = 1e-6, start_epsilon = 1e-4;

typedef struct search {
    sn_lsmi lsmi;
    int64_t p, d, iterations, tune_every;
    const double *bandwidths, *lambdas;
    size_t n_bandwidths, n_lambdas;
    double *b, *trial, *gradient;  /* p x d */
    double *u, *sigma, *vt, *work; /* SVD of the natural gradient: p x d, d, d x d; work p x d */
    double value, angle;           /* S at b, the largest angle to try next */
    const stonet_run *run;
    uint64_t seed;
    double started;
    int64_t done, total;
} search;

/* U D V' of gradient - B B'gradient. */
static stonet_status natural_gradient(search *s)
{
    int64_t p = s->p, d = s->d;
    double *inner = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(inner, d * d), done);
    sn_gemm(true, false, d, d, p, 1.0, s->b, s->gradient, 0.0, inner);
    memcpy(s->work, s->gradient, (size_t)(p * d) * sizeof(double));
    sn_gemm(false, false, p, d, d, -1.0, s->b, inner, 1.0, s->work);
    status = sn_svd(p, d, s->work, s->u, s->sigma, s->vt);
done:
    sn_free(inner);
    return status;
}

/* trial = B V cos(D t) V' + U sin(D t) V'. */
static stonet_status geodesic(search *s, double t)
{
    int64_t p = s->p, d = s->d;
    sn_gemm(false, true, p, d, d, 1.0, s->b, s->vt, 0.0, s->work);
    for (int64_t i = 0; i < p; i++)
        for (int64_t j = 0; j < d; j++)
            s->work[i * d + j] =
                s->work[i * d + j] * cos(s->sigma[j] * t) + s->u[i * d + j] * sin(s->sigma[j] * t);
    sn_gemm(false, false, p, d, d, 1.0, s->work, s->vt, 0.0, s->trial);
    return sn_orthonormalise(p, d, s->trial); /* against the slow growth of rounding */
}

/* One ascent step; *gain is 0 at a maximum. The gradient at the new point is left in place. */
static stonet_status take_step(search *s, double *gain)
{
    *gain = 0.0;
    SN_TRY(natural_gradient(s));
    if (!(s->sigma[0] > 0.0)) return STONET_OK;
    double square = sn_dot(s->d, s->sigma, s->sigma);
    for (int halving = 0; halving < MOST_HALVINGS; halving++, s->angle *= 0.5) {
        double t = s->angle / s->sigma[0], value;
        SN_TRY(geodesic(s, t));
        SN_TRY(sn_lsmi_value(&s->lsmi, s->trial, &value, s->gradient));
        if (!(value >= s->value + armijo * t * square)) continue;
        memcpy(s->b, s->trial, (size_t)(s->p * s->d) * sizeof(double));
        *gain = value - s->value;
        s->value = value;
        if (halving == 0) s->angle = fmin(2.0 * s->angle, largest_angle);
        return STONET_OK;
    }
    return STONET_OK;
}

static stonet_status retune(search *s)
{
    SN_TRY(sn_lsmi_tune(&s->lsmi, s->b, s->bandwidths, (int64_t)s->n_bandwidths, s->lambdas,
                        (int64_t)s->n_lambdas, s->seed));
    return sn_lsmi_value(&s->lsmi, s->b, &s->value, s->gradient);
}

/* From s->b to a maximum: ends when all steps between two choices of the settings gain next to nothing. */
static stonet_status maximise(search *s, bool *stopped)
{
    double gained = INFINITY, gain = 0.0;
    int64_t step = 0;
    s->angle = first_angle;
    for (; step < s->iterations; step++) {
        if (step % s->tune_every == 0) {
            if (gained < still * (fabs(s->value) + 0.5)) break;
            SN_TRY(retune(s));
            s->angle = fmax(s->angle, 0.01 * first_angle);
            gained = 0.0;
        }
        SN_TRY(take_step(s, &gain));
        gained += gain;
        s->done++;
        sn_progress(s->run, &(stonet_progress){.stage = "lsmie",
                                               .done = s->done,
                                               .total = s->total,
                                               .loss = -s->value,
                                               .validation_loss = NAN,
                                               .seconds = sn_seconds() - s->started});
        *stopped = sn_should_stop(s->run);
        if (*stopped) break;
    }
    s->done += s->iterations - (step < s->iterations ? step : s->iterations);
    return STONET_OK;
}

static stonet_status random_start(search *s, uint32_t restart)
{
    sn_random random;
    sn_random_init(&random, s->seed, SN_STREAM_START, restart);
    for (int64_t i = 0; i < s->p * s->d; i++) s->b[i] = sn_random_normal(&random);
    return sn_orthonormalise(s->p, s->d, s->b);
}

/* gKDR on a few landmarks, completed by random directions where its gradients span fewer than d. */
static stonet_status informed_start(search *s, const sn_problem *problem)
{
    sn_kernel_input input = {0};
    double *f = NULL, *found = NULL, distance;
    int64_t rank, dim = s->d;
    stonet_status status;
    SN_GOTO(status, random_start(s, 0), done);
    SN_GOTO(status, sn_kernel_rows_create(problem, START_LANDMARKS, s->run, &input), done);
    SN_GOTO(status, sn_mean_distance(input.n, input.p, input.x, s->seed, &distance), done);
    if (!(distance > 0.0)) {
        status = sn_fail(STONET_ERROR_DATA, "all rows have the same features, so there is nothing to reduce");
        goto done;
    }
    input.gamma = 1.0 / (2.0 * distance * distance);
    SN_GOTO(status, sn_response_factor(problem, SN_MEDIAN_DISTANCE, s->seed, &f, &rank), done);
    SN_GOTO(status, sn_gkdr_directions(&input, start_epsilon, rank, f, NULL, &dim, &found), done);
    for (int64_t i = 0; i < s->p; i++)
        for (int64_t j = 0; j < dim; j++) s->b[i * s->d + j] = found[i * dim + j];
    status = sn_orthonormalise(s->p, s->d, s->b);
done:
    sn_kernel_input_free(&input);
    sn_free(f);
    sn_free(found);
    return status;
}

/* best (p x d) receives the end with the largest S. */
static stonet_status run_starts(search *s, const sn_problem *problem, int64_t restarts, double *best,
                                bool *stopped)
{
    double highest = -INFINITY;
    s->total = restarts * s->iterations;
    for (int64_t restart = 0; restart < restarts && !*stopped; restart++) {
        if (restart == 0)
            SN_TRY(informed_start(s, problem));
        else
            SN_TRY(random_start(s, (uint32_t)restart));
        SN_TRY(maximise(s, stopped));
        if (!(s->value > highest)) continue;
        highest = s->value;
        memcpy(best, s->b, (size_t)(s->p * s->d) * sizeof *best);
    }
    return STONET_OK;
}

static stonet_status search_create(search *s, const sn_problem *problem, const sn_settings *settings)
{
    int64_t size = s->p * s->d;
    s->iterations = sn_int(settings, "iterations");
    s->tune_every = sn_int(settings, "tune_every");
    s->bandwidths = sn_list(settings, "bandwidths", &s->n_bandwidths);
    s->lambdas = sn_list(settings, "lambdas", &s->n_lambdas);
    s->started = sn_seconds();
    SN_TRY(sn_lsmi_create(problem, sn_int(settings, "landmarks"), s->d, s->seed, &s->lsmi));
    SN_TRY(SN_NEW_RAW(s->b, size));
    SN_TRY(SN_NEW_RAW(s->trial, size));
    SN_TRY(SN_NEW_RAW(s->gradient, size));
    SN_TRY(SN_NEW_RAW(s->u, size));
    SN_TRY(SN_NEW_RAW(s->sigma, s->d));
    SN_TRY(SN_NEW_RAW(s->vt, s->d * s->d));
    return SN_NEW_RAW(s->work, size);
}

static void search_free(search *s)
{
    sn_lsmi_free(&s->lsmi);
    sn_free(s->b);
    sn_free(s->trial);
    sn_free(s->gradient);
    sn_free(s->u);
    sn_free(s->sigma);
    sn_free(s->vt);
    sn_free(s->work);
}

static stonet_status check(const sn_problem *problem, const sn_settings *settings)
{
    if (problem->n < 2)
        return sn_fail(STONET_ERROR_DATA, "lsmie needs at least two rows, and there are %lld",
                       (long long)problem->n);
    double n = (double)problem->n, b = (double)sn_int(settings, "landmarks");
    double bytes = 8.0 * (2.0 * n * (double)problem->p + 3.0 * n * fmin(b, n) + 20.0 * b * b);
    return sn_memory_require((uint64_t)bytes, "lsmie", "set fewer landmarks (--set landmarks=200)");
}

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    SN_TRY(check(problem, settings));
    search s = {.p = problem->p, .run = run, .seed = run != NULL ? run->seed : 1};
    double *best = NULL, *mean = NULL;
    bool stopped = false;
    int threads = omp_get_max_threads();
    s.d = sn_limit_dim(run, "lsmie", dim, problem->p, "x has no more columns");
    omp_set_num_threads(sn_threads(run));
    stonet_status status;
    SN_GOTO(status, search_create(&s, problem, settings), done);
    SN_GOTO(status, SN_NEW(best, s.p * s.d), done);
    SN_GOTO(status, run_starts(&s, problem, sn_int(settings, "restarts"), best, &stopped), done);
    SN_GOTO(status, SN_NEW_RAW(mean, s.p), done);
    sn_column_means(s.lsmi.n, s.p, s.lsmi.x, mean);
    SN_GOTO(status,
            sn_linear_map_result(&(sn_linear_map){.p = s.p, .dim = s.d, .centre = mean, .direction = best},
                                 result),
            done);
    if (stopped) result->outcome = STONET_STOPPED;
done:
    search_free(&s);
    sn_free(best);
    sn_free(mean);
    omp_set_num_threads(threads);
    return status;
}

extern const sn_method sn_method_lsmie;
const sn_method sn_method_lsmie = {
    .name = "lsmie",
    .title = "Least-squares mutual information estimation (Suzuki and Sugiyama 2013)",
    .tasks = SN_TASK_BOTH,
    .multi_output = true,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .fit = fit,
    SN_LINEAR_MAP_STATE,
};
