/*
 * The finished cells of a plan as tables and figures beside the printed numbers: CSV, Markdown and SVG files
 * in OUT; and the command "summary".
 */
#include "paper/paper.h"

#include "cli/svg.h"

static const estimate nothing = {(double)NAN, (double)NAN};
static const double significance = 0.05;

static int write_file(const lab *self, const char *path, const char *text)
{
    TRY(outcome(&self->command, stonet_bytes_write(path, text, strlen(text))));
    printf("wrote %s\n", path);
    return EXIT_DONE;
}

/* To OUT/EXPERIMENT-SUFFIX. */
static int report_file(const lab *self, const char *suffix, const char *text)
{
    BLOCK char *path = lab_path(self, suffix);
    return write_file(self, path, text);
}

/* ---- the numbers printed in the paper ------------------------------------------------------------- */

/* "EXPERIMENT MEASURE: METHODS", then "ROW Q NUMBERS", mean or mean/spread in ten-thousandths. The paper
   splits the CT slices by rows and scales their response to 0..1. The numbers of sufficiency are those of
   Tang and Li's repository, over 100 data sets. */
static const char *const printed_lines[] = {
    "table1 error: stonet lsmie gsir gsave kdr sir save pca",
    "thyroid 1 687/68 2860/109 640/63 913/102 2847/110 1373/117 3000/110 3013/110",
    "thyroid 2 693/68 1733/113 667/71 947/103 2713/128 1373/130 3000/118 1467/143",
    "breast-cancer 2 2578/74 2812/110 2772/91 2740/69 2714/102 2818/125 2870/75 2857/129",
    "breast-cancer 4 2682/113 2760/118 2740/100 2805/76 2740/105 2831/110 2922/147 2766/97",
    "flare-solar 2 3236/40 3770/177 3305/34 3308/33 4161/138 3312/52 4860/127 3313/46",
    "flare-solar 4 3239/43 3346/43 3400/40 3336/38 3673/108 3328/49 4302/133 3612/36",
    "heart 3 1625/76 1725/73 1645/69 1731/60 1870/64 1720/88 1910/53 1920/123",
    "heart 6 1625/62 1695/73 1650/68 1754/63 1715/75 1770/100 1720/73 1830/102",
    "german 5 2368/50 2500/52 2325/58 2323/50 2430/50 2367/68 2703/72 2777/70",
    "german 10 2356/47 2443/56 2327/46 2312/47 2347/75 2360/68 2447/62 2350/51",
    "waveform 5 1091/10 1336/13 1140/15 1095/16 1269/31 1453/18 1427/20 1486/13",
    "waveform 10 1079/12 1369/18 1117/9 1070/13 1254/30 1444/17 1417/20 1430/20",
    "table2 error_dnn: stonet gsir gsave autoencoder pca none",
    "20000 392 456 596 535 1965 1002 459",
    "20000 196 484 686 611 2268 782 459",
    "20000 98 503 756 696 2733 843 459",
    "20000 49 520 816 764 3112 889 459",
    "20000 10 825 872 901 4036 1644 459",
    "table3 mse_unit: stonet autoencoder pca",
    "ct-rows 192 2/0 79/15 27/0",
    "ct-rows 96 2/0 106/24 26/0",
    "ct-rows 48 2/0 143/35 34/0",
    "ct-rows 24 2/0 185/33 42/0",
    "ct-rows 12 2/0 233/27 53/0",
    "ct-rows 6 2/0 304/24 102/1",
    "ct-rows 3 4/0 384/30 209/1",
    "table3 correlation: stonet autoencoder pca",
    "ct-rows 192 9986/1 9267/147 9755/1",
    "ct-rows 96 9985/1 9002/237 9756/1",
    "ct-rows 48 9982/1 8562/399 9682/1",
    "ct-rows 24 9980/1 8168/364 9612/1",
    "ct-rows 12 9980/1 7579/338 9499/1",
    "ct-rows 6 9980/1 6668/300 9023/2",
    "ct-rows 3 9965/2 5529/538 7858/4",
    "sufficiency distance_correlation: benn gmddnet stonet gsir",
    "location-scale 1000 3700 4610 3790 4820",
    "location-scale 2000 5460 5640 4360 5220",
    "location-scale 4000 6890 6160 4960 5470",
    "location-scale 8000 7560 6430 5780 5590",
    "scale 1000 2820 2860 750 4520",
    "scale 2000 5180 5470 810 5170",
    "scale 4000 7080 6230 800 5590",
    "scale 8000 8480 7210 740 5870",
};

estimate printed_number(const char *name, const char *field, const char *on, int64_t q, const char *method)
{
    BLOCK char *head = text_of("%s %s: ", name, field), *start = text_of("%s %" PRId64 " ", on, q);
    const char *methods = NULL, *at = NULL;
    for (size_t i = 0; i < COUNT(printed_lines) && at == NULL; i++) {
        const char *text = printed_lines[i];
        if (strchr(text, ':') != NULL)
            methods = strncmp(text, head, strlen(head)) == 0 ? text + strlen(head) : NULL;
        else if (methods != NULL && strncmp(text, start, strlen(start)) == 0)
            at = text + strlen(start);
    }
    /* The number stands at the place that the method has among the methods. */
    const size_t length = strcmp(method, "stonet-paper") == 0 ? strlen("stonet") : strlen(method);
    for (; at != NULL && *at != '\0'; at += strcspn(at, " "), at += *at == ' ') {
        char *end = NULL;
        const size_t here = strcspn(methods, " ");
        const double mean = strtod(at, &end) / 10000;
        if (here == length && strncmp(methods, method, length) == 0)
            return (estimate){mean, *end == '/' ? strtod(end + 1, NULL) / 10000 : (double)NAN};
        methods += here + (methods[here] == ' ');
    }
    return nothing;
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
    BLOCK double *room = room_for(2 * trials, sizeof *room); /* a - b, and the 0 that it is tested against */
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

/* The column with the best mean, of all or of those that are no StoNet; n_columns: none. */
static size_t find_best(const experiment *about, const measure *of, const entries *at, bool others)
{
    size_t best = about->n_columns;
    const double sign = of->higher_is_better ? -1 : 1;
    for (size_t m = 0; m < about->n_columns; m++) {
        const char *method = about->columns[m].method;
        if (!competes(about, at, m) || (others && (method == NULL || strcmp(method, "stonet") == 0)))
            continue;
        if (best == about->n_columns || sign * at->by[m].found.mean < sign * at->by[best].found.mean)
            best = m;
    }
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

/* Mean, error and the number that goes with them. */
static void put_three(FILE *out, estimate of, double third)
{
    const double three[] = {of.mean, of.se, third};
    for (size_t k = 0; k < COUNT(three); k++)
        isfinite(three[k]) ? fprintf(out, "%.6g,", three[k]) : fputc(',', out);
}

static void put_csv(FILE *out, const lab *self, const measure *of, const entries *made)
{
    const experiment *about = self->about;
    for (size_t k = 0; k < self->n_lines * about->n_columns; k++) {
        const line *at = &self->lines[k / about->n_columns];
        const entries *all = &made[k / about->n_columns];
        const column *by = &about->columns[k % about->n_columns];
        const entry *one = &all->by[k % about->n_columns];
        const bool tested = by->settings == NULL && all->other_name != NULL;
        if (one->n == 0) continue;
        fprintf(out, "%s,%" PRId64 ",%s,%s,%" PRId64 ",", at->name, at->q, by->name, of->field, one->n);
        put_three(out, one->found, one->seconds);
        put_three(out, one->printed, one->p_value);
        fprintf(out, "%d,", one->bold);
        if (tested) put_three(out, all->difference, all->p_difference);
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

/* "0.0367 (0.0033) [9]", with a mark around the mean: of fewer trials than the line has; logs: fewer digits.
 */
static void put_mean(FILE *out, const entry *one, int64_t most, bool logs, const char *mark)
{
    fprintf(out, logs ? "%s%.3g%s" : "%s%.4f%s", mark, one->found.mean, mark);
    if (isfinite(one->found.se)) fprintf(out, logs ? " (%.2g)" : " (%.4f)", one->found.se);
    if (one->n < most) fprintf(out, " [%" PRId64 "]", one->n);
}

static void put_entry(FILE *out, int64_t most, const entry *one, bool logs)
{
    if (one->n > 0) {
        fputc(' ', out);
        put_mean(out, one, most, logs, one->bold ? "**" : "");
    }
    if (one->n > 0 && isfinite(one->printed.mean)) fprintf(out, "<br>*%.4f*", one->printed.mean);
    if (one->n > 0 && isfinite(one->printed.se)) fprintf(out, " *(%.4f)*", one->printed.se);
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

static const char head_of_csv[] = "row,q,method,measure,n,mean,se,seconds,paper,paper_spread,p_value,bold,"
                                  "difference,difference_se,p_difference,against\n";
static const char about_entries[] =
    "Mean over the trials (standard error); *below, in italics, what the paper prints*; bold: the best and\n"
    "what a paired t-test at 0.05 does not tell from it; [n]: only n trials, and no bold below half of them.\n";
static const char about_default[] = "default - best other: the mean difference to the best other reduction "
                                    "(standard error), and p of a paired t-test.\n";

int report_write(const lab *self)
{
    const experiment *about = self->about;
    const lab_options *given = &self->options;
    BLOCK char *table_text = NULL, *page = NULL;
    size_t size;
    FILE *csv = open_text(&table_text, &size), *markdown = open_text(&page, &size);
    fputs(head_of_csv, csv);
    fprintf(markdown, "# %s\n\nMade by `stonet-paper %s%s", about->title, about->name,
            given->quick ? " --quick" : "");
    if (given->first > 1) fprintf(markdown, " --first %" PRId64, given->first);
    fprintf(markdown, "`, seed %" PRId64 ". %s%s\n", given->seed, about_entries,
            about->columns[0].settings != NULL ? "" : about_default);
    int result = EXIT_DONE;
    for (const measure *of = about->measures; of < about->measures + about->n_measures && result == EXIT_DONE;
         of++) {
        BLOCK entries *made = table_make(self, of);
        put_csv(csv, self, of, made);
        put_markdown(markdown, self, of, made);
        result = write_figure(self, of, made);
    }
    if (about->conclude != NULL) about->conclude(self, markdown);
    if (about->notes != NULL) fprintf(markdown, "%s\n", about->notes);
    close_text(csv);
    close_text(markdown);
    TRY(result);
    TRY(report_file(self, "table.csv", table_text));
    return report_file(self, "table.md", page);
}

/* ---- one table of all experiments that have a default column -------------------------------------- */

static const char begins[] = "<!-- summary -->\n", ends[] = "<!-- end of summary -->";

/* The best other reduction, the paper's StoNet as printed, ours with its settings, ours by default; what is
   not finished is taken from `older`, the same line of an older table from there on. */
static void put_fields(const experiment *about, const entries *at, const char *older, FILE *out)
{
    const entry *paper = at->by, *plain = at->by; /* the first column is the default */
    while (strcmp(about->columns[paper - at->by].name, about->paper) != 0) paper++;
    const entry *const means[] = {at->other, paper, paper, plain};
    const bool known[] = {at->other != NULL, isfinite(paper->printed.mean), paper->n > 0, plain->n > 0};
    for (size_t k = 0; k < COUNT(known); k++) {
        const size_t length = strcspn(older, "|\n");
        fputc(' ', out);
        if (!known[k]) fprintf(out, "%.*s", length > 2 ? (int)length - 2 : 0, older + 1);
        if (known[k] && k == 0) fprintf(out, "%s ", at->other_name);
        if (known[k] && k == 1) fprintf(out, "%.4f", paper->printed.mean);
        if (known[k] && k != 1) put_mean(out, means[k], at->most, false, "");
        if (k == 3 && isfinite(at->p_difference)) fprintf(out, ", p = %.3f", at->p_difference);
        fputs(" |", out);
        older += length + (older[length] == '|');
    }
    fputc('\n', out);
}

/* The lines of one experiment: those with finished cells or in an older table. */
static int put_lines(lab *self, const char *older, FILE *out)
{
    const experiment *about = self->about;
    TRY(lab_plan(self));
    BLOCK entries *made = table_make(self, &about->measures[0]);
    for (size_t l = 0; l < self->n_lines; l++) {
        const line *at = &self->lines[l];
        BLOCK char *key = text_of("| %s: %s | %" PRId64 " |", about->name, at->name, at->q > 0 ? at->q : 1);
        const char *found = older != NULL ? strstr(older, key) : NULL;
        if (found == NULL && made[l].most == 0) continue;
        fputs(key, out);
        put_fields(about, &made[l], found != NULL ? found + strlen(key) : "  ", out);
    }
    return EXIT_DONE;
}

static int put_table(const lab *self, const char *older, FILE *out)
{
    int result = EXIT_DONE;
    fputs("| experiment | q | best other method | StoNet as printed | our StoNet, the paper's settings | our "
          "default |\n"
          "| --- | --- | --- | --- | --- | --- |\n",
          out);
    for (size_t i = 0; i < n_experiments && result == EXIT_DONE; i++) {
        if (experiments[i]->paper == NULL) continue;
        lab one = {.about = experiments[i], .command = self->command, .options = self->options};
        one.options.report = true;
        result = put_lines(&one, older, out);
        lab_clear(&one);
    }
    return result;
}

/* Puts the table between the marks of the page. */
static int write_page(const lab *self, const char *path, const char *page, const char *made)
{
    const char *from = strstr(page, begins), *to = from != NULL ? strstr(from, ends) : NULL;
    if (to == NULL) return say_error(&self->command, "%s has no '<!-- summary -->' with an end", path);
    int head = (int)(from - page) + (int)strlen(begins);
    BLOCK char *text = text_of("%.*s%s%s", head, page, made, to);
    return write_file(self, path, text);
}

int summary_write(const lab *self)
{
    const char *path = self->options.page;
    BLOCK char *page = NULL, *made = NULL;
    size_t room = 0, size = 0;
    FILE *file = path != NULL ? fopen(path, "r") : NULL, *out = open_text(&made, &size);
    if (file != NULL && getdelim(&page, &room, '\0', file) < 0) page = NULL;
    if (file != NULL) fclose(file);
    const int result = put_table(self, page, out);
    close_text(out);
    TRY(result);
    fputs(made, stdout);
    if (path != NULL) TRY(write_page(self, path, page != NULL ? page : "", made));
    return report_file(self, "table.md", made);
}

const experiment summary = {
    .name = "summary",
    .summary = "One table of m1 and tables 1 to 3 from the cells in OUT",
    .details =
        "Writes OUT/summary-table.md. With --page also the table between '<!-- summary -->' and '<!-- end "
        "of summary -->' of a page: what OUT has no cells for stays there as it is.",
    .examples = "  stonet-paper summary --out results --page docs/paper.md",
};
