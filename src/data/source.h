/* The bytes of a file, unpacked when it is gzipped, read in order through a fixed buffer. */
#pragma once

#include <stdbool.h>

#include <zlib.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/mapping.h"

/* How far reading may go, and who ends it before: as in stonet_read_options. */
typedef struct sn_source_limits {
    int64_t max_bytes;
    int (*should_stop)(void *user);
    void *user;
} sn_source_limits;

typedef enum sn_packing { SN_PLAIN, SN_GZIP, SN_RAW_DEFLATE } sn_packing;

enum { SN_PACKED_SIZE = SN_BUFFER(1 << 18) };

typedef struct sn_source {
    char *path;
    int descriptor;
    sn_packing packing;
    int64_t start, size; /* the stretch of the file that is ours, as it is in the file */
    int64_t at;          /* next byte to fetch, from start; an unpacked source can be sent elsewhere by it */
    bool is_member;
    uint32_t crc;   /* of all bytes given out so far by a member of an archive */
    bool inflating; /* `stream` is initialised */
    bool finished;  /* the packed bytes have come to their end */
    sn_source_limits limits;
    int64_t unpacked; /* bytes so far */
    z_stream stream;
    unsigned char packed[SN_PACKED_SIZE];
} sn_source;

/* Opens a file; gzip is recognised by its first bytes. Pipes are read into memory, so that every source can
   be rewound. limits NULL: the usual limits. */
stonet_status sn_source_open(const char *path, const sn_source_limits *limits, sn_source **out);
/* A stretch of the bytes of another, unpacked source: a member of a zip archive, stored or deflated. */
stonet_status sn_source_open_member(const sn_source *archive, int64_t offset, int64_t size, bool deflated,
                                    sn_source **out);
/* Turns a gzipped source into a plain one, in memory, for formats that need to jump around. */
stonet_status sn_source_unpack(sn_source *source);
void sn_source_close(sn_source *source);
SN_DROP(sn_source, sn_source_close)

/* *got < size only at the end of the bytes. */
stonet_status sn_source_read(sn_source *source, void *bytes, size_t size, size_t *got);
/* Exactly `size` bytes, or an error that the file is cut off. */
stonet_status sn_source_read_all(sn_source *source, void *bytes, size_t size);
/* From a place in an unpacked source. */
stonet_status sn_source_read_at(sn_source *source, int64_t offset, void *bytes, size_t size);
/* The same, as many bytes as there are; several threads may do this at once. */
stonet_status sn_source_fetch(const sn_source *source, int64_t offset, void *bytes, size_t size, size_t *got);
/* The next `size` bytes, mapped instead of read; the mapping is the caller's. *mapping is NULL when that
   cannot be, for packed bytes above all. */
stonet_status sn_source_map(const sn_source *source, int64_t size, sn_mapping **mapping,
                            const unsigned char **bytes);
/* The next `size` bytes at a place of a mapping of several files; false when that cannot be. */
bool sn_source_map_to(const sn_source *source, int64_t size, sn_mapping *mapping, int64_t place);
stonet_status sn_source_rewind(sn_source *source);
/* The most bytes that can still come: exact for plain bytes, the limit of deflate for packed ones. */
int64_t sn_source_left(const sn_source *source);
/* How much of the file has been read, 0..1. */
double sn_source_fraction(const sn_source *source);
