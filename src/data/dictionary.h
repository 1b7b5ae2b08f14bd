/* Distinct strings and their codes. */
#pragma once

#include "base/json.h"
#include "data/frame.h"

/* A dictionary with an index (open addressing) for finding words. All zero is an empty one. */
typedef struct sn_interner {
    sn_dictionary words;
    int64_t capacity; /* of words.text */
    int32_t *index;   /* code + 1, or 0 where free */
    uint64_t slots;   /* a power of two */
    uint64_t key[2];  /* of the hash */
} sn_interner;

/* The code of the word, entered if it is new. */
stonet_status sn_interner_add(sn_interner *interner, const char *text, size_t length, int32_t *code);
/* The code, or -1. */
int32_t sn_interner_find(const sn_interner *interner, const char *text, size_t length);
/* Fills an empty interner with the words of a dictionary in its order; to be freed also after a failure. */
stonet_status sn_interner_of(const sn_dictionary *dictionary, sn_interner *out);
/* The first of "STEM", "STEM.2", "STEM.3", .. that is not there yet, entered; *out is to be freed. */
stonet_status sn_interner_add_apart(sn_interner *interner, const char *stem, char **out);
void sn_interner_free(sn_interner *interner);

/* Sorts the words bytewise; new_code[old] is where each went (room for count). */
stonet_status sn_dictionary_sort(sn_dictionary *dictionary, int32_t *new_code);
/* To be freed also after a failure. */
stonet_status sn_dictionary_copy(const sn_dictionary *from, sn_dictionary *out);
/* A copy of the word behind the others, for which there is room. */
stonet_status sn_dictionary_add(sn_dictionary *dictionary, const char *word);
/* The words as a list; NULL when memory runs out. */
json_t *sn_dictionary_json(const sn_dictionary *dictionary);
/* Two words that are different whole numbers and the same double (beyond 2^53); NULL where all differ. */
const char *sn_dictionary_lost_digits(const sn_dictionary *words, const char **other);
