/*
 * Kernel dimension reduction (Fukumizu, Bach and Jordan 2009): minimise J(B) (methods/kdr_objective.h) over B
 * with orthonormal columns.
 *
 * Gradient descent on the Grassmann manifold: the gradient less its part in span(B), scaled to spectral norm
 * 1, a step by backtracking (Armijo), orthonormalisation. The bandwidth of z starts `anneal` times as wide
 * (in square) and shrinks in stages to its own value, which smooths the criterion at first; J of different
 * stages are not comparable. Starts: the gKDR directions, then random ones; the smallest J at the last
 * bandwidth wins.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/partitions.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "methods/gkdr.h"
#include "methods/kdr_objective.h"
#include "methods/kernel_response.h"
#include "methods/linear_map.h"

static const sn_param params[] = {
    {"complexity", SN_REAL, "1", 1e-6, 1e6, NULL,
     "c in the kernel exp(-c |z - z'|^2 / (2 s^2)) with s the bandwidth"},
    {"bandwidth", SN_REAL, "auto", 1e-12, 1e12, "auto",
     "s, a distance between rows of Z; auto: half the median distance of x times sqrt(dim / p)"},
    SN_PARAM_LANDMARKS,
    {"rows", SN_INTEGER, "auto", 2, 1e9, "auto",
     "rows the criterion is summed over, chosen by the seed; auto: all, with landmarks at most 1.5 times as "
     "many"},
    {"epsilon", SN_REAL, "1e-4", 1e-14, 1e3, NULL, "ridge of the conditional covariance, per row"},
    {"anneal", SN_REAL, "4", 1, 1e3, NULL, "square of the first bandwidth over that of the last"},
    {"iterations", SN_INTEGER, "50", 1, 1e6, NULL, "gradient steps in all"},
    {"restarts", SN_INTEGER, "1", 1, 1e4, NULL, "starts: gKDR, then random directions"},
};

enum { STAGES = 5, MOST_HALVINGS = 20 };
static const double first_step = 1.0, largest_step = 10.0, armijo = 1e-4, flat = 1e-9;

typedef struct search {
    sn_kdr kdr;
    int64_t p, d, iterations;
    double gamma, anneal; /* at the last stage; square of the first bandwidth over the last */
    double *b, *trial, *gradient, *direction; /* p x d */
    double value, step;
    const stonet_run *run;
    double started;
    int64_t done, total;
} search;

/* direction = gradient less its part in span(B), over its spectral norm; slope = <gradient, direction>.
   Returns the norm. */
static stonet_status descent(search *s, double *slope, double *norm)
{
    int64_t p = s->p, d = s->d;
    SN_ARRAY(d * d, double, inner);
    SN_ARRAY(d, double, values);
    SN_ARRAY(d * d, double, v);
    memcpy(s->direction, s->gradient, (size_t)(p * d) * sizeof(double));
    sn_make_tangent(p, d, s->b, inner, s->direction);
    sn_syrk_tn(d, p, 1.0, s->direction, 0.0, inner);
    SN_TRY(sn_eigh(d, inner, values, v));
    *norm = sqrt(fmax(values[0], 0.0));
    for (int64_t i = 0; i<p * d && * norm> 0.0; i++) s->direction[i] /= *norm;
    *slope = sn_dot(p * d, s->gradient, s->direction);
    return STONET_OK;
}

/* A step at bandwidth gamma; the gradient at the new point is left in place. *moved: false at a minimum. */
static stonet_status take_step(search *s, double gamma, bool *moved)
{
    double slope, norm;
    *moved = false;
    SN_TRY(descent(s, &slope, &norm));
    if (norm < flat) return STONET_OK;
    for (int halving = 0; halving < MOST_HALVINGS; halving++, s->step *= 0.5) {
        double value;
        for (int64_t i = 0; i < s->p * s->d; i++) s->trial[i] = s->b[i] - s->step * s->direction[i];
        SN_TRY(sn_orthonormalise(s->p, s->d, s->trial));
        SN_TRY(sn_kdr_value(&s->kdr, s->trial, gamma, &value, s->gradient));
        if (!(value <= s->value - armijo * s->step * slope)) continue;
        memcpy(s->b, s->trial, (size_t)(s->p * s->d) * sizeof(double));
        s->value = value;
        if (halving == 0) s->step = fmin(2.0 * s->step, largest_step);
        *moved = true;
        return STONET_OK;
    }
    return STONET_OK;
}

/* From s->b through all stages to a minimum at s->gamma. */
static stonet_status minimise(search *s, bool *stopped)
{
    s->step = first_step;
    int64_t finished = 0;
    for (int64_t stage = 0; stage < STAGES; stage++) {
        double widening = 1.0 + (s->anneal - 1.0) * (double)(STAGES - 1 - stage) / STAGES;
        double gamma = s->gamma / widening;
        int64_t end = s->iterations * (stage + 1) / STAGES;
        bool moved = true;
        SN_TRY(sn_kdr_value(&s->kdr, s->b, gamma, &s->value, s->gradient));
        s->step = fmax(s->step, 1e-3 * first_step);
        for (; finished < end && moved; finished++) {
            SN_TRY(take_step(s, gamma, &moved));
            sn_progress_of(s->run, "kdr", ++s->done, s->total, s->value, s->started);
            *stopped = sn_should_stop(s->run);
            if (*stopped) return STONET_OK;
        }
        s->done += end - finished;
        finished = end;
    }
    return STONET_OK;
}

/* From the gKDR directions, whose kernel has the median distance as bandwidth and whose ridge is KDR's. */
static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    SN_WORKSPACE(scratch);
    SN_FREED_BY(sn_problem_subset_free) sn_problem rows = {0};
    sn_kernel_input input;
    double *f = NULL, *b = NULL, median;
    int64_t rank;
    bool stopped = false;
    const int64_t count = !sn_is(settings, "rows", "auto")       ? sn_int(settings, "rows")
                          : sn_is(settings, "landmarks", "none") ? problem->n
                                                                 : 3 * sn_int(settings, "landmarks") / 2;
    SN_TRY(sn_problem_sample(problem, count, run->seed, &rows));
    SN_TRY(sn_kernel_memory(&rows, settings, "kdr", 3.1, 3.1));
    SN_TRY(sn_kernel_rows(&rows, sn_landmarks_setting(settings), run->seed, &scratch, &input));
    SN_TRY(sn_response_factor(&rows, SN_MEDIAN_DISTANCE, run->seed, &scratch, &f, &rank));
    dim = sn_limit_dim(run, "kdr", dim, input.p, "x has no more columns");
    SN_TRY(sn_kernel_distance(&input, SN_MEDIAN_DISTANCE, run->seed, &median));
    const double s = sn_is(settings, "bandwidth", "auto") ? 0.5 * median * sqrt((double)dim / (double)input.p)
                                                          : sn_real(settings, "bandwidth");
    input.gamma = 1.0 / (2.0 * median * median);
    const sn_gkdr start = {&input, sn_real(settings, "epsilon"), rank, f, run};
    SN_TRY(sn_gkdr_directions(&start, &scratch, &dim, &b));
    SN_ARRAY(input.p > rank ? input.p : rank, double, mean);
    sn_column_means(input.n, rank, f, mean);
    sn_subtract_row(input.n, rank, mean, f);
    search find = {.p = input.p, .d = dim, .run = run, .started = sn_seconds()};
    find.iterations = sn_int(settings, "iterations");
    find.anneal = sn_real(settings, "anneal");
    find.gamma = sn_real(settings, "complexity") / (2.0 * s * s);
    SN_TRY(sn_kdr_create(&input, dim, start.epsilon, rank, f, &scratch, &find.kdr));
    SN_TRY(SN_TAKE_EACH(&scratch, find.p * dim, &find.b, &find.trial, &find.gradient, &find.direction));
    const int64_t restarts = sn_int(settings, "restarts"), size = find.p * dim;
    double lowest = INFINITY;
    find.total = restarts * find.iterations;
    memcpy(find.b, b, (size_t)size * sizeof *b); /* the first start; b receives the best end */
    for (int64_t restart = 0; restart < restarts && !stopped; restart++) {
        if (restart > 0) SN_TRY(sn_random_directions(find.p, dim, run->seed, (uint32_t)restart, find.b));
        SN_TRY(minimise(&find, &stopped));
        if (stopped && restart > 0) break;
        if (!(find.value < lowest)) continue;
        lowest = find.value;
        memcpy(b, find.b, (size_t)size * sizeof *b);
    }
    sn_column_means(input.n, input.p, input.x, mean);
    SN_TRY(sn_linear_map_result(&(sn_linear_map){.p = input.p, .dim = dim, .centre = mean, .direction = b},
                                result));
    if (stopped) result->outcome = STONET_STOPPED;
    return STONET_OK;
}

const sn_method sn_method_kdr = {
    .name = "kdr",
    .title = "Kernel dimension reduction (Fukumizu, Bach and Jordan 2009)",
    .python = "KernelDimensionReduction",
    .effort = 3.0,
    SN_PARAMS_OF(params),
    .grid = {{"complexity=0.3,1,3", SN_TASK_BOTH}, {"epsilon=1e-5,1e-4,1e-3", SN_TASK_BOTH}},
    SN_LINEAR_METHOD,
};
