/* "Did you mean": the known word nearest to a mistyped one. */
#pragma once

#include <stddef.h>

typedef struct sn_nearest {
    const char *wanted;
    const char *best; /* NULL while nothing is near enough */
    size_t distance;
} sn_nearest;

void sn_nearest_start(sn_nearest *nearest, const char *wanted);
void sn_nearest_offer(sn_nearest *nearest, const char *word);
