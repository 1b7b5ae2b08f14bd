/*
 * Whether the size of the residuals on held-out rows depends on x: what a model of the mean leaves to see.
 *
 * The ranks of the squared residuals are correlated with the ranks of each column of x and of its distance
 * from its mean. Each of these 2p rank correlations has a t-test, and the smallest p-value is multiplied by
 * 2p (Bonferroni). Ranks hold the level whatever the tails. Rows with missing cells are left out.
 */
#pragma once

#include "choice/held_out.h"

/* loss: of the held-out rows, in their order. *p_value: NaN where it is not for this problem (classes, rows
   that count differently, too few rows or too many columns). */
stonet_status sn_residuals_look(const sn_problem *problem, const sn_folds *folds, const double *loss,
                                double *p_value);
