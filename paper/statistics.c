#include "paper/statistics.h"

#include <math.h>

double mean_of(int64_t n, const double *values)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += values[i];
    return sum / (double)n;
}

double standard_error_of(int64_t n, const double *values)
{
    double mean = mean_of(n, values), squares = 0;
    for (int64_t i = 0; i < n; i++) squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)(n - 1) / (double)n);
}

double correlation(int64_t n, const double *a, const double *b)
{
    double mean_a = mean_of(n, a), mean_b = mean_of(n, b), aa = 0, bb = 0, ab = 0;
    for (int64_t i = 0; i < n; i++) {
        aa += (a[i] - mean_a) * (a[i] - mean_a);
        bb += (b[i] - mean_b) * (b[i] - mean_b);
        ab += (a[i] - mean_a) * (b[i] - mean_b);
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}
