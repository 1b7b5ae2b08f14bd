/*
 * Criteria of the eigenvalues alone (rule bic). With l_1 >= .. >= l_p the eigenvalues of the candidate matrix
 * of n rows, the k of the largest
 *
 *     lal (Li, Artemiou and Li 2011):  sum_{j<=k} l_j - 2 l_1 sqrt(log n / n) k
 *     zmp (Zhu, Miao and Peng 2006):   sum_{j>k} (log(1 + l_j) - l_j)
 *                                      - (l_1/3) (log(n)/2 + n^{1/3}/10) k (2p - k + 1) / (2n)
 *     zzf (Zhu, Zhu and Feng 2010):    n sum_{j<=k} l_j^2 / sum_j l_j^2 - (n^{3/4}/p) k (k+1)/2,   k >= 1
 *
 * lal and zzf cannot say 0 (lal exceeds 0 at k = 1 as soon as n > 8): the test of no direction says it for
 * them. The constant of zmp suits sir alone.
 */
#include <math.h>

#include "base/memory.h"
#include "base/number.h"
#include "order/order.h"

/* value has p eigenvalues, descending, out p + 1 (k = 0 .. p). */
static void find_lal(int64_t n, int64_t p, const double *value, double *out)
{
    const double rows = (double)n, penalty = 2.0 * value[0] * sqrt(log(rows) / rows);
    double sum = 0.0;
    out[0] = 0.0;
    for (int64_t k = 1; k <= p; k++) {
        sum += value[k - 1];
        out[k] = sum - penalty * (double)k;
    }
}

static void find_zmp(int64_t n, int64_t p, const double *value, double *out)
{
    const double rows = (double)n;
    const double penalty = value[0] / 3.0 * (0.5 * log(rows) + 0.1 * cbrt(rows)) / (2.0 * rows);
    double sum = 0.0;
    for (int64_t k = p; k >= 0; k--) {
        if (k < p) sum += log1p(value[k]) - value[k];
        out[k] = sum - penalty * (double)k * (double)(2 * p - k + 1);
    }
}

static void find_zzf(int64_t n, int64_t p, const double *value, double *out)
{
    const double rows = (double)n, penalty = pow(rows, 0.75) / (double)p;
    double all = 0.0, sum = 0.0;
    for (int64_t j = 0; j < p; j++) all += value[j] * value[j];
    out[0] = (double)NAN;
    for (int64_t k = 1; k <= p; k++) {
        sum += value[k - 1] * value[k - 1];
        out[k] = rows * sum / all - 0.5 * penalty * (double)k * (double)(k + 1);
    }
}

static int64_t largest(int64_t count, const double *value)
{
    int64_t at = -1;
    for (int64_t k = 0; k < count; k++)
        if (!isnan(value[k]) && (at < 0 || value[k] > value[at])) at = k;
    return at;
}

stonet_status sn_order_criteria(const sn_order_job *job, stonet_order_result *result)
{
    static const char *const names[] = {"k", "eigenvalue", "lal", "zmp", "zzf"};
    const sn_problem *problem = job->problem;
    const int64_t n = problem->n, p = problem->p;
    SN_WORKSPACE(scratch);
    sn_solved solved;
    double *of[3] = {NULL, NULL, NULL};
    SN_ARRAY(p, double, value);
    SN_TRY(SN_TAKE_EACH(&scratch, p + 1, &of[0], &of[1], &of[2]));
    SN_TRY(sn_candidate_solve(job->spec->method, problem, job->spec->settings, job->run, &scratch, &solved));
    for (int64_t k = 0; k < p; k++) value[k] = sn_order_eigenvalue(&solved, k);
    find_lal(n, p, value, of[0]);
    find_zmp(n, p, value, of[1]);
    find_zzf(n, p, value, of[2]);

    const int64_t rows = (job->max > 0 && job->max < p ? job->max : p) + 1;
    SN_TRY(sn_order_table(result, 0, rows, 5, names));
    for (int64_t k = 0; k < rows; k++) {
        if (k > 0) *sn_order_cell(result, k, 1) = value[k - 1];
        for (int c = 0; c < 3; c++) *sn_order_cell(result, k, 2 + c) = of[c][k];
    }
    double none = (double)NAN;
    SN_TRY(sn_order_none(job, &none));
    const int64_t by_lal = largest(rows, of[0]), by_zmp = largest(rows, of[1]), by_zzf = largest(rows, of[2]);
    result->chosen = none > job->level ? 0 : by_lal;
    if (none > job->level)
        sn_format(result->reason, sizeof result->reason,
                  "the test of no direction does not reject (p = %.3g), and the criteria cannot say 0 "
                  "themselves",
                  none);
    else
        sn_format(result->reason, sizeof result->reason,
                  "lal is largest at %lld (zmp, made for sir, at %lld; zzf at %lld)", (long long)by_lal,
                  (long long)by_zmp, (long long)by_zzf);
    return STONET_OK;
}
