#define _GNU_SOURCE /* strtod_l */
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 10^0 .. 10^22: all the powers of ten that a double holds exactly. */
static const double exact_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

enum { MAX_EXACT_TEN = 22, MAX_FIVE = 27, MAX_DIGITS = 19 };

/* 5^n, which fits in 64 bits up to 27. */
static uint64_t five_to(int n)
{
    uint64_t power = 1;
    for (uint64_t five = 5; n > 0; n >>= 1, five *= five)
        if (n & 1) power *= five;
    return power;
}

/* Rounds high:low * 2^shift (high has its top bit set, low only says whether it is zero) to the nearest
   double, ties to even. The results here are far from the ends of the range. */
static double round_to_double(uint64_t high, bool sticky, int shift)
{
    uint64_t mantissa = high >> 11;
    uint64_t rest = high & 0x7FF;
    if (rest > 0x400 || (rest == 0x400 && (sticky || (mantissa & 1) != 0))) mantissa++;
    return ldexp((double)mantissa, shift + 11);
}

/* digits * 10^exponent, correctly rounded, for digits > 0 and |exponent| <= 27: 5^27 fits in 64 bits, so
   the product and the quotient can be had exactly, and 2^exponent only moves the point. */
static double scale_exactly(uint64_t digits, int exponent)
{
    int zeros = __builtin_clzll(digits);
    uint64_t left = digits << zeros;
    if (exponent >= 0) {
        unsigned __int128 product = (unsigned __int128)left * five_to(exponent);
        uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
        int shift = exponent - zeros + 64;
        if (high == 0) return round_to_double(low, false, shift - 64);
        int lead = __builtin_clzll(high);
        if (lead > 0) high = high << lead | low >> (64 - lead);
        return round_to_double(high, low << lead != 0, shift - lead);
    }
    uint64_t five = five_to(-exponent);
    int five_zeros = __builtin_clzll(five);
    five <<= five_zeros;
    int halved = left >= five; /* keeps the quotient within 64 bits, top bit set */
    unsigned __int128 numerator = (unsigned __int128)left << (64 - halved);
    uint64_t quotient = (uint64_t)(numerator / five);
    bool sticky = numerator % five != 0;
    return round_to_double(quotient, sticky, exponent - zeros + five_zeros - 64 + halved);
}

/* The rare rest: many digits, or far exponents. */
static double read_slowly(const char *from)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) return strtod(from, NULL);
    double value = strtod_l(from, NULL, plain);
    freelocale(plain);
    return value;
}

static double to_double(uint64_t digits, int exponent)
{
    if (digits <= (uint64_t)1 << 53) {
        if (exponent >= 0 && exponent <= MAX_EXACT_TEN) return (double)digits * exact_ten[exponent];
        if (exponent < 0 && exponent >= -MAX_EXACT_TEN) return (double)digits / exact_ten[-exponent];
    }
    return scale_exactly(digits, exponent);
}

/* The exponent after an 'e', or no move when none follows. */
static const char *read_exponent(const char *at, int *exponent)
{
    const char *digit = at + 1;
    bool negative = *digit == '-';
    if (negative || *digit == '+') digit++;
    if (*digit < '0' || *digit > '9') return at;
    int value = 0;
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        if (value < 100000) value = 10 * value + (*digit - '0');
    }
    *exponent += negative ? -value : value;
    return digit;
}

const char *sn_number_read(const char *at, double *value)
{
    /* The sign without branches: nothing foretells it, and a wrong guess of the processor costs as much as
       all the rest of a short number. */
    static const double unit[] = {1, -1};
    const char *from = at;
    bool negative = *at == '-';
    at += negative | (*at == '+');
    const char *first = at;
    uint64_t digits = 0;
    while (*at >= '0' && *at <= '9') digits = 10 * digits + (uint64_t)(*at++ - '0');
    ptrdiff_t count = at - first;
    int exponent = 0;
    if (*at == '.') {
        const char *point = at++;
        while (*at >= '0' && *at <= '9') digits = 10 * digits + (uint64_t)(*at++ - '0');
        ptrdiff_t decimals = at - point - 1;
        count += decimals;
        exponent = decimals < 100000 ? -(int)decimals : -100000;
    }
    if (count == 0) return NULL;
    if (*at == 'e' || *at == 'E') at = read_exponent(at, &exponent);
    if (count > MAX_DIGITS || (digits != 0 && (exponent < -MAX_FIVE || exponent > MAX_FIVE)))
        *value = read_slowly(from);
    else
        *value = copysign(digits == 0 ? 0 : to_double(digits, exponent), unit[negative]);
    return at;
}

/* Writes digits * 10^exponent without trailing zeros, plainly when short and with an exponent otherwise. */
static size_t print_decimal(bool negative, uint64_t digits, int exponent, char *text)
{
    while (digits != 0 && digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    char figures[24];
    int count = snprintf(figures, sizeof figures, "%llu", (unsigned long long)digits);
    int point = count + exponent; /* where the decimal point stands, counted from the first figure */
    char *at = text;
    if (negative) *at++ = '-';
    if (point > 0 && point <= 9 && exponent >= 0) {
        memcpy(at, figures, (size_t)count);
        memset(at + count, '0', (size_t)exponent);
        at += point;
    } else if (point > 0 && exponent < 0) {
        memcpy(at, figures, (size_t)point);
        at[point] = '.';
        memcpy(at + point + 1, figures + point, (size_t)(count - point));
        at += count + 1;
    } else if (point <= 0 && point > -4) {
        *at++ = '0';
        *at++ = '.';
        memset(at, '0', (size_t)-point);
        memcpy(at - point, figures, (size_t)count);
        at += count - point;
    } else {
        *at++ = figures[0];
        if (count > 1) {
            *at++ = '.';
            memcpy(at, figures + 1, (size_t)(count - 1));
            at += count - 1;
        }
        at += snprintf(at, 8, "e%d", point - 1);
    }
    *at = '\0';
    return (size_t)(at - text);
}

/* The fewest digits (from 6 up; print_decimal drops zeros) that give this float back; 0 when the exponent is
   out of the range of the exact powers. */
static size_t print_float(float value, char *text)
{
    double magnitude = fabs((double)value);
    int ten = (int)floor(log10(magnitude));
    for (int precision = 6; precision <= 9; precision++) {
        int exponent = ten - precision + 1;
        if (exponent > MAX_EXACT_TEN || exponent < -MAX_EXACT_TEN) return 0;
        double scaled = exponent >= 0 ? magnitude / exact_ten[exponent] : magnitude * exact_ten[-exponent];
        uint64_t digits = (uint64_t)llround(scaled);
        if ((float)to_double(digits, exponent) == (float)magnitude)
            return print_decimal(value < 0, digits, exponent, text);
    }
    return 0;
}

/* The fewest digits, from `precision` up, that read back as the same number; `single`: as the same float. 17
   digits always do for a double. Slower than print_float, and right for every exponent. */
static size_t print_precisely(double value, int precision, bool single, char *text)
{
    for (;; precision++) {
        char digits[SN_NUMBER_SIZE];
        snprintf(digits, sizeof digits, "%.*e", precision - 1, fabs(value));
        /* Read the figures back as an integer and a power: the printed point depends on the locale. */
        uint64_t figures = 0;
        const char *at = digits;
        for (; *at != 'e'; at++) {
            if (*at >= '0' && *at <= '9') figures = 10 * figures + (uint64_t)(*at - '0');
        }
        int exponent = (int)strtol(at + 1, NULL, 10) - precision + 1;
        char plain[SN_NUMBER_SIZE];
        snprintf(plain, sizeof plain, "%llue%d", (unsigned long long)figures, exponent);
        double back = 0;
        sn_number_read(plain, &back);
        if (precision == 17 || (single ? (float)back == (float)fabs(value) : back == fabs(value)))
            return print_decimal(value < 0, figures, exponent, text);
    }
}

size_t sn_number_print(double value, char text[SN_NUMBER_SIZE])
{
    const char *word = isnan(value)   ? "nan"
                       : value == 0   ? "0"
                       : isinf(value) ? (value > 0 ? "inf" : "-inf")
                                      : NULL;
    if (word != NULL) return (size_t)snprintf(text, SN_NUMBER_SIZE, "%s", word);
    bool single = fabs(value) <= (double)__FLT_MAX__ && (double)(float)value == value;
    if (single) {
        size_t length = print_float((float)value, text);
        if (length > 0) return length;
    }
    return print_precisely(value, single ? 6 : 15, single, text);
}

int sn_vformat(char *text, size_t size, const char *format, va_list arguments)
{
    /* Of this thread alone; the plain locale is a constant of the C library, so that nothing can fail here.
     */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain != (locale_t)0 ? uselocale(plain) : (locale_t)0;
    int length = vsnprintf(text, size, format, arguments);
    if (plain != (locale_t)0) {
        uselocale(before);
        freelocale(plain);
    }
    return length;
}

int sn_format(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = sn_vformat(text, size, format, arguments);
    va_end(arguments);
    return length;
}

_Static_assert((int)STONET_NUMBER_SIZE == (int)SN_NUMBER_SIZE, "the header promises room for every number");

size_t stonet_number_text(double value, char text[STONET_NUMBER_SIZE])
{
    return sn_number_print(value, text);
}
