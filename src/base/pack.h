/*
 * Records: numbers one after the other in a run of bytes, to be read later, or on another machine of the same
 * kind. Numbers must be read in the order in which they were written. A record that is too short, or has
 * bytes left, is an error and no crash.
 */
#pragma once

#include "base/status.h"

typedef struct sn_pack {
    unsigned char *bytes; /* NULL while empty */
    size_t size, room;
} sn_pack;

void sn_pack_clear(sn_pack *pack);
stonet_status sn_pack_bytes(sn_pack *pack, const void *bytes, size_t size);
stonet_status sn_pack_int(sn_pack *pack, int64_t value);
stonet_status sn_pack_real(sn_pack *pack, double value);
/* A length and the bytes: a text, or another record. */
stonet_status sn_pack_block(sn_pack *pack, const void *bytes, size_t size);

typedef struct sn_unpack {
    const unsigned char *at;
    size_t left;
} sn_unpack;

stonet_status sn_unpack_bytes(sn_unpack *from, void *bytes, size_t size);
stonet_status sn_unpack_int(sn_unpack *from, int64_t *value);
stonet_status sn_unpack_real(sn_unpack *from, double *value);
/* What sn_pack_block put in; *bytes lies in the record. */
stonet_status sn_unpack_block(sn_unpack *from, const unsigned char **bytes, size_t *size);
/* An error when something is left. */
stonet_status sn_unpack_end(const sn_unpack *from);
