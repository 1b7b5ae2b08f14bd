/* The public calls of the random numbers. */
#include "base/status.h"
#include "math/noise.h"

/* A public stream is (stream << 32 | substream) of math/noise.h. */
static stonet_status start(uint64_t seed, uint64_t stream, sn_random *random)
{
    if (stream >> 48 != 0) return sn_fail(STONET_ERROR_ARGUMENT, "a random stream is at most 2^48 - 1");
    *random = sn_random_from(seed, (sn_stream)(stream >> 32), (uint32_t)stream);
    return STONET_OK;
}

stonet_status stonet_permutation(uint64_t seed, uint64_t stream, int64_t n, int64_t *order)
{
    sn_random random;
    if (order == NULL || n < 0) return sn_fail(STONET_ERROR_ARGUMENT, "a random order needs room for it");
    SN_TRY(start(seed, stream, &random));
    sn_random_permutation(&random, n, order);
    return STONET_OK;
}

stonet_status stonet_normals(uint64_t seed, uint64_t stream, int64_t count, double *values)
{
    sn_random random;
    if (values == NULL || count < 0)
        return sn_fail(STONET_ERROR_ARGUMENT, "random numbers need room for them");
    SN_TRY(start(seed, stream, &random));
    for (int64_t i = 0; i < count; i++) values[i] = sn_random_normal(&random);
    return STONET_OK;
}
