#include "base/nearest.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <stonet/stonet.h>

enum { LONGEST = 63 };

/* Insertions, deletions, substitutions and swaps of neighbours that make b of a; SIZE_MAX for words too long
   to be names, and where the lengths alone say that it is not below `limit`. */
static size_t edit_distance(const char *a, const char *b, size_t limit)
{
    size_t m = strlen(a), n = strlen(b);
    if (m > LONGEST || n > LONGEST || m >= n + limit || n >= m + limit) return SIZE_MAX;
    /* Of the table of distances between beginnings: two before, one before, now. */
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= n; j++) rows[0][j] = rows[1][j] = rows[2][j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t cost = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < cost) cost = before[j] + 1;
            if (now[j - 1] + 1 < cost) cost = now[j - 1] + 1;
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && earlier[j - 2] + 1 < cost) cost = earlier[j - 2] + 1;
            now[j] = cost;
        }
    }
    return rows[m % 3][n];
}

void sn_nearest_start(sn_nearest *nearest, const char *wanted)
{
    /* Up to a third of the letters may be wrong, and at least one. */
    size_t allowed = strlen(wanted) / 3;
    *nearest = (sn_nearest){.wanted = wanted, .distance = (allowed > 1 ? allowed : 1) + 1};
}

void sn_nearest_offer(sn_nearest *nearest, const char *word)
{
    size_t distance = edit_distance(nearest->wanted, word, nearest->distance);
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
