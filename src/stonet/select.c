#include "stonet/select.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "stonet/climb.h"
#include "stonet/linear.h"
#include "stonet/residuals.h"

/* Of a constant's loss: a network that has more of it has found nothing. So has one that explains less than
   this part of what the linear model does. */
static const double ALMOST_ALL = 0.99, PART_OF_LINEAR = 0.25;
static const double LINEAR_ERRORS = 0.5; /* standard errors by which a network must beat the linear model */
static const double KERNEL_ERRORS = 0.5; /* and by which kernel regression must beat the better of both */
/* And the mean of network and kernel regression the linear model; either of the two may be better than their
   mean by so many. */
static const double SIMPLER_ERRORS = 1.0, APART_ERRORS = 1.0;

typedef sn_searcher searcher;

sn_estimate sn_estimate_of(const sn_held_out *cost, int64_t rows)
{
    if (cost->loss == NULL) return (sn_estimate){(double)NAN, (double)NAN, (double)NAN, (double)NAN};
    return (sn_estimate){.loss = cost->mean,
                         .loss_se = sn_held_out_error(cost, rows),
                         .error = cost->error_rate,
                         .error_se = sqrt(cost->error_rate * (1.0 - cost->error_rate) / (double)rows)};
}

/* Whether the networks do hardly better than a constant, at a weight decay or length that was given. */
static bool sent_to_0(searcher *s)
{
    const double constant = s->baseline.constant.mean, linear = s->baseline.linear.mean;
    const double of_linear = isfinite(linear) ? constant - PART_OF_LINEAR * (constant - linear) : constant;
    return !s->config->auto_shape && sn_cost_at(s, s->at)->mean > fmin(ALMOST_ALL * constant, of_linear);
}

/* The linear model is taken when it may be (nothing is set that it cannot have, or what is set leaves nothing
   else; and the layers hold it) and the best network is not better by more than half a standard error. */
static bool prefers_linear(searcher *s)
{
    const sn_held_out *linear = &s->baseline.linear, *now = sn_cost_at(s, s->at);
    if (!s->config->gives_way || !(s->config->auto_shape || sent_to_0(s)) || linear->loss == NULL ||
        !isfinite(linear->mean))
        return false;
    if (!isfinite(now->mean)) return false; /* a smaller step comes first */
    const sn_difference gain = sn_held_out_difference(linear, now, 0, s->holdout.rows);
    return gain.mean < LINEAR_ERRORS * gain.se;
}

/* Kernel regression, where it may be asked. */
static stonet_status find_kernel(searcher *s)
{
    if (!s->config->auto_front || s->job->wide != NULL || !sn_kernel_point_fits(s->job) ||
        sn_should_stop(s->job->run))
        return STONET_OK;
    sn_stage_job job = *s->job;
    job.run = &s->quiet.run;
    const sn_held_out *rival = prefers_linear(s) ? &s->baseline.linear : sn_cost_at(s, s->at);
    SN_TRY(sn_kernel_point_find(&job, &s->holdout, rival, &s->kernel));
    s->tried += s->kernel.tried;
    return STONET_OK;
}

/* The mean of network and kernel regression, where that may help. */
static stonet_status find_blend(searcher *s)
{
    sn_stage_job job = *s->job;
    job.shape = &s->shape[s->at.activation];
    job.run = &s->quiet.run;
    if (sn_should_stop(s->job->run) ||
        !sn_blend_point_fits(&job, &s->holdout, sn_cost_at(s, s->at), &s->kernel))
        return STONET_OK;
    s->tried++;
    float *const *theta = s->path[s->at.activation][s->at.decay]->theta[s->at.length];
    return sn_blend_point_measure(&job, &s->holdout, theta, &s->kernel, &s->blend);
}

static bool prefers_kernel(searcher *s, const sn_held_out *chosen)
{
    const sn_held_out *kernel = &s->kernel.cost;
    if (kernel->loss == NULL || !isfinite(kernel->mean) || !isfinite(chosen->mean)) return false;
    const sn_difference gain = sn_held_out_difference(chosen, kernel, 0, s->holdout.rows);
    return gain.mean > KERNEL_ERRORS * gain.se;
}

/* Two that are level are better together than either, as a rule; the linear model is simpler than that. */
static bool prefers_blend(searcher *s, const sn_held_out *chosen)
{
    const sn_held_out *blend = &s->blend.cost;
    if (blend->loss == NULL || !isfinite(blend->mean)) return false;
    const sn_difference gain = sn_held_out_difference(chosen, blend, 0, s->holdout.rows);
    return gain.mean > (chosen == &s->baseline.linear ? SIMPLER_ERRORS : -APART_ERRORS) * gain.se;
}

/* Of the held-out fits of the chosen setting, the one with the lowest loss over all rows. */
static stonet_status take_best_fold(searcher *s, float *theta, int *fold, double *loss)
{
    const sn_path *path = s->path[s->at.activation][s->at.decay];
    float *const *reached = path->theta[s->at.length];
    double best = (double)INFINITY;
    for (int k = 0; k < s->holdout.folds; k++) {
        sn_losses losses;
        SN_TRY(sn_engine_loss(
            s->config->engine, &path->shape, reached[k],
            &(sn_loss_job){s->holdout.fold[k].problem, s->job->rows, s->job->threads, s->job->team},
            &losses));
        if (k > 0 && !(losses.loss < best)) continue;
        best = losses.loss;
        *fold = k;
        memcpy(theta, reached[k], (size_t)path->shape.parameters * sizeof *theta);
    }
    *loss = best;
    return STONET_OK;
}

static stonet_status settle(searcher *s, sn_shape *shape, sn_config *config, sn_selection *selection)
{
    const int64_t rows = s->holdout.rows;
    shape->activation = s->shape[s->at.activation].activation;
    if (config->auto_decay) config->weight_decay = sn_search_decays[s->at.decay];
    if (config->auto_epochs)
        config->epochs =
            (double)sn_search_updates[s->at.length] / (double)sn_train_batches(config, s->job->rows.n);
    selection->outcome = sn_should_stop(s->job->run) ? STONET_STOPPED : STONET_DONE;
    selection->take_linear = selection->outcome == STONET_DONE && prefers_linear(s);
    selection->sent_to_0 = selection->take_linear && sent_to_0(s);
    selection->penalty = s->baseline.penalty;
    selection->linear_finds = sn_baseline_finds(&s->baseline, &s->holdout);
    const sn_held_out *chosen = selection->take_linear ? &s->baseline.linear : sn_cost_at(s, s->at);
    const bool kernel = selection->outcome == STONET_DONE && prefers_kernel(s, chosen);
    if (kernel) chosen = &s->kernel.cost;
    selection->take_linear = selection->take_linear || kernel;
    selection->blend = selection->outcome == STONET_DONE && prefers_blend(s, chosen);
    if (selection->blend) {
        chosen = &s->blend.cost;
        selection->take_linear = false;
        selection->visible = s->kernel.front->outputs;
    }
    if (kernel || selection->blend) {
        sn_front **front = selection->blend ? &s->blend.front : &s->kernel.front;
        selection->penalty = s->kernel.penalty;
        selection->front = *front;
        *front = NULL;
    }
    selection->tried = s->tried;
    selection->held_out = rows;
    selection->constant = sn_estimate_of(&s->baseline.constant, rows);
    selection->linear = sn_estimate_of(&s->baseline.linear, rows);
    selection->chosen = sn_estimate_of(chosen, rows);
    if (selection->outcome != STONET_DONE || !isfinite(chosen->mean)) return STONET_OK;
    return sn_residuals_look(s->job->problem, &s->holdout, chosen->loss, &selection->residual_p);
}

stonet_status sn_select(const sn_stage_job *job, sn_shape *shape, sn_config *config, float *theta,
                        sn_selection *selection)
{
    const sn_estimate none = {(double)NAN, (double)NAN, (double)NAN, (double)NAN};
    *selection = (sn_selection){.chosen = none,
                                .constant = none,
                                .linear = none,
                                .winner_loss = (double)NAN,
                                .residual_p = (double)NAN};
    if (!config->auto_decay && !config->auto_epochs) return STONET_OK;
    searcher *s;
    SN_TRY(SN_NEW(s, 1));
    stonet_status status;
    SN_GOTO(status, sn_search_begin(job, shape, config, s), done);
    SN_GOTO(status, sn_search(s), done);
    SN_GOTO(status, find_kernel(s), done);
    SN_GOTO(status, find_blend(s), done);
    int winner = 0;
    SN_GOTO(status, take_best_fold(s, theta, &winner, &selection->winner_loss), done);
    selection->start = s->start[s->at.activation][winner];
    s->start[s->at.activation][winner] = NULL;
    status = settle(s, shape, config, selection);
    if (selection->outcome == STONET_STOPPED) { /* theta is behind the front of its fold */
        selection->front = s->holdout.fold[winner].front;
        s->holdout.fold[winner].front = NULL;
    }
done:
    if (status != STONET_OK) {
        sn_front_free(selection->front);
        selection->front = NULL;
        sn_free(selection->start);
        selection->start = NULL;
    }
    sn_search_free(s);
    sn_free(s);
    return status;
}
