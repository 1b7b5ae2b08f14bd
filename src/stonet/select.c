#include "stonet/select.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/splits.h"
#include "net/forward.h"

static const double DECAYS[] = {0.0, 0.001, 0.003, 0.01, 0.02, 0.04, 0.08, 0.16};
static const int64_t UPDATES[] = {100, 300, 1000, 3000, 10000, 30000};
enum {
    N_DECAYS = sizeof DECAYS / sizeof *DECAYS,
    N_UPDATES = sizeof UPDATES / sizeof *UPDATES,
    START_DECAY = 4,
    START_UPDATES = 2,
    ALWAYS_ALLOWED = 3, /* 3000 updates, however few the rows */
    MAX_EPOCHS = 400,
    FOLDS = 5,
    CROSS_VALIDATE_BELOW = 2000, /* rows; above, one held-out part says enough */
    MAX_HELD_OUT = 10000
};
/* A neighbour must be better by this much of the loss to be worth moving to: less is noise. */
static const double MARGIN = 0.01;

typedef struct fold_rows {
    int64_t *train, *test;
    int64_t n_train, n_test;
} fold_rows;

typedef struct searcher {
    const sn_stage_job *job;
    const sn_config *config;
    const float *start;
    int folds; /* fits a setting is scored by */
    fold_rows *part;
    double loss[N_DECAYS][N_UPDATES]; /* NaN: not scored yet */
    double error[N_DECAYS][N_UPDATES];
    float *theta; /* of the first fold's latest fit */
    float *best_theta;
    double best_loss;
    int64_t tried;
    int stopped; /* the caller asked to stop while folds were fitted */
    double started;
} searcher;

static int64_t job_row(const searcher *s, int64_t i)
{
    return s->job->rows != NULL ? s->job->rows[i] : i;
}

static stonet_status make_part(const searcher *s, const int32_t *fold, int32_t k, fold_rows *part)
{
    SN_TRY(SN_NEW(part->train, s->job->n));
    SN_TRY(SN_NEW(part->test, s->job->n));
    for (int64_t i = 0; i < s->job->n; i++) {
        if (fold[i] != k)
            part->train[part->n_train++] = job_row(s, i);
        else if (part->n_test < MAX_HELD_OUT)
            part->test[part->n_test++] = job_row(s, i);
        else
            part->train[part->n_train++] = job_row(s, i);
    }
    return STONET_OK;
}

static stonet_status make_parts(searcher *s)
{
    const int64_t n = s->job->n;
    const int folds = n < FOLDS ? (int)n : FOLDS;
    s->folds = n < CROSS_VALIDATE_BELOW ? folds : 1;
    int32_t *fold = NULL, *label = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW(s->part, s->folds), done);
    SN_GOTO(status, SN_NEW(fold, n), done);
    if (s->job->problem->label != NULL) {
        SN_GOTO(status, SN_NEW(label, n), done);
        for (int64_t i = 0; i < n; i++) label[i] = s->job->problem->label[job_row(s, i)];
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

/* The caller's wish to stop, shared by the folds that are fitted at the same time. */
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
static fold_score score_fold(searcher *s, int k, const sn_config *config, int threads)
{
    fold_score score = {.status = STONET_OK, .outcome = STONET_DONE};
    const fold_rows *part = &s->part[k];
    const int64_t parameters = s->job->shape->parameters;
    float *theta = sn_malloc((size_t)parameters, sizeof *theta);
    if (theta == NULL) {
        score.status = STONET_ERROR_MEMORY;
        return score;
    }
    memcpy(theta, s->start, (size_t)parameters * sizeof *theta);
    shared_stop stop = {.run = s->job->run, .stopped = &s->stopped};
    const stonet_run quiet = {.should_stop = should_stop_fold, .user = &stop};
    const sn_stage_job fit = {.shape = s->job->shape,
                              .problem = s->job->problem,
                              .rows = part->train,
                              .n = part->n_train,
                              .config = config,
                              .seed = s->job->seed,
                              .threads = threads,
                              .run = &quiet};
    sn_train_report report;
    score.status = sn_train_stages(&fit, theta, &report);
    score.outcome = report.outcome;
    if (score.status == STONET_OK)
        score.status = sn_forward_loss(s->job->shape, theta, s->job->problem, part->test, part->n_test,
                                       threads, &score.losses);
    if (k == 0) memcpy(s->theta, theta, (size_t)parameters * sizeof *theta);
    sn_free(theta);
    return score;
}

static double epochs_for(const sn_config *config, int64_t updates, int64_t n)
{
    const int64_t batches = n / config->batch > 0 ? n / config->batch : 1;
    return (double)updates / (double)batches;
}

/* Mean held-out loss of one grid point, Inf when a fit diverged. */
static stonet_status score_point(searcher *s, int d, int u)
{
    if (!isnan(s->loss[d][u])) return STONET_OK;
    fold_score scores[FOLDS];
    const int outer = s->folds > 1 ? s->job->threads : 1;
    const int inner = s->folds > 1 ? 1 : s->job->threads;
#pragma omp parallel for num_threads(outer) schedule(dynamic) if (outer > 1)
    for (int k = 0; k < s->folds; k++) {
        sn_config config = *s->config;
        config.sdr_iterations = 0;
        if (config.auto_decay) config.weight_decay = DECAYS[d];
        if (config.auto_epochs) config.epochs = epochs_for(&config, UPDATES[u], s->part[k].n_train);
        scores[k] = score_fold(s, k, &config, inner);
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
    s->loss[d][u] = isfinite(loss) ? loss / (double)rows : (double)INFINITY;
    s->error[d][u] = errors / (double)rows;
    s->tried++;
    if (s->loss[d][u] < s->best_loss) {
        s->best_loss = s->loss[d][u];
        memcpy(s->best_theta, s->theta, (size_t)s->job->shape->parameters * sizeof *s->theta);
    }
    const stonet_progress progress = {.stage = "choosing settings",
                                      .done = s->tried,
                                      .loss = (double)NAN,
                                      .validation_loss = s->best_loss,
                                      .seconds = sn_seconds() - s->started};
    sn_progress(s->job->run, &progress);
    return STONET_OK;
}

/* Whether (d, u) is a setting worth a fit: on the grid, and not hundreds of passes over rows that have been
   seen often enough. */
static bool worth_trying(const searcher *s, int d, int u)
{
    if (d < 0 || d >= N_DECAYS || u < 0 || u >= N_UPDATES) return false;
    return u <= ALWAYS_ALLOWED || epochs_for(s->config, UPDATES[u], s->job->n) <= MAX_EPOCHS;
}

/* Moves along one axis, first one way and then the other, as long as the loss falls by the margin. */
static stonet_status search_line(searcher *s, int *d, int *u, int step_d, int step_u, bool *moved)
{
    for (int way = -1; way <= 1; way += 2) {
        bool better = true;
        while (better && !sn_should_stop(s->job->run)) {
            const int at_d = *d + way * step_d, at_u = *u + way * step_u;
            if (!worth_trying(s, at_d, at_u)) break;
            SN_TRY(score_point(s, at_d, at_u));
            better = s->loss[at_d][at_u] < (1.0 - MARGIN) * s->loss[*d][*u];
            if (!better) break;
            *d = at_d;
            *u = at_u;
            *moved = true;
        }
    }
    return STONET_OK;
}

/* From (d, u) to a point that no neighbour beats: decay and updates in turn. */
static stonet_status climb(searcher *s, int *d, int *u)
{
    SN_TRY(score_point(s, *d, *u));
    for (bool moved = true; moved && !sn_should_stop(s->job->run);) {
        moved = false;
        if (s->config->auto_decay) SN_TRY(search_line(s, d, u, 1, 0, &moved));
        if (s->config->auto_epochs) SN_TRY(search_line(s, d, u, 0, 1, &moved));
    }
    return STONET_OK;
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

stonet_status sn_select(const sn_stage_job *training, sn_config *config, float *theta,
                        sn_selection *selection)
{
    *selection = (sn_selection){.loss = (double)NAN, .error_rate = (double)NAN};
    if (!config->auto_decay && !config->auto_epochs) return STONET_OK;
    searcher s = {.job = training,
                  .config = config,
                  .start = theta,
                  .best_loss = (double)INFINITY,
                  .started = sn_seconds()};
    for (int d = 0; d < N_DECAYS; d++)
        for (int u = 0; u < N_UPDATES; u++) s.loss[d][u] = (double)NAN;
    int d = START_DECAY, u = START_UPDATES;
    const int64_t parameters = training->shape->parameters;
    stonet_status status;
    SN_GOTO(status, SN_NEW(s.theta, parameters), done);
    SN_GOTO(status, SN_NEW(s.best_theta, parameters), done);
    memcpy(s.best_theta, theta, (size_t)parameters * sizeof *theta);
    SN_GOTO(status, make_parts(&s), done);
    SN_GOTO(status, climb(&s, &d, &u), done);
    if (config->auto_decay) config->weight_decay = DECAYS[d];
    if (config->auto_epochs) config->epochs = epochs_for(config, UPDATES[u], training->n);
    selection->loss = s.loss[d][u];
    selection->error_rate = s.error[d][u];
    selection->tried = s.tried;
    for (int k = 0; k < s.folds; k++) selection->held_out += s.part[k].n_test;
    selection->outcome = sn_should_stop(training->run) ? STONET_STOPPED : STONET_DONE;
    memcpy(theta, s.best_theta, (size_t)parameters * sizeof *theta);
done:
    searcher_free(&s);
    return status;
}
