#include "paper/datasets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NAME_SIZE: of a path inside the data folder. */
enum { PATH_SIZE = 4096, NAME_SIZE = 256 };

/* Keeps the splits apart from other uses of a seed; the trial is added to it. */
static const uint64_t split_stream = (uint64_t)3 << 32;

static const char ct_file[] = "ct-slices/slice_localization_data.csv.gz";
static const char ct_part[] = "ct-slices/slice_localization_data_first682.csv.gz";

bool has_file(const lab *self, const char *path)
{
    char whole[PATH_SIZE];
    if (self->options.data == NULL) return false;
    snprintf(whole, sizeof whole, "%s/%s", self->options.data, path);
    return access(whole, R_OK) == 0;
}

static stonet_status read_part(const lab *self, const char *features, const char *responses,
                               stonet_data **out)
{
    char path[PATH_SIZE], response[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", self->options.data, features);
    snprintf(response, sizeof response, "%s/%s", self->options.data, responses);
    stonet_read_options how = {.size = sizeof how, .target_file = response};
    return stonet_data_read(path, &how, out);
}

static stonet_status subsets(const stonet_data *data, const int64_t *rows, int64_t n_train, int64_t n_test,
                             split *out)
{
    stonet_status status = stonet_data_subset(data, rows, n_train, &out->train);
    if (status == STONET_OK) status = stonet_data_subset(data, rows + n_train, n_test, &out->test);
    if (status != STONET_OK) split_free(out);
    return status;
}

/* ---- the six binary sets ----------------------------------------------------------------------- */

/* Split `trial` from the files of the folder; false when they are not there. */
static bool given_split_exists(const lab *self, const char *name, int64_t trial, const char **folder)
{
    static const char *const folders[] = {"", "substitute_splits/"};
    for (size_t i = 0; i < 2; i++) {
        char path[NAME_SIZE];
        snprintf(path, sizeof path, "%s/%s%s_train_data_%" PRId64 ".asc", name, folders[i], name, trial);
        *folder = folders[i];
        if (has_file(self, path)) return true;
    }
    return false;
}

static stonet_status given_part(const lab *self, const char *name, const char *folder, const char *part,
                                int64_t trial, stonet_data **out)
{
    char features[NAME_SIZE], labels[NAME_SIZE];
    snprintf(features, sizeof features, "%s/%s%s_%s_data_%" PRId64 ".asc", name, folder, name, part, trial);
    snprintf(labels, sizeof labels, "%s/%s%s_%s_labels_%" PRId64 ".asc", name, folder, name, part, trial);
    return read_part(self, features, labels, out);
}

static stonet_status given_split(const lab *self, const char *name, const char *folder, int64_t trial,
                                 split *out)
{
    stonet_status status = given_part(self, name, folder, "train", trial, &out->train);
    if (status == STONET_OK) status = given_part(self, name, folder, "test", trial, &out->test);
    if (status != STONET_OK) split_free(out);
    return status;
}

/* Both parts under each other, then cut anew in a random order. */
static stonet_status cut_anew(const split *given, uint64_t seed, uint32_t trial, split *out)
{
    int64_t a = stonet_data_rows(given->train), b = stonet_data_rows(given->test), n = a + b, m = 0;
    int64_t p = stonet_data_columns(given->train);
    float *x = malloc((size_t)(n * p) * sizeof *x);
    double *y = malloc((size_t)n * sizeof *y);
    int64_t *order = malloc((size_t)n * sizeof *order);
    stonet_data *whole = NULL;
    stonet_status status = x != NULL && y != NULL && order != NULL ? STONET_OK : out_of_memory();
    if (status == STONET_OK) {
        memcpy(x, stonet_data_x(given->train), (size_t)(a * p) * sizeof *x);
        memcpy(x + a * p, stonet_data_x(given->test), (size_t)(b * p) * sizeof *x);
        memcpy(y, stonet_data_targets(given->train, &m), (size_t)a * sizeof *y);
        memcpy(y + a, stonet_data_targets(given->test, &m), (size_t)b * sizeof *y);
        status = stonet_permutation(seed, split_stream | trial, n, order);
    }
    if (status == STONET_OK) {
        status = stonet_data_wrap(x, n, p, &whole);
    }
    if (status == STONET_OK) status = stonet_data_set_targets(whole, y, 1);
    if (status == STONET_OK) status = subsets(whole, order, a, b, out);
    stonet_data_free(whole);
    free(order);
    free(y);
    free(x);
    return status;
}

static stonet_status no_split(const char *name)
{
    char text[NAME_SIZE];
    snprintf(text, sizeof text, "the data folder has no split 1 of %s", name);
    return stonet_fail(STONET_ERROR_IO, text);
}

stonet_status binary_split(const lab *self, const char *name, int64_t trial, split *out)
{
    *out = (split){0};
    const char *folder;
    if (given_split_exists(self, name, trial, &folder)) return given_split(self, name, folder, trial, out);
    split first = {0};
    if (!given_split_exists(self, name, 1, &folder)) return no_split(name);
    stonet_status status = given_split(self, name, folder, 1, &first);
    /* The partitions are part of the experiment: they do not change with --seed. */
    if (status == STONET_OK) status = cut_anew(&first, 1, (uint32_t)trial, out);
    split_free(&first);
    return status;
}

/* ---- MNIST ------------------------------------------------------------------------------------- */

/* Keeps the first per_class rows of each class. */
static stonet_status first_of_each(stonet_data **data, int64_t per_class)
{
    int64_t n = stonet_data_rows(*data), m = 0, kept = 0;
    const double *y = stonet_data_targets(*data, &m);
    int64_t taken[10] = {0};
    int64_t *rows = malloc((size_t)n * sizeof *rows);
    if (rows == NULL) return out_of_memory();
    for (int64_t i = 0; y != NULL && i < n; i++) {
        int digit = (int)y[i];
        if (digit >= 0 && digit < 10 && taken[digit]++ < per_class) rows[kept++] = i;
    }
    stonet_data *part = NULL;
    stonet_status status = stonet_data_subset(*data, rows, kept, &part);
    free(rows);
    if (status != STONET_OK) return status;
    stonet_data_free(*data);
    *data = part;
    return STONET_OK;
}

stonet_status mnist_split(const lab *self, int64_t per_class, split *out)
{
    *out = (split){0};
    stonet_status status =
        read_part(self, "mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz", &out->train);
    if (status == STONET_OK)
        status =
            read_part(self, "mnist/t10k-images-idx3-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz", &out->test);
    if (status == STONET_OK && per_class > 0) status = first_of_each(&out->train, per_class);
    if (status != STONET_OK) split_free(out);
    return status;
}

/* ---- UCI sets with a mask ---------------------------------------------------------------------- */

/* Training rows first, then the test rows; *n_test counts the latter. */
static stonet_status mask_rows(const stonet_data *mask, int64_t fold, int64_t n, int64_t *rows,
                               int64_t *n_test)
{
    int64_t folds = stonet_data_columns(mask);
    const float *x = stonet_data_x(mask);
    if (stonet_data_rows(mask) != n || fold > folds || x == NULL)
        return stonet_fail(STONET_ERROR_DATA, "the mask does not fit the data");
    int64_t first = 0, last = n;
    for (int64_t i = 0; i < n; i++) {
        if (x[i * folds + fold - 1] != 0.0F)
            rows[--last] = i;
        else
            rows[first++] = i;
    }
    *n_test = n - last;
    return STONET_OK;
}

stonet_status uci_fold(const lab *self, const char *name, int64_t fold, split *out)
{
    char path[PATH_SIZE], column[24];
    stonet_data *plain = NULL, *data = NULL, *mask = NULL;
    int64_t *rows = NULL, n_test = 0;
    *out = (split){0};
    snprintf(path, sizeof path, "%s/uci-%s/data.csv.gz", self->options.data, name);
    stonet_status status = stonet_data_read(path, NULL, &plain);
    if (status == STONET_OK) { /* the target is the last column */
        snprintf(column, sizeof column, "%" PRId64, stonet_data_columns(plain));
        stonet_read_options how = {.size = sizeof how, .target = column};
        status = stonet_data_read(path, &how, &data);
    }
    stonet_data_free(plain);
    snprintf(path, sizeof path, "%s/uci-%s/test_mask.csv.gz", self->options.data, name);
    if (status == STONET_OK) status = stonet_data_read(path, NULL, &mask);
    if (status == STONET_OK) {
        int64_t n = stonet_data_rows(data);
        rows = malloc((size_t)n * sizeof *rows);
        status = rows != NULL ? mask_rows(mask, fold, n, rows, &n_test) : out_of_memory();
        if (status == STONET_OK) status = subsets(data, rows, n - n_test, n_test, out);
    }
    free(rows);
    stonet_data_free(mask);
    stonet_data_free(data);
    return status;
}

/* ---- CT slices --------------------------------------------------------------------------------- */

void ct_free(ct_table *self)
{
    stonet_data_free(self->data);
    free(self->x);
    free(self->patient);
    *self = (ct_table){0};
}

/* The first column is the patient; the others are features. */
static stonet_status ct_from(const stonet_data *raw, ct_table *out)
{
    int64_t n = stonet_data_rows(raw), p = stonet_data_columns(raw), m = 0;
    const float *x = stonet_data_x(raw);
    const double *y = stonet_data_targets(raw, &m);
    if (x == NULL || y == NULL || p < 2)
        return stonet_fail(STONET_ERROR_DATA, "this is no table of CT slices");
    out->x = malloc((size_t)(n * (p - 1)) * sizeof *out->x);
    out->patient = malloc((size_t)n * sizeof *out->patient);
    if (out->x == NULL || out->patient == NULL) return out_of_memory();
    for (int64_t i = 0; i < n; i++) {
        out->patient[i] = (int64_t)x[i * p];
        memcpy(out->x + i * (p - 1), x + i * p + 1, (size_t)(p - 1) * sizeof *x);
    }
    stonet_status status = stonet_data_wrap(out->x, n, p - 1, &out->data);
    return status == STONET_OK ? stonet_data_set_targets(out->data, y, 1) : status;
}

static stonet_status too_few_slices(int64_t rows)
{
    char text[96];
    snprintf(text, sizeof text, "the CT slices in the data folder are %" PRId64 " of %d rows", rows, CT_ROWS);
    return stonet_fail(STONET_ERROR_DATA, text);
}

stonet_status ct_read(const lab *self, ct_table *out)
{
    *out = (ct_table){0};
    char path[PATH_SIZE];
    const char *name = has_file(self, ct_file) ? ct_file : ct_part;
    if (!has_file(self, name)) return stonet_fail(STONET_ERROR_DATA, "the data folder has no CT slices");
    snprintf(path, sizeof path, "%s/%s", self->options.data, name);
    stonet_read_options how = {.size = sizeof how, .target = "reference"};
    stonet_data *raw = NULL;
    stonet_status status = stonet_data_read(path, &how, &raw);
    if (status == STONET_OK && stonet_data_rows(raw) < CT_ROWS)
        status = too_few_slices(stonet_data_rows(raw));
    if (status == STONET_OK) status = ct_from(raw, out);
    stonet_data_free(raw);
    if (status != STONET_OK) ct_free(out);
    return status;
}

/* held[unit]: whether a row or patient is in the test part; a share of 1/parts of them is. */
static stonet_status hold_out(uint64_t seed, int64_t trial, int64_t units, int64_t parts, int64_t *order,
                              bool *held)
{
    stonet_status status = stonet_permutation(seed, split_stream | (uint32_t)trial, units, order);
    for (int64_t i = 0; i < units && status == STONET_OK; i++) held[order[i]] = i < units / parts;
    return status;
}

stonet_status ct_split(const lab *self, const ct_table *table, bool by_patient, int64_t trial, split *out)
{
    (void)self;
    int64_t n = stonet_data_rows(table->data), units = n;
    for (int64_t i = 0; by_patient && i < n; i++) {
        if (i == 0) units = 0;
        if (table->patient[i] + 1 > units) units = table->patient[i] + 1;
    }
    int64_t *rows = malloc((size_t)n * sizeof *rows), *order = malloc((size_t)(units + 1) * sizeof *order);
    bool *held = malloc((size_t)(units + 1) * sizeof *held);
    stonet_status status = rows != NULL && order != NULL && held != NULL ? STONET_OK : out_of_memory();
    *out = (split){0};
    if (status == STONET_OK) status = hold_out(1, trial, units, by_patient ? 10 : 5, order, held);
    if (status == STONET_OK) {
        int64_t first = 0, last = n;
        for (int64_t i = 0; i < n; i++) {
            if (held[by_patient ? table->patient[i] : i])
                rows[--last] = i;
            else
                rows[first++] = i;
        }
        status = subsets(table->data, rows, first, n - first, out);
    }
    free(held);
    free(order);
    free(rows);
    return status;
}
