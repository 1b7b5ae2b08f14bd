/* Building JSON of which nothing is missing: every part that cannot be had makes the whole NULL. */
#pragma once

#include <jansson.h>

#include "base/memory.h"

SN_DROP(json_t, json_decref)
/* Adds a value to a list, or to an object under a key, and returns the container; the value then belongs to
   it. Returns NULL and frees both when the value or the container is NULL or memory runs out. So a whole
   structure is built without checks in between, and only the end is checked. */
json_t *sn_json_add(json_t *list, json_t *value);
json_t *sn_json_put(json_t *object, const char *key, json_t *value);
/* Puts all entries of `more`, which is dropped, into the object. */
json_t *sn_json_join(json_t *object, json_t *more);
/* null for what is no number in JSON. */
json_t *sn_json_number(double value);
/* The text of a value, to be freed by free(); NULL when memory runs out or the value is NULL. Not json_dumps:
   that one leaves out what it finds no memory for, and says nothing (Jansson 2.14). */
char *sn_json_print(const json_t *json, size_t flags);
/* The sentence about memory, for what could not be built or printed. */
stonet_status sn_json_failed(void);
/* What to return about a text that could not be parsed: the sentence about memory if that was the reason,
   else `status`, with the sentence that the caller has made. */
stonet_status sn_json_unread(const json_error_t *error, stonet_status status);
