#include "paper/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "cli/svg.h"
#include "paper/summary.h"

int report_file(const lab *self, const char *suffix, const char *text)
{
    char *path = lab_path(self, suffix);
    if (path == NULL || text == NULL) {
        free(path);
        say_error(self->command, "memory ran out");
        return EXIT_FAILED;
    }
    stonet_status status = stonet_bytes_write(path, text, strlen(text));
    if (status == STONET_OK) printf("wrote %s\n", path);
    free(path);
    return status == STONET_OK ? EXIT_DONE : say_failure(self->command, status);
}

/* ---- CSV and JSON ------------------------------------------------------------------------------ */

static void put_number(FILE *out, double number)
{
    if (isfinite(number)) fprintf(out, "%.6g", number);
}

static void put_csv(FILE *out, const report *what, const measure *about, const summary *made)
{
    for (size_t i = 0; i < made->n_lines; i++)
        for (size_t m = 0; m < what->columns.count; m++) {
            const entry *one = summary_at(made, i, m);
            if (one->n == 0) continue;
            fprintf(out, "%s,%" PRId64 ",%s,%s,%" PRId64 ",", made->lines[i].row, made->lines[i].q,
                    what->columns.at[m].name, about->field, one->n);
            const double numbers[] = {one->mean,       one->se,           one->seconds,
                                      one->paper.mean, one->paper.spread, one->p_value};
            for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
                put_number(out, numbers[k]);
                fputc(',', out);
            }
            fprintf(out, "%d\n", one->bold);
        }
}

static json_t *number_json(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

static json_t *entry_json(const line *at, const char *method, const char *field, const entry *one,
                          int64_t n_trials)
{
    json_t *values = json_array();
    for (int64_t t = 0; t < n_trials; t++)
        if (json_array_append_new(values, number_json(one->values[t])) != 0) {
            json_decref(values);
            return NULL;
        }
    return json_pack("{s:s, s:I, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "row", at->row, "q",
                     (json_int_t)at->q, "method", method, "measure", field, "n", (json_int_t)one->n, "mean",
                     number_json(one->mean), "se", number_json(one->se), "seconds", number_json(one->seconds),
                     "paper", number_json(one->paper.mean), "paper_spread", number_json(one->paper.spread),
                     "p_value", number_json(one->p_value), "bold", (int)one->bold, "values", values);
}

static void put_json(documents *to, const report *what, const measure *about, const summary *made)
{
    for (size_t i = 0; i < made->n_lines; i++)
        for (size_t m = 0; m < what->columns.count; m++) {
            const entry *one = summary_at(made, i, m);
            if (one->n > 0)
                documents_add(to, entry_json(&made->lines[i], what->columns.at[m].name, about->field, one,
                                             made->n_trials));
        }
}

/* ---- Markdown ---------------------------------------------------------------------------------- */

/* Whether a line of the table has anything in it. */
static bool has_line(const summary *made, size_t at)
{
    for (size_t m = 0; m < made->n_methods; m++)
        if (summary_at(made, at, m)->n > 0) return true;
    return false;
}

/* Whether a column of the table has anything in it. */
static bool has_method(const summary *made, size_t method)
{
    for (size_t i = 0; i < made->n_lines; i++)
        if (summary_at(made, i, method)->n > 0) return true;
    return false;
}

/* `usual`: the trials of most cells of the line. */
static void put_markdown_entry(FILE *out, const entry *one, int64_t usual)
{
    if (one->n == 0) {
        fputs(" |", out);
        return;
    }
    const char *mark = one->bold ? "**" : "";
    fprintf(out, " %s%.4f%s", mark, one->mean, mark);
    if (isfinite(one->se)) fprintf(out, " (%.4f)", one->se);
    if (one->n < usual) fprintf(out, " [%" PRId64 "]", one->n);
    if (isfinite(one->paper.mean)) fprintf(out, "<br>*%.4f*", one->paper.mean);
    if (isfinite(one->paper.mean) && isfinite(one->paper.spread))
        fprintf(out, " *(%.4f)*", one->paper.spread);
    fputs(" |", out);
}

static void put_markdown(FILE *out, const report *what, const measure *about, const summary *made)
{
    fprintf(out, "### %s\n\n| | %s | trials |", about->title, what->lines != NULL ? what->lines : "q");
    for (size_t m = 0; m < what->columns.count; m++)
        if (has_method(made, m)) fprintf(out, " %s |", what->columns.at[m].name);
    fputs("\n| --- | --- | --- |", out);
    for (size_t m = 0; m < what->columns.count; m++)
        if (has_method(made, m)) fputs(" --- |", out);
    fputc('\n', out);
    for (size_t i = 0; i < made->n_lines; i++) {
        int64_t most = 0;
        for (size_t m = 0; m < what->columns.count; m++)
            if (summary_at(made, i, m)->n > most) most = summary_at(made, i, m)->n;
        if (most == 0) continue;
        fprintf(out, "| %s | ", made->lines[i].row);
        if (made->lines[i].q > 0) fprintf(out, "%" PRId64, made->lines[i].q);
        fprintf(out, " | %" PRId64 " |", most);
        for (size_t m = 0; m < what->columns.count; m++)
            if (has_method(made, m)) put_markdown_entry(out, summary_at(made, i, m), most);
        fputc('\n', out);
    }
    fputc('\n', out);
}

/* ---- figures ----------------------------------------------------------------------------------- */

enum { MOST_METHODS = 16, MOST_PANELS = 16 };

/* The series of one panel and the numbers behind them. */
typedef struct figure_panel {
    svg_series series[2 * MOST_METHODS];
    double *numbers; /* 4 x methods x lines: x, y, error, printed */
} figure_panel;

/* Our means and the printed ones of one row against the logarithm of q. */
static bool make_panel(const report *what, const summary *made, const char *row, figure_panel *out,
                       svg_panel *panel)
{
    size_t lines = made->n_lines;
    out->numbers = calloc(4 * what->columns.count * lines + 1, sizeof *out->numbers);
    if (out->numbers == NULL) return false;
    panel->series = out->series;
    for (size_t m = 0; m < what->columns.count && m < MOST_METHODS; m++) {
        if (!has_method(made, m)) continue;
        double *x = out->numbers + 4 * m * lines, *y = x + lines, *error = y + lines, *paper = error + lines;
        int64_t n = 0;
        for (size_t i = 0; i < lines; i++) {
            if (strcmp(made->lines[i].row, row) != 0 || made->lines[i].q == 0) continue;
            const entry *one = summary_at(made, i, m);
            x[n] = log10((double)made->lines[i].q);
            y[n] = one->mean;
            error[n] = one->se;
            paper[n++] = one->paper.mean;
        }
        out->series[panel->n_series++] =
            (svg_series){.label = what->columns.at[m].name, .n = n, .x = x, .y = y, .error = error};
        out->series[panel->n_series++] = (svg_series){.n = n, .x = x, .y = paper, .open = true};
    }
    return true;
}

static size_t distinct_rows(const summary *made, const char **rows)
{
    size_t count = 0;
    for (size_t i = 0; i < made->n_lines && count < MOST_PANELS; i++) {
        if (made->lines[i].q == 0 || !has_line(made, i)) continue;
        bool known = false;
        for (size_t k = 0; k < count && !known; k++) known = strcmp(rows[k], made->lines[i].row) == 0;
        if (!known) rows[count++] = made->lines[i].row;
    }
    return count;
}

static int write_figure(const lab *self, const report *what, const measure *about, const summary *made)
{
    const char *rows[MOST_PANELS];
    svg_panel panels[MOST_PANELS] = {0};
    size_t count = distinct_rows(made, rows);
    figure_panel *parts = calloc(MOST_PANELS, sizeof *parts);
    bool good = parts != NULL;
    for (size_t k = 0; k < count && good; k++) {
        panels[k] = (svg_panel){.kind = SVG_LINE,
                                .title = rows[k],
                                .x_label = what->lines != NULL ? what->lines : "dimension q",
                                .x_log10 = true,
                                .y_label = about->title};
        good = make_panel(what, made, rows[k], &parts[k], &panels[k]);
    }
    svg_figure figure = {.title = what->title,
                         .subtitle = "lines: ours, with standard errors; open symbols: printed in the paper",
                         .panels = panels,
                         .n_panels = count,
                         .columns = count > 1 ? 2 : 1};
    char *text = good && count > 0 ? svg_render(&figure) : NULL;
    char suffix[64];
    snprintf(suffix, sizeof suffix, "%s.svg", about->field);
    int result = count > 0 ? report_file(self, suffix, text) : EXIT_DONE;
    free(text);
    for (size_t k = 0; k < count && parts != NULL; k++) free(parts[k].numbers);
    free(parts);
    return result;
}

/* ---- the report -------------------------------------------------------------------------------- */

static void put_head(FILE *out, const lab *self, const report *what)
{
    fprintf(out, "# %s\n\nMade by `stonet-paper %s%s", what->title, self->command->name,
            self->options.quick ? " --quick" : "");
    if (self->options.first > 1) fprintf(out, " --first %" PRId64, self->options.first);
    fprintf(
        out,
        "`, seed %" PRId64
        ". Mean over the trials (standard error); *below, in italics, what the paper prints*; bold: the "
        "best and\n"
        "what a paired t-test at 0.05 does not tell from it; [n]: only n trials, and no bold below half of "
        "them.\n\n",
        self->options.seed);
}

static int write_parts(const lab *self, const plan *cells, const report *what, documents *to)
{
    fputs("row,q,method,measure,n,mean,se,seconds,paper,paper_spread,p_value,bold\n", to->csv);
    put_head(to->markdown, self, what);
    int result = EXIT_DONE;
    for (size_t k = 0; k < what->n_measures && result == EXIT_DONE; k++) {
        const measure *about = &what->measures[k];
        summary made;
        if (!summary_make(self, cells, what, about, &made)) {
            say_error(self->command, "memory ran out");
            return EXIT_FAILED;
        }
        put_csv(to->csv, what, about, &made);
        put_markdown(to->markdown, what, about, &made);
        put_json(to, what, about, &made);
        result = write_figure(self, what, about, &made);
        summary_free(&made);
    }
    if (what->notes != NULL) fprintf(to->markdown, "%s\n", what->notes);
    return result;
}

int documents_open(const lab *self, documents *out)
{
    *out = (documents){.list = json_array()};
    out->csv = open_memstream(&out->csv_text, &out->csv_size);
    out->markdown = open_memstream(&out->markdown_text, &out->markdown_size);
    if (out->csv != NULL && out->markdown != NULL && out->list != NULL) return EXIT_DONE;
    say_error(self->command, "memory ran out");
    return EXIT_FAILED;
}

void documents_add(documents *to, json_t *made)
{
    if (json_array_append_new(to->list, made) != 0) to->broken = true;
}

int documents_close(const lab *self, documents *made, int result)
{
    if (made->csv != NULL) fclose(made->csv);
    if (made->markdown != NULL) fclose(made->markdown);
    if (result == EXIT_DONE && made->broken) {
        say_error(self->command, "memory ran out");
        result = EXIT_FAILED;
    }
    char *json = json_dumps(made->list, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    if (result == EXIT_DONE) result = report_file(self, "table.csv", made->csv_text);
    if (result == EXIT_DONE) result = report_file(self, "table.json", json);
    if (result == EXIT_DONE) result = report_file(self, "table.md", made->markdown_text);
    free(json);
    free(made->markdown_text);
    free(made->csv_text);
    json_decref(made->list);
    *made = (documents){0};
    return result;
}

int report_write(const lab *self, const plan *cells, const report *what)
{
    documents made;
    int result = documents_open(self, &made);
    if (result == EXIT_DONE) result = write_parts(self, cells, what, &made);
    return documents_close(self, &made, result);
}

int report_run(lab *self, plan *cells, const report *what, cell_function compute, void *user)
{
    int result = lab_run(self, cells, compute, user);
    int written = report_write(self, cells, what);
    plan_free(cells);
    return result != EXIT_DONE ? result : written;
}
