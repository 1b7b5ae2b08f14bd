#include "engine/settle.h"

#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"

stonet_status sn_settle_by(const sn_problem *problem, const sn_rows *rows, const float *mu, bool fresh,
                           double *parameter)
{
    const int64_t outputs = mu != NULL ? problem->outputs : 1;
    SN_ARRAY(rows->n * SN_LAW_SEEN, double, seen);
    SN_ARRAY(rows->n * outputs, double, mean);
    SN_ARRAY(rows->n, double, weight);
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        memcpy(seen + i * SN_LAW_SEEN, problem->seen + row * SN_LAW_SEEN, SN_LAW_SEEN * sizeof *seen);
        for (int64_t k = i * outputs; k < (i + 1) * outputs; k++) mean[k] = mu != NULL ? (double)mu[k] : 0.0;
        weight[i] = sn_problem_weight(problem, row);
    }
    const sn_law_sample sample = {rows->n, seen, mean, weight, outputs, problem->functions != NULL};
    sn_law_fit(problem->law, &sample, fresh, parameter);
    return STONET_OK;
}

stonet_status sn_settle(sn_engine *engine, int layers, const sn_problem *problem, const sn_rows *rows,
                        int64_t most, bool fresh, double *parameter)
{
    const int64_t count = rows->n < most ? rows->n : most;
    SN_ARRAY(count, int64_t, list);
    SN_ARRAY(count * problem->outputs, float, mu);
    const sn_rows some = sn_rows_evenly(rows, most, list);
    SN_TRY(engine->ops->forward(engine, &(sn_pass){.rows = some, .layer = layers}, mu));
    return sn_settle_by(problem, &some, mu, fresh, parameter);
}
