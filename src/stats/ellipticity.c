#include "stats/ellipticity.h"

#include <math.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "stats/distributions.h"

/* white (n x p) = (x - mean) S^(-1/2), the symmetric root; *found: S has one. */
static stonet_status whiten(int64_t n, int64_t p, const double *x, double *white, bool *found)
{
    const double smallest = 1e-8; /* variance, of the largest */
    SN_ARRAY(n * p, double, centred);
    SN_ARRAY(p, double, mean);
    SN_ARRAY(p, double, value);
    SN_ARRAY(p * p, double, vector);
    SN_ARRAY(p * p, double, turned);
    SN_ARRAY(p * p, double, root);
    for (int64_t k = 0; k < n * p; k++) centred[k] = x[k];
    sn_column_means(n, p, x, mean);
    sn_subtract_row(n, p, mean, centred);
    sn_syrk_tn(p, n, 1.0 / (double)n, centred, 0.0, root);
    SN_TRY(sn_eigh(p, root, value, vector));
    *found = value[p - 1] > smallest * value[0];
    if (!*found) return STONET_OK;
    for (int64_t i = 0; i < p; i++)
        for (int64_t k = 0; k < p; k++) turned[i * p + k] = vector[i * p + k] / sqrt(value[k]);
    sn_multiply(sn_as(turned, p, p), sn_turned(vector, p, p), root);
    sn_multiply(sn_as(centred, n, p), sn_as(root, p, p), white);
    return STONET_OK;
}

stonet_status sn_ellipticity(int64_t n, int64_t p, const double *x, double *p_value)
{
    double largest = 0.0;
    bool found = false;
    *p_value = 1.0;
    if (p < 2 || n < 10 * p) return STONET_OK;
    SN_ARRAY(n * p, double, w);
    SN_ZEROS(2 * p, double, sum);
    SN_TRY(whiten(n, p, x, w, &found));
    if (!found) return STONET_OK;
    /* Moments of a coordinate of the sphere. */
    const double d = (double)p, m2 = 1.0 / d, m4 = 3.0 * m2 / (d + 2.0), m6 = 5.0 * m4 / (d + 4.0),
                 m8 = 7.0 * m6 / (d + 6.0);
    const double c = 3.0 / (d + 2.0), a = (m6 - m4 * m2) / (m4 - m2 * m2), b = m4 - a * m2;
    const double sd3 = sqrt(m6 - c * m4);
    const double sd4 = sqrt(m8 - m4 * m4 - a * (m6 - m4 * m2));
    for (int64_t i = 0; i < n; i++) {
        const double length = sn_norm(p, w + i * p);
        for (int64_t j = 0; j < p && length > 0.0; j++) {
            const double u = w[i * p + j] / length, u2 = u * u;
            sum[j] += u * (u2 - c);
            sum[p + j] += u2 * u2 - a * u2 - b;
        }
    }
    for (int64_t j = 0; j < 2 * p; j++)
        largest = fmax(largest, fabs(sum[j]) / (sqrt((double)n) * (j < p ? sd3 : sd4)));
    *p_value = fmin(1.0, 2.0 * d * 2.0 * sn_normal_lower(-largest));
    return STONET_OK;
}
