/* Words that stand for a missing cell besides the usual ones (data/sniff.h): "unknown", "-999". */
#pragma once

#include <stdbool.h>

#include "base/status.h"

typedef struct sn_na {
    int64_t count;
    char **word;
    double *number; /* what a word is as a number; NaN: none */
    bool numbers;   /* there is one that is */
} sn_na;

/* From a list separated by commas; NULL: none. On failure nothing is left to free. */
stonet_status sn_na_parse(const char *words, sn_na *out);
void sn_na_free(sn_na *na);
/* NULL has none; -999 is also -999.0. */
bool sn_na_number(const sn_na *na, double value);
bool sn_na_text(const sn_na *na, const char *text, size_t length);
