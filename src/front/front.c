#include "front/front.h"

#include <string.h>

#include "base/memory.h"
#include "front/front_kernel.h"
#include "front/front_wide.h"

SN_DEFINE_WORDS(sn_front_words, "front", SN_FRONT_CONV, SN_FRONT_WORDS);

enum { BLOCK_ROWS = 2048 };

static const sn_front_ops *const fronts[] = {&sn_front_kernel, &sn_front_columns, &sn_front_components,
                                             &sn_front_conv};
// NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
enum { FRONTS = sizeof fronts / sizeof *fronts };

bool sn_front_recipe_same(const sn_front_recipe *a, const sn_front_recipe *b)
{
    return a->kind == b->kind && a->complexity == b->complexity && a->linear == b->linear &&
           a->size == b->size;
}

static stonet_status make_columns(const sn_problem *problem, const sn_rows *rows, int64_t count,
                                  sn_front **out)
{
    SN_ARRAY(count, int64_t, columns);
    SN_TRY(sn_column_order(problem, rows, count, columns));
    return sn_front_columns_create(problem->p, columns, count, out);
}

stonet_status sn_front_make(const sn_front_recipe *recipe, const sn_problem *problem, const sn_rows *rows,
                            uint64_t seed, sn_front **out)
{
    *out = NULL;
    const int64_t most = recipe->size < problem->p ? recipe->size : problem->p;
    switch (recipe->kind) {
    case SN_FRONT_KERNEL:
        return sn_front_kernel_create(problem, rows, recipe, seed, out);
    case SN_FRONT_COLUMNS:
        return make_columns(problem, rows, most, out);
    case SN_FRONT_COMPONENTS:
        return sn_front_components_create(problem, rows, most < rows->n ? most : rows->n, seed, out);
    case SN_FRONT_NONE:
    case SN_FRONT_CONV:
        break;
    }
    return STONET_OK;
}

/* Block by block, since the rows may come from a source. */
static stonet_status fill(const sn_front *front, const sn_problem *problem, float *u)
{
    const sn_rows all = sn_rows_range(0, problem->n);
    SN_TRY(sn_batch_prepare(problem, &all));
    if (problem->x != NULL) return front->ops->apply(front, problem->n, problem->x, u);
    SN_ARRAY((problem->n < BLOCK_ROWS ? problem->n : BLOCK_ROWS) * problem->p, float, x);
    for (int64_t first = 0; first < problem->n; first += BLOCK_ROWS) {
        const int64_t left = problem->n - first;
        const sn_rows rows = sn_rows_range(first, left < BLOCK_ROWS ? left : BLOCK_ROWS);
        sn_batch batch = {.x = x, .x_stride = problem->p};
        sn_batch_fetch(problem, &rows, &batch);
        SN_TRY(front->ops->apply(front, rows.n, x, u + first * front->outputs));
    }
    return STONET_OK;
}

/* Rows with missing cells, at a draw of these cells. Expected values would not do: a network treats them as
   if they were the cells, and relations to the response become too weak or too strong. */
static stonet_status redraw(const sn_front *front, const sn_problem *problem, const sn_rows *drawn, float *u)
{
    const sn_row_source *source = problem->source;
    if (drawn == NULL || source == NULL || source->gaps == NULL) return STONET_OK;
    SN_ARRAY(problem->p, float, x);
    for (int64_t i = 0; i < drawn->n; i++) {
        const int64_t row = sn_rows_at(drawn, i);
        if (source->gaps(source, row) == SN_GAPS_NONE) continue;
        const sn_rows one = sn_rows_range(row, 1);
        sn_batch batch = {.x = x, .x_stride = problem->p, .draw = 1};
        sn_batch_fetch(problem, &one, &batch);
        SN_TRY(front->ops->apply(front, 1, x, u + row * front->outputs));
    }
    return STONET_OK;
}

stonet_status sn_front_problem(const sn_front *front, const sn_problem *problem, const sn_rows *drawn,
                               sn_problem *out)
{
    *out = *problem;
    if (front == NULL) return STONET_OK;
    out->p = front->outputs;
    out->source = NULL;
    out->joint = false;
    out->x = NULL;
    out->group = NULL;
    float *u;
    SN_TRY(sn_memory_require((uint64_t)problem->n * (uint64_t)front->outputs * sizeof *u,
                             "the features of the front",
                             "take fewer rows, landmarks or channels, or front=none"));
    SN_TRY(SN_NEW_RAW(u, problem->n * front->outputs));
    stonet_status status = fill(front, problem, u);
    if (status == STONET_OK) status = redraw(front, problem, drawn, u);
    if (status != STONET_OK) {
        sn_free(u);
        return status;
    }
    out->x = u;
    return STONET_OK;
}

stonet_status sn_front_refill(const sn_front *front, const sn_problem *problem, const sn_problem *seen)
{
    return fill(front, problem, (float *)seen->x); /* made by sn_front_problem */
}

void sn_front_problem_free(const sn_problem *problem, sn_problem *seen)
{
    if (seen->x == problem->x) return;
    sn_free((void *)seen->x); /* made by sn_front_problem */
    seen->x = NULL;
}

stonet_status sn_front_put(const sn_front *front, sn_store *store)
{
    if (front == NULL) return STONET_OK;
    SN_TRY(sn_store_put_text(store, "front", front->ops->name));
    return front->ops->save(front, store);
}

stonet_status sn_front_get(const sn_store *store, sn_front **out)
{
    *out = NULL;
    const char *name = sn_store_find_text(store, "front");
    if (name == NULL) return STONET_OK;
    for (int k = 0; k < FRONTS; k++)
        if (strcmp(fronts[k]->name, name) == 0) return fronts[k]->load(store, out);
    return sn_fail(STONET_ERROR_FORMAT, "the model has a front '%.40s', which this build does not know",
                   name);
}

void sn_front_free(sn_front *front)
{
    if (front != NULL) front->ops->free(front);
}

stonet_status sn_front_hand_out(stonet_status status, sn_front *front, sn_front **out)
{
    if (status != STONET_OK) sn_front_free(front);
    *out = status == STONET_OK ? front : NULL;
    return status;
}
