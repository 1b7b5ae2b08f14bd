/*
 * The page of a report about hostile names: those of columns, classes, model and data, one a line after a
 * first byte that says how many points are shown; the last line is the table of dimensions. The content of
 * the page is JSON that parses, has no letter that HTML would look at, and gives the names back.
 */
#include "fuzz/common.h"

#include "report/page.h"

enum { N = 9, P = 2, CLASSES = 3, LINES = P + CLASSES + 3 };

/* A text of the page is the one that went in, but for what is no UTF-8. */
static void check_text(const json_t *content, const char *key, const char *text)
{
    json_t *right = sn_page_text(text);
    const char *got = json_string_value(json_object_get(content, key));
    if (right == NULL || got == NULL || strcmp(got, json_string_value(right)) != 0) abort();
    json_decref(right);
}

static void check_page(const char *page, const stonet_report_options *how)
{
    const size_t size = strlen(page), frame = sn_page_before_size + sn_page_after_size;
    if (size <= frame || memcmp(page, sn_page_before, sn_page_before_size) != 0 ||
        memcmp(page + size - sn_page_after_size, sn_page_after, sn_page_after_size) != 0)
        abort();
    const char *from = page + sn_page_before_size;
    for (size_t i = 0; i < size - frame; i++)
        if (strchr("<>&", from[i]) != NULL || (unsigned char)from[i] < 0x20 || (unsigned char)from[i] > 0x7f)
            abort();
    json_t *content = json_loadb(from, size - frame, 0, NULL);
    if (content == NULL) abort();
    check_text(content, "model", how->model_name);
    check_text(content, "data", how->data_name);
    json_decref(content);
}

/* Reduces the table, and tells of it. */
static void tell(const stonet_data *data, const stonet_report_options *how)
{
    stonet_spec *spec = NULL;
    stonet_model *model = NULL;
    char *page = NULL;
    if (stonet_spec_create("pca", &spec) != STONET_OK || stonet_spec_set(spec, "dim", "1") != STONET_OK)
        abort();
    const stonet_run run = {.size = sizeof run, .threads = 1};
    if (stonet_fit(spec, data, &run, &model) != STONET_OK) {
        if (stonet_last_error()[0] == '\0') abort();
    } else if (stonet_report(model, data, how, &run, &page) == STONET_OK) {
        check_page(page, how);
    } else if (page != NULL || stonet_last_error()[0] == '\0') {
        abort();
    }
    stonet_string_free(page);
    stonet_model_free(model);
    stonet_spec_free(spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 1) return 0;
    static const float x[N * P] = {1, 2, 5, 3, 2, 8, 4, 4, 9, 1, 7, 7, 3, 2, 6, 5, 8, 3};
    static const int32_t code[N] = {0, 1, 2, 0, 1, 2, 1, 0, 2};
    char *text = malloc(size);
    const char *line[LINES];
    stonet_data *data = NULL;
    if (text == NULL) abort();
    memcpy(text, bytes + 1, size - 1);
    text[size - 1] = '\0';
    char *rest = text;
    for (int k = 0; k < LINES; k++) {
        const char *next = strsep(&rest, "\n");
        line[k] = next != NULL ? next : "";
    }
    if (stonet_data_wrap(x, N, P, &data) != STONET_OK) abort();
    stonet_report_options how = STONET_REPORT_OPTIONS_INIT;
    how.model_name = line[P + CLASSES];
    how.data_name = line[P + CLASSES + 1];
    how.order = line[P + CLASSES + 2][0] != '\0' ? line[P + CLASSES + 2] : NULL;
    how.importance = "none";
    how.points = bytes[0];
    if (stonet_data_set_names(data, line) == STONET_OK &&
        stonet_data_set_classes(data, code, line + P, CLASSES) == STONET_OK)
        tell(data, &how);
    else if (stonet_last_error()[0] == '\0')
        abort();
    stonet_data_free(data);
    free(text);
    return 0;
}
