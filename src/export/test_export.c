/*
 * Every kind of model as C: all files are compiled at once, as strictly as compilers can be asked, and a
 * program made here holds what they answer against what the library answers.
 */
#include <jansson.h>
#include <sys/stat.h>

#include "base/test_kit.h"
#include "export/writers.h"
#include "model/test_table.h"

enum { CHECKED = 12 };

/* The file with the program, and how many models are in it. */
typedef struct harness {
    char folder[256];
    sn_bytes program, calls, files;
    int models;
} harness;

/* The cells of the first rows, each as a number or as a text; a text that is missing is empty. */
static void put_rows(harness *h, const stonet_data *data, int64_t rows)
{
    sn_bytes *out = &h->program;
    const int64_t n = stonet_data_rows(data), columns = stonet_data_columns(data);
    SN_BLOCK double *number = test_zeros(n, sizeof *number);
    sn_bytes_print(out, "static cell rows%d[%d][%d];\nstatic void fill%d(void)\n{\n", h->models, (int)rows,
                   (int)columns, h->models);
    for (int64_t j = 0; j < columns; j++) {
        const int32_t *code = stonet_data_column_codes(data, j, NULL);
        if (code == NULL) OK(stonet_data_column_numbers(data, j, number));
        for (int64_t i = 0; i < rows; i++) {
            const char *text = code != NULL ? stonet_data_column_text(data, j, code[i]) : NULL;
            sn_bytes_print(out, "    rows%d[%d][%d].%s = ", h->models, (int)i, (int)j,
                           code != NULL ? "text" : "number");
            if (code != NULL)
                sn_c_string(out, text != NULL ? text : "");
            else if (isnan(number[i]))
                sn_bytes_text(out, "NAN");
            else
                sn_c_number(out, number[i]);
            sn_bytes_text(out, ";\n");
        }
    }
    sn_bytes_text(out, "}\n");
    sn_bytes_print(&h->calls, "    fill%d();\n", h->models);
}

static void put_call(harness *h, const char *call, const char *what, int64_t rows, int64_t width)
{
    sn_bytes_print(&h->program, "int m%d_%s(const cell *row, double *out);\n", h->models, call);
    sn_bytes_print(&h->calls,
                   "    for (i = 0; i < %d; i++)\n"
                   "        wrong += check(\"m%d_%s\", m%d_%s(rows%d[i], got), got, %s%d + i * %d, %d);\n",
                   (int)rows, h->models, call, h->models, call, h->models, what, h->models, (int)width,
                   (int)width);
}

/* The other formats of what can be written as C. */
static void export_otherwise(const stonet_model *model)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    if (stonet_model_export(model, STONET_EXPORT_JSON, NULL, &bytes, &size) != STONET_OK)
        fail_msg("%s: %s", model->method->name, stonet_last_error());
    json_t *json = json_loadb((const char *)bytes, size, 0, NULL);
    assert_true(json_array_size(json_object_get(json, "steps")) > 0);
    json_decref(json);
    stonet_bytes_free(bytes);
    if (stonet_model_export(model, STONET_EXPORT_ONNX, NULL, &bytes, &size) != STONET_OK)
        fail_msg("%s: %s", model->method->name, stonet_last_error());
    assert_true(size > 100 && bytes[0] == 8); /* the version of the format stands first */
    stonet_bytes_free(bytes);
}

static void export_to_file(harness *h, const stonet_model *model)
{
    export_otherwise(model);
    char path[320], name[16];
    unsigned char *bytes = NULL;
    size_t size = 0;
    snprintf(name, sizeof name, "m%d", h->models);
    snprintf(path, sizeof path, "%s/%s.c", h->folder, name);
    const stonet_status status = stonet_model_export(model, STONET_EXPORT_C, name, &bytes, &size);
    if (status != STONET_OK) print_error("%s: %s\n", model->method->name, stonet_last_error());
    OK(status);
    OK(stonet_bytes_write(path, bytes, size));
    stonet_bytes_free(bytes);
    sn_bytes_print(&h->files, " %s.c", name);
}

/* Takes the model over. */
static void add_model(harness *h, stonet_model *model, const stonet_data *data)
{
    const int64_t n = stonet_data_rows(data), rows = n < CHECKED ? n : CHECKED;
    const int64_t q = stonet_model_dim(model), m = stonet_model_outputs(model);
    SN_BLOCK float *z = calloc((size_t)(n * q), sizeof *z);
    SN_BLOCK double *wide = calloc((size_t)(n * q), sizeof *wide),
                    *out = calloc((size_t)(n * m + 1), sizeof *out);
    export_to_file(h, model);
    put_rows(h, data, rows);
    OK(stonet_transform(model, data, NULL, z));
    for (int64_t i = 0; i < n * q; i++) wide[i] = (double)z[i];
    sn_c_table(&h->program, "z", h->models, rows * q, wide);
    put_call(h, "transform", "z", rows, q);
    if (m > 0 && stonet_predict(model, data, NULL, out) == STONET_OK) {
        sn_c_table(&h->program, "y", h->models, rows * m, out);
        put_call(h, "predict", "y", rows, m);
    }
    h->models++;
    stonet_model_free(model);
}

static void add_fit(harness *h, const char *words, const stonet_data *data)
{
    add_model(h, sn_testing_fit(words, data, NULL), data);
}

static harness start(void)
{
    static int started = 0;
    char name[32];
    harness h = {0};
    snprintf(name, sizeof name, "export%d", ++started);
    sn_testing_path(h.folder, sizeof h.folder, name);
    assert_int_equal(mkdir(h.folder, 0700), 0);
    sn_bytes_text(
        &h.program,
        "#include <math.h>\n#include <stdio.h>\n"
        "typedef struct cell { double number; const char *text; } cell;\n"
        "static int check(const char *name, int status, const double *got, const double *wanted, int n)\n"
        "{\n    int k;\n"
        "    if (status != 0) { printf(\"%s: status %d\\n\", name, status); return 1; }\n"
        "    for (k = 0; k < n; k++)\n"
        "        if (!(fabs(got[k] - wanted[k]) <= 1e-5 * (1 + fabs(wanted[k])))) {\n"
        "            printf(\"%s: %.9g, not %.9g\\n\", name, got[k], wanted[k]);\n"
        "            return 1;\n        }\n    return 0;\n}\n");
    return h;
}

/* Compiles and runs all there is, and cleans up. */
static void finish(harness *h)
{
    char path[320];
    SN_FREED_BY(sn_bytes_free) sn_bytes command = {0};
    sn_bytes_text(&h->program, "int main(void)\n{\n    static double got[1000];\n    int i, wrong = 0;\n");
    OK(h->calls.status);
    sn_bytes_put(&h->program, h->calls.pack.bytes, h->calls.pack.size);
    sn_bytes_text(&h->program, "    return wrong != 0;\n}\n");
    OK(h->program.status);
    snprintf(path, sizeof path, "%s/main.c", h->folder);
    OK(stonet_bytes_write(path, h->program.pack.bytes, h->program.pack.size));
    sn_bytes_print(&command, "cd '%s' && cc -std=c99 -O0 -Wall -Wextra -Werror -pedantic -o run main.c ",
                   h->folder);
    sn_bytes_put(&command, h->files.pack.bytes, h->files.pack.size);
    sn_bytes_text(&command, " -lm && ./run");
    sn_bytes_put(&command, "", 1);
    const int result = system((const char *)command.pack.bytes); // NOLINT(cert-env33-c): a command made here
    if (result == 0) {
        snprintf(path, sizeof path, "rm -r '%s'", h->folder);
        (void)!system(path); // NOLINT(cert-env33-c)
    } else {
        print_error("see %s\n", h->folder);
    }
    assert_int_equal(result, 0);
    sn_bytes_free(&h->program);
    sn_bytes_free(&h->calls);
    sn_bytes_free(&h->files);
}

TEST(every_method_answers_the_same)
{
    harness h = start();
    SN_TABLE classes = sn_table_classes(60, 4, 3, 1), numbers = sn_table_numbers(60, 4, 1, 2);
    for (size_t i = 0; i < sn_method_count(); i++) {
        const sn_method *method = sn_method_at(i);
        const char *words = sn_testing_words("%s 2 hurry", method->name);
        if ((method->tasks & SN_TASK_CLASSIFICATION) != 0) add_fit(&h, words, classes.data);
        if ((method->tasks & SN_TASK_REGRESSION) != 0) add_fit(&h, words, numbers.data);
    }
    finish(&h);
}

/* Median times, mean counts, and classes by cumulative probabilities. */
TEST(every_law_answers_the_same)
{
    static const char *const SPECS[] = {
        "stonet 1 hurry front=none task=survival", "stonet 1 hurry front=kernel task=survival law=extreme",
        "stonet 2 hurry front=none task=count",    "stonet 1 hurry front=none task=count law=negbin",
        "stonet 1 hurry front=none task=ordinal",  "stonet 1 hurry front=none task=ordinal law=extreme",
    };
    harness h = start();
    SN_TABLE table = sn_table_features(80, 4, 3);
    double y[80];
    for (int i = 0; i < 80; i++) y[i] = 1.0 + fmin(floor(fabs((double)table.x[i * 4])), 4.0);
    OK(stonet_data_set_targets(table.data, y, 1));
    for (size_t k = 0; k < sizeof SPECS / sizeof *SPECS; k++) add_fit(&h, SPECS[k], table.data);
    SN_AUTO(stonet_model) *probit =
        sn_testing_fit("stonet 1 hurry task=ordinal law=normal", table.data, NULL);
    unsigned char *bytes = NULL;
    size_t size = 0;
    assert_says(stonet_model_export(probit, STONET_EXPORT_C, NULL, &bytes, &size), STONET_ERROR_UNSUPPORTED,
                "law=logistic can");
    finish(&h);
}

TEST(every_part_of_a_model_is_there)
{
    static const char *const OF_CLASSES[] = {"stonet 2 hurry front=none activation=relu hidden=5",
                                             "stonet 1 hurry front=kernel front_linear=0.5",
                                             "stonet 1 hurry front=kernel front_linear=0",
                                             "stonet 2 hurry front=none activation=sigmoid hidden=none",
                                             "pca 2 learner=mlp",
                                             "pca 2 learner=kernel",
                                             "sir 1 learner=none"};
    static const char *const OF_NUMBERS[] = {
        "stonet 1 hurry front=none response=location-scale", "stonet 2 hurry front=none response=ensemble",
        "stonet 1 hurry front=kernel response=ensemble", "pca 2 learner=mlp", "pca 2 learner=kernel"};
    harness h = start();
    SN_TABLE three = sn_table_classes(60, 4, 3, 1), two = sn_table_classes(60, 3, 2, 2);
    SN_TABLE numbers = sn_table_numbers(60, 3, 2, 2), wide = sn_table_classes(40, 60, 2, 4);
    for (size_t k = 0; k < sizeof OF_CLASSES / sizeof *OF_CLASSES; k++) {
        add_fit(&h, OF_CLASSES[k], three.data);
        add_fit(&h, OF_CLASSES[k], two.data);
    }
    for (size_t k = 0; k < sizeof OF_NUMBERS / sizeof *OF_NUMBERS; k++)
        add_fit(&h, OF_NUMBERS[k], numbers.data);
    add_fit(&h, "stonet 1 hurry front=components", wide.data);
    add_fit(&h, "stonet 1 hurry front=columns", wide.data);
    add_fit(&h, "stonet 1 hurry front=conv front_image=5,6,2 front_channels=3 epochs=2", wide.data);
    add_fit(&h, "pls 2 curves=snv-derivative2 curves_columns=2-30,31-59", wide.data);
    add_fit(&h, "stonet 1 hurry front=none curves=detrend epochs=2", wide.data);
    stonet_model *calibrated = sn_testing_fit("pca 2", three.data, NULL);
    OK(stonet_calibrate(calibrated, three.data, NULL, NULL));
    add_model(&h, calibrated, three.data);
    finish(&h);
}

/* ---- tables of all kinds of columns ------------------------------------------------------------------ */

/* A number, an identifier that is left out, codes that get levels, words with all that C strings choke on,
   and numbers that float is too coarse for. */
static stonet_data *read_mixed(void)
{
    static const char *const WORDS[] = {"\"a\\b \"\"c\"\"\"", "?\?/", "gr\303\274n", "plain"};
    SN_FREED_BY(sn_bytes_free) sn_bytes text = {0};
    sn_bytes_text(&text, "number,who,code,word,large,y\n");
    for (int i = 0; i < 90; i++) {
        const int code = i * 5 % 4;
        const double number = 0.25 * (i * 7 % 31), more = 0.125 * (i * 11 % 17);
        sn_bytes_print(&text, "%.17g,id%d,%d,%s,%.17g,%.17g\n", number, i, code, WORDS[i % 4], 1e6 + more,
                       number + 3.0 * (i % 4 == 2) + code + more);
    }
    sn_bytes_put(&text, "", 1);
    OK(text.status);
    const stonet_read_options options = {.size = sizeof options, .target = "y"};
    return sn_testing_read((const char *)text.pack.bytes, &options);
}

TEST(columns_are_encoded_the_same)
{
    harness h = start();
    SN_AUTO(stonet_data) *data = read_mixed();
    static const char *const SPECS[] = {"none 1 levels=6", "pca 2 levels=none",
                                        "stonet 1 hurry levels=6 front=none"};
    for (size_t k = 0; k < sizeof SPECS / sizeof *SPECS; k++) add_fit(&h, SPECS[k], data);
    finish(&h);
}

enum { RANKED_ROWS = 60 };

/* A number, a date and a size, some of them missing. */
static stonet_data *ranked_table(void)
{
    static const char *const SIZES[] = {"small", "medium", "large"};
    double number[RANKED_ROWS], day[RANKED_ROWS], y[RANKED_ROWS];
    int32_t size[RANKED_ROWS];
    SN_AUTO(stonet_columns) *columns = NULL;
    stonet_data *data = NULL;
    for (int i = 0; i < RANKED_ROWS; i++) {
        number[i] = i % 9 == 4 ? (double)NAN : 0.25 * (i * 7 % 31);
        day[i] = 20000.5 + i * 5 % 13;
        size[i] = i % 7 == 3 ? -1 : i % 3;
        y[i] = i * 7 % 31 + 3 * (i % 3) + i * 5 % 13;
    }
    OK(stonet_data_begin(RANKED_ROWS, &columns));
    OK(stonet_data_add_numbers(columns, "number", number));
    OK(stonet_data_add_dates(columns, "day", day));
    OK(stonet_data_add_codes(columns, "size", size, SIZES, 3, 1));
    OK(stonet_data_end(columns, NULL, &data));
    OK(stonet_data_set_targets(data, y, 1));
    return data;
}

/* A missing cell counts as the average of its column where the model has it so. Where it would be drawn given
   the others, it has no answer. */
TEST(ranks_dates_and_missing_cells)
{
    harness h = start();
    SN_AUTO(stonet_data) *data = ranked_table();
    add_fit(&h, "none 1 missing=mean missing_indicators=off", data);
    add_fit(&h, "none 1 missing=mean missing_indicators=on", data);
    finish(&h);
}

/* What no training row had: a new word, a new level, a missing cell; the same words as the library. */
TEST(cells_nobody_knows_have_a_status)
{
    harness h = start();
    SN_AUTO(stonet_data) *data = read_mixed();
    SN_AUTO(stonet_model) *model = sn_testing_fit("none 1 levels=6 missing=error", data, NULL);
    const int64_t p = stonet_model_features(model);
    export_to_file(&h, model);
    sn_bytes_print(&h.program, "int m0_transform(const cell *row, double *out);\n");
    sn_bytes_text(
        &h.calls,
        "    {\n    cell r[5] = {{1.0, 0}, {0, 0}, {1.0, 0}, {0, \"plain\"}, {1e6, 0}};\n    int k;\n"
        "    wrong += m0_transform(r, got) != 0;\n"
        "    r[0].number = NAN;\n    wrong += m0_transform(r, got) != 1;\n"
        "    r[0].number = 1e300;\n    wrong += m0_transform(r, got) != -1;\n"
        "    r[0].number = 1;\n    r[3].text = 0;\n    wrong += m0_transform(r, got) != 4;\n"
        "    r[3].text = \"n/A\";\n    wrong += m0_transform(r, got) != 4;\n"
        "    r[3].text = \"\";\n    wrong += m0_transform(r, got) != 4;\n"
        "    r[3].text = \"new\";\n    r[2].number = 9;\n    wrong += m0_transform(r, got) != 0;\n");
    /* number, code and its 4 levels, 4 words, large: an indicator that counts as the mean is 0 when scaled */
    sn_bytes_text(&h.calls,
                  "    for (k = 2; k < 10; k++) wrong += fabs(got[k]) > 1e-6;\n"
                  "    if (wrong) printf(\"%d wrong\\n\", wrong);\n    (void)i; (void)check;\n    }\n");
    assert_int_equal(p, 11);
    finish(&h);
}

TEST(bad_calls_are_told)
{
    SN_TABLE table = sn_table_classes(30, 3, 2, 1);
    SN_AUTO(stonet_model) *model = sn_testing_fit("pca 1", table.data, NULL);
    unsigned char *bytes = NULL;
    size_t size = 0;
    stonet_export_format format;
    assert_says(stonet_model_export(NULL, STONET_EXPORT_C, NULL, &bytes, &size), STONET_ERROR_ARGUMENT,
                "needs a model");
    assert_says(stonet_model_export(model, STONET_EXPORT_C, "7up", &bytes, &size), STONET_ERROR_ARGUMENT,
                "'7up'");
    assert_says(stonet_model_export(model, STONET_EXPORT_C, "a-b", &bytes, &size), STONET_ERROR_ARGUMENT,
                "'a-b'");
    assert_says(stonet_model_export(model, (stonet_export_format)9, NULL, &bytes, &size),
                STONET_ERROR_ARGUMENT, "format 9");
    assert_says(stonet_export_format_find("pmml", &format), STONET_ERROR_ARGUMENT,
                "onnx, onnx-matrix, c or json");
    assert_null(bytes);
    OK(stonet_export_format_find("json", &format));
    assert_int_equal(format, STONET_EXPORT_JSON);
}

/* Sine and cosine of the time of the year. */
TEST(times_of_the_year_are_the_same)
{
    SN_FREED_BY(sn_bytes_free) sn_bytes text = {0};
    sn_bytes_text(&text, "a,day,y\n");
    for (int i = 0; i < 30; i++)
        sn_bytes_print(&text, "%d,2024-%02d-%02d,%d.5\n", i * i % 11, 1 + i % 12, 1 + i % 28, i * i % 7);
    sn_bytes_put(&text, "", 1);
    const stonet_read_options options = {.size = sizeof options, .target = "y", .season = "day"};
    SN_AUTO(stonet_data) *data = sn_testing_read((const char *)text.pack.bytes, &options);
    harness h = start();
    stonet_model *model = sn_testing_fit("none 1", data, NULL);
    assert_int_equal(stonet_model_features(model), 4);
    add_model(&h, model, data);
    finish(&h);
}

/* The same bytes every time, in every format. */
TEST(files_are_the_same_every_time)
{
    SN_AUTO(stonet_data) *data = read_mixed();
    SN_AUTO(stonet_model) *model = sn_testing_fit("stonet 2 hurry levels=6", data, NULL);
    for (int format = STONET_EXPORT_ONNX; format <= STONET_EXPORT_JSON; format++) {
        unsigned char *bytes[2] = {NULL, NULL};
        size_t size[2] = {0, 0};
        for (int k = 0; k < 2; k++)
            OK(stonet_model_export(model, (stonet_export_format)format, NULL, &bytes[k], &size[k]));
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(bytes[0], bytes[1], size[0]);
        stonet_bytes_free(bytes[0]);
        stonet_bytes_free(bytes[1]);
    }
}

RUN_TESTS(NULL, NULL)
