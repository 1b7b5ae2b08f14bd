#include "data/moments.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { BLOCK = 1024, LEVELS = 54 }; /* rows of a block; more levels than there can be blocks for */

static void let_rest(const sn_numbers *t, int64_t first, int64_t count)
{
    if (t->rest != NULL) t->rest(t->table, first, count);
}

static double value_at(const sn_numbers *t, int64_t i, int64_t j)
{
    return t->floats != NULL ? (double)t->floats[i * t->m + j] : t->doubles[i * t->m + j];
}

/* The same as add_block, with NaN passed over and rows weighted. */
static void add_block_with_gaps(const sn_numbers *t, int64_t begin, int64_t end, const double *centre,
                                double *part)
{
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = 0; j < t->m; j++) {
            const double gap = value_at(t, i, j) - (centre != NULL ? centre[j] : 0.0);
            const double weight = t->weight != NULL ? t->weight[i] : 1.0;
            if (!isnan(gap)) part[j] += weight * (centre != NULL ? gap * gap : gap);
        }
}

/* Adds rows [begin, end) to part: x, or (x - centre)^2 where there is a centre. */
static void add_block(const sn_numbers *t, int64_t begin, int64_t end, const double *centre, double *part)
{
    if (t->gaps || t->weight != NULL) {
        add_block_with_gaps(t, begin, end, centre, part);
        return;
    }
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = 0; j < t->m; j++) {
            const double gap = value_at(t, i, j) - (centre != NULL ? centre[j] : 0.0);
            part[j] += centre != NULL ? gap * gap : gap;
        }
}

/* Sums that wait for their other half, as in counting in binary: one a level, LEVELS x m. */
typedef struct tree {
    int64_t m, units; /* units: how many sums came in */
    int waiting;
    double *work;
} tree;

/* The place of the next sum, set to 0. */
static double *next_sum(tree *sums)
{
    double *part = sums->work + (int64_t)sums->waiting * sums->m;
    memset(part, 0, (size_t)sums->m * sizeof *part);
    return part;
}

static void add_last(tree *sums)
{
    double *to = sums->work + (sums->waiting - 2) * sums->m;
    for (int64_t j = 0; j < sums->m; j++) to[j] += to[sums->m + j];
    sums->waiting--;
}

/* It is complete: a sum of 2^k is the sum of its two halves. */
static void close_sum(tree *sums)
{
    sums->waiting++;
    for (int64_t done = sums->units++; done % 2 == 1; done /= 2) add_last(sums);
}

/* What is left when their number is no power of two is added from the smallest up. */
static void sum_all(tree *sums, double *total)
{
    while (sums->waiting > 1) add_last(sums);
    memcpy(total, sums->work, (size_t)sums->m * sizeof *total);
}

/* total_j = the sum over rows [begin, end); begin is a multiple of BLOCK. */
static void sum_some(const sn_numbers *t, int64_t begin, int64_t end, const double *centre, double *work,
                     double *total)
{
    tree sums = {.m = t->m, .work = work};
    for (; begin < end; begin += BLOCK) {
        add_block(t, begin, begin + BLOCK < end ? begin + BLOCK : end, centre, next_sum(&sums));
        close_sum(&sums);
        let_rest(t, begin, begin + BLOCK < end ? BLOCK : end - begin);
    }
    sum_all(&sums, total);
}

/* Rows of which one rank of a team makes a sum: 2^k blocks, so that these sums are nodes of the tree. */
static int64_t rows_of_group(const sn_numbers *t)
{
    enum { GROUPS = 4 }; /* for each rank */
    int64_t rows = BLOCK;
    while (t->n / (2 * rows) >= (int64_t)GROUPS * stonet_team_ranks(t->team)) rows *= 2;
    return rows;
}

/* total_j = the sum over all rows, by the tree. */
static stonet_status sum_rows(const sn_numbers *t, const double *centre, double *work, double *total)
{
    if (!sn_team_shares(t->team)) {
        sum_some(t, 0, t->n, centre, work, total);
        return STONET_OK;
    }
    const int64_t group = rows_of_group(t), count = (t->n + group - 1) / group;
    const int rank = stonet_team_rank(t->team);
    SN_ARRAY(count * t->m, double, sums);
    for (int64_t g = sn_team_border(t->team, count, rank); g < sn_team_border(t->team, count, rank + 1);
         g++) {
        const int64_t end = (g + 1) * group < t->n ? (g + 1) * group : t->n;
        sum_some(t, g * group, end, centre, work, sums + g * t->m);
    }
    SN_TRY(sn_team_gather(t->team, count, (size_t)t->m * sizeof *sums, sums));
    tree all = {.m = t->m, .work = work};
    for (int64_t g = 0; g < count; g++) {
        memcpy(next_sum(&all), sums + g * t->m, (size_t)t->m * sizeof *sums);
        close_sum(&all);
    }
    sum_all(&all, total);
    return STONET_OK;
}

/* Smallest and largest value of each column, and what they count together, of rows [begin, end). */
static void find_some(const sn_numbers *t, int64_t begin, int64_t end, double *low, double *high,
                      double *count)
{
    for (int64_t i = begin; i < end; i++) {
        if ((i - begin) % BLOCK == 0 && i > begin) let_rest(t, i - BLOCK, BLOCK);
        for (int64_t j = 0; j < t->m; j++) {
            const double value = value_at(t, i, j);
            if (t->gaps && isnan(value)) continue;
            if (t->weight != NULL && t->weight[i] == 0.0) continue;
            if (count[j] == 0) low[j] = high[j] = value;
            low[j] = value < low[j] ? value : low[j];
            high[j] = value > high[j] ? value : high[j];
            count[j] += t->weight != NULL ? t->weight[i] : 1.0;
        }
    }
}

/* Least, largest and number of the values of each column. Ranks look at a part of the rows each. */
static stonet_status find_range(const sn_numbers *t, double *low, double *high, double *count)
{
    if (!sn_team_shares(t->team) || t->weight != NULL) { /* a sum of weights has one order */
        find_some(t, 0, t->n, low, high, count);
        return STONET_OK;
    }
    const int ranks = stonet_team_ranks(t->team), rank = stonet_team_rank(t->team);
    const int64_t m = t->m;
    SN_ZEROS(3 * m * ranks, double, all);
    double *own = all + 3 * m * rank;
    find_some(t, sn_team_border(t->team, t->n, rank), sn_team_border(t->team, t->n, rank + 1), own, own + m,
              own + 2 * m);
    SN_TRY(sn_team_gather(t->team, ranks, 3 * (size_t)m * sizeof *all, all));
    for (int r = 0; r < ranks; r++)
        for (int64_t j = 0; j < m; j++) {
            const double *of = all + 3 * m * r + j;
            if (of[2 * m] == 0) continue;
            low[j] = count[j] == 0 || of[0] < low[j] ? of[0] : low[j];
            high[j] = count[j] == 0 || of[m] > high[j] ? of[m] : high[j];
            count[j] += of[2 * m];
        }
    return STONET_OK;
}

stonet_status sn_moments_of(const sn_numbers *t, sn_moments *out)
{
    SN_ARRAY(LEVELS * t->m, double, work);
    SN_ZEROS(t->m, double, count);
    SN_TRY(sn_moments_create(t->m, out));
    SN_TRY(find_range(t, out->low, out->high, count));
    for (int64_t j = 0; j < t->m; j++)
        if (count[j] == 0.0) count[j] = 1.0; /* the sums are 0 */
    SN_TRY(sum_rows(t, NULL, work, out->mean));
    for (int64_t j = 0; j < t->m; j++) out->mean[j] /= count[j];
    SN_TRY(sum_rows(t, out->mean, work, out->variance));
    for (int64_t j = 0; j < t->m; j++) out->variance[j] /= count[j];
    return STONET_OK;
}

stonet_status sn_moments_create(int64_t columns, sn_moments *out)
{
    SN_TRY(SN_NEW(out->mean, columns));
    SN_TRY(SN_NEW(out->variance, columns));
    SN_TRY(SN_NEW(out->low, columns));
    return SN_NEW(out->high, columns);
}

void sn_moments_clear(sn_moments *moments)
{
    SN_FREE_ALL(moments->mean, moments->variance, moments->low, moments->high);
    *moments = (sn_moments){0};
}
