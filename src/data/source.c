#define _GNU_SOURCE /* memfd_create */
#include "data/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

/* Deflate turns at most 1032 bytes into one. Tables shrink to a third or a tenth: a large one that gives much
   more was hardly made to be read. */
enum { DEFLATE_LIMIT = 1032, USUAL_LIMIT = 32, ALWAYS_TAKEN = 256 << 20 };

static stonet_status cannot_read(const char *path, int error)
{
    return sn_fail(STONET_ERROR_IO, "cannot read %s: %s", path, strerror(error));
}

static stonet_status cut_off(const sn_source *source)
{
    return sn_fail(STONET_ERROR_FORMAT, "%s is cut off: the file ends before its content does", source->path);
}

static stonet_status check_stop(const sn_source *source)
{
    if (source->limits.should_stop == NULL || !source->limits.should_stop(source->limits.user))
        return STONET_OK;
    return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before %s was read", source->path);
}

/* The most bytes that the source may give. Arrays in an archive are as large as their shapes say. */
static int64_t most_bytes(const sn_source *source)
{
    if (source->limits.max_bytes > 0) return source->limits.max_bytes;
    if (source->packing != SN_GZIP || source->size > INT64_MAX / USUAL_LIMIT) return INT64_MAX;
    const int64_t most = source->size * USUAL_LIMIT;
    return most > ALWAYS_TAKEN ? most : ALWAYS_TAKEN;
}

static stonet_status too_much(const sn_source *source)
{
    return sn_fail(STONET_ERROR_DATA,
                   "%s gives more than %lld bytes, which is the limit: if the file is right, allow more "
                   "(--max-bytes)",
                   source->path, (long long)most_bytes(source));
}

void sn_source_close(sn_source *source)
{
    if (source == NULL) return;
    if (source->inflating) inflateEnd(&source->stream);
    if (source->descriptor >= 0) close(source->descriptor);
    sn_free(source->path);
    sn_free(source);
}

static stonet_status source_create(const char *path, sn_source **out)
{
    SN_AUTO(sn_source) *source = NULL;
    SN_TRY(SN_NEW(source, 1));
    source->descriptor = -1;
    SN_TRY(sn_text_copy(path, &source->path));
    return SN_GIVE(source, out);
}

static stonet_status write_fully(int descriptor, const unsigned char *bytes, size_t size, const char *path)
{
    while (size > 0) {
        ssize_t written = write(descriptor, bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return cannot_read(path, errno);
        bytes += written;
        size -= (size_t)written;
    }
    return STONET_OK;
}

/* Replaces the descriptor by one of memory with all that `next` gives. */
static stonet_status spool(sn_source *source, stonet_status (*next)(sn_source *, void *, size_t, size_t *))
{
    const size_t part_size = SN_BUFFER(1 << 20);
    int memory = memfd_create("stonet", MFD_CLOEXEC);
    if (memory < 0) return cannot_read(source->path, errno);
    SN_BLOCK unsigned char *part = sn_malloc(part_size, 1);
    stonet_status status = part == NULL ? STONET_ERROR_MEMORY : STONET_OK;
    int64_t total = 0;
    for (size_t got = 1; status == STONET_OK && got > 0;) {
        status = next(source, part, part_size, &got);
        if (status == STONET_OK && total % (int64_t)(64 * part_size) == 0)
            status = sn_memory_require(64 * part_size, source->path, "give it as a plain file");
        if (status == STONET_OK) status = write_fully(memory, part, got, source->path);
        total += (int64_t)got;
        if (status == STONET_OK && total > most_bytes(source)) status = too_much(source);
    }
    if (status != STONET_OK) {
        close(memory);
        return status;
    }
    close(source->descriptor);
    source->descriptor = memory;
    source->size = total;
    return STONET_OK;
}

/* Nobody need have opened the other end of a pipe yet: waiting for its first bytes, or for more, can be
   stopped. */
static stonet_status read_pipe(sn_source *source, void *bytes, size_t size, size_t *got)
{
    enum { LOOK_EVERY = 100 }; /* milliseconds */
    for (;;) {
        SN_TRY(check_stop(source));
        struct pollfd end = {.fd = source->descriptor, .events = POLLIN};
        const int ready = poll(&end, 1, LOOK_EVERY);
        if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
        const ssize_t count = ready < 0 ? -1 : read(source->descriptor, bytes, size);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (count < 0) return cannot_read(source->path, errno);
        *got = (size_t)count;
        return STONET_OK;
    }
}

stonet_status sn_source_fetch(const sn_source *source, int64_t offset, void *bytes, size_t size, size_t *got)
{
    size_t have = 0;
    SN_TRY(check_stop(source));
    if (offset < 0 || offset > source->size) offset = source->size;
    if ((uint64_t)(source->size - offset) < size) size = (size_t)(source->size - offset);
    while (have < size) {
        ssize_t count = pread(source->descriptor, (char *)bytes + have, size - have,
                              source->start + offset + (int64_t)have);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return cannot_read(source->path, errno);
        if (count == 0) break; /* the file became shorter meanwhile */
        have += (size_t)count;
    }
    *got = have;
    return STONET_OK;
}

static stonet_status open_descriptor(sn_source *source)
{
    /* A pipe that nobody writes to is waited for later, where that can be stopped. */
    source->descriptor = open(source->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (source->descriptor < 0) return cannot_read(source->path, errno);
    struct stat info;
    if (fstat(source->descriptor, &info) != 0) return cannot_read(source->path, errno);
    if (S_ISDIR(info.st_mode)) return cannot_read(source->path, EISDIR);
    if (S_ISREG(info.st_mode)) {
        source->size = info.st_size;
        return STONET_OK;
    }
    if (!S_ISFIFO(info.st_mode) && !S_ISSOCK(info.st_mode) && !isatty(source->descriptor))
        return sn_fail(STONET_ERROR_IO, "cannot read %s: it is a device and not a file", source->path);
    return spool(source, read_pipe);
}

stonet_status sn_source_open(const char *path, const sn_source_limits *limits, sn_source **out)
{
    *out = NULL;
    if (path == NULL || path[0] == '\0')
        return sn_fail(STONET_ERROR_ARGUMENT, "the name of the data file is empty");
    SN_AUTO(sn_source) *source = NULL;
    SN_TRY(source_create(path, &source));
    if (limits != NULL) source->limits = *limits;
    unsigned char magic[2] = {0, 0};
    size_t got = 0;
    SN_TRY(open_descriptor(source));
    SN_TRY(sn_source_fetch(source, 0, magic, sizeof magic, &got));
    if (source->size == 0) return sn_fail(STONET_ERROR_DATA, "%s is empty", path);
    source->packing = magic[0] == 0x1f && magic[1] == 0x8b ? SN_GZIP : SN_PLAIN;
    SN_TRY(sn_source_rewind(source));
    return SN_GIVE(source, out);
}

stonet_status sn_source_open_member(const sn_source *archive, int64_t offset, int64_t size, bool deflated,
                                    sn_source **out)
{
    SN_AUTO(sn_source) *source = NULL;
    SN_TRY(source_create(archive->path, &source));
    source->descriptor = dup(archive->descriptor);
    if (source->descriptor < 0) return cannot_read(archive->path, errno);
    source->is_member = true;
    source->limits = archive->limits;
    source->start = offset;
    source->size = size;
    source->packing = deflated ? SN_RAW_DEFLATE : SN_PLAIN;
    SN_TRY(sn_source_rewind(source));
    return SN_GIVE(source, out);
}

stonet_status sn_source_rewind(sn_source *source)
{
    source->at = 0;
    source->finished = false;
    source->crc = 0;
    source->unpacked = 0;
    source->stream.avail_in = 0;
    if (source->packing == SN_PLAIN) return STONET_OK;
    if (source->inflating) inflateEnd(&source->stream);
    memset(&source->stream, 0, sizeof source->stream);
    /* The window bits say what wrapping to expect: gzip, or none as in zip. */
    source->inflating = inflateInit2(&source->stream, source->packing == SN_GZIP ? 15 + 16 : -15) == Z_OK;
    if (!source->inflating)
        return sn_fail(STONET_ERROR_MEMORY, "memory ran out while unpacking %s", source->path);
    return STONET_OK;
}

stonet_status sn_source_unpack(sn_source *source)
{
    if (source->packing == SN_PLAIN) return STONET_OK;
    SN_TRY(sn_source_rewind(source));
    SN_TRY(spool(source, sn_source_read));
    source->packing = SN_PLAIN;
    return sn_source_rewind(source);
}

static stonet_status refill_packed(sn_source *source)
{
    size_t got = 0;
    SN_TRY(sn_source_fetch(source, source->at, source->packed, SN_PACKED_SIZE, &got));
    if (got == 0) return cut_off(source);
    source->at += (int64_t)got;
    source->stream.next_in = source->packed;
    source->stream.avail_in = (uInt)got;
    return STONET_OK;
}

/* At the end of one gzip part: another may follow (files joined with cat), or padding with zeros. */
static stonet_status next_part(sn_source *source)
{
    for (;;) {
        if (source->packing == SN_RAW_DEFLATE) break;
        if (source->stream.avail_in == 0) {
            if (source->at >= source->size) break;
            SN_TRY(refill_packed(source));
        }
        if (*source->stream.next_in != 0) {
            if (*source->stream.next_in != 0x1f || inflateReset(&source->stream) != Z_OK)
                return sn_fail(STONET_ERROR_FORMAT, "%s has bytes after its gzip data that are not gzip data",
                               source->path);
            return STONET_OK;
        }
        source->stream.next_in++;
        source->stream.avail_in--;
    }
    source->finished = true;
    return STONET_OK;
}

/* *got < size only at the end of the data. zlib counts in 32 bits, so larger requests are unpacked in pieces.
   Z_BUF_ERROR only says that more packed bytes are needed. */
static stonet_status inflate_bytes(sn_source *source, unsigned char *bytes, size_t size, size_t *got)
{
    z_stream *stream = &source->stream;
    size_t have = 0;
    while (have < size && !source->finished) {
        if (stream->avail_in == 0) SN_TRY(refill_packed(source));
        size_t part = size - have < (1u << 30) ? size - have : 1u << 30;
        stream->next_out = bytes + have;
        stream->avail_out = (uInt)part;
        int result = inflate(stream, Z_NO_FLUSH);
        have += part - stream->avail_out;
        if (result == Z_STREAM_END)
            SN_TRY(next_part(source));
        else if (result == Z_MEM_ERROR)
            return sn_fail(STONET_ERROR_MEMORY, "memory ran out while unpacking %s", source->path);
        else if (result != Z_OK && result != Z_BUF_ERROR)
            return sn_fail(STONET_ERROR_FORMAT, "the packed data in %s is damaged", source->path);
    }
    *got = have;
    return STONET_OK;
}

stonet_status sn_source_read(sn_source *source, void *bytes, size_t size, size_t *got)
{
    if (source->packing == SN_PLAIN) {
        SN_TRY(sn_source_fetch(source, source->at, bytes, size, got));
        source->at += (int64_t)*got;
    } else {
        SN_TRY(inflate_bytes(source, bytes, size, got));
        source->unpacked += (int64_t)*got;
        if (source->unpacked > most_bytes(source)) return too_much(source);
    }
    if (source->is_member) source->crc = (uint32_t)crc32_z(source->crc, bytes, *got);
    return STONET_OK;
}

stonet_status sn_source_read_all(sn_source *source, void *bytes, size_t size)
{
    size_t got = 0;
    SN_TRY(sn_source_read(source, bytes, size, &got));
    return got == size ? STONET_OK : cut_off(source);
}

stonet_status sn_source_read_at(sn_source *source, int64_t offset, void *bytes, size_t size)
{
    size_t got = 0;
    SN_TRY(sn_source_fetch(source, offset, bytes, size, &got));
    return got == size ? STONET_OK : cut_off(source);
}

stonet_status sn_source_map(const sn_source *source, int64_t size, sn_mapping **mapping,
                            const unsigned char **bytes)
{
    *mapping = NULL;
    /* Members of archives have a checksum, so they are read. */
    if (source->packing != SN_PLAIN || source->is_member || size > source->size - source->at)
        return STONET_OK;
    SN_TRY(sn_mapping_open(source->descriptor, source->at + size, mapping));
    if (*mapping != NULL) *bytes = sn_mapping_bytes(*mapping) + source->at;
    return STONET_OK;
}

bool sn_source_map_to(const sn_source *source, int64_t size, sn_mapping *mapping, int64_t place)
{
    if (source->packing != SN_PLAIN || source->is_member || size > source->size - source->at) return false;
    return sn_mapping_put(mapping, place, source->descriptor, source->path, source->start + source->at, size);
}

int64_t sn_source_left(const sn_source *source)
{
    int64_t left = source->size - source->at;
    if (source->packing == SN_PLAIN) return left;
    left += (int64_t)source->stream.avail_in + 64; /* inflate may hold back a little */
    left = left > INT64_MAX / DEFLATE_LIMIT ? INT64_MAX : left * DEFLATE_LIMIT;
    const int64_t most = most_bytes(source) - source->unpacked;
    return left < most ? left : most;
}

double sn_source_fraction(const sn_source *source)
{
    return source->size == 0 ? 1 : (double)(source->at - source->stream.avail_in) / (double)source->size;
}
