#include "methods/gmddnet_loss.h"

#include <math.h>
#include <string.h>

/* The distance of the responses of two rows: 0 or 1 for classes, else a function of the Euclidean one. */
static double rho(const sn_divergence *d, const sn_problem *problem, int64_t a, int64_t b)
{
    if (problem->label != NULL) return problem->label[a] != problem->label[b];
    const int64_t m = problem->outputs;
    double square = 0.0;
    for (int64_t k = 0; k < m; k++) {
        const double gap = problem->y[a * m + k] - problem->y[b * m + k];
        square += gap * gap;
    }
    switch (d->kind) {
    case SN_DISTANCE_LOGARITHM:
        return log1p(square / 2.0);
    case SN_DISTANCE_CAUCHY:
        return square / (1.0 + square);
    case SN_DISTANCE_GAUSSIAN:
        return -expm1(-square / 2.0);
    case SN_DISTANCE_POWER:
        return pow(square, 0.75);
    case SN_DISTANCE_ABSOLUTE:
        break;
    }
    return sqrt(square);
}

/* Leaves z - mean z in d->centred and returns the variance (divisor count - 1). */
static double centre(const sn_divergence *d, int64_t count, const float *z)
{
    double mean = 0.0, squares = 0.0;
    for (int64_t k = 0; k < count; k++) mean += (double)z[k] / (double)count;
    for (int64_t k = 0; k < count; k++) {
        d->centred[k] = (double)z[k] - mean;
        squares += d->centred[k] * d->centred[k];
    }
    return squares / (double)(count > 1 ? count - 1 : 1);
}

/* 1/b^2 sum_kl zc_k zc_l rho_kl; d->pull gets sum_l rho_kl zc_l less its mean. */
static double dependence(const sn_divergence *d, const sn_problem *problem, const int64_t *rows,
                         int64_t count)
{
    memset(d->pull, 0, (size_t)count * sizeof *d->pull);
    for (int64_t k = 0; k < count; k++)
        for (int64_t l = 0; l < k; l++) {
            const double r = rho(d, problem, rows[k], rows[l]);
            d->pull[k] += r * d->centred[l];
            d->pull[l] += r * d->centred[k];
        }
    double sum = 0.0, mean = 0.0;
    for (int64_t k = 0; k < count; k++) {
        sum += d->pull[k] * d->centred[k];
        mean += d->pull[k] / (double)count;
    }
    for (int64_t k = 0; k < count; k++) d->pull[k] -= mean;
    return sum / ((double)count * (double)count);
}

double sn_divergence_dependence(const sn_divergence *d, const sn_problem *problem, const int64_t *rows,
                                int64_t count, const float *z)
{
    centre(d, count, z);
    return dependence(d, problem, rows, count);
}

double sn_divergence_batch(void *user, const sn_problem *problem, const int64_t *rows, int64_t count,
                           const float *mu, float *slope)
{
    const sn_divergence *d = user;
    const double b = (double)count, free_rows = (double)(count > 1 ? count - 1 : 1);
    const double variance = centre(d, count, mu);
    double loss = dependence(d, problem, rows, count) + d->penalty * (variance - 1) * (variance - 1);
    for (int64_t k = 0; k < count; k++)
        d->pull[k] =
            2.0 * d->pull[k] / (b * b) + 4.0 * d->penalty * (variance - 1) * d->centred[k] / free_rows;
    for (int64_t j = 0; j < d->before; j++) {
        double mean = 0.0, covariance = 0.0;
        for (int64_t k = 0; k < count; k++) mean += (double)d->z[rows[k] * d->before + j] / b;
        for (int64_t k = 0; k < count; k++)
            covariance += d->centred[k] * ((double)d->z[rows[k] * d->before + j] - mean) / free_rows;
        loss += d->ortho * covariance * covariance;
        for (int64_t k = 0; k < count; k++)
            d->pull[k] +=
                2.0 * d->ortho * covariance * ((double)d->z[rows[k] * d->before + j] - mean) / free_rows;
    }
    for (int64_t k = 0; k < count; k++) slope[k] = (float)d->pull[k];
    return loss;
}
