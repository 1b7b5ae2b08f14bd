/* Which instruction set the kernels use: the best that the machine has, or what STONET_CPU in the environment
 * asks for. */
#pragma once

#include "base/status.h"

typedef enum sn_isa { SN_ISA_PORTABLE, SN_ISA_AVX2, SN_ISA_AVX512 } sn_isa;

/* The environment is looked at once in the life of the process. */
sn_isa sn_isa_used(void);
/* Fails when STONET_CPU names an instruction set that this machine lacks. Called where work begins. */
stonet_status sn_isa_check(void);
