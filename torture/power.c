#include "torture/power.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every function of the system that is called here is one that the linker does not send through faults.c. */

enum { SECTOR = 512, MAX_WRITES = 4096, MAX_STEPS = 64, NAME = 512 };

/* A write that was not synced. The descriptor is one of our own: the program may close its. */
typedef struct unsynced {
    int descriptor;
    dev_t device;
    ino_t number;
    off_t offset;
    size_t size;
} unsynced;

/* A name that was given, or renamed, in a folder that was not synced. */
typedef struct step {
    bool is_rename;
    char from[NAME], to[NAME];
    char kept[NAME]; /* another name of the file that `to` was; empty: there was none */
} step;

static unsynced writes[MAX_WRITES];
static size_t n_writes;
static step steps[MAX_STEPS];
static size_t n_steps;

void power_wrote(int descriptor, off_t offset, size_t size)
{
    struct stat about;
    if (descriptor <= STDERR_FILENO || fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) return;
    if (n_writes == MAX_WRITES) abort();
    int own = -1;
    for (size_t k = 0; k < n_writes; k++)
        if (writes[k].device == about.st_dev && writes[k].number == about.st_ino) own = writes[k].descriptor;
    if (own < 0) own = fcntl(descriptor, F_DUPFD_CLOEXEC, 100);
    writes[n_writes++] = (unsynced){own, about.st_dev, about.st_ino, offset, size};
}

void power_synced(int descriptor)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0) abort();
    if (S_ISDIR(about.st_mode)) { /* all commands work in one folder */
        power_forget();
        return;
    }
    size_t left = 0;
    int own = -1;
    for (size_t k = 0; k < n_writes; k++) {
        bool same = writes[k].device == about.st_dev && writes[k].number == about.st_ino;
        if (same)
            own = writes[k].descriptor;
        else
            writes[left++] = writes[k];
    }
    if (own >= 0) close(own);
    n_writes = left;
}

static step *add_step(void)
{
    if (n_steps == MAX_STEPS) abort();
    steps[n_steps] = (step){0};
    return &steps[n_steps++];
}

void power_linked(const char *name)
{
    snprintf(add_step()->to, NAME, "%s", name);
}

void power_renames(const char *from, const char *to)
{
    step *one = add_step();
    one->is_rename = true;
    snprintf(one->from, NAME, "%s", from);
    snprintf(one->to, NAME, "%s", to);
    snprintf(one->kept, NAME, ".kept-%zu", n_steps);
    if (link(to, one->kept) != 0) one->kept[0] = '\0';
}

void power_forget(void)
{
    for (size_t k = 0; k < n_steps; k++)
        if (steps[k].kept[0] != '\0') unlink(steps[k].kept);
    n_steps = 0;
}

static uint64_t state;

/* From 0 to count - 1 (the high bits of a linear congruence). */
static size_t draw(size_t count)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((state >> 33) % count);
}

static bool drops(unsigned long seed)
{
    return seed == 0 || (seed > 1 && draw(2) == 0);
}

/* Sectors come to nothing; those at the end of the file are gone, or nothing as well. */
static void drop_sectors(const unsynced *written, unsigned long seed)
{
    static const char nothing[SECTOR];
    const off_t end = written->offset + (off_t)written->size;
    struct stat about;
    for (off_t at = written->offset; at < end;) {
        off_t next = (at / SECTOR + 1) * SECTOR;
        if (next > end) next = end;
        if (drops(seed) && pwrite(written->descriptor, nothing, (size_t)(next - at), at) < 0) abort();
        at = next;
    }
    if (fstat(written->descriptor, &about) == 0 && about.st_size == end && drops(seed) &&
        ftruncate(written->descriptor, end - (off_t)(seed == 0 ? written->size : draw(written->size + 1))) !=
            0)
        abort();
}

static void undo(const step *one)
{
    if (!one->is_rename) {
        unlink(one->to);
        return;
    }
    if (renameat(AT_FDCWD, one->to, AT_FDCWD, one->from) != 0) abort();
    if (one->kept[0] != '\0' && renameat(AT_FDCWD, one->kept, AT_FDCWD, one->to) != 0) abort();
}

void power_lost(unsigned long seed)
{
    state = seed;
    for (size_t k = n_writes; k-- > 0;) drop_sectors(&writes[k], seed);
    size_t kept = seed == 0 ? 0 : seed == 1 ? n_steps : draw(n_steps + 1);
    while (n_steps > kept) undo(&steps[--n_steps]);
    power_forget();
}
