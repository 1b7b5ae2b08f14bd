/*
 * Predictor augmentation (Luo and Li 2021): columns of noise are put beside x, and eigenvectors that put
 * weight on them are noise themselves. With r = floor(p/5) + 1 columns of N(0, 1), s replicates, b_i the
 * eigenvectors (in the coordinates of the symmetric whitening) and b_i^S their last r entries:
 *
 *     f(k) = sum_{i<=k} mean_j |b_{i,j}^S|^2          phi(k) = l_{k+1} / (1 + sum_{i<=k+1} l_i)
 *
 * with l the eigenvalues averaged over the replicates; chosen: the k of the smallest f + phi. No row is drawn
 * twice, so it is s + 1 eigenproblems instead of hundreds.
 */
#include <math.h>

#include "base/memory.h"
#include "base/number.h"
#include "math/noise.h"
#include "order/order.h"

enum { REPLICATES = 10 };

/* Adds one replicate's eigenvalues and weights on noise to the sums (count each); gives how many it had. */
static stonet_status add_replicate(const sn_order_job *job, int64_t replicate, int64_t r, int64_t count,
                                   double *value, double *weight, int64_t *had)
{
    const int64_t p = job->problem->p;
    SN_WORKSPACE(scratch);
    sn_problem wider = *job->problem;
    sn_solved solved;
    SN_ARRAY(wider.n * (p + r), float, x);
    sn_random random = sn_random_from(job->run->seed, SN_STREAM_PERMUTE, (uint32_t)replicate);
    for (int64_t i = 0; i < wider.n; i++) {
        for (int64_t j = 0; j < p; j++) x[i * (p + r) + j] = job->problem->x[i * p + j];
        for (int64_t j = p; j < p + r; j++) x[i * (p + r) + j] = (float)sn_random_normal(&random);
    }
    wider.x = x;
    wider.p = p + r;
    SN_TRY(sn_candidate_solve(job->spec->method, &wider, job->spec->settings, NULL, &scratch, &solved));
    *had = solved.eigen.columns < count ? solved.eigen.columns : count;
    SN_ARRAY((p + r) * *had, double, vector);
    SN_TRY(sn_solved_vectors(&solved, *had, vector));
    for (int64_t k = 0; k < count; k++) value[k] += sn_order_eigenvalue(&solved, k);
    for (int64_t k = 0; k < *had; k++)
        for (int64_t j = p; j < p + r; j++) weight[k] += vector[j * *had + k] * vector[j * *had + k];
    return STONET_OK;
}

/* value and weight sum l_i and |b_i^S|^2 over the replicates (index 0: i = 1). The table ends at the fewest
   eigenvalues that a replicate has. Where the test of no direction does not reject, 0 is chosen whatever f +
   phi says. */
stonet_status sn_order_augmentation(const sn_order_job *job, stonet_order_result *result)
{
    static const char *const names[] = {"k", "criterion", "weight_on_noise", "eigenvalue_left", "eigenvalue"};
    const int64_t p = job->problem->p, r = p / 5 + 1;
    const int64_t replicates = job->resamples > 0 ? job->resamples : REPLICATES;
    if (job->problem->n <= p + r)
        return sn_fail(
            STONET_ERROR_DATA,
            "augmentation adds %lld columns to %lld and needs more rows than both (%lld are there): use fewer columns, or rule=cv",
            (long long)r, (long long)p, (long long)job->problem->n);
    SN_ZEROS(p + 1, double, value);
    SN_ZEROS(p + 1, double, weight);
    int64_t count = p;
    for (int64_t j = 0; j < replicates; j++) {
        int64_t had = 0;
        if (sn_should_stop(job->run))
            return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before the dimension was chosen");
        SN_TRY(add_replicate(job, j, r, p, value, weight, &had));
        if (had < count) count = had;
    }
    int64_t most = count - 1; /* phi(k) needs eigenvalue k + 1 */
    if (job->max > 0 && most > job->max) most = job->max;
    SN_TRY(sn_order_table(result, 0, most + 1, 5, names));
    double f = 0.0, sum = 0.0;
    int64_t best = 0;
    for (int64_t k = 0; k <= most; k++) {
        sum += value[k] / (double)replicates;
        const double phi = value[k] / (double)replicates / (1.0 + sum);
        *sn_order_cell(result, k, 1) = f + phi;
        *sn_order_cell(result, k, 2) = f;
        *sn_order_cell(result, k, 3) = phi;
        if (k > 0) *sn_order_cell(result, k, 4) = value[k - 1] / (double)replicates;
        if (f + phi < *sn_order_cell(result, best, 1)) best = k;
        f += weight[k] / (double)replicates;
    }
    double none = (double)NAN;
    SN_TRY(sn_order_none(job, &none));
    result->chosen = none > job->level ? 0 : best;
    if (result->chosen < best)
        sn_format(result->reason, sizeof result->reason,
                  "the test of no direction does not reject (p = %.3g); augmentation alone would say %lld",
                  none, (long long)best);
    else
        sn_format(
            result->reason, sizeof result->reason,
            "the sum of weight on noise columns and remaining eigenvalue is smallest at %lld, over %lld "
            "replicates of %lld columns",
            (long long)best, (long long)replicates, (long long)r);
    return STONET_OK;
}
