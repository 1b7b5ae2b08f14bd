#include "data/na.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

/* Adds one word of the list, without the blanks around it. A word that is a number is also kept as a number,
   so that -999 matches -999.0 too. The caller has made room. */
static stonet_status add(sn_na *na, const char *from, size_t length)
{
    while (length > 0 && *from == ' ') from++, length--;
    while (length > 0 && from[length - 1] == ' ') length--;
    if (length == 0)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "the words for missing cells are separated by single commas: one of them is empty");
    char *word = sn_malloc(length + 1, 1);
    if (word == NULL) return STONET_ERROR_MEMORY;
    memcpy(word, from, length);
    word[length] = '\0';
    double number;
    const char *stop = sn_number_read(word, &number);
    const bool is_number = stop != NULL && *stop == '\0';
    na->word[na->count] = word;
    na->number[na->count++] = is_number ? number : (double)NAN;
    na->numbers = na->numbers || is_number;
    return STONET_OK;
}

stonet_status sn_na_parse(const char *words, sn_na *out)
{
    *out = (sn_na){0};
    if (words == NULL) return STONET_OK;
    SN_FREED_BY(sn_na_free) sn_na made = {0};
    size_t most = 1;
    for (const char *at = words; *at != '\0'; at++) most += *at == ',';
    // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
    SN_TRY(SN_NEW(made.word, most));
    SN_TRY(SN_NEW(made.number, most));
    for (const char *at = words;; at++) {
        const size_t length = strcspn(at, ",");
        SN_TRY(add(&made, at, length));
        at += length;
        if (*at == '\0') break;
    }
    *out = made;
    made = (sn_na){0};
    return STONET_OK;
}

void sn_na_free(sn_na *na)
{
    for (int64_t k = 0; k < na->count; k++) sn_free(na->word[k]);
    sn_free(na->word);
    sn_free(na->number);
    *na = (sn_na){0};
}

bool sn_na_number(const sn_na *na, double value)
{
    for (int64_t k = 0; na != NULL && k < na->count; k++)
        if (na->number[k] == value) return true;
    return false;
}

bool sn_na_text(const sn_na *na, const char *text, size_t length)
{
    for (int64_t k = 0; na != NULL && k < na->count; k++)
        if (strlen(na->word[k]) == length && memcmp(na->word[k], text, length) == 0) return true;
    return false;
}
