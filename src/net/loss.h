/*
 * The losses of one row, given the outputs mu of its last layer:
 *
 *     classification: -log softmax(mu)_label
 *     regression:     |y - mu|^2 / 2
 *
 * A loss that is reported anywhere is the mean of these over rows. The engines compute them in their own
 * arithmetic, and are tested against each other.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Of c outputs; whether the largest is not the label's. */
double sn_class_loss(const float *mu, int64_t c, int32_t label, bool *wrong);
/* The same in float, and d loss / d mu times weight. */
double sn_class_slope(const float *mu, int64_t c, int32_t label, float weight, float *slope);
/* Of m outputs. */
double sn_square_loss(const float *mu, int64_t m, const double *y);

/*
 * Location and scale: mu and eta of a y ~ N(mu, v), v = exp(eta) with eta kept in [LOW, HIGH] (of a y of
 * variance 1). Minus the log density is (r + eta) / 2, r = (y - mu)^2 / v, and .5 at the best constant; what
 * is more than four standard deviations off counts as four in r, for one row must not lead the spread.
 */
#define SN_ETA_LOW    (-8.0)
#define SN_ETA_HIGH   4.0
#define SN_RATIO_MOST 16.0

static inline double sn_eta(double eta)
{
    return eta < SN_ETA_LOW ? SN_ETA_LOW : eta > SN_ETA_HIGH ? SN_ETA_HIGH : eta;
}

/* Of m outputs, mu_1 .. mu_{m/2} and their eta; of y the first half is looked at. */
double sn_spread_loss(const float *out, int64_t m, const double *y);
/* - d loss / d mu and - d loss / d eta, both times v^beta, which counts as a constant (Seitzer and others
   2022). With beta = 1 the mean learns from plain residuals, however small the estimated spread is, and the
   steps of both stay bounded. Returns the loss. */
double sn_spread_pull(double y, double mu, double eta, double beta, double *pull_mu, double *pull_eta);

/* d loss / d mu of one numeric output, whose part of the loss is added to *loss. */
static inline double sn_square_slope(double mu, double y, double *loss)
{
    const double residual = mu - y;
    *loss += residual * residual / 2.0;
    return residual;
}
