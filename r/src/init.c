/* Tells R which routines there are. */
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#include "glue.h"

#define ROUTINE(name, count)                                                                                 \
    {                                                                                                        \
#name, (DL_FUNC)&r_##name, count                                                                     \
    }

static const R_CallMethodDef routines[] = {ROUTINE(version, 0),        ROUTINE(methods, 0),
                                           ROUTINE(generators, 0),     ROUTINE(run, 4),
                                           ROUTINE(run_said, 1),       ROUTINE(table, 7),
                                           ROUTINE(subset, 2),         ROUTINE(fit, 4),
                                           ROUTINE(refit, 3),          ROUTINE(needs_response, 2),
                                           ROUTINE(model_bytes, 1),    ROUTINE(model_from_bytes, 1),
                                           ROUTINE(model_save, 3),     ROUTINE(model_load, 1),
                                           ROUTINE(model_export, 4),   ROUTINE(model_info, 1),
                                           ROUTINE(model_is_there, 1), ROUTINE(calibrate, 6),
                                           ROUTINE(transform, 6),      ROUTINE(transform_se, 5),
                                           ROUTINE(predict, 6),        ROUTINE(score, 5),
                                           ROUTINE(survival, 4),       ROUTINE(met, 2),
                                           ROUTINE(check_rows, 3),     ROUTINE(order, 5),
                                           ROUTINE(coef, 4),           ROUTINE(importance, 6),
                                           ROUTINE(tune, 5),           ROUTINE(compare, 6),
                                           ROUTINE(independence, 5),   ROUTINE(sufficiency, 3),
                                           ROUTINE(generate, 3),       {NULL, NULL, 0}};

void attribute_visible R_init_stonet(DllInfo *info)
{
    convert_init();
    R_registerRoutines(info, NULL, routines, NULL, NULL);
    R_useDynamicSymbols(info, FALSE);
    R_forceSymbols(info, TRUE);
}

/* What the library calls where it finds a mistake of its own: abort() would end R (see core.mk). */
void stonet_r_abort(void)
{
    Rf_error("stonet has found a mistake of its own and gave this call up; please report it");
}
