/*
 * Changes single bits of every kind of file that is written: a model with its calibration, a checkpoint, the
 * files of shards and their index.
 *
 * flips [STEP]
 *
 * Every STEP-th bit (1, all of them, unless told) is changed, the file is used, and the bit is put back. A
 * file is refused with a sentence, or what comes out of it is what came out before, to the bit. Prints what
 * became of the files, and fails when there was another answer.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <stonet/stonet.h>

enum { ROWS = 40 };

static char folder[] = "/tmp/stonet-flips-XXXXXX";

static void need(bool fine, const char *what)
{
    if (fine) return;
    fprintf(stderr, "flips: %s: %s\n", what, stonet_last_error());
    exit(2);
}

/* What a file gave: the bytes of a model. */
typedef struct answer {
    unsigned char *bytes;
    size_t size;
} answer;

static stonet_status take(stonet_status status, stonet_model *model, answer *out)
{
    *out = (answer){0};
    if (status == STONET_OK) status = stonet_model_save_bytes(model, &out->bytes, &out->size);
    stonet_model_free(model);
    return status;
}

static stonet_data *read_table(const char *path)
{
    static const char *const order[] = {"size=low,high"};
    const stonet_read_options how = {.size = sizeof how,
                                     .threads = 1,
                                     .target = "y",
                                     .id = "key",
                                     .weights = "w",
                                     .ordinal = order,
                                     .n_ordinal = 1};
    stonet_data *data = NULL;
    need(stonet_data_read(path, &how, &data) == STONET_OK, path);
    return data;
}

/* ---- the kinds of files ---- */

static int stop_soon(void *left)
{
    return left != NULL && --*(int *)left < 0;
}

/* A short training; `left`: it is stopped when it has been asked so often. */
static stonet_status train(const stonet_data *data, stonet_checkpoint *kept, int *left, stonet_model **out)
{
    static const char *const settings[][2] = {{"dim", "1"},      {"hidden", "2"},        {"epochs", "3"},
                                              {"batch", "8"},    {"activation", "tanh"}, {"restarts", "1"},
                                              {"front", "none"}, {"weight_decay", "0"},  {"levels", "none"}};
    const stonet_run run = {.size = sizeof run,
                            .seed = 1,
                            .threads = 1,
                            .should_stop = stop_soon,
                            .user = left,
                            .checkpoint = kept};
    stonet_spec *spec = NULL;
    need(stonet_spec_create("stonet", &spec) == STONET_OK, "spec");
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        need(stonet_spec_set(spec, settings[k][0], settings[k][1]) == STONET_OK, settings[k][0]);
    const stonet_status status = stonet_fit(spec, data, &run, out);
    stonet_spec_free(spec);
    return status;
}

static stonet_status use_model(answer *out)
{
    stonet_model *model = NULL;
    const stonet_status status = stonet_model_load("model", &model);
    return take(status, model, out);
}

static stonet_data *table;

static stonet_status use_checkpoint(answer *out)
{
    stonet_checkpoint *kept = NULL;
    stonet_model *model = NULL;
    stonet_status status = stonet_checkpoint_open("kept", 1e9, &kept);
    if (status == STONET_OK) status = train(table, kept, NULL, &model);
    stonet_checkpoint_free(kept);
    return take(status, model, out);
}

static stonet_status use_shards(answer *out)
{
    const stonet_read_options how = {.size = sizeof how, .threads = 1, .target = "y"};
    const stonet_run run = {.size = sizeof run, .seed = 1, .threads = 1};
    stonet_data *data = NULL;
    stonet_spec *spec = NULL;
    stonet_model *model = NULL;
    stonet_status status = stonet_data_read("s", &how, &data);
    if (status == STONET_OK) {
        need(stonet_spec_create("sir", &spec) == STONET_OK && stonet_spec_set(spec, "dim", "1") == STONET_OK,
             "spec");
        status = stonet_fit(spec, data, &run, &model);
    }
    stonet_spec_free(spec);
    stonet_data_free(data);
    return take(status, model, out);
}

static void make_table(void)
{
    FILE *file = fopen("t.csv", "w");
    need(file != NULL, "t.csv");
    fputs("key,a,big,town,size,w,y\n", file);
    for (int i = 0; i < ROWS; i++)
        fprintf(file, "k%d,%.4f,%.3f,%s,%s,%d,%.4f\n", i, i * 37 % 41 / 41.0, 1e6 + i * 17 % 43 / 43.0,
                i % 3 ? "Ulm" : "Bonn", i % 2 ? "low" : "high", 1 + i % 3, i * 37 % 41 / 41.0 + i % 2);
    need(fclose(file) == 0, "t.csv");
}

static void make_files(void)
{
    static const char *const order[] = {"size=low,high"};
    const stonet_read_options how = {.size = sizeof how,
                                     .threads = 1,
                                     .target = "y",
                                     .id = "key",
                                     .weights = "w",
                                     .ordinal = order,
                                     .n_ordinal = 1};
    stonet_calibrate_options folds = STONET_CALIBRATE_OPTIONS_INIT;
    stonet_checkpoint *kept = NULL;
    stonet_model *model = NULL;
    int left = 4;
    make_table();
    table = read_table("t.csv");
    folds.folds = 2;
    need(train(table, NULL, NULL, &model) == STONET_OK, "fit");
    need(stonet_calibrate(model, table, &folds, NULL) == STONET_OK, "calibrate");
    need(stonet_model_save(model, "model") == STONET_OK, "save");
    stonet_model_free(model);
    model = NULL;
    need(stonet_checkpoint_open("kept", 0.0, &kept) == STONET_OK, "checkpoint");
    (void)train(table, kept, &left, &model);
    stonet_checkpoint_free(kept);
    stonet_model_free(model);
    need(stonet_shards_write("t.csv", &how, 1024, "s", NULL, NULL) == STONET_OK, "shards");
}

/* ---- the flips ---- */

static long wrong;

static void flip_all(const char *path, stonet_status (*use)(answer *out), long step)
{
    answer right, found;
    need(use(&right) == STONET_OK, path);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    need(file >= 0, path);
    const long bits = 8 * (long)lseek(file, 0, SEEK_END);
    long refused = 0, same = 0, other = 0;
    for (long bit = 0; bit < bits; bit += step) {
        unsigned char byte, changed;
        need(pread(file, &byte, 1, bit / 8) == 1, path);
        changed = (unsigned char)(byte ^ 1 << bit % 8);
        need(pwrite(file, &changed, 1, bit / 8) == 1, path);
        const stonet_status status = use(&found);
        need(pwrite(file, &byte, 1, bit / 8) == 1, path);
        const bool is_same = found.size == right.size && found.bytes != NULL &&
                             memcmp(found.bytes, right.bytes, right.size) == 0;
        refused += status != STONET_OK && stonet_last_error()[0] != '\0';
        same += status == STONET_OK && is_same;
        if (status == STONET_OK ? !is_same : stonet_last_error()[0] == '\0') {
            if (other++ < 3)
                fprintf(stderr, "%s: bit %ld of byte %ld goes unnoticed\n", path, bit % 8, bit / 8);
        }
        stonet_bytes_free(found.bytes);
    }
    printf("%-18s %7ld bytes  %7ld refused  %6ld without harm  %ld wrong\n", path, bits / 8, refused, same,
           other);
    wrong += other;
    close(file);
    stonet_bytes_free(right.bytes);
}

int main(int argc, char **argv)
{
    const long step = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    need(step > 0 && mkdtemp(folder) != NULL && chdir(folder) == 0, "usage: flips [STEP]");
    make_files();
    flip_all("model", use_model, step);
    flip_all("kept", use_checkpoint, step);
    flip_all("s/index.json", use_shards, step);
    flip_all("s/t-00000.npy", use_shards, step);
    flip_all("s/t-00000.y.npy", use_shards, step);
    flip_all("s/t-00000.more.npy", use_shards, step);
    stonet_data_free(table);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    need(chdir("/") == 0 && system(command) == 0, folder);
    return wrong > 0;
}
