/*
 * The response as the network sees it.
 *
 * mean: the numbers themselves. The outputs are then E(Y|x), and what x does to the spread or the shape of Y
 * is invisible.
 *
 * ensemble: functions g(Y) that together tell one law of Y from another. Of each target the Legendre
 * polynomials of degree 1 .. 4 of its ranks (location, spread, skewness, kurtosis), which are uncorrelated
 * with variance 1 and know no long tails; of several targets also the products of the first of two. Whitened:
 *
 *     g = map (features(y) - mean)            m outputs of variance 1
 *
 * so that no function counts for more than another. E(g(Y)|x) is what the law of Y given x looks like, and
 * its q leading principal components are Z (stonet/axes.h). Y itself, which may be all noise, is not among
 * them: E(Y|x) = intercept + coef psi(Y_h) by a ridge regression after the fit (the head).
 *
 * location-scale: mu and eta, the log variance, of each target (net/loss.h): twice as many outputs, with y
 * and 0 as their targets, for the log variance has none of its own. Z is again principal components, of (mu,
 * eta).
 *
 * Responses that are seen in part, and counts, have a law (stats/law.h): the network has one output, the mean
 * of what the trainer draws for it (stonet/latent.h), and the law says what that means. An ensemble of
 * times has the first two functions above, location and spread, of drawn times. There is no head: the law
 * says what the outputs mean.
 */
#pragma once

#include "base/words.h"
#include "data/problem.h"

typedef enum sn_response_kind {
    SN_RESPONSE_MEAN,
    SN_RESPONSE_ENSEMBLE,
    SN_RESPONSE_LOCATION_SCALE
} sn_response_kind;
#define SN_RESPONSE_WORDS(between) "mean" between "ensemble" between "location-scale"
extern const sn_words sn_response_words;

typedef struct sn_response {
    sn_response_kind kind;
    int64_t targets, outputs; /* of the data, of the network */
    /* ensemble: */
    int64_t features;
    double *knot, *level; /* targets x SN_RESPONSE_KNOTS: values of y, ascending, and their ranks in (0, 1) */
    double *mean;         /* features */
    double *map;          /* outputs x features */
    int64_t units;        /* of the layer that the head is on */
    double *coef;         /* targets x units */
    double *intercept;    /* targets */
    /* of a response with a law (stats/law.h): */
    const sn_law *law;                   /* NULL: it has none */
    double parameter[SN_LAW_PARAMETERS]; /* given the fitted network */
} sn_response;

enum { SN_RESPONSE_KNOTS = 256 };

/* The law that the setting names in place of the problem's own (law=auto). */
stonet_status sn_response_choose_law(const char *word, sn_problem *problem);
/* Learns the functions from the response of a problem. Free also after a failure. */
stonet_status sn_response_learn(sn_response_kind kind, const sn_problem *problem, sn_response *response);
/* The problem as the network sees its response; with a law: one output, with a first guess at it. What is new
   is in *room, to be freed (NULL: nothing is). */
stonet_status sn_response_see(const sn_response *response, const sn_problem *problem, sn_problem *seen,
                              double **room);
/* y (n x targets) as the network's n x outputs. */
stonet_status sn_response_encode(const sn_response *response, int64_t n, const double *y, double *out);
/* The head, from psi (n x units) and the response of these rows of the problem. */
stonet_status sn_response_fit_head(sn_response *response, const sn_problem *problem, const sn_rows *rows,
                                   int64_t units, const float *psi);
/* out n x targets, of psi n x units. */
void sn_response_predict(const sn_response *response, int64_t n, const float *psi, double *out);
void sn_response_free(sn_response *response);

/* As response, response_knots, response_levels, response_mean, response_map, head_coef and head_intercept;
   files without them have the mean. outputs and units: those of the network. */
stonet_status sn_response_put(const sn_response *response, sn_store *store);
stonet_status sn_response_get(const sn_store *store, int64_t outputs, int64_t units, sn_response *response);
