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
#include "base/pack.h"
#include "base/words.h"
#include "data/utf8.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are stored as they lie in memory");

enum {
    LENGTH_BYTES = 8,
    MAX_HEADER =
        1 << 30, /* more than any table that can be fitted; a hostile header is bounded by its file */
    LARGE_HEADER = 64 << 20,
    PARSED_BYTES = 24, /* that one byte of JSON may take in memory, at most */
    MAX_ENTRIES = 10000,
    WIDTHS = 3 /* of elements: 8, 4 and 1 bytes */
};

static const char METADATA[] = "__metadata__";

#define DTYPE_WORDS(between) "F32" between "F64" between "I32" between "I64" between "U8"
SN_DEFINE_WORDS(sn_dtype_words, "dtype", SN_U8, DTYPE_WORDS);

static size_t tensor_bytes(const sn_tensor *tensor)
{
    return (size_t)sn_tensor_count(tensor) * sn_dtype_size(tensor->dtype);
}

/* ---- writing ---- */

/* The tensors in the order of the file, widest elements first, so that every one is aligned: k goes three
   times through them all. NULL: not one of this time. */
static const sn_tensor *in_order(const sn_store *store, size_t k)
{
    static const size_t SIZES[WIDTHS] = {8, 4, 1};
    const sn_tensor *tensor = sn_store_tensor(store, k % sn_store_tensors(store));
    return sn_dtype_size(tensor->dtype) == SIZES[k / sn_store_tensors(store)] ? tensor : NULL;
}

/* payload: the bytes of all tensors. NULL when memory runs out. */
static json_t *describe(const sn_store *store, size_t *payload)
{
    json_t *metadata = json_object();
    for (size_t i = 0; i < sn_store_texts(store); i++) {
        const char *key, *value;
        sn_store_text(store, i, &key, &value);
        metadata = sn_json_put(metadata, key, json_string(value));
    }
    json_t *header = sn_json_put(json_object(), METADATA, metadata);
    *payload = 0;
    for (size_t k = 0; k < WIDTHS * sn_store_tensors(store); k++) {
        const sn_tensor *tensor = in_order(store, k);
        if (tensor == NULL) continue;
        const size_t begin = *payload;
        *payload += tensor_bytes(tensor);
        json_t *shape = json_array();
        for (int r = 0; r < tensor->rank; r++) shape = sn_json_add(shape, json_integer(tensor->shape[r]));
        header = sn_json_put(header, tensor->name,
                             json_pack("{s:s, s:o, s:[I, I]}", "dtype",
                                       sn_words_name(&sn_dtype_words, (int)tensor->dtype), "shape", shape,
                                       "data_offsets", (json_int_t)begin, (json_int_t)*payload));
    }
    return header;
}

static stonet_status check_texts(const sn_store *store)
{
    for (size_t i = 0; i < sn_store_texts(store); i++) {
        const char *key, *value;
        sn_store_text(store, i, &key, &value);
        if (!sn_utf8_valid(value, strlen(value)))
            return sn_fail(STONET_ERROR_FORMAT, "entry '%s' of the model is not valid UTF-8 text", key);
    }
    return STONET_OK;
}

/* What stands before the tensors: the length of the JSON header and the header, padded with blanks so that
   the tensors start on a multiple of 8. */
static stonet_status make_head(const sn_store *store, sn_pack *head, size_t *payload)
{
    SN_TRY(check_texts(store));
    SN_AUTO(json_t) *header = describe(store, payload);
    SN_BLOCK char *json = sn_json_print(header, JSON_COMPACT);
    if (json == NULL) return sn_json_failed();
    const uint64_t used = strlen(json), padded = (used + LENGTH_BYTES - 1) / LENGTH_BYTES * LENGTH_BYTES;
    const size_t entries = sn_store_tensors(store) + 1;
    if (padded > MAX_HEADER || entries > MAX_ENTRIES || sn_store_texts(store) > MAX_ENTRIES)
        return sn_fail(
            STONET_ERROR_UNSUPPORTED,
            "a model with %zu MB of names and settings and %zu tensors cannot be saved: model files have "
            "at most %d MB and %d",
            (size_t)padded >> 20, entries, MAX_HEADER >> 20, (int)MAX_ENTRIES);
    SN_TRY(sn_pack_bytes(head, &padded, sizeof padded));
    SN_TRY(sn_pack_bytes(head, json, used));
    return sn_pack_bytes(head, "       ", padded - used);
}

stonet_status sn_safetensors_encode(const sn_store *store, unsigned char **bytes, size_t *size)
{
    SN_FREED_BY(sn_pack_clear) sn_pack head = {0};
    size_t payload = 0;
    SN_TRY(make_head(store, &head, &payload));
    SN_TRY(SN_GROW(head.bytes, head.size + payload)); /* once, to the end */
    head.room = head.size + payload;
    for (size_t k = 0; k < WIDTHS * sn_store_tensors(store); k++) {
        const sn_tensor *tensor = in_order(store, k);
        if (tensor != NULL) SN_TRY(sn_pack_bytes(&head, tensor->data, tensor_bytes(tensor)));
    }
    *size = head.size;
    return SN_GIVE(head.bytes, bytes);
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

/* What the header says of a tensor. */
typedef struct claim {
    const char *name;
    sn_tensor is; /* its type and shape */
    uint64_t begin, end;
} claim;

static int by_begin(const void *a, const void *b)
{
    const claim *left = a, *right = b;
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
static stonet_status parse_tensor(const char *name, const json_t *entry, uint64_t payload, claim *out)
{
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    const int known = dtype != NULL ? sn_words_find(&sn_dtype_words, dtype) : -1;
    if (known < 0)
        return sn_fail(STONET_ERROR_FORMAT, "tensor '%.80s' of the model file has an unknown element type",
                       name);
    *out = (claim){.name = name, .is.dtype = (sn_dtype)known};
    SN_TRY(parse_shape(name, json_object_get(entry, "shape"), &out->is));
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end) ||
        json_integer_value(begin) < 0 || json_integer_value(end) < json_integer_value(begin))
        return sn_fail(STONET_ERROR_FORMAT, "tensor '%.80s' of the model file has no usable data_offsets",
                       name);
    out->begin = (uint64_t)json_integer_value(begin);
    out->end = (uint64_t)json_integer_value(end);
    if (out->end > payload)
        return sn_fail(STONET_ERROR_FORMAT,
                       "tensor '%.80s' ends at byte %" PRIu64 " of %" PRIu64
                       ": the model file is cut short or damaged",
                       name, out->end, payload);
    uint64_t bytes = 0;
    if (!claimed_bytes(&out->is, &bytes) || bytes != out->end - out->begin)
        return sn_fail(STONET_ERROR_FORMAT,
                       "the shape of tensor '%.80s' does not match its bytes in the model file", name);
    return STONET_OK;
}

/* A header that was read and checked. */
typedef struct contents {
    json_t *header;
    uint64_t start; /* of the tensors */
    claim *tensor;  /* in the order of the file */
    size_t tensors;
} contents;

static void contents_clear(contents *self)
{
    json_decref(self->header);
    sn_free(self->tensor);
}

/* The tensors must fill the payload without gaps or overlaps: so a file cannot claim more memory than its
   size. */
static stonet_status check_layout(uint64_t payload, contents *out)
{
    uint64_t at = 0;
    const char *name;
    json_t *entry;
    SN_TRY(SN_NEW(out->tensor, json_object_size(out->header)));
    json_object_foreach(out->header, name, entry)
    {
        if (strcmp(name, METADATA) == 0) continue;
        SN_TRY(parse_tensor(name, entry, payload, &out->tensor[out->tensors++]));
    }
    qsort(out->tensor, out->tensors, sizeof *out->tensor, by_begin);
    for (size_t i = 0; i < out->tensors; i++) {
        if (out->tensor[i].begin != at)
            return sn_fail(STONET_ERROR_FORMAT, "the tensors of the model file overlap or leave gaps");
        at = out->tensor[i].end;
    }
    if (at != payload)
        return sn_fail(STONET_ERROR_FORMAT, "the model file has %" PRIu64 " bytes that belong to no tensor",
                       payload - at);
    return STONET_OK;
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

static stonet_status load_tensors(const source *from, const contents *of, sn_store *store)
{
    for (size_t i = 0; i < of->tensors; i++) {
        const claim *tensor = &of->tensor[i];
        SN_TRY(sn_store_put(store, tensor->name, tensor->is.dtype, tensor->is.rank, tensor->is.shape, NULL));
        SN_TRY(source_read(from, of->start + tensor->begin, (size_t)(tensor->end - tensor->begin),
                           sn_store_find(store, tensor->name)->data));
    }
    return STONET_OK;
}

/* A safetensors file has the length of its header (8 bytes, little-endian), the header (a JSON object) and
   the tensors. The length is checked before memory is reserved: a damaged file may claim any number. */
static stonet_status parse_header(const source *from, contents *out)
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
    out->header = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    out->start = LENGTH_BYTES + length;
    if (out->header != NULL) return STONET_OK;
    return sn_json_unread(
        &error, sn_fail(STONET_ERROR_FORMAT, "the header of the model file is damaged (%s)", error.text));
}

/* The caller clears *out, after a failure too. */
static stonet_status open_contents(const source *from, contents *out)
{
    SN_TRY(parse_header(from, out));
    if (!json_is_object(out->header) || json_object_size(out->header) > MAX_ENTRIES)
        return sn_fail(STONET_ERROR_FORMAT, "the header of the model file is not a small table of tensors");
    return check_layout(from->size - out->start, out);
}

static stonet_status decode_source(const source *from, sn_store **out)
{
    SN_FREED_BY(contents_clear) contents found = {0};
    SN_AUTO(sn_store) *store = NULL;
    SN_TRY(open_contents(from, &found));
    SN_TRY(sn_store_create(&store));
    SN_TRY(load_texts(json_object_get(found.header, METADATA), store));
    SN_TRY(load_tensors(from, &found, store));
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

/* Every text and every tensor's type and shape, and nothing else. */
static stonet_status compare(const contents *found, const sn_store *store)
{
    const json_t *texts = json_object_get(found->header, METADATA);
    for (size_t i = 0; i < found->tensors; i++) {
        const sn_tensor *back = &found->tensor[i].is, *tensor = sn_store_find(store, found->tensor[i].name);
        bool same = tensor != NULL && back->dtype == tensor->dtype && back->rank == tensor->rank;
        for (int r = 0; same && r < back->rank; r++) same = back->shape[r] == tensor->shape[r];
        if (!same) return not_as_written(found->tensor[i].name);
    }
    for (size_t i = 0; i < sn_store_texts(store); i++) {
        const char *key, *value;
        sn_store_text(store, i, &key, &value);
        const char *back = json_string_value(json_object_get(texts, key));
        if (back == NULL || strcmp(back, value) != 0) return not_as_written(key);
    }
    const bool whole =
        json_object_size(texts) == sn_store_texts(store) && found->tensors == sn_store_tensors(store);
    return whole ? STONET_OK : not_as_written(METADATA);
}

static stonet_status check_written(const char *path, const void *expected)
{
    FILE *file = NULL;
    source from = {0};
    SN_FREED_BY(contents_clear) contents found = {0};
    stonet_status status = open_file(path, &file, &from);
    if (status == STONET_OK) status = open_contents(&from, &found);
    if (status == STONET_OK) status = compare(&found, expected);
    if (file != NULL) fclose(file);
    return status;
}

stonet_status sn_safetensors_write(const sn_store *store, const char *path)
{
    SN_FREED_BY(sn_pack_clear) sn_pack head = {0};
    SN_AUTO(sn_writer) *writer = NULL;
    size_t payload;
    SN_TRY(make_head(store, &head, &payload));
    SN_TRY(sn_writer_open(path, &writer));
    SN_TRY(sn_write(writer, head.bytes, head.size));
    for (size_t k = 0; k < WIDTHS * sn_store_tensors(store); k++) {
        const sn_tensor *tensor = in_order(store, k);
        if (tensor != NULL) SN_TRY(sn_write(writer, tensor->data, tensor_bytes(tensor)));
    }
    return sn_writer_commit_checked(&writer, check_written, store);
}
