#include "paper/paper.h"

#include <unistd.h>

enum { CT_ROWS = 53500 };

/* Keeps the splits apart from other uses of a seed; the trial is added to it. The partitions are part of the
   experiment: they do not change with --seed. */
static const uint64_t split_stream = (uint64_t)3 << 32, split_seed = 1;

static bool has_file(const lab *self, const char *name)
{
    BLOCK char *path = text_of("%s/%s", self->options.data != NULL ? self->options.data : "", name);
    return self->options.data != NULL && access(path, R_OK) == 0;
}

/* FOLDER/NAME, with the responses in FOLDER/RESPONSES where that is not NULL. */
static stonet_status read_table(const lab *self, const char *name, const char *responses,
                                stonet_read_options how, stonet_data **out)
{
    BLOCK char *path = text_of("%s/%s", self->options.data, name);
    BLOCK char *response = responses != NULL ? text_of("%s/%s", self->options.data, responses) : NULL;
    how.target_file = response;
    how.size = sizeof how;
    return stonet_data_read(path, &how, out);
}

/* rows: those of the training part, then the others. */
static stonet_status subsets(const stonet_data *data, const int64_t *rows, int64_t n_train, split *out)
{
    TRY(stonet_data_subset(data, rows, n_train, &out->train));
    return stonet_data_subset(data, rows + n_train, stonet_data_rows(data) - n_train, &out->test);
}

/* Split `trial` from the files of the folder; *out stays empty where there are none. */
static stonet_status given_split(const lab *self, const char *name, int64_t trial, split *out)
{
    static const char *const folders[] = {"", "substitute_splits/"}, *const parts[] = {"train", "test"};
    stonet_data **const to[] = {&out->train, &out->test};
    for (size_t f = 0; f < COUNT(folders) && out->train == NULL; f++)
        for (size_t k = 0; k < COUNT(parts); k++) {
            BLOCK char *start = text_of("%s/%s%s_%s", name, folders[f], name, parts[k]);
            BLOCK char *features = text_of("%s_data_%" PRId64 ".asc", start, trial);
            BLOCK char *labels = text_of("%s_labels_%" PRId64 ".asc", start, trial);
            if (out->train == NULL && !has_file(self, features)) break;
            TRY(read_table(self, features, labels, (stonet_read_options){0}, to[k]));
        }
    return STONET_OK;
}

/* Both parts under each other, then cut anew in a random order. */
static stonet_status cut_anew(const split *given, int64_t trial, split *out)
{
    const stonet_data *part[] = {given->train, given->test};
    const int64_t a = stonet_data_rows(part[0]), n = a + stonet_data_rows(part[1]);
    const int64_t p = stonet_data_columns(part[0]);
    BLOCK float *x = room_for(n * p, sizeof *x);
    BLOCK double *y = room_for(n, sizeof *y);
    BLOCK int64_t *order = room_for(n, sizeof *order);
    AUTO(stonet_data) *whole = NULL;
    for (int64_t k = 0, at = 0, m; k < 2; at += stonet_data_rows(part[k++])) {
        const size_t rows = (size_t)stonet_data_rows(part[k]);
        memcpy(x + at * p, stonet_data_x(part[k]), rows * (size_t)p * sizeof *x);
        memcpy(y + at, stonet_data_targets(part[k], &m), rows * sizeof *y);
    }
    TRY(stonet_permutation(split_seed, split_stream | (uint32_t)trial, n, order));
    TRY(stonet_data_wrap(x, n, p, &whole));
    TRY(stonet_data_set_targets(whole, y, 1));
    return subsets(whole, order, a, out);
}

stonet_status binary_split(const lab *self, const cell *what, split *out)
{
    __attribute__((cleanup(split_free))) split first = {0};
    TRY(given_split(self, what->at->name, what->trial, out));
    if (out->train != NULL) return STONET_OK;
    TRY(given_split(self, what->at->name, 1, &first));
    if (first.train == NULL)
        return stonet_fail(STONET_ERROR_IO, "the data folder has no split 1 of this set");
    return cut_anew(&first, what->trial, out);
}

stonet_status mnist_split(const lab *self, const cell *what, split *out)
{
    AUTO(stonet_data) *all = NULL;
    const stonet_read_options how = {0};
    TRY(read_table(self, "mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz", how, &all));
    TRY(read_table(self, "mnist/t10k-images-idx3-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz", how,
                   &out->test));
    int64_t n = stonet_data_rows(all), m = 0, kept = 0, taken[10] = {0};
    int64_t wanted = strtoll(what->at->name, NULL, 10), each = wanted < n ? wanted / 10 : n;
    const double *y = stonet_data_targets(all, &m);
    BLOCK int64_t *rows = room_for(n, sizeof *rows);
    for (int64_t i = 0; y != NULL && i < n; i++)
        if (y[i] >= 0 && y[i] < 10 && taken[(int)y[i]]++ < each) rows[kept++] = i;
    return stonet_data_subset(all, rows, kept, &out->train);
}

/* The training rows, then those held out. */
static stonet_status hold_out(const stonet_data *data, const bool *held, split *out)
{
    int64_t n = stonet_data_rows(data), first = 0, last = n;
    BLOCK int64_t *rows = room_for(n, sizeof *rows);
    for (int64_t i = 0; i < n; i++) rows[held[i] ? --last : first++] = i;
    return subsets(data, rows, first, out);
}

static stonet_status uci_fold(const lab *self, const cell *what, split *out)
{
    AUTO(stonet_data) *data = NULL, *mask = NULL;
    BLOCK char *target = text_of("%" PRId64, what->at->on->number);
    BLOCK char *masks = text_of("uci-%s/test_mask.csv.gz", what->at->name);
    TRY(read_table(self, what->at->on->file, NULL, (stonet_read_options){.target = target}, &data));
    TRY(read_table(self, masks, NULL, (stonet_read_options){0}, &mask));
    const int64_t n = stonet_data_rows(data), fold = what->trial, folds = stonet_data_columns(mask);
    const float *x = stonet_data_x(mask);
    if (x == NULL || stonet_data_rows(mask) != n || fold > folds)
        return stonet_fail(STONET_ERROR_DATA, "the mask of the folds has no such fold, or other rows");
    BLOCK bool *held = room_for(n, sizeof *held);
    for (int64_t i = 0; i < n; i++) held[i] = x[i * folds + fold - 1] != 0.0F;
    return hold_out(data, held, out);
}

/* The patient's number names the rows and is no feature. */
static stonet_status ct_read(const lab *self, stonet_data **out)
{
    static const char whole[] = "ct-slices/slice_localization_data.csv.gz",
                      part[] = "ct-slices/slice_localization_data_first682.csv.gz";
    AUTO(stonet_data) *data = NULL;
    const char *name = has_file(self, whole) ? whole : part;
    const stonet_read_options how = {.target = "reference", .id = "patientId"};
    if (!has_file(self, name)) return stonet_fail(STONET_ERROR_DATA, "the data folder has no CT slices");
    TRY(read_table(self, name, NULL, how, &data));
    BLOCK char *text = text_of("the CT slices in the data folder are %" PRId64 " of %d rows",
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
    BLOCK int64_t *unit = room_for(n, sizeof *unit), *order = room_for(n, sizeof *order);
    BLOCK bool *unit_held = room_for(n, sizeof *unit_held), *held = room_for(n, sizeof *held);
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
    if (strncmp(what->at->name, "ct-", 3) != 0) return uci_fold(self, what, out);
    return ct_split(self->ct, strcmp(what->at->name, "ct-patients") == 0, what->trial, out);
}

/* Of table 3 the CT slices are there, or others in their place. */
bool data_is_there(lab *self, const row *on, const char *name)
{
    if (self->about->load == NULL) return true;
    bool is_ct = strncmp(name, "ct-", 3) == 0;
    if (is_ct && self->ct == NULL && ct_read(self, &self->ct) != STONET_OK)
        printf("%s is skipped: %s; other regression sets take their place\n", name, stonet_last_error());
    if (is_ct || self->ct != NULL) return is_ct && self->ct != NULL;
    if (has_file(self, on->file != NULL ? on->file : name)) return true;
    printf("%s is skipped: it is not in the data folder\n", name);
    return false;
}
