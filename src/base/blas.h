/*
 * The kernels of OpenBLAS. Older releases do not know newer processors and fall back to kernels of 2004,
 * which are several times slower. That is set right once in a process, before its first product.
 */
#pragma once

#include <stonet/stonet.h>

/* Sets the kernels right where that can be done, and says once where it cannot; run may be NULL. To be called
   where work begins. STONET_BLAS=keep in the environment leaves OpenBLAS as it is. */
void sn_blas_mend(const stonet_run *run);
