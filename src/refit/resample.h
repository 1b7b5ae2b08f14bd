/* The same fit again on parts of the rows, for what can be learned from how the answers differ. */
#pragma once

#include "model/model.h"

/* Rows of a table to fit on. */
typedef struct sn_part {
    const int64_t *row;
    int64_t count;
} sn_part;

/* Fits the spec on each of the parts: model[k] on part k. Several are fitted side by side, each on one
   thread; the models do not depend on how many. All of them or none: a fit that fails, or that does not reach
   its end, fails the whole. The caller's functions are called from its own thread alone. */
stonet_status sn_refit(const stonet_spec *spec, const stonet_data *data, const sn_part *part, int64_t count,
                       const char *stage, const stonet_run *run, stonet_model **model);

/* Whether refits on these rows take any table that the model takes: columns by name when it does, and, where
   columns go by position, not without one that the model uses (constant in their part). */
stonet_status sn_refit_check_names(const stonet_model *model, const stonet_data *data);
stonet_status sn_refit_check_columns(const stonet_model *model, stonet_model *const *refit, int64_t count);
