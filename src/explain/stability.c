/*
 * Stability selection (Meinshausen and Buhlmann 2010, in the form of Shah and Samworth 2013): the rows are
 * cut into halves B times, and the path of a group penalty (choice/sparse_path.h) is walked on each half. A
 * variable is noted when it is among the q that stay on the path longest, q = sqrt(v / 2) of v variables.
 *
 *     importance_j = share of the 2 B halves in which j is noted,     se = sqrt(share (1 - share) / 2 B)
 *
 * Of the variables with a share of t > 1/2 at least, at most q^2 / ((2 t - 1) v) are there by chance on the
 * average: 1 at t = 3/4. The model lends its encoding of the columns and nothing else.
 */
#include <math.h>
#include <omp.h>

#include "base/failure.h"
#include "base/memory.h"
#include "choice/sparse.h"
#include "data/partitions.h"
#include "engine/engines.h"
#include "explain/importance.h"
#include "math/noise.h"

enum { PAIRS = 50, FEWEST_ROWS = 20 };

typedef struct halves {
    const sn_problem *problem;
    const stonet_run *run; /* quiet */
    uint64_t seed;
    int64_t noted; /* q */
    int64_t variables;
} halves;

/* Marks the q variables that stay longest on the path of one half of the rows. */
static stonet_status note_half(const halves *all, int64_t number, unsigned char *noted)
{
    const sn_problem *problem = all->problem;
    SN_ARRAY(problem->n, int64_t, order);
    SN_ARRAY(all->variables, double, stay);
    sn_random random = sn_random_from(all->seed, SN_STREAM_SPLIT, (uint32_t)(number / 2));
    int64_t half;
    SN_TRY(sn_split_half(problem->n, problem->kin, &random, order, &half));
    const int64_t count = number % 2 == 0 || problem->kin == NULL ? half : problem->n - half;
    const sn_shape shape = {.task = problem->task};
    const sn_config config = {.engine = sn_engine_at(0)};
    const sn_stage_job job = {.shape = &shape,
                              .problem = problem,
                              .rows = sn_rows_list(order + (number % 2) * half, count),
                              .config = &config,
                              .seed = all->seed + (uint64_t)number,
                              .threads = 1,
                              .run = all->run};
    SN_TRY(sn_sparse_stay(&job, stay));
    for (int64_t k = 0; k < all->noted; k++) {
        int64_t longest = 0;
        for (int64_t j = 1; j < all->variables; j++)
            if (stay[j] > stay[longest]) longest = j;
        if (!(stay[longest] > 0.0)) break;
        noted[longest] = 1;
        stay[longest] = 0.0;
    }
    return STONET_OK;
}

/* noted: count x variables; half k writes its own row, so threads need no lock for it. Halves 2b and 2b + 1
   have no row in common. */
static stonet_status walk_halves(const halves *all, const stonet_run *run, int64_t count,
                                 unsigned char *noted)
{
    const double started = sn_seconds();
    int stopped = 0;
    int64_t done = 0;
    sn_failure failure = {.status = STONET_OK};
#pragma omp parallel for num_threads(sn_threads(run)) schedule(dynamic)
    for (int64_t k = 0; k < count; k++) {
        if (sn_should_stop_shared(run, &stopped)) continue;
        sn_failure_note(&failure, k, note_half(all, k, noted + k * all->variables));
#pragma omp critical(sn_stability)
        {
            done++;
            if (omp_get_thread_num() == 0) /* the caller's function need not be ready for others */
                sn_progress_of(run, "halves of the rows", done, count, (double)NAN, started);
        }
    }
    if (stopped) return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before all halves were looked at");
    return sn_failure_raise(&failure);
}

/* Halves run side by side, each with one thread and without messages of its own. */
stonet_status sn_importance_stability(const sn_asked *asked, stonet_importance_result *result)
{
    const int64_t pairs = asked->repeats > 0 ? asked->repeats : PAIRS, variables = asked->variables;
    SN_WORKSPACE(scratch);
    sn_problem problem;
    unsigned char *noted = NULL;
    if (asked->weight != NULL)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "stability selection takes half of the rows at random and has "
                       "no weighted form: leave the weights out");
    if (asked->n < FEWEST_ROWS)
        return sn_fail(STONET_ERROR_DATA, "stability selection needs %d rows at least", FEWEST_ROWS);
    SN_TRY(sn_schema_problem(asked->model->schema, asked->data, &scratch, &problem));
    SN_TRY(SN_TAKE_ZERO(&scratch, noted, 2 * pairs * variables));
    sn_quiet_run quiet;
    sn_quiet_run_init(&quiet, asked->run);
    const halves all = {.problem = &problem,
                        .run = &quiet.run,
                        .seed = asked->run->seed,
                        .noted = (int64_t)fmax(1.0, floor(sqrt(0.5 * (double)variables))),
                        .variables = variables};
    SN_TRY(walk_halves(&all, asked->run, 2 * pairs, noted));
    for (int64_t j = 0; j < variables; j++) {
        double share = 0.0;
        for (int64_t k = 0; k < 2 * pairs; k++) share += noted[k * variables + j] / (2.0 * (double)pairs);
        result->value[j] = share;
        result->error[j] = sqrt(fmax(share * (1.0 - share), 0.0) / (2.0 * (double)pairs));
    }
    return STONET_OK;
}
