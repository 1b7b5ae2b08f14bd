/* The engines there are. A new one is one file and one line here: the setting `engine`, its help and the
   tests read this list. */
#ifndef SN_ENGINE_REGISTRY_H
#define SN_ENGINE_REGISTRY_H

#include "engine/engine.h"

/* name (of sn_engine_NAME, an sn_engine_ops), what it is. The first is the default. */
#define SN_ENGINE_LIST(ENGINE)                                                                               \
    ENGINE(cpu, "float, fast")                                                                               \
    ENGINE(ref, "double, plain loops")

#define SN_ENGINE_DECLARE(name, what) extern const sn_engine_ops sn_engine_##name;
SN_ENGINE_LIST(SN_ENGINE_DECLARE)

/* For the parameter table: "cpu|ref" and "cpu: float, fast; ref: double, plain loops". */
#define SN_ENGINE_CHOICE(name, what) "|" #name
#define SN_ENGINE_CHOICES            (SN_ENGINE_LIST(SN_ENGINE_CHOICE) + 1)
#define SN_ENGINE_TELL(name, what)   "; " #name ": " what
#define SN_ENGINE_HELP               (SN_ENGINE_LIST(SN_ENGINE_TELL) + 2)

/* Engine number `index`, NULL past the last one. */
const sn_engine_ops *sn_engine_at(int index);
/* NULL when there is none of that name. */
const sn_engine_ops *sn_engine_find(const char *name);

#endif
