#include "cli/many_tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/summary.h"

void report_open(const cli_command *command, const results_options *options, report *self)
{
    *self = (report){.command = command, .format = results_format_of(options)};
    if (self->format == RESULTS_JSON) self->rows = json_array();
    output_open(options->out, &self->out);
}

/* ---- one data set ------------------------------------------------------------------------------ */

static void print_table(report *self, table *shown)
{
    table_print(shown, true, self->out.stream);
    table_free(shown);
    fflush(self->out.stream); /* who waits for the rest can read this */
}

/* The lines of one data set's CSV with its name and criterion in front; the heading only once. */
static void add_csv(report *self, const char *path, const stonet_results *results)
{
    BLOCK char *text = must_have(stonet_results_csv(results));
    char *rest = NULL;
    char *line = strtok_r(text, "\n", &rest);
    if (self->blocks == 0) fprintf(self->out.stream, "data,criterion,%s\n", line);
    while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
        put_csv_field(self->out.stream, path);
        fprintf(self->out.stream, ",%s,%s\n", stonet_results_criterion(results), line);
    }
}

/* Rows of all tables go into one array, each with the path of its table as "data". */
static void add_json(report *self, const char *path, const stonet_results *results)
{
    AUTO(json_t) *rows = take_json(stonet_results_json(results));
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        json_t *named = json_pack("{s:s}", "data", path);
        must_have(json_object_update(named, row) == 0 ? named : NULL);
        self->rows = json_add(self->rows, named);
    }
}

void report_add(report *self, const char *path, const stonet_data *data, const stonet_results *results)
{
    if (self->format == RESULTS_JSON) {
        add_json(self, path, results);
    } else if (self->format == RESULTS_CSV) {
        add_csv(self, path, results);
    } else {
        fprintf(self->out.stream, "%s%s (%" PRId64 " x %" PRId64 ")\n", self->blocks > 0 ? "\n" : "", path,
                stonet_data_rows(data), stonet_data_columns(data));
        print_table(self, results_table(results, false));
    }
    self->blocks++;
}

/* ---- all of them ------------------------------------------------------------------------------- */

int report_close(report *self, const stonet_results *const *results, int64_t n_sets)
{
    if (self->format == RESULTS_TABLE && n_sets > 1) {
        fprintf(self->out.stream,
                "\nOver %" PRId64 " data sets: the mean rank, and on how many the row is the best,\nor not "
                "told from the best (p of "
                "0.05 or more).\n",
                n_sets);
        print_table(self, summary_table(results, n_sets));
    }
    if (self->format == RESULTS_JSON) {
        BLOCK char *text = json_print(self->rows, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
        fprintf(self->out.stream, "%s\n", text);
        json_decref(self->rows);
    }
    return output_close(self->command, &self->out);
}
