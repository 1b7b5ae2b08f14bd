#include "model/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "data/utf8.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are stored as they lie in memory");

enum {
    LENGTH_BYTES = 8,
    MAX_HEADER =
        1 << 30, /* more than any table that can be fitted; a hostile header is bounded by its file */
    LARGE_HEADER = 64 << 20,
    PARSED_BYTES = 24, /* that one byte of JSON may take in memory, at most */
    MAX_ENTRIES = 10000
};

static const char METADATA[] = "__metadata__";

/* ---- dtypes ---- */

static const struct {
    const char *name;
    sn_dtype dtype;
} DTYPES[] = {{"F32", SN_F32}, {"F64", SN_F64}, {"I32", SN_I32}, {"I64", SN_I64}, {"U8", SN_U8}};

static const char *dtype_name(sn_dtype dtype)
{
    for (size_t i = 0; i < sizeof DTYPES / sizeof *DTYPES; i++)
        if (DTYPES[i].dtype == dtype) return DTYPES[i].name;
    return NULL;
}

static bool dtype_parse(const char *name, sn_dtype *dtype)
{
    for (size_t i = 0; name != NULL && i < sizeof DTYPES / sizeof *DTYPES; i++) {
        if (strcmp(DTYPES[i].name, name) == 0) {
            *dtype = DTYPES[i].dtype;
            return true;
        }
    }
    return false;
}

static size_t tensor_bytes(const sn_tensor *tensor)
{
    return (size_t)sn_tensor_count(tensor) * sn_dtype_size(tensor->dtype);
}

/* ---- writing ---- */

typedef stonet_status (*sink)(void *to, const void *bytes, size_t size);

/* Calls visit for each tensor, widest elements first, so that every tensor of the file is aligned. */
static stonet_status for_each_tensor(const sn_store *store,
                                     stonet_status (*visit)(const sn_tensor *tensor, void *user), void *user)
{
    static const size_t SIZES[] = {8, 4, 1};
    for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++) {
        for (size_t i = 0; i < sn_store_tensors(store); i++) {
            const sn_tensor *tensor = sn_store_tensor(store, i);
            if (sn_dtype_size(tensor->dtype) == SIZES[s]) SN_TRY(visit(tensor, user));
        }
    }
    return STONET_OK;
}

typedef struct layout {
    json_t *header;
    size_t offset;
} layout;

static stonet_status describe_tensor(const sn_tensor *tensor, void *user)
{
    layout *at = user;
    size_t end = at->offset + tensor_bytes(tensor);
    json_t *shape = json_array();
    for (int i = 0; i < tensor->rank; i++) shape = sn_json_add(shape, json_integer(tensor->shape[i]));
    json_t *entry = json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtype_name(tensor->dtype), "shape", shape,
                              "data_offsets", (json_int_t)at->offset, (json_int_t)end);
    if (json_object_set_new(at->header, tensor->name, entry) != 0) return sn_json_failed();
    at->offset = end;
    return STONET_OK;
}

static stonet_status describe_texts(const sn_store *store, json_t *header)
{
    json_t *metadata = json_object();
    if (json_object_set_new(header, METADATA, metadata) != 0) return sn_json_failed();
    for (size_t i = 0; i < sn_store_texts(store); i++) {
        const char *key, *value;
        sn_store_text(store, i, &key, &value);
        if (!sn_utf8_valid(value, strlen(value)))
            return sn_fail(STONET_ERROR_FORMAT, "entry '%s' of the model is not valid UTF-8 text", key);
        if (json_object_set_new(metadata, key, json_string(value)) != 0) return sn_json_failed();
    }
    return STONET_OK;
}

/* The JSON header, padded with blanks so that the tensors start on a multiple of 8; free() it. */
static stonet_status make_header(const sn_store *store, char **text, size_t *length, size_t *payload)
{
    layout at = {.header = json_object()};
    if (at.header == NULL)
        return sn_fail(STONET_ERROR_MEMORY, "memory ran out while writing the model's header");
    stonet_status status = describe_texts(store, at.header);
    if (status == STONET_OK) status = for_each_tensor(store, describe_tensor, &at);
    char *json = status == STONET_OK ? sn_json_print(at.header, JSON_COMPACT) : NULL;
    json_decref(at.header);
    SN_TRY(status);
    size_t used = json != NULL ? strlen(json) : 0;
    size_t padded = (used + LENGTH_BYTES - 1) / LENGTH_BYTES * LENGTH_BYTES;
    char *grown = json != NULL ? realloc(json, padded + 1) : NULL;
    if (grown == NULL) {
        free(json);
        return sn_fail(STONET_ERROR_MEMORY, "memory ran out while writing the model's header");
    }
    size_t entries = sn_store_tensors(store) + 1, texts = sn_store_texts(store);
    if (padded > MAX_HEADER || entries > MAX_ENTRIES || texts > MAX_ENTRIES) {
        free(grown);
        return sn_fail(
            STONET_ERROR_UNSUPPORTED,
            "a model with %zu MB of names and settings and %zu tensors cannot be saved: model files have "
            "at most %d MB and %d",
            padded >> 20, entries, MAX_HEADER >> 20, (int)MAX_ENTRIES);
    }
    memset(grown + used, ' ', padded - used);
    *text = grown;
    *length = padded;
    *payload = at.offset;
    return STONET_OK;
}

typedef struct output {
    sink put;
    void *to;
} output;

static stonet_status put_tensor(const sn_tensor *tensor, void *user)
{
    output *out = user;
    return out->put(out->to, tensor->data, tensor_bytes(tensor));
}

static stonet_status put_all(const sn_store *store, const char *header, size_t length, output *out)
{
    uint64_t count = length;
    SN_TRY(out->put(out->to, &count, sizeof count));
    SN_TRY(out->put(out->to, header, length));
    return for_each_tensor(store, put_tensor, out);
}

static stonet_status put_in_file(void *to, const void *bytes, size_t size)
{
    return size > 0 ? sn_write(to, bytes, size) : STONET_OK;
}

static stonet_status put_in_memory(void *to, const void *bytes, size_t size)
{
    unsigned char **at = to;
    if (size > 0) memcpy(*at, bytes, size);
    *at += size;
    return STONET_OK;
}

stonet_status sn_safetensors_encode(const sn_store *store, unsigned char **bytes, size_t *size)
{
    SN_BLOCK char *header = NULL;
    size_t length = 0, payload = 0;
    SN_TRY(make_header(store, &header, &length, &payload));
    *size = LENGTH_BYTES + length + payload;
    *bytes = sn_realloc(NULL, *size, 1);
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the header goes with its scope
    if (*bytes == NULL) return STONET_ERROR_MEMORY;
    unsigned char *at = *bytes;
    return put_all(store, header, length, &(output){.put = put_in_memory, .to = &at});
}

/* ---- reading ---- */

/* Bytes to read from, in memory or in a file. */
typedef struct source {
    const unsigned char *bytes; /* NULL: the file */
    FILE *file;
    uint64_t size;
} source;

static stonet_status source_read(const source *from, uint64_t offset, size_t size, void *to)
{
    if (size == 0) return STONET_OK;
    if (from->bytes != NULL) {
        memcpy(to, from->bytes + offset, size);
        return STONET_OK;
    }
    if (fseeko(from->file, (off_t)offset, SEEK_SET) != 0 || fread(to, 1, size, from->file) != size)
        return sn_fail(STONET_ERROR_IO, "could not be read to its end");
    return STONET_OK;
}

typedef struct interval {
    uint64_t begin, end;
} interval;

static int by_begin(const void *a, const void *b)
{
    const interval *left = a, *right = b;
    if (left->begin != right->begin) return left->begin < right->begin ? -1 : 1;
    return (left->end > right->end) - (left->end < right->end);
}

static stonet_status parse_shape(const char *name, const json_t *shape, sn_tensor *tensor)
{
    if (!json_is_array(shape) || json_array_size(shape) > SN_MAX_RANK)
        return sn_fail(STONET_ERROR_FORMAT, "tensor '%.80s' of the model file has no usable shape", name);
    tensor->rank = (int)json_array_size(shape);
    for (int i = 0; i < tensor->rank; i++) {
        const json_t *extent = json_array_get(shape, (size_t)i);
        if (!json_is_integer(extent) || json_integer_value(extent) < 0)
            return sn_fail(STONET_ERROR_FORMAT, "tensor '%.80s' of the model file has no usable shape", name);
        tensor->shape[i] = json_integer_value(extent);
    }
    return STONET_OK;
}

/* Bytes of a tensor by dtype and shape; false when they do not fit in 63 bits. */
static bool claimed_bytes(const sn_tensor *tensor, uint64_t *bytes)
{
    int64_t count = (int64_t)sn_dtype_size(tensor->dtype);
    for (int i = 0; i < tensor->rank; i++)
        if (__builtin_mul_overflow(count, tensor->shape[i], &count)) return false;
    *bytes = (uint64_t)count;
    return true;
}

/* Checks one tensor's entry against the payload; nothing is allocated. */
static stonet_status parse_tensor(const char *name, const json_t *entry, uint64_t payload, sn_tensor *tensor,
                                  interval *where)
{
    if (!dtype_parse(json_string_value(json_object_get(entry, "dtype")), &tensor->dtype))
        return sn_fail(STONET_ERROR_FORMAT, "tensor '%.80s' of the model file has an unknown element type",
                       name);
    SN_TRY(parse_shape(name, json_object_get(entry, "shape"), tensor));
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end) ||
        json_integer_value(begin) < 0 || json_integer_value(end) < json_integer_value(begin))
        return sn_fail(STONET_ERROR_FORMAT, "tensor '%.80s' of the model file has no usable data_offsets",
                       name);
    where->begin = (uint64_t)json_integer_value(begin);
    where->end = (uint64_t)json_integer_value(end);
    if (where->end > payload)
        return sn_fail(STONET_ERROR_FORMAT,
                       "tensor '%.80s' ends at byte %" PRIu64 " of %" PRIu64
                       ": the model file is cut short or damaged",
                       name, where->end, payload);
    uint64_t bytes = 0;
    if (!claimed_bytes(tensor, &bytes) || bytes != where->end - where->begin)
        return sn_fail(STONET_ERROR_FORMAT,
                       "the shape of tensor '%.80s' does not match its bytes in the model file", name);
    return STONET_OK;
}

/* The tensors must fill the payload without gaps or overlaps: so a file cannot claim more memory than its
   size. */
static stonet_status check_coverage(interval *where, size_t count, uint64_t payload)
{
    qsort(where, count, sizeof *where, by_begin);
    uint64_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (where[i].begin != at)
            return sn_fail(STONET_ERROR_FORMAT, "the tensors of the model file overlap or leave gaps");
        at = where[i].end;
    }
    if (at != payload)
        return sn_fail(STONET_ERROR_FORMAT, "the model file has %" PRIu64 " bytes that belong to no tensor",
                       payload - at);
    return STONET_OK;
}

static stonet_status check_layout(json_t *header, uint64_t payload)
{
    SN_BLOCK interval *where = NULL;
    SN_TRY(SN_NEW(where, json_object_size(header)));
    size_t count = 0;
    const char *name;
    json_t *entry;
    json_object_foreach(header, name, entry)
    {
        if (strcmp(name, METADATA) == 0) continue;
        sn_tensor tensor = {0};
        SN_TRY(parse_tensor(name, entry, payload, &tensor, &where[count++]));
    }
    return check_coverage(where, count, payload);
}

static stonet_status load_texts(json_t *metadata, sn_store *store)
{
    if (metadata == NULL) return STONET_OK;
    if (!json_is_object(metadata) || json_object_size(metadata) > MAX_ENTRIES)
        return sn_fail(STONET_ERROR_FORMAT, "the metadata of the model file is not a small table of texts");
    const char *key;
    json_t *value;
    json_object_foreach(metadata, key, value)
    {
        if (!json_is_string(value))
            return sn_fail(STONET_ERROR_FORMAT, "entry '%.80s' of the model file's metadata is not a text",
                           key);
        SN_TRY(sn_store_put_text(store, key, json_string_value(value)));
    }
    return STONET_OK;
}

static stonet_status load_tensors(const source *from, json_t *header, uint64_t start, sn_store *store)
{
    uint64_t payload = from->size - start;
    const char *name;
    json_t *entry;
    json_object_foreach(header, name, entry)
    {
        if (strcmp(name, METADATA) == 0) continue;
        sn_tensor claim = {0};
        interval where = {0};
        SN_TRY(parse_tensor(name, entry, payload, &claim, &where));
        SN_TRY(sn_store_put(store, name, claim.dtype, claim.rank, claim.shape, NULL));
        const sn_tensor *tensor = sn_store_find(store, name);
        SN_TRY(source_read(from, start + where.begin, (size_t)(where.end - where.begin), tensor->data));
    }
    return STONET_OK;
}

/* A safetensors file has the length of its header (8 bytes, little-endian), the header (a JSON object) and
   the tensors, which begin at *start. The length is checked before memory is reserved: a damaged file may
   claim any number. The caller frees *header. */
static stonet_status parse_header(const source *from, json_t **header, uint64_t *start)
{
    static const char NOT_A_MODEL[] = "this is not a stonet model file, as a fit writes it";
    unsigned char head[LENGTH_BYTES + 1] = {0};
    if (from->size < sizeof head) return sn_fail(STONET_ERROR_FORMAT, NOT_A_MODEL);
    SN_TRY(source_read(from, 0, sizeof head, head));
    uint64_t length;
    memcpy(&length, head, sizeof length);
    if (head[LENGTH_BYTES] != '{' || length < 2 || length > MAX_HEADER)
        return sn_fail(STONET_ERROR_FORMAT, NOT_A_MODEL);
    if (length > from->size - LENGTH_BYTES)
        return sn_fail(STONET_ERROR_FORMAT,
                       "the model file is cut short: its header has %" PRIu64
                       " bytes and the file only %" PRIu64,
                       length, from->size);
    if (length > LARGE_HEADER)
        SN_TRY(sn_memory_require(length * PARSED_BYTES, "the header of the model file", "it may be damaged"));
    SN_ARRAY(length, char, text);
    SN_TRY(source_read(from, LENGTH_BYTES, (size_t)length, text));
    json_error_t error;
    *header = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    *start = LENGTH_BYTES + length;
    if (*header != NULL) return STONET_OK;
    return sn_json_unread(
        &error, sn_fail(STONET_ERROR_FORMAT, "the header of the model file is damaged (%s)", error.text));
}

/* The header, checked against the size of the file; the caller frees it, after a failure too. */
static stonet_status open_header(const source *from, json_t **header, uint64_t *start)
{
    SN_TRY(parse_header(from, header, start));
    if (!json_is_object(*header) || json_object_size(*header) > MAX_ENTRIES)
        return sn_fail(STONET_ERROR_FORMAT, "the header of the model file is not a small table of tensors");
    return check_layout(*header, from->size - *start);
}

static stonet_status decode_source(const source *from, sn_store **out)
{
    SN_AUTO(json_t) *header = NULL;
    SN_AUTO(sn_store) *store = NULL;
    uint64_t start = 0;
    SN_TRY(open_header(from, &header, &start));
    SN_TRY(sn_store_create(&store));
    SN_TRY(load_texts(json_object_get(header, METADATA), store));
    SN_TRY(load_tensors(from, header, start, store));
    return SN_GIVE(store, out);
}

stonet_status sn_safetensors_decode(const unsigned char *bytes, size_t size, sn_store **out)
{
    return decode_source(&(source){.bytes = bytes, .size = size}, out);
}

/* Opens a model file as a source, to be closed by the caller whatever happens (NULL: there is none). */
static stonet_status open_file(const char *path, FILE **out_file, source *out)
{
    struct stat info;
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* nobody need write to a pipe */
    FILE *file = *out_file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    if (file == NULL) {
        const stonet_status status = sn_fail(STONET_ERROR_IO, "%s", strerror(errno));
        if (descriptor >= 0) close(descriptor);
        return status;
    }
    if (fstat(fileno(file), &info) != 0) return sn_fail(STONET_ERROR_IO, "%s", strerror(errno));
    if (S_ISDIR(info.st_mode)) return sn_fail(STONET_ERROR_IO, "this is a folder, not a model file");
    if (!S_ISREG(info.st_mode)) return sn_fail(STONET_ERROR_IO, "this is not a plain file");
    if (info.st_size == 0) return sn_fail(STONET_ERROR_FORMAT, "this file is empty, not a stonet model");
    *out = (source){.file = file, .size = (uint64_t)info.st_size};
    return STONET_OK;
}

stonet_status sn_safetensors_read(const char *path, sn_store **out)
{
    FILE *file = NULL;
    source from = {0};
    stonet_status status = open_file(path, &file, &from);
    if (status == STONET_OK) status = decode_source(&from, out);
    if (file != NULL) fclose(file);
    return status == STONET_OK ? STONET_OK : sn_fail_prefix(status, "%s", path);
}

/* ---- writing a file, which is read back before it counts ---- */

static stonet_status not_as_written(const char *name)
{
    return sn_fail(STONET_ERROR_IO,
                   "the model file does not read back as it was written ('%.80s'): is the disk sound?", name);
}

static stonet_status compare_tensor(const sn_tensor *tensor, void *user)
{
    const json_t *entry = json_object_get(user, tensor->name);
    sn_tensor back = {0};
    interval where;
    if (entry == NULL) return not_as_written(tensor->name);
    SN_TRY(parse_tensor(tensor->name, entry, UINT64_MAX, &back, &where));
    bool same = back.dtype == tensor->dtype && back.rank == tensor->rank;
    for (int i = 0; same && i < back.rank; i++) same = back.shape[i] == tensor->shape[i];
    return same ? STONET_OK : not_as_written(tensor->name);
}

/* The header of the file: every text and every tensor's type and shape, and nothing else. */
static stonet_status compare_header(json_t *header, const sn_store *store)
{
    const json_t *texts = json_object_get(header, METADATA);
    SN_TRY(for_each_tensor(store, compare_tensor, header));
    for (size_t i = 0; i < sn_store_texts(store); i++) {
        const char *key, *value;
        sn_store_text(store, i, &key, &value);
        const char *back = json_string_value(json_object_get(texts, key));
        if (back == NULL || strcmp(back, value) != 0) return not_as_written(key);
    }
    bool more = json_object_size(texts) != sn_store_texts(store) ||
                json_object_size(header) != sn_store_tensors(store) + 1;
    return more ? not_as_written(METADATA) : STONET_OK;
}

static stonet_status check_written(const char *path, const void *expected)
{
    FILE *file = NULL;
    source from = {0};
    SN_AUTO(json_t) *header = NULL;
    uint64_t start = 0;
    stonet_status status = open_file(path, &file, &from);
    if (status == STONET_OK) status = open_header(&from, &header, &start);
    if (status == STONET_OK) status = compare_header(header, expected);
    if (file != NULL) fclose(file);
    return status;
}

stonet_status sn_safetensors_write(const sn_store *store, const char *path)
{
    SN_BLOCK char *header = NULL;
    SN_AUTO(sn_writer) *writer = NULL;
    size_t length = 0, payload = 0;
    SN_TRY(make_header(store, &header, &length, &payload));
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the header goes with its scope
    SN_TRY(sn_writer_open(path, &writer));
    SN_TRY(put_all(store, header, length, &(output){.put = put_in_file, .to = writer}));
    return sn_writer_commit_checked(&writer, check_written, store);
}
