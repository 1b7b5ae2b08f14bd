/*
 * A dictionary of named tensors and strings in memory: what a fitted method is saved to and loaded from.
 * The model room writes it to a safetensors file. Names: letters, digits, '_', '.'.
 */
#pragma once

#include "base/memory.h"
#include "base/status.h"

typedef enum sn_dtype { SN_F32, SN_F64, SN_I32, SN_I64, SN_U8 } sn_dtype;

enum { SN_MAX_RANK = 4 };

typedef struct sn_tensor {
    char *name;
    sn_dtype dtype;
    int rank;
    int64_t shape[SN_MAX_RANK];
    void *data; /* owned by the store, row-major, 64-byte aligned */
} sn_tensor;

typedef struct sn_store sn_store;

stonet_status sn_store_create(sn_store **out);
void sn_store_free(sn_store *store);
SN_DROP(sn_store, sn_store_free)
size_t sn_dtype_size(sn_dtype dtype);
int64_t sn_tensor_count(const sn_tensor *tensor); /* elements */
/* STONET_ERROR_FORMAT and a sentence with its name when a number of the tensor is NaN or infinite. */
stonet_status sn_tensor_check_finite(const sn_tensor *tensor);

/*
 * A part of a store, or of a part: all names go through it with the prefix put before them, and what is put
 * into the part is in the store. Errors give the whole name. The part must not outlive the store;
 * sn_store_free ends it.
 */
stonet_status sn_store_part(const sn_store *store, const char *prefix, sn_store **out);

/* The name an entry has in the whole store, for messages; put together in `room` if need be. */
const char *sn_store_name(const sn_store *store, const char *name, char *room, size_t size);

/* Copies data (NULL: zeroed). */
stonet_status sn_store_put(sn_store *store, const char *name, sn_dtype dtype, int rank, const int64_t *shape,
                           const void *data);
stonet_status sn_store_put_vector(sn_store *store, const char *name, sn_dtype dtype, int64_t n,
                                  const void *data);
stonet_status sn_store_put_matrix(sn_store *store, const char *name, sn_dtype dtype, int64_t rows,
                                  int64_t cols, const void *data);
stonet_status sn_store_put_text(sn_store *store, const char *key, const char *value);
stonet_status sn_store_put_int(sn_store *store, const char *key, int64_t value); /* as text */
stonet_status sn_store_put_real(sn_store *store, const char *key, double value); /* as text, 17 digits */

/* NULL when there is none. */
const sn_tensor *sn_store_find(const sn_store *store, const char *name);
const char *sn_store_find_text(const sn_store *store, const char *key);
/* These fail with STONET_ERROR_FORMAT and a sentence when the entry is missing or of another type or shape
   (a negative extent accepts any). */
stonet_status sn_store_get(const sn_store *store, const char *name, sn_dtype dtype, int rank,
                           const int64_t *shape, const sn_tensor **out);
stonet_status sn_store_get_vector(const sn_store *store, const char *name, sn_dtype dtype, int64_t n,
                                  const sn_tensor **out);
stonet_status sn_store_get_matrix(const sn_store *store, const char *name, sn_dtype dtype, int64_t rows,
                                  int64_t cols, const sn_tensor **out);
stonet_status sn_store_get_text(const sn_store *store, const char *key, const char **out);
stonet_status sn_store_get_int(const sn_store *store, const char *key, int64_t low, int64_t high,
                               int64_t *out);
stonet_status sn_store_get_real(const sn_store *store, const char *key, double *out);

/* A checksum of all that the store holds but the text `without`, whatever the order of its entries. */
uint64_t sn_store_hash(const sn_store *store, const char *without);

/* Iteration over all that the store holds (of a part: the whole store), in the order of insertion. */
size_t sn_store_tensors(const sn_store *store);
const sn_tensor *sn_store_tensor(const sn_store *store, size_t index);
size_t sn_store_texts(const sn_store *store);
void sn_store_text(const sn_store *store, size_t index, const char **key, const char **value);
