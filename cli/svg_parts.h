/* What the kinds of figures share: axes with ticks at round numbers, text that cannot become markup. */
#pragma once

#include <stdint.h>
#include <stdio.h>

typedef struct svg_axis {
    double low, high;              /* data units */
    double start, end;             /* pixels */
    double step;                   /* between ticks */
    int64_t first_tick, last_tick; /* as multiples of the step */
} svg_axis;

/* An axis over the range of the data and a little more; low > high: there was no finite point. */
svg_axis svg_axis_make(double low, double high, double start, double end);
/* Where a value, or a tick, lies in pixels. */
double svg_place(const svg_axis *along, double value);
double svg_place_tick(const svg_axis *along, int64_t tick);
/* Takes a value into the range; one that is not finite is passed over. */
void svg_widen(double value, double *low, double *high);

void svg_put_text(FILE *out, const char *text);
/* With a typographic minus, as wide as the digits. */
void svg_put_number(FILE *out, double value);
double svg_text_width(const char *text, double size);
