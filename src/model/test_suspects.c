/* Columns that are warned of when a model is fitted: those that number the rows, and the response in
 * disguise. */
#include "base/test_kit.h"
#include "model/test_table.h"

enum { N = 120, WARNED = 40 };

static char warnings[WARNED][256];
static int count;

static void note(stonet_level level, const char *text, void *user)
{
    (void)user;
    if (level == STONET_WARNING && count < WARNED) snprintf(warnings[count++], sizeof *warnings, "%s", text);
}

static bool is_warned_of(const char *words)
{
    for (int k = 0; k < count; k++)
        if (strstr(warnings[k], words) != NULL) return true;
    return false;
}

static double response(int i)
{
    return (double)(3 * i * i % 101);
}

static void fit(const stonet_data *data, const char *words)
{
    stonet_run run = STONET_RUN_INIT;
    run.threads = 1;
    run.on_message = note;
    count = 0;
    SN_AUTO(stonet_model) *model = sn_testing_fit(words, data, &run);
}

TEST(numbers)
{
    static const struct {
        const char *name;
        bool warned; /* of those that number the rows, and of copies of the response */
    } COLUMNS[] = {{"rises", true}, {"dense", true}, {"spread", false}, {"twice", false},  {"breaks", false},
                   {"gap", false},  {"copy", true},  {"gaps", true},    {"nearly", false}, {"waves", false}};
    enum { P = sizeof COLUMNS / sizeof *COLUMNS };
    static double x[N * P], y[N];
    const char *names[P];
    for (int j = 0; j < P; j++) names[j] = COLUMNS[j].name;
    for (int i = 0; i < N; i++) {
        const bool last = i == N - 1;
        y[i] = response(i);
        const double row[P] = {10.0 * i,
                               i * 7 % 127,
                               (double)((long)(i + 1) * 7919 % 100003),
                               last ? 5 : i,
                               last ? 0.5 : i,
                               last ? (double)NAN : i,
                               1 - 2 * y[i],
                               i % 5 == 1 ? (double)NAN : y[i],
                               y[i] + (i % 2 == 0 ? 20.0 : 0.5),
                               sin(i)};
        memcpy(x + (size_t)i * P, row, sizeof row);
    }
    SN_AUTO(stonet_data) *data = NULL;
    OK(stonet_data_wrap_double(x, N, P, &data));
    OK(stonet_data_set_names(data, names));
    OK(stonet_data_set_targets(data, y, 1));
    fit(data, "pca task=regression");
    for (int j = 0; j < P; j++) {
        const char *words = sn_testing_words("'%s'", COLUMNS[j].name);
        if (is_warned_of(words) != COLUMNS[j].warned) fail_msg("%s", words);
    }
}

/* No more than a few are named; the others are counted. */
TEST(many)
{
    enum { MANY = 16 };
    static double x[N * MANY], y[N];
    for (int i = 0; i < N; i++) {
        y[i] = response(i);
        for (int j = 0; j < MANY; j++) x[i * MANY + j] = j % 2 == 0 ? (double)(i + j) : (j + 1) * y[i];
    }
    SN_AUTO(stonet_data) *data = NULL;
    OK(stonet_data_wrap_double(x, N, MANY, &data));
    OK(stonet_data_set_targets(data, y, 1));
    fit(data, "pca task=regression");
    assert_true(is_warned_of("more columns have a different whole number"));
    assert_true(count < MANY);
    int more = 0;
    for (int k = 0; k < count; k++) more += strstr(warnings[k], "more columns") != NULL;
    assert_int_equal(more, 2);
}

TEST(classes)
{
    static const char *const LABELS[] = {"no", "yes", "maybe"};
    static double code[N], turned[N], joined[N], many_values[N], gaps[N], off[N];
    const char *text[N], *other[N];
    int32_t label[N];
    SN_AUTO(stonet_columns) *made = NULL;
    SN_AUTO(stonet_data) *data = NULL;
    for (int i = 0; i < N; i++) {
        label[i] = i * i % 3 == 0 ? 0 : i % 2 + 1;
        code[i] = 7 * label[i];
        turned[i] = i == 0 ? (double)NAN : 2 - label[i];
        joined[i] = label[i] == 2 ? 1 : label[i] + (i == 5 ? 2 : 0);
        many_values[i] = i % 11;
        gaps[i] = (double)NAN;
        off[i] = i % 4 == 0 ? (label[i] + 1) % 3 : label[i];
        text[i] = i == 3 ? NULL : label[i] == 0 ? "a" : label[i] == 1 ? "b" : "c";
        other[i] = i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "c";
    }
    gaps[0] = 1;
    gaps[1] = 2;
    gaps[2] = 3;
    OK(stonet_data_begin(N, &made));
    OK(stonet_data_add_numbers(made, "code", code));
    OK(stonet_data_add_numbers(made, "turned", turned));
    OK(stonet_data_add_numbers(made, "joined", joined));
    OK(stonet_data_add_numbers(made, "many", many_values));
    OK(stonet_data_add_numbers(made, "few", gaps));
    OK(stonet_data_add_numbers(made, "off", off));
    OK(stonet_data_add_texts(made, "text", text));
    OK(stonet_data_add_texts(made, "other", other));
    OK(stonet_data_end(made, NULL, &data));
    OK(stonet_data_set_classes(data, label, LABELS, 3));
    fit(data, "pca task=classification");
    static const struct {
        const char *name;
        bool warned;
    } wanted[] = {{"'code'", true}, {"'turned'", true}, {"'joined'", false}, {"'many'", false},
                  {"'few'", false}, {"'off'", false},   {"'text'", true},    {"'other'", false}};
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
        if (is_warned_of(wanted[k].name) != wanted[k].warned) fail_msg("%s", wanted[k].name);
}

RUN_TESTS(NULL, NULL)
