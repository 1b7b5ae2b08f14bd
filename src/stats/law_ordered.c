/*
 * Ordered classes 0 .. C - 1: a score y = mu + e lies between the thresholds t_{c-1} and t_c of its class,
 * t_{-1} = - infinity and t_{C-1} = infinity. Logistic errors give cumulative logits. A row is seen as (c,
 * C).
 */
#include <math.h>

#include "stats/law.h"

/* Evenly over the middle of the law: the first step of the fit mends it. */
int sn_law_ordered_start(const sn_law *law, const sn_law_sample *sample, double *parameter)
{
    const int k = (int)sample->seen[1] - 1;
    const double mean = sn_law_mean_mu(sample);
    (void)law;
    for (int c = 0; c < k; c++) parameter[c] = mean - 2.0 + 4.0 * (c + 1) / (k + 1);
    return k;
}

static double bound(const double *seen, double mu, const double *parameter, int c)
{
    if (c < 0) return -(double)INFINITY;
    return c >= (int)seen[1] - 1 ? (double)INFINITY : parameter[c] - mu;
}

double sn_law_ordered_loss(const sn_law *law, const double *seen, double mu, const double *parameter,
                           double *slope)
{
    const int c = (int)seen[0];
    const double a = bound(seen, mu, parameter, c - 1), b = bound(seen, mu, parameter, c);
    if (!(a < b)) return (double)INFINITY; /* thresholds that are not in their order */
    const double log_p = sn_errors_log_between(law->errors, a, b);
    if (slope != NULL && c > 0) slope[c - 1] = exp(sn_errors_log_density(law->errors, a) - log_p);
    if (slope != NULL && c < (int)seen[1] - 1) slope[c] = -exp(sn_errors_log_density(law->errors, b) - log_p);
    return -log_p;
}

double sn_law_ordered_pull(const sn_law *law, const double *seen, double mu, const double *parameter,
                           double u)
{
    const int c = (int)seen[0];
    const double between[SN_LAW_SEEN] = {bound(seen, mu, parameter, c - 1), bound(seen, mu, parameter, c)};
    return sn_law_times_pull(law, between, 0.0, (const double[]){0.0, 0.0}, u);
}

void sn_law_ordered_answer(const sn_law *law, double mu, const double *parameter, int64_t outputs,
                           double *out)
{
    for (int64_t c = 0; c < outputs; c++)
        out[c] =
            exp(-sn_law_ordered_loss(law, (const double[]){(double)c, (double)outputs}, mu, parameter, NULL));
}
