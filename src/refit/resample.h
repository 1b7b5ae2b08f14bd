/* The same fit again on parts of the rows, for what can be learned from how the answers differ. */
#pragma once

#include "model/model.h"

typedef struct sn_refits {
    const stonet_spec *const *spec;
    int64_t specs;
    const stonet_data *data;
    const sn_rows *part; /* of the data; lists */
    int64_t parts;
    const char *stage;
    /* Of a longer list of parts: those that came before, all of them, and when the first began. */
    int64_t before, all; /* all 0: there are no others */
    double started;
} sn_refits;

/* Fits each of the specs on each of the parts: model[k * specs + s]. Several are fitted side by side, each on
   one thread; the models do not depend on how many. Specs that differ in the dimension alone share their
   training. All of them or none: a fit that fails, or that does not reach its end, fails the whole. The
   caller's functions are called from its own thread alone. */
stonet_status sn_refit(const sn_refits *wanted, const stonet_run *run, stonet_model **model);

/* The rows of a table that a fit like that of the model uses, and their number: those that count, and with
   missing=drop those without a gap. NULL: all of them. */
stonet_status sn_refit_used_rows(const stonet_model *model, const stonet_data *train, stonet_data **part,
                                 int64_t *n);
/* The same; another number of rows than the fit had is an error, since `what` needs those of the fit. */
stonet_status sn_refit_same_rows(const stonet_model *model, const stonet_data *train, const char *what,
                                 stonet_data **part);

/* Fits a spec on `count` halves of the rows the model was fitted on, drawn without repeats. The spread of
   what such fits say is the standard error on all rows: sqrt(1/2 / (1 - 1/2)) = 1. Each is shown to `look`,
   with its number from 0, in order; a few are in memory at a time. */
typedef stonet_status sn_half_look(void *of, const stonet_model *refit, int64_t number);
stonet_status sn_refit_halves(const stonet_model *model, const stonet_spec *spec, const stonet_data *train,
                              int64_t count, const stonet_run *run, sn_half_look *look, void *of);

/* Whether refits on these rows take any table that the model takes: columns by name when it does, and, where
   columns go by position, not without one that the model uses (constant in their part). */
stonet_status sn_refit_check_names(const stonet_model *model, const stonet_data *data);
stonet_status sn_refit_check_columns(const stonet_model *model, stonet_model *const *refit, int64_t count);
