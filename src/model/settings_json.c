#include "model/settings_json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/isa.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/pack.h"

enum { MAX_CONFIG_BYTES = SN_BUFFER(1 << 20) };

/* Printed with 15 digits, so that 0.1 stays 0.1; sn_settings_json takes care of what needs more. */
static const size_t JSON_FORMAT = JSON_REAL_PRECISION(15);

char *sn_json_text(json_t *json, bool indent)
{
    char *text = sn_json_print(json, JSON_FORMAT | (indent ? JSON_INDENT(2) : 0));
    json_decref(json);
    if (text == NULL) sn_json_failed();
    return text;
}

/* ---- writing ---- */

/* A number as JSON; as its text where 15 digits would not give it back. */
static json_t *number_json(const char *text, size_t length, bool whole)
{
    char copy[64], short_form[40];
    if (length >= sizeof copy) return json_stringn(text, length);
    memcpy(copy, text, length);
    copy[length] = '\0';
    double value = 0, back = 0;
    if (sn_number_read(copy + strspn(copy, " "), &value) == NULL) return json_string(copy);
    if (whole && value > -1e15 && value < 1e15) return json_integer((json_int_t)value);
    sn_format(short_form, sizeof short_form, "%.15g", value);
    sn_number_read(short_form, &back);
    return back == value ? json_real(value) : json_string(copy);
}

static json_t *list_json(const char *text, bool whole)
{
    json_t *list = json_array();
    for (const char *at = text; list != NULL; at = strchr(at, ',') + 1) {
        size_t length = strcspn(at, ",");
        list = sn_json_add(list, number_json(at, length, whole));
        if (at[length] == '\0') break;
    }
    return list;
}

static json_t *value_json(const sn_settings *settings, const sn_param *param)
{
    const char *text = sn_text(settings, param->name);
    if (sn_word(settings, param->name)[0] != '\0') return json_string(text);
    switch (param->kind) {
    case SN_INTEGER:
    case SN_REAL:
        return number_json(text, strlen(text), param->kind == SN_INTEGER);
    case SN_INTEGERS:
    case SN_REALS:
        return list_json(text, param->kind == SN_INTEGERS);
    case SN_CHOICE:
    case SN_ANY_TEXT:
        break;
    }
    return json_string(text);
}

json_t *sn_settings_json(const sn_settings *settings, bool all)
{
    json_t *object = json_object();
    for (size_t i = 0; object != NULL && settings != NULL && i < sn_settings_count(settings); i++) {
        const sn_param *param = sn_settings_param(settings, i);
        if (!all && !sn_was_set(settings, param->name)) continue;
        object = sn_json_put(object, param->name, value_json(settings, param));
    }
    return object;
}

char *stonet_spec_json(const stonet_spec *spec)
{
    if (spec == NULL) {
        sn_fail(STONET_ERROR_ARGUMENT, "there is no spec to write");
        return NULL;
    }
    json_t *config =
        json_pack("{s:s, s:I}", "method", spec->method->name, "dim", (json_int_t)sn_int(spec->common, "dim"));
    config = sn_json_join(config, sn_settings_json(spec->common, false));
    config = sn_json_put(config, "settings", sn_settings_json(spec->settings, false));
    if (spec->learner != NULL)
        config = sn_json_put(config, "learner_settings", sn_settings_json(spec->learner_settings, false));
    return sn_json_text(config, true);
}

stonet_status sn_spec_hash(const stonet_spec *spec, uint64_t seed, sn_hash *hash)
{
    SN_BLOCK char *text = stonet_spec_json(spec);
    if (text == NULL) return STONET_ERROR_MEMORY;
    sn_hash_text(hash, text);
    sn_hash_add(hash, &seed, sizeof seed);
    sn_hash_text(hash, STONET_VERSION);
    sn_hash_int(hash, sn_isa_used()); /* kernels of other instructions round differently */
    return STONET_OK;
}

stonet_status sn_spec_hash_but_dim(const stonet_spec *spec, uint64_t seed, sn_hash *hash)
{
    SN_AUTO(stonet_spec) *any = NULL;
    SN_TRY(stonet_spec_copy(spec, &any));
    SN_TRY(stonet_spec_set(any, "dim", "1"));
    return sn_spec_hash(any, seed, hash);
}

/* ---- reading ---- */

/* Adds a number, a word or, where they are `flags`, true or false as the text a user would give. */
static stonet_status add_text(const char *name, const json_t *value, bool flags, sn_pack *out)
{
    char number[40];
    const char *text = json_is_string(value) ? json_string_value(value) : number;
    if (json_is_integer(value))
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        sn_format(number, sizeof number, "%.17g", json_real_value(value));
    else if (json_is_boolean(value) && flags)
        text = json_is_true(value) ? "on" : "off";
    else if (!json_is_string(value))
        return sn_fail(STONET_ERROR_ARGUMENT, "setting '%.80s' takes a number, a word or a list of numbers",
                       name);
    return sn_pack_bytes(out, text, strlen(text));
}

/* The same of a value that may be a list, with a zero at the end. */
static stonet_status put_text(const char *name, const json_t *value, sn_pack *out)
{
    const size_t count = json_array_size(value); /* 0 of what is no list */
    if (count == 0) SN_TRY(add_text(name, value, true, out));
    for (size_t i = 0; i < count; i++) {
        if (i > 0) SN_TRY(sn_pack_bytes(out, ",", 1));
        SN_TRY(add_text(name, json_array_get(value, i), false, out));
    }
    return sn_pack_bytes(out, "", 1);
}

/* Sets an entry in settings or, with `prefix` before its name, in a spec; the other is NULL. */
static stonet_status set_entry(sn_settings *settings, stonet_spec *spec, const char *prefix, const char *key,
                               const json_t *value)
{
    char name[128];
    SN_FREED_BY(sn_pack_clear) sn_pack text = {0};
    snprintf(name, sizeof name, "%s%.100s", prefix, key);
    SN_TRY(put_text(name, value, &text));
    if (settings != NULL) return sn_settings_set(settings, key, (const char *)text.bytes);
    return stonet_spec_set(spec, name, (const char *)text.bytes);
}

/* `what` the object is, for the error. */
static stonet_status set_entries(sn_settings *settings, stonet_spec *spec, const char *prefix,
                                 const json_t *object, const char *what)
{
    if (!json_is_object(object)) return sn_fail(STONET_ERROR_ARGUMENT, "'%s' must be a JSON object", what);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) SN_TRY(set_entry(settings, spec, prefix, key, value));
    return STONET_OK;
}

stonet_status sn_settings_from_json(sn_settings *settings, const json_t *object, const char *what)
{
    return set_entries(settings, NULL, "", object, what);
}

/* A config has common settings at its top level, those of the method in "settings" and those of the learner
   in "learner_settings". The caller has used "method" to create the spec. */
static stonet_status fill_spec(const json_t *config, stonet_spec *spec)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)config, key, value)
    {
        if (strcmp(key, "method") == 0 || strcmp(key, "settings") == 0 ||
            strcmp(key, "learner_settings") == 0)
            continue;
        if (!sn_settings_has(spec->common, key))
            return sn_fail(STONET_ERROR_ARGUMENT,
                           "a config has no entry '%.80s' (method settings go inside \"settings\")", key);
        SN_TRY(set_entry(NULL, spec, "", key, value));
    }
    const json_t *own = json_object_get(config, "settings");
    const json_t *learner = json_object_get(config, "learner_settings");
    if (own != NULL) SN_TRY(set_entries(NULL, spec, "", own, "settings"));
    return learner != NULL ? set_entries(NULL, spec, "learner.", learner, "learner_settings") : STONET_OK;
}

/* The whole of a small text file; sn_free it, also after a failure. */
static stonet_status read_small_file(const char *path, char **text, size_t *size)
{
    struct stat info;
    if (stat(path, &info) != 0) return sn_fail(STONET_ERROR_IO, "%s", strerror(errno));
    if (S_ISDIR(info.st_mode)) return sn_fail(STONET_ERROR_IO, "this is a folder, not a config file");
    FILE *file = fopen(path, "rb");
    if (file == NULL) return sn_fail(STONET_ERROR_IO, "%s", strerror(errno));
    *text = sn_malloc(MAX_CONFIG_BYTES + 1, 1);
    *size = *text != NULL ? fread(*text, 1, MAX_CONFIG_BYTES + 1, file) : 0;
    const bool failed = ferror(file) != 0;
    fclose(file);
    if (*text == NULL) return STONET_ERROR_MEMORY;
    if (failed) return sn_fail(STONET_ERROR_IO, "could not be read");
    if (*size > MAX_CONFIG_BYTES)
        return sn_fail(STONET_ERROR_FORMAT, "this is too large to be a config file");
    return STONET_OK;
}

static stonet_status parse_config(const char *text, size_t size, stonet_spec **out)
{
    json_error_t error;
    SN_AUTO(json_t) *config = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (config == NULL)
        return sn_json_unread(
            &error, sn_fail(STONET_ERROR_FORMAT, "line %d is not valid JSON: %s", error.line, error.text));
    const char *method = json_string_value(json_object_get(config, "method"));
    if (method == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "a config is a JSON object with a \"method\", for example "
                                              "{\"method\": \"stonet\", \"dim\": 2}");
    SN_AUTO(stonet_spec) *spec = NULL;
    SN_TRY(stonet_spec_create(method, &spec));
    SN_TRY(fill_spec(config, spec));
    return SN_GIVE(spec, out);
}

stonet_status stonet_spec_parse(const char *json, stonet_spec **out)
{
    if (json == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_spec_parse needs a text and a place for the spec");
    *out = NULL;
    return parse_config(json, strlen(json), out);
}

stonet_status stonet_spec_read(const char *path, stonet_spec **out)
{
    if (path == NULL || out == NULL) return sn_fail(STONET_ERROR_ARGUMENT, "a config needs a file name");
    *out = NULL;
    SN_BLOCK char *text = NULL;
    size_t size = 0;
    stonet_status status = read_small_file(path, &text, &size);
    if (status == STONET_OK) status = parse_config(text, size, out);
    return status == STONET_OK ? STONET_OK : sn_fail_prefix(status, "%s", path);
}

/* ---- methods, learners and settings from their tables ---- */

static json_t *choices_json(const char *choices)
{
    if (choices == NULL) return json_null();
    json_t *list = json_array();
    for (const char *at = choices;; at = strchr(at, '|') + 1) {
        size_t length = strcspn(at, "|");
        list = sn_json_add(list, json_stringn(at, length));
        if (at[length] == '\0') return list;
    }
}

/* JSON has no infinity: an open end of a range is null, and so is the range of what is no number. */
static json_t *bound_json(const sn_param *param, double bound)
{
    bool ranged = param->kind != SN_CHOICE && param->kind != SN_ANY_TEXT && isfinite(bound);
    return ranged ? json_real(bound) : json_null();
}

static json_t *param_json(const sn_param *param)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s}", "name", param->name, "kind",
                     sn_kind_name(param->kind), "default", param->initial, "low",
                     bound_json(param, param->low), "high", bound_json(param, param->high), "choices",
                     choices_json(param->choices), "help", param->help);
}

static json_t *params_json(const sn_param *params, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) list = sn_json_add(list, param_json(&params[i]));
    return list;
}

static json_t *tasks_json(unsigned tasks)
{
    json_t *list = json_array();
    if (tasks & SN_TASK_REGRESSION)
        list = sn_json_add(list, json_string(sn_words_name(&sn_task_words, SN_REGRESSION)));
    if (tasks & SN_TASK_CLASSIFICATION)
        list = sn_json_add(list, json_string(sn_words_name(&sn_task_words, SN_CLASSIFICATION)));
    return list;
}

static json_t *grid_json(const sn_method *method)
{
    json_t *list = json_array();
    for (int e = 0; e < SN_MAX_GRID_ENTRIES && method->grid[e].text != NULL; e++)
        list = sn_json_add(list, json_string(method->grid[e].text));
    return list;
}

static json_t *method_json(const sn_method *method)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:b, s:b, s:b, s:b, s:b, s:o, s:o}", "name", method->name, "title",
                     method->title, "python", choices_json(method->python), "tasks",
                     tasks_json(method->tasks), "multi_output", method->multi_output, "needs_response",
                     !method->unsupervised, "predicts_itself", method->predict != NULL, "draws",
                     method->has_draws, "weighted", method->weighted, "settings",
                     params_json(method->params, method->n_params), "grid", grid_json(method));
}

static json_t *learner_json(const sn_learner *learner)
{
    return json_pack("{s:s, s:s, s:o, s:o}", "name", learner->name, "title", learner->title, "tasks",
                     tasks_json(learner->tasks), "settings", params_json(learner->params, learner->n_params));
}

char *stonet_methods_json(void)
{
    json_t *methods = json_array(), *learners = json_array();
    for (size_t i = 0; i < sn_method_count(); i++)
        methods = sn_json_add(methods, method_json(sn_method_at(i)));
    for (size_t i = 0; i < sn_learner_count(); i++)
        learners = sn_json_add(learners, learner_json(sn_learner_at(i)));
    return sn_json_text(json_pack("{s:o, s:o, s:o}", "methods", methods, "learners", learners, "common",
                                  params_json(sn_common_params, sn_common_param_count)),
                        true);
}
