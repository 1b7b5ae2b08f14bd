/*
 * Counts k with mean lambda = exp(mu + shift + offset); a row is seen as (k, offset). Poisson, or negative
 * binomial of variance lambda + a lambda^2 with the dispersion a:
 *
 *     slope of the log likelihood by mu: (k - lambda) / (1 + a lambda)
 *
 * The network sees this over the curvature c / (1 + a c) at a count c, so that a step of training does as
 * much for counts of a thousand as for counts of one. c is the mean expected count, a row counted by its own:
 * where exposures differ much, the rows with most of them have most of the curvature, and a step must not be
 * too long for them. parameters: shift, log a (of the negative binomial), c (not fitted).
 */
#include <math.h>
#include <string.h>

#include "stats/law.h"

enum { SHIFT, LOG_A, MEAN };
static const double MOST_LOG_MEAN = 50.0; /* exp of it is still far from the largest double */
static const double MOST = 20.0;          /* residual that the network is to see */

static bool has_dispersion(const sn_law *law)
{
    return strcmp(law->word, "negbin") == 0;
}

int sn_law_counts_start(const sn_law *law, const sn_law_sample *sample, double *parameter)
{
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < sample->n; i++) {
        const double expected = exp(fmin(sample->seen[i * SN_LAW_SEEN + 1], MOST_LOG_MEAN));
        sum += expected;
        squares += expected * expected;
    }
    parameter[SHIFT] = -sn_law_mean_mu(sample);
    parameter[LOG_A] = -1.0;
    parameter[MEAN] = squares / sum;
    return has_dispersion(law) ? 2 : 1;
}

static double log_mean(const double *seen, double mu, const double *parameter)
{
    return fmin(mu + parameter[SHIFT] + seen[1], MOST_LOG_MEAN);
}

/* Of the negative binomial, r = 1 / a. */
static double negative_loss(double k, double eta, double log_a)
{
    const double r = exp(-log_a), log_all = log(r + exp(eta));
    return lgamma(r) + lgamma(k + 1.0) - lgamma(k + r) - r * (-log_a - log_all) - k * (eta - log_all);
}

double sn_law_counts_loss(const sn_law *law, const double *seen, double mu, const double *parameter,
                          double *slope)
{
    const double k = seen[0], eta = log_mean(seen, mu, parameter), lambda = exp(eta);
    if (!has_dispersion(law)) {
        if (slope != NULL) slope[SHIFT] = lambda - k;
        return lambda - k * eta + lgamma(k + 1.0);
    }
    const double log_a = parameter[LOG_A], step = 1e-4;
    if (fabs(log_a) > 12.0) return (double)INFINITY; /* beyond, r is lost beside k or the other way round */
    if (slope != NULL) {
        slope[SHIFT] = (lambda - k) / (1.0 + exp(log_a) * lambda);
        slope[LOG_A] =
            (negative_loss(k, eta, log_a + step) - negative_loss(k, eta, log_a - step)) / (2.0 * step);
    }
    return negative_loss(k, eta, log_a);
}

double sn_law_counts_pull(const sn_law *law, const double *seen, double mu, const double *parameter, double u)
{
    const double a = has_dispersion(law) ? exp(parameter[LOG_A]) : 0.0, mean = parameter[MEAN];
    const double lambda = exp(log_mean(seen, mu, parameter));
    const double slope = (seen[0] - lambda) / (1.0 + a * lambda);
    (void)u; /* nothing is hidden */
    return fmax(fmin(slope * (1.0 + a * mean) / mean, MOST), -MOST);
}

void sn_law_counts_answer(const sn_law *law, double mu, const double *parameter, int64_t outputs, double *out)
{
    (void)law;
    (void)outputs;
    *out = mu + parameter[SHIFT];
}
