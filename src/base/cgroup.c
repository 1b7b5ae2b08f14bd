#include "base/cgroup.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096 };

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
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= top || slash == NULL) return least;
        *slash = '\0';
        if (strlen(folder) < top) return least;
    }
}

/* Lines "0::/path" (version 2) and "4:memory:/path" (version 1). */
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
