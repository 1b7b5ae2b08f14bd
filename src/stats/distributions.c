#include "stats/distributions.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

static const double two_pi = 6.283185307179586476925286766559;

/* Terms that a series or continued fraction near its slowest point (x ~ shape) may take: about 6 sqrt(shape),
   so this serves shapes up to 10^10. */
enum { MAX_TERMS = 600000 };

/* log Gamma(a + 1) less Stirling's formula: lgamma(a + 1) - (a + 1/2) log a + a - log(2 pi) / 2. */
static double stirling_error(double a)
{
    if (a < 16.0) {
        int sign;
        return lgamma_r(a + 1.0, &sign) - (a + 0.5) * log(a) + a - 0.5 * log(two_pi);
    }
    double s = 1.0 / (a * a);
    return (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s / 1188)))) / a;
}

/* a log(a / m) + m - a without the cancellation when a ~ m. With v = (a - m) / (a + m),
   log(a / m) = 2 atanh(v), whose series gives (a - m) v + 2 a (v^3 / 3 + v^5 / 5 + ...). */
static double deviance(double a, double m)
{
    if (fabs(a - m) > 0.1 * (a + m)) return a * log(a / m) + m - a;
    double v = (a - m) / (a + m);
    double sum = (a - m) * v;
    double power = 2.0 * a * v;
    for (int j = 1; j < 100; j++) {
        power *= v * v;
        double next = sum + power / (2 * j + 1);
        if (next == sum) break;
        sum = next;
    }
    return sum;
}

/* x^a e^-x / Gamma(a + 1), with the large logarithms cancelled by hand (Loader's saddle-point form). */
static double gamma_factor(double a, double x)
{
    return exp(-stirling_error(a) - deviance(a, x)) / sqrt(two_pi * a);
}

/* P(a, x) / factor = 1 + x / (a + 1) + x^2 / ((a + 1)(a + 2)) + ..; for x < a + 1. */
static double gamma_series(double a, double x)
{
    double term = 1.0;
    double sum = 1.0;
    for (int j = 1; j < MAX_TERMS; j++) {
        term *= x / (a + j);
        sum += term;
        if (term < sum * 0.5 * DBL_EPSILON) break;
    }
    return sum;
}

/* Modified Lentz evaluation keeps the partial numerators and denominators off zero. */
static double away_from_zero(double value)
{
    return fabs(value) < DBL_MIN ? DBL_MIN : value;
}

/* Q(a, x) Gamma(a) / (x^a e^-x) by Legendre's continued fraction; for x >= a + 1. */
static double gamma_fraction(double a, double x)
{
    double b = x + 1.0 - a;
    double c = 1.0 / DBL_MIN;
    double d = 1.0 / away_from_zero(b);
    double h = d;
    for (int j = 1; j < MAX_TERMS; j++) {
        double numerator = j * (a - j);
        b += 2.0;
        d = 1.0 / away_from_zero(b + numerator * d);
        c = away_from_zero(b + numerator / c);
        h *= c * d;
        if (fabs(c * d - 1.0) < DBL_EPSILON) break;
    }
    return h;
}

double sn_gamma_upper(double shape, double x)
{
    if (isnan(shape) || isnan(x)) return NAN;
    if (x <= 0.0) return 1.0;
    if (isinf(x)) return 0.0;
    const double factor = gamma_factor(shape, x);
    if (x >= shape + 1.0) return fmin(factor * shape * gamma_fraction(shape, x), 1.0);
    return 1.0 - fmin(factor * gamma_series(shape, x), 1.0);
}

double sn_chisq_upper(double df, double x)
{
    return sn_gamma_upper(0.5 * df, 0.5 * x);
}

/* The continued fraction of I_x(a, b) a B(a, b) / (x^a (1 - x)^b); for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    double c = 1.0;
    double d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    double h = d;
    for (int j = 1; j < MAX_TERMS; j++) {
        double even = j * (b - j) * x / ((a + 2 * j - 1) * (a + 2 * j));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        h *= c * d;
        double odd = -(a + j) * (a + b + j) * x / ((a + 2 * j) * (a + 2 * j + 1));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        h *= c * d;
        if (fabs(c * d - 1.0) < DBL_EPSILON) break;
    }
    return h;
}

/* I_x(a, b) with y = 1 - x given apart, so that neither end loses digits. */
static double beta_tail(double a, double b, double x, double y)
{
    if (isnan(x)) return NAN;
    if (x <= 0.0) return 0.0;
    if (y <= 0.0) return 1.0;
    /* x^a y^b / B(a, b) */
    double factor =
        sqrt(a / (a + b) * b / two_pi) * exp(stirling_error(a + b) - stirling_error(a) - stirling_error(b) -
                                             deviance(a, (a + b) * x) - deviance(b, (a + b) * y));
    if (x < (a + 1.0) / (a + b + 2.0)) return factor * beta_fraction(a, b, x) / a;
    return 1.0 - factor * beta_fraction(b, a, y) / b;
}

double sn_t_two_sided(double df, double t)
{
    if (isinf(t)) return 0.0;
    double total = df + t * t;
    return beta_tail(0.5 * df, 0.5, df / total, t * t / total);
}

/* By halving an interval that grows until it holds the root. */
double sn_t_quantile(double df, double p)
{
    if (p < 0.5) return -sn_t_quantile(df, 1.0 - p);
    double low = 0.0, high = 1.0;
    while (0.5 * sn_t_two_sided(df, high) > 1.0 - p) {
        low = high;
        high *= 2.0;
    }
    for (double middle = 0.5 * (low + high); middle > low && middle < high; middle = 0.5 * (low + high)) {
        if (0.5 * sn_t_two_sided(df, middle) > 1.0 - p)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

double sn_normal_lower(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

/* For p <= 1/2: Phi(x) <= exp(-x^2/2) / 2 for x <= 0 puts the start left of the root, and Newton's steps on
   the concave log Phi(x) = log p then climb to it without overshooting. */
double sn_normal_quantile(double p)
{
    if (!(p > 0.0 && p < 1.0)) return p == 0.0 ? -INFINITY : p == 1.0 ? INFINITY : NAN;
    if (p > 0.5) return -sn_normal_quantile(1.0 - p);
    double x = -sqrt(-2.0 * log(2.0 * p));
    for (int step = 0; step < 30; step++) {
        double mass = sn_normal_lower(x);
        double move = log(p / mass) * mass * sqrt(two_pi) * exp(0.5 * x * x);
        x += move;
        if (fabs(move) <= 1e-15 * fmax(1.0, -x)) break;
    }
    return x;
}
