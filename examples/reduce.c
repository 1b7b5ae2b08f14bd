/*
 * From a data file to the reduced numbers, in C:
 *
 *     gcc reduce.c $(pkg-config --cflags --libs stonet) -o reduce
 *     ./reduce train.csv y 2 > z.csv
 */
#include <stdio.h>
#include <stdlib.h>

#include <stonet/stonet.h>

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, stonet_last_error());
    return EXIT_FAILURE;
}

static void print_rows(const float *z, int64_t n, int64_t q)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < q; j++) printf("%.6g%c", (double)z[i * q + j], j + 1 < q ? ',' : '\n');
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s DATA TARGET DIM\n", argv[0]);
        return 2;
    }
    stonet_data *data = NULL;
    stonet_spec *spec = NULL;
    stonet_model *model = NULL;
    float *z = NULL;
    int status = EXIT_FAILURE;

    const stonet_read_options options = {.size = sizeof options, .target = argv[2]};
    if (stonet_data_read(argv[1], &options, &data) != STONET_OK) {
        failed("reading");
    } else if (stonet_spec_create("stonet", &spec) != STONET_OK ||
               stonet_spec_set(spec, "dim", argv[3]) != STONET_OK) {
        failed("settings");
    } else if (stonet_fit(spec, data, NULL, &model) != STONET_OK) {
        failed("fitting");
    } else {
        const int64_t n = stonet_data_rows(data), q = stonet_model_dim(model);
        z = malloc((size_t)(n * q) * sizeof *z);
        if (z == NULL || stonet_transform(model, data, NULL, z) != STONET_OK) {
            failed("reducing");
        } else {
            print_rows(z, n, q);
            status = EXIT_SUCCESS;
        }
    }
    free(z);
    stonet_model_free(model);
    stonet_spec_free(spec);
    stonet_data_free(data);
    return status;
}
