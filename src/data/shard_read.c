/* A folder of shards as one table: x and the response are mapped, the rest is read. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/team.h"
#include "data/array.h"
#include "data/schema.h"
#include "data/shards.h"

enum { CHUNK = 1 << 18 }; /* bytes that are looked at before they may rest */

/* ---- the files --------------------------------------------------------------------------------- */

/* What the files of a part hold: rows x width numbers. */
typedef struct part {
    sn_shard_part which;
    char kind;
    int size;
    int64_t width;
} part;

/* The numbers of a part, of all shards: mapped, or (mapping NULL) in a block of memory. */
typedef struct numbers {
    sn_mapping *mapping;
    unsigned char *owned;
    const unsigned char *bytes;
} numbers;

static void numbers_free(numbers *of)
{
    sn_mapping_close(of->mapping);
    sn_free(of->owned);
    *of = (numbers){0};
}

/* Opens the file of a shard up to its numbers. */
static stonet_status open_file(const sn_shard_reader *r, int64_t number, const part *p, sn_source **out)
{
    SN_BLOCK char *path = NULL;
    SN_AUTO(sn_source) *file = NULL;
    sn_array array;
    SN_TRY(sn_shard_path(r->folder, r->name, number, p->which, &path));
    SN_TRY(sn_source_open(path, NULL, &file));
    SN_TRY(sn_npy_header(file, &array));
    if (array.kind != p->kind || array.size != p->size || array.big_endian || array.fortran ||
        array.rank != 2 || array.shape[0] != r->rows[number] || array.shape[1] != p->width)
        return sn_fail(STONET_ERROR_FORMAT, "%s does not hold %lld x %lld numbers as its index says", path,
                       (long long)r->rows[number], (long long)p->width);
    if (sn_source_left(file) != r->rows[number] * p->width * p->size)
        return sn_fail(STONET_ERROR_FORMAT, "%s is cut off, or longer than its header says", path);
    return SN_GIVE(file, out);
}

/* Maps the files side by side, or reads them, where there is a block for that; *taken is false where they
   cannot be mapped. */
static stonet_status take_files(const sn_shard_reader *r, const part *p, numbers *to, bool *taken)
{
    const int64_t row = p->width * p->size;
    *taken = to->owned != NULL || to->mapping != NULL;
    int64_t place = 0;
    for (int64_t k = 0; k < r->shards && *taken; place += r->rows[k++] * row) {
        SN_AUTO(sn_source) *source = NULL;
        SN_TRY(open_file(r, k, p, &source));
        if (to->owned != NULL)
            SN_TRY(sn_source_read_all(source, to->owned + place, (size_t)(r->rows[k] * row)));
        else
            *taken = sn_source_map_to(source, r->rows[k] * row, to->mapping, place);
    }
    return STONET_OK;
}

static stonet_status damaged(const sn_shard_reader *r, int64_t shard, sn_shard_part which, const char *what)
{
    return sn_fail(STONET_ERROR_FORMAT, "%s/%s-%05lld%s.npy is damaged: %s", r->folder, r->name,
                   (long long)shard, sn_shard_suffix[which], what);
}

/* Whether the index has this hash for the numbers of a shard. */
static stonet_status check_hash(const sn_shard_reader *r, int64_t shard, sn_shard_part which,
                                const sn_hash *hash)
{
    const json_t *about = json_array_get(json_object_get(r->index, "shards"), (size_t)shard);
    const char *said = json_string_value(json_object_get(about, sn_shard_key[which]));
    char found[24];
    snprintf(found, sizeof found, "%016" PRIx64, sn_hash_value(hash));
    if (said != NULL && strcmp(said, found) == 0) return STONET_OK;
    return damaged(r, shard, which, "its hash is not that of the index");
}

/* Looks at a stretch of numbers: infinite ones are refused, missing ones counted or (of the response)
   refused. */
static stonet_status check_stretch(const sn_shard_reader *r, int64_t shard, const part *p,
                                   const unsigned char *bytes, size_t size)
{
    stonet_data *data = r->data;
    if (p->kind == 'i') {
        const int32_t *code = (const void *)bytes;
        for (size_t i = 0; i < size / sizeof *code; i++)
            if (code[i] < 0 || code[i] >= data->labels.count)
                return damaged(r, shard, p->which, "an unknown label");
        return STONET_OK;
    }
    if (p->which == SN_SHARD_Y) {
        const double *y = (const void *)bytes;
        for (size_t i = 0; i < size / sizeof *y; i++)
            if (!isfinite(y[i])) return damaged(r, shard, p->which, "a response is no finite number");
        return STONET_OK;
    }
    const float *x = (const void *)bytes;
    const size_t count = size / sizeof *x;
    if (sn_all_finite(x, (int64_t)count)) return STONET_OK;
    for (size_t i = 0; i < count; i++) {
        if (isinf(x[i])) return damaged(r, shard, p->which, "a number is infinite");
        data->missing += isnan(x[i]);
    }
    return STONET_OK;
}

/* The numbers of a shard, from `at` on, with their hash, in stretches that need not stay in memory. */
static stonet_status check_shard(const sn_shard_reader *r, int64_t k, const part *p, const numbers *of,
                                 const unsigned char *at)
{
    const size_t size = (size_t)(r->rows[k] * p->width * p->size);
    sn_hash hash;
    sn_hash_begin(&hash);
    for (size_t done = 0; done < size; done += CHUNK) {
        const size_t step = size - done < CHUNK ? size - done : CHUNK;
        sn_hash_add(&hash, at + done, step);
        if (p->which != SN_SHARD_MORE) SN_TRY(check_stretch(r, k, p, at + done, step));
        if (of->mapping != NULL) sn_mapping_rest(of->mapping, at + done, step);
    }
    return check_hash(r, k, p->which, &hash);
}

/* What one rank found in its shards. */
typedef struct finding {
    int64_t missing, bad; /* cells; the first damaged shard, -1: none */
} finding;

/* All shards of a part; the ranks of a team take turns. A damaged one is looked at by all, so that each has
   the sentence. */
static stonet_status check_part(const sn_shard_reader *r, const part *p, const numbers *of)
{
    const int ranks = stonet_team_ranks(r->team), rank = stonet_team_rank(r->team);
    const int64_t row = p->width * p->size, before = r->data->missing;
    SN_ZEROS(ranks, finding, all);
    all[rank].bad = -1;
    int64_t first = 0;
    for (int64_t k = 0; k < r->shards && all[rank].bad < 0; first += r->rows[k++])
        if (k % ranks == rank && check_shard(r, k, p, of, of->bytes + first * row) != STONET_OK)
            all[rank].bad = k;
    all[rank].missing = r->data->missing - before;
    const stonet_status status = sn_team_gather(r->team, ranks, sizeof *all, all);
    int64_t bad = -1;
    r->data->missing = before;
    for (int k = 0; k < ranks; k++) {
        r->data->missing += all[k].missing;
        if (all[k].bad >= 0 && (bad < 0 || all[k].bad < bad)) bad = all[k].bad;
    }
    if (status != STONET_OK || bad < 0) return status;
    first = 0;
    for (int64_t k = 0; k < bad; k++) first += r->rows[k];
    SN_TRY(check_shard(r, bad, p, of, of->bytes + first * row));
    return damaged(r, bad, p->which, "another process read other bytes from it");
}

static stonet_status load_part(const sn_shard_reader *r, const part *p, numbers *to)
{
    int64_t bytes;
    bool taken;
    if (__builtin_mul_overflow(r->data->n, p->width * p->size, &bytes))
        return sn_shard_bad_index(r, "it claims more numbers than there can be");
    SN_FREED_BY(numbers_free) numbers made = {0};
    SN_TRY(sn_mapping_reserve(bytes, r->shards, &made.mapping));
    SN_TRY(take_files(r, p, &made, &taken));
    if (!taken) {
        numbers_free(&made);
        SN_TRY(sn_memory_require((uint64_t)bytes, r->folder, "use fewer rows or columns"));
        SN_TRY(SN_NEW_RAW(made.owned, bytes));
        SN_TRY(take_files(r, p, &made, &taken));
    }
    made.bytes = made.owned != NULL ? made.owned : sn_mapping_bytes(made.mapping);
    SN_TRY(check_part(r, p, &made));
    *to = made;
    made = (numbers){0};
    return STONET_OK;
}

static stonet_status load_x(const sn_shard_reader *r)
{
    stonet_data *data = r->data;
    numbers x = {0};
    if (data->n_numeric == 0) return STONET_OK;
    SN_TRY(load_part(r, &(part){SN_SHARD_X, 'f', (int)sizeof(float), data->n_numeric}, &x));
    data->x = (const void *)x.bytes;
    data->owned_x = x.owned;
    data->mapped_x = x.mapping;
    return STONET_OK;
}

static stonet_status load_y(const sn_shard_reader *r)
{
    stonet_data *data = r->data;
    numbers y = {0};
    if (data->n_targets == 0) return STONET_OK;
    const bool is_label = data->labels.count > 0;
    const part p = {SN_SHARD_Y, is_label ? 'i' : 'f', (int)(is_label ? sizeof(int32_t) : sizeof(double)),
                    data->n_targets};
    SN_TRY(load_part(r, &p, &y));
    data->mapped_y = y.mapping;
    if (is_label)
        data->label = (void *)y.bytes;
    else
        data->y = (void *)y.bytes;
    return STONET_OK;
}

/* ---- what is read into memory: weights, texts, numbers in double -------------------------------- */

/* The columns of numbers in a list of the index or of one of its shards, n_numeric at most. */
static stonet_status exact_of(const sn_shard_reader *r, const json_t *holder, int64_t *slots, int64_t *count)
{
    const json_t *list = json_object_get(holder, "exact");
    *count = (int64_t)json_array_size(list);
    if (!json_is_array(list) || *count > r->data->n_numeric)
        return sn_shard_bad_index(r, "its columns are wrong");
    for (int64_t k = 0; k < *count; k++) {
        const json_t *slot = json_array_get(list, (size_t)k);
        slots[k] = json_is_integer(slot) ? json_integer_value(slot) : -1;
        if (slots[k] < 0 || slots[k] >= r->data->n_numeric)
            return sn_shard_bad_index(r, "its columns are wrong");
    }
    return STONET_OK;
}

/* Columns in double begin as what their floats say; shards that have more of them put it in. */
static stonet_status start_exact(const sn_shard_reader *r, const json_t *holder, int64_t *slots)
{
    stonet_data *data = r->data;
    int64_t count;
    SN_TRY(exact_of(r, holder, slots, &count));
    if (count == 0 || data->x == NULL) return STONET_OK;
    if (data->exact == NULL) SN_TRY(SN_NEW(data->exact, data->n_numeric));
    for (int64_t k = 0; k < count; k++) {
        if (data->exact[slots[k]].at != NULL) continue;
        double *value;
        SN_TRY(SN_NEW_RAW(value, data->n));
        for (int64_t i = 0; i < data->n; i++) value[i] = (double)data->x[i * data->n_numeric + slots[k]];
        data->exact[slots[k]] = (sn_exact){.at = value, .step = 1, .owned = value};
    }
    return STONET_OK;
}

/* As in every table: the columns that float is too coarse for, or all, for a model that needs digits. */
static stonet_status choose_exact(const sn_shard_reader *r, const sn_schema *schema, int64_t *slots)
{
    const json_t *list = json_object_get(r->index, "shards");
    SN_TRY(start_exact(r, r->index, slots));
    if (schema == NULL || !sn_schema_needs_digits(schema)) return STONET_OK;
    for (size_t k = 0; k < (size_t)r->shards; k++) SN_TRY(start_exact(r, json_array_get(list, k), slots));
    return STONET_OK;
}

/* One row of the numbers beside x. */
static stonet_status take_more(const sn_shard_reader *r, int64_t shard, int64_t row, const double *from,
                               const int64_t *slots, int64_t exacts)
{
    stonet_data *data = r->data;
    if (data->weight != NULL) {
        if (!(*from >= 0.0 && *from <= (double)3.4e38F))
            return damaged(r, shard, SN_SHARD_MORE, "a wrong weight");
        data->weight[row] = *from++;
    }
    for (int64_t k = 0; k < data->n_text; k++, from++) {
        if (!(*from >= -1.0 && *from < (double)data->text_values[k].count) || *from != floor(*from))
            return damaged(r, shard, SN_SHARD_MORE, "an unknown text");
        data->text_code[k][row] = (int32_t)*from;
        data->missing += *from < 0.0;
    }
    for (int64_t k = 0; k < exacts; k++, from++) {
        if (isinf(*from)) return damaged(r, shard, SN_SHARD_MORE, "a number is infinite");
        if (data->exact != NULL && data->exact[slots[k]].owned != NULL)
            data->exact[slots[k]].owned[row] = *from;
    }
    return STONET_OK;
}

/* The numbers beside x of one shard: weight, text codes and columns in double, as doubles row by row. They
   are copied into the frame from row `first` on. The hash is checked last, after all bytes were read. */
static stonet_status load_more_of(const sn_shard_reader *r, int64_t number, int64_t first, int64_t *slots)
{
    const json_t *shard = json_array_get(json_object_get(r->index, "shards"), (size_t)number);
    int64_t exacts;
    SN_AUTO(sn_source) *source = NULL;
    SN_TRY(exact_of(r, shard, slots, &exacts));
    const part p = {SN_SHARD_MORE, 'f', (int)sizeof(double),
                    (r->data->weight != NULL) + r->data->n_text + exacts};
    if (p.width == 0) return STONET_OK;
    sn_hash hash;
    sn_hash_begin(&hash);
    SN_TRY(open_file(r, number, &p, &source));
    SN_ARRAY(p.width, double, row);
    for (int64_t i = 0; i < r->rows[number]; i++) {
        const size_t size = (size_t)p.width * sizeof *row;
        SN_TRY(sn_source_read_all(source, row, size));
        sn_hash_add(&hash, row, size);
        SN_TRY(take_more(r, number, first + i, row, slots, exacts));
    }
    return check_hash(r, number, SN_SHARD_MORE, &hash);
}

/* Rows that were left out may have been the first, or the only ones, with a word: as in every table, the
   words are those of its rows in order of first appearance. */
static stonet_status renumber(stonet_data *data, int64_t k)
{
    sn_dictionary *words = &data->text_values[k], kept = {0};
    if (words->ordered || data->dropped == 0) return STONET_OK;
    int32_t *code = data->text_code[k];
    SN_ZEROS(words->count, int32_t, new_code);
    SN_TRY(SN_NEW(kept.text, words->count));
    for (int64_t i = 0; i < data->n; i++) {
        if (code[i] < 0) continue;
        if (new_code[code[i]] == 0) {
            kept.text[kept.count++] = words->text[code[i]];
            words->text[code[i]] = NULL;
            new_code[code[i]] = (int32_t)kept.count;
        }
        code[i] = new_code[code[i]] - 1;
    }
    sn_dictionary_free(words);
    *words = kept;
    return STONET_OK;
}

/* The numbers beside x of all shards. The files are not opened if nothing in them is used. As in every table,
   names and groups of rows are never missing. */
static stonet_status load_more(const sn_shard_reader *r, const sn_schema *schema)
{
    stonet_data *data = r->data;
    int64_t first = 0;
    if (json_is_true(json_object_get(r->index, "weights"))) SN_TRY(SN_NEW(data->weight, data->n));
    SN_ZEROS(data->n_numeric + 1, int64_t, slots);
    SN_TRY(choose_exact(r, schema, slots));
    const bool needed = data->weight != NULL || data->n_text > 0 || data->exact != NULL;
    for (int64_t k = 0; k < r->shards && needed; first += r->rows[k++])
        SN_TRY(load_more_of(r, k, first, slots));
    for (int64_t i = 0; i < data->n; i++) { /* an empty name is a name */
        if (data->id_name != NULL && data->text_code[data->id_slot][i] < 0)
            return sn_shard_bad_index(r, "a row has no name");
        if (data->group_name != NULL && data->text_code[data->group_slot][i] < 0)
            return sn_shard_bad_index(r, "a row has no group");
    }
    sn_frame_settle_weights(data);
    for (int64_t k = 0; k < data->n_text; k++) SN_TRY(renumber(data, k));
    return STONET_OK;
}

/* The role of each column was fixed when the shards were made. */
static stonet_status check_wish(const char *folder, const sn_read_wish *wish)
{
    const char *option = wish->how.features != NULL  ? "features"
                         : wish->how.drop != NULL    ? "drop"
                         : wish->how.id != NULL      ? "id"
                         : wish->how.n_ordinal > 0   ? "ordinal"
                         : wish->how.season != NULL  ? "season"
                         : wish->how.weights != NULL ? "weights"
                         : wish->how.group != NULL   ? "group"
                                                     : NULL;
    if (wish->all)
        return sn_fail(STONET_ERROR_ARGUMENT, "%s holds shards, which cannot be a file of the response alone",
                       folder);
    if (wish->how.header != STONET_HEADER_AUTO)
        return sn_fail(STONET_ERROR_ARGUMENT, "%s holds shards, which have no line of names", folder);
    if (option == NULL) return STONET_OK;
    return sn_fail(
        STONET_ERROR_ARGUMENT,
        "%s holds shards, whose columns were chosen when they were made: give --%s to 'stonet shard'", folder,
        option);
}

static void reader_free(sn_shard_reader *r)
{
    json_decref(r->index);
    sn_free(r->rows);
    sn_free(r->path);
    stonet_data_free(r->data);
}

stonet_status sn_read_shards(const char *folder, const sn_read_wish *wish, stonet_data **out)
{
    SN_FREED_BY(reader_free) sn_shard_reader r = {.folder = folder, .team = wish->how.team};
    SN_TRY(check_wish(folder, wish));
    SN_TRY(sn_shard_index(&r, wish));
    SN_TRY(load_x(&r));
    SN_TRY(load_y(&r));
    SN_TRY(load_more(&r, wish->schema));
    return SN_GIVE(r.data, out);
}
