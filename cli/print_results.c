#include "cli/print_results.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/output.h"
#include "cli/progress.h"
#include "cli/say.h"

int check_results_options(const cli_command *command, const results_options *options)
{
    if (options->json && options->csv) return say_usage(command, "--json and --csv exclude each other");
    return options->out != NULL ? output_check(command, options->out) : EXIT_DONE;
}

/* ---- the table for people ---------------------------------------------------------------------- */

typedef struct shown_row {
    stonet_result_row of;
    const char *learner; /* NULL: the method predicts itself */
} shown_row;

static int compare_means(const void *a, const void *b)
{
    double x = ((const shown_row *)a)->of.mean;
    double y = ((const shown_row *)b)->of.mean;
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

static void add_number(table *shown, const char *format, double value)
{
    char text[64];
    snprintf(text, sizeof text, format, value);
    table_add(shown, "%s", isfinite(value) ? text : "-");
}

/* {"lr": 0.1, "hidden": "16"} as "lr=0.1 hidden=16". */
static void add_settings(table *shown, const char *settings)
{
    BLOCK char *text = copy_of("");
    AUTO(json_t) *object = settings != NULL ? json_loads(settings, 0, NULL) : NULL;
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        BLOCK char *number =
            json_is_string(value) ? NULL : json_print(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        text = joined(text, " ", text_of("%s=%s", key, number != NULL ? number : json_string_value(value)));
    }
    table_add(shown, "%s", text);
}

static void add_row(table *shown, const shown_row *seen, bool is_best, bool with_p)
{
    const stonet_result_row *row = &seen->of;
    table_add(shown, "%s%s", row->method, is_best ? " *" : "");
    if (row->dim > 0)
        table_add(shown, "%" PRId64, row->dim);
    else
        table_add(shown, "auto");
    table_add(shown, "%s", seen->learner != NULL ? seen->learner : isfinite(row->mean) ? "its own" : "-");
    add_number(shown, "%.5g", row->mean);
    add_number(shown, "%.2g", row->se);
    if (with_p) add_number(shown, "%.3g", row->p_value);
    char spent[32];
    progress_duration(row->seconds, spent);
    table_add(shown, "%s", spent);
    if (row->failure != NULL)
        table_add(shown, "failed: %s", row->failure);
    else
        add_settings(shown, row->settings);
}

/* rows: room for `count` rows, filled here. The best row is found again after sorting by the address of its
   settings, which no other row shares. */
static table *make_table(const stonet_results *results, shown_row *rows, int64_t count, bool with_p,
                         bool best_first)
{
    table *shown = table_create(with_p ? "lrlrrrrl" : "lrlrrrl");
    const char *best_settings = NULL;
    int64_t best = stonet_results_best(results);
    for (int64_t i = 0; i < count; i++) {
        if (stonet_results_row(results, i, &rows[i].of) != STONET_OK)
            rows[i].of = (stonet_result_row){.method = "?"};
        rows[i].learner = stonet_results_learner(results, i);
        if (i == best) best_settings = rows[i].of.settings;
    }
    if (best_first) qsort(rows, (size_t)count, sizeof *rows, compare_means);
    table_add(shown, "method");
    table_add(shown, "dim");
    table_add(shown, "learner");
    table_add(shown, "%s", stonet_results_criterion(results));
    table_add(shown, "se");
    if (with_p) table_add(shown, "p");
    table_add(shown, "time");
    table_add(shown, "settings");
    for (int64_t i = 0; i < count; i++)
        add_row(shown, &rows[i], rows[i].of.settings != NULL && rows[i].of.settings == best_settings, with_p);
    return shown;
}

table *results_table(const stonet_results *results, bool best_first)
{
    int64_t count = stonet_results_rows(results);
    BLOCK shown_row *rows = room_for(count, sizeof *rows);
    return make_table(results, rows, count, !best_first, best_first);
}

/* ---- any format -------------------------------------------------------------------------------- */

results_format results_format_of(const results_options *options)
{
    if (options->json) return RESULTS_JSON;
    if (options->csv) return RESULTS_CSV;
    if (options->out != NULL && ends_with(options->out, ".json")) return RESULTS_JSON;
    if (options->out != NULL && ends_with(options->out, ".csv")) return RESULTS_CSV;
    return RESULTS_TABLE;
}

int output_results(const cli_command *command, const results_options *options, const stonet_results *results,
                   bool best_first)
{
    results_format format = results_format_of(options);
    if (format == RESULTS_TABLE) {
        AUTO(table) *shown = results_table(results, best_first);
        return output_table(command, options->out, shown, true);
    }
    if (format == RESULTS_JSON) return output_made_json(command, options->out, stonet_results_json(results));
    BLOCK char *text = must_have(stonet_results_csv(results));
    return output_text(command, options->out, text);
}
