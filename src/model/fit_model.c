/* stonet_fit: table -> schema -> scaled rows -> method -> Z -> learner. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/checkpoint.h"
#include "base/memory.h"
#include "base/take_options.h"
#include "data/encoder.h"
#include "data/frame.h"
#include "data/kin.h"
#include "model/calibration.h"

int sn_model_threads(int threads)
{
    int before = omp_get_max_threads();
    omp_set_num_threads(sn_bounded_threads(threads > 0 ? threads : before));
    return before;
}

sn_task_wish sn_spec_task(const stonet_spec *spec)
{
    int task = sn_words_choice(&sn_task_words, spec->common, "task");
    const int law = sn_words_choice(&sn_law_kind_words, spec->common, "task");
    if (law >= 0) return (sn_task_wish)(SN_TASK_WISH_LAW + law);
    if (task < 0) return SN_TASK_AUTO;
    return task == SN_CLASSIFICATION ? SN_TASK_WISH_CLASSIFICATION : SN_TASK_WISH_REGRESSION;
}

/* auto is gaussian until the method says more (choose_missing). */
static sn_missing missing_of(const stonet_spec *spec)
{
    const int given = sn_words_choice(&sn_missing_words, spec->common, "missing");
    return given < 0 ? SN_MISSING_GAUSSIAN : (sn_missing)given;
}

stonet_status sn_spec_rows(const stonet_spec *spec, const stonet_data *data, const stonet_run *run,
                           stonet_data **part)
{
    if (missing_of(spec) != SN_MISSING_DROP) return sn_frame_counted_rows(data, part);
    SN_AUTO(stonet_data) *counted = NULL;
    SN_TRY(sn_frame_counted_rows(data, &counted));
    if (counted != NULL) data = counted;
    SN_TRY(sn_frame_complete_rows(data, part));
    if (*part == NULL) return SN_GIVE(counted, part);
    sn_message(run, STONET_WARNING,
               "%lld of %lld rows have missing cells and are left out (missing=drop); %lld are left",
               (long long)(data->n - (*part)->n), (long long)data->n, (long long)(*part)->n);
    return STONET_OK;
}

static bool does_task(unsigned tasks, sn_task task)
{
    return (tasks & (task == SN_CLASSIFICATION ? SN_TASK_CLASSIFICATION : SN_TASK_REGRESSION)) != 0;
}

/* Whether the ranks of a team can fit it together. */
static stonet_status check_team(const stonet_spec *spec, const stonet_run *run)
{
    if (!sn_team_shares(run->team)) return STONET_OK;
    const bool without = spec->method->shares_landmarks && sn_is(spec->settings, "landmarks", "none");
    if (without)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "method '%s' needs the kernel of all pairs of rows in one process: set landmarks=500 "
                       "(sums over rows, which are shared out), or start the fit without mpirun",
                       spec->method->name);
    if (!spec->method->shares && !spec->method->shares_landmarks)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "method '%s' needs all rows in one process: start the fit without mpirun. (tune and "
                       "compare share "
                       "out whole fits of any method.)",
                       spec->method->name);
    if (spec->learner != NULL)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "learner '%s' is fitted by one process: leave it out, or start the fit without mpirun",
                       spec->learner->name);
    return STONET_OK;
}

/* A method that knows no laws can still reduce censored times and counts if it cuts the observed values into
   slices. Times known only to lie in an interval cannot be sliced. */
static stonet_status check_method(const sn_method *method, const sn_schema *schema)
{
    sn_task task = schema->task;
    const bool sliced = schema->law != SN_LAW_INTERVALS && (method->tasks & SN_TASK_SLICES) != 0;
    if (sn_schema_has_law(schema) && (method->tasks & SN_TASK_LAWS) == 0 && !sliced)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "method '%s' knows no response of task=%s: use method 'stonet'", method->name,
                       sn_schema_task_word(schema));
    if (!does_task(method->tasks, task))
        return sn_fail(STONET_ERROR_UNSUPPORTED, "method '%s' does not do %s, which this target needs",
                       method->name, sn_words_name(&sn_task_words, task));
    if (task == SN_REGRESSION && sn_schema_outputs(schema) > 1 && !method->multi_output)
        return sn_fail(
            STONET_ERROR_UNSUPPORTED,
            "method '%s' takes one target column and was given %lld: choose one, or another method",
            method->name, (long long)sn_schema_outputs(schema));
    return STONET_OK;
}

/* The task of the response. A table may lack a response if neither the method nor a setting needs one. */
static stonet_status response_wish(const stonet_spec *spec, const stonet_data *train, sn_task_wish *wish)
{
    *wish = sn_spec_task(spec);
    if (stonet_data_targets(train, NULL) != NULL || stonet_data_classes(train, NULL) != NULL)
        return STONET_OK;
    if (!spec->method->unsupervised)
        return sn_fail(
            STONET_ERROR_DATA,
            "%s has no target, and method '%s' needs one: name the target column or the target file",
            sn_table_name(train), spec->method->name);
    if (spec->learner != NULL)
        return sn_fail(STONET_ERROR_DATA,
                       "learner '%s' needs a target, and %s has none: name it, or learner=none",
                       spec->learner->name, sn_table_name(train));
    if (*wish != SN_TASK_AUTO)
        return sn_fail(STONET_ERROR_DATA, "task=%s needs a target, and %s has none",
                       sn_word(spec->common, "task"), sn_table_name(train));
    *wish = SN_TASK_WISH_NONE;
    return STONET_OK;
}

/* A column of few distinct numbers may be a code: levels=auto gives it both its number and an indicator of
   each value, and weight decay chooses between them. The columns of a wide table are more often pixels. */
enum { AUTO_LEVELS = 8, PIXELS = 64 };

static void tell_levels(const stonet_spec *spec, const sn_schema *schema, const stonet_run *run)
{
    const int64_t columns = sn_schema_level_inputs(schema);
    if (columns > 0 && *sn_word(spec->common, "levels") != '\0')
        sn_message(run, STONET_NOTE,
                   "%lld column%s of few distinct numbers also count%s as categories "
                   "(levels=none leaves %s numbers)",
                   (long long)columns, columns == 1 ? "" : "s", columns == 1 ? "s" : "",
                   columns == 1 ? "it as" : "them");
}

static stonet_status spec_curves(const stonet_spec *spec, const stonet_data *train, const stonet_run *run,
                                 sn_encoding *out)
{
    const bool open = sn_is(spec->common, "curves", "auto");
    out->curves = open ? SN_CURVE_NONE : (sn_curve)sn_words_choice(&sn_curve_words, spec->common, "curves");
    if (*sn_word(spec->common, "curves_window") == '\0')
        out->curve_window = sn_int(spec->common, "curves_window");
    if (!sn_is(spec->common, "curves_columns", "all"))
        out->curve_columns = sn_text(spec->common, "curves_columns");
    if (!open && out->curves == SN_CURVE_NONE && out->curve_columns != NULL)
        sn_message(run, STONET_NOTE,
                   "curves_columns has no effect while curves=none: set curves=snv, for example");
    return open ? sn_curves_choose(train, run, out) : STONET_OK;
}

stonet_status sn_spec_encoding(const stonet_spec *spec, const stonet_data *train, const stonet_run *run,
                               sn_encoding *out)
{
    *out = (sn_encoding){.scale = (sn_scale)sn_words_choice(&sn_scale_words, spec->common, "scale"),
                         .missing = missing_of(spec)};
    SN_TRY(response_wish(spec, train, &out->task));
    const bool none = sn_is(spec->common, "levels", "none") ||
                      (sn_is(spec->common, "levels", "default") && !spec->method->chooses_levels);
    if (*sn_word(spec->common, "levels") == '\0')
        out->levels = sn_int(spec->common, "levels");
    else if (!none && train->n_numeric < PIXELS)
        out->levels = AUTO_LEVELS;
    out->indicators = train->missing > 0 && sn_is(spec->common, "missing_indicators", "on");
    return spec_curves(spec, train, run, out);
}

int stonet_spec_needs_response(const stonet_spec *spec)
{
    if (spec == NULL) return 0;
    return !spec->method->unsupervised || spec->learner != NULL || sn_spec_task(spec) != SN_TASK_AUTO;
}

/* The learner on Z: the named one, or the plain regression of the task if the method does not predict. The
   plain one has no settings yet: held-out rows of Z choose them later. */
static stonet_status choose_learner(const stonet_spec *spec, stonet_model *model)
{
    sn_task task = model->schema->task;
    if (sn_schema_outputs(model->schema) == 0) return STONET_OK;
    if (spec->learner != NULL && sn_schema_has_law(model->schema) &&
        (spec->learner->tasks & SN_TASK_LAWS) == 0)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "learner '%s' knows no response of task=%s: use learner=linear, or leave it out",
                       spec->learner->name, sn_schema_task_word(model->schema));
    if (spec->learner != NULL) {
        if (!does_task(spec->learner->tasks, task))
            return sn_fail(STONET_ERROR_UNSUPPORTED,
                           "learner '%s' does not do %s: use another one, or learner=auto",
                           spec->learner->name, sn_words_name(&sn_task_words, task));
        model->learner = spec->learner;
        return sn_settings_copy(spec->learner_settings, &model->learner_settings);
    }
    if (sn_is(spec->common, "learner", "none") || spec->method->predict != NULL) return STONET_OK;
    const char *name = task == SN_CLASSIFICATION ? "logistic" : "linear";
    model->learner = sn_learner_find(name);
    if (model->learner == NULL)
        return sn_fail(STONET_ERROR_UNSUPPORTED, "this build has no learner '%s'", name);
    if (sn_schema_has_law(model->schema)) /* held-out rows have no choice: one learner knows the law */
        return sn_settings_create(model->learner->params, model->learner->n_params, &model->learner_settings);
    return STONET_OK;
}

/* Whether weights, if there are any, can be heeded. */
static stonet_status check_weights(const stonet_model *model, const stonet_data *train)
{
    const bool balanced = sn_is(model->common, "class_weight", "balanced");
    if (balanced && model->schema->task != SN_CLASSIFICATION)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "class_weight=balanced is for classes, and this target is a number");
    if (train->weight == NULL && !balanced) return STONET_OK;
    if (!model->method->weighted)
        return sn_fail(
            STONET_ERROR_UNSUPPORTED,
            "method '%s' has no weighted form: leave the weights out, or use one of pca, sir, save, "
            "dr, phd, none and stonet",
            model->method->name);
    if (model->learner != NULL && !model->learner->weighted)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "learner '%s' has no weighted form: leave the weights out, or use learner=%s",
                       model->learner->name,
                       model->schema->task == SN_CLASSIFICATION ? "logistic" : "linear");
    return STONET_OK;
}

/* w_i <- w_i W / (C W_c): every class counts the same, and all rows as much as before. */
static stonet_status balance(const sn_problem *problem, float *weight)
{
    double total = 0.0, classes = 0.0;
    SN_ZEROS(problem->outputs, double, of_class);
    for (int64_t i = 0; i < problem->n; i++) {
        of_class[sn_problem_label(problem, i)] += (double)weight[i];
        total += (double)weight[i];
    }
    for (int64_t c = 0; c < problem->outputs; c++) classes += of_class[c] > 0.0;
    for (int64_t i = 0; i < problem->n; i++)
        if (weight[i] > 0.0F)
            weight[i] =
                (float)((double)weight[i] * total / (classes * of_class[sn_problem_label(problem, i)]));
    return STONET_OK;
}

/* What each row counts: the weights of the table, times those of their classes; *out, to be freed, NULL: 1.
 */
static stonet_status weights_of(const sn_settings *common, const stonet_data *data, const sn_problem *problem,
                                float **out)
{
    const bool balanced = sn_is(common, "class_weight", "balanced") && problem->task == SN_CLASSIFICATION;
    *out = NULL;
    if (data->weight == NULL && !balanced) return STONET_OK;
    double total = 0.0;
    SN_TRY(SN_NEW_RAW(*out, problem->n));
    for (int64_t i = 0; i < problem->n; i++) {
        (*out)[i] = data->weight != NULL ? (float)data->weight[i] : 1.0F;
        total += (double)(*out)[i];
    }
    if (!(total > 0.0))
        return sn_fail(STONET_ERROR_DATA, "%s: all weights are 0: no row counts", sn_table_name(data));
    return balanced ? balance(problem, *out) : STONET_OK;
}

/* A scaled copy of the features is kept for a method that would take them row by row when it is this small:
   to scale every batch anew costs time, and this little memory is no burden. */
enum { SMALL_COPY = 64 << 20 }; /* bytes */

/* What is behind a problem. */
typedef struct encoded {
    float *x;            /* all rows scaled, or */
    sn_encoder *encoder; /* the way to scale any of them */
    int32_t *label;
    double *y, *seen;
    sn_raw_response raw; /* instead of both */
    int64_t *group;
    float *weight;
    sn_problem problem;
} encoded;

static void encoded_free(encoded *data)
{
    sn_encoder_free(data->encoder);
    sn_raw_response_clear(&data->raw);
    SN_FREE_ALL(data->x, data->label, data->y, data->seen, data->group, data->weight);
}

/* Sets problem->x, a scaled copy of the features (n x p), or problem->source, which scales rows when a method
   fetches them. A method that draws missing cells anew gets the source in any case. */
static stonet_status encode_x(const sn_schema *schema, const stonet_data *train, const sn_method *method,
                              uint64_t seed, encoded *out)
{
    const bool draws = method->redraws && train->missing > 0 && schema->imputer != NULL;
    sn_problem *problem = &out->problem;
    const uint64_t bytes = (uint64_t)problem->n * (uint64_t)problem->p * sizeof *out->x;
    const bool by_rows = method->by_rows && bytes > SMALL_COPY;
    if (by_rows || draws) {
        SN_TRY(sn_encoder_create(schema, train, &out->encoder));
        sn_encoder_key(out->encoder, seed, false);
        problem->source = sn_encoder_source(out->encoder);
        problem->joint = draws && schema->missing == SN_MISSING_JOINT;
        /* Of a joint training the network says what y says of the cells. */
        if (draws && !problem->joint) sn_encoder_give_response(out->encoder);
    }
    if (by_rows) return STONET_OK;
    SN_TRY(sn_memory_require(bytes, "the scaled copy of the data", "take fewer rows or columns"));
    SN_TRY(SN_NEW_RAW(out->x, problem->n * problem->p));
    SN_TRY(sn_schema_encode_x(schema, train, out->x));
    problem->x = out->x;
    return STONET_OK;
}

/* The response of a table that stays on disk does too, unless it has to be in memory. */
static stonet_status encode_y(const sn_schema *schema, const stonet_data *train, bool in_memory, encoded *out)
{
    sn_problem *problem = &out->problem;
    if (schema->law != SN_LAW_NONE) problem->law = sn_law_find(schema->law, "auto");
    if (sn_schema_has_law(schema)) {
        SN_TRY(SN_NEW_RAW(out->y, problem->n));
        SN_TRY(SN_NEW_RAW(out->seen, problem->n * SN_LAW_SEEN));
        SN_TRY(sn_schema_encode_law(schema, train, out->seen, out->y));
        problem->y = out->y;
        problem->seen = out->seen;
        return STONET_OK;
    }
    if (!in_memory && train->mapped_y != NULL && problem->x == NULL && !problem->joint) {
        problem->raw = &out->raw;
        return sn_schema_raw_response(schema, train, true, &out->raw);
    }
    if (problem->task == SN_CLASSIFICATION)
        SN_TRY(SN_NEW_RAW(out->label, problem->n));
    else
        SN_TRY(SN_NEW_RAW(out->y, problem->n * problem->outputs));
    SN_TRY(sn_schema_encode_y(schema, train, out->label, out->y));
    problem->label = out->label;
    problem->y = out->y;
    return STONET_OK;
}

/* missing=auto. The state of all cells has to be in memory for joint, so large tables stay with gaussian. */
static void choose_missing(const stonet_spec *spec, const stonet_data *train, sn_schema *schema)
{
    const sn_problem about = {.n = stonet_data_rows(train),
                              .p = schema->p,
                              .task = schema->task,
                              .outputs = sn_schema_outputs(schema)};
    const bool small = (uint64_t)about.n * (uint64_t)about.p * sizeof(float) <= SMALL_COPY;
    if (sn_is(spec->common, "missing", "auto") && train->missing > 0 && small && schema->law == SN_LAW_NONE &&
        spec->method->joins != NULL && spec->method->joins(spec->settings, &about))
        schema->missing = SN_MISSING_JOINT;
}

/* Fills out->problem from the table by the schema of the model. `out` owns all memory behind the problem; the
   caller frees it with encoded_free, after a failure too. */
static stonet_status encode(const stonet_model *model, const stonet_data *train, uint64_t seed, encoded *out)
{
    const sn_schema *schema = model->schema;
    sn_problem *problem = &out->problem;
    problem->n = stonet_data_rows(train);
    problem->p = schema->p;
    problem->task = schema->task;
    problem->outputs = sn_schema_outputs(schema);
    problem->image = schema->image;
    problem->groups = sn_schema_used(schema);
    SN_TRY(SN_NEW_RAW(out->group, problem->groups + 1));
    sn_schema_groups(schema, out->group);
    problem->group = out->group;
    SN_TRY(encode_x(schema, train, model->method, seed, out));
    if (problem->outputs > 0) SN_TRY(encode_y(schema, train, model->learner != NULL, out));
    SN_TRY(weights_of(model->common, train, problem, &out->weight));
    problem->weight = out->weight;
    return STONET_OK;
}

/* Fits the learner on Z of the training rows. x is given up as soon as Z is there. */
static stonet_status fit_learner(stonet_model *model, const stonet_data *train, encoded *data,
                                 const stonet_run *run)
{
    sn_problem on_z = data->problem;
    SN_ARRAY(on_z.n * model->dim, float, z);
    SN_TRY(data->x != NULL ? sn_model_reduce(model, data->x, on_z.n, NULL, z)
                           : sn_model_reduce_table(model, train, z));
    SN_FREE(data->x);
    on_z.x = z;
    on_z.source = NULL;
    on_z.group = NULL;
    on_z.p = model->dim;
    if (model->learner_settings == NULL)
        SN_TRY(sn_learner_choose(&on_z, run, model->learner, &model->learner, &model->learner_settings));
    return model->learner->fit(&on_z, model->learner_settings, run, &model->learner_state);
}

/* Adds the history of the last training to that of the model, under the one header line. */
static stonet_status keep_history(stonet_model *model)
{
    const char *history = model->method->history != NULL ? model->method->history(model->state) : NULL;
    if (history == NULL) return STONET_OK;
    const char *before = model->history != NULL ? model->history : "";
    const char *rows = strchr(history, '\n');
    if (model->history != NULL) history = rows != NULL ? rows + 1 : "";
    size_t size = strlen(before) + strlen(history) + 1;
    char *all = NULL;
    SN_TRY(SN_NEW_RAW(all, size));
    snprintf(all, size, "%s%s", before, history);
    sn_free(model->history);
    model->history = all;
    return STONET_OK;
}

static stonet_status fit_method(const stonet_spec *spec, const encoded *data, const stonet_run *run,
                                stonet_model *model)
{
    sn_fit_result result = {.dim = sn_int(spec->common, "dim")};
    stonet_status status =
        sn_method_fit(spec->method, &data->problem, result.dim, spec->settings, run, &result);
    model->state = result.state;
    SN_TRY(status);
    model->dim = result.dim;
    model->outcome = result.outcome;
    return keep_history(model);
}

/* Everything in the order it depends on: encoding, schema, learner, encoded rows, method, learner on Z. After
   a failure the model is partly filled, and the caller frees it. */
static stonet_status fit_parts(const stonet_spec *spec, const stonet_data *train, const stonet_run *run,
                               stonet_model *model)
{
    model->method = spec->method;
    model->n_train = stonet_data_rows(train);
    model->seed = run->seed;
    SN_TRY(sn_settings_copy(spec->common, &model->common));
    SN_TRY(sn_settings_copy(spec->settings, &model->settings));
    sn_encoding encoding;
    stonet_run alone = *run; /* how curves are prepared is found out by every rank for itself */
    alone.team = NULL;
    SN_TRY(sn_spec_encoding(spec, train, &alone, &encoding));
    SN_TRY(sn_schema_fit(train, &encoding, run, &model->schema));
    tell_levels(spec, model->schema, run);
    SN_TRY(check_method(spec->method, model->schema));
    choose_missing(spec, train, model->schema);
    SN_TRY(choose_learner(spec, model));
    SN_TRY(check_weights(model, train));
    SN_WORKSPACE(scratch);
    SN_FREED_BY(encoded_free) encoded data = {0};
    SN_TRY(encode(model, train, run->seed, &data));
    const bool open = model->learner != NULL && model->learner_settings == NULL;
    if (spec->method->chooses_levels || open) /* by held-out rows */
        SN_TRY(sn_kin_find(train, run, &scratch, &data.problem.kin));
    data.problem.copies = !sn_frame_has_groups(train);
    SN_TRY(fit_method(spec, &data, run, model));
    if (model->learner != NULL) SN_TRY(fit_learner(model, train, &data, run));
    sn_schema_forget_response(model->schema);
    return STONET_OK;
}

/* Ranks that were started with other files or options would go on to a model of none of them, or wait for
 * ever. */
static stonet_status check_same(const stonet_spec *spec, const stonet_data *train, const stonet_run *run)
{
    sn_hash hash;
    if (!sn_team_shares(run->team)) return STONET_OK;
    sn_hash_begin(&hash);
    SN_TRY(sn_frame_check(train));
    sn_frame_hash_some(train, &hash);
    SN_TRY(sn_spec_hash(spec, run->seed, &hash));
    return sn_team_agree(run->team, &hash);
}

/* Opens the part of the checkpoint that is for this fit; what cannot be kept is said. */
static stonet_status begin_checkpoint(const stonet_spec *spec, const stonet_data *train,
                                      const stonet_run *run)
{
    sn_hash hash;
    SN_TRY(check_same(spec, train, run));
    if (sn_checkpoint_is_elsewhere(run)) return STONET_OK;
    sn_hash_begin(&hash);
    SN_TRY(sn_frame_check(train));
    sn_frame_hash(train, &hash);
    SN_TRY(sn_spec_hash_but_dim(spec, run->seed, &hash)); /* of which the records know what they need */
    SN_TRY(sn_checkpoint_begin(run->checkpoint, "fit", &hash, run));
    if (!spec->method->keeps && sn_checkpoint_is_file(run->checkpoint))
        sn_message(run, STONET_NOTE,
                   "method '%s' writes no checkpoint: a stopped fit starts from the beginning",
                   spec->method->name);
    return STONET_OK;
}

stonet_status stonet_fit(const stonet_spec *spec, const stonet_data *train, const stonet_run *run,
                         stonet_model **out)
{
    if (spec == NULL || train == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_fit needs a spec, data and a place for the model");
    *out = NULL;
    stonet_run how;
    SN_TRY(sn_take_kept_run(run, &how));
    SN_TRY(check_team(spec, &how));
    SN_TRY(begin_checkpoint(spec, train, &how));
    SN_AUTO(stonet_model) *model = NULL;
    SN_AUTO(stonet_data) *part = NULL;
    SN_TRY(SN_NEW(model, 1));
    SN_THREADS(how.threads);
    stonet_status status = sn_spec_rows(spec, train, &how, &part);
    if (status == STONET_OK) status = fit_parts(spec, part != NULL ? part : train, &how, model);
    SN_TRY(sn_checkpoint_end(how.checkpoint, status));
    return SN_GIVE(model, out);
}

/* Trains the model further on new rows, whose share of all rows so far says how much they count. The schema
   stays as it was: new rows are scaled by the means of the first fit. */
static stonet_status fit_more(stonet_model *model, const stonet_data *more, const stonet_run *run)
{
    SN_FREED_BY(encoded_free) encoded data = {0};
    const double rows = (double)stonet_data_rows(more);
    SN_TRY(encode(model, more, run->seed, &data));
    SN_TRY(model->method->fit_more(model->state, &data.problem, rows / (rows + (double)model->n_train),
                                   model->settings, run, &model->outcome));
    model->n_train += stonet_data_rows(more);
    if (model->calibration != NULL)
        sn_message(run, STONET_NOTE,
                   "the calibration of the model was of the network before it was trained further and is "
                   "dropped: calibrate it again for intervals and sets");
    sn_calibration_free(model->calibration);
    model->calibration = NULL;
    return keep_history(model);
}

stonet_status stonet_fit_more(stonet_model *model, const stonet_data *more, const stonet_run *run)
{
    if (model == NULL || more == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_fit_more needs a model and data");
    if (model->method->fit_more == NULL || model->learner != NULL)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "this model of method '%s' cannot be trained further: fit all rows at once",
                       model->method->name);
    stonet_run how;
    SN_TRY(sn_take_run(run, &how));
    SN_THREADS(how.threads);
    return fit_more(model, more, &how);
}

void stonet_model_free(stonet_model *model)
{
    if (model == NULL) return;
    if (model->method != NULL && model->state != NULL) model->method->free(model->state);
    if (model->learner != NULL && model->learner_state != NULL) model->learner->free(model->learner_state);
    sn_settings_free(model->common);
    sn_settings_free(model->settings);
    sn_settings_free(model->learner_settings);
    sn_schema_free(model->schema);
    sn_calibration_free(model->calibration);
    SN_FREE_ALL(model->history, model->note, model);
}
