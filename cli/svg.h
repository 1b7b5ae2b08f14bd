/*
 * Small, clean figures as SVG text: scatter and line plots in a grid of panels, white ground, a palette that
 * colour-blind readers can tell apart, a different marker for each series of a line plot. The page of a
 * report draws its charts itself (src/report/page/plots.js), since they answer to the pointer and follow the
 * screen.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum svg_kind {
    SVG_SCATTER, /* translucent dots; the series are drawn interleaved, so that none covers the others */
    SVG_LINE     /* lines through the points in their order, with markers and optional error bars */
} svg_kind;

typedef struct svg_series {
    const char *label; /* in the legend; NULL: not there */
    int64_t n;
    const double *x, *y; /* points that are not finite are left out */
    const double *error; /* half-length of the error bars; NULL: none */
    bool open;           /* line plots: open markers without a line, in the style of the series before */
} svg_series;

typedef struct svg_panel {
    svg_kind kind;
    bool x_log10; /* x are logarithms: a tick at every x of the first series, named by the number itself */
    const char *title; /* NULL: none */
    const char *x_label, *y_label;
    const svg_series *series;
    size_t n_series;
} svg_panel;

typedef struct svg_figure {
    const char *title;    /* NULL: none */
    const char *subtitle; /* NULL: none */
    const svg_panel *panels;
    size_t n_panels;
    size_t columns; /* panels beside each other */
} svg_figure;

/* The figure as text, to be freed with free(). */
char *svg_render(const svg_figure *figure);

/* Named amounts as horizontal bars from 0, in the order given. */
typedef struct svg_bar {
    const char *name; /* shortened when it is long */
    double value, error;
} svg_bar;

/* The same as svg_render, for bars. */
char *svg_render_bars(const char *title, const char *label, const svg_bar *bars, size_t count);
