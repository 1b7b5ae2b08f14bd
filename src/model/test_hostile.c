/*
 * Model files that lie, entry by entry: each text and each tensor of models of all kinds is left out, of
 * another type or shape, or holds what it should not, every part of the JSON in it too. Such a model is
 * refused with a sentence, or it can be used: its answers are numbers or a sentence, and it can be saved.
 */
#include "base/test_kit.h"
#include "base/test_nodes.h"
#include "base/test_store.h"
#include "model/test_table.h"

enum { ROWS = 40, USED = 6, MOST_NUMBERS = 4096 };

typedef struct trial {
    const sn_store *from;
    const stonet_data *rows;
    const char *entry; /* the one that is changed */
    long refused, taken;
} trial;

static void assert_sentence(const trial *of, stonet_status status)
{
    if (status == STONET_OK || strlen(stonet_last_error()) > 10) return;
    fail_msg("%s: status %d without a sentence", of->entry, (int)status);
}

static void use(const trial *of, const stonet_model *model)
{
    static float z[MOST_NUMBERS];
    static double answer[MOST_NUMBERS];
    const int64_t dim = stonet_model_dim(model), outputs = stonet_model_outputs(model);
    stonet_use_options how = {.size = sizeof how, .threads = 1, .cell_draws = 2};
    if (USED * dim > MOST_NUMBERS || USED * outputs > MOST_NUMBERS) return;
    stonet_status status = stonet_transform(model, of->rows, &how, z);
    assert_sentence(of, status);
    for (int64_t i = 0; status == STONET_OK && i < USED * dim; i++)
        if (!isfinite(z[i])) fail_msg("%s: a Z that is no number", of->entry);
    status = stonet_predict(model, of->rows, &how, answer);
    assert_sentence(of, status);
    const int64_t answers = stonet_model_is_classifier(model) ? USED : USED * outputs;
    for (int64_t i = 0; status == STONET_OK && i < answers; i++)
        if (!isfinite(answer[i])) fail_msg("%s: a prediction that is no number", of->entry);
    SN_AUTO(sn_store) *store = NULL;
    OK(sn_store_create(&store));
    assert_sentence(of, sn_model_to_store(model, store));
}

static void judge(trial *of, const sn_store *damaged)
{
    SN_AUTO(stonet_model) *model = NULL;
    stonet_status status = sn_model_from_store(damaged, &model);
    assert_sentence(of, status);
    of->refused += status != STONET_OK;
    of->taken += status == STONET_OK;
    if (status == STONET_OK) use(of, model);
}

/* ---- damage ---- */

static void with_text(trial *of, const char *text)
{
    SN_AUTO(sn_store) *store = sn_store_without(of->from, of->entry);
    OK(sn_store_put_text(store, of->entry, text));
    judge(of, store);
}

static void with_json(const json_t *whole, void *user)
{
    SN_BLOCK char *text = json_dumps(whole, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_non_null(text);
    with_text(user, text);
}

static void damage_text(trial *of, const char *value)
{
    static const char *const WRONG[] = {"",     "x",  "-1", "0", "2", "1e300", "9223372036854775807",
                                        "null", "[]", "{}"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) with_text(of, WRONG[i]);
    json_t *whole = json_loads(value, 0, NULL);
    if (whole == NULL) return;
    test_each_node(&(test_nodes){.whole = whole, .look = with_json, .user = of}, whole);
    json_decref(whole);
}

static void with_tensor(trial *of, sn_dtype dtype, int rank, const int64_t *shape, const void *data)
{
    SN_AUTO(sn_store) *store = sn_store_without(of->from, of->entry);
    OK(sn_store_put(store, of->entry, dtype, rank, shape, data));
    judge(of, store);
}

static void set_number(const sn_tensor *tensor, void *data, int64_t at, double value)
{
    switch (tensor->dtype) {
    case SN_F32:
        ((float *)data)[at] = (float)value;
        break;
    case SN_F64:
        ((double *)data)[at] = value;
        break;
    case SN_I32:
        ((int32_t *)data)[at] = value > INT32_MAX ? INT32_MAX : (int32_t)value;
        break;
    case SN_I64:
        ((int64_t *)data)[at] = value > 9e18 ? INT64_MAX : (int64_t)value;
        break;
    case SN_U8:
        ((unsigned char *)data)[at] = value < 0 ? 0 : value > 255 ? 255 : (unsigned char)value;
        break;
    }
}

static void damage_numbers(trial *of, const sn_tensor *tensor)
{
    static const double WRONG[] = {-1, 0, 0.5, 3, 1e30};
    const int64_t count = sn_tensor_count(tensor);
    const size_t bytes = (size_t)count * sn_dtype_size(tensor->dtype);
    SN_BLOCK void *data = malloc(bytes + 8);
    assert_non_null(data);
    for (size_t k = 0; k < sizeof WRONG / sizeof *WRONG; k++)
        for (int place = 0; place < 3 && count > 0; place++) { /* the first, the last, all */
            memcpy(data, tensor->data, bytes);
            for (int64_t i = place == 1 ? count - 1 : 0; i < (place == 0 ? 1 : count); i++)
                set_number(tensor, data, i, WRONG[k]);
            with_tensor(of, tensor->dtype, tensor->rank, tensor->shape, data);
        }
}

static void damage_tensor(trial *of, const sn_tensor *tensor)
{
    int64_t shape[SN_MAX_RANK] = {1, 1, 1, 1};
    with_tensor(of, tensor->dtype == SN_F64 ? SN_F32 : SN_F64, tensor->rank, tensor->shape, NULL);
    with_tensor(of, tensor->dtype, 0, NULL, tensor->data);
    memcpy(shape, tensor->shape, sizeof *shape * (size_t)tensor->rank);
    if (tensor->rank < SN_MAX_RANK) {
        shape[tensor->rank] = 1;
        with_tensor(of, tensor->dtype, tensor->rank + 1, shape, tensor->data);
    }
    for (int k = 0; k < tensor->rank; k++) {
        const int64_t was = shape[k];
        for (int64_t more = -1; more <= 1; more += 2) {
            shape[k] = was + more;
            if (shape[k] >= 0) with_tensor(of, tensor->dtype, tensor->rank, shape, NULL);
        }
        shape[k] = was;
    }
    damage_numbers(of, tensor);
}

/* Entries whose names begin with `part`. */
static void damage_all(const stonet_model *model, const char *part, const stonet_data *rows)
{
    SN_AUTO(sn_store) *store = sn_testing_store(model);
    trial of = {.from = store, .rows = rows};
    for (size_t i = 0; i < sn_store_texts(store) + sn_store_tensors(store); i++) {
        const bool is_text = i < sn_store_texts(store);
        const sn_tensor *tensor = is_text ? NULL : sn_store_tensor(store, i - sn_store_texts(store));
        const char *value = NULL;
        if (is_text)
            sn_store_text(store, i, &of.entry, &value);
        else
            of.entry = tensor->name;
        if (strncmp(of.entry, part, strlen(part)) != 0) continue;
        SN_AUTO(sn_store) *less = sn_store_without(store, of.entry);
        judge(&of, less);
        if (is_text)
            damage_text(&of, value);
        else
            damage_tensor(&of, tensor);
    }
    assert_true(of.refused > 0 || of.taken == 0);
}

/* ---- models ---- */

/* Columns of all kinds, with gaps: a key, numbers, a date, ordered words, towns, codes. */
static stonet_data *read_table(const char *target, const char *features, int rows)
{
    static const char *const SIZE[] = {"low", "mid", "high"}, *const TOWN[] = {"Ulm", "Bonn", "Kiel", ""};
    static const char *const ORDER[] = {"size=low,mid,high"};
    char text[ROWS * 100] = "key,a,b,day,size,town,code,y,label\n";
    size_t at = strlen(text);
    for (int i = 0; i < rows; i++) {
        const double a = i * 37 % 41 / 41.0, b = i * 17 % 43 / 43.0;
        at += (size_t)snprintf(text + at, sizeof text - at, "k%d,%.4f,", i, a);
        if (i % 7 != 3) at += (size_t)snprintf(text + at, sizeof text - at, "%.4f", b);
        at +=
            (size_t)snprintf(text + at, sizeof text - at, ",2024-0%d-1%d,%s,%s,%d,%.4f,%s\n", 1 + i % 9,
                             i % 10, SIZE[i % 3], TOWN[i % 4], i % 4, a + b * b + i % 4, a > b ? "hi" : "lo");
    }
    stonet_read_options how = {.size = sizeof how, .threads = 1, .target = target, .features = features};
    if (features == NULL) {
        how.id = "key";
        how.ordinal = ORDER;
        how.n_ordinal = 1;
        how.season = "day";
    }
    return sn_testing_read(text, &how);
}

static const stonet_run ALONE = {.size = sizeof ALONE, .seed = 1, .threads = 1};
#define NET "stonet 1 hurry hidden=2 weight_decay=0 "

TEST(every_method)
{
    SN_AUTO(stonet_data) *numbers = read_table("y", "a,b,code", ROWS),
                         *rows = read_table(NULL, "a,b,code", USED);
    for (size_t i = 0; i < sn_method_count(); i++) {
        const char *words = sn_testing_words("%s 1 hurry", sn_method_at(i)->name);
        const bool net = strncmp(words, NET, 7) == 0;
        SN_AUTO(stonet_model) *model =
            sn_testing_fit(net ? NET "activation=tanh levels=none front=none" : words, numbers, &ALONE);
        damage_all(model, "method.", rows);
    }
}

/* A file with one bit changed is refused, or loads as the model that was saved. */
static void flip_bits(const stonet_model *model)
{
    unsigned char *bytes = NULL, *again = NULL;
    size_t size = 0, length = 0, taken = 0;
    OK(stonet_model_save_bytes(model, &bytes, &size));
    for (size_t k = 0; k < size; k += 1 + size / 400) {
        SN_AUTO(stonet_model) *back = NULL;
        bytes[k] = (unsigned char)(bytes[k] ^ 1 << k % 8);
        const stonet_status status = stonet_model_load_bytes(bytes, size, &back);
        bytes[k] = (unsigned char)(bytes[k] ^ 1 << k % 8);
        if (status != STONET_OK) continue;
        OK(stonet_model_save_bytes(back, &again, &length));
        if (length != size || memcmp(bytes, again, size) != 0) fail_msg("byte %zu of %zu", k, size);
        taken++;
        stonet_bytes_free(again);
    }
    assert_true(taken < 5); /* in the name of the hash, which makes the file one of an older version */
    stonet_bytes_free(bytes);
}

typedef struct kind {
    const char *words, *target;
    bool calibrated;
} kind;

TEST(every_column)
{
    static const kind KINDS[] = {
        {"sir 1 missing_indicators=on", "y", true},
        {"sir 1 levels=5 learner=mlp learner.epochs=2", "label", true},
        {NET "activation=relu front=none", "label", false},
        {NET "activation=tanh front=kernel", "y", false},
        {NET "activation=tanh response=location-scale front=columns", "y", false},
        {NET "activation=tanh front=components", "y", false},
        {"gsir 1 missing=mean", "label", false},
    };
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        SN_AUTO(stonet_data) *data = read_table(KINDS[i].target, NULL, ROWS),
                             *rows = read_table(NULL, NULL, USED);
        SN_AUTO(stonet_model) *model = sn_testing_fit(KINDS[i].words, data, &ALONE);
        stonet_calibrate_options how = STONET_CALIBRATE_OPTIONS_INIT;
        how.folds = 2;
        if (KINDS[i].calibrated) OK(stonet_calibrate(model, data, &how, NULL));
        damage_all(model, i < 3 ? "" : "method.", rows);
        flip_bits(model);
    }
}

RUN_TESTS(NULL, NULL)
