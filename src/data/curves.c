#include "data/curves.h"

#include <math.h>

SN_DEFINE_WORDS(sn_curve_words, "curves", SN_CURVE_SNV_DERIVATIVE2, SN_CURVE_WORDS);

bool sn_curve_divides(sn_curve how)
{
    return how == SN_CURVE_SNV || how == SN_CURVE_DETREND || how == SN_CURVE_SNV_DERIVATIVE1 ||
           how == SN_CURVE_SNV_DERIVATIVE2;
}

/* The parabola that fits m neighbouring numbers best: a + b t + c (t^2 - s), t from -(m - 1)/2 to (m - 1)/2,
   s the mean of t^2, so that its three terms are orthogonal. */
typedef struct parabola {
    double a, b, c, s;
} parabola;

static parabola fit_parabola(int64_t m, const double *x)
{
    const double middle = (double)(m - 1) / 2.0, s = ((double)m * (double)m - 1.0) / 12.0;
    double sum = 0.0, slope = 0.0, bend = 0.0, slopes = 0.0, bends = 0.0;
    for (int64_t k = 0; k < m; k++) {
        const double t = (double)k - middle, u = t * t - s;
        sum += x[k];
        slope += t * x[k];
        bend += u * x[k];
        slopes += t * t;
        bends += u * u;
    }
    return (parabola){sum / (double)m, slope / slopes, bend / bends, s};
}

static void differentiate(int64_t m, int64_t window, int order, const double *x, double *out)
{
    const int64_t half = window / 2;
    for (int64_t k = 0; k < m; k++) {
        const int64_t first = k < half ? 0 : k + half >= m ? m - window : k - half;
        const parabola p = fit_parabola(window, x + first);
        out[k] = order == 1 ? p.b + 2.0 * p.c * (double)(k - first - half) : 2.0 * p.c;
    }
}

void sn_curve_linear(const sn_curves *curves, int64_t m, const double *x, double *out)
{
    const sn_curve how = curves->how;
    if (how == SN_CURVE_DERIVATIVE1 || how == SN_CURVE_SNV_DERIVATIVE1) {
        differentiate(m, curves->window, 1, x, out);
        return;
    }
    if (how == SN_CURVE_DERIVATIVE2 || how == SN_CURVE_SNV_DERIVATIVE2) {
        differentiate(m, curves->window, 2, x, out);
        return;
    }
    parabola p = fit_parabola(m, x);
    if (how != SN_CURVE_DETREND) p.b = p.c = 0.0;
    for (int64_t k = 0; k < m; k++) {
        const double t = (double)k - (double)(m - 1) / 2.0;
        out[k] = how == SN_CURVE_NONE ? x[k] : x[k] - p.a - p.b * t - p.c * (t * t - p.s);
    }
}

/* Missing cells on the line between their neighbours, or at the nearest one's height at the ends. */
static bool fill_gaps(int64_t m, double *x)
{
    int64_t missing = 0, last = -1;
    for (int64_t k = 0; k < m; k++) missing += isnan(x[k]);
    if (2 * missing > m) return false;
    for (int64_t k = 0; missing > 0 && k <= m; k++) {
        if (k < m && isnan(x[k])) continue;
        for (int64_t i = last + 1; i < k; i++)
            x[i] = last < 0 ? x[k]
                   : k == m ? x[last]
                            : x[last] + (x[k] - x[last]) * (double)(i - last) / (double)(k - last);
        last = k;
    }
    return true;
}

bool sn_curve_prepare(const sn_curves *curves, int64_t m, double *x, double *out)
{
    if (!fill_gaps(m, x)) return false;
    sn_curve_linear(curves, m, x, out);
    if (!sn_curve_divides(curves->how)) return true;
    double mean = 0.0, squares = 0.0;
    for (int64_t k = 0; k < m; k++) mean += x[k] / (double)m;
    for (int64_t k = 0; k < m; k++) squares += (x[k] - mean) * (x[k] - mean);
    const double sd = sqrt(squares / (double)(m - 1));
    for (int64_t k = 0; k < m; k++) out[k] = sd > SN_CURVE_FLAT * fabs(mean) ? out[k] / sd : 0.0;
    return true;
}
