/* The choice of settings for a table that is larger than the choice needs. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "data/splits.h"
#include "math/noise.h"
#include "stonet/kernel_point.h"
#include "stonet/select.h"

const sn_parting sn_parting_usual = {.whole = 1 << 26, .part = 1 << 24};
/* The longest training that a choice is made by. */
static const double MOST_UPDATES = 30000.0;

/* Whether settings are chosen on a part: by rows and columns alone, wherever the rows are. */
static bool takes_part(const sn_stage_job *job, const sn_parting *how, const sn_config *config)
{
    return (config->auto_decay || config->auto_epochs) && job->wide == NULL && job->learns == NULL &&
           job->problem->x == NULL && job->rows.n > how->whole / job->problem->p;
}

/* One row at random of each of `count` stretches of the same length. */
static stonet_status draw(const sn_rows *rows, int64_t count, uint64_t seed, int64_t **out)
{
    sn_random random;
    SN_TRY(SN_NEW_RAW(*out, count));
    sn_random_init(&random, seed, SN_STREAM_SPLIT, 1);
    for (int64_t i = 0; i < count; i++) {
        const int64_t first = (int64_t)((__int128)i * rows->n / count),
                      last = (int64_t)((__int128)(i + 1) * rows->n / count);
        (*out)[i] = sn_rows_at(rows, first + (int64_t)sn_random_below(&random, (uint64_t)(last - first)));
    }
    return STONET_OK;
}

/* The updates of so many epochs over all rows as epochs over the part, as far as a choice needs them. */
static double epochs_of_part(const sn_config *config, int64_t n, int64_t part)
{
    const double updates = config->epochs * (double)sn_train_batches(config, n);
    return fmax(config->epochs, fmin(updates, MOST_UPDATES) / (double)sn_train_batches(config, part));
}

static stonet_status select_on(const sn_stage_job *job, const int64_t *list, int64_t count, sn_shape *shape,
                               sn_config *config, float *theta, sn_selection *selection)
{
    sn_problem part;
    sn_keep keep = {0};
    sn_config own = *config;
    sn_stage_job some = *job;
    SN_TRY(sn_problem_subset(job->problem, list, count, &part));
    part.keep = &keep;
    some.problem = &part;
    some.raw = &part;
    some.rows = sn_rows_range(0, count);
    some.config = &own;
    own.auto_front = own.auto_front && sn_kernel_point_fits(job);
    if (!own.auto_epochs) own.epochs = epochs_of_part(config, job->rows.n, count);
    const stonet_status status = sn_select(&some, shape, &own, theta, selection);
    config->weight_decay = own.weight_decay;
    if (config->auto_epochs)
        config->epochs = own.epochs * (double)sn_train_batches(config, count) /
                         (double)sn_train_batches(config, job->rows.n);
    sn_keep_clear(&keep);
    sn_problem_subset_free(&part);
    return status;
}

stonet_status sn_select_for(const sn_stage_job *job, const sn_parting *how, sn_shape *shape,
                            sn_config *config, float *theta, sn_selection *selection)
{
    if (!takes_part(job, how, config)) return sn_select(job, shape, config, theta, selection);
    const int64_t count = how->part / job->problem->p;
    int64_t *list = NULL;
    stonet_status status = draw(&job->rows, count, job->seed, &list);
    if (status == STONET_OK) {
        sn_message(job->run, STONET_NOTE,
                   "settings are chosen by %lld of the %lld rows, evenly from all of them", (long long)count,
                   (long long)job->rows.n);
        status = select_on(job, list, count, shape, config, theta, selection);
    }
    sn_free(list);
    return status;
}
