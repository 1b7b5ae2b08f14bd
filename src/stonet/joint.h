/*
 * Missing cells as one more latent layer: drawn given the response as well (missing=joint).
 *
 *     p(x_u | x_o, y)  ~  p(x_u | x_o) p(y | f(x)),
 *
 * f is the noise-free network. y ~ N(f, v) with v the mean squared residual of the last epoch, or y is a
 * class with probabilities softmax(f). Every row keeps its state and moves once an epoch, from the second on.
 * Where the features of the missing cells are Gaussian given the others, a move is elliptical slice sampling
 * (Murray, Adams and MacKay 2010): with m the mean, nu a draw from N(0, V) and a uniform angle,
 *
 *     level = log p(y | f(x)) + log U;  try x' = m + (x - m) cos a + nu sin a until log p(y | f(x')) > level,
 *     the bracket of angles shrinking towards a = 0, which is x
 *
 * Other rows (cells of few values, of texts) try one draw from p(x_u | x_o), which is accepted by the same
 * level. New rows have no response: they get draws without it.
 */
#pragma once

#include "base/memory.h"
#include "base/pack.h"
#include "data/problem.h"
#include "net/shape.h"

typedef struct sn_joint sn_joint;

/* `rows` are the rows that move, of a problem with joint set. The others keep their first draw. */
stonet_status sn_joint_create(const sn_problem *problem, const sn_rows *rows, uint64_t seed, sn_joint **out);
void sn_joint_free(sn_joint *joint);
SN_DROP(sn_joint, sn_joint_free)
/* The problem with the present state for its features; it has no source. */
const sn_problem *sn_joint_problem(const sn_joint *joint);
/* One move of every incomplete row; `loss` is the mean loss of the epoch before. */
stonet_status sn_joint_move(sn_joint *joint, const sn_shape *shape, const float *theta, double loss,
                            uint32_t epoch, int threads);
/* The state of the rows that move, for a checkpoint, and from there. */
stonet_status sn_joint_pack(const sn_joint *joint, sn_pack *pack);
stonet_status sn_joint_unpack(sn_joint *joint, sn_unpack *from);
