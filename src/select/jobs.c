#include "select/jobs.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/work_queue.h"
#include "base/workspace.h"

/* One thread's view of the runner, behind the callbacks of the fits it runs. */
typedef struct worker {
    sn_runner *runner;
    bool is_caller;
    const char *method; /* of the job it is at; NULL before the first */
} worker;

/* How often the calling thread looks up while it waits for the others. */
static const struct timespec PAUSE = {.tv_nsec = 20000000};

void sn_jobs_free(sn_jobs *jobs)
{
    for (int64_t i = 0; jobs->job != NULL && i < jobs->count; i++) sn_free(jobs->job[i].failure);
    sn_free(jobs->job);
}

static void report(const worker *self)
{
    if (!self->is_caller) return;
    sn_runner *runner = self->runner;
    char stage[64];
    snprintf(stage, sizeof stage, "%s %s", runner->stage, self->method != NULL ? self->method : "");
    sn_progress_of(runner->run, stage, atomic_load(&runner->done), runner->total, (double)NAN, runner->start);
}

static void on_progress(const stonet_progress *progress, void *user)
{
    (void)progress;
    report(user);
}

static int should_stop(void *user)
{
    worker *self = user;
    if (self->is_caller && sn_should_stop(self->runner->run)) atomic_store(&self->runner->stop, true);
    return atomic_load(&self->runner->stop);
}

static double criterion_value(stonet_criterion criterion, const stonet_scores *scores)
{
    switch (criterion) {
    case STONET_CRITERION_ERROR_RATE:
        return scores->error_rate;
    case STONET_CRITERION_LOG_LOSS:
        return isnan(scores->log_loss) ? -scores->log_likelihood : scores->log_loss;
    case STONET_CRITERION_DISCORDANCE:
        return 1.0 - scores->concordance;
    case STONET_CRITERION_DEVIANCE:
        return scores->deviance;
    case STONET_CRITERION_MSE:
    case STONET_CRITERION_AUTO:
        break;
    }
    return scores->mse;
}

/* Each job has one thread, for its scores too. */
static const stonet_use_options ONE_THREAD = {.size = sizeof(stonet_use_options), .threads = 1, .seed = 1};

static stonet_status score_split(const stonet_model *model, const sn_split *split, stonet_scores *scores)
{
    if (split->test != NULL) return stonet_score(model, split->test, &ONE_THREAD, scores);
    SN_AUTO(stonet_data) *held_out = NULL;
    SN_TRY(stonet_data_subset(split->data, split->held_out.list, split->held_out.n, &held_out));
    return stonet_score(model, held_out, &ONE_THREAD, scores);
}

/* Fits the job's spec, with the dimension that the training rows themselves call for where it is open. */
static stonet_status fit_rows(sn_job *job, sn_choose_dim *choose, const stonet_data *train,
                              const stonet_run *run, stonet_model **model)
{
    if (!job->open_dim) return stonet_fit(job->spec, train, run, model);
    SN_TRY(choose(job->spec, train, run, &job->found.dim));
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)job->found.dim);
    SN_AUTO(stonet_spec) *closed = NULL;
    SN_TRY(stonet_spec_copy(job->spec, &closed));
    SN_TRY(stonet_spec_set(closed, "dim", text));
    return stonet_fit(closed, train, run, model);
}

static stonet_status fit_split(sn_job *job, sn_choose_dim *choose, const stonet_run *run,
                               stonet_model **model)
{
    const sn_split *split = job->split;
    if (split->test != NULL) return fit_rows(job, choose, split->data, run, model);
    SN_AUTO(stonet_data) *train = NULL;
    SN_TRY(stonet_data_subset(split->data, split->train.list, split->train.n, &train));
    return fit_rows(job, choose, train, run, model);
}

/* Its place among all learners; past the last: none. */
static int64_t learner_index(const sn_learner *learner)
{
    size_t i = 0;
    while (i < sn_learner_count() && sn_learner_at(i) != learner) i++;
    return (int64_t)i;
}

/* shared: what other jobs of the group have trained; NULL: it is alone. */
static void run_job(sn_job *job, worker *self, stonet_checkpoint *shared)
{
    stonet_run run = {.size = sizeof run,
                      .seed = self->runner->run->seed,
                      .threads = 1,
                      .on_progress = on_progress,
                      .should_stop = should_stop,
                      .user = self,
                      .checkpoint = shared};
    self->method = job->spec->method->name;
    report(self);
    double start = sn_seconds();
    SN_AUTO(stonet_model) *model = NULL;
    stonet_scores scores = STONET_SCORES_INIT;
    stonet_status status = fit_split(job, self->runner->choose_dim, &run, &model);
    if (status == STONET_OK) status = score_split(model, job->split, &scores);
    sn_found *found = &job->found;
    found->seconds = sn_seconds() - start;
    /* A fit that was cut short says nothing about its settings. */
    bool cut_short =
        should_stop(self) && (status != STONET_OK || stonet_model_outcome(model) == STONET_STOPPED);
    found->learner = learner_index(model != NULL ? model->learner : NULL);
    if (cut_short) return;
    found->status = (int64_t)status;
    if (status != STONET_OK) {
        job->failure = sn_strdup(stonet_last_error());
        found->failed = job->failure != NULL;
        return;
    }
    found->value = criterion_value(self->runner->criterion, &scores);
    found->tie = self->runner->criterion == STONET_CRITERION_ERROR_RATE ? scores.log_loss : 0.0;
    found->done = true;
}

/* Memory that ran out says nothing about the settings either: what was too much beside the other fits may
   well do alone, and a point of a grid must not lose because of its neighbours. */
static void run_again_alone(sn_runner *runner, sn_job *jobs, int64_t count)
{
    worker self = {.runner = runner, .is_caller = true};
    SN_THREADS(1);
    for (int64_t i = 0; i < count; i++) {
        if (jobs[i].found.status != STONET_ERROR_MEMORY || should_stop(&self)) continue;
        SN_FREE(jobs[i].failure);
        jobs[i].found = (sn_found){0};
        run_job(&jobs[i], &self, NULL);
    }
}

/* ---- jobs with a training in common ------------------------------------------------------------------- */

/* Jobs of one split whose specs differ in the dimension alone are one piece of work, on one thread: the
   jobs member[start[g]] .. member[start[g + 1] - 1]. */
typedef struct groups {
    sn_job *jobs;
    int64_t count, *start, *member;
} groups;

/* What the training of a job depends on beside its rows; a job that shares none has its own number. */
static stonet_status training_of(const sn_job *job, int64_t i, uint64_t *out)
{
    sn_hash hash;
    sn_hash_begin(&hash);
    if (job->spec->method->keeps && !job->open_dim)
        SN_TRY(sn_spec_hash_but_dim(job->spec, 0, &hash));
    else
        sn_hash_int(&hash, i);
    *out = sn_hash_value(&hash);
    return STONET_OK;
}

/* Jobs with the same split and the same training_of form a group. Groups come in the order of their first
   jobs. start and member are in `keep`. */
static stonet_status group_jobs(sn_job *jobs, int64_t count, sn_workspace *keep, groups *out)
{
    out->jobs = jobs;
    SN_ARRAY(count, uint64_t, training);
    SN_ZEROS(count, bool, placed);
    SN_TRY(SN_TAKE_ZERO(keep, out->start, count + 1));
    SN_TRY(SN_TAKE(keep, out->member, count));
    for (int64_t i = 0; i < count; i++) SN_TRY(training_of(&jobs[i], i, &training[i]));
    int64_t at = 0;
    for (int64_t i = 0; i < count; i++) {
        if (placed[i]) continue;
        for (int64_t k = i; k < count; k++) {
            if (placed[k] || jobs[k].split != jobs[i].split || training[k] != training[i]) continue;
            placed[k] = true;
            out->member[at++] = k;
        }
        out->start[++out->count] = at;
    }
    return STONET_OK;
}

static sn_job *job_of(const groups *all, int64_t at)
{
    return &all->jobs[all->member[at]];
}

/* The time is that of all, in equal parts. */
static void run_group(const groups *all, int64_t g, worker *self)
{
    const int64_t first = all->start[g], end = all->start[g + 1];
    SN_AUTO(stonet_checkpoint) *shared = NULL;
    double seconds = 0.0;
    if (end - first > 1 && stonet_checkpoint_open(NULL, -1.0, &shared) != STONET_OK)
        shared = NULL; /* each trains for itself */
    for (int64_t k = first; k < end && !should_stop(self); k++) {
        run_job(job_of(all, k), self, shared);
        seconds += job_of(all, k)->found.seconds;
        atomic_fetch_add(&self->runner->done, 1);
        report(self);
    }
    for (int64_t k = first; k < end; k++) job_of(all, k)->found.seconds = seconds / (double)(end - first);
}

/* ---- what a job has found, as a record --------------------------------------------------------------- */

static stonet_status pack_job(const sn_job *job, sn_pack *record)
{
    SN_TRY(sn_pack_bytes(record, &job->found, sizeof job->found));
    return sn_pack_block(record, job->failure, job->failure != NULL ? strlen(job->failure) : 0);
}

/* job->failure is the job's to free. */
static stonet_status unpack_job(sn_unpack *record, sn_job *job)
{
    const unsigned char *text;
    size_t length;
    SN_TRY(sn_unpack_bytes(record, &job->found, sizeof job->found));
    SN_TRY(sn_unpack_block(record, &text, &length));
    if (!job->found.failed) return STONET_OK;
    SN_TRY(SN_NEW(job->failure, length + 1));
    memcpy(job->failure, text, length);
    return STONET_OK;
}

static bool has_found(const sn_job *job)
{
    const int64_t status = job->found.status;
    return job->found.done || (status != STONET_OK && status != STONET_ERROR_MEMORY);
}

/* Jobs that were cut short, or ran out of memory, are to be done again. The piece is given back in any case:
   others wait for it. */
static stonet_status give_group(sn_work_queue *queue, int64_t g, const groups *all)
{
    SN_FREED_BY(sn_pack_clear) sn_pack record = {0};
    bool found = true;
    stonet_status packed = STONET_OK;
    for (int64_t k = all->start[g]; k < all->start[g + 1]; k++) {
        found = found && has_found(job_of(all, k));
        if (packed == STONET_OK && sn_work_queue_keeps(queue)) packed = pack_job(job_of(all, k), &record);
    }
    if (packed != STONET_OK) sn_pack_clear(&record);
    const stonet_status given = sn_work_queue_give(queue, g, &record, found && packed == STONET_OK);
    return packed != STONET_OK ? packed : given;
}

static stonet_status take_group(void *user, int64_t g, sn_unpack *record)
{
    const groups *all = user;
    for (int64_t k = all->start[g]; k < all->start[g + 1]; k++) SN_TRY(unpack_job(record, job_of(all, k)));
    return STONET_OK;
}

/* One thread's share; the calling thread stays until all are done. */
static stonet_status work_on_groups(sn_work_queue *queue, const groups *all, worker *self)
{
    stonet_status status = STONET_OK;
    SN_THREADS(1);
    int64_t g;
    while ((g = sn_work_queue_next(queue)) >= 0) {
        run_group(all, g, self);
        const stonet_status given = give_group(queue, g, all);
        if (status == STONET_OK) status = given;
    }
    while (self->is_caller && sn_work_queue_done(queue) < all->count) {
        should_stop(self);
        report(self);
        nanosleep(&PAUSE, NULL);
    }
    report(self);
    return status;
}

stonet_status sn_jobs_run(sn_runner *runner, const sn_jobs *list)
{
    const int64_t count = list->count;
    sn_job *jobs = list->job;
    char key[SN_KEY_SIZE];
    snprintf(key, sizeof key, "jobs%d", runner->sets++);
    SN_WORKSPACE(scratch);
    groups all = {0};
    const void **kind = NULL;
    SN_TRY(group_jobs(jobs, count, &scratch, &all));
    // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
    SN_TRY(SN_TAKE(&scratch, kind, count));
    SN_ARRAY(count, double, effort);
    for (int64_t g = 0; g < all.count; g++) {
        const stonet_spec *spec = job_of(&all, all.start[g])->spec;
        kind[g] = spec; /* on another split it takes about as long */
        effort[g] = spec->method->effort;
    }
    const sn_work_set set = {.key = key,
                             .count = all.count,
                             .team = runner->run->team,
                             .kind = kind,
                             .effort = effort,
                             .take = take_group,
                             .user = &all};
    sn_work_queue *queue;
    SN_TRY(sn_work_queue_open(&set, runner->run, &queue));
    for (int64_t i = 0; i < count; i++)
        if (has_found(&jobs[i])) atomic_fetch_add(&runner->done, 1);
    should_stop(
        &(worker){.runner = runner, .is_caller = true}); /* a wish that was there before starts nothing */
    stonet_status status = STONET_OK;
#pragma omp parallel num_threads(sn_threads(runner->run))
    {
        worker self = {.runner = runner, .is_caller = omp_get_thread_num() == 0};
        const stonet_status own = work_on_groups(queue, &all, &self);
#pragma omp critical(sn_jobs_status)
        if (status == STONET_OK) status = own;
    }
    if (status != STONET_OK)
        sn_fail(status, status == STONET_ERROR_MEMORY
                            ? "memory ran out while the checkpoint was written"
                            : "the checkpoint could not be written: is there room on its disk?");
    SN_TRY(sn_work_queue_close(queue, status));
    run_again_alone(runner, jobs, count);
    for (int64_t i = 0; i < count; i++)
        if (jobs[i].found.status != STONET_OK && jobs[i].failure == NULL)
            return sn_fail(STONET_ERROR_MEMORY, "memory ran out while fitting method '%s'",
                           jobs[i].spec->method->name);
    return STONET_OK;
}
