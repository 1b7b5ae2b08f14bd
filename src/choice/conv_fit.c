#include "choice/conv_fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checkpoint.h"
#include "base/memory.h"
#include "choice/baselines.h"
#include "engine/engines.h"
#include "front/front_conv.h"
#include "stonet/start.h"

/* What is left open (docs/images.md has what they were chosen by). */
enum { FEWEST_EPOCHS = 12, MOST_EPOCHS = 100, UPDATES = 3000, SMALLER_STEPS = 2 };
static const double DECAY = 5e-4;

/* ---- which front ---------------------------------------------------------------------------------- */

/* The image that the rows are: as the settings say, or as the table does. */
static stonet_status find_image(const sn_problem *problem, const sn_settings *settings, sn_image *image)
{
    size_t count;
    const double *extent = sn_list(settings, "front_image", &count);
    *image = problem->image;
    if (!sn_is(settings, "front_image", "auto")) {
        if (count != 2 && count != 3)
            return sn_fail(STONET_ERROR_ARGUMENT,
                           "setting 'front_image' has %zu numbers; it takes height,width or, with channels, "
                           "height,width,channels or channels,height,width",
                           count);
        image->rank = (int)count;
        for (size_t k = 0; k < count; k++) image->extent[k] = (int64_t)extent[k];
    }
    if (image->rank == 0)
        return sn_fail(STONET_ERROR_DATA,
                       "front=conv needs images, and these rows are not: give an array of rank 3 or 4 (.npy, "
                       "IDX), or say what the columns are, such as front_image=28,28");
    if (sn_image_size(image) != problem->p)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "front_image is an image of %lld numbers, and the rows have %lld features",
                       (long long)sn_image_size(image), (long long)problem->p);
    return STONET_OK;
}

/* What a front that learns does not go with. */
static stonet_status check(const sn_choice_job *job, const sn_settings *settings)
{
    if (sn_is(settings, "engine", "cuda"))
        return sn_fail(STONET_ERROR_UNSUPPORTED, "front=conv is computed by engine=cpu alone, not by cuda");
    if (sn_team_shares(job->team))
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "front=conv is trained by one process: start the fit without mpirun");
    if (sn_is(settings, "schedule", "averaged"))
        return sn_fail(STONET_ERROR_ARGUMENT, "schedule=averaged does not go with front=conv: use linear");
    if (!sn_is(settings, "input_activation", "off"))
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "input_activation does not go with front=conv, whose features are activated already");
    return STONET_OK;
}

/* "5x5x16, pool 2, .." */
static void tell_front(const stonet_run *run, const sn_conv_shape *shape)
{
    char stages[SN_CONV_STAGES * 40] = "";
    size_t used = 0;
    for (int l = 0; l < shape->stages; l++) {
        const sn_conv_stage *s = &shape->stage[l];
        used += (size_t)snprintf(stages + used, sizeof stages - used, "%s%lld x %lld x %lld%s",
                                 l > 0 ? ", " : "", (long long)s->kernel, (long long)s->kernel,
                                 (long long)s->filters, s->pool > 1 ? " and pooling" : "");
    }
    sn_message(run, STONET_NOTE,
               "front=conv: images of %lld x %lld, %lld channel%s; filters %s; %lld features",
               (long long)shape->stage[0].height, (long long)shape->stage[0].width,
               (long long)shape->stage[0].channels, shape->stage[0].channels > 1 ? "s" : "", stages,
               (long long)shape->outputs);
}

stonet_status sn_conv_front(const sn_choice_job *job, sn_front **out)
{
    const sn_settings *settings = job->settings;
    sn_image image;
    size_t count;
    int64_t filters[SN_CONV_STAGES];
    const double *list = sn_list(settings, "front_channels", &count);
    SN_TRY(check(job, settings));
    SN_TRY(find_image(job->problem, settings, &image));
    if (sn_is(settings, "front_channels", "auto")) count = 0;
    for (size_t l = 0; l < count && l < SN_CONV_STAGES; l++) filters[l] = (int64_t)list[l];
    SN_TRY(sn_front_conv_create(&image, (int)count, filters, job->seed, out));
    tell_front(job->run, sn_front_conv_shape(*out));
    if (sn_checkpoint_is_file(job->run->checkpoint))
        sn_message(job->run, STONET_NOTE,
                   "front=conv writes no checkpoint: a stopped fit starts from the beginning");
    return STONET_OK;
}

/* ---- the fit ---------------------------------------------------------------------------------------- */

/* The front at its start, by some of the rows of the job. */
static stonet_status start_front(const sn_stage_job *job)
{
    enum { SAMPLE = 256 };
    const sn_rows some = sn_rows_part(&job->rows, 0, job->rows.n < SAMPLE ? job->rows.n : SAMPLE);
    SN_ARRAY(some.n * job->raw->p, float, x);
    SN_TRY(sn_batch_features(job->raw, &some, x));
    return sn_front_conv_start(job->learns, job->seed, some.n, x);
}

/* From the start of the seed, on the rows of the job. */
static stonet_status train(const sn_stage_job *job, float *theta, sn_train_report *report)
{
    SN_TRY(start_front(job));
    SN_TRY(sn_front_refill(job->learns, job->raw, job->problem));
    SN_TRY(sn_start_weights(job, theta));
    return sn_train_stages(job, theta, report);
}

/* Trainings on the rows of each fold, measured on the others. */
static stonet_status measure(const sn_stage_job *job, const sn_folds *folds, float *theta, sn_held_out *cost,
                             sn_train_report *report)
{
    for (int k = 0; k < folds->count; k++) {
        sn_problem known;
        sn_stage_job own = *job;
        own.rows = folds->fold[k].train;
        own.history = NULL;
        own.raw = &known;
        stonet_status status = sn_folds_problem(folds, k, job->raw, &known);
        if (status == STONET_OK) status = train(&own, theta, report);
        sn_folds_problem_free(job->raw, &known);
        SN_TRY(status);
        if (report->outcome != STONET_DONE) return STONET_OK;
        const sn_use use = sn_stage_use(job, theta);
        SN_TRY(sn_folds_measure(folds, k, &use, cost));
    }
    return STONET_OK;
}

/* The estimates of the fit, and beside them those of a constant and of linear regression on the pixels. */
static stonet_status estimate(const sn_stage_job *job, sn_stonet *net, sn_train_report *report)
{
    SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
    SN_FREED_BY(sn_baselines_free) sn_baselines baselines = {0};
    SN_FREED_BY(sn_held_out_free) sn_held_out cost = {0};
    SN_TRY(sn_folds_make(job->raw, &job->rows, job->seed, &folds));
    sn_message(
        job->run, STONET_NOTE, "front=conv: trained on %lld of %lld rows to measure the error%s, then on all",
        (long long)folds.fold[0].train.n, (long long)job->rows.n, folds.count > 1 ? ", once a fold" : "");
    SN_TRY(sn_held_out_create(&folds, &cost));
    SN_TRY(sn_baselines_measure(job->raw, &folds, job->shape, job->run, &baselines));
    SN_TRY(measure(job, &folds, net->network.theta, &cost, report));
    if (report->outcome != STONET_DONE) return STONET_OK;
    net->held_out = sn_estimate_of(&folds, &cost, job->problem, job->shape);
    net->held_out_constant = sn_estimate_of(&folds, &baselines.constant, job->problem, job->shape);
    net->held_out_linear = sn_estimate_of(&folds, &baselines.linear, job->problem, job->shape);
    net->held_out_rows = folds.rows;
    return STONET_OK;
}

stonet_status sn_conv_fit(const sn_stage_job *job, sn_config *config, sn_stonet *net, sn_train_report *report)
{
    double constant;
    const double batches = (double)sn_train_batches(config, job->rows.n);
    *report = (sn_train_report){.outcome = STONET_DONE, .smallest_step = 1.0};
    if (config->auto_epochs) config->epochs = fmin(fmax(UPDATES / batches, FEWEST_EPOCHS), MOST_EPOCHS);
    if (config->auto_decay) config->weight_decay = DECAY;
    for (int k = 0; config->auto_epochs || config->auto_decay; k++) {
        SN_TRY(estimate(job, net, report));
        if (report->outcome != STONET_DONE) return STONET_OK; /* the network so far is kept */
        if (!config->auto_lr || k == SMALLER_STEPS ||
            !sn_is_next_to(net->held_out.loss, net->held_out_constant.loss))
            break;
        config->lr /= SN_STEP; /* too large a step can leave a convolution dead, without diverging */
        sn_message(job->run, STONET_NOTE, "nothing was found at lr=%g; starting again with lr=%g",
                   SN_STEP * config->lr, config->lr);
    }
    sn_stage_job own = *job;
    own.history = &net->network.history;
    sn_epoch_log_free(&net->network.history); /* of a training that diverged */
    SN_TRY(train(&own, net->network.theta, report));
    SN_TRY(sn_constant_loss(job->problem, &job->rows, &constant));
    const sn_use use = sn_stage_use(job, net->network.theta);
    SN_TRY(sn_engine_loss(&use, &job->rows, job->team, &net->training_loss));
    net->stuck = report->outcome == STONET_DONE && sn_is_next_to(net->training_loss, constant);
    return STONET_OK;
}
