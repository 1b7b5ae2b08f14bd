/* The list of methods. To add one: a line in each of the two lists below. */
#include <string.h>

#include "methods/method.h"

extern const sn_method sn_method_stonet;
extern const sn_method sn_method_none;
extern const sn_method sn_method_pca;
extern const sn_method sn_method_sir;
extern const sn_method sn_method_save;
extern const sn_method sn_method_dr;
extern const sn_method sn_method_phd;
extern const sn_method sn_method_gsir;
extern const sn_method sn_method_ksir;
extern const sn_method sn_method_gsave;
extern const sn_method sn_method_nnsdr;
extern const sn_method sn_method_autoencoder;
extern const sn_method sn_method_mave;
extern const sn_method sn_method_opg;
extern const sn_method sn_method_lasso_sir;
extern const sn_method sn_method_gkdr;
extern const sn_method sn_method_kdr;
extern const sn_method sn_method_lsmie;

/* clang-format off */
static const sn_method *const methods[] = {
    &sn_method_stonet,
    &sn_method_none,
    &sn_method_pca,
    &sn_method_sir,
    &sn_method_save,
    &sn_method_dr,
    &sn_method_phd,
    &sn_method_gsir,
    &sn_method_ksir,
    &sn_method_gsave,
    &sn_method_nnsdr,
    &sn_method_autoencoder,
    &sn_method_mave,
    &sn_method_opg,
    &sn_method_lasso_sir,
    &sn_method_gkdr,
    &sn_method_kdr,
    &sn_method_lsmie,
};
/* clang-format on */

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
