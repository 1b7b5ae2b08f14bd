/*
 * The output layer fitted anew on what the layers below it give. In a StoNet the response depends on psi(Z)
 * through a logistic or linear regression; training only approaches it, and weight decay, which the layers
 * below may need much of, also shrinks its coefficients.
 *
 *     min over W, b   sum_i loss(y_i, W psi_i + b) + 0.1/2 |W|^2
 *
 * where loss is the cross-entropy or |y - mu|^2 / 2. The penalty sees psi(Z) as it is, not standardised:
 * units that weight decay has pulled to 0 then count for nothing, where standardising would blow up their
 * noise.
 */
#pragma once

#include "base/run.h"
#include "base/team.h"
#include "engine/engine.h"

/* engine: of this shape and problem; its parameters are set to theta. rows: those to fit on; team: whose
   ranks share out the pass over them (NULL: none). Changes the
   output layer of theta alone; when a class has no row, or all of psi(Z) is constant, not even that. */
stonet_status sn_refit_output(sn_engine *engine, const sn_shape *shape, const sn_problem *problem,
                              const sn_rows *rows, stonet_team *team, const stonet_run *run, float *theta);
