#include "cli/svg_parts.h"

#include <math.h>
#include <string.h>

#include "cli/show.h"

enum { TICKS = 6 };

double svg_place(const svg_axis *along, double value)
{
    return along->start + (value - along->low) / (along->high - along->low) * (along->end - along->start);
}

double svg_place_tick(const svg_axis *along, int64_t tick)
{
    return svg_place(along, (double)tick * along->step);
}

static void put_letter(FILE *out, char letter)
{
    const char *const entity = letter == '&'   ? "&amp;"
                               : letter == '<' ? "&lt;"
                               : letter == '>' ? "&gt;"
                               : letter == '"' ? "&quot;"
                                               : NULL;
    if (entity != NULL)
        fputs(entity, out);
    else
        fputc(letter, out);
}

void svg_put_text(FILE *out, const char *text)
{
    while (*text != '\0') {
        char shown[SHOWN_SIZE];
        const size_t length = show_next(&text, shown);
        for (size_t i = 0; i < length; i++) put_letter(out, shown[i]);
    }
}

void svg_put_number(FILE *out, double value)
{
    fprintf(out, "%s%.6g", value < 0 ? "\xe2\x88\x92" : "", fabs(value));
}

double svg_text_width(const char *text, double size)
{
    return 0.56 * size * (double)strlen(text);
}

/* The smallest of 1, 2, 2.5, 5, 10 times a power of ten that makes at most TICKS steps of the range. */
static double nice_step(double range)
{
    static const double nice[] = {1, 2, 2.5, 5, 10};
    double power = pow(10, floor(log10(range / TICKS)));
    for (size_t i = 0; i < sizeof nice / sizeof *nice; i++)
        if (nice[i] * power * TICKS >= range) return nice[i] * power;
    return 10 * power;
}

void svg_widen(double value, double *low, double *high)
{
    if (!isfinite(value)) return;
    if (value < *low) *low = value;
    if (value > *high) *high = value;
}

svg_axis svg_axis_make(double low, double high, double start, double end)
{
    if (low > high) { /* no finite point */
        low = 0;
        high = 1;
    }
    double range = high - low;
    if (range <= 1e-12 * fmax(fabs(low), fabs(high))) range = low != 0 ? fabs(low) : 1;
    svg_axis made = {.low = low - 0.04 * range,
                     .high = high + 0.04 * range,
                     .start = start,
                     .end = end,
                     .step = nice_step(range)};
    made.first_tick = (int64_t)ceil(made.low / made.step);
    made.last_tick = (int64_t)floor(made.high / made.step);
    return made;
}
