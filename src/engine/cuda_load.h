/* Where the CUDA module is found, and its troubles as sentences. */
#pragma once

#include "base/status.h"
#include "engine/cuda_module.h"

/* The environment variable that names the module; without it, libstonet-cuda.so is looked for beside what the
   library is in, in ../lib from there, and where the system looks for libraries. */
#define SN_CUDA_VARIABLE "STONET_CUDA"

/* Loads the module, once and for good, and looks at the device. */
stonet_status sn_cuda_load(const sn_cuda_api **api, sn_cuda_device *device);
/* A trouble, if it is one, as a sentence: what was done, what CUDA said, what to do. */
stonet_status sn_cuda_check(int trouble, const sn_cuda_words *words, const char *doing);
