#include "base/work_queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "base/failure.h"
#include "base/job_order.h"
#include "base/memory.h"
#include "base/run.h"

struct sn_dealer {
    const sn_deal *deal;
    stonet_checkpoint *checkpoint; /* NULL: nothing is kept */
    stonet_team *team;             /* NULL: no other ranks */
    sn_turns *order;               /* in which pieces are dealt out */
    pthread_mutex_t counter;       /* one thread at a time takes one, or says that it is done */
    atomic_llong done;
    bool *here;           /* pieces done or taken over by this rank */
    sn_pack *found;       /* rank 0 of a team: the records of all pieces */
    pthread_mutex_t desk; /* one thread at a time asks, or looks into found */
    pthread_t clerk;      /* rank 0 of a team: answers the other ranks */
    bool has_clerk;
    atomic_bool dismissed;
    stonet_status clerk_status;
};

/* What another rank wants of the clerk. */
typedef enum wish_kind { WANTS_PIECE, GIVES_RECORD, IS_DONE } wish_kind;
typedef struct wish {
    int64_t kind, piece, kept, size; /* of the record, which comes after it */
} wish;

static bool leads(const sn_dealer *d)
{
    return stonet_team_rank(d->team) == 0;
}

/* ---- records ----------------------------------------------------------------------------------------- */

static void key_of(const sn_dealer *d, int64_t piece, char key[SN_KEY_SIZE])
{
    snprintf(key, SN_KEY_SIZE, "%s/%lld", d->deal->key, (long long)piece);
}

static stonet_status take(const sn_dealer *d, int64_t piece, const sn_pack *record)
{
    sn_unpack from = {record->bytes, record->size};
    if (record->size == 0) return STONET_OK;
    SN_TRY(d->deal->take(d->deal->user, piece, &from));
    return sn_unpack_end(&from);
}

/* Keeps a record for the other ranks. */
static stonet_status file_record(sn_dealer *d, int64_t piece, const sn_pack *record)
{
    if (d->found == NULL) return STONET_OK;
    pthread_mutex_lock(&d->desk);
    const stonet_status status = sn_pack_bytes(&d->found[piece], record->bytes, record->size);
    pthread_mutex_unlock(&d->desk);
    return status;
}

/* Takes the finished pieces of a checkpoint, so that they are not done again. */
static stonet_status take_finished(sn_dealer *d)
{
    for (int64_t i = 0; i < d->deal->count; i++) {
        char key[SN_KEY_SIZE];
        SN_FREED_BY(sn_pack_clear) sn_pack record = {0};
        key_of(d, i, key);
        SN_TRY(
            sn_checkpoint_get_shared(d->checkpoint, d->deal->together ? d->deal->team : NULL, key, &record));
        d->here[i] = record.size > 0;
        SN_TRY(take(d, i, &record));
        SN_TRY(file_record(d, i, &record));
        if (!d->here[i]) continue;
        sn_turns_skip(d->order, i);
        atomic_fetch_add(&d->done, 1);
    }
    return STONET_OK;
}

/* What a piece has found, wherever it was done, comes to rank 0. */
static stonet_status accept(sn_dealer *d, int64_t piece, const sn_pack *record, bool kept)
{
    stonet_status status = file_record(d, piece, record);
    if (status == STONET_OK && kept && d->checkpoint != NULL && record->size > 0) {
        char key[SN_KEY_SIZE];
        key_of(d, piece, key);
        status = sn_checkpoint_put(d->checkpoint, key, record);
    }
    pthread_mutex_lock(&d->counter);
    sn_turns_done(d->order, piece, sn_seconds());
    pthread_mutex_unlock(&d->counter);
    atomic_fetch_add(&d->done, 1);
    return status;
}

/* ---- dealing ----------------------------------------------------------------------------------------- */

static int64_t next_here(sn_dealer *d)
{
    pthread_mutex_lock(&d->counter);
    const int64_t piece = sn_turns_next(d->order, sn_seconds());
    pthread_mutex_unlock(&d->counter);
    return piece;
}

static stonet_status receive_record(sn_dealer *d, int from, const wish *w)
{
    SN_FREED_BY(sn_pack_clear) sn_pack record = {0};
    if (w->piece < 0 || w->piece >= d->deal->count || w->size < 0)
        return sn_fail(STONET_ERROR_ARGUMENT, "rank %d has done a piece that there is not", from);
    if (w->size > 0) {
        record.bytes = sn_realloc(NULL, (size_t)w->size, 1);
        if (record.bytes == NULL) return STONET_ERROR_MEMORY;
        record.size = record.room = (size_t)w->size;
        SN_TRY(sn_team_receive(d->team, from, SN_TAG_WISH, record.bytes, record.size));
    }
    return accept(d, w->piece, &record, w->kept != 0);
}

/* One message of another rank. */
static stonet_status serve(sn_dealer *d, int from, int *at_work)
{
    wish w;
    SN_TRY(sn_team_receive(d->team, from, SN_TAG_WISH, &w, sizeof w));
    switch ((wish_kind)w.kind) {
    case WANTS_PIECE: {
        const int64_t piece = next_here(d);
        return sn_team_send(d->team, from, SN_TAG_ANSWER, &piece, sizeof piece);
    }
    case GIVES_RECORD:
        return receive_record(d, from, &w);
    case IS_DONE:
        --*at_work;
        return STONET_OK;
    }
    return sn_fail(STONET_ERROR_ARGUMENT, "rank %d wants a piece of work that does not exist", from);
}

static void *answer_others(void *user)
{
    static const struct timespec pause = {.tv_nsec = 100000};
    sn_dealer *d = user;
    int at_work = stonet_team_ranks(d->team) - 1, from = 0;
    stonet_status status = STONET_OK;
    while (status == STONET_OK && at_work > 0 && !atomic_load(&d->dismissed)) {
        bool waits = false;
        status = sn_team_look(d->team, SN_TAG_WISH, &waits, &from);
        if (status == STONET_OK && waits)
            status = serve(d, from, &at_work);
        else
            nanosleep(&pause, NULL);
    }
    d->clerk_status = status;
    return NULL;
}

static stonet_status open_desk(sn_dealer *d)
{
    if (d->team == NULL || !leads(d)) return STONET_OK;
    SN_TRY(SN_NEW(d->found, d->deal->count));
    return STONET_OK;
}

static stonet_status hire_clerk(sn_dealer *d)
{
    if (d->team == NULL || !leads(d)) return STONET_OK;
    if (pthread_create(&d->clerk, NULL, answer_others, d) != 0)
        return sn_fail(STONET_ERROR_MEMORY, "no thread could be started to answer the other processes");
    d->has_clerk = true;
    return STONET_OK;
}

static void dealer_free(sn_dealer *d)
{
    if (d == NULL) return;
    for (int64_t i = 0; d->found != NULL && i < d->deal->count; i++) sn_pack_clear(&d->found[i]);
    sn_free(d->found);
    sn_turns_free(d->order);
    sn_free(d->here);
    pthread_mutex_destroy(&d->desk);
    pthread_mutex_destroy(&d->counter);
    sn_free(d);
}

SN_DROP(sn_dealer, dealer_free)

stonet_status sn_dealer_open(const sn_deal *deal, const stonet_run *run, sn_dealer **out)
{
    SN_AUTO(sn_dealer) *d = NULL;
    SN_TRY(SN_NEW(d, 1));
    d->deal = deal;
    d->team = sn_team_shares(deal->team) && !deal->together ? deal->team : NULL;
    atomic_init(&d->done, 0);
    atomic_init(&d->dismissed, false);
    pthread_mutex_init(&d->desk, NULL);
    pthread_mutex_init(&d->counter, NULL);
    if (deal->key != NULL && run != NULL && leads(d)) d->checkpoint = run->checkpoint;
    SN_TRY(sn_turns_create(deal->count, deal->kind, deal->effort, &d->order));
    SN_TRY(SN_NEW(d->here, deal->count));
    SN_TRY(open_desk(d));
    if (d->checkpoint != NULL) SN_TRY(take_finished(d));
    SN_TRY(hire_clerk(d));
    return SN_GIVE(d, out);
}

int64_t sn_dealer_next(sn_dealer *dealer)
{
    if (leads(dealer)) return next_here(dealer);
    const wish w = {.kind = WANTS_PIECE};
    int64_t piece = -1;
    pthread_mutex_lock(&dealer->desk);
    stonet_status status = sn_team_send(dealer->team, 0, SN_TAG_WISH, &w, sizeof w);
    if (status == STONET_OK) status = sn_team_receive(dealer->team, 0, SN_TAG_ANSWER, &piece, sizeof piece);
    pthread_mutex_unlock(&dealer->desk);
    return status == STONET_OK ? piece : -1; /* a broken connection is found by the next message as well */
}

bool sn_dealer_keeps(const sn_dealer *dealer)
{
    return dealer->checkpoint != NULL || dealer->team != NULL;
}

stonet_status sn_dealer_give(sn_dealer *dealer, int64_t piece, const sn_pack *record, bool kept)
{
    dealer->here[piece] = true;
    if (leads(dealer)) return accept(dealer, piece, record, kept);
    const wish w = {.kind = GIVES_RECORD, .piece = piece, .kept = kept, .size = (int64_t)record->size};
    pthread_mutex_lock(&dealer->desk);
    stonet_status status = sn_team_send(dealer->team, 0, SN_TAG_WISH, &w, sizeof w);
    if (status == STONET_OK && record->size > 0)
        status = sn_team_send(dealer->team, 0, SN_TAG_WISH, record->bytes, record->size);
    pthread_mutex_unlock(&dealer->desk);
    return status;
}

int64_t sn_dealer_done(const sn_dealer *dealer)
{
    return leads(dealer) ? atomic_load(&dealer->done) : dealer->deal->count;
}

/* The records of all pieces to all ranks. */
static stonet_status share_records(sn_dealer *d)
{
    for (int64_t i = 0; i < d->deal->count; i++) {
        sn_pack record = {0};
        if (leads(d)) record = d->found[i];
        stonet_status status = sn_team_spread_pack(d->team, 0, &record);
        if (status == STONET_OK && !d->here[i]) status = take(d, i, &record);
        if (!leads(d)) sn_pack_clear(&record);
        SN_TRY(status);
    }
    return STONET_OK;
}

stonet_status sn_dealer_close(sn_dealer *dealer, stonet_status status)
{
    const wish done = {.kind = IS_DONE};
    if (dealer->has_clerk) {
        atomic_store(&dealer->dismissed, status != STONET_OK);
        pthread_join(dealer->clerk, NULL);
        if (status == STONET_OK && dealer->clerk_status != STONET_OK)
            status = sn_fail(dealer->clerk_status, "the results of another process could not be read");
    }
    if (status == STONET_OK && !leads(dealer))
        status = sn_team_send(dealer->team, 0, SN_TAG_WISH, &done, sizeof done);
    if (status == STONET_OK && dealer->team != NULL) status = share_records(dealer);
    dealer_free(dealer);
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------------- */

static stonet_status work_at(sn_dealer *d, int64_t piece)
{
    SN_FREED_BY(sn_pack_clear) sn_pack record = {0};
    SN_TRY(d->deal->work(d->deal->user, piece, sn_dealer_keeps(d) ? &record : NULL));
    return sn_dealer_give(d, piece, &record, true);
}

/* One thread's share. */
static void work_on(sn_dealer *d, atomic_bool *failed, sn_failure *first)
{
    int64_t piece;
    while (!atomic_load(failed) && (piece = sn_dealer_next(d)) >= 0) {
        const stonet_status status = work_at(d, piece);
        if (status == STONET_OK) continue;
        atomic_store(failed, true);
        sn_failure_note(first, piece, status);
    }
}

stonet_status sn_deal_out(const sn_deal *deal, int threads, const stonet_run *run)
{
    sn_dealer *d;
    SN_TRY(sn_dealer_open(deal, run, &d));
    atomic_bool failed = false;
    sn_failure first = {.status = STONET_OK};
    /* On one thread without a parallel region, in which every thread of a region around it would be the
       first. */
    if (threads <= 1) {
        work_on(d, &failed, &first);
    } else {
#pragma omp parallel num_threads(threads)
        work_on(d, &failed, &first);
    }
    const stonet_status status = sn_dealer_close(d, first.status);
    return first.status != STONET_OK ? sn_failure_raise(&first) : status;
}
