#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/room.h"
#include "cli/svg.h"
#include "cli/svg_parts.h"

/* Sizes in pixels. */
enum { WIDTH = 640, LEFT = 190, RIGHT = 24, TOP = 56, BOTTOM = 58, STEP = 22, BAR = 14, LONGEST_NAME = 24 };

/* At most LONGEST_NAME characters; what is cut off leaves an ellipsis. Counts bytes that begin a character.
 */
static void put_name(FILE *out, const char *name)
{
    char text[4 * LONGEST_NAME + 4];
    size_t used = 0, characters = 0;
    while (name[used] != '\0' && used < sizeof text - 4) {
        if (((unsigned char)name[used] & 0xC0U) != 0x80U && ++characters > LONGEST_NAME) break;
        text[used] = name[used];
        used++;
    }
    text[used] = '\0';
    if (name[used] != '\0') memcpy(text + used, "\xe2\x80\xa6", 4);
    svg_put_text(out, text);
}

static void draw_ticks(FILE *out, const svg_axis *x, double bottom, const char *label)
{
    for (int64_t tick = x->first_tick; tick <= x->last_tick; tick++) {
        const double at = svg_place_tick(x, tick);
        fprintf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.1f\" stroke=\"#e6e6e6\"/>\n", at, at,
                TOP, bottom);
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"#444\">", at, bottom + 18);
        svg_put_number(out, (double)tick * x->step);
        fputs("</text>\n", out);
    }
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", 0.5 * (x->start + x->end),
            bottom + 42);
    svg_put_text(out, label);
    fputs("</text>\n", out);
}

static void draw_bar(FILE *out, const svg_axis *x, const svg_bar *bar, double middle)
{
    const double zero = svg_place(x, 0.0), end = svg_place(x, isfinite(bar->value) ? bar->value : 0.0);
    fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 10, middle + 4);
    put_name(out, bar->name);
    fprintf(out, "</text>\n<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"#0072b2\"/>\n",
            fmin(zero, end), middle - 0.5 * BAR, fabs(end - zero), BAR);
    if (!(bar->error > 0.0) || !isfinite(bar->value)) return;
    fprintf(out,
            "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#000\" "
            "stroke-width=\"1.5\"/>\n",
            svg_place(x, bar->value - bar->error), svg_place(x, bar->value + bar->error), middle, middle);
}

char *svg_render_bars(const char *title, const char *label, const svg_bar *bars, size_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_text(&text, &size);
    double low = 0.0, high = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double error = isfinite(bars[i].error) ? bars[i].error : 0.0;
        svg_widen(bars[i].value - error, &low, &high);
        svg_widen(bars[i].value + error, &low, &high);
    }
    const svg_axis x = svg_axis_make(low, high, LEFT, WIDTH - RIGHT);
    const double bottom = TOP + STEP * (double)count;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" "
            "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" "
            "fill=\"#fff\"/>\n",
            WIDTH, bottom + BOTTOM, WIDTH, bottom + BOTTOM);
    fputs("<text x=\"24\" y=\"34\" font-size=\"18\" font-weight=\"bold\">", out);
    svg_put_text(out, title);
    fputs("</text>\n", out);
    draw_ticks(out, &x, bottom, label);
    for (size_t i = 0; i < count; i++) draw_bar(out, &x, &bars[i], TOP + STEP * ((double)i + 0.5));
    fprintf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.1f\" stroke=\"#444\"/>\n</svg>\n",
            svg_place(&x, 0.0), svg_place(&x, 0.0), TOP, bottom);
    close_text(out);
    return text;
}
