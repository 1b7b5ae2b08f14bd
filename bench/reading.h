/* How fast files become tables, and how much memory a fit from a file takes. */
#ifndef SN_BENCH_READING_H
#define SN_BENCH_READING_H

#include "base/status.h"

/* Writes files of n rows into a folder (20 columns of text, 50 of arrays) and reads each in rounds on one and
   on several threads. Prints JSON members: for every file its bytes and the seconds of each round. */
stonet_status reading_times(const char *folder, int64_t n, int rounds, int threads);
/* Writes n x 50 features and a response, fits a small network to the files and reduces them with it; prints
   the bytes of the data. The peak memory of the process is then that of the fit. */
stonet_status reading_memory(const char *folder, int64_t n, int threads);

#endif
