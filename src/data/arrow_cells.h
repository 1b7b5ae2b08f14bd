/* What stands in the cells of an Arrow column. */
#pragma once

#include "data/arrow.h"
#include "data/builder.h"

typedef enum sn_arrow_cell {
    SN_ARROW_OTHER, /* nothing that could be a feature */
    SN_ARROW_NOTHING,
    SN_ARROW_FLAG,
    SN_ARROW_INT8,
    SN_ARROW_UINT8,
    SN_ARROW_INT16,
    SN_ARROW_UINT16,
    SN_ARROW_INT32,
    SN_ARROW_UINT32,
    SN_ARROW_INT64,
    SN_ARROW_UINT64,
    SN_ARROW_FLOAT32,
    SN_ARROW_FLOAT64,
    SN_ARROW_DECIMAL, /* of 128 bits */
    SN_ARROW_TEXT,    /* offsets of 32 bits, .. */
    SN_ARROW_LARGE_TEXT,
    SN_ARROW_TEXT_VIEW
} sn_arrow_cell;

typedef struct sn_arrow_type {
    sn_arrow_cell cell;
    double unit; /* numbers are divided by it: of times, so many are a day */
    bool is_date;
} sn_arrow_type;

sn_arrow_type sn_arrow_type_of(const char *format);
static inline bool sn_arrow_is_text(sn_arrow_type type)
{
    return type.cell >= SN_ARROW_TEXT;
}
static inline bool sn_arrow_is_whole(sn_arrow_type type)
{
    return type.cell >= SN_ARROW_INT8 && type.cell <= SN_ARROW_UINT64 && type.unit == 1.0;
}

/* Whether the parts of an array are there that cells first .. first + count - 1, behind its own offset, need;
   what: its name in the sentence. */
stonet_status sn_arrow_check(const struct ArrowArray *array, sn_arrow_type type, int64_t first, int64_t count,
                             const char *what);
/* These and the next are of checked arrays; `at` counts from the start of the buffers, behind all offsets. */
bool sn_arrow_is_missing(const struct ArrowArray *array, sn_arrow_type type, int64_t at);
double sn_arrow_number(const struct ArrowArray *array, sn_arrow_type type, int64_t at);
/* The bytes of a text; false where its place makes no sense. */
bool sn_arrow_text(const struct ArrowArray *array, sn_arrow_type type, int64_t at, const char **text,
                   size_t *length);
