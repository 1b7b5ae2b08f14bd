/*
 * stonet_calibrate: scores of rows that were held out.
 *
 * CV+ (Barber, Candes, Ramdas and Tibshirani 2021) and split conformal prediction need rows in random order
 * and parts that do not depend on the response: folds are drawn by the seed and are not stratified. A refit
 * sees its own rows alone: schema, scaling, the choice of settings and the learner all come from them. Five
 * folds share a choice, made on the rows of the other five.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/take_options.h"
#include "base/workspace.h"
#include "data/folds.h"
#include "data/kin.h"
#include "model/calibration.h"
#include "model/held_out_spread.h"
#include "refit/resample.h"
#include "stats/temperature.h"

enum { CV_ROWS = 5000, CV_FOLDS = 10, SPLIT_FOLDS = 5, LEAST_SHARING = 4 };

typedef struct calibration_job {
    const stonet_model *model;
    const stonet_data *data;
    const stonet_run *run;
    int64_t n, outputs;
    bool has_classes;
    sn_calibration *made;
    int64_t at;          /* rows scored so far */
    int64_t known;       /* those whose class the predicting model knows: for the temperature, their */
    double *probability; /* probabilities (known x classes) */
    int32_t *label;      /* and classes */
    double *weight;      /* rows: what each counts for the residual variance; known: for the temperature;
                            NULL: 1 */
    double total;
    bool shares_choice; /* folds share a choice of settings */
} calibration_job;

/* ---- scores ---- */

static double row_weight(const calibration_job *job, int64_t at)
{
    return job->weight != NULL ? job->weight[at] : 1.0;
}

/* spread NULL: scores are the residuals themselves. */
static void score_numbers(const calibration_job *job, int64_t count, const double *predicted,
                          const double *spread, const double *y)
{
    sn_calibration *made = job->made;
    const int64_t m = job->outputs;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < m; j++) {
            const double residual = y[i * m + j] - predicted[i * m + j];
            made->score[j * made->rows + job->at + i] =
                fabs(residual) / (spread != NULL ? spread[i * m + j] : 1.0);
            made->residual_variance[j] += row_weight(job, job->at + i) * residual * residual / job->total;
        }
}

/* Scores of the true classes of `count` held-out rows; u: a uniform number for each row. `asked` may not know
   all classes. Rows whose class it cannot predict have no say in the temperature. */
static stonet_status score_classes(calibration_job *job, int64_t count, const stonet_model *asked,
                                   const double *predicted, const double *u)
{
    sn_calibration *made = job->made;
    const int64_t classes = job->outputs;
    const bool knows_all = sn_schema_outputs(asked->schema) == classes;
    SN_ARRAY(classes, double, score);
    SN_ARRAY(classes, int64_t, order);
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = job->at + i;
        const double *p = predicted + i * classes;
        sn_calibration_class_scores(made->score_kind, classes, p, u[i], order, score);
        made->score[at] = score[made->label[at]];
        if (!knows_all && !(p[made->label[at]] > 0.0)) continue;
        const int64_t k = job->known++; /* not above at */
        job->label[k] = made->label[at];
        if (job->weight != NULL) job->weight[k] = job->weight[at];
        memcpy(job->probability + k * classes, p, (size_t)classes * sizeof *p);
    }
    return STONET_OK;
}

/* Scores all rows of `held_out` by the model that predicts for list l. */
static stonet_status score_rows(calibration_job *job, const stonet_data *held_out, int64_t l)
{
    sn_calibration *made = job->made;
    const stonet_model *asked = sn_calibration_asked(job->model, made, l);
    const int64_t n = stonet_data_rows(held_out), most = sn_calibration_block(job->model);
    const int64_t block = n < most ? n : most, m = job->outputs;
    SN_WORKSPACE(scratch);
    double *spread = NULL, *y = NULL;
    SN_ARRAY(block * m, double, predicted);
    if (made->score_kind == SN_SCORE_NORMALISED) SN_TRY(SN_TAKE(&scratch, spread, block * m));
    SN_ARRAY(block, double, u);
    if (!job->has_classes) SN_TRY(SN_TAKE(&scratch, y, n * m));
    if (job->model->schema->law == SN_LAW_COUNTS) {
        SN_ARRAY(n * SN_LAW_SEEN, double, seen);
        SN_TRY(sn_schema_encode_law(job->model->schema, held_out, seen, NULL));
        for (int64_t i = 0; i < n; i++) y[i] = seen[i * SN_LAW_SEEN]; /* the count */
    } else {
        SN_TRY(sn_schema_response(job->model->schema, held_out,
                                  job->has_classes ? made->label + job->at : NULL, y));
    }
    for (int64_t i = 0; job->weight != NULL && i < n; i++) job->weight[job->at + i] = held_out->weight[i];
    for (int64_t first = 0; first < n; first += block) {
        const int64_t count = n - first < block ? n - first : block;
        SN_TRY(sn_calibration_ask(job->model, asked, held_out, first, count, predicted, spread));
        SN_TRY(sn_calibration_uniforms(job->model, held_out, first, count, u));
        if (job->has_classes)
            SN_TRY(score_classes(job, count, asked, predicted, u));
        else
            score_numbers(job, count, predicted, spread, y + first * m);
        for (int64_t i = 0; i < count; i++) made->member_of[job->at + i] = (int32_t)l;
        job->at += count;
    }
    return STONET_OK;
}

/* ---- who holds out what ---- */

/* The settings that a fit of n rows chose, in the place of open ones: the same line of the table, and as many
   updates with `rows` rows. A front that no setting names (columns, components) leaves them open. */
static stonet_status close_settings(const stonet_model *chose, int64_t n, int64_t rows, stonet_spec *spec)
{
    static const char *const SAME[] = {"activation", "weight_decay", "batch", "front_complexity"};
    char text[64];
    double epochs;
    SN_AUTO(sn_store) *store = NULL;
    SN_TRY(sn_store_create(&store));
    SN_TRY(chose->method->save(chose->state, store));
    const char *front = sn_store_find_text(store, "front");
    const bool is_kernel = front != NULL && strcmp(front, "kernel") == 0;
    if (front != NULL && !is_kernel) return STONET_OK;
    SN_TRY(stonet_spec_set(spec, "front", is_kernel ? "kernel" : "none"));
    for (int k = 0; k < (is_kernel ? 4 : 3); k++)
        SN_TRY(stonet_spec_set(spec, SAME[k], sn_store_find_text(store, SAME[k])));
    SN_TRY(sn_store_get_real(store, "epochs", &epochs));
    snprintf(text, sizeof text, "%.17g", epochs * (double)n / (double)rows);
    SN_TRY(stonet_spec_set(spec, "epochs", text));
    if (sn_is(spec->settings, "schedule", "auto")) SN_TRY(stonet_spec_set(spec, "schedule", "averaged"));
    return STONET_OK;
}

/* The rows that all folds from `first` to `end` - 1 train on. */
static stonet_status common_rows(const sn_folds *folds, int first, int end, int64_t n, sn_workspace *keep,
                                 sn_rows *out)
{
    int64_t *list = NULL, *met = NULL, count = 0;
    SN_TRY(SN_TAKE(keep, list, n));
    SN_TRY(SN_TAKE_ZERO(keep, met, n));
    for (int k = first; k < end; k++)
        for (int64_t i = 0; i < folds->fold[k].train.n; i++) met[sn_rows_at(&folds->fold[k].train, i)]++;
    for (int64_t i = 0; i < n; i++)
        if (met[i] == end - first) list[count++] = i;
    *out = sn_rows_list(list, count);
    return STONET_OK;
}

/*
 * The members of the folds from `first` to `end` - 1. A choice of settings costs as much as ten trainings, so
 * these folds share one: it is made on the rows that none of them holds out.
 */
static stonet_status fit_members(const calibration_job *job, const sn_folds *folds, int first, int end)
{
    SN_WORKSPACE(scratch);
    SN_AUTO(stonet_spec) *spec = NULL;
    SN_ARRAY(folds->count, sn_rows, part);
    for (int k = first; k < end; k++) part[k] = folds->fold[k].train;
    SN_TRY(stonet_model_spec(job->model, &spec));
    sn_refits wanted = {.spec = (const stonet_spec *const *)&spec,
                        .specs = 1,
                        .data = job->data,
                        .part = part,
                        .parts = 1,
                        .stage = "calibrating"};
    if (job->shares_choice) {
        SN_AUTO(stonet_model) *chose = NULL;
        SN_TRY(common_rows(folds, first, end, job->n, &scratch, &part[0]));
        const stonet_status status = sn_refit(&wanted, job->run, &chose);
        /* rows that are too few or too alike choose nothing: each refit then chooses for itself */
        if (status != STONET_ERROR_DATA) SN_TRY(status);
        if (status == STONET_OK) SN_TRY(close_settings(chose, part[0].n, folds->fold[first].train.n, spec));
    }
    part[0] = folds->fold[0].train;
    wanted.part = part + first;
    wanted.parts = end - first;
    return sn_refit(&wanted, job->run, job->made->member + first);
}

/* Members are fitted without their fold: all folds for CV+, the first one for a split. */
static stonet_status refit_members(calibration_job *job, const sn_folds *folds)
{
    sn_calibration *made = job->made;
    const int half = job->shares_choice ? folds->count / 2 : folds->count;
    SN_TRY(fit_members(job, folds, 0, half));
    if (half < folds->count) SN_TRY(fit_members(job, folds, half, folds->count));
    SN_TRY(sn_refit_check_columns(job->model, made->member, made->n_members));
    for (int k = 0; k < folds->count; k++) {
        const sn_rows *test = &folds->fold[k].test;
        SN_AUTO(stonet_data) *held_out = NULL;
        SN_TRY(stonet_data_subset(job->data, test->list, test->n, &held_out));
        SN_TRY(score_rows(job, held_out, k));
    }
    return STONET_OK;
}

/* The rows in the order of their scores, encoded: x rows x p. */
static stonet_status encode_scored(const calibration_job *job, const sn_folds *folds, float *x)
{
    int64_t at = 0;
    SN_AUTO(stonet_data) *rows = NULL;
    SN_ARRAY(job->made->rows, int64_t, order);
    for (int k = 0; k < folds->count; k++)
        for (int64_t i = 0; i < folds->fold[k].test.n; i++) order[at++] = sn_rows_at(&folds->fold[k].test, i);
    SN_TRY(stonet_data_subset(job->data, order, at, &rows));
    return sn_schema_encode_x(job->model->schema, rows, x);
}

/* Scores over the spread that the held-out rows show. */
static stonet_status learn_spread(const calibration_job *job, const sn_folds *folds)
{
    sn_calibration *made = job->made;
    const int64_t p = job->model->schema->p, m = job->outputs;
    SN_TRY(sn_memory_require((uint64_t)made->rows * (uint64_t)p * (sizeof(float) + sizeof(double)),
                             "the spread of held-out rows", "leave --folds out"));
    SN_ARRAY(made->rows * p, float, x);
    SN_ARRAY(made->n_members * m, double, spread);
    SN_TRY(encode_scored(job, folds, x));
    const sn_scored_rows rows = {.n = made->rows,
                                 .p = p,
                                 .outputs = m,
                                 .lists = made->n_members,
                                 .x = x,
                                 .score = made->score,
                                 .list = made->member_of,
                                 .seed = job->run->seed};
    SN_TRY(sn_held_out_spread_fit(&rows, &made->spread));
    for (int64_t i = 0; made->spread != NULL && i < made->rows; i++) {
        sn_held_out_spread_at(made->spread, x + i * p, spread);
        for (int64_t j = 0; j < m; j++) made->score[j * made->rows + i] /= spread[made->member_of[i] * m + j];
    }
    return STONET_OK;
}

/* Room for what the rows that are scored count, and the sum of that. Only the temperature and the residual
   variance are weighted: intervals and sets hold for rows as they come, of which each is as likely to be the
   next. */
static stonet_status weigh_rows(calibration_job *job, const sn_folds *folds, sn_workspace *keep)
{
    job->total = (double)job->made->rows;
    if (job->data->weight == NULL) return STONET_OK;
    SN_TRY(SN_TAKE(keep, job->weight, job->made->rows));
    job->total = 0.0;
    for (int64_t i = 0; folds->count == 0 && i < job->n; i++) job->total += job->data->weight[i];
    for (int k = 0; k < folds->count; k++)
        for (int64_t i = 0; i < folds->fold[k].test.n; i++)
            job->total += job->data->weight[sn_rows_at(&folds->fold[k].test, i)];
    if (!(job->total > 0.0))
        return sn_fail(STONET_ERROR_DATA, "%s: the weights of the rows that are held out are all 0",
                       sn_table_name(job->data));
    sn_message(
        job->run, STONET_NOTE,
        "intervals and sets hold for rows as they come: the weights count in the fits, the temperature "
        "and the residual variance alone");
    return STONET_OK;
}

/* Whether the model chose its settings, and there are folds enough to share such a choice among them. */
static stonet_status find_choice(calibration_job *job, int folds)
{
    const stonet_model *model = job->model;
    int64_t tried = 0;
    SN_AUTO(sn_store) *store = NULL;
    SN_TRY(sn_store_create(&store));
    SN_TRY(model->method->save(model->state, store));
    if (sn_store_find_text(store, "settings_tried") != NULL)
        SN_TRY(sn_store_get_int(store, "settings_tried", 0, INT64_MAX, &tried));
    job->shares_choice = tried > 0 && folds >= LEAST_SHARING && sn_is(model->settings, "select", "none");
    return STONET_OK;
}

/* With few groups there are fewer folds, unless the caller sets their number. */
static stonet_status draw_folds(calibration_job *job, const stonet_calibrate_options *how, sn_folds *out)
{
    const bool split = how->kind == STONET_CALIBRATION_SPLIT;
    const int folds = split ? SPLIT_FOLDS : how->folds > 0 ? how->folds : CV_FOLDS;
    if (job->n / 2 < folds)
        return sn_fail(STONET_ERROR_DATA, "%lld rows are too few for a calibration with %d folds",
                       (long long)job->n, folds);
    SN_TRY(sn_refit_check_names(job->model, job->data));
    SN_WORKSPACE(scratch);
    sn_problem rows = {.n = job->n};
    const sn_rows all = sn_rows_range(0, job->n);
    const sn_fold_plan plan = {.count = folds, .exactly = how->folds > 0, .enough = split ? 1 : 0};
    SN_TRY(sn_kin_find(job->data, NULL, &scratch, &rows.kin));
    SN_TRY(sn_folds_cut(&rows, &all, &plan, job->run->seed, out));
    SN_TRY(sn_calibration_create(job->model, out->count, out->rows, &job->made));
    job->made->kind = split ? SN_CALIBRATION_SPLIT : SN_CALIBRATION_CV;
    SN_TRY(find_choice(job, out->count));
    if (job->shares_choice)
        sn_message(
            job->run, STONET_NOTE,
            "calibration chooses the settings twice more, on halves of the rows, and trains %d models: "
            "as long as two to four fits",
            out->count);
    else
        sn_message(job->run, STONET_NOTE, "calibration takes %d more %s of the model", out->count,
                   out->count == 1 ? "fit" : "fits");
    return STONET_OK;
}

/* Fresh rows are scored by the model itself, others by refits without them. Class probabilities are kept
   until the temperature is fitted. cv+ of numbers then learns how residuals spread over x. */
static stonet_status score_all(calibration_job *job, const stonet_calibrate_options *how, sn_folds *folds)
{
    const bool fresh = how->kind == STONET_CALIBRATION_FRESH;
    SN_WORKSPACE(scratch);
    if (fresh) {
        SN_TRY(sn_calibration_create(job->model, 0, job->n, &job->made));
        job->made->kind = SN_CALIBRATION_FRESH;
    } else {
        SN_TRY(draw_folds(job, how, folds));
    }
    sn_calibration *made = job->made;
    if (!job->has_classes)
        made->score_kind = sn_calibration_has_spread(job->model) ? SN_SCORE_NORMALISED : SN_SCORE_RESIDUAL;
    if (job->has_classes) {
        made->score_kind = how->sets == STONET_SETS_LAC ? SN_SCORE_LAC : SN_SCORE_APS;
        SN_TRY(SN_TAKE(&scratch, job->probability, made->rows * job->outputs));
        SN_TRY(SN_TAKE(&scratch, job->label, made->rows));
    }
    SN_TRY(weigh_rows(job, folds, &scratch));
    SN_TRY(fresh ? score_rows(job, job->data, 0) : refit_members(job, folds));
    if (job->has_classes)
        made->temperature =
            sn_temperature_fit(job->known, job->outputs, job->probability, job->label, job->weight);
    return made->kind == SN_CALIBRATION_CV && !job->has_classes ? learn_spread(job, folds) : STONET_OK;
}

/* ---- the call ---- */

/* Refuses models that cannot be calibrated, and unknown options. Replaces AUTO: cv+ below CV_ROWS rows, where
   refits are cheap, and split from there on. */
static stonet_status check(const stonet_model *model, stonet_calibrate_options *how, int64_t n)
{
    const bool predicts = model->learner != NULL || model->method->predict != NULL;
    const sn_law_kind law = model->schema->law;
    if (law == SN_LAW_TIMES || law == SN_LAW_INTERVALS)
        return sn_fail(
            STONET_ERROR_UNSUPPORTED,
            "times of task=%s cannot be calibrated: how long censored rows would have lasted is not "
            "known without the law of the censoring given x; use the survival probabilities",
            sn_schema_task_word(model->schema));
    if (law == SN_LAW_COUNTS && model->schema->n_targets > 1)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "counts over an exposure cannot be calibrated: an interval depends on the exposure, "
                       "which a new row does not have");
    if (sn_schema_outputs(model->schema) == 0 || !predicts)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "this model gives Z and no predictions, so there is nothing to calibrate: fit it with "
                       "a target and a learner");
    if (how->kind > STONET_CALIBRATION_FRESH || how->sets > STONET_SETS_LAC || how->folds < 0 ||
        how->folds == 1)
        return sn_fail(
            STONET_ERROR_ARGUMENT,
            "the options of stonet_calibrate have an unknown kind, an unknown score of sets or %d folds",
            how->folds);
    if (how->kind == STONET_CALIBRATION_AUTO)
        how->kind = n < CV_ROWS ? STONET_CALIBRATION_CV : STONET_CALIBRATION_SPLIT;
    return STONET_OK;
}

/* What the caller should know of rows that are not as they were said to be. */
static stonet_status note_rows(const calibration_job *job, const stonet_calibrate_options *how)
{
    SN_AUTO(stonet_data) *part = NULL;
    int64_t n;
    int met = 0;
    if (how->kind == STONET_CALIBRATION_FRESH) { /* the mistake that would not be seen */
        if (stonet_model_met(job->model, job->data, &met) == STONET_OK && met)
            sn_message(
                job->run, STONET_WARNING,
                "the fresh rows look like the training rows; if they are, intervals and sets are too small");
        return STONET_OK;
    }
    SN_TRY(sn_refit_used_rows(job->model, job->data, &part, &n));
    if (n != job->model->n_train)
        sn_message(
            job->run, STONET_WARNING,
            "the model was fitted on %lld rows and is calibrated with %lld: give all training rows, or new "
            "rows as fresh ones",
            (long long)job->model->n_train, (long long)n);
    return STONET_OK;
}

stonet_status stonet_calibrate(stonet_model *model, const stonet_data *data,
                               const stonet_calibrate_options *options, const stonet_run *run)
{
    if (model == NULL || data == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_calibrate needs a model and data");
    stonet_calibrate_options how;
    stonet_run running;
    SN_TRY(SN_TAKE_OPTIONS(stonet_calibrate_options, STONET_CALIBRATE_OPTIONS_INIT, options, &how));
    SN_TRY(sn_take_run(run, &running));
    SN_AUTO(stonet_data) *counted = NULL; /* a row of weight 0 is as good as not there, as in the fit */
    SN_TRY(sn_frame_counted_rows(data, &counted));
    if (counted != NULL) data = counted;
    SN_TRY(check(model, &how, stonet_data_rows(data)));
    calibration_job job = {.model = model,
                           .data = data,
                           .run = &running,
                           .n = stonet_data_rows(data),
                           .outputs = sn_schema_outputs(model->schema),
                           .has_classes = model->schema->task == SN_CLASSIFICATION};
    SN_TRY(note_rows(&job, &how));
    SN_THREADS(running.threads);
    SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
    stonet_status status = score_all(&job, &how, &folds);
    if (status != STONET_OK) {
        sn_calibration_free(job.made);
        return status;
    }
    sn_calibration_free(model->calibration);
    model->calibration = job.made;
    return STONET_OK;
}
