#include "base/params.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "base/number.h"

typedef struct value {
    char *text;       /* as given */
    const char *word; /* points into text when a word was given, else "" */
    double *numbers;  /* one for a scalar, several for a list, none for a word */
    size_t count;
    bool was_set;
} value;

struct sn_settings {
    const sn_param *table;
    size_t count;
    value *values;
};

const char *sn_kind_name(sn_kind kind)
{
    static const char *const name[] = {
        [SN_INTEGER] = "integer",   [SN_REAL] = "real",   [SN_CHOICE] = "choice",
        [SN_INTEGERS] = "integers", [SN_REALS] = "reals", [SN_ANY_TEXT] = "text"};
    return name[kind];
}

static void value_clear(value *v)
{
    sn_free(v->text);
    sn_free(v->numbers);
    *v = (value){.word = ""};
}

/* Whether `word` is one of the '|'-separated `choices`. */
static bool among(const char *choices, const char *word)
{
    size_t length = strlen(word);
    if (strchr(word, '|') != NULL) return false;
    for (const char *at = choices; at != NULL && length > 0; at = strchr(at, '|')) {
        if (*at == '|') at++;
        if (strncmp(at, word, length) == 0 && (at[length] == '|' || at[length] == '\0')) return true;
    }
    return false;
}

/* The sentence for a value that is refused: what the setting takes. */
static stonet_status refuse(const sn_param *param, const char *text)
{
    char wanted[256];
    const char *or_words = param->choices != NULL ? ", or " : "";
    const char *words = param->choices != NULL ? param->choices : "";
    static const char *const numbers[] = {[SN_INTEGER] = "a whole number",
                                          [SN_REAL] = "a number",
                                          [SN_INTEGERS] = "whole numbers separated by commas, each",
                                          [SN_REALS] = "numbers separated by commas, each"};
    if (param->kind == SN_CHOICE)
        snprintf(wanted, sizeof wanted, "one of %s", words);
    else if (param->kind == SN_ANY_TEXT)
        snprintf(wanted, sizeof wanted, "a text%s%s", or_words, words);
    else
        sn_format(wanted, sizeof wanted, "%s from %g to %g%s%s", numbers[param->kind], param->low,
                  param->high, or_words, words);
    return sn_fail(STONET_ERROR_ARGUMENT, "setting '%s' cannot be '%s': it takes %s", param->name, text,
                   wanted);
}

/* One number up to the next comma or the end; false when there is none or it is out of range. */
static bool parse_number(const sn_param *param, const char **at, double *number)
{
    const char *from = *at + strspn(*at, " "), *end = sn_number_read(from, number);
    bool whole = param->kind == SN_INTEGER || param->kind == SN_INTEGERS;
    if (end == NULL || (*end != '\0' && *end != ',') || !isfinite(*number)) return false;
    if (whole && *number != floor(*number)) return false;
    if (*number < param->low || *number > param->high) return false;
    *at = *end == ',' ? end + 1 : end;
    return *end != ',' || **at != '\0'; /* no comma at the very end */
}

static stonet_status parse_numbers(const sn_param *param, value *v)
{
    size_t commas = 0;
    for (const char *c = v->text; *c != '\0'; c++) commas += *c == ',';
    const bool is_list = param->kind == SN_INTEGERS || param->kind == SN_REALS;
    if (commas > 0 && !is_list) return refuse(param, v->text);
    SN_TRY(SN_NEW(v->numbers, commas + 1));
    for (const char *at = v->text; v->count == 0 || *at != '\0';)
        if (!parse_number(param, &at, &v->numbers[v->count++])) return refuse(param, v->text);
    return STONET_OK;
}

static stonet_status parse(const sn_param *param, value *v)
{
    if (param->choices != NULL && among(param->choices, v->text)) {
        v->word = v->text;
        return STONET_OK;
    }
    if (param->kind == SN_ANY_TEXT && v->text[0] != '\0') return STONET_OK;
    if (param->kind == SN_CHOICE || param->kind == SN_ANY_TEXT) return refuse(param, v->text);
    return parse_numbers(param, v);
}

static stonet_status assign(sn_settings *settings, size_t index, const char *text, bool was_set)
{
    SN_FREED_BY(value_clear) value fresh = {.word = "", .was_set = was_set};
    SN_TRY(sn_text_copy(text, &fresh.text));
    SN_TRY(parse(&settings->table[index], &fresh));
    value_clear(&settings->values[index]);
    settings->values[index] = fresh;
    memset(&fresh, 0, sizeof fresh);
    return STONET_OK;
}

stonet_status sn_settings_create(const sn_param *table, size_t count, sn_settings **out)
{
    *out = NULL;
    SN_AUTO(sn_settings) *settings = NULL;
    SN_TRY(SN_NEW(settings, 1));
    settings->table = table;
    SN_TRY(SN_NEW(settings->values, count));
    settings->count = count;
    for (size_t i = 0; i < count; i++) settings->values[i].word = "";
    for (size_t i = 0; i < count; i++) SN_TRY(assign(settings, i, table[i].initial, false));
    return SN_GIVE(settings, out);
}

stonet_status sn_settings_copy(const sn_settings *from, sn_settings **out)
{
    SN_AUTO(sn_settings) *copy = NULL;
    SN_TRY(sn_settings_create(from->table, from->count, &copy));
    for (size_t i = 0; i < from->count; i++)
        SN_TRY(assign(copy, i, from->values[i].text, from->values[i].was_set));
    return SN_GIVE(copy, out);
}

void sn_settings_free(sn_settings *settings)
{
    if (settings == NULL) return;
    for (size_t i = 0; i < settings->count; i++) value_clear(&settings->values[i]);
    sn_free(settings->values);
    sn_free(settings);
}

static size_t find(const sn_settings *settings, const char *name)
{
    size_t i = 0;
    while (i < settings->count && strcmp(settings->table[i].name, name) != 0) i++;
    return i;
}

bool sn_settings_has(const sn_settings *settings, const char *name)
{
    return find(settings, name) < settings->count;
}

stonet_status sn_settings_set(sn_settings *settings, const char *name, const char *text)
{
    size_t index = find(settings, name);
    if (index < settings->count) return assign(settings, index, text, true);
    sn_nearest nearest;
    sn_nearest_start(&nearest, name);
    for (size_t i = 0; i < settings->count; i++) sn_nearest_offer(&nearest, settings->table[i].name);
    if (nearest.best != NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "there is no setting '%s': did you mean '%s'?", name,
                       nearest.best);
    return sn_fail(STONET_ERROR_ARGUMENT, "there is no setting '%s'", name);
}

/* Asking for a name that the table does not have is a programming error: nothing sensible can follow. */
static const value *must_find(const sn_settings *settings, const char *name)
{
    size_t index = find(settings, name);
    if (index == settings->count) abort();
    return &settings->values[index];
}

double sn_real(const sn_settings *settings, const char *name)
{
    const value *v = must_find(settings, name);
    if (v->count != 1) abort();
    return v->numbers[0];
}

int64_t sn_int(const sn_settings *settings, const char *name)
{
    return (int64_t)sn_real(settings, name);
}

const char *sn_word(const sn_settings *settings, const char *name)
{
    return must_find(settings, name)->word;
}

bool sn_is(const sn_settings *settings, const char *name, const char *word)
{
    return strcmp(sn_word(settings, name), word) == 0;
}

const double *sn_list(const sn_settings *settings, const char *name, size_t *count)
{
    const value *v = must_find(settings, name);
    *count = v->count;
    return v->numbers;
}

const char *sn_text(const sn_settings *settings, const char *name)
{
    return must_find(settings, name)->text;
}

bool sn_was_set(const sn_settings *settings, const char *name)
{
    return must_find(settings, name)->was_set;
}

size_t sn_settings_count(const sn_settings *settings)
{
    return settings->count;
}

const sn_param *sn_settings_param(const sn_settings *settings, size_t index)
{
    return &settings->table[index];
}
