#include "paper/paper.h"

#include <time.h>

#include "cli/progress.h"

stonet_status fits_spec(const char *method, int64_t dim, const char *settings, stonet_spec **out)
{
    AUTO(stonet_spec) *spec = NULL;
    const char *first = strcmp(method, "stonet") == 0 ? "levels=none front=none" : "levels=none";
    BLOCK char *text = settings != NULL ? text_of("%s %s", first, settings) : copy_of("");
    BLOCK char *number = text_of("%" PRId64, dim);
    char *rest = NULL;
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

const char *updates_to_epochs(const char *choices, int64_t n, char room[64])
{
    const int64_t batches = n >= 64 ? n / 64 : 1;
    if (strcmp(choices, UPDATES("300", "1000")) != 0) return choices;
    snprintf(room, 64, UPDATES("%1$.4g", "%2$.4g"), 300.0 / (double)batches, 1000.0 / (double)batches);
    return room;
}

/* How a grid is gone through; points drawn at random, 0: all of them. */
static stonet_tune_options tuning(const lab *self)
{
    return (stonet_tune_options){.size = sizeof(stonet_tune_options),
                                 .folds = self->options.quick ? 3 : 5,
                                 .trials = self->options.quick ? 6 : 0,
                                 .criterion = STONET_CRITERION_LOG_LOSS};
}

/* The point of the grid that is chosen, also into the values. */
static stonet_status tune(job *self, const stonet_spec *spec, json_t *values, stonet_spec **out)
{
    const column *by = self->what->by;
    const char *grid[COUNT(by->grid)];
    char updates[64];
    stonet_tune_options how = tuning(self->lab);
    for (how.grid = grid; how.n_grid < (int64_t)COUNT(by->grid) && by->grid[how.n_grid] != NULL; how.n_grid++)
        grid[how.n_grid] =
            updates_to_epochs(by->grid[how.n_grid], stonet_data_rows(self->parts.train), updates);
    AUTO(stonet_results) *results = NULL;
    stonet_run run = job_run(self, 1);
    TRY(stonet_tune(spec, self->parts.train, &how, &run, &results));
    int64_t best = stonet_results_simplest(results, by->within);
    if (best < 0) return stonet_fail(STONET_ERROR_NUMERIC, "no point of the grid could be fitted");
    TRY(stonet_results_spec(results, best, out));
    char *json = stonet_spec_json(*out);
    put(values, "chosen", json != NULL ? json_loads(json, 0, NULL) : NULL);
    stonet_string_free(json);
    return STONET_OK;
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
    return (what->by->flags & BY_ROW) != 0 ? what->at->on->paper : what->by->settings;
}

char *fits_describe(const lab *self, const cell *what)
{
    const column *by = what->by;
    const char *dnn = dnn_of(self, by), *plain = self->about->plain, *settings = settings_of(what);
    const stonet_tune_options how = tuning(self);
    char *text = copy_of(settings != NULL ? settings : "nothing set but q");
    if (dnn != NULL) text = joined(text, "", text_of("; on Z: %s; %s", dnn, plain != NULL ? plain : ""));
    if (by->grid[0] != NULL)
        text = joined(text, "",
                      text_of("; %d folds, %d points, within %g:", how.folds, (int)how.trials, by->within));
    for (size_t k = 0; k < COUNT(by->grid) && by->grid[k] != NULL; k++)
        text = joined(text, " ", copy_of(by->grid[k]));
    return text;
}

/* Fits, unless the last model has the dimension too, and scores the model itself where that is wanted. */
static stonet_status reduce(job *self, json_t *values)
{
    const cell *what = self->what;
    const column *by = what->by;
    if (self->model != NULL && self->by == by && (by->flags & NESTED) != 0 && self->q >= what->q)
        return STONET_OK;
    AUTO(stonet_spec) *spec = NULL, *chosen = NULL;
    stonet_model_free(self->model);
    self->model = NULL;
    self->by = by;
    self->q = what->q;
    self->found.own = (stonet_scores)STONET_SCORES_INIT;
    const int64_t q = what->q > 0 ? what->q : stonet_data_columns(self->parts.train);
    TRY(fits_spec(by->method, q, settings_of(what), &spec));
    if (by->grid[0] != NULL) TRY(tune(self, spec, values, &chosen));
    stonet_run run = job_run(self, 2);
    const double start = progress_clock(), worked = processor_clock(self);
    TRY(stonet_fit(chosen != NULL ? chosen : spec, self->parts.train, &run, &self->model));
    self->found.seconds = progress_clock() - start;
    self->found.processor_seconds = processor_clock(self) - worked;
    if (!is_stonet(by) && dnn_of(self->lab, by) != NULL) return STONET_OK;
    return stonet_score(self->model, self->parts.test, NULL, &self->found.own);
}

/* The first columns of a part's Z, in *room, as data with the part's response. */
static stonet_status make_z(const job *self, const stonet_data *part, float **room, stonet_data **out)
{
    const int64_t n = stonet_data_rows(part), width = stonet_model_dim(self->model);
    const int64_t q = self->what->q > 0 && self->what->q < width ? self->what->q : width;
    /* psi(Z) where the layers are named: Z of another StoNet is activated already */
    const bool named = is_stonet(self->by) && strstr(settings_of(self->what), "hidden=") != NULL;
    const stonet_use_options how = {.size = sizeof how, .activated = named};
    int64_t classes = 0, outputs = 0;
    const int32_t *code = stonet_data_classes(part, &classes);
    const double *y = stonet_data_targets(part, &outputs);
    BLOCK const char **label = room_for(classes, sizeof *label);
    float *z = *room = room_for(n * width, sizeof *z);
    TRY(stonet_transform(self->model, part, &how, z));
    for (int64_t i = 0; i < n; i++) memmove(z + i * q, z + i * width, (size_t)q * sizeof *z);
    for (int64_t c = 0; c < classes; c++) label[c] = stonet_data_class_label(part, c);
    TRY(stonet_data_wrap(z, n, q, out));
    return code != NULL ? stonet_data_set_classes(*out, code, label, classes)
                        : stonet_data_set_targets(*out, y, outputs);
}

static stonet_status score_learner(job *self, const char *settings, const split *z, stonet_scores *scores)
{
    AUTO(stonet_model) *model = NULL;
    TRY(fits_model(self, "none", stonet_data_columns(z->train), settings, z->train, 3, &model));
    return stonet_score(model, z->test, NULL, scores);
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
    BLOCK float *train = NULL, *test = NULL;
    __attribute__((cleanup(split_free))) split z = {0};
    TRY(reduce(self, values));
    scored found = self->found;
    found.dnn = found.plain = found.own;
    if (!is_stonet(by) || (dnn == NULL && by->settings != NULL))
        found.own.error_rate = found.own.mse_scaled = (double)NAN;
    if (dnn != NULL) {
        TRY(make_z(self, self->parts.train, &train, &z.train));
        TRY(make_z(self, self->parts.test, &test, &z.test));
        TRY(score_learner(self, dnn, &z, &found.dnn));
        if (about->plain != NULL) TRY(score_learner(self, about->plain, &z, &found.plain));
    }
    found.mse_unit = found.dnn.mse / squared_range(self->parts.train);
    for (size_t k = 0; k < about->n_measures; k++)
        put_value(values, about->measures[k].field,
                  *(const double *)((const char *)&found + about->measures[k].from));
    return STONET_OK;
}
