/*
 * The rows of a problem on the device: all of them, uploaded once and shared by every engine that works on
 * the problem while its `keep` lives; or, where they do not fit, a window through which each batch passes.
 */
#pragma once

#include <stdbool.h>

#include "data/problem.h"
#include "engine/cuda_module.h"

typedef struct sn_cuda_window {
    sn_cuda_data *data;
    int64_t capacity;
    bool response; /* data has room for it */
    float *x;      /* pinned, as are the rest */
    float *y;
    int32_t *label;
    float *weight;
    int64_t *number; /* the rows' numbers in the whole data */
    void *memory;
} sn_cuda_window;

/* All rows with their response, if there is one; a copy that is already on the device is used again. *own:
   the caller frees them. NULL: they do not fit on the device. */
stonet_status sn_cuda_rows_all(const sn_cuda_api *api, const sn_problem *problem, int threads,
                               sn_cuda_data **data, bool *own);

/* Some rows into a window, which grows as needed and begins zeroed. with_response: not their features alone;
   draw: of missing cells (data/rows.h).    Then they are its rows 0, 1, .., with the noise of window->number.
 */
stonet_status sn_cuda_window_fill(const sn_cuda_api *api, const sn_problem *problem, const sn_rows *rows,
                                  bool with_response, uint32_t draw, int threads, sn_cuda_window *window);
void sn_cuda_window_clear(const sn_cuda_api *api, sn_cuda_window *window);
