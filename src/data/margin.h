/*
 * One column of the Gaussian that stands behind incomplete rows (data/imputer.h): from a feature, as it is
 * scaled, to a score z that is about N(0, 1), and back (a Gaussian copula, where the column asks for one).
 *
 *     plain    z = (x - value[0]) / value[1]
 *     scores   z by linear interpolation between quantiles: value[i] has the score of its share of the rows
 *     levels   few values: z of level l is E(N | N in its part of the line), over its standard deviation;
 * back by the part that z is in. Level l ends at cut[l], the last one nowhere. category the indicator of one
 * text: z as for plain; back all texts of the column together
 */
#pragma once

#include <stdbool.h>

#include "base/status.h"

typedef enum sn_margin_kind {
    SN_MARGIN_PLAIN,
    SN_MARGIN_SCORES,
    SN_MARGIN_LEVELS,
    SN_MARGIN_CATEGORY
} sn_margin_kind;

/* A column of numbers of at most so many distinct values is one of levels. */
enum { SN_MARGIN_LEVELS_MOST = 20, SN_MARGIN_KNOTS = 64 };

typedef struct sn_margin {
    sn_margin_kind kind;
    int64_t feature;
    bool indicators; /* the features behind it are indicators of its levels */
    int64_t count;   /* of value and score */
    float *value;    /* ascending (plain: centre and scale) */
    double *score;   /* ascending; scores and levels */
    double *cut;     /* levels */
} sn_margin;

/* From the values of a feature that are there, which are sorted; given: the levels it must have (scaled), or
   NULL. The feature has to vary. `out` is empty before, and to be freed also after a failure. */
stonet_status sn_margin_fit(float *x, int64_t n, const float *given, int64_t n_given, sn_margin *out);
/* Plain with this centre and scale. */
stonet_status sn_margin_plain(double centre, double scale, sn_margin *out);
void sn_margin_free(sn_margin *margin);

double sn_margin_score(const sn_margin *margin, float x);
/* The feature at a score. */
double sn_margin_value(const sn_margin *margin, double z);
/* Which level a score is in. */
int64_t sn_margin_level(const sn_margin *margin, double z);
/* The probability of a level when z ~ N(mean, variance). */
double sn_margin_share(const sn_margin *margin, int64_t level, double mean, double variance);
/* E(x) when z ~ N(mean, variance). */
double sn_margin_expected(const sn_margin *margin, double mean, double variance);
