#include "stats/errors.h"

#include <math.h>
#include <stdbool.h>

#include "stats/distributions.h"

static const double LOG_ROOT_2PI = 0.91893853320467274178;

/* Beyond this, erfc is close to the smallest double, and its first terms at infinity are exact. */
static const double FAR = 30.0;

static double normal_log_upper(double e)
{
    if (e <= FAR) return log(0.5 * erfc(e * 0.70710678118654752440));
    const double over = 1.0 / (e * e);
    return -0.5 * e * e - log(e) - LOG_ROOT_2PI + log1p(-over + 3.0 * over * over);
}

double sn_errors_log_upper(sn_errors law, double e)
{
    if (e == (double)INFINITY) return -(double)INFINITY;
    if (e == -(double)INFINITY) return 0.0;
    if (law == SN_ERRORS_NORMAL) return normal_log_upper(e);
    if (law == SN_ERRORS_EXTREME) return -exp(e);
    return e > 0.0 ? -e - log1p(exp(-e)) : -log1p(exp(e));
}

double sn_errors_log_lower(sn_errors law, double e)
{
    if (law != SN_ERRORS_EXTREME) return sn_errors_log_upper(law, -e); /* they are symmetric */
    if (e == -(double)INFINITY) return e;
    /* log(1 - exp(-h)), h = exp(e): e itself where h is tiny */
    return e < -30.0 ? e : log(-expm1(-exp(e)));
}

double sn_errors_log_density(sn_errors law, double e)
{
    if (isinf(e)) return -(double)INFINITY;
    if (law == SN_ERRORS_NORMAL) return -0.5 * e * e - LOG_ROOT_2PI;
    if (law == SN_ERRORS_EXTREME) return e - exp(e);
    return -fabs(e) - 2.0 * log1p(exp(-fabs(e)));
}

double sn_errors_score(sn_errors law, double e)
{
    if (law == SN_ERRORS_NORMAL) return e;
    if (law == SN_ERRORS_EXTREME) return expm1(e);
    return tanh(0.5 * e);
}

double sn_errors_median(sn_errors law)
{
    return law == SN_ERRORS_EXTREME ? log(log(2.0)) : 0.0;
}

/* log(exp(a) - exp(b)), a >= b. */
static double log_difference(double a, double b)
{
    return b == -(double)INFINITY ? a : a + log(-expm1(b - a));
}

/* By the tail that both bounds are in; where they are in none, either will do. */
double sn_errors_log_between(sn_errors law, double low, double high)
{
    if (low > sn_errors_median(law))
        return log_difference(sn_errors_log_upper(law, low), sn_errors_log_upper(law, high));
    return log_difference(sn_errors_log_lower(law, high), sn_errors_log_lower(law, low));
}

/* The e with log P(E > e) = p. The normal one by its quantile or, where exp(p) is no normal double, by
   Newton's steps from sqrt(-2 p) on the logarithm, whose slope is - f / P(E > e). */
static double upper_quantile(sn_errors law, double p)
{
    if (law == SN_ERRORS_EXTREME) return log(-p);
    if (law == SN_ERRORS_LOGISTIC) return p < -30.0 ? -p : log(expm1(-p));
    if (p > -600.0) return -sn_normal_quantile(exp(p));
    double e = sqrt(-2.0 * p);
    for (int k = 0; k < 4; k++) {
        const double at = normal_log_upper(e);
        e += (at - p) * exp(at - sn_errors_log_density(law, e));
    }
    return e;
}

static double lower_quantile(sn_errors law, double p)
{
    if (law != SN_ERRORS_EXTREME) return -upper_quantile(law, p);
    return p < -30.0 ? p : log(-log1p(-exp(p)));
}

double sn_errors_between(sn_errors law, double low, double high, double u)
{
    const bool in_upper = low > sn_errors_median(law);
    const double from = in_upper ? sn_errors_log_upper(law, low) : sn_errors_log_lower(law, high);
    const double to = in_upper ? sn_errors_log_upper(law, high) : sn_errors_log_lower(law, low);
    /* log((1 - part) exp(from) + part exp(to)), to <= from */
    const double part = in_upper ? u : 1.0 - u, p = from + log1p(part * expm1(to - from));
    const double e = in_upper ? upper_quantile(law, p) : lower_quantile(law, p);
    if (!isfinite(e)) return isfinite(low) ? low : high; /* so far out that there is one number left */
    return fmin(fmax(e, low), high);
}
