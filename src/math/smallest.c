#include "math/smallest.h"

double sn_kth_smallest(int64_t count, int64_t k, double *values)
{
    for (int64_t low = 0, high = count - 1; low < high;) {
        double pivot = values[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot) i++;
            while (values[j] > pivot) j--;
            if (i > j) break;
            double value = values[i];
            values[i++] = values[j];
            values[j--] = value;
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return values[k];
}

int sn_by_value(const void *a, const void *b)
{
    const sn_keyed *one = a, *two = b;
    if (one->value != two->value) return one->value < two->value ? -1 : 1;
    return (one->row > two->row) - (one->row < two->row);
}

#define COMPARE(name, type)                                                                                  \
    int name(const void *a, const void *b)                                                                   \
    {                                                                                                        \
        const type one = *(const type *)a, two = *(const type *)b;                                           \
        return (one > two) - (one < two);                                                                    \
    }
COMPARE(sn_by_double, double)
COMPARE(sn_by_float, float)
COMPARE(sn_by_int, int64_t)
