#include "stonet/select.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/splits.h"

static const double DECAYS[] = {0.0, 0.001, 0.003, 0.01, 0.03, 0.06, 0.12};
static const int64_t UPDATES[] = {100, 300, 1000, 3000, 10000, 30000};
enum {
    N_DECAYS = sizeof DECAYS / sizeof *DECAYS,
    N_UPDATES = sizeof UPDATES / sizeof *UPDATES,
    START_DECAY = 4,
    START_UPDATES = 2,
    CLEAN_DECAY = 1,
    CLEAN_UPDATES = 3,
    ALWAYS_ALLOWED = 3,   /* 3000 updates, however few the rows */
    MAX_EPOCHS = 400,     /* passes over small data ... */
    MAX_VISITS = 1300000, /* ... and rows looked at in all, over larger; */
    ENOUGH_EPOCHS = 30,   /* this many passes are allowed to any data */
    FOLDS = 5,
    CROSS_VALIDATE_BELOW = 2000, /* rows; above, one held-out part says enough */
    MAX_HELD_OUT = 10000,
    N_ACTIVATIONS = 2
};
/* A neighbour must be better by this much of the loss to be worth moving to: less is noise. Three times the
   updates cost three times the time and must earn it; another activation is a leap, not a step. */
static const double MARGIN = 0.01, MARGIN_LARGE = 0.03;

typedef struct fold_rows {
    int64_t *train, *test;
    int64_t n_train, n_test;
} fold_rows;

/* A grid point; each member an index. */
typedef struct point {
    int activation, decay, updates;
} point;

typedef struct searcher {
    const sn_stage_job *job;
    const sn_config *config;
    sn_activation activation[N_ACTIVATIONS]; /* the first is where the search starts */
    int folds;                               /* fits a setting is scored by */
    fold_rows *part;
    double loss[N_ACTIVATIONS][N_DECAYS][N_UPDATES]; /* NaN: not scored yet */
    double error[N_ACTIVATIONS][N_DECAYS][N_UPDATES];
    float *theta; /* of the first fold's latest fit */
    float *best_theta;
    point best;
    int64_t tried;
    int stopped; /* the caller asked to stop while folds were fitted */
    double started;
} searcher;

static double *loss_at(searcher *s, point at)
{
    return &s->loss[at.activation][at.decay][at.updates];
}

static stonet_status make_part(const searcher *s, const int32_t *fold, int32_t k, fold_rows *part)
{
    SN_TRY(SN_NEW(part->train, s->job->rows.n));
    SN_TRY(SN_NEW(part->test, s->job->rows.n));
    for (int64_t i = 0; i < s->job->rows.n; i++) {
        if (fold[i] == k && part->n_test < MAX_HELD_OUT)
            part->test[part->n_test++] = sn_rows_at(&s->job->rows, i);
        else
            part->train[part->n_train++] = sn_rows_at(&s->job->rows, i);
    }
    return STONET_OK;
}

static stonet_status make_parts(searcher *s)
{
    const int64_t n = s->job->rows.n;
    const int folds = n < FOLDS ? (int)n : FOLDS;
    s->folds = n < CROSS_VALIDATE_BELOW ? folds : 1;
    int32_t *fold = NULL, *label = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW(s->part, s->folds), done);
    SN_GOTO(status, SN_NEW(fold, n), done);
    if (s->job->problem->label != NULL) {
        SN_GOTO(status, SN_NEW(label, n), done);
        for (int64_t i = 0; i < n; i++) label[i] = s->job->problem->label[sn_rows_at(&s->job->rows, i)];
    }
    SN_GOTO(status, sn_split_folds(n, label, s->job->problem->outputs, folds, s->job->seed, fold), done);
    for (int k = 0; k < s->folds; k++) SN_GOTO(status, make_part(s, fold, k, &s->part[k]), done);
done:
    sn_free(fold);
    sn_free(label);
    return status;
}

typedef struct fold_score {
    stonet_status status;
    stonet_outcome outcome;
    sn_losses losses;
} fold_score;

typedef struct shared_stop {
    const stonet_run *run;
    int *stopped;
} shared_stop;

static int should_stop_fold(void *user)
{
    const shared_stop *stop = user;
    return sn_should_stop_shared(stop->run, stop->stopped);
}

/* Fits one fold's training part and scores its held-out part; keeps fold 0's parameters. */
static fold_score score_fold(searcher *s, int k, const sn_shape *shape, const sn_config *config, int threads)
{
    fold_score score = {.status = STONET_OK, .outcome = STONET_DONE};
    const fold_rows *part = &s->part[k];
    float *theta = sn_malloc((size_t)shape->parameters, sizeof *theta);
    if (theta == NULL) {
        score.status = STONET_ERROR_MEMORY;
        return score;
    }
    sn_shape_start(shape, s->job->seed, theta);
    shared_stop stop = {.run = s->job->run, .stopped = &s->stopped};
    const stonet_run quiet = {.should_stop = should_stop_fold, .user = &stop};
    const sn_stage_job fit = {.shape = shape,
                              .problem = s->job->problem,
                              .rows = sn_rows_list(part->train, part->n_train),
                              .config = config,
                              .seed = s->job->seed,
                              .threads = threads,
                              .run = &quiet};
    sn_train_report report;
    score.status = sn_train_stages(&fit, theta, &report);
    score.outcome = report.outcome;
    const sn_rows test = sn_rows_list(part->test, part->n_test);
    if (score.status == STONET_OK)
        score.status =
            sn_engine_loss(config->engine, shape, theta, s->job->problem, &test, threads, &score.losses);
    if (k == 0) memcpy(s->theta, theta, (size_t)shape->parameters * sizeof *theta);
    sn_free(theta);
    return score;
}

static double epochs_for(const sn_config *config, int64_t updates, int64_t n)
{
    const int64_t batches = n / config->batch > 0 ? n / config->batch : 1;
    return (double)updates / (double)batches;
}

static void tell(const searcher *s)
{
    const stonet_progress progress = {.stage = "choosing settings",
                                      .done = s->tried,
                                      .loss = (double)NAN,
                                      .validation_loss =
                                          s->loss[s->best.activation][s->best.decay][s->best.updates],
                                      .seconds = sn_seconds() - s->started};
    sn_progress(s->job->run, &progress);
}

/* Mean held-out loss of one grid point, Inf when a fit diverged. */
static stonet_status score_point(searcher *s, point at)
{
    if (!isnan(*loss_at(s, at))) return STONET_OK;
    fold_score scores[FOLDS];
    sn_shape shape = *s->job->shape;
    shape.activation = s->activation[at.activation];
    const int outer = s->folds > 1 ? s->job->threads : 1;
    const int inner = s->folds > 1 ? 1 : s->job->threads;
#pragma omp parallel for num_threads(outer) schedule(dynamic) if (outer > 1)
    for (int k = 0; k < s->folds; k++) {
        sn_config config = *s->config;
        config.sdr_iterations = 0;
        if (config.auto_decay) config.weight_decay = DECAYS[at.decay];
        if (config.auto_epochs) config.epochs = epochs_for(&config, UPDATES[at.updates], s->part[k].n_train);
        scores[k] = score_fold(s, k, &shape, &config, inner);
    }
    double loss = 0.0, errors = 0.0;
    int64_t rows = 0;
    for (int k = 0; k < s->folds; k++) {
        SN_TRY(scores[k].status);
        const double weight = (double)s->part[k].n_test;
        loss += scores[k].outcome == STONET_DIVERGED ? (double)INFINITY : weight * scores[k].losses.loss;
        errors += weight * scores[k].losses.error_rate;
        rows += s->part[k].n_test;
    }
    *loss_at(s, at) = isfinite(loss) ? loss / (double)rows : (double)INFINITY;
    s->error[at.activation][at.decay][at.updates] = errors / (double)rows;
    if (s->tried++ == 0 || *loss_at(s, at) < *loss_at(s, s->best)) {
        s->best = at;
        memcpy(s->best_theta, s->theta, (size_t)shape.parameters * sizeof *s->theta);
    }
    tell(s);
    return STONET_OK;
}

/* Whether a point is worth a fit: on the grid, and within reason for the number of rows. */
static bool worth_trying(const searcher *s, point at)
{
    if (at.decay < 0 || at.decay >= N_DECAYS || at.updates < 0 || at.updates >= N_UPDATES) return false;
    const double epochs = epochs_for(s->config, UPDATES[at.updates], s->job->rows.n);
    return at.updates <= ALWAYS_ALLOWED || epochs <= ENOUGH_EPOCHS ||
           (epochs <= MAX_EPOCHS && epochs * (double)s->job->rows.n <= MAX_VISITS);
}

/* Moves to `to` if its loss is lower by the margin. */
static stonet_status try_move(searcher *s, point *at, point to, bool *moved)
{
    *moved = false;
    if (!worth_trying(s, to) || sn_should_stop(s->job->run)) return STONET_OK;
    SN_TRY(score_point(s, to));
    const bool large = to.updates > at->updates || to.activation != at->activation;
    const double margin = large ? MARGIN_LARGE : MARGIN;
    *moved = *loss_at(s, to) < (1.0 - margin) * *loss_at(s, *at);
    if (*moved) *at = to;
    return STONET_OK;
}

/* Along one axis, one way and then the other, as long as it pays. */
static stonet_status search_line(searcher *s, point *at, point step, bool *moved)
{
    for (int way = -1; way <= 1; way += 2) {
        bool better = true;
        while (better) {
            const point to = {at->activation, at->decay + way * step.decay, at->updates + way * step.updates};
            SN_TRY(try_move(s, at, to, &better));
            *moved = *moved || better;
        }
    }
    return STONET_OK;
}

static stonet_status try_other_activation(searcher *s, point *at, bool *moved)
{
    if (!s->config->auto_activation) return STONET_OK;
    return try_move(s, at, (point){1 - at->activation, at->decay, at->updates}, moved);
}

/* From `at` to a point that no neighbour beats: decay and updates in turn, then the activation. Where fits
   are expensive the activation is also asked for first, so as not to climb twice. */
static stonet_status climb(searcher *s, point *at)
{
    bool moved = true;
    if (s->folds == 1) SN_TRY(try_other_activation(s, at, &moved));
    for (moved = true; moved && !sn_should_stop(s->job->run);) {
        moved = false;
        if (s->config->auto_decay) SN_TRY(search_line(s, at, (point){.decay = 1}, &moved));
        if (s->config->auto_epochs) SN_TRY(search_line(s, at, (point){.updates = 1}, &moved));
        if (!moved) SN_TRY(try_other_activation(s, at, &moved));
    }
    return STONET_OK;
}

/* Where to climb from: shrinkage that suits noisy data, or, if that looks clearly better, longer training
   with next to none, which suits clean data. (Strong shrinkage can hold a network at the constant, from where
   no neighbour looks better.) */
static stonet_status choose_start(searcher *s, point *at)
{
    bool moved = false;
    *at = (point){0, START_DECAY, START_UPDATES};
    SN_TRY(score_point(s, *at));
    if (!s->config->auto_decay) return STONET_OK;
    const int updates = s->config->auto_epochs ? CLEAN_UPDATES : START_UPDATES;
    return try_move(s, at, (point){0, CLEAN_DECAY, updates}, &moved);
}

static void searcher_free(searcher *s)
{
    for (int k = 0; s->part != NULL && k < s->folds; k++) {
        sn_free(s->part[k].train);
        sn_free(s->part[k].test);
    }
    sn_free(s->part);
    sn_free(s->theta);
    sn_free(s->best_theta);
}

static void settle(const searcher *s, point at, sn_shape *shape, sn_config *config, sn_selection *selection)
{
    shape->activation = s->activation[at.activation];
    if (config->auto_decay) config->weight_decay = DECAYS[at.decay];
    if (config->auto_epochs) config->epochs = epochs_for(config, UPDATES[at.updates], s->job->rows.n);
    selection->loss = s->loss[at.activation][at.decay][at.updates];
    selection->error_rate = s->error[at.activation][at.decay][at.updates];
    selection->tried = s->tried;
    for (int k = 0; k < s->folds; k++) selection->held_out += s->part[k].n_test;
}

stonet_status sn_select(const sn_stage_job *job, sn_shape *shape, sn_config *config, float *theta,
                        sn_selection *selection)
{
    *selection = (sn_selection){.loss = (double)NAN, .error_rate = (double)NAN};
    if (!config->auto_decay && !config->auto_epochs) return STONET_OK;
    searcher s = {.job = job, .config = config, .started = sn_seconds()};
    s.activation[0] = shape->activation;
    s.activation[1] = shape->activation == SN_TANH ? SN_RELU : SN_TANH;
    double *all = &s.loss[0][0][0];
    for (size_t i = 0; i < sizeof s.loss / sizeof *all; i++) all[i] = (double)NAN;
    point at;
    stonet_status status;
    SN_GOTO(status, SN_NEW(s.theta, shape->parameters), done);
    SN_GOTO(status, SN_NEW(s.best_theta, shape->parameters), done);
    SN_GOTO(status, make_parts(&s), done);
    tell(&s);
    SN_GOTO(status, choose_start(&s, &at), done);
    SN_GOTO(status, climb(&s, &at), done);
    const bool stopped = sn_should_stop(job->run);
    settle(&s, stopped ? s.best : at, shape, config, selection);
    selection->outcome = stopped ? STONET_STOPPED : STONET_DONE;
    memcpy(theta, s.best_theta, (size_t)shape->parameters * sizeof *theta);
done:
    searcher_free(&s);
    return status;
}
