#include <string.h>

#include "data/array.h"

/* Two zero bytes, the type, the rank, then each extent as a big-endian 32-bit number. */
stonet_status sn_read_idx(sn_source *source, const sn_read_wish *wish, stonet_data **out)
{
    unsigned char magic[4], extent[4];
    SN_TRY(sn_source_read_all(source, magic, sizeof magic));
    sn_array array = {.big_endian = true, .rank = magic[3]};
    static const struct {
        unsigned char code;
        char kind;
        int size;
    } types[] = {{0x08, 'u', 1}, {0x09, 'i', 1}, {0x0B, 'i', 2},
                 {0x0C, 'i', 4}, {0x0D, 'f', 4}, {0x0E, 'f', 8}};
    size_t type = 0;
    while (type < 5 && types[type].code != magic[2]) type++; /* sn_read has looked that it is one of them */
    array.kind = types[type].kind;
    array.size = types[type].size;
    if (array.rank < 1 || array.rank > SN_ARRAY_RANK)
        return sn_fail(STONET_ERROR_FORMAT, "%s is not an IDX file that can be read: it has %d dimensions",
                       source->path, array.rank);
    for (int k = 0; k < array.rank; k++) {
        SN_TRY(sn_source_read_all(source, extent, sizeof extent));
        array.shape[k] = (int64_t)extent[0] << 24 | extent[1] << 16 | extent[2] << 8 | extent[3];
    }
    return sn_array_read(source, &array, wish, out);
}
