/* What a delimited text looks like, judged from its first lines. */
#pragma once

#include "data/na.h"
#include "data/scanner.h"

typedef enum sn_content { SN_NUMBER, SN_TEXT, SN_MISSING, SN_INFINITE } sn_content;

/* What a cell holds. Empty, NA, N/A, NaN, null, ? and . are missing, and the words of na (may be NULL). */
sn_content sn_cell_content(const sn_cell *cell, const sn_na *na);

typedef struct sn_sniffed {
    int64_t n_columns;
    char **first; /* the cells of the first line */
    bool has_header;
    bool *is_text; /* columns where a data cell was text */
    bool *is_date; /* columns of text where all cells were dates */
} sn_sniffed;

/* Sets the scanner's delimiter; judges the header unless it is told. Leaves the scanner somewhere in the
 * file. */
stonet_status sn_sniff(sn_scanner *scanner, stonet_header header, const sn_na *na, sn_sniffed *out);
void sn_sniffed_free(sn_sniffed *sniffed);

/* A copy in UTF-8, ended by NUL; bytes that are no UTF-8 are read as Latin-1. */
char *sn_cell_copy(const sn_cell *cell);
