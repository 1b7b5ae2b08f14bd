/* The list of methods. To add one: a line here. */
#include <string.h>

#include "methods/method.h"

/* clang-format off */
#define METHODS(method) \
    method(stonet) \
    method(none) \
    method(pca) \
    method(pls) \
    method(sir) \
    method(save) \
    method(dr) \
    method(phd) \
    method(gsir) \
    method(ksir) \
    method(gsave) \
    method(kpls) \
    method(nnsdr) \
    method(autoencoder) \
    method(mave) \
    method(opg) \
    method(lasso_sir) \
    method(gkdr) \
    method(kdr) \
    method(lsmie) \
    method(scr) \
    method(cve) \
    method(benn) \
    method(gmddnet) \
    /* end of the list */
/* clang-format on */

#define DECLARED(name) extern const sn_method sn_method_##name;
METHODS(DECLARED)

#define LISTED(name) &sn_method_##name,
static const sn_method *const methods[] = {METHODS(LISTED)};

enum { COUNT = sizeof methods / sizeof methods[0] };

size_t sn_method_count(void)
{
    return COUNT;
}

const sn_method *sn_method_at(size_t index)
{
    return index < COUNT ? methods[index] : NULL;
}

const sn_method *sn_method_find(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(methods[i]->name, name) == 0) return methods[i];
    return NULL;
}
