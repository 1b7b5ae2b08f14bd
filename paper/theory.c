/* The theorems, measured: how fast each distance falls, with the slope that is predicted. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "cli/svg.h"
#include "paper/experiments.h"
#include "paper/report.h"
#include "paper/theory_parts.h"

enum { MOST_POINTS = 10, QUICK_DRAWS = 100000, FULL_DRAWS = 1000000 };

typedef struct curve {
    const char *row, *title, *field, *x_label;
    double predicted; /* slope in logarithms; NaN: none */
    const char *prediction;
    int64_t full_trials, quick_trials;
    size_t n_points;
    double point[MOST_POINTS];
} curve;

/* Two curves may share their cells: they have the same row. */
static const curve curves[] = {
    {"loss-gap",
     "Theorem 2.1: gap of the mean losses",
     "gap",
     "log10 sigma",
     2,
     "sigma^2 (second order of the loss)",
     10,
     3,
     6,
     {0.002, 0.005, 0.01, 0.02, 0.05, 0.1}},
    {"loss-gap",
     "Theorem 2.1: mean absolute gap of a row",
     "gap_row",
     "log10 sigma",
     1,
     "sigma (first order of the loss)",
     10,
     3,
     6,
     {0.002, 0.005, 0.01, 0.02, 0.05, 0.1}},
    {"theta",
     "Theorem 3.1: squared distance to theta*",
     "error2",
     "log10 (gamma_k / gamma_1)",
     1,
     "gamma_k",
     50,
     10,
     7,
     {100, 300, 1000, 3000, 10000, 30000, 100000}},
    {"posterior-step",
     "Theorem 3.2: posterior distance by step",
     "w2",
     "log10 (epsilon / sigma)",
     0.5,
     "epsilon^(1/2) or faster (a bound)",
     5,
     2,
     4,
     {0.05, 0.1, 0.2, 0.4}},
    {"posterior-time",
     "Theorem 3.2: posterior distance by time",
     "w2",
     "log10 (sweeps x epsilon / sigma)",
     (double)NAN,
     "exponential, then the floor that the step sets",
     5,
     2,
     8,
     {0.2, 0.5, 1, 2, 4, 8, 16, 40}},
};
enum { N_CURVES = sizeof curves / sizeof *curves };

static size_t points_of(const lab *self, const curve *which)
{
    /* The longest fits are left to the full form. */
    return self->options.quick && strcmp(which->row, "theta") == 0 ? which->n_points - 3 : which->n_points;
}

static cell cell_at(const lab *self, const curve *which, size_t point, int64_t trial)
{
    cell what = {.trial = trial};
    snprintf(what.row, sizeof what.row, "%s", which->row);
    snprintf(what.method, sizeof what.method, "%g", which->point[point]);
    snprintf(what.settings, sizeof what.settings, "%s", self->options.quick ? "quick" : "full");
    return what;
}

static stonet_status compute(lab *self, const cell *what, void *user, json_t *values)
{
    (void)user;
    double point = strtod(what->method, NULL);
    int64_t draws = self->options.quick ? QUICK_DRAWS : FULL_DRAWS;
    if (strcmp(what->row, "loss-gap") == 0) return theory_loss_gap(self, point, values);
    if (strcmp(what->row, "theta") == 0) return theory_theta(self, (int64_t)point, values);
    if (strcmp(what->row, "posterior-step") == 0) return theory_posterior(self, point, 60, draws, values);
    return theory_posterior(self, 0.1, point, draws, values);
}

/* ---- slopes ------------------------------------------------------------------------------------ */

typedef struct fitted {
    size_t n;
    double x[MOST_POINTS], y[MOST_POINTS],
        error[MOST_POINTS]; /* log10 of the abscissa and of the mean over trials */
    double slope, slope_error;
    int64_t trials; /* that are finished at every point */
} fitted;

static double abscissa(const curve *which, size_t point)
{
    double at = which->point[point];
    return log10(strcmp(which->row, "theta") == 0 ? theory_theta_step((int64_t)at) : at);
}

static double slope_of(size_t n, const double *x, const double *y)
{
    double mx = 0, my = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
    }
    return xy / xx;
}

/* log10 of the mean over the trials but `left_out` (0: none), at each point; false when there is nothing. */
static bool log_means(const lab *self, const curve *which, int64_t trials, int64_t left_out, double *y)
{
    for (size_t k = 0; k < points_of(self, which); k++) {
        double sum = 0;
        int64_t count = 0;
        for (int64_t t = 1; t <= trials; t++) {
            cell what = cell_at(self, which, k, t);
            double value = lab_value(self, &what, which->field);
            if (t == left_out || !isfinite(value)) continue;
            sum += value;
            count++;
        }
        if (count == 0) return false;
        y[k] = log10(sum / (double)count);
    }
    return true;
}

static int64_t finished_trials(const lab *self, const curve *which, int64_t trials)
{
    int64_t finished = 0;
    for (int64_t t = 1; t <= trials; t++) {
        bool whole = true;
        for (size_t k = 0; k < points_of(self, which) && whole; k++) {
            cell what = cell_at(self, which, k, t);
            whole = isfinite(lab_value(self, &what, which->field));
        }
        finished += whole;
    }
    return finished;
}

/* Means and slope, with jackknife errors over the trials that are finished. */
static bool fit_curve(const lab *self, const curve *which, int64_t trials, fitted *out)
{
    *out = (fitted){.n = points_of(self, which), .trials = finished_trials(self, which, trials)};
    if (!log_means(self, which, trials, 0, out->y)) return false;
    for (size_t k = 0; k < out->n; k++) out->x[k] = abscissa(which, k);
    out->slope = slope_of(out->n, out->x, out->y);
    double spread = 0, point_spread[MOST_POINTS] = {0};
    for (int64_t t = 1; t <= trials && out->trials > 1; t++) {
        double y[MOST_POINTS] = {0};
        if (!log_means(self, which, trials, t, y)) return false;
        double difference = slope_of(out->n, out->x, y) - out->slope;
        spread += difference * difference;
        for (size_t k = 0; k < out->n; k++) point_spread[k] += (y[k] - out->y[k]) * (y[k] - out->y[k]);
    }
    double factor = out->trials > 1 ? (double)(out->trials - 1) / (double)out->trials : 0.0;
    out->slope_error = out->trials > 1 ? sqrt(factor * spread) : (double)NAN;
    for (size_t k = 0; k < out->n; k++) out->error[k] = sqrt(factor * point_spread[k]);
    return true;
}

/* ---- the report -------------------------------------------------------------------------------- */

static int draw(const lab *self, const curve *which, const fitted *made)
{
    double line[MOST_POINTS];
    size_t last = made->n - 1;
    bool has_slope = isfinite(which->predicted);
    for (size_t k = 0; k < made->n; k++)
        line[k] = made->y[last] + which->predicted * (made->x[k] - made->x[last]);
    const svg_series series[] = {
        {.label = "measured", .n = (int64_t)made->n, .x = made->x, .y = made->y, .error = made->error},
        {.label = "predicted slope", .n = (int64_t)made->n, .x = made->x, .y = line}};
    const svg_panel panel = {.kind = SVG_LINE,
                             .x_label = which->x_label,
                             .y_label = which->field[0] == 'g' ? "log10 of the gap" : "log10 of the distance",
                             .series = series,
                             .n_series = has_slope ? 2 : 1};
    char subtitle[128];
    snprintf(subtitle, sizeof subtitle, "predicted: %s", which->prediction);
    const svg_figure figure = {
        .title = which->title, .subtitle = subtitle, .panels = &panel, .n_panels = 1, .columns = 1};
    char suffix[64];
    snprintf(suffix, sizeof suffix, "%s-%s.svg", which->row, which->field);
    char *text = svg_render(&figure);
    int result = report_file(self, suffix, text);
    free(text);
    return result;
}

static void put_rows(documents *to, const curve *which, const fitted *made)
{
    fprintf(to->markdown, "### %s\n\n", which->title);
    if (isfinite(which->predicted))
        fprintf(to->markdown, "Slope in logarithms %.3f (%.3f); predicted: %.2g, %s. %" PRId64 " trials.\n\n",
                made->slope, made->slope_error, which->predicted, which->prediction, made->trials);
    else
        fprintf(to->markdown, "Predicted: %s. %" PRId64 " trials.\n\n", which->prediction, made->trials);
    fprintf(to->markdown, "| %s | log10 of the mean |\n| --- | --- |\n", which->x_label);
    json_t *points = json_array();
    for (size_t k = 0; k < made->n; k++) {
        fprintf(to->markdown, "| %.3f | %.3f (%.3f) |\n", made->x[k], made->y[k], made->error[k]);
        fprintf(to->csv, "%s,%s,%.9g,%.9g,%.9g\n", which->row, which->field, made->x[k], made->y[k],
                made->error[k]);
        if (json_array_append_new(points, json_pack("[f,f,f]", made->x[k], made->y[k], made->error[k])) != 0)
            to->broken = true;
    }
    fputc('\n', to->markdown);
    documents_add(to, json_pack("{s:s, s:s, s:f, s:o, s:o, s:I, s:o}", "row", which->row, "field",
                                which->field, "slope", made->slope, "slope_se",
                                isfinite(made->slope_error) ? json_real(made->slope_error) : json_null(),
                                "predicted",
                                isfinite(which->predicted) ? json_real(which->predicted) : json_null(),
                                "trials", (json_int_t)made->trials, "points", points));
}

static int write_report(const lab *self)
{
    documents to;
    int result = documents_open(self, &to);
    if (result == EXIT_DONE) {
        fputs("row,field,log10_x,log10_mean,se\n", to.csv);
        fputs("# The theorems, measured\n\n", to.markdown);
    }
    for (size_t c = 0; c < N_CURVES && result == EXIT_DONE; c++) {
        fitted made;
        int64_t trials = lab_trials(self, curves[c].full_trials, curves[c].quick_trials);
        if (!fit_curve(self, &curves[c], trials, &made)) continue;
        put_rows(&to, &curves[c], &made);
        result = draw(self, &curves[c], &made);
    }
    return documents_close(self, &to, result);
}

static int experiment(lab *self)
{
    const char *names[N_CURVES];
    for (size_t c = 0; c < N_CURVES; c++) names[c] = curves[c].row;
    int result = lab_check_methods(self, names, N_CURVES);
    if (result != EXIT_DONE) return result;
    plan cells = {0};
    for (size_t c = 0; c < N_CURVES; c++) {
        bool shared = c > 0 && strcmp(curves[c].row, curves[c - 1].row) == 0;
        if (shared || !lab_wants(self, curves[c].row) || !lab_wants_line(self, curves[c].row, 0)) continue;
        int64_t trials = lab_trials(self, curves[c].full_trials, curves[c].quick_trials);
        for (int64_t trial = 1; trial <= trials; trial++)
            for (size_t k = 0; k < points_of(self, &curves[c]); k++) {
                cell what = cell_at(self, &curves[c], k, trial);
                plan_add(&cells, &what);
            }
    }
    result = lab_run(self, &cells, compute, NULL);
    plan_free(&cells);
    int written = write_report(self);
    return result != EXIT_DONE ? result : written;
}

static const cli_option options[] = {
    LAB_OPTIONS("Repetitions of every point; 5 to 50, by the curve, when not given")};

static int run(const cli_command *command, int argc, char **argv)
{
    return lab_do(command, argc, argv, experiment);
}

const cli_command theory_command = {
    .program = "stonet-paper",
    .name = "theory",
    .summary = "Theorems 2.1, 3.1 and 3.2: measured slopes beside the predicted ones",
    .operands = "",
    .details =
        "Curves (for --methods): loss-gap, theta, posterior-step, posterior-time. Needs no data folder.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .examples = "  stonet-paper theory --out results",
    .run = run,
};
