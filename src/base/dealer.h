/*
 * Pieces of work that do not depend on each other, dealt out one at a time to whoever is free, each once.
 * What a piece has found is a record: it is kept in the checkpoint of the run, from which the piece is taken
 * instead of being done when the same work begins again.
 */
#ifndef SN_BASE_DEALER_H
#define SN_BASE_DEALER_H

#include "base/checkpoint.h"

typedef struct sn_deal {
    const char *key; /* of the set in the checkpoint: no other set of the same call has it; NULL: not kept */
    int64_t count;
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
/* A piece is done, with this record. */
stonet_status sn_dealer_give(sn_dealer *dealer, int64_t piece, const sn_pack *record);
/* How many pieces are done, those of before included. */
int64_t sn_dealer_done(const sn_dealer *dealer);
void sn_dealer_close(sn_dealer *dealer);

/* All of it: opens, lets so many threads work side by side, closes. Returns the first failure in the order of
   the pieces; after a failure pieces that were not begun are left out. */
stonet_status sn_deal_out(const sn_deal *deal, int threads, const stonet_run *run);

#endif
