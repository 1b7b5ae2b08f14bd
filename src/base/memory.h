/* Checked, zeroed, 64-byte aligned memory. */
#pragma once

#include "base/status.h"

/* count * size zeroed bytes, aligned for any vector unit; NULL (and the sentence set) on overflow or when
   memory runs out. count 0 gives a valid pointer. Free with sn_free. */
void *sn_calloc(size_t count, size_t size);
/* The same without the zeroing. */
void *sn_malloc(size_t count, size_t size);
/* Plain realloc with the overflow check, for growing buffers that came from sn_realloc(NULL, ..). Memory
   from sn_realloc is freed with sn_free too. On failure the old block stays valid. */
void *sn_realloc(void *block, size_t count, size_t size);
void sn_free(void *block);
/* Frees each of the pointers it is given. */
#define SN_FREE_ALL(...)                                                                                     \
    sn_free_all((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void sn_free_all(void *const *blocks, size_t count);
/* Frees and forgets: the pointer is NULL afterwards. */
#define SN_FREE(pointer) (sn_free(pointer), (void)((pointer) = NULL))
char *sn_strdup(const char *text);

/* SN_TRY(SN_NEW(pointer, count)): zeroed array of the pointer's element type. */
#define SN_NEW(pointer, count)                                                                               \
    (((pointer) = sn_calloc((size_t)(count), sizeof *(pointer))) != NULL ? STONET_OK : STONET_ERROR_MEMORY)
/* The same, uninitialised: for arrays that are written whole before they are read. */
#define SN_NEW_RAW(pointer, count)                                                                           \
    (((pointer) = sn_malloc((size_t)(count), sizeof *(pointer))) != NULL ? STONET_OK : STONET_ERROR_MEMORY)

/* Bytes of memory this process may still take: the smaller of free memory and the address-space limit. */
uint64_t sn_memory_available(void);
/* STONET_OK if `bytes` fit in what is available, else STONET_ERROR_MEMORY with a sentence that names the
   need of `what`, what is available, and the `advice`. */
stonet_status sn_memory_require(uint64_t bytes, const char *what, const char *advice);
