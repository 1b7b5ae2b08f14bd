#include "choice/fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checkpoint.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "choice/conv_fit.h"
#include "choice/messages.h"
#include "choice/sparse.h"
#include "choice/train_all.h"
#include "engine/engines.h"
#include "stonet/batch_size.h"
#include "stonet/dynamics.h"
#include "stonet/narrow.h"
#include "stonet/spare_units.h"
#include "stonet/start.h"

/* ---- the network on all rows --------------------------------------------------------------------------- */

/* A fit under way. */
typedef struct fitting {
    sn_choice_job job;
    int64_t q;
    sn_line lines[SN_MOST_LINES];
    int count;
    bool open; /* there is something to choose */
    sn_choice choice;
    sn_config config; /* of the network on all rows */
    sn_stonet *net;
    sn_train_report report;
    bool narrowed;
} fitting;

/* Fewer units where Z has fewer columns than the effect needs. */
static stonet_status narrow(fitting *f, const sn_stage_job *job)
{
    sn_network *network = &f->net->network;
    sn_shape shape;
    float *theta;
    if (f->report.outcome != STONET_DONE || f->q >= f->job.units) return STONET_OK;
    SN_TRY(sn_narrow_start(job, network->theta, f->q, &shape, &theta));
    if (theta == NULL) return STONET_OK;
    sn_free(network->theta);
    network->theta = theta;
    network->shape = shape;
    f->narrowed = true;
    char key[SN_KEY_SIZE];
    sn_stage_job own = *job;
    snprintf(key, sizeof key, "%s.dim%lld", job->key, (long long)f->q);
    own.key = key;
    return sn_train_narrow(&own, f->net, &f->report);
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

/* Whether the units are as many as the user named, so that they are Z themselves. */
static bool is_named(const fitting *f)
{
    return f->job.units == f->q && sn_config_given(f->job.settings, "hidden");
}

static bool is_conv(const fitting *f)
{
    return f->lines[0].kind.front.kind == SN_FRONT_CONV;
}

static sn_stage_job stage_of(const fitting *f, const sn_problem *seen)
{
    return (sn_stage_job){.shape = &f->net->network.shape,
                          .problem = seen,
                          .rows = f->job.rows,
                          .config = &f->config,
                          .seed = f->job.seed,
                          .threads = f->job.threads,
                          .team = f->job.team,
                          .run = f->job.run,
                          .learns = is_conv(f) ? f->net->front : NULL,
                          .raw = f->job.problem,
                          .key = f->job.key};
}

/* Both stages on the rows as the front shows them, and what Z needs. */
static stonet_status train(fitting *f, const sn_net_kind *kind, const sn_problem *seen)
{
    sn_network *network = &f->net->network;
    sn_config *config = &f->config;
    SN_TRY(sn_line_config(&f->job, kind, seen, &network->shape, config));
    if (config->auto_epochs && f->open)
        config->epochs = (double)f->choice.updates / (double)sn_train_batches(config, f->job.rows.n);
    SN_TRY(SN_NEW(network->theta, network->shape.parameters));
    const sn_stage_job job = stage_of(f, seen);
    if (config->auto_batch) SN_TRY(sn_start_weights(&job, network->theta));
    SN_TRY(sn_batch_choose(&job, network->theta, &sn_batch_limits_usual, config));
    SN_TRY(is_conv(f) ? sn_conv_fit(&job, config, f->net, &f->report)
                      : sn_train_on_all(&job, f->open ? &f->choice : NULL, f->net, &f->report));
    SN_TRY(narrow(f, &job));
    const bool as_many = is_named(f) || f->narrowed;
    SN_TRY(sn_spare_units(&job, as_many ? f->q : f->job.units, &network->shape, &network->theta));
    return keep(f->net, config, &f->report);
}

/* The network of a fold in the place of one on all rows: the choice was stopped. */
static stonet_status take_network_of_fold(fitting *f)
{
    sn_choice *choice = &f->choice;
    sn_network *network = &f->net->network;
    if (choice->theta == NULL)
        return sn_fail(STONET_ERROR_INTERRUPTED, "the fit was stopped before any network was trained");
    sn_front *front =
        choice->front; /* of the line: select=group has a front of its own, and job.problem sees it */
    if (front != NULL) f->net->front = front;
    network->theta = choice->theta;
    network->shape = choice->shape;
    choice->front = NULL;
    choice->theta = NULL;
    sn_problem seen;
    stonet_status status = sn_front_problem(front, f->job.problem, NULL, &seen);
    if (status == STONET_OK)
        status = sn_line_config(&f->job, &choice->line.kind, &seen, &(sn_shape){0}, &f->config);
    f->report = (sn_train_report){.outcome = STONET_STOPPED, .smallest_step = 1.0};
    f->report.iterations = choice->updates > 0 ? choice->updates : 1;
    const sn_stage_job job = stage_of(f, &seen);
    if (status == STONET_OK)
        status = sn_spare_units(&job, is_named(f) ? f->q : f->job.units, &network->shape, &network->theta);
    sn_front_problem_free(f->job.problem, &seen);
    SN_TRY(status);
    f->net->training_loss = choice->loss;
    return keep(f->net, &f->config, &f->report);
}

/* What the choice says, for people. */
static void note_choice(fitting *f)
{
    sn_stonet *net = f->net;
    net->held_out = f->choice.chosen;
    net->held_out_constant = f->choice.constant;
    net->held_out_linear = f->choice.linear;
    net->held_out_rows = f->choice.held_out;
    net->settings_tried = f->choice.tried;
    net->residual_p = net->response.kind == SN_RESPONSE_MEAN ? f->choice.residual_p : (double)NAN;
    sn_free(net->neighbours);
    net->neighbours = f->choice.neighbours;
    f->choice.neighbours = NULL;
}

/* Chooses and trains once. */
static stonet_status attempt(fitting *f)
{
    sn_stonet *net = f->net;
    f->report = (sn_train_report){.outcome = STONET_DONE, .smallest_step = 1.0};
    sn_network_clear(&net->network); /* of an attempt that diverged */
    if (sn_is(f->job.settings, "select", "none")) {
        sn_front_free(net->front); /* of that attempt; select=group has chosen its own before */
        net->front = NULL;
    }
    sn_choice_free(&f->choice);
    if (f->open) {
        SN_TRY(sn_choose_for(&f->job, &sn_windowing_usual, f->lines, f->count, &f->choice));
        f->report.outcome = f->choice.outcome;
        if (f->choice.outcome == STONET_STOPPED) return take_network_of_fold(f);
        if (f->choice.outcome == STONET_DIVERGED) return STONET_OK;
        note_choice(f);
    }
    const sn_net_kind *kind = f->open ? &f->choice.line.kind : &f->lines[0].kind;
    sn_front *front;
    sn_problem seen;
    SN_TRY(is_conv(f) ? sn_conv_front(&f->job, &front)
                      : sn_front_make(&kind->front, f->job.problem, &f->job.rows, f->job.seed, &front));
    if (front != NULL) net->front = front;
    sn_keep device = {0};
    stonet_status status = sn_front_problem(front, f->job.problem, &f->job.rows, &seen);
    seen.keep = &device;
    if (status == STONET_OK) status = train(f, kind, &seen);
    sn_keep_clear(&device);
    sn_front_problem_free(f->job.problem, &seen);
    return status;
}

/* The engine of a fit. engine=auto: cpu for what a convolution learns with, and for ranks, who must all have
   the same; else a GPU where there is one. Says which one it is, and why it is not a GPU. */
static const sn_engine_ops *choose_engine(const sn_settings *settings, const stonet_run *run)
{
    if (!sn_is(settings, "engine", SN_ENGINE_AUTO)) return sn_config_engine(settings);
    const char *why = sn_is(settings, "front", "conv") ? "a convolution learns with no other"
                      : sn_team_shares(run->team)      ? "all processes must use the same"
                                                       : NULL;
    const sn_engine_ops *engine = why != NULL ? &sn_engine_cpu : sn_config_engine(settings);
    if (engine == &sn_engine_cpu)
        sn_message(run, STONET_NOTE, "engine=auto: engine=cpu is used (%s)",
                   why != NULL ? why : stonet_last_error());
    else
        sn_message(run, STONET_NOTE, "engine=auto: engine=%s is used", engine->name);
    return engine;
}

/* Of what goes wrong, what may be the device's doing. */
static bool may_fall_back(const fitting *f, bool any_engine, stonet_status status)
{
    return any_engine && f->job.engine != &sn_engine_cpu &&
           (status == STONET_ERROR_MEMORY || status == STONET_ERROR_NUMERIC ||
            status == STONET_ERROR_UNSUPPORTED);
}

/* Attempts until one does not diverge, each with a third of the step; and with the processor, where a device
   failed. */
static stonet_status fit_lines(fitting *f)
{
    const sn_settings *settings = f->job.settings;
    const bool any_engine = sn_is(settings, "engine", SN_ENGINE_AUTO);
    const bool any_step = !sn_config_given(settings, "lr") && !sn_config_given(settings, "gamma");
    for (int retry = 0;; retry++) {
        char key[SN_KEY_SIZE];
        /* Whatever q is, the same units and lines are the same training. */
        snprintf(key, sizeof key, "fit%d.%lld.%d.%s", retry, (long long)f->job.units, f->count,
                 f->job.engine->name);
        f->job.key = key;
        stonet_status status = attempt(f);
        if (may_fall_back(f, any_engine, status)) {
            sn_message(f->job.run, STONET_NOTE, "engine=auto: the fit begins again with engine=cpu (%s)",
                       stonet_last_error());
            f->job.engine = &sn_engine_cpu;
            retry--;
            continue;
        }
        SN_TRY(status);
        if (f->report.outcome != STONET_DIVERGED || !any_step || retry == SN_TRIES) break;
        f->job.step /= SN_STEP;
        sn_message(f->job.run, STONET_NOTE, "training diverged: starting again with a third of the step");
    }
    if (f->net->network.theta == NULL)
        return sn_fail(STONET_ERROR_NUMERIC,
                       "every training diverged: look for columns with extreme values, or set a smaller lr");
    return STONET_OK;
}

/* The columns that a group penalty leaves. */
static stonet_status fit_sparse(const sn_choice_job *job, const sn_problem *problem, sn_stonet *net)
{
    const sn_settings *settings = job->settings;
    const sn_net_kind kind = {.activation = SN_TANH};
    sn_shape shape;
    sn_config config;
    sn_sparse sparse;
    if (sn_config_given(settings, "front") && !sn_is(settings, "front", "none"))
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "select=group chooses among the columns themselves: it does not go with front=%s",
                       sn_word(settings, "front"));
    SN_TRY(sn_config_shape(settings, &kind, problem, 1, &shape));
    SN_TRY(sn_config_default(job->engine, problem, &shape, &config));
    const sn_stage_job own = {.shape = &shape,
                              .problem = problem,
                              .rows = job->rows,
                              .config = &config,
                              .seed = job->seed,
                              .threads = job->threads,
                              .team = job->team,
                              .run = job->run};
    SN_TRY(sn_sparse_choose(&own, sn_config_or(settings, "select_penalty", (double)NAN), &sparse));
    net->front = sparse.front;
    net->select_penalty = sparse.penalty;
    if (!sparse.better)
        sn_message(job->run, STONET_WARNING,
                   "select=group: no set of columns is clearly better than none on held-out rows; the %lld "
                   "that stay longest are kept, which need not mean anything",
                   (long long)sparse.kept);
    else
        sn_message(job->run, STONET_NOTE, "select=group: %lld of %lld columns are kept, at penalty %.3g",
                   (long long)sparse.kept, (long long)sparse.columns, sparse.penalty);
    return STONET_OK;
}

/* A fit to the response as the network sees it, in `problem`. */
static stonet_status fit_seen(const sn_problem *problem, int64_t q, const sn_settings *settings,
                              const stonet_run *run, sn_stonet *net, sn_train_report *report, sn_units *of)
{
    sn_problem seen = {.x = problem->x}; /* until it is made: nothing to let go of */
    sn_keep device = {0};
    fitting *f;
    SN_TRY(SN_NEW(f, 1));
    f->net = net;
    f->q = q;
    f->job = (sn_choice_job){.settings = settings,
                             .problem = &seen,
                             .rows = sn_rows_range(0, problem->n),
                             .q = q,
                             .units = sn_config_units(settings, q),
                             .engine = choose_engine(settings, run),
                             .step = 1.0,
                             .seed = run->seed,
                             .threads = sn_threads(run),
                             .team = run->team,
                             .run = run};
    stonet_status status = STONET_OK;
    if (!sn_is(settings, "select", "none")) status = fit_sparse(&f->job, problem, net);
    if (status == STONET_OK) status = sn_front_problem(net->front, problem, NULL, &seen);
    seen.keep = &device;
    if (status == STONET_OK) status = sn_lines_for(settings, &seen, q, f->lines, &f->count, &f->open);
    if (status == STONET_OK) status = fit_lines(f);
    sn_keep_clear(&device);
    sn_front_problem_free(problem, &seen);
    /* The head of an ensemble is on activated units, and so are its axes. */
    const bool own = is_named(f) || f->narrowed;
    *of = own && net->response.kind == SN_RESPONSE_MEAN ? SN_UNITS_PLAIN : SN_UNITS_ACTIVATED;
    *report = f->report;
    if (status == STONET_OK) sn_say_result(run, net, report, f->open ? &f->choice.gains : NULL);
    sn_choice_free(&f->choice);
    sn_free(f);
    return status;
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

/* Nothing is measured yet, or of the network that more rows have changed. */
static void forget_estimates(sn_stonet *net)
{
    net->held_out = net->held_out_constant = net->held_out_linear = sn_no_estimate;
    net->held_out_rows = 0;
    net->residual_p = (double)NAN;
    net->stuck = false;
}

/* held: the problem with all targets in memory if the response needs them. seen: the problem as the network
   is trained on it. The axes of Z are turned last, on the response itself unless a law stands for it. */
stonet_status sn_stonet_fit(const sn_problem *problem, int64_t q, const sn_settings *settings,
                            const stonet_run *run, sn_stonet **out, stonet_outcome *outcome)
{
    const sn_response_kind kind = (sn_response_kind)sn_words_choice(&sn_response_words, settings, "response");
    sn_problem held, seen;
    SN_AUTO(sn_stonet) *net = NULL;
    SN_BLOCK double *targets = NULL;
    SN_BLOCK double *y = NULL;
    sn_train_report report = {0};
    sn_units of = SN_UNITS_ACTIVATED;
    SN_TRY(SN_NEW(net, 1));
    forget_estimates(net);
    SN_TRY(hold_targets(kind, problem, &held, &targets));
    SN_TRY(sn_response_choose_law(sn_word(settings, "law"), &held));
    SN_TRY(sn_response_learn(kind, &held, &net->response));
    SN_TRY(sn_response_see(&net->response, &held, &seen, &y));
    SN_TRY(fit_seen(&seen, q, settings, run, net, &report, &of));
    SN_TRY(sn_stonet_turn(net, net->response.law != NULL ? &seen : &held, q, of, sn_threads(run)));
    sn_say_dimension(run, &net->axes);
    *outcome = report.outcome;
    return SN_GIVE(net, out);
}

/* ---- more rows ----------------------------------------------------------------------------------------- */

/* Parameters of a network and of its front, which may learn with it. */
typedef struct place {
    int64_t count[2];
    float *at[2], *before[2];
} place;

static stonet_status remember(sn_stonet *net, bool learns, sn_workspace *scratch, place *p)
{
    *p = (place){.count = {net->network.shape.parameters, learns ? net->front->parameters : 0},
                 .at = {net->network.theta, learns ? net->front->theta : NULL}};
    for (int k = 0; k < 2; k++) {
        if (p->count[k] == 0) continue;
        SN_TRY(SN_TAKE(scratch, p->before[k], p->count[k]));
        memcpy(p->before[k], p->at[k], (size_t)p->count[k] * sizeof **p->at);
    }
    return STONET_OK;
}

/* theta <- before + part (theta - before) */
static void go(const place *p, double part)
{
    for (int k = 0; k < 2; k++)
        for (int64_t j = 0; j < p->count[k]; j++) {
            const double before = (double)p->before[k][j];
            p->at[k][j] = (float)(before + part * ((double)p->at[k][j] - before));
        }
}

/* With a third of the step each time that it diverges, if the step is ours to choose. */
static stonet_status train_until_it_holds(sn_stage_job *job, sn_config *config, const place *p,
                                          sn_train_report *report)
{
    for (int retry = 0;; retry++) {
        const stonet_status status = sn_train_stages(job, p->at[0], report);
        const bool diverged =
            status == STONET_OK && report->outcome == STONET_DIVERGED && config->auto_lr && retry < SN_TRIES;
        if (status == STONET_OK && !diverged) return STONET_OK;
        go(p, 0.0);
        SN_TRY(status);
        sn_message(job->run, STONET_NOTE, "training diverged: going on with a third of the step");
        config->lr /= SN_STEP;
        sn_epoch_log_free(job->history);
        if (job->learns != NULL) SN_TRY(sn_front_refill(job->learns, job->raw, job->problem));
    }
}

/* The loss of the rows of a piece, where the parameters are now. */
static stonet_status loss_of_piece(const sn_stage_job *job, const float *theta, double *loss)
{
    if (job->learns != NULL) SN_TRY(sn_front_refill(job->learns, job->raw, job->problem));
    const sn_use use = sn_stage_use(job, theta);
    return sn_engine_loss(&use, &job->rows, job->team, loss);
}

/* Goes so far from where the network was, or half as far, and so on: between two networks there may be worse
   ones than either, and their rows show it. */
static stonet_status go_a_part(const sn_stage_job *job, const place *p, double part, double before)
{
    enum { HALVES = 5 };
    double loss;
    go(p, part);
    SN_TRY(loss_of_piece(job, p->at[0], &loss));
    for (int k = 0; k < HALVES && !(loss <= before); k++) {
        go(p, k + 1 < HALVES ? 0.5 : 0.0);
        SN_TRY(loss_of_piece(job, p->at[0], &loss));
    }
    return STONET_OK;
}

/*
 * Of rows as the network sees them, and as they are. A fit that chose its length has learned all it can from
 * its rows, and so has one that goes on from there with others: their mean is what both together say. Piece k
 * counts k times in it, for it begins at a better place than those before. A training of given length is not
 * done yet, and goes all the way.
 */
static stonet_status train_more(sn_stonet *net, const sn_problem *problem, const sn_problem *raw,
                                double share, const sn_settings *settings, const stonet_run *run,
                                sn_train_report *report)
{
    SN_WORKSPACE(scratch);
    sn_config config;
    place p;
    double before = (double)NAN;
    const int front =
        net->front != NULL ? sn_words_find(&sn_front_words, net->front->ops->name) : SN_FRONT_NONE;
    const sn_net_kind kind = {.front.kind = (sn_front_kind)front,
                              .activation = net->network.shape.activation,
                              .weight_decay = net->weight_decay};
    const bool learns = kind.front.kind == SN_FRONT_CONV;
    SN_TRY(sn_config_resolve(settings, &kind, problem, &net->network.shape, &config));
    /* What the first fit chose takes the place of "auto"; one stopped early may have chosen nothing. */
    if (config.auto_lr && net->lr > 0.0) config.lr = net->lr;
    if (config.auto_epochs) config.epochs = net->epochs > 0.0 ? net->epochs : 1.0;
    config.sdr_iterations = 0;
    sn_epoch_log_free(&net->network.history);
    sn_stage_job job = {.shape = &net->network.shape,
                        .problem = problem,
                        .raw = raw,
                        .learns = learns ? net->front : NULL,
                        .rows = sn_rows_range(0, problem->n),
                        .config = &config,
                        .seed = run->seed + (uint64_t)net->iterations, /* fresh noise for each piece */
                        .threads = sn_threads(run),
                        .run = run,
                        .history = &net->network.history};
    SN_TRY(remember(net, learns, &scratch, &p));
    if (config.auto_epochs) SN_TRY(loss_of_piece(&job, p.at[0], &before));
    SN_TRY(train_until_it_holds(&job, &config, &p, report));
    if (config.auto_epochs) SN_TRY(go_a_part(&job, &p, fmin(1.0, 2.0 * share), before));
    net->training_loss = report->loss;
    forget_estimates(net);
    return keep(net, &config, report);
}

stonet_status sn_stonet_fit_more(sn_stonet *net, const sn_problem *problem, double share,
                                 const sn_settings *settings, const stonet_run *run, stonet_outcome *outcome)
{
    const int64_t q = sn_stonet_dim(net);
    sn_problem held, answered, seen = {0};
    sn_train_report report;
    SN_BLOCK double *targets = NULL;
    SN_BLOCK double *y = NULL;
    SN_TRY(hold_targets(net->response.kind, problem, &held, &targets));
    SN_TRY(sn_response_see(&net->response, &held, &answered, &y));
    stonet_status status = sn_front_problem(net->front, &answered, NULL, &seen);
    if (status == STONET_OK) status = train_more(net, &seen, &answered, share, settings, run, &report);
    sn_front_problem_free(&answered, &seen);
    SN_TRY(status);
    SN_TRY(
        sn_stonet_turn(net, net->response.law != NULL ? &answered : &held, q, net->axes.of, sn_threads(run)));
    sn_say_result(run, net, &report, NULL);
    *outcome = report.outcome;
    return STONET_OK;
}
