/* The finished cells of a plan as tables and figures: CSV, Markdown and SVG files in OUT. */
#include "paper/paper.h"

#include "cli/svg.h"

static const double significance = 0.05;
static const char about_default[] = "default - best other: the mean difference to the best other reduction "
                                    "(standard error), and p of a paired t-test.\n";

int report_file(const lab *self, const char *suffix, const char *text)
{
    ROOM char *path = lab_path(self, suffix);
    if (path == NULL || text == NULL) return lab_no_memory(self);
    stonet_status status = stonet_bytes_write(path, text, strlen(text));
    if (status != STONET_OK) return say_failure(&self->command, status);
    printf("wrote %s\n", path);
    return EXIT_DONE;
}

/* ---- means over trials ------------------------------------------------------------------------- */

void table_free(table *self)
{
    free(self->lines);
    free(self->entries);
    free(self->values);
    *self = (table){0};
}

static bool same_line(const cell *a, const cell *b)
{
    return a->q == b->q && strcmp(a->row, b->row) == 0;
}

/* Lines in the order of the plan; a row without any dimension has a line of its own with q = 0. */
static void find_lines(const plan *cells, table *out)
{
    for (size_t i = 0; i < cells->count; i++) {
        const cell *what = &cells->cell[i];
        bool known = what->q == 0 && what->on->dims[0] != '\0';
        for (size_t k = 0; k < out->n_lines && !known; k++) known = same_line(out->lines[k].at, what);
        if (!known) out->lines[out->n_lines++].at = what;
    }
}

static void mean_and_error(int64_t n, const double *values, double *mean, double *se)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) sum += values[i];
    *mean = n > 0 ? sum / (double)n : (double)NAN;
    for (int64_t i = 0; i < n; i++) squares += (values[i] - *mean) * (values[i] - *mean);
    *se = n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : (double)NAN;
}

static void fill_entry(const lab *self, const cell *at, const column *by, const char *field, int64_t trials,
                       entry *out)
{
    double seconds = 0, *kept = out->values + trials; /* the finite ones, for the mean */
    for (int64_t t = 0; t < trials; t++) out->values[t] = (double)NAN;
    for (size_t i = 0; i < self->cells.count; i++) {
        const cell *what = &self->cells.cell[i];
        if ((what->q != at->q && what->q != 0) || what->by != by || strcmp(what->row, at->row) != 0) continue;
        out->baseline = what->q == 0 && at->q > 0;
        double value = lab_value(self, what, field);
        if (!isfinite(value)) continue;
        out->values[what->trial - self->options.first] = value;
        kept[out->n++] = value;
        seconds += lab_value(self, what, "seconds");
    }
    mean_and_error(out->n, kept, &out->mean, &out->se);
    out->seconds = out->n > 0 ? seconds / (double)out->n : (double)NAN;
    out->paper = printed_number(self->about->name, field, at->row, at->q, by->name);
}

/* The p-value of the paired t-test over the trials that both have, NaN with fewer than two, and the mean of
   a - b with its standard error. */
static double compare(int64_t trials, const double *a, const double *b, double *difference, double *se)
{
    int64_t n = 0;
    ROOM double *room = make_room(3 * (size_t)trials, sizeof *room);
    double p = (double)NAN;
    for (int64_t t = 0; t < trials && room != NULL; t++) {
        if (!isfinite(a[t]) || !isfinite(b[t])) continue;
        room[n] = a[t];
        room[trials + n] = b[t];
        room[2 * trials + n++] = a[t] - b[t];
    }
    *difference = *se = (double)NAN;
    if (n > 1) {
        p = stonet_paired_t_test(n, room, room + trials);
        mean_and_error(n, room + 2 * trials, difference, se);
    }
    return p;
}

/* Baselines do not compete, nor those with fewer than half the trials of the line: one lucky trial is no best
   method. */
static bool competes(const line *at, const entry *one)
{
    return one->n > 0 && 2 * one->n >= at->most && !one->baseline;
}

static bool is_other(const column *by)
{
    return by->method != NULL && strcmp(by->method, "stonet") != 0;
}

static void test_line(const experiment *about, const measure *of, int64_t trials, line *at)
{
    entry *best = NULL, *plain = NULL;
    double difference, se;
    at->difference = at->se = at->p_test = (double)NAN;
    for (size_t m = 0; m < about->n_columns; m++)
        at->most = at->entries[m].n > at->most ? at->entries[m].n : at->most;
    for (size_t m = 0; m < about->n_columns; m++) {
        entry *one = &at->entries[m];
        one->p_value = (double)NAN;
        if (about->columns[m].settings == NULL) plain = one;
        if (!competes(at, one)) continue;
        double sign = of->higher_is_better ? -1 : 1;
        if (best == NULL || sign * one->mean < sign * best->mean) best = one;
        if (!is_other(&about->columns[m]) ||
            (at->other != NULL && sign * one->mean >= sign * at->other->mean))
            continue;
        at->other = one;
        at->other_name = about->columns[m].name;
    }
    for (size_t m = 0; m < about->n_columns && best != NULL; m++) {
        entry *one = &at->entries[m];
        one->best = one == best;
        if (!competes(at, one)) continue;
        if (!one->best) one->p_value = compare(trials, one->values, best->values, &difference, &se);
        one->bold = one->best || one->p_value >= significance;
    }
    if (plain != NULL && at->other != NULL)
        at->p_test = compare(trials, plain->values, at->other->values, &at->difference, &at->se);
}

bool table_make(const lab *self, const measure *about, table *out)
{
    const size_t columns = self->about->n_columns;
    int64_t trials = 1;
    for (size_t i = 0; i < self->cells.count; i++) {
        int64_t at = self->cells.cell[i].trial - self->options.first + 1;
        trials = at > trials ? at : trials;
    }
    *out = (table){.lines = calloc(self->cells.count + 1, sizeof *out->lines)};
    if (out->lines != NULL) find_lines(&self->cells, out);
    const size_t count = out->n_lines * columns;
    out->entries = calloc(count + 1, sizeof *out->entries);
    out->values = calloc((count + 1) * (size_t)trials * 2, sizeof *out->values);
    if (out->lines == NULL || out->entries == NULL || out->values == NULL) {
        table_free(out);
        return false;
    }
    for (size_t i = 0; i < out->n_lines; i++) {
        line *at = &out->lines[i];
        at->entries = out->entries + i * columns;
        for (size_t m = 0; m < columns; m++) {
            at->entries[m].values = out->values + (i * columns + m) * 2 * (size_t)trials;
            fill_entry(self, at->at, &self->about->columns[m], about->field, trials, &at->entries[m]);
        }
        test_line(self->about, about, trials, at);
    }
    return true;
}

/* ---- CSV and Markdown -------------------------------------------------------------------------- */

static void put_numbers(FILE *out, const double *numbers, size_t count)
{
    for (size_t k = 0; k < count; k++)
        isfinite(numbers[k]) ? fprintf(out, "%.6g,", numbers[k]) : fputc(',', out);
}

static void put_csv(FILE *out, const experiment *about, const measure *of, const table *made)
{
    for (size_t k = 0; k < made->n_lines * about->n_columns; k++) {
        const line *at = &made->lines[k / about->n_columns];
        const column *by = &about->columns[k % about->n_columns];
        const entry *one = &made->entries[k];
        if (one->n == 0) continue;
        fprintf(out, "%s,%" PRId64 ",%s,%s,%" PRId64 ",", at->at->row, at->at->q, by->name, of->field,
                one->n);
        const printed *paper = &one->paper;
        const double numbers[] = {one->mean, one->se, one->seconds, paper->mean, paper->spread, one->p_value};
        put_numbers(out, numbers, COUNT(numbers));
        fprintf(out, "%d,", one->bold);
        bool tested = by->settings == NULL && at->other_name != NULL;
        if (tested) put_numbers(out, (const double[]){at->difference, at->se, at->p_test}, 3);
        fprintf(out, "%s\n", tested ? at->other_name : ",,,");
    }
}

/* Whether a column of the table has anything in it. */
static bool has_column(const table *made, size_t m)
{
    for (size_t i = 0; i < made->n_lines; i++)
        if (made->lines[i].entries[m].n > 0) return true;
    return false;
}

/* What a line is about: q, or the point of a curve that stands for it. */
static double point_of(const experiment *about, const cell *at)
{
    return (double)at->q / (about->logs ? (double)at->on->number : 1);
}

static void put_entry(FILE *out, const line *at, const entry *one, bool logs)
{
    const char *mark = one->bold ? "**" : "";
    if (one->n > 0) fprintf(out, logs ? " %s%.3g%s" : " %s%.4f%s", mark, one->mean, mark);
    if (isfinite(one->se)) fprintf(out, logs ? " (%.2g)" : " (%.4f)", one->se);
    if (one->n > 0 && one->n < at->most) fprintf(out, " [%" PRId64 "]", one->n);
    if (one->n > 0 && isfinite(one->paper.mean)) {
        fprintf(out, "<br>*%.4f*", one->paper.mean);
        if (isfinite(one->paper.spread)) fprintf(out, " *(%.4f)*", one->paper.spread);
    }
    fputs(" |", out);
}

/* The last column is there where there are trials of the default. */
static void put_markdown(FILE *out, const experiment *about, const measure *of, const table *made)
{
    bool tested = about->columns[0].settings == NULL && has_column(made, 0);
    fprintf(out, "### %s\n\n| | %s | trials |", of->title, about->lines != NULL ? about->lines : "q");
    for (size_t m = 0; m < about->n_columns; m++)
        if (has_column(made, m)) fprintf(out, " %s |", about->columns[m].name);
    fprintf(out, "%s\n| --- | --- | --- |", tested ? " default - best other |" : "");
    for (size_t m = 0; m < about->n_columns; m++)
        if (has_column(made, m)) fputs(" --- |", out);
    fprintf(out, "%s\n", tested ? " --- |" : "");
    for (size_t i = 0; i < made->n_lines; i++) {
        const line *at = &made->lines[i];
        if (at->most == 0) continue;
        fprintf(out, "| %s | ", at->at->row);
        if (at->at->q > 0) fprintf(out, "%g", point_of(about, at->at));
        fprintf(out, " | %" PRId64 " |", at->most);
        for (size_t m = 0; m < about->n_columns; m++)
            if (has_column(made, m)) put_entry(out, at, &at->entries[m], about->logs);
        if (tested && isfinite(at->p_test))
            fprintf(out, " %+.4f (%.4f) %s, p = %.3f |", at->difference, at->se, at->other_name, at->p_test);
        else if (tested)
            fputs(" |", out);
        fputc('\n', out);
    }
    fputc('\n', out);
}

/* ---- figures ----------------------------------------------------------------------------------- */

enum { MOST_COLUMNS = 16, MOST_PANELS = 16 };

/* Our means and the printed ones of one row against the logarithm of q; `x` has room for 4 numbers an entry.
 */
static void make_panel(const experiment *about, const table *made, double *x, svg_series *series,
                       svg_panel *out)
{
    out->series = series;
    for (size_t m = 0; m < about->n_columns && m < MOST_COLUMNS; m++, x += 4 * made->n_lines) {
        double *y = x + made->n_lines, *error = y + made->n_lines, *paper = error + made->n_lines;
        int64_t n = 0;
        for (size_t i = 0; i < made->n_lines; i++) {
            const line *at = &made->lines[i];
            if (strcmp(at->at->row, out->title) != 0 || at->at->q == 0) continue;
            const entry *one = &at->entries[m];
            x[n] = log10(point_of(about, at->at));
            y[n] = about->logs ? log10(one->mean) : one->mean;
            error[n] = about->logs ? one->se / one->mean / log(10) : one->se;
            paper[n++] = one->paper.mean;
        }
        if (!has_column(made, m)) continue;
        series[out->n_series++] =
            (svg_series){.label = about->columns[m].name, .n = n, .x = x, .y = y, .error = error};
        series[out->n_series++] = (svg_series){.n = n, .x = x, .y = paper, .open = true};
    }
}

static int write_figure(const lab *self, const measure *of, const table *made)
{
    const experiment *about = self->about;
    svg_panel panels[MOST_PANELS];
    size_t count = 0, size = 4 * made->n_lines * about->n_columns;
    ROOM double *numbers = make_room(MOST_PANELS * size + 1, sizeof *numbers);
    ROOM svg_series *series = make_room((size_t)2 * MOST_PANELS * MOST_COLUMNS, sizeof *series);
    if (numbers == NULL || series == NULL) return lab_no_memory(self);
    for (size_t i = 0; i < made->n_lines && count < MOST_PANELS; i++) {
        const char *title = made->lines[i].at->row;
        bool known = made->lines[i].at->q == 0 || made->lines[i].most == 0;
        for (size_t k = 0; k < count && !known; k++) known = strcmp(panels[k].title, title) == 0;
        if (known) continue;
        panels[count] = (svg_panel){.kind = SVG_LINE,
                                    .title = title,
                                    .x_label = about->lines != NULL ? about->lines : "dimension q",
                                    .x_log10 = true,
                                    .y_label = of->title};
        make_panel(about, made, numbers + count * size, series + 2 * count * MOST_COLUMNS, &panels[count]);
        count++;
    }
    svg_figure figure = {.title = about->title,
                         .subtitle = "lines: ours, with standard errors; open symbols: printed in the paper",
                         .panels = panels,
                         .n_panels = count,
                         .columns = count > 1 ? 2 : 1};
    char suffix[64];
    snprintf(suffix, sizeof suffix, "%s.svg", of->field);
    ROOM char *text = count > 0 ? svg_render(&figure) : NULL;
    return count > 0 ? report_file(self, suffix, text) : EXIT_DONE;
}

/* ---- the report -------------------------------------------------------------------------------- */

static int write_measures(const lab *self, FILE *csv, FILE *markdown)
{
    const experiment *about = self->about;
    const lab_options *given = &self->options;
    fputs("row,q,method,measure,n,mean,se,seconds,paper,paper_spread,p_value,bold,difference,difference_se,"
          "p_difference,against\n",
          csv);
    fprintf(markdown, "# %s\n\nMade by `stonet-paper %s%s", about->title, about->name,
            given->quick ? " --quick" : "");
    if (given->first > 1) fprintf(markdown, " --first %" PRId64, given->first);
    fprintf(
        markdown, "`, seed %" PRId64 ". %s%s\n", given->seed,
        "Mean over the trials (standard error); *below, in italics, what the paper prints*; bold: the best "
        "and\nwhat a paired t-test at 0.05 does not tell from it; [n]: only n trials, and no bold below half "
        "of them.\n",
        about->columns[0].settings != NULL ? "" : about_default);
    int result = EXIT_DONE;
    for (size_t k = 0; k < about->n_measures && result == EXIT_DONE; k++) {
        table made;
        if (!table_make(self, &about->measures[k], &made)) return lab_no_memory(self);
        put_csv(csv, about, &about->measures[k], &made);
        put_markdown(markdown, about, &about->measures[k], &made);
        result = write_figure(self, &about->measures[k], &made);
        table_free(&made);
    }
    if (about->conclude != NULL) about->conclude(self, markdown);
    if (about->notes != NULL) fprintf(markdown, "%s\n", about->notes);
    return result;
}

int report_write(const lab *self)
{
    ROOM char *table_text = NULL, *page = NULL;
    size_t size;
    FILE *csv = open_memstream(&table_text, &size), *markdown = open_memstream(&page, &size);
    int result = csv != NULL && markdown != NULL ? write_measures(self, csv, markdown) : lab_no_memory(self);
    if (csv != NULL) fclose(csv);
    if (markdown != NULL) fclose(markdown);
    if (result == EXIT_DONE) result = report_file(self, "table.csv", table_text);
    return result == EXIT_DONE ? report_file(self, "table.md", page) : result;
}
