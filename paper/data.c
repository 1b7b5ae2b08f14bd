#include "paper/paper.h"

#include <unistd.h>

/* NAME_SIZE: of a path inside the data folder. */
enum { PATH_SIZE = 4096, NAME_SIZE = 256, CT_ROWS = 53500 };

/* Keeps the splits apart from other uses of a seed; the trial is added to it. The partitions are part of the
   experiment: they do not change with --seed. */
static const uint64_t split_stream = (uint64_t)3 << 32, split_seed = 1;

static bool has_file(const lab *self, const char *path)
{
    char whole[PATH_SIZE];
    snprintf(whole, sizeof whole, "%s/%s", self->options.data, path);
    return self->options.data != NULL && access(whole, R_OK) == 0;
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

/* rows: those of the training part, then the others. */
static stonet_status subsets(const stonet_data *data, const int64_t *rows, int64_t n_train, split *out)
{
    TRY(stonet_data_subset(data, rows, n_train, &out->train));
    return stonet_data_subset(data, rows + n_train, stonet_data_rows(data) - n_train, &out->test);
}

/* ---- the six binary sets ----------------------------------------------------------------------- */

static stonet_status given_part(const lab *self, const char *name, const char *folder, const char *part,
                                int64_t trial, stonet_data **out)
{
    char features[NAME_SIZE], labels[NAME_SIZE];
    snprintf(features, sizeof features, "%s/%s%s_%s_data_%" PRId64 ".asc", name, folder, name, part, trial);
    snprintf(labels, sizeof labels, "%s/%s%s_%s_labels_%" PRId64 ".asc", name, folder, name, part, trial);
    return read_part(self, features, labels, out);
}

/* Split `trial` from the files of the folder; *is_given: whether they are there. */
static stonet_status given_split(const lab *self, const char *name, int64_t trial, bool *is_given, split *out)
{
    static const char *const folders[] = {"", "substitute_splits/"};
    for (size_t i = 0; i < 2; i++) {
        char path[NAME_SIZE];
        snprintf(path, sizeof path, "%s/%s%s_train_data_%" PRId64 ".asc", name, folders[i], name, trial);
        *is_given = has_file(self, path);
        if (!*is_given) continue;
        TRY(given_part(self, name, folders[i], "train", trial, &out->train));
        return given_part(self, name, folders[i], "test", trial, &out->test);
    }
    return STONET_OK;
}

/* Both parts under each other, then cut anew in a random order. */
static stonet_status cut_anew(const stonet_data *train, const stonet_data *test, int64_t trial, split *out)
{
    int64_t a = stonet_data_rows(train), b = stonet_data_rows(test), n = a + b, m = 0;
    int64_t p = stonet_data_columns(train);
    ROOM float *x = make_room((size_t)(n * p), sizeof *x);
    ROOM double *y = make_room((size_t)n, sizeof *y);
    ROOM int64_t *order = make_room((size_t)n, sizeof *order);
    AUTO(stonet_data) *whole = NULL;
    if (x == NULL || y == NULL || order == NULL) return out_of_memory();
    memcpy(x, stonet_data_x(train), (size_t)(a * p) * sizeof *x);
    memcpy(x + a * p, stonet_data_x(test), (size_t)(b * p) * sizeof *x);
    memcpy(y, stonet_data_targets(train, &m), (size_t)a * sizeof *y);
    memcpy(y + a, stonet_data_targets(test, &m), (size_t)b * sizeof *y);
    TRY(stonet_permutation(split_seed, split_stream | (uint32_t)trial, n, order));
    TRY(stonet_data_wrap(x, n, p, &whole));
    TRY(stonet_data_set_targets(whole, y, 1));
    return subsets(whole, order, a, out);
}

stonet_status binary_split(const lab *self, const cell *what, split *out)
{
    bool is_given;
    TRY(given_split(self, what->row, what->trial, &is_given, out));
    if (is_given) return STONET_OK;
    split first = {0};
    stonet_status status = given_split(self, what->row, 1, &is_given, &first);
    if (!is_given) status = stonet_fail(STONET_ERROR_IO, "the data folder has no split 1 of this set");
    if (status == STONET_OK) status = cut_anew(first.train, first.test, what->trial, out);
    stonet_data_free(first.train);
    stonet_data_free(first.test);
    return status;
}

/* ---- MNIST ------------------------------------------------------------------------------------- */

stonet_status mnist_split(const lab *self, const cell *what, split *out)
{
    AUTO(stonet_data) *all = NULL;
    TRY(read_part(self, "mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz", &all));
    TRY(read_part(self, "mnist/t10k-images-idx3-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz", &out->test));
    int64_t n = stonet_data_rows(all), m = 0, kept = 0, taken[10] = {0};
    int64_t wanted = strtoll(what->row, NULL, 10), each = wanted < n ? wanted / 10 : n;
    const double *y = stonet_data_targets(all, &m);
    ROOM int64_t *rows = make_room((size_t)n, sizeof *rows);
    if (rows == NULL) return out_of_memory();
    for (int64_t i = 0; y != NULL && i < n; i++)
        if (y[i] >= 0 && y[i] < 10 && taken[(int)y[i]]++ < each) rows[kept++] = i;
    return stonet_data_subset(all, rows, kept, &out->train);
}

/* ---- regression -------------------------------------------------------------------------------- */

/* The training rows, then those held out. */
static stonet_status hold_out(const stonet_data *data, const bool *held, split *out)
{
    int64_t n = stonet_data_rows(data), first = 0, last = n;
    ROOM int64_t *rows = make_room((size_t)n, sizeof *rows);
    if (rows == NULL) return out_of_memory();
    for (int64_t i = 0; i < n; i++) rows[held[i] ? --last : first++] = i;
    return subsets(data, rows, first, out);
}

static stonet_status uci_fold(const lab *self, const cell *what, split *out)
{
    char path[PATH_SIZE], target[24];
    AUTO(stonet_data) *data = NULL, *mask = NULL;
    snprintf(target, sizeof target, "%" PRId64, what->on->number);
    stonet_read_options how = {.size = sizeof how, .target = target};
    snprintf(path, sizeof path, "%s/uci-%s/data.csv.gz", self->options.data, what->row);
    TRY(stonet_data_read(path, &how, &data));
    snprintf(path, sizeof path, "%s/uci-%s/test_mask.csv.gz", self->options.data, what->row);
    TRY(stonet_data_read(path, NULL, &mask));
    const int64_t n = stonet_data_rows(data), fold = what->trial, folds = stonet_data_columns(mask);
    const float *x = stonet_data_x(mask);
    if (x == NULL || stonet_data_rows(mask) != n || fold > folds)
        return stonet_fail(STONET_ERROR_DATA, "the mask of the folds has no such fold, or other rows");
    ROOM bool *held = make_room((size_t)n, sizeof *held);
    if (held == NULL) return out_of_memory();
    for (int64_t i = 0; i < n; i++) held[i] = x[i * folds + fold - 1] != 0.0F;
    return hold_out(data, held, out);
}

/* The patient's number names the rows and is no feature. */
static stonet_status ct_read(const lab *self, stonet_data **out)
{
    static const char whole[] = "ct-slices/slice_localization_data.csv.gz",
                      part[] = "ct-slices/slice_localization_data_first682.csv.gz";
    char path[PATH_SIZE], text[NAME_SIZE];
    AUTO(stonet_data) *data = NULL;
    const char *name = has_file(self, whole) ? whole : part;
    if (!has_file(self, name)) return stonet_fail(STONET_ERROR_DATA, "the data folder has no CT slices");
    snprintf(path, sizeof path, "%s/%s", self->options.data, name);
    stonet_read_options how = {.size = sizeof how, .target = "reference", .id = "patientId"};
    TRY(stonet_data_read(path, &how, &data));
    snprintf(text, sizeof text, "the CT slices in the data folder are %" PRId64 " of %d rows",
             stonet_data_rows(data), CT_ROWS);
    if (stonet_data_rows(data) < CT_ROWS) return stonet_fail(STONET_ERROR_DATA, text);
    *out = data;
    data = NULL;
    return STONET_OK;
}

/* held[unit[row]]: units are rows, or the patients, whose numbers name the rows. */
static stonet_status ct_split(const stonet_data *data, bool by_patient, int64_t trial, split *out)
{
    int64_t n = stonet_data_rows(data), units = 0;
    ROOM int64_t *unit = make_room((size_t)n, sizeof *unit), *order = make_room((size_t)n, sizeof *order);
    ROOM bool *unit_held = make_room((size_t)n, sizeof *unit_held),
              *held = make_room((size_t)n, sizeof *held);
    if (unit == NULL || order == NULL || unit_held == NULL || held == NULL) return out_of_memory();
    for (int64_t i = 0; i < n; i++) {
        const char *patient = stonet_data_id(data, i);
        unit[i] = by_patient && patient != NULL ? strtoll(patient, NULL, 10) : i;
        if (unit[i] < 0 || unit[i] >= n) return stonet_fail(STONET_ERROR_DATA, "a patient has no number");
        if (unit[i] >= units) units = unit[i] + 1;
    }
    TRY(stonet_permutation(split_seed, split_stream | (uint32_t)trial, units, order));
    for (int64_t i = 0; i < units / (by_patient ? 10 : 5); i++) unit_held[order[i]] = true;
    for (int64_t i = 0; i < n; i++) held[i] = unit_held[unit[i]];
    return hold_out(data, held, out);
}

stonet_status regression_split(const lab *self, const cell *what, split *out)
{
    if (strncmp(what->row, "ct-", 3) != 0) return uci_fold(self, what, out);
    return ct_split(self->ct, strcmp(what->row, "ct-patients") == 0, what->trial, out);
}

/* Of table 3 the CT slices are there, or others in their place. */
bool data_is_there(lab *self, const row *on)
{
    bool is_ct = strncmp(on->name, "ct-", 3) == 0;
    if (is_ct && self->ct == NULL && ct_read(self, &self->ct) != STONET_OK)
        printf("%s is skipped: %s; other regression sets take their place\n", on->name, stonet_last_error());
    if (is_ct || self->ct != NULL) return is_ct && self->ct != NULL;
    if (on->file == NULL || has_file(self, on->file)) return true;
    printf("%s is skipped: it is not in the data folder\n", on->name);
    return false;
}
