/*
 * More ways to a table than stonet.h has: columns of any kinds, sparse rows, shards, generators; and files of
 * numbers.
 */
#ifndef STONET_TABLES_H
#define STONET_TABLES_H

#include <stonet/stonet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tables from memory ---------------------------------------------------------------------- */

/* A table from columns of any kinds, one after the other. The arrays, texts and names are read by
   stonet_data_end and must live until then; the data has copies. Columns have names, all different, or none
   of them has (NULL) and they go by position.

       stonet_columns *columns = NULL;
       stonet_data *train = NULL;
       stonet_read_options how = {.size = sizeof how, .target = "price"};
       if (stonet_data_begin(n, &columns) == STONET_OK &&
           stonet_data_add_numbers(columns, "area", area) == STONET_OK &&
           stonet_data_add_texts(columns, "town", town) == STONET_OK &&
           stonet_data_add_numbers(columns, "price", price) == STONET_OK)
           stonet_data_end(columns, &how, &train);
       stonet_columns_free(columns); */
typedef struct stonet_columns stonet_columns;
STONET_API stonet_status stonet_data_begin(int64_t rows, stonet_columns **out);
/* n numbers; NaN is a missing cell. Flags are 0 and 1. */
STONET_API stonet_status stonet_data_add_numbers(stonet_columns *columns, const char *name,
                                                 const double *values);
/* n dates: days since 1970-01-01, the time of the day as a fraction; NaN is a missing cell. */
STONET_API stonet_status stonet_data_add_dates(stonet_columns *columns, const char *name, const double *days);
/* n texts, categories as a rule; NULL is a missing cell. */
STONET_API stonet_status stonet_data_add_texts(stonet_columns *columns, const char *name,
                                               const char *const *texts);
/* The same as codes 0 .. n_texts - 1 and what they stand for; -1 is a missing cell. ordered: the texts go
   from low to high, and the column becomes one feature, the rank, instead of one for each text. */
STONET_API stonet_status stonet_data_add_codes(stonet_columns *columns, const char *name,
                                               const int32_t *codes, const char *const *texts,
                                               int64_t n_texts, int ordered);
/* Makes the table. options as for stonet_data_read, as far as they are not about files: the target is among
   the columns, by name or 1-based number, or is set afterwards (stonet_data_set_targets, _set_classes). */
STONET_API stonet_status stonet_data_end(const stonet_columns *columns, const stonet_read_options *options,
                                         stonet_data **out);
STONET_API void stonet_columns_free(stonet_columns *columns);
/* The same for rows that are to go through the model: see stonet_data_read_for. */
STONET_API stonet_status stonet_data_end_for(const stonet_model *model, const stonet_columns *columns,
                                             const stonet_read_options *options, stonet_data **out);

/* A table from a stream of the Arrow C interface, as pyarrow and others offer it; options as for
   stonet_data_end. Numbers, flags (0 and 1), texts, dictionaries (categories), dates, times (in days) and
   decimals are read; nulls are missing cells. The stream is used up and released, whatever becomes of the
   call. Sizes of buffers are not part of that interface: the program that made the stream is trusted for
   them. */
struct ArrowArrayStream;
STONET_API stonet_status stonet_data_from_arrow(struct ArrowArrayStream *stream,
                                                const stonet_read_options *options, stonet_data **out);
/* The same for rows that are to go through the model: see stonet_data_read_for. */
STONET_API stonet_status stonet_data_from_arrow_for(const stonet_model *model,
                                                    struct ArrowArrayStream *stream,
                                                    const stonet_read_options *options, stonet_data **out);

/* Wraps a sparse table, of which most numbers are 0, without copying: the cells that are kept of row i are
   start[i] .. start[i + 1] - 1 (start has n + 1 numbers and begins with 0), with the 0-based column,
   ascending within the row, and the value of each, finite. Method stonet takes such rows batch by batch; the
   others need a copy of all numbers. */
STONET_API stonet_status stonet_data_wrap_sparse(const int64_t *start, const int32_t *column,
                                                 const float *value, int64_t n, int64_t p, stonet_data **out);

/* ---- missing cells --------------------------------------------------------------------------- */

/* A copy of a table with its missing cells drawn given the others: one of several completed tables (draw 1,
   2, ..) that are analysed one by one and pooled by Rubin's rules. The table is read without a target: all
   its columns take part. Rows drawn with replacement say anew for every draw what the law of the cells is.
   Numbers that are whole, or few, stay so. A column without any value, or of names of rows, keeps its gaps,
   and the first draw warns of it. The same seed gives the same tables. run may be NULL. */
enum { STONET_MOST_IMPUTED = 1000000 };
STONET_API stonet_status stonet_data_impute(const stonet_data *data, int64_t draw, const stonet_run *run,
                                            stonet_data **out);

/* ---- shards ---------------------------------------------------------------------------------- */

/* Cuts a table into shards while reading it, with room for `rows` rows (rounded up to a multiple of 1024) in
   memory: .npy files in a new folder, with an index of names, texts and the response, target of the options.
   stonet_data_read takes the folder, or its index.json, for the table; the numbers and the response are
   mapped, as if they were one .npy (see there), and what becomes of which column has been settled. rows and
   files that were written in *total and *shards; both may be NULL. */
STONET_API stonet_status stonet_shards_write(const char *path, const stonet_read_options *options,
                                             int64_t rows, const char *folder, int64_t *total,
                                             int64_t *shards);

/* ---- made-up tables -------------------------------------------------------------------------- */

/* A built-in generator, "NAME", or "NAME:P" for P columns instead of its usual number; truth
   (n x *truth_columns, owned by the data) is the known sufficient predictor. */
STONET_API stonet_status stonet_generate(const char *name, int64_t rows, uint64_t seed, stonet_data **out);
STONET_API const double *stonet_data_truth(const stonet_data *data, int64_t *truth_columns);
/* The generators as a JSON array: name, help, task, columns, least_columns, truth (columns of it). */
STONET_API char *stonet_generators_json(void);

/* ---- files ----------------------------------------------------------------------------------- */

/* Writes an n x m matrix as .csv (with the given column names) or .npy, atomically. */
STONET_API stonet_status stonet_matrix_write(const char *path, const double *values, int64_t n, int64_t m,
                                             const char *const *names);
/* Writes bytes as a file, atomically (a path ending in .gz compresses). */
STONET_API stonet_status stonet_bytes_write(const char *path, const void *bytes, size_t size);
/* Whether a file could be written there now: fails as the writing would, and leaves nothing behind. */
STONET_API stonet_status stonet_path_check(const char *path);

#ifdef __cplusplus
}
#endif
#endif
