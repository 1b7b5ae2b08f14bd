#include "base/store.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

typedef struct text_entry {
    char *key, *value;
} text_entry;

struct sn_store {
    sn_tensor *tensors;
    size_t n_tensors;
    text_entry *texts;
    size_t n_texts;
};

stonet_status sn_store_create(sn_store **out)
{
    return SN_NEW(*out, 1);
}

void sn_store_free(sn_store *store)
{
    if (store == NULL) return;
    for (size_t i = 0; i < store->n_tensors; i++) {
        sn_free(store->tensors[i].name);
        sn_free(store->tensors[i].data);
    }
    for (size_t i = 0; i < store->n_texts; i++) {
        sn_free(store->texts[i].key);
        sn_free(store->texts[i].value);
    }
    sn_free(store->tensors);
    sn_free(store->texts);
    sn_free(store);
}

size_t sn_dtype_size(sn_dtype dtype)
{
    switch (dtype) {
    case SN_F32:
    case SN_I32:
        return 4;
    case SN_F64:
    case SN_I64:
        return 8;
    case SN_U8:
        return 1;
    }
    return 0;
}

int64_t sn_tensor_count(const sn_tensor *tensor)
{
    int64_t count = 1;
    for (int i = 0; i < tensor->rank; i++) count *= tensor->shape[i];
    return count;
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
    SN_TRY(element_count(name, rank, shape, &count));
    if (sn_store_find(store, name) != NULL)
        return sn_fail(STONET_ERROR_FORMAT, "tensor '%s' appears twice", name);
    sn_tensor *grown = sn_realloc(store->tensors, store->n_tensors + 1, sizeof *grown);
    if (grown == NULL) return STONET_ERROR_MEMORY;
    store->tensors = grown;
    sn_tensor fresh = {.name = sn_strdup(name), .dtype = dtype, .rank = rank};
    if (fresh.name == NULL) return STONET_ERROR_MEMORY;
    for (int i = 0; i < rank; i++) fresh.shape[i] = shape[i];
    fresh.data = sn_calloc((size_t)count, sn_dtype_size(dtype));
    if (fresh.data == NULL) {
        sn_free(fresh.name);
        return STONET_ERROR_MEMORY;
    }
    if (data != NULL) memcpy(fresh.data, data, (size_t)count * sn_dtype_size(dtype));
    store->tensors[store->n_tensors++] = fresh;
    return STONET_OK;
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
    if (sn_store_find_text(store, key) != NULL)
        return sn_fail(STONET_ERROR_FORMAT, "entry '%s' appears twice", key);
    text_entry *grown = sn_realloc(store->texts, store->n_texts + 1, sizeof *grown);
    if (grown == NULL) return STONET_ERROR_MEMORY;
    store->texts = grown;
    text_entry fresh = {.key = sn_strdup(key), .value = sn_strdup(value)};
    if (fresh.key == NULL || fresh.value == NULL) {
        sn_free(fresh.key);
        sn_free(fresh.value);
        return STONET_ERROR_MEMORY;
    }
    store->texts[store->n_texts++] = fresh;
    return STONET_OK;
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
    for (size_t i = 0; i < store->n_tensors; i++)
        if (strcmp(store->tensors[i].name, name) == 0) return &store->tensors[i];
    return NULL;
}

const char *sn_store_find_text(const sn_store *store, const char *key)
{
    for (size_t i = 0; i < store->n_texts; i++)
        if (strcmp(store->texts[i].key, key) == 0) return store->texts[i].value;
    return NULL;
}

stonet_status sn_store_get(const sn_store *store, const char *name, sn_dtype dtype, int rank,
                           const int64_t *shape, const sn_tensor **out)
{
    const sn_tensor *tensor = sn_store_find(store, name);
    if (tensor == NULL) return sn_fail(STONET_ERROR_FORMAT, "the model has no tensor '%s'", name);
    bool fits = tensor->dtype == dtype && tensor->rank == rank;
    for (int i = 0; fits && i < rank; i++) fits = shape[i] < 0 || shape[i] == tensor->shape[i];
    if (!fits) return sn_fail(STONET_ERROR_FORMAT, "the model's tensor '%s' has a wrong type or shape", name);
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
    *out = sn_store_find_text(store, key);
    if (*out == NULL) return sn_fail(STONET_ERROR_FORMAT, "the model has no entry '%s'", key);
    return STONET_OK;
}

stonet_status sn_store_get_int(const sn_store *store, const char *key, int64_t low, int64_t high,
                               int64_t *out)
{
    const char *text;
    SN_TRY(sn_store_get_text(store, key, &text));
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < low || value > high)
        return sn_fail(STONET_ERROR_FORMAT,
                       "the model's entry '%s' is '%.40s', not a whole number from %" PRId64 " to %" PRId64,
                       key, text, low, high);
    *out = value;
    return STONET_OK;
}

stonet_status sn_store_get_real(const sn_store *store, const char *key, double *out)
{
    const char *text;
    SN_TRY(sn_store_get_text(store, key, &text));
    double value = 0;
    const char *end = sn_number_read(text, &value);
    if (end == NULL || *end != '\0' || !isfinite(value))
        return sn_fail(STONET_ERROR_FORMAT, "the model's entry '%s' is '%.40s', not a finite number", key,
                       text);
    *out = value;
    return STONET_OK;
}

size_t sn_store_tensors(const sn_store *store)
{
    return store->n_tensors;
}

const sn_tensor *sn_store_tensor(const sn_store *store, size_t index)
{
    return &store->tensors[index];
}

size_t sn_store_texts(const sn_store *store)
{
    return store->n_texts;
}

void sn_store_text(const sn_store *store, size_t index, const char **key, const char **value)
{
    *key = store->texts[index].key;
    *value = store->texts[index].value;
}
