#define _DEFAULT_SOURCE /* madvise */
#include "data/mapping.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

struct sn_mapping {
    unsigned char *bytes;
    size_t size;
    int descriptor;     /* our own: tells what became of the file */
    struct stat before; /* the file when it was mapped */
};

void sn_mapping_close(sn_mapping *mapping)
{
    if (mapping == NULL) return;
    if (mapping->bytes != NULL) munmap(mapping->bytes, mapping->size);
    if (mapping->descriptor >= 0) close(mapping->descriptor);
    sn_free(mapping);
}

/* Everything that may fail without harm. */
static bool map(sn_mapping *mapping, int descriptor)
{
    mapping->descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (mapping->descriptor < 0 || fstat(mapping->descriptor, &mapping->before) != 0) return false;
    if (mapping->before.st_size < 0 || (uint64_t)mapping->before.st_size < mapping->size) return false;
    void *bytes = mmap(NULL, mapping->size, PROT_READ, MAP_PRIVATE, mapping->descriptor, 0);
    if (bytes == MAP_FAILED) return false;
    mapping->bytes = bytes;
    return true;
}

stonet_status sn_mapping_open(int descriptor, int64_t size, sn_mapping **out)
{
    *out = NULL;
    sn_mapping *mapping;
    SN_TRY(SN_NEW(mapping, 1));
    mapping->descriptor = -1;
    mapping->size = (size_t)size;
    if (map(mapping, descriptor))
        *out = mapping;
    else
        sn_mapping_close(mapping);
    return STONET_OK;
}

const unsigned char *sn_mapping_bytes(const sn_mapping *mapping)
{
    return mapping->bytes;
}

stonet_status sn_mapping_check(const sn_mapping *mapping, const char *path)
{
    struct stat now;
    const struct stat *before = &mapping->before;
    if (fstat(mapping->descriptor, &now) != 0 || now.st_size != before->st_size ||
        now.st_mtim.tv_sec != before->st_mtim.tv_sec || now.st_mtim.tv_nsec != before->st_mtim.tv_nsec)
        return sn_fail(STONET_ERROR_IO, "%s was written to after it had been opened: read it again", path);
    return STONET_OK;
}

void sn_mapping_rest(const sn_mapping *mapping, const void *from, size_t size)
{
    /* Both ends rounded down: the page that a stretch ends in goes with the next one. */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t first = (size_t)((const unsigned char *)from - mapping->bytes), end = first + size;
    const size_t begin = first - first % page, length = end - end % page - begin;
    if (length > 0) madvise(mapping->bytes + begin, length, MADV_DONTNEED); /* a wish */
}
