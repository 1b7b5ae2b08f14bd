/* A folder of files that appears whole or not at all: it is filled under another name beside its own, synced,
   and renamed. */
#pragma once

#include "base/memory.h"
#include "base/status.h"

typedef struct sn_folder sn_folder;

/* Begins a folder that will be `path`; fails where there is something already that is not an empty folder. */
stonet_status sn_folder_begin(const char *path, sn_folder **out);
/* Where its files are to be written meanwhile. */
const char *sn_folder_place(const sn_folder *folder);
/* Removes the files that were written so far. */
stonet_status sn_folder_clear(sn_folder *folder);
/* Syncs, and gives the folder its name. Frees the handle whatever happens. */
stonet_status sn_folder_commit(sn_folder *folder);
/* Removes the folder with its files and frees the handle; NULL is fine. */
void sn_folder_abandon(sn_folder *folder);
SN_DROP(sn_folder, sn_folder_abandon)
