/*
 * The two stages of Algorithm 1 on a set of rows: theta-training on mini-batches, then full-data iterations
 * with falling steps (the SDR stage); and, if the settings want it, the output layer fitted anew.
 */
#pragma once

#include "base/run.h"
#include "base/team.h"
#include "net/epoch_log.h"
#include "stonet/config.h"

typedef struct sn_stage_job {
    const sn_shape *shape;
    const sn_problem *problem;
    sn_rows rows; /* training rows */
    const sn_config *config;
    uint64_t seed;
    int threads;
    stonet_team *team;     /* ranks that share out the shards of every batch; NULL: this one does all */
    const stonet_run *run; /* progress and the wish to stop; NULL: neither */
    sn_epoch_log *history; /* NULL: none kept */
    /* NULL, or: the problem is what this front shows of `raw`, and the front learns with the network. */
    sn_front *learns;
    const sn_problem *raw;
    const char *key; /* its place in the checkpoint of the run; NULL: none */
} sn_stage_job;

typedef struct sn_train_report {
    stonet_outcome outcome; /* STONET_DIVERGED: theta is the last good one */
    double loss;            /* mean batch loss of the last epoch */
    double smallest_step;   /* smallest factor of the step safeguard, 1 when it never acted */
    int64_t iterations;
} sn_train_report;

/* Theta-training alone, in pieces: after each, what it has reached can be looked at. The job and what it
   points to must outlive the trainer. Pauses change nothing: the iterations are the same. */
typedef struct sn_trainer sn_trainer;

stonet_status sn_trainer_create(const sn_stage_job *job, const float *theta, sn_trainer **out);
/* Up to iteration `until`, or until it diverges or is stopped. */
stonet_status sn_trainer_run(sn_trainer *trainer, int64_t until);
/* schedule=averaged: the mean of the iterates over the last half of the iterations so far (from the last
   pause, if that is later); otherwise, the last iterate. */
void sn_trainer_parameters(const sn_trainer *trainer, float *theta);
const sn_train_report *sn_trainer_report(const sn_trainer *trainer);
void sn_trainer_free(sn_trainer *trainer);
SN_DROP(sn_trainer, sn_trainer_free)
/* Gives it a place in the checkpoint of the job's run, if that has one, and goes on from what is there. The
   key must outlive the training. */
stonet_status sn_trainer_keep_at(sn_trainer *trainer, const char *key);
/* All that it has come to, as a record, and back: into a trainer of the same job that has done nothing yet.
 */
stonet_status sn_trainer_pack(const sn_trainer *trainer, sn_pack *pack);
stonet_status sn_trainer_unpack(sn_trainer *trainer, sn_unpack *from);

/* Whether the ranks of the job's team share out its batches: each has more than one shard. */
bool sn_train_shares(const sn_stage_job *job);
/* Mini-batches an epoch over n rows. */
int64_t sn_train_batches(const sn_config *config, int64_t n);

/* The network of a job. */
static inline sn_use sn_stage_use(const sn_stage_job *job, const float *theta)
{
    return (sn_use){job->problem, job->config->engine, job->shape, theta, job->threads};
}

/* theta: starting parameters in, fitted out. Goes on from what the checkpoint has at job->key, whatever the
   starting parameters, and leaves nothing there at the end. */
stonet_status sn_train_stages(const sn_stage_job *training, float *theta, sn_train_report *report);
