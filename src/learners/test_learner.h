/* What the learners' tests share: settings, fits, round trips. */
#pragma once

#include "base/memory.h"
#include "base/test_kit.h"
#include "learners/learner.h"
#include "math/noise.h"

/* settings: "name", "value", .., NULL. */
static inline void *fit_learner(const char *name, const sn_problem *problem, int threads,
                                const char *const *settings)
{
    const sn_learner *learner = sn_learner_find(name);
    assert_non_null(learner);
    SN_AUTO(sn_settings) *chosen = NULL;
    OK(sn_settings_create(learner->params, learner->n_params, &chosen));
    for (; settings != NULL && settings[0] != NULL; settings += 2)
        OK(sn_settings_set(chosen, settings[0], settings[1]));
    stonet_run run = STONET_RUN_INIT;
    run.threads = threads;
    void *state;
    OK(learner->fit(problem, chosen, &run, &state));
    return state;
}

/* Predictions of a fitted learner and its saved and reloaded copy must be the same bits. out n x outputs. */
static inline void predict_both_ways(const char *name, const void *state, const sn_problem *problem,
                                     double *out)
{
    const sn_learner *learner = sn_learner_find(name);
    OK(learner->predict(state, problem->x, problem->n, out));
    size_t count = (size_t)(problem->n * problem->outputs);
    SN_BLOCK double *again = NULL;
    SN_AUTO(sn_store) *store = NULL;
    void *copy;
    OK(SN_NEW(again, count));
    OK(sn_store_create(&store));
    OK(learner->save(state, store));
    OK(learner->load(store, &copy));
    OK(learner->predict(copy, problem->x, problem->n, again));
    assert_memory_equal(out, again, count * sizeof *out);
    sn_sizes sizes = learner->sizes(copy);
    assert_int_equal(sizes.inputs, problem->p);
    assert_int_equal(sizes.outputs, problem->outputs);
    learner->free(copy);
}

/* The same of a fresh fit, which is freed. */
static inline void fit_and_predict(const char *name, const sn_problem *problem, int threads,
                                   const char *const *settings, double *out)
{
    void *state = fit_learner(name, problem, threads, settings);
    predict_both_ways(name, state, problem, out);
    sn_learner_find(name)->free(state);
}

static inline void assert_probabilities(int64_t n, int64_t classes, const double *p)
{
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t k = 0; k < classes; k++) {
            assert_true(p[i * classes + k] >= 0);
            sum += p[i * classes + k];
        }
        assert_true(fabs(sum - 1) < 1e-6);
    }
}
