/*
 * stonet_tune: the points of a grid, each scored on k folds. stonet_compare: several specs on the same
 * splits. With tuning, for each split and spec:
 *
 *     training part -> inner folds -> every point of the grid scored on them -> the best point
 *                   -> fitted on the whole training part -> scored on the held-out rows
 *
 * Specs with nothing to tune go first, all splits at once. One such fit may last as long as all points of
 * another spec, and threads without a job of the same split would wait for it.
 */
#include "base/checkpoint.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/take_options.h"
#include "data/frame.h"
#include "select/grid.h"
#include "select/results.h"

enum { DEFAULT_FOLDS = 5 };

typedef struct comparison {
    const stonet_spec *const *specs; /* of the rows of the results */
    int64_t n_specs;
    stonet_compare_options options;
    stonet_tune_options tuning; /* when options.tuning is not NULL */
    sn_strata strata;
    sn_splits splits;
    sn_points *points; /* of each spec, one where there is nothing to tune; of stonet_tune: those of specs */
    int64_t n_points;
    sn_runner runner;
    stonet_results *results;
} comparison;

static int fold_count(int folds)
{
    return folds != 0 ? folds : DEFAULT_FOLDS;
}

/* ---- the grids ---- */

/* The entries of the caller's grid that are for this spec; out has room for all of them. */
static int64_t entries_for(const stonet_tune_options *tuning, const stonet_spec *spec, const char **out)
{
    int64_t count = 0;
    for (int64_t e = 0; e < tuning->n_grid; e++) {
        const char *own;
        if (sn_grid_entry_is_for(tuning->grid[e], spec, &own)) out[count++] = own;
    }
    return count;
}

/* An entry that is for none of the specs is a mistake worth hearing about. */
static stonet_status check_entries(const comparison *self)
{
    const stonet_tune_options *tuning = &self->tuning;
    for (int64_t e = 0; tuning->grid != NULL && e < tuning->n_grid; e++) {
        bool used = false;
        const char *own;
        for (int64_t i = 0; i < self->n_specs && !used; i++)
            used = sn_grid_entry_is_for(tuning->grid[e], self->specs[i], &own);
        if (!used)
            return sn_fail(STONET_ERROR_ARGUMENT, "the grid entry '%s' is for none of the methods compared",
                           tuning->grid[e]);
    }
    return STONET_OK;
}

static stonet_status make_points(const comparison *self, const stonet_spec *spec, sn_points *points)
{
    const uint64_t seed = self->runner.run->seed;
    stonet_tune_options own = self->tuning;
    if (self->options.tuning == NULL) return sn_points_create(spec, NULL, 0, 0, seed, points);
    if (own.grid == NULL) return sn_points_to_tune(spec, &own, sn_strata_task(&self->strata), seed, points);
    SN_ZEROS(own.n_grid, const char *, entries);
    own.n_grid = entries_for(&self->tuning, spec, entries);
    own.grid = entries;
    return sn_points_to_tune(spec, &own, sn_strata_task(&self->strata), seed, points);
}

/* ---- tuning inside one training part ---- */

/* Jobs of the tuning of all specs in one split. */
static int64_t tuning_jobs(const comparison *self)
{
    int64_t count = 0;
    for (int64_t i = 0; i < self->n_specs; i++)
        if (self->points[i].count > 1) count += self->points[i].count;
    return self->options.tuning != NULL ? count * fold_count(self->tuning.folds) : 0;
}

/* The best point of spec i among its tuning jobs; NULL, with the reason in *failure, when none worked. */
static const stonet_spec *best_point(const comparison *self, int64_t i, sn_job *jobs, int64_t folds,
                                     char **failure)
{
    const sn_points *points = &self->points[i];
    int64_t best = sn_best_of_jobs(jobs, points->count, folds);
    if (best >= 0) return points->spec[best];
    for (int64_t j = 0; j < points->count * folds && *failure == NULL; j++) {
        *failure = jobs[j].failure;
        jobs[j].failure = NULL;
    }
    return NULL;
}

/* Tunes every spec that has more than one point, on folds of the training part of `split`. All fits run as
   one list of jobs (spec, point, fold). chosen[i] points into self->points; failure[i] is the caller's to
   free. */
static stonet_status tune_split(comparison *self, const sn_split *split, const stonet_spec **chosen,
                                char **failure)
{
    const int folds = fold_count(self->tuning.folds);
    SN_FREED_BY(sn_splits_free) sn_splits inner = {0};
    SN_FREED_BY(sn_jobs_free) sn_jobs jobs = {0};
    SN_TRY(sn_splits_fold(split->data, &split->train, &self->strata, folds, self->runner.run->seed, &inner));
    SN_TRY(SN_NEW(jobs.job, tuning_jobs(self)));
    for (int64_t i = 0; i < self->n_specs; i++)
        for (int64_t j = 0; self->points[i].count > 1 && j < self->points[i].count * folds; j++)
            jobs.job[jobs.count++] =
                (sn_job){.spec = self->points[i].spec[j / folds], .split = &inner.split[j % folds]};
    SN_TRY(sn_jobs_run(&self->runner, &jobs));
    sn_job *at = jobs.job;
    for (int64_t i = 0; i < self->n_specs; i++) {
        if (self->points[i].count == 1) continue;
        chosen[i] = best_point(self, i, at, folds, &failure[i]);
        at += self->points[i].count * folds;
    }
    return STONET_OK;
}

/* ---- the splits ---- */

static bool is_open(const comparison *self, int64_t i)
{
    return self->options.choose_dim != NULL &&
           (self->options.open_dims == NULL || self->options.open_dims[i] != 0);
}

/* Fits chosen[i] (NULL: skipped) of splits first .. first+n-1 and takes the results. */
static stonet_status score_splits(comparison *self, int64_t first, int64_t n,
                                  const stonet_spec *const *chosen)
{
    const int64_t count = n * self->n_specs;
    SN_FREED_BY(sn_jobs_free) sn_jobs jobs = {0};
    SN_TRY(SN_NEW(jobs.job, count));
    for (int64_t j = 0; j < count; j++)
        if (chosen[j % self->n_specs] != NULL)
            jobs.job[jobs.count++] = (sn_job){.spec = chosen[j % self->n_specs],
                                              .split = &self->splits.split[first + j / self->n_specs],
                                              .open_dim = is_open(self, j % self->n_specs)};
    SN_TRY(sn_jobs_run(&self->runner, &jobs));
    sn_job *next = jobs.job;
    for (int64_t j = 0; j < count; j++)
        if (chosen[j % self->n_specs] != NULL)
            SN_TRY(sn_results_take(self->results, j % self->n_specs, first + j / self->n_specs, next++));
    return STONET_OK;
}

/* The settings of a point, the dimension included: a grid may choose that too. */
static json_t *chosen_json(const stonet_spec *point)
{
    return sn_json_put(sn_spec_settings_json(point), "dim", json_integer(sn_int(point->common, "dim")));
}

/* Nested cross-validation for split k: settings are chosen on its training part alone, then scored on its
   held-out part. A spec whose points all failed keeps the first failure as its reason. */
static stonet_status tune_and_score_split(comparison *self, int64_t k)
{
    // NOLINTBEGIN(bugprone-sizeof-expression): arrays of pointers are meant
    SN_ZEROS(self->n_specs, const stonet_spec *, chosen);
    SN_ZEROS(self->n_specs, char *, failure);
    // NOLINTEND(bugprone-sizeof-expression)
    stonet_status status = tune_split(self, &self->splits.split[k], chosen, failure);
    const bool stopped = atomic_load(&self->runner.stop);
    for (int64_t i = 0; i < self->n_specs; i++) {
        sn_row *row = &self->results->row[i];
        if (status == STONET_OK && !stopped && chosen[i] != NULL &&
            (row->chosen[k] = chosen_json(chosen[i])) == NULL)
            status = sn_json_failed();
        if (row->failure == NULL && !stopped)
            row->failure = failure[i];
        else
            sn_free(failure[i]);
    }
    return status == STONET_OK && !stopped ? score_splits(self, k, 1, chosen) : status;
}

static stonet_status score_untuned(comparison *self)
{
    // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
    SN_ARRAY(self->n_specs, const stonet_spec *, chosen);
    for (int64_t i = 0; i < self->n_specs; i++)
        chosen[i] = self->points[i].count == 1 ? self->points[i].spec[0] : NULL;
    return score_splits(self, 0, self->splits.count, chosen);
}

static stonet_status run_comparison(comparison *self)
{
    int64_t tuning = tuning_jobs(self);
    self->runner.total = self->splits.count * (self->n_specs + tuning);
    SN_TRY(score_untuned(self));
    if (tuning == 0) return STONET_OK;
    for (int64_t k = 0; k < self->splits.count && !atomic_load(&self->runner.stop); k++)
        SN_TRY(tune_and_score_split(self, k));
    return STONET_OK;
}

/* Every training part must have rows for the folds inside it. */
static stonet_status check_inner_folds(const comparison *self)
{
    int folds = fold_count(self->tuning.folds);
    for (int64_t k = 0; self->options.tuning != NULL && k < self->splits.count; k++)
        if (self->splits.split[k].train.n < folds)
            return sn_fail(STONET_ERROR_ARGUMENT,
                           "a training part of %lld rows cannot be cut into %d folds to tune on",
                           (long long)self->splits.split[k].train.n, folds);
    return STONET_OK;
}

/* The splits are the same for all specs, so that their differences can be paired. */
static stonet_status prepare_splits(comparison *self, const stonet_data *data)
{
    const stonet_compare_options *options = &self->options;
    SN_TRY(sn_criterion_resolve(options->criterion, &self->strata, &self->runner.criterion));
    if (options->test != NULL)
        SN_TRY(sn_splits_test(data, options->test, &self->splits));
    else
        SN_TRY(sn_splits_fold(data, NULL, &self->strata, fold_count(options->folds), self->runner.run->seed,
                              &self->splits));
    SN_TRY(check_inner_folds(self));
    return sn_results_create(self->specs, self->n_specs, self->splits.count, self->runner.criterion,
                             &self->results);
}

/* Options and sizes are checked before the first fit. */
static stonet_status prepare(comparison *self, const stonet_data *data)
{
    const stonet_compare_options *options = &self->options;
    if (options->choose_dim != NULL && options->tuning != NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "the dimension is either chosen or tuned: leave out the "
                                              "tuning, or put dim into its grid");
    SN_TRY(check_entries(self));
    SN_TRY(sn_strata_create(self->specs[0], data, &self->strata));
    SN_TRY(SN_NEW(self->points, self->n_specs));
    self->n_points = self->n_specs;
    for (int64_t i = 0; i < self->n_specs; i++) SN_TRY(make_points(self, self->specs[i], &self->points[i]));
    SN_TRY(prepare_splits(self, data));
    self->results->compares = true;
    self->runner.choose_dim = options->choose_dim;
    for (int64_t i = 0; i < self->n_specs; i++) self->results->row[i].open_dim = is_open(self, i);
    return STONET_OK;
}

/* The checkpoint is of these specs with these grids on these splits; job: what the call does. */
static stonet_status begin_checkpoint(const comparison *self, const char *job, const stonet_data *data)
{
    const stonet_run *run = self->runner.run;
    const stonet_compare_options *options = &self->options;
    sn_hash hash;
    const bool elsewhere = sn_checkpoint_is_elsewhere(run);
    if (elsewhere && !sn_team_shares(run->team)) return STONET_OK;
    sn_hash_begin(&hash);
    sn_frame_hash(data, &hash);
    if (options->test != NULL) sn_frame_hash(options->test, &hash);
    sn_hash_int(&hash, options->test != NULL ? 0 : self->splits.count);
    sn_hash_int(&hash, options->tuning != NULL ? fold_count(self->tuning.folds) : 0);
    sn_hash_int(&hash, self->runner.criterion);
    for (int64_t i = 0; i < self->n_points; i++) {
        sn_hash_int(&hash, self->results->row[i].open_dim);
        for (int64_t k = 0; k < self->points[i].count; k++)
            SN_TRY(sn_spec_hash(self->points[i].spec[k], run->seed, &hash));
    }
    SN_TRY(sn_team_agree(run->team, &hash));
    return elsewhere ? STONET_OK : sn_checkpoint_begin(run->checkpoint, job, &hash, run);
}

static void clean_up(comparison *self)
{
    for (int64_t i = 0; i < self->n_points; i++) sn_points_free(&self->points[i]);
    sn_free(self->points);
    sn_splits_free(&self->splits);
    sn_strata_free(&self->strata);
    stonet_results_free(self->results);
}

static stonet_status take_options(const stonet_compare_options *options, comparison *self)
{
    for (int64_t i = 0; i < self->n_specs; i++)
        if (self->specs[i] == NULL)
            return sn_fail(STONET_ERROR_ARGUMENT, "spec %lld of %lld is NULL", (long long)i + 1,
                           (long long)self->n_specs);
    SN_TRY(SN_TAKE_OPTIONS(stonet_compare_options, STONET_COMPARE_OPTIONS_INIT, options, &self->options));
    return sn_take_tune_options(self->options.tuning, &self->tuning);
}

stonet_status stonet_compare_check(const stonet_spec *const *specs, int64_t n_specs, const stonet_data *data,
                                   const stonet_compare_options *options)
{
    if (specs == NULL || n_specs < 1 || data == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_compare_check needs specs and data");
    stonet_run run = STONET_RUN_INIT;
    SN_FREED_BY(clean_up) comparison self = {.specs = specs, .n_specs = n_specs, .runner = {.run = &run}};
    SN_TRY(take_options(options, &self));
    return prepare(&self, data);
}

stonet_status stonet_compare(const stonet_spec *const *specs, int64_t n_specs, const stonet_data *data,
                             const stonet_compare_options *options, const stonet_run *run,
                             stonet_results **out)
{
    if (specs == NULL || n_specs < 1 || data == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_compare needs specs, data and a place for the results");
    *out = NULL;
    stonet_run job;
    SN_TRY(sn_take_kept_run(run, &job));
    SN_FREED_BY(clean_up)
    comparison self = {.specs = specs,
                       .n_specs = n_specs,
                       .runner = {.run = &job, .stage = "comparing", .start = sn_seconds()}};
    SN_TRY(take_options(options, &self));
    SN_TRY(prepare(&self, data));
    SN_TRY(begin_checkpoint(&self, "comparison", data));
    SN_TRY(sn_checkpoint_end(job.checkpoint, run_comparison(&self)));
    SN_TRY(sn_results_finish(self.results, atomic_load(&self.runner.stop)));
    return SN_GIVE(self.results, out);
}

stonet_status stonet_tune(const stonet_spec *spec, const stonet_data *data,
                          const stonet_tune_options *options, const stonet_run *run, stonet_results **out)
{
    if (spec == NULL || data == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_tune needs a spec, data and a place for the results");
    *out = NULL;
    stonet_run job;
    stonet_tune_options how;
    SN_TRY(sn_take_tune_options(options, &how));
    SN_TRY(sn_take_kept_run(run, &job));
    SN_FREED_BY(clean_up)
    comparison self = {.options = {.folds = how.folds, .criterion = how.criterion},
                       .runner = {.run = &job, .stage = "tuning", .start = sn_seconds()}};
    SN_TRY(sn_strata_create(spec, data, &self.strata));
    SN_TRY(SN_NEW(self.points, 1));
    self.n_points = 1;
    SN_TRY(sn_points_to_tune(spec, &how, sn_strata_task(&self.strata), job.seed, self.points));
    self.specs = (const stonet_spec *const *)self.points->spec;
    self.n_specs = self.points->count;
    SN_TRY(prepare_splits(&self, data));
    SN_TRY(begin_checkpoint(&self, "tuning", data));
    self.runner.total = self.splits.count * self.n_specs;
    SN_TRY(sn_checkpoint_end(job.checkpoint, score_splits(&self, 0, self.splits.count, self.specs)));
    SN_TRY(sn_results_finish(self.results, atomic_load(&self.runner.stop)));
    return SN_GIVE(self.results, out);
}
