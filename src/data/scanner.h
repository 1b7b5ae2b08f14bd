/*
 * Cells of delimited text, one after the other, through a fixed buffer. Understands quoted cells ("" inside
 * stands for ", line ends are allowed inside), LF, CRLF and CR line ends, and a byte order mark.
 */
#ifndef SN_DATA_SCANNER_H
#define SN_DATA_SCANNER_H

#include "data/source.h"

typedef enum sn_after { SN_AFTER_CELL, SN_AFTER_LINE, SN_AFTER_FILE } sn_after;

typedef struct sn_cell {
    bool is_number;
    double number;
    const char *text; /* without blanks around it and without the quotes; valid until the next cell */
    size_t length;
    sn_after after; /* what ended the cell: a delimiter, the line or the file */
} sn_cell;

typedef struct sn_scanner {
    sn_source *source;
    char delimiter; /* ' ': runs of blanks and tabs */
    int64_t line;   /* of the next cell, from 1 */
    char *buffer, *at, *end;
    bool ended; /* the source has no more bytes than those in the buffer */
} sn_scanner;

stonet_status sn_scanner_create(sn_source *source, sn_scanner **out);
void sn_scanner_free(sn_scanner *scanner);
/* Back to the first byte after a byte order mark. */
stonet_status sn_scanner_rewind(sn_scanner *scanner);
/* Goes past lines of blanks; *more tells whether another line follows. */
stonet_status sn_scanner_next_line(sn_scanner *scanner, bool *more);
stonet_status sn_scanner_cell(sn_scanner *scanner, sn_cell *cell);

#endif
