/* Columns that look as if they should not be features: numbers of the rows, and the response in disguise. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema_parts.h"
#include "math/smallest.h"

enum {
    FEWEST_ROWS = 20,       /* for a warning: fewer may look like anything */
    MOST_ROWS = 10000,      /* looked at for copies of the response, evenly spread, */
    MOST_NUMBERS = 1 << 22, /* and so many of their numbers at a time */
    QUICK_LOOK = 64,        /* rows compared with each other before all are sorted */
    MOST_WARNINGS = 5,      /* of a kind; the rest is counted */
    MOST_CLASS_CODES = 64   /* more classes are not looked at */
};

/* ---- numbers of the rows ----------------------------------------------------------------------- */

/* Whether the first rows already rule it out. */
static bool is_ruled_out(const stonet_data *data, int64_t slot)
{
    double seen[QUICK_LOOK];
    const int64_t n = data->n < QUICK_LOOK ? data->n : QUICK_LOOK;
    for (int64_t i = 0; i < n; i++) {
        seen[i] = sn_frame_number(data, i, slot);
        if (!(seen[i] == floor(seen[i]))) return true;
        for (int64_t k = 0; k < i; k++)
            if (seen[k] == seen[i]) return true;
    }
    return false;
}

stonet_status sn_column_counts_rows(const stonet_data *data, int64_t slot, bool *counts)
{
    const int64_t most = 1 << 24; /* floats cannot count further */
    const bool coarse = data->exact == NULL || data->exact[slot].at == NULL;
    *counts = false;
    if (data->n < 2 || (coarse && data->n > most) || is_ruled_out(data, slot)) return STONET_OK;
    SN_ARRAY(data->n, double, value);
    bool whole = true;
    for (int64_t i = 0; whole && i < data->n; i++) {
        value[i] = sn_frame_number(data, i, slot);
        whole = value[i] == floor(value[i]);
    }
    if (whole) {
        qsort(value, (size_t)data->n, sizeof *value, sn_by_double);
        for (int64_t i = 1; whole && i < data->n; i++) whole = value[i] != value[i - 1];
    }
    *counts = whole;
    return STONET_OK;
}

/* Whole numbers of which no two are the same can be a quantity too; row numbers are dense, or rise from row
   to row. */
static bool looks_like_row_numbers(const stonet_data *data, int64_t slot)
{
    double low = INFINITY, high = -INFINITY;
    bool rises = true;
    for (int64_t i = 0; i < data->n; i++) {
        const double value = sn_frame_number(data, i, slot);
        rises = rises && (i == 0 || value > sn_frame_number(data, i - 1, slot));
        low = fmin(low, value);
        high = fmax(high, value);
    }
    return rises || high - low < 2.0 * (double)data->n;
}

/* train's columns are the schema's inputs, in the same order. At most MOST_WARNINGS columns are named. */
static stonet_status warn_of_row_numbers(const sn_schema *schema, const stonet_data *train,
                                         const stonet_run *run)
{
    int64_t found = 0;
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        bool counts;
        if (input->kind != SN_COLUMN_NUMBER || input->features == 0 || input->is_date) continue;
        SN_TRY(sn_column_counts_rows(train, train->column[j].slot, &counts));
        if (!counts || !looks_like_row_numbers(train, train->column[j].slot)) continue;
        if (++found <= MOST_WARNINGS)
            sn_message(
                run, STONET_WARNING,
                "column '%s' has a different whole number in every row: if it only names the rows, leave "
                "it out of the features, or name it as their id",
                input->name);
    }
    if (found > MOST_WARNINGS)
        sn_message(run, STONET_WARNING, "%lld more columns have a different whole number in every row",
                   (long long)(found - MOST_WARNINGS));
    return STONET_OK;
}

/* ---- the response in disguise ------------------------------------------------------------------- */

/* Correlation of two columns of n numbers; rows where one is missing are passed over. 0: one is constant. */
static double correlation(const double *a, const double *b, int64_t n)
{
    double mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (isnan(a[i]) || isnan(b[i])) continue;
        count++;
        const double da = a[i] - mean_a, db = b[i] - mean_b; /* Welford */
        mean_a += da / (double)count;
        mean_b += db / (double)count;
        aa += da * (a[i] - mean_a);
        bb += db * (b[i] - mean_b);
        ab += da * (b[i] - mean_b);
    }
    return count >= FEWEST_ROWS && aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

/* Whether values (codes 0 .. n_codes - 1) and classes tell each other, but for one row in 200. */
static bool tell_each_other(const int32_t *code, int64_t n_codes, const int32_t *label, int64_t classes,
                            int64_t n, int64_t *table)
{
    int64_t rows = 0, right = 0;
    memset(table, 0, (size_t)(n_codes * classes) * sizeof *table);
    for (int64_t i = 0; i < n; i++) {
        if (code[i] < 0) continue;
        table[code[i] * classes + label[i]]++;
        rows++;
    }
    bool taken[MOST_CLASS_CODES] = {false};
    for (int64_t c = 0; c < n_codes; c++) {
        int64_t best = 0;
        for (int64_t k = 1; k < classes; k++)
            if (table[c * classes + k] > table[c * classes + best]) best = k;
        if (taken[best]) return false;
        taken[best] = true;
        right += table[c * classes + best];
    }
    return rows >= FEWEST_ROWS && 200 * (rows - right) <= rows;
}

/* Numbers as codes, if they have no more than `most` values: how many, else 0. */
static int64_t numbers_as_codes(const double *value, int64_t n, int64_t most, int32_t *code)
{
    double known[MOST_CLASS_CODES];
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t c = 0;
        if (isnan(value[i])) {
            code[i] = -1;
            continue;
        }
        while (c < count && known[c] != value[i]) c++;
        if (c == count && count == most) return 0;
        if (c == count) known[count++] = value[i];
        code[i] = (int32_t)c;
    }
    return count;
}

typedef struct look {
    const sn_schema *schema;
    const stonet_data *train;
    int64_t n;     /* rows looked at */
    double *value; /* of the columns of numbers, one after the other */
    double *response;
    int32_t *code, *label;
    int64_t *table;
} look;

static int64_t row_of(const look *at, int64_t i)
{
    return (int64_t)((double)i * (double)at->train->n / (double)at->n);
}

/* Row i of those looked at is read: those of a table on disk lie far apart, and a few at a time are all that
   stays of it in memory. */
static void let_rest(const look *at, int64_t i)
{
    enum { FEW = 32 };
    if (i % FEW != FEW - 1 && i != at->n - 1) return;
    const int64_t first = row_of(at, i / FEW * FEW);
    sn_frame_rest(at->train, first, row_of(at, i) - first + 1);
}

/* Reads the rows of slots first .. first + count - 1, row by row. */
static void take_numbers(const look *at, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < at->n; i++) {
        for (int64_t k = 0; k < count; k++)
            at->value[k * at->n + i] = sn_frame_number(at->train, row_of(at, i), first + k);
        let_rest(at, i);
    }
}

/* Which target the column is nearly the same as, -1: none. value: of a column of numbers. */
static int64_t copied_target(const look *at, int64_t column, const double *value)
{
    const sn_column *about = &at->train->column[column];
    const int64_t m = at->schema->n_targets, classes = at->schema->classes.count;
    const bool is_text = about->kind == SN_COLUMN_TEXT;
    for (int64_t i = 0; is_text && i < at->n; i++)
        at->code[i] = at->train->text_code[about->slot][row_of(at, i)];
    if (classes > 0) {
        if (classes > MOST_CLASS_CODES) return -1;
        const int64_t codes = is_text ? at->train->text_values[about->slot].count
                                      : numbers_as_codes(value, at->n, classes, at->code);
        if (codes != classes) return -1;
        return tell_each_other(at->code, codes, at->label, classes, at->n, at->table) ? 0 : -1;
    }
    for (int64_t k = 0; !is_text && k < m; k++)
        if (fabs(correlation(value, at->response + k * at->n, at->n)) > 0.99999) return k;
    return -1;
}

/* The response of the rows that are looked at: labels, or one column after the other. */
static stonet_status take_response(look *at)
{
    const int64_t m = at->schema->n_targets;
    SN_FREED_BY(sn_raw_response_clear) sn_raw_response raw = {0};
    SN_TRY(sn_schema_raw_response(at->schema, at->train, false, &raw));
    for (int64_t i = 0; i < at->n; i++) {
        if (raw.classes > 0) at->label[i] = sn_raw_label(&raw, row_of(at, i));
        for (int64_t k = 0; raw.classes == 0 && k < m; k++)
            at->response[k * at->n + i] = sn_raw_number(&raw, row_of(at, i), k);
        let_rest(at, i);
    }
    return STONET_OK;
}

/* Compares each input with each target on at most MOST_ROWS rows. Columns of numbers are gathered in groups
   of slots: a table is stored by rows, and one pass over it for each column would be slow. */
static stonet_status warn_of_copies(const sn_schema *schema, const stonet_data *train, const stonet_run *run)
{
    SN_WORKSPACE(scratch);
    look at = {.schema = schema, .train = train, .n = train->n < MOST_ROWS ? train->n : MOST_ROWS};
    const int64_t slots = train->n_numeric,
                  at_once = slots < MOST_NUMBERS / at.n ? slots : MOST_NUMBERS / at.n;
    SN_TRY(SN_TAKE(&scratch, at.value, at.n * at_once));
    SN_TRY(SN_TAKE(&scratch, at.response, at.n * schema->n_targets));
    SN_TRY(SN_TAKE(&scratch, at.code, at.n));
    SN_TRY(SN_TAKE(&scratch, at.label, at.n));
    SN_TRY(SN_TAKE(&scratch, at.table, (int64_t)MOST_CLASS_CODES * MOST_CLASS_CODES));
    SN_TRY(take_response(&at));
    int64_t found = 0, first = 0, taken = 0; /* slots that are in memory */
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const int64_t slot = train->column[j].slot;
        if (schema->input[j].features == 0) continue;
        const bool is_number = train->column[j].kind == SN_COLUMN_NUMBER;
        if (is_number && slot >= first + taken) {
            first = slot;
            taken = slots - slot < at_once ? slots - slot : at_once;
            take_numbers(&at, first, taken);
        }
        const int64_t target = copied_target(&at, j, at.value + (is_number ? (slot - first) * at.n : 0));
        if (target >= 0 && ++found <= MOST_WARNINGS)
            sn_message(run, STONET_WARNING,
                       "column '%s' is nearly the same as the target '%s': if it is not known before the "
                       "response is, leave it out of the features",
                       schema->input[j].name, schema->target_name[target]);
    }
    if (found > MOST_WARNINGS)
        sn_message(run, STONET_WARNING, "%lld more columns are nearly the same as a target",
                   (long long)(found - MOST_WARNINGS));
    return STONET_OK;
}

stonet_status sn_schema_warn_of_leaks(const sn_schema *schema, const stonet_data *train,
                                      const stonet_run *run)
{
    if (run == NULL || run->on_message == NULL || train->n < FEWEST_ROWS) return STONET_OK;
    if (train->sparse == NULL) SN_TRY(warn_of_row_numbers(schema, train, run));
    if (sn_schema_has_law(schema)) return STONET_OK;
    return schema->n_targets > 0 && train->sparse == NULL ? warn_of_copies(schema, train, run) : STONET_OK;
}
