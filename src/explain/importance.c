#include "explain/importance.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/failure.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/take_options.h"
#include "base/words.h"
#include "data/schema.h"
#include "math/kernel.h"
#include "model/score_law.h"
#include "model/settings_json.h"
#include "stats/metrics.h"

static const double SMALLEST_PROBABILITY = 1e-15;

stonet_status sn_asked_losses(const sn_asked *asked, const float *x, const int64_t *rows, int64_t n, float *z,
                              double *loss)
{
    const int64_t m = asked->outputs;
    SN_WORKSPACE(scratch);
    SN_ARRAY(n * m, double, predicted);
    SN_TRY(sn_model_predict(asked->model, x, n, z, predicted));
    if (asked->seen != NULL) {
        double *seen = NULL;
        SN_TRY(SN_TAKE(&scratch, seen, n * SN_LAW_SEEN));
        for (int64_t i = 0; i < n * SN_LAW_SEEN; i++) {
            const int64_t row = rows != NULL ? rows[i / SN_LAW_SEEN] : i / SN_LAW_SEEN;
            seen[i] = asked->seen[row * SN_LAW_SEEN + i % SN_LAW_SEEN];
        }
        return sn_law_losses(asked->model, n, seen, predicted, loss);
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = rows != NULL ? rows[i] : i;
        const double *at = predicted + i * m;
        loss[i] = 0.0;
        if (asked->label != NULL) {
            loss[i] = -log(fmax(at[asked->label[row]], SMALLEST_PROBABILITY));
            continue;
        }
        for (int64_t k = 0; k < m; k++)
            loss[i] +=
                pow((at[k] - asked->y[row * m + k]) / sn_schema_target_sd(asked->model->schema, k), 2) /
                (double)m;
    }
    return STONET_OK;
}

/* ---- the rows ---------------------------------------------------------------------------------- */

/* Exactly one of label, seen and y is set, in `keep`. y is in its own units, as predictions are: the encoded
   targets are scaled back. */
static stonet_status ask_response(const stonet_data *data, sn_workspace *keep, sn_asked *out)
{
    const sn_schema *schema = out->model->schema;
    const int64_t m = out->outputs;
    if (sn_schema_has_law(schema)) {
        SN_TRY(SN_TAKE(keep, out->seen, out->n * SN_LAW_SEEN));
        return sn_schema_encode_law(schema, data, out->seen, NULL);
    }
    if (schema->task == SN_CLASSIFICATION) {
        SN_TRY(SN_TAKE(keep, out->label, out->n));
        return sn_schema_encode_y(schema, data, out->label, NULL);
    }
    SN_TRY(SN_TAKE(keep, out->y, out->n * m));
    SN_TRY(sn_schema_encode_y(schema, data, NULL, out->y));
    for (int64_t i = 0; i < out->n * m; i++)
        out->y[i] = sn_schema_target_mean(schema, i % m) + sn_schema_target_sd(schema, i % m) * out->y[i];
    return STONET_OK;
}

/* The inputs that have features: those the model leaves out are no variables of it. */
static stonet_status ask_variables(sn_workspace *keep, sn_asked *out)
{
    const sn_schema *schema = out->model->schema;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
    SN_TRY(SN_TAKE(keep, out->variable, schema->n_inputs));
    for (int64_t j = 0; j < schema->n_inputs; j++)
        if (schema->input[j].features > 0) out->variable[out->variables++] = &schema->input[j];
    return STONET_OK;
}

static stonet_status ask_weights(const stonet_data *data, sn_workspace *keep, sn_asked *out)
{
    if (data->weight == NULL) return STONET_OK;
    double total = 0.0, sum = 0.0;
    SN_TRY(SN_TAKE(keep, out->weight, out->n));
    SN_TRY(SN_TAKE(keep, out->share, out->n));
    for (int64_t i = 0; i < out->n; i++) total += data->weight[i];
    if (!(total > 0.0))
        return sn_fail(STONET_ERROR_DATA, "%s: all weights are 0: no row counts", sn_table_name(data));
    for (int64_t i = 0; i < out->n; i++) {
        out->weight[i] = data->weight[i] * (double)out->n / total;
        out->share[i] = (sum += data->weight[i]) / total;
    }
    return STONET_OK;
}

double sn_asked_average(const sn_asked *asked, const double *values)
{
    double sum = 0.0;
    for (int64_t i = 0; i < asked->n; i++) sum += sn_asked_weight(asked, i) * values[i];
    return sum / (double)asked->n;
}

double sn_asked_variance(const sn_asked *asked, const float *values, int64_t apart)
{
    const int64_t n = asked->n;
    double mean = 0.0, squares = 0.0;
    for (int64_t i = 0; i < n; i++) mean += sn_asked_weight(asked, i) * (double)values[i * apart] / (double)n;
    for (int64_t i = 0; i < n; i++)
        squares += sn_asked_weight(asked, i) * pow((double)values[i * apart] - mean, 2);
    return squares / (double)n;
}

void sn_asked_mean(const sn_asked *asked, const double *values, double *mean, double *error)
{
    const int64_t n = asked->n;
    *mean = sn_asked_average(asked, values);
    *error = sn_standard_error(n, values);
    if (asked->weight == NULL) return;
    double squares = 0.0;
    for (int64_t i = 0; i < n; i++) squares += pow(asked->weight[i] * (values[i] - *mean), 2);
    *error = n > 1 ? sqrt(squares / ((double)n * (double)(n - 1))) : 0.0;
}

int64_t sn_asked_draw(const sn_asked *asked, sn_random *random)
{
    if (asked->weight == NULL) return (int64_t)sn_random_below(random, (uint64_t)asked->n);
    const double u = sn_random_uniform(random);
    int64_t low = 0, high = asked->n - 1;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (asked->share[middle] > u)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void sn_asked_shuffle(const sn_asked *asked, sn_random *random, int64_t *order)
{
    if (asked->weight == NULL) {
        sn_random_permutation(random, asked->n, order);
        return;
    }
    for (int64_t i = 0; i < asked->n; i++) order[i] = sn_asked_draw(asked, random);
}

stonet_status sn_asked_create(const stonet_model *model, const stonet_data *data, sn_workspace *keep,
                              sn_asked *out)
{
    out->model = model;
    out->data = data;
    out->n = stonet_data_rows(data);
    out->p = model->schema->p;
    out->outputs = sn_schema_outputs(model->schema);
    out->dim = model->dim;
    if (out->outputs == 0)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "this model was fitted without a response, and importance is for a response: fit it "
                       "with a target");
    SN_TRY(sn_memory_require((uint64_t)out->n * (uint64_t)out->p * 3 * sizeof(float), "the scaled rows",
                             "give a sample of the rows"));
    SN_TRY(SN_TAKE(keep, out->x, out->n * out->p));
    SN_TRY(sn_schema_encode_x(model->schema, data, out->x));
    SN_TRY(ask_response(data, keep, out));
    SN_TRY(ask_weights(data, keep, out));
    return ask_variables(keep, out);
}

/* ---- one variable after the other ---------------------------------------------------------------- */

/* Shared by the workers. */
typedef struct crew {
    const sn_asked *asked;
    const char *stage;
    sn_try try;
    const void *job;
    const bool *used;   /* variables: whether the model looks at it */
    int64_t next, done; /* variables */
    int stopped;
    double started;
} crew;

/* used: of the inputs that have features. */
static stonet_status find_used(const sn_asked *asked, bool *used)
{
    const sn_schema *schema = asked->model->schema;
    SN_ARRAY(schema->n_inputs, bool, of);
    SN_TRY(sn_model_used(asked->model, of));
    int64_t count = 0;
    for (int64_t j = 0; j < schema->n_inputs; j++)
        if (schema->input[j].features > 0) used[count++] = of[j];
    return STONET_OK;
}

static stonet_status tries_create(const sn_asked *asked, sn_workspace *keep, sn_tries *out)
{
    SN_TRY(SN_TAKE(keep, out->after, asked->n));
    SN_TRY(SN_TAKE(keep, out->growth, asked->n));
    SN_TRY(SN_TAKE(keep, out->x, asked->n * asked->p));
    SN_TRY(SN_TAKE(keep, out->moved, asked->n * asked->dim));
    SN_TRY(SN_TAKE(keep, out->order, asked->n));
    memcpy(out->x, asked->x, (size_t)(asked->n * asked->p) * sizeof *out->x);
    return STONET_OK;
}

/* Takes one variable after the other from the counter, since tries differ in length. */
static stonet_status work(crew *all)
{
    const sn_asked *asked = all->asked;
    SN_WORKSPACE(scratch);
    sn_tries at;
    SN_TRY(tries_create(asked, &scratch, &at));
    for (;;) {
        int64_t j, done;
#pragma omp atomic capture
        j = all->next++;
        if (j >= asked->variables || sn_should_stop_shared(asked->run, &all->stopped)) return STONET_OK;
        if (all->used[j]) SN_TRY(all->try(all->job, j, &at, &all->stopped));
#pragma omp atomic capture
        done = ++all->done;
        /* the caller's function need not be ready for other threads */
        if (all->stage == NULL || omp_get_thread_num() != 0) continue;
        sn_progress_of(asked->run, all->stage, done, asked->variables, (double)NAN, all->started);
    }
}

/* As many as there are threads, but for copies of the rows that would take much memory: then each prediction
   is shared out instead. */
static int count_workers(const sn_asked *asked)
{
    const double most_bytes = 1e9, copy = (double)asked->n * (double)asked->p * sizeof(float);
    const int threads = sn_threads(asked->run),
              most = most_bytes / copy > threads ? threads : (int)(most_bytes / copy);
    return most > 1 ? most : 1;
}

stonet_status sn_asked_try_each(const sn_asked *asked, const char *stage, sn_try try, const void *job)
{
    const int workers = count_workers(asked);
    sn_failure failure = {.status = STONET_OK};
    SN_ARRAY(asked->variables, bool, used);
    SN_TRY(find_used(asked, used));
    crew all = {
        .asked = asked, .stage = stage, .try = try, .job = job, .used = used, .started = sn_seconds()};
    if (workers == 1)
        SN_TRY(work(&all));
    else {
#pragma omp parallel num_threads(workers)
        {
            SN_THREADS(1);
            sn_failure_note(&failure, omp_get_thread_num(), work(&all));
        }
    }
    SN_TRY(sn_failure_raise(&failure));
    if (all.stopped) return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before all variables were looked at");
    return STONET_OK;
}

/* ---- the call ---------------------------------------------------------------------------------- */

#define KIND_WORDS(between)                                                                                  \
    "permutation" between "gradient" between "shapley" between "refit" between "stability" between           \
    "conditional" between "vip"
SN_DEFINE_WORDS(sn_importance_words, "kind", STONET_IMPORTANCE_VIP, KIND_WORDS);

stonet_status stonet_importance_kind_find(const char *name, stonet_importance_kind *kind)
{
    if (name == NULL || kind == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "stonet_importance_kind_find needs a name and a place for the kind");
    const int found = sn_words_find(&sn_importance_words, name);
    if (found < 0)
        return sn_fail(
            STONET_ERROR_ARGUMENT,
            "there is no kind of importance '%s': choose permutation, gradient, shapley, refit, stability, "
            "conditional or vip",
            name);
    *kind = (stonet_importance_kind)found;
    return STONET_OK;
}

static stonet_status result_create(const sn_asked *asked, bool with_z, stonet_importance_result *out)
{
    out->variables = asked->variables;
    out->dim = with_z ? asked->dim : 0;
    SN_TRY(SN_NEW(out->name, asked->variables));
    SN_TRY(SN_NEW(out->value, asked->variables));
    SN_TRY(SN_NEW(out->error, asked->variables));
    SN_TRY(SN_NEW(out->z, asked->variables * asked->dim));
    for (int64_t j = 0; j < asked->variables; j++)
        SN_TRY(sn_text_copy(asked->variable[j]->name, &out->name[j]));
    return STONET_OK;
}

/* Some rows of many for a test that draws them up to a thousand times a variable: it holds for any rows, and
   so many find what counts. NULL: all. */
static stonet_status few_rows(const stonet_data *data, const stonet_importance_options *how,
                              const stonet_run *run, stonet_data **part)
{
    enum { MOST = 5000, SUBSTREAM = 81 };
    const int64_t n = stonet_data_rows(data);
    *part = NULL;
    if (how->kind != STONET_IMPORTANCE_CONDITIONAL || n <= MOST) return STONET_OK;
    SN_ARRAY(MOST, int64_t, rows);
    SN_TRY(sn_choose_rows(n, MOST, run->seed, SUBSTREAM, rows));
    sn_message(run, STONET_NOTE, "the test uses %d of the %lld rows, drawn by the seed", MOST, (long long)n);
    return stonet_data_subset(data, rows, MOST, part);
}

static stonet_status (*const measures[])(const sn_asked *asked, stonet_importance_result *result) = {
    [STONET_IMPORTANCE_PERMUTATION] = sn_importance_permutation,
    [STONET_IMPORTANCE_GRADIENT] = sn_importance_gradient,
    [STONET_IMPORTANCE_SHAPLEY] = sn_importance_shapley,
    [STONET_IMPORTANCE_REFIT] = sn_importance_refit,
    [STONET_IMPORTANCE_STABILITY] = sn_importance_stability,
    [STONET_IMPORTANCE_CONDITIONAL] = sn_importance_conditional,
    [STONET_IMPORTANCE_VIP] = sn_importance_vip,
};

/* Encodes the rows once for all kinds. Only permutation and gradient say anything about the single columns of
   Z, so only their results show them. */
stonet_status sn_importance_measure(const stonet_model *model, const stonet_data *all,
                                    const stonet_importance_options *how, const stonet_run *run,
                                    stonet_importance_result *result)
{
    SN_AUTO(stonet_data) *part = NULL;
    SN_TRY(few_rows(all, how, run, &part));
    const stonet_data *data = part != NULL ? part : all;
    SN_WORKSPACE(scratch);
    sn_asked asked = {.run = run, .repeats = how->repeats, .train = how->train};
    SN_TRY(sn_asked_create(model, data, &scratch, &asked));
    SN_TRY(result_create(&asked, how->kind < STONET_IMPORTANCE_SHAPLEY, result));
    return measures[how->kind](&asked, result);
}

stonet_status stonet_importance(const stonet_model *model, const stonet_data *data,
                                const stonet_importance_options *options, const stonet_run *run,
                                stonet_importance_result **out)
{
    if (model == NULL || data == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "stonet_importance needs a model, data and a place for the result");
    *out = NULL;
    stonet_importance_options how;
    stonet_run taken;
    SN_TRY(SN_TAKE_OPTIONS(stonet_importance_options, STONET_IMPORTANCE_OPTIONS_INIT, options, &how));
    SN_TRY(sn_take_run(run, &taken));
    if ((unsigned)how.kind > STONET_IMPORTANCE_VIP || how.repeats < 0)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_importance: the kind is not one of the header's, or "
                                              "repeats is negative");
    if (how.kind == STONET_IMPORTANCE_REFIT && how.train == NULL)
        return sn_fail(STONET_ERROR_DATA,
                       "importance by refits needs the rows the model was fitted on, with the response");
    SN_AUTO(stonet_importance_result) *result = NULL;
    SN_TRY(SN_NEW(result, 1));
    SN_THREADS(taken.threads);
    SN_TRY(sn_importance_measure(model, data, &how, &taken, result));
    if (how.train != NULL && how.kind < STONET_IMPORTANCE_REFIT)
        SN_TRY(sn_importance_add_fit_error(model, data, &how, &taken, result));
    return SN_GIVE(result, out);
}

/* ---- the result -------------------------------------------------------------------------------- */

int64_t stonet_importance_rows(const stonet_importance_result *result)
{
    return result != NULL ? result->variables : 0;
}

stonet_status stonet_importance_row(const stonet_importance_result *result, int64_t index,
                                    stonet_importance_row_values *row)
{
    if (result == NULL || row == NULL || index < 0 || index >= result->variables)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_importance_row: there is no variable %lld",
                       (long long)index);
    *row = (stonet_importance_row_values){.variable = result->name[index],
                                          .importance = result->value[index],
                                          .se = result->error[index],
                                          .n_z = result->dim,
                                          .z = result->z + index * result->dim};
    return STONET_OK;
}

static double p_value(const stonet_importance_result *result, int64_t index, int64_t of)
{
    const bool there = result != NULL && result->p_value != NULL && index >= 0 && index < result->variables;
    return there ? result->p_value[of * result->variables + index] : (double)NAN;
}

double stonet_importance_p_value(const stonet_importance_result *result, int64_t index)
{
    return p_value(result, index, 0);
}

double stonet_importance_q_value(const stonet_importance_result *result, int64_t index)
{
    return p_value(result, index, 1);
}

/* Keys: variable, importance, se, then p_value and q_value if the kind tests, then z1 .. for the columns of
   Z. NULL: memory ran out. */
static json_t *row_json(const stonet_importance_result *result, int64_t j)
{
    json_t *object = json_pack("{s:s, s:f, s:f}", "variable", result->name[j], "importance", result->value[j],
                               "se", result->error[j]);
    if (result->p_value != NULL)
        object = sn_json_join(object, json_pack("{s:f, s:f}", "p_value", p_value(result, j, 0), "q_value",
                                                p_value(result, j, 1)));
    for (int64_t k = 0; k < result->dim; k++) {
        char name[24];
        snprintf(name, sizeof name, "z%lld", (long long)k + 1);
        object = sn_json_put(object, name, json_real(result->z[j * result->dim + k]));
    }
    return object;
}

char *stonet_importance_json(const stonet_importance_result *result)
{
    if (result == NULL) return NULL;
    json_t *rows = json_array();
    for (int64_t j = 0; j < result->variables; j++) rows = sn_json_add(rows, row_json(result, j));
    return sn_json_text(rows, true);
}

void stonet_importance_free(stonet_importance_result *result)
{
    if (result == NULL) return;
    for (int64_t j = 0; result->name != NULL && j < result->variables; j++) sn_free(result->name[j]);
    SN_FREE_ALL(result->name, result->value, result->error, result->z, result->p_value, result);
}
