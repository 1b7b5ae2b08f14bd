#define _GNU_SOURCE /* asprintf */
#include "paper/paper.h"

#include <errno.h>
#include <glob.h>
#include <omp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/signals.h"

/* ---- options ----------------------------------------------------------------------------------- */

#define OPTION(type, field, word, start, from, to, text)                                                     \
    {                                                                                                        \
        .name = #field, .kind = OPTION_##type, .offset = offsetof(lab_options, field), .argument = (word),   \
        .initial = (start), .low = (from), .high = (to), .help = (text)                                      \
    }
/* The first is the summary's. */
static const cli_option options[] = {
    OPTION(TEXT, page, "FILE", NULL, 0, 0, "A page with a summary, which is brought up to date"),
    OPTION(TEXT, data, "DIR", NULL, 0, 0, "The data folder (else the environment's STONET_DATA)"),
    OPTION(TEXT, out, "DIR", "paper-results", 0, 0,
           "Where cells, tables and figures go; cells found there are not computed again"),
    OPTION(INTEGER, trials, "N", "0", 0, 100000, "Trials: splits, folds, data sets; 0: as many as above"),
    OPTION(INTEGER, first, "K", "1", 1, 1000000,
           "The first trial; splits that the data folder does not have are random partitions"),
    OPTION(TEXT, methods, "a,b,c", NULL, 0, 0, "Only these columns"),
    OPTION(TEXT, rows, "a,b,c", NULL, 0, 0, "Only these rows: data sets, numbers of images"),
    OPTION(TEXT, dims, "Q,Q..", NULL, 0, 0, "Only these dimensions"),
    OPTION(FLAG, report, NULL, NULL, 0, 0, "Compute nothing; make tables and figures of the finished cells"),
    OPTION(FLAG, quick, NULL, NULL, 0, 0, "A small version that takes minutes, with files of its own"),
    OPTION(INTEGER, seed, "S", "1", 0, INT64_MAX / 2000000,
           "Start of all randomness; the splits of the data do not depend on it"),
    OPTION(INTEGER, threads, "N", "0", 0, 1024, "Threads to use, 0 for all cores"),
    OPTION(INTEGER, jobs, "N", "0", 0, 1024, "Trials at a time, which share the threads; 0: one a thread"),
};

bool lab_open(lab *self, const experiment *about, int argc, char **argv, int *leave)
{
    *self = (lab){.about = about,
                  .command = {.program = "stonet-paper",
                              .name = about->name,
                              .summary = about->summary,
                              .operands = "",
                              .details = about->details,
                              .options = options + (about->compute != NULL),
                              .n_options = COUNT(options) - (about->compute != NULL),
                              .examples = about->examples}};
    cli_arguments given;
    parse_result parsed = options_parse(&self->command, argc, argv, &self->options, &given);
    *leave = parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    if (parsed != PARSE_OK) return false;
    if (self->options.data == NULL) self->options.data = getenv("STONET_DATA");
    signals_catch();
    if (mkdir(self->options.out, 0777) == 0 || errno == EEXIST) return true;
    say_error(&self->command, "cannot make the folder %s: %s", self->options.out, strerror(errno));
    *leave = EXIT_FAILED;
    return false;
}

void lab_close(lab *self)
{
    json_decref(self->finished);
    free(self->cells.cell);
    stonet_data_free(self->ct);
    options_free(&self->command, &self->options);
}

int lab_no_memory(const lab *self)
{
    say_error(&self->command, "memory ran out");
    return EXIT_FAILED;
}

char *lab_path(const lab *self, const char *suffix)
{
    char *path = NULL;
    const char *kind = self->options.quick ? "-quick" : "";
    int size = asprintf(&path, "%s/%s%s-%s", self->options.out, self->about->name, kind, suffix);
    return size < 0 ? NULL : path;
}

/* ---- finished cells ---------------------------------------------------------------------------- */

void cell_key(const cell *what, int64_t seed, char key[KEY_SIZE])
{
    snprintf(key, KEY_SIZE, "%s|%" PRId64 "|%s|%" PRId64 "|%" PRId64 "|%s", what->row, what->q, what->method,
             what->trial, seed, what->settings);
}

/* The key of a record that was read; false when it is not one. */
static bool record_key(json_t *record, char key[KEY_SIZE])
{
    const char *on = NULL, *method = NULL, *settings = NULL;
    json_int_t q = 0, trial = 0, seed = 0;
    json_t *values = NULL;
    if (json_unpack(record, "{s:s, s:I, s:s, s:I, s:I, s:s, s:o}", "row", &on, "q", &q, "method", &method,
                    "trial", &trial, "seed", &seed, "settings", &settings, "values", &values) != 0 ||
        !json_is_object(values))
        return false;
    snprintf(key, KEY_SIZE, "%s|%lld|%s|%lld|%lld|%s", on, q, method, trial, seed, settings);
    return true;
}

/* Every whole line; a line that was cut off, and lines that are no records, are passed over. */
static void read_cells(const char *path, json_t *cells)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    while (file != NULL && getline(&text, &room, file) > 0) {
        json_t *record = json_loads(text, 0, NULL);
        char key[KEY_SIZE];
        if (record != NULL && record_key(record, key)) json_object_set(cells, key, record);
        json_decref(record);
    }
    free(text);
    if (file != NULL) fclose(file);
}

/* Those of OUT and of the folders in it. */
static bool find_cells(lab *self)
{
    self->finished = json_object();
    const char *kind = self->options.quick ? "-quick" : "";
    for (int deep = 0; deep < 2; deep++) {
        ROOM char *pattern = NULL;
        glob_t found = {0};
        const char *folders = deep ? "*/" : "", *name = self->about->name;
        if (asprintf(&pattern, "%s/%s%s%s-cells*.jsonl", self->options.out, folders, name, kind) < 0)
            return false;
        if (glob(pattern, 0, NULL, &found) == 0)
            for (size_t i = 0; i < found.gl_pathc; i++) read_cells(found.gl_pathv[i], self->finished);
        globfree(&found);
    }
    return self->finished != NULL;
}

static json_t *find(const lab *self, const cell *what)
{
    char key[KEY_SIZE];
    cell_key(what, self->options.seed, key);
    return json_object_get(self->finished, key);
}

double lab_value(const lab *self, const cell *what, const char *field)
{
    const json_t *record = find(self, what);
    if (strcmp(field, "seconds") != 0) record = json_object_get(record, "values");
    const json_t *value = json_object_get(record, field);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* ---- the plan ---------------------------------------------------------------------------------- */

bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at != NULL && *at != '\0';) {
        size_t here = strcspn(at, ",");
        if (here == length && strncmp(at, name, length) == 0) return true;
        at += here + (at[here] == ',');
    }
    return list == NULL;
}

/* Every name of --methods must be a column: there are as many columns as names. */
static bool check_methods(const lab *self)
{
    const char *list = self->options.methods;
    size_t names = 1, found = 0;
    for (const char *at = list; at != NULL && *at != '\0'; at++) names += *at == ',';
    for (size_t m = 0; m < self->about->n_columns; m++)
        found += is_listed(list, self->about->columns[m].name);
    if (list == NULL || found == names) return true;
    say_usage(&self->command, "--methods: not all of '%s' are columns of this experiment", list);
    return false;
}

static void plan_add(plan *self, const cell *added)
{
    cell *grown = realloc(self->cell, (self->count + 1) * sizeof *grown);
    self->broken = self->broken || grown == NULL;
    if (grown == NULL) return;
    self->cell = grown;
    self->cell[self->count++] = *added;
}

/* A cell for each dimension, or one with q = 0 where there is none to choose. */
static void plan_column(lab *self, const row *on, const column *by, int64_t trial)
{
    const char *at = by->method != NULL && strcmp(by->method, "none") == 0 ? "" : on->dims;
    const char *bar = self->options.quick ? strchr(at, '|') : NULL;
    if (bar != NULL) at = bar;
    do {
        char *end = NULL, number[24];
        at += strspn(at, " |");
        cell what = {.q = strtoll(at, &end, 10), .trial = trial, .by = by, .on = on};
        at = end;
        snprintf(what.row, sizeof what.row, "%s", on->name);
        snprintf(what.method, sizeof what.method, "%s", by->name);
        fits_describe(self, &what);
        snprintf(number, sizeof number, "%" PRId64, what.q);
        if (what.q == 0 || is_listed(self->options.dims, number)) plan_add(&self->cells, &what);
    } while (*at != '\0');
}

/* Whether a trial (from 0) of the row has this column. --trials goes before what they take at most. */
static bool is_wanted(const lab *self, const row *on, const column *by, int64_t t)
{
    const lab_options *given = &self->options;
    unsigned needs = (on->flags & LARGE) | (given->quick ? IN_QUICK : 0);
    int64_t most = given->quick ? on->quick : on->full;
    if (by->full > 0) most = by->full;
    return (by->flags & needs) == needs && is_listed(given->methods, by->name) &&
           ((by->flags & ASKED) == 0 || given->methods != NULL) &&
           (most == 0 || t < most || given->trials > 0);
}

/* Each wanted column of each wanted row. What is only reported needs no data. */
static int plan_cells(lab *self)
{
    const experiment *about = self->about;
    const unsigned form = self->options.quick ? IN_QUICK : IN_FULL;
    size_t there = 0;
    ROOM bool *is_there = make_room(about->n_rows, sizeof *is_there);
    if (is_there == NULL) return lab_no_memory(self);
    for (size_t i = 0; i < about->n_rows; i++) {
        const row *on = &about->rows[i];
        if ((on->flags & form) == 0 || !is_listed(self->options.rows, on->name)) continue;
        is_there[i] = self->options.report || data_is_there(self, on);
        there += is_there[i];
    }
    int64_t trials = form == IN_QUICK ? about->quick_trials : about->full_trials;
    if (self->options.trials > 0) trials = self->options.trials;
    for (int64_t t = 0; t < trials; t++)
        for (size_t k = 0; k < about->n_rows * about->n_columns; k++) {
            const row *on = &about->rows[k / about->n_columns];
            const column *by = &about->columns[k % about->n_columns];
            if (is_there[k / about->n_columns] && is_wanted(self, on, by, t))
                plan_column(self, on, by, self->options.first + t);
        }
    if (self->cells.broken) return lab_no_memory(self);
    if (there > 0 && self->cells.count > 0) return EXIT_DONE;
    if (there == 0 && self->options.rows == NULL) {
        printf("%s is skipped: its data are not in the data folder (give --data DIR)\n", about->name);
        return EXIT_DONE;
    }
    say_usage(&self->command, "nothing is asked for: see --methods, --rows and --dims");
    return EXIT_USAGE;
}

int lab_plan(lab *self)
{
    if (self->about->n_columns == 1 &&
        self->options.rows == NULL) { /* its curves are what there is to choose */
        self->options.rows = self->options.methods;
        self->options.methods = NULL;
    }
    if (!check_methods(self)) return EXIT_USAGE;
    return find_cells(self) ? plan_cells(self) : lab_no_memory(self);
}

/* ---- running ----------------------------------------------------------------------------------- */

static void cell_name(const cell *what, char *text, size_t size)
{
    char q[32] = "";
    if (what->q > 0) snprintf(q, sizeof q, " q=%" PRId64, what->q);
    snprintf(text, size, "%s%s %s trial %" PRId64, what->row, q, what->method, what->trial);
}

static void on_progress(const stonet_progress *progress, void *user)
{
    const job *self = user;
    char name[128], text[256];
    cell_name(self->what, name, sizeof name);
    snprintf(text, sizeof text, "[%zu/%zu] %s: %s", self->number + 1, self->lab->cells.count, name,
             progress->stage != NULL ? progress->stage : "working");
    stonet_progress shown = *progress;
    shown.stage = text;
    progress_draw(&shown);
}

static int should_stop(void *user)
{
    (void)user;
    return signals_stop_wanted();
}

stonet_run job_run(job *self, uint64_t stream)
{
    stonet_run run = STONET_RUN_INIT;
    run.seed = (uint64_t)self->lab->options.seed * 1000003U + (uint64_t)self->what->trial * 101U + stream;
    run.threads = self->threads;
    run.on_progress = on_progress;
    run.should_stop = should_stop;
    run.user = self;
    return run;
}

void job_free(job *self)
{
    stonet_data_free(self->parts.train);
    stonet_data_free(self->parts.test);
    self->parts = (split){0};
    reduction_free(&self->kept);
}

/* "[3/20] heart q=3 sir trial 1: error 0.18 (0.1 s)". */
static void tell_cell(const job *self, const json_t *record, size_t done)
{
    char name[128];
    const char *field;
    json_t *value;
    cell_name(self->what, name, sizeof name);
    progress_clear();
    printf("[%zu/%zu] %s:", done, self->lab->cells.count, name);
    json_object_foreach(json_object_get(record, "values"), field, value)
    {
        if (json_is_number(value)) printf(" %s %.4g", field, json_number_value(value));
        if (strcmp(field, "failure") == 0) printf(" failed: %s", json_string_value(value));
    }
    printf(" (%.1f s)\n", json_number_value(json_object_get(record, "seconds")));
    fflush(stdout);
}

/* Adds a line of JSON to the file and sees it to the disk. The line end before it closes a line that was cut
   off, as after a power cut. */
static bool append(const char *path, const json_t *record)
{
    char *text = json_dumps(record, JSON_COMPACT | JSON_REAL_PRECISION(9));
    FILE *file = text != NULL && path != NULL ? fopen(path, "a") : NULL;
    bool good =
        file != NULL && fprintf(file, "\n%s\n", text) > 0 && fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (file != NULL && fclose(file) != 0) good = false;
    free(text);
    return good;
}

/* False: the cell could not be kept. One thread at a time. */
static bool keep_cell(const job *self, json_t *values, double seconds, size_t *done)
{
    lab *on = self->lab;
    const cell *what = self->what;
    char key[KEY_SIZE];
    ROOM char *path = lab_path(on, "cells.jsonl");
    json_t *record = json_pack("{s:s, s:I, s:s, s:I, s:I, s:s, s:f, s:O}", "row", what->row, "q",
                               (json_int_t)what->q, "method", what->method, "trial", (json_int_t)what->trial,
                               "seed", (json_int_t)on->options.seed, "settings", what->settings, "seconds",
                               seconds, "values", values);
    cell_key(what, on->options.seed, key);
    bool kept = append(path, record) && json_object_set(on->finished, key, record) == 0;
    if (kept)
        tell_cell(self, record, ++*done);
    else
        say_error(&on->command, "cannot write %s: %s", path != NULL ? path : "a cell", strerror(errno));
    json_decref(record);
    return kept;
}

static void run_cell(job *self, size_t *done, bool *broken)
{
    const experiment *about = self->lab->about;
    json_t *values = json_object();
    double start = progress_clock();
    stonet_status status = STONET_OK;
    if (about->load != NULL && self->parts.test == NULL)
        status = about->load(self->lab, self->what, &self->parts);
    status = status == STONET_OK ? about->compute(self, values) : status;
    if (self->parts.test == NULL) job_free(self); /* half of a split is none */
    bool noted =
        status == STONET_OK || json_object_set_new(values, "failure", json_string(stonet_last_error())) == 0;
#pragma omp critical(cells)
    if (signals_stop_wanted() || !noted || !keep_cell(self, values, progress_clock() - start, done))
        *broken = true;
    json_decref(values);
}

/* Cells of the same row and trial go together, since they share their data: finds the first unfinished cell
   of each such group. */
static size_t find_groups(const lab *self, size_t *starts)
{
    size_t count = 0;
    const cell *all = self->cells.cell;
    for (size_t i = 0; i < self->cells.count; i++) {
        if (find(self, &all[i]) != NULL) continue;
        const cell *last = count > 0 ? &all[starts[count - 1]] : NULL;
        if (last == NULL || last->trial != all[i].trial || strcmp(last->row, all[i].row) != 0)
            starts[count++] = i;
    }
    return count;
}

static void run_group(lab *self, size_t at, int threads, size_t *done, bool *broken)
{
    job one = {.lab = self, .threads = threads};
    const cell *first = &self->cells.cell[at];
    for (; at < self->cells.count; at++) {
        bool open, stop;
        one.what = &self->cells.cell[at];
        one.number = at;
        if (one.what->trial != first->trial || strcmp(one.what->row, first->row) != 0) break;
#pragma omp critical(cells)
        {
            open = find(self, one.what) == NULL;
            stop = *broken;
        }
        if (open && !stop) run_cell(&one, done, broken);
    }
    job_free(&one);
}

/* Computes what is not finished; nothing with --report. */
static int lab_run(lab *self)
{
    const lab_options *given = &self->options;
    if (given->report) return EXIT_DONE;
    size_t done = 0;
    ROOM size_t *starts = make_room(self->cells.count + 1, sizeof *starts);
    if (starts == NULL) return lab_no_memory(self);
    for (size_t i = 0; i < self->cells.count; i++) done += find(self, &self->cells.cell[i]) != NULL;
    if (done > 0) printf("%zu of %zu cells are finished already\n", done, self->cells.count);
    int groups = (int)find_groups(self, starts), threads = (int)given->threads;
    if (threads == 0) threads = omp_get_max_threads();
    int jobs = (int)(given->jobs > 0 ? given->jobs : self->about->jobs > 0 ? self->about->jobs : threads);
    if (jobs > groups) jobs = groups > 0 ? groups : 1;
    int each = threads > jobs ? threads / jobs : 1;
    bool broken = false;
    if (jobs > 1 && each > 1) omp_set_max_active_levels(2); /* a trial has threads of its own */
#pragma omp parallel for schedule(dynamic, 1) num_threads(jobs)
    for (int g = 0; g < groups; g++) run_group(self, starts[g], each, &done, &broken);
    if (signals_stop_wanted())
        say_error(&self->command, "stopped; the same command goes on where this one ended");
    return broken ? EXIT_FAILED : EXIT_DONE;
}

int lab_main(const experiment *about, int argc, char **argv)
{
    lab self;
    int result;
    if (lab_open(&self, about, argc, argv, &result)) result = lab_plan(&self);
    if (self.cells.count > 0 && result == EXIT_DONE) {
        result = lab_run(&self);
        int written = report_write(&self);
        if (result == EXIT_DONE) result = written;
    }
    lab_close(&self);
    return result;
}
