#include "data/builder.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/schema.h"

/* Checking free memory costs a system call, so only steps of this size are checked. */
#define LARGE_STEP ((int64_t)64 << 20)

static const sn_digits NO_DIGITS = {.low = (double)INFINITY, .high = -(double)INFINITY};

/* Back to no rows, so that the file can be read again with other columns as text. Names and roles of the
   columns stay. */
static void forget_rows(sn_builder *builder)
{
    for (int64_t k = 0; builder->code != NULL && k < builder->n_text; k++) sn_free(builder->code[k]);
    for (int64_t k = 0; builder->values != NULL && k < builder->n_text; k++)
        sn_interner_free(&builder->values[k]);
    sn_interner_free(&builder->labels);
    sn_interner_free(&builder->spelled);
    for (int64_t k = 0; builder->digits != NULL && k < builder->n_numeric; k++)
        sn_free(builder->digits[k].value);
    SN_FREE(builder->digits);
    SN_FREE(builder->x);
    SN_FREE(builder->y);
    SN_FREE(builder->weight);
    SN_FREE(builder->code);
    SN_FREE(builder->values);
    SN_FREE(builder->label);
    builder->rows = builder->capacity = builder->missing = 0;
    builder->before = builder->dropped = 0;
    builder->n_numeric = builder->n_text = 0;
    builder->many_spelled = false;
}

void sn_builder_free(sn_builder *builder)
{
    if (builder == NULL) return;
    forget_rows(builder);
    for (int64_t j = 0; builder->column != NULL && j < builder->n_columns; j++) {
        sn_free(builder->column[j].name);
        sn_dictionary_free(&builder->column[j].order);
    }
    SN_FREE_ALL(builder->column, builder->target_position, builder);
}

stonet_status sn_builder_create(const char *path, int64_t n_columns, const char *const *names,
                                const sn_read_wish *wish, sn_builder **out)
{
    SN_AUTO(sn_builder) *builder = NULL;
    SN_TRY(SN_NEW(builder, 1));
    builder->path = path;
    builder->n_columns = n_columns;
    builder->wish = wish;
    builder->drain = wish->drain;
    builder->all_digits =
        wish->drain != NULL || (wish->schema != NULL && sn_schema_needs_digits(wish->schema));
    SN_TRY(sn_builder_find_roles(builder, names, wish));
    return SN_GIVE(builder, out);
}

static stonet_status create_digits(sn_builder *builder)
{
    SN_TRY(SN_NEW(builder->digits, builder->n_numeric));
    for (int64_t k = 0; k < builder->n_numeric; k++) builder->digits[k] = NO_DIGITS;
    return STONET_OK;
}

stonet_status sn_builder_start(sn_builder *builder, const bool *is_text)
{
    forget_rows(builder);
    if (builder->drain != NULL) SN_TRY(builder->drain->restart(builder->drain));
    for (int64_t j = 0; j < builder->n_columns; j++) {
        sn_builder_column *column = &builder->column[j];
        const bool text =
            is_text[j] || column->as_text || column->order.count > 0 || sn_builder_is_label(builder, j);
        column->role = column->unused ? SN_UNUSED : text ? SN_FEATURE_TEXT : SN_FEATURE_NUMBER;
    }
    for (int64_t k = 0; k < builder->n_targets; k++) {
        sn_builder_column *target = &builder->column[builder->target_position[k]];
        const bool text = is_text[builder->target_position[k]] || target->order.count > 0;
        target->role = text ? SN_TARGET_TEXT : SN_TARGET_NUMBER;
        target->slot = k;
        if (text && builder->n_targets > 1)
            return sn_fail(STONET_ERROR_DATA,
                           "%s: the target '%s' is text, and with several targets all must be numbers",
                           builder->path, target->name);
    }
    if (builder->weight_position >= 0) {
        if (is_text[builder->weight_position])
            return sn_fail(STONET_ERROR_DATA, "%s: the weights '%s' are text, and weights are numbers",
                           builder->path, builder->column[builder->weight_position].name);
        builder->column[builder->weight_position].role = SN_WEIGHT;
    }
    for (int64_t j = 0; j < builder->n_columns; j++) {
        sn_builder_column *column = &builder->column[j];
        if (column->role == SN_FEATURE_NUMBER) column->slot = builder->n_numeric++;
        if (column->role == SN_FEATURE_TEXT) column->slot = builder->n_text++;
    }
    SN_TRY(create_digits(builder));
    SN_TRY(SN_NEW(builder->code, builder->n_text));
    SN_TRY(SN_NEW(builder->values, builder->n_text));
    for (int64_t j = 0; j < builder->n_columns; j++) {
        const sn_dictionary *order = &builder->column[j].order;
        if (order->count > 0)
            SN_TRY(sn_builder_put_order(builder, j, (const char *const *)order->text, order->count));
    }
    return STONET_OK;
}

bool sn_builder_has_labels(const sn_builder *builder)
{
    return builder->n_targets == 1 && builder->column[builder->target_position[0]].role == SN_TARGET_TEXT;
}

static stonet_status resize(sn_builder *builder, int64_t capacity)
{
    SN_TRY(SN_GROW(builder->x, capacity * builder->n_numeric));
    for (int64_t k = 0; k < builder->n_numeric; k++)
        if (builder->digits[k].value != NULL) SN_TRY(SN_GROW(builder->digits[k].value, capacity));
    for (int64_t k = 0; k < builder->n_text; k++) SN_TRY(SN_GROW(builder->code[k], capacity));
    if (builder->weight_position >= 0) SN_TRY(SN_GROW(builder->weight, capacity));
    if (sn_builder_has_labels(builder))
        SN_TRY(SN_GROW(builder->label, capacity));
    else if (builder->n_targets > 0)
        SN_TRY(SN_GROW(builder->y, capacity * builder->n_targets));
    builder->capacity = capacity;
    return STONET_OK;
}

stonet_status sn_builder_reserve(sn_builder *builder, int64_t rows, int64_t expected)
{
    if (rows <= builder->capacity) return STONET_OK;
    int64_t capacity = expected >= rows ? expected : rows + rows / 8;
    int64_t row_bytes = 4 * (builder->n_numeric + builder->n_text) + 8 * builder->n_targets;
    for (int64_t k = 0; k < builder->n_numeric; k++) row_bytes += builder->digits[k].value != NULL ? 8 : 0;
    int64_t step;
    if (__builtin_mul_overflow(capacity - builder->capacity, row_bytes, &step) || step > LARGE_STEP)
        SN_TRY(sn_memory_require((uint64_t)(capacity - builder->capacity) * (uint64_t)row_bytes,
                                 builder->path, "use fewer rows or columns"));
    return resize(builder, capacity);
}

stonet_status sn_builder_fail_cell(const sn_builder *builder, int64_t column, const char *format, ...)
{
    char sentence[400], place[64] = "", name[96] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (builder->line > 0) snprintf(place, sizeof place, " (line %lld)", (long long)builder->line);
    if (builder->has_header) snprintf(name, sizeof name, " ('%.80s')", builder->column[column].name);
    return sn_fail(STONET_ERROR_DATA, "%s: row %lld%s, column %lld%s: %s", builder->path,
                   (long long)(builder->before + builder->rows) + 1, place, (long long)column + 1, name,
                   sentence);
}

/* Takes in that there are values from low to high. False: they spread over so much of their size that floats
   lose less than a millionth of the spread, and will do. That does not depend on the order in which values
   come. */
static bool needs_digits(const sn_builder *builder, sn_digits *digits, double low, double high)
{
    digits->low = fmin(digits->low, low);
    digits->high = fmax(digits->high, high);
    digits->wide =
        digits->wide || digits->high - digits->low > fmax(fabs(digits->low), fabs(digits->high)) / 16.0;
    digits->enough = digits->wide && !builder->all_digits;
    if (digits->enough) SN_FREE(digits->value);
    return !digits->enough;
}

/* The place for a column in double, with the rows before `rows`, which floats have kept as they were. */
static stonet_status begin_digits(const sn_builder *builder, int64_t slot, int64_t rows, double **value)
{
    SN_TRY(SN_NEW_RAW(*value, builder->capacity));
    for (int64_t i = 0; i < rows; i++) (*value)[i] = (double)builder->x[i * builder->n_numeric + slot];
    return STONET_OK;
}

/* Takes a number of the row builder->rows into what is kept in double of its column. */
static stonet_status keep_digits(sn_builder *builder, int64_t slot, double value)
{
    sn_digits *digits = &builder->digits[slot];
    if (isnan(value)) { /* as a float it is missing too */
        if (digits->value != NULL) digits->value[builder->rows] = value;
        return STONET_OK;
    }
    if (!needs_digits(builder, digits, value, value)) return STONET_OK;
    if (digits->value == NULL) {
        if ((double)(float)value == value) return STONET_OK;
        SN_TRY(begin_digits(builder, slot, builder->rows, &digits->value));
    }
    digits->value[builder->rows] = value;
    return STONET_OK;
}

stonet_status sn_builder_put_number(sn_builder *builder, int64_t column, double value)
{
    if (builder->column[column].role == SN_UNUSED) return STONET_OK;
    if (isnan(value) || sn_na_number(&builder->wish->na, value))
        return sn_builder_put_missing(builder, column, "NaN", 3);
    if (builder->column[column].role == SN_WEIGHT) {
        if (!(value >= 0.0 && value <= (double)FLT_MAX))
            return sn_builder_fail_cell(builder, column, "a weight is a number from 0 on, and finite");
        builder->weight[builder->rows] = value;
        return STONET_OK;
    }
    if (sn_builder_is_text(builder, column)) { /* names of rows, groups or classes in a file of numbers */
        char text[SN_NUMBER_SIZE];
        return sn_builder_put_text(builder, column, text, sn_number_print(value, text));
    }
    bool in_target = builder->column[column].role == SN_TARGET_NUMBER;
    if (!(fabs(value) <= (in_target ? DBL_MAX : (double)FLT_MAX))) {
        const char *why = isinf(value) ? "the value is infinite or too large for a number"
                                       : "the value is too large for single precision (3.4e38)";
        return sn_builder_fail_cell(builder, column, "%s", why);
    }
    const int64_t slot = builder->column[column].slot;
    if (in_target) {
        builder->y[builder->rows * builder->n_targets + slot] = value;
        return STONET_OK;
    }
    builder->x[builder->rows * builder->n_numeric + slot] = (float)value;
    return builder->digits[slot].enough ? STONET_OK : keep_digits(builder, slot, value);
}

static stonet_status put_missing_target(sn_builder *builder, int64_t column, const char *word, size_t length)
{
    const char *advice =
        "rows without a response are left out by --drop-missing-target (in C drop_missing_target)";
    const bool is_text = builder->column[column].role == SN_TARGET_TEXT;
    const sn_read_wish *wish = builder->wish;
    const bool may = wish->missing_targets && !(is_text && wish->open_targets); /* no text is a bound */
    if (!may && length == 0)
        return sn_builder_fail_cell(builder, column, "the cell of the target is empty; %s", advice);
    if (!may)
        return sn_builder_fail_cell(builder, column, "the value of the target is missing ('%.*s'); %s",
                                    (int)length, word, advice);
    if (is_text)
        builder->label[builder->rows] = -1;
    else
        builder->y[builder->rows * builder->n_targets + builder->column[column].slot] = (double)NAN;
    return STONET_OK;
}

stonet_status sn_builder_put_missing(sn_builder *builder, int64_t column, const char *word, size_t length)
{
    const int64_t slot = builder->column[column].slot;
    switch (builder->column[column].role) {
    case SN_TARGET_NUMBER:
    case SN_TARGET_TEXT:
        return put_missing_target(builder, column, word, length);
    case SN_WEIGHT:
        return sn_builder_fail_cell(builder, column, "the weight is missing");
    case SN_FEATURE_TEXT:
        if (column == builder->group) return sn_builder_fail_cell(builder, column, "the group is missing");
        builder->code[slot][builder->rows] = -1;
        break;
    case SN_FEATURE_NUMBER:
        builder->x[builder->rows * builder->n_numeric + slot] = NAN;
        if (!builder->digits[slot].enough) SN_TRY(keep_digits(builder, slot, (double)NAN));
        break;
    case SN_UNUSED:
        return STONET_OK;
    }
    builder->missing++;
    return STONET_OK;
}

stonet_status sn_builder_put_spelling(sn_builder *builder, const char *text, size_t length)
{
    enum { MOST_SPELLED = 1024 }; /* more are a quantity */
    int32_t code;
    if (builder->many_spelled || builder->n_targets != 1) return STONET_OK;
    SN_TRY(sn_interner_add(&builder->spelled, text, length, &code));
    builder->many_spelled = builder->spelled.words.count > MOST_SPELLED;
    if (builder->many_spelled) sn_interner_free(&builder->spelled);
    return STONET_OK;
}

int32_t *sn_builder_code(const sn_builder *builder, int64_t column)
{
    if (builder->column[column].role == SN_TARGET_TEXT) return &builder->label[builder->rows];
    return &builder->code[builder->column[column].slot][builder->rows];
}

sn_interner *sn_builder_texts(const sn_builder *builder, int64_t column)
{
    if (builder->column[column].role == SN_TARGET_TEXT) return (sn_interner *)&builder->labels;
    return &builder->values[builder->column[column].slot];
}

stonet_status sn_builder_put_text(sn_builder *builder, int64_t column, const char *text, size_t length)
{
    return sn_interner_add(sn_builder_texts(builder, column), text, length, sn_builder_code(builder, column));
}

stonet_status sn_builder_put_order(sn_builder *builder, int64_t column, const char *const *words,
                                   int64_t count)
{
    if (!sn_builder_is_text(builder, column)) return STONET_OK;
    sn_interner *values = sn_builder_texts(builder, column);
    for (int64_t c = 0; c < count; c++) {
        int32_t code;
        SN_TRY(sn_interner_add(values, words[c], strlen(words[c]), &code));
        if (code != c)
            return sn_fail(STONET_ERROR_ARGUMENT, "column '%s': '%s' is twice among its values in order",
                           builder->column[column].name, words[c]);
    }
    values->words.ordered = values->words.told = true;
    return STONET_OK;
}

/* ---- parts ------------------------------------------------------------------------------------- */

stonet_status sn_builder_part(const sn_builder *whole, sn_builder *part)
{
    forget_rows(part);
    *part = *whole;
    part->rows = part->capacity = part->missing = 0;
    part->x = NULL;
    part->y = part->weight = NULL;
    part->code = NULL;
    part->label = NULL;
    part->labels = part->spelled = (sn_interner){0};
    part->many_spelled = false;
    part->values = NULL;
    part->digits = NULL;
    SN_TRY(SN_NEW(part->code, part->n_text));
    SN_TRY(SN_NEW(part->values, part->n_text));
    SN_TRY(create_digits(part));
    for (int64_t k = 0; k < part->n_numeric; k++) part->digits[k].enough = whole->digits[k].enough;
    return STONET_OK;
}

void sn_builder_part_free(sn_builder *part)
{
    forget_rows(part);
    *part = (sn_builder){0};
}

static stonet_status join_codes(sn_interner *words, const sn_dictionary *new_words, int32_t *code,
                                int64_t rows)
{
    SN_ARRAY(new_words->count, int32_t, new_code);
    for (int64_t c = 0; c < new_words->count; c++)
        SN_TRY(sn_interner_add(words, new_words->text[c], strlen(new_words->text[c]), &new_code[c]));
    for (int64_t i = 0; i < rows; i++) code[i] = code[i] < 0 ? -1 : new_code[code[i]];
    return STONET_OK;
}

static stonet_status join_spelled(sn_builder *whole, const sn_builder *part)
{
    const sn_dictionary *words = &part->spelled.words;
    for (int64_t c = 0; c < words->count; c++)
        SN_TRY(sn_builder_put_spelling(whole, words->text[c], strlen(words->text[c])));
    if (part->many_spelled) sn_interner_free(&whole->spelled);
    whole->many_spelled = whole->many_spelled || part->many_spelled;
    return STONET_OK;
}

stonet_status sn_builder_join_words(sn_builder *whole, sn_builder *part)
{
    whole->missing += part->missing;
    for (int64_t k = 0; k < whole->n_text; k++)
        SN_TRY(join_codes(&whole->values[k], &part->values[k].words, part->code[k], part->rows));
    SN_TRY(join_spelled(whole, part));
    if (!sn_builder_has_labels(whole)) return STONET_OK;
    return join_codes(&whole->labels, &part->labels.words, part->label, part->rows);
}

/* Rows of `width` numbers of `size` bytes to row `at`. */
static void copy_rows(void *to, int64_t at, const void *from, int64_t rows, int64_t width, size_t size)
{
    if (to != NULL && rows > 0)
        memcpy((char *)to + (size_t)(at * width) * size, from, (size_t)(rows * width) * size);
}

void sn_builder_join_rows(sn_builder *whole, int64_t at, const sn_builder *part)
{
    copy_rows(whole->x, at, part->x, part->rows, whole->n_numeric, sizeof *whole->x);
    copy_rows(whole->y, at, part->y, part->rows, whole->n_targets, sizeof *whole->y);
    copy_rows(whole->weight, at, part->weight, part->rows, 1, sizeof *whole->weight);
    copy_rows(whole->label, at, part->label, part->rows, 1, sizeof *whole->label);
    for (int64_t k = 0; k < whole->n_text; k++)
        copy_rows(whole->code[k], at, part->code[k], part->rows, 1, sizeof **whole->code);
}

stonet_status sn_builder_join_digits(sn_builder *whole, int64_t at, const sn_builder *part)
{
    for (int64_t k = 0; k < whole->n_numeric; k++) {
        sn_digits *to = &whole->digits[k];
        const sn_digits *from = &part->digits[k];
        if (to->enough) continue;
        to->wide = to->wide || from->wide;
        if (!needs_digits(whole, to, from->low, from->high)) continue;
        if (to->value == NULL && from->value == NULL) continue;
        if (to->value == NULL) SN_TRY(begin_digits(whole, k, at, &to->value));
        for (int64_t i = 0; i < part->rows; i++)
            to->value[at + i] =
                from->value != NULL ? from->value[i] : (double)part->x[i * part->n_numeric + k];
    }
    return STONET_OK;
}

/* ---- a drain ----------------------------------------------------------------------------------- */

static bool lacks_target(const sn_builder *builder, int64_t row)
{
    if (builder->label != NULL) return builder->label[row] < 0;
    for (int64_t k = 0; builder->y != NULL && k < builder->n_targets; k++)
        if (isnan(builder->y[row * builder->n_targets + k])) return true;
    return false;
}

static int64_t missing_cells(const sn_builder *builder, int64_t row)
{
    int64_t count = 0;
    for (int64_t k = 0; k < builder->n_numeric; k++) count += isnan(builder->x[row * builder->n_numeric + k]);
    for (int64_t k = 0; k < builder->n_text; k++) count += builder->code[k][row] < 0;
    return count;
}

/* Puts row `from` in the place of row `to`, one before it. */
static void move_row(sn_builder *builder, int64_t to, int64_t from)
{
    const int64_t m = builder->n_numeric, targets = builder->n_targets;
    memmove(builder->x + to * m, builder->x + from * m, (size_t)m * sizeof *builder->x);
    for (int64_t k = 0; k < m; k++)
        if (builder->digits[k].value != NULL) builder->digits[k].value[to] = builder->digits[k].value[from];
    for (int64_t k = 0; k < builder->n_text; k++) builder->code[k][to] = builder->code[k][from];
    if (builder->label != NULL) builder->label[to] = builder->label[from];
    for (int64_t k = 0; builder->y != NULL && k < targets; k++)
        builder->y[to * targets + k] = builder->y[from * targets + k];
    if (builder->weight != NULL) builder->weight[to] = builder->weight[from];
}

/* Rows without a target, which may be missing, do not go on. */
static void drop_rows(sn_builder *builder)
{
    if (!builder->wish->missing_targets) return;
    int64_t kept = 0;
    for (int64_t i = 0; i < builder->rows; i++) {
        if (lacks_target(builder, i)) {
            builder->missing -= missing_cells(builder, i);
            builder->dropped++;
            builder->before++;
            continue;
        }
        if (kept < i) move_row(builder, kept, i);
        kept++;
    }
    builder->rows = kept;
}

static stonet_status hand_over(sn_builder *builder)
{
    const int64_t step = builder->drain->rows;
    for (int64_t first = 0; first < builder->rows; first += step)
        SN_TRY(builder->drain->take(builder->drain, builder, first,
                                    builder->rows - first < step ? builder->rows - first : step));
    builder->before += builder->rows;
    builder->rows = 0;
    for (int64_t k = 0; k < builder->n_numeric; k++) SN_FREE(builder->digits[k].value);
    return STONET_OK;
}

stonet_status sn_builder_drain(sn_builder *builder)
{
    if (builder->rows < builder->drain->rows) return STONET_OK;
    drop_rows(builder);
    return builder->rows < builder->drain->rows ? STONET_OK : hand_over(builder);
}

/* What the caller said about columns must fit what they turned out to be. */
static stonet_status check_said(const sn_builder *builder)
{
    for (int64_t j = 0; j < builder->n_columns; j++) {
        const sn_builder_column *column = &builder->column[j];
        if (column->role == SN_UNUSED) continue;
        if (column->season && (column->role != SN_FEATURE_NUMBER || !column->is_date))
            return sn_fail(STONET_ERROR_DATA,
                           "%s: column '%s' has no dates such as 2024-05-01, so it has no season",
                           builder->path, column->name);
        if (column->order.count == 0 || !sn_builder_is_text(builder, j)) continue;
        const sn_dictionary *words = &sn_builder_texts(builder, j)->words;
        if (words->count > column->order.count)
            return sn_fail(STONET_ERROR_DATA,
                           "%s: column '%s' has the value '%s', which is not in the order given for it",
                           builder->path, column->name, words->text[column->order.count]);
    }
    return STONET_OK;
}

stonet_status sn_builder_finish(sn_builder *builder, stonet_data **out)
{
    if (builder->before + builder->rows == 0)
        return sn_fail(STONET_ERROR_DATA, "%s has no rows", builder->path);
    SN_TRY(check_said(builder));
    if (builder->drain != NULL) {
        drop_rows(builder);
        SN_TRY(hand_over(builder));
        SN_TRY(builder->drain->end(builder->drain, builder));
    } else if (builder->rows < builder->capacity) {
        SN_TRY(resize(builder, builder->rows));
    }
    return sn_builder_to_frame(builder, out);
}
