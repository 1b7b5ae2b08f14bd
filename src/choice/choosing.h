/*
 * A choice under way, for the files that make it: halving.c trains and drops lines, estimate.c says what the
 * winner is worth, choose.c puts both together.
 */
#pragma once

#include "choice/halving.h"

typedef struct sn_choosing {
    const sn_choice_job *job;
    sn_folds folds;
    sn_problem known[SN_FOLDS]; /* the problem as the training rows of each fold know it */
    int most_folds, most_rungs; /* that are used */
    sn_views views[SN_MOST_LINES];
    int n_views;
    sn_line_training *all; /* every line, */
    int count;
    int alive[SN_MOST_LINES]; /* and the places of those that go on, the best first */
    int n_alive;
    bool lengths_open, together; /* together: ranks share out every batch */
    sn_quiet_run quiet;
    int64_t tried;
    double done, rung_end, total, started; /* updates */
} sn_choosing;

/* Folds, views and lines of a choice on at most so many folds. End also after a failure. */
stonet_status sn_choosing_begin(const sn_choice_job *job, const sn_line *lines, int count, int most_folds,
                                sn_choosing **out);
void sn_choosing_end(sn_choosing *s);
SN_DROP(sn_choosing, sn_choosing_end)
/* All rungs; *last: that which was reached. */
stonet_status sn_climb(sn_choosing *s, int *last);
int sn_rung_folds(const sn_choosing *s, int rung);
/* Trains these legs; `rung` and `folds` name them in the checkpoint. */
stonet_status sn_run_legs(sn_choosing *s, int rung, int folds, sn_leg *legs, int count);
void sn_sort_alive(sn_choosing *s);
/* Lengths that a line was measured at on all of these folds. */
int sn_common_lengths(const sn_line_training *c, int folds);

/* Fills in the estimates; `lines` is the table. *nothing: the choice is not better than a constant guess. */
stonet_status sn_choice_estimate(sn_choosing *s, int rung, const sn_line *lines, sn_line_training *winner,
                                 sn_choice *out, bool *nothing);
/* For a Z with fewer columns than the effect needs: the networks of the folds go on with q units, as the
   network on all rows will. The estimate moves by what that costs. */
stonet_status sn_estimate_narrowed(const sn_choosing *s, int rung, const sn_line_training *winner,
                                   sn_choice *out);
