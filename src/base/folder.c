#define _DEFAULT_SOURCE /* realpath */
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

enum { NAME_ROOM = 16, TRIES = 100 };

struct sn_folder {
    char *path;  /* its name in the end, without slashes after it */
    char *place; /* and until then; NULL: not made yet */
};

static stonet_status cannot_write(const char *path, int error)
{
    return sn_fail(STONET_ERROR_IO, "cannot write the folder %s: %s", path, strerror(error));
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Whether nothing is at the path, or a folder with nothing in it. */
static stonet_status check_free(const char *path)
{
    DIR *list = opendir(path);
    if (list == NULL && errno == ENOENT) return STONET_OK;
    if (list == NULL) return cannot_write(path, errno == ENOTDIR ? EEXIST : errno);
    bool empty = true;
    for (const struct dirent *entry; empty && (entry = readdir(list)) != NULL;)
        empty = is_dots(entry->d_name);
    closedir(list);
    if (empty) return STONET_OK;
    return sn_fail(STONET_ERROR_IO, "the folder %s is not empty: remove it, or choose another name", path);
}

/* A new folder beside the path, for those whom the umask lets read it. */
static stonet_status make_place(sn_folder *folder)
{
    const size_t room = strlen(folder->path) + NAME_ROOM;
    uint64_t salt = (uint64_t)getpid() * 0x9E3779B97F4A7C15u;
    SN_TRY(SN_NEW(folder->place, room));
    for (int try = 0; try < TRIES; try++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        salt = (salt ^ (uint64_t)now.tv_nsec) * 0xD1342543DE82EF95u + 1;
        snprintf(folder->place, room, "%s.tmp%06x", folder->path, (unsigned)(salt >> 40));
        if (mkdir(folder->place, 0777) == 0) return STONET_OK;
        if (errno != EEXIST) break;
    }
    const int error = errno;
    SN_FREE(folder->place);
    return cannot_write(folder->path, error);
}

stonet_status sn_folder_begin(const char *path, sn_folder **out)
{
    *out = NULL;
    if (path == NULL || path[0] == '\0')
        return sn_fail(STONET_ERROR_ARGUMENT, "the name of the folder to write is empty");
    SN_TRY(check_free(path));
    SN_AUTO(sn_folder) *folder = NULL;
    SN_TRY(SN_NEW(folder, 1));
    SN_TRY(sn_text_copy(path, &folder->path));
    for (size_t n = strlen(path); n > 1 && folder->path[n - 1] == '/'; n--) folder->path[n - 1] = '\0';
    SN_TRY(make_place(folder));
    return SN_GIVE(folder, out);
}

const char *sn_folder_place(const sn_folder *folder)
{
    return folder->place;
}

/* Removes the files in a folder; 0, or why one is left. */
static int remove_files(const char *place)
{
    DIR *list = opendir(place);
    if (list == NULL) return errno;
    int error = 0;
    for (const struct dirent *entry; (entry = readdir(list)) != NULL;)
        if (!is_dots(entry->d_name) && unlinkat(dirfd(list), entry->d_name, 0) != 0) error = errno;
    closedir(list);
    return error;
}

stonet_status sn_folder_clear(sn_folder *folder)
{
    const int error = remove_files(folder->place);
    return error == 0 ? STONET_OK : cannot_write(folder->path, error);
}

/* Its names are synced before it gets its own, and that after. */
stonet_status sn_folder_commit(sn_folder *folder)
{
    SN_AUTO(sn_folder) *whole = folder;
    SN_BLOCK char *inside = NULL;
    const size_t size = strlen(whole->place) + 2;
    SN_TRY(SN_NEW(inside, size));
    snprintf(inside, size, "%s/", whole->place);
    sn_sync_folder_of(inside);
    if (rename(whole->place, whole->path) != 0) return cannot_write(whole->path, errno);
    sn_sync_folder_of(whole->path);
    SN_FREE(whole->place);
    return STONET_OK;
}

void sn_folder_abandon(sn_folder *folder)
{
    if (folder == NULL) return;
    if (folder->place != NULL) {
        (void)remove_files(folder->place);
        (void)rmdir(folder->place);
    }
    SN_FREE_ALL(folder->place, folder->path, folder);
}
