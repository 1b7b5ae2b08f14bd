/* A fit needs at most twice the data and 200 MB, and where the features are mapped hardly more than once the
 * data. Skipped under the address sanitizer, whose own memory counts. */
#include <sys/resource.h>

#include "cli/test_support.h"

enum { ROWS = 400000, COLUMNS = 64 };

/* Columns first .. COLUMNS of a little-endian float32 matrix whose last column is the response. */
static void write_npy(const char *path, int first, int count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    char header[128];
    const int length = snprintf(header, sizeof header,
                                "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", ROWS, count);
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
        assert_int_equal(fwrite(row + first, sizeof *row, (size_t)count, file), count);
    }
    assert_int_equal(fclose(file), 0);
}

static const double data_bytes = 4.0 * ROWS * COLUMNS;

/* The largest of all fits so far. */
static double peak_bytes(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
    const double peak = 1024.0 * (double)usage.ru_maxrss;
    print_message("data %.0f MB, peak %.0f MB\n", data_bytes / 1e6, peak / 1e6);
    assert_true(peak > data_bytes); /* it was all read */
    return peak;
}

static void fit_and_reduce(const char *target)
{
    SH("stonet fit x.npy %s --dim 2 --set epochs=1 --set weight_decay=0 --set hidden=16 "
       "--set sdr_iterations=1 --out m.model && stonet transform m.model x.npy --out z.npy",
       target);
}

TEST(mapped_features_are_not_copied)
{
#ifdef __SANITIZE_ADDRESS__
    skip();
#endif
    write_npy("x.npy", 0, COLUMNS - 1);
    write_npy("y.npy", COLUMNS - 1, 1);
    fit_and_reduce("--target-file y.npy");
    assert_true(peak_bytes() < 1.1 * data_bytes + 40e6);
}

TEST(a_fit_needs_twice_the_data_at_most)
{
#ifdef __SANITIZE_ADDRESS__
    skip();
#endif
    char target[32];
    write_npy("x.npy", 0, COLUMNS);
    snprintf(target, sizeof target, "--target %d", COLUMNS);
    fit_and_reduce(target);
    assert_true(peak_bytes() < 2.0 * data_bytes + 200e6);
}

/* OpenBLAS would look for its buffers for ever: the seconds of work are limited, not those of waiting. */
TEST(little_address_space_is_said)
{
#ifdef __SANITIZE_ADDRESS__
    skip();
#endif
    const char *const commands[] = {"stonet --version", "stonet methods",
                                    "stonet fit x.csv --target y --dim 1 --out m"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        assert_int_equal(sh("ulimit -v 200000; ulimit -t 60; OMP_NUM_THREADS=1 %s", commands[i]), 1);
        assert_non_null(strstr(captured_err, "the address space is limited to 195 MB"));
    }
    SH("ulimit -v 900000; ulimit -t 60; OMP_NUM_THREADS=1 stonet generate waveform --rows 50 --out w.csv && "
       "OMP_NUM_THREADS=1 stonet fit w.csv --target y --method gsir --dim 1 --quiet --out m");
}

RUN_TESTS(enter_test_folder, leave_test_folder)
