#include "base/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *sn_words_name(const sn_words *words, int value)
{
    if (value < 0 || value >= words->count) abort();
    return words->list[value];
}

int sn_words_find(const sn_words *words, const char *word)
{
    for (int value = 0; value < words->count; value++)
        if (strcmp(words->list[value], word) == 0) return value;
    return -1;
}

int sn_words_choice(const sn_words *words, const sn_settings *settings, const char *name)
{
    return sn_words_find(words, sn_word(settings, name));
}

stonet_status sn_words_put(const sn_words *words, sn_store *store, const char *key, int value)
{
    return sn_store_put_text(store, key, sn_words_name(words, value));
}

/* "a, b or c"; what does not fit is left out. */
static void enumerate(const sn_words *words, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < words->count && used < room; i++) {
        const char *between = i == 0 ? "" : i + 1 == words->count ? " or " : ", ";
        used += (size_t)snprintf(text + used, room - used, "%s%s", between, words->list[i]);
    }
}

stonet_status sn_words_get(const sn_words *words, const sn_store *store, const char *key, int *value)
{
    const char *word;
    SN_TRY(sn_store_get_text(store, key, &word));
    *value = sn_words_find(words, word);
    if (*value >= 0) return STONET_OK;
    char known[256], name[256];
    enumerate(words, known, sizeof known);
    return sn_fail(STONET_ERROR_FORMAT,
                   "the model's entry '%s' is '%.40s', no %s that this stonet knows (it knows %s): the "
                   "file is damaged or from a newer stonet",
                   sn_store_name(store, key, name, sizeof name), word, words->what, known);
}
