/*
 * Conformal prediction from held-out scores: how large the score of a new row may be. Scores come in lists,
 * one for each model that held some rows out (split: one list, CV+: one a fold).
 */
#pragma once

#include <stdint.h>

/* k = ceil(level (m + 1)): of m + 1 exchangeable scores, the new one is no larger than the k-th smallest of
   the m others with a probability of at least `level`. m + 1 (no bound at all) when m is too small for it. */
int64_t sn_conformal_rank(int64_t m, double level);

typedef struct sn_score_lists {
    int64_t count;        /* lists */
    const int64_t *start; /* count + 1: list l is score[start[l]] .. score[start[l + 1] - 1], ascending */
    const double *score;
} sn_score_lists;

/*
 * The interval of a new row whose response is centre[l] by the model of list l; scores are
 * |y - centre| / spread (spread NULL: 1). With m scores R_i of lists l(i) and k the rank:
 *
 *     high = k-th smallest of centre[l(i)] + spread[l(i)] R_i,  low = (m + 1 - k)-th smallest of .. - ..
 *
 * that is f -+ spread * (k-th smallest score) for one list, and the interval of CV+ for several. Infinite for
 * k = m + 1. room has m doubles.
 */
void sn_conformal_interval(const sn_score_lists *scores, int64_t rank, const double *centre,
                           const double *spread, double *room, double *low, double *high);

/* How many scores are below bound[l] of their list. A new score E with bounds E_l belongs to the answer when
   that is less than level (m + 1), i.e. less than the rank. */
int64_t sn_conformal_below(const sn_score_lists *scores, const double *bound);

/* Scores of the classes with probabilities p (1e-9 in their sum does not matter): large is unlikely.
   APS: with p in descending order, L_c the sum up to and with class c: L_c - u p_c, u in (0, 1). `order` has
   room for the classes. LAC: 1 - p_c. */
void sn_aps_scores(int64_t classes, const double *p, double u, int64_t *order, double *score);
void sn_lac_scores(int64_t classes, const double *p, double *score);
