/*
 * A fitted model: schema (encoding and scaling), method state, and for methods without an output of their own
 * a learner on Z. The public calls of stonet.h that take a stonet_spec or stonet_model live in this room.
 */
#pragma once

#include "base/hash.h"
#include "data/schema.h"
#include "learners/learner.h"
#include "methods/method.h"

/* The settings every method has: dim, task, scale, levels, missing, missing_indicators, curves,
 * curves_window, curves_columns, class_weight, learner. */
extern const sn_param sn_common_params[];
extern const size_t sn_common_param_count;

struct stonet_spec {
    const sn_method *method;
    sn_settings *common;           /* sn_common_params */
    sn_settings *settings;         /* the method's own */
    const sn_learner *learner;     /* NULL: the default for the task, if the method needs one */
    sn_settings *learner_settings; /* of `learner`; NULL while learner is NULL */
};

/* What the spec says of the task. */
sn_task_wish sn_spec_task(const stonet_spec *spec);
/* The rows that it is fitted on: *part, to be freed, without those of weight 0, and without the incomplete
   ones if it drops them; NULL: all. */
stonet_status sn_spec_rows(const stonet_spec *spec, const stonet_data *data, const stonet_run *run,
                           stonet_data **part);
/* The encoding of features and response by the settings. Levels and curves that are left open are chosen by
   these rows. */
stonet_status sn_spec_encoding(const stonet_spec *spec, const stonet_data *train, const stonet_run *run,
                               sn_encoding *out);
/* Sets encoding->curves to what has the least loss on held-out rows, where the columns are smooth along their
   order, and says so. */
stonet_status sn_curves_choose(const stonet_data *train, const stonet_run *run, sn_encoding *encoding);
/* Adds all that it says, and what any fit depends on beside that: the seed, and the program. */
stonet_status sn_spec_hash(const stonet_spec *spec, uint64_t seed, sn_hash *hash);
/* The same without the dimension: what the training depends on, where one serves all of them. */
stonet_status sn_spec_hash_but_dim(const stonet_spec *spec, uint64_t seed, sn_hash *hash);
/* Whether stonet_spec_set knows the name (learner.NAME: of the learner chosen). */
bool sn_spec_has(const stonet_spec *spec, const char *name);

enum { SN_HASH_TEXT = 17 };

struct stonet_model {
    sn_schema *schema;
    const sn_method *method;
    sn_settings *common;   /* sn_common_params as the spec had them */
    sn_settings *settings; /* as fitted */
    void *state;
    int64_t dim;
    stonet_outcome outcome;
    const sn_learner *learner; /* NULL when the method predicts itself */
    sn_settings *learner_settings;
    void *learner_state;
    int64_t n_train;
    uint64_t seed;
    char *history;                      /* CSV text or NULL */
    char *note;                         /* of the program around the library; NULL: none */
    struct sn_calibration *calibration; /* model/calibration.h; NULL: it was not calibrated */
    char hash[SN_HASH_TEXT];            /* of its file, which agreed; empty: there was none */
};

/* used (inputs of the schema) gets whether the model looks at each; false for those without features too. */
stonet_status sn_model_used(const stonet_model *model, bool *used);

/* Z and predictions of encoded rows: x n x p. */
stonet_status sn_model_reduce(const stonet_model *model, const float *x, int64_t n,
                              const sn_transform_request *request, float *z);
/* The plain Z of all rows of a table, block by block. */
stonet_status sn_model_reduce_table(const stonet_model *model, const stonet_data *data, float *z);
/* What stonet_transform gives with so many threads, in double. */
stonet_status sn_model_wide_z(const stonet_model *model, const stonet_data *data, int threads, double *z);
/* z, which may be NULL, gets the plain Z of the same rows: what both are made of is made once. */
stonet_status sn_model_predict(const stonet_model *model, const float *x, int64_t n, float *z, double *out);
/* Z and, where the model predicts, predictions of a table: what stonet_transform and stonet_predict give. */
stonet_status sn_model_answer(const stonet_model *model, const stonet_data *data,
                              const stonet_use_options *how, float *z, double *out, bool *predicts);
/* The standard deviation of y given x in units of y, out n x m; STONET_ERROR_UNSUPPORTED when the model has
   none. */
stonet_status sn_model_spread(const stonet_model *model, const float *x, int64_t n, double *out);
/* Predictions of rows first .. first + count - 1 of a table, checked, without the temperature of a calibrated
   model; x, count x p, is left with the encoded rows. */
stonet_status sn_model_predict_rows(const stonet_model *model, const stonet_data *data, int64_t first,
                                    int64_t count, float *x, double *out);

/* The options of a call that has no use for those of stonet_transform; `call` names it in the sentence. One
   row is one thread: it is done before another has started. */
stonet_status sn_use_plain(const stonet_use_options *options, const stonet_data *data, const char *call,
                           stonet_use_options *how);
/* The same of a call that takes the level of intervals and sets. */
stonet_status sn_use_level(const stonet_use_options *options, const stonet_data *data, const char *call,
                           stonet_use_options *how);

/* stonet_sufficiency; with `larger`, a model whose first columns of Z are those of `model` and that has more,
   these later columns take the place of x: whether they say more about the response. */
stonet_status sn_sufficiency(const stonet_model *model, const stonet_model *larger, const stonet_data *data,
                             const stonet_independence_options *options, const stonet_run *run,
                             stonet_sufficiency_result *result);

/* Sets how many threads BLAS and OpenMP take on the calling thread (0: as it is) and returns what it was, to
   be given back to the same call. */
int sn_model_threads(int threads);
/* The same until the scope ends. */
#define SN_THREADS(threads)                                                                                  \
    SN_FREED_BY(sn_threads_back)                                                                             \
    __attribute__((unused)) const int sn_threads_before_ = sn_model_threads(threads)
static inline void sn_threads_back(const int *before)
{
    sn_model_threads(*before);
}

/* The store of a model, as written to a file: "schema.*", "method.*", "learner.*", "calibration.*" and
   "stonet.*" entries; methods and learners name theirs as they like and the prefix is put on here. */
stonet_status sn_model_to_store(const stonet_model *model, sn_store *store);
stonet_status sn_model_from_store(const sn_store *store, stonet_model **out);
/* The same without the check that all numbers of the store are finite, for a model that is a part of one. */
stonet_status sn_model_put(const stonet_model *model, sn_store *store);
stonet_status sn_model_get(const sn_store *store, stonet_model **out);
