/*
 * Tables as other programs hand them over in memory: a stream of the Arrow C interface, whose three structs
 * are all that the two sides share. Whoever gets a struct ends its use by its `release`, once.
 */
#pragma once

#include "data/schema.h"

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1

struct ArrowSchema { /* names and types */
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray { /* the cells of a column, or the columns of a batch of rows */
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* stonet_data_from_arrow, of the columns alone that a model uses; schema NULL: of all. */
stonet_status sn_arrow_read(struct ArrowArrayStream *stream, const stonet_read_options *options,
                            const sn_schema *schema, stonet_data **out);
