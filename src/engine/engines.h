/* The engines there are. A new one is one file and one line here: the setting `engine`, its help and the
   tests read this list. */
#pragma once

#include "engine/engine.h"

/* name (of sn_engine_NAME, an sn_engine_ops), what it is. The first is the default. */
#define SN_ENGINE_LIST(ENGINE)                                                                               \
    ENGINE(cpu, "float, fast")                                                                               \
    ENGINE(ref, "double, plain loops")                                                                       \
    ENGINE(cuda, "float, on a GPU (make gpu)")

#define SN_ENGINE_DECLARE(name, what) extern const sn_engine_ops sn_engine_##name;
SN_ENGINE_LIST(SN_ENGINE_DECLARE)

/* For the parameter table, with the word for "a GPU where there is one": "auto|cpu|ref", and "cpu: float,
   fast; ref: double, plain loops; auto: ..". */
#define SN_ENGINE_CHOICE(name, what) "|" #name
#define SN_ENGINE_TELL(name, what)   "; " #name ": " what
#define SN_ENGINE_AUTO               "auto"
#define SN_ENGINE_WORDS              (SN_ENGINE_AUTO SN_ENGINE_LIST(SN_ENGINE_CHOICE))
#define SN_ENGINE_HELP                                                                                       \
    (SN_ENGINE_LIST(SN_ENGINE_TELL) "; " SN_ENGINE_AUTO ": cuda where that can be used, else cpu" + 2)

/* Engine number `index`, NULL past the last one. */
const sn_engine_ops *sn_engine_at(int index);
/* Whether it can be used here; the sentence says why not. */
bool sn_engine_usable(const sn_engine_ops *ops);
/* cuda where it can be used, else cpu; the sentence then says why. */
const sn_engine_ops *sn_engine_auto(void);
/* NULL when there is none of that name. */
const sn_engine_ops *sn_engine_find(const char *name);
