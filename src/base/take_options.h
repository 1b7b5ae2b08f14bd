/*
 * Structs of options that grow at their end: the caller says how large its struct is, and the library takes
 * what both know. Every public call that is given such a struct takes it once and hands the copy on.
 */
#pragma once

#include "base/status.h"

/* Copies the options `from` (NULL: none are given) over the defaults in `to`, which has `known` bytes; `type`
   names the struct in the sentence of a failure, which leaves `to` as it was. */
stonet_status sn_options_take(void *to, size_t known, const void *from, const char *type);

/* SN_TRY(SN_TAKE_OPTIONS(stonet_coef_options, STONET_COEF_OPTIONS_INIT, options, &how)): fills `how` with the
   defaults and then with what the caller gave (may be NULL). */
// NOLINTBEGIN(bugprone-macro-parentheses): neither a type nor an initialiser has any
#define SN_TAKE_OPTIONS(type, defaults, from, to)                                                            \
    (*(to) = (type)defaults, sn_options_take((to), sizeof *(to), (const type *){(from)}, #type))
// NOLINTEND(bugprone-macro-parentheses)

/* The same for structs of which more is checked. */
stonet_status sn_take_run(const stonet_run *from, stonet_run *to);
/* The same with checkpoint and team, for calls that heed them; for the others a run has none, nor for the
   fits inside them. */
stonet_status sn_take_kept_run(const stonet_run *from, stonet_run *to);
stonet_status sn_take_read_options(const stonet_read_options *from, stonet_read_options *to);
stonet_status sn_take_use_options(const stonet_use_options *from, stonet_use_options *to);
stonet_status sn_take_tune_options(const stonet_tune_options *from, stonet_tune_options *to);
