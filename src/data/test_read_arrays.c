/* Arrays written by NumPy (golden/make_arrays.py), and arrays that lie. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/test_kit.h"
#include "base/test_store.h"
#include "data/frame.h"
#include "data/readers.h"
#include "data/test_tables.h"

static char path[512];

static const char *golden(const char *name)
{
    const char *root = getenv("STONET_GOLDEN");
    snprintf(path, sizeof path, "%s/src/data/golden/%s", root != NULL ? root : ".", name);
    return path;
}

static stonet_data *read_whole(const char *file, const char *target)
{
    stonet_read_options how = {.size = sizeof how, .target = target};
    stonet_data *data = NULL;
    OK(stonet_data_read(file, &how, &data));
    return data;
}

static stonet_data *read_golden(const char *name, const char *target)
{
    return read_whole(golden(name), target);
}

/* x_ij = first + columns * i + j. */
static void check_counting(stonet_data *data, int64_t n, int64_t p, float first)
{
    assert_int_equal(data->n, n);
    assert_int_equal(data->n_numeric, p);
    assert_false(data->has_header);
    for (int64_t i = 0; i < n * p; i++) assert_true(data->x[i] == first + (float)i);
    stonet_data_free(data);
}

TEST(test_npy)
{
    check_counting(read_golden("f4.npy", NULL), 3, 4, -3.5f);
    check_counting(read_golden("f8_big_fortran.npy", NULL), 3, 4, -3.5f);
    check_counting(read_golden("i2_big.npy", NULL), 3, 4, -4);
    check_counting(read_golden("i8.npy", NULL), 3, 4, -4);
    check_counting(read_golden("u1_cube.npy", NULL), 2, 12, 0);
    check_counting(read_golden("u4_cube_fortran.npy", NULL), 2, 12, 0);
    check_counting(read_golden("v2.npy", NULL), 3, 4, -3.5f);
    check_counting(read_golden("v3.npy", NULL), 3, 4, -3.5f);
    SN_AUTO(stonet_data) *data = read_golden("bool.npy", NULL);
    assert_true(data->x[0] == 0 && data->x[1] == 1);
    stonet_data_free(data);
    data = read_golden("f8_big_fortran.npy", "4,1");
    assert_true(data->y[0] == -0.5 && data->y[1] == -3.5 && data->y[5] == 4.5);
    assert_int_equal(data->n_numeric, 2);
    assert_true(data->x[0] == -2.5f && data->x[5] == 6.5f);
    assert_string_equal(stonet_data_column_name(data, 0), "x2");
}

/* Columns of numbers may name rows and groups, as in a text; they are no features then. */
TEST(test_labels_in_arrays)
{
    const char *const files[] = {"f4.npy", "f8_big_fortran.npy"};
    const stonet_read_options how = {.size = sizeof how, .id = "1", .group = "3"};
    for (int k = 0; k < 2; k++) {
        SN_AUTO(stonet_data) *data = NULL;
        OK(stonet_data_read(golden(files[k]), &how, &data));
        assert_int_equal(stonet_data_columns(data), 2);
        assert_string_equal(stonet_data_column_name(data, 1), "x4");
        assert_true(data->x[0] == -2.5f && data->x[1] == -0.5f && data->x[4] == 5.5f);
        assert_string_equal(stonet_data_id(data, 2), "4.5");
        assert_true(sn_frame_has_groups(data) && sn_frame_group(data, 0) != sn_frame_group(data, 1));
    }
}

static void check_image(const char *name, const char *target, int rank, const int64_t *extent)
{
    SN_AUTO(stonet_data) *data = read_golden(name, target);
    assert_int_equal(data->image.rank, rank);
    for (int k = 0; k < rank; k++) assert_int_equal(data->image.extent[k], extent[k]);
}

/* Arrays of rank 3 keep their shape, as long as all of it is there; rows of others have none. */
TEST(test_images)
{
    check_image("u1_cube.npy", NULL, 2, (int64_t[]){3, 4});
    check_image("u4_cube_fortran.npy", NULL, 2, (int64_t[]){3, 4});
    check_image("images.idx", NULL, 2, (int64_t[]){3, 4});
    check_image("u1_cube.npy", "5", 0, NULL); /* a pixel is the target */
    check_image("f4.npy", NULL, 0, NULL);
    SN_AUTO(stonet_data) *data = read_golden("u1_cube.npy", NULL), *part = NULL;
    OK(stonet_data_subset(data, (int64_t[]){1}, 1, &part));
    assert_true(sn_image_same(&data->image, &part->image));
    stonet_data_free(part);
    OK(sn_frame_without(data, 0, &part));
    assert_int_equal(part->image.rank, 0);
}

/* The shape goes with the model, and images of another shape do not, however many numbers they have. */
TEST(test_images_in_schema)
{
    SN_AUTO(stonet_data) *data = read_golden("u1_cube.npy", NULL);
    float x[24];
    SN_AUTO(sn_schema) *schema = FITTED(data, .scale = SN_SCALE_NONE, .task = SN_TASK_WISH_NONE),
                       *again = loaded_again(schema);
    assert_true(sn_image_same(&again->image, &data->image));
    OK(sn_schema_encode_x(again, data, x));
    data->image.extent[0] = 4;
    data->image.extent[1] = 3;
    assert_says(sn_schema_encode_x(again, data, x), STONET_ERROR_DATA, "images of 4 x 3");
    data->image.rank = 0; /* rows of plain numbers */
    OK(sn_schema_encode_x(again, data, x));
    SN_AUTO(sn_store) *whole = stored(schema), *store = sn_store_without(whole, "schema.image");
    OK(sn_store_put_vector(store, "schema.image", SN_I64, 2, (int64_t[]){3, 5}));
    sn_schema *none;
    assert_says(sn_schema_load(store, &none), STONET_ERROR_FORMAT, "schema.image");
}

TEST(test_npz)
{
    stonet_data *data = read_golden("xy.npz", NULL);
    assert_int_equal(data->n_targets, 1);
    assert_true(data->y[0] == 1 && data->y[1] == 0 && data->y[2] == 1);
    check_counting(data, 3, 4, -3.5f);
    data = read_golden("xy.npz", "y");
    assert_true(data->y[1] == 0);
    stonet_data_free(data);
    data = read_golden("xy.npz", "4"); /* a column of x, and not the y */
    assert_true(data->y[0] == -0.5);
    assert_int_equal(data->n_numeric, 3);
    stonet_data_free(data);
    data = read_golden("packed.npz", NULL);
    assert_int_equal(data->n_targets, 2);
    assert_true(data->y[2] == 0.5);
    check_counting(data, 3, 4, -3.5f);
    check_counting(read_golden("lone.npz", NULL), 3, 4, -3.5f);
}

/* Rows for a model: the y of an archive is not looked at unless it is asked for. */
TEST(test_npz_for_a_model)
{
    stonet_data *train = read_golden("xy.npz", NULL), *data;
    SN_AUTO(sn_schema) *schema = FITTED(train, .scale = SN_SCALE_NONE, .task = SN_TASK_AUTO);
    OK(sn_read_for(golden("xy.npz"), NULL, schema, &data));
    assert_int_equal(data->n_targets, 0);
    check_counting(data, 3, 4, -3.5f);
    const stonet_read_options how = {.size = sizeof how, .target = "y"};
    OK(sn_read_for(golden("xy.npz"), &how, schema, &data));
    assert_int_equal(data->n_targets, 1);
    check_counting(data, 3, 4, -3.5f);
    stonet_data_free(train);
}

TEST(test_idx)
{
    check_counting(read_golden("images.idx", NULL), 2, 12, 0);
    check_counting(read_golden("shorts.idx.gz", NULL), 3, 4, -4);
    check_counting(read_golden("doubles.idx", NULL), 3, 4, -3.5f);
}

TEST(test_target_files)
{
    char x_path[512];
    strcpy(x_path, golden("f4.npy"));
    stonet_read_options how = {.size = sizeof how, .target_file = golden("xy.npz")};
    stonet_data *data;
    OK(stonet_data_read(x_path, &how, &data));
    assert_true(data->n_targets == 1 && data->y[2] == 1);
    stonet_data_free(data);
    how.target_file = golden("i8.npy");
    how.target = "2";
    OK(stonet_data_read(x_path, &how, &data));
    assert_true(data->n_targets == 1 && data->y[2] == 5);
    stonet_data_free(data);
    how.target = NULL;
    how.target_file = golden("images.idx");
    assert_says(stonet_data_read(x_path, &how, &data), STONET_ERROR_DATA, "has 3 rows and the targets in");
}

static void refuse(const char *file, const char *target, stonet_status status, const char *words)
{
    stonet_read_options how = {.size = sizeof how, .target = target};
    stonet_data *data = NULL;
    assert_says(stonet_data_read(file, &how, &data), status, words);
    assert_null(data);
}

TEST(test_refusals)
{
    refuse(golden("text.npy"), NULL, STONET_ERROR_FORMAT, "values of the type U1");
    refuse(golden("complex.npy"), NULL, STONET_ERROR_FORMAT, "values of the type c8");
    refuse(golden("scalar.npy"), NULL, STONET_ERROR_FORMAT, "a single number");
    refuse(golden("empty.npy"), NULL, STONET_ERROR_DATA, "no rows or no columns");
    refuse(golden("nan.npy"), "3", STONET_ERROR_DATA, "row 2, column 3: the value of the target is missing");
    refuse(golden("wide.npy"), NULL, STONET_ERROR_DATA, "row 2, column 3: the value is too large");
    refuse(golden("two.npz"), NULL, STONET_ERROR_FORMAT, "there must be only one");
    refuse(golden("sparse.npz"), NULL, STONET_ERROR_FORMAT, "a sparse matrix of SciPy");
    refuse(golden("f4.npy"), "5", STONET_ERROR_ARGUMENT, "its columns are 1 to 4");
    refuse(golden("f4.npy"), "y", STONET_ERROR_ARGUMENT, "no column 'y'");
}

/* An NPY header with this dictionary and some zeros behind it. */
static void refuse_npy(const char *dictionary, const char *words)
{
    unsigned char bytes[192];
    const char *file = file_of(bytes, npy_of(dictionary, 0, (const char[64]){0}, 64, bytes));
    refuse(file, NULL, STONET_ERROR_FORMAT, words);
    unlink(file);
}

#define FLOATS "{'descr': '<f4', 'fortran_order': False, 'shape': "
TEST(test_hostile_headers)
{
    refuse_npy(FLOATS "(999999999999999999, 100), }", "claims a shape that no file can have");
    refuse_npy(FLOATS "(100000000000000000, 4), }", "is cut off");
    refuse_npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1000, 4), }", "is cut off");
    refuse_npy(FLOATS "(99999999999999999999, 4), }", "its shape is damaged");
    refuse_npy(FLOATS "(-1, 4), }", "shape is damaged");
    refuse_npy(FLOATS "(4, 4", "shape is damaged");
    refuse_npy(FLOATS "(1,1,1,1,1,1,1,1,1), }", "more than 8");
    refuse_npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (4, 4), }", "order is damaged");
    refuse_npy("{'fortran_order': False, 'shape': (4, 4), }", "plain array");
    refuse_npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,), }", "records");
    refuse_npy("{'descr': 'f4', 'fortran_order': False, 'shape': (4,), }", "type is damaged");
    refuse_npy("{'descr': '<f2', 'fortran_order': False, 'shape': (4,), }", "type f2");
    refuse_npy("{'descr': '<i3', 'fortran_order': False, 'shape': (4,), }", "type i3");
    refuse_npy("{'descr': '|O0', 'fortran_order': False, 'shape': (4,), }", "type O0");
    const unsigned char idx[] = {0,   0,   8,   3,   255, 255, 255, 255, 255,
                                 255, 255, 255, 255, 255, 255, 255, 1,   2};
    const struct {
        const void *bytes;
        size_t size;
        const char *words;
    } files[] = {{idx, sizeof idx, "claims a shape"},
                 {"\0\0\x08\0zz", 6, "0 dimensions"},
                 {"\0\0\x08\x01\0\0\0\tabc", 11, "cut off"},
                 {"PK\x03\x04 and no more of it than this", 30, "no zip archive"},
                 {"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22, "there is no array in it"}};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        const char *file = file_of(files[k].bytes, files[k].size);
        refuse(file, NULL, STONET_ERROR_FORMAT, files[k].words);
        unlink(file);
    }
}

/* An NPY file of n x p floats counting from 0 (odd: the last but one), its numbers `shift` bytes off a
   multiple of 64. */
static const char *write_counting(int64_t n, int64_t p, int shift, const float *odd)
{
    char about[100];
    const size_t size = (size_t)(n * p) * sizeof(float);
    SN_BLOCK float *x = test_zeros(n * p, sizeof *x);
    SN_BLOCK unsigned char *bytes = test_zeros((int64_t)size + 256, 1);
    for (int64_t i = 0; i < n * p; i++) x[i] = (float)i;
    if (odd != NULL) x[n * p - 2] = *odd;
    snprintf(about, sizeof about, "{'descr': '<f4', 'fortran_order': False, 'shape': (%lld, %lld), }",
             (long long)n, (long long)p);
    return file_of(bytes, npy_of(about, (size_t)shift, x, size, bytes));
}

/* Features that lie in the file as they are needed are used where they are; all else is read. */
TEST(test_what_is_mapped)
{
    const struct {
        const char *name, *target;
        bool mapped;
    } files[] = {{"f4.npy", NULL, true},     {"f4.npy", "4", false},  {"f8_big_fortran.npy", NULL, false},
                 {"i8.npy", NULL, false},    {"xy.npz", NULL, false}, {"packed.npz", NULL, false},
                 {"images.idx", NULL, false}};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        SN_AUTO(stonet_data) *data = read_golden(files[k].name, files[k].target);
        assert_int_equal(data->mapped_x != NULL, files[k].mapped);
        assert_int_equal(data->owned_x == NULL, files[k].mapped);
    }
    const int64_t n = 3001, p = 70; /* several steps of the check, the last one short */
    for (int shift = 0; shift < 5; shift++) {
        const char *file = write_counting(n, p, shift, NULL);
        stonet_data *data = read_whole(file, NULL);
        assert_int_equal(data->mapped_x != NULL, shift % 4 == 0);
        check_counting(data, n, p, 0);
        unlink(file);
    }
}

TEST(test_mapped_values_are_checked)
{
    const float bad[] = {(float)INFINITY, (float)-INFINITY};
    for (int k = 0; k < 2; k++) {
        const char *file = write_counting(3001, 70, 0, &bad[k]);
        refuse(file, NULL, STONET_ERROR_DATA, "column 69: the value is infinite");
        unlink(file);
    }
    const float nothing = NAN;
    const char *file = write_counting(3001, 70, 0, &nothing);
    SN_AUTO(stonet_data) *data = read_whole(file, NULL);
    assert_non_null(data->mapped_x);
    assert_int_equal(stonet_data_missing(data, -1), 1);
    assert_int_equal(stonet_data_missing(data, 68), 1);
    unlink(file);
    file = write_counting(3001, 70, 0, NULL);
    assert_int_equal(truncate(file, 128 + 4 * 3001 * 70 - 1), 0);
    refuse(file, NULL, STONET_ERROR_FORMAT, "is cut off");
    unlink(file);
}

/* The file behind the numbers is replaced, which is harmless, or written to, which is found out. */
TEST(test_mapped_file_changes)
{
    const int64_t rows[] = {2, 0};
    char first[64], second[64];
    strcpy(first, write_counting(3, 2, 0, NULL));
    strcpy(second, write_counting(5, 7, 0, NULL));
    stonet_data *data = read_whole(first, NULL), *part = NULL;
    assert_int_equal(rename(second, first), 0);
    OK(stonet_data_subset(data, rows, 2, &part));
    assert_true(part->mapped_x == NULL && part->x[0] == 4 && part->x[3] == 1);
    stonet_data_free(part);
    stonet_data_free(data);
    data = read_whole(first, NULL);
    assert_int_equal(truncate(first, 128), 0);
    assert_says(stonet_data_subset(data, rows, 2, &part), STONET_ERROR_IO, "was written to after");
    assert_int_equal(stonet_data_write(data, "/tmp/never.csv"), STONET_ERROR_IO);
    stonet_data_free(data);
    unlink(first);
}

TEST(test_array_through_a_pipe)
{
    char pipe_path[64];
    const char *file = write_counting(3001, 70, 0, NULL);
    snprintf(pipe_path, sizeof pipe_path, "%s.pipe", file);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        execlp("cp", "cp", file, pipe_path, (char *)NULL);
        _exit(1);
    }
    check_counting(read_whole(pipe_path, NULL), 3001, 70, 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    unlink(pipe_path);
    unlink(file);
}

RUN_TESTS(NULL, NULL)
