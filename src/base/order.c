#include "base/order.h"

#include "base/memory.h"

enum { MOST_KINDS = 256 };

typedef struct kind_of_work {
    const void *name;
    int64_t next;     /* the first of its pieces that is not dealt out yet; count: none */
    bool begun, done; /* one of its pieces is dealt out; and finished */
    double begun_at, longest;
} kind_of_work;

struct sn_order {
    int64_t count;
    int kinds;
    kind_of_work kind[MOST_KINDS];
    int *of;     /* each piece's kind */
    bool *dealt; /* or left out */
    double *at;  /* when it was dealt out */
};

/* Numbers the kinds; false: there are too many. */
static bool number_kinds(sn_order *o, const void *const *kind)
{
    for (int64_t i = 0; i < o->count; i++) {
        const void *name = kind != NULL ? kind[i] : NULL;
        int k = i > 0 && o->kind[o->of[i - 1]].name == name ? o->of[i - 1] : 0;
        while (k < o->kinds && o->kind[k].name != name) k++;
        if (k == MOST_KINDS) return false;
        if (k == o->kinds) o->kind[o->kinds++] = (kind_of_work){.name = name, .next = i};
        o->of[i] = k;
    }
    return true;
}

stonet_status sn_order_create(int64_t count, const void *const *kind, sn_order **out)
{
    sn_order *o;
    SN_TRY(SN_NEW(o, 1));
    o->count = count;
    stonet_status status = SN_NEW(o->of, count);
    if (status == STONET_OK) status = SN_NEW(o->dealt, count);
    if (status == STONET_OK) status = SN_NEW(o->at, count);
    if (status != STONET_OK) {
        sn_order_free(o);
        return status;
    }
    if (!number_kinds(o, kind)) {
        o->kinds = 0;
        number_kinds(o, NULL);
    }
    *out = o;
    return STONET_OK;
}

void sn_order_free(sn_order *order)
{
    if (order == NULL) return;
    sn_free(order->of);
    sn_free(order->dealt);
    sn_free(order->at);
    sn_free(order);
}

/* The first piece of the kind that is left, from `next` on. */
static void go_on(sn_order *o, kind_of_work *kind)
{
    const int own = (int)(kind - o->kind);
    while (kind->next < o->count && (o->dealt[kind->next] || o->of[kind->next] != own)) kind->next++;
}

void sn_order_skip(sn_order *order, int64_t piece)
{
    order->dealt[piece] = true;
    go_on(order, &order->kind[order->of[piece]]);
}

/* What a piece of the kind may take; of one that none is finished of, what the first has taken so far. */
static double expected(const kind_of_work *kind, double now)
{
    return kind->done ? kind->longest : now - kind->begun_at;
}

int64_t sn_order_next(sn_order *order, double now)
{
    kind_of_work *best = NULL;
    for (int k = 0; k < order->kinds; k++) {
        kind_of_work *kind = &order->kind[k];
        if (kind->next == order->count) continue;
        if (!kind->begun) {
            best = kind;
            break;
        }
        if (best == NULL || expected(kind, now) > expected(best, now)) best = kind;
    }
    if (best == NULL) return -1;
    const int64_t piece = best->next;
    if (!best->begun) best->begun_at = now;
    best->begun = true;
    order->at[piece] = now;
    sn_order_skip(order, piece);
    return piece;
}

void sn_order_done(sn_order *order, int64_t piece, double now)
{
    kind_of_work *kind = &order->kind[order->of[piece]];
    const double took = now - order->at[piece];
    if (!kind->done || took > kind->longest) kind->longest = took;
    kind->done = true;
}
