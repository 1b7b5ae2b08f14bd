#include "cli/many_tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "cli/summary.h"

int report_open(const cli_command *command, const results_options *options, report *self)
{
    *self = (report){.command = command, .format = results_format_of(options)};
    if (self->format == RESULTS_JSON) self->rows = json_array();
    return output_open(command, options->out, &self->out);
}

static int memory_ran_out(const report *self)
{
    return say_error(self->command, "memory ran out");
}

/* ---- one data set ------------------------------------------------------------------------------ */

static void print_table(report *self, table *shown)
{
    table_print(shown, true, self->out.stream);
    table_free(shown);
    fflush(self->out.stream); /* who waits for the rest can read this */
}

/* The lines of one data set's CSV with its name and criterion in front; the heading only once. */
static int add_csv(report *self, const char *path, const stonet_results *results)
{
    BLOCK char *text = stonet_results_csv(results);
    if (text == NULL) return say_failure(self->command, STONET_ERROR_MEMORY);
    char *rest = NULL;
    char *line = strtok_r(text, "\n", &rest);
    if (self->blocks == 0) fprintf(self->out.stream, "data,criterion,%s\n", line);
    while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
        put_csv_field(self->out.stream, path);
        fprintf(self->out.stream, ",%s,%s\n", stonet_results_criterion(results), line);
    }
    return EXIT_DONE;
}

/* Rows of all tables go into one array, each with the path of its table as "data". */
static int add_json(report *self, const char *path, const stonet_results *results)
{
    AUTO(json_t) *rows = take_json(self->command, stonet_results_json(results));
    if (rows == NULL) return EXIT_FAILED;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        json_t *named = json_pack("{s:s}", "data", path);
        if (named == NULL || json_object_update(named, row) != 0 ||
            json_array_append_new(self->rows, named) != 0)
            return memory_ran_out(self);
    }
    return EXIT_DONE;
}

int report_add(report *self, const char *path, const stonet_data *data, const stonet_results *results)
{
    int result = EXIT_DONE;
    if (self->format == RESULTS_JSON) {
        result = add_json(self, path, results);
    } else if (self->format == RESULTS_CSV) {
        result = add_csv(self, path, results);
    } else {
        fprintf(self->out.stream, "%s%s (%" PRId64 " x %" PRId64 ")\n", self->blocks > 0 ? "\n" : "", path,
                stonet_data_rows(data), stonet_data_columns(data));
        print_table(self, results_table(results, false));
    }
    self->blocks++;
    return result;
}

/* ---- all of them ------------------------------------------------------------------------------- */

int report_close(report *self, const stonet_results *const *results, int64_t n_sets)
{
    int result = EXIT_DONE;
    if (self->format == RESULTS_TABLE && n_sets > 1) {
        fprintf(self->out.stream,
                "\nOver %" PRId64 " data sets: the mean rank, and on how many the row is the best,\nor not "
                "told from the best (p of "
                "0.05 or more).\n",
                n_sets);
        print_table(self, summary_table(results, n_sets));
    }
    if (self->format == RESULTS_JSON) {
        char *text = json_print(self->rows, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
        if (text == NULL) result = memory_ran_out(self);
        if (text != NULL) fprintf(self->out.stream, "%s\n", text);
        free(text);
        json_decref(self->rows);
    }
    int closed = output_close(self->command, &self->out);
    return result != EXIT_DONE ? result : closed;
}
