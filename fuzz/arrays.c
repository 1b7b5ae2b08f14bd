/*
 * .npy, .npz and IDX: the first byte says how to read, the others are the file. The mutator mends what guards
 * the inside of a file, the length of an .npy header and the checksums of a zip archive, or little else than
 * those would ever be tried.
 */
#include "fuzz/common.h"

#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 2) return 0;
    read_table(bytes[0], bytes + 1, size - 1);
    return 0;
}

static uint32_t little(const uint8_t *bytes, int count)
{
    uint32_t value = 0;
    for (int i = count - 1; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

/* The checksum of what a member of a zip archive unpacks to. */
static uint32_t checksum(const uint8_t *packed, size_t size, int deflated)
{
    if (!deflated) return (uint32_t)crc32(0, packed, (uInt)size);
    uint8_t part[4096];
    uint32_t crc = 0;
    z_stream stream = {.next_in = (uint8_t *)packed, .avail_in = (uInt)size};
    if (inflateInit2(&stream, -15) != Z_OK) abort();
    int result = Z_OK;
    while (result == Z_OK) {
        stream.next_out = part;
        stream.avail_out = sizeof part;
        result = inflate(&stream, Z_NO_FLUSH);
        crc = (uint32_t)crc32(crc, part, (uInt)(sizeof part - stream.avail_out));
    }
    inflateEnd(&stream);
    return crc;
}

/* Each entry of the directory gets the checksum of the bytes that it points to. */
static void mend_zip(uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at + 46 <= size; at++) {
        if (memcmp(bytes + at, "PK\x01\x02", 4) != 0) continue;
        size_t packed = little(bytes + at + 20, 4), local = little(bytes + at + 42, 4);
        if (local + 30 > size) continue;
        size_t start = local + 30 + little(bytes + local + 26, 2) + little(bytes + local + 28, 2);
        if (start > size || packed > size - start) continue;
        uint32_t crc = checksum(bytes + start, packed, little(bytes + at + 10, 2) == 8);
        for (int i = 0; i < 4; i++) bytes[at + 16 + (size_t)i] = (uint8_t)(crc >> 8 * i);
    }
}

/* The header of version 1 ends where its line does. */
static void mend_npy(uint8_t *bytes, size_t size)
{
    const uint8_t *end = size > 10 ? memchr(bytes + 10, '\n', size - 10) : NULL;
    if (end == NULL || bytes[6] != 1) return;
    size_t length = (size_t)(end + 1 - (bytes + 10));
    bytes[8] = (uint8_t)length;
    bytes[9] = (uint8_t)(length >> 8);
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed)
{
    size = LLVMFuzzerMutate(bytes, size, most);
    if (size < 12 || seed % 8 == 0) return size;
    if (memcmp(bytes + 1, "\x93NUMPY", 6) == 0) mend_npy(bytes + 1, size - 1);
    if (memcmp(bytes + 1, "PK", 2) == 0) mend_zip(bytes + 1, size - 1);
    return size;
}
