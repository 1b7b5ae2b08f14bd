#include "cli/svg.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/room.h"
#include "cli/svg_parts.h"

/* Sizes in pixels: one panel with its axes and labels, and where its frame lies inside. */
enum {
    PANEL_WIDTH = 640,
    PANEL_HEIGHT = 500,
    FRAME_LEFT = 84,
    FRAME_RIGHT = 20,
    FRAME_BOTTOM = 58,
    TITLE_ROOM = 26,
    LEGEND_ROOM = 26,
    HEAD_MARGIN = 24,
    MOST_TICKS = 32
};

/* Okabe and Ito's colours, the strongest contrasts first, and three more. */
static const char *const palette[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                      "#56b4e9", "#000000", "#8c6d31", "#882255", "#999999"};
enum { PALETTE_SIZE = sizeof palette / sizeof *palette, MARKERS = 4 };

static void find_ranges(const svg_panel *panel, double x[2], double y[2])
{
    x[0] = y[0] = INFINITY;
    x[1] = y[1] = -INFINITY;
    for (size_t s = 0; s < panel->n_series; s++) {
        const svg_series *series = &panel->series[s];
        for (int64_t i = 0; i < series->n; i++) {
            if (!isfinite(series->x[i]) || !isfinite(series->y[i])) continue;
            double error = series->error != NULL && isfinite(series->error[i]) ? series->error[i] : 0;
            svg_widen(series->x[i], &x[0], &x[1]);
            svg_widen(series->y[i] - error, &y[0], &y[1]);
            svg_widen(series->y[i] + error, &y[0], &y[1]);
        }
    }
}

/* Where the ticks of the abscissa are; gives how many. */
static size_t find_x_ticks(const svg_panel *panel, const svg_axis *x, double at[MOST_TICKS])
{
    size_t count = 0;
    if (!panel->x_log10) {
        for (int64_t tick = x->first_tick; tick <= x->last_tick && count < MOST_TICKS; tick++)
            at[count++] = (double)tick * x->step;
        return count;
    }
    for (int64_t i = 0; panel->n_series > 0 && i < panel->series[0].n && count < MOST_TICKS; i++) {
        double value = panel->series[0].x[i];
        if (value >= x->low && value <= x->high) at[count++] = value;
    }
    return count;
}

/* Grid lines come first, so that ticks and data lie above them. y grows downwards in SVG: y->start is the
   lower end of the frame. */
static void draw_axes(FILE *out, const svg_panel *panel, const svg_axis *x, const svg_axis *y)
{
    double at[MOST_TICKS];
    size_t x_ticks = find_x_ticks(panel, x, at);
    fprintf(out, "<g class=\"grid\">\n");
    for (size_t i = 0; i < x_ticks; i++)
        fprintf(out, "<path d=\"M%.1f %.1fV%.1f\"/>\n", svg_place(x, at[i]), y->start, y->end);
    for (int64_t tick = y->first_tick; tick <= y->last_tick; tick++)
        fprintf(out, "<path d=\"M%.1f %.1fH%.1f\"/>\n", x->start, svg_place_tick(y, tick), x->end);
    fprintf(out, "</g>\n<g class=\"tick\" text-anchor=\"middle\">\n");
    for (size_t i = 0; i < x_ticks; i++) {
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">", svg_place(x, at[i]), y->start + 18);
        svg_put_number(out, panel->x_log10 ? pow(10, at[i]) : at[i]);
        fprintf(out, "</text>\n");
    }
    fprintf(out, "</g>\n<g class=\"tick\" text-anchor=\"end\">\n");
    for (int64_t tick = y->first_tick; tick <= y->last_tick; tick++) {
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">", x->start - 8, svg_place_tick(y, tick) + 4.5);
        svg_put_number(out, (double)tick * y->step);
        fprintf(out, "</text>\n");
    }
    fprintf(out, "</g>\n<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", x->start, y->end, y->start,
            x->end);
    double middle_x = 0.5 * (x->start + x->end);
    double middle_y = 0.5 * (y->start + y->end);
    fprintf(out, "<text class=\"label\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">", middle_x,
            y->start + 42);
    svg_put_text(out, panel->x_label);
    fprintf(out,
            "</text>\n<text class=\"label\" text-anchor=\"middle\" transform=\"translate(%.1f %.1f) "
            "rotate(-90)\">",
            x->start - 66, middle_y);
    svg_put_text(out, panel->y_label);
    fprintf(out, "</text>\n");
}

/* ---- series ------------------------------------------------------------------------------------ */

/* 0: circle, 1: square, 2: triangle, else: diamond, all of about the same area as a circle of radius r. */
static void draw_marker(FILE *out, size_t marker, double x, double y, double r)
{
    switch (marker) {
    case 0:
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", x, y, r);
        break;
    case 1:
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", x - 0.9 * r,
                y - 0.9 * r, 1.8 * r, 1.8 * r);
        break;
    case 2:
        fprintf(out, "<path d=\"M%.1f %.1fl%.1f %.1fh%.1fz\"/>\n", x, y - 1.2 * r, 1.2 * r, 2.1 * r,
                -2.4 * r);
        break;
    default:
        fprintf(out, "<path d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz\"/>\n", x, y - 1.3 * r, 1.3 * r,
                1.3 * r, -1.3 * r, 1.3 * r, -1.3 * r, -1.3 * r);
    }
}

/* The number that colour and marker of series s go by: open series share that of the one before. */
static size_t style_of(const svg_panel *panel, size_t s)
{
    size_t closed = 0;
    for (size_t i = 0; i <= s; i++) closed += !panel->series[i].open;
    return closed > 0 ? closed - 1 : 0;
}

/* Where the colours begin again, the markers are others. */
static size_t marker_of(size_t style)
{
    return (style + style / PALETTE_SIZE) % MARKERS;
}

static bool drawable(const svg_series *series, int64_t i)
{
    return i < series->n && isfinite(series->x[i]) && isfinite(series->y[i]);
}

/* Draws point i of every series before point i + 1, so that no series hides another. More points are smaller
   and more transparent. */
static void draw_scatter(FILE *out, const svg_panel *panel, const svg_axis *x, const svg_axis *y)
{
    int64_t most = 0;
    int64_t total = 0;
    for (size_t s = 0; s < panel->n_series; s++) {
        total += panel->series[s].n;
        if (panel->series[s].n > most) most = panel->series[s].n;
    }
    double radius = total > 5000 ? 1.6 : total > 1000 ? 2.2 : 3.2;
    fprintf(out, "<g fill-opacity=\"%.2f\">\n", total > 1000 ? 0.5 : 0.7);
    for (int64_t i = 0; i < most; i++)
        for (size_t s = 0; s < panel->n_series; s++) {
            const svg_series *series = &panel->series[s];
            if (drawable(series, i))
                fprintf(out, "<circle class=\"s%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n",
                        s % PALETTE_SIZE, svg_place(x, series->x[i]), svg_place(y, series->y[i]), radius);
        }
    fprintf(out, "</g>\n");
}

static void draw_open(FILE *out, const svg_series *series, size_t s, const svg_axis *x, const svg_axis *y)
{
    fprintf(out, "<g fill=\"none\" stroke=\"%s\" stroke-width=\"1.4\">\n", palette[s % PALETTE_SIZE]);
    for (int64_t i = 0; i < series->n; i++)
        if (drawable(series, i))
            draw_marker(out, marker_of(s), svg_place(x, series->x[i]), svg_place(y, series->y[i]), 6);
    fprintf(out, "</g>\n");
}

/* The line breaks where a value is not finite. Error bars are one standard error each way. Long lines (above
   60 points) have no markers. */
static void draw_line(FILE *out, const svg_series *series, size_t s, const svg_axis *x, const svg_axis *y)
{
    const char *colour = palette[s % PALETTE_SIZE];
    fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-linejoin=\"round\" d=\"",
            colour);
    char move = 'M';
    for (int64_t i = 0; i < series->n; i++) {
        if (!drawable(series, i)) {
            move = 'M';
            continue;
        }
        fprintf(out, "%c%.1f %.1f", move, svg_place(x, series->x[i]), svg_place(y, series->y[i]));
        move = 'L';
    }
    fprintf(out, "\"/>\n<g stroke=\"%s\" stroke-width=\"1.2\">\n", colour);
    for (int64_t i = 0; series->error != NULL && i < series->n; i++)
        if (drawable(series, i) && isfinite(series->error[i]))
            fprintf(out, "<path d=\"M%.1f %.1fV%.1f\"/>\n", svg_place(x, series->x[i]),
                    svg_place(y, series->y[i] - series->error[i]),
                    svg_place(y, series->y[i] + series->error[i]));
    fprintf(out, "</g>\n<g class=\"s%zu\">\n", s % PALETTE_SIZE);
    for (int64_t i = 0; series->n <= 60 && i < series->n; i++)
        if (drawable(series, i))
            draw_marker(out, marker_of(s), svg_place(x, series->x[i]), svg_place(y, series->y[i]), 4);
    fprintf(out, "</g>\n");
}

/* Where the next entry of a legend goes: to a new line when the present one is full. */
static void legend_step(const char *label, double left, double *x, double *y)
{
    double width = 15 + svg_text_width(label, 14);
    if (*x > left && *x + width > left + PANEL_WIDTH - FRAME_LEFT - FRAME_RIGHT) {
        *x = left;
        *y += LEGEND_ROOM;
    }
}

/* Draws the legend with its first line at (left, y); gives the height it takes. */
static double draw_legend(FILE *out, const svg_panel *panel, double left, double y)
{
    double x = left, top = y;
    bool any = false;
    for (size_t s = 0; s < panel->n_series; s++) {
        const char *label = panel->series[s].label;
        if (label == NULL) continue;
        any = true;
        legend_step(label, left, &x, &y);
        size_t style = style_of(panel, s);
        if (panel->series[s].open)
            fprintf(out, "<g fill=\"none\" stroke=\"%s\">", palette[style % PALETTE_SIZE]);
        else
            fprintf(out, "<g class=\"s%zu\">", style % PALETTE_SIZE);
        draw_marker(out, panel->kind == SVG_LINE ? marker_of(style) : 0, x + 5, y - 4.5, 4.5);
        fprintf(out, "</g><text class=\"label\" x=\"%.1f\" y=\"%.1f\">", x + 15, y);
        svg_put_text(out, label);
        fprintf(out, "</text>\n");
        x += 15 + svg_text_width(label, 14) + 24;
    }
    return any ? y - top + LEGEND_ROOM : 0;
}

/* ---- panels and the figure --------------------------------------------------------------------- */

/* The frame takes what title and legend leave of the height. (left, top) is the corner of the panel in the
   figure. */
static void draw_panel(FILE *out, const svg_panel *panel, double left, double top)
{
    double at = top + 6;
    if (panel->title != NULL) {
        fprintf(out, "<text class=\"panel\" x=\"%.1f\" y=\"%.1f\">", left + FRAME_LEFT, at + 14);
        svg_put_text(out, panel->title);
        fprintf(out, "</text>\n");
        at += TITLE_ROOM;
    }
    at += draw_legend(out, panel, left + FRAME_LEFT, at + 14);
    double range_x[2];
    double range_y[2];
    find_ranges(panel, range_x, range_y);
    svg_axis x = svg_axis_make(range_x[0], range_x[1], left + FRAME_LEFT, left + PANEL_WIDTH - FRAME_RIGHT);
    svg_axis y = svg_axis_make(range_y[0], range_y[1], top + PANEL_HEIGHT - FRAME_BOTTOM, at + 4);
    draw_axes(out, panel, &x, &y);
    if (panel->kind == SVG_SCATTER)
        draw_scatter(out, panel, &x, &y);
    else
        for (size_t s = 0; s < panel->n_series; s++)
            (panel->series[s].open ? draw_open : draw_line)(out, &panel->series[s], style_of(panel, s), &x,
                                                            &y);
}

/* Styles are classes, which keeps a file of many points small: s0, s1 .. fill with the colours of the
   palette. */
static void draw_head(FILE *out, const svg_figure *figure, double width, double height)
{
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
        "font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n<style>\n"
        ".title{font-size:20px;font-weight:bold;fill:#1a1a1a}.subtitle{font-size:14px;fill:#555}\n"
        ".panel{font-size:16px;font-weight:bold;fill:#1a1a1a}.label{font-size:14px;fill:#1a1a1a}\n"
        ".tick{font-size:13px;fill:#444}.grid{stroke:#e8e8e8}.axis{stroke:#444;fill:none}\n",
        width, height, width, height);
    for (int i = 0; i < PALETTE_SIZE; i++) fprintf(out, ".s%d{fill:%s}", i, palette[i]);
    fprintf(out, "\n</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
    if (figure->title != NULL) {
        fprintf(out, "<text class=\"title\" x=\"%d\" y=\"%d\">", HEAD_MARGIN, HEAD_MARGIN + 12);
        svg_put_text(out, figure->title);
        fprintf(out, "</text>\n");
    }
    if (figure->subtitle != NULL) {
        fprintf(out, "<text class=\"subtitle\" x=\"%d\" y=\"%d\">", HEAD_MARGIN, HEAD_MARGIN + 36);
        svg_put_text(out, figure->subtitle);
        fprintf(out, "</text>\n");
    }
}

char *svg_render(const svg_figure *figure)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_text(&text, &size);
    size_t columns = figure->columns < 1 ? 1 : figure->columns;
    if (columns > figure->n_panels && figure->n_panels > 0) columns = figure->n_panels;
    size_t rows = (figure->n_panels + columns - 1) / columns;
    double top = figure->subtitle != NULL ? 76 : figure->title != NULL ? 52 : 10;
    draw_head(out, figure, (double)columns * PANEL_WIDTH + 10, top + (double)rows * PANEL_HEIGHT);
    for (size_t i = 0; i < figure->n_panels; i++) {
        const size_t row = i / columns;
        const size_t column = i % columns;
        draw_panel(out, &figure->panels[i], (double)column * PANEL_WIDTH, top + (double)row * PANEL_HEIGHT);
    }
    fprintf(out, "</svg>\n");
    close_text(out);
    return text;
}
