/* For tests: a stage of training on the rows of an oracle, and a pass of a network over them. */
#pragma once

#include "base/test_kit.h"
#include "engine/test_oracle.h"
#include "stonet/train.h"

static inline sn_stage_job oracle_job(const oracle *o, const sn_config *config)
{
    return (sn_stage_job){.shape = &o->shape,
                          .problem = &o->problem,
                          .rows = sn_rows_range(0, o->problem.n),
                          .config = config,
                          .seed = 5,
                          .threads = 1};
}

static inline void oracle_pass(const oracle *o, const sn_shape *shape, const float *theta, int layer,
                               bool activated, float *out)
{
    SN_AUTO(sn_engine) *engine = NULL;
    const sn_pass pass = {.rows = sn_rows_range(0, o->problem.n), .layer = layer, .activated = activated};
    OK(sn_engine_ref.create(shape, &o->problem, 0, 1, &engine));
    sn_engine_ref.start(engine, theta);
    OK(sn_engine_ref.forward(engine, &pass, out));
}
