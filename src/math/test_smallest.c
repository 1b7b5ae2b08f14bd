/* The k-th smallest against sorting, ties and all. */
#include "base/test_kit.h"
#include "math/noise.h"
#include "math/smallest.h"

enum { MOST = 40 };

TEST(agrees_with_sorting)
{
    sn_random random = sn_random_from(5, SN_STREAM_TEST, 0);
    for (int64_t count = 1; count <= MOST; count++)
        for (int64_t k = 0; k < count; k++) {
            double values[MOST], sorted[MOST];
            for (int64_t i = 0; i < count; i++)
                values[i] = (double)sn_random_below(&random, (uint64_t)count); /* some of them equal */
            memcpy(sorted, values, sizeof sorted);
            qsort(sorted, (size_t)count, sizeof *sorted, sn_by_double);
            assert_true(sn_kth_smallest(count, k, values) == sorted[k]);
            for (int64_t i = 0; i < count; i++)
                assert_true(i < k ? values[i] <= values[k] : values[i] >= values[k]);
        }
}

RUN_TESTS(NULL, NULL)
