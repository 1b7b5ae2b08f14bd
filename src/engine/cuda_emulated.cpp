/* The CUDA module with the processor for a device: see cuda_emulate.cuh. */
#include "engine/cuda_module.cu"
