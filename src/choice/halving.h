/*
 * The one rule of the choice: successive halving over folds and updates by held-out loss.
 *
 * All lines of the table (choice/candidates.h) are trained briefly and judged on one fold. The better half
 * goes on to a longer training on more folds, and so on. Each family is halved by itself, since families
 * learn at different speeds. A line is trained further on two conditions: its last length was its best, and
 * as large a gain on each later rung would make it the first. Networks may find nothing at first. They are
 * tried up to the third rung in any case, and the one that fits its training rows best up to the fourth. The
 * lowest mean loss wins.
 *
 * The loss of the winner is the least of many and so too good. The estimate for people is another number: the
 * losses of each part of the held-out rows are those of the line and length that are best on the other parts.
 * If a paired test does not tell that from a constant guess, the choice is made anew inside the training rows
 * of every fold (nested cross-validation). No row then influences the choice that it measures.
 *
 * The constant guess is the last line of the table. If the estimate is not below its loss, nothing was found.
 * The line with the strongest weight decay then wins, whose network is next to a constant.
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
