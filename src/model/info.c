/* What a model is: getters, JSON, history. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "data/schema.h"
#include "data/utf8.h"
#include "model/calibration.h"
#include "model/settings_json.h"

stonet_outcome stonet_model_outcome(const stonet_model *model)
{
    return model != NULL ? model->outcome : STONET_DONE;
}

int64_t stonet_model_dim(const stonet_model *model)
{
    return model != NULL ? model->dim : 0;
}

int64_t stonet_model_outputs(const stonet_model *model)
{
    return model != NULL ? sn_schema_outputs(model->schema) : 0;
}

int64_t stonet_model_inputs(const stonet_model *model)
{
    return model != NULL ? model->schema->n_inputs : 0;
}

const char *stonet_model_input_name(const stonet_model *model, int64_t input)
{
    return input >= 0 && input < stonet_model_inputs(model) ? model->schema->input[input].name : NULL;
}

int64_t stonet_model_targets(const stonet_model *model)
{
    return model != NULL ? model->schema->n_targets : 0;
}

const char *stonet_model_target_name(const stonet_model *model, int64_t target)
{
    return target >= 0 && target < stonet_model_targets(model) ? model->schema->target_name[target] : NULL;
}

int64_t stonet_model_features(const stonet_model *model)
{
    return model != NULL ? model->schema->p : 0;
}

const char *stonet_model_feature_name(const stonet_model *model, int64_t feature)
{
    bool known = feature >= 0 && feature < stonet_model_features(model);
    return known ? model->schema->feature_name[feature] : NULL;
}

int stonet_model_is_classifier(const stonet_model *model)
{
    return model != NULL && model->schema->task == SN_CLASSIFICATION;
}

const char *stonet_model_class_label(const stonet_model *model, int64_t code)
{
    bool known = stonet_model_is_classifier(model) && code >= 0 && code < sn_schema_outputs(model->schema);
    return known ? model->schema->classes.text[code] : NULL;
}

char *stonet_model_history_csv(const stonet_model *model)
{
    return model != NULL && model->history != NULL ? sn_strdup(model->history) : NULL;
}

stonet_status sn_model_used(const stonet_model *model, bool *used)
{
    const sn_schema *schema = model->schema;
    SN_ARRAY(schema->p + 1, bool, feature);
    for (int64_t j = 0; j < schema->p; j++) feature[j] = true;
    if (model->method->features != NULL) model->method->features(model->state, feature);
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        used[j] = false;
        for (int64_t k = 0; k < input->features; k++) used[j] = used[j] || feature[input->first_feature + k];
    }
    return STONET_OK;
}

int64_t stonet_model_support(const stonet_model *model, unsigned char *used)
{
    if (model == NULL) return 0;
    const int64_t inputs = model->schema->n_inputs;
    int64_t count = 0;
    SN_BLOCK bool *of = sn_malloc((size_t)inputs, sizeof *of);
    if (of == NULL || sn_model_used(model, of) != STONET_OK) return -1;
    for (int64_t j = 0; j < inputs; j++) {
        count += of[j];
        if (used != NULL) used[j] = of[j];
    }
    return count;
}

/* Names that are not UTF-8 cannot be written in JSON and become null. */
static json_t *text_json(const char *text)
{
    return text != NULL && sn_utf8_valid(text, strlen(text)) ? json_string(text) : json_null();
}

/* One text for each index: the name of an input, its kind, the label of a class. */
static json_t *names_json(const stonet_model *model, int64_t count,
                          const char *(*name)(const stonet_model *, int64_t))
{
    json_t *list = json_array();
    for (int64_t i = 0; i < count; i++) list = sn_json_add(list, text_json(name(model, i)));
    return list;
}

static const char *input_kind(const stonet_model *model, int64_t input)
{
    return sn_schema_input_kind(model->schema, input);
}

static json_t *support_json(const stonet_model *model)
{
    const sn_schema *schema = model->schema;
    SN_BLOCK bool *used = sn_malloc((size_t)schema->n_inputs, sizeof *used);
    if (used == NULL || sn_model_used(model, used) != STONET_OK) return NULL;
    json_t *list = json_array();
    for (int64_t j = 0; j < schema->n_inputs; j++)
        if (used[j]) list = sn_json_add(list, text_json(schema->input[j].name));
    return list;
}

static json_t *targets_json(const sn_schema *schema)
{
    json_t *list = json_array();
    for (int64_t j = 0; j < sn_schema_outputs(schema); j++)
        list = sn_json_add(list,
                           json_pack("{s:o, s:f, s:f}", "name", text_json(schema->target_name[j]), "mean",
                                     sn_schema_target_mean(schema, j), "sd", sn_schema_target_sd(schema, j)));
    return list;
}

/* What becomes of missing cells, and how many there were in the training rows, column by column. */
static json_t *missing_json(const sn_schema *schema)
{
    json_t *cells = json_object(), *indicators = json_array();
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        if (input->missing > 0 && sn_utf8_valid(input->name, strlen(input->name)))
            cells = sn_json_put(cells, input->name, json_integer(input->missing));
        if (input->indicator) indicators = sn_json_add(indicators, text_json(input->name));
    }
    json_t *about = json_pack("{s:s}", "way", sn_words_name(&sn_missing_words, (int)schema->missing));
    return sn_json_put(sn_json_put(about, "cells", cells), "indicators", indicators);
}

/* A text as the whole number or number it spells, else as text. */
static json_t *value_json(const char *text)
{
    char *end = NULL;
    errno = 0;
    const long long whole = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0) return json_integer(whole);
    double number = 0;
    const char *stop = sn_number_read(text, &number);
    if (stop != NULL && *stop == '\0' && isfinite(number)) return json_real(number);
    return text_json(text);
}

static json_t *vector_json(const sn_tensor *tensor)
{
    const bool whole = tensor->dtype == SN_I64;
    json_t *list = json_array();
    for (int64_t i = 0; i < tensor->shape[0]; i++)
        list = sn_json_add(list, whole ? json_integer(((const int64_t *)tensor->data)[i])
                                       : json_real(((const double *)tensor->data)[i]));
    return list;
}

/* The lines of a text, one string each. */
static json_t *lines_json(const char *text)
{
    json_t *list = json_array();
    for (size_t length; *text != '\0'; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        list = sn_json_add(list, sn_utf8_valid(text, length) ? json_stringn(text, length) : json_null());
    }
    return list;
}

/* What the fit arrived at: the texts and short vectors of the method's own part of the model file. */
static json_t *fitted_json(const stonet_model *model)
{
    enum { LONGEST = 100 };
    json_t *facts = NULL;
    SN_AUTO(sn_store) *part = NULL;
    if (sn_store_create(&part) == STONET_OK && model->method->save(model->state, part) == STONET_OK) {
        facts = json_object();
        for (size_t i = 0; i < sn_store_texts(part); i++) {
            const char *key, *value;
            sn_store_text(part, i, &key, &value);
            const bool lines = strcmp(key, "choice") == 0;
            facts = sn_json_put(facts, key, lines ? lines_json(value) : value_json(value));
        }
        for (size_t i = 0; i < sn_store_tensors(part); i++) {
            const sn_tensor *tensor = sn_store_tensor(part, i);
            if (tensor->rank == 1 && tensor->shape[0] <= LONGEST &&
                (tensor->dtype == SN_I64 || tensor->dtype == SN_F64))
                facts = sn_json_put(facts, tensor->name, vector_json(tensor));
        }
    }
    return facts;
}

static json_t *calibration_json(const stonet_model *model)
{
    const sn_calibration *calibration = model->calibration;
    if (calibration == NULL) return json_null();
    json_t *about =
        json_pack("{s:s, s:s, s:I, s:I}", "kind", sn_words_name(&sn_calibration_words, calibration->kind),
                  "score", sn_words_name(&sn_score_words, calibration->score_kind), "rows",
                  (json_int_t)calibration->rows, "models", (json_int_t)calibration->n_members);
    if (calibration->label != NULL)
        return sn_json_put(about, "temperature", json_real(calibration->temperature));
    json_t *list = json_array();
    for (int64_t j = 0; j < sn_schema_outputs(model->schema); j++)
        list = sn_json_add(list, json_real(calibration->residual_variance[j]));
    return sn_json_put(about, "residual_variance", list);
}

char *stonet_model_json(const stonet_model *model)
{
    if (model == NULL) {
        sn_fail(STONET_ERROR_ARGUMENT, "there is no model to describe");
        return NULL;
    }
    const sn_schema *schema = model->schema;
    bool classifier = schema->task == SN_CLASSIFICATION;
    json_t *learner = json_null();
    if (model->learner != NULL)
        learner =
            sn_json_put(json_pack("{s:s, s:s}", "name", model->learner->name, "title", model->learner->title),
                        "settings", sn_settings_json(model->learner_settings, true));
    json_t *info =
        json_pack("{s:s, s:s, s:I, s:s, s:s, s:I, s:o, s:s, s:s, s:o, s:o}", "method", model->method->name,
                  "title", model->method->title, "dim", (json_int_t)model->dim, "outcome",
                  sn_words_name(&sn_outcome_words, model->outcome), "task", sn_schema_task_word(schema),
                  "rows", (json_int_t)model->n_train, "seed", json_integer((json_int_t)model->seed), "scale",
                  sn_words_name(&sn_scale_words, schema->scale), "curves",
                  sn_words_name(&sn_curve_words, schema->curves.how), "settings",
                  sn_settings_json(model->settings, true), "learner", learner);
    info = sn_json_put(info, "fitted", fitted_json(model));
    info = sn_json_put(info, "calibration", calibration_json(model));
    info = sn_json_put(info, "inputs", names_json(model, schema->n_inputs, stonet_model_input_name));
    info = sn_json_put(info, "input_kinds", names_json(model, schema->n_inputs, input_kind));
    info = sn_json_put(info, "support", support_json(model));
    info = sn_json_put(info, "missing", missing_json(schema));
    info = sn_json_put(info, "features", json_integer(schema->p));
    info = sn_json_put(info, "target", text_json(stonet_model_target_name(model, 0)));
    info = classifier ? sn_json_put(info, "classes",
                                    names_json(model, sn_schema_outputs(schema), stonet_model_class_label))
                      : sn_json_put(info, "targets", targets_json(schema));
    return sn_json_text(info, true);
}
