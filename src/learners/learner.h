/* What is fitted on Z (or on x itself): the same shape as a method, with predict in place of transform. */
#pragma once

#include "base/params.h"
#include "base/run.h"
#include "base/store.h"
#include "data/problem.h"

typedef struct sn_learner {
    const char *name;
    const char *title;
    unsigned tasks; /* SN_TASK_* */
    bool weighted;  /* rows may count differently (problem->weight) */
    const sn_param *params;
    size_t n_params;
    /* problem->x is Z; the learner standardises inside if it needs to. */
    stonet_status (*fit)(const sn_problem *problem, const sn_settings *settings, const stonet_run *run,
                         void **state);
    /* out n x C probabilities, or n x m scaled targets. */
    stonet_status (*predict)(const void *state, const float *z, int64_t n, double *out);
    stonet_status (*save)(const void *state, sn_store *store);
    stonet_status (*load)(const sn_store *store, void **state);
    void (*free)(void *state);
    sn_sizes (*sizes)(const void *state);
    /* Of times and counts (sn_law_scale), negative without a law; NULL: the learner knows none. */
    double (*scale)(const void *state);
} sn_learner;

/* The list of learners. To add one: its name here. */
#define SN_LEARNERS(learner) learner(logistic) learner(linear) learner(kernel) learner(mlp)

const sn_learner *sn_learner_find(const char *name);
size_t sn_learner_count(void);
const sn_learner *sn_learner_at(size_t index);

/* learner=auto: `plain`, the regression of the task, or `kernel`, whichever is better on held-out rows
   (learners/choose_learner.c), and its settings. problem->x is Z. */
stonet_status sn_learner_choose(const sn_problem *problem, const stonet_run *run, const sn_learner *plain,
                                const sn_learner **learner, sn_settings **settings);
/* The least held-out loss of these kernel regressions on x as it is; INFINITY where the rows allow none. */
stonet_status sn_kernel_loss(const sn_problem *problem, const stonet_run *run, double *loss);
