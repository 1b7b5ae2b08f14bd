#include "base/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    ALIGNMENT = 64,
    HUGE_PAGE = 2 << 20, /* large arrays ask for huge pages: reading their rows in random order is then not a
                            page walk a row */
    HUGE_FROM = 4 * HUGE_PAGE
};

static bool byte_count(size_t count, size_t size, size_t *bytes)
{
    if (__builtin_mul_overflow(count, size, bytes) || *bytes > SIZE_MAX - ALIGNMENT) {
        sn_fail(STONET_ERROR_MEMORY, "%zu items of %zu bytes are more than this machine can address", count,
                size);
        return false;
    }
    return true;
}

static void *out_of_memory(size_t bytes)
{
    sn_fail(STONET_ERROR_MEMORY, "memory ran out: %.1f MB more were needed", (double)bytes / 1e6);
    return NULL;
}

void *sn_malloc(size_t count, size_t size)
{
    size_t bytes;
    if (!byte_count(count, size, &bytes)) return NULL;
    /* Exactly the size that the caller wants, so that the address sanitizer sees a step past the end. */
    void *block = NULL;
    if (posix_memalign(&block, bytes >= HUGE_FROM ? HUGE_PAGE : ALIGNMENT, bytes > 0 ? bytes : 1) != 0)
        return out_of_memory(bytes);
    if (bytes >= HUGE_FROM) madvise(block, bytes, MADV_HUGEPAGE); /* a wish: without it all is well */
    return block;
}

void *sn_calloc(size_t count, size_t size)
{
    void *block = sn_malloc(count, size);
    if (block != NULL) memset(block, 0, count * size);
    return block;
}

void *sn_realloc(void *block, size_t count, size_t size)
{
    size_t bytes;
    if (!byte_count(count, size, &bytes)) return NULL;
    void *grown = realloc(block, bytes > 0 ? bytes : 1);
    return grown != NULL ? grown : out_of_memory(bytes);
}

stonet_status sn_grow(void *pointer, size_t count, size_t size)
{
    void *block;
    memcpy(&block, pointer, sizeof block); /* whatever it points to */
    block = sn_realloc(block, count, size);
    if (block == NULL) return STONET_ERROR_MEMORY;
    memcpy(pointer, &block, sizeof block);
    return STONET_OK;
}

void sn_free(void *block)
{
    free(block);
}

void sn_free_all(void *const *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++) sn_free(blocks[i]);
}

void stonet_string_free(char *text)
{
    free(text);
}

void stonet_bytes_free(unsigned char *bytes)
{
    free(bytes);
}

char *sn_strdup(const char *text)
{
    size_t length = strlen(text) + 1;
    char *copy = sn_realloc(NULL, length, 1);
    if (copy != NULL) memcpy(copy, text, length);
    return copy;
}

stonet_status sn_text_copy(const char *text, char **out)
{
    *out = text != NULL ? sn_strdup(text) : NULL;
    return text == NULL || *out != NULL ? STONET_OK : STONET_ERROR_MEMORY;
}

enum { LONGEST = 4096 }; /* line or path */

/* The number in a small file; false when there is none, as for "max". */
static bool read_number(const char *folder, const char *name, uint64_t *number)
{
    char path[2 * LONGEST], text[64] = "";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (file == NULL) return false;
    char *end = text;
    if (fgets(text, sizeof text, file) != NULL) *number = strtoull(text, &end, 10);
    fclose(file);
    return end != text;
}

/* What one group leaves: its limit less what it uses. */
static uint64_t left_in(const char *folder, bool unified)
{
    uint64_t limit = 0, used = 0;
    if (!read_number(folder, unified ? "memory.max" : "memory.limit_in_bytes", &limit)) return UINT64_MAX;
    read_number(folder, unified ? "memory.current" : "memory.usage_in_bytes", &used);
    return limit > used ? limit - used : 0;
}

/* The least over a group, whose folder is root/path, and all above it. */
static uint64_t left_up_from(const char *root, const char *path, bool unified)
{
    char folder[LONGEST];
    size_t top = (size_t)snprintf(folder, sizeof folder, "%s", root);
    snprintf(folder + top, sizeof folder - top, "%s", path);
    uint64_t least = UINT64_MAX;
    for (;;) {
        uint64_t left = left_in(folder, unified);
        least = left < least ? left : least;
        char *slash = strrchr(folder + top, '/');
        if (slash == NULL) return least;
        *slash = '\0';
    }
}

/* `membership` has lines "0::/path" (version 2) and "4:memory:/path" (version 1). */
uint64_t sn_cgroup_available(const char *membership, const char *root)
{
    FILE *file = fopen(membership, "r");
    if (file == NULL) return UINT64_MAX;
    char line[LONGEST], memory_root[LONGEST];
    snprintf(memory_root, sizeof memory_root, "%s/memory", root);
    uint64_t least = UINT64_MAX;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *kinds = strchr(line, ':'), *path = kinds != NULL ? strchr(kinds + 1, ':') : NULL;
        if (path == NULL || path[1] != '/') continue;
        *path++ = '\0';
        bool unified = strcmp(kinds + 1, "") == 0;
        if (!unified && strcmp(kinds + 1, "memory") != 0) continue;
        uint64_t left = left_up_from(unified ? root : memory_root, path, unified);
        least = left < least ? left : least;
    }
    fclose(file);
    return least;
}

/* The kernel's own estimate of what can be had without swapping; 0 if it cannot be read. */
static uint64_t memory_from_kernel(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    if (file == NULL) return 0;
    char line[256];
    unsigned long long kib = 0;
    while (kib == 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "MemAvailable:", 13) == 0) kib = strtoull(line + 13, NULL, 10);
    fclose(file);
    return kib * 1024;
}

/* Bytes of address space in use, as a limit on them (ulimit -v) counts them. */
static uint64_t addresses_used(void)
{
    uint64_t pages = 0;
    const long page = sysconf(_SC_PAGESIZE);
    return read_number("/proc/self", "statm", &pages) && page > 0 ? pages * (uint64_t)page : 0;
}

uint64_t sn_memory_available(void)
{
    uint64_t available = memory_from_kernel();
    if (available == 0) {
        long pages = sysconf(_SC_PHYS_PAGES);
        long page = sysconf(_SC_PAGESIZE);
        available = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    }
    uint64_t in_group = sn_cgroup_available("/proc/self/cgroup", "/sys/fs/cgroup");
    if (in_group < available) available = in_group;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        uint64_t used = addresses_used();
        uint64_t left = limit.rlim_cur > used ? limit.rlim_cur - used : 0;
        if (left < available) available = left;
    }
    return available;
}

/* So little an allocation can refuse by itself; asking the system, several files of it, takes longer than
 * using it. */
enum { WORTH_ASKING = 1 << 20 };

stonet_status sn_memory_require(uint64_t bytes, const char *what, const char *advice)
{
    if (bytes < WORTH_ASKING) return STONET_OK;
    uint64_t available = sn_memory_available();
    if (bytes <= available) return STONET_OK;
    return sn_fail(STONET_ERROR_MEMORY, "%s needs %.1f GB of memory and %.1f GB are available: %s", what,
                   (double)bytes / 1e9, (double)available / 1e9, advice);
}
