#include "stats/survival.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/linalg.h"
#include "math/smallest.h"
#include "stats/distributions.h"

static void sort_by_time(const sn_times *rows, sn_keyed *sorted)
{
    for (int64_t i = 0; i < rows->n; i++) sorted[i] = (sn_keyed){rows->time[i], i};
    qsort(sorted, (size_t)rows->n, sizeof *sorted, sn_by_value);
}

stonet_status sn_kaplan_create(const sn_times *rows, bool censoring, sn_kaplan *out)
{
    const int64_t n = rows->n;
    *out = (sn_kaplan){0};
    SN_ARRAY(n, sn_keyed, sorted);
    SN_TRY(SN_NEW_RAW(out->at, n));
    SN_TRY(SN_NEW_RAW(out->after, n));
    sort_by_time(rows, sorted);
    double left = 1.0;
    for (int64_t first = 0, last; first < n; first = last) {
        double ends = 0.0, at_risk = (double)(n - first);
        for (last = first; last < n && sorted[last].value == sorted[first].value; last++) {
            const bool seen = rows->event[sorted[last].row] > 0.0;
            if (seen != censoring) ends += 1.0;
            if (censoring && seen) at_risk -= 1.0; /* events come before censoring at the same time */
        }
        if (ends > 0.0) left *= 1.0 - ends / at_risk;
        out->at[out->steps] = sorted[first].value;
        out->after[out->steps++] = left;
    }
    return STONET_OK;
}

void sn_kaplan_free(sn_kaplan *kaplan)
{
    SN_FREE_ALL(kaplan->at, kaplan->after);
    *kaplan = (sn_kaplan){0};
}

/* How many steps lie before t, or at it too. */
static int64_t steps_to(const sn_kaplan *kaplan, double t, bool with)
{
    int64_t low = 0, high = kaplan->steps;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (kaplan->at[middle] < t || (with && kaplan->at[middle] == t))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double sn_kaplan_at(const sn_kaplan *kaplan, double t)
{
    const int64_t k = steps_to(kaplan, t, true);
    return k > 0 ? kaplan->after[k - 1] : 1.0;
}

double sn_kaplan_before(const sn_kaplan *kaplan, double t)
{
    const int64_t k = steps_to(kaplan, t, false);
    return k > 0 ? kaplan->after[k - 1] : 1.0;
}

stonet_status sn_log_rank(const sn_times *rows, const int *group, int groups, double *p_value)
{
    const int free = groups - 1; /* the last group follows from the others */
    double statistic = 0.0;
    *p_value = (double)NAN;
    SN_ARRAY(rows->n, sn_keyed, sorted);
    SN_ZEROS(groups, double, at_risk);
    SN_ZEROS(groups, double, apart);
    SN_ARRAY(groups, double, scaled);
    SN_ZEROS(groups * groups, double, v);
    sort_by_time(rows, sorted);
    for (int64_t first = rows->n; first > 0;) { /* from the end: those at risk come in */
        double ends = 0.0, all = 0.0;
        const double now = sorted[first - 1].value;
        for (; first > 0 && sorted[first - 1].value == now; first--) {
            const int64_t row = sorted[first - 1].row;
            at_risk[group[row]] += 1.0;
            if (!(rows->event[row] > 0.0)) continue;
            ends += 1.0;
            apart[group[row]] += 1.0;
        }
        for (int g = 0; g < groups; g++) all += at_risk[g];
        const double spread = all > 1.0 ? ends * (all - ends) / (all - 1.0) : 0.0;
        for (int g = 0; g < groups; g++) {
            const double share = at_risk[g] / all;
            apart[g] -= ends * share;
            for (int h = 0; g < free && h < free; h++)
                v[g * free + h] += spread * share * ((g == h ? 1.0 : 0.0) - at_risk[h] / all);
        }
    }
    for (int g = 0; g < groups; g++)
        if (at_risk[g] == 0.0) return STONET_OK;
    for (int g = 0; g < free; g++) scaled[g] = apart[g];
    if (sn_solve_spd(free, v, 1, scaled) != STONET_OK) return STONET_OK;
    for (int g = 0; g < free; g++) statistic += apart[g] * scaled[g];
    *p_value = sn_chisq_upper(free, statistic);
    return STONET_OK;
}

stonet_status sn_concordance(const sn_times *rows, const double *predicted, double *harrell, double *uno)
{
    const double *time = rows->time, *event = rows->event;
    SN_FREED_BY(sn_kaplan_free) sn_kaplan censoring = {0};
    double right[2] = {0.0, 0.0}, all[2] = {0.0, 0.0};
    SN_TRY(sn_kaplan_create(rows, true, &censoring));
    for (int64_t i = 0; i < rows->n; i++) {
        if (!(event[i] > 0.0)) continue;
        const double g = sn_kaplan_before(&censoring, time[i]);
        double pairs = 0.0, ordered = 0.0;
        for (int64_t j = 0; j < rows->n; j++) {
            if (!(time[j] > time[i] || (time[j] == time[i] && event[j] == 0.0))) continue;
            pairs += 1.0;
            ordered += predicted[j] > predicted[i] ? 1.0 : predicted[j] == predicted[i] ? 0.5 : 0.0;
        }
        const double weight[2] = {1.0, 1.0 / (g * g)};
        for (int k = 0; k < 2; k++) {
            right[k] += weight[k] * ordered;
            all[k] += weight[k] * pairs;
        }
    }
    *harrell = right[0] / all[0]; /* NaN without such a pair */
    *uno = right[1] / all[1];
    return STONET_OK;
}

stonet_status sn_integrated_brier(const sn_times *rows, sn_survival *survival, const void *user, double *out)
{
    enum { TIMES = 100 };
    const double *time = rows->time, *event = rows->event;
    SN_FREED_BY(sn_kaplan_free) sn_kaplan censoring = {0};
    double last = 0.0, sum = 0.0;
    for (int64_t i = 0; i < rows->n; i++)
        if (event[i] > 0.0) last = fmax(last, time[i]);
    SN_TRY(sn_kaplan_create(rows, true, &censoring));
    for (int k = 0; k < TIMES; k++) {
        const double t = last * (k + 0.5) / TIMES, g = sn_kaplan_at(&censoring, t);
        for (int64_t i = 0; i < rows->n; i++) {
            const double s = survival(user, i, t);
            if (time[i] > t)
                sum += (1.0 - s) * (1.0 - s) / g;
            else if (event[i] > 0.0)
                sum += s * s / sn_kaplan_before(&censoring, time[i]);
        }
    }
    *out = last > 0.0 ? sum / (double)rows->n / TIMES : (double)NAN;
    return STONET_OK;
}

/* At one t, from rows in the order of S(t), which is the value of each. */
static stonet_status calibration_at(const sn_times *rows, double t, const sn_keyed *sorted, double *out)
{
    enum { FIFTHS = 5 };
    const int64_t n = rows->n;
    SN_ARRAY(n, double, time);
    SN_ARRAY(n, double, event);
    *out = 0.0;
    for (int64_t k = 0; k < FIFTHS; k++) {
        const int64_t first = k * n / FIFTHS, count = (k + 1) * n / FIFTHS - first;
        double promised = 0.0;
        for (int64_t i = 0; i < count; i++) {
            promised += sorted[first + i].value / (double)count;
            time[i] = rows->time[sorted[first + i].row];
            event[i] = rows->event[sorted[first + i].row];
        }
        SN_FREED_BY(sn_kaplan_free) sn_kaplan came = {0};
        SN_TRY(sn_kaplan_create(&(sn_times){count, time, event}, false, &came));
        *out += fabs(promised - sn_kaplan_at(&came, t)) / FIFTHS;
    }
    return STONET_OK;
}

stonet_status sn_survival_calibration(const sn_times *rows, sn_survival *survival, const void *user,
                                      double *out)
{
    enum { QUARTILES = 3, FEWEST = 5 };
    const int64_t n = rows->n;
    double sum = 0.0;
    int64_t count = 0;
    *out = (double)NAN;
    SN_ARRAY(n, sn_keyed, sorted);
    SN_ARRAY(n, double, seen);
    sort_by_time(rows, sorted);
    for (int64_t i = 0; i < n; i++)
        if (rows->event[sorted[i].row] > 0.0) seen[count++] = sorted[i].value;
    if (n < FEWEST || count == 0) return STONET_OK;
    for (int q = 1; q <= QUARTILES; q++) {
        const double t = seen[count * q / (QUARTILES + 1)];
        double here;
        for (int64_t i = 0; i < n; i++) sorted[i] = (sn_keyed){survival(user, i, t), i};
        qsort(sorted, (size_t)n, sizeof *sorted, sn_by_value);
        SN_TRY(calibration_at(rows, t, sorted, &here));
        sum += here / QUARTILES;
    }
    *out = sum;
    return STONET_OK;
}
