/* The formula of a fitted model. */
#pragma once

#include "export/formula.h"
#include "model/model.h"

/*
 * Reads the formula off the entries that the model has in a file (docs/model-file.md), and then holds it to
 * the model: on random rows Z and the answer must be what the model gives, or there is no formula.
 * STONET_ERROR_UNSUPPORTED for what has no closed form. The formula must be zeroed, and is to be freed also
 * after a failure.
 */
stonet_status sn_closed_form(const stonet_model *model, sn_formula *formula);
