/*
 * Parameter tables: each method and learner writes its settings down once, as an array of sn_param. The
 * command line, the help, the config file, the checks and the bindings all come from this array.
 */
#pragma once

#include <stdbool.h>

#include "base/memory.h"
#include "base/status.h"

typedef enum sn_kind {
    SN_INTEGER,
    SN_REAL,
    SN_CHOICE,   /* one of `choices`, separated by '|' */
    SN_INTEGERS, /* comma-separated list */
    SN_REALS,
    SN_ANY_TEXT
} sn_kind;

typedef struct sn_param {
    const char *name;
    sn_kind kind;
    const char *initial; /* default, as text in the form a user would give it */
    double low, high;    /* inclusive range of a number or of each list element */
    /* SN_CHOICE: the choices, "a|b|c". Other kinds: words allowed instead of a number, "auto" or
       "auto|none"; NULL when there are none. */
    const char *choices;
    const char *help; /* one line */
} sn_param;

/* The entries of a method or learner for its table of parameters. */
#define SN_PARAMS_OF(table) .params = (table), .n_params = sizeof(table) / sizeof *(table)

typedef struct sn_settings sn_settings;

/* Settings at their defaults. `table` must outlive them (tables are static). */
stonet_status sn_settings_create(const sn_param *table, size_t count, sn_settings **out);
stonet_status sn_settings_copy(const sn_settings *from, sn_settings **out);
void sn_settings_free(sn_settings *settings);
SN_DROP(sn_settings, sn_settings_free)
/* Parses and checks; the error names the setting, what it got and what it takes, or the nearest known name.
 */
stonet_status sn_settings_set(sn_settings *settings, const char *name, const char *text);

/* Reading. The name must be in the table, with the function's kind: anything else is a bug and aborts. */
int64_t sn_int(const sn_settings *settings, const char *name);
double sn_real(const sn_settings *settings, const char *name);
/* The chosen word (SN_CHOICE), or the word given instead of a number or a text ("auto"), else "". */
const char *sn_word(const sn_settings *settings, const char *name);
bool sn_is(const sn_settings *settings, const char *name, const char *word);
/* List elements; count 0 when a word was given. */
const double *sn_list(const sn_settings *settings, const char *name, size_t *count);
/* The value as text that sn_settings_set takes back, and whether a user set it. */
const char *sn_text(const sn_settings *settings, const char *name);
bool sn_was_set(const sn_settings *settings, const char *name);

size_t sn_settings_count(const sn_settings *settings);
const sn_param *sn_settings_param(const sn_settings *settings, size_t index);
/* Whether the table has this name. */
bool sn_settings_has(const sn_settings *settings, const char *name);
const char *sn_kind_name(sn_kind kind);
