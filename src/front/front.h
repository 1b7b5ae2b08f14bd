/*
 * What lies between the rows and layer 1: u = g(x), a function of x alone.
 *
 *     x (p) --front--> u (d_0) --layer 1--> Y_1 ..
 *
 * Given u the network is a StoNet as any other, so Y_h stays sufficient, and the engine never hears of the
 * front: it is given u for x. Before a training all rows pass the front once (sn_front_problem); in use, the
 * rows of a block do. A front that learns with the network (front/front_gradient.h) also carries the gradient
 * w_1' r_1 in u back to its own parameters.
 */
#pragma once

#include "base/memory.h"
#include "base/store.h"
#include "base/words.h"
#include "net/shape.h"

typedef struct sn_front sn_front;

typedef enum sn_front_kind {
    SN_FRONT_NONE,
    SN_FRONT_KERNEL,
    SN_FRONT_COLUMNS,
    SN_FRONT_COMPONENTS,
    SN_FRONT_CONV
} sn_front_kind;
#define SN_FRONT_WORDS(between) "none" between "kernel" between "columns" between "components" between "conv"
extern const sn_words sn_front_words;

/* A front that is still to be made from rows. */
typedef struct sn_front_recipe {
    sn_front_kind kind; /* not SN_FRONT_CONV, which has a way of its own (choice/conv_fit.h) */
    double complexity;  /* of a kernel, and the share of x itself beside it */
    double linear;
    int64_t size; /* landmarks, columns or components, at most */
} sn_front_recipe;

bool sn_front_recipe_same(const sn_front_recipe *a, const sn_front_recipe *b);
/* *out is NULL for SN_FRONT_NONE. Columns look at the response of these rows. */
stonet_status sn_front_make(const sn_front_recipe *recipe, const sn_problem *problem, const sn_rows *rows,
                            uint64_t seed, sn_front **out);

typedef struct sn_front_ops {
    const char *name; /* the word in model files */
    /* u (n x outputs) of x (n x inputs), on the OpenMP threads of the calling thread. */
    stonet_status (*apply)(const sn_front *front, int64_t n, const float *x, float *u);
    /* The numbers by which mu_1 = b_1 + w_1 u comes from x without u, for a network without input activation:
       freed by the caller. NULL: there is no such way. */
    stonet_status (*fold)(const sn_front *front, const sn_shape *shape, const float *theta, double **folded);
    /* mu_1 (n x d_1) of x by these numbers. */
    stonet_status (*first_layer)(const sn_front *front, const sn_shape *shape, const double *folded,
                                 int64_t n, const float *x, float *mu);
    /* Entries of its own, beside those of the network. */
    stonet_status (*save)(const sn_front *front, sn_store *store);
    stonet_status (*load)(const sn_store *store, sn_front **out);
    void (*free)(sn_front *front);
} sn_front_ops;

/* The head of every front. */
struct sn_front {
    const sn_front_ops *ops;
    int64_t inputs, outputs; /* p and d_0 */
    int64_t parameters;      /* of one that learns */
    float *theta;
};

/* The rows of a problem with u for their features; front NULL: the problem as it is. Missing cells are at
   what is expected of them; those of the rows `drawn` (NULL: none) are drawn, once. */
stonet_status sn_front_problem(const sn_front *front, const sn_problem *problem, const sn_rows *drawn,
                               sn_problem *out);
/* Again, after the front has learned, into the same place. */
stonet_status sn_front_refill(const sn_front *front, const sn_problem *problem, const sn_problem *seen);
/* Lets go of what sn_front_problem made of a problem; also after it failed. */
void sn_front_problem_free(const sn_problem *problem, sn_problem *seen);

/* The entry "front" and those of the front itself; none for NULL. */
stonet_status sn_front_put(const sn_front *front, sn_store *store);
stonet_status sn_front_get(const sn_store *store, sn_front **out);
void sn_front_free(sn_front *front); /* NULL is fine */
/* For those who make fronts: *out is the front, or NULL where that failed, and the front is freed. */
stonet_status sn_front_hand_out(stonet_status status, sn_front *front, sn_front **out);
SN_DROP(sn_front, sn_front_free)

extern const sn_front_ops sn_front_kernel, sn_front_columns, sn_front_components, sn_front_conv;
