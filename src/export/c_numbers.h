/* Numbers and texts as C has them. */
#pragma once

#include <stdint.h>

#include "export/bytes.h"

/* A double constant that is exactly the number. */
void sn_c_number(sn_bytes *out, double value);
/* A string literal of the same bytes. */
void sn_c_string(sn_bytes *out, const char *text);
/* "static const double NAMEk[count] = {..};" */
void sn_c_table(sn_bytes *out, const char *name, int k, int64_t count, const double *values);
