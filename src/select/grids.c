/* What is worth tuning in each method, written once. */
#include <jansson.h>
#include <string.h>

#include "model/config.h"
#include "select/grid.h"

enum { MAX_ENTRIES = 6 };

static const struct {
    const char *method;
    const char *entry[MAX_ENTRIES];
} GRIDS[] = {
    {"pca", {NULL}},
};

const char *const *sn_default_grid(const char *method, int64_t *n_entries)
{
    *n_entries = 0;
    for (size_t i = 0; i < sizeof GRIDS / sizeof *GRIDS; i++) {
        if (strcmp(GRIDS[i].method, method) != 0) continue;
        while (*n_entries < MAX_ENTRIES && GRIDS[i].entry[*n_entries] != NULL) ++*n_entries;
        return GRIDS[i].entry;
    }
    return NULL;
}

char *stonet_default_grid_json(const char *method)
{
    if (method == NULL || sn_method_find(method) == NULL) {
        sn_fail(STONET_ERROR_ARGUMENT, "there is no method '%s'", method != NULL ? method : "");
        return NULL;
    }
    int64_t count;
    const char *const *entry = sn_default_grid(method, &count);
    json_t *list = json_array();
    for (int64_t i = 0; i < count; i++) json_array_append_new(list, json_string(entry[i]));
    return sn_json_text(list, false);
}
