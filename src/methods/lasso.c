#include "methods/lasso.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "math/linalg.h"

static double shrink(double value, double by)
{
    if (value > by) return value - by;
    return value < -by ? value + by : 0.0;
}

/* One pass over the coordinates (only those that are not 0 if active); slope is kept at c - G b. The largest
   step, as a change of slope in that coordinate. */
static double sweep(int64_t p, const double *gram, double penalty, bool active, double *b, double *slope)
{
    double largest = 0.0;
    for (int64_t j = 0; j < p; j++) {
        double curvature = gram[j * p + j];
        if (curvature <= 0.0 || (active && b[j] == 0.0)) continue;
        double next = shrink(slope[j] + curvature * b[j], penalty) / curvature;
        double step = next - b[j];
        if (step == 0.0) continue;
        for (int64_t k = 0; k < p; k++) slope[k] -= step * gram[j * p + k];
        b[j] = next;
        largest = fmax(largest, curvature * fabs(step));
    }
    return largest;
}

void sn_lasso(int64_t p, const double *gram, const double *c, double penalty, double tolerance,
              int64_t sweeps, double *b, double *slope)
{
    double largest = 0.0;
    for (int64_t j = 0; j < p; j++) largest = fmax(largest, fabs(c[j]));
    double small = tolerance * largest;
    memcpy(slope, c, (size_t)p * sizeof *slope);
    for (int64_t j = 0; j < p; j++)
        for (int64_t k = 0; b[j] != 0.0 && k < p; k++) slope[k] -= b[j] * gram[j * p + k];
    for (int64_t done = 0; done < sweeps; done++) {
        if (sweep(p, gram, penalty, false, b, slope) <= small) return;
        while (done < sweeps && sweep(p, gram, penalty, true, b, slope) > small) done++;
    }
}
