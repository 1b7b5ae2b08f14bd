#include "stonet/kernel_point.h"

#include <math.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "stonet/baseline.h"
#include "stonet/front_kernel.h"
#include "stonet/linear.h"

static const double PENALTIES[] = {0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001, 1e-5, 1e-6};
enum {
    N_PENALTIES = sizeof PENALTIES / sizeof *PENALTIES,
    START = 2,
    LANDMARKS = 200,
    MORE_LANDMARKS = 1000,
    MORE_LANDMARKS_FROM = 1000, /* rows: of fewer, 200 are enough; */
    MORE_LANDMARKS_TO = 5000,   /* more take their time, and teach a network what it needs */
    MOST_KERNELS = 4,
    FEWEST_ROWS = 50,
    MOST_ROWS = 20000,
    MOST_COLUMNS = 200
};
/* Products in one step of Newton's method (rows x features^2 x sets of coefficients), the first kernel and,
   in all folds, one with more landmarks: seconds. */
static const double MOST_WORK = 1e9, MORE_WORK = 1e10;
/* More landmarks are asked where directions that the penalty leaves alone are this part of those there are,
   and the loss is above the best by no more than this part of it. */
static const double USED_UP = 0.2, IN_REACH = 0.1;
/* They must be better by so many standard errors; and they reach less far, each. */
static const double MORE_ERRORS = 0.5, NARROWER = 3.0;

static int64_t sets_of(const sn_problem *problem)
{
    return problem->task == SN_CLASSIFICATION && problem->outputs > 2 ? problem->outputs : 1;
}

bool sn_kernel_point_fits(const sn_stage_job *job)
{
    const sn_problem *problem = job->problem;
    const sn_shape *shape = job->shape;
    const int64_t n = job->rows.n, p = problem->p;
    const double features = (double)(LANDMARKS + p);
    return problem->weight == NULL && n >= FEWEST_ROWS && n <= MOST_ROWS && p <= MOST_COLUMNS &&
           (double)sets_of(problem) * (double)n * features * features <= MOST_WORK &&
           shape->width[shape->layers - 1] >= sn_linear_rank(shape);
}

/* ---- one kernel --------------------------------------------------------------------------------- */

/* The features and the network that a candidate is made of. */
typedef struct candidate {
    sn_front *front;
    sn_problem seen;
    sn_shape shape;
    sn_stage_job job;
    sn_holdout holdout; /* the same rows, seen otherwise */
} candidate;

static stonet_status see(const sn_stage_job *job, const sn_holdout *holdout, const sn_kernel_setting *setting,
                         candidate *c)
{
    *c = (candidate){.job = *job, .holdout = *holdout};
    SN_TRY(sn_front_kernel_create(job->problem, &job->rows, setting, job->seed, &c->front));
    SN_TRY(sn_front_problem(c->front, job->problem, &c->seen));
    SN_TRY(sn_linear_shape(job->shape, c->front->outputs, job->problem->outputs, &c->shape));
    c->job.problem = &c->seen;
    c->job.shape = &c->shape;
    for (int k = 0; k < c->holdout.folds; k++) c->holdout.fold[k].problem = &c->seen;
    return STONET_OK;
}

static void forget(const sn_stage_job *job, candidate *c)
{
    sn_front_problem_free(job->problem, &c->seen);
    sn_front_free(c->front);
    c->front = NULL;
}

/* Measures a penalty; keeps it if it is the best so far. */
static stonet_status try_penalty(const candidate *c, int at, sn_kernel_point *out, bool *better)
{
    sn_held_out cost = {0};
    bool found = false;
    *better = false;
    SN_TRY(SN_NEW(cost.loss, c->holdout.rows));
    stonet_status status = sn_linear_measure(&c->job, &c->holdout, &c->shape, PENALTIES[at], &cost, &found);
    out->tried++;
    *better = status == STONET_OK && found && isfinite(cost.mean) &&
              (out->cost.loss == NULL || cost.mean < out->cost.mean);
    if (*better) {
        const sn_held_out before = out->cost;
        out->cost = cost;
        out->penalty = PENALTIES[at];
        cost = before;
    }
    sn_free(cost.loss);
    return status;
}

/* Along the penalties from one of them, downwards and, if that is no good, upwards. */
static stonet_status climb(const candidate *c, int start, sn_kernel_point *out)
{
    bool better;
    SN_TRY(try_penalty(c, start, out, &better));
    for (int way = 1; way >= -1; way -= 2) {
        int at = start;
        do {
            at += way;
            if (at < 0 || at >= N_PENALTIES || sn_should_stop(c->job.run)) break;
            SN_TRY(try_penalty(c, at, out, &better));
        } while (better);
        if (at != start + way) break; /* it went this way */
    }
    return STONET_OK;
}

/* ---- more landmarks ------------------------------------------------------------------------------ */

/*
 * The part of the directions that a penalty leaves alone: sum_j g_j / (g_j + l2) over d, with g the
 * eigenvalues of u'u times the curvature of the loss, u (n x d) the features of the rows, whose columns have
 * mean 0.
 */
static stonet_status used_part(const candidate *c, double penalty, double *part)
{
    const int64_t n = c->job.rows.n, d = c->seen.p;
    SN_WORKSPACE(scratch);
    float *u = NULL;
    double *wide = NULL, *gram = NULL, *g = NULL, *v = NULL;
    SN_TRY(SN_TAKE(&scratch, u, n * d));
    SN_TRY(SN_TAKE(&scratch, wide, n * d));
    SN_TRY(SN_TAKE(&scratch, gram, d * d));
    SN_TRY(SN_TAKE(&scratch, g, d));
    SN_TRY(SN_TAKE(&scratch, v, d * d));
    sn_batch batch = {.x = u, .x_stride = d};
    sn_batch_fetch(&c->seen, &c->job.rows, &batch);
    sn_widen(n * d, u, wide);
    sn_syrk_tn(d, n, 1.0, wide, 0.0, gram);
    SN_TRY(sn_eigh(d, gram, g, v));
    const double curvature = c->seen.task == SN_CLASSIFICATION ? 0.25 : 1.0; /* of the loss, at most */
    double sum = 0.0;
    for (int64_t j = 0; j < d; j++) {
        const double kept = curvature * fmax(g[j], 0.0);
        sum += kept / (kept + penalty * (double)n);
    }
    *part = sum / (double)d;
    return STONET_OK;
}

/* How many landmarks there is time for. */
static int64_t more_landmarks(const sn_stage_job *job, const sn_holdout *holdout)
{
    const double rows = (double)holdout->folds * (double)job->rows.n * (double)sets_of(job->problem);
    const int64_t affordable = (int64_t)sqrt(MORE_WORK / rows) - job->problem->p;
    int64_t most = job->rows.n < MORE_LANDMARKS ? job->rows.n : MORE_LANDMARKS;
    return affordable < most ? affordable : most;
}

static bool is_in_reach(const sn_held_out *cost, const sn_held_out *rival, int64_t rows)
{
    if (cost->loss == NULL || !isfinite(cost->mean) || !isfinite(rival->mean)) return false;
    const sn_difference lag = sn_held_out_difference(cost, rival, 0, rows);
    return lag.mean < fmax(lag.se, IN_REACH * rival->mean);
}

static int place_of(double penalty)
{
    int at = 0;
    while (at < N_PENALTIES - 1 && PENALTIES[at] != penalty) at++;
    return at;
}

/* Another kernel, from the penalty of the one so far; takes its place if it is better. */
static stonet_status try_kernel(const sn_stage_job *job, const sn_holdout *holdout,
                                const sn_kernel_setting *setting, sn_kernel_point *out, bool *better)
{
    candidate c;
    sn_kernel_point other = {0};
    stonet_status status;
    *better = false;
    SN_GOTO(status, see(job, holdout, setting, &c), done);
    SN_GOTO(status, climb(&c, place_of(out->penalty), &other), done);
    out->tried += other.tried;
    if (other.cost.loss == NULL) goto done;
    const sn_difference gain = sn_held_out_difference(&out->cost, &other.cost, 0, holdout->rows);
    *better = gain.mean > MORE_ERRORS * gain.se;
    if (!*better) goto done;
    other.tried = out->tried;
    other.front = c.front;
    c.front = out->front;
    const sn_kernel_point before = *out;
    *out = other;
    other = (sn_kernel_point){.cost = before.cost};
done:
    sn_kernel_point_free(&other);
    forget(job, &c);
    return status;
}

/* More landmarks with the same kernel, then with narrower ones while that pays. */
static stonet_status add_landmarks(const sn_stage_job *job, const sn_holdout *holdout,
                                   sn_kernel_setting setting, sn_kernel_point *out)
{
    bool better = true;
    setting.landmarks = more_landmarks(job, holdout);
    if (setting.landmarks <= LANDMARKS) return STONET_OK;
    for (int k = 0; k < MOST_KERNELS && better && !sn_should_stop(job->run); k++) {
        SN_TRY(try_kernel(job, holdout, &setting, out, &better));
        setting.complexity *= NARROWER;
    }
    return STONET_OK;
}

stonet_status sn_kernel_point_find(const sn_stage_job *job, const sn_holdout *holdout,
                                   const sn_held_out *rival, sn_kernel_point *out)
{
    *out = (sn_kernel_point){0};
    sn_kernel_setting setting = {.complexity = (double)NAN, .linear = (double)NAN, .landmarks = LANDMARKS};
    SN_TRY(sn_kernel_choose(job->problem, &job->rows, job->seed, job->run, &setting));
    candidate c;
    double used = 0.0;
    stonet_status status;
    SN_GOTO(status, see(job, holdout, &setting, &c), done);
    SN_GOTO(status, climb(&c, START, out), done);
    if (job->rows.n >= MORE_LANDMARKS_FROM && job->rows.n <= MORE_LANDMARKS_TO &&
        is_in_reach(&out->cost, rival, holdout->rows))
        status = used_part(&c, out->penalty, &used);
    out->front = c.front;
    c.front = NULL;
done:
    forget(job, &c);
    return status == STONET_OK && used > USED_UP ? add_landmarks(job, holdout, setting, out) : status;
}

void sn_kernel_point_free(sn_kernel_point *point)
{
    sn_front_free(point->front);
    sn_free(point->cost.loss);
    *point = (sn_kernel_point){0};
}
