/* For tests: tables made of text, schemas of tables, and numbers that are nearly the same. */
#pragma once

#include <unistd.h>

#include "base/test_kit.h"
#include "data/readers.h"

/* A new file with these bytes, to be unlinked. The name is overwritten by that of the next. */
static inline const char *file_of(const void *bytes, size_t size)
{
    static char name[64];
    strcpy(name, "/tmp/stonet_table_XXXXXX");
    const int file = mkstemp(name);
    assert_int_equal(write(file, bytes, size), (ssize_t)size);
    close(file);
    return name;
}

/* The bytes as the table of a file, read for a schema (NULL: none). */
static inline stonet_status read_bytes(const void *bytes, size_t size, const stonet_read_options *how,
                                       const sn_schema *schema, stonet_data **out)
{
    const char *file = file_of(bytes, size);
    *out = NULL;
    const stonet_status status = sn_read_for(file, how, schema, out);
    unlink(file);
    return status;
}

/* The bytes of an .npy file with this header and these numbers, which begin `shift` bytes behind byte 128;
   how many they are. */
static inline size_t npy_of(const char *about, size_t shift, const void *numbers, size_t size, void *out)
{
    unsigned char *to = out;
    const size_t begin = 128 + shift;
    memset(to, ' ', begin);
    memcpy(to, "\x93NUMPY\1\0", 8);
    to[8] = (unsigned char)(begin - 10);
    to[9] = 0;
    memcpy(to + 10, about, strlen(about));
    memcpy(to + begin, numbers, size);
    return begin + size;
}

static inline stonet_data *table_of(const char *text, const stonet_read_options *how)
{
    stonet_data *data;
    OK(read_bytes(text, strlen(text), how, NULL, &data));
    return data;
}

static inline stonet_data *table_with(const char *text, const char *target)
{
    return table_of(text, &(stonet_read_options){.size = sizeof(stonet_read_options), .target = target});
}

/* A table of numbers, n x p, and of a response where y is not NULL; x stays the caller's. */
static inline stonet_data *wrapped(const float *x, int64_t n, int64_t p, const double *y)
{
    stonet_data *data = NULL;
    OK(stonet_data_wrap(x, n, p, &data));
    if (y != NULL) OK(stonet_data_set_targets(data, y, 1));
    return data;
}

static inline sn_schema *fitted(const stonet_data *data, const sn_encoding *wanted)
{
    sn_schema *schema = NULL;
    OK(sn_schema_fit(data, wanted, NULL, &schema));
    return schema;
}
#define FITTED(data, ...) fitted((data), &(sn_encoding){__VA_ARGS__})

/* What a model file has of a schema, and the schema that comes back from it. */
static inline sn_store *stored(const sn_schema *schema)
{
    sn_store *store = NULL;
    OK(sn_store_create(&store));
    OK(sn_schema_save(schema, store));
    return store;
}

static inline sn_schema *loaded_again(const sn_schema *schema)
{
    SN_AUTO(sn_store) *store = stored(schema);
    sn_schema *back = NULL;
    OK(sn_schema_load(store, &back));
    return back;
}

static inline void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.17g is not %.17g", value, expected);
}

/* The mean of (x - about)^2 over the n rows of a column of features, p apart. */
static inline double mean_square(const float *x, int64_t n, int64_t p, double about)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += pow((double)x[i * p] - about, 2) / (double)n;
    return sum;
}

static inline double mean_of(const float *x, int64_t n, int64_t p)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += (double)x[i * p] / (double)n;
    return sum;
}
