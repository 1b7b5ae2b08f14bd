/* Dates in text: 2024-05-01, 2024/5/1, 2024-05-01T14:30, 2024-05-01 14:30:15.5Z, .. +02:00. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Days since 1970-01-01, with the time of the day as a fraction; false: the text as a whole is no date. A
   time without a zone counts as universal time. */
bool sn_date_read(const char *text, size_t length, double *days);
/* The reverse, from the year 1 to 9999, to the millisecond: 2024-05-01, or 2024-05-01T14:30:15.500 where
   there is a time of the day. false: `days` is not in these years. */
enum { SN_DATE_SIZE = 24 };
bool sn_date_print(double days, char text[SN_DATE_SIZE]);
