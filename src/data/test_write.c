#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/frame.h"
#include "math/noise.h"

static char folder[64];
static char path[128];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/stonet_write_XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void check_text(const char *expected)
{
    char text[1000] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
    unlink(path);
}

static void test_matrix_text(void **state)
{
    (void)state;
    const double values[] = {1, -0.5, 1.0 / 3, (double)0.1f, 1e20, 0};
    const char *const names[] = {"a", "b,c", "say \"d\""};
    assert_int_equal(stonet_matrix_write(in_folder("m.csv"), values, 2, 3, names), STONET_OK);
    check_text("a,\"b,c\",\"say \"\"d\"\"\"\n1,-0.5,0.3333333333333333\n0.1,1e20,0\n");
    assert_int_equal(stonet_matrix_write(in_folder("m.tsv"), values, 2, 3, NULL), STONET_OK);
    check_text("1\t-0.5\t0.3333333333333333\n0.1\t1e20\t0\n");
    assert_int_equal(stonet_matrix_write(in_folder("noending"), values, 1, 1, NULL), STONET_OK);
    check_text("1\n");
}

static void test_round_trips(void **state)
{
    (void)state;
    enum { N = 400, M = 3 };
    static double values[N * M];
    sn_random random;
    sn_random_init(&random, 5, SN_STREAM_TEST, 0);
    for (int i = 0; i < N * M; i++) values[i] = sn_random_normal(&random) * (i % 7 == 0 ? 1e-12 : 1);
    const char *const files[] = {"m.csv", "m.csv.gz", "m.npy", "m.npy.gz", "m.txt"};
    for (int k = 0; k < 5; k++) {
        assert_int_equal(stonet_matrix_write(in_folder(files[k]), values, N, M, NULL), STONET_OK);
        stonet_read_options how = {.size = sizeof how, .target = "1,2"};
        stonet_data *data;
        assert_int_equal(stonet_data_read(path, &how, &data), STONET_OK);
        assert_int_equal(data->n, N);
        for (int i = 0; i < N; i++) {
            assert_true(data->y[2 * i] == values[M * i] && data->y[2 * i + 1] == values[M * i + 1]);
            assert_true(data->x[i] == (float)values[M * i + 2]);
        }
        stonet_data_free(data);
        unlink(path);
    }
}

static void test_tables(void **state)
{
    (void)state;
    const float x[] = {1, 2.5f, 3, 4};
    stonet_data *data, *back;
    assert_int_equal(stonet_data_wrap(x, 2, 2, &data), STONET_OK);
    assert_int_equal(stonet_data_set_classes(data, (int32_t[]){1, 0}, (const char *[]){"no", "a b"}, 2),
                     STONET_OK);
    assert_int_equal(stonet_data_write(data, in_folder("t.csv")), STONET_OK);
    stonet_read_options how = {.size = sizeof how, .target = "y"};
    assert_int_equal(stonet_data_read(path, &how, &back), STONET_OK);
    assert_memory_equal(back->x, x, sizeof x);
    assert_string_equal(stonet_data_class_label(back, back->label[0]), "a b");
    stonet_data_free(back);
    check_text("x1,x2,y\n1,2.5,a b\n3,4,no\n");
    assert_int_equal(stonet_data_write(data, in_folder("t.npy")), STONET_ERROR_DATA);
    assert_non_null(strstr(stonet_last_error(), "'no' is a label"));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(stonet_data_set_classes(data, (int32_t[]){1, 0}, (const char *[]){"-1", "1"}, 2),
                     STONET_OK);
    assert_int_equal(stonet_data_write(data, in_folder("t.npy")), STONET_OK);
    how.target = "3";
    assert_int_equal(stonet_data_read(path, &how, &back), STONET_OK);
    assert_true(back->y[0] == 1 && back->y[1] == -1 && back->x[3] == 4);
    stonet_data_free(back);
    unlink(path);
    stonet_data_free(data);
}

static void test_generated_without_truth(void **state)
{
    (void)state;
    stonet_data *data, *back;
    assert_int_equal(stonet_generate("radial", 50, 3, &data), STONET_OK);
    assert_int_equal(stonet_data_write(data, in_folder("g.csv.gz")), STONET_OK);
    stonet_read_options how = {.size = sizeof how, .target = "y"};
    assert_int_equal(stonet_data_read(path, &how, &back), STONET_OK);
    assert_int_equal(back->n_columns, 10);
    assert_memory_equal(back->x, data->x, 50 * 10 * sizeof(float));
    for (int i = 0; i < 50; i++) assert_true(back->y[i] == data->y[i]);
    stonet_data_free(data);
    stonet_data_free(back);
    unlink(path);
}

/* Dates were written as numbers of days once, and came back as plain numbers. */
static void test_dates_come_back(void **state)
{
    (void)state;
    stonet_data *data, *back;
    assert_int_equal(stonet_generate("air", 50, 3, &data), STONET_OK);
    assert_int_equal(stonet_data_write(data, in_folder("air.csv")), STONET_OK);
    assert_int_equal(stonet_data_read(path, NULL, &back), STONET_OK);
    assert_true(back->column[0].is_date);
    for (int64_t i = 0; i < 50; i++)
        assert_true(sn_frame_number(back, i, back->column[0].slot) ==
                    sn_frame_number(data, i, data->column[0].slot));
    assert_int_equal(stonet_data_missing(back, -1), stonet_data_missing(data, -1));
    stonet_data_free(data);
    stonet_data_free(back);
    unlink(path);
}

static void test_refusals(void **state)
{
    (void)state;
    const double value = 1;
    assert_int_equal(stonet_matrix_write(in_folder("m.xlsx"), &value, 1, 1, NULL), STONET_ERROR_ARGUMENT);
    assert_non_null(strstr(stonet_last_error(), "written as .csv, .tsv or .npy"));
    assert_int_equal(stonet_matrix_write("", &value, 1, 1, NULL), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_matrix_write(NULL, &value, 1, 1, NULL), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_matrix_write(in_folder("none/m.csv"), &value, 1, 1, NULL), STONET_ERROR_IO);
    assert_int_equal(stonet_matrix_write("/dev/full", &value, 1, 1, NULL), STONET_ERROR_IO);
    assert_non_null(strstr(stonet_last_error(), "No space left"));
    stonet_data *data;
    FILE *file = fopen(in_folder("text.csv"), "w");
    fputs("a,b\nred,1\nblue,2\nred,3\n", file);
    fclose(file);
    assert_int_equal(stonet_data_read(path, NULL, &data), STONET_OK);
    unlink(path);
    assert_int_equal(stonet_data_write(data, in_folder("t.npy")), STONET_ERROR_DATA);
    assert_int_equal(stonet_data_write(data, in_folder("t.csv")), STONET_OK);
    check_text("a,b\nred,1\nblue,2\nred,3\n");
    stonet_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix_text),     cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_tables),          cmocka_unit_test(test_generated_without_truth),
        cmocka_unit_test(test_dates_come_back), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests_name("data_write", tests, make_folder, remove_folder);
}
