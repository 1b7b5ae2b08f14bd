#include "paper/paper.h"

#include <errno.h>
#include <glob.h>
#include <omp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/signals.h"

#define TEXT(field, word, text) TEXT_OPTION(lab_options, field, #field, word, text)
#define NUMBER(field, word, start, from, to, text)                                                           \
    NUMBER_OPTION(lab_options, field, #field, word, start, from, to, text)
/* The first is the summary's. */
static const cli_option options[] = {
    TEXT(page, "FILE", "A page with a summary, which is brought up to date"),
    TEXT(data, "DIR", "The data folder (else the environment's STONET_DATA)"),
    WORD_OPTION(lab_options, out, "out", "DIR", "paper-results",
                "Where cells, tables and figures go; cells found there are not computed again"),
    NUMBER(trials, "N", "0", 0, 100000, "Trials: splits, folds, data sets; 0: as many as above"),
    NUMBER(first, "K", "1", 1, 1000000,
           "The first trial; splits that the data folder does not have are random partitions"),
    TEXT(methods, "a,b,c", "Only these columns"),
    TEXT(rows, "a,b,c", "Only these rows: data sets, numbers of images"),
    TEXT(dims, "Q,Q..", "Only these dimensions"),
    FLAG_OPTION(lab_options, report, "report",
                "Compute nothing; make tables and figures of the finished cells"),
    FLAG_OPTION(lab_options, quick, "quick", "A small version that takes minutes, with files of its own"),
    NUMBER(seed, "S", "1", 0, INT64_MAX / 2000000,
           "Start of all randomness; the splits of the data do not depend on it"),
    NUMBER(threads, "N", "0", 0, 1024, "Threads to use, 0 for all cores"),
    NUMBER(jobs, "N", "0", 0, 1024, "Trials at a time, which share the threads; 0: one a thread"),
};

void lab_clear(lab *self)
{
    for (size_t i = 0; i < self->n_cells; i++) json_decref(self->cells[i].record);
    free(self->cells);
    free(self->lines);
}

char *lab_path(const lab *self, const char *suffix)
{
    return text_of("%s/%s%s-%s", self->options.out, self->about->name, self->options.quick ? "-quick" : "",
                   suffix);
}

/* ---- finished cells ---------------------------------------------------------------------------- */

void put(json_t *object, const char *name, json_t *value)
{
    must_have(json_object_set_new(object, name, value) == 0 ? object : NULL);
}

void put_value(json_t *values, const char *name, double number)
{
    if (isfinite(number)) put(values, name, json_real(number));
}

/* What the result of a cell depends on, as its record begins; to be freed. */
static char *describe(const lab *self, const cell *what)
{
    BLOCK char *settings = fits_describe(self, what);
    AUTO(json_t) *record =
        must_have(json_pack("{s:s, s:I, s:s, s:I, s:I, s:s}", "row", what->at->name, "q", (json_int_t)what->q,
                            "method", what->by->name, "trial", (json_int_t)what->trial, "seed",
                            (json_int_t)self->options.seed, "settings", settings));
    char *text = must_have(json_dumps(record, JSON_COMPACT));
    text[strlen(text) - 1] = '\0'; /* the record goes on */
    return text;
}

/* Every whole line, by the text before its seconds, which describes the cell; a line that was cut off, and
   lines that are no records, are passed over. */
static void read_cells(const char *path, json_t *cells)
{
    FILE *file = fopen(path, "r");
    BLOCK char *text = NULL;
    size_t room = 0;
    while (file != NULL && getline(&text, &room, file) > 0) {
        AUTO(json_t) *record = json_loads(text, 0, NULL);
        char *end = strstr(text, ",\"seconds\":");
        if (end == NULL || !json_is_object(json_object_get(record, "values"))) continue;
        *end = '\0';
        put(cells, text, json_incref(record));
    }
    if (file != NULL) fclose(file);
}

/* The records of the planned cells, from OUT and the folders in it. */
static void find_records(lab *self)
{
    AUTO(json_t) *found = json_object();
    for (int deep = 0; deep < 2; deep++) {
        BLOCK char *pattern = text_of("%s/%s%s%s-cells*.jsonl", self->options.out, deep ? "*/" : "",
                                      self->about->name, self->options.quick ? "-quick" : "");
        glob_t files = {0};
        if (glob(pattern, 0, NULL, &files) == 0)
            for (size_t i = 0; i < files.gl_pathc; i++) read_cells(files.gl_pathv[i], found);
        globfree(&files);
    }
    for (cell *at = self->cells; at < self->cells + self->n_cells; at++) {
        BLOCK char *key = describe(self, at);
        at->record = json_incref(json_object_get(found, key));
        self->done += at->record != NULL;
    }
}

double cell_value(const cell *self, const char *field)
{
    const json_t *record = self->record;
    if (strcmp(field, "seconds") != 0) record = json_object_get(record, "values");
    const json_t *value = json_object_get(record, field);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* ---- the plan ---------------------------------------------------------------------------------- */

bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ','), at += at != NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    return list == NULL;
}

bool is_none(const column *by)
{
    return by->method != NULL && strcmp(by->method, "none") == 0;
}

/* A line for each dimension that is asked for, or one with q = 0 where there is none to choose. */
static void add_lines(lab *self, const row *on, const char *name)
{
    const char *at = self->options.quick && on->quick_dims != NULL ? on->quick_dims : on->dims;
    char *end = NULL;
    do {
        line made = {.on = on, .q = strtoll(at, &end, 10)};
        BLOCK char *number = text_of("%" PRId64, made.q);
        at = end;
        if (made.q > 0 && !is_listed(self->options.dims, number)) continue;
        snprintf(made.name, sizeof made.name, "%s", name);
        self->lines = more_room(self->lines, (int64_t)self->n_lines + 1, sizeof *self->lines);
        self->lines[self->n_lines++] = made;
    } while (*at != '\0');
}

bool is_same_row(const line *a, const line *b)
{
    return strcmp(a->name, b->name) == 0;
}

/* Whether a trial (from 0) of the row has this column. --trials goes before what they take at most. */
static bool is_wanted(const lab *self, const row *on, const column *by, int64_t t)
{
    const lab_options *given = &self->options;
    int64_t most = given->quick ? on->quick : on->full;
    if (by->full > 0) most = by->full;
    return ((on->flags & LARGE) == 0 || (by->flags & LARGE) != 0) &&
           ((by->flags & FULL_ALONE) == 0 || !given->quick) && is_listed(given->methods, by->name) &&
           ((by->flags & ASKED) == 0 || given->methods != NULL) &&
           (most == 0 || t < most || given->trials > 0);
}

/* The wanted cells of the row whose lines begin at `first`. */
static void add_cells(lab *self, const line *first, int64_t t)
{
    const experiment *about = self->about;
    for (const column *by = about->columns; by < about->columns + about->n_columns; by++) {
        if (!is_wanted(self, first->on, by, t)) continue;
        for (const line *at = first; at < self->lines + self->n_lines && is_same_row(at, first); at++) {
            const int64_t q = is_none(by) ? 0 : at->q;
            self->cells[self->n_cells++] = (cell){at, by, q, self->options.first + t, NULL};
            if (is_none(by)) break;
        }
    }
}

int lab_plan(lab *self)
{
    lab_options *given = &self->options;
    const experiment *about = self->about;
    const unsigned left_out = given->quick ? FULL_ALONE : QUICK_ALONE;
    if (about->n_columns == 1 && given->rows == NULL) { /* its curves are what there is to choose */
        given->rows = given->methods;
        given->methods = NULL;
    }
    size_t names = 1, found = 0; /* there are as many columns as names */
    for (const char *at = given->methods; at != NULL && *at != '\0'; at++) names += *at == ',';
    for (size_t m = 0; m < about->n_columns; m++) found += is_listed(given->methods, about->columns[m].name);
    if (given->methods != NULL && found != names)
        return say_usage(&self->command, "--methods: not all of '%s' are columns of this experiment",
                         given->methods);
    for (const row *on = about->rows; on < about->rows + about->n_rows; on++) {
        BLOCK char *all = copy_of((on->flags & left_out) == 0 ? on->names : "");
        char *rest = NULL;
        for (char *name = strtok_r(all, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
            if (!is_listed(given->rows, name)) continue;
            if (!given->report && !data_is_there(self, on, name)) continue; /* a report needs no data */
            self->is_there = true;
            add_lines(self, on, name);
        }
    }
    self->trials = given->trials > 0 ? given->trials
                   : given->quick    ? about->quick_trials
                                     : about->full_trials;
    self->cells = room_for(self->trials * (int64_t)(self->n_lines * about->n_columns), sizeof *self->cells);
    for (int64_t t = 0; t < self->trials; t++)
        for (const line *at = self->lines; at < self->lines + self->n_lines; at++)
            if (at == self->lines || !is_same_row(at, at - 1)) add_cells(self, at, t);
    find_records(self);
    return EXIT_DONE;
}

/* ---- running ----------------------------------------------------------------------------------- */

/* "heart q=3 sir trial 1", to be freed. */
static char *cell_name(const cell *what)
{
    BLOCK char *q = what->q > 0 ? text_of(" q=%" PRId64, what->q) : copy_of("");
    return text_of("%s%s %s trial %" PRId64, what->at->name, q, what->by->name, what->trial);
}

static void on_progress(const stonet_progress *progress, void *user)
{
    const job *self = user;
    const lab *on = self->lab;
    BLOCK char *name = cell_name(self->what);
    BLOCK char *text = text_of("[%zu/%zu] %s: %s", (size_t)(self->what - on->cells) + 1, on->n_cells, name,
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

void split_free(split *self)
{
    stonet_data_free(self->train);
    stonet_data_free(self->test);
    *self = (split){0};
}

/* "[3/20] heart q=3 sir trial 1: error 0.18 (0.1 s)". */
static void tell_cell(const job *self, const json_t *record)
{
    const char *field;
    json_t *value;
    BLOCK char *name = cell_name(self->what);
    progress_clear();
    printf("[%zu/%zu] %s:", self->lab->done, self->lab->n_cells, name);
    json_object_foreach(json_object_get(record, "values"), field, value)
    {
        if (json_is_number(value)) printf(" %s %.4g", field, json_number_value(value));
        if (strcmp(field, "failure") == 0) printf(" failed: %s", json_string_value(value));
    }
    printf(" (%.1f s)\n", json_number_value(json_object_get(record, "seconds")));
    fflush(stdout);
}

/* Adds the record of a cell to the file and sees it to the disk; one thread at a time. The line end before it
   closes a line that was cut off, as after a power cut. */
static void keep_cell(job *self, cell *what, json_t *values, double seconds)
{
    lab *on = self->lab;
    BLOCK char *path = lab_path(on, "cells.jsonl"), *described = describe(on, what);
    AUTO(json_t) *found = must_have(json_pack("{s:f, s:O}", "seconds", seconds, "values", values));
    BLOCK char *rest = must_have(json_dumps(found, JSON_COMPACT | JSON_REAL_PRECISION(9)));
    on->broken = on->broken || signals_stop_wanted();
    if (on->broken) return;
    FILE *file = fopen(path, "a");
    on->broken = file == NULL || fprintf(file, "\n%s,%s\n", described, rest + 1) < 0 || fflush(file) != 0 ||
                 fsync(fileno(file)) != 0;
    if (file != NULL && fclose(file) != 0) on->broken = true;
    if (on->broken) {
        say_error(&on->command, "cannot write %s: %s", path, strerror(errno));
        return;
    }
    what->record = json_incref(found);
    on->done++;
    tell_cell(self, found);
}

static void run_cell(job *self, cell *what)
{
    const experiment *about = self->lab->about;
    AUTO(json_t) *values = json_object();
    double start = progress_clock();
    stonet_status status = STONET_OK;
    self->what = what;
    if (about->load != NULL && self->parts.test == NULL) status = about->load(self->lab, what, &self->parts);
    if (status == STONET_OK) status = about->compute(self, values);
    if (self->parts.test == NULL) split_free(&self->parts); /* half of a split is none */
    if (status != STONET_OK) put(values, "failure", json_string(stonet_last_error()));
#pragma omp critical(cells)
    keep_cell(self, what, values, progress_clock() - start);
}

/* Cells of the same row and trial go together, since they share their data. */
static bool are_together(const cell *a, const cell *b)
{
    return a->trial == b->trial && is_same_row(a->at, b->at);
}

/* Finds the first unfinished cell of each group of them. */
static int find_groups(const lab *self, size_t *starts)
{
    int count = 0;
    for (size_t i = 0; i < self->n_cells; i++)
        if (self->cells[i].record == NULL &&
            (count == 0 || !are_together(&self->cells[starts[count - 1]], &self->cells[i])))
            starts[count++] = i;
    return count;
}

static void run_group(lab *self, size_t start, int threads)
{
    job one = {.lab = self, .threads = threads};
    for (size_t i = start; i < self->n_cells && are_together(&self->cells[start], &self->cells[i]); i++) {
        bool broken;
#pragma omp critical(cells)
        broken = self->broken;
        if (!broken && self->cells[i].record == NULL) run_cell(&one, &self->cells[i]);
    }
    split_free(&one.parts);
    stonet_model_free(one.model);
}

/* Computes what is not finished. */
static void compute_cells(lab *self)
{
    const lab_options *given = &self->options;
    BLOCK size_t *starts = room_for((int64_t)self->n_cells, sizeof *starts);
    if (self->done > 0) printf("%zu of %zu cells are finished already\n", self->done, self->n_cells);
    int groups = find_groups(self, starts);
    int threads = given->threads > 0 ? (int)given->threads : omp_get_max_threads();
    int jobs = (int)(given->jobs > 0 ? given->jobs : self->about->jobs > 0 ? self->about->jobs : threads);
    if (jobs > groups) jobs = groups > 0 ? groups : 1;
    int each = threads > jobs ? threads / jobs : 1;
    if (jobs > 1 && each > 1) omp_set_max_active_levels(2); /* a trial has threads of its own */
#pragma omp parallel for schedule(dynamic, 1) num_threads(jobs)
    for (int g = 0; g < groups; g++) run_group(self, starts[g], each);
    if (signals_stop_wanted())
        say_error(&self->command, "stopped; the same command goes on where this one ended");
}

static int plan_and_run(lab *self)
{
    TRY(lab_plan(self));
    if (self->n_cells == 0 && (self->is_there || self->options.rows != NULL))
        return say_usage(&self->command, "nothing is asked for: see --methods, --rows and --dims");
    if (self->n_cells == 0) {
        printf("%s is skipped: its data are not in the data folder (give --data DIR)\n", self->about->name);
        return EXIT_DONE;
    }
    if (!self->options.report) compute_cells(self);
    const int written = report_write(self);
    return self->broken ? EXIT_FAILED : written;
}

int lab_main(const experiment *about, int argc, char **argv)
{
    const size_t first = about->compute != NULL;
    lab self = {.about = about,
                .command = {.program = "stonet-paper",
                            .name = about->name,
                            .summary = about->summary,
                            .operands = "",
                            .details = about->details,
                            .options = options + first,
                            .n_options = COUNT(options) - first,
                            .examples = about->examples}};
    cli_arguments given;
    const parse_result parsed = options_parse(&self.command, argc, argv, &self.options, &given);
    if (parsed != PARSE_OK) return parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    if (self.options.data == NULL) self.options.data = getenv("STONET_DATA");
    signals_catch();
    if (mkdir(self.options.out, 0777) != 0 && errno != EEXIST)
        return say_error(&self.command, "cannot make the folder %s: %s", self.options.out, strerror(errno));
    const int result = about->compute != NULL ? plan_and_run(&self) : summary_write(&self);
    lab_clear(&self);
    stonet_data_free(self.ct);
    return result;
}
