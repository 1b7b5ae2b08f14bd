#include <string.h>

#include "base/status.h"

/* Whether a text comes back from a CSV file as it is without quotes. */
static int is_plain(const char *text)
{
    const size_t length = strlen(text);
    return length > 0 && strpbrk(text, ",;\t\n\r\"") == NULL && text[0] != ' ' && text[length - 1] != ' ';
}

int stonet_csv_cell(const char *text, int (*put)(const char *bytes, size_t count, void *user), void *user)
{
    if (is_plain(text)) return put(text, strlen(text), user);
    int answer = put("\"", 1, user);
    for (const char *at = text; answer == 0; at++) {
        const size_t part = strcspn(at, "\"");
        answer = put(at, part, user);
        at += part;
        if (*at == '\0') break;
        if (answer == 0) answer = put("\"\"", 2, user);
    }
    return answer == 0 ? put("\"", 1, user) : answer;
}
