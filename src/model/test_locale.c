/* The program that uses the library may live in a country with a decimal comma: everything stays the same. */
#include <locale.h>

#include "base/test_kit.h"
#include "base/test_messages.h"
#include "model/test_table.h"

static char folder[64] = "/tmp/stonet_locale_XXXXXX";

/* A locale that has a decimal comma and thousands points, and nothing else: made here, since few machines
   have one. */
static int make_locale(void **state)
{
    (void)state;
    char command[512];
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(command, sizeof command,
             "cd %s && printf 'comment_char %%%%\\nescape_char /\\nLC_NUMERIC\\ndecimal_point \",\"\\n"
             "thousands_sep \".\"\\ngrouping 3;3\\nEND LC_NUMERIC\\n' > comma && "
             "localedef -c -i ./comma ./xx_COMMA >/dev/null 2>&1",
             folder);
    (void)!system(command); /* it warns about all that is missing */
    return setenv("LOCPATH", folder, 1);
}

static int remove_locale(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void enter_comma(void)
{
    char text[16];
    if (setlocale(LC_ALL, "xx_COMMA") == NULL) {
        print_message("no locale with a decimal comma can be made here (localedef)\n");
        skip();
    }
    snprintf(text, sizeof text, "%.1f", 1.5);
    assert_string_equal(text, "1,5");
}

static void leave_comma(void)
{
    setlocale(LC_ALL, "C");
}

/* All that one fit says, saves and predicts, as text. */
typedef struct account {
    char *messages, *spec, *about, *history, *table, *rows;
    unsigned char *file;
    size_t size;
    double predicted[60];
} account;

static void account_free(account *a)
{
    SN_FREE_ALL(a->messages, a->spec, a->about, a->history, a->table, a->rows, a->file);
}

static stonet_spec *make_spec(const char *method)
{
    stonet_spec *spec = sn_testing_spec(method, "2");
    if (strcmp(method, "stonet") != 0) return spec;
    sn_testing_set(spec, "epochs=3 lr=0.0123456789 momentum=.75 l1=5e-4");
    OK(stonet_spec_set(spec, "hidden", "8, 6"));
    return spec;
}

static void tell(const char *method, const sn_table *table, account *a)
{
    stonet_run run = STONET_RUN_INIT;
    run.on_message = sn_hear;
    run.threads = 1;
    SN_AUTO(stonet_spec) *spec = make_spec(method), *copy = NULL;
    a->spec = stonet_spec_json(spec);
    OK(stonet_spec_parse(a->spec, &copy));
    SN_AUTO(stonet_model) *model = NULL, *back = NULL;
    sn_heard[0] = '\0';
    OK(stonet_fit(copy, table->data, &run, &model));
    a->messages = sn_strdup(sn_heard);
    a->about = stonet_model_json(model);
    a->history = stonet_model_history_csv(model);
    OK(stonet_model_save_bytes(model, &a->file, &a->size));
    OK(stonet_model_load_bytes(a->file, a->size, &back));
    OK(stonet_predict(back, table->data, NULL, a->predicted));
    const char *grid[] = {"scale=none,column"};
    stonet_tune_options how = {.size = sizeof how, .folds = 2, .grid = grid, .n_grid = 1};
    SN_AUTO(stonet_results) *results = NULL;
    OK(stonet_tune(copy, table->data, &how, &run, &results));
    SN_AUTO(stonet_spec) *row = NULL;
    OK(stonet_results_spec(results, 0, &row));
    a->rows = stonet_spec_json(row);
    a->table = stonet_results_csv(results);
}

/* The table without its seconds, which are never the same. */
static void check_table(const char *text)
{
    size_t wanted = 0;
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        size_t commas = 0;
        bool quoted = false;
        for (const char *c = line; *c != '\n'; c++) {
            quoted ^= *c == '"';
            commas += !quoted && *c == ',';
        }
        if (wanted == 0) wanted = commas;
        assert_int_equal(commas, wanted);
    }
}

TEST(nothing_changes)
{
    const char *const methods[] = {"stonet", "sir", "gsir"};
    SN_TABLE table = sn_table_numbers(60, 3, 1, 1);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        SN_FREED_BY(account_free) account plain = {0}, comma = {0};
        tell(methods[k], &table, &plain);
        enter_comma();
        tell(methods[k], &table, &comma);
        leave_comma();
        assert_string_equal(plain.spec, comma.spec);
        assert_string_equal(plain.about, comma.about);
        assert_string_equal(plain.messages, comma.messages);
        assert_string_equal(plain.rows, comma.rows);
        check_table(plain.table);
        check_table(comma.table);
        assert_int_equal(plain.history == NULL, comma.history == NULL);
        if (plain.history != NULL) assert_string_equal(plain.history, comma.history);
        assert_int_equal(plain.size, comma.size);
        assert_memory_equal(plain.file, comma.file, plain.size);
        assert_memory_equal(plain.predicted, comma.predicted, sizeof plain.predicted);
    }
}

TEST(settings_mean_the_same)
{
    SN_AUTO(stonet_spec) *spec = sn_testing_spec("stonet", "1");
    enter_comma();
    OK(stonet_spec_set(spec, "sigma2", "1,2")); /* two numbers, not 1.2 */
    OK(stonet_spec_set(spec, "momentum", "0.5"));
    assert_int_equal(stonet_spec_set(spec, "momentum", "0,5"), STONET_ERROR_ARGUMENT);
    assert_int_equal(stonet_spec_set(spec, "momentum", "7"), STONET_ERROR_ARGUMENT);
    assert_null(strstr(stonet_last_error(), "0,"));
    leave_comma();
    size_t count = 0;
    const double *sigma2 = sn_list(spec->settings, "sigma2", &count);
    assert_int_equal(count, 2);
    assert_true(sigma2[0] == 1 && sigma2[1] == 2);
}

/* Text files of numbers, read and written. */
TEST(tables_are_the_same)
{
    char path[256];
    sn_testing_path(path, sizeof path, "locale.csv");
    const double values[] = {0.1, -2.5e-7, 1234567.875, 1e300};
    const char *const names[] = {"a", "b"};
    char text[200] = "";
    enter_comma();
    OK(stonet_matrix_write(path, values, 2, 2, names));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    SN_AUTO(stonet_data) *data = NULL;
    stonet_read_options how = {.size = sizeof how, .target = "b"};
    OK(stonet_data_read(path, &how, &data));
    leave_comma();
    unlink(path);
    assert_string_equal(text, "a,b\n0.1,-2.5e-7\n1234567.9,1e300\n");
    assert_true(stonet_data_targets(data, NULL)[0] == -2.5e-7 && stonet_data_targets(data, NULL)[1] == 1e300);
    assert_true(stonet_data_x(data)[0] == 0.1f && stonet_data_x(data)[1] == 1234567.875f);
}

RUN_TESTS(make_locale, remove_locale)
