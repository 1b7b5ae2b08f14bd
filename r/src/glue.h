/*
 * What the files of the glue between R and stonet.h share.
 *
 * R leaves a C function by longjmp when it raises an error or runs out of memory, so that nothing of the
 * library's may be held by a C variable alone while R is called: every handle belongs to an external pointer
 * with a finalizer, made before the handle is. No function here raises an R error for a failure of the
 * library; it returns failure(status), which R turns into a condition of class stonet_error.
 */
#ifndef STONET_R_GLUE_H
#define STONET_R_GLUE_H

#include <stdbool.h>

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

#include "stonet/stonet.h"

/* ---- handles ----------------------------------------------------------------------------------- */

typedef void (*free_function)(void *handle);

/* An empty external pointer of this kind, to be filled by handle_fill; `keep` lives as long as it does. */
SEXP handle_new(const char *kind, SEXP keep);
SEXP handle_fill(SEXP pointer, void *handle);
/* What is in it; NULL when it is of another kind, or came out of a file. */
void *handle_get(SEXP pointer, const char *kind);
/* Frees what is in it now. */
void handle_clear(SEXP pointer);

/* A list of class stonet_failure: a word for the status and stonet_last_error(). */
SEXP failure(stonet_status status);
/* The same where the glue runs out of memory itself. */
SEXP out_of_memory(const char *sentence);

/* ---- runs ---------------------------------------------------------------------------------------- */

/* The stonet_run behind an external pointer of kind "run". */
const stonet_run *run_get(SEXP pointer);

/* ---- R from C and back --------------------------------------------------------------------------- */

/* Text in UTF-8, which lives until the .Call returns. */
const char *text_of(SEXP string);
const char **texts_of(SEXP strings);
/* A setting as the library reads it: numbers exactly, lists by commas, NULL as "none". */
const char *setting_text(SEXP value);
/* Row-major numbers, rows x columns, as a matrix of R. */
SEXP matrix_of(const double *values, int64_t rows, int64_t columns);
/* The other way round: the numbers of a matrix of R, row-major; they live until the .Call returns. */
double *rows_of(SEXP matrix);
/* A whole number of R, given as a double because integers of R end at 2^31. */
int64_t whole(SEXP number);
/* The number of threads that a caller asks for, as far as this process can have them. */
int threads_of(SEXP number);
void convert_init(void); /* to be called once, when the package is loaded */
/* The text as R: objects are named lists, arrays vectors where they can be, arrays of like objects lists of
   columns. Frees the text. NULL is the library's failure. */
SEXP json_take(char *text);
/* A spec handle with the method and a named list of settings, or a failure. */
SEXP spec_make(SEXP method, SEXP settings);
bool is_failure(SEXP value);

/* ---- what R calls --------------------------------------------------------------------------------- */

SEXP r_version(void);
SEXP r_methods(void);
SEXP r_generators(void);
SEXP r_run(SEXP seed, SEXP threads, SEXP verbose, SEXP screen);
SEXP r_run_said(SEXP run);
SEXP r_table(SEXP columns, SEXP targets, SEXP names, SEXP rows, SEXP model, SEXP weights, SEXP groups);
SEXP r_subset(SEXP table, SEXP rows);
SEXP r_fit(SEXP method, SEXP settings, SEXP table, SEXP run);
SEXP r_refit(SEXP model, SEXP table, SEXP run);
SEXP r_needs_response(SEXP method, SEXP settings);
SEXP r_model_bytes(SEXP model);
SEXP r_model_from_bytes(SEXP bytes);
SEXP r_model_save(SEXP model, SEXP path, SEXP note);
SEXP r_model_load(SEXP path);
SEXP r_model_export(SEXP model, SEXP format, SEXP name, SEXP path);
SEXP r_model_info(SEXP model);
SEXP r_model_is_there(SEXP model);
SEXP r_calibrate(SEXP model, SEXP table, SEXP kind, SEXP folds, SEXP sets, SEXP run);
SEXP r_transform(SEXP model, SEXP table, SEXP draws, SEXP activated, SEXP seed, SEXP threads);
SEXP r_transform_se(SEXP model, SEXP train, SEXP table, SEXP refits, SEXP run);
SEXP r_predict(SEXP model, SEXP table, SEXP what, SEXP level, SEXP by_class, SEXP threads);
SEXP r_score(SEXP model, SEXP table, SEXP level, SEXP by_class, SEXP threads);
SEXP r_survival(SEXP model, SEXP table, SEXP times, SEXP threads);
SEXP r_met(SEXP model, SEXP table);
SEXP r_check_rows(SEXP model, SEXP table, SEXP run);
SEXP r_order(SEXP method, SEXP settings, SEXP table, SEXP options, SEXP run);
SEXP r_coef(SEXP model, SEXP table, SEXP pairs, SEXP run);
SEXP r_importance(SEXP model, SEXP table, SEXP train, SEXP kind, SEXP repeats, SEXP run);
SEXP r_tune(SEXP method, SEXP settings, SEXP table, SEXP options, SEXP run);
SEXP r_compare(SEXP methods, SEXP settings, SEXP table, SEXP test, SEXP options, SEXP run);
SEXP r_independence(SEXP x, SEXP y, SEXP z, SEXP options, SEXP run);
SEXP r_sufficiency(SEXP model, SEXP table, SEXP run);
SEXP r_generate(SEXP name, SEXP rows, SEXP seed);

#endif
