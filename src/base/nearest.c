#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

#include <stonet/stonet.h>

enum { LONGEST = 63 };

/* Levenshtein distance: insertions, deletions and substitutions; SIZE_MAX for words too long to be names. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t m = strlen(a), n = strlen(b);
    if (m > LONGEST || n > LONGEST) return SIZE_MAX;
    size_t row[LONGEST + 1];
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t cost = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < cost) cost = row[j] + 1;
            if (row[j - 1] + 1 < cost) cost = row[j - 1] + 1;
            row[j] = cost;
        }
    }
    return row[n];
}

void sn_nearest_start(sn_nearest *nearest, const char *wanted)
{
    /* Up to a third of the letters may be wrong, and at least one. */
    size_t allowed = strlen(wanted) / 3;
    *nearest = (sn_nearest){.wanted = wanted, .distance = (allowed > 1 ? allowed : 1) + 1};
}

void sn_nearest_offer(sn_nearest *nearest, const char *word)
{
    size_t distance = edit_distance(nearest->wanted, word);
    if (distance < nearest->distance) {
        nearest->distance = distance;
        nearest->best = word;
    }
}

const char *stonet_nearest(const char *word, const char *const *words, int64_t count)
{
    if (word == NULL || words == NULL) return NULL;
    sn_nearest nearest;
    sn_nearest_start(&nearest, word);
    for (int64_t i = 0; i < count; i++)
        if (words[i] != NULL) sn_nearest_offer(&nearest, words[i]);
    return nearest.best;
}
