/* Shards: the same table as from the file they were made of, and folders that lie. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/test_kit.h"
#include "base/test_nodes.h"
#include "data/test_folder.h"
#include "data/test_reading.h"

static void clean(void)
{
    assert_int_equal(system("rm -rf s ?.csv ?.npy"), 0);
}

/* A table with all kinds of columns. The label that is last in order comes first, a column of large numbers
   needs double from row 1500 on, and one looks so until row 2000; late: its only text is in row 3000. */
static void write_csv(int rows, int gap, bool late)
{
    FILE *file = fopen("t.csv", "w");
    fputs("key,a,big,was,town,size,day,w,late,y,z\n", file);
    for (int i = 0; i < rows; i++) {
        const char *town[] = {"Ulm", "Bonn", "Kiel", ""}, *size[] = {"low", "mid", "high"};
        fprintf(file, "k%d,%s%d.5,%.2f,%.2f,%s,%s,2024-0%d-03,%d,%s,", i, i % 11 == 3 ? "NA#" : "", i % 17,
                1e6 + (i < 1500 ? 0.0 : 0.01 * (i % 7)), i < 2000 ? 5e6 + 0.25 * (i % 3) + 0.01 : 7.0,
                town[i % 4], size[i % 3], 1 + i % 9, 1 + i % 3, late && i == 3000 ? "word" : "3");
        fprintf(file, "%s,%d\n", gap > 0 && i % gap == 1 ? "" : i % 2 == 0 ? "yes" : "no", i % 5);
    }
    fclose(file);
    assert_int_equal(system("sed -i 's/NA#[0-9.]*/NA/' t.csv"), 0);
}

/* Some rows of a table have their labels in order of first appearance: by their texts, then. */
static void compare_labels(stonet_data *plain, const stonet_data *sharded)
{
    assert_int_equal(plain->n, sharded->n);
    for (int64_t i = 0; i < plain->n; i++)
        assert_string_equal(plain->labels.text[plain->label[i]], sharded->labels.text[sharded->label[i]]);
    memcpy(plain->label, sharded->label, (size_t)plain->n * sizeof *plain->label);
    sn_dictionary_free(&plain->labels);
    OK(sn_dictionary_copy(&sharded->labels, &plain->labels));
}

static void check_same(const char *path, const stonet_read_options *make, const stonet_read_options *use,
                       int64_t rows)
{
    SN_AUTO(stonet_data) *plain = NULL, *sharded = NULL;
    int64_t total = 0, shards = 0;
    OK(stonet_data_read(path, make, &plain));
    OK(stonet_shards_write(path, make, rows, "s", &total, &shards));
    OK(stonet_data_read("s", use, &sharded));
    if (plain->dropped > 0) compare_labels(plain, sharded);
    const int64_t step = (rows + 1023) / 1024 * 1024;
    assert_int_equal(total, plain->n);
    assert_int_equal(shards, (plain->n + step - 1) / step);
    /* That of texts is told is of use for labels alone. */
    for (int64_t k = 0; k < plain->n_text; k++) plain->text_values[k].told = false;
    check_same_frame(plain, sharded);
    assert_int_equal(plain->missing, sharded->missing);
    assert_int_equal(plain->dropped, sharded->dropped);
    assert_int_equal(plain->width, sharded->width);
    assert_true(sn_image_same(&plain->image, &sharded->image));
    for (int64_t j = 0; j < plain->n_columns; j++)
        assert_int_equal(plain->column[j].position, sharded->column[j].position);
    for (int64_t i = 0; plain->id_name != NULL && i < plain->n; i += 997)
        assert_string_equal(stonet_data_id(plain, i), stonet_data_id(sharded, i));
    for (int64_t k = 0; k < plain->n_targets; k++)
        assert_int_equal(plain->target_position[k], sharded->target_position[k]);
    assert_true(sharded->x == NULL || sharded->mapped_x != NULL || sysconf(_SC_PAGESIZE) > 4096);
    clean();
}

TEST(test_all_kinds)
{
    const char *const order[] = {"size=low,mid,high"};
    const stonet_read_options make = {.size = sizeof make,
                                      .target = "y",
                                      .id = "key",
                                      .weights = "w",
                                      .ordinal = order,
                                      .n_ordinal = 1,
                                      .season = "day",
                                      .drop = "z"};
    const stonet_read_options use = {.size = sizeof use, .target = "y"};
    for (int late = 0; late < 2; late++) {
        write_csv(3500, 0, late == 1);
        check_same("t.csv", &make, &use, 1000);
    }
    write_csv(2048, 0, false); /* nothing is left for a last shard */
    check_same("t.csv", &make, &use, 1024);
    write_csv(5, 0, false);
    check_same("t.csv", &make, &use, 1 << 20);
}

/* Rows without a response: the first, and all those of a town. */
TEST(test_dropped)
{
    const stonet_read_options make = {.size = sizeof make, .target = "y", .drop_missing_target = 1};
    const stonet_read_options use = {.size = sizeof use, .target = "10"};
    write_csv(4000, 4, false);
    check_same("t.csv", &make, &use, 1000);
    write_csv(2, 1, false);
    assert_int_equal(system("sed -i 's/,yes,/,,/;s/,no,/,,/' t.csv"), 0);
    assert_says(stonet_shards_write("t.csv", &make, 10, "s", NULL, NULL), STONET_ERROR_DATA, "response");
    assert_int_not_equal(access("s", F_OK), 0);
    clean();
}

TEST(test_numbers)
{
    SN_BLOCK double *x = malloc(6000 * sizeof *x);
    for (int i = 0; i < 6000; i++) x[i] = i % 7 == 0 ? (double)NAN : sin(i);
    for (int i = 0; i < 2000; i++) x[3 * i + 2] = i;
    OK(stonet_matrix_write("a.npy", x, 2000, 3, NULL));
    const stonet_read_options make = {.size = sizeof make, .target = "3"}, none = {.size = sizeof none};
    check_same("a.npy", &make, &make, 1024);
    OK(stonet_matrix_write("a.npy", x, 2000, 3, NULL));
    check_same("a.npy", &none, &none, 1024);
}

/* Of the shards of t.csv in s. */
static stonet_status read_shards(const char *target)
{
    const stonet_read_options how = {.size = sizeof how, .target = target};
    SN_AUTO(stonet_data) *data = NULL;
    const stonet_status status = stonet_data_read("s", &how, &data);
    return status;
}

static void make_shards(void)
{
    const stonet_read_options how = {.size = sizeof how, .target = "y"};
    clean();
    if (access("kept/s", F_OK) != 0) {
        assert_int_equal(mkdir("kept", 0777), 0);
        write_csv(2500, 0, false);
        assert_int_equal(system("cp t.csv kept"), 0);
        OK(stonet_shards_write("t.csv", &how, 1024, "kept/s", NULL, NULL));
    }
    assert_int_equal(system("cp -r kept/. ."), 0);
}

TEST(test_wishes)
{
    stonet_data *data = NULL;
    stonet_read_options how = STONET_READ_OPTIONS_INIT;
    make_shards();
    assert_says(stonet_shards_write("t.csv", &how, 1024, "s", NULL, NULL), STONET_ERROR_IO, "not empty");
    assert_says(stonet_shards_write("s", &how, 1024, "r", NULL, NULL), STONET_ERROR_ARGUMENT, "already");
    assert_says(stonet_shards_write("t.csv", &how, 0, "r", NULL, NULL), STONET_ERROR_ARGUMENT, "one row");
    assert_says(stonet_shards_write("t.csv", &how, 5, "no/r", NULL, NULL), STONET_ERROR_IO, "no/r");
    assert_says(read_shards("z"), STONET_ERROR_ARGUMENT, "is 'y', and not 'z'");
    assert_says(read_shards("y,z"), STONET_ERROR_ARGUMENT, "is 'y', and not 'y,z'");
    how.drop = "a";
    assert_says(stonet_data_read("s", &how, &data), STONET_ERROR_ARGUMENT, "--drop to 'stonet shard'");
    how.drop = NULL;
    how.na = "-999";
    assert_says(stonet_data_read("s", &how, &data), STONET_ERROR_ARGUMENT, "--na");
    how.na = NULL;
    how.target_file = "s";
    assert_says(stonet_data_read("t.csv", &how, &data), STONET_ERROR_ARGUMENT, "the response alone");
    assert_says(stonet_shards_write("t.csv", &how, 5, "r", NULL, NULL), STONET_ERROR_ARGUMENT, "of its own");
    how.target_file = NULL;
    OK(stonet_data_read("s/index.json", &how, &data));
    assert_null(data->label); /* not asked for; and no feature either */
    assert_int_equal(data->n_columns, 10);
    stonet_data_free(data);
    assert_int_equal(mkdir("empty", 0777), 0);
    assert_says(stonet_data_read("empty", &how, &data), STONET_ERROR_IO, "without shards");
    assert_int_equal(rmdir("empty"), 0);
    FILE *file = fopen("b.csv", "w");
    fputs("1,2\n3,inf\n", file);
    fclose(file);
    assert_says(stonet_shards_write("b.csv", &how, 5, "r", NULL, NULL), STONET_ERROR_DATA, "infinite");
    assert_int_equal(system("test $(ls -d r* 2>/dev/null | wc -l) = 0"), 0); /* nothing is left */
    clean();
}

static int stop_after(void *left)
{
    return --*(int *)left < 0;
}

/* Wherever it is stopped, nothing is left. */
TEST(test_stopped)
{
    int calls = 1, left = 0;
    stonet_read_options how = {.size = sizeof how, .should_stop = stop_after, .user = &left};
    write_csv(2500, 0, false);
    assert_int_equal(system("for i in 1 2 3; do cp t.csv u.csv; sed 1d u.csv >> t.csv; done"), 0);
    for (int k = 0; k < calls; k++) {
        left = k;
        calls = k + 2;
        if (stonet_shards_write("t.csv", &how, 8192, "s", NULL, NULL) == STONET_OK) break;
        assert_non_null(strstr(stonet_last_error(), "stopped before t.csv was read"));
        assert_int_equal(system("test $(ls -d s* 2>/dev/null | wc -l) = 0"), 0);
    }
    assert_true(calls > 5); /* so often was it asked */
    clean();
}

/* A row far into the file is called by its number there. */
TEST(test_complaints)
{
    const stonet_read_options how = {.size = sizeof how, .target = "2"};
    FILE *file = fopen("b.csv", "w");
    for (int i = 0; i < 3000; i++) fprintf(file, "%d,%s\n", i, i == 2500 ? "inf" : "1");
    fclose(file);
    assert_says(stonet_shards_write("b.csv", &how, 5, "s", NULL, NULL), STONET_ERROR_DATA, "row 2501");
    clean();
}

/* Makes the index one of version 1, so that what is wrong with it is found by a look at its content. */
static void drop_hash(void)
{
    assert_int_equal(system("sed -i 's/\"version\": 2/\"version\": 1/' s/index.json"), 0);
}

TEST(test_damage)
{
    static const struct {
        const char *command, *words;
    } harm[] = {
        {"rm s/t-00001.npy", "t-00001.npy"},
        {"truncate -s -4 s/t-00001.npy", "cut off"},
        {"truncate -s +4 s/t-00002.y.npy", "longer"},
        {"printf x | dd of=s/t-00001.npy bs=1 seek=9000 conv=notrunc 2>/dev/null", "hash"},
        {"printf '\\377\\377\\377\\177' | dd of=s/t-00000.y.npy bs=1 seek=4096 conv=notrunc 2>/dev/null",
         "unknown label"},
        {"printf '\\0\\0\\200\\177' | dd of=s/t-00000.npy bs=1 seek=4096 conv=notrunc 2>/dev/null",
         "infinite"},
        {"printf x | dd of=s/t-00001.more.npy bs=1 seek=4120 conv=notrunc 2>/dev/null", "hash"},
        {"printf '\\0\\0\\0\\0\\0\\0\\360\\177' | dd of=s/t-00001.more.npy bs=1 seek=4096 conv=notrunc "
         "2>/dev/null",
         "unknown text"},
        {"cp s/t-00000.npy s/t-00002.npy", "does not hold"},
        {"sed -i 's/\"rows\": 2500/\"rows\": 2501/' s/index.json", "rows"},
        {"sed -i 's/\"rows\": 1024/\"rows\": -1024/' s/index.json", "rows"},
        {"sed -i 's/\"version\": 1/\"version\": 7/' s/index.json", "version 7"},
        {"sed -i 's/\"name\": \"t\"/\"name\": \"..\\/t\"/' s/index.json", "name"},
        {"sed -i 's/\"slot\": 1/\"slot\": 100/' s/index.json", "place"},
        {"sed -i 's/\"numbers\": [0-9]*/\"numbers\": 1000/' s/index.json", "does not hold"},
        {"sed -i 's/\"Bonn\",//' s/index.json", "unknown text"},
        {"sed -i 's/\"kind\": \"text\"/\"kind\": 3/' s/index.json", "neither"},
        {"sed -i 's/\"no\",//' s/index.json", "unknown label"},
        {"truncate -s 300 s/index.json", "damaged"},
        {"rm s/index.json", "without shards"},
    };
    for (size_t k = 0; k < sizeof harm / sizeof *harm; k++) {
        make_shards();
        OK(read_shards("y"));
        drop_hash();
        OK(read_shards("y"));
        assert_int_equal(system(harm[k].command), 0);
        if (read_shards("y") == STONET_OK) fail_msg("unnoticed: %s", harm[k].command);
        if (strstr(stonet_last_error(), harm[k].words) == NULL)
            fail_msg("%s: %s", harm[k].command, stonet_last_error());
    }
    clean();
}

/* The checksum of what the shards hold; 0 when they are refused. */
static uint64_t shards_hash(void)
{
    const stonet_read_options how = {.size = sizeof how, .target = "y"};
    SN_AUTO(stonet_data) *data = NULL;
    return stonet_data_read("s", &how, &data) == STONET_OK ? table_hash(data) : 0;
}

/* The index, cut at every byte or with a bit changed: refused, or the same table. */
TEST(test_any_index)
{
    static char text[1 << 16];
    make_shards();
    const uint64_t right = shards_hash();
    assert_true(right != 0);
    FILE *file = fopen("s/index.json", "rb");
    const size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    for (size_t k = 0; k < size; k += 31) {
        const char held = text[k];
        text[k] = (char)(text[k] ^ (1 << k % 7));
        file = fopen("s/index.json", "wb");
        fwrite(text, 1, k % 2 == 0 ? size : k + 1, file);
        fclose(file);
        text[k] = held;
        const uint64_t found = shards_hash();
        if (found != 0 && found != right) fail_msg("byte %zu", k);
    }
    clean();
}

typedef struct node_count {
    long refused, taken;
} node_count;

static void read_index(const json_t *whole, void *user)
{
    node_count *count = user;
    const stonet_read_options how = {.size = sizeof how, .threads = 1};
    SN_AUTO(stonet_data) *data = NULL;
    assert_int_equal(json_dump_file(whole, "s/index.json", 0), 0);
    const stonet_status status = stonet_data_read("s", &how, &data);
    count->taken += status == STONET_OK;
    count->refused += status != STONET_OK;
    if (status == STONET_OK)
        OK(sn_frame_check(data));
    else
        assert_true(strstr(stonet_last_error(), "s/") != NULL || strstr(stonet_last_error(), "s:") != NULL ||
                    strstr(stonet_last_error(), "memory") != NULL);
}

/* Every part of an index wrong in turn: refused, and the folder named, or a table that is whole. */
TEST(test_every_node)
{
    static const char *const size[] = {"size=low,mid,high"};
    const stonet_read_options kinds[] = {
        {.size = sizeof *kinds,
         .target = "y",
         .id = "key",
         .weights = "w",
         .ordinal = size,
         .n_ordinal = 1,
         .season = "day"},
        {.size = sizeof *kinds, .target = "a,z", .features = "big,late", .drop_missing_target = 1},
        {.size = sizeof *kinds, .na = "-999"},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        clean();
        write_csv(30, 0, false);
        if (k == 2) { /* images: 4 of 3 x 2 */
            FILE *file = fopen("t.csv", "wb");
            fwrite("\0\0\10\3\0\0\0\4\0\0\0\3\0\0\0\2abcdefghijklmnopqrstuvwx", 1, 40, file);
            fclose(file);
        }
        OK(stonet_shards_write("t.csv", &kinds[k], 1024, "s", NULL, NULL));
        node_count count = {0};
        drop_hash();
        SN_AUTO(json_t) *whole = json_load_file("s/index.json", 0, NULL);
        read_index(whole, &count);
        assert_int_equal(count.taken, 1);
        test_each_node(&(test_nodes){.whole = whole, .look = read_index, .user = &count}, whole);
        assert_true(count.refused > count.taken);
    }
    clean();
}

/* Numbers and response in two arrays are no table that could be cut; the numbers alone are. */
TEST(test_archives)
{
    const char *root = getenv("STONET_GOLDEN");
    char path[512];
    snprintf(path, sizeof path, "%s/src/data/golden/xy.npz", root != NULL ? root : ".");
    const stonet_read_options last = {.size = sizeof last, .target = "4"};
    assert_says(stonet_shards_write(path, NULL, 1024, "s", NULL, NULL), STONET_ERROR_ARGUMENT,
                "has its response in an array of its own");
    OK(stonet_shards_write(path, &last, 1024, "s", NULL, NULL));
    clean();
}

TEST(test_changed)
{
    make_shards();
    SN_AUTO(stonet_data) *data = NULL;
    OK(stonet_data_read("s", NULL, &data));
    OK(sn_frame_check(data));
    assert_int_equal(system("touch -d '1 hour ago' s/t-00001.npy"), 0);
    assert_says(sn_frame_check(data), STONET_ERROR_IO, "written to");
    clean();
}

RUN_TESTS(sn_testing_enter, sn_testing_leave)
