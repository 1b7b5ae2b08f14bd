#include "base/store.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"

typedef struct text_entry {
    char *key, *value;
} text_entry;

typedef struct body {
    sn_tensor *tensors;
    size_t n_tensors;
    text_entry *texts;
    size_t n_texts;
} body;

enum { NAME_ROOM = 256 };

struct sn_store {
    body *body;
    char *prefix; /* NULL: this is the whole store, and the body its own */
};

stonet_status sn_store_create(sn_store **out)
{
    SN_TRY(SN_NEW(*out, 1));
    if (SN_NEW((*out)->body, 1) == STONET_OK) return STONET_OK;
    SN_FREE(*out);
    return STONET_ERROR_MEMORY;
}

stonet_status sn_store_part(const sn_store *store, const char *prefix, sn_store **out)
{
    SN_TRY(SN_NEW(*out, 1));
    (*out)->body = store->body;
    const char *before = store->prefix != NULL ? store->prefix : "";
    const size_t size = strlen(before) + strlen(prefix) + 1;
    if (((*out)->prefix = sn_malloc(size, 1)) != NULL) {
        snprintf((*out)->prefix, size, "%s%s", before, prefix);
        return STONET_OK;
    }
    SN_FREE(*out);
    return STONET_ERROR_MEMORY;
}

static void body_free(body *b)
{
    for (size_t i = 0; i < b->n_tensors; i++) {
        sn_free(b->tensors[i].name);
        sn_free(b->tensors[i].data);
    }
    for (size_t i = 0; i < b->n_texts; i++) {
        sn_free(b->texts[i].key);
        sn_free(b->texts[i].value);
    }
    SN_FREE_ALL(b->tensors, b->texts, b);
}

void sn_store_free(sn_store *store)
{
    if (store == NULL) return;
    if (store->prefix == NULL) body_free(store->body);
    sn_free(store->prefix);
    sn_free(store);
}

const char *sn_store_name(const sn_store *store, const char *name, char *room, size_t size)
{
    if (store->prefix == NULL) return name;
    snprintf(room, size, "%s%s", store->prefix, name);
    return room;
}

size_t sn_dtype_size(sn_dtype dtype)
{
    static const size_t size[] = {[SN_F32] = 4, [SN_F64] = 8, [SN_I32] = 4, [SN_I64] = 8, [SN_U8] = 1};
    return size[dtype];
}

int64_t sn_tensor_count(const sn_tensor *tensor)
{
    int64_t count = 1;
    for (int i = 0; i < tensor->rank; i++) count *= tensor->shape[i];
    return count;
}

stonet_status sn_tensor_check_finite(const sn_tensor *tensor)
{
    const float *single = tensor->data;
    const double *twice = tensor->data;
    const int64_t count = sn_tensor_count(tensor);
    for (int64_t i = 0; i < count; i++)
        if ((tensor->dtype == SN_F32 && !isfinite(single[i])) ||
            (tensor->dtype == SN_F64 && !isfinite(twice[i])))
            return sn_fail(STONET_ERROR_FORMAT,
                           "the model's tensor '%s' holds a value that is not a finite number, at position "
                           "%" PRId64 ": the model is damaged",
                           tensor->name, i);
    return STONET_OK;
}

static stonet_status element_count(const char *name, int rank, const int64_t *shape, int64_t *count)
{
    if (rank < 0 || rank > SN_MAX_RANK)
        return sn_fail(STONET_ERROR_FORMAT, "tensor '%s' has %d dimensions; at most %d are allowed", name,
                       rank, SN_MAX_RANK);
    *count = 1;
    for (int i = 0; i < rank; i++)
        if (shape[i] < 0 || __builtin_mul_overflow(*count, shape[i], count))
            return sn_fail(STONET_ERROR_FORMAT, "tensor '%s' has an impossible shape", name);
    return STONET_OK;
}

stonet_status sn_store_put(sn_store *store, const char *name, sn_dtype dtype, int rank, const int64_t *shape,
                           const void *data)
{
    int64_t count = 0;
    char room[NAME_ROOM];
    const char *whole = sn_store_name(store, name, room, sizeof room);
    body *all = store->body;
    SN_TRY(element_count(whole, rank, shape, &count));
    if (sn_store_find(store, name) != NULL)
        return sn_fail(STONET_ERROR_FORMAT, "tensor '%s' appears twice", whole);
    SN_TRY(SN_GROW(all->tensors, all->n_tensors + 1));
    sn_tensor *fresh = &all->tensors[all->n_tensors];
    *fresh = (sn_tensor){.dtype = dtype, .rank = rank};
    for (int i = 0; i < rank; i++) fresh->shape[i] = shape[i];
    SN_BLOCK void *block = sn_calloc((size_t)count, sn_dtype_size(dtype));
    if (block == NULL) return STONET_ERROR_MEMORY;
    if (data != NULL) memcpy(block, data, (size_t)count * sn_dtype_size(dtype));
    SN_TRY(sn_text_copy(whole, &fresh->name));
    all->n_tensors++;
    return SN_GIVE(block, &fresh->data);
}

stonet_status sn_store_put_vector(sn_store *store, const char *name, sn_dtype dtype, int64_t n,
                                  const void *data)
{
    return sn_store_put(store, name, dtype, 1, &n, data);
}

stonet_status sn_store_put_matrix(sn_store *store, const char *name, sn_dtype dtype, int64_t rows,
                                  int64_t cols, const void *data)
{
    return sn_store_put(store, name, dtype, 2, (int64_t[]){rows, cols}, data);
}

stonet_status sn_store_put_text(sn_store *store, const char *key, const char *value)
{
    char room[NAME_ROOM];
    const char *whole = sn_store_name(store, key, room, sizeof room);
    body *all = store->body;
    if (sn_store_find_text(store, key) != NULL)
        return sn_fail(STONET_ERROR_FORMAT, "entry '%s' appears twice", whole);
    SN_BLOCK char *copy = NULL;
    SN_TRY(sn_text_copy(value, &copy));
    SN_TRY(SN_GROW(all->texts, all->n_texts + 1));
    SN_TRY(sn_text_copy(whole, &all->texts[all->n_texts].key));
    return SN_GIVE(copy, &all->texts[all->n_texts++].value);
}

stonet_status sn_store_put_int(sn_store *store, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    return sn_store_put_text(store, key, text);
}

stonet_status sn_store_put_real(sn_store *store, const char *key, double value)
{
    char text[40];
    sn_format(text, sizeof text, "%.17g", value);
    return sn_store_put_text(store, key, text);
}

const sn_tensor *sn_store_find(const sn_store *store, const char *name)
{
    char room[NAME_ROOM];
    const char *whole = sn_store_name(store, name, room, sizeof room);
    const body *all = store->body;
    for (size_t i = 0; i < all->n_tensors; i++)
        if (strcmp(all->tensors[i].name, whole) == 0) return &all->tensors[i];
    return NULL;
}

const char *sn_store_find_text(const sn_store *store, const char *key)
{
    char room[NAME_ROOM];
    const char *whole = sn_store_name(store, key, room, sizeof room);
    const body *all = store->body;
    for (size_t i = 0; i < all->n_texts; i++)
        if (strcmp(all->texts[i].key, whole) == 0) return all->texts[i].value;
    return NULL;
}

stonet_status sn_store_get(const sn_store *store, const char *name, sn_dtype dtype, int rank,
                           const int64_t *shape, const sn_tensor **out)
{
    const sn_tensor *tensor = sn_store_find(store, name);
    char room[NAME_ROOM];
    if (tensor == NULL)
        return sn_fail(STONET_ERROR_FORMAT, "the model has no tensor '%s'",
                       sn_store_name(store, name, room, sizeof room));
    bool fits = tensor->dtype == dtype && tensor->rank == rank;
    for (int i = 0; fits && i < rank; i++) fits = shape[i] < 0 || shape[i] == tensor->shape[i];
    if (!fits)
        return sn_fail(STONET_ERROR_FORMAT, "the model's tensor '%s' has a wrong type or shape",
                       tensor->name);
    *out = tensor;
    return STONET_OK;
}

stonet_status sn_store_get_vector(const sn_store *store, const char *name, sn_dtype dtype, int64_t n,
                                  const sn_tensor **out)
{
    return sn_store_get(store, name, dtype, 1, &n, out);
}

stonet_status sn_store_get_matrix(const sn_store *store, const char *name, sn_dtype dtype, int64_t rows,
                                  int64_t cols, const sn_tensor **out)
{
    return sn_store_get(store, name, dtype, 2, (int64_t[]){rows, cols}, out);
}

stonet_status sn_store_get_text(const sn_store *store, const char *key, const char **out)
{
    char room[NAME_ROOM];
    *out = sn_store_find_text(store, key);
    if (*out == NULL)
        return sn_fail(STONET_ERROR_FORMAT, "the model has no entry '%s'",
                       sn_store_name(store, key, room, sizeof room));
    return STONET_OK;
}

stonet_status sn_store_get_int(const sn_store *store, const char *key, int64_t low, int64_t high,
                               int64_t *out)
{
    const char *text;
    char *end, room[NAME_ROOM];
    SN_TRY(sn_store_get_text(store, key, &text));
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < low || value > high)
        return sn_fail(STONET_ERROR_FORMAT,
                       "the model's entry '%s' is '%.40s', not a whole number from %" PRId64 " to %" PRId64,
                       sn_store_name(store, key, room, sizeof room), text, low, high);
    *out = value;
    return STONET_OK;
}

stonet_status sn_store_get_real(const sn_store *store, const char *key, double *out)
{
    const char *text;
    char room[NAME_ROOM];
    SN_TRY(sn_store_get_text(store, key, &text));
    double value = 0;
    const char *end = sn_number_read(text, &value);
    if (end == NULL || *end != '\0' || !isfinite(value))
        return sn_fail(STONET_ERROR_FORMAT, "the model's entry '%s' is '%.40s', not a finite number",
                       sn_store_name(store, key, room, sizeof room), text);
    *out = value;
    return STONET_OK;
}

size_t sn_store_tensors(const sn_store *store)
{
    return store->body->n_tensors;
}

const sn_tensor *sn_store_tensor(const sn_store *store, size_t index)
{
    return &store->body->tensors[index];
}

size_t sn_store_texts(const sn_store *store)
{
    return store->body->n_texts;
}

void sn_store_text(const sn_store *store, size_t index, const char **key, const char **value)
{
    *key = store->body->texts[index].key;
    *value = store->body->texts[index].value;
}

/* Of one entry: the sum of these does not depend on the order. */
static uint64_t tensor_hash(const sn_tensor *tensor)
{
    sn_hash hash;
    sn_hash_begin(&hash);
    sn_hash_text(&hash, tensor->name);
    sn_hash_int(&hash, (int64_t)tensor->dtype);
    for (int k = 0; k < tensor->rank; k++) sn_hash_int(&hash, tensor->shape[k]);
    sn_hash_add(&hash, tensor->data, (size_t)sn_tensor_count(tensor) * sn_dtype_size(tensor->dtype));
    return sn_hash_value(&hash);
}

uint64_t sn_store_hash(const sn_store *store, const char *without)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < sn_store_tensors(store); k++) sum += tensor_hash(sn_store_tensor(store, k));
    for (size_t k = 0; k < sn_store_texts(store); k++) {
        const char *key, *value;
        sn_hash hash;
        sn_store_text(store, k, &key, &value);
        if (strcmp(key, without) == 0) continue;
        sn_hash_begin(&hash);
        sn_hash_text(&hash, key);
        sn_hash_text(&hash, value);
        sum += sn_hash_value(&hash);
    }
    return sum;
}
