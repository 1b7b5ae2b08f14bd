/* A fit needs at most twice the data and 200 MB. Skipped under the address sanitizer, whose own memory
 * counts. */
#include <sys/resource.h>

#include "cli/test_support.h"

enum { ROWS = 400000, COLUMNS = 64 };

/* A little-endian float32 matrix of ROWS x COLUMNS, the last column the response. */
static void write_npy(const char *path)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    char header[128];
    const int length =
        snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", ROWS,
                 COLUMNS);
    memset(header + length, ' ', sizeof header - (size_t)length);
    header[117] = '\n';
    assert_int_equal(fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file), 10);
    assert_int_equal(fwrite(header, 1, 118, file), 118);
    uint32_t state = 1;
    for (int r = 0; r < ROWS; r++) {
        float row[COLUMNS];
        for (int j = 0; j < COLUMNS; j++) {
            state = state * 1664525u + 1013904223u;
            row[j] = (float)(state >> 8) / 16777216.0F - 0.5F;
        }
        row[COLUMNS - 1] = row[0] * row[1] + row[2];
        assert_int_equal(fwrite(row, sizeof row, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
}

static void test_a_fit_needs_twice_the_data_at_most(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip();
#endif
    write_npy("data.npy");
    SH("stonet fit data.npy --target %d --dim 2 --set epochs=1 --set weight_decay=0 --set hidden=16 "
       "--set sdr_iterations=1 --out m.model",
       COLUMNS);
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
    const double data = 4.0 * ROWS * COLUMNS, peak = 1024.0 * (double)usage.ru_maxrss;
    print_message("data %.0f MB, peak %.0f MB\n", data / 1e6, peak / 1e6);
    assert_true(peak > data); /* it was all read */
    assert_true(peak < 2.0 * data + 200e6);
}

static int setup(void **state)
{
    (void)state;
    return enter_test_folder();
}

static int teardown(void **state)
{
    (void)state;
    return leave_test_folder();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_fit_needs_twice_the_data_at_most)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
