/*
 * Files packed with gzip. The first byte says how to read; the second whether the others are the packed file
 * as it stands (0), or its content, of which the packed form is cut short (odd) or changed in one place.
 */
#include "fuzz/common.h"

#include <zlib.h>

enum { MOST = 1 << 16 };

/* Packs the bytes; the state is kept, since making it anew takes longer than all the rest. */
static size_t pack(const uint8_t *bytes, size_t size, uint8_t packed[MOST])
{
    static z_stream stream;
    static int ready;
    if (!ready && deflateInit2(&stream, 1, Z_DEFLATED, 9 + 16, 1, Z_DEFAULT_STRATEGY) != Z_OK) abort();
    if (ready && deflateReset(&stream) != Z_OK) abort();
    ready = 1;
    stream.next_in = (uint8_t *)bytes;
    stream.avail_in = (uInt)size;
    stream.next_out = packed;
    stream.avail_out = MOST;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) return 0;
    return MOST - stream.avail_out;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 8) return 0;
    if (bytes[1] == 0) {
        read_table(bytes[0], bytes + 2, size - 2);
        return 0;
    }
    uint8_t packed[MOST];
    uint16_t place;
    memcpy(&place, bytes + 2, sizeof place);
    size_t length = pack(bytes + 4, size - 4, packed);
    if (length == 0) return 0;
    if (bytes[1] % 2 == 1)
        length -= place % length;
    else if (bytes[1] % 4 == 0)
        packed[place % length] ^= bytes[1];
    read_table(bytes[0], packed, length);
    return 0;
}
