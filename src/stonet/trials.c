#include "stonet/trials.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checkpoint.h"
#include "base/memory.h"
#include "stonet/baseline.h"
#include "stonet/start.h"

enum {
    RESCUE_RACE = 3,  /* starts of a race where the settings ask for none */
    OTHER_STARTS = 64 /* a number that no start of a first race has */
};
/* A fit on all rows that explains less than this part of what the held-out winner does is stuck ... */
static const double PART_OF_WINNER = 0.9;
/* ... and so is one, with nothing to compare it with, that explains less than this part of the response. */
static const double NEXT_TO_NOTHING = 0.01;

typedef enum begin { FROM_START, FROM_OTHER_RACE, FROM_WINNER, BEGINNINGS } begin;

/* A training on all rows and what it has come to. */
typedef struct trial {
    float *theta;
    sn_epoch_log history;
    sn_train_report report;
    double loss; /* over all rows */
} trial;

stonet_status sn_loss_on(const sn_stage_job *job, const sn_shape *shape, const float *theta, double *loss)
{
    sn_losses losses;
    SN_TRY(sn_engine_loss(job->config->engine, shape, theta,
                          &(sn_loss_job){job->problem, job->rows, job->threads, job->team}, &losses));
    *loss = losses.loss;
    return STONET_OK;
}

stonet_status sn_take_network(const sn_stage_job *job, const sn_shape *shape, float *theta, sn_stonet *net)
{
    double loss;
    stonet_status status = sn_loss_on(job, shape, theta, &loss);
    if (status != STONET_OK) {
        sn_free(theta);
        return status;
    }
    sn_free(net->network.theta);
    net->network.theta = theta;
    net->network.shape = *shape;
    net->training_loss = loss;
    return STONET_OK;
}

static stonet_status begin_trial(const sn_stage_job *job, begin from, const sn_won *won, trial *t)
{
    const float *known = from == FROM_START ? won->start : from == FROM_WINNER ? won->theta : NULL;
    const int least = from == FROM_START ? 1 : RESCUE_RACE;
    const int starts = job->config->restarts > least ? job->config->restarts : least;
    sn_stage_job race = *job;
    sn_race_report report;
    if (known != NULL) {
        memcpy(t->theta, known, (size_t)job->shape->parameters * sizeof *t->theta);
        return STONET_OK;
    }
    if (from == FROM_OTHER_RACE) race.seed = sn_start_seed(job->seed, OTHER_STARTS);
    if (starts == 1) return sn_start_weights(job, t->theta);
    return sn_race(&race, starts, t->theta, &report);
}

static stonet_status run_trial(const sn_stage_job *job, begin from, const sn_won *won, trial *t)
{
    sn_stage_job own = *job;
    char key[SN_KEY_SIZE];
    snprintf(key, sizeof key, "%s.training%d.now", job->key, (int)from);
    own.key = key;
    own.history = &t->history;
    bool begun;
    SN_TRY(sn_checkpoint_has_shared(job->run->checkpoint, job->team, key, &begun));
    if (!begun) SN_TRY(begin_trial(job, from, won, t));
    SN_TRY(sn_train_stages(&own, t->theta, &t->report));
    return sn_loss_on(job, job->shape, t->theta, &t->loss);
}

static stonet_status pack_trial(const trial *t, int64_t parameters, sn_pack *pack)
{
    SN_TRY(sn_pack_bytes(pack, &t->report, sizeof t->report));
    SN_TRY(sn_pack_real(pack, t->loss));
    SN_TRY(sn_pack_bytes(pack, t->theta, (size_t)parameters * sizeof *t->theta));
    return sn_pack_block(pack, t->history.text, t->history.length);
}

static stonet_status unpack_trial(sn_unpack *from, int64_t parameters, trial *t)
{
    const unsigned char *text;
    size_t length;
    SN_TRY(sn_unpack_bytes(from, &t->report, sizeof t->report));
    SN_TRY(sn_unpack_real(from, &t->loss));
    SN_TRY(sn_unpack_bytes(from, t->theta, (size_t)parameters * sizeof *t->theta));
    SN_TRY(sn_unpack_block(from, &text, &length));
    SN_TRY(sn_epoch_log_take(&t->history, (const char *)text, length));
    return sn_unpack_end(from);
}

/* The same, or what the checkpoint has of it. */
static stonet_status do_trial(const sn_stage_job *job, begin from, const sn_won *won, trial *t)
{
    const int64_t parameters = job->shape->parameters;
    stonet_checkpoint *checkpoint = job->run->checkpoint;
    char key[SN_KEY_SIZE];
    sn_pack record;
    snprintf(key, sizeof key, "%s.training%d", job->key, (int)from);
    SN_TRY(sn_checkpoint_get_shared(checkpoint, job->team, key, &record));
    if (record.size > 0) {
        stonet_status status = unpack_trial(&(sn_unpack){record.bytes, record.size}, parameters, t);
        sn_pack_clear(&record);
        return status;
    }
    SN_TRY(run_trial(job, from, won, t));
    if (checkpoint == NULL || t->report.outcome == STONET_STOPPED) return STONET_OK;
    stonet_status status = pack_trial(t, parameters, &record);
    if (status == STONET_OK) status = sn_checkpoint_put(checkpoint, key, &record);
    sn_pack_clear(&record);
    return status;
}

/* The loss above which a training on all rows is stuck: against that of the network that won on held-out rows
   (NaN: the settings were given) and of a constant guess. */
static stonet_status stuck_above(const sn_stage_job *job, double winner_loss, double *limit)
{
    double constant;
    SN_TRY(sn_constant_loss(job->problem, &job->rows, &constant));
    *limit = (1.0 - NEXT_TO_NOTHING) * constant;
    if (isnan(winner_loss)) return STONET_OK;
    const double explained = constant - winner_loss;
    if (explained > 0.0) *limit = constant - PART_OF_WINNER * explained;
    return STONET_OK;
}

static void swap_trials(trial *a, trial *b)
{
    const trial held = *a;
    *a = *b;
    *b = held;
}

stonet_status sn_train_on_all(const sn_stage_job *job, sn_stonet *net, const sn_won *won,
                              sn_train_report *report)
{
    trial best = {.theta = net->network.theta}, other = {0};
    double limit = (double)INFINITY;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(other.theta, net->network.shape.parameters), done);
    SN_GOTO(status, stuck_above(job, won->loss, &limit), done);
    SN_GOTO(status, do_trial(job, FROM_START, won, &best), done);
    for (begin from = FROM_OTHER_RACE; from < BEGINNINGS; from++) {
        if (best.report.outcome != STONET_DONE || best.loss <= limit) break;
        if (from == FROM_WINNER && won->theta == NULL) break;
        sn_message(job->run, STONET_NOTE,
                   "training got stuck at a loss of %.3g, above %.3g: it starts again from elsewhere",
                   best.loss, limit);
        sn_epoch_log_free(&other.history);
        SN_GOTO(status, do_trial(job, from, won, &other), done);
        if (other.report.outcome == STONET_DONE && other.loss < best.loss) swap_trials(&best, &other);
        if (other.report.outcome == STONET_STOPPED)
            best.report.outcome = STONET_STOPPED; /* more was to come */
    }
done:
    *report = best.report;
    net->network.theta = best.theta;
    net->network.history = best.history;
    net->training_loss = best.loss;
    net->stuck = status == STONET_OK && best.report.outcome == STONET_DONE && best.loss > limit;
    sn_free(other.theta);
    sn_epoch_log_free(&other.history);
    return status;
}
