#define _GNU_SOURCE /* dladdr */
#include "base/team.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The kinds of MPI: by what their processes are known, and the shared object that speaks with each. A process
   that srun started with --mpi=pmix is of Open MPI, one with --mpi=pmi2 of MPICH. */
typedef struct {
    const char *signs[2]; /* in the environment of a process that this MPI has started */
    const char *object;
    const char *package; /* where the object is built, this is installed */
} mpi_kind;

static const mpi_kind KINDS[] = {
    {{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK"}, "libstonet-mpi.so", "libopenmpi-dev"},
    {{"PMI_SIZE", "PMI_RANK"}, "libstonet-mpich.so", "libmpich-dev"},
};

struct stonet_team {
    sn_wire wire;
};

int stonet_team_rank(const stonet_team *team)
{
    return team != NULL ? team->wire.rank : 0;
}

int stonet_team_ranks(const stonet_team *team)
{
    return team != NULL ? team->wire.ranks : 1;
}

stonet_status sn_team_create(const sn_wire *wire, stonet_team **out)
{
    stonet_team *team;
    SN_TRY(SN_NEW(team, 1));
    team->wire = *wire;
    *out = team;
    return STONET_OK;
}

void sn_team_free(stonet_team *team)
{
    sn_free(team);
}

/* ---- joining ----------------------------------------------------------------------------------------- */

/* How many processes were started together, 0: unknown. The first name that is set counts: srun's own tells
   of one task a node where it has only started the daemons of mpirun. */
static long started_together(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (int k = 0; k < 3; k++) {
        const char *size = getenv(sizes[k]);
        if (size != NULL) return strtol(size, NULL, 10);
    }
    return 0;
}

/* The MPI that has started this process as one of several; NULL: it is alone. */
static const mpi_kind *started_by(void)
{
    if (started_together() == 1) return NULL;
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++)
        for (int sign = 0; sign < 2; sign++)
            if (getenv(KINDS[k].signs[sign]) != NULL) return &KINDS[k];
    return NULL;
}

/* The shared object in the folder of a file, or in the folder lib beside that; NULL: it is not there. */
static void *open_beside(const char *file, const char *name)
{
    char path[4096];
    SN_BLOCK char *real = realpath(file, NULL);
    const char *slash = real != NULL ? strrchr(real, '/') : NULL;
    const char *const ways[] = {"", "../lib/"};
    void *object = NULL;
    for (int k = 0; object == NULL && slash != NULL && k < 2; k++) {
        snprintf(path, sizeof path, "%.*s/%s%s", (int)(slash - real), real, ways[k], name);
        object =
            dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* global: MPI loads parts of its own that lean on it */
    }
    return object;
}

/* Beside the library, beside the program, or where the system looks. */
static void *open_object(const char *name)
{
    Dl_info here;
    void *object = dladdr(KINDS, &here) != 0 ? open_beside(here.dli_fname, name) : NULL;
    if (object == NULL) object = open_beside("/proc/self/exe", name);
    return object != NULL ? object : dlopen(name, RTLD_NOW | RTLD_GLOBAL);
}

/* Loads the shared object for this MPI at run time, so that stonet itself does not need MPI. Fills in `wire`,
   the functions by which the processes exchange bytes. */
static stonet_status join(const mpi_kind *mpi, sn_wire *wire)
{
    void *object = open_object(mpi->object);
    if (object == NULL)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "this process is one of several, and the part of stonet that lets them work together "
                       "cannot be loaded (%s): build stonet where %s is installed",
                       dlerror(), mpi->package);
    sn_wire_join *enter = NULL;
    void *symbol = dlsym(object, SN_WIRE_ENTRY);
    memcpy(&enter, &symbol, sizeof enter);
    if (enter == NULL || enter(wire) != 0 || wire->version != SN_WIRE_VERSION)
        return sn_fail(
            STONET_ERROR_UNSUPPORTED,
            "%s could not join the other processes: it is of another version, or MPI does not work here",
            mpi->object);
    return STONET_OK;
}

stonet_status stonet_team_join(stonet_team **out)
{
    if (out == NULL) return sn_fail(STONET_ERROR_ARGUMENT, "stonet_team_join needs a place for the handle");
    *out = NULL;
    const mpi_kind *mpi = started_by();
    if (mpi == NULL) return STONET_OK;
    sn_wire wire;
    SN_TRY(join(mpi, &wire));
    return sn_team_create(&wire, out);
}

int stonet_team_meet(stonet_team *team, double seconds)
{
    int all = 1;
    if (team != NULL && team->wire.meet(team->wire.self, seconds, &all) != 0) return 0;
    return all;
}

void stonet_team_leave(stonet_team *team, int stop_all)
{
    if (team == NULL) return;
    team->wire.leave(team->wire.self, stop_all);
    sn_team_free(team);
}

/* ---- messages ---------------------------------------------------------------------------------------- */

static stonet_status broken(void)
{
    return sn_fail(STONET_ERROR_IO, "the connection to the other processes is broken");
}

stonet_status sn_team_send(stonet_team *team, int to, int tag, const void *bytes, size_t size)
{
    return team->wire.send(team->wire.self, to, tag, bytes, size) == 0 ? STONET_OK : broken();
}

stonet_status sn_team_receive(stonet_team *team, int from, int tag, void *bytes, size_t size)
{
    return team->wire.receive(team->wire.self, from, tag, bytes, size) == 0 ? STONET_OK : broken();
}

stonet_status sn_team_look(stonet_team *team, int tag, bool *waits, int *from)
{
    int found = 0;
    if (team->wire.look(team->wire.self, tag, &found, from) != 0) return broken();
    *waits = found != 0;
    return STONET_OK;
}

/* By a binary tree of ranks counted from the sender: rank r gets it from r less its lowest bit, and hands it
   on to r + 1, r + 2, r + 4 .. below that bit. */
stonet_status sn_team_spread(stonet_team *team, int from, void *bytes, size_t size)
{
    if (!sn_team_shares(team) || size == 0) return STONET_OK;
    const int ranks = team->wire.ranks, own = (team->wire.rank - from + ranks) % ranks;
    int bit = 1;
    while (bit < ranks && (own & bit) == 0) bit *= 2;
    if (own != 0) SN_TRY(sn_team_receive(team, (own - bit + from) % ranks, SN_TAG_SHARE, bytes, size));
    for (bit /= 2; bit > 0; bit /= 2)
        if (own + bit < ranks)
            SN_TRY(sn_team_send(team, (own + bit + from) % ranks, SN_TAG_SHARE, bytes, size));
    return STONET_OK;
}

stonet_status sn_team_spread_pack(stonet_team *team, int from, sn_pack *pack)
{
    if (!sn_team_shares(team)) return STONET_OK;
    uint64_t size = pack->size;
    SN_TRY(sn_team_spread(team, from, &size, sizeof size));
    if (team->wire.rank != from) {
        sn_pack_clear(pack);
        if (size == 0) return STONET_OK;
        pack->bytes = sn_realloc(NULL, size, 1);
        if (pack->bytes == NULL) return STONET_ERROR_MEMORY;
        pack->size = pack->room = size;
    }
    return sn_team_spread(team, from, pack->bytes, size);
}

stonet_status sn_team_gather(stonet_team *team, int64_t count, size_t size, void *things)
{
    for (int rank = 0; sn_team_shares(team) && rank < team->wire.ranks; rank++) {
        const int64_t first = sn_team_border(team, count, rank), last = sn_team_border(team, count, rank + 1);
        SN_TRY(
            sn_team_spread(team, rank, (char *)things + (size_t)first * size, (size_t)(last - first) * size));
    }
    return STONET_OK;
}

stonet_status sn_team_agree(stonet_team *team, const sn_hash *hash)
{
    const int ranks = stonet_team_ranks(team);
    if (ranks == 1) return STONET_OK;
    SN_ZEROS(ranks, uint64_t, job);
    job[team->wire.rank] = sn_hash_value(hash);
    SN_TRY(sn_team_gather(team, ranks, sizeof *job, job));
    for (int r = 1; r < ranks; r++)
        if (job[r] != job[0])
            return sn_fail(STONET_ERROR_ARGUMENT,
                           "process %d has other data, settings, seed or processor than process 0: start all "
                           "with the same files and options (STONET_CPU chooses the instructions)",
                           r);
    return STONET_OK;
}
