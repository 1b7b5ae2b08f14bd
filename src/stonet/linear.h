/*
 * The linear model of the response as a StoNet: one hidden layer of identity units,
 *
 *     Z = W x,   mu = V Z + b       W q x p, V outputs x q, V W = B, the coefficients of the regression
 *
 * with V and W of equal norms, from the singular value decomposition of B. Units beyond the rank of B are 0.
 * It is what the other networks have to beat, and the one to take when they do not.
 *
 * A network whose layers or activation are given can hold it too: Z goes through its hidden layers where the
 * activation is straight, tanh and the logistic function next to 0, relu above it. So a weight decay that
 * sends such a network to 0 leaves a linear Z.
 */
#ifndef SN_STONET_LINEAR_H
#define SN_STONET_LINEAR_H

#include <stdbool.h>

#include "base/run.h"
#include "net/shape.h"

/* The widths inputs - q - outputs for the response behind another shape. */
stonet_status sn_linear_shape(const sn_shape *like, int64_t inputs, int64_t q, sn_shape *out);
/* The least q that holds every linear model: the numeric responses, or classes - 1. */
int64_t sn_linear_rank(const sn_shape *shape);
/* How the linear model is fitted. */
typedef struct sn_ridge {
    double l2;     /* penalty l2/2 |B|^2 beside the sum of losses */
    double enough; /* classes: math/softmax_newton.h; 0: as exact as can be */
} sn_ridge;

/* Fits on the rows (of more than 4,000,000 numbers an even part, 200 rows a feature at the least).
   found: false when a class has no row; theta is then left alone. */
stonet_status sn_linear_fit(const sn_shape *shape, const sn_problem *problem, const sn_rows *all,
                            sn_ridge ridge, const stonet_run *run, float *theta, bool *found);

/* Whether a network of this shape can do what the linear model does: each hidden layer holds its rank. */
bool sn_linear_fits(const sn_shape *shape);
/* The largest |Z_k| of the model over the rows (the same part of them); reach q. */
stonet_status sn_linear_reach(const sn_shape *linear, const float *theta, const sn_problem *problem,
                              const sn_rows *all, double *reach);
/* How a value goes through hidden layers: mu = scale value + shift in each, where psi(mu) = slope mu +
   height, as good as that. A relu unit is moved up until twice the reach is above 0. */
typedef struct sn_passage {
    double scale, shift;
} sn_passage;

sn_passage sn_passage_of(const sn_shape *shape, double reach);
/* out: parameters of a network of another shape, which the model fits, that does the same. */
void sn_linear_inside(const sn_shape *linear, const float *theta, const double *reach, const sn_shape *shape,
                      float *out);

#endif
