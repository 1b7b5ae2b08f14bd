#include "data/rows.h"

#include <string.h>

#include "data/problem.h"

sn_rows sn_rows_evenly(const sn_rows *rows, int64_t most, int64_t *list)
{
    if (rows->n <= most) return *rows;
    for (int64_t i = 0; i < most; i++) list[i] = sn_rows_at(rows, i * rows->n / most);
    return sn_rows_list(list, most);
}

/* Short rows are many, and a call of memcpy for each would show: whole vectors, the last one over the one
   before it. */
static void copy_row(float *to, const float *from, int64_t size)
{
    enum { LANES = 4 };
    if (size < LANES || size > (int64_t)64 * LANES) {
        memcpy(to, from, (size_t)size * sizeof *to);
        return;
    }
    for (int64_t k = 0; k + LANES <= size; k += LANES) memcpy(to + k, from + k, LANES * sizeof *to);
    memcpy(to + size - LANES, from + size - LANES, LANES * sizeof *to);
}

/* The rows in memory have what is expected in their missing cells; a source beside them draws these. */
static void fetch_features(const sn_problem *problem, const sn_rows *rows, uint32_t draw, float *x,
                           int64_t stride)
{
    if (problem->x == NULL || (draw > 0 && problem->source != NULL)) {
        problem->source->fetch(problem->source, rows, draw, x, stride);
        return;
    }
    for (int64_t i = 0; i < rows->n; i++)
        copy_row(x + i * stride, problem->x + sn_rows_at(rows, i) * problem->p, problem->p);
}

stonet_status sn_batch_prepare(const sn_problem *problem, const sn_rows *rows)
{
    return problem->source == NULL ? STONET_OK : problem->source->prepare(problem->source, rows);
}

void sn_batch_expect(const sn_problem *problem, const sn_rows *rows, int64_t first, int64_t count,
                     sn_outlook outlook)
{
    if (problem->x != NULL || problem->source == NULL || problem->source->expect == NULL || count < 1) return;
    const int64_t from = sn_rows_at(rows, first), to = sn_rows_at(rows, first + count - 1);
    if (to >= from) problem->source->expect(problem->source, from, to - from + 1, outlook);
}

/* Array by array, each in a loop of its own: this is done for every batch. */
void sn_batch_fetch(const sn_problem *problem, const sn_rows *rows, sn_batch *batch)
{
    const int64_t n = rows->n, outputs = problem->outputs;
    batch->n = n;
    if (batch->x != NULL) fetch_features(problem, rows, batch->draw, batch->x, batch->x_stride);
    if (batch->row != NULL)
        for (int64_t i = 0; i < n; i++) batch->row[i] = problem->first_row + sn_rows_at(rows, i);
    if (batch->label != NULL)
        for (int64_t i = 0; i < n; i++) batch->label[i] = sn_problem_label(problem, sn_rows_at(rows, i));
    if (batch->y != NULL)
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = 0; k < outputs; k++)
                batch->y[i * outputs + k] = sn_problem_target(problem, sn_rows_at(rows, i), k);
    if (batch->weight != NULL)
        for (int64_t i = 0; i < n; i++)
            batch->weight[i] = problem->weight != NULL ? problem->weight[sn_rows_at(rows, i)] : 1.0F;
}

void sn_batch_look(const sn_problem *problem, const sn_rows *rows, const sn_batch *batch)
{
    enum { FEW = 64 };
    for (int64_t first = 0; first < rows->n; first += FEW) {
        const sn_rows some = sn_rows_part(rows, first, rows->n - first < FEW ? rows->n - first : FEW);
        sn_batch part = *batch;
        if (part.x != NULL) part.x += first * part.x_stride;
        if (part.label != NULL) part.label += first;
        if (part.y != NULL) part.y += first * problem->outputs;
        if (part.weight != NULL) part.weight += first;
        if (part.row != NULL) part.row += first;
        sn_batch_fetch(problem, &some, &part);
        sn_batch_expect(problem, &some, 0, some.n, SN_ROWS_REST);
    }
}

stonet_status sn_batch_features(const sn_problem *problem, const sn_rows *rows, float *x)
{
    SN_TRY(sn_batch_prepare(problem, rows));
    sn_batch_look(problem, rows, &(sn_batch){.x = x, .x_stride = problem->p});
    return STONET_OK;
}
