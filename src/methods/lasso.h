/* The lasso in covariance form, along a path of penalties. */
#pragma once

#include "base/workspace.h"

/*
 * Minimises b'Gb/2 - b'c + penalty |b|_1, G = X'X/n (p x p) and c = X'y/n of centred data, by coordinate
 * descent from the last solution. Coordinates that stay 0 by the strong rule (Tibshirani and others 2012) are
 * not visited. The rule looks at the slope c - G b and at the step from the last penalty to this one. In the
 * end the slopes of all coordinates are checked, and descent goes on where the rule was wrong.
 */
typedef struct sn_lasso {
    int64_t p;
    const double *gram; /* p x p */
    const double *c;    /* p */
    double *b;          /* p: the solution */
    double penalty;     /* whose solution it is */
    /* work space */
    double *slope;    /* p: c - G b, exact for the coordinates visited, for all after a solution */
    int64_t *visited; /* the first `count`: the coordinates visited */
    int64_t count;
    bool *is_visited; /* p */
} sn_lasso;

/* For p coefficients; the arrays live in `keep`. */
stonet_status sn_lasso_create(int64_t p, sn_workspace *keep, sn_lasso *lasso);
/* Takes up the problem of these moments at b = 0, the solution for the largest |c_j|. */
void sn_lasso_begin(sn_lasso *lasso, const double *gram, const double *c);
/* The same at b (p), the solution for this penalty. */
void sn_lasso_resume(sn_lasso *lasso, const double *gram, const double *c, double penalty, const double *b);
/* Solves for this penalty: until no coordinate of a sweep moves its slope by more than tolerance times the
   largest |c_j|, or after `sweeps`. */
void sn_lasso_solve(sn_lasso *lasso, double penalty, double tolerance, int64_t sweeps);
