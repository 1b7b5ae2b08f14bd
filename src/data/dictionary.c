#include "data/dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* FNV-1a. */
static uint64_t hash(const char *text, size_t length)
{
    uint64_t value = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++) value = (value ^ (unsigned char)text[i]) * 0x100000001b3u;
    return value ^ value >> 32;
}

/* The slot where the word is, or the free slot where it would go. */
static uint64_t slot_of(const sn_interner *interner, const char *text, size_t length)
{
    uint64_t at = hash(text, length) & (interner->slots - 1);
    for (; interner->index[at] != 0; at = (at + 1) & (interner->slots - 1)) {
        const char *word = interner->words.text[interner->index[at] - 1];
        if (strncmp(word, text, length) == 0 && word[length] == '\0') break;
    }
    return at;
}

static stonet_status grow_index(sn_interner *interner)
{
    uint64_t slots = interner->slots == 0 ? 64 : 2 * interner->slots;
    int32_t *index = sn_calloc(slots, sizeof *index);
    if (index == NULL) return STONET_ERROR_MEMORY;
    sn_free(interner->index);
    interner->index = index;
    interner->slots = slots;
    for (int64_t code = 0; code < interner->words.count; code++) {
        const char *word = interner->words.text[code];
        index[slot_of(interner, word, strlen(word))] = (int32_t)code + 1;
    }
    return STONET_OK;
}

static stonet_status append(sn_interner *interner, const char *text, size_t length)
{
    sn_dictionary *words = &interner->words;
    if (words->count >= INT32_MAX - 1) return sn_fail(STONET_ERROR_DATA, "more than 2^31 distinct texts");
    if (words->count == interner->capacity) {
        int64_t capacity = interner->capacity == 0 ? 16 : 2 * interner->capacity;
        char **grown = sn_realloc(words->text, (size_t)capacity, sizeof *grown);
        if (grown == NULL) return STONET_ERROR_MEMORY;
        words->text = grown;
        interner->capacity = capacity;
    }
    char *word = sn_realloc(NULL, length + 1, 1);
    if (word == NULL) return STONET_ERROR_MEMORY;
    memcpy(word, text, length);
    word[length] = '\0';
    words->text[words->count++] = word;
    return STONET_OK;
}

stonet_status sn_interner_add(sn_interner *interner, const char *text, size_t length, int32_t *code)
{
    if (2 * (uint64_t)interner->words.count >= interner->slots) SN_TRY(grow_index(interner));
    uint64_t at = slot_of(interner, text, length);
    if (interner->index[at] == 0) {
        SN_TRY(append(interner, text, length));
        interner->index[at] = (int32_t)interner->words.count;
    }
    *code = interner->index[at] - 1;
    return STONET_OK;
}

int32_t sn_interner_find(const sn_interner *interner, const char *text, size_t length)
{
    return interner->slots == 0 ? -1 : interner->index[slot_of(interner, text, length)] - 1;
}

stonet_status sn_interner_of(const sn_dictionary *dictionary, sn_interner *out)
{
    memset(out, 0, sizeof *out);
    for (int64_t i = 0; i < dictionary->count; i++) {
        int32_t code;
        stonet_status status = sn_interner_add(out, dictionary->text[i], strlen(dictionary->text[i]), &code);
        if (status != STONET_OK) {
            sn_interner_free(out);
            return status;
        }
    }
    return STONET_OK;
}

void sn_interner_free(sn_interner *interner)
{
    sn_dictionary_free(&interner->words);
    sn_free(interner->index);
    memset(interner, 0, sizeof *interner);
}

void sn_dictionary_free(sn_dictionary *dictionary)
{
    for (int64_t i = 0; i < dictionary->count; i++) sn_free(dictionary->text[i]);
    sn_free(dictionary->text);
    dictionary->text = NULL;
    dictionary->count = 0;
}

typedef struct sort_item {
    char *word;
    int32_t code;
} sort_item;

static int by_word(const void *a, const void *b)
{
    return strcmp(((const sort_item *)a)->word, ((const sort_item *)b)->word);
}

stonet_status sn_dictionary_sort(sn_dictionary *dictionary, int32_t *new_code)
{
    sort_item *items;
    SN_TRY(SN_NEW(items, dictionary->count));
    for (int64_t i = 0; i < dictionary->count; i++) items[i] = (sort_item){dictionary->text[i], (int32_t)i};
    qsort(items, (size_t)dictionary->count, sizeof *items, by_word);
    for (int64_t i = 0; i < dictionary->count; i++) {
        dictionary->text[i] = items[i].word;
        new_code[items[i].code] = (int32_t)i;
    }
    sn_free(items);
    return STONET_OK;
}

stonet_status sn_dictionary_copy(const sn_dictionary *from, sn_dictionary *out)
{
    memset(out, 0, sizeof *out);
    SN_TRY(SN_NEW(out->text, from->count));
    for (int64_t i = 0; i < from->count; i++) {
        out->text[i] = sn_strdup(from->text[i]);
        if (out->text[i] == NULL) {
            sn_dictionary_free(out);
            return STONET_ERROR_MEMORY;
        }
        out->count++;
    }
    return STONET_OK;
}
