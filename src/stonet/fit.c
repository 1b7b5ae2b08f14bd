#include "stonet/fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checkpoint.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "engine/registry.h"
#include "stonet/batch_size.h"
#include "stonet/blend_in.h"
#include "stonet/dynamics.h"
#include "stonet/learned.h"
#include "stonet/linear.h"
#include "stonet/sparse.h"
#include "stonet/start.h"
#include "stonet/tell.h"
#include "stonet/trials.h"

enum { LR_RETRIES = 4 }; /* a third of the step each time */
/* Of what the linear model explains: a network that is stuck with less is next to the constant. */
static const double PART_OF_LINEAR = 0.25;

void sn_stonet_free(sn_stonet *net)
{
    if (net == NULL) return;
    sn_front_free(net->front);
    sn_network_clear(&net->network);
    sn_axes_free(&net->axes);
    sn_response_free(&net->response);
    sn_free(net);
}

/* ---- the fit on all rows ----------------------------------------------------------------------------- */

static void replace_front(sn_stonet *net, sn_front *front)
{
    sn_front_free(net->front);
    net->front = front;
}

/* Says what is taken in place of a network. */
static void tell_linear(const stonet_run *run, const sn_front *front)
{
    if (front == NULL) {
        sn_message(run, STONET_NOTE,
                   "no network was better than the linear model on held-out rows: the linear model is taken");
        return;
    }
    const sn_kernel_setting kernel = sn_front_kernel_setting(front);
    sn_message(run, STONET_NOTE,
               "kernel regression was better than the networks on held-out rows: a linear layer on kernel "
               "features is taken (front=kernel, complexity %g, linear share %g, %lld landmarks)",
               kernel.complexity, kernel.linear, (long long)kernel.landmarks);
}

/* The layers that were asked for, with the linear model *theta in them. */
static stonet_status put_inside(const sn_stage_job *job, const sn_shape *asked, sn_shape *shape,
                                float **theta)
{
    SN_WORKSPACE(scratch);
    double *reach = NULL;
    float *inside;
    SN_TRY(SN_TAKE(&scratch, reach, shape->width[1]));
    SN_TRY(sn_linear_reach(shape, *theta, job->problem, &job->rows, reach));
    SN_TRY(SN_NEW_RAW(inside, asked->parameters));
    sn_linear_inside(shape, *theta, reach, asked, inside);
    sn_free(*theta);
    *theta = inside;
    *shape = *asked;
    return STONET_OK;
}

/* The linear model on the features of the job in place of a network, or inside the one that was asked for. */
static stonet_status train_linear_on(const sn_stage_job *job, double penalty, sn_stonet *net)
{
    const sn_shape *like = &net->network.shape;
    sn_shape shape;
    bool found;
    SN_TRY(sn_linear_shape(like, job->problem->p, like->width[like->layers - 1], &shape));
    float *theta;
    SN_TRY(SN_NEW(theta, shape.parameters));
    stonet_status status =
        sn_linear_fit(&shape, job->problem, &job->rows, (sn_ridge){.l2 = penalty * (double)job->rows.n},
                      job->run, theta, &found);
    if (status == STONET_OK && !found) /* each part of the rows had every class */
        status = sn_fail(STONET_ERROR_NUMERIC, "a class has no row");
    if (status == STONET_OK && !job->config->linear_may) status = put_inside(job, like, &shape, &theta);
    if (status == STONET_OK) return sn_take_network(job, &shape, theta, net);
    sn_free(theta);
    return status;
}

static stonet_status train_linear(const sn_stage_job *job, const sn_selection *selection, sn_config *config,
                                  sn_stonet *net)
{
    sn_stage_job own = *job;
    sn_problem seen;
    stonet_status status = sn_front_problem(selection->front, job->problem, &seen);
    own.problem = &seen;
    if (status == STONET_OK) status = train_linear_on(&own, selection->penalty, net);
    sn_front_problem_free(job->problem, &seen);
    if (selection->front != NULL) replace_front(net, selection->front);
    SN_TRY(status);
    if (selection->sent_to_0)
        sn_message(job->run, STONET_WARNING,
                   "weight_decay=%g and epochs=%g leave the network nothing but a constant guess: the linear "
                   "model, which is better on held-out rows, is %s",
                   config->weight_decay, config->epochs,
                   config->linear_may ? "taken in its place" : "put into its layers, and Z is linear");
    else
        tell_linear(job->run, selection->front);
    config->weight_decay = selection->penalty;
    config->epochs = 0.0;
    return STONET_OK;
}

/* On all rows, from what won on a part of them. What saw those rows through a front of its own is no start
   for this one. */
static stonet_status train_network(const sn_stage_job *job, const sn_selection *selection, sn_stonet *net,
                                   sn_train_report *report)
{
    if (selection->tried == 0) return sn_train_on_all(job, net, &(sn_won){.loss = (double)NAN}, report);
    if (job->wide != NULL)
        return sn_train_on_all(job, net, &(sn_won){.loss = selection->winner_loss}, report);
    float *winner;
    SN_TRY(SN_NEW_RAW(winner, net->network.shape.parameters));
    memcpy(winner, net->network.theta, (size_t)net->network.shape.parameters * sizeof *winner);
    stonet_status status = sn_train_on_all(
        job, net, &(sn_won){.start = selection->start, .theta = winner, .loss = selection->winner_loss},
        report);
    sn_free(winner);
    return status;
}

/* A network that was not trained to its end is no half of anything; in place of one that is stuck, kernel
   regression is taken alone. */
static stonet_status train_blend(const sn_stage_job *job, sn_selection *selection, sn_config *config,
                                 sn_stonet *net, sn_train_report *report)
{
    stonet_status status = train_network(job, selection, net, report);
    sn_front *front = selection->front;
    if (status != STONET_OK || report->outcome != STONET_DONE) {
        selection->front = NULL;
        sn_front_free(front);
        return status;
    }
    if (net->stuck) {
        net->stuck = false;
        return train_linear(job, selection, config, net);
    }
    status = sn_blend_in(job, selection, net);
    replace_front(net, front);
    return status;
}

/* Settings that were given: what the linear model finds on held-out rows, for the user to know whether there
   is anything. */
static stonet_status ask_linear(const sn_stage_job *job, sn_selection *selection)
{
    sn_holdout holdout;
    sn_baseline baseline = {0};
    stonet_status status;
    SN_GOTO(status, sn_holdout_make(job, &holdout), done);
    SN_GOTO(status, sn_baseline_measure(job, &holdout, &baseline), done);
    selection->constant = sn_estimate_of(&baseline.constant, holdout.rows);
    selection->linear = sn_estimate_of(&baseline.linear, holdout.rows);
    selection->linear_finds = sn_baseline_finds(&baseline, &holdout);
    selection->penalty = baseline.penalty;
done:
    sn_baseline_free(&baseline);
    sn_holdout_free(&holdout);
    return status;
}

/* A network that is stuck at the constant, or next to it, gives way to the linear model where that has found
   something on held-out rows and may be taken. */
static stonet_status give_way(const sn_stage_job *job, sn_selection *selection, sn_config *config,
                              sn_stonet *net)
{
    if (selection->tried == 0) SN_TRY(ask_linear(job, selection));
    net->linear_finds = selection->linear_finds;
    const double constant = selection->constant.loss, linear = selection->linear.loss;
    if (net->linear_finds != SN_FINDS || !config->gives_way ||
        net->training_loss < constant - PART_OF_LINEAR * (constant - linear))
        return STONET_OK;
    net->stuck = false;
    if (selection->tried > 0) net->held_out = selection->linear;
    selection->sent_to_0 = true;
    return train_linear(job, selection, config, net);
}

/* batch=auto, for what was chosen. */
static stonet_status choose_batch(const sn_stage_job *job, const sn_selection *selection, sn_config *config)
{
    float *start = selection->start;
    if (start != NULL && job->wide == NULL)
        return sn_batch_choose(job, start, &sn_batch_limits_usual, config);
    SN_TRY(SN_NEW_RAW(start, job->shape->parameters));
    stonet_status status = sn_start_weights(job, start);
    if (status == STONET_OK) status = sn_batch_choose(job, start, &sn_batch_limits_usual, config);
    sn_free(start);
    return status;
}

/* What was chosen, on all rows. */
static stonet_status train_chosen(const sn_stage_job *job, sn_selection *selection, sn_config *config,
                                  sn_stonet *net, sn_train_report *report)
{
    if (selection->outcome == STONET_STOPPED) {
        if (selection->front != NULL) replace_front(net, selection->front);
        return STONET_OK;
    }
    if (isinf(selection->chosen.loss)) {
        report->outcome = STONET_DIVERGED;
        return STONET_OK;
    }
    if (selection->take_linear) return train_linear(job, selection, config, net);
    SN_TRY(choose_batch(job, selection, config));
    return selection->blend ? train_blend(job, selection, config, net, report)
                            : train_network(job, selection, net, report);
}

/* Chooses and trains once. */
static stonet_status attempt(sn_stage_job *job, sn_config *config, sn_stonet *net, sn_train_report *report)
{
    sn_selection selection;
    if (job->learns != NULL) return sn_learned_fit(job, config, net, report);
    sn_epoch_log_free(&net->network.history); /* of an attempt that diverged */
    SN_TRY(
        sn_select_for(job, &sn_parting_usual, &net->network.shape, config, net->network.theta, &selection));
    net->held_out = selection.chosen;
    net->held_out_constant = selection.constant;
    net->held_out_linear = selection.linear;
    net->held_out_rows = selection.held_out;
    net->settings_tried = selection.tried;
    net->residual_p = net->response.kind == SN_RESPONSE_MEAN ? selection.residual_p : (double)NAN;
    net->training_loss = selection.chosen.loss;
    *report = (sn_train_report){.outcome = selection.outcome, .smallest_step = 1.0};
    stonet_status status = train_chosen(job, &selection, config, net, report);
    sn_free(selection.start);
    if (status == STONET_OK && net->stuck) status = give_way(job, &selection, config, net);
    return status;
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
    net->smallest_step = report->smallest_step;
    sn_dynamics_from(config, &net->network.shape, &net->dynamics);
    double factor;
    return sn_dynamics_safeguard(&net->network.shape, net->network.theta, &net->dynamics, &factor);
}

/* Rows may come as they are: the network's front is before them. */
static stonet_status finish(const sn_problem *problem, int64_t q, const stonet_run *run,
                            const sn_train_report *report, sn_stonet *net, stonet_outcome *outcome)
{
    SN_TRY(sn_stonet_turn(net, problem, q, sn_threads(run)));
    sn_stonet_tell(run, net, report);
    *outcome = report->outcome;
    return STONET_OK;
}

/* engine=auto: says which one it is, and why it is not a GPU. */
static void tell_engine(const stonet_run *run, const sn_config *config)
{
    if (!config->auto_engine) return;
    if (config->engine == &sn_engine_cpu)
        sn_message(run, STONET_NOTE, "engine=auto: engine=cpu is taken (%s)", stonet_last_error());
    else
        sn_message(run, STONET_NOTE, "engine=auto: engine=%s is taken", config->engine->name);
}

/* Of what goes wrong, what may be the device's doing. */
static bool may_fall_back(const sn_config *config, stonet_status status)
{
    return config->auto_engine && config->engine != &sn_engine_cpu &&
           (status == STONET_ERROR_MEMORY || status == STONET_ERROR_NUMERIC ||
            status == STONET_ERROR_UNSUPPORTED);
}

/* engine=auto, and the engine failed: what is not done yet is done by the one that is always there. */
static void fall_back(const stonet_run *run, sn_config *config)
{
    sn_message(run, STONET_NOTE, "engine=auto: the fit begins again with engine=cpu (%s)",
               stonet_last_error());
    config->engine = &sn_engine_cpu;
}

/* The job lacks shape and config. */
static stonet_status fit_network(const sn_stage_job *job, const sn_settings *settings, sn_stonet *net,
                                 sn_train_report *report)
{
    sn_config wanted, config;
    SN_TRY(sn_config_resolve(settings, job->problem, &net->network.shape, &wanted));
    if ((sn_team_shares(job->team) || job->learns != NULL) && wanted.auto_engine)
        wanted.engine = &sn_engine_cpu; /* the same for all ranks, and what a front can learn with */
    tell_engine(job->run, &wanted);
    SN_TRY(SN_NEW(net->network.theta, net->network.shape.parameters));
    for (int retry = 0;; retry++) {
        config = wanted;
        sn_stage_job own = *job;
        own.shape = &net->network.shape;
        own.config = &config;
        char key[SN_KEY_SIZE];
        snprintf(key, sizeof key, "fit%d.%s", retry, config.engine->name);
        own.key = key;
        stonet_status status = attempt(&own, &config, net, report);
        if (may_fall_back(&wanted, status)) {
            fall_back(job->run, &wanted);
            retry--;
            continue;
        }
        SN_TRY(status);
        if (report->outcome != STONET_DIVERGED || !wanted.auto_lr || retry == LR_RETRIES) break;
        wanted.lr /= 3.0;
        sn_message(job->run, STONET_NOTE, "training diverged at lr=%g; starting again with lr=%g", config.lr,
                   wanted.lr);
    }
    return keep(net, &config, report);
}

/* Kernel features in front of the network, as asked for. */
static stonet_status fit_kernel(const sn_stage_job *job, sn_kernel_setting kernel, sn_stonet *net)
{
    SN_TRY(sn_kernel_choose(job->raw, &job->rows, job->seed, job->run, &kernel));
    SN_TRY(sn_front_kernel_create(job->raw, &job->rows, &kernel, job->seed, &net->front));
    sn_message(job->run, STONET_NOTE,
               "front=kernel: complexity %g, linear share %g, %lld landmarks, %lld features",
               kernel.complexity, kernel.linear, (long long)sn_front_kernel_setting(net->front).landmarks,
               (long long)net->front->outputs);
    return STONET_OK;
}

/* Says which columns a front keeps, by their numbers among the features. */
static void tell_columns(const stonet_run *run, const sn_problem *problem, const sn_front *front)
{
    enum { SHOWN = 12, ROOM = 24 };
    char list[SHOWN * ROOM] = "";
    size_t used = 0;
    const int64_t count = front->outputs, *column = sn_front_columns_list(front);
    for (int64_t k = 0; k < count && k < SHOWN; k++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%lld", k > 0 ? ", " : "",
                                 (long long)column[k] + 1);
    sn_message(
        run, STONET_NOTE,
        "%lld features and %lld rows: the network is given %lld of the features (front=columns), taken one "
        "after the other; held-out rows chose how many. They are number %s%s",
        (long long)problem->p, (long long)problem->n, (long long)count, list, count > SHOWN ? ", .." : "");
}

/* Fewer features in the place of many. */
static stonet_status fit_wide(const sn_stage_job *job, sn_wide *wide, sn_stonet *net)
{
    sn_stage_job own = *job;
    own.problem = job->raw;
    own.raw = NULL;
    SN_TRY(sn_wide_choose(&own, wide));
    SN_TRY(sn_wide_front(wide, job->raw, &job->rows, job->seed, &net->front));
    if (wide->kind == SN_WIDE_COMPONENTS)
        sn_message(job->run, STONET_NOTE,
                   "%lld features and %lld rows: the network is given %lld principal components "
                   "(front=components), which ridge regression does best with on held-out rows",
                   (long long)job->raw->p, (long long)job->rows.n, (long long)wide->features);
    else
        tell_columns(job->run, job->raw, net->front);
    return STONET_OK;
}

/* The columns that a group penalty leaves. */
static stonet_status fit_sparse(const sn_stage_job *job, const sn_settings *settings, sn_stonet *net)
{
    sn_shape shape;
    sn_config config;
    sn_sparse sparse;
    sn_stage_job own = *job;
    own.problem = job->raw;
    own.raw = NULL;
    own.shape = &shape;
    own.config = &config;
    if (!sn_is(settings, "front", "auto") && !sn_is(settings, "front", "none"))
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "select=group chooses among the columns themselves: it does not go with front=%s",
                       sn_word(settings, "front"));
    SN_TRY(sn_config_shape(settings, job->raw, 1, &shape));
    SN_TRY(sn_config_default(sn_engine_find(sn_word(settings, "engine")), job->raw, &shape, &config));
    const bool given = !sn_is(settings, "select_penalty", "auto");
    SN_TRY(sn_sparse_choose(&own, given ? sn_real(settings, "select_penalty") : (double)NAN, &sparse));
    net->front = sparse.front;
    net->select_penalty = sparse.penalty;
    if (!sparse.better)
        sn_message(job->run, STONET_WARNING,
                   "select=group: on held-out rows no set of columns is clearly better than none; the %lld "
                   "that stay longest are kept, which need not mean anything",
                   (long long)sparse.kept);
    else
        sn_message(job->run, STONET_NOTE, "select=group: %lld of %lld columns are kept, at penalty %.3g",
                   (long long)sparse.kept, (long long)sparse.columns, sparse.penalty);
    return STONET_OK;
}

/* What stands between the rows and the network, before there is one. */
static stonet_status fit_front(const sn_stage_job *job, const sn_settings *settings, sn_wide *wide,
                               sn_stonet *net)
{
    sn_kernel_setting kernel;
    *wide = (sn_wide){0};
    if (!sn_is(settings, "select", "none")) return fit_sparse(job, settings, net);
    if (sn_is(settings, "front", "conv")) return sn_learned_front(job, settings, &net->front);
    if (sn_config_kernel(settings, job->raw, &kernel)) return fit_kernel(job, kernel, net);
    return sn_config_wide(settings, job->raw, wide) ? fit_wide(job, wide, net) : STONET_OK;
}

/* What the network is to see of the response needs all of it in memory: *held has it there, at *y, to be
   freed; or it is the problem as it was. */
static stonet_status hold_targets(sn_response_kind kind, const sn_problem *problem, sn_problem *held,
                                  double **y)
{
    const sn_rows all = sn_rows_range(0, problem->n);
    *held = *problem;
    *y = NULL;
    if (kind == SN_RESPONSE_MEAN || problem->raw == NULL || problem->task == SN_CLASSIFICATION)
        return STONET_OK;
    SN_TRY(SN_NEW_RAW(*y, problem->n * problem->outputs));
    sn_batch_fetch(problem, &all, &(sn_batch){.y = *y});
    held->y = *y;
    held->raw = NULL;
    return STONET_OK;
}

/* The response as the network sees it: *seen, and the numbers behind it, to be freed (NULL: the same). */
static stonet_status see(const sn_response *response, const sn_problem *problem, sn_problem *seen, double **y)
{
    *seen = *problem;
    *y = NULL;
    if (response->kind == SN_RESPONSE_MEAN) return STONET_OK;
    SN_TRY(SN_NEW_RAW(*y, problem->n * response->outputs));
    SN_TRY(sn_response_encode(response, problem->n, problem->y, *y));
    seen->y = *y;
    seen->outputs = response->outputs;
    return STONET_OK;
}

/* Units of the last hidden layer for q columns of Z, which are fewer where they are principal components. */
static stonet_status choose_width(const sn_response *response, int64_t q, int64_t *width)
{
    enum { ENSEMBLE_UNITS = 10 };
    *width = q;
    if (response->kind == SN_RESPONSE_MEAN) return STONET_OK;
    if (q > response->outputs)
        return sn_fail(
            STONET_ERROR_ARGUMENT,
            "response=%s has %lld outputs for this response, which %lld columns of Z carry: ask for "
            "%lld at most",
            sn_words_name(&sn_response_words, response->kind), (long long)response->outputs,
            (long long)response->outputs, (long long)response->outputs);
    *width = q > ENSEMBLE_UNITS ? q : ENSEMBLE_UNITS;
    return STONET_OK;
}

/* The front, if it is trained with the network. */
static sn_front *learner(sn_front *front)
{
    return front != NULL && front->ops->learning != NULL ? front : NULL;
}

/* A fit to the response as the network sees it, in `problem`. */
static stonet_status fit_seen(const sn_problem *problem, int64_t width, const sn_settings *settings,
                              const stonet_run *run, sn_stonet *net, sn_train_report *report)
{
    sn_problem seen;
    sn_keep keep = {0};
    sn_wide wide;
    sn_stage_job job = {.problem = &seen,
                        .raw = problem,
                        .rows = sn_rows_range(0, problem->n),
                        .seed = run->seed,
                        .threads = sn_threads(run),
                        .team = run->team,
                        .run = run};
    SN_TRY(fit_front(&job, settings, &wide, net));
    if (wide.kind != SN_WIDE_NOT) job.wide = &wide;
    stonet_status status = sn_front_problem(net->front, problem, &seen);
    seen.keep = &keep;
    job.learns = learner(net->front);
    if (status == STONET_OK) status = sn_config_shape(settings, &seen, width, &net->network.shape);
    if (status == STONET_OK) status = fit_network(&job, settings, net, report);
    sn_keep_clear(&keep);
    sn_front_problem_free(problem, &seen);
    return status;
}

static stonet_status fit_stonet(const sn_problem *problem, int64_t q, const sn_settings *settings,
                                const stonet_run *run, sn_stonet *net, stonet_outcome *outcome)
{
    const int kind = sn_words_choice(&sn_response_words, settings, "response");
    sn_problem held, seen;
    double *targets = NULL, *y = NULL;
    int64_t width;
    sn_train_report report;
    stonet_status status;
    SN_GOTO(status, hold_targets((sn_response_kind)kind, problem, &held, &targets), done);
    SN_GOTO(status, sn_response_learn((sn_response_kind)kind, &held, &net->response), done);
    SN_GOTO(status, choose_width(&net->response, q, &width), done);
    SN_GOTO(status, see(&net->response, &held, &seen, &y), done);
    SN_GOTO(status, fit_seen(&seen, width, settings, run, net, &report), done);
    status = finish(&held, q, run, &report, net, outcome);
done:
    sn_free(targets);
    sn_free(y);
    return status;
}

stonet_status sn_stonet_fit(const sn_problem *problem, int64_t q, const sn_settings *settings,
                            const stonet_run *run, sn_stonet **out, stonet_outcome *outcome)
{
    sn_stonet *net;
    SN_TRY(SN_NEW(net, 1));
    stonet_status status = fit_stonet(problem, q, settings, run, net, outcome);
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

/* What was measured before is not of the network that more rows have changed. */
static void forget_estimates(sn_stonet *net)
{
    const sn_estimate none = {(double)NAN, (double)NAN, (double)NAN, (double)NAN};
    net->held_out = net->held_out_constant = net->held_out_linear = none;
    net->held_out_rows = 0;
    net->residual_p = (double)NAN;
    net->stuck = false;
}

/* The parameters of a front that learns are what they were when training fails. */
static stonet_status train_stages_or_not(const sn_stage_job *job, float *theta, sn_train_report *report)
{
    sn_front *front = job->learns;
    if (front == NULL) return sn_train_stages(job, theta, report);
    const size_t bytes = (size_t)front->parameters * sizeof *front->theta;
    float *before;
    SN_TRY(SN_NEW_RAW(before, front->parameters));
    memcpy(before, front->theta, bytes);
    stonet_status status = sn_train_stages(job, theta, report);
    if (status != STONET_OK) memcpy(front->theta, before, bytes);
    sn_free(before);
    return status;
}

/* Of rows as the network sees them, and as they are. */
static stonet_status train_more(sn_stonet *net, const sn_problem *problem, const sn_problem *raw,
                                const sn_settings *settings, const stonet_run *run, sn_train_report *report)
{
    sn_config config;
    SN_TRY(sn_config_resolve(settings, problem, &net->network.shape, &config));
    take_choices(net, &config);
    sn_epoch_log_free(&net->network.history);
    const sn_stage_job job = {.shape = &net->network.shape,
                              .problem = problem,
                              .raw = raw,
                              .learns = learner(net->front),
                              .rows = sn_rows_range(0, problem->n),
                              .config = &config,
                              .seed = run->seed + (uint64_t)net->iterations, /* fresh noise for each piece */
                              .threads = sn_threads(run),
                              .run = run,
                              .history = &net->network.history};
    SN_TRY(train_stages_or_not(&job, net->network.theta, report));
    net->training_loss = report->loss;
    forget_estimates(net);
    return keep(net, &config, report);
}

stonet_status sn_stonet_fit_more(sn_stonet *net, const sn_problem *problem, const sn_settings *settings,
                                 const stonet_run *run, stonet_outcome *outcome)
{
    const int64_t q = sn_stonet_dim(net);
    sn_problem held, answered, seen = {0};
    sn_train_report report;
    double *targets = NULL, *y = NULL;
    stonet_status status;
    SN_GOTO(status, hold_targets(net->response.kind, problem, &held, &targets), done);
    SN_GOTO(status, see(&net->response, &held, &answered, &y), done);
    status = sn_front_problem(net->front, &answered, &seen);
    if (status == STONET_OK) status = train_more(net, &seen, &answered, settings, run, &report);
    sn_front_problem_free(&answered, &seen);
    if (status == STONET_OK) status = finish(&held, q, run, &report, net, outcome);
done:
    sn_free(targets);
    sn_free(y);
    return status;
}
