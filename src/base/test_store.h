/* For tests of what is read from a store that lacks an entry or has another one in its place. */
#pragma once

#include "base/store.h"
#include "base/test_kit.h"

/* A copy without the text or tensor of that name, for which there may be another. */
static inline sn_store *sn_store_without(const sn_store *from, const char *entry)
{
    sn_store *store = NULL;
    OK(sn_store_create(&store));
    for (size_t i = 0; i < sn_store_tensors(from); i++) {
        const sn_tensor *t = sn_store_tensor(from, i);
        if (strcmp(t->name, entry) != 0)
            OK(sn_store_put(store, t->name, t->dtype, t->rank, t->shape, t->data));
    }
    for (size_t i = 0; i < sn_store_texts(from); i++) {
        const char *key, *value;
        sn_store_text(from, i, &key, &value);
        if (strcmp(key, entry) != 0) OK(sn_store_put_text(store, key, value));
    }
    return store;
}
