/*
 * Upper tails of Q = sum_k lambda_k chi2_1 with lambda_k > 0: the null law of the kernel independence tests.
 * Coefficients that are not positive are passed over. At t <= 0 the tail is 1.
 */
#pragma once

#include "base/status.h"

/* Satterthwaite-Welch: a gamma law with the mean and variance of Q. */
double sn_mixture_sw(int64_t count, const double *lambda, double t);
/* Hall-Buckley-Eagleson: a shifted and scaled chi-square with the first three cumulants of Q. */
double sn_mixture_hbe(int64_t count, const double *lambda, double t);
/* Lindsay-Pilla-Basak with four support points: a mixture of four gamma laws with the first eight moments of
   Q. With equal coefficients fewer points are exact and are used; with less than four coefficients, or when
   the moments admit no such mixture, HBE takes its place. */
stonet_status sn_mixture_lpb4(int64_t count, const double *lambda, double t, double *p_value);
