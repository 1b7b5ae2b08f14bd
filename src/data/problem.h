/*
 * What a method is fitted on: the encoded, scaled features and the encoded response. Produced by the schema
 * (data/schema.h) from a stonet_data; methods never see files, names or raw units.
 *
 * A method with `by_rows` (methods/method.h) may get its features from a source, batch by batch
 * (data/rows.h). Then the response of a table on disk comes row by row too. All other methods find both in
 * memory.
 */
#pragma once

#include <stdbool.h>

#include "base/words.h"
#include "data/image.h"
#include "data/rows.h"
#include "stats/law.h"

typedef enum sn_task { SN_REGRESSION, SN_CLASSIFICATION } sn_task;
#define SN_TASK_WORDS(between) "regression" between "classification"
extern const sn_words sn_task_words;
/* Sets of tasks: what a method or a learner does; laws: responses with a law (stats/law.h); slices: of these,
   censored times and counts, by slices of what was seen. */
enum {
    SN_TASK_REGRESSION = 1,
    SN_TASK_CLASSIFICATION = 2,
    SN_TASK_BOTH = 3,
    SN_TASK_LAWS = 4,
    SN_TASK_SLICES = 8
};

/*
 * The response of a table as it lies there, and the way of a row's to what a problem has: the class, or the
 * scaled numbers. A response on disk is read through it row by row; one that is to be in memory is copied by
 * it.
 */
typedef struct sn_raw_response {
    const int32_t *code;  /* n codes of labels, or */
    const double *number; /* n x columns */
    int64_t columns;
    int64_t classes;         /* 0: numbers, */
    const double *mean, *sd; /* which are scaled by these (NULL: they are not) */
    int32_t *class_of;       /* a code's; -1: none of the classes */
    double *value;           /* each class as a number */
} sn_raw_response;

/* Where the response of a row is, for a prefetch. */
static inline const void *sn_raw_place(const sn_raw_response *raw, int64_t row)
{
    return raw->code != NULL ? (const void *)(raw->code + row) : raw->number + row * raw->columns;
}

/* The class of a row; -1: none of them. */
static inline int32_t sn_raw_label(const sn_raw_response *raw, int64_t row)
{
    if (raw->code != NULL) return raw->class_of[raw->code[row]];
    int64_t c = 0;
    while (c < raw->classes && raw->value[c] != raw->number[row]) c++;
    return c < raw->classes ? (int32_t)c : -1;
}

static inline double sn_raw_number(const sn_raw_response *raw, int64_t row, int64_t k)
{
    const double number = raw->number[row * raw->columns + k];
    return raw->mean != NULL ? (number - raw->mean[k]) / raw->sd[k] : number;
}

/* What an engine keeps of a problem from one use of it to the next, such as its rows on a device. It belongs
   to whoever made it, outlives every engine that works on the problem, and is released by sn_keep_clear. */
typedef struct sn_keep {
    void *kept;
    void (*release)(void *kept);
} sn_keep;

static inline void sn_keep_clear(sn_keep *keep)
{
    if (keep->kept != NULL) keep->release(keep->kept);
    *keep = (sn_keep){0};
}

typedef struct sn_problem {
    int64_t n, p;
    const float *x; /* n x p, row-major, scaled; NULL: rows come from the source */
    sn_task task;
    int64_t outputs;             /* classes C, or numeric targets m */
    const int32_t *label;        /* classification: n codes 0..C-1; else NULL */
    const double *y;             /* regression: n x m, each column with mean 0 and variance 1; else NULL */
    const sn_raw_response *raw;  /* instead of both: the response is on disk */
    const sn_law *law;           /* y or label is a part of the response alone; NULL: it is all */
    const double *seen;          /* what the law knows of the rows, n x SN_LAW_SEEN; ordered classes: NULL,
                                    the labels say it */
    const double *parameter;     /* of the law, given a network; NULL: not known */
    sn_law_functions *functions; /* times: y has functions of a drawn time, of ... */
    const void *functions_of;    /* ... this; NULL: y is one number */
    const sn_row_source *source; /* also beside x, where that has missing cells that can be drawn */
    const float *weight;         /* what each row counts; NULL: 1 */
    bool joint;                  /* missing cells are drawn given the response too (stonet/joint.h) */
    int64_t first_row;           /* the number of row 0 in the whole data, when these rows are a part of it */
    int64_t groups;              /* columns of the table that the features come from, ... */
    sn_keep *keep;               /* NULL: nothing is kept; goes with x, source and y */
    const int64_t *group; /* ... g's are group[g] .. group[g + 1] - 1; NULL: each feature is a column */
    sn_image image;       /* that the features together are; rank 0: none */
    const int64_t *kin;   /* n: rows with the same number belong together (data/kin.h); NULL: each is alone */
    bool copies;          /* kin are exact copies of each other, and one of them says all */
} sn_problem;

/* The class of row i, and target k of it. */
static inline int32_t sn_problem_label(const sn_problem *problem, int64_t i)
{
    return problem->raw != NULL ? sn_raw_label(problem->raw, i) : problem->label[i];
}

static inline double sn_problem_target(const sn_problem *problem, int64_t i, int64_t k)
{
    return problem->raw != NULL ? sn_raw_number(problem->raw, i, k) : problem->y[i * problem->outputs + k];
}

/* All targets of row i: where they are, or copied to `room`, which has place for them. */
static inline const double *sn_problem_targets(const sn_problem *problem, int64_t i, double *room)
{
    if (problem->raw == NULL) return problem->y + i * problem->outputs;
    for (int64_t k = 0; k < problem->outputs; k++) room[k] = sn_raw_number(problem->raw, i, k);
    return room;
}

/* What row i counts, and all rows together. */
static inline double sn_problem_weight(const sn_problem *problem, int64_t i)
{
    return problem->weight != NULL ? (double)problem->weight[i] : 1.0;
}

static inline double sn_problem_total(const sn_problem *problem)
{
    double total = 0.0;
    for (int64_t i = 0; problem->weight != NULL && i < problem->n; i++) total += (double)problem->weight[i];
    return problem->weight != NULL ? total : (double)problem->n;
}

/* How wide what goes through a fitted method or learner is. A model file is not trusted to be consistent: the
   parts loaded from it are checked against each other by these before any row goes through. */
typedef struct sn_sizes {
    int64_t inputs;  /* columns of x (of z, for a learner) */
    int64_t dim;     /* columns of z; not used by learners */
    int64_t outputs; /* columns of predictions; 0 when there are none */
} sn_sizes;
