/*
 * A front that learns with the network: u = g_phi(x), phi by the regression of layer 1 on it.
 *
 * Given the imputed Y_1 of a batch S, the term of the joint log density that phi is in is log pi(Y_1 | u), so
 *
 *     G = sum over S of a J_g' w_1' r_1,     r_1 = (Y_1 - mu_1) / s_1,     mu_1 = b_1 + w_1 u
 *
 * which is back-propagation through g with w_1' r_1 in the place of the loss's gradient; by Fisher's identity
 * its mean over the imputations is the gradient of the log likelihood. phi moves with the step of layer 1:
 *
 *     D = scale_1 G / A - decay phi (kernels alone),   v <- momentum v + D,   phi <- phi + rate_1 v
 *
 * where v is shortened so that |rate_1 v| is at most a hundredth of |phi|.
 *
 * Imputation and the updates of the other layers are the engine's, which is given u for x and does not know;
 * Y_1 is what its step will use, since noise has an address and not an order.
 */
#pragma once

#include "engine/engine.h"
#include "front/front.h"

typedef struct sn_learning sn_learning;

/* Of batches of at most `rows` rows. `seen` is what sn_front_problem made of `raw`: it is kept up to date
   with the rows of the batch, and with nothing else. */
stonet_status sn_learning_create(sn_front *front, const sn_problem *raw, const sn_problem *seen,
                                 const sn_shape *shape, int64_t rows, int threads, sn_learning **out);
void sn_learning_free(sn_learning *learning); /* NULL is fine */
/* Before an iteration: u of its rows, with this draw of their missing cells, and G at the parameters that the
   engine has. */
stonet_status sn_learning_look(sn_learning *learning, sn_engine *engine, const sn_iteration *iteration);
/* After it: the step of phi. */
void sn_learning_step(sn_learning *learning, const sn_update *update);
/* Parameters known to be good, and back to them. */
void sn_learning_mark(sn_learning *learning);
void sn_learning_restore(sn_learning *learning);
