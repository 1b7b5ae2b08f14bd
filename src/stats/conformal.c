#include "stats/conformal.h"

#include <math.h>
#include <stddef.h>

#include "math/smallest.h"

int64_t sn_conformal_rank(int64_t m, double level)
{
    /* A level such as 0.9 is not exact in binary: what is a whole number but for that must not be rounded up.
     */
    const double place = ceil(level * (double)(m + 1) * (1.0 - 1e-12));
    if (place < 1.0) return 1;
    return place > (double)m ? m + 1 : (int64_t)place;
}

/* The `place`-th smallest (from 1) of centre + sign spread R over all lists. */
static double shifted(const sn_score_lists *scores, int64_t place, double sign, const double *centre,
                      const double *spread, double *room)
{
    for (int64_t l = 0; l < scores->count; l++) {
        const double factor = sign * (spread != NULL ? spread[l] : 1.0);
        for (int64_t i = scores->start[l]; i < scores->start[l + 1]; i++)
            room[i] = centre[l] + factor * scores->score[i];
    }
    return sn_kth_smallest(scores->start[scores->count], place - 1, room);
}

void sn_conformal_interval(const sn_score_lists *scores, int64_t rank, const double *centre,
                           const double *spread, double *room, double *low, double *high)
{
    const int64_t m = scores->start[scores->count];
    if (rank > m) {
        *low = -INFINITY;
        *high = INFINITY;
        return;
    }
    if (scores->count == 1) {
        const double reach = (spread != NULL ? spread[0] : 1.0) * scores->score[rank - 1];
        *low = centre[0] - reach;
        *high = centre[0] + reach;
        return;
    }
    const double a = shifted(scores, m + 1 - rank, -1.0, centre, spread, room);
    const double b = shifted(scores, rank, 1.0, centre, spread, room);
    *low = fmin(a, b); /* they cross for levels below a half alone */
    *high = fmax(a, b);
}

/* How many of n ascending numbers are below the bound. */
static int64_t count_below(int64_t n, const double *ascending, double bound)
{
    int64_t from = 0, to = n;
    while (from < to) {
        const int64_t middle = from + (to - from) / 2;
        if (ascending[middle] < bound)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

int64_t sn_conformal_below(const sn_score_lists *scores, const double *bound)
{
    int64_t below = 0;
    for (int64_t l = 0; l < scores->count; l++)
        below +=
            count_below(scores->start[l + 1] - scores->start[l], scores->score + scores->start[l], bound[l]);
    return below;
}

void sn_aps_scores(int64_t classes, const double *p, double u, int64_t *order, double *score)
{
    for (int64_t c = 0; c < classes; c++) { /* by insertion: equal ones stay in the order of the classes */
        int64_t at = c;
        for (; at > 0 && p[order[at - 1]] < p[c]; at--) order[at] = order[at - 1];
        order[at] = c;
    }
    double sum = 0.0;
    for (int64_t k = 0; k < classes; k++) {
        sum += p[order[k]];
        score[order[k]] = sum - u * p[order[k]];
    }
}

void sn_lac_scores(int64_t classes, const double *p, double *score)
{
    for (int64_t c = 0; c < classes; c++) score[c] = 1.0 - p[c];
}
