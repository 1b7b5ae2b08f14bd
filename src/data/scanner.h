/*
 * Cells of delimited text, one after the other, through a fixed buffer. Understands quoted cells ("" inside
 * stands for ", line ends are allowed inside), LF, CRLF and CR line ends, and a byte order mark.
 */
#pragma once

#include "base/buffer.h"
#include "base/memory.h"
#include "data/source.h"

typedef enum sn_after { SN_AFTER_CELL, SN_AFTER_LINE, SN_AFTER_FILE } sn_after;

typedef struct sn_cell {
    bool is_number;
    double number;
    const char *text; /* without blanks around it and without the quotes; valid until the next cell */
    size_t length;
    sn_after after; /* what ended the cell: a delimiter, the line or the file */
} sn_cell;

/* Bytes in the buffer of a scanner for a whole file: no cell can be longer. */
enum { SN_SCANNER_BUFFER = SN_BUFFER(1 << 20) };

typedef struct sn_scanner {
    sn_source *source;
    bool is_aside; /* reads a part of an unpacked text, perhaps on a thread of its own: fetches for itself and
                      leaves the place of the source alone */
    char delimiter; /* ' ': runs of blanks and tabs */
    int64_t line;   /* of the next cell, from 1 */
    size_t size;
    char *buffer, *at, *end;
    int64_t before; /* bytes of the text before those in the buffer */
    bool ended;     /* the source has no more bytes than those in the buffer */
} sn_scanner;

/* With a buffer of `size` bytes. It has to be rewound or sent to its place first. */
stonet_status sn_scanner_create(sn_source *source, size_t size, sn_scanner **out);
void sn_scanner_free(sn_scanner *scanner);
SN_DROP(sn_scanner, sn_scanner_free)
/* Back to the first byte after a byte order mark. */
stonet_status sn_scanner_rewind(sn_scanner *scanner);
/* How many bytes of the text stand before the next cell. */
int64_t sn_scanner_position(const sn_scanner *scanner);
/* Goes to a place in an unpacked text; `line` is the line it is in. */
stonet_status sn_scanner_seek(sn_scanner *scanner, int64_t position, int64_t line);
/* Goes past lines of blanks; *more tells whether another line follows. */
stonet_status sn_scanner_next_line(sn_scanner *scanner, bool *more);
stonet_status sn_scanner_cell(sn_scanner *scanner, sn_cell *cell);
/* Goes past the next line: how many cells it has, and whether the last one is empty (a comma at the end of
   the line, as a rule). */
stonet_status sn_scanner_pass_line(sn_scanner *scanner, int64_t *cells, bool *ends_empty);
