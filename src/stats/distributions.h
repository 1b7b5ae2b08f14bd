/* Distribution functions, to about 1e-13 absolute; upper tails keep their relative accuracy when tiny. */
#pragma once

/* Gamma with shape a > 0 and scale 1: P(G > x); 1 for x <= 0. */
double sn_gamma_upper(double shape, double x);
/* Chi-square with df > 0 (not necessarily whole) degrees of freedom. */
double sn_chisq_upper(double df, double x);
/* Student's t with df > 0: P(|T| >= |t|). */
double sn_t_two_sided(double df, double t);
/* The t with P(T <= t) = p, for p in (0, 1). */
double sn_t_quantile(double df, double p);
double sn_normal_lower(double x);
/* The x with P(N <= x) = p, for p in (0, 1); infinite at the ends. */
double sn_normal_quantile(double p);
