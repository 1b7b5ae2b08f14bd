/* JSON of the library as values of R. */
#include <jansson.h>

#include "glue.h"

static SEXP value_of(const json_t *json);

/* What all the values are, nulls aside: a number, a text, a truth value; else 0. */
static int common_kind(const json_t *const *values, size_t count)
{
    int kind = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *value = values[i];
        const int own = json_is_number(value)    ? 'n'
                        : json_is_string(value)  ? 's'
                        : json_is_boolean(value) ? 'b'
                        : json_is_null(value)    ? kind
                                                 : 'o';
        if (own == 'o' || (kind != 0 && own != kind)) return 0;
        kind = own;
    }
    return kind != 0 ? kind : 'n'; /* nulls alone are numbers that are not there */
}

static SEXP string_of(const json_t *value)
{
    return json_is_null(value) ? NA_STRING : Rf_mkCharCE(json_string_value(value), CE_UTF8);
}

static SEXP vector_of(const json_t *const *values, size_t count)
{
    const int kind = common_kind(values, count);
    const SEXPTYPE type = kind == 'n' ? REALSXP : kind == 's' ? STRSXP : kind == 'b' ? LGLSXP : VECSXP;
    SEXP vector = PROTECT(Rf_allocVector(type, (R_xlen_t)count));
    for (size_t i = 0; i < count; i++) {
        const R_xlen_t at = (R_xlen_t)i;
        if (kind == 'n')
            REAL(vector)[i] = json_is_null(values[i]) ? NA_REAL : json_number_value(values[i]);
        else if (kind == 's')
            SET_STRING_ELT(vector, at, string_of(values[i]));
        else if (kind == 'b')
            LOGICAL(vector)[i] = json_is_null(values[i]) ? NA_LOGICAL : json_is_true(values[i]);
        else
            SET_VECTOR_ELT(vector, at, value_of(values[i]));
    }
    UNPROTECT(1);
    return vector;
}

/* Whether all are objects with the keys of the first, in its order. */
static bool is_table(const json_t *array)
{
    const size_t count = json_array_size(array);
    json_t *first = json_array_get(array, 0);
    if (!json_is_object(first)) return false;
    for (size_t i = 1; i < count; i++) {
        json_t *row = json_array_get(array, i);
        if (!json_is_object(row) || json_object_size(row) != json_object_size(first)) return false;
        void *a = json_object_iter(first), *b = json_object_iter(row);
        for (; a != NULL; a = json_object_iter_next(first, a), b = json_object_iter_next(row, b))
            if (strcmp(json_object_iter_key(a), json_object_iter_key(b)) != 0) return false;
    }
    return true;
}

static SEXP table_of(const json_t *array)
{
    const size_t rows = json_array_size(array);
    json_t *first = json_array_get(array, 0);
    const R_xlen_t columns = (R_xlen_t)json_object_size(first);
    SEXP list = PROTECT(Rf_allocVector(VECSXP, columns)), names = PROTECT(Rf_allocVector(STRSXP, columns));
    const json_t **cell = (const json_t **)R_alloc(rows + 1, sizeof *cell);
    R_xlen_t at = 0;
    for (void *key = json_object_iter(first); key != NULL; key = json_object_iter_next(first, key), at++) {
        const char *name = json_object_iter_key(key);
        SET_STRING_ELT(names, at, Rf_mkCharCE(name, CE_UTF8));
        for (size_t i = 0; i < rows; i++) cell[i] = json_object_get(json_array_get(array, i), name);
        SET_VECTOR_ELT(list, at, vector_of(cell, rows));
    }
    Rf_setAttrib(list, R_NamesSymbol, names);
    UNPROTECT(2);
    return list;
}

static SEXP array_of(const json_t *array)
{
    const size_t count = json_array_size(array);
    if (count > 0 && is_table(array)) return table_of(array);
    const json_t **values = (const json_t **)R_alloc(count + 1, sizeof *values);
    for (size_t i = 0; i < count; i++) values[i] = json_array_get(array, i);
    return vector_of(values, count);
}

static SEXP object_of(json_t *object)
{
    const R_xlen_t count = (R_xlen_t)json_object_size(object);
    SEXP list = PROTECT(Rf_allocVector(VECSXP, count)), names = PROTECT(Rf_allocVector(STRSXP, count));
    R_xlen_t at = 0;
    for (void *key = json_object_iter(object); key != NULL; key = json_object_iter_next(object, key), at++) {
        SET_STRING_ELT(names, at, Rf_mkCharCE(json_object_iter_key(key), CE_UTF8));
        SET_VECTOR_ELT(list, at, value_of(json_object_iter_value(key)));
    }
    Rf_setAttrib(list, R_NamesSymbol, names);
    UNPROTECT(2);
    return list;
}

static SEXP value_of(const json_t *json)
{
    if (json_is_object(json)) return object_of((json_t *)json);
    if (json_is_array(json)) return array_of(json);
    if (json_is_null(json)) return R_NilValue;
    return vector_of(&json, 1);
}

static SEXP convert(void *json)
{
    return value_of(json);
}

static void let_go(void *json)
{
    json_decref(json);
}

SEXP json_take(char *text)
{
    if (text == NULL) return failure(STONET_ERROR_MEMORY);
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
    stonet_string_free(text);
    if (json == NULL)
        return out_of_memory("the library's answer could not be read: there is too little memory");
    return R_ExecWithCleanup(convert, json, let_go, json);
}
