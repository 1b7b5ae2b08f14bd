#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/array.h"

/* Real headers are some hundred bytes. */
enum { MAX_HEADER = 1 << 16 };

static stonet_status bad_header(const sn_source *source, const char *what)
{
    return sn_fail(STONET_ERROR_FORMAT, "%s is not an NPY file that can be read: %s", source->path, what);
}

/* The value of a key in the header, a Python dictionary in text; NULL when it is not there. */
static const char *find_value(const char *header, const char *key)
{
    for (const char *at = header; (at = strstr(at, key)) != NULL; at++) {
        const char *after = at + strlen(key);
        bool quoted = at > header && (at[-1] == '\'' || at[-1] == '"') && *after == at[-1];
        if (!quoted) continue;
        after += 1 + strspn(after + 1, " ");
        if (*after != ':') continue;
        after++;
        return after + strspn(after, " ");
    }
    return NULL;
}

/* '<f4' and the like. */
static stonet_status parse_type(const sn_source *source, const char *text, sn_array *out)
{
    if (text == NULL || (*text != '\'' && *text != '"'))
        return bad_header(source, "it holds records, and a plain array of numbers is needed");
    char quote = text[0], order = text[1], kind = order != '\0' ? text[2] : '\0', *end = NULL;
    bool begins =
        order != '\0' && strchr("<>|=", order) != NULL && kind != '\0' && text[3] >= '0' && text[3] <= '9';
    long size = begins ? strtol(text + 3, &end, 10) : 0;
    if (!begins || *end != quote) return bad_header(source, "its type is damaged");
    bool known = (kind == 'f' && (size == 4 || size == 8)) || (kind == 'b' && size == 1) ||
                 (strchr("iu", kind) != NULL && (size == 1 || size == 2 || size == 4 || size == 8));
    if (!known) {
        char sentence[120];
        snprintf(sentence, sizeof sentence, "it holds values of the type %c%ld, and plain numbers are needed",
                 kind, size);
        return bad_header(source, sentence);
    }
    out->kind = kind;
    out->size = (int)size;
    out->big_endian = order == '>';
    return STONET_OK;
}

/* (3, 4) or (3,) */
static stonet_status parse_shape(const sn_source *source, const char *text, sn_array *out)
{
    if (text == NULL || *text++ != '(') return bad_header(source, "its shape is damaged");
    for (out->rank = 0;;) {
        text += strspn(text, " ,");
        if (*text == ')') break;
        if (out->rank == SN_ARRAY_RANK) return bad_header(source, "it has more than 8 dimensions");
        size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 18) return bad_header(source, "its shape is damaged");
        out->shape[out->rank++] = strtoll(text, NULL, 10);
        text += digits;
    }
    return out->rank > 0 ? STONET_OK : bad_header(source, "it holds a single number");
}

static stonet_status parse_header(const sn_source *source, const char *header, sn_array *out)
{
    const char *order = find_value(header, "fortran_order");
    SN_TRY(parse_type(source, find_value(header, "descr"), out));
    SN_TRY(parse_shape(source, find_value(header, "shape"), out));
    if (order == NULL || (strncmp(order, "True", 4) != 0 && strncmp(order, "False", 5) != 0))
        return bad_header(source, "its order is damaged");
    out->fortran = *order == 'T' && out->rank > 1;
    return STONET_OK;
}

stonet_status sn_npy_header(sn_source *source, sn_array *out)
{
    unsigned char start[12];
    memset(out, 0, sizeof *out);
    SN_TRY(sn_source_read_all(source, start, 10));
    if (memcmp(start, "\x93NUMPY", 6) != 0) return bad_header(source, "it does not begin as one");
    if (start[6] < 1 || start[6] > 3) return bad_header(source, "its version is not 1, 2 or 3");
    uint32_t length = start[8] | (uint32_t)start[9] << 8;
    if (start[6] > 1) {
        SN_TRY(sn_source_read_all(source, start + 10, 2));
        length |= (uint32_t)start[10] << 16 | (uint32_t)start[11] << 24;
    }
    if (length > MAX_HEADER) return bad_header(source, "its header is too long");
    SN_ZEROS(length + 1, char, header);
    SN_TRY(sn_source_read_all(source, header, length));
    return parse_header(source, header, out);
}

stonet_status sn_read_npy(sn_source *source, const sn_read_wish *wish, stonet_data **out)
{
    sn_array array;
    SN_TRY(sn_npy_header(source, &array));
    return sn_array_read(source, &array, wish, out);
}

stonet_status sn_npy_write_header(sn_writer *writer, const char *type, int64_t n, int64_t m, int align)
{
    enum { BEFORE = 10, LARGEST = 4096 };
    static const unsigned char version_1[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    char header[LARGEST];
    const int used = snprintf(header + BEFORE, sizeof header - BEFORE,
                              "{'descr': '%s', 'fortran_order': False, 'shape': (%lld, %lld), }", type,
                              (long long)n, (long long)m);
    const int total = (BEFORE + used + align) / align * align;
    memcpy(header, version_1, sizeof version_1);
    header[8] = (char)((total - BEFORE) & 0xFF);
    header[9] = (char)((total - BEFORE) >> 8);
    memset(header + BEFORE + used, ' ', (size_t)(total - BEFORE - used - 1));
    header[total - 1] = '\n';
    return sn_write(writer, header, (size_t)total);
}
