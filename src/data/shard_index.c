/* The index of shards: what it says of the table, taken from it with suspicion, and where it is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "data/schema.h"
#include "data/shards.h"
#include "data/source.h"

enum { MOST_COLUMNS = 1 << 24 };

const char *const sn_shard_suffix[SN_SHARD_PARTS] = {"", ".y", ".more"};
const char *const sn_shard_key[SN_SHARD_PARTS] = {"x", "y", "more"};

stonet_status sn_shard_bad_index(const sn_shard_reader *r, const char *what)
{
    return sn_fail(STONET_ERROR_FORMAT, "%s is damaged: %s", r->path, what);
}

stonet_status sn_shard_path(const char *folder, const char *name, int64_t shard, sn_shard_part part,
                            char **out)
{
    const size_t room = strlen(folder) + strlen(name) + 40;
    SN_TRY(SN_NEW(*out, room));
    snprintf(*out, room, "%s/%s-%05lld%s.npy", folder, name, (long long)shard, sn_shard_suffix[part]);
    return STONET_OK;
}

/* Whether a file begins as an index does. */
static bool is_index(const char *text, size_t size)
{
    static const char mark[] = "\"format\": \"" SN_SHARDS_FORMAT "\"";
    for (size_t i = 0; i + sizeof mark - 1 <= size; i++) {
        if (memcmp(text + i, mark, sizeof mark - 1) == 0) return true;
        if (i > 0 && strchr(" \t\r\n", text[i]) == NULL) return false;
        if (i == 0 && text[0] != '{') return false;
    }
    return false;
}

stonet_status sn_shard_index_path(const char *folder, char **out)
{
    const size_t room = strlen(folder) + sizeof "/index.json";
    SN_TRY(SN_NEW(*out, room));
    snprintf(*out, room, "%s/index.json", folder);
    return STONET_OK;
}

/* What folder the file is in. */
static stonet_status folder_of(const char *path, char **out)
{
    const char *slash = strrchr(path, '/');
    const size_t length = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    SN_TRY(SN_NEW(*out, length + 1));
    memcpy(*out, slash == NULL ? "." : path, length);
    return STONET_OK;
}

stonet_status sn_shards_folder(const char *path, char **folder)
{
    struct stat info;
    *folder = NULL;
    if (path == NULL || stat(path, &info) != 0) return STONET_OK; /* whoever opens it says why */
    if (S_ISDIR(info.st_mode)) return sn_text_copy(path, folder);
    if (!S_ISREG(info.st_mode)) return STONET_OK;
    char beginning[256];
    FILE *file = fopen(path, "rb");
    const size_t got = file != NULL ? fread(beginning, 1, sizeof beginning, file) : 0;
    if (file != NULL) fclose(file);
    return is_index(beginning, got) ? folder_of(path, folder) : STONET_OK;
}

/* ---- the index --------------------------------------------------------------------------------- */

/* Reads and parses the index. r owns the JSON value, and strings that r points to, such as r->name, live
   inside it. */
static stonet_status load_index(sn_shard_reader *r)
{
    SN_AUTO(sn_source) *source = NULL;
    SN_BLOCK char *text = NULL;
    json_error_t error;
    SN_TRY(sn_shard_index_path(r->folder, &r->path));
    struct stat info;
    if (stat(r->path, &info) != 0)
        return sn_fail(STONET_ERROR_IO,
                       "%s is a folder without shards: it has no index.json ('stonet shard' makes it)",
                       r->folder);
    SN_TRY(sn_source_open(r->path, NULL, &source));
    const int64_t size = sn_source_left(source);
    SN_TRY(sn_memory_require((uint64_t)size, r->path, "make shards with fewer texts"));
    SN_TRY(SN_NEW_RAW(text, size));
    SN_TRY(sn_source_read_all(source, text, (size_t)size));
    r->index = json_loadb(text, (size_t)size, JSON_REJECT_DUPLICATES, &error);
    return r->index != NULL ? STONET_OK : sn_json_unread(&error, sn_shard_bad_index(r, error.text));
}

stonet_status sn_shard_index_hash(const json_t *index, char text[SN_SHARD_HASH])
{
    sn_hash hash;
    SN_BLOCK char *plain = sn_json_print(index, JSON_COMPACT | JSON_SORT_KEYS);
    if (plain == NULL) return sn_json_failed();
    sn_hash_begin(&hash);
    sn_hash_text(&hash, plain);
    snprintf(text, SN_SHARD_HASH, "%016" PRIx64, sn_hash_value(&hash));
    return STONET_OK;
}

/* A whole number of an object, from low to high. */
static bool whole(const json_t *object, const char *key, int64_t low, int64_t high, int64_t *out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value)) return false;
    *out = json_integer_value(value);
    return *out >= low && *out <= high;
}

static bool truth(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

/* A text of an object; may be null: *out is NULL then. */
static stonet_status copy_text(const sn_shard_reader *r, const json_t *object, const char *key, bool needed,
                               char **out)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (text == NULL && needed) return sn_shard_bad_index(r, "a name is missing");
    return sn_text_copy(text, out);
}

/* Names of files come from the index: they stay in the folder. */
static bool is_plain_name(const char *name)
{
    return name != NULL && name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL;
}

/* The version, and whether the index is as it was written; one of version 1 cannot say. */
static stonet_status check_index(sn_shard_reader *r)
{
    int64_t version;
    char found[SN_SHARD_HASH], said[SN_SHARD_HASH] = "";
    if (!whole(r->index, "version", 1, INT64_MAX, &version))
        return sn_shard_bad_index(r, "it has no version");
    if (version > SN_SHARDS_VERSION)
        return sn_fail(STONET_ERROR_FORMAT, "%s is of version %lld, and this program reads up to version %d",
                       r->path, (long long)version, (int)SN_SHARDS_VERSION);
    if (version == 1) return STONET_OK;
    const char *text = json_string_value(json_object_get(r->index, "hash"));
    if (text != NULL) snprintf(said, sizeof said, "%s", text);
    json_object_del(r->index, "hash");
    SN_TRY(sn_shard_index_hash(r->index, found));
    return strcmp(said, found) == 0 ? STONET_OK
                                    : sn_shard_bad_index(r, "its hash is not that of its content");
}

/* The rows of each shard, whose sum must be that of the table. The limit on n keeps its products with small
   factors inside int64_t. */
static stonet_status read_sizes(sn_shard_reader *r)
{
    int64_t n, sum = 0;
    const json_t *list = json_object_get(r->index, "shards");
    r->name = json_string_value(json_object_get(r->index, "name"));
    if (!is_plain_name(r->name)) return sn_shard_bad_index(r, "it has no name for its files");
    if (!json_is_array(list) || json_array_size(list) == 0) return sn_shard_bad_index(r, "it has no shards");
    r->shards = (int64_t)json_array_size(list);
    if (!whole(r->index, "rows", 1, INT64_MAX / 4096, &n))
        return sn_shard_bad_index(r, "it has no number of rows");
    SN_TRY(SN_NEW(r->rows, r->shards));
    for (int64_t k = 0; k < r->shards; k++) {
        if (!whole(json_array_get(list, (size_t)k), "rows", 1, n - sum, &r->rows[k]))
            return sn_shard_bad_index(r, "the rows of its shards are not those of the table");
        sum += r->rows[k];
    }
    if (sum != n) return sn_shard_bad_index(r, "the rows of its shards are not those of the table");
    return sn_frame_create(n, &r->data);
}

static stonet_status read_words(const sn_shard_reader *r, const json_t *list, sn_dictionary *out)
{
    if (!json_is_array(list)) return sn_shard_bad_index(r, "texts are missing");
    SN_TRY(SN_NEW(out->text, json_array_size(list)));
    for (size_t c = 0; c < json_array_size(list); c++) {
        const char *word = json_string_value(json_array_get(list, c));
        if (word == NULL) return sn_shard_bad_index(r, "a text is missing");
        SN_TRY(sn_dictionary_add(out, word));
    }
    return STONET_OK;
}

static stonet_status read_texts(sn_shard_reader *r)
{
    const json_t *list = json_object_get(r->index, "texts");
    if (!json_is_array(list)) return sn_shard_bad_index(r, "texts are missing");
    const int64_t count = (int64_t)json_array_size(list);
    SN_TRY(SN_NEW(r->data->text_values, count));
    SN_TRY(SN_NEW(r->data->text_code, count));
    r->data->n_text = count;
    for (int64_t k = 0; k < count; k++) {
        const json_t *text = json_array_get(list, (size_t)k);
        SN_TRY(read_words(r, json_object_get(text, "words"), &r->data->text_values[k]));
        r->data->text_values[k].ordered = truth(text, "ordered");
        SN_TRY(SN_NEW_RAW(r->data->text_code[k], r->data->n));
    }
    return STONET_OK;
}

/* `slot` counts among the columns of the same kind, `position` among all columns of the original file. */
static stonet_status read_column(const sn_shard_reader *r, const json_t *from, sn_column *column)
{
    const stonet_data *data = r->data;
    const char *kind = json_string_value(json_object_get(from, "kind"));
    const bool is_text = kind != NULL && strcmp(kind, "text") == 0;
    SN_TRY(copy_text(r, from, "name", true, &column->name));
    if (kind == NULL || (!is_text && strcmp(kind, "number") != 0))
        return sn_shard_bad_index(r, "a column is neither numbers nor text");
    column->kind = is_text ? SN_COLUMN_TEXT : SN_COLUMN_NUMBER;
    if (!whole(from, "slot", 0, (is_text ? data->n_text : data->n_numeric) - 1, &column->slot) ||
        !whole(from, "position", 0, MOST_COLUMNS, &column->position))
        return sn_shard_bad_index(r, "the place of a column is wrong");
    column->is_date = truth(from, "date");
    column->season = truth(from, "season");
    column->unnamed = truth(from, "unnamed");
    column->again = truth(from, "again");
    return STONET_OK;
}

/* Fills the frame's columns from the index. Every slot is checked here, since later code uses slots as
   indices without a check. */
static stonet_status read_columns(sn_shard_reader *r)
{
    stonet_data *data = r->data;
    const json_t *list = json_object_get(r->index, "columns");
    const int64_t count = (int64_t)json_array_size(list);
    if (!json_is_array(list) || count > MOST_COLUMNS) return sn_shard_bad_index(r, "its columns are missing");
    if (!whole(r->index, "numbers", 0, MOST_COLUMNS, &data->n_numeric) ||
        !whole(r->index, "width", 0, MOST_COLUMNS, &data->width) ||
        !whole(r->index, "dropped", 0, INT64_MAX, &data->dropped))
        return sn_shard_bad_index(r, "the sizes of its columns are missing");
    SN_TRY(read_texts(r));
    data->has_header = truth(r->index, "header");
    SN_TRY(copy_text(r, r->index, "na", false, &data->na));
    SN_TRY(copy_text(r, r->index, "id", false, &data->id_name));
    if (data->id_name != NULL && !whole(r->index, "id_slot", 0, data->n_text - 1, &data->id_slot))
        return sn_shard_bad_index(r, "the column that names its rows is not there");
    SN_TRY(copy_text(r, r->index, "group", false, &data->group_name));
    if (data->group_name != NULL && !whole(r->index, "group_slot", 0, data->n_text - 1, &data->group_slot))
        return sn_shard_bad_index(r, "the column of its groups is not there");
    SN_TRY(SN_NEW(data->column, count));
    data->n_columns = count;
    for (int64_t j = 0; j < count; j++)
        SN_TRY(read_column(r, json_array_get(list, (size_t)j), &data->column[j]));
    return STONET_OK;
}

/* Images of 2 or 3 extents; all columns are then pixels. No list: the rows are no images. */
static stonet_status read_image(const sn_shard_reader *r)
{
    stonet_data *data = r->data;
    const json_t *list = json_object_get(r->index, "image");
    const int rank = (int)json_array_size(list);
    if (rank == 0) return STONET_OK;
    if (rank != 2 && rank != 3) return sn_shard_bad_index(r, "the shape of its images is wrong");
    int64_t size = 1;
    for (int k = 0; k < rank; k++) {
        data->image.extent[k] = json_integer_value(json_array_get(list, (size_t)k));
        if (data->image.extent[k] < 1 || data->image.extent[k] > MOST_COLUMNS ||
            __builtin_mul_overflow(size, data->image.extent[k], &size))
            return sn_shard_bad_index(r, "the shape of its images is wrong");
    }
    data->image.rank = rank;
    if (size == data->n_numeric && data->n_columns == data->n_numeric) return STONET_OK;
    return sn_shard_bad_index(r, "the shape of its images is not that of its columns");
}

/* ---- the response ------------------------------------------------------------------------------ */

/* Whether a word of a list of targets, by name or 1-based number, is target k of the shards. */
static bool names_target(const char *word, size_t length, const char *name, int64_t position)
{
    char number[24];
    if (strlen(name) == length && memcmp(name, word, length) == 0) return true;
    snprintf(number, sizeof number, "%lld", (long long)position + 1);
    return strlen(number) == length && memcmp(number, word, length) == 0;
}

/* Whether the list is that of the shards' targets, in their order. */
static bool asks_for(const stonet_data *data, const char *list)
{
    for (int64_t k = 0; k < data->n_targets; k++) {
        const size_t length = strcspn(list, ",");
        if (!names_target(list, length, data->target_name[k], data->target_position[k])) return false;
        list += length;
        if (*list == ',' && k + 1 < data->n_targets) list++;
    }
    return *list == '\0' && data->n_targets > 0;
}

/* n_targets grows with each name that is copied, so that a failure frees just these. `labels`: the texts of a
   target of classes, of which there can be only one. */
static stonet_status read_response_names(const sn_shard_reader *r, const json_t *response)
{
    stonet_data *data = r->data;
    const json_t *names = json_object_get(response, "names"), *labels = json_object_get(response, "labels");
    const json_t *positions = json_object_get(response, "positions");
    const int64_t count = (int64_t)json_array_size(names);
    if (count < 1 || count > MOST_COLUMNS || (int64_t)json_array_size(positions) != count)
        return sn_shard_bad_index(r, "its response has no name");
    SN_TRY(SN_NEW(data->target_name, count));
    SN_TRY(SN_NEW(data->target_position, count));
    for (; data->n_targets < count; data->n_targets++) {
        const int64_t k = data->n_targets;
        const char *name = json_string_value(json_array_get(names, (size_t)k));
        const json_t *position = json_array_get(positions, (size_t)k);
        if (name == NULL || !json_is_integer(position))
            return sn_shard_bad_index(r, "its response has no name");
        data->target_position[k] = json_integer_value(position);
        SN_TRY(sn_text_copy(name, &data->target_name[k]));
    }
    data->target_has_name = data->has_header;
    if (json_is_array(labels)) {
        if (count != 1 || json_array_size(labels) == 0 || json_array_size(labels) > INT32_MAX)
            return sn_shard_bad_index(r, "the labels of its response are wrong");
        data->labels.ordered = data->labels.told = truth(response, "ordered");
        return read_words(r, labels, &data->labels);
    }
    return STONET_OK;
}

static stonet_status other_response(const sn_shard_reader *r, const char *wanted)
{
    if (r->data->n_targets == 0)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "the shards in %s have no response '%s': make them with --target %s, or name the file "
                       "it is in",
                       r->folder, wanted, wanted);
    return sn_fail(
        STONET_ERROR_ARGUMENT,
        "the response of the shards in %s is '%s'%s, and not '%s': another response needs shards of "
        "its own",
        r->folder, r->data->target_name[0], r->data->n_targets > 1 ? " and others" : "", wanted);
}

/* The response of the shards stays in the frame if the caller wants it. It is never a feature. */
static stonet_status choose_response(const sn_shard_reader *r, const sn_read_wish *wish)
{
    stonet_data *data = r->data;
    const json_t *response = json_object_get(r->index, "response");
    if (!json_is_null(response)) SN_TRY(read_response_names(r, response));
    if (wish->columns != NULL)
        return asks_for(data, wish->columns) ? STONET_OK : other_response(r, wish->columns);
    if (!wish->own_target || wish->schema == NULL) {
        sn_frame_free_target(data);
        return STONET_OK;
    }
    const int64_t targets = wish->schema->n_targets;
    if (targets == 0)
        return sn_fail(STONET_ERROR_ARGUMENT, "the model was fitted without a response, so none can be read");
    for (int64_t k = 0; k < targets; k++) {
        const char *name = wish->schema->target_name[k];
        if (targets != data->n_targets || strcmp(name, data->target_name[k]) != 0)
            return other_response(r, name);
    }
    return STONET_OK;
}

stonet_status sn_shard_index(sn_shard_reader *r, const sn_read_wish *wish)
{
    SN_TRY(load_index(r));
    SN_TRY(check_index(r));
    SN_TRY(read_sizes(r));
    SN_TRY(sn_text_copy(r->folder, &r->data->source));
    SN_TRY(read_columns(r));
    SN_TRY(read_image(r));
    if (wish->na.count > 0 && r->data->na == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "%s holds shards, whose missing cells were found when they were made: give --na to "
                       "'stonet shard'",
                       r->folder);
    return choose_response(r, wish);
}
