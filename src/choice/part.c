/* The choice of settings for a table that is larger than the choice needs. */
#include <stdlib.h>

#include "base/memory.h"
#include "choice/halving.h"
#include "data/splits.h"
#include "math/noise.h"

const sn_parting sn_parting_usual = {.whole = 1 << 26, .part = 1 << 24};

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

static stonet_status choose_by(const sn_choice_job *job, const int64_t *list, int64_t count,
                               const sn_line *lines, int n_lines, sn_choice *out)
{
    sn_problem part;
    sn_keep keep = {0};
    sn_choice_job some = *job;
    SN_TRY(sn_problem_subset(job->problem, list, count, &part));
    part.keep = &keep;
    some.problem = &part;
    some.rows = sn_rows_range(0, count);
    const stonet_status status = sn_choose(&some, lines, n_lines, out);
    sn_keep_clear(&keep);
    sn_problem_subset_free(&part);
    return status;
}

stonet_status sn_choose_for(const sn_choice_job *job, const sn_parting *how, const sn_line *lines, int count,
                            sn_choice *out)
{
    if (job->problem->x != NULL || job->rows.n <= how->whole / job->problem->p)
        return sn_choose(job, lines, count, out);
    const int64_t some = how->part / job->problem->p;
    int64_t *list = NULL;
    *out = (sn_choice){.fold = -1};
    stonet_status status = draw(&job->rows, some, job->seed, &list);
    if (status == STONET_OK) {
        sn_message(job->run, STONET_NOTE, "settings are chosen by %lld of the %lld rows, drawn evenly",
                   (long long)some, (long long)job->rows.n);
        status = choose_by(job, list, some, lines, count, out);
    }
    sn_free(list);
    return status;
}
