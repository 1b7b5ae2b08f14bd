/* What is worth tuning in each method, written once. */
#include <jansson.h>
#include <string.h>

#include "base/json.h"
#include "model/config.h"
#include "select/grid.h"

typedef struct entry {
    const char *text;
    unsigned tasks; /* SN_TASK_* where it matters */
} entry;

enum { BOTH = SN_TASK_BOTH, NUMBERS = SN_TASK_REGRESSION };

static const struct {
    const char *method;
    entry entry[SN_MAX_GRID_ENTRIES];
} GRIDS[] = {
    /* stonet chooses weight decay, epochs and activation by itself, lsmie bandwidth and ridge, lasso-sir the
       penalty. */
    {"stonet", {{"hidden=auto;none", BOTH}}},
    {"sir", {{"slices=5,10,20", NUMBERS}, {"ridge=0,0.01,0.1,1", BOTH}}},
    {"save", {{"slices=3,5,10", NUMBERS}, {"ridge=0,0.01,0.1,1", BOTH}}},
    {"dr", {{"slices=3,5,10", NUMBERS}, {"ridge=0,0.01,0.1,1", BOTH}}},
    {"phd", {{"response=residual,raw", BOTH}}},
    {"lasso-sir", {{"slices=5,10,20", NUMBERS}}},
    {"opg", {{"bandwidth=0.6,1.2,2.4", BOTH}, {"subspace=mean,central", NUMBERS}}},
    {"mave", {{"bandwidth=0.6,1.2,2.4", BOTH}, {"subspace=mean,central", NUMBERS}}},
    {"ksir", {{"complexity=0.1,0.3,1,3", BOTH}, {"ridge=1e-6,1e-4,1e-2", BOTH}}},
    {"gsir", {{"complexity=0.1,0.3,1,3", BOTH}, {"ex=1e-3,1e-2,1e-1", BOTH}}},
    {"gsave", {{"complexity=0.1,0.3,1,3", BOTH}, {"ex=1e-3,1e-2,1e-1", BOTH}}},
    {"kdr", {{"complexity=0.3,1,3", BOTH}, {"epsilon=1e-5,1e-4,1e-3", BOTH}}},
    {"gkdr", {{"complexity=0.1,0.3,1,3", BOTH}, {"epsilon=1e-6,1e-5,1e-3", BOTH}}},
    /* On a few hundred rows the passes of the default, meant for thousands, learn the rows by heart. */
    {"nnsdr", {{"epochs=5,20,200", BOTH}, {"refine=10,400", BOTH}}},
    {"autoencoder", {{"hidden=auto,50", BOTH}, {"rate=0.001,0.01", BOTH}}},
};

int64_t sn_default_grid(const char *method, unsigned tasks, const char *out[SN_MAX_GRID_ENTRIES])
{
    int64_t count = 0;
    for (size_t i = 0; i < sizeof GRIDS / sizeof *GRIDS; i++) {
        if (strcmp(GRIDS[i].method, method) != 0) continue;
        for (int e = 0; e < SN_MAX_GRID_ENTRIES && GRIDS[i].entry[e].text != NULL; e++)
            if ((GRIDS[i].entry[e].tasks & tasks) != 0) out[count++] = GRIDS[i].entry[e].text;
    }
    return count;
}

char *stonet_default_grid_json(const char *method)
{
    if (method == NULL || sn_method_find(method) == NULL) {
        sn_fail(STONET_ERROR_ARGUMENT, "there is no method '%s'", method != NULL ? method : "");
        return NULL;
    }
    const char *text[SN_MAX_GRID_ENTRIES];
    int64_t count = sn_default_grid(method, SN_TASK_BOTH, text);
    json_t *list = json_array();
    for (int64_t i = 0; i < count; i++) list = sn_json_add(list, json_string(text[i]));
    return sn_json_text(list, false);
}
