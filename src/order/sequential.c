/*
 * Tests in sequence: k = 0, 1, .. directions are enough; the first k that is not rejected is chosen, so that
 * too many are chosen with probability `level` at the most (for large n). Where the law of the statistic is
 * known for x of any law (sir, save, phd), the test uses it. Elsewhere it permutes: in the coordinates of the
 * fitted basis the columns after the first k are permuted together over the rows. That leaves k directions
 * and nothing else. T_k = sum_{j>k} l_j is computed again for each of B permutations, and p = (1 + #{T* >=
 * T}) / (B + 1).
 */
#include <math.h>

#include "base/failure.h"
#include "base/memory.h"
#include "base/number.h"
#include "math/linalg.h"
#include "math/noise.h"
#include "order/order.h"
#include "stats/distributions.h"

enum { PERMUTATIONS = 199 };

static double tail_of(const sn_solved *solved, int64_t k)
{
    double sum = 0.0;
    for (int64_t j = k; j < solved->eigen.count; j++) sum += sn_order_eigenvalue(solved, j);
    return sum;
}

/* The scores of the rows in the eigenvectors (n x rank), all of them. */
static stonet_status find_scores(const sn_order_job *job, const sn_solved *solved, float *scores)
{
    const sn_whitening *whitening = &solved->sample.whitening;
    const int64_t rank = whitening->rank;
    SN_WORKSPACE(scratch);
    sn_blocks rows = sn_whitened_blocks(whitening, job->problem->x);
    SN_TRY(sn_blocks_open(&rows, 0, job->problem->n, &scratch));
    SN_ZEROS(rank * rank, double, basis);
    SN_ARRAY(rows.most * rank, double, turned);
    for (int64_t i = 0; i < rank; i++)
        for (int64_t j = 0; j < solved->eigen.columns; j++)
            basis[i * rank + j] = solved->eigen.vector[i * solved->eigen.columns + j];
    SN_TRY(sn_orthonormalise(rank, rank, basis)); /* completes it; the first ones are so already */
    while (sn_blocks_next(&rows)) {
        sn_multiply(sn_as(rows.z, rows.count, rank), sn_as(basis, rank, rank), turned);
        for (int64_t i = 0; i < rows.count * rank; i++) scores[rows.at * rank + i] = (float)turned[i];
    }
    return STONET_OK;
}

/* Whether permutation b gives a statistic at least as large. */
static stonet_status permute_once(const sn_order_job *job, const float *scores, int64_t rank, int64_t k,
                                  int64_t b, double statistic, bool *larger)
{
    const int64_t n = job->problem->n;
    SN_WORKSPACE(scratch);
    sn_problem permuted = *job->problem;
    sn_solved solved;
    SN_ARRAY(n * rank, float, x);
    SN_ARRAY(n, int64_t, order);
    sn_random random = sn_random_from(job->run->seed, SN_STREAM_PERMUTE, (uint32_t)(1000000 * (k + 1) + b));
    sn_random_permutation(&random, n, order);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < rank; j++) x[i * rank + j] = scores[(j < k ? i : order[i]) * rank + j];
    permuted.x = x;
    permuted.p = rank;
    const stonet_status status =
        sn_candidate_solve(job->spec->method, &permuted, job->spec->settings, NULL, &scratch, &solved);
    *larger = false;
    if (status == STONET_ERROR_DATA) return STONET_OK; /* no direction at all: the smallest there is */
    SN_TRY(status);
    *larger = tail_of(&solved, k) >= statistic;
    return STONET_OK;
}

/* Tests whether k directions are enough: statistic n T_k with T_k = sum_{j>k} l_j, p = (1 + #{T* >= T_k}) /
   (1 + B). Each permutation has its own random stream, so p does not depend on the number of threads. */
static stonet_status permutation_test(const sn_order_job *job, const sn_solved *solved, const float *scores,
                                      int64_t k, double *statistic, double *p_value)
{
    const int64_t rank = solved->sample.whitening.rank;
    const int64_t count = job->resamples > 0 ? job->resamples : PERMUTATIONS;
    const double found = tail_of(solved, k);
    sn_failure failure = {.status = STONET_OK};
    int64_t larger = 0;
    int stopped = 0;
#pragma omp parallel num_threads(sn_threads(job->run))
    {
        SN_THREADS(1);
#pragma omp for schedule(dynamic) reduction(+ : larger)
        for (int64_t b = 0; b < count; b++) {
            if (sn_should_stop_shared(job->run, &stopped)) continue;
            bool one = false;
            sn_failure_note(&failure, b, permute_once(job, scores, rank, k, b, found, &one));
            larger += one;
        }
    }
    if (stopped) return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before the dimension was chosen");
    *statistic = (double)job->problem->n * found;
    *p_value = (1.0 + (double)larger) / (1.0 + (double)count);
    return sn_failure_raise(&failure);
}

/* The tests by their laws: normal x, any x. Counts of 0 where there are none. */
static stonet_status tests_by_law(const sn_order_job *job, const sn_solved *solved, sn_tests *normal,
                                  sn_tests *general)
{
    const sn_candidate *candidate = job->spec->method->candidate;
    *normal = (sn_tests){0};
    *general = (sn_tests){0};
    if (candidate->tests == NULL || sn_real(job->spec->settings, "ridge") > 0.0) return STONET_OK;
    SN_TRY(candidate->tests(&solved->sample, &solved->matrix, &solved->eigen, normal));
    if (candidate->general == NULL) return STONET_OK;
    return candidate->general(&solved->sample, job->spec->settings, &solved->matrix, &solved->eigen, general);
}

static double p_of(const sn_tests *tests, int64_t k)
{
    return k < tests->count ? sn_chisq_upper(tests->test[2 * k + 1], tests->test[2 * k]) : (double)NAN;
}

stonet_status sn_order_none(const sn_order_job *job, double *p_value)
{
    *p_value = (double)NAN;
    if (job->spec->method->candidate->as_it_is) return STONET_OK; /* the response is not looked at */
    SN_WORKSPACE(scratch);
    sn_solved solved;
    sn_tests normal, general;
    SN_TRY(sn_candidate_solve(job->spec->method, job->problem, job->spec->settings, NULL, &scratch, &solved));
    SN_TRY(tests_by_law(job, &solved, &normal, &general));
    *p_value = general.count > 0 ? p_of(&general, 0) : p_of(&normal, 0);
    if (!isnan(*p_value)) return STONET_OK;
    double statistic;
    sn_order_job plain = *job;
    plain.resamples = 0;
    SN_ARRAY(job->problem->n * solved.sample.whitening.rank, float, scores);
    SN_TRY(find_scores(job, &solved, scores));
    return permutation_test(&plain, &solved, scores, 0, &statistic, p_value);
}

/* The table of the tests by law, whole; the choice by the general test where there is one. */
static stonet_status choose_by_law(const sn_order_job *job, const sn_tests *normal, const sn_tests *general,
                                   stonet_order_result *result)
{
    static const char *const names[] = {"k", "statistic", "df", "p_value", "p_value_general"};
    int64_t rows = normal->count;
    if (job->max > 0 && rows > job->max + 1) rows = job->max + 1;
    SN_TRY(sn_order_table(result, 0, rows, 5, names));
    result->chosen = -1;
    for (int64_t k = 0; k < rows; k++) {
        *sn_order_cell(result, k, 1) = normal->test[2 * k];
        *sn_order_cell(result, k, 2) = normal->test[2 * k + 1];
        *sn_order_cell(result, k, 3) = p_of(normal, k);
        *sn_order_cell(result, k, 4) = p_of(general, k);
        const double p = general->count > k ? p_of(general, k) : p_of(normal, k);
        if (result->chosen < 0 && p > job->level) {
            result->chosen = k;
            sn_format(result->reason, sizeof result->reason,
                      "%lld is the first number of directions that is not rejected (p = %.3g, %s)",
                      (long long)k, p, general->count > k ? "for x of any law" : "for normal x");
        }
    }
    if (result->chosen >= 0) return STONET_OK;
    result->chosen = rows;
    sn_format(result->reason, sizeof result->reason, "every smaller number of directions is rejected");
    return STONET_OK;
}

/* As far as the first that is not rejected: each costs as many fits as there are permutations. */
static stonet_status choose_by_permutation(const sn_order_job *job, const sn_solved *solved,
                                           stonet_order_result *result)
{
    static const char *const names[] = {"k", "statistic", "p_value"};
    const int64_t rank = solved->sample.whitening.rank;
    int64_t rows = solved->eigen.count;
    if (job->max > 0 && rows > job->max + 1) rows = job->max + 1;
    SN_ARRAY(job->problem->n * rank, float, scores);
    SN_TRY(find_scores(job, solved, scores));
    SN_TRY(sn_order_table(result, 0, rows, 3, names));
    for (int64_t k = 0; k < rows; k++) {
        double *statistic = sn_order_cell(result, k, 1), *p = sn_order_cell(result, k, 2);
        SN_TRY(permutation_test(job, solved, scores, k, statistic, p));
        if (*p <= job->level) continue;
        result->rows = k + 1;
        result->chosen = k;
        sn_format(result->reason, sizeof result->reason,
                  "%lld is the first number of directions that is not rejected (p = %.3g, by permutation)",
                  (long long)k, *p);
        return STONET_OK;
    }
    result->chosen = rows;
    sn_format(result->reason, sizeof result->reason, "every smaller number of directions is rejected");
    return STONET_OK;
}

stonet_status sn_order_tests(const sn_order_job *job, stonet_order_result *result)
{
    if (job->spec->method->candidate->as_it_is)
        return sn_fail(
            STONET_ERROR_UNSUPPORTED,
            "rule tests needs a method that uses the response, and %s does not: use ladle or augmentation",
            job->spec->method->name);
    SN_WORKSPACE(scratch);
    sn_solved solved;
    sn_tests normal, general;
    SN_TRY(sn_candidate_solve(job->spec->method, job->problem, job->spec->settings, job->run, &scratch,
                              &solved));
    SN_TRY(tests_by_law(job, &solved, &normal, &general));
    if (normal.count > 0) return choose_by_law(job, &normal, &general, result);
    return choose_by_permutation(job, &solved, result);
}
