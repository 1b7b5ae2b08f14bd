/*
 * A table cut into files (shards), in a folder of its own:
 *
 *   NAME-00000.npy ..        float32, rows x columns of numbers (not there when there is none)
 *   NAME-00000.y.npy ..      the response: float64, rows x targets, or int32 codes of its labels
 *   NAME-00000.more.npy ..   float64: the weight of the row, if rows have weights, the codes of its texts
 *                            (-1: missing), and the columns of numbers that are no floats, of which a model
 *                            may need all digits (data/frame.h: sn_exact)
 *   index.json               names, kinds and texts of the columns, what the response is, rows and hash of
 *                            every file, and its own hash
 *
 * All shards but the last have the same number of rows, a multiple of SN_SHARD_STEP, and the numbers begin at
 * a multiple of SN_SHARD_ALIGN bytes: so the pages of the files, one after the other, are the table in memory
 * (data/mapping.h), and to read it is to map it. Only what is in .more.npy is read into memory.
 */
#pragma once

#include "base/json.h"
#include "data/builder.h"

#define SN_SHARDS_FORMAT "stonet-shards"
/* Since version 2 an index has a hash of its own. */
enum { SN_SHARDS_VERSION = 2, SN_SHARD_STEP = 1024, SN_SHARD_ALIGN = 4096 };

/* Which of the files of a shard. */
typedef enum sn_shard_part { SN_SHARD_X, SN_SHARD_Y, SN_SHARD_MORE, SN_SHARD_PARTS } sn_shard_part;

/* "FOLDER/NAME-00012.y.npy", to be freed. */
stonet_status sn_shard_path(const char *folder, const char *name, int64_t shard, sn_shard_part part,
                            char **out);
/* The same of its index. */
stonet_status sn_shard_index_path(const char *folder, char **out);
/* The folder of a path that is one with an index, or is such an index, to be freed; NULL: it is neither. */
stonet_status sn_shards_folder(const char *path, char **folder);
/* The table of a folder. */
stonet_status sn_read_shards(const char *folder, const sn_read_wish *wish, stonet_data **out);

/* What the files that read and write shards share. */

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
