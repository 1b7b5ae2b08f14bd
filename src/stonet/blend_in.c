#include "stonet/blend_in.h"

#include "stonet/blend_point.h"
#include "stonet/front_kernel.h"
#include "stonet/trials.h"

/* The network that was trained and kernel regression, as one, in its place. */
static stonet_status put(const sn_stage_job *job, const sn_selection *selection, const sn_problem *u,
                         sn_stonet *net)
{
    const sn_blend_fit fit = {.job = job,
                              .theta = net->network.theta,
                              .front = selection->front,
                              .u = u,
                              .rows = job->rows,
                              .penalty = selection->penalty,
                              .visible = selection->visible};
    sn_stage_job seeing = *job;
    sn_shape shape;
    float *theta;
    bool found;
    SN_TRY(sn_blend_fit_make(&fit, &shape, &theta, &found));
    if (!found) return sn_fail(STONET_ERROR_NUMERIC, "a class has no row");
    seeing.problem = u;
    return sn_take_network(&seeing, &shape, theta, net);
}

stonet_status sn_blend_in(const sn_stage_job *job, const sn_selection *selection, sn_stonet *net)
{
    const sn_kernel_setting kernel = sn_front_kernel_setting(selection->front);
    sn_problem seen;
    stonet_status status = sn_front_problem(selection->front, job->problem, &seen);
    if (status == STONET_OK) status = put(job, selection, &seen, net);
    sn_front_problem_free(job->problem, &seen);
    SN_TRY(status);
    sn_message(job->run, STONET_NOTE,
               "neither a network nor kernel regression was clearly better on held-out rows than the mean of "
               "both, which is taken, as one network (front=kernel, complexity %g, %lld landmarks)",
               kernel.complexity, (long long)kernel.landmarks);
    return STONET_OK;
}
