/* The cpu engine beyond its contract: which kernels it runs, for tests and measurements. */
#pragma once

#include "engine/cpu_kernel.h"

/* The kernels this machine can run, as far as STONET_CPU allows, slowest first; NULL past the last one. */
const sn_cpu_kernels *sn_cpu_supported(int index);
/* sn_engine_cpu.create with the kernels to use; NULL: the fastest. */
stonet_status sn_cpu_create(const sn_shape *shape, const sn_problem *problem, uint64_t seed, int threads,
                            const sn_cpu_kernels *kernels, sn_engine **out);

/* Keeps the engine on its threads even when it finds one faster: for tests and measurements. */
void sn_cpu_hold_threads(sn_engine *engine);
