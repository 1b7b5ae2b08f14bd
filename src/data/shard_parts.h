/* What the files that read shards share. */
#pragma once

#include "base/json.h"
#include "data/shards.h"

typedef struct sn_shard_reader {
    const char *folder;
    char *path; /* of the index */
    json_t *index;
    const char *name; /* of the files */
    int64_t shards;
    int64_t *rows; /* of each */
    stonet_data *data;
    stonet_team *team; /* whose ranks read the same folder; NULL: none */
} sn_shard_reader;

/* In the names of files, and as keys of the index. */
extern const char *const sn_shard_suffix[SN_SHARD_PARTS], *const sn_shard_key[SN_SHARD_PARTS];

/* Takes from the index all but the numbers, and of the response what is wished. */
stonet_status sn_shard_index(sn_shard_reader *r, const sn_read_wish *wish);
/* The hash of an index, which must not have one yet, as text. */
enum { SN_SHARD_HASH = 17 };
stonet_status sn_shard_index_hash(const json_t *index, char text[SN_SHARD_HASH]);
stonet_status sn_shard_bad_index(const sn_shard_reader *r, const char *what);
