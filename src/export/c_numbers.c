#include "export/c_numbers.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/number.h"

enum { NUMBERS_A_LINE = 8 };

void sn_c_number(sn_bytes *out, double value)
{
    char text[SN_NUMBER_SIZE];
    const bool single = fabs(value) <= (double)__FLT_MAX__ && (double)(float)value == value;
    sn_number_print(value, text);
    sn_bytes_text(out, text);
    if (strpbrk(text, ".e") == NULL) sn_bytes_text(out, ".0");
    if (single) sn_bytes_text(out, "F"); /* these digits are the float's */
}

void sn_c_string(sn_bytes *out, const char *text)
{
    sn_bytes_text(out, "\"");
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        /* a question mark could begin a trigraph */
        if (c < ' ' || c > '~' || c == '"' || c == '\\' || c == '?')
            sn_bytes_print(out, "\\%03o", c);
        else
            sn_bytes_put(out, text, 1);
    }
    sn_bytes_text(out, "\"");
}

void sn_c_table(sn_bytes *out, const char *name, int k, int64_t count, const double *values)
{
    sn_bytes_print(out, "static const double %s%d[%" PRId64 "] = {", name, k, count);
    for (int64_t i = 0; i < count; i++) {
        sn_bytes_text(out, i % NUMBERS_A_LINE == 0 ? "\n    " : " ");
        sn_c_number(out, values[i]);
        sn_bytes_text(out, i + 1 < count ? "," : "\n");
    }
    sn_bytes_text(out, "};\n");
}
