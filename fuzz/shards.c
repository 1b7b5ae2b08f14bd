/*
 * Indexes of shards. The bytes are an index.json beside the files of a small table with columns of all kinds;
 * when they are JSON the hash is put right, so that the inside is reached. The table that comes out is whole,
 * or there is a sentence.
 */
#include "fuzz/common.h"

#include "data/shards.h"

static char root[64], folder[80], path[96];

static void remove_files(void)
{
    static const char *const files[] = {"s/index.json", "s/t-00000.npy", "s/t-00000.y.npy",
                                        "s/t-00000.more.npy", "t.csv"};
    char name[96];
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        snprintf(name, sizeof name, "%s/%s", root, files[k]);
        (void)unlink(name);
    }
    (void)rmdir(folder);
    (void)rmdir(root);
}

static void write_table(void)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) abort();
    fputs("key,a,big,town,size,day,w,y\n", file);
    for (int i = 0; i < 12; i++)
        fprintf(file, "k%d,%d.1,%.2f,%s,%s,2024-0%d-03,%d,%s\n", i, i, 1e6 + 0.01 * i, i % 3 ? "Ulm" : "",
                i % 2 ? "low" : "high", 1 + i % 9, 1 + i % 3, i % 2 ? "yes" : "no");
    if (fclose(file) != 0) abort();
}

static void make_shards(void)
{
    static char place[] = "/tmp/stonet-fuzz-XXXXXX", memory[] = "/dev/shm/stonet-fuzz-XXXXXX";
    static const char *const order[] = {"size=low,high"};
    const char *made = mkdtemp(memory) != NULL ? memory : mkdtemp(place);
    if (made == NULL) abort();
    snprintf(root, sizeof root, "%s", made);
    snprintf(folder, sizeof folder, "%s/s", made);
    snprintf(path, sizeof path, "%s/t.csv", made);
    atexit(remove_files);
    write_table();
    const stonet_read_options how = {.size = sizeof how,
                                     .threads = 1,
                                     .target = "y",
                                     .id = "key",
                                     .weights = "w",
                                     .season = "day",
                                     .ordinal = order,
                                     .n_ordinal = 1};
    if (stonet_shards_write(path, &how, 1024, folder, NULL, NULL) != STONET_OK) abort();
    snprintf(path, sizeof path, "%s/index.json", folder);
}

static void write_index(const uint8_t *bytes, size_t size)
{
    char hash[SN_SHARD_HASH];
    json_t *index = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, NULL);
    FILE *file = fopen(path, "wb");
    if (file == NULL) abort();
    if (json_object_del(index, "hash") == 0) {
        if (sn_shard_index_hash(index, hash) != STONET_OK) abort();
        if (json_object_set_new(index, "hash", json_string(hash)) != 0) abort();
        if (json_dumpf(index, file, 0) != 0) abort();
    } else if (fwrite(bytes, 1, size, file) != size) {
        abort();
    }
    if (fclose(file) != 0) abort();
    json_decref(index);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (folder[0] == '\0') make_shards();
    if (size < 1) return 0;
    const stonet_read_options how = {
        .size = sizeof how, .threads = 1, .target = bytes[0] % 2 == 0 ? "y" : NULL};
    stonet_data *data = NULL;
    write_index(bytes + 1, size - 1);
    if (stonet_data_read(folder, &how, &data) == STONET_OK) {
        check_table(data);
        if (sn_frame_check(data) != STONET_OK) abort();
    } else if (data != NULL || stonet_last_error()[0] == '\0') {
        abort();
    }
    stonet_data_free(data);
    return 0;
}
