/* One function a file format; each gives a frame with the wished target in its place. */
#pragma once

#include "data/builder.h"
#include "data/schema.h"
#include "data/source.h"

/* What complete options and a schema (NULL: none) say of a table: before it is read, ... */
stonet_status sn_wish_start(const stonet_read_options *how, const sn_schema *schema, sn_read_wish *out);
/* ... and after it, with the status so far: nothing is left of *data when that is or becomes a failure. */
stonet_status sn_wish_end(sn_read_wish *wish, stonet_status status, stonet_data **data);

/* stonet_data_read, of the columns alone that a model uses; schema NULL: of all. */
stonet_status sn_read_for(const char *path, const stonet_read_options *options, const sn_schema *schema,
                          stonet_data **out);

/* The same by options that were taken. With a drain (NULL: none), that gets the rows, and *out, which must be
   NULL, is what is known of the table without them. */
stonet_status sn_read_as(const char *path, const stonet_read_options *how, const sn_schema *schema,
                         sn_drain *drain, stonet_data **out);

/* A table in memory: `fill` says which columns are text (sn_builder_start) and puts the rows. */
typedef struct sn_memory_table {
    int64_t n_columns;
    const char *const *names; /* NULL: none */
    stonet_status (*fill)(void *context, sn_builder *builder);
    void *context;
} sn_memory_table;
stonet_status sn_memory_read(const sn_memory_table *table, const stonet_read_options *options,
                             const sn_schema *schema, stonet_data **out);
/* Puts a text from memory into a cell, or says what is wrong with its bytes. */
stonet_status sn_put_word(sn_builder *builder, int64_t column, const char *word, size_t length);

/* stonet_data_end, of the columns alone that a model uses; schema NULL: of all. */
stonet_status sn_columns_read(const stonet_columns *columns, const stonet_read_options *options,
                              const sn_schema *schema, stonet_data **out);

/* Comma, semicolon, tab or blank separated text; found out from the content. With a part_size,
   the threads take that many bytes each at a time; what comes out does not depend on it. */
stonet_status sn_read_text(sn_source *source, const sn_read_wish *wish, int threads, int64_t part_size,
                           stonet_data **out);
/* NumPy's array file, versions 1 to 3. */
stonet_status sn_read_npy(sn_source *source, const sn_read_wish *wish, stonet_data **out);
/* NumPy's archive: x (or X, data) and, if there, y (or target, targets, labels); else its only array. */
stonet_status sn_read_npz(sn_source *source, const sn_read_wish *wish, stonet_data **out);
/* Fails, with its name and what to do, for a file of another program: `magic` is its beginning. */
stonet_status sn_refuse_foreign(const char *path, const unsigned char *magic, size_t size);
/* svmlight (libsvm): rows of COLUMN:NUMBER behind the response; the frame is sparse. */
stonet_status sn_read_svmlight(sn_source *source, const sn_read_wish *wish, stonet_data **out);
bool sn_looks_like_svmlight(const char *text, size_t size);
/* IDX, as MNIST comes in; images become rows. */
stonet_status sn_read_idx(sn_source *source, const sn_read_wish *wish, stonet_data **out);
