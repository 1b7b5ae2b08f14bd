#include "paper/fits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void split_free(split *self)
{
    stonet_data_free(self->train);
    stonet_data_free(self->test);
    *self = (split){0};
}

stonet_status put_value(json_t *values, const char *name, double number)
{
    if (!isfinite(number)) return STONET_OK;
    return json_object_set_new(values, name, json_real(number)) == 0 ? STONET_OK : out_of_memory();
}

/* ---- specs ------------------------------------------------------------------------------------- */

/* One "NAME=VALUE" of a text that may be written into. */
static stonet_status set_one(stonet_spec *spec, char *setting)
{
    char *equals = strchr(setting, '=');
    if (equals == NULL) return stonet_fail(STONET_ERROR_ARGUMENT, "a setting is no NAME=VALUE");
    *equals = '\0';
    return stonet_spec_set(spec, setting, equals + 1);
}

stonet_status fits_spec(const char *method, int64_t dim, const char *settings, stonet_spec **out)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, dim);
    char *text = strdup(settings);
    if (text == NULL) return out_of_memory();
    stonet_spec *spec = NULL;
    stonet_status status = stonet_spec_create(method, &spec);
    if (status == STONET_OK) status = stonet_spec_set(spec, "dim", number);
    /* As in the paper: numbers stay numbers, and layer 1 sees x. */
    if (status == STONET_OK) status = stonet_spec_set(spec, "levels", "none");
    if (status == STONET_OK && strcmp(method, "stonet") == 0) status = stonet_spec_set(spec, "front", "none");
    char *rest = NULL;
    for (char *one = strtok_r(text, " ", &rest); one != NULL && status == STONET_OK;
         one = strtok_r(NULL, " ", &rest))
        status = set_one(spec, one);
    free(text);
    if (status != STONET_OK) {
        stonet_spec_free(spec);
        return status;
    }
    *out = spec;
    return STONET_OK;
}

static stonet_status chosen_spec(const stonet_results *results, double within, stonet_spec **out)
{
    int64_t best = stonet_results_simplest(results, within);
    if (best < 0) {
        stonet_result_row row;
        stonet_status status = stonet_results_row(results, 0, &row);
        if (status != STONET_OK) return status;
        char text[512];
        snprintf(text, sizeof text, "no point of the grid could be fitted: %s",
                 row.failure != NULL ? row.failure : "stopped");
        return stonet_fail(STONET_ERROR_NUMERIC, text);
    }
    return stonet_results_spec(results, best, out);
}

stonet_status fits_tuned(lab *self, const stonet_spec *spec, const stonet_data *train, const grid *over,
                         const tuning *by, stonet_spec **out)
{
    if (over->count == 0) return stonet_spec_copy(spec, out);
    stonet_tune_options how = {.size = sizeof how,
                               .folds = by->folds,
                               .grid = over->entry,
                               .n_grid = over->count,
                               .trials = by->points,
                               .criterion = by->criterion};
    stonet_run run = lab_stonet_run(self, 1);
    stonet_results *results = NULL;
    stonet_status status = stonet_tune(spec, train, &how, &run, &results);
    if (status == STONET_OK) status = chosen_spec(results, over->within, out);
    stonet_results_free(results);
    return status;
}

/* ---- a second model on Z ----------------------------------------------------------------------- */

void reduced_split_free(reduced_split *self)
{
    split_free(&self->parts);
    free(self->train_z);
    free(self->test_z);
    *self = (reduced_split){0};
}

static stonet_status copy_response(const stonet_data *from, stonet_data *to)
{
    int64_t classes = 0, outputs = 0;
    const int32_t *code = stonet_data_classes(from, &classes);
    const double *y = stonet_data_targets(from, &outputs);
    if (code == NULL) return stonet_data_set_targets(to, y, outputs);
    const char **label = calloc((size_t)classes, sizeof *label);
    if (label == NULL) return out_of_memory();
    for (int64_t c = 0; c < classes; c++) label[c] = stonet_data_class_label(from, c);
    stonet_status status = stonet_data_set_classes(to, code, label, classes);
    free(label);
    return status;
}

/* Z (n x q, which *out keeps) as data with the responses of `data`. */
static stonet_status wrap_part(const stonet_data *data, float *z, int64_t q, stonet_data **out)
{
    stonet_status status = stonet_data_wrap(z, stonet_data_rows(data), q, out);
    return status == STONET_OK ? copy_response(data, *out) : status;
}

static stonet_status reduce_part(const stonet_model *model, const stonet_data *data, bool activated,
                                 float **z, stonet_data **out)
{
    int64_t n = stonet_data_rows(data), q = stonet_model_dim(model);
    *z = malloc((size_t)(n * q) * sizeof **z);
    if (*z == NULL) return out_of_memory();
    stonet_use_options how = {.size = sizeof how, .activated = activated};
    stonet_status status = stonet_transform(model, data, activated ? &how : NULL, *z);
    return status == STONET_OK ? wrap_part(data, *z, q, out) : status;
}

stonet_status fits_reduce(const stonet_model *model, const split *parts, bool activated, reduced_split *out)
{
    *out = (reduced_split){0};
    stonet_status status = reduce_part(model, parts->train, activated, &out->train_z, &out->parts.train);
    if (status == STONET_OK)
        status = reduce_part(model, parts->test, activated, &out->test_z, &out->parts.test);
    if (status != STONET_OK) reduced_split_free(out);
    return status;
}

static stonet_status cut_part(const stonet_data *data, int64_t dim, float **z, stonet_data **out)
{
    int64_t n = stonet_data_rows(data), q = stonet_data_columns(data);
    const float *x = stonet_data_x(data);
    *z = malloc((size_t)(n * dim) * sizeof **z);
    if (*z == NULL) return out_of_memory();
    for (int64_t i = 0; i < n; i++) memcpy(*z + i * dim, x + i * q, (size_t)dim * sizeof **z);
    return wrap_part(data, *z, dim, out);
}

stonet_status fits_first_columns(const split *parts, int64_t dim, reduced_split *out)
{
    *out = (reduced_split){0};
    stonet_status status = cut_part(parts->train, dim, &out->train_z, &out->parts.train);
    if (status == STONET_OK) status = cut_part(parts->test, dim, &out->test_z, &out->parts.test);
    if (status != STONET_OK) reduced_split_free(out);
    return status;
}

stonet_status fits_head(lab *self, const split *parts, const char *settings, stonet_scores *scores)
{
    stonet_spec *spec = NULL;
    stonet_model *model = NULL;
    stonet_run run = lab_stonet_run(self, 3);
    *scores = (stonet_scores)STONET_SCORES_INIT;
    stonet_status status = fits_spec("none", stonet_data_columns(parts->train), settings, &spec);
    if (status == STONET_OK) status = stonet_fit(spec, parts->train, &run, &model);
    if (status == STONET_OK) status = stonet_score(model, parts->test, NULL, scores);
    stonet_model_free(model);
    stonet_spec_free(spec);
    return status;
}
