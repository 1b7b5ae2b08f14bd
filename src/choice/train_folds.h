/*
 * A line of the table of candidates in training: on every fold, one length after the other.
 *
 * Everything is made anew inside each fold: what layer 1 sees (kernel landmarks and width, columns,
 * components) comes from the fold's training rows alone. One training gives all lengths.
 */
#pragma once

#include "base/pack.h"
#include "choice/held_out.h"

/* What the whole choice is about. */
typedef struct sn_choice_job {
    const sn_settings *settings;
    const sn_problem *problem; /* as the lines' fronts are to see it */
    sn_rows rows;
    int64_t q, units;            /* columns of Z, and units of the last hidden layer */
    const sn_engine_ops *engine; /* NULL: as the settings say */
    double step;                 /* factor of lr, which falls after trainings that diverged */
    uint64_t seed;
    int threads;
    stonet_team *team;
    const stonet_run *run;
    const char *key; /* its place in the checkpoint of the run; NULL: none */
} sn_choice_job;

/* Shape and settings of a line for rows as its front shows them. */
stonet_status sn_line_config(const sn_choice_job *job, const sn_net_kind *kind, const sn_problem *seen,
                             sn_shape *shape, sn_config *config);

/* What a fold sees through a front. */
typedef struct sn_view {
    sn_front *front;
    sn_problem seen;
    sn_keep keep; /* of what is seen through the front */
    bool made;
} sn_view;

/* Views of one recipe, shared by the lines that have it. */
typedef struct sn_views {
    sn_front_recipe recipe;
    sn_view fold[SN_FOLDS];
} sn_views;

/* problem: that of the job, as the rows of the fold see it. */
stonet_status sn_view_make(const sn_choice_job *job, const sn_problem *problem, const sn_folds *folds,
                           int fold, sn_views *views);
void sn_views_free(const sn_choice_job *job, sn_views *views);

typedef struct sn_line_training {
    sn_line line;
    sn_views *views;
    sn_shape shape[SN_FOLDS]; /* the features of a kernel may be more or fewer in a fold */
    sn_config config[SN_FOLDS];
    sn_stage_job job[SN_FOLDS];
    sn_trainer *trainer[SN_FOLDS];
    sn_pack state[SN_FOLDS]; /* of a training that went on elsewhere: where a trainer is to begin */
    int reached[SN_FOLDS];   /* lengths that are done */
    float *theta[SN_RUNGS][SN_FOLDS];
    sn_held_out cost[SN_RUNGS];
    double fit[SN_FOLDS];    /* loss over the training rows at the last length */
    bool diverged[SN_FOLDS]; /* a fold knows its own alone: folds train side by side */
    bool gains;              /* its last length was its best */
    bool explores;           /* goes on whether it gains or not */
    int best;                /* length, and the mean loss there over the folds of the last rung */
    double score;
} sn_line_training;

/* In any fold: such a line is out. */
static inline bool sn_line_diverged(const sn_line_training *line)
{
    for (int k = 0; k < SN_FOLDS; k++)
        if (line->diverged[k]) return true;
    return false;
}

/* A training of one fold to so many lengths. */
typedef struct sn_leg {
    sn_line_training *candidate;
    int fold, lengths, from; /* from: lengths that it had before */
    bool first;              /* begins even if the caller wants to stop, so that there is a network to give */
    int threads;
    stonet_team *team; /* whose ranks share out every batch */
    const stonet_run *run;
} sn_leg;

/* The number of updates of a length, for n rows. */
int64_t sn_length_updates(const sn_config *config, int length, int64_t n);
/* The starting weights of a fold, which the fit on all rows may begin with too. */
stonet_status sn_fold_start(const sn_stage_job *job, int fold, float *theta);
/* Trains and measures; key: in the checkpoint while it is trained, NULL: none. Legs of other folds and lines
   may run side by side. */
stonet_status sn_leg_run(const sn_choice_job *job, const sn_folds *folds, const sn_leg *leg, const char *key);
/* Packs the lengths of a leg that are new and the state of its training. Unpacking continues the training
   from such a record. */
stonet_status sn_leg_pack(const sn_folds *folds, const sn_leg *leg, sn_pack *pack);
stonet_status sn_leg_unpack(const sn_choice_job *job, const sn_folds *folds, const sn_leg *leg,
                            sn_unpack *record);
/* The losses of fold k when its network of the best length goes on with q units (stonet/narrow.h); those it
   has where q axes carry the effect. */
stonet_status sn_fold_narrowed(const sn_choice_job *job, const sn_folds *folds, const sn_line_training *c,
                               int k, sn_held_out *losses);
/* Lets go of what only further training needs; and of all. */
void sn_line_training_retire(sn_line_training *candidate);
void sn_line_training_free(sn_line_training *candidate);
