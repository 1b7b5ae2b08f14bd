/*
 * The one rule of the choice: successive halving over folds and updates by held-out loss.
 *
 * All lines of the table (choice/candidates.h) are trained briefly and judged on one fold; the better half of
 * each family, since families learn at different speeds, goes on to a longer training on more folds, and so
 * on. A line is trained further if its last length was its best, and if as large a gain on each of the rungs
 * to come would make it the first. Networks may find nothing at first: they are tried up to the third rung in
 * any case, and the one that fits its training rows best up to the fourth. The lowest mean loss wins.
 *
 * The loss of the winner is the least of many and so too good. The estimate for people is another number: the
 * losses of each part of the held-out rows are those of the line and length that are best on the other parts.
 * Where a paired test does not tell that from a constant guess, the choice itself is made anew inside the
 * training rows of every fold (nested cross-validation), so that no row has any say in what it is measured
 * by.
 *
 * The constant guess is the last line of the table: where the estimate is not below its loss, nothing was
 * found, and the line with the strongest weight decay wins, whose network is next to a constant.
 */
#pragma once

#include "choice/train_folds.h"
#include "stonet/batches.h"

typedef struct sn_choice {
    sn_line line;
    int64_t updates; /* 0: epochs were given */
    sn_estimate chosen, constant, linear;
    sn_gains gains;
    int64_t held_out;  /* rows these were measured on */
    int64_t tried;     /* trainings judged, each at each length */
    double residual_p; /* of residuals whose size does not depend on x (choice/residuals.h); NaN: none */
    /* Of the networks of the chosen line on the folds, the one that is best on all rows. */
    int fold;
    double loss; /* there */
    sn_shape shape;
    float *theta;           /* the caller's */
    sn_front *front;        /* that it sees the rows through, the caller's; NULL: none */
    char *neighbours;       /* lines beside the winner with their losses, a line of text each; the caller's */
    stonet_outcome outcome; /* STONET_STOPPED: cut short; DIVERGED: every line was */
} sn_choice;

/* Chooses among `count` lines. Free also after a failure. */
stonet_status sn_choose(const sn_choice_job *job, const sn_line *lines, int count, sn_choice *out);
/* The same for a table on disk: one that is shuffled by windows (stonet/batches.h) is judged by half as many
   of its rows as the windows hold, drawn evenly. */
stonet_status sn_choose_for(const sn_choice_job *job, const sn_windowing *how, const sn_line *lines,
                            int count, sn_choice *out);
void sn_choice_free(sn_choice *choice);
