#include <unistd.h>

#include "base/test_folder.h"
#include "base/test_kit.h"
#include "data/frame.h"
#include "math/noise.h"

static void check_text(const char *expected)
{
    char text[1000] = "";
    FILE *file = fopen(last_path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
    unlink(last_path);
}

TEST(test_matrix_text)
{
    const double values[] = {1, -0.5, 1.0 / 3, (double)0.1f, 1e20, 0};
    const char *const names[] = {"a", "b,c", "say \"d\""};
    OK(stonet_matrix_write(in_folder("m.csv"), values, 2, 3, names));
    check_text("a,\"b,c\",\"say \"\"d\"\"\"\n1,-0.5,0.3333333333333333\n0.1,1e20,0\n");
    OK(stonet_matrix_write(in_folder("m.tsv"), values, 2, 3, NULL));
    check_text("1\t-0.5\t0.3333333333333333\n0.1\t1e20\t0\n");
    OK(stonet_matrix_write(in_folder("noending"), values, 1, 1, NULL));
    check_text("1\n");
}

TEST(test_round_trips)
{
    enum { N = 400, M = 3 };
    static double values[N * M];
    sn_random random = sn_random_from(5, SN_STREAM_TEST, 0);
    for (int i = 0; i < N * M; i++) values[i] = sn_random_normal(&random) * (i % 7 == 0 ? 1e-12 : 1);
    const char *const files[] = {"m.csv", "m.csv.gz", "m.npy", "m.npy.gz", "m.txt"};
    for (int k = 0; k < 5; k++) {
        OK(stonet_matrix_write(in_folder(files[k]), values, N, M, NULL));
        stonet_read_options how = {.size = sizeof how, .target = "1,2"};
        SN_AUTO(stonet_data) *data = NULL;
        OK(stonet_data_read(last_path, &how, &data));
        assert_int_equal(data->n, N);
        for (int i = 0; i < N; i++) {
            assert_true(data->y[2 * i] == values[M * i] && data->y[2 * i + 1] == values[M * i + 1]);
            assert_true(data->x[i] == (float)values[M * i + 2]);
        }
        unlink(last_path);
    }
}

TEST(test_tables)
{
    const float x[] = {1, 2.5f, 3, 4};
    SN_AUTO(stonet_data) *data = NULL, *back = NULL;
    OK(stonet_data_wrap(x, 2, 2, &data));
    OK(stonet_data_set_classes(data, (int32_t[]){1, 0}, (const char *[]){"no", "a b"}, 2));
    OK(stonet_data_write(data, in_folder("t.csv")));
    stonet_read_options how = {.size = sizeof how, .target = "y"};
    OK(stonet_data_read(last_path, &how, &back));
    assert_memory_equal(back->x, x, sizeof x);
    assert_string_equal(stonet_data_class_label(back, back->label[0]), "a b");
    stonet_data_free(back);
    check_text("x1,x2,y\n1,2.5,a b\n3,4,no\n");
    assert_says(stonet_data_write(data, in_folder("t.npy")), STONET_ERROR_DATA, "'no' is a label");
    assert_int_equal(access(last_path, F_OK), -1);
    OK(stonet_data_set_classes(data, (int32_t[]){1, 0}, (const char *[]){"-1", "1"}, 2));
    OK(stonet_data_write(data, in_folder("t.npy")));
    how.target = "3";
    OK(stonet_data_read(last_path, &how, &back));
    assert_true(back->y[0] == 1 && back->y[1] == -1 && back->x[3] == 4);
    unlink(last_path);
}

/* The truth is not written. Dates were written as numbers of days once, and came back as plain numbers. */
TEST(test_generated_tables)
{
    const char *const names[] = {"radial", "air"}, *const files[] = {"g.csv.gz", "g.csv"};
    for (int k = 0; k < 2; k++) {
        SN_AUTO(stonet_data) *data = NULL, *back = NULL;
        const stonet_read_options how = {.size = sizeof how, .target = k == 0 ? "y" : NULL};
        OK(stonet_generate(names[k], 50, 3, &data));
        OK(stonet_data_write(data, in_folder(files[k])));
        OK(stonet_data_read(last_path, &how, &back));
        assert_int_equal(back->n_columns, data->n_columns);
        for (int64_t j = 0; j < data->n_columns; j++) {
            double wrote[50], read[50];
            assert_int_equal(back->column[j].is_date, data->column[j].is_date);
            OK(stonet_data_column_numbers(data, j, wrote));
            OK(stonet_data_column_numbers(back, j, read));
            assert_memory_equal(read, wrote, sizeof read);
        }
        for (int i = 0; k == 0 && i < 50; i++) assert_true(back->y[i] == data->y[i]);
        unlink(last_path);
    }
}

TEST(test_refusals)
{
    const double value = 1;
    assert_says(stonet_matrix_write(in_folder("m.xlsx"), &value, 1, 1, NULL), STONET_ERROR_ARGUMENT,
                "written as .csv, .tsv or .npy");
    assert_int_equal(stonet_matrix_write("", &value, 1, 1, NULL), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_matrix_write(NULL, &value, 1, 1, NULL), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_matrix_write(in_folder("none/m.csv"), &value, 1, 1, NULL), STONET_ERROR_IO);
    assert_says(stonet_matrix_write("/dev/full", &value, 1, 1, NULL), STONET_ERROR_IO, "No space left");
    SN_AUTO(stonet_data) *data = NULL;
    FILE *file = fopen(in_folder("text.csv"), "w");
    fputs("a,b\nred,1\nblue,2\nred,3\n", file);
    fclose(file);
    OK(stonet_data_read(last_path, NULL, &data));
    unlink(last_path);
    assert_int_equal(stonet_data_write(data, in_folder("t.npy")), STONET_ERROR_DATA);
    OK(stonet_data_write(data, in_folder("t.csv")));
    check_text("a,b\nred,1\nblue,2\nred,3\n");
}

RUN_TESTS(make_folder, remove_folder)
