#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/test_folder.h"
#include "base/test_kit.h"
#include "data/test_reading.h"

static const char *write_bytes(const char *name, const char *bytes, size_t size)
{
    sn_writer *writer;
    OK(sn_writer_open(in_folder(name), &writer));
    OK(sn_write(writer, bytes, size));
    OK(sn_writer_commit(&writer));
    return last_path;
}

static stonet_data *read_as(const char *name, const char *text, const char *target)
{
    stonet_read_options how = {.size = sizeof how, .target = target};
    stonet_data *data = NULL;
    stonet_status status = stonet_data_read(write_bytes(name, text, strlen(text)), &how, &data);
    OK(status);
    check_parts(last_path, target);
    unlink(last_path);
    return data;
}

/* The read fails with this status and a sentence that has these words. */
static void refuse(const char *name, const char *text, const char *target, stonet_status status,
                   const char *words)
{
    stonet_read_options how = {.size = sizeof how, .target = target};
    stonet_data *data = NULL;
    stonet_status got = stonet_data_read(write_bytes(name, text, strlen(text)), &how, &data);
    assert_null(data);
    if (got != status || strstr(stonet_last_error(), words) == NULL)
        fail_msg("'%.200s' gives %s: %s", text, stonet_status_name(got), stonet_last_error());
    check_parts(last_path, target);
    unlink(last_path);
}

static void check(stonet_data *data, int64_t n, int64_t p, const float *x)
{
    assert_int_equal(data->n, n);
    assert_int_equal(data->n_numeric, p);
    for (int64_t i = 0; i < n * p; i++) assert_true(data->x[i] == x[i]);
    stonet_data_free(data);
}

TEST(test_delimiters_and_line_ends)
{
    const float x[] = {1, 2, 3, 4, 5, 6};
    check(read_as("a.csv", "1,2,3\n4,5,6\n", NULL), 2, 3, x);
    check(read_as("a.csv", "1,2,3\r\n4,5,6\r\n", NULL), 2, 3, x);
    check(read_as("a.csv", "1,2,3\r4,5,6", NULL), 2, 3, x);
    check(read_as("a.csv", "\357\273\2771,2,3\n4,5,6", NULL), 2, 3, x);
    check(read_as("a.csv", "1;2;3\n4;5;6\n", NULL), 2, 3, x);
    check(read_as("a.csv", "1\t2\t3\n4\t5\t6\n", NULL), 2, 3, x);
    check(read_as("a.csv", "1 2 3\n4 5 6\n", NULL), 2, 3, x);
    check(read_as("a.tsv", "1\t 2\t3 \n4\t5\t6", NULL), 2, 3, x);
    check(read_as("a.asc", "   1.0e+00   2  3\n   4   5  6   \n", NULL), 2, 3, x);
    check(read_as("a.txt", " 1 \t 2 3\n\n4 5\t6\n\n", NULL), 2, 3, x);
    check(read_as("a.csv", "\n1, 2 ,3\n  \n4,5,6\n\n\n", NULL), 2, 3, x);
    check(read_as("a.csv", "\"1\",\"2\",3\n4,5,\"6\"", NULL), 2, 3, x);
    check(read_as("a.csv", "a,b,c\n1,2,3\n4,5,6", NULL), 2, 3, x);
    check(read_as("a.csv.gz", "a,b,c\n1,2,3\n4,5,6", NULL), 2, 3, x);
    check(read_as("noending", "a,b,c\n1,2,3\n4,5,6", NULL), 2, 3, x);
    check(read_as("one.csv", "1\n2\n3\n4\n5\n6", NULL), 6, 1, x);
    check(read_as("one.csv", "7\n", NULL), 1, 1, (float[]){7});
}

/* All text: a header never comes again below, a label does. */
TEST(test_header)
{
    static const struct {
        const char *text;
        bool has_header;
        int64_t rows, column;
        const char *name;
    } cases[] = {{"id,\"a \"\"b\"\"\", c\n1,2,3\n", true, 1, 1, "a \"b\""},
                 {"id,\"a \"\"b\"\"\", c\n1,2,3\n", true, 1, 2, "c"},
                 {"id,2019,2020\n1,2,3\n", true, 1, 1, "2019"},
                 {"1,2\n3,4\n", false, 2, 1, "x2"},
                 {",a,a,a\n1,2,3,4\n", true, 1, 0, "x1"},
                 {",a,a,a\n1,2,3,4\n", true, 1, 2, "a.2"},
                 {",a,a,a\n1,2,3,4\n", true, 1, 3, "a.3"},
                 {"colour,size\nred,big\nblue,big\nred,small\n", true, 3, 1, "size"},
                 {"red\nblue\nred\nblue\n", false, 4, 0, "x1"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        SN_AUTO(stonet_data) *data = read_as("a.csv", cases[k].text, NULL);
        assert_int_equal(data->has_header, cases[k].has_header);
        assert_int_equal(data->n, cases[k].rows);
        assert_string_equal(stonet_data_column_name(data, cases[k].column), cases[k].name);
        assert_null(stonet_data_column_name(data, data->n_columns));
    }
}

TEST(test_targets)
{
    const char *text = "a,b,y\n1,2,0.1\n3,4,1e300\n";
    const char *const ways[] = {"y", "3", " y "};
    for (int i = 0; i < 3; i++) {
        stonet_data *data = read_as("a.csv", text, ways[i]);
        int64_t m;
        const double *y = stonet_data_targets(data, &m);
        assert_int_equal(m, 1);
        assert_true(y[0] == 0.1 && y[1] == 1e300); /* in double, unlike the features */
        assert_string_equal(data->target_name[0], "y");
        assert_int_equal(data->target_position[0], 2);
        check(data, 2, 2, (float[]){1, 2, 3, 4});
    }
    stonet_data *data = read_as("a.csv", text, "y,1");
    assert_int_equal(data->n_targets, 2);
    assert_true(data->y[0] == 0.1 && data->y[1] == 1 && data->y[3] == 3);
    check(data, 2, 1, (float[]){2, 4});
    data = read_as("a.csv", "\"a,b\",c\n1,2\n", "a,b");
    assert_true(data->y[0] == 1);
    stonet_data_free(data);
    data = read_as("a.csv", "1,cat\n2,dog\n3,ant\n4,cat\n", "2");
    int64_t classes;
    const int32_t *label = stonet_data_classes(data, &classes);
    assert_int_equal(classes, 3);
    assert_int_equal(label[0], 1);
    assert_int_equal(label[1], 2);
    assert_int_equal(label[2], 0);
    assert_string_equal(stonet_data_class_label(data, 0), "ant");
    assert_string_equal(data->target_name[0], "y");
    stonet_data_free(data);

    refuse("a.csv", text, "z", STONET_ERROR_ARGUMENT, "no column 'z': its 3 columns are a, b, y");
    refuse("a.csv", text, "4", STONET_ERROR_ARGUMENT, "no column 4: its columns are 1 to 3");
    refuse("a.csv", text, "0", STONET_ERROR_ARGUMENT, "no column 0");
    refuse("a.csv", text, "-1", STONET_ERROR_ARGUMENT, "no column '-1'");
    refuse("a.csv", text, "", STONET_ERROR_ARGUMENT, "no column ''");
    refuse("a.csv", text, "y,3", STONET_ERROR_ARGUMENT, "twice");
    refuse("a.csv", text, "1,2,3", STONET_ERROR_DATA, "no column left");
    refuse("a.csv", "1,2\n3,4\n", "y", STONET_ERROR_ARGUMENT, "it has no header");
    refuse("a.csv", "1,2,a\n3,4,b\n", "1,3", STONET_ERROR_DATA, "all must be numbers");
    const char *twice = "y,a,y,a\n1,2,1,3\n3,4,3,5\n";
    refuse("a.csv", twice, "y", STONET_ERROR_DATA, "columns 1 and 3 are both called 'y', like the target");
    refuse("a.csv", twice, "3", STONET_ERROR_DATA, "columns 1 and 3 are both called 'y'");
    data = read_as("a.csv", twice, "1,3"); /* both are targets: nothing is left to mistake for a feature */
    check(data, 2, 2, (float[]){2, 3, 4, 5});
}

TEST(test_target_file)
{
    char x_path[128], y_path[128];
    strcpy(x_path, write_bytes("x.asc", " 1 2\n 3 4\n", 10));
    strcpy(y_path, write_bytes("y.asc", " -1.0e+00\n 1.0e+00\n", 19));
    stonet_read_options how = {.size = sizeof how, .target_file = y_path};
    stonet_data *data;
    OK(stonet_data_read(x_path, &how, &data));
    assert_true(data->y[0] == -1 && data->y[1] == 1);
    assert_int_equal(data->target_position[0], -1);
    assert_int_equal(data->n_columns, 2);
    stonet_data_free(data);
    write_bytes("y.asc", "name lab\nu a\nv b\n", 17);
    how.target = "lab";
    OK(stonet_data_read(x_path, &how, &data));
    assert_string_equal(stonet_data_class_label(data, data->label[1]), "b");
    stonet_data_free(data);
    how.target = NULL;
    write_bytes("y.asc", "1\n2\n1\n", 6);
    assert_says(stonet_data_read(x_path, &how, &data), STONET_ERROR_DATA, "has 2 rows and the targets in");
    assert_null(data);
    unlink(y_path);
    assert_int_equal(stonet_data_read(x_path, &how, &data), STONET_ERROR_IO);
    unlink(x_path);
}

TEST(test_text_columns)
{
    SN_AUTO(stonet_data) *data =
        read_as("a.csv", "x,colour,z\n1,red,2\n3,\"light\nblue\",4\n5, red ,6\n", NULL);
    assert_int_equal(data->n_columns, 3);
    assert_int_equal(data->n_text, 1);
    assert_int_equal(data->column[1].kind, SN_COLUMN_TEXT);
    assert_int_equal(data->column[2].slot, 1);
    assert_int_equal(data->text_values[0].count, 2);
    assert_string_equal(data->text_values[0].text[1], "light\nblue");
    assert_int_equal(data->text_code[0][2], 0);
    check(data, 3, 2, (float[]){1, 2, 3, 4, 5, 6});

    /* Text after thousands of numbers: the file is read again with the column as text. */
    char *text = malloc(200000);
    size_t used = 0;
    for (int i = 0; i < 5000; i++) used += (size_t)sprintf(text + used, "%d,%d\n", i % 7, i);
    sprintf(text + used, "none,5\n");
    data = read_as("a.csv", text, NULL);
    assert_int_equal(data->n, 5001);
    assert_int_equal(data->n_text, 1);
    assert_int_equal(data->text_values[0].count, 8);
    assert_string_equal(data->text_values[0].text[data->text_code[0][4999]], "1");
    assert_string_equal(data->text_values[0].text[data->text_code[0][5000]], "none");
    assert_true(data->x[4999] == 4999);
    stonet_data_free(data);
    /* But a slip in a column of measurements is no category. */
    sprintf(text + used, "3,12..5\n");
    refuse("a.csv", text, NULL, STONET_ERROR_DATA, "row 5001 (line 5001), column 2: '12..5' is not a number");
    free(text);
    refuse("a.csv", "a;b\n1,5;2\n2,5;3\n", NULL, STONET_ERROR_DATA, "'1,5' has a decimal comma");
    data = read_as("latin.csv", "gr\366\337e,b\n1,\344\n2,\344\n", NULL);
    assert_string_equal(stonet_data_column_name(data, 0), "gr\303\266\303\237e");
    assert_string_equal(data->text_values[0].text[0], "\xC3\xA4");
}

TEST(test_bad_cells)
{
    refuse("a.csv", "a,b\n1,2\n3,\n", "b", STONET_ERROR_DATA,
           "a.csv: row 2 (line 3), column 2 ('b'): the cell of the target is empty; rows without a response");
    refuse("a.csv", "1,2\n3,NA\n", "2", STONET_ERROR_DATA,
           "row 2 (line 2), column 2: the value of the target is missing ('NA')");
    refuse("a.csv", "a,b\nu,3\n\"\",4\nu,5\n", "a", STONET_ERROR_DATA,
           "column 1 ('a'): the cell of the target");
    refuse("a.csv", "1,2\n-Inf,3\n", NULL, STONET_ERROR_DATA, "infinite ('-Inf')");
    refuse("a.csv", "1,2\n1e39,3\n", NULL, STONET_ERROR_DATA, "too large for single precision");
    refuse("a.csv", "1,2\n1e999,3\n", NULL, STONET_ERROR_DATA, "infinite or too large");
    refuse("a.csv", "1,1e999\n2,3\n", "2", STONET_ERROR_DATA, "infinite or too large");
    refuse("a.csv", "1,2\n3\n4,5\n", NULL, STONET_ERROR_DATA, "line 2 has 1 cell and the first line has 2");
    refuse("a.csv", "1,2\n3,4,5\n", NULL, STONET_ERROR_DATA,
           "line 2 has more than 2 cells and the first line has 2");
    refuse("a.csv", "a,b\n1,2\n\n\"x\ny\",3\n4\n", NULL, STONET_ERROR_DATA, "line 6 has 1 cell");
}

TEST(test_bad_files)
{
    stonet_data *data;
    refuse("a.csv", "", NULL, STONET_ERROR_DATA, "a.csv is empty");
    refuse("a.csv.gz", "", NULL, STONET_ERROR_DATA, "is empty");
    refuse("a.csv", "\n\n  \n", NULL, STONET_ERROR_DATA, "is empty");
    refuse("a.csv", "a,b,c\n", NULL, STONET_ERROR_DATA, "a header and no rows");
    refuse("a.csv", "a,b\n1,\"2\n", NULL, STONET_ERROR_FORMAT, "opened in line 2 is never closed");
    refuse("a.csv", "a,b\n1,\"2\"3\n", NULL, STONET_ERROR_FORMAT, "text after a closing quotation mark");
    refuse("a.csv", "\377\3761", NULL, STONET_ERROR_FORMAT, "UTF-16");
    assert_says(stonet_data_read(write_bytes("b.bin", "1,2\n3\0,4\n", 9), NULL, &data), STONET_ERROR_FORMAT,
                "bytes that are not text");
    if (geteuid() != 0) {
        chmod(last_path, 0);
        assert_says(stonet_data_read(last_path, NULL, &data), STONET_ERROR_IO, "Permission denied");
    }
    unlink(last_path);
    assert_says(stonet_data_read(folder, NULL, &data), STONET_ERROR_IO, "without shards");
    assert_int_equal(stonet_data_read("/tmp/no/such/file.csv", NULL, &data), STONET_ERROR_IO);
    assert_string_equal(stonet_last_error(), "cannot read /tmp/no/such/file.csv: No such file or directory");
    assert_int_equal(stonet_data_read("/dev/zero", NULL, &data), STONET_ERROR_IO);
    assert_int_equal(stonet_data_read("", NULL, &data), STONET_ERROR_ARGUMENT);
    assert_null(data);
}

TEST(test_broken_gzip)
{
    char text[4000], bytes[4000];
    size_t used = 0;
    for (int i = 0; i < 200; i++) used += (size_t)sprintf(text + used, "%d,%d\n", i * i % 97, i);
    write_bytes("a.csv.gz", text, used);
    FILE *file = fopen(last_path, "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    stonet_data *data;
    char plain[128];
    strcpy(plain, last_path);
    unlink(last_path);
    write_bytes("cut.bin", bytes, size - 20);
    assert_says(stonet_data_read(last_path, NULL, &data), STONET_ERROR_FORMAT, "is cut off");
    /* Two packed files joined are one longer file; zeros behind are padding; anything else is not. */
    memcpy(bytes + size, bytes, size);
    memset(bytes + 2 * size, 0, 8);
    write_bytes("cut.bin", bytes, 2 * size + 8);
    OK(stonet_data_read(last_path, NULL, &data));
    assert_int_equal(data->n, 400);
    stonet_data_free(data);
    bytes[2 * size + 7] = 'x';
    write_bytes("cut.bin", bytes, 2 * size + 8);
    assert_int_equal(stonet_data_read(last_path, NULL, &data), STONET_ERROR_FORMAT);
    bytes[size / 2] ^= 0x55;
    write_bytes("cut.bin", bytes, size);
    assert_int_equal(stonet_data_read(last_path, NULL, &data), STONET_ERROR_FORMAT);
    unlink(last_path);
}

/* Cells that straddle the edges of the buffer, in every format of line end, and a pipe. */
TEST(test_long_files)
{
    int n = 160000; /* more than a buffer */
    SN_BLOCK char *text = malloc((size_t)n * 60);
    const char *const ends[] = {"\n", "\r\n", "\r"};
    for (int way = 0; way < 3; way++) {
        size_t used = 0;
        for (int i = 0; i < n; i++)
            used += (size_t)sprintf(text + used, "%d.25,\"%d\",%d,\"a\"\"%d\"%s", i, i, -i, i % 5, ends[way]);
        SN_AUTO(stonet_data) *data = read_as(way == 1 ? "long.csv.gz" : "long.csv", text, NULL);
        assert_int_equal(data->n, n);
        for (int i = 0; i < n; i++) {
            assert_true(data->x[3 * i] == (float)i + 0.25f);
            assert_true(data->x[3 * i + 1] == (float)i && data->x[3 * i + 2] == (float)-i);
            char label[8];
            sprintf(label, "a\"%d", i % 5);
            assert_string_equal(data->text_values[0].text[data->text_code[0][i]], label);
        }
    }
    memset(text, 'x', 2000000);
    text[0] = '"';
    text[2000000] = '\0';
    refuse("long.csv", text, NULL, STONET_ERROR_FORMAT, "longer than");
    memcpy(text + 100, "\",2\n3,4\n", 9); /* short at last, but a mark is left open in between */
    text[50] = '"';
    refuse("long.csv", text, NULL, STONET_ERROR_FORMAT, "text after a closing");

    snprintf(last_path, sizeof last_path, "%s/pipe", folder);
    assert_int_equal(mkfifo(last_path, 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        FILE *file = fopen(last_path, "w");
        fputs("a,b\n1,2\n3,x\n", file);
        fclose(file);
        _exit(0);
    }
    SN_AUTO(stonet_data) *data = NULL;
    OK(stonet_data_read(last_path, NULL, &data));
    assert_int_equal(data->n_text, 1);
    unlink(last_path);
}

RUN_TESTS(make_folder, remove_folder)
