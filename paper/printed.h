/* The numbers printed in the paper. */
#ifndef PAPER_PRINTED_H
#define PAPER_PRINTED_H

#include <stdint.h>

typedef struct printed {
    double mean, spread; /* NaN where the paper has none */
} printed;

/* experiment, row, q, method and measure as in the reports. */
printed printed_number(const char *experiment, const char *row, int64_t q, const char *method,
                       const char *measure);

#endif
