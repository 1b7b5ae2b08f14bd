/*
 * Pieces of work that do not depend on each other. Each piece is done once, by whichever thread or rank of a
 * team (base/team.h) is free. The result of a piece is a record. Every rank gets it, and the checkpoint of
 * the run keeps it: when the same work begins again, the record replaces the work.
 */
#pragma once

#include "base/checkpoint.h"
#include "base/team.h"

typedef struct sn_work_set {
    const char *key; /* of the set in the checkpoint: no other set of the same call has it; NULL: not kept */
    int64_t count;
    stonet_team *team; /* NULL: this process alone */
    bool together;     /* all ranks of the team do every piece, with each other, in the same order */
    /* What each piece is a kind of, by any pointer: those of one kind take about as long, and are dealt out
       as base/job_order.h tells; NULL: in their order. Not with `together`. */
    const void *const *kind;
    const double *effort; /* of each piece's kind, roughly, beside that of others; NULL: not known */
    int threads_each;     /* of sn_work_queue_run: that a piece may have for loops of its own; 0: one */
    /* For sn_work_queue_run: does a piece, on any thread. record: where to put what it has found; NULL: not
       wanted. A record left empty is not kept: of a piece that was cut short. */
    stonet_status (*work)(void *user, int64_t piece, sn_pack *record);
    /* Takes over what a piece has found, as if it had been done here. */
    stonet_status (*take)(void *user, int64_t piece, sn_unpack *record);
    void *user;
} sn_work_set;

typedef struct sn_work_queue sn_work_queue;

/* Takes what is finished already. The set must outlive the queue. */
stonet_status sn_work_queue_open(const sn_work_set *set, const stonet_run *run, sn_work_queue **out);
/* The next piece, on any thread; -1 when all are dealt out. */
int64_t sn_work_queue_next(sn_work_queue *queue);
/* Whether records are wanted. */
bool sn_work_queue_keeps(const sn_work_queue *queue);
/* A piece is done, with this record; kept: it may stand in the checkpoint. */
stonet_status sn_work_queue_give(sn_work_queue *queue, int64_t piece, const sn_pack *record, bool kept);
/* How many pieces are done, those of before included, by all; on ranks that only work, all of them. */
int64_t sn_work_queue_done(const sn_work_queue *queue);
/* When all threads here have got -1: takes over what other ranks have found. With a failure nothing of that:
   the status comes back. */
stonet_status sn_work_queue_close(sn_work_queue *queue, stonet_status status);

/* All of it: opens, lets so many threads work side by side, closes. Returns the first failure in the order of
   the pieces; after a failure pieces that were not begun are left out. */
stonet_status sn_work_queue_run(const sn_work_set *set, int threads, const stonet_run *run);
