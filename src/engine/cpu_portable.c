/* The engine's kernels for any machine: four lanes in the compiler's own vectors. */
#include "engine/cpu_block.h"
#include "engine/cpu_update.h"

const sn_cpu_kernels sn_cpu_portable = {
    .name = "portable", .impute = impute_block, .forward = forward_block, .update = update_piece};
