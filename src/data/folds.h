/*
 * Folds: rows cut into parts, each held out in turn while the others are trained on. Everyone who holds out
 * rows does it here. Rows that belong together (data/kin.h) are never parted, and of exact copies one is held
 * out.
 */
#pragma once

#include "data/problem.h"
#include "data/rows.h"

typedef struct sn_fold {
    sn_rows train, test;
    int64_t *lists[2]; /* behind them */
    int64_t first;     /* where its held-out rows begin among those of all folds */
} sn_fold;

typedef struct sn_folds {
    int count;
    sn_fold *fold;
    int64_t rows;   /* held out in all */
    int64_t *kin;   /* (rows) of each held-out row: the next one that belongs with it, -1 at the last; */
    bool *is_first; /* (rows) whether none before does. Both NULL: every row is alone */
    double average; /* weight of a held-out row */
} sn_folds;

typedef struct sn_fold_plan {
    int count;      /* folds; fewer where there are fewer rows or kin, */
    bool exactly;   /* or an error */
    bool by_class;  /* each class is spread evenly, and one of a single row or kin is never held out; else the
                       response has no say */
    int64_t most;   /* rows that a fold holds out; 0: any number */
    int64_t enough; /* held-out rows, after which no more folds are made; 0: all are */
} sn_fold_plan;

/* Of some rows of a problem, by its classes and kin, keyed by the seed. Free also after a failure. */
stonet_status sn_folds_cut(const sn_problem *problem, const sn_rows *rows, const sn_fold_plan *plan,
                           uint64_t seed, sn_folds *folds);
void sn_folds_free(sn_folds *folds);
/* Held-out rows of the first `count` folds. */
int64_t sn_folds_rows(const sn_folds *folds, int count);
/* The weight of a row among the held-out ones. */
double sn_folds_weight(const sn_folds *folds, const sn_problem *problem, int64_t row);
