/*
 * SN_CLONES before a function: compiled for several instruction sets, the one to run chosen when the program
 * is loaded. Only for functions whose bits do not depend on it. Not under sanitizers, whose own code is not
 * there yet when that choice is made, nor with a C library that cannot make it.
 */
#pragma once

#include <stdint.h> /* __GLIBC__ */

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(SN_SANITIZED) && !defined(__SANITIZE_ADDRESS__)
#define SN_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define SN_CLONES
#endif
