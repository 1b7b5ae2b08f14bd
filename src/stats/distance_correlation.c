#include "stats/independence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/run.h"
#include "base/workspace.h"
#include "math/noise.h"
#include "math/smallest.h"
#include "stats/features.h"

/*
 * With a_ij = |x_i - x_j|, b_ij = |y_i - y_j| and row sums a_i., b_i., the squared distance covariance is
 *
 *     dCov^2 = S_1 / n^2 - 2 sum_i a_i. b_i. / n^3 + a.. b.. / n^4,   S_1 = sum_ij a_ij b_ij.
 *
 * A permutation of y changes S_1 by its distances and the middle term by its row sums; the rest stays.
 */

enum { BATCH = 16 }; /* permutations worked on together */

/* One side: the points, centred; for numbers their order and ranks too. */
typedef struct points {
    int64_t n, d;
    double *value;   /* n x d */
    int64_t *sorted; /* d = 1: rows by value; else NULL */
    int64_t *rank;   /* d = 1: position of row i in sorted; else NULL */
    double *row_sum; /* n: sum_j |v_i - v_j| */
    double total;    /* sum of row_sum */
} points;

/* What a Fenwick tree of pairs keeps: how many, and the sums of x, y and xy. */
typedef struct tally {
    double count, x, y, xy;
} tally;

static double distance(const points *p, int64_t i, int64_t j)
{
    const double *a = p->value + i * p->d;
    const double *b = p->value + j * p->d;
    if (p->d == 1) return fabs(a[0] - b[0]);
    double sum = 0.0;
    for (int64_t k = 0; k < p->d; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(sum);
}

/* Order, ranks and, by prefix sums over the sorted values, the row sums of |v_i - v_j|. */
static stonet_status sort_numbers(points *p, sn_workspace *keep)
{
    const int64_t n = p->n;
    SN_TRY(SN_TAKE(keep, p->sorted, n));
    SN_TRY(SN_TAKE(keep, p->rank, n));
    SN_ARRAY(n, sn_keyed, key);
    double all = 0.0;
    for (int64_t i = 0; i < n; i++) {
        key[i] = (sn_keyed){p->value[i], i};
        all += p->value[i];
    }
    qsort(key, (size_t)n, sizeof *key, sn_by_value);
    double before = 0.0;
    for (int64_t s = 0; s < n; s++) {
        double v = key[s].value;
        p->sorted[s] = key[s].row;
        p->rank[key[s].row] = s;
        p->row_sum[key[s].row] = v * (double)s - before + (all - before - v) - v * (double)(n - 1 - s);
        before += v;
    }
    return STONET_OK;
}

/* Row sums cost O(n log n) for numbers, by sorting, and O(n^2 d) for points. Centring changes no distance,
   and keeps digits where the values are large. */
static stonet_status points_create(int64_t n, int64_t d, const double *value, int threads, sn_workspace *keep,
                                   points *p)
{
    *p = (points){.n = n, .d = d};
    SN_TRY(SN_TAKE(keep, p->value, n * d));
    SN_TRY(SN_TAKE(keep, p->row_sum, n));
    for (int64_t j = 0; j < d; j++) {
        double mean = 0.0;
        for (int64_t i = 0; i < n; i++) mean += value[i * d + j] / (double)n;
        for (int64_t i = 0; i < n; i++) p->value[i * d + j] = value[i * d + j] - mean;
    }
    if (d == 1) {
        SN_TRY(sort_numbers(p, keep));
    } else {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t i = 0; i < n; i++) {
            p->row_sum[i] = 0.0;
            for (int64_t j = 0; j < n; j++) p->row_sum[i] += distance(p, i, j);
        }
    }
    for (int64_t i = 0; i < n; i++) p->total += p->row_sum[i];
    return STONET_OK;
}

/* S_1 for numbers, y_order[i] beside x_i: sum over pairs, taken in the order of x, of (x_j - x_i) |y_j -
   y_i|. The pairs with y_i below y_j enter with +, the rest with -, and both sums come from a tree over the
   ranks of y. `tree` has n + 1 entries of work. */
static double product_sum_numbers(const points *x, const points *y, const int64_t *order, tally *tree)
{
    const int64_t n = x->n;
    memset(tree, 0, (size_t)(n + 1) * sizeof *tree);
    tally all = {0};
    double sum = 0.0;
    for (int64_t s = 0; s < n; s++) {
        int64_t i = x->sorted[s];
        int64_t partner = order[i];
        double xi = x->value[i];
        double yi = y->value[partner];
        tally low = {0};
        for (int64_t k = y->rank[partner] + 1; k > 0; k -= k & -k) {
            low.count += tree[k].count;
            low.x += tree[k].x;
            low.y += tree[k].y;
            low.xy += tree[k].xy;
        }
        double below = low.count * xi * yi - low.x * yi - low.y * xi + low.xy;
        double every = all.count * xi * yi - all.x * yi - all.y * xi + all.xy;
        sum += 2.0 * below - every;
        for (int64_t k = y->rank[partner] + 1; k <= n; k += k & -k) {
            tree[k].count += 1.0;
            tree[k].x += xi;
            tree[k].y += yi;
            tree[k].xy += xi * yi;
        }
        all.count += 1.0;
        all.x += xi;
        all.y += yi;
        all.xy += xi * yi;
    }
    return 2.0 * sum;
}

/* sum[k] = S_1 with y_order_k[i] beside x_i, for `count` orders laid one after the other. The distances of x
   are worked out once for all of them. */
static void product_sums(const points *x, const points *y, int64_t count, const int64_t *order, tally *tree,
                         double *sum)
{
    const int64_t n = x->n;
    for (int64_t k = 0; k < count; k++) sum[k] = 0.0;
    if (x->d == 1 && y->d == 1) {
        for (int64_t k = 0; k < count; k++) sum[k] = product_sum_numbers(x, y, order + k * n, tree);
        return;
    }
    for (int64_t i = 1; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            double twice = 2.0 * distance(x, i, j);
            for (int64_t k = 0; k < count; k++) {
                sum[k] += twice * distance(y, order[k * n + i], order[k * n + j]);
            }
        }
    }
}

/* dcov[k] = dCov^2 of x and y in each of `count` <= BATCH orders; not below 0, which rounding may give. */
static void squared_covariances(const points *x, const points *y, int64_t count, const int64_t *order,
                                tally *tree, double *dcov)
{
    const double n = (double)x->n;
    product_sums(x, y, count, order, tree, dcov);
    for (int64_t k = 0; k < count; k++) {
        double cross = 0.0;
        for (int64_t i = 0; i < x->n; i++)
            cross += (x->row_sum[i] / n) * (y->row_sum[order[k * x->n + i]] / n);
        dcov[k] = dcov[k] / (n * n) - 2.0 * cross / n + (x->total / (n * n)) * (y->total / (n * n));
        dcov[k] = fmax(dcov[k], 0.0);
    }
}

static double squared_covariance(const points *x, const points *y, const int64_t *order, tally *tree)
{
    double dcov;
    squared_covariances(x, y, 1, order, tree, &dcov);
    return dcov;
}

/* Counts the permutations of y whose dCov^2 is at least `observed`. */
static stonet_status count_permutations(const points *x, const points *y, double observed,
                                        int64_t permutations, const stonet_run *run, int64_t *count)
{
    int64_t above = 0;
    int failed = 0;
    int stop = 0;
    const int64_t batches = (permutations + BATCH - 1) / BATCH;
#pragma omp parallel num_threads(sn_threads(run)) reduction(+ : above, failed)
    {
        SN_BLOCK int64_t *order = sn_malloc((size_t)x->n, BATCH * sizeof *order);
        SN_BLOCK tally *tree = sn_malloc((size_t)x->n + 1, sizeof *tree);
        double dcov[BATCH];
        if (order == NULL || tree == NULL) failed = 1;
#pragma omp for schedule(dynamic)
        for (int64_t batch = 0; batch < batches; batch++) {
            if (failed || sn_should_stop_shared(run, &stop)) continue;
            int64_t first = batch * BATCH;
            int64_t size = permutations - first < BATCH ? permutations - first : BATCH;
            for (int64_t k = 0; k < size; k++) {
                sn_random random =
                    sn_random_from(run != NULL ? run->seed : 1, SN_STREAM_PERMUTE, (uint32_t)(first + k));
                sn_random_permutation(&random, x->n, order + k * x->n);
            }
            squared_covariances(x, y, size, order, tree, dcov);
            for (int64_t k = 0; k < size; k++) above += dcov[k] >= observed * (1.0 - 1e-10);
        }
    }
    *count = above;
    if (failed) return sn_fail(STONET_ERROR_MEMORY, "memory ran out in the distance correlation test");
    if (stop)
        return sn_fail(STONET_ERROR_INTERRUPTED, "the distance correlation test was stopped before its end");
    return STONET_OK;
}

stonet_status sn_distance_correlation_test(const stonet_sides *sides, int64_t permutations,
                                           const stonet_run *run, double *correlation, double *p_value)
{
    SN_WORKSPACE(scratch);
    const int64_t n = sides->n, dx = sides->dx, dy = sides->dy;
    const double *x = sides->x, *y = sides->y;
    points px, py;
    *correlation = 0.0;
    *p_value = 1.0;
    if (sn_count_varying(n, dx, x) == 0 || sn_count_varying(n, dy, y) == 0) return STONET_OK;
    /* the side with fewer columns is the one to permute: its distances are worked out each time */
    SN_TRY(points_create(n, dx < dy ? dy : dx, dx < dy ? y : x, sn_threads(run), &scratch, &px));
    SN_TRY(points_create(n, dx < dy ? dx : dy, dx < dy ? x : y, sn_threads(run), &scratch, &py));
    SN_ARRAY(n, int64_t, order);
    SN_ARRAY(n + 1, tally, tree);
    for (int64_t i = 0; i < n; i++) order[i] = i;
    double covariance = squared_covariance(&px, &py, order, tree);
    double variances =
        sqrt(squared_covariance(&px, &px, order, tree)) * sqrt(squared_covariance(&py, &py, order, tree));
    *correlation = variances > 0.0 ? fmin(sqrt(covariance / variances), 1.0) : 0.0;
    if (permutations > 0) {
        int64_t above = 0;
        SN_TRY(count_permutations(&px, &py, covariance, permutations, run, &above));
        *p_value = (double)(above + 1) / (double)(permutations + 1);
    }
    return STONET_OK;
}
