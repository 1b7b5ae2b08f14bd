/* The page around its content. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/page.h"

/* How many bytes of UTF-8 begin here; 0: none. Overlong forms and surrogates are no UTF-8. */
static size_t utf8_length(const unsigned char *at)
{
    static const struct {
        unsigned char low, high, next_low, next_high;
        size_t length;
    } forms[] = {{0x00, 0x7f, 0x80, 0xbf, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                 {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
                 {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (at[0] < forms[i].low || at[0] > forms[i].high) continue;
        if (forms[i].length > 1 && (at[1] < forms[i].next_low || at[1] > forms[i].next_high)) return 0;
        for (size_t k = 2; k < forms[i].length; k++)
            if (at[k] < 0x80 || at[k] > 0xbf) return 0;
        return forms[i].length;
    }
    return 0;
}

json_t *sn_page_text(const char *text)
{
    SN_BLOCK char *copy = sn_strdup(text != NULL ? text : "");
    if (copy == NULL) return NULL;
    for (size_t i = 0; copy[i] != '\0';) {
        const size_t length = utf8_length((const unsigned char *)copy + i);
        if (length == 0) copy[i] = '?';
        i += length > 0 ? length : 1;
    }
    json_t *json = json_string(copy);
    return json;
}

json_t *sn_page_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

char *sn_page_render(const json_t *content)
{
    SN_BLOCK char *json = sn_json_print(content, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));
    if (json == NULL) return NULL;
    char *page = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&page, &size);
    if (out != NULL) {
        fwrite(sn_page_before, 1, sn_page_before_size, out);
        /* These letters are in texts alone, so that an escape is the same JSON. */
        for (const char *at = json; *at != '\0'; at++) {
            if (*at == '<' || *at == '>' || *at == '&')
                fprintf(out, "\\u%04x", (unsigned)*at);
            else
                fputc(*at, out);
        }
        fwrite(sn_page_after, 1, sn_page_after_size, out);
        const bool failed = ferror(out) != 0;
        if (fclose(out) != 0 || failed) {
            free(page);
            page = NULL;
        }
    }
    return page;
}
