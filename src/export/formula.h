/*
 * A fitted model as a formula: the steps that lead from the encoded features of one row to Z and to the
 * answer.
 *
 *     step 0:  x                  the features, encoded, scaled and rounded to float
 *     step k:  v_k = f_k(v_i)     i < k, with numbers of its own
 *
 * What is exported is written from this list, whatever the method. All numbers are double.
 */
#pragma once

#include "base/workspace.h"
#include "net/conv.h"
#include "net/shape.h"

typedef enum sn_op {
    SN_OP_FEATURES,
    SN_OP_AFFINE,     /* matrix in + offset, of each of `runs` equal parts of in */
    SN_OP_SCALE,      /* factor in + offset, entry by entry */
    SN_OP_ACTIVATION, /* psi(in), entry by entry */
    SN_OP_KERNEL,     /* exp(-gamma |in - matrix row j|^2) */
    SN_OP_COLUMNS,    /* in[column k] */
    SN_OP_JOIN,       /* in, then other */
    SN_OP_LARGEST,    /* the largest of each of `width` equal parts of in */
    SN_OP_SOFTMAX,    /* exp(in_k) / sum */
    SN_OP_TEMPER,     /* in_k^(1/T) / sum */
    SN_OP_EXP         /* exp(in_k) */
} sn_op;
#define SN_OP_WORDS(between)                                                                                 \
    "features" between "affine" between "scale" between "activation" between "kernel" between                \
    "columns" between "join" between "largest" between "softmax" between "temper" between "exp"
extern const sn_words sn_op_words;

typedef struct sn_step {
    sn_op op;
    int in, other;         /* steps; other: of JOIN alone */
    int64_t inputs, width; /* length of `in` and of the result */
    int64_t runs;          /* AFFINE: parts of both, computed one by one; else 1 */
    const double *matrix;  /* AFFINE, KERNEL: (width / runs) x (inputs / runs) */
    const double *factor;  /* SCALE: width */
    const double *offset;  /* AFFINE, SCALE: width / runs */
    const int64_t *column; /* COLUMNS: width */
    double number;         /* KERNEL: gamma; TEMPER: 1/T */
    sn_activation activation;
} sn_step;

enum { SN_FORMULA_STEPS = 3 * SN_MAX_LAYERS + 5 * SN_CONV_STAGES };

typedef struct sn_formula {
    int count;
    sn_step step[SN_FORMULA_STEPS];
    int z;      /* the step that is Z */
    int answer; /* the step that is the answer in the end: probabilities, or numbers in units of y; -1: none
                 */
    sn_workspace keep; /* of all numbers */
} sn_formula;

/*
 * The formula of a fitted model, read off the entries that the model has in a file (docs/model-file.md), and
 * then held to the model: on random rows Z and the answer must be what the model gives, or there is no
 * formula. STONET_ERROR_UNSUPPORTED for what has no closed form. The formula must be zeroed, and is to be
 * freed also after a failure.
 */
stonet_status sn_closed_form(const stonet_model *model, sn_formula *formula);
void sn_formula_free(sn_formula *formula);

/* Rows and columns of the matrix of a step. */
int64_t sn_step_rows(const sn_step *step);
int64_t sn_step_columns(const sn_step *step);

/* Drops the steps that lead neither to Z nor to the answer. */
void sn_formula_prune(sn_formula *formula);
/* Sets needed[k] for the steps that lead to `step`. */
void sn_formula_needed(const sn_formula *formula, int step, bool needed[SN_FORMULA_STEPS]);
/* Whether Z and the answer are what the model gives, on random rows. A part of the model that the formula
   does not know of shows here, and not in the answers of whoever uses it. */
stonet_status sn_formula_check(const sn_formula *formula, const stonet_model *model);
