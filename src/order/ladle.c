/*
 * The ladle (Luo and Li 2016). Eigenvectors of a direction that is there hardly move when the rows are drawn
 * again, those of equal eigenvalues turn at will; eigenvalues fall to 0 after the last direction. With V_k
 * the first k eigenvectors and V*_{k,b} those of resample b of B:
 *
 *     f0(k) = mean_b (1 - |det(V_k' V*_{k,b})|),  f0(0) = 0       f(k) = f0(k) / (1 + sum_{i=0..K} f0(i))
 *     phi(k) = l_{k+1} / (1 + sum_{i=1..K+1} l_i)                 chosen: the k of the smallest f + phi
 *
 * K = p - 2 for p <= 10 (p - 1 for p <= 3), else floor(p / log p). K is not above the number of eigenvalues
 * that can differ from 0: for sir one fewer than the slices, as the next eigenvalue is known to be 0. A
 * resample draws n rows with replacement (classes by themselves, so that none vanishes) and goes the whole
 * way again: centring, whitening, slices. The test of no direction comes first, and it alone decides where
 * there can be one at the most (two classes).
 */
#include <math.h>
#include <omp.h>

#include "base/failure.h"
#include "base/memory.h"
#include "base/number.h"
#include "data/partitions.h"
#include "math/linalg.h"
#include "math/noise.h"
#include "order/order.h"

enum { RESAMPLES = 200 };

/* The largest k to look at: 0 when there is at most one direction. */
static int64_t largest_k(const sn_order_job *job, const sn_solved *solved)
{
    const int64_t p = solved->sample.whitening.rank;
    int64_t k = p <= 3 ? p - 1 : p <= 10 ? p - 2 : (int64_t)floor((double)p / log((double)p));
    if (solved->eigen.count == 1) return 0;
    if (k > solved->eigen.count) k = solved->eigen.count;
    if (job->max > 0 && k > job->max) k = job->max;
    return k > 0 ? k : 0;
}

/* All rows are of one class where there are none. */
static int32_t class_of(const sn_problem *problem, int64_t i)
{
    return problem->label != NULL ? problem->label[i] : 0;
}

/* n rows with replacement, drawn by (seed, resample); rows of a class from that class. */
static void draw_rows(const sn_problem *problem, uint64_t seed, int64_t resample, const int64_t *by_class,
                      const int64_t *start, int64_t *rows)
{
    sn_random random = sn_random_from(seed, SN_STREAM_PERMUTE, (uint32_t)resample);
    for (int64_t i = 0; i < problem->n; i++) {
        const int64_t *own = start + class_of(problem, i);
        rows[i] = by_class[own[0] + (int64_t)sn_random_below(&random, (uint64_t)(own[1] - own[0]))];
    }
}

/* Rows sorted by class: class c has by_class[start[c]] .. by_class[start[c + 1] - 1]. start begins as zeros,
   and has two more than classes or targets, of which there may be none. */
static void sort_classes(const sn_problem *problem, int64_t *by_class, int64_t *start)
{
    for (int64_t i = 0; i < problem->n; i++) start[class_of(problem, i) + 2]++;
    for (int64_t c = 0; c < problem->outputs; c++) start[c + 2] += start[c + 1];
    for (int64_t i = 0; i < problem->n; i++) by_class[start[class_of(problem, i) + 1]++] = i;
}

/* What the resamples share, and where each leaves its row of 1 - |det| for k = 1 .. most. */
typedef struct ladle {
    const sn_order_job *job;
    int64_t most, resamples;
    const double *vector; /* p x most, of all rows */
    int64_t *by_class, *start;
    double *moved; /* resamples x most; NaN where a resample had too few directions */
} ladle;

/* Resample b: out[k - 1] = 1 - |det(V_k' V*_k)|. cross = V' V* (most x most) has V_k' V*_k in its leading k x
   k corner. The row stays NaN where the resample has fewer than `most` directions. */
static stonet_status look_again(const ladle *self, int64_t resample)
{
    const sn_problem *problem = self->job->problem;
    const int64_t p = problem->p, most = self->most;
    double *out = self->moved + resample * most;
    for (int64_t k = 0; k < most; k++) out[k] = (double)NAN;
    SN_WORKSPACE(scratch);
    SN_ARRAY(problem->n, int64_t, rows);
    SN_ARRAY(p * most, double, vector);
    SN_ARRAY(most * most, double, cross);
    SN_ARRAY(most * most, double, corner);
    SN_ARRAY(most, double, singular);
    draw_rows(problem, self->job->run->seed, resample, self->by_class, self->start, rows);
    SN_FREED_BY(sn_problem_subset_free) sn_problem drawn = {0};
    sn_solved solved;
    SN_TRY(sn_problem_subset(problem, rows, problem->n, &drawn));
    const stonet_status status = sn_candidate_solve(self->job->spec->method, &drawn,
                                                    self->job->spec->settings, NULL, &scratch, &solved);
    if (status == STONET_ERROR_DATA) return STONET_OK; /* these rows happen to have no direction */
    SN_TRY(status);
    if (solved.eigen.columns < most) return STONET_OK;
    SN_TRY(sn_solved_vectors(&solved, most, vector));
    sn_multiply(sn_turned(self->vector, p, most), sn_as(vector, p, most), cross);
    for (int64_t k = 1; k <= most; k++) {
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = 0; j < k; j++) corner[i * k + j] = cross[i * most + j];
        double size = 1.0; /* |det| */
        SN_TRY(sn_svd(k, k, corner, NULL, singular, NULL));
        for (int64_t j = 0; j < k; j++) size *= singular[j];
        out[k - 1] = 1.0 - size;
    }
    return STONET_OK;
}

/* All resamples, side by side; the sums do not depend on who drew which. */
static stonet_status resample_all(const ladle *self)
{
    sn_failure failure = {.status = STONET_OK};
    const double started = sn_seconds();
    int64_t finished = 0;
    int stopped = 0;
#pragma omp parallel num_threads(sn_threads(self->job->run))
    {
        SN_THREADS(1);
#pragma omp for schedule(dynamic)
        for (int64_t b = 0; b < self->resamples; b++) {
            if (sn_should_stop_shared(self->job->run, &stopped)) continue;
            sn_failure_note(&failure, b, look_again(self, b));
#pragma omp critical
            finished++;
            if (omp_get_thread_num() == 0)
                sn_progress_of(self->job->run, "resampling", finished, self->resamples, (double)NAN, started);
        }
    }
    if (stopped) return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before the dimension was chosen");
    return sn_failure_raise(&failure);
}

/* The parts of the criterion and its smallest value. */
static stonet_status fill(const ladle *self, const sn_solved *solved, const double *moved, double none,
                          stonet_order_result *result)
{
    static const char *const names[] = {"k", "criterion", "movement", "eigenvalue_left", "eigenvalue"};
    double all_moved = 0.0, all_values = 0.0;
    SN_TRY(sn_order_table(result, 0, self->most + 1, 5, names));
    for (int64_t k = 0; k < self->most; k++) all_moved += moved[k];
    for (int64_t k = 0; k <= self->most; k++) all_values += sn_order_eigenvalue(solved, k);
    int64_t best = 0;
    for (int64_t k = 0; k <= self->most; k++) {
        const double f = k > 0 ? moved[k - 1] / (1.0 + all_moved) : 0.0;
        const double phi = sn_order_eigenvalue(solved, k) / (1.0 + all_values);
        *sn_order_cell(result, k, 1) = f + phi;
        *sn_order_cell(result, k, 2) = f;
        *sn_order_cell(result, k, 3) = phi;
        if (k > 0) *sn_order_cell(result, k, 4) = sn_order_eigenvalue(solved, k - 1);
        if (f + phi < *sn_order_cell(result, best, 1)) best = k;
    }
    result->chosen = none > self->job->level ? 0 : best;
    if (result->chosen < best)
        sn_format(result->reason, sizeof result->reason,
                  "the test of no direction does not reject (p = %.3g); the ladle alone would say %lld", none,
                  (long long)best);
    else
        sn_format(result->reason, sizeof result->reason,
                  "the sum of movement and remaining eigenvalue is smallest at %lld of 0 to %lld, over %lld "
                  "resamples",
                  (long long)best, (long long)self->most, (long long)self->resamples);
    return STONET_OK;
}

/* Solves the eigenproblem on all rows, then on each resample. `moved` is f0(1) .. f0(K) of the formulas
   above; fill makes the table from it. */
stonet_status sn_order_ladle(const sn_order_job *job, stonet_order_result *result)
{
    const sn_problem *problem = job->problem;
    SN_WORKSPACE(scratch);
    sn_solved solved;
    double none = (double)NAN;
    SN_TRY(sn_candidate_solve(job->spec->method, problem, job->spec->settings, job->run, &scratch, &solved));
    SN_TRY(sn_order_none(job, &none));
    ladle self = {.job = job,
                  .most = largest_k(job, &solved),
                  .resamples = job->resamples > 0 ? job->resamples : RESAMPLES};
    if (self.most == 0) { /* at most one direction: the test of none decides */
        static const char *const names[] = {"k", "p_value"};
        SN_TRY(sn_order_table(result, 0, 2, 2, names));
        *sn_order_cell(result, 0, 1) = none;
        result->chosen = none > job->level ? 0 : 1;
        sn_format(result->reason, sizeof result->reason,
                  "there can be one direction at the most here, and the test of none has p = %.3g", none);
        return STONET_OK;
    }
    SN_ARRAY(problem->p * self.most, double, vector);
    SN_ZEROS(self.most, double, moved);
    SN_TRY(SN_TAKE(&scratch, self.moved, self.resamples * self.most));
    SN_TRY(SN_TAKE(&scratch, self.by_class, problem->n));
    SN_TRY(SN_TAKE_ZERO(&scratch, self.start, problem->outputs + 3));
    sort_classes(problem, self.by_class, self.start);
    SN_TRY(sn_solved_vectors(&solved, self.most, vector));
    self.vector = vector;
    SN_TRY(resample_all(&self));
    int64_t used = 0;
    for (int64_t b = 0; b < self.resamples; b++) {
        const double *row = self.moved + b * self.most;
        if (isnan(row[0])) continue;
        used++;
        for (int64_t k = 0; k < self.most; k++) moved[k] += row[k];
    }
    for (int64_t k = 0; k < self.most; k++) moved[k] /= (double)used;
    if (2 * used < self.resamples)
        return sn_fail(STONET_ERROR_DATA,
                       "%s: most resamples of the %lld rows have fewer than %lld directions: choose fewer "
                       "dimensions at the most (max), or fewer slices",
                       job->spec->method->name, (long long)problem->n, (long long)self.most);
    return fill(&self, &solved, moved, none, result);
}
