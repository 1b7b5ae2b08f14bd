/*
 * A table while it is being read: the columns of the file, what becomes of each (feature or target, number
 * or text), and the rows so far. Every reader fills one and turns it into a frame.
 */
#pragma once

#include "base/memory.h"
#include "data/dictionary.h"
#include "data/na.h"
#include "data/source.h"

typedef enum sn_role {
    SN_FEATURE_NUMBER,
    SN_FEATURE_TEXT,
    SN_TARGET_NUMBER,
    SN_TARGET_TEXT,
    SN_WEIGHT, /* what the row counts */
    SN_UNUSED  /* passed over: its cells may hold anything */
} sn_role;

struct sn_builder;

/* Where the rows of a table go while it is being read, when it is not to be held as a whole. */
typedef struct sn_drain sn_drain;
struct sn_drain {
    int64_t rows; /* handed over at a time; fewer at the end alone */
    /* The table is read from its first row on, perhaps once more: its columns have turned out otherwise. */
    stonet_status (*restart)(sn_drain *drain);
    /* Takes rows first .. first + count - 1 of those in the builder. */
    stonet_status (*take)(sn_drain *drain, const struct sn_builder *builder, int64_t first, int64_t count);
    /* All rows were taken. */
    stonet_status (*end)(sn_drain *drain, const struct sn_builder *builder);
};

/* What is wanted of a table. */
typedef struct sn_read_wish {
    stonet_read_options how; /* complete: the parts that columns play, words for missing cells, limits */
    /* The targets: none (NULL), or those named (or numbered from 1) in a list; or, of a file of targets
       alone, all of its columns that the list does not rule out. */
    const char *columns;
    bool all;
    bool own_target;                /* without `columns`: the target of the schema */
    const struct sn_schema *schema; /* the features are those that this model uses; NULL: all */
    sn_na na;                       /* more words for missing cells */
    bool missing_targets;           /* targets may be missing: NaN, or the label -1; their rows go, ... */
    bool open_targets;              /* ... or stay: bounds of times that are open */
    sn_drain *drain;                /* NULL: the builder keeps all rows */
} sn_read_wish;

/* A column of the file. */
typedef struct sn_builder_column {
    char *name;
    sn_role role;
    int64_t slot; /* its index among those of its role */
    bool unnamed; /* the header has no name for it, or one that a program made up */
    bool again;   /* the header has its name before: it has got another one */
    bool unused;  /* it is left out, or the model that the rows are for does not look at it */
    bool is_date; /* numbers that are dates */
    bool as_text; /* to be read as text, whatever it looks like */
    bool season;
    sn_dictionary order; /* the values from low to high, where their order was said; else empty */
} sn_builder_column;

/* What is kept in double (data/frame.h: sn_exact) of a column of numbers. */
typedef struct sn_digits {
    bool wide;        /* the values so far spread over a good part of their size */
    bool enough;      /* floats will do: nothing is kept */
    double low, high; /* of the values so far */
    double *value;    /* in double; NULL: those so far are floats */
} sn_digits;

typedef struct sn_builder {
    const char *path; /* for messages; outlives the builder */
    int64_t n_columns;
    sn_builder_column *column;
    bool has_header;
    int64_t id;    /* the text column that names the rows; -1: none */
    int64_t group; /* the text column that says which rows belong together, also that one; -1: none */
    int64_t n_numeric, n_text, n_targets, n_unused;
    int64_t *target_position;
    int64_t weight_position; /* -1: none */

    const sn_read_wish *wish; /* outlives the builder too */
    sn_drain *drain;          /* NULL: none */
    int64_t before;           /* rows of the file that are not here any more: taken, or */
    int64_t dropped;          /* left out, since their target was missing */
    int64_t line;             /* of the file, where the row builder->rows begins; 0: it has none */
    int64_t rows, capacity;
    int64_t missing;     /* cells of features */
    float *x;            /* capacity x n_numeric */
    sn_digits *digits;   /* n_numeric: what is kept in double of each column */
    bool all_digits;     /* of all columns: for a model that needs them, or for shards, whose model is not
                            known yet */
    double *y;           /* capacity x n_targets, numeric targets */
    double *weight;      /* capacity, where there are weights */
    int32_t **code;      /* n_text arrays */
    sn_interner *values; /* n_text */
    int32_t *label;      /* the text target */
    sn_interner labels;
    sn_interner spelled; /* the numbers of the one target as the file has them, unless they are many */
    bool many_spelled;
} sn_builder;

/* names: n_columns texts from the header, or NULL when there is none (x1, x2, ..). Finds the targets. */
stonet_status sn_builder_create(const char *path, int64_t n_columns, const char *const *names,
                                const sn_read_wish *wish, sn_builder **out);
void sn_builder_free(sn_builder *builder);
SN_DROP(sn_builder, sn_builder_free)
/* Says which columns hold text and forgets all rows. */
stonet_status sn_builder_start(sn_builder *builder, const bool *is_text);
/* Room for at least `rows` rows; `expected` is a guess at the final number, for growing in few steps. */
stonet_status sn_builder_reserve(sn_builder *builder, int64_t rows, int64_t expected);
/* With a drain, after every row: hands the rows over when they are as many as it takes. */
stonet_status sn_builder_drain(sn_builder *builder);
/* Moves everything into a frame; with a drain, into that, and what is left is a frame without rows. */
stonet_status sn_builder_finish(sn_builder *builder, stonet_data **out);

/* Whether a column names rows or groups: it is text, and no feature. */
static inline bool sn_builder_is_label(const sn_builder *builder, int64_t column)
{
    return column == builder->id || column == builder->group;
}
static inline bool sn_builder_is_text(const sn_builder *builder, int64_t column)
{
    const sn_role role = builder->column[column].role;
    return role == SN_FEATURE_TEXT || role == SN_TARGET_TEXT;
}
/* The texts that a column of text has had. */
sn_interner *sn_builder_texts(const sn_builder *builder, int64_t column);
/* Whether the target is text, so that rows have labels. */
bool sn_builder_has_labels(const sn_builder *builder);
/* The first step of creating one: names the columns (names: as there) and finds targets, ids, orders and what
   is not used. */
stonet_status sn_builder_find_roles(sn_builder *builder, const char *const *names, const sn_read_wish *wish);
/* The last step of finishing it: all columns and rows of the builder become those of a new frame. */
stonet_status sn_builder_to_frame(sn_builder *builder, stonet_data **out);

/* Some rows of the same table, read apart from the rest: `part`, all zero or one that was read before,
   borrows the columns of a started `whole` and must not be finished. To be freed also after a failure. */
stonet_status sn_builder_part(const sn_builder *whole, sn_builder *part);
void sn_builder_part_free(sn_builder *part);
/* Enters the words of a part, in their order, and turns its codes into those of the whole. */
stonet_status sn_builder_join_words(sn_builder *whole, sn_builder *part);
/* Copies the rows of a part to row `at` on; there must be room. Parts may be copied at the same time. */
void sn_builder_join_rows(sn_builder *whole, int64_t at, const sn_builder *part);
/* After that, what is kept of these rows in double; one part after the other, in order. */
stonet_status sn_builder_join_digits(sn_builder *whole, int64_t at, const sn_builder *part);

/* Fails with "PATH: row R (line L), column C ('NAME'): SENTENCE" for a cell of the row builder->rows. Rows
   and columns count from 0 here and from 1 in the sentence. */
stonet_status sn_builder_fail_cell(const sn_builder *builder, int64_t column, const char *format, ...)
    SN_PRINTF(3, 4);
/* Puts a number (NaN: a missing one) into its place in row builder->rows, or says why it cannot be there. */
stonet_status sn_builder_put_number(sn_builder *builder, int64_t column, double value);
/* Notes how the file spells the number of the one target that was put: 01 and 12345678901 may be labels. */
stonet_status sn_builder_put_spelling(sn_builder *builder, const char *text, size_t length);
/* A cell that holds nothing, or `word` (length 0: nothing): NaN or the code -1; a failure for a target unless
   that may be missing. */
stonet_status sn_builder_put_missing(sn_builder *builder, int64_t column, const char *word, size_t length);
stonet_status sn_builder_put_text(sn_builder *builder, int64_t column, const char *text, size_t length);
/* Where the row builder->rows has the code of such a text. */
int32_t *sn_builder_code(const sn_builder *builder, int64_t column);
/* Before the first row: the values of a text column, from low to high. */
stonet_status sn_builder_put_order(sn_builder *builder, int64_t column, const char *const *words,
                                   int64_t count);
