/*
 * base/wire.h on MPI: the part of stonet that is loaded under mpirun, and the only one that knows MPI.
 *
 * Whoever waits gives the processor away, and after a while sleeps between two looks: ranks may be more than
 * cores. MPI is asked by one thread at a time.
 */
#define _DEFAULT_SOURCE
#include "base/wire.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum { LARGEST = 1 << 30, LOOKS = 2000 }; /* bytes of one message of MPI; looks before the first sleep */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct timespec NAP = {.tv_nsec = 50000};

static void wait_a_little(int looks)
{
    if (looks < LOOKS)
        sched_yield();
    else
        nanosleep(&NAP, NULL);
}

static int finish(MPI_Request *request)
{
    for (int looks = 0;; looks++) {
        int done = 0;
        pthread_mutex_lock(&lock);
        const int failed = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&lock);
        if (failed != MPI_SUCCESS) return 1;
        if (done) return 0;
        wait_a_little(looks);
    }
}

// NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): finish() tests until it is done
static int wire_send(void *self, int to, int tag, const void *bytes, size_t size)
{
    (void)self;
    const char *from = bytes;
    for (size_t at = 0; at < size || at == 0; at += LARGEST) {
        const size_t some = size - at < LARGEST ? size - at : LARGEST;
        MPI_Request request;
        pthread_mutex_lock(&lock);
        const int failed = MPI_Isend(from + at, (int)some, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
        pthread_mutex_unlock(&lock);
        if (failed != MPI_SUCCESS || finish(&request) != 0) return 1;
    }
    return 0;
}

static int wire_receive(void *self, int from, int tag, void *bytes, size_t size)
{
    (void)self;
    char *to = bytes;
    for (size_t at = 0; at < size || at == 0; at += LARGEST) {
        const size_t some = size - at < LARGEST ? size - at : LARGEST;
        MPI_Request request;
        pthread_mutex_lock(&lock);
        const int failed = MPI_Irecv(to + at, (int)some, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
        pthread_mutex_unlock(&lock);
        if (failed != MPI_SUCCESS || finish(&request) != 0) return 1;
    }
    return 0;
}
// NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)

static int wire_look(void *self, int tag, int *waits, int *from)
{
    (void)self;
    MPI_Status status;
    pthread_mutex_lock(&lock);
    const int failed = MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, waits, &status);
    pthread_mutex_unlock(&lock);
    if (failed != MPI_SUCCESS) return 1;
    *from = *waits ? status.MPI_SOURCE : -1;
    return 0;
}

static int wire_meet(void *self, double seconds, int *all)
{
    (void)self;
    MPI_Request request;
    pthread_mutex_lock(&lock);
    int failed = MPI_Ibarrier(MPI_COMM_WORLD, &request);
    const double start = MPI_Wtime();
    pthread_mutex_unlock(&lock);
    *all = 0;
    while (failed == MPI_SUCCESS && !*all) {
        pthread_mutex_lock(&lock);
        failed = MPI_Test(&request, all, MPI_STATUS_IGNORE);
        const double spent = MPI_Wtime() - start;
        pthread_mutex_unlock(&lock);
        if (seconds >= 0.0 && spent > seconds) break;
        if (!*all) nanosleep(&NAP, NULL);
    }
    return failed != MPI_SUCCESS;
}

static void wire_leave(void *self, int failed)
{
    (void)self;
    if (failed)
        MPI_Abort(MPI_COMM_WORLD, 1);
    else
        MPI_Finalize();
}

/* The sum of a batch is some thousand numbers: between processes of one machine it should go in one message,
   and not wait until its receiver has asked for it, as from 4 kB on it would. "vader" is the shared memory of
   Open MPI 4, "sm" that of 5. What the user has said stays. */
static void send_at_once(void)
{
    static const char *const names[] = {"OMPI_MCA_btl_vader_eager_limit", "OMPI_MCA_btl_sm_eager_limit"};
    for (int k = 0; k < 2; k++) setenv(names[k], "65536", 0);
}

__attribute__((visibility("default"))) int stonet_wire_join(sn_wire *out);

int stonet_wire_join(sn_wire *out)
{
    int provided;
    *out = (sn_wire){.version = SN_WIRE_VERSION,
                     .send = wire_send,
                     .receive = wire_receive,
                     .look = wire_look,
                     .meet = wire_meet,
                     .leave = wire_leave};
    send_at_once();
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) return 1;
    if (provided < MPI_THREAD_SERIALIZED) return 1;
    if (MPI_Comm_rank(MPI_COMM_WORLD, &out->rank) != MPI_SUCCESS) return 1;
    return MPI_Comm_size(MPI_COMM_WORLD, &out->ranks) != MPI_SUCCESS;
}
