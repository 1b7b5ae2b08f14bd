/* Numbers that look like codes: columns with few distinct values, and which of them a number is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema_parts.h"
#include "math/smallest.h"

enum {
    FEWEST = 3,     /* levels: of two, one number says all */
    FEWEST_ROWS = 3 /* of each level */
};

/* What has been seen of a column so far. */
typedef struct seen {
    int64_t input, slot;
    int64_t count; /* of distinct values; more than can be kept: the column is given up */
    float *value;
    int64_t *rows;
} seen;

static int64_t find(const float *values, int64_t count, float value)
{
    for (int64_t c = 0; c < count; c++)
        if (values[c] == value) return c;
    return -1;
}

static void look_at(seen *column, float value, int64_t most)
{
    const int64_t at = find(column->value, column->count, value);
    if (at >= 0) {
        column->rows[at]++;
    } else if (column->count++ < most) {
        column->value[column->count - 1] = value;
        column->rows[column->count - 1] = 1;
    }
}

/* Row by row over the columns that may still have levels: those of real numbers are given up soon. */
static void look(const stonet_data *train, int64_t most, seen *columns, int64_t count)
{
    for (int64_t i = 0; i < train->n && count > 0; i++) {
        int64_t kept = 0;
        for (int64_t k = 0; k < count; k++) {
            const float value = train->x[i * train->n_numeric + columns[k].slot];
            if (!isnan(value)) look_at(&columns[k], value, most);
            if (columns[k].count > most) continue;
            const seen held = columns[kept];
            columns[kept++] = columns[k];
            columns[k] = held;
        }
        count = kept;
    }
}

static stonet_status keep(const seen *column, int64_t most, sn_input *input)
{
    if (column->count < FEWEST || column->count > most) return STONET_OK;
    for (int64_t c = 0; c < column->count; c++)
        if (column->rows[c] < FEWEST_ROWS) return STONET_OK;
    SN_TRY(SN_NEW_RAW(input->level, column->count));
    memcpy(input->level, column->value, (size_t)column->count * sizeof *input->level);
    qsort(input->level, (size_t)column->count, sizeof *input->level, sn_by_float);
    input->levels = column->count;
    return STONET_OK;
}

stonet_status sn_schema_find_levels(sn_schema *schema, const stonet_data *train, int64_t most)
{
    if (train->sparse != NULL) return STONET_OK; /* counts of words and the like: no codes */
    int64_t count = 0;
    SN_ARRAY(schema->n_inputs, seen, columns);
    SN_ARRAY(schema->n_inputs * most, float, value);
    SN_ARRAY(schema->n_inputs * most, int64_t, rows);
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        if (schema->input[j].kind != SN_COLUMN_NUMBER || schema->input[j].left_out ||
            schema->input[j].is_date || schema->input[j].curve != 0)
            continue;
        columns[count] = (seen){.input = j,
                                .slot = train->column[j].slot,
                                .value = value + count * most,
                                .rows = rows + count * most};
        count++;
    }
    look(train, most, columns, count);
    for (int64_t k = 0; k < count; k++) SN_TRY(keep(&columns[k], most, &schema->input[columns[k].input]));
    return STONET_OK;
}

int64_t sn_input_level(const sn_input *input, float value)
{
    return find(input->level, input->levels, value);
}
