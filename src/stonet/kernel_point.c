#include "stonet/kernel_point.h"

#include <math.h>

#include "base/memory.h"
#include "stonet/baseline.h"
#include "stonet/front_kernel.h"
#include "stonet/linear.h"

static const double PENALTIES[] = {0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001};
enum {
    N_PENALTIES = sizeof PENALTIES / sizeof *PENALTIES,
    START = 2,
    LANDMARKS = 200,
    FEWEST_ROWS = 50,
    MOST_ROWS = 5000,
    MOST_COLUMNS = 200,
    MOST_COEFFICIENTS = 1000 /* of all classes together */
};

bool sn_kernel_point_fits(const sn_stage_job *job)
{
    const sn_problem *problem = job->problem;
    const sn_shape *shape = job->shape;
    const int64_t n = job->rows.n, p = problem->p;
    const int64_t sets = problem->task == SN_CLASSIFICATION && problem->outputs > 2 ? problem->outputs : 1;
    return problem->weight == NULL && n >= FEWEST_ROWS && n <= MOST_ROWS && p <= MOST_COLUMNS &&
           sets * (LANDMARKS + p) <= MOST_COEFFICIENTS &&
           shape->width[shape->layers - 1] >= sn_linear_rank(shape);
}

/* The features and the network that the candidate is made of. */
typedef struct candidate {
    sn_problem seen;
    sn_shape shape;
    sn_stage_job job;
} candidate;

/* Measures a penalty; keeps it if it is the best so far. */
static stonet_status try_penalty(const candidate *c, const sn_holdout *holdout, double penalty,
                                 sn_kernel_point *out, bool *better)
{
    sn_held_out cost = {0};
    bool found = false;
    *better = false;
    SN_TRY(SN_NEW(cost.loss, holdout->rows));
    stonet_status status = sn_linear_measure(&c->job, holdout, &c->shape, penalty, &cost, &found);
    out->tried++;
    *better = status == STONET_OK && found && isfinite(cost.mean) &&
              (out->cost.loss == NULL || cost.mean < out->cost.mean);
    if (*better) {
        const sn_held_out before = out->cost;
        out->cost = cost;
        out->penalty = penalty;
        cost = before;
    }
    sn_free(cost.loss);
    return status;
}

/* Along the penalties from the middle, downwards and, if that is no good, upwards. */
static stonet_status climb(const candidate *c, const sn_holdout *holdout, sn_kernel_point *out)
{
    bool better;
    SN_TRY(try_penalty(c, holdout, PENALTIES[START], out, &better));
    for (int way = 1; way >= -1; way -= 2) {
        int at = START;
        do {
            at += way;
            if (at < 0 || at >= N_PENALTIES || sn_should_stop(c->job.run)) break;
            SN_TRY(try_penalty(c, holdout, PENALTIES[at], out, &better));
        } while (better);
        if (at != START + way) break; /* it went this way */
    }
    return STONET_OK;
}

stonet_status sn_kernel_point_find(const sn_stage_job *job, const sn_holdout *holdout, sn_kernel_point *out)
{
    *out = (sn_kernel_point){0};
    sn_kernel_setting setting = {.complexity = (double)NAN, .linear = (double)NAN, .landmarks = LANDMARKS};
    SN_TRY(sn_kernel_choose(job->problem, &job->rows, job->seed, job->run, &setting));
    SN_TRY(sn_front_kernel_create(job->problem, &job->rows, &setting, job->seed, &out->front));
    candidate c = {.job = *job};
    sn_holdout own = *holdout; /* the same rows, seen otherwise */
    stonet_status status;
    SN_GOTO(status, sn_front_problem(out->front, job->problem, &c.seen), done);
    SN_GOTO(status, sn_linear_shape(job->shape, out->front->outputs, job->problem->outputs, &c.shape), done);
    c.job.problem = &c.seen;
    c.job.shape = &c.shape;
    for (int k = 0; k < own.folds; k++) own.fold[k].problem = &c.seen;
    status = climb(&c, &own, out);
done:
    sn_front_problem_free(job->problem, &c.seen);
    return status;
}

void sn_kernel_point_free(sn_kernel_point *point)
{
    sn_front_free(point->front);
    sn_free(point->cost.loss);
    *point = (sn_kernel_point){0};
}
