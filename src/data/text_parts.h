/*
 * Rows of delimited text read by several threads. The file is cut into parts. Each part is read from its
 * first line end on as if a row began there. It counts only if the part before ended just there, which is not
 * so after a line end inside quotation marks. A part that does not count, or fails, is read again in order.
 * So rows, codes and messages are those of a single thread.
 */
#pragma once

#include "data/text_rows.h"

enum { SN_TEXT_PART_SIZE = 1 << 18 };

/* Reads all rows from where the scanner of `whole` is, in parts of `size` bytes; the source must not be
   packed. */
stonet_status sn_text_parts_read(sn_text_rows *whole, int threads, int64_t size);
