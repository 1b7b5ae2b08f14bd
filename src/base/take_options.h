/*
 * Structs of options that grow at their end: the caller says how large its struct is, and the library takes
 * what both know. Every public call that is given such a struct takes it once and hands the copy on.
 */
#pragma once

#include "base/status.h"

/* Copies the options `from` (NULL: none are given) over the defaults in `to`, which has `known` bytes; `type`
   names the struct in the sentence of a failure, which leaves `to` as it was. */
stonet_status sn_options_take(void *to, size_t known, const void *from, const char *type);

/* One for each struct: fills `to` with the defaults and then with what the caller gave (may be NULL). */
stonet_status sn_take_run(const stonet_run *from, stonet_run *to);
/* The same with checkpoint and team, for calls that heed them; for the others a run has none, nor for the
   fits inside them. */
stonet_status sn_take_kept_run(const stonet_run *from, stonet_run *to);
stonet_status sn_take_read_options(const stonet_read_options *from, stonet_read_options *to);
stonet_status sn_take_use_options(const stonet_use_options *from, stonet_use_options *to);
stonet_status sn_take_tune_options(const stonet_tune_options *from, stonet_tune_options *to);
stonet_status sn_take_compare_options(const stonet_compare_options *from, stonet_compare_options *to);
stonet_status sn_take_order_options(const stonet_order_options *from, stonet_order_options *to);
stonet_status sn_take_importance_options(const stonet_importance_options *from,
                                         stonet_importance_options *to);
stonet_status sn_take_coef_options(const stonet_coef_options *from, stonet_coef_options *to);
stonet_status sn_take_calibrate_options(const stonet_calibrate_options *from, stonet_calibrate_options *to);
stonet_status sn_take_report_options(const stonet_report_options *from, stonet_report_options *to);
stonet_status sn_take_independence_options(const stonet_independence_options *from,
                                           stonet_independence_options *to);
