/*
 * The way of the search over settings from point to point (stonet/search.h): along the weight decays, to
 * longer trainings, to longer ones with more decay, and to the other activation.
 */
#ifndef SN_STONET_CLIMB_H
#define SN_STONET_CLIMB_H

#include "stonet/search.h"

/* From where the search starts to the point that is taken, which is s->at then. */
stonet_status sn_search(sn_searcher *s);
/* From the present point, with its activation, until no step helps. */
stonet_status sn_climb(sn_searcher *s);
/* Whether the present point is clearly better than a constant guess, or the linear model is and the point has
   found the larger part of that. */
bool sn_found_something(sn_searcher *s);

/* The other activation at the present setting. Where one part of the rows is held out, at a tenth and a third
   of the length first: a long training is not begun anew, nor gone on with, for what is far behind there, or
   clearly at the third. Where decay is strong, folds are held out and much more is found than a linear model
   does, at the next weaker decay as well, which the other activation may need. */
stonet_status sn_leap(sn_searcher *s);

#endif
