/*
 * Models with a known sufficient predictor from the literature of regression and dimension reduction:
 *   waveform         Breiman et al., Classification and Regression Trees, 1984; one class against two as in
 *                    Raetsch et al. 2001
 *   m1               Fertl and Bura 2021, Kapla et al. 2021 (model M1)
 *   ratio            Li 1991, Sliced inverse regression, JASA 86
 *   radial, sigmoid  Lee, Li and Chiaromonte 2013, Annals of Statistics 41 (models I and II)
 *   friedman         Friedman 1991, MARS, Annals of Statistics 19
 *   ring             two classes with log odds in the squared radius, so that no linear direction helps
 */
#include <math.h>
#include <stdlib.h>

#include "data/generator.h"

/* log of the integral over u in (0, 1) of exp(-|x - u a - (1 - u) b|^2 / 2), for points of 21 coordinates:
   with d = a - b, r = x - b, c = r.d / |d|^2 it is, up to a constant,
   -|r|^2/2 + c^2 |d|^2/2 + log(Phi(|d|(1 - c)) - Phi(-|d| c)) - log|d|. */
static double log_mixture(const float *x, const double *a, const double *b)
{
    double rr = 0, rd = 0, dd = 0;
    for (int t = 0; t < 21; t++) {
        double r = (double)x[t] - b[t], d = a[t] - b[t];
        rr += r * r;
        rd += r * d;
        dd += d * d;
    }
    double length = sqrt(dd), c = rd / dd;
    double from = -length * c, to = length * (1 - c);
    if (from > 0) { /* the difference of two numbers near 1 is that of two near 0, mirrored */
        double held = from;
        from = -to;
        to = -held;
    }
    double mass = 0.5 * (erfc(-to * M_SQRT1_2) - erfc(-from * M_SQRT1_2));
    return -0.5 * rr + 0.5 * c * c * dd + log(fmax(mass, 1e-300)) - log(length);
}

/* x_t = u a_t + (1 - u) b_t + e_t, where (a, b) are two of three triangular waves, each pair with chance 1/3;
   the class is whether they are the middle and the early one. T is the log odds. */
void sn_waveform_row(const sn_row_key *key, int64_t p, float *x, sn_row_values *out)
{
    static const int peak[3] = {11, 15, 7};
    static const int pair[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    double wave[3][21];
    for (int k = 0; k < 3; k++) {
        for (int t = 0; t < 21; t++) wave[k][t] = fmax(6 - abs(t + 1 - peak[k]), 0);
    }
    int which = (int)(3 * sn_row_uniform(key, 0, SN_USE_CHOICE));
    double u = sn_row_uniform(key, 1, SN_USE_CHOICE);
    const double *a = wave[pair[which][0]], *b = wave[pair[which][1]];
    sn_row_normals(key, p, x);
    for (int t = 0; t < 21; t++) x[t] = (float)((double)x[t] + u * a[t] + (1 - u) * b[t]);
    out->y = which == 1;
    double density[3];
    for (int k = 0; k < 3; k++) density[k] = log_mixture(x, wave[pair[k][0]], wave[pair[k][1]]);
    double others = fmax(density[0], density[2]) + log1p(exp(-fabs(density[0] - density[2])));
    out->truth[0] = density[1] - others;
}

/* y = cos(b'x) + e; x normal with covariances 0.5^|i-j|, b = (1,1,1,1,1,1,0,..)/sqrt 6, and e generalised
   normal of shape 1/2 and variance 1/2: e = +- s G^2 with G ~ Gamma(2), whose fourth moment is 120. T = b'x.
 */
void sn_m1_row(const sn_row_key *key, int64_t p, float *x, sn_row_values *out)
{
    sn_row_normals(key, p, x);
    for (int64_t j = 1; j < p; j++) x[j] = (float)(0.5 * (double)x[j - 1] + sqrt(0.75) * (double)x[j]);
    out->truth[0] = 0;
    for (int j = 0; j < 6; j++) out->truth[0] += (double)x[j] / sqrt(6);
    double gamma = -log(sn_row_uniform(key, 0, SN_USE_CHOICE)) - log(sn_row_uniform(key, 1, SN_USE_CHOICE));
    double error = sqrt(0.5 / 120) * gamma * gamma;
    out->y = cos(out->truth[0]) + (sn_row_uniform(key, 2, SN_USE_CHOICE) < 0.5 ? -error : error);
}

/* y = x1 / (0.5 + (x2 + 1.5)^2) + 0.5 e; T is the mean of y. */
void sn_ratio_row(const sn_row_key *key, int64_t p, float *x, sn_row_values *out)
{
    sn_row_normals(key, p, x);
    double shifted = (double)x[1] + 1.5;
    out->truth[0] = (double)x[0] / (0.5 + shifted * shifted);
    out->y = out->truth[0] + 0.5 * sn_row_noise(key);
}

/* y = r log r + 0.5 e with r^2 = x1^2 + x2^2; T = r. */
void sn_radial_row(const sn_row_key *key, int64_t p, float *x, sn_row_values *out)
{
    sn_row_normals(key, p, x);
    out->truth[0] = hypot((double)x[0], (double)x[1]);
    out->y = (out->truth[0] > 0 ? out->truth[0] * log(out->truth[0]) : 0) + 0.5 * sn_row_noise(key);
}

/* y = x1 / (1 + exp x2) + 0.5 e; T is the mean of y. */
void sn_sigmoid_row(const sn_row_key *key, int64_t p, float *x, sn_row_values *out)
{
    sn_row_normals(key, p, x);
    out->truth[0] = (double)x[0] / (1 + exp((double)x[1]));
    out->y = out->truth[0] + 0.5 * sn_row_noise(key);
}

/* y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + e, x uniform on (0, 1)^p; T is the mean of y. */
void sn_friedman_row(const sn_row_key *key, int64_t p, float *x, sn_row_values *out)
{
    for (int64_t j = 0; j < p; j++) x[j] = (float)sn_row_uniform(key, j, SN_USE_UNIFORM_FEATURES);
    double x1 = (double)x[0], x2 = (double)x[1], x3 = (double)x[2] - 0.5;
    out->truth[0] = 10 * sin(M_PI * x1 * x2) + 20 * x3 * x3 + 10 * (double)x[3] + 5 * (double)x[4];
    out->y = out->truth[0] + sn_row_noise(key);
}

/* log odds of "outer" = 3 (x1^2 + x2^2 - 2 log 2): half of the rows lie beyond the radius. T is the log odds.
 */
void sn_ring_row(const sn_row_key *key, int64_t p, float *x, sn_row_values *out)
{
    sn_row_normals(key, p, x);
    double x1 = (double)x[0], x2 = (double)x[1];
    out->truth[0] = 3 * (x1 * x1 + x2 * x2 - 2 * M_LN2);
    out->y = sn_row_uniform(key, 0, SN_USE_CHOICE) < 1 / (1 + exp(-out->truth[0]));
}
