#define _DEFAULT_SOURCE /* madvise */
#include "data/mapping.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum {
    CHECKED_AT_ONCE = 16, /* files, of those of a mapping */
    NEIGHBOURS = 1 << 21, /* bytes: what Linux maps with one that is touched is a part of these (folios) */
};

typedef struct mapped_file {
    int descriptor;     /* our own: tells what became of the file; or, of one of several, which may be more */
    char *path;         /* than a process can have open, -1 and its name */
    struct stat before; /* the file when it was mapped */
} mapped_file;

struct sn_mapping {
    unsigned char *bytes;
    size_t size;
    int64_t files, room;
    mapped_file *file;
    atomic_llong checked; /* how many were looked at, for whose turn it is */
    atomic_bool apart;    /* stretches were read ahead, and are apart from their neighbours */
};

void sn_mapping_close(sn_mapping *mapping)
{
    if (mapping == NULL) return;
    if (mapping->bytes != NULL) munmap(mapping->bytes, mapping->size);
    for (int64_t k = 0; k < mapping->files; k++) {
        if (mapping->file[k].descriptor >= 0) close(mapping->file[k].descriptor);
        sn_free(mapping->file[k].path);
    }
    sn_free(mapping->file);
    sn_free(mapping);
}

/* Keeps the file in sight, by its name or (NULL) a descriptor; false when it has fewer than `size` bytes. */
static bool note_file(sn_mapping *mapping, int descriptor, const char *path, int64_t size)
{
    if (mapping->files == mapping->room) return false;
    mapped_file *file = &mapping->file[mapping->files];
    file->descriptor = -1;
    if (path != NULL)
        file->path = sn_strdup(path);
    else
        file->descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (file->descriptor < 0 && file->path == NULL) return false;
    mapping->files++;
    return fstat(descriptor, &file->before) == 0 && file->before.st_size >= size;
}

stonet_status sn_mapping_reserve(int64_t size, int64_t files, sn_mapping **out)
{
    *out = NULL;
    SN_AUTO(sn_mapping) *mapping = NULL;
    SN_TRY(SN_NEW(mapping, 1));
    mapping->size = (size_t)size;
    mapping->room = files;
    SN_TRY(SN_NEW(mapping->file, files));
    void *bytes = mmap(NULL, mapping->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED) return STONET_OK;
    mapping->bytes = bytes;
    return SN_GIVE(mapping, out);
}

bool sn_mapping_put(sn_mapping *mapping, int64_t place, int descriptor, const char *path, int64_t offset,
                    int64_t size)
{
    const int64_t page = sysconf(_SC_PAGESIZE);
    if (place % page != 0 || offset % page != 0 || !note_file(mapping, descriptor, path, offset + size))
        return false;
    return mmap(mapping->bytes + place, (size_t)size, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor,
                offset) != MAP_FAILED;
}

stonet_status sn_mapping_open(int descriptor, int64_t size, sn_mapping **out)
{
    *out = NULL;
    SN_AUTO(sn_mapping) *mapping = NULL;
    SN_TRY(sn_mapping_reserve(size, 1, &mapping));
    if (mapping == NULL || !sn_mapping_put(mapping, 0, descriptor, NULL, 0, size)) return STONET_OK;
    return SN_GIVE(mapping, out);
}

const unsigned char *sn_mapping_bytes(const sn_mapping *mapping)
{
    return mapping->bytes;
}

static bool is_changed(const mapped_file *file)
{
    struct stat now;
    const struct stat *before = &file->before;
    const int failed = file->path != NULL ? stat(file->path, &now) : fstat(file->descriptor, &now);
    return failed != 0 || now.st_ino != before->st_ino || now.st_size != before->st_size ||
           now.st_mtim.tv_sec != before->st_mtim.tv_sec || now.st_mtim.tv_nsec != before->st_mtim.tv_nsec;
}

stonet_status sn_mapping_check(const sn_mapping *mapping, const char *path)
{
    const int64_t count = mapping->files < CHECKED_AT_ONCE ? mapping->files : CHECKED_AT_ONCE;
    const int64_t first = atomic_fetch_add(&((sn_mapping *)mapping)->checked, count);
    for (int64_t k = 0; k < count; k++)
        if (is_changed(&mapping->file[(first + k) % mapping->files]))
            return sn_fail(STONET_ERROR_IO, "%s was written to after it had been opened: read it again",
                           path);
    return STONET_OK;
}

/* Tells the system about the pages of a stretch; all of it are wishes. */
static void advise(const sn_mapping *mapping, const void *from, size_t size, int advice)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t first = (size_t)((const unsigned char *)from - mapping->bytes), begin = first - first % page;
    madvise(mapping->bytes + begin, first + size - begin, advice);
}

void sn_mapping_ahead(const sn_mapping *mapping, const void *from, size_t size)
{
    advise(mapping, from, size, MADV_WILLNEED);
    /* It is read in order or not, but advice of its own sets it apart from its neighbours: so Linux maps it
       alone when a page of it is touched, and not all that lies in its cache together with that. */
    advise(mapping, from, size, MADV_SEQUENTIAL);
    atomic_store(&((sn_mapping *)mapping)->apart, true);
}

void sn_mapping_rest(const sn_mapping *mapping, const void *from, size_t size)
{
    /* Both ends rounded away from the stretch: a page that is touched brings its neighbours with it, up to
       these borders, and they would stay. */
    const uintptr_t low = (uintptr_t)mapping->bytes, high = low + mapping->size;
    const uintptr_t first = (uintptr_t)from, last = first + size;
    const uintptr_t begin = first / NEIGHBOURS * NEIGHBOURS;
    const uintptr_t end = (last + NEIGHBOURS - 1) / NEIGHBOURS * NEIGHBOURS;
    const uintptr_t start = begin > low ? begin : low;
    if (size == 0) return;
    madvise(mapping->bytes + (start - low), (end < high ? end : high) - start, MADV_DONTNEED);
    if (atomic_load(&mapping->apart)) advise(mapping, from, size, MADV_NORMAL);
}
