/*
 * Rows as curves: columns of numbers that stand in the order of an axis, such as the channels of a spectrum.
 * Before it is scaled, each row's curve x_1 .. x_m is prepared by itself; nothing is learned across rows.
 *
 *     snv          (x_k - mean) / sd, of the row
 *     centre       x_k - mean
 *     derivative1  slope at k of the parabola that fits the window around k best (Savitzky and Golay 1964)
 *     derivative2  its second derivative
 *     detrend      (x_k - the parabola that fits the whole row best) / sd (Barnes, Dhanoa and Lister 1989)
 *     snv-derivative1, snv-derivative2    derivative / sd
 *
 * At the ends of a curve the window is the first or last one. A flat curve becomes 0. Missing cells lie on
 * the line between their neighbours; a curve that lacks more than half of its cells is missing as a whole.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/words.h"

typedef enum sn_curve {
    SN_CURVE_NONE,
    SN_CURVE_SNV,
    SN_CURVE_CENTRE,
    SN_CURVE_DERIVATIVE1,
    SN_CURVE_DERIVATIVE2,
    SN_CURVE_DETREND,
    SN_CURVE_SNV_DERIVATIVE1,
    SN_CURVE_SNV_DERIVATIVE2
} sn_curve;
#define SN_CURVE_WORDS(between)                                                                              \
    "none" between "snv" between "centre" between "derivative1" between "derivative2" between                \
    "detrend" between "snv-derivative1" between "snv-derivative2"
extern const sn_words sn_curve_words;

/* A curve with a smaller part of its mean as standard deviation is flat but for rounding. */
#define SN_CURVE_FLAT 1e-12
enum { SN_CURVE_FEWEST = 5, SN_CURVE_MOST = 8192 }; /* columns of a curve */

typedef struct sn_curves {
    sn_curve how;
    int64_t window; /* channels of a derivative, odd */
    bool fine;      /* float is too coarse for the cells */
} sn_curves;

/* Whether the curve is divided by its standard deviation. */
bool sn_curve_divides(sn_curve how);
/* What the curve x (m) becomes but for the division, which is linear in x. */
void sn_curve_linear(const sn_curves *curves, int64_t m, const double *x, double *out);
/* What the curve becomes; NaN in x are filled in. False: too many cells are missing. */
bool sn_curve_prepare(const sn_curves *curves, int64_t m, double *x, double *out);
