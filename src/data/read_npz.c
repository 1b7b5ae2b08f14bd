/* NPZ: a zip archive of NPY files. Read through the central directory, zip64 included. */
#include <string.h>

#include "base/memory.h"
#include "data/array.h"

enum {
    END_SIZE = 22,
    END64_SIZE = 56,
    LOCATOR_SIZE = 20,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
    MAX_NAME = 1 << 10
};
enum { MAX_COMMENT = 65535, MAX_ENTRIES = 10000 };

typedef struct zip_member {
    char name[MAX_NAME]; /* without .npy */
    bool deflated;
    uint32_t crc;
    int64_t packed_size, local_offset;
} zip_member;

typedef struct zip_archive {
    sn_source *source;
    int64_t size;
    int64_t directory, entries;
} zip_archive;

static uint64_t little(const unsigned char *bytes, int count)
{
    uint64_t value = 0;
    for (int i = count - 1; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

static stonet_status bad_zip(const sn_source *source, const char *what)
{
    return sn_fail(STONET_ERROR_FORMAT, "%s is not an NPZ file that can be read: %s", source->path, what);
}

/* The directory's own sizes stand in a longer record when they do not fit in the short one. */
static stonet_status read_end64(zip_archive *archive, int64_t end_offset)
{
    unsigned char locator[LOCATOR_SIZE], end[END64_SIZE];
    if (end_offset < LOCATOR_SIZE) return bad_zip(archive->source, "its directory is damaged");
    SN_TRY(sn_source_read_at(archive->source, end_offset - LOCATOR_SIZE, locator, sizeof locator));
    if (memcmp(locator, "PK\x06\x07", 4) != 0) return bad_zip(archive->source, "its directory is damaged");
    uint64_t offset = little(locator + 8, 8);
    if (offset > (uint64_t)archive->size) return bad_zip(archive->source, "its directory is damaged");
    SN_TRY(sn_source_read_at(archive->source, (int64_t)offset, end, sizeof end));
    if (memcmp(end, "PK\x06\x06", 4) != 0) return bad_zip(archive->source, "its directory is damaged");
    archive->entries = (int64_t)(little(end + 32, 8) & INT64_MAX);
    archive->directory = (int64_t)(little(end + 48, 8) & INT64_MAX);
    return STONET_OK;
}

/* The end record is the last thing in the file but for a comment. */
static stonet_status find_directory(zip_archive *archive)
{
    int64_t tail_size = archive->size < MAX_COMMENT + END_SIZE ? archive->size : MAX_COMMENT + END_SIZE;
    SN_ZEROS(tail_size, unsigned char, tail);
    SN_TRY(sn_source_read_at(archive->source, archive->size - tail_size, tail, (size_t)tail_size));
    int64_t at = tail_size - END_SIZE;
    while (at >= 0 && memcmp(tail + at, "PK\x05\x06", 4) != 0) at--;
    if (at < 0) return bad_zip(archive->source, "it is cut off, or no zip archive");
    archive->entries = (int64_t)little(tail + at + 10, 2);
    archive->directory = (int64_t)little(tail + at + 16, 4);
    if (archive->entries == 0xFFFF || archive->directory == 0xFFFFFFFF)
        SN_TRY(read_end64(archive, archive->size - tail_size + at));
    if (archive->directory > archive->size || archive->entries > MAX_ENTRIES)
        return bad_zip(archive->source, "its directory is damaged");
    return STONET_OK;
}

/* Sizes of 0xFFFFFFFF stand in the zip64 extra field instead, in this order: size, packed size, offset. */
static stonet_status read_extra(const zip_archive *archive, int64_t offset, int64_t size, bool long_size,
                                zip_member *member)
{
    bool long_packed = member->packed_size == 0xFFFFFFFF, long_offset = member->local_offset == 0xFFFFFFFF;
    unsigned char extra[1 << 10];
    if (!long_packed && !long_offset) return STONET_OK;
    if (size > (int64_t)sizeof extra) size = sizeof extra;
    SN_TRY(sn_source_read_at(archive->source, offset, extra, (size_t)size));
    for (int64_t at = 0; at + 4 <= size;) {
        int64_t length = (int64_t)little(extra + at + 2, 2);
        const unsigned char *field = extra + at + 4;
        int64_t need = (int64_t)8 * (long_size + long_packed + long_offset);
        if (little(extra + at, 2) == 1 && length >= need && at + 4 + need <= size) {
            if (long_size) field += 8;
            if (long_packed) member->packed_size = (int64_t)(little(field, 8) & INT64_MAX);
            if (long_packed) field += 8;
            if (long_offset) member->local_offset = (int64_t)(little(field, 8) & INT64_MAX);
            return STONET_OK;
        }
        at += 4 + length;
    }
    return bad_zip(archive->source, "a long entry has no sizes");
}

/* The directory entry at *at, which moves to the next. *usable: an .npy file we can unpack. */
static stonet_status read_entry(const zip_archive *archive, int64_t *at, zip_member *member, bool *usable)
{
    unsigned char entry[ENTRY_SIZE];
    SN_TRY(sn_source_read_at(archive->source, *at, entry, sizeof entry));
    if (memcmp(entry, "PK\x01\x02", 4) != 0) return bad_zip(archive->source, "its directory is damaged");
    int64_t name = (int64_t)little(entry + 28, 2), extra = (int64_t)little(entry + 30, 2);
    int64_t comment = (int64_t)little(entry + 32, 2);
    uint64_t method = little(entry + 10, 2), flags = little(entry + 8, 2);
    member->crc = (uint32_t)little(entry + 16, 4);
    member->packed_size = (int64_t)little(entry + 20, 4);
    member->local_offset = (int64_t)little(entry + 42, 4);
    member->deflated = method == 8;
    *usable = false;
    if (name >= 4 && name < MAX_NAME) {
        SN_TRY(sn_source_read_at(archive->source, *at + ENTRY_SIZE, member->name, (size_t)name));
        *usable = memcmp(member->name + name - 4, ".npy", 4) == 0;
        member->name[name - 4] = '\0';
    }
    if (*usable && ((method != 0 && method != 8) || (flags & 1) != 0))
        return bad_zip(archive->source, "it is encrypted or packed in a way other than deflate");
    if (*usable)
        SN_TRY(
            read_extra(archive, *at + ENTRY_SIZE + name, extra, little(entry + 24, 4) == 0xFFFFFFFF, member));
    *at += ENTRY_SIZE + name + extra + comment;
    return STONET_OK;
}

static int rank_among(const char *name, const char *const *names)
{
    for (int k = 0; names[k] != NULL; k++) {
        if (strcmp(name, names[k]) == 0) return k;
    }
    return -1;
}

/* Finds the features and the target among the members; *arrays counts them all. */
static stonet_status choose_members(const zip_archive *archive, zip_member *x, zip_member *y, bool *has_x,
                                    bool *has_y, int64_t *arrays)
{
    static const char *const x_names[] = {"x", "X", "data", NULL};
    static const char *const y_names[] = {"y", "target", "targets", "labels", NULL};
    SN_ZEROS(1, zip_member, member);
    int64_t at = archive->directory;
    *has_x = *has_y = false;
    *arrays = 0;
    int of_sparse = 0; /* what scipy.sparse.save_npz writes: its `data` are the numbers other than 0 alone */
    for (int64_t k = 0; k < archive->entries; k++) {
        bool usable = false;
        SN_TRY(read_entry(archive, &at, member, &usable));
        if (!usable) continue;
        ++*arrays;
        of_sparse += strcmp(member->name, "format") == 0 || strcmp(member->name, "shape") == 0;
        bool is_x = rank_among(member->name, x_names) >= 0, is_y = rank_among(member->name, y_names) >= 0;
        if ((is_x && *has_x) || (is_y && *has_y))
            return bad_zip(archive->source, is_x ? "more than one of x, X and data is in it"
                                                 : "more than one of y, target, targets and labels is in it");
        if (is_x || (!is_y && !*has_x)) *x = *member; /* a lone array may have any name */
        if (is_y) *y = *member;
        *has_x |= is_x;
        *has_y |= is_y;
    }
    if (of_sparse == 2)
        return bad_zip(archive->source, "it holds a sparse matrix of SciPy; write that as an svmlight file "
                                        "(sklearn.datasets.dump_svmlight_file), or use it from Python");
    return STONET_OK;
}

/* One array of the archive. The local header is read again, because its name and extra field may have other
   lengths than in the central directory. The rest is read to the end, since only then the checksum covers all
   bytes. */
static stonet_status read_member(const zip_archive *archive, const zip_member *member,
                                 const sn_read_wish *wish, stonet_data **out)
{
    unsigned char local[LOCAL_SIZE];
    if (member->local_offset > archive->size)
        return bad_zip(archive->source, "an entry lies outside the file");
    SN_TRY(sn_source_read_at(archive->source, member->local_offset, local, sizeof local));
    if (memcmp(local, "PK\x03\x04", 4) != 0) return bad_zip(archive->source, "an entry is damaged");
    int64_t start =
        member->local_offset + LOCAL_SIZE + (int64_t)little(local + 26, 2) + (int64_t)little(local + 28, 2);
    if (start > archive->size || member->packed_size > archive->size - start)
        return bad_zip(archive->source, "an entry lies outside the file");
    SN_AUTO(sn_source) *part = NULL;
    SN_TRY(sn_source_open_member(archive->source, start, member->packed_size, member->deflated, &part));
    SN_AUTO(stonet_data) *data = NULL;
    unsigned char rest[16];
    SN_TRY(sn_read_npy(part, wish, &data));
    for (size_t got = 1; got > 0;) SN_TRY(sn_source_read(part, rest, sizeof rest, &got));
    if (part->crc != member->crc)
        return bad_zip(archive->source, "an array does not have the checksum it should");
    return SN_GIVE(data, out);
}

/* The y of the archive becomes the target, unless the wish names columns of x. */
static stonet_status read_members(const zip_archive *archive, const zip_member *x, const zip_member *y,
                                  const sn_read_wish *wish, stonet_data **out)
{
    /* Rows for a model need a response only if the caller names one. */
    bool takes_y = y != NULL && (wish->columns == NULL ? wish->schema == NULL || wish->own_target
                                                       : strcmp(wish->columns, y->name) == 0);
    if (y == NULL || !takes_y || wish->all) return read_member(archive, x, wish, out);
    if (wish->drain != NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "%s has its response in an array of its own: make shards of x alone, and give y by "
                       "--target-file where they are used",
                       archive->source->path);
    sn_read_wish all = *wish, nothing = *wish;
    all.all = true;
    all.columns = NULL;
    nothing.columns = NULL;
    nothing.own_target = false;
    SN_AUTO(stonet_data) *data = NULL;
    SN_AUTO(stonet_data) *target = NULL;
    SN_TRY(read_member(archive, x, &nothing, &data));
    SN_TRY(read_member(archive, y, &all, &target));
    SN_TRY(sn_frame_move_target(data, target));
    return SN_GIVE(data, out);
}

stonet_status sn_read_npz(sn_source *source, const sn_read_wish *wish, stonet_data **out)
{
    SN_TRY(sn_source_unpack(source));
    zip_archive archive = {.source = source, .size = sn_source_left(source)};
    SN_TRY(find_directory(&archive));
    SN_ZEROS(1, zip_member, x);
    SN_ZEROS(1, zip_member, y);
    bool has_x, has_y;
    int64_t arrays;
    SN_TRY(choose_members(&archive, x, y, &has_x, &has_y, &arrays));
    if (arrays == 0)
        return bad_zip(source, "there is no array in it; unpack it and give the file with the table");
    if (wish->all && has_y)
        return read_member(&archive, y, wish, out); /* as a target file, its y is what is wanted */
    if (!has_x && arrays - has_y != 1)
        return bad_zip(source, "none of its arrays is called x, X or data, so there must be only one");
    return read_members(&archive, x, has_y ? y : NULL, wish, out);
}
