/* The parts of stonet-paper that can be tested fast: finished cells, tables, presets, printed numbers,
 * weights. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/say.h"
#include "paper/cells.h"
#include "paper/datasets.h"
#include "paper/experiments.h"
#include "paper/heads.h"
#include "paper/presets.h"
#include "paper/summary.h"
#include "paper/theory_parts.h"
#include "paper/weights.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/stonet_paper_XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void folder_path(const char *name, char path[128])
{
    snprintf(path, 128, "%s/%s", folder, name);
}

static cell make_cell(const char *row, int64_t q, const char *method, int64_t trial)
{
    cell made = {.q = q, .trial = trial};
    snprintf(made.row, sizeof made.row, "%s", row);
    snprintf(made.method, sizeof made.method, "%s", method);
    snprintf(made.settings, sizeof made.settings, "as in the test");
    return made;
}

/* A finished cell with one value. */
static void finish(lab *self, const cell *what, const char *field, double value)
{
    char key[CELL_KEY_SIZE];
    cells_key(what, (uint64_t)self->options.seed, key);
    json_object_set_new(
        self->finished, key,
        cells_record(what, (uint64_t)self->options.seed, json_pack("{s:f}", field, value), 2.0));
}

/* ---- finished cells ---------------------------------------------------------------------------- */

static void cells_survive_on_disk(void **state)
{
    (void)state;
    char path[128];
    folder_path("cells.jsonl", path);
    cell first = make_cell("heart", 3, "sir", 1), second = make_cell("heart", 3, "sir", 2);
    json_t *record = cells_record(&first, 1, json_pack("{s:f}", "error", 0.25), 1.5);
    assert_true(cells_append(path, record));
    json_decref(record);
    /* A line that was cut off, and one that is something else. */
    FILE *file = fopen(path, "a");
    fputs("[1, 2]\n{\"row\": \"he", file);
    fclose(file);
    record = cells_record(&second, 1, json_pack("{s:f}", "error", 0.5), 1.5);
    assert_true(cells_append(path, record));
    json_decref(record);
    lab self = {.finished = cells_read(path), .options = {.seed = 1}};
    assert_int_equal(json_object_size(self.finished), 2);
    assert_true(lab_value(&self, &first, "error") == 0.25);
    assert_true(lab_value(&self, &second, "error") == 0.5);
    assert_true(isnan(lab_value(&self, &second, "mse")));
    /* Everything in the key counts. */
    cell other = first;
    snprintf(other.settings, sizeof other.settings, "otherwise");
    assert_null(lab_find(&self, &other));
    self.options.seed = 2;
    assert_null(lab_find(&self, &first));
    json_decref(self.finished);
}

static void no_file_is_no_cells(void **state)
{
    (void)state;
    json_t *cells = cells_read("/nonexistent/cells.jsonl");
    assert_int_equal(json_object_size(cells), 0);
    json_decref(cells);
}

typedef struct counter {
    int calls;
} counter;

static stonet_status count_calls(lab *self, const cell *what, void *user, json_t *values)
{
    (void)self;
    ((counter *)user)->calls++;
    if (what->trial == 3) { /* one cell fails */
        stonet_spec *spec = NULL;
        return stonet_spec_create("no such method", &spec);
    }
    json_object_set_new(values, "error", json_real(0.1 * (double)what->trial));
    return STONET_OK;
}

/* A second run computes only what the first one has not. */
static void runs_resume(void **state)
{
    (void)state;
    plan cells = {0};
    for (int64_t trial = 1; trial <= 3; trial++) {
        cell what = make_cell("a", 1, "b", trial);
        plan_add(&cells, &what);
    }
    for (int round = 0; round < 2; round++) {
        char *argv[] = {"table1", "--out", folder, NULL};
        lab self;
        int leave;
        counter calls = {0};
        assert_true(lab_open(&self, &table1_command, 3, argv, &leave));
        if (round == 0) { /* a report computes nothing */
            self.options.report = true;
            assert_int_equal(lab_run(&self, &cells, count_calls, &calls), EXIT_DONE);
            assert_int_equal(calls.calls, 0);
            self.options.report = false;
        }
        assert_int_equal(lab_run(&self, &cells, count_calls, &calls), EXIT_DONE);
        assert_int_equal(calls.calls, round == 0 ? 3 : 0);
        assert_true(fabs(lab_value(&self, &cells.cell[1], "error") - 0.2) < 1e-12);
        const json_t *failed = json_object_get(lab_find(&self, &cells.cell[2]), "values");
        assert_non_null(strstr(json_string_value(json_object_get(failed, "failure")), "no such method"));
        lab_close(&self);
    }
    plan_free(&cells);
}

static void methods_are_chosen(void **state)
{
    (void)state;
    const char *const known[] = {"sir", "stonet", "stonet-paper"};
    lab self = {.command = &table1_command, .options = {.methods = "stonet,sir"}};
    assert_true(lab_wants(&self, "stonet"));
    assert_true(lab_wants(&self, "sir"));
    assert_false(lab_wants(&self, "stonet-paper"));
    assert_false(lab_wants(&self, "si"));
    assert_int_equal(lab_check_methods(&self, known, 3), EXIT_DONE);
    self.options.methods = "stonet,ser";
    assert_int_equal(lab_check_methods(&self, known, 3), EXIT_USAGE);
    self.options.methods = NULL;
    assert_true(lab_wants(&self, "pca"));
    self.options.rows = "heart,german";
    self.options.dims = "10,3";
    assert_true(lab_wants_line(&self, "german", 10));
    assert_true(lab_wants_line(&self, "heart", 0));
    assert_false(lab_wants_line(&self, "heart", 1));
    assert_false(lab_wants_line(&self, "waveform", 10));
}

/* The cells of a line: wanted columns with the flags asked for, each dimension once, none with q = 0. */
static void lines_become_cells(void **state)
{
    (void)state;
    static const column some[] = {{"slow", "kdr", "a=1", 0},
                                  {"fast", "pca", "b=2", COLUMN_QUICK | COLUMN_LARGE},
                                  {"none", "none", "c=3", COLUMN_QUICK}};
    static const int64_t dims[] = {4, 2};
    const column_list list = {some, 3};
    cell_line of = {.row = "heart", .trial = 2, .dims = dims, .n_dims = 2};
    lab self = {.command = &table1_command};
    plan cells = {0};
    columns_plan(&self, list, &of, &cells);
    assert_int_equal(cells.count, 5);
    assert_string_equal(cells.cell[3].method, "fast");
    assert_string_equal(cells.cell[3].settings, "b=2");
    assert_int_equal(cells.cell[3].q, 2);
    assert_int_equal(cells.cell[4].q, 0);
    plan_free(&cells);
    self.options.quick = true;
    of.needs = COLUMN_LARGE;
    columns_plan(&self, list, &of, &cells);
    assert_int_equal(cells.count, 2);
    assert_string_equal(columns_find(list, cells.cell[0].method)->method, "pca");
    plan_free(&cells);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    char *argv[] = {"m1", "--trials", "many", NULL};
    lab self;
    int leave;
    assert_false(lab_open(&self, &m1_command, 3, argv, &leave));
    assert_int_equal(leave, EXIT_USAGE);
    lab_close(&self);
}

/* ---- tables ------------------------------------------------------------------------------------ */

static void best_methods_are_bold(void **state)
{
    (void)state;
    static const column methods[] = {{.name = "stonet"},
                                     {.name = "sir"},
                                     {.name = "pca"},
                                     {.name = "none"},
                                     {.name = "kdr"}}; /* only one trial, and a lucky one */
    static const double errors[5][4] = {{.10, .12, .11, .13},
                                        {.11, .11, .12, .12},
                                        {.30, .33, .31, .34},
                                        {.05, .05, .05, .05},
                                        {.01, .01, .01, .01}};
    static const int64_t trials[5] = {4, 3, 4, 4, 1};
    static const measure about = {"error", "error", false};
    const report what = {.columns = {methods, 5}};
    lab self = {.command = &table1_command, .finished = json_object(), .options = {.seed = 1}};
    plan cells = {0};
    for (int64_t trial = 1; trial <= 4; trial++)
        for (size_t m = 0; m < 5; m++) {
            cell one = make_cell("heart", m == 3 ? 0 : 3, methods[m].name, trial);
            plan_add(&cells, &one);
            if (trial <= trials[m]) finish(&self, &one, "error", errors[m][trial - 1]);
        }
    summary made;
    assert_true(summary_make(&self, &cells, &what, &about, &made));
    assert_int_equal(made.n_lines, 1);
    const entry *stonet = summary_at(&made, 0, 0), *sir = summary_at(&made, 0, 1),
                *pca = summary_at(&made, 0, 2);
    assert_true(fabs(stonet->mean - 0.115) < 1e-12);
    assert_true(fabs(stonet->se - 0.0064549722) < 1e-9);
    assert_int_equal(sir->n, 3);
    assert_true(sir->best && stonet->bold); /* sir's mean over its three trials is the smaller one */
    assert_false(pca->bold);
    assert_true(pca->p_value < 0.01);
    assert_true(summary_at(&made, 0, 3)->baseline && !summary_at(&made, 0, 3)->bold);
    assert_true(summary_at(&made, 0, 4)->n == 1 && !summary_at(&made, 0, 4)->bold);
    assert_true(fabs(stonet->paper.mean - 0.1625) < 1e-12);
    summary_free(&made);
    plan_free(&cells);
    json_decref(self.finished);
}

static void reports_are_written(void **state)
{
    (void)state;
    static const column methods[] = {{.name = "stonet"}, {.name = "sir"}};
    static const measure about = {"error", "error", false};
    const report what = {.title = "A table", .columns = {methods, 2}, .measures = &about, .n_measures = 1};
    lab self = {.command = &table1_command, .finished = json_object(), .options = {.seed = 1, .out = folder}};
    plan cells = {0};
    for (size_t m = 0; m < 2; m++) {
        cell one = make_cell("heart", 3, methods[m].name, 1);
        plan_add(&cells, &one);
        finish(&self, &one, "error", 0.25);
    }
    assert_int_equal(report_write(&self, &cells, &what), EXIT_DONE);
    static const char *const suffixes[] = {"table.csv", "table.json", "table.md", "error.svg"};
    for (size_t i = 0; i < 4; i++) {
        char *path = lab_path(&self, suffixes[i]);
        assert_int_equal(access(path, R_OK), 0);
        free(path);
    }
    plan_free(&cells);
    json_decref(self.finished);
}

/* The calls to Jansson's memory until one fails; 0: none does. */
static long until_no_memory;

static void *failing_malloc(size_t size)
{
    return until_no_memory > 0 && --until_no_memory == 0 ? NULL : malloc(size);
}

/* Whatever is lost on the way into a table, the table is written whole or not at all. */
static void nothing_is_lost_for_want_of_memory(void **state)
{
    (void)state;
    static const column methods[] = {{.name = "stonet"}};
    static const measure about = {"error", "error", false};
    const report what = {.title = "A table", .columns = {methods, 1}, .measures = &about, .n_measures = 1};
    lab self = {.command = &table1_command, .finished = json_object(), .options = {.seed = 1, .out = folder}};
    plan cells = {0};
    cell one = make_cell("heart", 3, "stonet", 1);
    plan_add(&cells, &one);
    finish(&self, &one, "error", 0.25);
    char *path = lab_path(&self, "table.json");
    int refused = 0, result;
    json_malloc_t given_malloc;
    json_free_t given_free;
    json_get_alloc_funcs(&given_malloc, &given_free);
    do {
        unlink(path);
        until_no_memory = ++refused;
        json_set_alloc_funcs(failing_malloc, free);
        result = report_write(&self, &cells, &what);
        json_set_alloc_funcs(given_malloc, given_free);
        assert_int_equal(access(path, R_OK) == 0, result == EXIT_DONE);
    } while (result != EXIT_DONE);
    assert_true(refused > 20);
    json_t *values = json_object();
    until_no_memory = 1;
    json_set_alloc_funcs(failing_malloc, free);
    assert_int_equal(put_value(values, "error", 0.25), STONET_ERROR_MEMORY);
    json_set_alloc_funcs(given_malloc, given_free);
    assert_int_equal(put_value(values, "error", NAN), STONET_OK);
    assert_int_equal(json_object_size(values), 0);
    json_decref(values);
    free(path);
    plan_free(&cells);
    json_decref(self.finished);
}

static void printed_numbers(void **state)
{
    (void)state;
    assert_true(printed_number("table1", "german", 10, "gsave", "error").mean == .2312);
    assert_true(printed_number("table1", "waveform", 5, "stonet-paper", "error").spread == .0010);
    assert_true(printed_number("table2", "20000", 49, "stonet", "error_dnn").mean == .0520);
    assert_true(isnan(printed_number("table2", "60000", 49, "stonet", "error_dnn").mean));
    assert_true(printed_number("table3", "ct-rows", 3, "pca", "mse_unit").mean == .0209);
    assert_true(printed_number("table3", "ct-rows", 192, "stonet", "correlation").mean == .9986);
    assert_true(isnan(printed_number("table3", "ct-patients", 3, "pca", "mse_unit").mean));
    assert_true(isnan(printed_number("table1", "german", 10, "none", "error").mean));
    static const char *const methods[] = {"stonet", "lsmie", "gsir", "gsave", "kdr", "sir", "save", "pca"};
    for (size_t i = 0; i < BINARY_SETS; i++)
        for (size_t k = 0; k < 16; k++) {
            printed one = printed_number("table1", binary_sets[i].name, binary_sets[i].q[k / 8],
                                         methods[k % 8], "error");
            assert_true(one.mean > 0.06 && one.mean < 0.5 && one.spread > 0 && one.spread < 0.02);
        }
}

/* ---- fits -------------------------------------------------------------------------------------- */

/* Every preset of the paper trains without diverging on a little of the right kind of data. */
static void presets_run(void **state)
{
    (void)state;
    stonet_data *waves = NULL, *numbers = NULL;
    assert_int_equal(stonet_generate("waveform", 128, 1, &waves), STONET_OK);
    assert_int_equal(stonet_generate("friedman", 128, 1, &numbers), STONET_OK);
    for (size_t i = 0; i < BINARY_SETS + 2; i++) {
        const char *settings = i < BINARY_SETS    ? binary_sets[i].stonet
                               : i == BINARY_SETS ? preset_mnist
                                                  : preset_ct;
        stonet_spec *spec = NULL;
        stonet_model *model = NULL;
        assert_int_equal(fits_spec("stonet", 2, settings, &spec), STONET_OK);
        assert_int_equal(stonet_spec_set(spec, "epochs", "3"), STONET_OK);
        stonet_run run = STONET_RUN_INIT;
        run.threads = 1;
        assert_int_equal(stonet_fit(spec, i <= BINARY_SETS ? waves : numbers, &run, &model), STONET_OK);
        assert_int_equal(stonet_model_outcome(model), STONET_DONE);
        stonet_model_free(model);
        stonet_spec_free(spec);
    }
    stonet_data_free(waves);
    stonet_data_free(numbers);
}

static void wrong_settings_are_refused(void **state)
{
    (void)state;
    stonet_spec *spec = NULL;
    assert_int_equal(fits_spec("stonet", 2, "hidden=none nonsense", &spec), STONET_ERROR_ARGUMENT);
    assert_int_equal(fits_spec("stonet", 2, "no_setting=1", &spec), STONET_ERROR_ARGUMENT);
    assert_null(spec);
}

/* One fit of a nested column serves the smaller dimensions too, with the same scores as a fit of its own. */
static void nested_reductions_are_kept(void **state)
{
    (void)state;
    static const column nested = {"pca", "pca", "learner=none", COLUMN_NESTED},
                        plain = {"pca", "pca", "learner=none", 0};
    static const heads on = {"learner=linear", "learner=linear"};
    split parts = {0};
    assert_int_equal(stonet_generate("friedman", 200, 1, &parts.train), STONET_OK);
    assert_int_equal(stonet_generate("friedman", 100, 2, &parts.test), STONET_OK);
    plan cells = {0};
    for (int64_t q = 6; q > 0; q -= 2) {
        cell what = make_cell("friedman", q, "pca", 1);
        plan_add(&cells, &what);
    }
    lab self = {.command = &table3_command, .plan = &cells, .options = {.seed = 1, .threads = 1}};
    kept_reduction kept = {0}, own = {0};
    for (size_t k = 0; k < cells.count; k++) {
        head_scores a, b;
        assert_int_equal(heads_score(&self, &cells.cell[k], &nested, &on, &parts, &kept, &a), STONET_OK);
        assert_int_equal(heads_score(&self, &cells.cell[k], &plain, &on, &parts, &own, &b), STONET_OK);
        assert_int_equal(kept.dim, 6);
        assert_int_equal(own.dim, cells.cell[k].q);
        assert_true(fabs(a.plain.mse - b.plain.mse) < 1e-5 * b.plain.mse);
        assert_false(a.has_own);
    }
    kept_reduction_free(&kept);
    kept_reduction_free(&own);
    plan_free(&cells);
    split_free(&parts);
}

static void grids_count_updates(void **state)
{
    (void)state;
    char room[64];
    grid over;
    table1_grid("stonet", 640, room, &over);
    assert_int_equal(over.count, 3);
    assert_string_equal(room, "epochs/lr=30/0.05,30/0.1,100/0.1");
    table1_grid("pca", 640, room, &over);
    assert_int_equal(over.count, 0);
}

/* The layers out of the model file compute what the model computes. */
static void weights_are_the_models(void **state)
{
    (void)state;
    enum { N = 40, P = 10, Q = 2 };
    stonet_data *data = NULL;
    stonet_spec *spec = NULL;
    stonet_model *model = NULL, *noisy = NULL;
    assert_int_equal(stonet_generate("friedman", N, 1, &data), STONET_OK);
    assert_int_equal(
        fits_spec("stonet", Q, "hidden=none activation=tanh scale=none epochs=5 weight_decay=0", &spec),
        STONET_OK);
    assert_int_equal(stonet_fit(spec, data, NULL, &model), STONET_OK);
    layer first;
    assert_int_equal(weights_layer(model, 1, &first), STONET_OK);
    assert_int_equal(first.outputs, Q);
    assert_int_equal(first.inputs, P);
    float z[N * Q], psi[N * Q];
    stonet_use_options units = {.size = sizeof units, .activated = 1};
    assert_int_equal(stonet_transform(model, data, NULL, z), STONET_OK);
    assert_int_equal(stonet_transform(model, data, &units, psi), STONET_OK);
    const float *x = stonet_data_x(data);
    for (int k = 0; k < N * Q; k++) {
        double sum = first.b[k % Q];
        for (int j = 0; j < P; j++) sum += first.w[k % Q * P + j] * (double)x[k / Q * P + j];
        assert_true(fabs(tanh(sum) - (double)psi[k]) < 1e-4);
    }
    layer_free(&first);
    assert_int_equal(weights_layer(model, 7, &first), STONET_ERROR_ARGUMENT);
    /* Without noise the draws are the means. */
    const double s[2] = {1e-20, 1e-20};
    assert_int_equal(weights_with_variances(model, s, 3, &noisy), STONET_ERROR_ARGUMENT);
    assert_int_equal(weights_with_variances(model, s, 2, &noisy), STONET_OK);
    float drawn[N * Q];
    stonet_use_options how = {.size = sizeof how, .draws = 1, .seed = 3, .threads = 1};
    assert_int_equal(stonet_transform(noisy, data, &how, drawn), STONET_OK);
    for (int k = 0; k < N * Q; k++) assert_true(fabs((double)drawn[k] - (double)z[k]) < 1e-4);
    stonet_model_free(noisy);
    stonet_model_free(model);
    stonet_spec_free(spec);
    stonet_data_free(data);
}

/* One point of each theorem: near where theory has it. */
static void theorems_hold_roughly(void **state)
{
    (void)state;
    cell what = make_cell("theory", 0, "point", 1);
    plan cells = {0};
    plan_add(&cells, &what);
    lab self = {.command = &theory_command, .plan = &cells, .options = {.seed = 1, .threads = 1}};
    json_t *early = json_object(), *late = json_object();
    assert_int_equal(theory_loss_gap(&self, 0.01, early), STONET_OK);
    assert_int_equal(theory_loss_gap(&self, 0.1, late), STONET_OK);
    double ratio =
        json_number_value(json_object_get(late, "gap")) / json_number_value(json_object_get(early, "gap"));
    assert_true(ratio > 60 && ratio < 140);
    assert_int_equal(theory_theta(&self, 1, early), STONET_OK);
    assert_int_equal(theory_theta(&self, 1000, late), STONET_OK);
    assert_true(json_number_value(json_object_get(late, "error2")) <
                0.05 * json_number_value(json_object_get(early, "error2")));
    assert_int_equal(theory_posterior(&self, 0.1, 0.2, 5000, early), STONET_OK);
    assert_int_equal(theory_posterior(&self, 0.1, 30, 5000, late), STONET_OK);
    assert_true(json_number_value(json_object_get(early, "w2")) > 0.5);
    assert_true(json_number_value(json_object_get(late, "w2")) < 0.05);
    json_decref(early);
    json_decref(late);
    plan_free(&cells);
}

/* ---- data -------------------------------------------------------------------------------------- */

static void write_numbers(const char *name, const char *text)
{
    char path[128];
    folder_path(name, path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Given splits are read as they are; later trials are other partitions in the same sizes. */
static void splits_go_on_at_random(void **state)
{
    (void)state;
    char path[128];
    folder_path("tiny", path);
    assert_int_equal(mkdir(path, 0777), 0);
    write_numbers("tiny/tiny_train_data_1.asc", " 1 2\n 3 4\n 5 6\n 7 8\n 9 10\n 11 12\n");
    write_numbers("tiny/tiny_train_labels_1.asc", " 1\n-1\n 1\n-1\n 1\n-1\n");
    write_numbers("tiny/tiny_test_data_1.asc", " 13 14\n 15 16\n");
    write_numbers("tiny/tiny_test_labels_1.asc", " 1\n-1\n");
    lab self = {.options = {.data = folder}};
    split given, later, again;
    assert_int_equal(binary_split(&self, "tiny", 1, &given), STONET_OK);
    assert_int_equal(binary_split(&self, "tiny", 11, &later), STONET_OK);
    assert_int_equal(binary_split(&self, "tiny", 11, &again), STONET_OK);
    assert_true(stonet_data_x(given.test)[0] == 13.0F);
    assert_int_equal(stonet_data_rows(later.train), 6);
    assert_int_equal(stonet_data_rows(later.test), 2);
    assert_memory_equal(stonet_data_x(later.train), stonet_data_x(again.train), 12 * sizeof(float));
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += (double)stonet_data_x(later.train)[i];
    for (int i = 0; i < 4; i++) sum += (double)stonet_data_x(later.test)[i];
    assert_true(sum == 136); /* every row is in one of the parts */
    split_free(&given);
    split_free(&later);
    split_free(&again);
    assert_int_equal(binary_split(&self, "absent", 1, &given), STONET_ERROR_IO);
}

/* From 11 on, two of them, and no others. */
static void trials_begin_where_they_are_told(void **state)
{
    (void)state;
    char path[128], out[128], text[4096];
    folder_path("heart", path);
    assert_int_equal(mkdir(path, 0777), 0);
    write_numbers("heart/heart_train_data_1.asc", " 1 2 0\n 3 5 1\n 4 6 2\n 7 8 2\n 9 1 0\n 2 3 1\n");
    write_numbers("heart/heart_train_labels_1.asc", " 1\n-1\n 1\n-1\n 1\n-1\n");
    write_numbers("heart/heart_test_data_1.asc", " 3 4 1\n 5 6 2\n");
    write_numbers("heart/heart_test_labels_1.asc", " 1\n-1\n");
    folder_path("later", out);
    char *argv[] = {"table1", "--data", folder,     "--out", out,         "--first", "11",
                    "--dims", "3",      "--trials", "2",     "--methods", "pca",     NULL};
    assert_int_equal(table1_command.run(&table1_command, 13, argv), EXIT_DONE);
    folder_path("later/table1-cells.jsonl", path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (int trial = 11; trial < 13; trial++) {
        char wanted[24];
        snprintf(wanted, sizeof wanted, "\"trial\":%d,", trial);
        assert_non_null(fgets(text, sizeof text, file));
        assert_non_null(strstr(text, wanted));
    }
    assert_null(fgets(text, sizeof text, file));
    fclose(file);
    folder_path("later/table1-table.md", path);
    file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_non_null(strstr(text, "`stonet-paper table1 --first 11`"));
}

/* No row of a patient is on both sides. */
static void patients_stay_together(void **state)
{
    (void)state;
    enum { N = 60 };
    float x[N];
    double y[N];
    int64_t patient[N];
    for (int i = 0; i < N; i++) {
        patient[i] = i / 3;
        x[i] = (float)patient[i];
        y[i] = i;
    }
    ct_table table = {.patient = patient};
    assert_int_equal(stonet_data_wrap(x, N, 1, &table.data), STONET_OK);
    assert_int_equal(stonet_data_set_targets(table.data, y, 1), STONET_OK);
    split parts;
    assert_int_equal(ct_split(NULL, &table, true, 1, &parts), STONET_OK);
    assert_int_equal(stonet_data_rows(parts.test), 6);
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < N - 6; k++)
            assert_true(stonet_data_x(parts.test)[i] != stonet_data_x(parts.train)[k]);
    split_free(&parts);
    assert_int_equal(ct_split(NULL, &table, false, 1, &parts), STONET_OK);
    assert_int_equal(stonet_data_rows(parts.test), N / 5);
    split_free(&parts);
    stonet_data_free(table.data);
}

static void missing_data_are_skipped(void **state)
{
    (void)state;
    const cli_command *const commands[] = {&table1_command, &table2_command, &table3_command};
    for (size_t i = 0; i < 3; i++) {
        char *argv[] = {"x", "--data", "/nonexistent", "--out", folder, NULL};
        assert_int_equal(commands[i]->run(commands[i], 5, argv), EXIT_DONE);
    }
}

/* Two quick methods on the smallest lines: a table with a number for each, resumed without computing again.
 */
static void known_reductions_are_compared(void **state)
{
    (void)state;
    char path[128], text[4096];
    folder_path("sufficiency-quick-table.csv", path);
    for (int again = 0; again < 2; again++) {
        char *argv[] = {"x", "--quick", "--trials", "1", "--methods", "sir,dr", "--out", folder, NULL};
        assert_int_equal(sufficiency_command.run(&sufficiency_command, 8, argv), EXIT_DONE);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        assert_non_null(strstr(text, "location-scale,300,sir"));
        assert_non_null(strstr(text, "scale,300,dr"));
    }
    assert_true(fabs(printed_number("sufficiency", "scale", 8000, "benn", "distance_correlation").mean -
                     .848) < 1e-9);
    assert_true(isnan(printed_number("sufficiency", "scale", 8000, "sir", "distance_correlation").mean));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_survive_on_disk),
        cmocka_unit_test(no_file_is_no_cells),
        cmocka_unit_test(runs_resume),
        cmocka_unit_test(methods_are_chosen),
        cmocka_unit_test(lines_become_cells),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(best_methods_are_bold),
        cmocka_unit_test(reports_are_written),
        cmocka_unit_test(nothing_is_lost_for_want_of_memory),
        cmocka_unit_test(printed_numbers),
        cmocka_unit_test(presets_run),
        cmocka_unit_test(wrong_settings_are_refused),
        cmocka_unit_test(nested_reductions_are_kept),
        cmocka_unit_test(grids_count_updates),
        cmocka_unit_test(weights_are_the_models),
        cmocka_unit_test(theorems_hold_roughly),
        cmocka_unit_test(splits_go_on_at_random),
        cmocka_unit_test(trials_begin_where_they_are_told),
        cmocka_unit_test(patients_stay_together),
        cmocka_unit_test(missing_data_are_skipped),
        cmocka_unit_test(known_reductions_are_compared),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
