/* What the columns of the training table become, features or nothing, and what of their missing cells. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/dictionary.h"
#include "data/schema_parts.h"
#include "math/smallest.h"

enum {
    MOST_CATEGORIES = 200, /* of more, the frequent ones have a feature each, and the others one together */
    FEWEST_OF_CATEGORY = 5,
    FEWEST_LEVELS = 3, /* of two, one number says all */
    FEWEST_OF_LEVEL = 3
};

static const char *const OTHER = "(other)";

typedef struct counted {
    const char *word;
    int64_t rows;
} counted;

/* The frequent first; of equally frequent ones those that sort first. */
static int by_rows(const void *a, const void *b)
{
    const counted *left = a, *right = b;
    if (left->rows != right->rows) return left->rows < right->rows ? 1 : -1;
    return strcmp(left->word, right->word);
}

static int by_word(const void *a, const void *b)
{
    return strcmp(((const counted *)a)->word, ((const counted *)b)->word);
}

static stonet_status count_words(const stonet_data *train, int64_t slot, counted **out)
{
    const sn_dictionary *words = &train->text_values[slot];
    SN_TRY(SN_NEW(*out, words->count));
    for (int64_t c = 0; c < words->count; c++) (*out)[c].word = words->text[c];
    for (int64_t i = 0; i < train->n; i++) {
        const int32_t code = train->text_code[slot][i];
        if (code >= 0) (*out)[code].rows++;
    }
    return STONET_OK;
}

/* The categories of a text column, sorted; those that are too rare, of very many, are put together. */
static stonet_status find_categories(const stonet_data *train, int64_t slot, sn_input *input,
                                     const stonet_run *run)
{
    const int64_t count = train->text_values[slot].count;
    SN_BLOCK counted *found = NULL;
    int64_t kept = count;
    SN_TRY(count_words(train, slot, &found));
    if (count > MOST_CATEGORIES) {
        qsort(found, (size_t)count, sizeof *found, by_rows);
        for (kept = 0; kept < MOST_CATEGORIES - 1 && found[kept].rows >= FEWEST_OF_CATEGORY;) kept++;
        input->has_other = true;
    }
    qsort(found, (size_t)kept, sizeof *found, by_word);
    SN_TRY(SN_NEW(input->categories.text, kept + 1));
    for (int64_t c = 0; c < kept; c++) SN_TRY(sn_dictionary_add(&input->categories, found[c].word));
    if (!input->has_other) {
        sn_message(run, STONET_NOTE, "column '%s' is text: one feature for each of its %lld values",
                   input->name, (long long)count);
        return STONET_OK;
    }
    SN_TRY(sn_dictionary_add(&input->categories, OTHER));
    int64_t rows = 0;
    for (int64_t c = kept; c < count; c++) rows += found[c].rows;
    sn_message(
        run, STONET_WARNING,
        "column '%s' is text with %lld values: one feature for each of the %lld most frequent, and one "
        "for all others together, which %lld of the %lld rows have",
        input->name, (long long)count, (long long)kept, (long long)rows, (long long)train->n);
    return STONET_OK;
}

/* "01.05.2024", "5/1/2024": dates that are not read, since they can be read in two ways. */
static bool looks_like_other_date(const char *text)
{
    int parts = 0;
    for (const char *at = text; parts < 3; at++) {
        const size_t digits = strspn(at, "0123456789");
        if (digits < 1 || digits > 4) return false;
        at += digits;
        if (++parts < 3 && *at != '/' && *at != '.' && *at != '-') return false;
        if (parts == 3) return *at == '\0' || *at == ' ' || *at == 'T';
    }
    return false;
}

/* What becomes of a text column: its order as one feature, one feature for each frequent text, or nothing.
   With more than 20 texts, and more than one for every two rows, it names the rows and is left out. */
static stonet_status fit_text(const stonet_data *train, int64_t column, sn_input *input,
                              const stonet_run *run)
{
    const int64_t slot = train->column[column].slot;
    const sn_dictionary *words = &train->text_values[slot];
    if (words->ordered) {
        SN_TRY(sn_dictionary_copy(words, &input->categories));
        sn_message(run, STONET_NOTE, "column '%s' is ordered: one feature, 1 for %s to %lld for %s",
                   input->name, words->text[0], (long long)words->count, words->text[words->count - 1]);
        return STONET_OK;
    }
    if (train->column[column].unnamed && words->count == train->n && train->n > 2) {
        sn_message(run, STONET_NOTE,
                   "column %lld is left out: it has no name and names the rows (give it a name to keep it)",
                   (long long)column + 1);
        return STONET_OK;
    }
    if (!sn_is_identifier(words->count, train->n)) return find_categories(train, slot, input, run);
    sn_message(run, STONET_WARNING, "column '%s' is left out: %lld distinct texts in %lld rows%s",
               input->name, (long long)words->count, (long long)train->n,
               looks_like_other_date(words->text[0]) ? " (dates are read as 2024-05-01)" : "");
    return STONET_OK;
}

/* A column without a name that counts the rows: R and pandas write one in front of the table. */
static stonet_status fit_unnamed(const stonet_data *train, int64_t column, sn_input *input,
                                 const stonet_run *run)
{
    SN_TRY(sn_column_counts_rows(train, train->column[column].slot, &input->left_out));
    if (input->left_out)
        sn_message(run, STONET_NOTE,
                   "column %lld is left out: it has no name and numbers the rows (give it a name to keep it)",
                   (long long)column + 1);
    return STONET_OK;
}

/* ---- numbers that look like codes ------------------------------------------------------------------ */

/* What has been seen of a column so far. */
typedef struct seen {
    int64_t input, slot;
    int64_t count; /* of distinct values; more than can be kept: the column is given up */
    float *value;
    int64_t *rows;
} seen;

static int64_t find_value(const seen *column, float value)
{
    for (int64_t c = 0; c < column->count; c++)
        if (column->value[c] == value) return c;
    return -1;
}

static void look_at(seen *column, float value, int64_t most)
{
    const int64_t at = find_value(column, value);
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

static stonet_status keep_levels(const seen *column, int64_t most, sn_input *input)
{
    if (column->count < FEWEST_LEVELS || column->count > most) return STONET_OK;
    for (int64_t c = 0; c < column->count; c++)
        if (column->rows[c] < FEWEST_OF_LEVEL) return STONET_OK;
    SN_TRY(SN_NEW_RAW(input->level, column->count));
    memcpy(input->level, column->value, (size_t)column->count * sizeof *input->level);
    qsort(input->level, (size_t)column->count, sizeof *input->level, sn_by_float);
    input->levels = column->count;
    return STONET_OK;
}

static stonet_status find_levels(sn_schema *schema, const stonet_data *train, int64_t most)
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
    for (int64_t k = 0; k < count; k++)
        SN_TRY(keep_levels(&columns[k], most, &schema->input[columns[k].input]));
    return STONET_OK;
}

/* ---- missing cells ---------------------------------------------------------------------------------- */

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

/* Gives an indicator to the inputs that lack enough cells, and have enough, for one to be learned from. */
static void set_indicators(sn_schema *schema, int64_t n)
{
    enum { FEWEST = 6 };
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        sn_input *input = &schema->input[j];
        const bool used = !input->left_out && input->curve == 0 &&
                          (input->kind == SN_COLUMN_NUMBER || input->categories.count > 0);
        input->indicator = used && input->missing >= FEWEST && n - input->missing >= FEWEST;
    }
}

/* Counts the missing cells of the training rows, says what is done about them, and refuses them where the
   schema does. */
static stonet_status meet_missing(sn_schema *schema, const stonet_data *train, const stonet_run *run)
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

stonet_status sn_schema_fit_inputs(sn_schema *schema, const stonet_data *train, const sn_encoding *wanted,
                                   const stonet_run *run)
{
    SN_TRY(SN_NEW(schema->input, train->n_columns));
    schema->n_inputs = train->n_columns;
    schema->has_header = train->has_header;
    schema->width = train->width;
    SN_TRY(sn_text_copy(train->id_name, &schema->id_name));
    for (int64_t j = 0; j < train->n_columns; j++) {
        const sn_column *column = &train->column[j];
        sn_input *input = &schema->input[j];
        input->kind = column->kind;
        input->is_date = column->is_date;
        input->season = column->season;
        input->position = column->position;
        SN_TRY(sn_text_copy(column->name, &input->name));
        if (column->again)
            sn_message(run, STONET_NOTE, "two columns have the same name: the later one is called '%s'",
                       input->name);
        if (column->is_date)
            sn_message(run, STONET_NOTE, "column '%s' has dates: their days are counted%s", input->name,
                       column->season ? ", and the time of the year has two features" : "");
        if (column->kind == SN_COLUMN_TEXT)
            SN_TRY(fit_text(train, j, input, run));
        else if (column->unnamed)
            SN_TRY(fit_unnamed(train, j, input, run));
    }
    SN_TRY(sn_schema_find_curves(schema, train, wanted));
    SN_TRY(meet_missing(schema, train, run));
    if (wanted->levels > 0) SN_TRY(find_levels(schema, train, wanted->levels));
    if (wanted->indicators) set_indicators(schema, train->n);
    return sn_schema_lay_out(schema);
}
