#include "math/exponential.h"

#include "base/isa.h"

__attribute__((always_inline)) static inline void exp_all(int64_t n, double *x)
{
    for (int64_t i = 0; i < n; i++) x[i] = sn_exp_one(x[i]);
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512dq"))) static void exp_avx512(int64_t n, double *x)
{
    exp_all(n, x);
}

__attribute__((target("avx2,fma"))) static void exp_avx2(int64_t n, double *x)
{
    exp_all(n, x);
}

void sn_exp_nonpositive(int64_t n, double *x)
{
    if (sn_isa_used() >= SN_ISA_AVX512)
        exp_avx512(n, x);
    else if (sn_isa_used() >= SN_ISA_AVX2)
        exp_avx2(n, x);
    else
        exp_all(n, x);
}
#else
void sn_exp_nonpositive(int64_t n, double *x)
{
    exp_all(n, x);
}
#endif
