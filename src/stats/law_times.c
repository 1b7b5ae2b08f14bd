/*
 * Times: y = mu + shift + s e, seen as low <= y <= high. With m = mu + shift, a = (low - m) / s and
 * b = (high - m) / s, and P = F(b) - F(a):
 *
 *     loss   log s - log f(a)   where y itself is seen,   - log P   where it is censored
 *     slope of the log likelihood by m: score(e) / s, e drawn between a and b, or its mean (f(a) - f(b)) / (s
 * P)
 */
#include <math.h>

#include "stats/law.h"

/* What is more scales off than this counts as this: one row must not lead the network. The normal law does
   not need it. */
static const double MOST = 10.0;

int sn_law_times_start(const sn_law *law, const sn_law_sample *sample, double *parameter)
{
    (void)law;
    parameter[0] = -sn_law_mean_mu(sample);
    parameter[1] = 0.0;
    return 2;
}

/* f(e) / P, 0 at an open bound. */
static double ratio(sn_errors errors, double e, double log_p)
{
    return exp(sn_errors_log_density(errors, e) - log_p);
}

/* slope: by shift and by log s. */
double sn_law_times_loss(const sn_law *law, const double *seen, double mu, const double *parameter,
                         double *slope)
{
    const double m = mu + parameter[0], s = exp(parameter[1]);
    const double a = (seen[0] - m) / s, b = (seen[1] - m) / s;
    if (seen[0] == seen[1]) {
        const double score = sn_errors_score(law->errors, a);
        if (slope != NULL) {
            slope[0] = -score / s;
            slope[1] = 1.0 - a * score;
        }
        return parameter[1] - sn_errors_log_density(law->errors, a);
    }
    const double log_p = sn_errors_log_between(law->errors, a, b);
    const double at_a = ratio(law->errors, a, log_p), at_b = ratio(law->errors, b, log_p);
    if (slope != NULL) {
        slope[0] = -(at_a - at_b) / s;
        slope[1] = (isinf(b) ? 0.0 : b * at_b) - (isinf(a) ? 0.0 : a * at_a);
    }
    return -log_p;
}

double sn_law_times_pull(const sn_law *law, const double *seen, double mu, const double *parameter, double u)
{
    const double m = mu + parameter[0], s = exp(parameter[1]);
    const double a = (seen[0] - m) / s, b = (seen[1] - m) / s;
    double score;
    if (seen[0] == seen[1])
        score = sn_errors_score(law->errors, a);
    else if (u > 0.0)
        score = sn_errors_score(law->errors, sn_errors_between(law->errors, a, b, u));
    else {
        const double log_p = sn_errors_log_between(law->errors, a, b);
        score = ratio(law->errors, a, log_p) - ratio(law->errors, b, log_p);
    }
    return s * (law->errors == SN_ERRORS_NORMAL ? score : fmin(score, MOST));
}

double sn_law_draw_time(const sn_law *law, const double *seen, double mu, const double *parameter, double u)
{
    const double m = mu + parameter[0], s = exp(parameter[1]);
    if (seen[0] == seen[1]) return seen[0];
    return m + s * sn_errors_between(law->errors, (seen[0] - m) / s, (seen[1] - m) / s, u);
}

void sn_law_times_answer(const sn_law *law, double mu, const double *parameter, int64_t outputs, double *out)
{
    (void)outputs;
    *out = mu + parameter[0] + exp(parameter[1]) * sn_errors_median(law->errors);
}
