/* A 64-bit checksum of bytes as they come, about as fast as memory gives them: by it files are found to be
   damaged, and data or settings to be others. It is no defence against someone who wants to deceive. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SN_HASH_LANES = 4, SN_HASH_STEP = 8 * SN_HASH_LANES };

typedef struct sn_hash {
    uint64_t lane[SN_HASH_LANES];
    uint64_t length;
    unsigned char held[SN_HASH_STEP]; /* the bytes that wait for a whole step */
} sn_hash;

void sn_hash_begin(sn_hash *hash);
void sn_hash_add(sn_hash *hash, const void *bytes, size_t size);
/* With its end, so that "a", "b" is not "ab", ""; NULL is a text of its own. */
void sn_hash_text(sn_hash *hash, const char *text);
void sn_hash_int(sn_hash *hash, int64_t value);
/* The checksum of all so far. */
uint64_t sn_hash_value(const sn_hash *hash);
