#include "paper/paper.h"

#include <time.h>

#include "cli/progress.h"

stonet_status out_of_memory(void)
{
    return stonet_fail(STONET_ERROR_MEMORY, "memory ran out");
}

stonet_status put_value(json_t *values, const char *name, double number)
{
    if (!isfinite(number)) return STONET_OK;
    return json_object_set_new(values, name, json_real(number)) == 0 ? STONET_OK : out_of_memory();
}

stonet_status fits_spec(const char *method, int64_t dim, const char *settings, stonet_spec **out)
{
    AUTO(stonet_spec) *spec = NULL;
    char text[SETTINGS_SIZE], number[24], *rest = NULL;
    const char *first = strcmp(method, "stonet") == 0 ? "levels=none front=none" : "levels=none";
    snprintf(text, sizeof text, "%s %s", settings != NULL ? first : "", settings != NULL ? settings : "");
    snprintf(number, sizeof number, "%" PRId64, dim);
    TRY(stonet_spec_create(method, &spec));
    TRY(stonet_spec_set(spec, "dim", number));
    for (char *one = strtok_r(text, " ", &rest); one != NULL; one = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(one, '=');
        if (equals == NULL) return stonet_fail(STONET_ERROR_ARGUMENT, "a setting is no NAME=VALUE");
        *equals = '\0';
        TRY(stonet_spec_set(spec, one, equals + 1));
    }
    *out = spec;
    spec = NULL;
    return STONET_OK;
}

stonet_status fits_model(job *self, const char *method, int64_t dim, const char *settings,
                         const stonet_data *data, uint64_t stream, stonet_model **out)
{
    AUTO(stonet_spec) *spec = NULL;
    stonet_run run = job_run(self, stream);
    TRY(fits_spec(method, dim, settings, &spec));
    return stonet_fit(spec, data, &run, out);
}

/* ---- a reduction ------------------------------------------------------------------------------- */

void reduction_free(reduction *self)
{
    free(self->z[0]);
    free(self->z[1]);
    *self = (reduction){0};
}

/* The point of the grid that is chosen, also into the values. */
static stonet_status tune(job *self, const tuning *by, const stonet_spec *spec, json_t *values,
                          stonet_spec **out)
{
    const stonet_tune_options how = {.size = sizeof how,
                                     .folds = by->folds,
                                     .grid = by->entry,
                                     .n_grid = by->count,
                                     .trials = by->points,
                                     .criterion = STONET_CRITERION_LOG_LOSS};
    AUTO(stonet_results) *results = NULL;
    stonet_run run = job_run(self, 1);
    TRY(stonet_tune(spec, self->parts.train, &how, &run, &results));
    int64_t best = stonet_results_simplest(results, by->within);
    if (best < 0) return stonet_fail(STONET_ERROR_NUMERIC, "no point of the grid could be fitted");
    TRY(stonet_results_spec(results, best, out));
    char *json = stonet_spec_json(*out);
    int lost = json == NULL || json_object_set_new(values, "chosen", json_loads(json, 0, NULL)) != 0;
    stonet_string_free(json);
    return lost ? out_of_memory() : STONET_OK;
}

static double processor_clock(const job *self)
{
    struct timespec now; /* trials side by side have a thread each */
    clock_gettime(self->threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool is_stonet(const column *by)
{
    return strcmp(by->method, "stonet") == 0;
}

/* The learner on the first Z, NULL where the model's own output is scored. */
static const char *dnn_of(const lab *self, const column *by)
{
    if (by->settings == NULL || by->head != NULL) return by->head;
    return self->options.quick ? self->about->quick_dnn : self->about->dnn;
}

static const char *settings_of(const cell *what)
{
    return (what->by->flags & BY_ROW) != 0 ? what->on->paper : what->by->settings;
}

void fits_describe(const lab *self, cell *what)
{
    const char *dnn = dnn_of(self, what->by), *plain = self->about->plain, *settings = settings_of(what);
    tuning over = {0};
    if (self->about->grid != NULL) self->about->grid(self, what->method, 64, &over);
    size_t size = sizeof what->settings, used;
    used = (size_t)snprintf(what->settings, size, "%s", settings != NULL ? settings : "nothing set but q");
    if (dnn != NULL)
        used += (size_t)snprintf(what->settings + used, size - used, "; on Z: %s; %s", dnn,
                                 plain != NULL ? plain : "");
    if (over.count > 0)
        used +=
            (size_t)snprintf(what->settings + used, size - used,
                             "; %d folds, %d points, within %g:", over.folds, (int)over.points, over.within);
    for (int64_t i = 0; i < over.count; i++)
        used += (size_t)snprintf(what->settings + used, size - used, " %s", over.entry[i]);
}

/* Fits, scores the model itself where that is wanted, and keeps Z of both parts where there are learners. */
static stonet_status reduce(job *self, const stonet_spec *spec, reduction *out)
{
    AUTO(stonet_model) *model = NULL;
    const stonet_data *data[] = {self->parts.train, self->parts.test};
    const stonet_use_options how = {.size = sizeof how, .activated = is_stonet(self->what->by)};
    stonet_run run = job_run(self, 2);
    double start = progress_clock(), worked = processor_clock(self);
    TRY(stonet_fit(spec, data[0], &run, &model));
    out->seconds = progress_clock() - start;
    out->processor_seconds = processor_clock(self) - worked;
    if (how.activated || dnn_of(self->lab, self->what->by) == NULL)
        TRY(stonet_score(model, data[1], NULL, &out->own));
    out->width = stonet_model_dim(model);
    for (int k = 0; k < 2 && dnn_of(self->lab, self->what->by) != NULL; k++) {
        out->z[k] = malloc((size_t)(stonet_data_rows(data[k]) * out->width) * sizeof(float));
        if (out->z[k] == NULL) return out_of_memory();
        TRY(stonet_transform(model, data[k], &how, out->z[k]));
    }
    out->by = self->what->by; /* whole */
    return STONET_OK;
}

static stonet_status keep_reduction(job *self, json_t *values)
{
    const cell *what = self->what;
    const column *by = what->by;
    const lab *on = self->lab;
    if (self->kept.by == by && (by->flags & NESTED) != 0 && self->kept.q >= what->q) return STONET_OK;
    reduction_free(&self->kept);
    self->kept = (reduction){.q = what->q, .own = STONET_SCORES_INIT};
    AUTO(stonet_spec) *spec = NULL, *chosen = NULL;
    tuning over = {0};
    int64_t q = what->q > 0 ? what->q : stonet_data_columns(self->parts.train);
    TRY(fits_spec(by->method, q, settings_of(what), &spec));
    if (on->about->grid != NULL) on->about->grid(on, by->name, stonet_data_rows(self->parts.train), &over);
    if (over.count > 0) TRY(tune(self, &over, spec, values, &chosen));
    return reduce(self, chosen != NULL ? chosen : spec, &self->kept);
}

/* ---- learners on Z ----------------------------------------------------------------------------- */

/* The first q columns of z in *room as data with the responses of `like`. */
static stonet_status first_columns(const stonet_data *like, const float *z, int64_t width, int64_t q,
                                   float **room, stonet_data **out)
{
    int64_t n = stonet_data_rows(like), classes = 0, outputs = 0;
    const int32_t *code = stonet_data_classes(like, &classes);
    const double *y = stonet_data_targets(like, &outputs);
    ROOM const char **label = make_room((size_t)classes + 1, sizeof *label);
    *room = make_room((size_t)(n * q), sizeof **room);
    if (*room == NULL || label == NULL) return out_of_memory();
    for (int64_t i = 0; i < n; i++) memcpy(*room + i * q, z + i * width, (size_t)q * sizeof **room);
    for (int64_t c = 0; c < classes; c++) label[c] = stonet_data_class_label(like, c);
    TRY(stonet_data_wrap(*room, n, q, out));
    return code != NULL ? stonet_data_set_classes(*out, code, label, classes)
                        : stonet_data_set_targets(*out, y, outputs);
}

static stonet_status score_learner(job *self, const char *settings, stonet_scores *scores)
{
    const reduction *kept = &self->kept;
    ROOM float *first = NULL, *second = NULL;
    AUTO(stonet_data) *train = NULL, *test = NULL;
    AUTO(stonet_model) *model = NULL;
    int64_t q = self->what->q > 0 && self->what->q < kept->width ? self->what->q : kept->width;
    TRY(first_columns(self->parts.train, kept->z[0], kept->width, q, &first, &train));
    TRY(first_columns(self->parts.test, kept->z[1], kept->width, q, &second, &test));
    TRY(fits_model(self, "none", q, settings, train, 3, &model));
    return stonet_score(model, test, NULL, scores);
}

/* The squared range of the response. */
static double squared_range(const stonet_data *data)
{
    int64_t m = 0, n = stonet_data_rows(data);
    const double *y = stonet_data_targets(data, &m);
    double low = (double)INFINITY, high = -(double)INFINITY;
    for (int64_t i = 0; i < n && y != NULL; i++) {
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    return (high - low) * (high - low);
}

stonet_status fits_compute(job *self, json_t *values)
{
    const experiment *about = self->lab->about;
    const column *by = self->what->by;
    const char *dnn = dnn_of(self->lab, by);
    TRY(keep_reduction(self, values));
    const reduction *kept = &self->kept;
    scored found = {kept->own, kept->own, kept->own, (double)NAN, kept->seconds, kept->processor_seconds};
    if (!is_stonet(by) || (dnn == NULL && by->settings != NULL))
        found.own.error_rate = found.own.mse_scaled = (double)NAN;
    if (dnn != NULL) TRY(score_learner(self, dnn, &found.dnn));
    if (dnn != NULL && about->plain != NULL) TRY(score_learner(self, about->plain, &found.plain));
    found.mse_unit = found.dnn.mse / squared_range(self->parts.train);
    for (size_t k = 0; k < about->n_measures; k++)
        TRY(put_value(values, about->measures[k].field,
                      *(const double *)((const char *)&found + about->measures[k].from)));
    return STONET_OK;
}
