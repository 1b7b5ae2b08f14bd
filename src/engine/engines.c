#include "engine/engines.h"

#include <string.h>

#define LISTED(name, what) &sn_engine_##name,
static const sn_engine_ops *const engines[] = {SN_ENGINE_LIST(LISTED)};

const sn_engine_ops *sn_engine_at(int index)
{
    // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
    const int count = (int)(sizeof engines / sizeof *engines);
    return index >= 0 && index < count ? engines[index] : NULL;
}

bool sn_engine_usable(const sn_engine_ops *ops)
{
    return ops->available == NULL || ops->available() == STONET_OK;
}

const sn_engine_ops *sn_engine_auto(void)
{
    return sn_engine_usable(&sn_engine_cuda) ? &sn_engine_cuda : &sn_engine_cpu;
}

const sn_engine_ops *sn_engine_find(const char *name)
{
    for (int i = 0; sn_engine_at(i) != NULL; i++)
        if (strcmp(sn_engine_at(i)->name, name) == 0) return sn_engine_at(i);
    return NULL;
}
