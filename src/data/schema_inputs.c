/* What the columns of the training table become: features, or nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/dictionary.h"
#include "data/schema_parts.h"

/* Of more categories than this, the frequent ones have a feature each, and the others one together. */
enum { MOST_CATEGORIES = 200, FEWEST_ROWS = 5 };

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
        for (kept = 0; kept < MOST_CATEGORIES - 1 && found[kept].rows >= FEWEST_ROWS;) kept++;
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
    SN_TRY(sn_schema_meet_missing(schema, train, run));
    if (wanted->levels > 0) SN_TRY(sn_schema_find_levels(schema, train, wanted->levels));
    if (wanted->indicators) sn_schema_set_indicators(schema, train->n);
    return sn_schema_lay_out(schema);
}
