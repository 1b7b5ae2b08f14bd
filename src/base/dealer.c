#include "base/dealer.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/memory.h"

struct sn_dealer {
    const sn_deal *deal;
    stonet_checkpoint *checkpoint; /* NULL: nothing is kept */
    bool *finished;                /* before: pieces that are not dealt out */
    atomic_llong next, done;
};

static void key_of(const sn_dealer *d, int64_t piece, char key[SN_KEY_SIZE])
{
    snprintf(key, SN_KEY_SIZE, "%s/%lld", d->deal->key, (long long)piece);
}

static stonet_status take_finished(sn_dealer *d)
{
    for (int64_t i = 0; i < d->deal->count; i++) {
        char key[SN_KEY_SIZE];
        sn_pack record;
        key_of(d, i, key);
        SN_TRY(sn_checkpoint_get(d->checkpoint, key, &record));
        sn_unpack from = {record.bytes, record.size};
        d->finished[i] = record.size > 0;
        stonet_status status = record.size > 0 ? d->deal->take(d->deal->user, i, &from) : STONET_OK;
        if (status == STONET_OK && record.size > 0) status = sn_unpack_end(&from);
        sn_pack_clear(&record);
        SN_TRY(status);
        if (d->finished[i]) atomic_fetch_add(&d->done, 1);
    }
    return STONET_OK;
}

stonet_status sn_dealer_open(const sn_deal *deal, const stonet_run *run, sn_dealer **out)
{
    sn_dealer *d;
    SN_TRY(SN_NEW(d, 1));
    d->deal = deal;
    atomic_init(&d->next, 0);
    atomic_init(&d->done, 0);
    if (deal->key != NULL && run != NULL) d->checkpoint = run->checkpoint;
    stonet_status status = SN_NEW(d->finished, deal->count);
    if (status == STONET_OK && d->checkpoint != NULL) status = take_finished(d);
    if (status != STONET_OK) {
        sn_dealer_close(d);
        return status;
    }
    *out = d;
    return STONET_OK;
}

int64_t sn_dealer_next(sn_dealer *dealer)
{
    int64_t piece;
    while ((piece = atomic_fetch_add(&dealer->next, 1)) < dealer->deal->count)
        if (!dealer->finished[piece]) return piece;
    return -1;
}

bool sn_dealer_keeps(const sn_dealer *dealer)
{
    return dealer->checkpoint != NULL;
}

stonet_status sn_dealer_give(sn_dealer *dealer, int64_t piece, const sn_pack *record)
{
    char key[SN_KEY_SIZE];
    atomic_fetch_add(&dealer->done, 1);
    if (dealer->checkpoint == NULL || record->size == 0) return STONET_OK;
    key_of(dealer, piece, key);
    return sn_checkpoint_put(dealer->checkpoint, key, record);
}

static stonet_status work_at(sn_dealer *d, int64_t piece)
{
    sn_pack record = {0};
    stonet_status status = d->deal->work(d->deal->user, piece, sn_dealer_keeps(d) ? &record : NULL);
    if (status == STONET_OK) status = sn_dealer_give(d, piece, &record);
    sn_pack_clear(&record);
    return status;
}

int64_t sn_dealer_done(const sn_dealer *dealer)
{
    return atomic_load(&dealer->done);
}

void sn_dealer_close(sn_dealer *dealer)
{
    if (dealer == NULL) return;
    sn_free(dealer->finished);
    sn_free(dealer);
}

typedef struct first_failure {
    int64_t piece;
    stonet_status status;
    char *sentence; /* which is kept per thread, and must not stay behind on another one */
} first_failure;

/* One thread's share. */
static void work_on(sn_dealer *d, atomic_bool *failed, first_failure *first)
{
    int64_t piece;
    while (!atomic_load(failed) && (piece = sn_dealer_next(d)) >= 0) {
        const stonet_status status = work_at(d, piece);
        if (status == STONET_OK) continue;
        atomic_store(failed, true);
#pragma omp critical(sn_dealer_failure)
        if (first->status == STONET_OK || piece < first->piece) {
            sn_free(first->sentence);
            *first = (first_failure){piece, status, sn_strdup(stonet_last_error())};
        }
    }
}

stonet_status sn_deal_out(const sn_deal *deal, int threads, const stonet_run *run)
{
    sn_dealer *d;
    SN_TRY(sn_dealer_open(deal, run, &d));
    atomic_bool failed = false;
    first_failure first = {.status = STONET_OK};
    /* On one thread without a parallel region, in which every thread of a region around it would be the
       first. */
    if (threads <= 1) {
        work_on(d, &failed, &first);
    } else {
#pragma omp parallel num_threads(threads)
        work_on(d, &failed, &first);
    }
    sn_dealer_close(d);
    if (first.status != STONET_OK && first.sentence != NULL) sn_fail(first.status, "%s", first.sentence);
    sn_free(first.sentence);
    return first.status;
}
