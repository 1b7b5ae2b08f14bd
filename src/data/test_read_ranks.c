/* Several ranks read the same files: each looks at a part of the numbers, and all know what all have found.
 */

#include "base/test_kit.h"
#include "base/test_wire.h"
#include "data/test_folder.h"
#include "data/test_tables.h"

enum { ROWS = 3000, COLUMNS = 3, CELLS = ROWS * COLUMNS };

static float x[CELLS];
static double y[ROWS];

static void write_npy(const char *path, const char *about, const void *numbers, size_t size)
{
    static unsigned char bytes[ROWS * (COLUMNS + 1) * sizeof(double)];
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_not_equal(fwrite(bytes, 1, npy_of(about, 0, numbers, size, bytes), file), 0);
    assert_int_equal(fclose(file), 0);
}

static void write_files(void)
{
    write_npy("x.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (3000, 3), }", x, sizeof x);
    write_npy("y.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (3000,), }", y, sizeof y);
}

static void fill(void)
{
    for (int i = 0; i < CELLS; i++) x[i] = (float)(i % 101);
    for (int i = 0; i < ROWS; i++) y[i] = 0.5 * i;
    x[4] = x[5000] = x[CELLS - 1] = NAN;
}

typedef struct reading {
    const char *path, *target_file;
    stonet_status status;
    stonet_data *data;
    char said[256];
} reading;

static void read_table(test_rank *self)
{
    reading *r = self->user;
    const stonet_read_options how = {.size = sizeof how,
                                     .target = r->target_file == NULL ? "4" : NULL,
                                     .target_file = r->target_file,
                                     .team = self->team};
    r->status = stonet_data_read(r->path, &how, &r->data);
    if (r->status != STONET_OK) snprintf(r->said, sizeof r->said, "%s", stonet_last_error());
}

/* What all of so many ranks come to; `said`: the sentence of a failure, NULL: there is none. */
static void check(int ranks, const char *path, const char *target_file, const char *said)
{
    static reading readings[TEST_RANKS];
    for (int r = 0; r < ranks; r++) readings[r] = (reading){.path = path, .target_file = target_file};
    test_run_ranks(ranks, read_table, readings, sizeof *readings);
    for (int r = 0; r < ranks; r++) {
        SN_AUTO(stonet_data) *data = readings[r].data;
        if (said != NULL) {
            assert_int_not_equal(readings[r].status, STONET_OK);
            assert_non_null(strstr(readings[r].said, said));
            continue;
        }
        if (readings[r].status != STONET_OK) fail_msg("%s", readings[r].said);
        assert_int_equal(data->missing, 3);
        assert_true(data->mapped_x != NULL && data->mapped_y != NULL);
        assert_memory_equal(data->x, x, sizeof x);
        assert_memory_equal(data->y, y, sizeof y);
    }
}

TEST(files_are_looked_at_once)
{
    for (int ranks = 1; ranks <= 7; ranks += 2) {
        fill();
        write_files();
        check(ranks, "x.npy", "y.npy", NULL);
        x[7001] = INFINITY; /* in the part of a later rank; the first of two is named */
        x[8000] = -INFINITY;
        write_files();
        check(ranks, "x.npy", "y.npy", "row 2334, column 3");
        fill();
        y[2500] = NAN;
        write_files();
        check(ranks, "x.npy", "y.npy", "row 2501");
        y[2500] = INFINITY;
        write_files();
        check(ranks, "x.npy", "y.npy", "row 2501");
    }
}

TEST(shards_are_looked_at_once)
{
    static float both[ROWS][COLUMNS + 1];
    fill();
    for (int i = 0; i < ROWS; i++) {
        memcpy(both[i], x + i * COLUMNS, COLUMNS * sizeof *x);
        both[i][COLUMNS] = (float)y[i];
    }
    write_npy("x.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (3000, 4), }", both, sizeof both);
    const stonet_read_options how = {.size = sizeof how, .target = "4"};
    int64_t rows, shards;
    OK(stonet_shards_write("x.npy", &how, 1024, "s", &rows, &shards));
    assert_int_equal(shards, 3);
    for (int ranks = 1; ranks <= 5; ranks += 2) check(ranks, "s", NULL, NULL);
    FILE *file = fopen("s/x-00002.npy", "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, -5, SEEK_END), 0);
    fputc(1, file);
    fclose(file);
    for (int ranks = 1; ranks <= 5; ranks += 2) check(ranks, "s", NULL, "x-00002.npy is damaged");
}

RUN_TESTS(sn_testing_enter, sn_testing_leave)
