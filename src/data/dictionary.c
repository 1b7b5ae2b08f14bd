#include "data/dictionary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/memory.h"
#include "base/number.h"

/* ---- SipHash-1-3: words that all fall into one slot cannot be made without the key ---- */

static uint64_t turn(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

static void mix(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = turn(v[1], 13) ^ v[0];
    v[3] = turn(v[3], 16) ^ v[2];
    v[0] = turn(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = turn(v[1], 17) ^ v[2];
    v[3] = turn(v[3], 21) ^ v[0];
    v[2] = turn(v[2], 32);
}

static void absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix(v);
    v[0] ^= word;
}

static uint64_t hash(const uint64_t key[2], const char *text, size_t length)
{
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du, key[0] ^ 0x6c7967656e657261u,
                     key[1] ^ 0x7465646279746573u};
    uint64_t word = 0;
    size_t whole = length - length % sizeof word;
    for (size_t i = 0; i < whole; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        absorb(v, word);
    }
    word = 0;
    memcpy(&word, text + whole, length - whole);
    absorb(v, word | (uint64_t)length << 56);
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++) mix(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* A key that nobody can guess. Nothing that comes out depends on it: the index says where a word is, and not
   in which order the words are. */
static void draw_key(uint64_t key[2])
{
    if (getrandom(key, 2 * sizeof *key, GRND_NONBLOCK) == 2 * (ssize_t)sizeof *key) return;
    struct timespec now; /* before the system has gathered its randomness */
    clock_gettime(CLOCK_REALTIME, &now);
    key[0] = (uint64_t)now.tv_nsec * 0x9E3779B97F4A7C15u ^ (uint64_t)now.tv_sec;
    key[1] = (uint64_t)(uintptr_t)key;
}

/* The slot where the word is, or the free slot where it would go. */
static uint64_t slot_of(const sn_interner *interner, const char *text, size_t length)
{
    uint64_t at = hash(interner->key, text, length) & (interner->slots - 1);
    for (; interner->index[at] != 0; at = (at + 1) & (interner->slots - 1)) {
        const char *word = interner->words.text[interner->index[at] - 1];
        if (strncmp(word, text, length) == 0 && word[length] == '\0') break;
    }
    return at;
}

static stonet_status grow_index(sn_interner *interner)
{
    if (interner->slots == 0) draw_key(interner->key);
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
        const int64_t capacity = interner->capacity == 0 ? 16 : 2 * interner->capacity;
        SN_TRY(SN_GROW(words->text, capacity));
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
    for (int64_t i = 0; i < dictionary->count; i++) {
        int32_t code;
        SN_TRY(sn_interner_add(out, dictionary->text[i], strlen(dictionary->text[i]), &code));
    }
    return STONET_OK;
}

stonet_status sn_interner_add_apart(sn_interner *interner, const char *stem, char **out)
{
    const size_t size = strlen(stem) + 24;
    SN_TRY(SN_NEW(*out, size));
    snprintf(*out, size, "%s", stem);
    for (long long copy = 2; sn_interner_find(interner, *out, strlen(*out)) >= 0; copy++)
        snprintf(*out, size, "%s.%lld", stem, copy);
    int32_t code;
    return sn_interner_add(interner, *out, strlen(*out), &code);
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
    SN_FREE(dictionary->text);
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
    SN_ZEROS(dictionary->count, sort_item, items);
    for (int64_t i = 0; i < dictionary->count; i++) items[i] = (sort_item){dictionary->text[i], (int32_t)i};
    qsort(items, (size_t)dictionary->count, sizeof *items, by_word);
    for (int64_t i = 0; i < dictionary->count; i++) {
        dictionary->text[i] = items[i].word;
        new_code[items[i].code] = (int32_t)i;
    }
    return STONET_OK;
}

stonet_status sn_dictionary_copy(const sn_dictionary *from, sn_dictionary *out)
{
    *out = (sn_dictionary){.ordered = from->ordered, .told = from->told};
    SN_TRY(SN_NEW(out->text, from->count));
    for (int64_t i = 0; i < from->count; i++) SN_TRY(sn_dictionary_add(out, from->text[i]));
    return STONET_OK;
}

stonet_status sn_dictionary_add(sn_dictionary *dictionary, const char *word)
{
    SN_TRY(sn_text_copy(word, &dictionary->text[dictionary->count]));
    dictionary->count++;
    return STONET_OK;
}

json_t *sn_dictionary_json(const sn_dictionary *dictionary)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < dictionary->count; i++)
        list = sn_json_add(list, json_string(dictionary->text[i]));
    return list;
}

/* The digits of a whole number beyond 2^53 without sign and zeros before them; NULL: something else. */
static const char *long_digits(const char *word, double *value)
{
    const double whole = 9007199254740992.0; /* 2^53: up to here all whole numbers are doubles */
    const char *at = word + (*word == '-' || *word == '+');
    if (at[strspn(at, "0123456789")] != '\0' || sn_number_read(word, value) == NULL || fabs(*value) < whole)
        return NULL;
    return at + strspn(at, "0");
}

const char *sn_dictionary_lost_digits(const sn_dictionary *words, const char **other)
{
    for (int64_t a = 0; a < words->count; a++) {
        double one, two;
        const char *digits = long_digits(words->text[a], &one);
        for (int64_t b = 0; digits != NULL && b < a; b++) {
            const char *others = long_digits(words->text[b], &two);
            if (others == NULL || one != two || strcmp(digits, others) == 0) continue;
            *other = words->text[b];
            return words->text[a];
        }
    }
    return NULL;
}
