/* The ascent of LSMIE from one start. */
#pragma once

#include "methods/lsmi.h"

/* What the user is told while several ascents run. */
typedef struct sn_lsmie_report {
    const stonet_run *run;
    double started;
    int64_t done, total; /* steps */
    bool stopped;        /* the caller wished so */
} sn_lsmie_report;

/*
 * The largest S(X B) over B (p x d) with orthonormal columns that is found from a start. S depends on the
 * span of B alone: conjugate gradients (Polak and Ribiere) on the Grassmann manifold, along geodesics
 *
 *     B(t) = B V cos(D t) + U sin(D t),   U D V' the direction,
 *
 * so that Z(t) = (X B V) cos(D t) + (X U) sin(D t) and a step length is tried without another pass over X.
 * The settings are chosen again by cross-validation every few steps.
 */
typedef struct sn_lsmie_ascent {
    const sn_problem *problem;
    sn_lsmi lsmi;
    sn_lsmi_grid grid; /* its choice, where there is one, is where tuning starts */
    int64_t p, d, iterations, tune_every;
    uint64_t seed;
    double tolerance; /* ends when the steps between two choices of settings gain less, relative to S + 1/2 */
    double value;     /* S at b */
    double loss; /* at the end of a climb: the cross-validated loss at b, with the settings chosen there */
    double *b;   /* p x d */
    /* Work space. */
    double *u, *gradient;        /* p x d */
    double *direction, *last;    /* p x d: last direction and gradient, carried to b */
    bool fresh;                  /* nothing is carried */
    double step;                 /* the last t */
    double *sigma, *vt;          /* of U D V': d, d x d */
    double *cosine, *sine;       /* d */
    double *z, *zu, *trial, *dz; /* n x d: X B, X U, Z(t), dS/dz */
    double *rows;                /* threads x BLOCK_ROWS x p */
    double *parts;               /* SN_LSMI_SLABS x p x d */
    double *copy;                /* max(n, p + d) x d */
} sn_lsmie_ascent;

/* Fill in problem, grid, d, iterations, tune_every, seed and tolerance before. The arrays lie in `keep`. */
stonet_status sn_lsmie_ascent_create(int64_t centres, sn_workspace *keep, sn_lsmie_ascent *ascent);
/* From ascent->b to a maximum, which takes its place. */
stonet_status sn_lsmie_climb(sn_lsmie_ascent *ascent, sn_lsmie_report *report);
