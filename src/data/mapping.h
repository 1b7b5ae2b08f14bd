/*
 * The bytes of a file as memory: read-only, and fetched by the system when they are first touched. The file
 * must stay as it is meanwhile. One that shrinks takes its pages away, and touching those ends the process
 * (SIGBUS); a library must not catch signals, so whoever is about to read much asks sn_mapping_check first.
 */
#ifndef SN_DATA_MAPPING_H
#define SN_DATA_MAPPING_H

#include "base/status.h"

typedef struct sn_mapping sn_mapping;

/* Maps the first `size` bytes of an open file, which may be closed afterwards. *out is NULL when the system
   cannot map this one: then it has to be read. */
stonet_status sn_mapping_open(int descriptor, int64_t size, sn_mapping **out);
void sn_mapping_close(sn_mapping *mapping);
const unsigned char *sn_mapping_bytes(const sn_mapping *mapping);
/* An error when the file was written to or cut since it was mapped. path: for the sentence. */
stonet_status sn_mapping_check(const sn_mapping *mapping, const char *path);
/* Lets go of the pages of a stretch that is not needed for now: they come back when they are touched. */
void sn_mapping_rest(const sn_mapping *mapping, const void *from, size_t size);

#endif
