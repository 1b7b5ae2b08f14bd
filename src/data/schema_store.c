#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "data/dictionary.h"
#include "data/imputer.h"
#include "data/schema.h"
#include "data/schema_parts.h"
#include "data/utf8.h"

static json_t *levels_to_json(const sn_input *input)
{
    json_t *list = json_array();
    for (int64_t c = 0; c < input->levels; c++) list = sn_json_add(list, json_real((double)input->level[c]));
    return list;
}

/* A key that has its default is not written: files stay short, and older programs read files without newer
   features. NULL when memory runs out (sn_json_add passes it on). */
static json_t *inputs_to_json(const sn_schema *schema)
{
    json_t *list = json_array();
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        json_t *entry = json_pack("{s:s}", "name", input->name);
        if (input->kind == SN_COLUMN_TEXT)
            entry = sn_json_put(entry, "categories", sn_dictionary_json(&input->categories));
        if (input->categories.ordered) entry = sn_json_put(entry, "ordered", json_true());
        if (input->is_date) entry = sn_json_put(entry, "date", json_true());
        if (input->season) entry = sn_json_put(entry, "season", json_true());
        if (input->left_out) entry = sn_json_put(entry, "left_out", json_true());
        if (input->has_other) entry = sn_json_put(entry, "other", json_true());
        if (input->indicator) entry = sn_json_put(entry, "indicator", json_true());
        if (schema->width > 0) entry = sn_json_put(entry, "position", json_integer(input->position));
        if (input->levels > 0) entry = sn_json_put(entry, "levels", levels_to_json(input));
        if (input->curve > 0) entry = sn_json_put(entry, "curve", json_integer(input->curve));
        if (input->missing > 0) entry = sn_json_put(entry, "missing", json_integer(input->missing));
        list = sn_json_add(list, entry);
    }
    return list;
}

static json_t *targets_to_json(const sn_schema *schema)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < schema->n_targets; k++)
        list = sn_json_add(list, json_pack("{s:s, s:I}", "name", schema->target_name[k], "position",
                                           (json_int_t)schema->target_position[k]));
    return list;
}

/* Takes over `value`. */
static stonet_status put_json(sn_store *store, const char *key, json_t *value)
{
    SN_BLOCK char *text = sn_json_print(value, JSON_COMPACT);
    json_decref(value);
    return text != NULL ? sn_store_put_text(store, key, text) : sn_json_failed();
}

static stonet_status check_text(const char *text)
{
    return sn_utf8_valid(text, strlen(text))
               ? STONET_OK
               : sn_fail(STONET_ERROR_DATA, "a column name or a label is not valid UTF-8 text");
}

static stonet_status check_words(const sn_dictionary *words)
{
    for (int64_t i = 0; i < words->count; i++) SN_TRY(check_text(words->text[i]));
    return STONET_OK;
}

/* JSON is UTF-8; names and labels that come through the API may be anything. */
static stonet_status check_texts(const sn_schema *schema)
{
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        SN_TRY(check_text(schema->input[j].name));
        SN_TRY(check_words(&schema->input[j].categories));
    }
    if (schema->na != NULL) SN_TRY(check_text(schema->na));
    for (int64_t k = 0; k < schema->n_targets; k++) SN_TRY(check_text(schema->target_name[k]));
    if (schema->id_name != NULL) SN_TRY(check_text(schema->id_name));
    return check_words(&schema->classes);
}

stonet_status sn_schema_save(const sn_schema *schema, sn_store *store)
{
    SN_TRY(check_texts(schema));
    SN_TRY(sn_words_put(&sn_scale_words, store, "schema.scale", schema->scale));
    SN_TRY(sn_store_put_int(store, "schema.header", schema->has_header));
    SN_TRY(sn_words_put(&sn_missing_words, store, "schema.missing", (int)schema->missing));
    if (schema->na != NULL) SN_TRY(sn_store_put_text(store, "schema.na", schema->na));
    SN_TRY(sn_imputer_save(schema->imputer, store));
    SN_TRY(sn_words_put(&sn_task_words, store, "schema.task", schema->task));
    if (schema->law != SN_LAW_NONE)
        SN_TRY(sn_words_put(&sn_law_kind_words, store, "schema.law", schema->law));
    if (schema->id_name != NULL) SN_TRY(sn_store_put_text(store, "schema.id", schema->id_name));
    if (schema->width > 0) SN_TRY(sn_store_put_int(store, "schema.width", schema->width));
    if (schema->image.rank > 0)
        SN_TRY(sn_store_put_vector(store, "schema.image", SN_I64, schema->image.rank, schema->image.extent));
    if (schema->curves.how != SN_CURVE_NONE) {
        SN_TRY(sn_words_put(&sn_curve_words, store, "schema.curves", (int)schema->curves.how));
        SN_TRY(sn_store_put_int(store, "schema.curves_window", schema->curves.window));
        SN_TRY(sn_store_put_int(store, "schema.curves_fine", schema->curves.fine));
    }
    SN_TRY(put_json(store, "schema.inputs", inputs_to_json(schema)));
    SN_TRY(put_json(store, "schema.targets", targets_to_json(schema)));
    SN_TRY(sn_store_put_vector(store, "schema.mean", SN_F64, schema->p, schema->mean));
    SN_TRY(sn_store_put_vector(store, "schema.centre", SN_F64, schema->p, schema->centre));
    SN_TRY(sn_store_put_vector(store, "schema.factor", SN_F64, schema->p, schema->factor));
    if (schema->task == SN_CLASSIFICATION)
        return put_json(store, "schema.classes", sn_dictionary_json(&schema->classes));
    if (schema->n_targets == 0) return STONET_OK;
    SN_TRY(sn_store_put_vector(store, "schema.target_mean", SN_F64, schema->n_targets, schema->target_mean));
    return sn_store_put_vector(store, "schema.target_sd", SN_F64, schema->n_targets, schema->target_sd);
}

/* ---- load: the file may be damaged or hostile, so everything is checked ------------------------- */

static stonet_status damaged(const char *key)
{
    return sn_fail(STONET_ERROR_FORMAT, "the model's entry %s is damaged", key);
}

static stonet_status copy_word(const json_t *value, const char *key, char **out)
{
    if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value))
        return damaged(key);
    return sn_text_copy(json_string_value(value), out);
}

static stonet_status words_from_json(const json_t *list, const char *key, sn_dictionary *out)
{
    if (!json_is_array(list)) return damaged(key);
    SN_TRY(SN_NEW(out->text, json_array_size(list)));
    for (size_t i = 0; i < json_array_size(list); i++) {
        SN_TRY(copy_word(json_array_get(list, i), key, &out->text[i]));
        out->count++;
    }
    return STONET_OK;
}

static stonet_status levels_from_json(const json_t *list, sn_input *input)
{
    const size_t count = json_array_size(list); /* 0 for what is no array */
    if (count < 1 || count > SN_MOST_LEVELS) return damaged("schema.inputs");
    SN_TRY(SN_NEW(input->level, count));
    input->levels = (int64_t)count;
    for (size_t c = 0; c < count; c++) {
        const json_t *value = json_array_get(list, c);
        input->level[c] = (float)json_number_value(value);
        if (!json_is_number(value) || !isfinite(input->level[c]) ||
            (c > 0 && input->level[c] <= input->level[c - 1]))
            return damaged("schema.inputs");
    }
    return STONET_OK;
}

/* What cannot be true together is an error: the encoder relies on it. width > 0: the columns are known by
   their position in the file, which must then be stored. */
static bool is_sound(const sn_schema *schema, const sn_input *input)
{
    const bool text = input->kind == SN_COLUMN_TEXT, ordered = input->categories.ordered;
    const bool no_words = input->categories.count == 0;
    if (text && (input->is_date || input->season || input->left_out || input->levels > 0)) return false;
    if ((ordered || input->has_other) && no_words) return false;
    if ((ordered && input->has_other) || (input->season && !input->is_date)) return false;
    if (input->indicator && (input->left_out || (text && no_words))) return false;
    if (input->levels > 0 && (input->season || input->left_out)) return false;
    if (input->curve < 0 || input->curve > schema->n_inputs || input->missing < 0) return false;
    if (input->curve > 0 && (schema->curves.how == SN_CURVE_NONE || text || input->is_date ||
                             input->left_out || input->indicator || input->levels > 0))
        return false;
    return schema->width == 0 || (input->position >= 0 && input->position < schema->width);
}

/* The reverse of inputs_to_json. A key that is absent has its default, so files of older versions load. */
static stonet_status input_from_json(const json_t *entry, sn_schema *schema, sn_input *input)
{
    const json_t *categories = json_object_get(entry, "categories"),
                 *levels = json_object_get(entry, "levels"), *position = json_object_get(entry, "position");
    SN_TRY(copy_word(json_object_get(entry, "name"), "schema.inputs", &input->name));
    input->kind = categories != NULL ? SN_COLUMN_TEXT : SN_COLUMN_NUMBER;
    if (categories != NULL) SN_TRY(words_from_json(categories, "schema.inputs", &input->categories));
    if (levels != NULL) SN_TRY(levels_from_json(levels, input));
    input->categories.ordered = json_is_true(json_object_get(entry, "ordered"));
    input->is_date = json_is_true(json_object_get(entry, "date"));
    input->season = json_is_true(json_object_get(entry, "season"));
    input->left_out = json_is_true(json_object_get(entry, "left_out"));
    input->has_other = json_is_true(json_object_get(entry, "other"));
    input->indicator = json_is_true(json_object_get(entry, "indicator"));
    input->position = schema->width > 0 && !json_is_integer(position) ? -1 : json_integer_value(position);
    input->curve = json_integer_value(json_object_get(entry, "curve"));
    input->missing = json_integer_value(json_object_get(entry, "missing"));
    return is_sound(schema, input) ? STONET_OK : damaged("schema.inputs");
}

static stonet_status inputs_from_json(const json_t *list, sn_schema *schema)
{
    SN_TRY(SN_NEW(schema->input, json_array_size(list)));
    schema->n_inputs = (int64_t)json_array_size(list);
    for (int64_t j = 0; j < schema->n_inputs; j++)
        SN_TRY(input_from_json(json_array_get(list, (size_t)j), schema, &schema->input[j]));
    return STONET_OK;
}

static stonet_status targets_from_json(const json_t *list, sn_schema *schema)
{
    SN_TRY(SN_NEW(schema->target_name, json_array_size(list)));
    SN_TRY(SN_NEW(schema->target_position, json_array_size(list)));
    schema->n_targets = (int64_t)json_array_size(list);
    for (int64_t k = 0; k < schema->n_targets; k++) {
        const json_t *entry = json_array_get(list, (size_t)k), *position = json_object_get(entry, "position");
        SN_TRY(copy_word(json_object_get(entry, "name"), "schema.targets", &schema->target_name[k]));
        if (!json_is_integer(position) || json_integer_value(position) < -1) return damaged("schema.targets");
        schema->target_position[k] = json_integer_value(position);
    }
    return STONET_OK;
}

/* The JSON array of an entry. Only targets may be none. */
static stonet_status load_list(const sn_store *store, const char *key, sn_schema *schema,
                               stonet_status (*take)(const json_t *list, sn_schema *schema))
{
    const char *text;
    json_error_t error;
    SN_TRY(sn_store_get_text(store, key, &text));
    SN_AUTO(json_t) *list = json_loads(text, 0, &error);
    if (list == NULL) return sn_json_unread(&error, damaged(key));
    const size_t count = json_array_size(list), fewest = strcmp(key, "schema.targets") == 0 ? 0 : 1;
    return json_is_array(list) && count >= fewest && count < INT32_MAX ? take(list, schema) : damaged(key);
}

static stonet_status classes_from_json(const json_t *list, sn_schema *schema)
{
    SN_TRY(words_from_json(list, "schema.classes", &schema->classes));
    return schema->classes.count >= 2 && schema->n_targets == 1 ? STONET_OK : damaged("schema.classes");
}

static stonet_status load_vector(const sn_store *store, const char *name, int64_t n, bool positive,
                                 double **out)
{
    const sn_tensor *tensor;
    SN_TRY(sn_store_get_vector(store, name, SN_F64, n, &tensor));
    SN_TRY(SN_NEW_RAW(*out, n));
    memcpy(*out, tensor->data, (size_t)n * sizeof **out);
    for (int64_t i = 0; i < n; i++)
        if (!isfinite((*out)[i]) || (positive && (*out)[i] <= 0)) return damaged(name);
    return STONET_OK;
}

static stonet_status load_scale(const sn_store *store, sn_schema *schema)
{
    int scale;
    SN_TRY(sn_words_get(&sn_scale_words, store, "schema.scale", &scale));
    schema->scale = (sn_scale)scale;
    return scale == SN_SCALE_AUTO ? damaged("schema.scale") : STONET_OK;
}

/* Files before 0.2 say nothing of missing cells: such models refuse them. */
static stonet_status load_missing(const sn_store *store, sn_schema *schema)
{
    int missing = SN_MISSING_ERROR;
    if (sn_store_find_text(store, "schema.missing") != NULL)
        SN_TRY(sn_words_get(&sn_missing_words, store, "schema.missing", &missing));
    schema->missing = (sn_missing)missing;
    return sn_text_copy(sn_store_find_text(store, "schema.na"), &schema->na);
}

/* Of images, whose numbers the features are. */
static stonet_status load_image(const sn_store *store, sn_schema *schema)
{
    const sn_tensor *tensor;
    if (sn_store_find(store, "schema.image") == NULL) return STONET_OK;
    SN_TRY(sn_store_get_vector(store, "schema.image", SN_I64, -1, &tensor));
    const int64_t rank = tensor->shape[0], *extent = tensor->data;
    if (rank != 2 && rank != 3) return damaged("schema.image");
    int64_t size = 1;
    for (int64_t k = 0; k < rank; k++) {
        if (extent[k] < 1 || extent[k] > schema->p || __builtin_mul_overflow(size, extent[k], &size))
            return damaged("schema.image");
        schema->image.extent[k] = extent[k];
    }
    schema->image.rank = (int)rank;
    return size == schema->p ? STONET_OK : damaged("schema.image");
}

/* Files before 0.3 know no curves. */
static stonet_status load_curves(const sn_store *store, sn_schema *schema)
{
    int how;
    int64_t fine;
    if (sn_store_find_text(store, "schema.curves") == NULL) return STONET_OK;
    SN_TRY(sn_words_get(&sn_curve_words, store, "schema.curves", &how));
    SN_TRY(sn_store_get_int(store, "schema.curves_window", SN_CURVE_FEWEST, SN_CURVE_MOST,
                            &schema->curves.window));
    SN_TRY(sn_store_get_int(store, "schema.curves_fine", 0, 1, &fine));
    schema->curves.how = (sn_curve)how;
    schema->curves.fine = fine == 1;
    return STONET_OK;
}

/* The task, the law and the targets; then the classes, or the means and standard deviations of numeric
   targets. Files before the laws have no schema.law. Ordered classes are the one law of a classification. */
static stonet_status load_response(const sn_store *store, sn_schema *schema)
{
    int task;
    SN_TRY(sn_words_get(&sn_task_words, store, "schema.task", &task));
    schema->task = (sn_task)task;
    SN_TRY(load_list(store, "schema.targets", schema, targets_from_json));
    int law = SN_LAW_NONE;
    if (sn_store_find_text(store, "schema.law") != NULL)
        SN_TRY(sn_words_get(&sn_law_kind_words, store, "schema.law", &law));
    schema->law = (sn_law_kind)law;
    const bool classes = law == SN_LAW_ORDERED || (law == SN_LAW_NONE && task == SN_CLASSIFICATION);
    if (law != SN_LAW_NONE && (classes != (task == SN_CLASSIFICATION) || schema->n_targets < 1))
        return damaged("schema.law");
    if (schema->task == SN_CLASSIFICATION)
        return load_list(store, "schema.classes", schema, classes_from_json);
    if (schema->n_targets == 0) return STONET_OK;
    SN_TRY(load_vector(store, "schema.target_mean", schema->n_targets, false, &schema->target_mean));
    return load_vector(store, "schema.target_sd", schema->n_targets, true, &schema->target_sd);
}

/* The order matters: curves must be known before the inputs, and the inputs give p, by which every later
   vector is checked. Keys that older versions did not write are optional. */
static stonet_status load_all(const sn_store *store, sn_schema *schema)
{
    int64_t header;
    SN_TRY(load_scale(store, schema));
    SN_TRY(sn_store_get_int(store, "schema.header", 0, 1, &header));
    schema->has_header = header == 1;
    SN_TRY(load_missing(store, schema));
    if (sn_store_find_text(store, "schema.width") != NULL)
        SN_TRY(sn_store_get_int(store, "schema.width", 1, INT32_MAX, &schema->width));
    SN_TRY(sn_text_copy(sn_store_find_text(store, "schema.id"), &schema->id_name));
    SN_TRY(load_curves(store, schema));
    SN_TRY(load_list(store, "schema.inputs", schema, inputs_from_json));
    const stonet_status laid_out = sn_schema_lay_out(schema);
    if (laid_out != STONET_OK && laid_out != STONET_ERROR_MEMORY) return damaged("schema.curves");
    SN_TRY(laid_out);
    if (schema->p < 1) return damaged("schema.inputs");
    SN_TRY(load_image(store, schema));
    SN_TRY(load_vector(store, "schema.mean", schema->p, false, &schema->mean));
    SN_TRY(load_vector(store, "schema.centre", schema->p, false, &schema->centre));
    SN_TRY(load_vector(store, "schema.factor", schema->p, false, &schema->factor));
    SN_TRY(sn_imputer_load(store, schema, &schema->imputer));
    return load_response(store, schema);
}

stonet_status sn_schema_load(const sn_store *store, sn_schema **out)
{
    *out = NULL;
    SN_AUTO(sn_schema) *schema = NULL;
    SN_TRY(SN_NEW(schema, 1));
    SN_TRY(load_all(store, schema));
    return SN_GIVE(schema, out);
}
