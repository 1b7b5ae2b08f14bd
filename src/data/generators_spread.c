/*
 * The models of Tang and Li's BENN (belted and ensembled neural networks for sufficient dimension reduction):
 * means (A, B, C with three laws of x), a spread (E-IV), and both (D-IV, G-IV, F-V). A reduction that sees
 * the mean alone misses the second kind and half of the third.
 */
#include <math.h>

#include "data/generator.h"

/* The laws of x. */

/* Independent normals. */
static void normal_x(const sn_row_key *key, int64_t p, double mean, double variance, float *x)
{
    sn_row_normals(key, p, x);
    const double scale = sqrt(variance);
    for (int64_t j = 0; j < p; j++) x[j] = (float)(mean + scale * (double)x[j]);
}

/* Independent Poisson(1) - 1, by inversion. */
static void poisson_x(const sn_row_key *key, int64_t p, float *x)
{
    for (int64_t j = 0; j < p; j++) {
        double left = sn_row_uniform(key, j, SN_USE_UNIFORM_FEATURES), chance = exp(-1.0);
        int count = 0;
        while (left > chance && count < 40) {
            left -= chance;
            chance /= ++count;
        }
        x[j] = (float)(count - 1);
    }
}

/* Multivariate t with 4 degrees of freedom and correlations .4: normals with covariance .6 I + .4 11' over
   the root of a common chi^2_4 / 4, which is -(log u_1 + log u_2) / 2. */
static void t_x(const sn_row_key *key, int64_t p, float *x)
{
    sn_row_normals(key, p, x);
    const double common = sqrt(0.4) * sn_row_normal(key, SN_USE_COMMON);
    const double u1 = sn_row_uniform(key, 0, SN_USE_CHOICE), u2 = sn_row_uniform(key, 1, SN_USE_CHOICE);
    const double divisor = sqrt(-0.5 * (log(u1) + log(u2)));
    for (int64_t j = 0; j < p; j++) x[j] = (float)((common + sqrt(0.6) * (double)x[j]) / divisor);
}

/* The predictors. */

/* a / (1 + (1 + b)^2) + (1 + b)^2 */
static double ratio_of(double a, double b)
{
    const double square = (1 + b) * (1 + b);
    return a / (1 + square) + square;
}

/* sin((a + b) pi / 10) + a^2 */
static double square_of(double a, double b)
{
    return sin((a + b) * M_PI / 10) + a * a;
}

/* (a + b)^2 log(a^2 + b^2 + .001) */
static double log_of(double a, double b)
{
    return (a + b) * (a + b) * log(a * a + b * b + 0.001);
}

/* 2 sin((a + b) pi / 10)^2 + a^2 */
static double spread_of(double a, double b)
{
    const double wave = sin((a + b) * M_PI / 10);
    return 2 * wave * wave + a * a;
}

/* N(0, 1/2). */
static void half_normal_x(const sn_row_key *key, int64_t p, float *x)
{
    normal_x(key, p, 0, 0.5, x);
}

/* A, B, C: y = T + e / 2 with T a function of x_1 and x_2. */
static void add_noise(const sn_row_key *key, double truth, sn_row_values *out)
{
    out->truth[0] = truth;
    out->y = truth + 0.5 * sn_row_noise(key);
}

#define MEAN_ROW(name, draw_x, truth_of)                                                                     \
    void name(const sn_row_key *key, int64_t p, float *x, sn_row_values *out)                                \
    {                                                                                                        \
        draw_x(key, p, x);                                                                                   \
        add_noise(key, truth_of((double)x[0], (double)x[1]), out);                                           \
    }
MEAN_ROW(sn_mean_ratio_row, half_normal_x, ratio_of)
MEAN_ROW(sn_mean_ratio_poisson_row, poisson_x, ratio_of)
MEAN_ROW(sn_mean_ratio_t_row, t_x, ratio_of)
MEAN_ROW(sn_mean_square_row, half_normal_x, square_of)
MEAN_ROW(sn_mean_square_poisson_row, poisson_x, square_of)
MEAN_ROW(sn_mean_square_t_row, t_x, square_of)
MEAN_ROW(sn_mean_log_row, half_normal_x, log_of)
MEAN_ROW(sn_mean_log_poisson_row, poisson_x, log_of)
MEAN_ROW(sn_mean_log_t_row, t_x, log_of)

/* D-IV: y = T1 + T2 e. */
void sn_location_scale_row(const sn_row_key *key, int64_t p, float *x, sn_row_values *out)
{
    normal_x(key, p, 0.2, 0.5, x);
    out->truth[0] = square_of((double)x[0], (double)x[1]);
    out->truth[1] = spread_of((double)x[2], (double)x[3]);
    out->y = out->truth[0] + out->truth[1] * sn_row_noise(key);
}

/* E-IV: y = T e, whose mean is 0 everywhere. */
void sn_scale_row(const sn_row_key *key, int64_t p, float *x, sn_row_values *out)
{
    normal_x(key, p, 0.2, 0.5, x);
    out->truth[0] = spread_of((double)x[2], (double)x[3]);
    out->y = out->truth[0] * sn_row_noise(key);
}

/* G-IV: y = T1 + T2 e. */
void sn_location_scale_ratio_row(const sn_row_key *key, int64_t p, float *x, sn_row_values *out)
{
    normal_x(key, p, 0.2, 0.5, x);
    const double x3 = (double)x[2];
    out->truth[0] = ratio_of((double)x[0], (double)x[1]);
    out->truth[1] = ratio_of(3 * x3 * x3, (double)x[3]);
    out->y = out->truth[0] + out->truth[1] * sn_row_noise(key);
}

/* F-V: T1 = x1 + x2, T2 = x3 + 3 x4, y = 2 sin(T1 pi / 20) + 3 sin(T2 pi / 30)^2 e. */
void sn_location_scale_linear_row(const sn_row_key *key, int64_t p, float *x, sn_row_values *out)
{
    normal_x(key, p, 2, 1, x);
    out->truth[0] = (double)x[0] + (double)x[1];
    out->truth[1] = (double)x[2] + 3 * (double)x[3];
    const double wave = sin(out->truth[1] * M_PI / 30);
    out->y = 2 * sin(out->truth[0] * M_PI / 20) + 3 * wave * wave * sn_row_noise(key);
}
