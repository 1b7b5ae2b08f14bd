#include "stonet/schedule.h"

#include <math.h>

static double fall(const sn_schedule *schedule, int64_t k, int64_t total)
{
    switch (schedule->kind) {
    case SN_CONSTANT:
        return 1.0;
    case SN_AVERAGED:
        return pow(1.0 + (double)k / schedule->steady, -0.75);
    case SN_LINEAR:
        return total > 1 ? 1.0 - 0.9 * (double)(k - 1) / (double)(total - 1) : 1.0;
    case SN_POWER:
        return (schedule->c + 1.0) / (schedule->c + pow((double)k, schedule->a));
    }
    return 1.0;
}

double sn_schedule_factor(const sn_schedule *schedule, int64_t k, int64_t total)
{
    const double warmed = 20.0 * (double)k / (double)total, factor = fall(schedule, k, total);
    if (!(schedule->warm > 0.0) || warmed >= 1.0) return factor;
    return factor * (schedule->warm + (1.0 - schedule->warm) * warmed);
}
