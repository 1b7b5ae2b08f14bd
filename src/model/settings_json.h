/* Settings and specs as JSON, and JSON texts for callers. */
#pragma once

#include <jansson.h>

#include "model/model.h"

/* An object name -> value with numbers as numbers; `all`: the defaults too. NULL when memory runs out. */
json_t *sn_settings_json(const sn_settings *settings, bool all);
/* Sets every entry of a JSON object of settings; `what` is for the error, e.g. "settings". */
stonet_status sn_settings_from_json(sn_settings *settings, const json_t *object, const char *what);
/* Prints and releases `json` (NULL is passed on with the sentence set). Free with stonet_string_free. */
char *sn_json_text(json_t *json, bool indent);
