/* Decimal text to numbers and back, independent of the locale: all numbers go through here. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Reads the decimal number [+-]digits[.digits][e[+-]digits] at `at`, correctly rounded to double. Returns the
   first character after it, or NULL when there is no number. The text must end in some character that is no
   part of a number (a NUL will do). Out of range gives +-HUGE_VAL; "inf", "nan" and hex are no numbers. */
const char *sn_number_read(const char *at, double *value);

enum { SN_NUMBER_SIZE = 32 };
/* The shortest digits that read back as the same float, or double. A double that is exactly a float gets the
   float's digits: it came from single precision, and more digits would only be noise. Returns the length. */
size_t sn_number_print(double value, char text[SN_NUMBER_SIZE]);

/* printf into text with a decimal point, whatever the program that uses the library has chosen for itself
   (setlocale). Like snprintf, gives the length that the whole text has. */
int sn_format(char *text, size_t size, const char *format, ...) SN_PRINTF(3, 4);
int sn_vformat(char *text, size_t size, const char *format, va_list arguments) SN_PRINTF(3, 0);
