#include "engine/cuda_rows.h"

#include <string.h>

#include "base/memory.h"
#include "engine/cuda_load.h"

enum {
    PIECE_ROWS = 256,       /* fetched by one thread at a time */
    STAGE_BYTES = 32 << 20, /* of a window that all rows pass through on their way */
};
static const double FILL = 0.7; /* of the free memory, what rows may take */

/* The rows of a problem that a `keep` keeps. */
typedef struct kept_rows {
    const sn_cuda_api *api;
    sn_cuda_data *data;
    const sn_problem of; /* as they were then */
} kept_rows;

static sn_cuda_table table_of(const sn_problem *problem, int64_t rows, bool with_response)
{
    const bool there = problem->label != NULL || problem->y != NULL || problem->raw != NULL;
    return (sn_cuda_table){.rows = rows,
                           .columns = problem->p,
                           .outputs = problem->outputs,
                           .classes = problem->task == SN_CLASSIFICATION,
                           .weighted = problem->weight != NULL,
                           .response = with_response && there};
}

void sn_cuda_window_clear(const sn_cuda_api *api, sn_cuda_window *window)
{
    if (window->data != NULL) api->data_free(window->data);
    if (window->memory != NULL) api->unpin(window->memory);
    *window = (sn_cuda_window){0};
}

/* Pinned room for so many rows; what is largest aligned comes first. */
static stonet_status pin_window(const sn_cuda_api *api, const sn_problem *problem, int64_t rows,
                                sn_cuda_window *window)
{
    sn_cuda_words words;
    const int64_t each = 8 + 4 * (problem->p + problem->outputs + 2);
    SN_TRY(sn_cuda_check(api->pin((size_t)(rows * each), &window->memory, &words), &words,
                         "making room for rows"));
    window->number = window->memory;
    window->x = (float *)(void *)(window->number + rows);
    window->y = window->x + rows * problem->p;
    window->weight = window->y + rows * problem->outputs;
    window->label = (int32_t *)(void *)(window->weight + rows);
    window->capacity = rows;
    return STONET_OK;
}

/* Fetches rows into pinned memory, piece by piece on the threads. */
static void fetch(const sn_problem *problem, const sn_rows *rows, bool with_response, uint32_t draw,
                  int threads, const sn_cuda_window *window)
{
    const int64_t pieces = (rows->n + PIECE_ROWS - 1) / PIECE_ROWS;
#pragma omp parallel for num_threads(threads) if (threads > 1 && pieces > 1)
    for (int64_t k = 0; k < pieces; k++) {
        const int64_t first = k * PIECE_ROWS, left = rows->n - first;
        const sn_rows part = sn_rows_part(rows, first, left < PIECE_ROWS ? left : PIECE_ROWS);
        sn_batch batch = {.x = window->x + first * problem->p,
                          .x_stride = problem->p,
                          .row = window->number + first,
                          .weight = window->weight + first,
                          .draw = draw};
        if (with_response && problem->task == SN_CLASSIFICATION) batch.label = window->label + first;
        sn_batch_fetch(problem, &part, &batch);
        if (!with_response || problem->task == SN_CLASSIFICATION) continue;
        for (int64_t r = 0; r < part.n; r++)
            for (int64_t j = 0; j < problem->outputs; j++)
                window->y[(first + r) * problem->outputs + j] =
                    (float)sn_problem_target(problem, sn_rows_at(&part, r), j);
    }
}

static stonet_status put(const sn_cuda_api *api, const sn_cuda_window *from, int64_t first, int64_t count,
                         sn_cuda_data *to)
{
    sn_cuda_words words;
    const sn_cuda_delivery rows = {first, count, from->x, from->y, from->weight, from->label};
    return sn_cuda_check(api->data_put(to, &rows, &words), &words, "copying rows to it");
}

stonet_status sn_cuda_window_fill(const sn_cuda_api *api, const sn_problem *problem, const sn_rows *rows,
                                  bool with_response, uint32_t draw, int threads, sn_cuda_window *window)
{
    sn_cuda_words words;
    const bool response = table_of(problem, 1, with_response).response != 0;
    SN_TRY(sn_batch_prepare(problem, rows));
    if (window->capacity < rows->n || (response && !window->response)) {
        /* A window for passes may be one for steps in between: room that was needed once is needed again. */
        sn_cuda_table table = table_of(problem, rows->n, response || window->response);
        if (window->capacity > table.rows) table.rows = window->capacity;
        sn_cuda_window_clear(api, window);
        SN_TRY(pin_window(api, problem, table.rows, window));
        SN_TRY(sn_cuda_check(api->data_new(&table, &window->data, &words), &words, "making room for rows"));
        window->response = table.response != 0;
    }
    fetch(problem, rows, response, draw, threads, window);
    return put(api, window, 0, rows->n, window->data);
}

/* Fills `data` through a stage of pinned memory. */
static stonet_status upload(const sn_cuda_api *api, const sn_problem *problem, int threads,
                            sn_cuda_data *data)
{
    sn_cuda_window stage = {0};
    int64_t most = STAGE_BYTES / (4 * (problem->p + problem->outputs + 4)) + 1;
    if (most > problem->n) most = problem->n;
    const bool response = table_of(problem, 1, true).response != 0;
    stonet_status status = pin_window(api, problem, most, &stage);
    for (int64_t first = 0; status == STONET_OK && first < problem->n; first += most) {
        const int64_t left = problem->n - first;
        const sn_rows part = sn_rows_range(first, left < most ? left : most);
        status = sn_batch_prepare(problem, &part);
        if (status != STONET_OK) break;
        fetch(problem, &part, response, 0, threads, &stage);
        status = put(api, &stage, first, part.n, data);
    }
    sn_cuda_window_clear(api, &stage);
    return status;
}

/* NULL when they do not fit. */
static stonet_status make_all(const sn_cuda_api *api, const sn_problem *problem, int threads,
                              sn_cuda_data **data)
{
    sn_cuda_words words;
    sn_cuda_device device;
    const sn_cuda_table table = table_of(problem, problem->n, true);
    *data = NULL;
    SN_TRY(sn_cuda_check(api->open(&device, &words), &words, "looking at its memory"));
    if ((double)api->data_bytes(&table) > FILL * (double)device.free_bytes) return STONET_OK;
    const int trouble = api->data_new(&table, data, &words);
    if (trouble == SN_CUDA_NO_MEMORY) return STONET_OK; /* others were quicker */
    SN_TRY(sn_cuda_check(trouble, &words, "making room for rows"));
    stonet_status status = upload(api, problem, threads, *data);
    if (status != STONET_OK) {
        api->data_free(*data);
        *data = NULL;
    }
    return status;
}

static void release_rows(void *kept)
{
    SN_BLOCK kept_rows *rows = kept;
    rows->api->data_free(rows->data);
}

/* Whether what is kept is this problem's. */
static bool are_of(const kept_rows *rows, const sn_problem *p)
{
    const sn_problem *of = &rows->of;
    return of->n == p->n && of->p == p->p && of->x == p->x && of->source == p->source && of->y == p->y &&
           of->label == p->label && of->raw == p->raw && of->weight == p->weight && of->outputs == p->outputs;
}

/* Fits on the same problem share one copy of the rows on the device, held in problem->keep. *own: the copy
   has no place there, and the caller frees it. *data is NULL when the rows do not fit. */
static stonet_status keep_all(const sn_cuda_api *api, const sn_problem *problem, int threads,
                              sn_cuda_data **data, bool *own)
{
    sn_keep *keep = problem->keep;
    kept_rows *rows;
    *own = false;
    if (keep->kept != NULL && keep->release == release_rows && are_of(keep->kept, problem)) {
        *data = ((kept_rows *)keep->kept)->data;
        return STONET_OK;
    }
    SN_TRY(make_all(api, problem, threads, data));
    *own = true;
    if (keep->kept != NULL || *data == NULL) return STONET_OK; /* of another problem */
    if (SN_NEW(rows, 1) != STONET_OK) return STONET_OK;        /* then it is not shared */
    memcpy(rows, &(kept_rows){.api = api, .data = *data, .of = *problem}, sizeof *rows);
    *keep = (sn_keep){.kept = rows, .release = release_rows};
    *own = false;
    return STONET_OK;
}

stonet_status sn_cuda_rows_all(const sn_cuda_api *api, const sn_problem *problem, int threads,
                               sn_cuda_data **data, bool *own)
{
    stonet_status status;
    *own = true;
    if (problem->keep == NULL) return make_all(api, problem, threads, data);
#pragma omp critical(sn_cuda_rows)
    status = keep_all(api, problem, threads, data, own);
    return status;
}
