/* Texts in new rows that no training row had. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/dictionary.h"
#include "data/schema_parts.h"

/* What was met of one column: how many rows, and the first few texts. */
typedef struct unseen {
    int64_t rows, texts;
    char list[160];
} unseen;

static void note_text(unseen *met, const char *text)
{
    const size_t used = strlen(met->list);
    if (met->texts++ < 5 && used + strlen(text) + 3 < sizeof met->list)
        snprintf(met->list + used, sizeof met->list - used, "%s%s", used > 0 ? ", " : "", text);
}

static stonet_status look_at_texts(const stonet_data *data, int64_t slot, const sn_interner *known,
                                   unseen *met)
{
    const sn_dictionary *words = &data->text_values[slot];
    SN_ZEROS(words->count, bool, is_new);
    for (int64_t c = 0; c < words->count; c++)
        is_new[c] = sn_interner_find(known, words->text[c], strlen(words->text[c])) < 0;
    SN_ZEROS(words->count, bool, told);
    for (int64_t i = 0; i < data->n; i++) {
        const int32_t code = data->text_code[slot][i];
        if (code < 0 || !is_new[code]) continue;
        met->rows++;
        if (!told[code]) note_text(met, words->text[code]);
        told[code] = true;
    }
    return STONET_OK;
}

/* Numbers where training had text: their shortest digits are the words. */
static void look_at_numbers(const stonet_data *data, int64_t slot, const sn_interner *known, unseen *met)
{
    for (int64_t i = 0; i < data->n; i++) {
        char word[SN_NUMBER_SIZE];
        const double number = sn_frame_number(data, i, slot);
        if (isnan(number) || sn_interner_find(known, word, sn_number_print(number, word)) >= 0) continue;
        met->rows++;
        note_text(met, word);
    }
}

/* Tells which texts of a column the model does not know, and what it does with their rows. An input with the
   category (other) is meant for such texts: a note. Else it is a warning. */
static stonet_status look_at_input(const sn_input *input, const stonet_data *data, const sn_column *column,
                                   const stonet_run *run)
{
    SN_FREED_BY(sn_interner_free) sn_interner known = {0};
    unseen met = {0};
    SN_TRY(sn_interner_of(&input->categories, &known));
    if (column->kind == SN_COLUMN_TEXT)
        SN_TRY(look_at_texts(data, column->slot, &known, &met));
    else
        look_at_numbers(data, column->slot, &known, &met);
    if (met.rows > 0)
        sn_message(
            run, input->has_other ? STONET_NOTE : STONET_WARNING,
            "column '%s': %lld of %lld rows have values that %s (%s%s): %s", input->name, (long long)met.rows,
            (long long)data->n, input->has_other ? "have no feature of their own" : "no training row had",
            met.list, met.texts > 5 ? ", .." : "",
            input->has_other ? "they count as (other)" : "they count as the average of the training rows");
    return STONET_OK;
}

stonet_status sn_schema_tell_unseen(const sn_schema *schema, const stonet_data *data, const stonet_run *run)
{
    if (run == NULL || run->on_message == NULL) return STONET_OK;
    SN_ZEROS(schema->n_inputs, int64_t, column);
    SN_TRY(sn_schema_match(schema, data, column));
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        if (input->kind == SN_COLUMN_TEXT && input->features > 0)
            SN_TRY(look_at_input(input, data, &data->column[column[j]], run));
    }
    return STONET_OK;
}
