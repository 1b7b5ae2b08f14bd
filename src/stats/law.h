/*
 * Responses that are not one number with a symmetric error: a law says how the network's one output mu leads
 * to what is seen of a row, `seen`, two numbers. A new law is a file and a line of the table in law.c.
 *
 *     times, intervals   y = mu + shift + s e is seen as low <= y <= high (equal: y itself); y a log time
 *     ordered            y = mu + e is seen as t_{c-1} < y <= t_c: the class c, with thresholds t; scale 1
 *     counts             k ~ Poisson or negative binomial with mean exp(mu + shift + offset)
 *
 * shift, log s, the thresholds and the dispersion are the parameters of the law. Given the outputs of some
 * rows they are found by maximum likelihood (sn_law_fit), and are not trained with the network.
 *
 * A network with several outputs o says of times where they lie by the first, and how they spread by the
 * second: mu = b o_1, and log s has d o_2 more. b and d are parameters too, after shift and log s.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/words.h"
#include "stats/errors.h"

typedef enum sn_law_kind {
    SN_LAW_NONE, /* numbers or classes as they are */
    SN_LAW_TIMES,
    SN_LAW_INTERVALS,
    SN_LAW_COUNTS,
    SN_LAW_ORDERED
} sn_law_kind;
#define SN_LAW_KIND_WORDS(between)                                                                           \
    "none" between "survival" between "interval" between "count" between "ordinal"
extern const sn_words sn_law_kind_words;

/* The setting `law`; auto: normal for times, logistic for ordered classes, Poisson for counts. */
#define SN_LAW_WORDS "auto|normal|logistic|extreme|poisson|negbin"

enum {
    SN_LAW_SEEN = 2,       /* numbers of a row */
    SN_LAW_PARAMETERS = 64 /* at most */
};

/* Rows that the parameters are fitted on. */
typedef struct sn_law_sample {
    int64_t n;
    const double *seen;   /* n x SN_LAW_SEEN */
    const double *mu;     /* n x outputs; NULL: 0 */
    const double *weight; /* n; NULL: 1 */
    int64_t outputs;      /* of the network; 0: one */
    bool spreads;         /* of several outputs: d is fitted; else 0 */
} sn_law_sample;

typedef struct sn_law sn_law;
/* How many parameters are fitted, with values to begin at. A network may have any constant in its outputs,
   which the law takes out again: so they begin at the mean output. */
typedef int sn_law_start(const sn_law *law, const sn_law_sample *sample, double *parameter);
/* Minus the log likelihood of a row; slope, if not NULL, gets its derivative by each parameter. */
typedef double sn_law_loss(const sn_law *law, const double *seen, double mu, const double *parameter,
                           double *slope);
/* The residual y - mu that the network is to see: a draw given u in (0, 1), whose mean over u is the slope of
   the log likelihood by mu times the law's own scale; u = 0: that mean. */
typedef double sn_law_pull(const sn_law *law, const double *seen, double mu, const double *parameter,
                           double u);
/* What is predicted: the median y, the log of the mean count, or the probabilities of `outputs` classes. */
typedef void sn_law_answer(const sn_law *law, double mu, const double *parameter, int64_t outputs,
                           double *out);
struct sn_law {
    const char *word; /* of the setting */
    unsigned kinds;   /* 1 << sn_law_kind */
    sn_errors errors; /* of y; counts: not used */
    sn_law_start *start;
    sn_law_loss *loss;
    sn_law_pull *pull;
    sn_law_answer *answer;
};

/* NULL: the kind has no such law. */
const sn_law *sn_law_find(sn_law_kind kind, const char *word);

sn_law_kind sn_law_kind_of(const sn_law *law); /* the first of its kinds */

/* The outputs of a network for a row as the law takes them: mu, and in `own` the row's shift and log s. Gives
   the parameters of the row: own, or of a single output the law's. */
const double *sn_law_read(int64_t outputs, const float *out, const double *parameter, double *own,
                          double *mu);

/* A time within its bounds, given u in (0, 1). */
double sn_law_draw_time(const sn_law *law, const double *seen, double mu, const double *parameter, double u);

/* What a network is trained on in place of a time: functions of it. */
typedef void sn_law_functions(const void *of, double y, double *out);

/* The parameters by Newton's steps, with the mean outer product of the slopes for the curvature. They begin
   where they are, or (fresh) anew. */
void sn_law_fit(const sn_law *law, const sn_law_sample *sample, bool fresh, double *parameter);

/* The scale of times, the dispersion of counts (0: Poisson). */
double sn_law_scale(const sn_law *law, const double *parameter);

/* The laws' own functions; and the mean mu, with which those to start begin. */
double sn_law_mean_mu(const sn_law_sample *sample);
sn_law_start sn_law_times_start, sn_law_ordered_start, sn_law_counts_start;
sn_law_loss sn_law_times_loss, sn_law_ordered_loss, sn_law_counts_loss;
sn_law_pull sn_law_times_pull, sn_law_ordered_pull, sn_law_counts_pull;
sn_law_answer sn_law_times_answer, sn_law_ordered_answer, sn_law_counts_answer;
