/* Tables of the library from matrices and columns of R. */
#include <stdio.h>

#include "glue.h"

/* The numbers of (part of) a vector: those of R themselves where it keeps doubles, else a copy that lives
   until the .Call returns. NA becomes NaN. */
static const double *numbers_of(SEXP column, R_xlen_t from, R_xlen_t rows)
{
    if (TYPEOF(column) == REALSXP) return REAL(column) + from;
    const int *values = (TYPEOF(column) == LGLSXP ? LOGICAL(column) : INTEGER(column)) + from;
    double *numbers = (double *)R_alloc((size_t)rows + 1, sizeof *numbers);
    for (R_xlen_t i = 0; i < rows; i++) numbers[i] = values[i] == NA_INTEGER ? R_NaN : (double)values[i];
    return numbers;
}

/* Codes of R count from 1, and NA is the smallest integer there is. */
static const int32_t *codes_of(SEXP factor, R_xlen_t rows)
{
    int32_t *codes = (int32_t *)R_alloc((size_t)rows + 1, sizeof *codes);
    for (R_xlen_t i = 0; i < rows; i++)
        codes[i] = INTEGER(factor)[i] == NA_INTEGER ? -1 : INTEGER(factor)[i] - 1;
    return codes;
}

static stonet_status add_column(stonet_columns *table, const char *name, SEXP column)
{
    const R_xlen_t rows = Rf_xlength(column);
    if (Rf_inherits(column, "factor")) {
        SEXP levels = Rf_getAttrib(column, R_LevelsSymbol);
        return stonet_data_add_codes(table, name, codes_of(column, rows), texts_of(levels),
                                     Rf_xlength(levels), Rf_inherits(column, "ordered"));
    }
    if (Rf_inherits(column, "Date")) return stonet_data_add_dates(table, name, numbers_of(column, 0, rows));
    return stonet_data_add_numbers(table, name, numbers_of(column, 0, rows));
}

static stonet_status add_columns(stonet_columns *table, SEXP columns, const char **names, R_xlen_t rows)
{
    if (Rf_isNull(columns)) return STONET_OK;
    const bool is_list = TYPEOF(columns) == VECSXP;
    const R_xlen_t count = is_list ? Rf_xlength(columns) : Rf_ncols(columns);
    stonet_status status = STONET_OK;
    for (R_xlen_t j = 0; status == STONET_OK && j < count; j++) {
        const char *name = names != NULL ? names[j] : NULL;
        status = is_list ? add_column(table, name, VECTOR_ELT(columns, j))
                         : stonet_data_add_numbers(table, name, numbers_of(columns, j * rows, rows));
    }
    return status;
}

/* "p+1,p+2,..": the targets come after the features, and their names may hold anything. */
static const char *target_numbers(R_xlen_t features, R_xlen_t targets)
{
    if (targets == 0) return NULL;
    const size_t size = (size_t)targets * 24;
    char *text = R_alloc(size, 1);
    size_t end = 0;
    for (R_xlen_t k = 1; k <= targets; k++)
        end += (size_t)snprintf(text + end, size - end, k > 1 ? ",%lld" : "%lld", (long long)(features + k));
    return text;
}

/* columns: a matrix, or a list of vectors; targets: a list of vectors; names: of all of them, or NULL; model:
   the one that the rows are for, or NULL; weights and groups: of the rows, or NULL. */
SEXP r_table(SEXP columns, SEXP targets, SEXP names, SEXP rows, SEXP model, SEXP weights, SEXP groups)
{
    SEXP given = PROTECT(handle_new("columns", R_NilValue));
    SEXP pointer = PROTECT(handle_new("data", R_NilValue));
    const R_xlen_t n = (R_xlen_t)whole(rows);
    const R_xlen_t p = TYPEOF(columns) == VECSXP ? Rf_xlength(columns) : Rf_ncols(columns);
    const char **texts = Rf_isNull(names) ? NULL : texts_of(names);
    stonet_read_options options = STONET_READ_OPTIONS_INIT;
    options.target = target_numbers(p, Rf_xlength(targets));
    options.open_target = 1; /* R has refused missing responses; what is left are open ends of times */
    stonet_columns *table = NULL;
    stonet_data *data = NULL;
    stonet_status status = stonet_data_begin(n, &table);
    handle_fill(given, table);
    if (status == STONET_OK) status = add_columns(table, columns, texts, n);
    if (status == STONET_OK) status = add_columns(table, targets, texts != NULL ? texts + p : NULL, n);
    if (status == STONET_OK)
        status = Rf_isNull(model) ? stonet_data_end(table, &options, &data)
                                  : stonet_data_end_for(handle_get(model, "model"), table, &options, &data);
    handle_fill(pointer, data);
    handle_clear(given);
    if (status == STONET_OK && !Rf_isNull(weights)) status = stonet_data_set_weights(data, REAL(weights));
    if (status == STONET_OK && !Rf_isNull(groups)) {
        int64_t *number = (int64_t *)R_alloc((size_t)n, sizeof *number);
        for (R_xlen_t i = 0; i < n; i++) number[i] = INTEGER(groups)[i];
        status = stonet_data_set_groups(data, number);
    }
    SEXP result = status == STONET_OK ? pointer : failure(status);
    UNPROTECT(2);
    return result;
}

/* Some rows of a table, by their numbers from 1. */
SEXP r_subset(SEXP table, SEXP rows)
{
    SEXP pointer = PROTECT(handle_new("data", R_NilValue));
    const R_xlen_t count = Rf_xlength(rows);
    int64_t *number = (int64_t *)R_alloc((size_t)count + 1, sizeof *number);
    for (R_xlen_t i = 0; i < count; i++) number[i] = INTEGER(rows)[i] - 1;
    stonet_data *part = NULL;
    const stonet_status status = stonet_data_subset(handle_get(table, "data"), number, count, &part);
    handle_fill(pointer, part);
    SEXP result = status == STONET_OK ? pointer : failure(status);
    UNPROTECT(1);
    return result;
}
