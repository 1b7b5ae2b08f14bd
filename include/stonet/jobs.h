/*
 * Long jobs: work that goes on after it was ended, and several processes that do one job together.
 */
#ifndef STONET_JOBS_H
#define STONET_JOBS_H

#include <stonet/stonet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- checkpoints and ranks ------------------------------------------------------------------- */

/*
 * A file with the work that is done so far. The same call with the same data, options and seed goes on from
 * it, on any number of threads, to the same bits as one that was never ended; a call with others fails. The
 * file is replaced as a whole, and synced. It is not removed at the end of the call: do that when the model
 * or the table is where it should be.
 */
typedef struct stonet_checkpoint stonet_checkpoint;

/* Reads the file if it is there. every: seconds after which it is written anew; less than 0: 60. path NULL:
   no file, for fits in a row that differ in dim alone, which then share one training. */
STONET_API stonet_status stonet_checkpoint_open(const char *path, double every, stonet_checkpoint **out);
/* Removes the file; the handle is still to be freed. */
STONET_API stonet_status stonet_checkpoint_remove(stonet_checkpoint *checkpoint);
STONET_API void stonet_checkpoint_free(stonet_checkpoint *checkpoint);

/*
 * Several processes (ranks 0 .. R-1, started by mpirun of Open MPI or MPICH) that do one job together. Each
 * makes the same calls with the same arguments, and gets the same result, to the bit what one process alone
 * would get. What MPI needs is in shared objects of their own (libstonet-mpi.so, libstonet-mpich.so), which
 * stonet_team_join loads. A rank on which a call fails must leave with stop_all, since the others wait for
 * it.
 */
typedef struct stonet_team stonet_team;

/* *out is NULL for a process that was started alone. */
STONET_API stonet_status stonet_team_join(stonet_team **out);
STONET_API int stonet_team_rank(const stonet_team *team);  /* NULL: 0 */
STONET_API int stonet_team_ranks(const stonet_team *team); /* NULL: 1 */
/* Waits until all ranks have called it, but no longer than so many seconds (less than 0: for ever); non-zero:
   all have. */
STONET_API int stonet_team_meet(stonet_team *team, double seconds);
/* The last call of a process; stop_all: ends all ranks at once, this one too. */
STONET_API void stonet_team_leave(stonet_team *team, int stop_all);

#ifdef __cplusplus
}
#endif
#endif
