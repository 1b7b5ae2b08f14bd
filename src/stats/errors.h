/*
 * Laws of an error e, of scale 1, for responses that are seen in part: log times and the scores behind
 * ordered classes. All in logarithms, so that bounds far out in a tail lose nothing.
 *
 *     normal       f = exp(-e^2 / 2) / sqrt(2 pi)
 *     logistic     F = 1 / (1 + exp(-e))
 *     extreme      F = 1 - exp(-exp(e)), the logarithm of an exponential time (Weibull times)
 */
#pragma once

typedef enum sn_errors { SN_ERRORS_NORMAL, SN_ERRORS_LOGISTIC, SN_ERRORS_EXTREME } sn_errors;

/* log P(E > e), log P(E <= e) and log f(e); e may be infinite. */
double sn_errors_log_upper(sn_errors law, double e);
double sn_errors_log_lower(sn_errors law, double e);
double sn_errors_log_density(sn_errors law, double e);
/* - d log f / d e */
double sn_errors_score(sn_errors law, double e);
/* log P(low < E <= high), low < high. */
double sn_errors_log_between(sn_errors law, double low, double high);
/* The e in (low, high) below which a part u, in (0, 1), of what lies between them lies: a draw from the
   truncated law when u is uniform. */
double sn_errors_between(sn_errors law, double low, double high, double u);
double sn_errors_median(sn_errors law);
