#include <string.h>

#include "learners/learner.h"

#define DECLARED(name) extern const sn_learner sn_learner_##name;
SN_LEARNERS(DECLARED)

#define LISTED(name) &sn_learner_##name,
static const sn_learner *const learners[] = {SN_LEARNERS(LISTED)};

size_t sn_learner_count(void)
{
    return sizeof learners / sizeof learners[0];
}

const sn_learner *sn_learner_at(size_t index)
{
    return index < sn_learner_count() ? learners[index] : NULL;
}

const sn_learner *sn_learner_find(const char *name)
{
    for (size_t i = 0; i < sn_learner_count(); i++)
        if (strcmp(learners[i]->name, name) == 0) return learners[i];
    return NULL;
}
