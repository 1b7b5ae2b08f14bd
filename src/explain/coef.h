/* The derivatives that stonet_coef_* averages; its tests ask for them as they are. */
#pragma once

#include "model/model.h"

/* Derivatives of Z at the rows of data (2000 of them at most), by central differences of features as the
   model scales them: mean (p x q) and G = mean J'J (p x p). */
stonet_status sn_coef_gradients(const stonet_model *model, const stonet_data *data, const stonet_run *run,
                                double *mean, double *outer);
