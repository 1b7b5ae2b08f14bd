/*
 * What carries messages between processes that work together. The library knows this struct alone; what fills
 * it in (mpi/wire.c, on MPI) is a shared object of its own that is loaded when it is needed.
 *
 * Calls return 0, or anything else when the connection is broken. They may come from several threads.
 */
#pragma once

#include <stddef.h>

enum { SN_WIRE_VERSION = 1 };

typedef struct sn_wire {
    int version; /* SN_WIRE_VERSION */
    int rank, ranks;
    void *self; /* given to every call */
    /* Messages of one sender and tag arrive in order. */
    int (*send)(void *self, int to, int tag, const void *bytes, size_t size);
    /* Waits for the next message of a sender and tag; it has exactly this size. */
    int (*receive)(void *self, int from, int tag, void *bytes, size_t size);
    /* Whether a message with the tag waits, and from whom; does not wait itself. */
    int (*look)(void *self, int tag, int *waits, int *from);
    /* Waits until every rank has come here, but no longer than so many seconds (less than 0: for ever). */
    int (*meet)(void *self, double seconds, int *all);
    /* Ends the connection; failed: and every rank with it, at once. */
    void (*leave)(void *self, int failed);
} sn_wire;

/* The one function of such a shared object, under this name. */
#define SN_WIRE_ENTRY "stonet_wire_join"
typedef int sn_wire_join(sn_wire *out);
