/* Files written whole or not at all: a temporary name beside the target, fsync, rename. */
#ifndef SN_BASE_FILE_H
#define SN_BASE_FILE_H

#include <stdio.h>

#include "base/status.h"

typedef struct sn_writer sn_writer;

/* Opens PATH.tmpXXXXXX; `path` ending in .gz compresses. */
stonet_status sn_writer_open(const char *path, sn_writer **out);
stonet_status sn_write(sn_writer *writer, const void *bytes, size_t size);
stonet_status sn_write_text(sn_writer *writer, const char *format, ...) SN_PRINTF(2, 3);
/* Flushes, syncs and renames onto the target. Frees the writer whatever happens. */
stonet_status sn_writer_commit(sn_writer *writer);
/* Removes the temporary file and frees the writer; NULL is fine. */
void sn_writer_abandon(sn_writer *writer);

#endif
