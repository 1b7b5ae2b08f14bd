/*
 * Calls that fail when they are told to. Linked into a second form of the program (stonet-faults) with
 * `ld --wrap`, so that each call of ours to one of the functions below comes here first; what jansson, zlib
 * and LAPACKE allocate is counted with them.
 *
 *   STONET_FAULT="KIND N once|always"   the N-th call of that kind fails, or that one and all later ones
 *   STONET_FAULT="KIND N kill"          the program is killed there
 *   STONET_FAULT="KIND N power SEED"    the machine loses its power there (see power.h)
 *   STONET_FAULT_COUNTS=FILE            at the end: "KIND CALLS" a line
 *   STONET_FAULT_PATHS=FILE             at once: "KIND N PATH" for each call that was reached by a path of
 * its own, PATH being a hash of the places on the stack, the same from run to run
 *
 * KIND is alloc, open, read, write, sync, rename or map; `end 1` is where the program has done all it does.
 */
#define _GNU_SOURCE /* O_TMPFILE */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <lapacke.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "torture/power.h"

enum kind { ALLOC, OPEN, READ, WRITE, SYNC, RENAME, MAP, END, KINDS };

static const char *const kind_name[KINDS] = {"alloc", "open",   "read", "write",
                                             "sync",  "rename", "map",  "end"};

static atomic_long calls[KINDS];
static int faulty = -1; /* the kind that fails */
static long fails_at;
static enum { ONCE, ALWAYS, KILL, POWER } way;
static unsigned long seed;

/* ---- the paths by which calls are reached ---- */

/* As many functions of a path are told apart: some five of the program and those that end in the call. */
enum { PATHS = 1 << 16, DEPTH = 9 };

extern const char __executable_start[], etext[]; /* the linker's */

static FILE *paths; /* NULL: nobody asks */
static uint64_t known[PATHS];
static atomic_flag noting = ATOMIC_FLAG_INIT;

/* FNV-1a of where in the program the functions on the stack were called from; never 0. */
static uint64_t path_here(enum kind kind)
{
    void *at[DEPTH];
    uint64_t hash = 14695981039346656037u ^ (uint64_t)kind;
    for (int depth = backtrace(at, DEPTH), k = 0; k < depth; k++) {
        const char *place = at[k];
        if (place < __executable_start || place >= etext) continue; /* libraries lie elsewhere in each run */
        hash = (hash ^ (uint64_t)(place - __executable_start)) * 1099511628211u;
    }
    return hash | 1;
}

static void note_path(enum kind kind, long call)
{
    uint64_t path = path_here(kind), slot = path / 2 % PATHS;
    while (atomic_flag_test_and_set(&noting)) {
    }
    for (int tries = 0; known[slot] != path && known[slot] != 0 && tries < PATHS; tries++)
        slot = (slot + 1) % PATHS;
    if (known[slot] == 0) {
        known[slot] = path;
        fprintf(paths, "%s %ld %" PRIx64 "\n", kind_name[kind], call, path);
    }
    atomic_flag_clear(&noting);
}

static bool fails(enum kind kind)
{
    long call = atomic_fetch_add(&calls[kind], 1) + 1;
    if (paths != NULL) note_path(kind, call);
    if ((int)kind != faulty || call < fails_at || (call > fails_at && way != ALWAYS)) return false;
    if (way == POWER) power_lost(seed);
    if (way >= KILL) raise(SIGKILL);
    return true;
}

/* ---- memory ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
char *__real_realpath(const char *path, char *resolved);
FILE *__real_open_memstream(char **text, size_t *size);

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

void *__wrap_malloc(size_t size)
{
    return fails(ALLOC) ? no_memory() : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails(ALLOC) ? no_memory() : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return fails(ALLOC) ? no_memory() : __real_realloc(block, size);
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t size)
{
    return fails(ALLOC) ? ENOMEM : __real_posix_memalign(block, alignment, size);
}

char *__wrap_strdup(const char *text)
{
    return fails(ALLOC) ? no_memory() : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t size)
{
    return fails(ALLOC) ? no_memory() : __real_strndup(text, size);
}

char *__wrap_realpath(const char *path, char *resolved)
{
    return fails(ALLOC) ? no_memory() : __real_realpath(path, resolved);
}

FILE *__wrap_open_memstream(char **text, size_t *size)
{
    return fails(ALLOC) ? no_memory() : __real_open_memstream(text, size);
}

static void *zlib_alloc(void *none, unsigned count, unsigned size)
{
    (void)none;
    return __wrap_calloc(count, size);
}

static void zlib_free(void *none, void *block)
{
    (void)none;
    free(block);
}

int __real_deflateInit2_(z_streamp stream, int level, int method, int bits, int memory, int strategy,
                         const char *version, int size);
int __real_inflateInit2_(z_streamp stream, int bits, const char *version, int size);

int __wrap_deflateInit2_(z_streamp stream, int level, int method, int bits, int memory, int strategy,
                         const char *version, int size)
{
    stream->zalloc = zlib_alloc;
    stream->zfree = zlib_free;
    return __real_deflateInit2_(stream, level, method, bits, memory, strategy, version, size);
}

int __wrap_inflateInit2_(z_streamp stream, int bits, const char *version, int size)
{
    stream->zalloc = zlib_alloc;
    stream->zfree = zlib_free;
    return __real_inflateInit2_(stream, bits, version, size);
}

/*
 * Jansson's parser does not look at what becomes of the growth of its buffer for a token, and reads past its
 * end when it failed (2.14): nothing that we could mend or guard against, so such a call fails as a whole.
 */
static _Thread_local bool spared;

json_t *__real_json_loads(const char *text, size_t flags, json_error_t *error);
json_t *__real_json_loadb(const char *text, size_t size, size_t flags, json_error_t *error);

static bool parser_fails(json_error_t *error)
{
    if (!fails(ALLOC)) return false;
    if (error != NULL) *error = (json_error_t){.line = -1};
    return true;
}

json_t *__wrap_json_loads(const char *text, size_t flags, json_error_t *error)
{
    if (parser_fails(error)) return NULL;
    spared = true;
    json_t *json = __real_json_loads(text, flags, error);
    spared = false;
    return json;
}

json_t *__wrap_json_loadb(const char *text, size_t size, size_t flags, json_error_t *error)
{
    if (parser_fails(error)) return NULL;
    spared = true;
    json_t *json = __real_json_loadb(text, size, flags, error);
    spared = false;
    return json;
}

json_t *__real_json_load_file(const char *path, size_t flags, json_error_t *error);

json_t *__wrap_json_load_file(const char *path, size_t flags, json_error_t *error)
{
    if (parser_fails(error)) return NULL;
    spared = true;
    json_t *json = __real_json_load_file(path, flags, error);
    spared = false;
    return json;
}

static void *jansson_malloc(size_t size)
{
    return spared ? __real_malloc(size) : __wrap_malloc(size);
}

/* LAPACKE allocates its workspace inside, and says so by this status. */
#define LAPACK_FAULT(name, parameters, arguments)                                                            \
    lapack_int __real_##name parameters;                                                                     \
    lapack_int __wrap_##name parameters                                                                      \
    {                                                                                                        \
        return fails(ALLOC) ? LAPACK_WORK_MEMORY_ERROR : __real_##name arguments;                            \
    }

LAPACK_FAULT(LAPACKE_dgelqf, (int layout, lapack_int m, lapack_int n, double *a, lapack_int lda, double *tau),
             (layout, m, n, a, lda, tau))
LAPACK_FAULT(LAPACKE_dgeqrf, (int layout, lapack_int m, lapack_int n, double *a, lapack_int lda, double *tau),
             (layout, m, n, a, lda, tau))
LAPACK_FAULT(LAPACKE_dorgqr,
             (int layout, lapack_int m, lapack_int n, lapack_int k, double *a, lapack_int lda,
              const double *tau),
             (layout, m, n, k, a, lda, tau))
LAPACK_FAULT(LAPACKE_dgelsd,
             (int layout, lapack_int m, lapack_int n, lapack_int right, double *a, lapack_int lda, double *b,
              lapack_int ldb, double *s, double rcond, lapack_int *rank),
             (layout, m, n, right, a, lda, b, ldb, s, rcond, rank))
LAPACK_FAULT(LAPACKE_dgesdd,
             (int layout, char job, lapack_int m, lapack_int n, double *a, lapack_int lda, double *s,
              double *u, lapack_int ldu, double *vt, lapack_int ldvt),
             (layout, job, m, n, a, lda, s, u, ldu, vt, ldvt))
LAPACK_FAULT(LAPACKE_dpstrf,
             (int layout, char part, lapack_int n, double *a, lapack_int lda, lapack_int *pivot,
              lapack_int *rank, double tolerance),
             (layout, part, n, a, lda, pivot, rank, tolerance))
LAPACK_FAULT(LAPACKE_dsyevd,
             (int layout, char job, char part, lapack_int n, double *a, lapack_int lda, double *w),
             (layout, job, part, n, a, lda, w))
LAPACK_FAULT(LAPACKE_dsyevr,
             (int layout, char job, char range, char part, lapack_int n, double *a, lapack_int lda, double vl,
              double vu, lapack_int il, lapack_int iu, double tolerance, lapack_int *m, double *w, double *z,
              lapack_int ldz, lapack_int *support),
             (layout, job, range, part, n, a, lda, vl, vu, il, iu, tolerance, m, w, z, ldz, support))

/* ---- files ---- */

int __real_open(const char *path, int flags, ...);
FILE *__real_fopen(const char *path, const char *mode);
int __real_memfd_create(const char *name, unsigned flags);
int __real_dup(int descriptor);
ssize_t __real_read(int descriptor, void *bytes, size_t size);
ssize_t __real_pread(int descriptor, void *bytes, size_t size, off_t offset);
ssize_t __real_write(int descriptor, const void *bytes, size_t size);
int __real_fsync(int descriptor);
int __real_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags);
int __real_rename(const char *from, const char *to);
void *__real_mmap(void *at, size_t size, int protection, int flags, int descriptor, off_t offset);

static int fail_with(int error)
{
    errno = error;
    return -1;
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, int) : 0;
    va_end(rest);
    return fails(OPEN) ? fail_with(EMFILE) : __real_open(path, flags, mode);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    if (!fails(OPEN)) return __real_fopen(path, mode);
    errno = EMFILE;
    return NULL;
}

int __wrap_memfd_create(const char *name, unsigned flags)
{
    return fails(OPEN) ? fail_with(EMFILE) : __real_memfd_create(name, flags);
}

int __wrap_dup(int descriptor)
{
    return fails(OPEN) ? fail_with(EMFILE) : __real_dup(descriptor);
}

ssize_t __wrap_read(int descriptor, void *bytes, size_t size)
{
    return fails(READ) ? fail_with(EIO) : __real_read(descriptor, bytes, size);
}

ssize_t __wrap_pread(int descriptor, void *bytes, size_t size, off_t offset)
{
    return fails(READ) ? fail_with(EIO) : __real_pread(descriptor, bytes, size, offset);
}

/* Every other write is cut short before the one that fails, as on a disk that fills up. */
ssize_t __wrap_write(int descriptor, const void *bytes, size_t size)
{
    if (fails(WRITE)) return fail_with(ENOSPC);
    bool cut = faulty == WRITE && size > 1 && atomic_load(&calls[WRITE]) % 2 == 1;
    if (way != POWER) return __real_write(descriptor, bytes, cut ? size / 2 : size);
    off_t offset = lseek(descriptor, 0, SEEK_CUR);
    ssize_t written = __real_write(descriptor, bytes, size);
    if (written > 0) power_wrote(descriptor, offset, (size_t)written);
    return written;
}

int __wrap_fsync(int descriptor)
{
    if (fails(SYNC)) return fail_with(EIO);
    int result = __real_fsync(descriptor);
    if (result == 0 && way == POWER) power_synced(descriptor);
    return result;
}

int __wrap_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    if (fails(RENAME)) return fail_with(EIO);
    int result = __real_linkat(from_folder, from, to_folder, to, flags);
    if (result == 0 && way == POWER) power_linked(to);
    return result;
}

int __wrap_rename(const char *from, const char *to)
{
    if (fails(RENAME)) return fail_with(EIO);
    if (way == POWER) power_renames(from, to);
    return __real_rename(from, to);
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int descriptor, off_t offset)
{
    if (!fails(MAP)) return __real_mmap(at, size, protection, flags, descriptor, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

/* ---- what to do ---- */

__attribute__((constructor)) static void start(void)
{
    char kind[16] = "", how[16] = "";
    json_set_alloc_funcs(jansson_malloc, free);
    const char *file = getenv("STONET_FAULT_PATHS");
    if (file != NULL && (paths = __real_fopen(file, "w")) == NULL) abort();
    const char *wish = getenv("STONET_FAULT");
    if (wish == NULL) return;
    if (sscanf(wish, "%15s %ld %15s %lu", kind, &fails_at, how, &seed) < 3) abort();
    for (int k = 0; k < KINDS; k++)
        if (strcmp(kind, kind_name[k]) == 0) faulty = k;
    static const char *const ways[] = {"once", "always", "kill", "power"};
    for (unsigned k = 0; k < sizeof ways / sizeof *ways; k++)
        if (strcmp(how, ways[k]) == 0) way = k;
    if (faulty < 0 || fails_at < 1) abort();
}

__attribute__((destructor)) static void finish(void)
{
    if (paths != NULL) fclose(paths);
    paths = NULL;
    (void)fails(END);
    faulty = -1; /* what the counters of a coverage build do at the end is not ours */
    power_forget();
    const char *path = getenv("STONET_FAULT_COUNTS");
    if (path == NULL) return;
    FILE *file = __real_fopen(path, "w");
    if (file == NULL) abort();
    for (int k = 0; k < KINDS; k++) fprintf(file, "%s %ld\n", kind_name[k], atomic_load(&calls[k]));
    fclose(file);
}
