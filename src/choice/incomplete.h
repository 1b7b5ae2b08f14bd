/*
 * What held-out rows with missing cells cost, where the cells are drawn given the response (missing=joint).
 *
 * A gap that depends on y says something of y. Among rows with gaps y is then larger, or smaller, than the
 * known cells x_o tell, and a network that is right seems biased there. Its likelihood does not: gaps that
 * depend on x_o and y alone drop out of it (Rubin 1976). Over all rows, with gaps and without, the mean of
 *
 *     -log p(y | x_o),   p(y | x_o) = mean over D draws x_u | x_o of p(y | f(x_o, x_u))
 *
 * is least in expectation where f is right. Classes have the probabilities softmax(f), mean and spread the
 * density of net/loss.h. m numbers have N(f, v I), with the v that is best for the rows of the fold (EM):
 *
 *     v = mean over rows of sum_d w_id e_id / m,   e_id = |y_i - f_id|^2,   w_id ~ exp(-e_id / 2v), of sum 1
 *
 * Their loss is in units of squared errors, those that are as likely. With r_i = -log mean_d exp(-e_id / 2v)
 * and r the mean of r_i,
 *
 *     loss_i = V (m / 2 + r_i - r),   log V = log v + 2r / m - 1
 *
 * which is e_i / 2 where no row has gaps.
 */
#pragma once

#include "choice/held_out.h"

/* Takes the losses of a fold, measured with one value in each missing cell, to these. A network that draws no
   cells has what it had. */
stonet_status sn_incomplete_judge(const sn_folds *folds, int fold, const sn_use *network,
                                  sn_held_out *losses);
/* The mean loss of a network over some rows, which may be those that it was trained on; team: as in
   sn_engine_loss. */
stonet_status sn_loss_of_rows(const sn_use *use, const sn_rows *rows, stonet_team *team, double *loss);
