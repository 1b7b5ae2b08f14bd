/* Every format cut short at every byte, and with random bytes changed: a clear status and no crash, whatever
   comes. Worth most under the sanitizers. */
#define _GNU_SOURCE /* memfd_create */
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "base/test_kit.h"
#include "data/test_reading.h"
#include "math/noise.h"

enum { MAX_SIZE = 4096, FLIPS = 400 };

/* A file in memory: a disk would take most of the time. */
static int memory = -1;
static char scratch[64];

static int make_scratch(void **state)
{
    (void)state;
    memory = memfd_create("fuzz", 0);
    snprintf(scratch, sizeof scratch, "/proc/self/fd/%d", memory);
    return memory < 0;
}

static int remove_scratch(void **state)
{
    (void)state;
    return close(memory);
}

/* Reads the bytes as a data file; whatever was read must be whole. */
static void try_bytes(const unsigned char *bytes, size_t size, const char *target)
{
    assert_int_equal(ftruncate(memory, (off_t)size), 0);
    assert_int_equal(pwrite(memory, bytes, size, 0), (ssize_t)size);
    stonet_read_options how = {.size = sizeof how, .target = target};
    SN_AUTO(stonet_data) *data = NULL;
    stonet_status status = stonet_data_read(scratch, &how, &data);
    if (status != STONET_OK) {
        assert_null(data);
        assert_true(stonet_last_error()[0] != '\0');
        return;
    }
    assert_true(data->n > 0 && data->n_columns == data->n_numeric + data->n_text);
    volatile float sum = 0;
    for (int64_t i = 0; i < data->n * data->n_numeric; i++) sum += data->x[i];
    (void)sum;
    for (int64_t k = 0; k < data->n_text; k++) {
        for (int64_t i = 0; i < data->n; i++) assert_true(data->text_code[k][i] < data->text_values[k].count);
    }
}

/* The same as text, which must come out alike however it is cut into parts. */
static void try_parts(const unsigned char *bytes, size_t size, const char *target)
{
    try_bytes(bytes, size, target);
    check_parts(scratch, target);
}

static void torment(const unsigned char *bytes, size_t size, const char *target,
                    void (*try)(const unsigned char *, size_t, const char *))
{
    unsigned char changed[MAX_SIZE];
    sn_random random = sn_random_from(size, SN_STREAM_TEST, 7);
    for (size_t cut = 0; cut<size; cut += size> 300 && cut > 300 ? 7 : 1) try(bytes, cut, target);
    for (int k = 0; k < FLIPS; k++) {
        memcpy(changed, bytes, size);
        for (uint64_t flips = 1 + sn_random_below(&random, 4); flips > 0; flips--) {
            uint64_t at = sn_random_below(&random, k % 2 == 0 || size < 80 ? size : 80);
            changed[at] = k % 3 == 0 ? (unsigned char)"\0\xFF\"\n\r,1e-"[sn_random_below(&random, 9)]
                                     : (unsigned char)sn_random_word(&random);
        }
        (k % 4 == 0 ? try : try_bytes)(changed, size, target);
    }
}

static void torment_golden(const char *name)
{
    const char *root = getenv("STONET_GOLDEN");
    char path[512];
    unsigned char bytes[MAX_SIZE];
    snprintf(path, sizeof path, "%s/src/data/golden/%s", root != NULL ? root : ".", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    torment(bytes, size, NULL, try_bytes);
}

TEST(test_arrays)
{
    const char *const files[] = {"f4.npy", "f8_big_fortran.npy", "u4_cube_fortran.npy", "v2.npy",
                                 "xy.npz", "packed.npz",         "images.idx",          "shorts.idx.gz"};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) torment_golden(files[k]);
}

TEST(test_text)
{
    const char *const texts[] = {
        "a,\"b \"\"c\"\"\",y\r\n1.5,red,1\r\n-2e3,\"light\nblue\",0\r\n3,red,1\r\n",
        " 1.0000000e+00 2 3\n 4 5 6\n\n 7\t8 9",
        "\357\273\277a;b;y\n1;2;x\n3;4;z\n",
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        torment((const unsigned char *)texts[k], strlen(texts[k]), NULL, try_parts);
        torment((const unsigned char *)texts[k], strlen(texts[k]), "3", try_parts);
    }
}

TEST(test_gzip)
{
    char text[1200];
    unsigned char packed[MAX_SIZE];
    size_t used = 0;
    for (int i = 0; i < 100; i++) used += (size_t)sprintf(text + used, "%d,%d\n", i * 7 % 31, i);
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)text;
    stream.avail_in = (uInt)used;
    stream.next_out = packed;
    stream.avail_out = sizeof packed;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t size = stream.total_out;
    deflateEnd(&stream);
    torment(packed, size, NULL, try_parts);
}

RUN_TESTS(make_scratch, remove_scratch)
