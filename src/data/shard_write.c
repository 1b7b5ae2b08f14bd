/* stonet_shards_write: a table cut into shards while it is being read. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/folder.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/take_options.h"
#include "data/array.h"
#include "data/shards.h"

/* A shard that was written. */
typedef struct shard {
    int64_t rows;
    uint64_t hash[SN_SHARD_PARTS];
    bool there[SN_SHARD_PARTS];
    int64_t exacts, *exact; /* the columns of numbers that it has in double too */
} shard;

typedef struct shard_drain {
    sn_drain base;
    sn_folder *folder;
    char *name;
    int64_t count, capacity, rows;
    shard *list;
    sn_dictionary labels; /* in order of their codes in the files */
    bool *enough;         /* columns for which floats have turned out to be enough */
    int64_t n_numeric;
} shard_drain;

/* ---- the files of a shard ---------------------------------------------------------------------- */

/* An array on its way to the file of a part of a shard, and its hash. */
typedef struct part_out {
    sn_writer *writer;
    sn_hash hash;
} part_out;

static void abandon(part_out *out)
{
    sn_writer_abandon(out->writer);
}

/* An array with as many rows as the shard. type: such as "<f4". */
static stonet_status begin_part(const shard_drain *drain, shard *to, sn_shard_part part, const char *type,
                                int64_t columns, part_out *out)
{
    SN_BLOCK char *path = NULL;
    to->there[part] = true;
    sn_hash_begin(&out->hash);
    SN_TRY(sn_shard_path(sn_folder_place(drain->folder), drain->name, to - drain->list, part, &path));
    SN_TRY(sn_writer_open(path, &out->writer));
    return sn_npy_write_header(out->writer, type, to->rows, columns, SN_SHARD_ALIGN);
}

static stonet_status put_numbers(part_out *out, const void *bytes, size_t size)
{
    sn_hash_add(&out->hash, bytes, size);
    return sn_write(out->writer, bytes, size);
}

static stonet_status write_part(const shard_drain *drain, shard *to, sn_shard_part part, const char *type,
                                int64_t columns, const void *numbers)
{
    SN_FREED_BY(abandon) part_out out = {0};
    SN_TRY(begin_part(drain, to, part, type, columns, &out));
    SN_TRY(put_numbers(&out, numbers, (size_t)(to->rows * columns) * (size_t)(type[2] - '0')));
    to->hash[part] = sn_hash_value(&out.hash);
    return sn_writer_commit(&out.writer);
}

/* Row by row: as a whole they could be more than all that the builder holds. */
static stonet_status write_more(const shard_drain *drain, const sn_builder *builder, int64_t first, shard *to)
{
    const int64_t width = (builder->weight != NULL) + builder->n_text + to->exacts;
    SN_FREED_BY(abandon) part_out out = {0};
    SN_ARRAY(width, double, row);
    SN_TRY(begin_part(drain, to, SN_SHARD_MORE, "<f8", width, &out));
    for (int64_t i = first; i < first + to->rows; i++) {
        double *at = row;
        if (builder->weight != NULL) *at++ = builder->weight[i];
        for (int64_t k = 0; k < builder->n_text; k++) *at++ = (double)builder->code[k][i];
        for (int64_t k = 0; k < to->exacts; k++) *at++ = builder->digits[to->exact[k]].value[i];
        SN_TRY(put_numbers(&out, row, (size_t)width * sizeof *row));
    }
    to->hash[SN_SHARD_MORE] = sn_hash_value(&out.hash);
    return sn_writer_commit(&out.writer);
}

static stonet_status write_shard(const shard_drain *drain, const sn_builder *builder, int64_t first,
                                 shard *to)
{
    const int64_t m = builder->n_numeric, targets = builder->n_targets;
    SN_TRY(SN_NEW(to->exact, m));
    for (int64_t k = 0; k < m; k++)
        if (builder->digits[k].value != NULL) to->exact[to->exacts++] = k;
    if (m > 0) SN_TRY(write_part(drain, to, SN_SHARD_X, "<f4", m, builder->x + first * m));
    if (builder->label != NULL)
        SN_TRY(write_part(drain, to, SN_SHARD_Y, "<i4", 1, builder->label + first));
    else if (targets > 0)
        SN_TRY(write_part(drain, to, SN_SHARD_Y, "<f8", targets, builder->y + first * targets));
    if (builder->weight != NULL || builder->n_text > 0 || to->exacts > 0)
        SN_TRY(write_more(drain, builder, first, to));
    return STONET_OK;
}

/* ---- the drain --------------------------------------------------------------------------------- */

static void forget_shards(shard_drain *drain)
{
    for (int64_t k = 0; k < drain->count; k++) sn_free(drain->list[k].exact);
    sn_dictionary_free(&drain->labels);
    drain->labels = (sn_dictionary){0};
    drain->count = drain->rows = 0;
}

static stonet_status restart(sn_drain *base)
{
    shard_drain *drain = (shard_drain *)base;
    forget_shards(drain);
    return sn_folder_clear(drain->folder);
}

/* The labels that have come since the last shard: their codes are those of first appearance. */
static stonet_status note_labels(shard_drain *drain, const sn_dictionary *words)
{
    if (words->count == drain->labels.count) return STONET_OK;
    SN_TRY(SN_GROW(drain->labels.text, words->count));
    for (int64_t c = drain->labels.count; c < words->count; c++)
        SN_TRY(sn_dictionary_add(&drain->labels, words->text[c]));
    return STONET_OK;
}

static stonet_status take(sn_drain *base, const sn_builder *builder, int64_t first, int64_t count)
{
    shard_drain *drain = (shard_drain *)base;
    if (drain->count == drain->capacity) {
        const int64_t capacity = 2 * drain->capacity + 16;
        SN_TRY(SN_GROW(drain->list, capacity));
        drain->capacity = capacity;
    }
    SN_TRY(note_labels(drain, &builder->labels.words));
    shard *to = &drain->list[drain->count++];
    *to = (shard){.rows = count};
    SN_TRY(write_shard(drain, builder, first, to));
    drain->rows += count;
    return STONET_OK;
}

static stonet_status end(sn_drain *base, const sn_builder *builder)
{
    shard_drain *drain = (shard_drain *)base;
    if (drain->rows == 0) return sn_fail(STONET_ERROR_DATA, "%s has no row with a response", builder->path);
    drain->n_numeric = builder->n_numeric;
    SN_TRY(SN_NEW(drain->enough, builder->n_numeric));
    for (int64_t k = 0; k < builder->n_numeric; k++) drain->enough[k] = builder->digits[k].wide;
    return STONET_OK;
}

static void drain_free(shard_drain *drain)
{
    forget_shards(drain);
    SN_FREE_ALL(drain->list, drain->enough, drain->name);
    sn_folder_abandon(drain->folder);
}

static stonet_status recode_shard(shard_drain *drain, int64_t number, const int32_t *new_code)
{
    shard *of = &drain->list[number];
    SN_BLOCK char *path = NULL;
    SN_AUTO(sn_source) *source = NULL;
    SN_ARRAY(of->rows, int32_t, code);
    SN_TRY(sn_shard_path(sn_folder_place(drain->folder), drain->name, number, SN_SHARD_Y, &path));
    SN_TRY(sn_source_open(path, NULL, &source));
    SN_TRY(sn_source_read_at(source, SN_SHARD_ALIGN, code, (size_t)of->rows * sizeof *code));
    for (int64_t i = 0; i < of->rows; i++) code[i] = new_code[code[i]];
    return write_part(drain, of, SN_SHARD_Y, "<i4", 1, code);
}

/* The codes in the files are those of first appearance, and in a frame labels are sorted. */
static stonet_status sort_codes(shard_drain *drain, const sn_dictionary *sorted)
{
    SN_FREED_BY(sn_interner_free) sn_interner labels = {0};
    bool same = true;
    SN_TRY(sn_interner_of(sorted, &labels));
    SN_ZEROS(drain->labels.count, int32_t, new_code);
    for (int64_t c = 0; c < drain->labels.count; c++) {
        new_code[c] = sn_interner_find(&labels, drain->labels.text[c], strlen(drain->labels.text[c]));
        same = same && new_code[c] == c;
    }
    for (int64_t k = 0; k < drain->count && !same; k++) SN_TRY(recode_shard(drain, k, new_code));
    return STONET_OK;
}

/* ---- the index --------------------------------------------------------------------------------- */

static json_t *column_json(const sn_column *column)
{
    return json_pack("{s:s, s:s, s:I, s:b, s:b, s:b, s:b, s:I}", "name", column->name, "kind",
                     column->kind == SN_COLUMN_TEXT ? "text" : "number", "slot", (json_int_t)column->slot,
                     "date", (int)column->is_date, "season", (int)column->season, "unnamed",
                     (int)column->unnamed, "again", (int)column->again, "position",
                     (json_int_t)column->position);
}

static json_t *texts_json(const stonet_data *like)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < like->n_text; k++) {
        json_t *text = json_pack("{s:b}", "ordered", (int)like->text_values[k].ordered);
        list = sn_json_add(list, sn_json_put(text, "words", sn_dictionary_json(&like->text_values[k])));
    }
    return list;
}

static json_t *response_json(const stonet_data *like, bool is_text)
{
    if (like->n_targets == 0) return json_null();
    json_t *names = json_array(), *positions = json_array();
    for (int64_t k = 0; k < like->n_targets; k++) {
        names = sn_json_add(names, json_string(like->target_name[k]));
        positions = sn_json_add(positions, json_integer(like->target_position[k]));
    }
    json_t *response = sn_json_put(json_object(), "names", names);
    response = sn_json_put(response, "positions", positions);
    if (like->labels.told) response = sn_json_put(response, "ordered", json_true());
    return sn_json_put(response, "labels", is_text ? sn_dictionary_json(&like->labels) : json_null());
}

static json_t *shard_json(const shard *of)
{
    json_t *object = json_pack("{s:I}", "rows", (json_int_t)of->rows);
    for (int part = 0; part < SN_SHARD_PARTS; part++) {
        char hash[24];
        snprintf(hash, sizeof hash, "%016" PRIx64, of->hash[part]);
        if (of->there[part]) object = sn_json_put(object, sn_shard_key[part], json_string(hash));
    }
    json_t *exact = json_array();
    for (int64_t k = 0; k < of->exacts; k++) exact = sn_json_add(exact, json_integer(of->exact[k]));
    return sn_json_put(object, "exact", exact);
}

/* Columns that float is too coarse for, in the end. */
static json_t *exact_json(const shard_drain *drain)
{
    json_t *list = json_array();
    for (int64_t slot = 0; slot < drain->n_numeric; slot++) {
        bool any = false;
        for (int64_t k = 0; k < drain->count && !drain->enough[slot]; k++)
            for (int64_t e = 0; e < drain->list[k].exacts; e++) any = any || drain->list[k].exact[e] == slot;
        if (any) list = sn_json_add(list, json_integer(slot));
    }
    return list;
}

/* `like`: the frame without rows that is left of the table. */
static json_t *index_json(const shard_drain *drain, const stonet_data *like)
{
    json_t *columns = json_array(), *shards = json_array(), *image = json_array();
    for (int k = 0; k < like->image.rank; k++)
        image = sn_json_add(image, json_integer(like->image.extent[k]));
    for (int64_t j = 0; j < like->n_columns; j++)
        columns = sn_json_add(columns, column_json(&like->column[j]));
    for (int64_t k = 0; k < drain->count; k++) shards = sn_json_add(shards, shard_json(&drain->list[k]));
    json_t *index = json_pack(
        "{s:s, s:i, s:s, s:I, s:I, s:b, s:I, s:I, s:s?, s:s?, s:I, s:s?, s:I, s:b}", "format",
        SN_SHARDS_FORMAT, "version", (int)SN_SHARDS_VERSION, "name", drain->name, "rows",
        (json_int_t)drain->rows, "dropped", (json_int_t)like->dropped, "header", (int)like->has_header,
        "numbers", (json_int_t)like->n_numeric, "width", (json_int_t)like->width, "na", like->na, "id",
        like->id_name, "id_slot", (json_int_t)like->id_slot, "group", like->group_name, "group_slot",
        (json_int_t)like->group_slot, "weights", (int)(like->weight != NULL));
    index = sn_json_put(index, "image", image);
    index = sn_json_put(index, "columns", columns);
    index = sn_json_put(index, "texts", texts_json(like));
    index = sn_json_put(index, "response", response_json(like, drain->labels.count > 0));
    index = sn_json_put(index, "exact", exact_json(drain));
    return sn_json_put(index, "shards", shards);
}

static stonet_status write_index(const shard_drain *drain, const stonet_data *like)
{
    SN_AUTO(json_t) *index = index_json(drain, like);
    char hash[SN_SHARD_HASH];
    SN_TRY(sn_shard_index_hash(index, hash));
    index = sn_json_put(index, "hash", json_string(hash));
    SN_BLOCK char *text = sn_json_print(index, JSON_INDENT(1));
    if (text == NULL) return sn_json_failed();
    SN_BLOCK char *path = NULL;
    SN_TRY(sn_shard_index_path(sn_folder_place(drain->folder), &path));
    return stonet_bytes_write(path, text, strlen(text));
}

/* What the files are called: as the table, without folder and endings, in plain characters. */
static stonet_status choose_name(const char *path, char **out)
{
    const char *slash = strrchr(path, '/'), *from = slash != NULL ? slash + 1 : path;
    from += strspn(from, ".");
    const size_t length = strcspn(from, ".");
    if (length == 0) return sn_text_copy("table", out);
    SN_TRY(SN_NEW(*out, length + 1));
    for (size_t i = 0; i < length; i++) {
        const char c = from[i];
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        (*out)[i] = plain || c == '-' || c == '_' ? c : '_';
    }
    return STONET_OK;
}

static stonet_status write_shards(const char *path, const stonet_read_options *how, shard_drain *drain)
{
    SN_AUTO(stonet_data) *like = NULL;
    SN_TRY(sn_read_as(path, how, NULL, &drain->base, &like));
    SN_TRY(sort_codes(drain, &like->labels));
    return write_index(drain, like);
}

stonet_status stonet_shards_write(const char *path, const stonet_read_options *options, int64_t rows,
                                  const char *folder, int64_t *total, int64_t *shards)
{
    if (path == NULL || folder == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_shards_write needs a table and a folder");
    if (rows < 1 || rows > INT64_MAX - SN_SHARD_STEP)
        return sn_fail(STONET_ERROR_ARGUMENT, "a shard has at least one row");
    stonet_read_options how;
    SN_TRY(sn_take_read_options(options, &how));
    if (how.target_file != NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "a response in a file of its own stays there: leave it out here, and name it to the "
                       "commands that use the shards");
    SN_FREED_BY(drain_free)
    shard_drain drain = {.base = {.rows = (rows + SN_SHARD_STEP - 1) / SN_SHARD_STEP * SN_SHARD_STEP,
                                  .restart = restart,
                                  .take = take,
                                  .end = end}};
    SN_TRY(choose_name(path, &drain.name));
    SN_TRY(sn_folder_begin(folder, &drain.folder));
    SN_TRY(write_shards(path, &how, &drain));
    sn_folder *made = drain.folder;
    drain.folder = NULL;
    SN_TRY(sn_folder_commit(made));
    if (total != NULL) *total = drain.rows;
    if (shards != NULL) *shards = drain.count;
    return STONET_OK;
}
