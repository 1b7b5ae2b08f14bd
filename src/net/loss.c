#include "net/loss.h"

#include <math.h>

double sn_class_loss(const float *mu, int64_t c, int32_t label, bool *wrong)
{
    int64_t best = 0;
    double sum = 0.0;
    for (int64_t j = 1; j < c; j++)
        if (mu[j] > mu[best]) best = j;
    for (int64_t j = 0; j < c; j++) sum += exp((double)mu[j] - (double)mu[best]);
    *wrong = best != label;
    return log(sum) - ((double)mu[label] - (double)mu[best]);
}

double sn_class_slope(const float *mu, int64_t c, int32_t label, float weight, float *slope)
{
    float top = mu[0], sum = 0;
    for (int64_t k = 1; k < c; k++) top = mu[k] > top ? mu[k] : top;
    for (int64_t k = 0; k < c; k++) sum += slope[k] = expf(mu[k] - top);
    for (int64_t k = 0; k < c; k++) slope[k] *= weight / sum;
    slope[label] -= weight;
    return log((double)sum) + (double)top - (double)mu[label];
}

double sn_square_loss(const float *mu, int64_t m, const double *y)
{
    double loss = 0.0;
    for (int64_t j = 0; j < m; j++) sn_square_slope((double)mu[j], y[j], &loss);
    return loss;
}

double sn_spread_pull(double y, double mu, double eta, double beta, double *pull_mu, double *pull_eta)
{
    const double kept = sn_eta(eta), gap = y - mu, over_v = exp(-kept), weight = exp(beta * kept);
    const double r = fmin(gap * gap * over_v, SN_RATIO_MOST);
    *pull_mu = weight * gap * over_v;
    *pull_eta = weight * (r - 1.0) / 2.0;
    return (r + kept) / 2.0;
}

double sn_spread_loss(const float *out, int64_t m, const double *y)
{
    double loss = 0.0, pull[2];
    for (int64_t k = 0; k < m / 2; k++)
        loss += sn_spread_pull(y[k], (double)out[k], (double)out[m / 2 + k], 0.0, &pull[0], &pull[1]);
    return loss;
}
