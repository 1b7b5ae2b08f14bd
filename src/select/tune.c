/* stonet_tune: the points of a grid, each scored on k folds. */
#include "base/checkpoint.h"
#include "base/memory.h"
#include "base/take_options.h"
#include "data/frame.h"
#include "select/grid.h"
#include "select/results.h"

enum { DEFAULT_FOLDS = 5 };

static stonet_status make_points(const stonet_spec *spec, const stonet_tune_options *options,
                                 const sn_strata *strata, uint64_t seed, sn_points *points)
{
    if (options->grid != NULL)
        return sn_points_create(spec, options->grid, options->n_grid, options->trials, seed, points);
    const char *grid[SN_MAX_GRID_ENTRIES];
    int64_t n_grid = sn_default_grid(spec->method, sn_strata_task(strata), grid);
    return sn_points_create(spec, grid, n_grid, options->trials, seed, points);
}

/* Fits each point on each split: job i is point i / splits, split i % splits. */
static stonet_status run_points(const sn_points *points, const sn_splits *splits, stonet_criterion criterion,
                                const stonet_run *run, stonet_results *results)
{
    SN_FREED_BY(sn_jobs_free) sn_jobs jobs = {.count = points->count * splits->count};
    SN_TRY(SN_NEW(jobs.job, jobs.count));
    for (int64_t i = 0; i < jobs.count; i++) {
        jobs.job[i].spec = points->spec[i / splits->count];
        jobs.job[i].split = &splits->split[i % splits->count];
    }
    sn_runner runner = {
        .run = run, .criterion = criterion, .stage = "tuning", .total = jobs.count, .start = sn_seconds()};
    SN_TRY(sn_jobs_run(&runner, &jobs));
    for (int64_t i = 0; i < jobs.count; i++)
        SN_TRY(sn_results_take(results, i / splits->count, i % splits->count, &jobs.job[i]));
    return sn_results_finish(results, atomic_load(&runner.stop));
}

/* The checkpoint is of these points on these folds. */
static stonet_status begin_checkpoint(const sn_points *points, const stonet_data *data, int folds,
                                      stonet_criterion criterion, const stonet_run *run)
{
    sn_hash hash;
    const bool elsewhere = sn_checkpoint_is_elsewhere(run);
    if (elsewhere && !sn_team_shares(run->team)) return STONET_OK;
    sn_hash_begin(&hash);
    sn_frame_hash(data, &hash);
    sn_hash_int(&hash, folds);
    sn_hash_int(&hash, criterion);
    for (int64_t i = 0; i < points->count; i++) SN_TRY(sn_spec_hash(points->spec[i], run->seed, &hash));
    SN_TRY(sn_team_agree(run->team, &hash));
    return elsewhere ? STONET_OK : sn_checkpoint_begin(run->checkpoint, "tuning", &hash, run);
}

stonet_status stonet_tune(const stonet_spec *spec, const stonet_data *data,
                          const stonet_tune_options *options, const stonet_run *run, stonet_results **out)
{
    if (spec == NULL || data == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_tune needs a spec, data and a place for the results");
    *out = NULL;
    stonet_tune_options how;
    stonet_run job;
    SN_TRY(sn_take_tune_options(options, &how));
    SN_TRY(sn_take_kept_run(run, &job));

    SN_FREED_BY(sn_strata_free) sn_strata strata = {0};
    SN_FREED_BY(sn_points_free) sn_points points = {0};
    SN_FREED_BY(sn_splits_free) sn_splits splits = {0};
    SN_AUTO(stonet_results) *results = NULL;
    stonet_criterion criterion;
    SN_TRY(sn_strata_create(spec, data, &strata));
    SN_TRY(make_points(spec, &how, &strata, job.seed, &points));
    SN_TRY(sn_criterion_resolve(how.criterion, &strata, &criterion));
    const int folds = how.folds != 0 ? how.folds : DEFAULT_FOLDS;
    SN_TRY(sn_splits_fold(data, NULL, &strata, folds, job.seed, &splits));
    SN_TRY(sn_results_create((const stonet_spec *const *)points.spec, points.count, splits.count, criterion,
                             &results));
    SN_TRY(begin_checkpoint(&points, data, folds, criterion, &job));
    SN_TRY(sn_checkpoint_end(job.checkpoint, run_points(&points, &splits, criterion, &job, results)));
    return SN_GIVE(results, out);
}
