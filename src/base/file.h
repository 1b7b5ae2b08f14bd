/* Files are written whole or not at all: a temporary file beside the target, fsync, rename. Where the file
   system can, the temporary file has no name, so that nothing is left when the process is killed. */
#pragma once

#include <stdio.h>

#include "base/memory.h"
#include "base/status.h"

typedef struct sn_writer sn_writer;

/* Opens a temporary file beside `path`; one ending in .gz compresses. */
stonet_status sn_writer_open(const char *path, sn_writer **out);
stonet_status sn_write(sn_writer *writer, const void *bytes, size_t size);
/* Flushes, syncs and renames onto the target. Frees the writer whatever happens, and forgets it. */
stonet_status sn_writer_commit(sn_writer **writer);
/* The same, but the file, whole and synced under its temporary name, must first pass a check: else the old
   one stays. What goes to a device or a pipe is gone, and not checked. */
typedef stonet_status (*sn_file_check)(const char *path, const void *expected);
stonet_status sn_writer_commit_checked(sn_writer **handle, sn_file_check check, const void *expected);
/* Removes the temporary file and frees the writer; NULL is fine. */
void sn_writer_abandon(sn_writer *writer);
SN_DROP(sn_writer, sn_writer_abandon)
/* Makes a rename in the folder that the path is in last. */
void sn_sync_folder_of(const char *path);
