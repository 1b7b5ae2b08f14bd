/* The engine's kernels for x86-64 with AVX-512 (F, DQ, BW, VL); cmake/kernels.cmake gives the compiler flags.
 */
#if defined(__x86_64__)
#include "engine/cpu_block.h"
#include "engine/cpu_update.h"

const sn_cpu_kernels sn_cpu_avx512 = {
    .name = "avx512", .impute = impute_block, .forward = forward_block, .update = update_piece};
#endif
