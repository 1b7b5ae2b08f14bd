/*
 * The file: 8 bytes of name, the form of its numbers (1 as an int64), the size of the whole, the number of
 * records; each record a block of its name and a block of its bytes (base/pack.h); the checksum of all that
 * (base/hash.h).
 *
 * Whoever works with the file holds a lock on it, which ends with the process. A new file is locked before it
 * takes the place of the old one, so that the name never stands for one without a lock.
 *
 * Without a path there is no file: the records stay in memory.
 */
#include "base/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/run.h"

static const char MAGIC[8] = {'S', 'T', 'O', 'N', 'E', 'T', 'C', '1'};
static const double USUAL_SECONDS = 60.0;

typedef struct entry {
    char *key;
    sn_pack pack;
} entry;

struct stonet_checkpoint {
    char *path; /* NULL: no file */
    double every;
    pthread_mutex_t lock;
    entry *list;
    int64_t count;
    double written;   /* when */
    bool changed;     /* since then */
    bool elsewhere;   /* another rank has the file */
    bool is_ours;     /* it is known that the file is of this job and no other */
    int held;         /* the file as it was last read or written; -1: there was none */
    char section[24]; /* of the present call: goes before the names of its records */
};

/* The whole name of a record of the present call. */
typedef struct full_key {
    char text[SN_KEY_SIZE + 24];
} full_key;

static full_key full(const stonet_checkpoint *c, const char *key)
{
    full_key whole;
    snprintf(whole.text, sizeof whole.text, "%s%s", c->section, key);
    return whole;
}

static void forget(stonet_checkpoint *c, int64_t at)
{
    sn_free(c->list[at].key);
    sn_pack_clear(&c->list[at].pack);
    c->list[at] = c->list[--c->count];
}

void stonet_checkpoint_free(stonet_checkpoint *checkpoint)
{
    if (checkpoint == NULL) return;
    while (checkpoint->count > 0) forget(checkpoint, checkpoint->count - 1);
    sn_free(checkpoint->list);
    sn_free(checkpoint->path);
    if (checkpoint->held >= 0) close(checkpoint->held);
    pthread_mutex_destroy(&checkpoint->lock);
    sn_free(checkpoint);
}

static int64_t find(const stonet_checkpoint *c, const char *key)
{
    for (int64_t i = 0; i < c->count; i++)
        if (strcmp(c->list[i].key, key) == 0) return i;
    return -1;
}

static stonet_status set(stonet_checkpoint *c, const char *key, const void *bytes, size_t size)
{
    int64_t at = find(c, key);
    if (at < 0) {
        SN_TRY(SN_GROW(c->list, c->count + 1));
        c->list[c->count] = (entry){0};
        SN_TRY(sn_text_copy(key, &c->list[c->count].key));
        at = c->count++;
    }
    c->list[at].pack.size = 0;
    return sn_pack_bytes(&c->list[at].pack, bytes, size);
}

/* ---- the file ---------------------------------------------------------------------------------------- */

enum { FRAME = 8 * 5 }; /* bytes around the records */

static uint64_t sum_of(const void *bytes, size_t size)
{
    sn_hash hash;
    sn_hash_begin(&hash);
    sn_hash_add(&hash, bytes, size);
    return sn_hash_value(&hash);
}

static stonet_status pack_all(const stonet_checkpoint *c, sn_pack *file)
{
    int64_t size = FRAME;
    for (int64_t i = 0; i < c->count; i++)
        size += 16 + (int64_t)strlen(c->list[i].key) + (int64_t)c->list[i].pack.size;
    SN_TRY(SN_GROW(file->bytes, size));
    file->room = (size_t)size;
    SN_TRY(sn_pack_bytes(file, MAGIC, sizeof MAGIC));
    SN_TRY(sn_pack_int(file, 1));
    SN_TRY(sn_pack_int(file, size));
    SN_TRY(sn_pack_int(file, c->count));
    for (int64_t i = 0; i < c->count; i++) {
        const entry *r = &c->list[i];
        SN_TRY(sn_pack_block(file, r->key, strlen(r->key)));
        SN_TRY(sn_pack_block(file, r->pack.bytes, r->pack.size));
    }
    return sn_pack_int(file, (int64_t)sum_of(file->bytes, file->size));
}

static stonet_status in_use(const stonet_checkpoint *c)
{
    return sn_fail(STONET_ERROR_IO,
                   "another job works with the checkpoint %s: wait for its end, or give another file",
                   c->path);
}

/* Some file systems know no locks; that is no reason to fail. */
static bool is_locked_elsewhere(int descriptor)
{
    return flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/* Whether the file of that name, if there is one, is the one that is held. */
static bool is_current(const stonet_checkpoint *c)
{
    struct stat named, held;
    if (c->path == NULL || stat(c->path, &named) != 0) return true;
    return c->held >= 0 && fstat(c->held, &held) == 0 && named.st_dev == held.st_dev &&
           named.st_ino == held.st_ino;
}

typedef struct succession {
    const stonet_checkpoint *of;
    int *next;
} succession;

/* Locks the new file while it is still without its name. */
static stonet_status lock_next(const char *path, const void *user)
{
    const succession *to = user;
    if (!is_current(to->of)) return in_use(to->of);
    *to->next = open(path, O_RDONLY | O_CLOEXEC);
    if (*to->next < 0)
        return sn_fail(STONET_ERROR_IO, "cannot write the checkpoint %s: %s", to->of->path, strerror(errno));
    return is_locked_elsewhere(*to->next) ? in_use(to->of) : STONET_OK;
}

/* Writes a new file and takes its lock before the old file goes, so that no other job gets between. */
static stonet_status write_file(stonet_checkpoint *c)
{
    SN_AUTO(sn_writer) *writer = NULL;
    SN_FREED_BY(sn_pack_clear) sn_pack file = {0};
    int next = -1;
    if (c->path == NULL) return STONET_OK;
    SN_TRY(sn_writer_open(c->path, &writer));
    SN_TRY(pack_all(c, &file));
    SN_TRY(sn_write(writer, file.bytes, file.size));
    const stonet_status status = sn_writer_commit_checked(&writer, lock_next, &(succession){c, &next});
    const int old = status == STONET_OK ? c->held : next;
    if (status == STONET_OK) c->held = next;
    if (old >= 0) close(old);
    SN_TRY(status);
    c->written = sn_seconds();
    c->changed = false;
    return STONET_OK;
}

static stonet_status damaged(const stonet_checkpoint *c)
{
    return sn_fail(STONET_ERROR_FORMAT,
                   "%s is a checkpoint that the disk or another program has changed: remove it to begin anew",
                   c->path);
}

static stonet_status take_record(stonet_checkpoint *c, sn_unpack *from)
{
    const unsigned char *key, *bytes;
    size_t length, size;
    full_key name;
    SN_TRY(sn_unpack_block(from, &key, &length));
    SN_TRY(sn_unpack_block(from, &bytes, &size));
    if (length >= sizeof name.text || memchr(key, 0, length) != NULL) return damaged(c);
    memcpy(name.text, key, length);
    name.text[length] = '\0';
    return set(c, name.text, bytes, size);
}

/* The records of a file's bytes. */
static stonet_status take_all(stonet_checkpoint *c, const sn_pack *file)
{
    uint64_t sum;
    const size_t summed = file->size - sizeof sum;
    sn_unpack from = {file->bytes + sizeof MAGIC, summed - sizeof MAGIC};
    int64_t form = 0, size = 0, count = 0;
    memcpy(&sum, file->bytes + summed, sizeof sum);
    SN_TRY(sn_unpack_int(&from, &form));
    if (form != 1)
        return sn_fail(STONET_ERROR_FORMAT,
                       "%s is a checkpoint of another kind of machine: go on where it was made", c->path);
    SN_TRY(sn_unpack_int(&from, &size));
    SN_TRY(sn_unpack_int(&from, &count));
    if (size != (int64_t)file->size || sum != sum_of(file->bytes, summed)) return damaged(c);
    for (int64_t i = 0; i < count; i++) SN_TRY(take_record(c, &from));
    return sn_unpack_end(&from);
}

static stonet_status cannot_read(const stonet_checkpoint *c)
{
    return sn_fail(STONET_ERROR_IO, "cannot read the checkpoint %s: %s", c->path, strerror(errno));
}

static stonet_status read_all(const stonet_checkpoint *c, sn_pack *out)
{
    enum { SIZE = 1 << 16 };
    SN_ARRAY(SIZE, unsigned char, bytes);
    for (;;) {
        const ssize_t got = read(c->held, bytes, SIZE);
        if (got <= 0) return got == 0 ? STONET_OK : cannot_read(c);
        SN_TRY(sn_pack_bytes(out, bytes, (size_t)got));
    }
}

static stonet_status read_file(stonet_checkpoint *c)
{
    struct stat info;
    if (c->path == NULL) return STONET_OK;
    c->held = open(c->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* nobody need write to a pipe */
    if (c->held < 0 && errno == ENOENT) return STONET_OK;
    if (c->held < 0 || fstat(c->held, &info) != 0) return cannot_read(c);
    SN_FREED_BY(sn_pack_clear) sn_pack bytes = {0};
    if (!S_ISFIFO(info.st_mode)) SN_TRY(read_all(c, &bytes));
    if (bytes.size >= sizeof MAGIC && memcmp(bytes.bytes, MAGIC, sizeof MAGIC) == 0)
        return bytes.size >= FRAME ? take_all(c, &bytes) : damaged(c);
    /* Also when it is empty: nobody gave that name away by mistake. */
    return sn_fail(STONET_ERROR_FORMAT,
                   "%s exists and is not a checkpoint: choose another name, or remove it", c->path);
}

stonet_status stonet_checkpoint_open(const char *path, double every, stonet_checkpoint **out)
{
    if (out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_checkpoint_open needs a place for the handle");
    *out = NULL;
    const size_t length = path != NULL ? strlen(path) : 0;
    if (length >= 3 && strcmp(path + length - 3, ".gz") == 0)
        return sn_fail(STONET_ERROR_ARGUMENT, "checkpoints are not compressed: choose a name without .gz");
    if (isnan(every) || isinf(every))
        return sn_fail(STONET_ERROR_ARGUMENT, "the seconds between checkpoints must be a number");
    SN_AUTO(stonet_checkpoint) *c = NULL;
    SN_TRY(SN_NEW(c, 1));
    pthread_mutex_init(&c->lock, NULL);
    c->held = -1;
    c->every = path == NULL ? (double)INFINITY : every < 0.0 ? USUAL_SECONDS : every;
    c->written = sn_seconds();
    c->is_ours = path == NULL;
    SN_TRY(sn_text_copy(path, &c->path));
    SN_TRY(read_file(c));
    return SN_GIVE(c, out);
}

stonet_status stonet_checkpoint_remove(stonet_checkpoint *checkpoint)
{
    if (checkpoint == NULL) return sn_fail(STONET_ERROR_ARGUMENT, "stonet_checkpoint_remove needs a handle");
    if (checkpoint->path == NULL || unlink(checkpoint->path) == 0 || errno == ENOENT) return STONET_OK;
    return sn_fail(STONET_ERROR_IO, "cannot remove the checkpoint %s: %s", checkpoint->path, strerror(errno));
}

/* ---- records ----------------------------------------------------------------------------------------- */

bool sn_checkpoint_is_elsewhere(const stonet_run *run)
{
    stonet_checkpoint *checkpoint = run->checkpoint;
    if (checkpoint == NULL) return true;
    checkpoint->elsewhere = stonet_team_rank(run->team) > 0;
    while (checkpoint->elsewhere && checkpoint->count > 0) forget(checkpoint, checkpoint->count - 1);
    return checkpoint->elsewhere;
}

/* The section of a call: "HASH/", whose own record is there when the call has begun before. met: that was not
   the call just before this one. */
static stonet_status enter(stonet_checkpoint *c, const char *job, const sn_hash *hash, bool *met)
{
    char section[sizeof c->section];
    snprintf(section, sizeof section, "%016llx/", (unsigned long long)sn_hash_value(hash));
    const bool there = find(c, section) >= 0;
    *met = there && strcmp(c->section, section) != 0;
    memcpy(c->section, section, sizeof section);
    if (!there && c->count > 0 && !c->is_ours)
        return sn_fail(
            STONET_ERROR_ARGUMENT,
            "%s is the checkpoint of another job: the data, settings, seed or version of this %s differ. "
            "Give another file, or remove this one to begin anew.",
            c->path, job);
    if ((c->held >= 0 && is_locked_elsewhere(c->held)) || !is_current(c)) return in_use(c);
    c->is_ours = true;
    if (there) return STONET_OK;
    SN_TRY(set(c, c->section, job, strlen(job)));
    return write_file(c); /* at once: a place that cannot be written to is better known now than in an hour */
}

stonet_status sn_checkpoint_begin(stonet_checkpoint *checkpoint, const char *job, const sn_hash *hash,
                                  const stonet_run *run)
{
    if (checkpoint == NULL) return STONET_OK;
    bool met;
    pthread_mutex_lock(&checkpoint->lock);
    const stonet_status status = enter(checkpoint, job, hash, &met);
    pthread_mutex_unlock(&checkpoint->lock);
    if (status == STONET_OK && met && checkpoint->path != NULL)
        sn_message(run, STONET_NOTE, "going on from the checkpoint %s", checkpoint->path);
    return status;
}

stonet_status sn_checkpoint_end(stonet_checkpoint *checkpoint, stonet_status status)
{
    if (checkpoint == NULL || !checkpoint->changed || status == STONET_ERROR_IO) return status;
    pthread_mutex_lock(&checkpoint->lock);
    const stonet_status written = write_file(checkpoint);
    pthread_mutex_unlock(&checkpoint->lock);
    return status != STONET_OK ? status : written;
}

bool sn_checkpoint_is_file(const stonet_checkpoint *checkpoint)
{
    return checkpoint != NULL && checkpoint->path != NULL;
}

bool sn_checkpoint_has(stonet_checkpoint *checkpoint, const char *key)
{
    if (checkpoint == NULL || key == NULL) return false;
    pthread_mutex_lock(&checkpoint->lock);
    const bool has = find(checkpoint, full(checkpoint, key).text) >= 0;
    pthread_mutex_unlock(&checkpoint->lock);
    return has;
}

stonet_status sn_checkpoint_get(stonet_checkpoint *checkpoint, const char *key, sn_pack *out)
{
    *out = (sn_pack){0};
    if (checkpoint == NULL || key == NULL) return STONET_OK;
    pthread_mutex_lock(&checkpoint->lock);
    const int64_t at = find(checkpoint, full(checkpoint, key).text);
    const stonet_status status =
        at >= 0 ? sn_pack_bytes(out, checkpoint->list[at].pack.bytes, checkpoint->list[at].pack.size)
                : STONET_OK;
    pthread_mutex_unlock(&checkpoint->lock);
    return status;
}

stonet_status sn_checkpoint_get_shared(stonet_checkpoint *checkpoint, stonet_team *team, const char *key,
                                       sn_pack *out)
{
    SN_TRY(sn_checkpoint_get(checkpoint, key, out));
    return checkpoint != NULL && key != NULL ? sn_team_spread_pack(team, 0, out) : STONET_OK;
}

stonet_status sn_checkpoint_has_shared(stonet_checkpoint *checkpoint, stonet_team *team, const char *key,
                                       bool *has)
{
    *has = sn_checkpoint_has(checkpoint, key);
    return checkpoint != NULL && key != NULL ? sn_team_spread(team, 0, has, sizeof *has) : STONET_OK;
}

stonet_status sn_checkpoint_put(stonet_checkpoint *checkpoint, const char *key, const sn_pack *record)
{
    if (checkpoint == NULL || key == NULL || checkpoint->elsewhere) return STONET_OK;
    pthread_mutex_lock(&checkpoint->lock);
    stonet_status status = set(checkpoint, full(checkpoint, key).text, record->bytes, record->size);
    checkpoint->changed = true;
    if (status == STONET_OK && sn_checkpoint_due(checkpoint, checkpoint->written))
        status = write_file(checkpoint);
    pthread_mutex_unlock(&checkpoint->lock);
    return status;
}

void sn_checkpoint_drop(stonet_checkpoint *checkpoint, const char *key)
{
    if (checkpoint == NULL || key == NULL) return;
    pthread_mutex_lock(&checkpoint->lock);
    const int64_t at = find(checkpoint, full(checkpoint, key).text);
    if (at >= 0) {
        forget(checkpoint, at);
        checkpoint->changed = true;
    }
    pthread_mutex_unlock(&checkpoint->lock);
}

bool sn_checkpoint_due(const stonet_checkpoint *checkpoint, double since)
{
    return checkpoint != NULL && !checkpoint->elsewhere && sn_seconds() - since >= checkpoint->every;
}
