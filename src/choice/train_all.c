#include "choice/train_all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checkpoint.h"
#include "base/memory.h"
#include "choice/baselines.h"
#include "choice/incomplete.h"
#include "stonet/start.h"

typedef enum begin { FROM_START, FROM_WINNER, FROM_WIDE } begin;

/* A training on all rows and what it has come to. */
typedef struct trial {
    float *theta;
    sn_epoch_log history;
    sn_train_report report;
    double loss; /* over all rows */
} trial;

/* FROM_WIDE: t->theta is there. */
static stonet_status begin_trial(const sn_stage_job *job, begin from, const sn_choice *choice, trial *t)
{
    if (from == FROM_WINNER)
        memcpy(t->theta, choice->theta, (size_t)job->shape->parameters * sizeof *t->theta);
    if (from != FROM_START) return STONET_OK;
    if (job->config->restarts > 1) return sn_race(job, job->config->restarts, t->theta);
    return choice != NULL ? sn_fold_start(job, choice->fold, t->theta) : sn_start_weights(job, t->theta);
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

/* Trains from there, or goes on from what the checkpoint has of it: how it went, or how far it has come. */
static stonet_status do_trial(const sn_stage_job *job, begin from, const sn_choice *choice, trial *t)
{
    const int64_t parameters = job->shape->parameters;
    stonet_checkpoint *checkpoint = job->run->checkpoint;
    char key[SN_KEY_SIZE], key_of_now[SN_KEY_SIZE];
    bool begun;
    SN_FREED_BY(sn_pack_clear) sn_pack record = {0};
    snprintf(key, sizeof key, "%s.training%d", job->key, (int)from);
    snprintf(key_of_now, sizeof key_of_now, "%s.training%d.now", job->key, (int)from);
    SN_TRY(sn_checkpoint_get_shared(checkpoint, job->team, key, &record));
    if (record.size > 0) return unpack_trial(&(sn_unpack){record.bytes, record.size}, parameters, t);
    sn_stage_job own = *job;
    own.key = key_of_now;
    own.history = &t->history;
    SN_TRY(sn_checkpoint_has_shared(checkpoint, job->team, key_of_now, &begun));
    if (!begun) SN_TRY(begin_trial(job, from, choice, t));
    SN_TRY(sn_train_stages(&own, t->theta, &t->report));
    const sn_use use = sn_stage_use(job, t->theta);
    SN_TRY(sn_loss_of_rows(&use, &job->rows, job->team, &t->loss));
    if (checkpoint == NULL || t->report.outcome == STONET_STOPPED) return STONET_OK;
    SN_TRY(pack_trial(t, parameters, &record));
    return sn_checkpoint_put(checkpoint, key, &record);
}

static void swap_trials(trial *a, trial *b)
{
    const trial held = *a;
    *a = *b;
    *b = held;
}

/* Whether the network that won can take the place of one on all rows: it sees the same features. */
static bool may_return(const sn_choice *choice, const sn_stage_job *job)
{
    return choice != NULL && choice->theta != NULL && choice->front == NULL &&
           choice->shape.parameters == job->shape->parameters;
}

static void take(trial *t, sn_stonet *net, sn_train_report *report)
{
    *report = t->report;
    net->network.theta = t->theta;
    net->network.history = t->history;
    net->training_loss = t->loss;
}

stonet_status sn_train_on_all(const sn_stage_job *job, const sn_choice *choice, sn_stonet *net,
                              sn_train_report *report)
{
    trial best = {.theta = net->network.theta}, other = {0};
    double constant = (double)INFINITY;
    stonet_status status;
    SN_GOTO(status, sn_constant_loss(job->problem, &job->rows, &constant), done);
    SN_GOTO(status, do_trial(job, FROM_START, choice, &best), done);
    if (best.report.outcome == STONET_DONE && may_return(choice, job) && best.loss > choice->loss) {
        SN_GOTO(status, SN_NEW_RAW(other.theta, job->shape->parameters), done);
        SN_GOTO(status, do_trial(job, FROM_WINNER, choice, &other), done);
        if (other.report.outcome == STONET_DONE && other.loss < best.loss) swap_trials(&best, &other);
        if (other.report.outcome == STONET_STOPPED)
            best.report.outcome = STONET_STOPPED; /* more was to come */
    }
done:
    take(&best, net, report);
    net->stuck = status == STONET_OK && choice == NULL && best.report.outcome == STONET_DONE &&
                 sn_is_next_to(best.loss, constant);
    sn_free(other.theta);
    sn_epoch_log_free(&other.history);
    return status;
}

stonet_status sn_train_narrow(const sn_stage_job *job, sn_stonet *net, sn_train_report *report)
{
    trial t = {.theta = net->network.theta};
    const int64_t before = report->iterations;
    sn_epoch_log_free(&net->network.history);
    stonet_status status = do_trial(job, FROM_WIDE, NULL, &t);
    take(&t, net, report);
    report->iterations += before;
    return status;
}
