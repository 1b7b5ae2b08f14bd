#include "data/digits.h"

#include <math.h>

#include "base/memory.h"

/* A column that spreads over this part of its size loses less than a millionth of the spread in floats. */
static const double SPREAD = 1.0 / 16.0;

sn_digits sn_digits_none(void)
{
    return (sn_digits){.low = (double)INFINITY, .high = -(double)INFINITY};
}

bool sn_digits_enough(double low, double high)
{
    return high - low > SPREAD * fmax(fabs(low), fabs(high));
}

void sn_digits_give_up(sn_digits *digits)
{
    SN_FREE(digits->value);
    digits->enough = true;
}
