#include <string.h>

#include "data/array.h"

/* Two zero bytes, the type, the rank, then each extent as a big-endian 32-bit number. */
stonet_status sn_read_idx(sn_source *source, const sn_target_wish *wish, stonet_data **out)
{
    unsigned char magic[4], extent[4];
    SN_TRY(sn_source_read_all(source, magic, sizeof magic));
    sn_array array = {.big_endian = true, .rank = magic[3]};
    switch (magic[2]) {
    case 0x08:
        array.kind = 'u', array.size = 1;
        break;
    case 0x09:
        array.kind = 'i', array.size = 1;
        break;
    case 0x0B:
        array.kind = 'i', array.size = 2;
        break;
    case 0x0C:
        array.kind = 'i', array.size = 4;
        break;
    case 0x0D:
        array.kind = 'f', array.size = 4;
        break;
    default:
        array.kind = 'f', array.size = 8;
        break; /* 0x0E: sn_read has looked */
    }
    if (array.rank < 1 || array.rank > SN_ARRAY_RANK)
        return sn_fail(STONET_ERROR_FORMAT, "%s is not an IDX file that can be read: it has %d dimensions",
                       sn_source_path(source), array.rank);
    for (int k = 0; k < array.rank; k++) {
        SN_TRY(sn_source_read_all(source, extent, sizeof extent));
        array.shape[k] = (int64_t)extent[0] << 24 | extent[1] << 16 | extent[2] << 8 | extent[3];
    }
    return sn_array_read(source, &array, wish, out);
}
