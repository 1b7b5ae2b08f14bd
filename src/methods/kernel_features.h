/* Kernel functions at landmarks as features of the rows. */
#pragma once

#include "math/kernel_lowrank.h"
#include "methods/kernel_input.h"

/* Centred landmark features of the training rows. */
typedef struct sn_features {
    sn_landmarks landmarks;
    double *phi;  /* n x landmarks.rank, columns with mean 0 */
    double *mean; /* landmarks.rank: what was subtracted */
} sn_features;

/* What is found lies in `keep`. */
stonet_status sn_features_create(const sn_kernel_input *input, sn_workspace *keep, sn_features *features);
