/*
 * The bytes of files as memory: read-only, and fetched by the system when they are first touched. The files
 * must stay as they are meanwhile. One that shrinks takes its pages away, and touching those ends the process
 * (SIGBUS); a library must not catch signals, so whoever is about to read much asks sn_mapping_check first.
 */
#pragma once

#include <stdbool.h>

#include "base/memory.h"
#include "base/status.h"

typedef struct sn_mapping sn_mapping;

/* Maps the first `size` bytes of an open file, which may be closed afterwards. *out is NULL when the system
   cannot map this one: then it has to be read. */
stonet_status sn_mapping_open(int descriptor, int64_t size, sn_mapping **out);
/* Room for `size` bytes of several files, one after the other; *out is NULL when there is none. */
stonet_status sn_mapping_reserve(int64_t size, int64_t files, sn_mapping **out);
/* Puts `size` bytes of an open file from `offset` on at a place of that room. It may be closed afterwards,
   and is kept in sight by its name or (NULL) a descriptor of our own. false: the system cannot map it there,
   as when a page of memory would not be a page of the file. */
bool sn_mapping_put(sn_mapping *mapping, int64_t place, int descriptor, const char *path, int64_t offset,
                    int64_t size);
void sn_mapping_close(sn_mapping *mapping);
SN_DROP(sn_mapping, sn_mapping_close)
const unsigned char *sn_mapping_bytes(const sn_mapping *mapping);
/* An error when a file was written to or cut since it was mapped. path: for the sentence. Of many files some
   are looked at, others the next time. */
stonet_status sn_mapping_check(const sn_mapping *mapping, const char *path);
/* Lets go of the pages of a stretch that is not needed for now: they come back when they are touched. */
void sn_mapping_rest(const sn_mapping *mapping, const void *from, size_t size);
/* Has the system read a stretch from disk, without waiting for it. */
void sn_mapping_ahead(const sn_mapping *mapping, const void *from, size_t size);
