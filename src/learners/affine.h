/* The map z -> coef z + intercept that linear and logistic regression come to. */
#pragma once

#include "base/store.h"

typedef struct sn_affine {
    int64_t inputs, outputs;
    double *coef;      /* outputs x inputs */
    double *intercept; /* outputs */
} sn_affine;

stonet_status sn_affine_create(sn_affine *affine, int64_t inputs, int64_t outputs);
void sn_affine_clear(sn_affine *affine);
/* out n x outputs for z n x inputs. */
stonet_status sn_affine_apply(const sn_affine *affine, const float *z, int64_t n, double *out);
/* As "coef" and "intercept". */
stonet_status sn_affine_save(const sn_affine *affine, sn_store *store);
stonet_status sn_affine_load(const sn_store *store, sn_affine *affine);
