/*
 * The parameters of a problem's law (stats/law.h) given a network: by maximum likelihood on the noise-free
 * outputs of some of the rows, evenly from all of them. Every rank of a team finds the same.
 */
#pragma once

#include "engine/engine.h"

enum { SN_SETTLE_ROWS = 4000 }; /* the scale of times is known to one part in a hundred from so many */

/* Given outputs mu (n x problem->outputs; NULL: 0) of these rows. fresh: from the law's own start, and not
   from where the parameters are. */
stonet_status sn_settle_by(const sn_problem *problem, const sn_rows *rows, const float *mu, bool fresh,
                           double *parameter);
/* Given the engine's parameters. */
stonet_status sn_settle(sn_engine *engine, int layers, const sn_problem *problem, const sn_rows *rows,
                        int64_t most, bool fresh, double *parameter);
