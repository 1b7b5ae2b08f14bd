/* The finished cells of a plan as tables and figures: CSV, Markdown and SVG files in OUT. */
#include "paper/paper.h"

#include "cli/svg.h"

static const double significance = 0.05;
static const char about_default[] = "default - best other: the mean difference to the best other reduction "
                                    "(standard error), and p of a paired t-test.\n";

static const estimate nothing = {(double)NAN, (double)NAN};

int report_file(const lab *self, const char *suffix, const char *text)
{
    BLOCK char *path = lab_path(self, suffix);
    TRY(outcome(&self->command, stonet_bytes_write(path, text, strlen(text))));
    printf("wrote %s\n", path);
    return EXIT_DONE;
}

/* ---- means over trials ------------------------------------------------------------------------- */

/* The mean of the numbers that are finite, of which there are *n. */
static estimate estimate_of(int64_t count, const double *values, int64_t *n)
{
    estimate of = nothing;
    double sum = 0, squares = 0;
    *n = 0;
    for (int64_t i = 0; i < count; i++) {
        *n += isfinite(values[i]);
        sum += isfinite(values[i]) ? values[i] : 0;
    }
    if (*n > 0) of.mean = sum / (double)*n;
    for (int64_t i = 0; i < count; i++)
        squares += isfinite(values[i]) ? (values[i] - of.mean) * (values[i] - of.mean) : 0;
    if (*n > 1) of.se = sqrt(squares / (double)(*n - 1) / (double)*n);
    return of;
}

/* `values` by column and trial. */
static void fill_line(const lab *self, const line *at, const char *field, double *values, entries *out)
{
    const experiment *about = self->about;
    const int64_t trials = self->trials;
    for (int64_t k = 0; k < (int64_t)about->n_columns * trials; k++) values[k] = (double)NAN;
    for (const cell *one = self->cells; one < self->cells + self->n_cells; one++) {
        const int64_t m = one->by - about->columns;
        double value = cell_value(one, field);
        if (!(is_none(one->by) ? is_same_row(one->at, at) : one->at == at) || !isfinite(value)) continue;
        values[m * trials + one->trial - self->options.first] = value;
        out->by[m].seconds += cell_value(one, "seconds");
    }
    for (size_t m = 0; m < about->n_columns; m++) {
        entry *one = &out->by[m];
        one->found = estimate_of(trials, values + (int64_t)m * trials, &one->n);
        one->seconds /= (double)one->n;
        one->printed = printed_number(about->name, field, at->name, at->q, about->columns[m].name);
        out->most = one->n > out->most ? one->n : out->most;
    }
}

/* The mean of a - b over the trials that both have, and p of the paired t-test. */
static double compare(int64_t trials, const double *a, const double *b, estimate *difference)
{
    int64_t n = 0;
    BLOCK double *room =
        room_for(2 * trials, sizeof *room); /* differences, and what they are tested against: 0 */
    for (int64_t t = 0; t < trials; t++)
        if (isfinite(a[t]) && isfinite(b[t])) room[n++] = a[t] - b[t];
    *difference = n < 2 ? nothing : estimate_of(n, room, &n);
    return n < 2 ? (double)NAN : stonet_paired_t_test(n, room, room + trials);
}

/* Baselines do not compete, nor those with fewer than half the trials of the line: one lucky trial is no best
   method. */
static bool competes(const experiment *about, const entries *at, size_t m)
{
    return at->by[m].n > 0 && 2 * at->by[m].n >= at->most && !is_none(&about->columns[m]);
}

static bool is_other(const column *by)
{
    return by->method != NULL && strcmp(by->method, "stonet") != 0;
}

/* The column with the best mean, of all or of those that are no StoNet; n_columns: none. */
static size_t find_best(const experiment *about, const measure *of, const entries *at, bool others)
{
    size_t best = about->n_columns;
    const double sign = of->higher_is_better ? -1 : 1;
    for (size_t m = 0; m < about->n_columns; m++)
        if (competes(about, at, m) && (!others || is_other(&about->columns[m])) &&
            (best == about->n_columns || sign * at->by[m].found.mean < sign * at->by[best].found.mean))
            best = m;
    return best;
}

static void test_line(const experiment *about, const measure *of, int64_t trials, const double *values,
                      entries *at)
{
    const size_t best = find_best(about, of, at, false), other = find_best(about, of, at, true);
    estimate unused;
    at->difference = nothing;
    at->p_difference = (double)NAN;
    if (other < about->n_columns) {
        at->other = &at->by[other];
        at->other_name = about->columns[other].name;
    }
    for (size_t m = 0; m < about->n_columns; m++) {
        const double *own = values + (int64_t)m * trials;
        entry *one = &at->by[m];
        one->p_value = (double)NAN;
        if (competes(about, at, m) && m != best)
            one->p_value = compare(trials, own, values + (int64_t)best * trials, &unused);
        one->bold = m == best || one->p_value >= significance;
        if (about->columns[m].settings == NULL && at->other != NULL)
            at->p_difference = compare(trials, own, values + (int64_t)other * trials, &at->difference);
    }
}

entries *table_make(const lab *self, const measure *about)
{
    const size_t columns = self->about->n_columns;
    entries *made = room_for((int64_t)self->n_lines, sizeof *made);
    BLOCK double *values = room_for((int64_t)columns * self->trials, sizeof *values);
    for (size_t l = 0; l < self->n_lines; l++) {
        fill_line(self, &self->lines[l], about->field, values, &made[l]);
        test_line(self->about, about, self->trials, values, &made[l]);
    }
    return made;
}

/* ---- CSV and Markdown -------------------------------------------------------------------------- */

static void put_numbers(FILE *out, const double *numbers, size_t count)
{
    for (size_t k = 0; k < count; k++)
        isfinite(numbers[k]) ? fprintf(out, "%.6g,", numbers[k]) : fputc(',', out);
}

static void put_csv(FILE *out, const lab *self, const measure *of, const entries *made)
{
    const experiment *about = self->about;
    for (size_t k = 0; k < self->n_lines * about->n_columns; k++) {
        const line *at = &self->lines[k / about->n_columns];
        const entries *all = &made[k / about->n_columns];
        const column *by = &about->columns[k % about->n_columns];
        const entry *one = &all->by[k % about->n_columns];
        if (one->n == 0) continue;
        fprintf(out, "%s,%" PRId64 ",%s,%s,%" PRId64 ",", at->name, at->q, by->name, of->field, one->n);
        const double numbers[] = {one->found.mean,   one->found.se,   one->seconds,
                                  one->printed.mean, one->printed.se, one->p_value};
        put_numbers(out, numbers, COUNT(numbers));
        fprintf(out, "%d,", one->bold);
        bool tested = by->settings == NULL && all->other_name != NULL;
        if (tested)
            put_numbers(out, (const double[]){all->difference.mean, all->difference.se, all->p_difference},
                        3);
        fprintf(out, "%s\n", tested ? all->other_name : ",,,");
    }
}

/* Whether a column of the table has anything in it. */
static bool has_column(const lab *self, const entries *made, size_t m)
{
    for (size_t l = 0; l < self->n_lines; l++)
        if (made[l].by[m].n > 0) return true;
    return false;
}

/* What a line is about: q, or the point of a curve that stands for it. */
static double point_of(const experiment *about, const line *at)
{
    return (double)at->q / (about->logs ? (double)at->on->number : 1);
}

static void put_entry(FILE *out, int64_t most, const entry *one, bool logs)
{
    const char *mark = one->bold ? "**" : "";
    if (one->n > 0) fprintf(out, logs ? " %s%.3g%s" : " %s%.4f%s", mark, one->found.mean, mark);
    if (isfinite(one->found.se)) fprintf(out, logs ? " (%.2g)" : " (%.4f)", one->found.se);
    if (one->n > 0 && one->n < most) fprintf(out, " [%" PRId64 "]", one->n);
    if (one->n > 0 && isfinite(one->printed.mean)) {
        fprintf(out, "<br>*%.4f*", one->printed.mean);
        if (isfinite(one->printed.se)) fprintf(out, " *(%.4f)*", one->printed.se);
    }
    fputs(" |", out);
}

/* The last column is there where there are trials of the default. */
static void put_markdown(FILE *out, const lab *self, const measure *of, const entries *made)
{
    const experiment *about = self->about;
    bool tested = about->columns[0].settings == NULL && has_column(self, made, 0);
    BLOCK char *rule = copy_of("| --- | --- | --- |");
    fprintf(out, "### %s\n\n| | %s | trials |", of->title, about->lines != NULL ? about->lines : "q");
    for (size_t m = 0; m < about->n_columns; m++) {
        if (!has_column(self, made, m)) continue;
        fprintf(out, " %s |", about->columns[m].name);
        rule = joined(rule, " ", copy_of("--- |"));
    }
    fprintf(out, "%s\n%s%s\n", tested ? " default - best other |" : "", rule, tested ? " --- |" : "");
    for (size_t l = 0; l < self->n_lines; l++) {
        const line *at = &self->lines[l];
        const entries *all = &made[l];
        if (all->most == 0) continue;
        fprintf(out, "| %s | ", at->name);
        if (at->q > 0) fprintf(out, "%g", point_of(about, at));
        fprintf(out, " | %" PRId64 " |", all->most);
        for (size_t m = 0; m < about->n_columns; m++)
            if (has_column(self, made, m)) put_entry(out, all->most, &all->by[m], about->logs);
        if (tested && isfinite(all->p_difference))
            fprintf(out, " %+.4f (%.4f) %s, p = %.3f |", all->difference.mean, all->difference.se,
                    all->other_name, all->p_difference);
        else if (tested)
            fputs(" |", out);
        fputc('\n', out);
    }
    fputc('\n', out);
}

/* ---- figures ----------------------------------------------------------------------------------- */

enum { MOST_PANELS = 16 };

/* Panels with their title, series and numbers. */
typedef struct figure_room {
    svg_panel panels[MOST_PANELS];
    svg_series series[MOST_PANELS][2 * MOST_COLUMNS];
    double numbers[MOST_PANELS][MOST_COLUMNS][4][MOST_DIMS];
} figure_room;

/* Our means and the printed ones of the row from line `first` on against the logarithm of q. */
static void make_panel(const lab *self, const entries *made, size_t first, figure_room *room, size_t k)
{
    const experiment *about = self->about;
    svg_panel *panel = &room->panels[k];
    for (size_t m = 0; m < about->n_columns; m++) {
        double *x = room->numbers[k][m][0], *y = room->numbers[k][m][1], *error = room->numbers[k][m][2],
               *paper = room->numbers[k][m][3];
        int64_t n = 0;
        for (size_t l = first; l < self->n_lines && is_same_row(&self->lines[l], &self->lines[first]); l++) {
            const entry *one = &made[l].by[m];
            x[n] = log10(point_of(about, &self->lines[l]));
            y[n] = about->logs ? log10(one->found.mean) : one->found.mean;
            error[n] = about->logs ? one->found.se / one->found.mean / log(10) : one->found.se;
            paper[n++] = one->printed.mean;
        }
        if (!has_column(self, made, m)) continue;
        svg_series *two = &room->series[k][panel->n_series];
        two[0] = (svg_series){.label = about->columns[m].name, .n = n, .x = x, .y = y, .error = error};
        two[1] = (svg_series){.n = n, .x = x, .y = paper, .open = true};
        panel->n_series += 2;
    }
}

static int write_figure(const lab *self, const measure *of, const entries *made)
{
    const experiment *about = self->about;
    size_t count = 0, next;
    BLOCK figure_room *room = room_for(1, sizeof *room);
    for (size_t l = 0; l < self->n_lines && count < MOST_PANELS; l = next) {
        int64_t most = 0;
        for (next = l; next < self->n_lines && is_same_row(&self->lines[next], &self->lines[l]); next++)
            most += made[next].most;
        if (self->lines[l].q == 0 || most == 0) continue;
        room->panels[count] = (svg_panel){.kind = SVG_LINE,
                                          .title = self->lines[l].name,
                                          .x_label = about->lines != NULL ? about->lines : "dimension q",
                                          .x_log10 = true,
                                          .y_label = of->title,
                                          .series = room->series[count]};
        make_panel(self, made, l, room, count++);
    }
    svg_figure figure = {.title = about->title,
                         .subtitle = "lines: ours, with standard errors; open symbols: printed in the paper",
                         .panels = room->panels,
                         .n_panels = count,
                         .columns = count > 1 ? 2 : 1};
    if (count == 0) return EXIT_DONE;
    BLOCK char *suffix = text_of("%s.svg", of->field), *text = svg_render(&figure);
    return report_file(self, suffix, text);
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
        BLOCK entries *made = table_make(self, &about->measures[k]);
        put_csv(csv, self, &about->measures[k], made);
        put_markdown(markdown, self, &about->measures[k], made);
        result = write_figure(self, &about->measures[k], made);
    }
    if (about->conclude != NULL) about->conclude(self, markdown);
    if (about->notes != NULL) fprintf(markdown, "%s\n", about->notes);
    return result;
}

int report_write(const lab *self)
{
    BLOCK char *table_text = NULL, *page = NULL;
    size_t size;
    FILE *csv = open_text(&table_text, &size), *markdown = open_text(&page, &size);
    const int result = write_measures(self, csv, markdown);
    close_text(csv);
    close_text(markdown);
    TRY(result);
    TRY(report_file(self, "table.csv", table_text));
    return report_file(self, "table.md", page);
}
