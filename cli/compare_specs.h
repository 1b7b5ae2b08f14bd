/* What is compared: a spec for each method and dimension. */
#pragma once

#include "cli/common.h"

typedef struct compare_wishes {
    const char *methods; /* "a,b,c", or "all" */
    const char *dims;    /* "1,2,auto" */
    const char *learner; /* or NULL */
    text_list set;       /* "[METHOD:]NAME=VALUE" */
} compare_wishes;

typedef struct spec_list {
    int64_t count;
    stonet_spec **spec;
    int *open; /* for each spec, whether its dimension is to be chosen (--dim auto) */
    bool any_open;
    bool *set_used; /* for each --set, whether some method took it */
} spec_list;

/* The specs for data with so many columns; gives an exit status. */
int specs_make(const cli_command *command, const compare_wishes *wishes, int64_t columns, spec_list *list);
void specs_free(spec_list *list);
