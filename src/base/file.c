#define _GNU_SOURCE /* O_TMPFILE */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buffer.h"
#include "base/memory.h"

enum { BUFFER_SIZE = SN_BUFFER(1 << 18), TRIES = 100, NAME_ROOM = 16, DESCRIPTOR_PATH = 32 };

struct sn_writer {
    char *path;      /* what the caller named: for the sentences */
    char *target;    /* where the bytes end up: `path` with symbolic links followed */
    char *temporary; /* NULL when written straight through, as to a device or a pipe */
    bool unnamed;    /* `temporary` is the name that the file is still to get */
    int descriptor;
    bool compress;
    bool stream_ready;
    z_stream stream;
    size_t filled;
    unsigned char buffer[BUFFER_SIZE];
    unsigned char packed[BUFFER_SIZE];
};

static stonet_status cannot_write(const sn_writer *writer, int error)
{
    return sn_fail(STONET_ERROR_IO, "cannot write %s: %s", writer->path, strerror(error));
}

/* The length of the folder in front of the last name in a path, its slash included. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* Another name beside the target: .tmpXXXXXX. */
static void draw_name(const sn_writer *writer, uint64_t *salt)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *salt = (*salt ^ (uint64_t)now.tv_nsec) * 0xD1342543DE82EF95u + 1;
    snprintf(writer->temporary + folder_length(writer->target), NAME_ROOM, ".tmp%06x",
             (unsigned)(*salt >> 40));
}

static uint64_t first_salt(const sn_writer *writer)
{
    return (uint64_t)getpid() * 0x9E3779B97F4A7C15u ^ (uint64_t)(uintptr_t)writer;
}

static void path_of_descriptor(const sn_writer *writer, char path[DESCRIPTOR_PATH])
{
    snprintf(path, DESCRIPTOR_PATH, "/proc/self/fd/%d", writer->descriptor);
}

/* A file without a name, which is gone with the process, however that ends. Not every file system has them.
 */
static bool open_unnamed(sn_writer *writer, mode_t mode)
{
    size_t length = folder_length(writer->target);
    char path[DESCRIPTOR_PATH], held = writer->temporary[length];
    writer->temporary[length] = '\0';
    writer->descriptor = open(length > 0 ? writer->temporary : ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
    writer->temporary[length] = held;
    if (writer->descriptor < 0) return false;
    path_of_descriptor(writer, path);
    writer->unnamed = access(path, F_OK) == 0; /* the way by which it will get its name */
    if (writer->unnamed) return true;
    close(writer->descriptor);
    writer->descriptor = -1;
    return false;
}

/* Creates a temporary file beside the target, for its owner and others as `mode` and the umask say: never for
   more people than may read the file that it will replace. (mkstemp would make it private to the owner, and
   asking for the umask to undo that is not thread safe.) */
static stonet_status open_temporary(sn_writer *writer, mode_t mode)
{
    size_t length = folder_length(writer->target);
    writer->temporary = sn_malloc(length + NAME_ROOM, 1);
    if (writer->temporary == NULL) return STONET_ERROR_MEMORY;
    memcpy(writer->temporary, writer->target, length);
    uint64_t salt = first_salt(writer);
    draw_name(writer, &salt);
    if (open_unnamed(writer, mode)) return STONET_OK;
    for (int try = 0; try < TRIES; try++) {
        writer->descriptor = open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (writer->descriptor >= 0) return STONET_OK;
        if (errno != EEXIST) break;
        draw_name(writer, &salt);
    }
    int error = errno;
    SN_FREE(writer->temporary);
    return cannot_write(writer, error);
}

/* /dev/stdout and its like stand for a file that is already open, often one the shell appends to: that one
   is written on, not the name it happens to have. Returns -1 for any other path. */
static int open_file_number(const char *path)
{
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    if (strncmp(path, "/dev/fd/", 8) != 0) return -1;
    const char *digits = path + 8;
    char *end;
    long number = strtol(digits, &end, 10);
    return *digits >= '0' && *digits <= '9' && *end == '\0' && number <= INT_MAX ? (int)number : -1;
}

/* Chooses where the bytes go. Standard output, devices and pipes are written directly. A regular file is
   replaced at the end by a temporary file, which gets the permissions of the old file. */
static stonet_status open_target(sn_writer *writer)
{
    int number = open_file_number(writer->path);
    if (number >= 0) {
        writer->descriptor = dup(number);
        return writer->descriptor >= 0 ? STONET_OK : cannot_write(writer, errno);
    }
    struct stat info;
    bool exists = stat(writer->target, &info) == 0;
    if (!exists && errno != ENOENT) return cannot_write(writer, errno);
    if (exists && S_ISDIR(info.st_mode)) return cannot_write(writer, EISDIR);
    if (exists && !S_ISREG(info.st_mode)) {
        writer->descriptor = open(writer->path, O_WRONLY | O_CLOEXEC);
        return writer->descriptor >= 0 ? STONET_OK : cannot_write(writer, errno);
    }
    if (exists && access(writer->target, W_OK) != 0) return cannot_write(writer, errno);
    SN_TRY(open_temporary(writer, exists ? info.st_mode & 0777 : 0666));
    if (exists && fchmod(writer->descriptor, info.st_mode & 0777) != 0) return cannot_write(writer, errno);
    return STONET_OK;
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

stonet_status sn_writer_open(const char *path, sn_writer **out)
{
    *out = NULL;
    if (path == NULL || path[0] == '\0')
        return sn_fail(STONET_ERROR_ARGUMENT, "the name of the file to write is empty");
    SN_AUTO(sn_writer) *writer = NULL;
    SN_TRY(SN_NEW(writer, 1));
    writer->descriptor = -1;
    SN_TRY(sn_text_copy(path, &writer->path));
    /* The name behind symbolic links, so that the rename replaces the file and not the link to it. A path
       that does not exist yet is its own target. */
    char *real = realpath(path, NULL);
    writer->target = real != NULL ? real : sn_strdup(path);
    if (writer->target == NULL) return STONET_ERROR_MEMORY;
    SN_TRY(open_target(writer));
    writer->compress = ends_with(path, ".gz");
    /* 15 + 16 asks for the gzip wrapping. The header carries no time, so equal input gives equal bytes. */
    if (writer->compress &&
        deflateInit2(&writer->stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return sn_fail(STONET_ERROR_MEMORY, "memory ran out while preparing to compress %s", path);
    writer->stream_ready = writer->compress;
    return SN_GIVE(writer, out);
}

static stonet_status write_all(sn_writer *writer, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(writer->descriptor, bytes, size);
        if (written < 0) {
            if (errno == EINTR) continue;
            return cannot_write(writer, errno);
        }
        bytes += written;
        size -= (size_t)written;
    }
    return STONET_OK;
}

static stonet_status compress_buffer(sn_writer *writer, int flush)
{
    z_stream *stream = &writer->stream;
    stream->next_in = writer->buffer;
    stream->avail_in = (uInt)writer->filled;
    int result;
    do {
        stream->next_out = writer->packed;
        stream->avail_out = BUFFER_SIZE;
        result = deflate(stream, flush);
        if (result == Z_STREAM_ERROR) return sn_fail(STONET_ERROR_IO, "cannot compress %s", writer->path);
        SN_TRY(write_all(writer, writer->packed, BUFFER_SIZE - stream->avail_out));
    } while (stream->avail_out == 0 && result != Z_STREAM_END);
    return STONET_OK;
}

static stonet_status flush_buffer(sn_writer *writer, bool last)
{
    stonet_status status = writer->compress ? compress_buffer(writer, last ? Z_FINISH : Z_NO_FLUSH)
                                            : write_all(writer, writer->buffer, writer->filled);
    writer->filled = 0;
    return status;
}

stonet_status sn_write(sn_writer *writer, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    while (size > 0) {
        size_t room = BUFFER_SIZE - writer->filled;
        size_t part = size < room ? size : room;
        memcpy(writer->buffer + writer->filled, from, part);
        writer->filled += part;
        from += part;
        size -= part;
        if (writer->filled == BUFFER_SIZE) SN_TRY(flush_buffer(writer, false));
    }
    return STONET_OK;
}

/* Some file systems cannot sync a folder; that is no reason to fail. */
void sn_sync_folder_of(const char *path)
{
    size_t length = folder_length(path);
    SN_BLOCK char *folder = sn_malloc(length + 2, 1);
    if (folder == NULL) return;
    memcpy(folder, path, length);
    memcpy(folder + length, length == 0 ? "." : "", length == 0 ? 2 : 1);
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY);
    if (descriptor >= 0) {
        (void)fsync(descriptor);
        close(descriptor);
    }
}

/* Gives a file without a name its temporary one. */
static stonet_status give_name(sn_writer *writer)
{
    char path[DESCRIPTOR_PATH];
    path_of_descriptor(writer, path);
    uint64_t salt = first_salt(writer);
    for (int try = 0; try < TRIES; try++) {
        if (linkat(AT_FDCWD, path, AT_FDCWD, writer->temporary, AT_SYMLINK_FOLLOW) == 0) {
            writer->unnamed = false;
            return STONET_OK;
        }
        if (errno != EEXIST) break;
        draw_name(writer, &salt);
    }
    return cannot_write(writer, errno);
}

stonet_status sn_writer_commit(sn_writer **writer)
{
    return sn_writer_commit_checked(writer, NULL, NULL);
}

stonet_status sn_writer_commit_checked(sn_writer **handle, sn_file_check check, const void *expected)
{
    char path[DESCRIPTOR_PATH];
    SN_AUTO(sn_writer) *writer = *handle;
    *handle = NULL;
    SN_TRY(flush_buffer(writer, true));
    bool straight = writer->temporary == NULL;
    while (!straight && fsync(writer->descriptor) != 0)
        if (errno != EINTR) return cannot_write(writer, errno);
    path_of_descriptor(writer, path);
    if (!straight && check != NULL) SN_TRY(check(writer->unnamed ? path : writer->temporary, expected));
    if (!straight && writer->unnamed) SN_TRY(give_name(writer));
    int descriptor = writer->descriptor;
    writer->descriptor = -1;
    if (close(descriptor) != 0) return cannot_write(writer, errno);
    if (straight) return STONET_OK;
    if (rename(writer->temporary, writer->target) != 0) return cannot_write(writer, errno);
    SN_FREE(writer->temporary);
    sn_sync_folder_of(writer->target);
    return STONET_OK;
}

void sn_writer_abandon(sn_writer *writer)
{
    if (writer == NULL) return;
    if (writer->temporary != NULL && !writer->unnamed) (void)unlink(writer->temporary);
    if (writer->stream_ready) deflateEnd(&writer->stream);
    if (writer->descriptor >= 0) close(writer->descriptor);
    SN_FREE_ALL(writer->temporary, writer->target, writer->path, writer);
}

stonet_status stonet_bytes_write(const char *path, const void *bytes, size_t size)
{
    if (path == NULL || (bytes == NULL && size > 0))
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_bytes_write needs a path and bytes.");
    SN_AUTO(sn_writer) *writer = NULL;
    SN_TRY(sn_writer_open(path, &writer));
    if (size > 0) SN_TRY(sn_write(writer, bytes, size));
    return sn_writer_commit(&writer);
}

stonet_status stonet_path_check(const char *path)
{
    if (path == NULL) return sn_fail(STONET_ERROR_ARGUMENT, "stonet_path_check needs a path");
    SN_AUTO(sn_writer) *writer = NULL;
    return sn_writer_open(path, &writer);
}
