/* The exponential of many numbers at once, for kernels. */
#pragma once

#include <stdint.h>
#include <string.h>

/*
 * exp(min(x, 0)) = 2^k exp(r) with k the whole number nearest to x / log 2 and r = x - k log 2 in +-0.35,
 * where a Taylor polynomial of degree 13 is exact to rounding. No branch and no call, so that compilers make
 * vectors of a loop around it; the library's exp, one number a call, takes several times as long.
 */
__attribute__((always_inline)) static inline double sn_exp_one(double x)
{
    const double whole = 0x1.8p52; /* adding it leaves the nearest whole number in the low bits of the sum */
    const double lowest = -708.0;  /* 2^k is a normal number down to here */
    const double log2_high = 6.93147180369123816490e-01, log2_low = 1.90821492927058770002e-10;
    x = x > 0.0 ? 0.0 : x;
    x = x < lowest ? lowest : x;
    double sum = x * 1.44269504088896338700e+00 + whole, k = sum - whole, power;
    double r = (x - k * log2_high) - k * log2_low;
    double value = 1.0 / 6227020800.0;
    value = value * r + 1.0 / 479001600.0;
    value = value * r + 1.0 / 39916800.0;
    value = value * r + 1.0 / 3628800.0;
    value = value * r + 1.0 / 362880.0;
    value = value * r + 1.0 / 40320.0;
    value = value * r + 1.0 / 5040.0;
    value = value * r + 1.0 / 720.0;
    value = value * r + 1.0 / 120.0;
    value = value * r + 1.0 / 24.0;
    value = value * r + 1.0 / 6.0;
    value = value * r + 0.5;
    value = value * r + 1.0;
    value = value * r + 1.0;
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    bits = (bits + 1023) << 52; /* the exponent field of 2^k */
    memcpy(&power, &bits, sizeof power);
    return value * power;
}

/* x <- exp(min(x, 0)) for n numbers, to within 2 units in the last place; below -708 as at -708 (3e-308).
   A NaN stays one. */
void sn_exp_nonpositive(int64_t n, double *x);
