#include "paper/lab.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/progress.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "paper/cells.h"

bool lab_open(lab *self, const cli_command *command, int argc, char **argv, int *leave)
{
    *self = (lab){.command = command};
    cli_arguments given;
    parse_result parsed = options_parse(command, argc, argv, &self->options, &given);
    *leave = parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    if (parsed != PARSE_OK) return false;
    if (self->options.data == NULL) self->options.data = getenv("STONET_DATA");
    *leave = EXIT_FAILED;
    if (mkdir(self->options.out, 0777) != 0 && errno != EEXIST) {
        say_error(command, "cannot make the folder %s: %s", self->options.out, strerror(errno));
        return false;
    }
    char *path = lab_path(self, "cells.jsonl");
    self->finished = path != NULL ? cells_read(path) : NULL;
    free(path);
    if (self->finished == NULL) {
        say_error(command, "memory ran out");
        return false;
    }
    signals_catch();
    return true;
}

void lab_close(lab *self)
{
    json_decref(self->finished);
    options_free(self->command, &self->options);
}

int lab_do(const cli_command *command, int argc, char **argv, int (*experiment)(lab *self))
{
    lab self;
    int result;
    if (lab_open(&self, command, argc, argv, &result)) result = experiment(&self);
    lab_close(&self);
    return result;
}

char *lab_path(const lab *self, const char *suffix)
{
    const char *kind = self->options.quick ? "-quick" : "";
    size_t size = strlen(self->options.out) + strlen(self->command->name) + strlen(kind) + strlen(suffix) + 3;
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s/%s%s-%s", self->options.out, self->command->name, kind, suffix);
    return path;
}

int lab_skip(const lab *self, const char *why)
{
    printf("%s is skipped: %s\n", self->command->name, why);
    return EXIT_DONE;
}

/* ---- choices ----------------------------------------------------------------------------------- */

/* Whether a name is in a list "a,b,c"; no list has them all. */
static bool is_listed(const char *list, const char *name)
{
    if (list == NULL) return true;
    size_t length = strlen(name);
    for (const char *at = list; *at != '\0';) {
        size_t here = strcspn(at, ",");
        if (here == length && strncmp(at, name, length) == 0) return true;
        at += here + (at[here] == ',');
    }
    return false;
}

bool lab_wants(const lab *self, const char *method)
{
    return is_listed(self->options.methods, method);
}

bool lab_wants_line(const lab *self, const char *row, int64_t q)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, q);
    return is_listed(self->options.rows, row) && (q == 0 || is_listed(self->options.dims, number));
}

int lab_check_methods(const lab *self, const char *const *known, size_t count)
{
    for (const char *at = self->options.methods != NULL ? self->options.methods : ""; *at != '\0';) {
        size_t here = strcspn(at, ",");
        bool found = false;
        for (size_t i = 0; i < count && !found; i++)
            found = strlen(known[i]) == here && strncmp(at, known[i], here) == 0;
        if (!found) {
            say_usage(self->command, "--methods: there is no '%.*s' in this experiment", (int)here, at);
            return EXIT_USAGE;
        }
        at += here + (at[here] == ',');
    }
    return EXIT_DONE;
}

int64_t lab_trials(const lab *self, int64_t full, int64_t quick)
{
    if (self->options.trials > 0) return self->options.trials;
    return self->options.quick ? quick : full;
}

void plan_add(plan *self, const cell *added)
{
    if (self->count == self->room) {
        size_t room = self->room > 0 ? 2 * self->room : 64;
        cell *grown = realloc(self->cell, room * sizeof *grown);
        if (grown == NULL) {
            self->broken = true;
            return;
        }
        self->cell = grown;
        self->room = room;
    }
    self->cell[self->count++] = *added;
}

void plan_free(plan *self)
{
    free(self->cell);
    *self = (plan){0};
}

/* ---- finished cells ---------------------------------------------------------------------------- */

const json_t *lab_find(const lab *self, const cell *what)
{
    char key[CELL_KEY_SIZE];
    cells_key(what, (uint64_t)self->options.seed, key);
    return json_object_get(self->finished, key);
}

double lab_value(const lab *self, const cell *what, const char *field)
{
    const json_t *value = json_object_get(json_object_get(lab_find(self, what), "values"), field);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* ---- running ----------------------------------------------------------------------------------- */

static void cell_name(const cell *what, char *text, size_t size)
{
    if (what->q > 0)
        snprintf(text, size, "%s q=%" PRId64 " %s trial %" PRId64, what->row, what->q, what->method,
                 what->trial);
    else
        snprintf(text, size, "%s %s trial %" PRId64, what->row, what->method, what->trial);
}

/* Seconds the unfinished cells will take: each as the mean of its method's finished ones, or of all of them.
 */
static double seconds_left(const lab *self)
{
    double all = 0, left = 0;
    size_t done = 0;
    for (size_t i = 0; i < self->plan->count; i++) {
        const json_t *record = lab_find(self, &self->plan->cell[i]);
        if (record == NULL) continue;
        all += json_number_value(json_object_get(record, "seconds"));
        done++;
    }
    if (done == 0) return (double)NAN;
    for (size_t i = 0; i < self->plan->count; i++) {
        const cell *open = &self->plan->cell[i];
        if (lab_find(self, open) != NULL) continue;
        double own = 0;
        size_t count = 0;
        for (size_t j = 0; j < self->plan->count; j++) {
            if (strcmp(self->plan->cell[j].method, open->method) != 0) continue;
            const json_t *record = lab_find(self, &self->plan->cell[j]);
            if (record == NULL) continue;
            own += json_number_value(json_object_get(record, "seconds"));
            count++;
        }
        left += count > 0 ? own / (double)count : all / (double)done;
    }
    return left;
}

static void on_progress(const stonet_progress *progress, void *user)
{
    const lab *self = user;
    char name[128], text[256];
    cell_name(&self->plan->cell[self->at], name, sizeof name);
    snprintf(text, sizeof text, "[%zu/%zu] %s: %s", self->at + 1, self->plan->count, name,
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

stonet_run lab_stonet_run(lab *self, uint64_t stream)
{
    stonet_run run = STONET_RUN_INIT;
    const cell *what = &self->plan->cell[self->at];
    run.seed = (uint64_t)self->options.seed * 1000003U + (uint64_t)what->trial * 101U + stream;
    run.threads = (int)self->options.threads;
    run.on_progress = on_progress;
    run.should_stop = should_stop;
    run.user = self;
    return run;
}

static void tell_cell(const lab *self, const json_t *record, size_t done)
{
    char name[128], left[32];
    cell_name(&self->plan->cell[self->at], name, sizeof name);
    progress_clear();
    printf("[%zu/%zu] %s:", done, self->plan->count, name);
    const char *field;
    json_t *value;
    json_object_foreach((json_t *)json_object_get(record, "values"), field, value)
    {
        if (json_is_number(value)) printf(" %s %.4g", field, json_number_value(value));
        if (strcmp(field, "failure") == 0) printf(" failed: %s", json_string_value(value));
    }
    progress_duration(seconds_left(self), left);
    printf(" (%.1f s; %s left)\n", json_number_value(json_object_get(record, "seconds")), left);
    fflush(stdout);
}

static int run_cell(lab *self, cell_function compute, void *user, size_t done)
{
    const cell *what = &self->plan->cell[self->at];
    json_t *values = json_object();
    double start = progress_clock();
    stonet_status status = compute(self, what, user, values);
    progress_clear();
    if (signals_stop_wanted()) {
        json_decref(values);
        return EXIT_FAILED;
    }
    json_t *record = NULL; /* a failure that cannot be noted is none that a later run may go by */
    if (status == STONET_OK || json_object_set_new(values, "failure", json_string(stonet_last_error())) == 0)
        record = cells_record(what, (uint64_t)self->options.seed, values, progress_clock() - start);
    else
        json_decref(values);
    char *path = lab_path(self, "cells.jsonl");
    char key[CELL_KEY_SIZE];
    cells_key(what, (uint64_t)self->options.seed, key);
    bool kept = record != NULL && path != NULL && cells_append(path, record) &&
                json_object_set(self->finished, key, record) == 0;
    if (kept)
        tell_cell(self, record, done);
    else
        say_error(self->command, "cannot write %s: %s", path != NULL ? path : "a result", strerror(errno));
    json_decref(record);
    free(path);
    return kept ? EXIT_DONE : EXIT_FAILED;
}

int lab_run(lab *self, const plan *cells, cell_function compute, void *user)
{
    if (cells->broken) {
        say_error(self->command, "memory ran out");
        return EXIT_FAILED;
    }
    if (cells->count == 0) {
        say_usage(self->command, "nothing is asked for: see --methods, --rows and --dims");
        return EXIT_USAGE;
    }
    if (self->options.report) return EXIT_DONE;
    self->plan = cells;
    size_t done = 0;
    for (size_t i = 0; i < cells->count; i++) done += lab_find(self, &cells->cell[i]) != NULL;
    if (done > 0) printf("%zu of %zu cells are finished already\n", done, cells->count);
    int result = EXIT_DONE;
    for (self->at = 0; self->at < cells->count && result == EXIT_DONE; self->at++)
        if (lab_find(self, &cells->cell[self->at]) == NULL) result = run_cell(self, compute, user, ++done);
    if (signals_stop_wanted())
        say_error(self->command, "stopped; the same command goes on where this one ended");
    return result;
}
