/*
 * The response that is not seen, drawn for the network. Before every update, the rows of its batch get
 *
 *     y = mu + pull(seen, mu, u)                                                   (stats/law.h)
 *
 * with mu the noise-free output of the present network and u uniform, keyed by (seed, row, iteration). The
 * time of a censored row is drawn from its law beyond the censoring, the score of an ordered class from
 * between its thresholds. With response=ensemble, y are functions of the drawn time. Algorithm 1 then imputes
 * and updates given y, like any numeric response. It is a stochastic EM: by Fisher's identity, the mean of y
 * - mu over u is the slope of the likelihood of what was seen.
 *
 * y is drawn once an update and not once a sweep. The hidden layers have far less noise than the response,
 * so that mu hardly moves in the sweeps; and every engine serves as it is.
 */
#pragma once

#include "base/memory.h"
#include "base/pack.h"
#include "engine/engine.h"

typedef struct sn_latent sn_latent;

/* `most`: rows of a batch at the most. */
stonet_status sn_latent_create(const sn_problem *problem, int64_t most, uint64_t seed, sn_latent **out);
void sn_latent_free(sn_latent *latent);
SN_DROP(sn_latent, sn_latent_free)
/* The problem whose y is drawn. */
const sn_problem *sn_latent_problem(const sn_latent *latent);
/* Draws for the rows of an iteration. rows: all training rows, by which the parameters of the law follow the
   network. */
stonet_status sn_latent_draw(sn_latent *latent, sn_engine *engine, const sn_shape *shape, const sn_rows *rows,
                             const sn_iteration *iteration);
/* The parameters of the law, for a checkpoint, and from there: y is drawn anew. */
stonet_status sn_latent_pack(const sn_latent *latent, sn_pack *pack);
stonet_status sn_latent_unpack(sn_latent *latent, sn_unpack *from);
