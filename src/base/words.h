/*
 * One table of words an enum: what settings, model files and reports call its values.
 *
 * The words are written once, as a macro beside the enum and in its order:
 *
 *     typedef enum sn_task { SN_REGRESSION, SN_CLASSIFICATION } sn_task;
 *     #define SN_TASK_WORDS(between) "regression" between "classification"
 *     extern const sn_words sn_task_words;
 *
 * and in one source file SN_DEFINE_WORDS(sn_task_words, "task", SN_CLASSIFICATION, SN_TASK_WORDS). The
 * choices of a setting (base/params.h) are the same words as one literal, SN_TASK_WORDS(SN_JOINED).
 */
#pragma once

#include "base/params.h"
#include "base/store.h"

typedef struct sn_words {
    const char *what;        /* what one of the words names, e.g. "task" */
    const char *const *list; /* list[value] */
    int count;
} sn_words;

/* What stands between the words of a list macro: as an array, or joined into one literal. */
#define SN_LISTED ,
#define SN_JOINED "|"
/* Defines the table; does not compile unless there are as many words as values up to `last`. */
#define SN_DEFINE_WORDS(table, what, last, list)                                                             \
    static const char *const table##_list[] = {list(SN_LISTED)};                                             \
    _Static_assert(sizeof table##_list / sizeof *table##_list == (last) + 1, "a word for every value");      \
    const sn_words table = {what, table##_list, (last) + 1}

/* The word of a value; a value outside the enum is a bug and aborts. */
const char *sn_words_name(const sn_words *words, int value);
/* The value of a word, or -1 when the table does not have it. */
int sn_words_find(const sn_words *words, const char *word);
/* The same of the word chosen for a setting: -1 for a choice that is not of the table, e.g. "auto". */
int sn_words_choice(const sn_words *words, const sn_settings *settings, const char *name);

/* A value as the text entry `key` of a model. Reading fails with STONET_ERROR_FORMAT and a sentence when the
   entry is missing or its word is not in the table: a word nobody knows never becomes a default. */
stonet_status sn_words_put(const sn_words *words, sn_store *store, const char *key, int value);
stonet_status sn_words_get(const sn_words *words, const sn_store *store, const char *key, int *value);
