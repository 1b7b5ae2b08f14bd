/* A model as a store of tensors and texts, and that as a file or bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/run.h"
#include "data/utf8.h"
#include "model/calibration.h"
#include "model/safetensors.h"
#include "model/settings_json.h"
#include "model/upgrade.h"

/* A number that is not finite in a model makes its answers NaN, or worse: finite and wrong. */
static stonet_status check_numbers(const sn_store *store)
{
    for (size_t k = 0; k < sn_store_tensors(store); k++)
        SN_TRY(sn_tensor_check_finite(sn_store_tensor(store, k)));
    return STONET_OK;
}

static stonet_status put_settings(sn_store *store, const char *key, const sn_settings *settings)
{
    SN_BLOCK char *text = sn_json_text(sn_settings_json(settings, true), false);
    if (text == NULL) return STONET_ERROR_MEMORY;
    return sn_store_put_text(store, key, text);
}

static stonet_status get_settings(const sn_store *store, const char *key, const sn_param *table, size_t count,
                                  sn_settings **out)
{
    const char *text;
    SN_TRY(sn_store_get_text(store, key, &text));
    json_error_t error;
    SN_AUTO(json_t) *object = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (object == NULL)
        return sn_json_unread(&error, sn_fail(STONET_ERROR_FORMAT, "the model's entry '%s' is damaged", key));
    sn_model_upgrade_settings(object);
    stonet_status status = sn_settings_create(table, count, out);
    if (status == STONET_OK) status = sn_settings_from_json(*out, object, key);
    return status == STONET_ERROR_ARGUMENT ? STONET_ERROR_FORMAT : status;
}

/* ---- model <-> store ---- */

static const char NOTE[] = "stonet.note";

/* The entries about the model as a whole. The seed is a text, since it may be above INT64_MAX. The history, a
   CSV that may be long, is a tensor of bytes, so that the header of the file stays small. */
static stonet_status put_facts(const stonet_model *model, sn_store *store)
{
    char seed[32];
    snprintf(seed, sizeof seed, "%" PRIu64, model->seed);
    SN_TRY(sn_store_put_text(store, "format", "stonet"));
    SN_TRY(sn_store_put_int(store, "format_version", SN_MODEL_FORMAT));
    SN_TRY(sn_store_put_text(store, "stonet.version", STONET_VERSION));
    SN_TRY(sn_store_put_text(store, "stonet.method", model->method->name));
    SN_TRY(put_settings(store, "stonet.common_settings", model->common));
    SN_TRY(put_settings(store, "stonet.settings", model->settings));
    SN_TRY(sn_store_put_int(store, "stonet.dim", model->dim));
    SN_TRY(sn_words_put(&sn_outcome_words, store, "stonet.outcome", model->outcome));
    SN_TRY(sn_store_put_int(store, "stonet.rows", model->n_train));
    SN_TRY(sn_store_put_text(store, "stonet.seed", seed));
    if (model->note != NULL) SN_TRY(sn_store_put_text(store, NOTE, model->note));
    if (model->history == NULL) return STONET_OK;
    return sn_store_put_vector(store, "stonet.history", SN_U8, (int64_t)strlen(model->history),
                               model->history);
}

stonet_status sn_model_put(const stonet_model *model, sn_store *store)
{
    SN_TRY(put_facts(model, store));
    SN_TRY(sn_schema_save(model->schema, store));
    SN_AUTO(sn_store) *method = NULL, *learner = NULL;
    SN_TRY(sn_store_part(store, "method.", &method));
    SN_TRY(model->method->save(model->state, method));
    if (model->calibration != NULL) SN_TRY(sn_calibration_save(model->calibration, model, store));
    if (model->learner == NULL) return STONET_OK;
    SN_TRY(sn_store_put_text(store, "stonet.learner", model->learner->name));
    SN_TRY(put_settings(store, "stonet.learner_settings", model->learner_settings));
    SN_TRY(sn_store_part(store, "learner.", &learner));
    return model->learner->save(model->learner_state, learner);
}

stonet_status sn_model_to_store(const stonet_model *model, sn_store *store)
{
    SN_TRY(sn_model_put(model, store));
    if (check_numbers(store) == STONET_OK) return STONET_OK;
    return sn_fail_prefix(STONET_ERROR_NUMERIC, "the fit failed, and is not saved");
}

static stonet_status check_format(const sn_store *store, int64_t *version)
{
    const char *format = sn_store_find_text(store, "format");
    if (format == NULL || strcmp(format, "stonet") != 0)
        return sn_fail(STONET_ERROR_FORMAT, "this is a safetensors file, but not a model of stonet");
    SN_TRY(sn_store_get_int(store, "format_version", 1, INT32_MAX, version));
    if (*version > SN_MODEL_FORMAT)
        return sn_fail(STONET_ERROR_FORMAT,
                       "this model was written by a newer stonet (format %" PRId64
                       ", this one reads up to %d): "
                       "update stonet, or fit again",
                       *version, SN_MODEL_FORMAT);
    return STONET_OK;
}

/* Reads what put_facts wrote, except the common settings. get_common reads those after the schema, which
   stands in for them in old files. */
static stonet_status get_facts(const sn_store *store, stonet_model *model)
{
    const char *name, *seed;
    char *end;
    int outcome;
    SN_TRY(sn_store_get_text(store, "stonet.method", &name));
    model->method = sn_method_find(name);
    if (model->method == NULL)
        return sn_fail(STONET_ERROR_FORMAT, "the model is of method '%.40s', which this stonet does not have",
                       name);
    SN_TRY(get_settings(store, "stonet.settings", model->method->params, model->method->n_params,
                        &model->settings));
    SN_TRY(sn_store_get_int(store, "stonet.dim", 1, INT32_MAX, &model->dim));
    SN_TRY(sn_words_get(&sn_outcome_words, store, "stonet.outcome", &outcome));
    model->outcome = (stonet_outcome)outcome;
    SN_TRY(sn_store_get_int(store, "stonet.rows", 1, INT64_MAX, &model->n_train));
    SN_TRY(sn_store_get_text(store, "stonet.seed", &seed));
    model->seed = strtoull(seed, &end, 10);
    if (end == seed || *end != '\0')
        return sn_fail(STONET_ERROR_FORMAT, "the model's seed '%.40s' is not a number", seed);
    SN_TRY(stonet_model_set_note(model, sn_store_find_text(store, NOTE)));
    if (sn_store_find(store, "stonet.history") == NULL) return STONET_OK;
    const sn_tensor *history;
    SN_TRY(sn_store_get_vector(store, "stonet.history", SN_U8, -1, &history));
    size_t length = (size_t)sn_tensor_count(history);
    model->history = sn_calloc(length + 1, 1);
    if (model->history == NULL) return STONET_ERROR_MEMORY;
    memcpy(model->history, history->data, length);
    return STONET_OK;
}

/* Files of 0.1 do not have the common settings: the dimension and scale of the fit stand in for them. */
static stonet_status get_common(const sn_store *store, stonet_model *model)
{
    static const char KEY[] = "stonet.common_settings";
    if (sn_store_find_text(store, KEY) != NULL)
        return get_settings(store, KEY, sn_common_params, sn_common_param_count, &model->common);
    char dim[24];
    snprintf(dim, sizeof dim, "%" PRId64, model->dim);
    SN_TRY(sn_settings_create(sn_common_params, sn_common_param_count, &model->common));
    SN_TRY(sn_settings_set(model->common, "dim", dim));
    return sn_settings_set(model->common, "scale", sn_words_name(&sn_scale_words, (int)model->schema->scale));
}

static stonet_status get_learner(const sn_store *store, stonet_model *model)
{
    const char *name = sn_store_find_text(store, "stonet.learner");
    if (name == NULL) return STONET_OK;
    const sn_learner *learner = sn_learner_find(name);
    if (learner == NULL)
        return sn_fail(STONET_ERROR_FORMAT, "the model has learner '%.40s', which this stonet does not have",
                       name);
    model->learner = learner;
    SN_TRY(get_settings(store, "stonet.learner_settings", learner->params, learner->n_params,
                        &model->learner_settings));
    SN_AUTO(sn_store) *part = NULL;
    SN_TRY(sn_store_part(store, "learner.", &part));
    return learner->load(part, &model->learner_state);
}

/* The parts come from a file that nobody vouches for: rows only go through when their widths agree. */
static stonet_status check_sizes(const stonet_model *model)
{
    int64_t features = model->schema->p, outputs = sn_schema_outputs(model->schema);
    bool fits = outputs > 0 || (model->method->unsupervised && model->learner == NULL);
    if (model->method->sizes != NULL) {
        sn_sizes sizes = model->method->sizes(model->state);
        fits = fits && sizes.inputs == features && sizes.dim == model->dim &&
               (model->method->predict == NULL || sizes.outputs == outputs);
    }
    if (model->learner != NULL && model->learner->sizes != NULL) {
        sn_sizes sizes = model->learner->sizes(model->learner_state);
        fits = fits && sizes.inputs == model->dim && sizes.outputs == outputs;
    }
    return fits ? STONET_OK
                : sn_fail(STONET_ERROR_FORMAT, "the parts of the model do not fit together: it is damaged");
}

static stonet_status load_parts(const sn_store *store, stonet_model *model)
{
    SN_TRY(get_facts(store, model));
    SN_TRY(sn_schema_load(store, &model->schema));
    SN_TRY(get_common(store, model));
    SN_AUTO(sn_store) *part = NULL;
    SN_TRY(sn_store_part(store, "method.", &part));
    SN_TRY(model->method->load(part, &model->state));
    SN_TRY(get_learner(store, model));
    SN_TRY(check_sizes(model));
    return sn_calibration_load(store, model, &model->calibration);
}

stonet_status sn_model_get(const sn_store *store, stonet_model **out)
{
    SN_AUTO(stonet_model) *model = NULL;
    SN_TRY(SN_NEW(model, 1));
    SN_TRY(load_parts(store, model));
    return SN_GIVE(model, out);
}

stonet_status sn_model_from_store(const sn_store *store, stonet_model **out)
{
    int64_t version;
    SN_TRY(check_format(store, &version));
    SN_TRY(check_numbers(store));
    if (version == SN_MODEL_FORMAT) return sn_model_get(store, out);
    SN_AUTO(sn_store) *fresh = NULL;
    SN_TRY(sn_model_upgrade_1(store, &fresh));
    return sn_model_get(fresh, out);
}

/* ---- files and bytes ---- */

static const char HASH[] = "stonet.hash";

static void hash_text(const sn_store *store, char text[SN_HASH_TEXT])
{
    snprintf(text, SN_HASH_TEXT, "%016" PRIx64, sn_store_hash(store, HASH));
}

/* All of a model, and the hash by which damage to it is noticed. */
static stonet_status to_sealed_store(const stonet_model *model, sn_store *store)
{
    char text[SN_HASH_TEXT];
    SN_TRY(sn_model_to_store(model, store));
    hash_text(store, text);
    return sn_store_put_text(store, HASH, text);
}

static stonet_status from_sealed_store(const sn_store *store, stonet_model **out)
{
    char text[SN_HASH_TEXT];
    const char *said = sn_store_find_text(store, HASH);
    int64_t version;
    SN_TRY(check_format(store, &version)); /* first: another format may have another hash */
    hash_text(store, text);
    if (said != NULL && strcmp(said, text) != 0)
        return sn_fail(STONET_ERROR_FORMAT,
                       "the model is damaged: its hash is not that of its content; use a copy, or fit again");
    SN_TRY(sn_model_from_store(store, out));
    if (said != NULL) memcpy((*out)->hash, text, sizeof text);
    return STONET_OK;
}

stonet_status stonet_model_set_note(stonet_model *model, const char *text)
{
    if (model == NULL) return sn_fail(STONET_ERROR_ARGUMENT, "a note needs a model");
    if (text != NULL && !sn_utf8_valid(text, strlen(text)))
        return sn_fail(STONET_ERROR_ARGUMENT, "the note is not valid UTF-8");
    char *copy = NULL;
    SN_TRY(sn_text_copy(text, &copy));
    sn_free(model->note);
    model->note = copy;
    return STONET_OK;
}

const char *stonet_model_note(const stonet_model *model)
{
    return model != NULL ? model->note : NULL;
}

const char *stonet_model_hash(const stonet_model *model)
{
    return model != NULL && model->hash[0] != '\0' ? model->hash : NULL;
}

stonet_status stonet_model_save(const stonet_model *model, const char *path)
{
    if (model == NULL || path == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_model_save needs a model and a file name");
    size_t length = strlen(path);
    if (length >= 3 && strcmp(path + length - 3, ".gz") == 0)
        return sn_fail(STONET_ERROR_ARGUMENT, "%s: model files are not compressed, choose a name without .gz",
                       path);
    SN_AUTO(sn_store) *store = NULL;
    SN_TRY(sn_store_create(&store));
    SN_TRY(to_sealed_store(model, store));
    return sn_safetensors_write(store, path);
}

stonet_status stonet_model_load(const char *path, stonet_model **out)
{
    if (path == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_model_load needs a file name");
    *out = NULL;
    SN_AUTO(sn_store) *store = NULL;
    SN_TRY(sn_safetensors_read(path, &store));
    stonet_status status = from_sealed_store(store, out);
    return status == STONET_OK ? STONET_OK : sn_fail_prefix(status, "%s", path);
}

stonet_status stonet_model_save_bytes(const stonet_model *model, unsigned char **bytes, size_t *size)
{
    if (model == NULL || bytes == NULL || size == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "stonet_model_save_bytes needs a model and a place for the bytes");
    SN_AUTO(sn_store) *store = NULL;
    SN_TRY(sn_store_create(&store));
    SN_TRY(to_sealed_store(model, store));
    return sn_safetensors_encode(store, bytes, size);
}

stonet_status stonet_model_load_bytes(const unsigned char *bytes, size_t size, stonet_model **out)
{
    if (bytes == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_model_load_bytes needs bytes");
    *out = NULL;
    SN_AUTO(sn_store) *store = NULL;
    SN_TRY(sn_safetensors_decode(bytes, size, &store));
    return from_sealed_store(store, out);
}
