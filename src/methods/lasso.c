#include "methods/lasso.h"

#include <math.h>
#include <string.h>

#include "math/linalg.h"

static double shrink(double value, double by)
{
    if (value > by) return value - by;
    return value < -by ? value + by : 0.0;
}

static double largest_of(int64_t p, const double *c)
{
    double largest = 0.0;
    for (int64_t j = 0; j < p; j++) largest = fmax(largest, fabs(c[j]));
    return largest;
}

stonet_status sn_lasso_create(int64_t p, sn_workspace *keep, sn_lasso *lasso)
{
    *lasso = (sn_lasso){.p = p};
    SN_TRY(SN_TAKE_EACH(keep, p, &lasso->b, &lasso->slope));
    SN_TRY(SN_TAKE(keep, lasso->visited, p));
    return SN_TAKE(keep, lasso->is_visited, p);
}

/* slope <- c - G b for all coordinates. */
static void find_slopes(sn_lasso *lasso)
{
    int64_t p = lasso->p;
    memcpy(lasso->slope, lasso->c, (size_t)p * sizeof(double));
    for (int64_t j = 0; j < p; j++) {
        const double b = lasso->b[j], *row = lasso->gram + j * p;
        for (int64_t k = 0; b != 0.0 && k < p; k++) lasso->slope[k] -= b * row[k];
    }
}

void sn_lasso_resume(sn_lasso *lasso, const double *gram, const double *c, double penalty, const double *b)
{
    lasso->gram = gram;
    lasso->c = c;
    lasso->penalty = penalty;
    memmove(lasso->b, b, (size_t)lasso->p * sizeof *b);
    find_slopes(lasso);
}

void sn_lasso_begin(sn_lasso *lasso, const double *gram, const double *c)
{
    memset(lasso->b, 0, (size_t)lasso->p * sizeof *lasso->b);
    sn_lasso_resume(lasso, gram, c, largest_of(lasso->p, c), lasso->b);
}

static void visit(sn_lasso *lasso, int64_t j)
{
    lasso->is_visited[j] = true;
    lasso->visited[lasso->count++] = j;
}

/* slope -= step G_j for the coordinates visited (for all, where those are most). */
static void move_slopes(sn_lasso *lasso, int64_t j, double step)
{
    const double *row = lasso->gram + j * lasso->p;
    double *slope = lasso->slope;
    if (2 * lasso->count > lasso->p) {
        for (int64_t k = 0; k < lasso->p; k++) slope[k] -= step * row[k];
        return;
    }
    for (int64_t l = 0; l < lasso->count; l++) slope[lasso->visited[l]] -= step * row[lasso->visited[l]];
}

/* One pass over the coordinates visited (only those that are not 0 if active). The largest step, as a change
   of slope in that coordinate. */
static double sweep(sn_lasso *lasso, double penalty, bool active)
{
    double largest = 0.0;
    for (int64_t l = 0; l < lasso->count; l++) {
        int64_t j = lasso->visited[l];
        double curvature = lasso->gram[j * lasso->p + j];
        if (curvature <= 0.0 || (active && lasso->b[j] == 0.0)) continue;
        double next = shrink(lasso->slope[j] + curvature * lasso->b[j], penalty) / curvature;
        double step = next - lasso->b[j];
        if (step == 0.0) continue;
        move_slopes(lasso, j, step);
        lasso->b[j] = next;
        largest = fmax(largest, curvature * fabs(step));
    }
    return largest;
}

/* Visits those, too, whose slope at 0 is above the limit; whether there were any. */
static bool visit_above(sn_lasso *lasso, double limit)
{
    int64_t before = lasso->count;
    for (int64_t j = 0; j < lasso->p; j++)
        if (!lasso->is_visited[j] && fabs(lasso->slope[j]) > limit) visit(lasso, j);
    return lasso->count > before;
}

void sn_lasso_solve(sn_lasso *lasso, double penalty, double tolerance, int64_t sweeps)
{
    double small = tolerance * largest_of(lasso->p, lasso->c);
    lasso->count = 0;
    for (int64_t j = 0; j < lasso->p; j++) {
        lasso->is_visited[j] = false;
        if (lasso->b[j] != 0.0) visit(lasso, j);
    }
    visit_above(lasso, fmax(0.0, 2.0 * penalty - lasso->penalty));
    lasso->penalty = penalty;
    int64_t done = 0;
    do {
        while (done++ < sweeps && sweep(lasso, penalty, false) > small)
            while (done++ < sweeps && sweep(lasso, penalty, true) > small) continue;
        find_slopes(lasso);
    } while (visit_above(lasso, penalty + small) && done < sweeps);
}
