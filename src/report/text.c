/* The page around its content. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/utf8.h"
#include "report/page.h"

json_t *sn_page_text(const char *text)
{
    SN_BLOCK char *copy = sn_strdup(text != NULL ? text : "");
    if (copy == NULL) return NULL;
    for (size_t i = 0; copy[i] != '\0';) {
        const size_t length = sn_utf8_sequence(copy + i, strlen(copy + i));
        if (length == 0) copy[i] = '?';
        i += length > 0 ? length : 1;
    }
    return json_string(copy);
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
