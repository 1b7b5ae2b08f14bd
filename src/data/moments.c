#include "data/moments.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { BLOCK = 1024, LEVELS = 54 }; /* rows of a block; more levels than there can be blocks for */

typedef struct table {
    const float *floats; /* n x m: these, or */
    const double *doubles;
    int64_t n, m;
    bool gaps;
    const double *weight;
} table;

static double value_at(const table *t, int64_t i, int64_t j)
{
    return t->floats != NULL ? (double)t->floats[i * t->m + j] : t->doubles[i * t->m + j];
}

/* The same as add_block, with NaN passed over and rows weighted. */
static void add_block_with_gaps(const table *t, int64_t begin, int64_t end, const double *centre,
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
static void add_block(const table *t, int64_t begin, int64_t end, const double *centre, double *part)
{
    const int64_t m = t->m;
    if (t->gaps || t->weight != NULL) {
        add_block_with_gaps(t, begin, end, centre, part);
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        if (t->floats != NULL && centre == NULL)
            for (int64_t j = 0; j < m; j++) part[j] += (double)t->floats[i * m + j];
        else if (t->floats != NULL)
            for (int64_t j = 0; j < m; j++) {
                const double gap = (double)t->floats[i * m + j] - centre[j];
                part[j] += gap * gap;
            }
        else
            for (int64_t j = 0; j < m; j++) {
                const double gap = t->doubles[i * m + j] - (centre != NULL ? centre[j] : 0.0);
                part[j] += centre != NULL ? gap * gap : gap;
            }
    }
}

/* total_j = sum over all rows, by the tree: a sum of 2^k blocks is the sum of its two halves. `work` holds
   one sum a level, LEVELS x m: the halves that wait for their other one, as in counting in binary. What is
   left when the number of blocks is no power of two is added from the smallest up. */
static void sum_rows(const table *t, const double *centre, double *work, double *total)
{
    const int64_t m = t->m;
    int64_t blocks = 0;
    int waiting = 0;
    for (int64_t begin = 0; begin < t->n; begin += BLOCK, blocks++) {
        double *part = work + (int64_t)waiting * m;
        memset(part, 0, (size_t)m * sizeof *part);
        add_block(t, begin, begin + BLOCK < t->n ? begin + BLOCK : t->n, centre, part);
        waiting++;
        for (int64_t done = blocks; done % 2 == 1; done /= 2, waiting--)
            for (int64_t j = 0; j < m; j++) work[(waiting - 2) * m + j] += work[(waiting - 1) * m + j];
    }
    for (; waiting > 1; waiting--)
        for (int64_t j = 0; j < m; j++) work[(waiting - 2) * m + j] += work[(waiting - 1) * m + j];
    memcpy(total, work, (size_t)m * sizeof *total);
}

/* Smallest and largest value of each column, and what they count together. */
static void find_range(const table *t, double *low, double *high, double *count)
{
    for (int64_t i = 0; i < t->n; i++)
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

static stonet_status measure(const table *t, sn_moments *out)
{
    double *work = NULL, *count = NULL;
    stonet_status status;
    *out = (sn_moments){0};
    SN_GOTO(status, SN_NEW(out->mean, t->m), done);
    SN_GOTO(status, SN_NEW(out->variance, t->m), done);
    SN_GOTO(status, SN_NEW(out->low, t->m), done);
    SN_GOTO(status, SN_NEW(out->high, t->m), done);
    SN_GOTO(status, SN_NEW_RAW(work, LEVELS * t->m), done);
    SN_GOTO(status, SN_NEW(count, t->m), done);
    find_range(t, out->low, out->high, count);
    for (int64_t j = 0; j < t->m; j++)
        if (count[j] == 0.0) count[j] = 1.0; /* the sums are 0 */
    sum_rows(t, NULL, work, out->mean);
    for (int64_t j = 0; j < t->m; j++) out->mean[j] /= count[j];
    sum_rows(t, out->mean, work, out->variance);
    for (int64_t j = 0; j < t->m; j++) out->variance[j] /= count[j];
done:
    sn_free(work);
    sn_free(count);
    if (status != STONET_OK) sn_moments_clear(out);
    return status;
}

stonet_status sn_moments_of_floats(const float *x, int64_t n, int64_t m, bool gaps, const double *weight,
                                   sn_moments *out)
{
    return measure(&(table){.floats = x, .n = n, .m = m, .gaps = gaps, .weight = weight}, out);
}

stonet_status sn_moments_of_doubles(const double *x, int64_t n, int64_t m, bool gaps, const double *weight,
                                    sn_moments *out)
{
    return measure(&(table){.doubles = x, .n = n, .m = m, .gaps = gaps, .weight = weight}, out);
}

void sn_moments_clear(sn_moments *moments)
{
    sn_free(moments->mean);
    sn_free(moments->variance);
    sn_free(moments->low);
    sn_free(moments->high);
    *moments = (sn_moments){0};
}
