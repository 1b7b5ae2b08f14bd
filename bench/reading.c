#define _POSIX_C_SOURCE 200809L /* the clocks, stat */
#include "reading.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/number.h"
#include "math/noise.h"

enum { TEXT_COLUMNS = 20, ARRAY_COLUMNS = 50 };

typedef enum layout { TEXT, FLOATS, DOUBLES } layout;

static void write_header(FILE *file, layout how, int64_t n, int p)
{
    if (how == TEXT) {
        for (int j = 0; j < p; j++) fprintf(file, "c%d%c", j + 1, j + 1 < p ? ',' : '\n');
        return;
    }
    char text[119];
    int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%lld, %d), }",
                          how == FLOATS ? "<f4" : "<f8", (long long)n, p);
    fwrite("\x93NUMPY\x01\0\x76", 1, 9, file);
    fprintf(file, "%c%s%*s\n", 0, text, 117 - length, "");
}

static void write_row(FILE *file, layout how, const double *row, int p)
{
    if (how == DOUBLES) fwrite(row, sizeof *row, (size_t)p, file);
    for (int j = 0; j < p && how != DOUBLES; j++) {
        char text[SN_NUMBER_SIZE + 1];
        float value = (float)row[j];
        if (how == FLOATS) {
            fwrite(&value, sizeof value, 1, file);
        } else {
            size_t length = sn_number_print((double)value, text);
            text[length] = j + 1 < p ? ',' : '\n';
            fwrite(text, 1, length + 1, file);
        }
    }
}

/* n x p normal numbers as single precision has them. */
static stonet_status write_file(const char *path, layout how, int64_t n, int p)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) return sn_fail(STONET_ERROR_IO, "cannot write %s: %s", path, strerror(errno));
    sn_random random = sn_random_from(1, SN_STREAM_TEST, 0);
    write_header(file, how, n, p);
    for (int64_t i = 0; i < n; i++) {
        double row[ARRAY_COLUMNS];
        for (int j = 0; j < p; j++) row[j] = (double)(float)sn_random_normal(&random);
        write_row(file, how, row, p);
    }
    bool failed = ferror(file) != 0;
    failed |= fclose(file) != 0;
    return failed ? sn_fail(STONET_ERROR_IO, "cannot write %s", path) : STONET_OK;
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds by the clock, and of all processors. */
static stonet_status time_read(const char *path, int threads, double *clock, double *processor)
{
    const stonet_read_options how = {.size = sizeof how, .threads = threads};
    stonet_data *data = NULL;
    double began = seconds_of(CLOCK_MONOTONIC), worked = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    stonet_status status = stonet_data_read(path, &how, &data);
    *clock = seconds_of(CLOCK_MONOTONIC) - began;
    *processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - worked;
    stonet_data_free(data);
    return status;
}

static stonet_status measure(const char *path, int rounds, int threads)
{
    struct stat about;
    if (stat(path, &about) != 0) return sn_fail(STONET_ERROR_IO, "cannot read %s", path);
    printf("\"bytes\": %lld, \"rounds\": [", (long long)about.st_size);
    for (int round = 0; round < rounds; round++) {
        double one, one_processor, many, many_processor;
        SN_TRY(time_read(path, 1, &one, &one_processor));
        SN_TRY(time_read(path, threads, &many, &many_processor));
        printf("%s{\"one\": %.5g, \"one_cpu\": %.5g, \"many\": %.5g, \"many_cpu\": %.5g}", round ? ", " : "",
               one, one_processor, many, many_processor);
    }
    printf("]");
    return STONET_OK;
}

stonet_status reading_times(const char *folder, int64_t n, int rounds, int threads)
{
    static const struct {
        const char *name, *file;
        layout how;
        int columns;
    } files[] = {{"CSV", "table.csv", TEXT, TEXT_COLUMNS},
                 {".npy float32", "single.npy", FLOATS, ARRAY_COLUMNS},
                 {".npy float64", "double.npy", DOUBLES, ARRAY_COLUMNS}};
    printf("\"n\": %lld, \"threads\": %d, \"files\": [", (long long)n, threads);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, files[k].file);
        SN_TRY(write_file(path, files[k].how, n, files[k].columns));
        printf("%s\n    {\"name\": \"%s\", \"columns\": %d, ", k > 0 ? "," : "", files[k].name,
               files[k].columns);
        SN_TRY(measure(path, rounds, threads));
        printf("}");
    }
    printf("]");
    return STONET_OK;
}

static stonet_status fit_file(const char *x, const char *y, int threads, stonet_data **data,
                              stonet_model **model, stonet_spec **spec)
{
    const stonet_read_options how = {.size = sizeof how, .target_file = y, .threads = threads};
    stonet_run run = STONET_RUN_INIT;
    run.threads = threads;
    SN_TRY(stonet_data_read(x, &how, data));
    SN_TRY(stonet_spec_create("stonet", spec));
    SN_TRY(stonet_spec_set(*spec, "dim", "2"));
    SN_TRY(stonet_fit(*spec, *data, &run, model));
    const stonet_use_options reduce = {.size = sizeof reduce, .threads = threads};
    float *z = malloc((size_t)(2 * stonet_data_rows(*data)) * sizeof *z);
    if (z == NULL) return sn_fail(STONET_ERROR_MEMORY, "memory ran out");
    stonet_status status = stonet_transform(*model, *data, &reduce, z);
    free(z);
    return status;
}

stonet_status reading_memory(const char *folder, int64_t n, int threads)
{
    char x[4096], y[4096];
    snprintf(x, sizeof x, "%s/x.npy", folder);
    snprintf(y, sizeof y, "%s/y.npy", folder);
    SN_TRY(write_file(x, FLOATS, n, ARRAY_COLUMNS));
    SN_TRY(write_file(y, FLOATS, n, 1));
    stonet_data *data = NULL;
    stonet_model *model = NULL;
    stonet_spec *spec = NULL;
    stonet_status status = fit_file(x, y, threads, &data, &model, &spec);
    stonet_spec_free(spec);
    stonet_model_free(model);
    stonet_data_free(data);
    printf("\"n\": %lld, \"data_bytes\": %.0f", (long long)n, 4.0 * (double)n * (ARRAY_COLUMNS + 1));
    return status;
}
