/* Finished cells on disk: one line of JSON each, appended when a cell is done. */
#ifndef PAPER_CELLS_H
#define PAPER_CELLS_H

#include "paper/lab.h"

enum { CELL_KEY_SIZE = SETTINGS_SIZE + 256 };

/* All that identifies a cell, as one text. */
void cells_key(const cell *what, uint64_t seed, char key[CELL_KEY_SIZE]);
/* The record of a cell; steals `values`. NULL when memory ran out. */
json_t *cells_record(const cell *what, uint64_t seed, json_t *values, double seconds);
/* Key -> record of every whole line; a line that was cut off, and lines that are no records, are passed over.
   A file that is not there is an empty one. NULL when memory ran out. */
json_t *cells_read(const char *path);
/* Adds a line and sees it to the disk. */
bool cells_append(const char *path, const json_t *record);

#endif
