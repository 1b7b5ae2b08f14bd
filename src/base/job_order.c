#include "base/job_order.h"

#include "base/memory.h"

enum { MOST_KINDS = 256 };

typedef struct kind_of_work {
    const void *name;
    int64_t next;     /* the first of its pieces that is not dealt out yet; count: none */
    bool begun, done; /* one of its pieces is dealt out; and finished */
    double begun_at, longest;
    double effort; /* 0: not known, or little */
} kind_of_work;

struct sn_job_order {
    int64_t count;
    int kinds;
    kind_of_work kind[MOST_KINDS];
    int *of;     /* each piece's kind */
    bool *dealt; /* or left out */
    double *at;  /* when it was dealt out */
};

/* Numbers the kinds; false: there are too many. */
static bool number_kinds(sn_job_order *o, const void *const *kind, const double *effort)
{
    for (int64_t i = 0; i < o->count; i++) {
        const void *name = kind != NULL ? kind[i] : NULL;
        int k = i > 0 && o->kind[o->of[i - 1]].name == name ? o->of[i - 1] : 0;
        while (k < o->kinds && o->kind[k].name != name) k++;
        if (k == MOST_KINDS) return false;
        if (k == o->kinds)
            o->kind[o->kinds++] =
                (kind_of_work){.name = name, .next = i, .effort = effort != NULL ? effort[i] : 0.0};
        o->of[i] = k;
    }
    return true;
}

stonet_status sn_job_order_create(int64_t count, const void *const *kind, const double *effort,
                                  sn_job_order **out)
{
    SN_AUTO(sn_job_order) *o = NULL;
    SN_TRY(SN_NEW(o, 1));
    o->count = count;
    SN_TRY(SN_NEW(o->of, count));
    SN_TRY(SN_NEW(o->dealt, count));
    SN_TRY(SN_NEW(o->at, count));
    if (!number_kinds(o, kind, effort)) {
        o->kinds = 0;
        number_kinds(o, NULL, NULL);
    }
    return SN_GIVE(o, out);
}

void sn_job_order_free(sn_job_order *order)
{
    if (order == NULL) return;
    SN_FREE_ALL(order->of, order->dealt, order->at, order);
}

/* The first piece of the kind that is left, from `next` on. */
static void go_on(sn_job_order *o, kind_of_work *kind)
{
    const int own = (int)(kind - o->kind);
    while (kind->next < o->count && (o->dealt[kind->next] || o->of[kind->next] != own)) kind->next++;
}

void sn_job_order_skip(sn_job_order *order, int64_t piece)
{
    order->dealt[piece] = true;
    go_on(order, &order->kind[order->of[piece]]);
}

/* What a piece of the kind may take; of one that none is finished of, what the first has taken so far, and
   more the greater its effort is. */
static double expected(const kind_of_work *kind, double now)
{
    return kind->done ? kind->longest : (1.0 + kind->effort) * (now - kind->begun_at);
}

/* Whether a kind with pieces left comes before another. */
static bool is_before(const kind_of_work *kind, const kind_of_work *than, double now)
{
    if (kind->begun != than->begun) return !kind->begun;
    return kind->begun ? expected(kind, now) > expected(than, now) : kind->effort > than->effort;
}

int64_t sn_job_order_next(sn_job_order *order, double now)
{
    kind_of_work *best = NULL;
    for (int k = 0; k < order->kinds; k++) {
        kind_of_work *kind = &order->kind[k];
        if (kind->next == order->count) continue;
        if (best == NULL || is_before(kind, best, now)) best = kind;
    }
    if (best == NULL) return -1;
    const int64_t piece = best->next;
    if (!best->begun) best->begun_at = now;
    best->begun = true;
    order->at[piece] = now;
    sn_job_order_skip(order, piece);
    return piece;
}

void sn_job_order_done(sn_job_order *order, int64_t piece, double now)
{
    kind_of_work *kind = &order->kind[order->of[piece]];
    const double took = now - order->at[piece];
    if (!kind->done || took > kind->longest) kind->longest = took;
    kind->done = true;
}
