#include "data/arrow_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double DAY = 86400.0; /* seconds */

/* Formats of one word; times in days. */
static const struct {
    const char *format;
    sn_arrow_type type;
} KNOWN[] = {
    {"n", {SN_ARROW_NOTHING, 1, false}},       {"b", {SN_ARROW_FLAG, 1, false}},
    {"c", {SN_ARROW_INT8, 1, false}},          {"C", {SN_ARROW_UINT8, 1, false}},
    {"s", {SN_ARROW_INT16, 1, false}},         {"S", {SN_ARROW_UINT16, 1, false}},
    {"i", {SN_ARROW_INT32, 1, false}},         {"I", {SN_ARROW_UINT32, 1, false}},
    {"l", {SN_ARROW_INT64, 1, false}},         {"L", {SN_ARROW_UINT64, 1, false}},
    {"f", {SN_ARROW_FLOAT32, 1, false}},       {"g", {SN_ARROW_FLOAT64, 1, false}},
    {"u", {SN_ARROW_TEXT, 1, false}},          {"U", {SN_ARROW_LARGE_TEXT, 1, false}},
    {"vu", {SN_ARROW_TEXT_VIEW, 1, false}},    {"tdD", {SN_ARROW_INT32, 1, true}},
    {"tdm", {SN_ARROW_INT64, 86400e3, true}},  {"tDs", {SN_ARROW_INT64, 86400, false}},
    {"tDm", {SN_ARROW_INT64, 86400e3, false}}, {"tDu", {SN_ARROW_INT64, 86400e6, false}},
    {"tDn", {SN_ARROW_INT64, 86400e9, false}},
};

/* "d:PRECISION,SCALE" or with ",128" behind it: whole numbers over 10^SCALE. */
static sn_arrow_type decimal_type(const char *format)
{
    char *end;
    (void)strtol(format + 2, &end, 10);
    if (*end != ',') return (sn_arrow_type){SN_ARROW_OTHER, 1, false};
    const long scale = strtol(end + 1, &end, 10);
    enum { MOST = 76 }; /* digits of the largest decimals there are */
    if ((strcmp(end, "") != 0 && strcmp(end, ",128") != 0) || labs(scale) > MOST)
        return (sn_arrow_type){SN_ARROW_OTHER, 1, false};
    return (sn_arrow_type){SN_ARROW_DECIMAL, pow(10, (double)scale), false};
}

sn_arrow_type sn_arrow_type_of(const char *format)
{
    for (size_t k = 0; k < sizeof KNOWN / sizeof *KNOWN; k++)
        if (strcmp(format, KNOWN[k].format) == 0) return KNOWN[k].type;
    if (strncmp(format, "tss:", 4) == 0) return (sn_arrow_type){SN_ARROW_INT64, DAY, true};
    if (strncmp(format, "tsm:", 4) == 0) return (sn_arrow_type){SN_ARROW_INT64, DAY * 1e3, true};
    if (strncmp(format, "tsu:", 4) == 0) return (sn_arrow_type){SN_ARROW_INT64, DAY * 1e6, true};
    if (strncmp(format, "tsn:", 4) == 0) return (sn_arrow_type){SN_ARROW_INT64, DAY * 1e9, true};
    if (strncmp(format, "d:", 2) == 0) return decimal_type(format);
    return (sn_arrow_type){SN_ARROW_OTHER, 1, false};
}

static int64_t buffers_of(sn_arrow_cell cell)
{
    if (cell == SN_ARROW_NOTHING) return 0;
    return cell >= SN_ARROW_TEXT ? 3 : 2; /* views: and as many more as there are blocks of text */
}

stonet_status sn_arrow_check(const struct ArrowArray *array, sn_arrow_type type, int64_t first, int64_t count,
                             const char *what)
{
    if (array == NULL || array->release == NULL)
        return sn_fail(STONET_ERROR_DATA, "the Arrow stream has no cells for %s", what);
    if (array->length < 0 || array->offset < 0 || array->offset > INT64_MAX / 16 - array->length)
        return sn_fail(STONET_ERROR_DATA, "the Arrow stream says that %s has %lld cells from %lld on", what,
                       (long long)array->length, (long long)array->offset);
    if (first > array->length - count)
        return sn_fail(STONET_ERROR_DATA, "the Arrow stream has %lld cells of %s for %lld rows",
                       (long long)array->length, what, (long long)count);
    const int64_t wanted = buffers_of(type.cell);
    const bool views = type.cell == SN_ARROW_TEXT_VIEW;
    if (array->n_buffers < wanted ||
        (!views && type.cell != SN_ARROW_NOTHING && array->n_buffers != wanted) ||
        (wanted > 0 && array->buffers == NULL))
        return sn_fail(STONET_ERROR_DATA, "the Arrow stream has %lld buffers for %s, and its type has %lld",
                       (long long)array->n_buffers, what, (long long)wanted);
    if (wanted > 0 && count > 0 && array->buffers[1] == NULL)
        return sn_fail(STONET_ERROR_DATA, "the Arrow stream has no values for %s", what);
    return STONET_OK;
}

static bool bit(const void *bits, int64_t at)
{
    return (((const unsigned char *)bits)[at / 8] >> (at % 8)) & 1;
}

bool sn_arrow_is_missing(const struct ArrowArray *array, sn_arrow_type type, int64_t at)
{
    if (type.cell == SN_ARROW_NOTHING) return true;
    return array->null_count != 0 && array->buffers[0] != NULL && !bit(array->buffers[0], at);
}

/* Little-endian two's complement of 128 bits. */
static double decimal(const unsigned char *bytes)
{
    uint64_t low, high;
    memcpy(&low, bytes, sizeof low);
    memcpy(&high, bytes + sizeof low, sizeof high);
    const bool negative = high >> 63;
    if (negative) { /* -x is ~x + 1 */
        low = ~low + 1;
        high = ~high + (low == 0);
    }
    const double size = ldexp((double)high, 64) + (double)low;
    return negative ? -size : size;
}

/* The number of a cell, for a type that has it as it is. */
#define AS_IT_IS(CELL, TYPE)                                                                                 \
    case CELL:                                                                                               \
        return (double)((const TYPE *)values)[at] / type.unit

/* Times are divided by their units in a day, decimals by their power of ten (type.unit). Integers above 2^53
   are rounded to double. */
double sn_arrow_number(const struct ArrowArray *array, sn_arrow_type type, int64_t at)
{
    const void *values = array->buffers[1];
    switch (type.cell) {
        AS_IT_IS(SN_ARROW_INT8, int8_t);
        AS_IT_IS(SN_ARROW_UINT8, uint8_t);
        AS_IT_IS(SN_ARROW_INT16, int16_t);
        AS_IT_IS(SN_ARROW_UINT16, uint16_t);
        AS_IT_IS(SN_ARROW_INT32, int32_t);
        AS_IT_IS(SN_ARROW_UINT32, uint32_t);
        AS_IT_IS(SN_ARROW_INT64, int64_t);
        AS_IT_IS(SN_ARROW_UINT64, uint64_t);
        AS_IT_IS(SN_ARROW_FLOAT32, float);
        AS_IT_IS(SN_ARROW_FLOAT64, double);
    case SN_ARROW_FLAG:
        return bit(values, at) / type.unit;
    case SN_ARROW_DECIMAL:
        return decimal((const unsigned char *)values + 16 * at) / type.unit;
    default:
        return 0; /* texts are no numbers, and what is nothing is missing */
    }
}

/* A view has 16 bytes: the length; then up to 12 bytes of text, or its first four, the number of the block
   that has it, and where it begins there. The last buffer has the sizes of the blocks. */
static bool view(const struct ArrowArray *array, int64_t at, const char **text, size_t *length)
{
    enum { VIEW = 16, INSIDE = 12, BEFORE = 2 };
    const char *bytes = (const char *)array->buffers[1] + VIEW * at;
    int32_t part[4];
    memcpy(part, bytes, sizeof part);
    const int32_t size = part[0], block = part[2], from = part[3];
    if (size < 0) return false;
    *length = (size_t)size;
    *text = bytes + sizeof size;
    if (size <= INSIDE) return true;
    const int64_t blocks = array->n_buffers - BEFORE - 1;
    const int64_t *sizes = array->buffers[array->n_buffers - 1];
    if (sizes == NULL || block < 0 || block >= blocks || from < 0 || (int64_t)from + size > sizes[block])
        return false;
    const char *start = array->buffers[BEFORE + block];
    if (start == NULL) return false;
    *text = start + from;
    return true;
}

bool sn_arrow_text(const struct ArrowArray *array, sn_arrow_type type, int64_t at, const char **text,
                   size_t *length)
{
    if (type.cell == SN_ARROW_TEXT_VIEW) return view(array, at, text, length);
    int64_t from, to;
    if (type.cell == SN_ARROW_TEXT) {
        const int32_t *offset = array->buffers[1];
        from = offset[at];
        to = offset[at + 1];
    } else {
        const int64_t *offset = array->buffers[1];
        from = offset[at];
        to = offset[at + 1];
    }
    const char *all = array->buffers[2];
    if (from < 0 || to < from || (all == NULL && to > from)) return false;
    *text = all != NULL ? all + from : "";
    *length = (size_t)(to - from);
    return true;
}
