/* What predictions of censored times are worth; all rows count the same. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct sn_times {
    int64_t n;
    const double *time, *event; /* event: 1 seen, 0 censored */
} sn_times;

/* The predicted P(T > t) of a row. */
typedef double sn_survival(const void *user, int64_t row, double t);

/* Kaplan and Meier's estimate of P(T > t): steps at the distinct times, ascending. */
typedef struct sn_kaplan {
    int64_t steps;
    double *at, *after; /* P(T > t) for at[k] <= t < at[k + 1] */
} sn_kaplan;

/* censoring: of the time of censoring, for which a seen event is the end of the observation. */
stonet_status sn_kaplan_create(const sn_times *rows, bool censoring, sn_kaplan *out);
void sn_kaplan_free(sn_kaplan *kaplan);
double sn_kaplan_at(const sn_kaplan *kaplan, double t);
/* P(T >= t). */
double sn_kaplan_before(const sn_kaplan *kaplan, double t);

/*
 * The log-rank test (Mantel) that `groups` groups of rows, group[i] = 0 .. groups - 1, have one law of the
 * time: with O_g events seen in group g and E_g expected if all rows at risk were alike, (O - E)' V^- (O - E)
 * is chi-square with groups - 1 degrees of freedom. *p_value is NaN where a group is empty or nothing was
 * seen.
 */
stonet_status sn_log_rank(const sn_times *rows, const int *group, int groups, double *p_value);

/*
 * The share of pairs of rows, of which one is known to end before the other, whose predictions are in that
 * order; equal predictions count half. Harrell's counts pairs alike, Uno's by 1 / G(t)^2 with G the law of
 * censoring, so that it does not depend on that law. predicted: larger for longer times.
 */
stonet_status sn_concordance(const sn_times *rows, const double *predicted, double *harrell, double *uno);

/*
 * The mean over times t, from 0 to the last event, of the mean over rows of (1{T > t} - S(t))^2, rows
 * weighted by 1 / G(T-) after their event and 1 / G(t) before (Graf and others 1999). The integral is over
 * 100 midpoints.
 */
stonet_status sn_integrated_brier(const sn_times *rows, sn_survival *survival, const void *user, double *out);

/*
 * How far promised survival is from what came: at the three quartiles of the seen times, rows in fifths by
 * S(t); the mean over the fifths of |the mean of S(t) - Kaplan and Meier's estimate|. NaN with fewer rows
 * than fifths, or where nothing was seen.
 */
stonet_status sn_survival_calibration(const sn_times *rows, sn_survival *survival, const void *user,
                                      double *out);
