#include "stats/chisq_mixture.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "math/linalg.h"
#include "stats/distributions.h"

enum { POINTS = 4, MOMENTS = 2 * POINTS };

/* sum_k lambda_k^r / scale^r over the positive coefficients. */
static double power_sum(int64_t count, const double *lambda, int r, double scale)
{
    double sum = 0.0;
    for (int64_t k = 0; k < count; k++) {
        if (lambda[k] > 0.0) sum += pow(lambda[k] / scale, r);
    }
    return sum;
}

double sn_mixture_sw(int64_t count, const double *lambda, double t)
{
    if (t <= 0.0) return 1.0;
    double mean = power_sum(count, lambda, 1, 1.0);
    if (!(mean > 0.0)) return 0.0;
    double u = power_sum(count, lambda, 2, mean);
    return sn_gamma_upper(0.5 / u, t / (2.0 * u * mean));
}

double sn_mixture_hbe(int64_t count, const double *lambda, double t)
{
    if (t <= 0.0) return 1.0;
    double mean = power_sum(count, lambda, 1, 1.0);
    if (!(mean > 0.0)) return 0.0;
    double k2 = 2.0 * power_sum(count, lambda, 2, mean);
    double k3 = 8.0 * power_sum(count, lambda, 3, mean);
    double nu = 8.0 * k2 * k2 * k2 / (k3 * k3);
    return sn_chisq_upper(nu, sqrt(2.0 * nu / k2) * (t / mean - 1.0) + nu);
}

/* Moments m_0 .. m_8 of Q / E Q from its cumulants k_r = 2^(r-1) (r-1)! sum lambda^r:
   m_n = sum_{j=1}^n C(n-1, j-1) k_j m_{n-j}. Dividing by the mean keeps them near one. */
static void scaled_moments(int64_t count, const double *lambda, double mean, double moment[MOMENTS + 1])
{
    double cumulant[MOMENTS + 1];
    double factor = 1.0;
    for (int r = 1; r <= MOMENTS; r++) {
        cumulant[r] = factor * power_sum(count, lambda, r, mean);
        factor *= 2.0 * r;
    }
    moment[0] = 1.0;
    for (int n = 1; n <= MOMENTS; n++) {
        double binomial = 1.0;
        moment[n] = 0.0;
        for (int j = 1; j <= n; j++) {
            moment[n] += binomial * cumulant[j] * moment[n - j];
            binomial *= (double)(n - j) / j;
        }
    }
}

/* The moments that the scales of gamma laws with shape 1/x must have for their mixture to have moment[]:
   m_r / prod_{s=1}^{r-1} (1 + s x). */
static void scale_moments(const double moment[MOMENTS + 1], double x, double out[MOMENTS + 1])
{
    double product = 1.0;
    out[0] = 1.0;
    for (int r = 1; r <= MOMENTS; r++) {
        out[r] = moment[r] / product;
        product *= 1.0 + r * x;
    }
}

/* Upper Cholesky factor R (R'R = H) of the leading rows x cols Hankel matrix H_ij = moment[i + j], cols >=
   rows. Returns the smallest squared pivot, relative to its diagonal entry of H; R is complete when it is
   positive. */
static double hankel_cholesky(const double moment[MOMENTS + 1], int rows, int cols, double r[][POINTS + 1])
{
    double smallest = INFINITY;
    for (int i = 0; i < rows; i++) {
        const int twice = 2 * i;
        double pivot = moment[twice];
        for (int k = 0; k < i; k++) pivot -= r[k][i] * r[k][i];
        smallest = fmin(smallest, pivot / moment[twice]);
        if (!(pivot > 0.0)) return smallest;
        r[i][i] = sqrt(pivot);
        for (int j = i + 1; j < cols; j++) {
            double sum = moment[i + j];
            for (int k = 0; k < i; k++) sum -= r[k][i] * r[k][j];
            r[i][j] = sum / r[i][i];
        }
    }
    return smallest;
}

/* The sign that det Delta_N(x) has for x below the root of det Delta_{N-1}: that of the last pivot. */
static double last_pivot(const double moment[MOMENTS + 1], int n, double x)
{
    double modified[MOMENTS + 1];
    double r[POINTS + 1][POINTS + 1] = {{0.0}};
    scale_moments(moment, x, modified);
    return hankel_cholesky(modified, n + 1, n + 1, r);
}

/* The root of det Delta_N on [0, high] by bisection: the pivot is positive at 0 and negative at `high`. */
static double pivot_root(const double moment[MOMENTS + 1], int n, double high)
{
    double low = 0.0;
    for (int step = 0; step < 60; step++) {
        double middle = 0.5 * (low + high);
        if (last_pivot(moment, n, middle) > 0.0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Upper tail at t of the mixture of `points` gamma laws with shape 1/x whose scales are the Gauss quadrature
   nodes of the scale moments: nodes and weights from the Jacobi matrix (Golub and Welsch), so that they are
   real and positive by construction. *tail is NaN when rounding leaves no positive definite moment matrix. */
static stonet_status gauss_mixture(const double moment[MOMENTS + 1], int points, double x, double t,
                                   double *tail)
{
    *tail = (double)NAN;
    double modified[MOMENTS + 1];
    double r[POINTS + 1][POINTS + 1] = {{0.0}};
    scale_moments(moment, x, modified);
    if (!(hankel_cholesky(modified, points, points + 1, r) > 0.0)) return STONET_OK;
    double jacobi[POINTS * POINTS] = {0.0};
    for (int i = 0; i < points; i++) {
        jacobi[i * points + i] = r[i][i + 1] / r[i][i] - (i > 0 ? r[i - 1][i] / r[i - 1][i - 1] : 0.0);
        if (i + 1 < points) {
            jacobi[i * points + i + 1] = jacobi[(i + 1) * points + i] = r[i + 1][i + 1] / r[i][i];
        }
    }
    double node[POINTS];
    double vector[POINTS * POINTS];
    stonet_status status = sn_eigh(points, jacobi, node, vector);
    if (status == STONET_ERROR_MEMORY) return status;
    double sum = status == STONET_OK ? 0.0 : (double)NAN;
    for (int j = 0; j < points && isfinite(sum); j++)
        sum = node[j] > 0.0 ? sum + vector[j] * vector[j] * sn_gamma_upper(1.0 / x, t / (node[j] * x))
                            : (double)NAN;
    *tail = sum;
    return STONET_OK;
}

stonet_status sn_mixture_lpb4(int64_t count, const double *lambda, double t, double *p_value)
{
    *p_value = sn_mixture_hbe(count, lambda, t);
    int64_t positive = 0;
    for (int64_t k = 0; k < count; k++) positive += lambda[k] > 0.0;
    if (positive < POINTS || t <= 0.0) return STONET_OK;
    double mean = power_sum(count, lambda, 1, 1.0);
    double moment[MOMENTS + 1];
    scaled_moments(count, lambda, mean, moment);
    /* x_1 = Var / E^2 makes one gamma law right; x_N solves det Delta_N = 0 below x_{N-1}. When the pivot is
       already zero there, to rounding, N - 1 points have all the moments. */
    const double rounding = 1e-11;
    double x = moment[2] - 1.0;
    int points = 1;
    while (points < POINTS && last_pivot(moment, points + 1, x * (1.0 - 1e-9)) < -rounding) {
        points++;
        x = pivot_root(moment, points, x);
    }
    double tail;
    SN_TRY(gauss_mixture(moment, points, x, t / mean, &tail));
    if (isfinite(tail)) *p_value = fmin(tail, 1.0);
    return STONET_OK;
}
