/* The machine's three rates on one core, each by the fastest library code we know: what the floor is made of.
 */
#ifndef SN_BENCH_RATES_H
#define SN_BENCH_RATES_H

#include <stdint.h>

/* Processor seconds of the calling thread: what one core needs, whoever else uses the machine. */
double cpu_seconds(void);
/* Seconds per normal: Philox4x32-10 (Random123, or the same rounds written with vectors, whichever is faster)
   and Box-Muller with SLEEF. */
double rate_normal(void);
/* Seconds per tanh: SLEEF. */
double rate_tanh(void);
/* Seconds of one m x n x k product: by OpenBLAS, the best of the forms and orders it can be asked for, or by
   the engine's own tiles if these are faster. */
double rate_gemm(int64_t m, int64_t n, int64_t k);

#endif
