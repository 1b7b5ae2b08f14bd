/* stonet_data_read: what kind of file it is, and where its target comes from. */
#include <string.h>

#include "base/memory.h"
#include "base/run.h"
#include "base/take_options.h"
#include "data/readers.h"
#include "data/shards.h"
#include "data/text_rows.h"

/* Two zero bytes and one of IDX's type codes. */
static bool looks_like_idx(const unsigned char *magic, size_t size)
{
    bool typed = magic[2] == 0x08 || magic[2] == 0x09 || (magic[2] >= 0x0B && magic[2] <= 0x0E);
    return size >= 4 && magic[0] == 0 && magic[1] == 0 && typed;
}

/* The content decides, not the ending: a renamed file reads all the same. */
static stonet_status read_source(sn_source *source, const sn_read_wish *wish, int threads, stonet_data **out)
{
    unsigned char magic[1024] = {0};
    size_t got;
    SN_TRY(sn_source_read(source, magic, sizeof magic, &got));
    SN_TRY(sn_source_rewind(source));
    if (got == 0) return sn_fail(STONET_ERROR_DATA, "%s is empty", source->path);
    SN_TRY(sn_refuse_foreign(source->path, magic, got));
    if (got >= 6 && memcmp(magic, "\x93NUMPY", 6) == 0) return sn_read_npy(source, wish, out);
    if (got >= 4 && memcmp(magic, "PK", 2) == 0 && magic[2] <= 6) return sn_read_npz(source, wish, out);
    if (looks_like_idx(magic, got)) return sn_read_idx(source, wish, out);
    if (sn_looks_like_svmlight((const char *)magic, got)) {
        if (wish->drain != NULL)
            return sn_fail(STONET_ERROR_UNSUPPORTED, "%s is sparse, and shards are for tables that are not",
                           source->path);
        return sn_read_svmlight(source, wish, out);
    }
    return sn_read_text(source, wish, threads, threads > 1 ? SN_TEXT_PART_SIZE : 0, out);
}

static stonet_status read_file(const char *path, const sn_read_wish *wish, int threads, stonet_data **out)
{
    SN_AUTO(sn_source) *source = NULL;
    SN_BLOCK char *folder = NULL;
    SN_TRY(sn_shards_folder(path, &folder));
    if (folder != NULL)
        return wish->drain == NULL ? sn_read_shards(folder, wish, out)
                                   : sn_fail(STONET_ERROR_ARGUMENT, "%s is cut into shards already", path);
    SN_TRY(sn_source_open(
        path, &(sn_source_limits){wish->how.max_bytes, wish->how.should_stop, wish->how.user}, &source));
    return read_source(source, wish, threads, out);
}

stonet_status sn_wish_start(const stonet_read_options *how, const sn_schema *schema, sn_read_wish *out)
{
    *out = (sn_read_wish){.how = *how, .schema = schema, .own_target = how->own_target != 0};
    if (how->na == NULL && schema != NULL) out->how.na = schema->na;
    out->open_targets = how->open_target != 0 || (schema != NULL && schema->law == SN_LAW_INTERVALS);
    out->missing_targets = how->drop_missing_target != 0 || out->open_targets;
    return sn_na_parse(out->how.na, &out->na);
}

stonet_status sn_wish_end(sn_read_wish *wish, stonet_status status, stonet_data **data)
{
    sn_na_free(&wish->na);
    if (status == STONET_OK && (*data)->na == NULL) status = sn_text_copy(wish->how.na, &(*data)->na);
    if (status == STONET_OK && wish->missing_targets && !wish->open_targets &&
        wish->drain == NULL) /* a drain has left them out */
        status = sn_frame_drop_missing_targets(data);
    if (status == STONET_OK) return STONET_OK;
    stonet_data_free(*data);
    *data = NULL;
    return status;
}

stonet_status stonet_data_read(const char *path, const stonet_read_options *options, stonet_data **out)
{
    return sn_read_for(path, options, NULL, out);
}

/* The table, with targets that may be missing where the wish says so. */
static stonet_status read_table(const char *path, const sn_read_wish *wish, stonet_data **out)
{
    const stonet_run run = {.size = sizeof run, .threads = wish->how.threads};
    const int threads = sn_threads(&run);
    sn_read_wish features = *wish, targets_alone = *wish;
    if (wish->how.target_file == NULL) {
        features.columns = wish->how.target;
        return read_file(path, &features, threads, out);
    }
    /* With a target file, the target columns (all of them, or those named) are columns of that file. */
    features.own_target = false;
    targets_alone.columns = wish->how.target;
    targets_alone.all = true;
    targets_alone.schema = NULL;
    SN_AUTO(stonet_data) *data = NULL;
    SN_AUTO(stonet_data) *targets = NULL;
    SN_TRY(read_file(path, &features, threads, &data));
    SN_TRY(read_file(wish->how.target_file, &targets_alone, threads, &targets));
    SN_TRY(sn_frame_move_target(data, targets));
    return SN_GIVE(data, out);
}

stonet_status sn_read_as(const char *path, const stonet_read_options *how, const sn_schema *schema,
                         sn_drain *drain, stonet_data **out)
{
    sn_read_wish wish;
    if ((unsigned)how->header > STONET_HEADER_NO)
        return sn_fail(STONET_ERROR_ARGUMENT, "the option about the header has none of its values");
    SN_TRY(sn_wish_start(how, schema, &wish));
    wish.drain = drain;
    return sn_wish_end(&wish, read_table(path, &wish, out), out);
}

stonet_status sn_read_for(const char *path, const stonet_read_options *options, const sn_schema *schema,
                          stonet_data **out)
{
    if (path == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_data_read needs a path and a place for the data");
    *out = NULL;
    stonet_read_options how;
    SN_TRY(sn_take_read_options(options, &how));
    return sn_read_as(path, &how, schema, NULL, out);
}
