/* Rows of delimited text, one after the other, into a builder. */
#pragma once

#include "data/builder.h"
#include "data/scanner.h"

/* A text column and the first cell that made it one, to tell a column of codes from one of numbers with a
   slip in it. */
typedef struct sn_text_column {
    int64_t numbers;   /* cells that are numbers */
    bool fractions;    /* some of them are not whole */
    int64_t line, row; /* the first cell that is not a number; line 0: none yet */
    char sample[48];
} sn_text_column;

typedef struct sn_text_rows {
    sn_scanner *scanner;
    sn_builder *builder;
    sn_text_column *text; /* n_text + 1: the features in the order of their slots, and the target */
    /* Set for a column of numbers that turned out to be text, which makes another pass necessary; NULL: that
       is a failure. */
    bool *is_text;
    bool again;
} sn_text_rows;

/* What is known of a text column of the file. */
sn_text_column *sn_text_rows_column(const sn_text_rows *rows, int64_t column);
/* Reads all rows that begin before a position in the text, and goes to where the next one begins. */
stonet_status sn_text_rows_read(sn_text_rows *rows, int64_t limit);
/* How many rows there will be when `rows` are a share of them, 0..1. */
int64_t sn_text_rows_expected(int64_t rows, double share);

enum { SN_TEXT_PART_SIZE = 1 << 18 };
/* Reads all rows from where the scanner of `whole` is by several threads, in parts of `size` bytes; the
   source must not be packed. */
stonet_status sn_text_parts_read(sn_text_rows *whole, int threads, int64_t size);
