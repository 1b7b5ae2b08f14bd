/* Model files of older formats, told in the words of today's. What old formats looked like is known here
 * alone. */
#pragma once

#include <jansson.h>

#include "base/store.h"

/* The format that is written; raised when a file of the new kind cannot be read by the old code. */
enum { SN_MODEL_FORMAT = 2 };

/* A store of today's format with what `old`, of format 1, says. The caller frees it. */
stonet_status sn_model_upgrade_1(const sn_store *old, sn_store **out);
/* Leaves out of the settings of a model what could be left open before 0.3 and cannot any more. */
void sn_model_upgrade_settings(json_t *settings);
