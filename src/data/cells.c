#include "data/cells.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/frame.h"

void sn_cells_free(sn_cells *sparse)
{
    if (sparse == NULL) return;
    for (int k = 0; k < 3; k++) sn_free(sparse->owned[k]);
    sn_free(sparse);
}

float sn_cells_at(const sn_cells *sparse, int64_t row, int64_t column)
{
    int64_t low = sparse->start[row], high = sparse->start[row + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (sparse->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sparse->start[row + 1] && sparse->column[low] == column ? sparse->value[low] : 0.0F;
}

/* Cells may come from outside (SciPy, R), and every later loop relies on rising columns inside the table. A
   cell that is not stored is 0, so NaN as a stored value is refused. */
static stonet_status check_cells(const sn_cells *sparse)
{
    if (sparse->start[0] != 0) return sn_fail(STONET_ERROR_ARGUMENT, "the cells of row 1 do not begin at 0");
    for (int64_t i = 0; i < sparse->n; i++) {
        if (sparse->start[i + 1] < sparse->start[i])
            return sn_fail(STONET_ERROR_ARGUMENT, "row %lld has fewer than 0 cells", (long long)i + 1);
        for (int64_t k = sparse->start[i]; k < sparse->start[i + 1]; k++) {
            const int32_t column = sparse->column[k];
            if (column < 0 || column >= sparse->columns)
                return sn_fail(STONET_ERROR_DATA, "row %lld has a cell in column %lld, and there are %lld",
                               (long long)i + 1, (long long)column + 1, (long long)sparse->columns);
            if (k > sparse->start[i] && column <= sparse->column[k - 1])
                return sn_fail(STONET_ERROR_DATA,
                               "row %lld: its columns do not rise, or one is there twice (column %lld)",
                               (long long)i + 1, (long long)column + 1);
            if (!isfinite(sparse->value[k]))
                return sn_fail(STONET_ERROR_DATA, "row %lld, column %lld: the value is %s", (long long)i + 1,
                               (long long)column + 1,
                               isnan(sparse->value[k]) ? "missing (NaN), which a sparse table cannot hold"
                                                       : "infinite");
        }
    }
    return STONET_OK;
}

/* variance = (sum over the cells kept of (x - mean)^2 + (n - kept) mean^2) / n. */
stonet_status sn_cells_moments(const sn_cells *sparse, sn_moments *out)
{
    const double n = (double)sparse->n;
    SN_ZEROS(sparse->columns, int64_t, kept);
    SN_TRY(sn_moments_create(sparse->columns, out));
    const int64_t cells = sparse->start[sparse->n];
    for (int64_t k = 0; k < cells; k++) {
        const int32_t j = sparse->column[k];
        const double value = (double)sparse->value[k];
        out->mean[j] += value;
        out->low[j] = kept[j] == 0 || value < out->low[j] ? value : out->low[j];
        out->high[j] = kept[j] == 0 || value > out->high[j] ? value : out->high[j];
        kept[j]++;
    }
    for (int64_t j = 0; j < sparse->columns; j++) {
        out->mean[j] /= n;
        if (kept[j] == sparse->n) continue;
        out->low[j] = fmin(out->low[j], 0);
        out->high[j] = fmax(out->high[j], 0);
    }
    for (int64_t k = 0; k < cells; k++) {
        const int32_t j = sparse->column[k];
        const double gap = (double)sparse->value[k] - out->mean[j];
        out->variance[j] += gap * gap;
    }
    for (int64_t j = 0; j < sparse->columns; j++)
        out->variance[j] = (out->variance[j] + (n - (double)kept[j]) * out->mean[j] * out->mean[j]) / n;
    return STONET_OK;
}

stonet_status sn_cells_rows(const sn_cells *from, const int64_t *rows, int64_t count, sn_cells **out)
{
    SN_AUTO(sn_cells) *made = NULL;
    int64_t cells = 0;
    SN_TRY(SN_NEW(made, 1));
    for (int64_t i = 0; i < count; i++) cells += from->start[rows[i] + 1] - from->start[rows[i]];
    int64_t *start = made->owned[0] = sn_malloc((size_t)count + 1, sizeof *start);
    int32_t *column = made->owned[1] = sn_malloc((size_t)cells, sizeof *column);
    float *value = made->owned[2] = sn_malloc((size_t)cells, sizeof *value);
    if (start == NULL || column == NULL || value == NULL) return STONET_ERROR_MEMORY;
    made->n = count;
    made->columns = from->columns;
    made->start = start;
    made->column = column;
    made->value = value;
    start[0] = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t first = from->start[rows[i]];
        const size_t own = (size_t)(from->start[rows[i] + 1] - first);
        memcpy(column + start[i], from->column + first, own * sizeof *column);
        memcpy(value + start[i], from->value + first, own * sizeof *value);
        start[i + 1] = start[i] + (int64_t)own;
    }
    return SN_GIVE(made, out);
}

stonet_status stonet_data_wrap_sparse(const int64_t *start, const int32_t *column, const float *value,
                                      int64_t n, int64_t p, stonet_data **out)
{
    if (out == NULL) return sn_fail(STONET_ERROR_ARGUMENT, "an array needs a place for its table");
    *out = NULL;
    if (start == NULL || n < 1 || p < 1 || p > INT32_MAX ||
        (start[n] > 0 && (column == NULL || value == NULL)))
        return sn_fail(STONET_ERROR_ARGUMENT, "a sparse table needs at least one row and one column");
    SN_AUTO(sn_cells) *sparse = NULL;
    SN_TRY(SN_NEW(sparse, 1));
    *sparse = (sn_cells){.n = n, .columns = p, .start = start, .column = column, .value = value};
    SN_TRY(check_cells(sparse));
    return sn_frame_of_sparse(&sparse, 1, out);
}
