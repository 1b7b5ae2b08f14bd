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
/* SN_TRY(SN_GROW(pointer, count)): the same for a pointer in its place, which a failure leaves as it was. */
#define SN_GROW(pointer, count) sn_grow(&(pointer), (size_t)(count), sizeof *(pointer))
stonet_status sn_grow(void *pointer, size_t count, size_t size);
void sn_free(void *block);
/* Frees each of the pointers it is given. */
#define SN_FREE_ALL(...)                                                                                     \
    sn_free_all((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void sn_free_all(void *const *blocks, size_t count);
/* Frees and forgets: the pointer is NULL afterwards. */
#define SN_FREE(pointer) (sn_free(pointer), (void)((pointer) = NULL))
char *sn_strdup(const char *text);
/* The same with a status; a copy of NULL is NULL. */
stonet_status sn_text_copy(const char *text, char **out);

/*
 * Variables that free what they hold where their scope ends, by whichever way it ends:
 *
 *     SN_AUTO(stonet_data) *data = NULL;                by stonet_data_free(data)
 *     SN_BLOCK double *x = sn_malloc(n, sizeof *x);     by sn_free(x)
 *     SN_FREED_BY(sn_axes_free) sn_axes axes = {0};     by sn_axes_free(&axes)
 *
 * SN_DROP beside the declaration of a free function makes SN_AUTO known for its type.
 */
#define SN_FREED_BY(function) __attribute__((cleanup(function)))
#define SN_BLOCK              SN_FREED_BY(sn_drop_block)
#define SN_AUTO(type)         SN_FREED_BY(sn_drop_##type) type
// NOLINTBEGIN(bugprone-macro-parentheses): a type has none
#define SN_DROP(type, function)                                                                              \
    static inline void sn_drop_##type(type **variable)                                                       \
    {                                                                                                        \
        function(*variable);                                                                                 \
    }
// NOLINTEND(bugprone-macro-parentheses)
/* return SN_GIVE(data, out): hands what an SN_AUTO variable holds over to the caller, and says STONET_OK. */
#define SN_GIVE(variable, out) (*(out) = (variable), (void)((variable) = NULL), STONET_OK)
static inline void sn_drop_block(void *variable)
{
    sn_free(*(void **)variable);
}
SN_DROP(stonet_data, stonet_data_free)
SN_DROP(stonet_model, stonet_model_free)
SN_DROP(stonet_spec, stonet_spec_free)
SN_DROP(stonet_columns, stonet_columns_free)
SN_DROP(stonet_checkpoint, stonet_checkpoint_free)
SN_DROP(stonet_results, stonet_results_free)
SN_DROP(stonet_tensors, stonet_tensors_free)
SN_DROP(stonet_order_result, stonet_order_free)
SN_DROP(stonet_importance_result, stonet_importance_free)
SN_DROP(stonet_coef_result, stonet_coef_free)

/* SN_TRY(SN_NEW(pointer, count)): zeroed array of the pointer's element type. */
#define SN_NEW(pointer, count)                                                                               \
    (((pointer) = sn_calloc((size_t)(count), sizeof *(pointer))) != NULL ? STONET_OK : STONET_ERROR_MEMORY)
/* The same, uninitialised: for arrays that are written whole before they are read. */
#define SN_NEW_RAW(pointer, count)                                                                           \
    (((pointer) = sn_malloc((size_t)(count), sizeof *(pointer))) != NULL ? STONET_OK : STONET_ERROR_MEMORY)

/*
 * SN_ARRAY(n, double, x): declares x, an array of n doubles that goes where its scope ends; the function
 * returns STONET_ERROR_MEMORY when there is no room. Not initialised; SN_ZEROS is the same, zeroed.
 */
// NOLINTBEGIN(bugprone-macro-parentheses): a type has none
#define SN_ARRAY(count, type, name)                                                                          \
    SN_BLOCK type *name = sn_malloc((size_t)(count), sizeof *name);                                          \
    if (name == NULL) return STONET_ERROR_MEMORY
#define SN_ZEROS(count, type, name)                                                                          \
    SN_BLOCK type *name = sn_calloc((size_t)(count), sizeof *name);                                          \
    if (name == NULL) return STONET_ERROR_MEMORY
// NOLINTEND(bugprone-macro-parentheses)

/* Bytes of memory this process may still take: the least of free memory, the address-space limit, and what
   its control groups leave. */
uint64_t sn_memory_available(void);
/* The least that any control group from that of the process up to the root still allows: containers and batch
   systems set such limits. UINT64_MAX without a limit. `membership` is /proc/self/cgroup and `root`
   /sys/fs/cgroup, but in tests. */
uint64_t sn_cgroup_available(const char *membership, const char *root);
/* STONET_OK if `bytes` fit in what is available, else STONET_ERROR_MEMORY with a sentence that names the
   need of `what`, what is available, and the `advice`. */
stonet_status sn_memory_require(uint64_t bytes, const char *what, const char *advice);
