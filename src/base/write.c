#include "base/file.h"

stonet_status stonet_bytes_write(const char *path, const void *bytes, size_t size)
{
    if (path == NULL || (bytes == NULL && size > 0))
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_bytes_write needs a path and bytes.");
    sn_writer *writer = NULL;
    SN_TRY(sn_writer_open(path, &writer));
    stonet_status status = size > 0 ? sn_write(writer, bytes, size) : STONET_OK;
    if (status != STONET_OK) {
        sn_writer_abandon(writer);
        return status;
    }
    return sn_writer_commit(writer);
}

stonet_status stonet_path_check(const char *path)
{
    if (path == NULL) return sn_fail(STONET_ERROR_ARGUMENT, "stonet_path_check needs a path");
    sn_writer *writer = NULL;
    SN_TRY(sn_writer_open(path, &writer));
    sn_writer_abandon(writer);
    return STONET_OK;
}
