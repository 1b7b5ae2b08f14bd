/*
 * What a model knows of its own errors: scores of rows that were held out, and the models that held them out.
 *
 * A member is a model fitted on a part of the training rows; its classes are some of the model's. Without
 * members (kind "fresh") the model itself predicted rows that it had not seen.
 */
#pragma once

#include "model/model.h"

typedef enum sn_calibration_kind {
    SN_CALIBRATION_CV,    /* a member for each fold */
    SN_CALIBRATION_SPLIT, /* one member */
    SN_CALIBRATION_FRESH  /* none */
} sn_calibration_kind;
#define SN_CALIBRATION_WORDS(between) "cv+" between "split" between "fresh"
extern const sn_words sn_calibration_words;

typedef enum sn_score_kind {
    SN_SCORE_RESIDUAL,   /* |y - f(x)|, in units of y */
    SN_SCORE_NORMALISED, /* the same over the spread that the model says y has at x */
    SN_SCORE_APS,        /* stats/conformal.h */
    SN_SCORE_LAC
} sn_score_kind;
#define SN_SCORE_WORDS(between) "residual" between "normalised" between "aps" between "lac"
extern const sn_words sn_score_words;

typedef struct sn_calibration {
    sn_calibration_kind kind;
    sn_score_kind score_kind;
    int64_t n_members;
    stonet_model **member;
    int64_t rows;
    double *score;                     /* numbers: outputs x rows; classes: rows, of the true class */
    int32_t *member_of;                /* rows: who held it out; 0 without members */
    int32_t *label;                    /* rows; classes alone */
    double temperature;                /* classes */
    double *residual_variance;         /* outputs: mean square of y - f(x), for numbers */
    struct sn_held_out_spread *spread; /* cv+ of numbers: scores are also over this one; NULL: they are not */
} sn_calibration;

/* An empty one with room for the rows. */
stonet_status sn_calibration_create(const stonet_model *model, int64_t n_members, int64_t rows,
                                    sn_calibration **out);
void sn_calibration_free(sn_calibration *calibration);
SN_DROP(sn_calibration, sn_calibration_free)
/* Lists of scores, one for each model that predicts (see below); 1 when there are no members. */
int64_t sn_calibration_lists(const sn_calibration *calibration);
/* Who predicts for list l: a member, or the model itself. */
const stonet_model *sn_calibration_asked(const stonet_model *model, const sn_calibration *calibration,
                                         int64_t l);

/* Under the prefix "calibration." Loading checks everything against the model, which has its other parts. */
stonet_status sn_calibration_save(const sn_calibration *calibration, const stonet_model *model,
                                  sn_store *store);
stonet_status sn_calibration_load(const sn_store *store, const stonet_model *model, sn_calibration **out);

/* Rows predicted at a time, so that memory stays flat. */
int64_t sn_calibration_block(const stonet_model *model);
/* Whether the model says how much y spreads at x, so that its intervals can be wide here and narrow there. */
bool sn_calibration_has_spread(const stonet_model *model);
/* What `asked` says of rows first .. first + count - 1, in the classes and units of `model`: out is
   count x outputs of the model; a class that `asked` has never met has probability 0. spread, of the same
   size, is NULL unless scores are normalised. */
stonet_status sn_calibration_ask(const stonet_model *model, const stonet_model *asked,
                                 const stonet_data *data, int64_t first, int64_t count, double *out,
                                 double *spread);
/* Whether scores are over a spread: that of the models, or the one learned from held-out rows. */
bool sn_calibration_uses_spread(const sn_calibration *calibration);
/* What the model of each list says: out and, if scores are over one, spread are lists x count x outputs. */
stonet_status sn_calibration_ask_all(const stonet_model *model, const stonet_data *data, int64_t first,
                                     int64_t count, double *out, double *spread);
/*
 * u (count): uniform numbers in (0, 1) that depend on the features of the row alone. A score that uses them
 * is still a function of (x, y), so the guarantee holds, and no answer depends on the order of the rows. All
 * members share the number of a row: with one each, ranks would be means over them, and sets too large.
 */
stonet_status sn_calibration_uniforms(const stonet_model *model, const stonet_data *data, int64_t first,
                                      int64_t count, double *u);
/* Scores of all classes of one row by its probabilities; order has room for the classes. */
void sn_calibration_class_scores(sn_score_kind kind, int64_t classes, const double *p, double u,
                                 int64_t *order, double *score);
