#include "stonet/fit.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "stonet/dynamics.h"

enum {
    LR_RETRIES = 4, /* a third of the step each time */
    STARTS = 3
};
#define START_STRIDE 0x9E3779B97F4A7C15U /* far from the seeds a user would take next */

void sn_stonet_free(sn_stonet *net)
{
    if (net == NULL) return;
    sn_free(net->theta);
    sn_epoch_log_free(&net->history);
    sn_free(net);
}

/* Whether training ended far above the loss that its settings reached on held-out rows. */
static bool got_stuck(const sn_train_report *report, double held_out_loss)
{
    return report->outcome == STONET_DONE && report->loss > 2.0 * held_out_loss;
}

/* Trains on all rows. Settings that do well from the starts of the held-out fits can still get stuck from
   this one: then from another, at most STARTS in all, and the best is kept. */
static stonet_status train(sn_stage_job *job, sn_stonet *net, sn_train_report *report)
{
    const uint64_t seed = job->seed;
    float *best;
    SN_TRY(SN_NEW_RAW(best, net->shape.parameters));
    sn_train_report best_report = {.loss = (double)INFINITY};
    stonet_status status;
    for (int start = 0; start < STARTS; start++) {
        job->seed = seed + (uint64_t)start * START_STRIDE;
        sn_shape_start(&net->shape, job->seed, net->theta);
        sn_epoch_log_free(&net->history);
        job->history = &net->history;
        SN_GOTO(status, sn_train_stages(job, net->theta, report), done);
        if (!got_stuck(report, net->held_out_loss)) goto done;
        sn_message(job->run, STONET_NOTE,
                   "training got stuck at a loss of %.3g, against %.3g on held-out rows", report->loss,
                   net->held_out_loss);
        if (report->loss > best_report.loss) continue;
        best_report = *report;
        memcpy(best, net->theta, (size_t)net->shape.parameters * sizeof *best);
    }
    *report = best_report;
    memcpy(net->theta, best, (size_t)net->shape.parameters * sizeof *best);
done:
    sn_free(best);
    return status;
}

/* Chooses and trains once. */
static stonet_status attempt(sn_stage_job *job, sn_config *config, sn_stonet *net, sn_train_report *report)
{
    sn_selection selection;
    SN_TRY(sn_select(job, &net->shape, config, net->theta, &selection));
    net->held_out_loss = selection.loss;
    net->held_out_error = selection.error_rate;
    net->settings_tried = selection.tried;
    *report = (sn_train_report){.outcome = selection.outcome, .smallest_step = 1.0, .loss = selection.loss};
    if (selection.outcome == STONET_STOPPED) return STONET_OK;
    if (isinf(selection.loss)) {
        report->outcome = STONET_DIVERGED;
        return STONET_OK;
    }
    return train(job, net, report);
}

/* Says what the numbers of a run mean for the user. */
static void tell(const stonet_run *run, const sn_stonet *net, const sn_train_report *report)
{
    if (report->outcome == STONET_DIVERGED)
        sn_message(
            run, STONET_WARNING,
            "training diverged after %lld iterations at lr=%g; the last good model is kept: try a smaller lr",
            (long long)report->iterations, net->lr);
    if (report->smallest_step < 1.0)
        sn_message(run, STONET_NOTE,
                   "the latent step was shrunk to %.2g of what was asked to keep the sampler stable",
                   report->smallest_step);
}

/* Keeps what is needed to use the trained network and to tell about it. */
static stonet_status keep(sn_stonet *net, const sn_config *config, const sn_train_report *report)
{
    net->engine = config->engine;
    net->lr = config->lr;
    net->weight_decay = config->weight_decay;
    net->epochs = config->epochs;
    net->batch = config->batch;
    net->iterations += report->iterations;
    net->training_loss = report->loss;
    net->smallest_step = report->smallest_step;
    sn_dynamics_from(config, &net->shape, &net->dynamics);
    double factor;
    return sn_dynamics_safeguard(&net->shape, net->theta, &net->dynamics, &factor);
}

static stonet_status fit_network(const sn_problem *problem, const sn_settings *settings,
                                 const stonet_run *run, sn_stonet *net, stonet_outcome *outcome)
{
    sn_config wanted, config;
    SN_TRY(sn_config_resolve(settings, problem, &net->shape, &wanted));
    SN_TRY(SN_NEW(net->theta, net->shape.parameters));
    sn_train_report report;
    for (int retry = 0;; retry++) {
        config = wanted;
        sn_stage_job job = {.shape = &net->shape,
                            .problem = problem,
                            .rows = sn_rows_range(0, problem->n),
                            .config = &config,
                            .seed = run->seed,
                            .threads = sn_threads(run),
                            .run = run};
        SN_TRY(attempt(&job, &config, net, &report));
        if (report.outcome != STONET_DIVERGED || !wanted.auto_lr || retry == LR_RETRIES) break;
        wanted.lr /= 3.0;
        sn_message(run, STONET_NOTE, "training diverged at lr=%g; starting again with lr=%g", config.lr,
                   wanted.lr);
    }
    SN_TRY(keep(net, &config, &report));
    tell(run, net, &report);
    *outcome = report.outcome;
    return STONET_OK;
}

stonet_status sn_stonet_fit(const sn_problem *problem, int64_t q, const sn_settings *settings,
                            const stonet_run *run, sn_stonet **out, stonet_outcome *outcome)
{
    sn_stonet *net;
    SN_TRY(SN_NEW(net, 1));
    stonet_status status = sn_config_shape(settings, problem, q, &net->shape);
    if (status == STONET_OK) status = fit_network(problem, settings, run, net, outcome);
    if (status != STONET_OK) {
        sn_stonet_free(net);
        return status;
    }
    *out = net;
    return STONET_OK;
}

/* What the first fit chose takes the place of "auto"; a first fit stopped early may have chosen nothing. */
static void take_choices(const sn_stonet *net, sn_config *config)
{
    if (config->auto_lr && net->lr > 0.0) config->lr = net->lr;
    if (config->auto_decay && net->weight_decay > 0.0) config->weight_decay = net->weight_decay;
    if (config->auto_epochs) config->epochs = net->epochs > 0.0 ? net->epochs : 1.0;
    config->sdr_iterations = 0;
}

stonet_status sn_stonet_fit_more(sn_stonet *net, const sn_problem *problem, const sn_settings *settings,
                                 const stonet_run *run, stonet_outcome *outcome)
{
    sn_config config;
    SN_TRY(sn_config_resolve(settings, problem, &net->shape, &config));
    take_choices(net, &config);
    sn_epoch_log_free(&net->history);
    const sn_stage_job job = {.shape = &net->shape,
                              .problem = problem,
                              .rows = sn_rows_range(0, problem->n),
                              .config = &config,
                              .seed = run->seed + (uint64_t)net->iterations, /* fresh noise for each piece */
                              .threads = sn_threads(run),
                              .run = run,
                              .history = &net->history};
    sn_train_report report;
    SN_TRY(sn_train_stages(&job, net->theta, &report));
    SN_TRY(keep(net, &config, &report));
    tell(run, net, &report);
    *outcome = report.outcome;
    return STONET_OK;
}
