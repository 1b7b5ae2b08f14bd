/* Steps of an experiment in terms of the public calls: specs from texts, tuning, a second model on Z. */
#ifndef PAPER_FITS_H
#define PAPER_FITS_H

#include "paper/lab.h"

/* A training and a test part. */
typedef struct split {
    stonet_data *train, *test;
} split;

void split_free(split *self);

/* A spec of `method` with settings "NAME=VALUE NAME=VALUE ..". */
stonet_status fits_spec(const char *method, int64_t dim, const char *settings, stonet_spec **out);

/* What to tune over: entries as stonet_tune takes them. */
typedef struct grid {
    const char *entry[8];
    int64_t count;
    double within; /* take the first point within so many standard errors of the best; 0: the best */
} grid;

typedef struct tuning {
    int folds;
    int64_t points; /* of the grid, drawn at random; 0: all of them */
    stonet_criterion criterion;
} tuning;

/* A point of the grid chosen by cross-validation on the training part; a copy of the spec when the grid is
 * empty. */
stonet_status fits_tuned(lab *self, const stonet_spec *spec, const stonet_data *train, const grid *over,
                         const tuning *by, stonet_spec **out);

/* Z of a split as a split of its own, with the responses. */
typedef struct reduced_split {
    split parts;
    float *train_z, *test_z;
} reduced_split;

void reduced_split_free(reduced_split *self);
/* activated: psi(Z), which only a StoNet has. */
stonet_status fits_reduce(const stonet_model *model, const split *parts, bool activated, reduced_split *out);
/* The first `dim` columns of a split, with the responses. */
stonet_status fits_first_columns(const split *parts, int64_t dim, reduced_split *out);
/* A learner ("learner=logistic", ..) on the features of the training part as they are, scored on the test
 * part. */
stonet_status fits_head(lab *self, const split *parts, const char *settings, stonet_scores *scores);

/* Says so, and gives the status for it. */
static inline stonet_status out_of_memory(void)
{
    stonet_fail(STONET_ERROR_MEMORY, "memory ran out");
    return STONET_ERROR_MEMORY;
}

/* values[name] = number, left out when it is not finite. */
stonet_status put_value(json_t *values, const char *name, double number);

#endif
