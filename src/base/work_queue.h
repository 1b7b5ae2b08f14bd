/*
 * Pieces of work that do not depend on each other. Each piece is done once, by whichever thread or rank of a
 * team (base/team.h) is free. The result of a piece is a record. Every rank gets it, and the checkpoint of
 * the run keeps it: when the same work begins again, the record replaces the work.
 */
#pragma once

#include "base/checkpoint.h"
#include "base/team.h"

typedef struct sn_deal {
    const char *key; /* of the set in the checkpoint: no other set of the same call has it; NULL: not kept */
    int64_t count;
    stonet_team *team; /* NULL: this process alone */
    bool together;     /* all ranks of the team do every piece, with each other, in the same order */
    /* What each piece is a kind of, by any pointer: those of one kind take about as long, and are dealt out
       as base/job_order.h tells; NULL: in their order. Not with `together`. */
    const void *const *kind;
    const double *effort; /* of each piece's kind, roughly, beside that of others; NULL: not known */
    /* For sn_deal_out: does a piece, on any thread. record: where to put what it has found; NULL: not wanted.
       A record left empty is not kept: of a piece that was cut short. */
    stonet_status (*work)(void *user, int64_t piece, sn_pack *record);
    /* Takes over what a piece has found, as if it had been done here. */
    stonet_status (*take)(void *user, int64_t piece, sn_unpack *record);
    void *user;
} sn_deal;

typedef struct sn_dealer sn_dealer;

/* Takes what is finished already. The deal must outlive the dealer. */
stonet_status sn_dealer_open(const sn_deal *deal, const stonet_run *run, sn_dealer **out);
/* The next piece, on any thread; -1 when all are dealt out. */
int64_t sn_dealer_next(sn_dealer *dealer);
/* Whether records are wanted. */
bool sn_dealer_keeps(const sn_dealer *dealer);
/* A piece is done, with this record; kept: it may stand in the checkpoint. */
stonet_status sn_dealer_give(sn_dealer *dealer, int64_t piece, const sn_pack *record, bool kept);
/* How many pieces are done, those of before included, by all; on ranks that only work, all of them. */
int64_t sn_dealer_done(const sn_dealer *dealer);
/* When all threads here have got -1: takes over what other ranks have found. With a failure nothing of that:
   the status comes back. */
stonet_status sn_dealer_close(sn_dealer *dealer, stonet_status status);

/* All of it: opens, lets so many threads work side by side, closes. Returns the first failure in the order of
   the pieces; after a failure pieces that were not begun are left out. */
stonet_status sn_deal_out(const sn_deal *deal, int threads, const stonet_run *run);
