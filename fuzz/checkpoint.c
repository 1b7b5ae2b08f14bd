/*
 * Checkpoints. The bytes change a file that a fit of this very program has left: the first says which of
 * them, and whether the size and the checksum are put right afterwards; then four at a time are one change
 * (where, where, how, what). The fit that goes on from there ends soon, with a refusal or with a model of
 * finite answers.
 */
#include "fuzz/common.h"

#include "base/hash.h"

enum { N = 8, P = 2, FILES = 3, MOST = 1 << 14 };

static struct {
    uint8_t bytes[MOST];
    size_t size;
} kept[FILES]; /* what fits that were stopped early left */

static char path[64];

/* Stops a fit when it has been asked so many times. */
static int stop_soon(void *left)
{
    return left != NULL && --*(int *)left < 0;
}

static void check_answers(const stonet_model *model, const stonet_data *data)
{
    double answer[N] = {0};
    if (stonet_predict(model, data, NULL, answer) != STONET_OK) return;
    for (int i = 0; i < N; i++)
        if (!isfinite(answer[i])) abort();
}

static stonet_spec *make_spec(void)
{
    static const char *const settings[][2] = {
        {"dim", "1"},           {"hidden", "2"},          {"epochs", "3"},    {"batch", "4"},
        {"activation", "tanh"}, {"restarts", "1"},        {"front", "none"},  {"weight_decay", "0"},
        {"sweeps", "1"},        {"schedule", "averaged"}, {"levels", "none"}, {"sdr_iterations", "3"},
        {"engine", "ref"},      {"task", "regression"}};
    stonet_spec *spec = NULL;
    if (stonet_spec_create("stonet", &spec) != STONET_OK) abort();
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        if (stonet_spec_set(spec, settings[k][0], settings[k][1]) != STONET_OK) abort();
    return spec;
}

/* Goes on from the file; `left` as for stop_soon, NULL: to the end. */
static void fit(int *left)
{
    static const float x[N * P] = {1, 2, 5, 3, 2, 8, 4, 4, 9, 1, 7, 7, 3, 2, 6, 5};
    static const double y[N] = {1, 4, 2, 2.5, 6, 5, 2, 3};
    stonet_spec *spec = make_spec();
    stonet_data *data = NULL;
    stonet_model *model = NULL;
    stonet_run run = {.size = sizeof run, .threads = 1, .should_stop = stop_soon, .user = left};
    if (stonet_data_wrap(x, N, P, &data) != STONET_OK || stonet_data_set_targets(data, y, 1) != STONET_OK)
        abort();
    stonet_status status = stonet_checkpoint_open(path, 1e9, &run.checkpoint);
    if (status == STONET_OK) status = stonet_fit(spec, data, &run, &model);
    if (status == STONET_OK)
        check_answers(model, data);
    else if (model != NULL || stonet_last_error()[0] == '\0')
        abort();
    stonet_checkpoint_free(run.checkpoint);
    stonet_model_free(model);
    stonet_data_free(data);
    stonet_spec_free(spec);
}

static void write_kept(const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) abort();
}

static void remove_folder(void)
{
    (void)unlink(path);
    *strrchr(path, '/') = '\0';
    (void)rmdir(path);
}

static void make_files(void)
{
    static char folder[] = "/tmp/stonet-fuzz-XXXXXX", memory[] = "/dev/shm/stonet-fuzz-XXXXXX";
    const char *made = mkdtemp(memory) != NULL ? memory : mkdtemp(folder);
    if (made == NULL) abort();
    snprintf(path, sizeof path, "%s/kept", made);
    atexit(remove_folder);
    for (int k = 0; k < FILES; k++) {
        int left = k < FILES - 1 ? 1 + 3 * k : 1000; /* the last one is done */
        (void)unlink(path);
        fit(&left);
        FILE *file = fopen(path, "rb");
        if (file == NULL) abort();
        kept[k].size = fread(kept[k].bytes, 1, MOST, file);
        fclose(file);
        if (kept[k].size == MOST) abort();
    }
}

/* One change: another byte, or 8 bytes of a number in a place where one is. */
static void change(uint8_t *bytes, size_t size, const uint8_t *how)
{
    static const int64_t numbers[] = {0, 1, -1, 2, INT64_MAX, INT64_MIN, 1LL << 32, 1LL << 62};
    const size_t at = ((size_t)how[0] << 8 | how[1]) % size;
    if (how[2] % 4 == 0) bytes[at] = how[3];
    if (how[2] % 4 == 1) bytes[at] = (uint8_t)(bytes[at] + (int8_t)how[3]);
    if (how[2] % 4 >= 2 && at + 8 <= size) memcpy(bytes + at, &numbers[how[3] % 8], 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (path[0] == '\0') make_files();
    if (size < 1) return 0;
    uint8_t file[MOST];
    const int which = bytes[0] / 2 % FILES;
    size_t length = kept[which].size;
    memcpy(file, kept[which].bytes, length);
    for (size_t i = 1; i + 4 <= size; i += 4) change(file, length, bytes + i);
    if (bytes[0] % 2 == 0) {
        const int64_t whole = (int64_t)length;
        sn_hash hash;
        memcpy(file + 16, &whole, sizeof whole);
        sn_hash_begin(&hash);
        sn_hash_add(&hash, file, length - 8);
        const uint64_t sum = sn_hash_value(&hash);
        memcpy(file + length - 8, &sum, sizeof sum);
    } else {
        length -= size % 16 < length ? size % 16 : 0;
    }
    write_kept(file, length);
    fit(NULL);
    return 0;
}
