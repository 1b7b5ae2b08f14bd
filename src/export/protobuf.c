#include "export/protobuf.h"

#include <string.h>

enum { VARINT = 0, DELIMITED = 2 };

/* Seven bits a byte, the lowest first; the eighth says that more follow. */
static void put_varint(sn_bytes *message, uint64_t value)
{
    unsigned char bytes[10];
    size_t count = 0;
    do {
        bytes[count] = (unsigned char)(value & 0x7F);
        value >>= 7;
        if (value != 0) bytes[count] |= 0x80;
        count++;
    } while (value != 0);
    sn_bytes_put(message, bytes, count);
}

static void put_key(sn_bytes *message, int field, int wire)
{
    put_varint(message, (uint64_t)field << 3 | (uint64_t)wire);
}

void sn_proto_int(sn_bytes *message, int field, int64_t value)
{
    put_key(message, field, VARINT);
    put_varint(message, (uint64_t)value);
}

void sn_proto_bytes(sn_bytes *message, int field, const void *bytes, size_t size)
{
    put_key(message, field, DELIMITED);
    put_varint(message, size);
    sn_bytes_put(message, bytes, size);
}

void sn_proto_text(sn_bytes *message, int field, const char *text)
{
    sn_proto_bytes(message, field, text, strlen(text));
}

void sn_proto_message(sn_bytes *message, int field, sn_bytes *part)
{
    if (message->status == STONET_OK) message->status = part->status;
    sn_proto_bytes(message, field, part->pack.bytes, part->pack.size);
    sn_bytes_free(part);
}
