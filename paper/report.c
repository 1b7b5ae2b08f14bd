/* The finished cells of a plan as tables and figures: CSV, Markdown and SVG files in OUT. */
#include "paper/paper.h"

#include "cli/svg.h"

static const double significance = 0.05;
static const char about_default[] = "default - best other: the mean difference to the best other reduction "
                                    "(standard error), and p of a paired t-test.\n";

int report_file(const lab *self, const char *suffix, const char *text)
{
    BLOCK char *path = lab_path(self, suffix);
    if (text == NULL) return say_error(&self->command, "memory ran out");
    stonet_status status = stonet_bytes_write(path, text, strlen(text));
    if (status != STONET_OK) return say_failure(&self->command, status);
    printf("wrote %s\n", path);
    return EXIT_DONE;
}

/* ---- means over trials ------------------------------------------------------------------------- */

/* Of the numbers that are finite; gives how many there are. */
static int64_t mean_and_error(int64_t count, const double *values, double *mean, double *se)
{
    int64_t n = 0;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; i++) {
        n += isfinite(values[i]);
        sum += isfinite(values[i]) ? values[i] : 0;
    }
    *mean = n > 0 ? sum / (double)n : (double)NAN;
    for (int64_t i = 0; i < count; i++)
        squares += isfinite(values[i]) ? (values[i] - *mean) * (values[i] - *mean) : 0;
    *se = n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : (double)NAN;
    return n;
}

/* `values` by column and trial. */
static void fill_line(const lab *self, size_t l, const char *field, double *values, entries *out)
{
    const experiment *about = self->about;
    const int64_t trials = self->trials;
    double seconds[MOST_COLUMNS] = {0};
    for (int64_t k = 0; k < (int64_t)about->n_columns * trials; k++) values[k] = (double)NAN;
    for (const cell *one = self->cells; one < self->cells + self->n_cells; one++) {
        const int64_t m = one->by - about->columns;
        double value = cell_value(one, field);
        if ((one->line != l && !(is_none(one->by) && one->on == self->lines[l].on)) || !isfinite(value))
            continue;
        values[m * trials + one->trial - self->options.first] = value;
        seconds[m] += cell_value(one, "seconds");
    }
    for (size_t m = 0; m < about->n_columns; m++) {
        entry *one = &out->by[m];
        one->n = mean_and_error(trials, values + (int64_t)m * trials, &one->mean, &one->se);
        one->seconds = seconds[m] / (double)one->n;
        one->paper = printed_number(about->name, field, self->lines[l].on->name, self->lines[l].q,
                                    about->columns[m].name);
        out->most = one->n > out->most ? one->n : out->most;
    }
}

static contrast compare(int64_t trials, const double *a, const double *b)
{
    int64_t n = 0;
    contrast found = {(double)NAN, (double)NAN, (double)NAN};
    BLOCK double *room = room_for(3 * trials, sizeof *room);
    for (int64_t t = 0; t < trials; t++) {
        if (!isfinite(a[t]) || !isfinite(b[t])) continue;
        room[n] = a[t];
        room[trials + n] = b[t];
        room[2 * trials + n++] = a[t] - b[t];
    }
    if (n < 2) return found;
    found.p_value = stonet_paired_t_test(n, room, room + trials);
    mean_and_error(n, room + 2 * trials, &found.mean, &found.se);
    return found;
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
            (best == about->n_columns || sign * at->by[m].mean < sign * at->by[best].mean))
            best = m;
    return best;
}

static void test_line(const experiment *about, const measure *of, int64_t trials, const double *values,
                      entries *at)
{
    const size_t best = find_best(about, of, at, false), other = find_best(about, of, at, true);
    at->against = (contrast){(double)NAN, (double)NAN, (double)NAN};
    if (other < about->n_columns) {
        at->other = &at->by[other];
        at->other_name = about->columns[other].name;
    }
    for (size_t m = 0; m < about->n_columns; m++) {
        const double *own = values + (int64_t)m * trials;
        entry *one = &at->by[m];
        one->best = m == best;
        one->p_value = (double)NAN;
        if (competes(about, at, m) && !one->best)
            one->p_value = compare(trials, own, values + (int64_t)best * trials).p_value;
        one->bold = one->best || one->p_value >= significance;
        if (about->columns[m].settings == NULL && at->other != NULL)
            at->against = compare(trials, own, values + (int64_t)other * trials);
    }
}

entries *table_make(const lab *self, const measure *about)
{
    const size_t columns = self->about->n_columns;
    entries *made = room_for((int64_t)self->n_lines, sizeof *made);
    BLOCK double *values = room_for((int64_t)columns * self->trials, sizeof *values);
    for (size_t l = 0; l < self->n_lines; l++) {
        fill_line(self, l, about->field, values, &made[l]);
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
        fprintf(out, "%s,%" PRId64 ",%s,%s,%" PRId64 ",", at->on->name, at->q, by->name, of->field, one->n);
        const printed *paper = &one->paper;
        const double numbers[] = {one->mean, one->se, one->seconds, paper->mean, paper->spread, one->p_value};
        put_numbers(out, numbers, COUNT(numbers));
        fprintf(out, "%d,", one->bold);
        bool tested = by->settings == NULL && all->other_name != NULL;
        if (tested)
            put_numbers(out, (const double[]){all->against.mean, all->against.se, all->against.p_value}, 3);
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
    if (one->n > 0) fprintf(out, logs ? " %s%.3g%s" : " %s%.4f%s", mark, one->mean, mark);
    if (isfinite(one->se)) fprintf(out, logs ? " (%.2g)" : " (%.4f)", one->se);
    if (one->n > 0 && one->n < most) fprintf(out, " [%" PRId64 "]", one->n);
    if (one->n > 0 && isfinite(one->paper.mean)) {
        fprintf(out, "<br>*%.4f*", one->paper.mean);
        if (isfinite(one->paper.spread)) fprintf(out, " *(%.4f)*", one->paper.spread);
    }
    fputs(" |", out);
}

/* The last column is there where there are trials of the default. */
static void put_markdown(FILE *out, const lab *self, const measure *of, const entries *made)
{
    const experiment *about = self->about;
    bool tested = about->columns[0].settings == NULL && has_column(self, made, 0);
    fprintf(out, "### %s\n\n| | %s | trials |", of->title, about->lines != NULL ? about->lines : "q");
    for (size_t m = 0; m < about->n_columns; m++)
        if (has_column(self, made, m)) fprintf(out, " %s |", about->columns[m].name);
    fprintf(out, "%s\n| --- | --- | --- |", tested ? " default - best other |" : "");
    for (size_t m = 0; m < about->n_columns; m++)
        if (has_column(self, made, m)) fputs(" --- |", out);
    fprintf(out, "%s\n", tested ? " --- |" : "");
    for (size_t l = 0; l < self->n_lines; l++) {
        const line *at = &self->lines[l];
        const entries *all = &made[l];
        if (all->most == 0) continue;
        fprintf(out, "| %s | ", at->on->name);
        if (at->q > 0) fprintf(out, "%g", point_of(about, at));
        fprintf(out, " | %" PRId64 " |", all->most);
        for (size_t m = 0; m < about->n_columns; m++)
            if (has_column(self, made, m)) put_entry(out, all->most, &all->by[m], about->logs);
        if (tested && isfinite(all->against.p_value))
            fprintf(out, " %+.4f (%.4f) %s, p = %.3f |", all->against.mean, all->against.se, all->other_name,
                    all->against.p_value);
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
        for (size_t l = first; l < self->n_lines && self->lines[l].on == self->lines[first].on; l++) {
            const entry *one = &made[l].by[m];
            x[n] = log10(point_of(about, &self->lines[l]));
            y[n] = about->logs ? log10(one->mean) : one->mean;
            error[n] = about->logs ? one->se / one->mean / log(10) : one->se;
            paper[n++] = one->paper.mean;
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
        for (next = l; next < self->n_lines && self->lines[next].on == self->lines[l].on; next++)
            most += made[next].most;
        if (self->lines[l].q == 0 || most == 0) continue;
        room->panels[count] = (svg_panel){.kind = SVG_LINE,
                                          .title = self->lines[l].on->name,
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
    FILE *csv = open_memstream(&table_text, &size), *markdown = open_memstream(&page, &size);
    int result = csv != NULL && markdown != NULL ? write_measures(self, csv, markdown)
                                                 : say_error(&self->command, "memory ran out");
    if (csv != NULL) fclose(csv);
    if (markdown != NULL) fclose(markdown);
    if (result == EXIT_DONE) result = report_file(self, "table.csv", table_text);
    return result == EXIT_DONE ? report_file(self, "table.md", page) : result;
}
