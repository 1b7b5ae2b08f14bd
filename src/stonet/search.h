/*
 * Points of the search over settings, and what each costs on held-out rows.
 *
 * A point is an activation, a weight decay and a training length of the grid. It is trained on every fold,
 * from the winner of a race of starts (stonet/start.h) that is run when the first point of an activation asks
 * for the fold; a longer training goes on from the shorter one. Folds and points run side by side. After two
 * folds a point that will hardly be moved to is dropped.
 */
#ifndef SN_STONET_SEARCH_H
#define SN_STONET_SEARCH_H

#include "stonet/baseline.h"
#include "stonet/blend_point.h"
#include "stonet/path.h"

enum {
    SN_SEARCH_DECAYS = 7,
    SN_SEARCH_LENGTHS = SN_PATH_LENGTHS,
    SN_SEARCH_ACTIVATIONS = 2,
    SN_SEARCH_POINTS = 4
};
extern const double sn_search_decays[SN_SEARCH_DECAYS];
extern const int64_t sn_search_updates[SN_SEARCH_LENGTHS];

typedef struct sn_point {
    int activation, decay, length; /* indices */
} sn_point;

/* How much better a point must be to be moved to: so many standard errors of the differences on the held-out
   rows, and such a part of the loss (or of what is explained of it, if that is less). And how many standard
   errors behind it is given up after the first folds. */
typedef struct sn_lead {
    double errors, share, hopeless;
} sn_lead;

typedef struct sn_searcher {
    const sn_stage_job *job;
    const sn_config *config;
    sn_holdout holdout;
    sn_baseline baseline;
    sn_kernel_point kernel;
    sn_blend_point blend;
    sn_quiet_run quiet;
    int activations;
    sn_shape shape[SN_SEARCH_ACTIVATIONS];             /* the first is where the search starts */
    float *start[SN_SEARCH_ACTIVATIONS][SN_MAX_FOLDS]; /* NULL: not raced yet */
    sn_path *path[SN_SEARCH_ACTIVATIONS][SN_SEARCH_DECAYS];
    sn_held_out cost[SN_SEARCH_ACTIVATIONS][SN_SEARCH_DECAYS][SN_SEARCH_LENGTHS];
    int64_t scored[SN_SEARCH_ACTIVATIONS][SN_SEARCH_DECAYS][SN_SEARCH_LENGTHS]; /* held-out rows, from 0 on */
    sn_point at;
    int64_t tried, raced, to_race; /* points; starts */
    int64_t done, under_way;       /* updates of all folds: made, and of the points that are being scored */
    bool together;                 /* the ranks of a team share out each training, not the trainings */
    int sets;                      /* of folds, or races, that ran side by side, so far */
    double started;
} sn_searcher;

/* The job's held-out rows and what is reached on them without a network. Free also after a failure. */
stonet_status sn_search_begin(const sn_stage_job *job, const sn_shape *shape, const sn_config *config,
                              sn_searcher *s);
void sn_search_free(sn_searcher *s);

static inline sn_held_out *sn_cost_at(sn_searcher *s, sn_point at)
{
    return &s->cost[at.activation][at.decay][at.length];
}

static inline bool sn_has_cost(sn_searcher *s, sn_point at)
{
    return sn_cost_at(s, at)->loss != NULL;
}

/* Whether a point is worth a fit: on the grid, and within reason for the number of rows. */
bool sn_worth_trying(const sn_searcher *s, sn_point at);
/* Scores those of the points (SN_SEARCH_POINTS at most) that are worth it and have no cost yet, all at once.
   One that is dropped costs infinity. */
stonet_status sn_consider(sn_searcher *s, const sn_point *points, int count, sn_lead by);
/* The two activations at the point where the search starts: the second is dropped after the first folds
   unless it is better by the margin there, and then the first. */
stonet_status sn_consider_both(sn_searcher *s, sn_lead by);
/* Whether a point is better than the present one by a margin. */
bool sn_is_better(sn_searcher *s, sn_point to, sn_lead by);
/* Whether the setting of a point was so far behind the present one at the last shorter length that both were
   trained for, or is falling behind from length to length, that its length will hardly turn it. */
bool sn_falls_behind(sn_searcher *s, sn_point to);

#endif
