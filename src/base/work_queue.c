#include "base/work_queue.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "base/failure.h"
#include "base/job_order.h"
#include "base/memory.h"
#include "base/run.h"

struct sn_work_queue {
    const sn_work_set *set;
    stonet_checkpoint *checkpoint; /* NULL: nothing is kept */
    stonet_team *team;             /* NULL: no other ranks */
    sn_job_order *order;           /* in which pieces are dealt out */
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

static bool leads(const sn_work_queue *q)
{
    return stonet_team_rank(q->team) == 0;
}

/* ---- records ----------------------------------------------------------------------------------------- */

static void key_of(const sn_work_queue *q, int64_t piece, char key[SN_KEY_SIZE])
{
    snprintf(key, SN_KEY_SIZE, "%s/%lld", q->set->key, (long long)piece);
}

static stonet_status take(const sn_work_queue *q, int64_t piece, const sn_pack *record)
{
    sn_unpack from = {record->bytes, record->size};
    if (record->size == 0) return STONET_OK;
    SN_TRY(q->set->take(q->set->user, piece, &from));
    return sn_unpack_end(&from);
}

/* Keeps a record for the other ranks. */
static stonet_status file_record(sn_work_queue *q, int64_t piece, const sn_pack *record)
{
    if (q->found == NULL) return STONET_OK;
    pthread_mutex_lock(&q->desk);
    const stonet_status status = sn_pack_bytes(&q->found[piece], record->bytes, record->size);
    pthread_mutex_unlock(&q->desk);
    return status;
}

/* Takes the finished pieces of a checkpoint, so that they are not done again. */
static stonet_status take_finished(sn_work_queue *q)
{
    for (int64_t i = 0; i < q->set->count; i++) {
        char key[SN_KEY_SIZE];
        SN_FREED_BY(sn_pack_clear) sn_pack record = {0};
        key_of(q, i, key);
        SN_TRY(sn_checkpoint_get_shared(q->checkpoint, q->set->together ? q->set->team : NULL, key, &record));
        q->here[i] = record.size > 0;
        SN_TRY(take(q, i, &record));
        SN_TRY(file_record(q, i, &record));
        if (!q->here[i]) continue;
        sn_job_order_skip(q->order, i);
        atomic_fetch_add(&q->done, 1);
    }
    return STONET_OK;
}

/* What a piece has found, wherever it was done, comes to rank 0. */
static stonet_status accept(sn_work_queue *q, int64_t piece, const sn_pack *record, bool kept)
{
    stonet_status status = file_record(q, piece, record);
    if (status == STONET_OK && kept && q->checkpoint != NULL && record->size > 0) {
        char key[SN_KEY_SIZE];
        key_of(q, piece, key);
        status = sn_checkpoint_put(q->checkpoint, key, record);
    }
    pthread_mutex_lock(&q->counter);
    sn_job_order_done(q->order, piece, sn_seconds());
    pthread_mutex_unlock(&q->counter);
    atomic_fetch_add(&q->done, 1);
    return status;
}

/* ---- dealing ----------------------------------------------------------------------------------------- */

static int64_t next_here(sn_work_queue *q)
{
    pthread_mutex_lock(&q->counter);
    const int64_t piece = sn_job_order_next(q->order, sn_seconds());
    pthread_mutex_unlock(&q->counter);
    return piece;
}

static stonet_status receive_record(sn_work_queue *q, int from, const wish *w)
{
    SN_FREED_BY(sn_pack_clear) sn_pack record = {0};
    if (w->piece < 0 || w->piece >= q->set->count || w->size < 0)
        return sn_fail(STONET_ERROR_ARGUMENT, "rank %d has done a piece that there is not", from);
    if (w->size > 0) {
        record.bytes = sn_realloc(NULL, (size_t)w->size, 1);
        if (record.bytes == NULL) return STONET_ERROR_MEMORY;
        record.size = record.room = (size_t)w->size;
        SN_TRY(sn_team_receive(q->team, from, SN_TAG_WISH, record.bytes, record.size));
    }
    return accept(q, w->piece, &record, w->kept != 0);
}

/* One message of another rank. */
static stonet_status serve(sn_work_queue *q, int from, int *at_work)
{
    wish w;
    SN_TRY(sn_team_receive(q->team, from, SN_TAG_WISH, &w, sizeof w));
    switch ((wish_kind)w.kind) {
    case WANTS_PIECE: {
        const int64_t piece = next_here(q);
        return sn_team_send(q->team, from, SN_TAG_ANSWER, &piece, sizeof piece);
    }
    case GIVES_RECORD:
        return receive_record(q, from, &w);
    case IS_DONE:
        --*at_work;
        return STONET_OK;
    }
    return sn_fail(STONET_ERROR_ARGUMENT, "rank %d wants a piece of work that does not exist", from);
}

static void *answer_others(void *user)
{
    static const struct timespec pause = {.tv_nsec = 100000};
    sn_work_queue *q = user;
    int at_work = stonet_team_ranks(q->team) - 1, from = 0;
    stonet_status status = STONET_OK;
    while (status == STONET_OK && at_work > 0 && !atomic_load(&q->dismissed)) {
        bool waits = false;
        status = sn_team_look(q->team, SN_TAG_WISH, &waits, &from);
        if (status == STONET_OK && waits)
            status = serve(q, from, &at_work);
        else
            nanosleep(&pause, NULL);
    }
    q->clerk_status = status;
    return NULL;
}

static stonet_status open_desk(sn_work_queue *q)
{
    if (q->team == NULL || !leads(q)) return STONET_OK;
    SN_TRY(SN_NEW(q->found, q->set->count));
    return STONET_OK;
}

static stonet_status hire_clerk(sn_work_queue *q)
{
    if (q->team == NULL || !leads(q)) return STONET_OK;
    if (pthread_create(&q->clerk, NULL, answer_others, q) != 0)
        return sn_fail(STONET_ERROR_MEMORY, "no thread could be started to answer the other processes");
    q->has_clerk = true;
    return STONET_OK;
}

static void queue_free(sn_work_queue *q)
{
    if (q == NULL) return;
    for (int64_t i = 0; q->found != NULL && i < q->set->count; i++) sn_pack_clear(&q->found[i]);
    sn_free(q->found);
    sn_job_order_free(q->order);
    sn_free(q->here);
    pthread_mutex_destroy(&q->desk);
    pthread_mutex_destroy(&q->counter);
    sn_free(q);
}

SN_DROP(sn_work_queue, queue_free)

stonet_status sn_work_queue_open(const sn_work_set *set, const stonet_run *run, sn_work_queue **out)
{
    SN_AUTO(sn_work_queue) *q = NULL;
    SN_TRY(SN_NEW(q, 1));
    q->set = set;
    q->team = sn_team_shares(set->team) && !set->together ? set->team : NULL;
    atomic_init(&q->done, 0);
    atomic_init(&q->dismissed, false);
    pthread_mutex_init(&q->desk, NULL);
    pthread_mutex_init(&q->counter, NULL);
    if (set->key != NULL && run != NULL && leads(q)) q->checkpoint = run->checkpoint;
    SN_TRY(sn_job_order_create(set->count, set->kind, set->effort, &q->order));
    SN_TRY(SN_NEW(q->here, set->count));
    SN_TRY(open_desk(q));
    if (q->checkpoint != NULL) SN_TRY(take_finished(q));
    SN_TRY(hire_clerk(q));
    return SN_GIVE(q, out);
}

int64_t sn_work_queue_next(sn_work_queue *queue)
{
    if (leads(queue)) return next_here(queue);
    const wish w = {.kind = WANTS_PIECE};
    int64_t piece = -1;
    pthread_mutex_lock(&queue->desk);
    stonet_status status = sn_team_send(queue->team, 0, SN_TAG_WISH, &w, sizeof w);
    if (status == STONET_OK) status = sn_team_receive(queue->team, 0, SN_TAG_ANSWER, &piece, sizeof piece);
    pthread_mutex_unlock(&queue->desk);
    return status == STONET_OK ? piece : -1; /* a broken connection is found by the next message as well */
}

bool sn_work_queue_keeps(const sn_work_queue *queue)
{
    return queue->checkpoint != NULL || queue->team != NULL;
}

stonet_status sn_work_queue_give(sn_work_queue *queue, int64_t piece, const sn_pack *record, bool kept)
{
    queue->here[piece] = true;
    if (leads(queue)) return accept(queue, piece, record, kept);
    const wish w = {.kind = GIVES_RECORD, .piece = piece, .kept = kept, .size = (int64_t)record->size};
    pthread_mutex_lock(&queue->desk);
    stonet_status status = sn_team_send(queue->team, 0, SN_TAG_WISH, &w, sizeof w);
    if (status == STONET_OK && record->size > 0)
        status = sn_team_send(queue->team, 0, SN_TAG_WISH, record->bytes, record->size);
    pthread_mutex_unlock(&queue->desk);
    return status;
}

int64_t sn_work_queue_done(const sn_work_queue *queue)
{
    return leads(queue) ? atomic_load(&queue->done) : queue->set->count;
}

/* The records of all pieces to all ranks. */
static stonet_status share_records(sn_work_queue *q)
{
    for (int64_t i = 0; i < q->set->count; i++) {
        sn_pack record = {0};
        if (leads(q)) record = q->found[i];
        stonet_status status = sn_team_spread_pack(q->team, 0, &record);
        if (status == STONET_OK && !q->here[i]) status = take(q, i, &record);
        if (!leads(q)) sn_pack_clear(&record);
        SN_TRY(status);
    }
    return STONET_OK;
}

stonet_status sn_work_queue_close(sn_work_queue *queue, stonet_status status)
{
    const wish done = {.kind = IS_DONE};
    if (queue->has_clerk) {
        atomic_store(&queue->dismissed, status != STONET_OK);
        pthread_join(queue->clerk, NULL);
        if (status == STONET_OK && queue->clerk_status != STONET_OK)
            status = sn_fail(queue->clerk_status, "the results of another process could not be read");
    }
    if (status == STONET_OK && !leads(queue))
        status = sn_team_send(queue->team, 0, SN_TAG_WISH, &done, sizeof done);
    if (status == STONET_OK && queue->team != NULL) status = share_records(queue);
    queue_free(queue);
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------------- */

static stonet_status work_at(sn_work_queue *q, int64_t piece)
{
    SN_FREED_BY(sn_pack_clear) sn_pack record = {0};
    SN_TRY(q->set->work(q->set->user, piece, sn_work_queue_keeps(q) ? &record : NULL));
    return sn_work_queue_give(q, piece, &record, true);
}

/* One thread's share, from this piece on. */
static void work_on(sn_work_queue *q, int64_t piece, atomic_bool *failed, sn_failure *first)
{
    for (; piece >= 0 && !atomic_load(failed); piece = sn_work_queue_next(q)) {
        const stonet_status status = work_at(q, piece);
        if (status == STONET_OK) continue;
        atomic_store(failed, true);
        sn_failure_note(first, piece, status);
        return;
    }
}

stonet_status sn_work_queue_run(const sn_work_set *set, int threads, const stonet_run *run)
{
    sn_work_queue *q;
    SN_TRY(sn_work_queue_open(set, run, &q));
    atomic_bool failed = false;
    sn_failure first = {.status = STONET_OK};
    /* On one thread without a parallel region, in which every thread of a region around it would be the
       first. */
    if (threads <= 1) {
        work_on(q, sn_work_queue_next(q), &failed, &first);
    } else {
#pragma omp parallel num_threads(threads)
        {
            /* The first thread, who alone asks the caller whether to stop, has a piece before the others. */
            const bool leads_here = omp_get_thread_num() == 0;
            int64_t piece = leads_here ? sn_work_queue_next(q) : -1;
            if (set->threads_each > 1) {
                omp_set_max_active_levels(2);
                omp_set_num_threads(set->threads_each);
            }
#pragma omp barrier
            if (!leads_here) piece = sn_work_queue_next(q);
            work_on(q, piece, &failed, &first);
        }
    }
    const stonet_status status = sn_work_queue_close(q, first.status);
    return first.status != STONET_OK ? sn_failure_raise(&first) : status;
}
