#include "base/pack.h"

#include <string.h>

#include "base/memory.h"

void sn_pack_clear(sn_pack *pack)
{
    sn_free(pack->bytes);
    *pack = (sn_pack){0};
}

stonet_status sn_pack_bytes(sn_pack *pack, const void *bytes, size_t size)
{
    if (size == 0) return STONET_OK;
    if (size > pack->room - pack->size) {
        const size_t room = 2 * (pack->size + size) + 256;
        SN_TRY(SN_GROW(pack->bytes, room));
        pack->room = room;
    }
    memcpy(pack->bytes + pack->size, bytes, size);
    pack->size += size;
    return STONET_OK;
}

stonet_status sn_pack_int(sn_pack *pack, int64_t value)
{
    return sn_pack_bytes(pack, &value, sizeof value);
}

stonet_status sn_pack_real(sn_pack *pack, double value)
{
    return sn_pack_bytes(pack, &value, sizeof value);
}

stonet_status sn_pack_block(sn_pack *pack, const void *bytes, size_t size)
{
    SN_TRY(sn_pack_int(pack, (int64_t)size));
    return sn_pack_bytes(pack, bytes, size);
}

static stonet_status too_short(void)
{
    return sn_fail(STONET_ERROR_FORMAT, "a record of finished work is shorter than it should be");
}

stonet_status sn_unpack_bytes(sn_unpack *from, void *bytes, size_t size)
{
    if (size > from->left) return too_short();
    if (size > 0) memcpy(bytes, from->at, size);
    from->at += size;
    from->left -= size;
    return STONET_OK;
}

stonet_status sn_unpack_int(sn_unpack *from, int64_t *value)
{
    return sn_unpack_bytes(from, value, sizeof *value);
}

stonet_status sn_unpack_real(sn_unpack *from, double *value)
{
    return sn_unpack_bytes(from, value, sizeof *value);
}

stonet_status sn_unpack_block(sn_unpack *from, const unsigned char **bytes, size_t *size)
{
    int64_t length = 0;
    SN_TRY(sn_unpack_int(from, &length));
    if (length < 0 || (uint64_t)length > from->left) return too_short();
    *bytes = from->at;
    *size = (size_t)length;
    from->at += length;
    from->left -= (size_t)length;
    return STONET_OK;
}

stonet_status sn_unpack_end(const sn_unpack *from)
{
    if (from->left == 0) return STONET_OK;
    return sn_fail(STONET_ERROR_FORMAT, "a record of finished work is longer than it should be");
}
