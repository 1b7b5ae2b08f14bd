/*
 * The races of starts (stonet/start.h) of a search over settings: one for each activation and fold that is
 * asked for. Their starts, all of them, are dealt out to threads and ranks.
 */
#ifndef SN_STONET_RACES_H
#define SN_STONET_RACES_H

#include "stonet/search.h"

typedef struct sn_fold_of {
    int activation, fold;
} sn_fold_of;

/* s->start of those of the folds (SN_SEARCH_POINTS * SN_MAX_FOLDS at most) that have none yet. */
stonet_status sn_races_run(sn_searcher *s, const sn_fold_of *folds, int count);
/* Says that so many races are to come. */
void sn_races_tell(sn_searcher *s, int races);

#endif
