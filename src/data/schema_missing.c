/* Missing cells of the training rows, and of rows that are to be encoded: counted, told of, refused. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema_parts.h"

/* The first missing cell of a column that the schema uses; false when there is none. */
static bool find_missing(const sn_schema *schema, const stonet_data *data, const int64_t *column,
                         int64_t *row, int64_t *input)
{
    for (*row = 0; data->missing > 0 && *row < data->n; ++*row)
        for (*input = 0; *input < schema->n_inputs; ++*input)
            if (schema->input[*input].features > 0 && sn_frame_is_missing(data, *row, column[*input]))
                return true;
    return false;
}

stonet_status sn_schema_check_missing(const sn_schema *schema, const stonet_data *data, const int64_t *column)
{
    int64_t row, input;
    if (schema->missing != SN_MISSING_ERROR || !find_missing(schema, data, column, &row, &input))
        return STONET_OK;
    return sn_fail(STONET_ERROR_DATA,
                   "%s: row %lld: the value of '%s' is missing, and the model was fitted with missing=error, "
                   "or before stonet 0.2: fill in the cell",
                   sn_table_name(data), (long long)row + 1, schema->input[input].name);
}

static int64_t incomplete_rows(const stonet_data *train)
{
    int64_t count = 0;
    for (int64_t i = 0; i < train->n; i++) count += !sn_frame_row_is_complete(train, i);
    return count;
}

/* "age 177, deck 40, ..": the columns with missing cells, as many as there is room for. */
static void list_columns(const sn_schema *schema, char *list, size_t size)
{
    size_t used = 0;
    list[0] = '\0';
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        if (input->missing == 0) continue;
        if (used + strlen(input->name) + 32 > size) {
            snprintf(list + used, size - used, ", ..");
            return;
        }
        used += (size_t)snprintf(list + used, size - used, "%s%s %lld", used > 0 ? ", " : "", input->name,
                                 (long long)input->missing);
    }
}

static const char *what_is_done(sn_missing missing)
{
    switch (missing) {
    case SN_MISSING_MEAN:
        return "each gets the mean of its column (missing=mean)";
    case SN_MISSING_GAUSSIAN:
    case SN_MISSING_JOINT:
        return "each is filled in from the other cells of its row";
    case SN_MISSING_DROP:
    case SN_MISSING_ERROR:
        break;
    }
    return "they are refused (missing=error)";
}

/* A column that has no value at all tells nothing, and is 0 from here on. */
static void warn_of_empty(const sn_schema *schema, const stonet_data *train, const stonet_run *run)
{
    for (int64_t j = 0; j < schema->n_inputs; j++)
        if (schema->input[j].missing == train->n)
            sn_message(run, STONET_WARNING, "column '%s' is left out: it has no value in any row",
                       schema->input[j].name);
}

void sn_schema_set_indicators(sn_schema *schema, int64_t n)
{
    enum { FEWEST = 6 };
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        sn_input *input = &schema->input[j];
        const bool used = !input->left_out && input->curve == 0 &&
                          (input->kind == SN_COLUMN_NUMBER || input->categories.count > 0);
        input->indicator = used && input->missing >= FEWEST && n - input->missing >= FEWEST;
    }
}

stonet_status sn_schema_meet_missing(sn_schema *schema, const stonet_data *train, const stonet_run *run)
{
    SN_TRY(sn_text_copy(train->na, &schema->na));
    if (train->missing == 0) return STONET_OK;
    int64_t cells = 0;
    for (int64_t j = 0; j < schema->n_inputs; j++)
        cells += schema->input[j].missing = sn_frame_count_missing(train, j);
    char list[240];
    list_columns(schema, list, sizeof list);
    const long long rows = (long long)incomplete_rows(train);
    if (schema->missing == SN_MISSING_ERROR)
        return sn_fail(STONET_ERROR_DATA,
                       "%s: %lld cell%s missing, in %lld of %lld rows (%s), and missing=error refuses them",
                       sn_table_name(train), (long long)cells, cells == 1 ? " is" : "s are", rows,
                       (long long)train->n, list);
    warn_of_empty(schema, train, run);
    sn_message(run, STONET_NOTE, "%lld of %lld cells are missing, in %lld of %lld rows (%s): %s",
               (long long)cells, (long long)train->n * (long long)train->n_columns, rows, (long long)train->n,
               list, what_is_done(schema->missing));
    return STONET_OK;
}
