/* What the fuzz targets share: bytes as a file, and tables read from it. */
#ifndef FUZZ_COMMON_H
#define FUZZ_COMMON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stonet/stonet.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);

/* The path to a file in memory with these bytes: one file, filled anew, since making one takes longer than to
   read it. */
static inline const char *file_of(const uint8_t *bytes, size_t size)
{
    static char path[64];
    static int descriptor = -1;
    if (descriptor < 0) {
        descriptor = memfd_create("fuzz", 0);
        if (descriptor < 0) abort();
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    }
    if (pwrite(descriptor, bytes, size, 0) != (ssize_t)size || ftruncate(descriptor, (off_t)size) != 0)
        abort();
    return path;
}

/* What was read is whole: as many rows as it says, classes within their number, a response of numbers. */
static inline void check_table(const stonet_data *data)
{
    int64_t m = 0, classes = 0, n = stonet_data_rows(data);
    const double *y = stonet_data_targets(data, &m);
    const int32_t *label = stonet_data_classes(data, &classes);
    const float *x = stonet_data_x(data);
    if (n < 1) abort();
    for (int64_t i = 0; i < n * m; i++)
        if (!isfinite(y[i])) abort();
    for (int64_t i = 0; label != NULL && i < n; i++)
        if (label[i] < 0 || label[i] >= classes) abort();
    for (int64_t j = 0; j < stonet_data_columns(data); j++)
        if (stonet_data_column_name(data, j) == NULL) abort();
    for (int64_t i = 0; x != NULL && i < n * stonet_data_columns(data); i++)
        if (isinf(x[i])) abort();
}

/* Reads the bytes as a data file; the bits of `how` say with which response and header. */
static inline void read_table(uint8_t how, const uint8_t *bytes, size_t size)
{
    static const char *const targets[] = {NULL, "1", "y", "2,1"};
    static const stonet_header headers[] = {STONET_HEADER_AUTO, STONET_HEADER_YES, STONET_HEADER_NO,
                                            STONET_HEADER_AUTO};
    stonet_read_options options = STONET_READ_OPTIONS_INIT;
    options.target = targets[how & 3];
    options.header = headers[how >> 2 & 3];
    options.threads = 1;
    stonet_data *data = NULL;
    if (stonet_data_read(file_of(bytes, size), &options, &data) == STONET_OK)
        check_table(data);
    else if (data != NULL || stonet_last_error()[0] == '\0')
        abort();
    stonet_data_free(data);
}

#endif
