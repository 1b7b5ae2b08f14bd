/* The parts of stonet-paper that can be tested fast: finished cells, the plan, tables, the summary, fits,
 * data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "paper/paper.h"

#define TEST(name) static void name(__attribute__((unused)) void **state)
#define OK(call)   assert_int_equal(call, 0) /* STONET_OK, EXIT_DONE */

static char folder[64];

static int make_folder(__attribute__((unused)) void **state)
{
    snprintf(folder, sizeof folder, "/tmp/stonet_paper_XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(__attribute__((unused)) void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static const char *in_folder(const char *name)
{
    static char path[4][128];
    static int next;
    char *made = path[next++ % 4];
    snprintf(made, 128, "%s/%s", folder, name);
    return made;
}

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(in_folder(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The file's text in a buffer that the next call takes again. */
static const char *read_text(const char *name)
{
    static char text[20000];
    FILE *file = fopen(in_folder(name), "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static const experiment own;

static const experiment *named(const char *name)
{
    size_t k = 0;
    if (strcmp(name, "own") == 0) return &own;
    while (strcmp(experiments[k]->name, name) != 0) k++;
    return experiments[k];
}

static int calls;

/* Runs "NAME --out FOLDER/OUT ..". */
static int run(const char *name, const char *out, const char *rest)
{
    char words[512], *argv[24] = {"x"}, *left = NULL;
    int argc = 1;
    snprintf(words, sizeof words, "--out %s %s", in_folder(out), rest);
    for (char *at = strtok_r(words, " ", &left); at != NULL; at = strtok_r(NULL, " ", &left))
        argv[argc++] = at;
    calls = 0;
    return lab_main(named(name), argc, argv);
}

/* ---- an experiment of our own ------------------------------------------------------------------- */

/* 0.1 a trial, 1 more for each column; the third trial of the second column fails. */
static stonet_status count_calls(job *self, json_t *values)
{
    int64_t m = self->what->by - self->lab->about->columns;
#pragma omp atomic
    calls++;
    if (m == 1 && self->what->trial == 3) return stonet_fail(STONET_ERROR_NUMERIC, "it cannot be done");
    put_value(values, "error", (double)m + 0.1 * (double)self->what->trial);
    return STONET_OK;
}

static const column own_columns[] = {{"default", "stonet", .flags = LARGE},
                                     {"sir", "sir", .settings = "b=2", .flags = LARGE | FULL_ALONE},
                                     {"none", "none", .settings = "c=3"}};
static const row own_rows[] = {{"heart", "8 4 2", .quick_dims = "4 2"},
                               {"big huge", "2", .flags = FULL_ALONE | LARGE}};
static const measure own_measures[] = {{"error", "an error", false, 0}};
static const experiment own = {.name = "own",
                               .title = "A table",
                               LISTS(own),
                               .full_trials = 4,
                               .quick_trials = 1,
                               .paper = "sir",
                               .compute = count_calls};

/* Wanted columns with the flags asked for, each dimension once, q = 0 without a reduction. */
TEST(rows_become_cells)
{
    lab self = {.about = &own, .options = {.out = folder, .first = 2}};
    OK(lab_plan(&self));
    assert_int_equal(self.n_cells, 4 * (3 + 3 + 1 + 2 * (1 + 1)));
    assert_string_equal(self.cells[9].at->name, "huge");
    assert_int_equal(self.cells[0].q, 8);
    assert_int_equal(self.cells[0].trial, 2);
    BLOCK char *plain = fits_describe(&self, &self.cells[0]), *set = fits_describe(&self, &self.cells[3]);
    assert_string_equal(plain, "nothing set but q");
    assert_string_equal(set, "b=2");
    assert_int_equal(self.cells[6].q, 0);
    lab_clear(&self);
    self = (lab){.about = &own, .options = {.out = folder, .first = 1, .quick = true, .dims = "4"}};
    OK(lab_plan(&self));
    assert_int_equal(self.n_cells, 2);
    assert_int_equal(self.cells[0].q, 4);
    lab_clear(&self);
    assert_true(is_listed("stonet,sir", "sir") && !is_listed("stonet,sir", "si") && is_listed(NULL, "pca"));
}

TEST(wrong_options_are_refused)
{
    assert_int_equal(run("own", "out", "--trials many"), EXIT_USAGE);
    assert_int_equal(run("own", "out", "--methods sir,ser"), EXIT_USAGE);
    assert_int_equal(run("own", "out", "--rows heart --dims 3 --methods sir"), EXIT_USAGE);
    assert_int_equal(calls, 0);
    for (size_t k = 1; k < 4; k++) OK(run(experiments[k]->name, "out", "--data /nonexistent")); /* skipped */
}

/* A second run computes only what the first one has not, whatever became of the file's last line. */
TEST(runs_resume)
{
    OK(run("own", "resume", "--rows heart --dims 2 --methods sir --report"));
    assert_int_equal(calls, 0);
    OK(run("own", "resume", "--rows heart --dims 2 --methods sir --trials 3"));
    assert_int_equal(calls, 3);
    assert_non_null(strstr(read_text("resume/own-cells.jsonl"), "it cannot be done"));
    FILE *file = fopen(in_folder("resume/own-cells.jsonl"), "a");
    fputs("[1, 2]\n{\"row\": \"he", file);
    fclose(file);
    OK(run("own", "resume", "--rows heart --dims 2 --methods sir"));
    assert_int_equal(calls, 1);
    OK(run("own", "resume", "--rows heart --dims 2 --methods sir"));
    assert_int_equal(calls, 0);
    OK(run("own", "resume", "--rows heart --dims 2 --methods sir --seed 2"));
    assert_int_equal(calls, 4); /* another seed makes other cells */
}

/* Cells computed elsewhere are found in a folder that is copied into OUT. */
TEST(copied_folders_count)
{
    char command[400];
    OK(run("own", "there", "--rows heart --first 3 --trials 2 --jobs 2"));
    assert_int_equal(calls, 2 * 7);
    OK(run("own", "here", "--rows heart --trials 2"));
    snprintf(command, sizeof command, "cp -r %s %s", in_folder("there"), in_folder("here/there"));
    assert_int_equal(system(command), 0);
    OK(run("own", "here", "--rows heart"));
    assert_int_equal(calls, 0);
    assert_non_null(strstr(read_text("here/own-table.csv"), "heart,8,default,error,4,"));
}

/* The best of a line is bold, and what a paired test does not tell from it; one lucky trial is no best
   method. The default is compared with the best other reduction over the splits that both have. */
TEST(lines_are_tested)
{
    static const column methods[] = {{"default", .method = "stonet"},
                                     {"sir", "sir", .settings = ""},
                                     {"pca", "pca", .settings = ""},
                                     {"none", "none", .settings = ""},
                                     {"kdr", "kdr", .settings = ""}};
    static const double errors[] = {.10, .12, .11, .13, .11, .11, .12, .12, .30,
                                    .33, .31, .34, .05, .05, .05, .05, .01};
    static const int64_t trials[5] = {4, 3, 4, 4, 1};
    static const row on = {"heart", .dims = "3"};
    static const experiment about = {
        .name = "table1", .columns = methods, .n_columns = 5, .rows = &on, .n_rows = 1, .full_trials = 4};
    lab self = {.about = &about, .options = {.out = folder, .first = 1}};
    OK(lab_plan(&self));
    for (cell *one = self.cells; one < self.cells + self.n_cells; one++) {
        const int64_t m = one->by - methods;
        if (one->trial <= trials[m])
            one->record = json_pack("{s:{s:f}}", "values", "error", errors[4 * m + one->trial - 1]);
    }
    BLOCK entries *made = table_make(&self, &own_measures[0]);
    const entry *at = made[0].by;
    assert_true(fabs(at[0].found.mean - 0.115) < 1e-12 && fabs(at[0].found.se - 0.0064549722) < 1e-9);
    assert_true(at[1].bold && isnan(at[1].p_value) && at[1].n == 3 && at[0].bold);
    assert_true(at[2].p_value < 0.01 && !at[2].bold);
    assert_true(!at[3].bold && !at[4].bold);
    assert_true(fabs(at[2].printed.mean - 0.1920) < 1e-12);
    assert_string_equal(made[0].other_name, "sir");
    assert_true(fabs(made[0].difference.mean + 0.01 / 3) < 1e-12);
    const double a[] = {.10, .12, .11}, b[] = {.11, .11, .12};
    assert_true(fabs(made[0].p_difference - stonet_paired_t_test(3, a, b)) < 1e-12);
    lab_clear(&self);
}

/* With any number of trials at a time the tables have the same bytes. */
TEST(threads_change_nothing)
{
    char first[20000];
    OK(run("sufficiency", "one", "--quick --trials 2 --methods sir,dr --jobs 1 --threads 1"));
    snprintf(first, sizeof first, "%s", read_text("one/sufficiency-quick-table.md"));
    OK(run("sufficiency", "four", "--quick --trials 2 --methods sir,dr --jobs 4 --threads 8"));
    assert_string_equal(first, read_text("four/sufficiency-quick-table.md"));
    assert_non_null(strstr(first, "| location-scale | 300 | 2 |"));
}

/* The summary has what OUT has cells for; the rest of the page's table stays. */
TEST(summaries_fill_pages)
{
    char rest[256];
    write_text("page.md",
               "before\n<!-- summary -->\n| table1: heart | 3 | sir 0.1610 (0.0064) | 0.1625 | 0.17 |  |\n"
               "<!-- end of summary -->\nafter\n");
    OK(run("m1", "sums", "--trials 2 --methods chance,nnsdr"));
    snprintf(rest, sizeof rest, "--trials 2 --page %s", in_folder("page.md"));
    for (int again = 0; again < 2; again++) {
        OK(run("summary", "sums", rest));
        const char *text = read_text("page.md");
        assert_non_null(strstr(text, "| m1: M1 | 1 | nnsdr "));
        assert_non_null(strstr(text, "| table1: heart | 3 | sir 0.1610 (0.0064) | 0.1625 | 0.17 |  |\n"));
        assert_int_equal(strncmp(text, "before\n<!-- summary -->\n| experiment", 34), 0);
        assert_non_null(strstr(text, "<!-- end of summary -->\nafter\n"));
    }
    write_text("page.md", "no marks\n");
    assert_int_equal(run("summary", "sums", rest), EXIT_FAILED);
    assert_string_equal(read_text("page.md"), "no marks\n");
}

TEST(printed_numbers)
{
    assert_true(printed_number("table1", "error", "waveform", 5, "stonet-paper").se == .0010);
    assert_true(printed_number("table2", "error_dnn", "20000", 49, "none").mean == .0459);
    assert_true(printed_number("table3", "mse_unit", "ct-rows", 3, "pca").mean == .0209);
    assert_true(printed_number("table3", "correlation", "ct-rows", 192, "stonet").mean == .9986);
    assert_true(printed_number("sufficiency", "distance_correlation", "scale", 8000, "benn").mean == .848);
    const experiment *table1 = named("table1");
    for (size_t i = 0; i < table1->n_rows; i++)
        for (size_t m = 2; m < 10; m++) {
            int64_t q = strtoll(table1->rows[i].dims, NULL, 10);
            estimate one =
                printed_number("table1", "error", table1->rows[i].names, q, table1->columns[m].name);
            assert_true(one.mean > 0.06 && one.mean < 0.5 && one.se > 0 && one.se < 0.02);
        }
}

/* ---- fits -------------------------------------------------------------------------------------- */

/* Every preset of the paper trains without diverging on a little of the right kind of data. */
TEST(presets_run)
{
    const experiment *table1 = named("table1");
    const char *const more[] = {named("table2")->columns[3].settings, named("table3")->columns[2].settings};
    AUTO(stonet_data) *waves = NULL, *numbers = NULL;
    OK(stonet_generate("waveform", 128, 1, &waves));
    OK(stonet_generate("friedman", 128, 1, &numbers));
    for (size_t i = 0; i < table1->n_rows + 2; i++) {
        const char *settings = i < table1->n_rows ? table1->rows[i].paper : more[i - table1->n_rows];
        AUTO(stonet_spec) *spec = NULL;
        AUTO(stonet_model) *model = NULL;
        OK(fits_spec("stonet", 2, settings, &spec));
        OK(stonet_spec_set(spec, "epochs", "3"));
        stonet_run how = STONET_RUN_INIT;
        how.threads = 1;
        OK(stonet_fit(spec, i <= table1->n_rows ? waves : numbers, &how, &model));
        assert_int_equal(stonet_model_outcome(model), STONET_DONE);
    }
}

/* Settings are checked; without any, the spec is that of a plain fit, and epochs of a grid fit the rows. */
TEST(settings_become_specs)
{
    stonet_spec *spec = NULL;
    assert_int_equal(fits_spec("stonet", 2, "hidden=none nonsense", &spec), STONET_ERROR_ARGUMENT);
    assert_int_equal(fits_spec("stonet", 2, "no_setting=1", &spec), STONET_ERROR_ARGUMENT);
    assert_null(spec);
    AUTO(stonet_spec) *plain = NULL, *made = NULL;
    OK(stonet_spec_create("stonet", &plain));
    OK(stonet_spec_set(plain, "dim", "2"));
    OK(fits_spec("stonet", 2, NULL, &made));
    char *a = stonet_spec_json(plain), *b = stonet_spec_json(made);
    assert_string_equal(a, b);
    stonet_string_free(a);
    stonet_string_free(b);
    char room[64];
    assert_string_equal(updates_to_epochs("rho=0.1", 640, room), "rho=0.1");
    assert_string_equal(updates_to_epochs(UPDATES("300", "1000"), 640, room),
                        "epochs/lr=30/0.05,30/0.1,100/0.1");
}

/* A value of a cell that is computed now. */
static double computed(job *self, const cell *what, const char *field)
{
    json_t *values = json_object();
    self->what = what;
    OK(self->lab->about->compute(self, values));
    const double found = json_number_value(json_object_get(values, field));
    json_decref(values);
    return found;
}

/* One fit of a nested column serves the smaller dimensions too, with the same scores as a fit of its own. A
   StoNet whose layers are not named gives its Z as it is. */
TEST(reductions_are_kept)
{
    static const column by[] = {{"pca", "pca", .settings = "learner=none", .flags = NESTED},
                                {"pca", "pca", .settings = "learner=none"},
                                {"stonet", "stonet", .settings = ""}};
    static const measure scores[] = {{"mse", "", false, offsetof(scored, dnn.mse)}};
    static const experiment about = {
        .name = "x", .dnn = "learner=linear", .measures = scores, .n_measures = 1, .compute = fits_compute};
    static const line at = {.name = "friedman"};
    lab on = {.about = &about};
    job self[2] = {{.lab = &on, .threads = 1}, {.lab = &on, .threads = 1}};
    for (int k = 0; k < 2; k++) OK(stonet_generate("friedman", 200, 1, &self[k].parts.train));
    for (int k = 0; k < 2; k++) OK(stonet_generate("friedman", 100, 2, &self[k].parts.test));
    for (int64_t q = 6; q > 0; q -= 2) {
        double mse[2];
        for (int k = 0; k < 2; k++) {
            mse[k] = computed(&self[k], &(cell){.at = &at, .q = q, .trial = 1, .by = &by[k]}, "mse");
            assert_int_equal(self[k].q, k == 0 ? 6 : q);
        }
        assert_true(mse[0] > 0 && fabs(mse[0] - mse[1]) < 1e-5 * mse[1]);
    }
    assert_true(computed(self, &(cell){.at = &at, .q = 1, .trial = 1, .by = &by[2]}, "mse") > 0);
    for (int k = 0; k < 2; k++) {
        split_free(&self[k].parts);
        stonet_model_free(self[k].model);
    }
}

/* A value of a point of a theorem. */
static double point(size_t row_number, int64_t q, const char *field)
{
    const line at = {.on = &theory.rows[row_number], .q = q};
    lab on = {.about = &theory, .options = {.seed = 1, .quick = true}};
    job self = {.lab = &on, .threads = 1};
    return computed(&self, &(cell){.at = &at, .q = q, .trial = 1, .by = theory.columns}, field);
}

/* One point of each theorem: near where theory has it. */
TEST(theorems_hold_roughly)
{
    double ratio = point(0, 100, "gap") / point(0, 10, "gap");
    assert_true(ratio > 60 && ratio < 140);
    assert_true(point(1, 1000, "error2") < 0.05 * point(1, 1, "error2"));
    assert_true(point(3, 2, "w2") > 0.5);
    assert_true(point(3, 300, "w2") < 0.05);
    OK(run("theory", "theory", "--quick --methods theta --trials 1"));
}

/* ---- data -------------------------------------------------------------------------------------- */

/* Given splits are read as they are; later trials are other partitions in the same sizes. */
TEST(splits_go_on_at_random)
{
    assert_int_equal(mkdir(in_folder("heart"), 0777), 0);
    write_text("heart/heart_train_data_1.asc", " 1 2 0\n 3 4 1\n 5 6 2\n 7 8 2\n 9 10 0\n 11 12 1\n");
    write_text("heart/heart_train_labels_1.asc", " 1\n-1\n 1\n-1\n 1\n-1\n");
    write_text("heart/heart_test_data_1.asc", " 13 14 1\n 15 16 2\n");
    write_text("heart/heart_test_labels_1.asc", " 1\n-1\n");
    lab self = {.options = {.data = folder}};
    split given[3] = {{0}};
    for (int k = 0; k < 3; k++) {
        static const line heart = {.name = "heart"};
        const cell what = {.at = &heart, .trial = k == 0 ? 1 : 11};
        OK(binary_split(&self, &what, &given[k]));
    }
    assert_true(stonet_data_x(given[0].test)[0] == 13.0F);
    assert_true(stonet_data_rows(given[1].train) == 6 && stonet_data_rows(given[1].test) == 2);
    assert_memory_equal(stonet_data_x(given[1].train), stonet_data_x(given[2].train), 18 * sizeof(float));
    double sum = 0;
    for (int i = 0; i < 18; i++) sum += (double)stonet_data_x(given[1].train)[i];
    for (int i = 0; i < 6; i++) sum += (double)stonet_data_x(given[1].test)[i];
    assert_true(sum == 136 + 9); /* every row is in one of the parts */
    for (int k = 0; k < 3; k++) split_free(&given[k]);
    const line nowhere = {.name = "absent"};
    const cell absent = {.at = &nowhere, .trial = 1};
    assert_int_equal(binary_split(&self, &absent, &given[0]), STONET_ERROR_IO);
    /* From 11 on, two of them, and no others. */
    char rest[256];
    snprintf(rest, sizeof rest, "--data %s --first 11 --dims 3 --trials 2 --methods pca", folder);
    OK(run("table1", "later", rest));
    const char *text = read_text("later/table1-cells.jsonl");
    assert_true(strstr(text, "\"trial\":11,") != NULL && strstr(text, "\"trial\":12,") != NULL);
    assert_true(strstr(text, "\"trial\":13,") == NULL && strstr(text, "\"trial\":1,") == NULL);
    assert_non_null(strstr(read_text("later/table1-table.md"), "`stonet-paper table1 --first 11`"));
}

/* No row of a patient is on both sides. */
TEST(patients_stay_together)
{
    enum { N = 60 };
    char text[2000];
    size_t used = (size_t)snprintf(text, sizeof text, "patient,x,y\n");
    for (int i = 0; i < N; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d,%d,%d\n", i / 3, i / 3, i);
    write_text("ct.csv", text);
    const stonet_read_options how = {.size = sizeof how, .target = "y", .id = "patient"};
    lab self = {0};
    OK(stonet_data_read(in_folder("ct.csv"), &how, &self.ct));
    for (int by_patient = 0; by_patient < 2; by_patient++) {
        static const line at[] = {{.name = "ct-rows"}, {.name = "ct-patients"}};
        const cell what = {.at = &at[by_patient], .trial = 1};
        split parts = {0};
        OK(regression_split(&self, &what, &parts));
        assert_int_equal(stonet_data_rows(parts.test), by_patient ? 6 : N / 5);
        for (int k = 0; k < 6 * (N - 6) && by_patient; k++)
            assert_true(stonet_data_x(parts.test)[k % 6] != stonet_data_x(parts.train)[k / 6]);
        split_free(&parts);
    }
    stonet_data_free(self.ct);
}

/* x1 alone is not sufficient, x is: the test tells them apart on one data set. */
TEST(levels_are_measured)
{
    OK(run("sufficiency-level", "level", "--trials 1 --dims 2000 --rows ring/x,ring/x1 --methods gcm"));
    const char *text = read_text("level/sufficiency-level-table.csv");
    assert_non_null(strstr(text, "ring/x,2000,gcm,rejected,1,0,"));
    assert_non_null(strstr(text, "ring/x1,2000,gcm,rejected,1,1,"));
    OK(run("sufficiency-level", "max",
           "--trials 1 --dims 1000 --rows sparse:6/x1-x3,sparse:6/x1 --methods max"));
    text = read_text("max/sufficiency-level-table.csv");
    assert_non_null(strstr(text, "sparse:6/x1-x3,1000,max,rejected,1,0,"));
    assert_non_null(strstr(text, "sparse:6/x1,1000,max,rejected,1,1,"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_become_cells),
                                       cmocka_unit_test(wrong_options_are_refused),
                                       cmocka_unit_test(runs_resume),
                                       cmocka_unit_test(copied_folders_count),
                                       cmocka_unit_test(lines_are_tested),
                                       cmocka_unit_test(threads_change_nothing),
                                       cmocka_unit_test(summaries_fill_pages),
                                       cmocka_unit_test(printed_numbers),
                                       cmocka_unit_test(presets_run),
                                       cmocka_unit_test(settings_become_specs),
                                       cmocka_unit_test(reductions_are_kept),
                                       cmocka_unit_test(theorems_hold_roughly),
                                       cmocka_unit_test(splits_go_on_at_random),
                                       cmocka_unit_test(patients_stay_together),
                                       cmocka_unit_test(levels_are_measured)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
