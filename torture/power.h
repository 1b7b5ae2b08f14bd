/*
 * Power that is lost. Until a file is synced, any of its sectors written since the last time may be missing
 * from the disk, whatever was written before or after, and its length may be short; until a folder is synced,
 * the last of its names given and renamed may be missing. faults.c tells what the program does; power_lost()
 * turns the files into what a disk could hold.
 */
#ifndef TORTURE_POWER_H
#define TORTURE_POWER_H

#include <stddef.h>
#include <sys/types.h>

void power_wrote(int descriptor, off_t offset, size_t size);
void power_synced(int descriptor);
void power_linked(const char *name);
/* Before the rename: keeps what has the name now. */
void power_renames(const char *from, const char *to);
/* What the disk may hold, by the seed: 0 drops all that can be dropped, 1 keeps everything, others draw. */
void power_lost(unsigned long seed);
/* Removes what was kept for that. */
void power_forget(void);

#endif
