#include <string.h>

#include "learners/learner.h"

extern const sn_learner sn_learner_logistic, sn_learner_linear, sn_learner_mlp;

static const sn_learner *const learners[] = {&sn_learner_logistic, &sn_learner_linear, &sn_learner_mlp};

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
