/*
 * Scratch memory that is freed in one place. A function opens a workspace, takes what it needs from it and
 * returns wherever it likes: the blocks go when the scope ends. What must outlive the function belongs to
 * a workspace of the caller (the argument `keep`). A workspace belongs to one thread.
 *
 *     SN_WORKSPACE(scratch);
 *     double *a = NULL;
 *     SN_TRY(SN_TAKE(&scratch, a, n * n));
 */
#pragma once

#include <stdbool.h>

#include "base/status.h"

typedef struct sn_workspace {
    void **block;
    size_t count, room;
} sn_workspace;

/* A workspace that is emptied at the end of the scope it is declared in. */
#define SN_WORKSPACE(name) __attribute__((cleanup(sn_workspace_free))) sn_workspace name = {0}

/* Memory as from sn_malloc (or, zeroed, sn_calloc). NULL with the sentence set when there is none; what was
   taken before stays valid. */
void *sn_workspace_take(sn_workspace *workspace, size_t count, size_t size, bool zeroed);
/* Frees every block; the workspace is empty and can be used again. */
void sn_workspace_free(sn_workspace *workspace);

/* SN_TRY(SN_TAKE(&scratch, pointer, count)): an uninitialised array of the pointer's element type. */
#define SN_TAKE(workspace, pointer, count)                                                                   \
    (((pointer) = sn_workspace_take((workspace), (size_t)(count), sizeof *(pointer), false)) != NULL         \
         ? STONET_OK                                                                                         \
         : STONET_ERROR_MEMORY)
/* SN_TRY(SN_TAKE_EACH(&scratch, count, &a, &b)): such an array of doubles for each of the pointers. */
#define SN_TAKE_EACH(workspace, count, ...)                                                                  \
    sn_workspace_take_each((workspace), (size_t)(count), (double **[]){__VA_ARGS__},                         \
                           sizeof((double **[]){__VA_ARGS__}) / sizeof(double **))
stonet_status sn_workspace_take_each(sn_workspace *workspace, size_t count, double **const *pointer,
                                     size_t pointers);
/* As SN_TAKE, zeroed. */
#define SN_TAKE_ZERO(workspace, pointer, count)                                                              \
    (((pointer) = sn_workspace_take((workspace), (size_t)(count), sizeof *(pointer), true)) != NULL          \
         ? STONET_OK                                                                                         \
         : STONET_ERROR_MEMORY)
