#include "base/isa.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [SN_ISA_PORTABLE] = "portable", [SN_ISA_AVX2] = "avx2", [SN_ISA_AVX512] = "avx512"};
enum { ISAS = sizeof names / sizeof *names, UNKNOWN = ISAS };

static sn_isa best(void)
{
#if defined(__x86_64__)
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return SN_ISA_AVX512;
    if (avx2) return SN_ISA_AVX2;
#endif
    return SN_ISA_PORTABLE;
}

/* The word of STONET_CPU: UNKNOWN for a word that is no instruction set, the best set without a word. */
static int wanted(void)
{
    const char *word = getenv("STONET_CPU");
    if (word == NULL || word[0] == '\0') return best();
    int isa = 0;
    while (isa < ISAS && strcmp(word, names[isa]) != 0) isa++;
    return isa;
}

/* Looked up once and kept, as the compiler keeps what it knows of the machine: threads that meet here all
   find the same. */
static int looked_up(void)
{
    static atomic_int kept; /* one more than the answer, 0 before */
    int answer = atomic_load_explicit(&kept, memory_order_relaxed) - 1;
    if (answer >= 0) return answer;
    answer = wanted();
    atomic_store_explicit(&kept, answer + 1, memory_order_relaxed);
    return answer;
}

sn_isa sn_isa_used(void)
{
    int isa = looked_up(), most = (int)best();
    return (sn_isa)(isa < most ? isa : most);
}

stonet_status sn_isa_check(void)
{
    int isa = looked_up();
    if (isa == UNKNOWN)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "the environment has STONET_CPU=%.40s: it takes portable, avx2 or avx512",
                       getenv("STONET_CPU") != NULL ? getenv("STONET_CPU") : "");
    if (isa > (int)best())
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "the environment has STONET_CPU=%s, and this machine has %s at best", names[isa],
                       names[best()]);
    return STONET_OK;
}
