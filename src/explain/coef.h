/*
 * What the columns of Z are made of, in units of x. Public calls stonet_coef_* live here; the standard errors
 * of linear maps and the derivatives of the others have a file each.
 */
#pragma once

#include "base/workspace.h"
#include "model/model.h"

struct stonet_coef_result {
    const char *kind; /* "directions" or "gradients" */
    int64_t pairs;    /* of halves behind the standard errors; 0: none */
    int64_t features, columns, n_shares;
    char **feature, **name; /* features; columns */
    double *value;          /* features x columns */
    double *share;          /* n_shares */
};

/*
 * Standard errors of the directions b (p x q) from pairs of complementary halves of the rows, stratified by
 * class. Each half gives an estimate of twice the variance, independent of the other's (b_1, b_2 with the
 * signs of b):
 *
 *     se^2 = sum over the pairs of (b_1 - b_2)^2 / (4 pairs)        for each entry.
 *
 * Leaving out few rows at a time (the jackknife) will not do: slices that move by a row make b jump, and such
 * errors were a quarter too large. The rows keep the model's scaling, so that all b are for the same
 * features. *differ: how far the fit on all these rows is from the model's own directions, |b_all - b| / |b|:
 * 0 when they are the training rows.
 */
stonet_status sn_coef_errors(const stonet_model *model, const stonet_data *data, int64_t pairs,
                             const stonet_run *run, double *se, double *differ);

/*
 * Derivatives of Z at the rows of data (at most SN_COEF_ROWS of them), by central differences of features as
 * the model scales them: mean (p x q) and G = mean J'J (p x p).
 */
enum { SN_COEF_ROWS = 2000 };
stonet_status sn_coef_gradients(const stonet_model *model, const stonet_data *data, const stonet_run *run,
                                double *mean, double *outer);
