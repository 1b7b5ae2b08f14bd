/* Values of R as the library takes them, and back. */
#include <string.h>
#include <unistd.h>

#include "glue.h"

/* The process that loaded the package. In one that was forked from it (parallel::mclapply) the threads of
   OpenMP are not there, and a job that asks for several waits for ever; with one it gives the same numbers.
 */
static pid_t loaded_by;

void convert_init(void)
{
    loaded_by = getpid();
}

int threads_of(SEXP number)
{
    return getpid() == loaded_by ? (int)whole(number) : 1;
}

const char *text_of(SEXP string)
{
    return Rf_translateCharUTF8(STRING_ELT(string, 0));
}

const char **texts_of(SEXP strings)
{
    const R_xlen_t count = Rf_xlength(strings);
    const char **texts = (const char **)R_alloc((size_t)count + 1, sizeof *texts);
    for (R_xlen_t i = 0; i < count; i++) texts[i] = Rf_translateCharUTF8(STRING_ELT(strings, i));
    return texts;
}

static const char *part_text(SEXP value, R_xlen_t i)
{
    if (TYPEOF(value) == STRSXP) return Rf_translateCharUTF8(STRING_ELT(value, i));
    if (TYPEOF(value) == LGLSXP) return LOGICAL(value)[i] ? "true" : "false";
    char *text = R_alloc(STONET_NUMBER_SIZE, 1);
    const double number = TYPEOF(value) == INTSXP ? (double)INTEGER(value)[i] : REAL(value)[i];
    stonet_number_text(number, text);
    return text;
}

const char *setting_text(SEXP value)
{
    const R_xlen_t count = Rf_xlength(value);
    if (count == 0) return "none";
    size_t length = 1;
    for (R_xlen_t i = 0; i < count; i++) length += strlen(part_text(value, i)) + 1;
    char *text = R_alloc(length, 1);
    *text = '\0';
    char *end = text;
    for (R_xlen_t i = 0; i < count; i++) {
        const char *part = part_text(value, i);
        if (i > 0) *end++ = ',';
        const size_t size = strlen(part);
        memcpy(end, part, size + 1);
        end += size;
    }
    return text;
}

SEXP matrix_of(const double *values, int64_t rows, int64_t columns)
{
    SEXP matrix = PROTECT(Rf_allocMatrix(REALSXP, (int)rows, (int)columns));
    double *to = REAL(matrix);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++) to[j * rows + i] = values[i * columns + j];
    UNPROTECT(1);
    return matrix;
}

double *rows_of(SEXP matrix)
{
    const int64_t rows = Rf_nrows(matrix), columns = Rf_ncols(matrix);
    const double *from = REAL(matrix);
    double *values = (double *)R_alloc((size_t)(rows * columns) + 1, sizeof *values);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++) values[i * columns + j] = from[j * rows + i];
    return values;
}

int64_t whole(SEXP number)
{
    return (int64_t)Rf_asReal(number);
}

SEXP spec_make(SEXP method, SEXP settings)
{
    SEXP pointer = PROTECT(handle_new("spec", R_NilValue));
    SEXP names = Rf_getAttrib(settings, R_NamesSymbol);
    stonet_spec *spec = NULL;
    stonet_status status = stonet_spec_create(text_of(method), &spec);
    handle_fill(pointer, spec);
    for (R_xlen_t i = 0; status == STONET_OK && i < Rf_xlength(settings); i++)
        status = stonet_spec_set(spec, Rf_translateCharUTF8(STRING_ELT(names, i)),
                                 setting_text(VECTOR_ELT(settings, i)));
    SEXP result = status == STONET_OK ? pointer : failure(status);
    UNPROTECT(1);
    return result;
}
