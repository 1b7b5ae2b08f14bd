/* Handles of the library as external pointers of R. */
#include "glue.h"

/* The kinds, each with its stonet_KIND_free behind a pointer of one type. */
#define KINDS(DO)                                                                                            \
    DO(data) DO(columns) DO(spec) DO(model) DO(order) DO(coef) DO(importance) DO(results) DO(string) DO(bytes)
#define FREE(kind)                                                                                           \
    static void free_##kind(void *handle)                                                                    \
    {                                                                                                        \
        stonet_##kind##_free(handle);                                                                        \
    }
#define ENTRY(kind) {#kind, free_##kind},
KINDS(FREE)
static const struct {
    const char *name;
    free_function free;
} kinds[] = {KINDS(ENTRY)};

void handle_clear(SEXP pointer)
{
    void *handle = R_ExternalPtrAddr(pointer);
    if (handle == NULL) return;
    R_ClearExternalPtr(pointer);
    const char *kind = CHAR(PRINTNAME(R_ExternalPtrTag(pointer)));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i].name) == 0) kinds[i].free(handle);
}

SEXP handle_new(const char *kind, SEXP keep)
{
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, Rf_install(kind), keep));
    R_RegisterCFinalizerEx(pointer, handle_clear, TRUE);
    UNPROTECT(1);
    return pointer;
}

SEXP handle_fill(SEXP pointer, void *handle)
{
    R_SetExternalPtrAddr(pointer, handle);
    return pointer;
}

void *handle_get(SEXP pointer, const char *kind)
{
    if (TYPEOF(pointer) != EXTPTRSXP || R_ExternalPtrTag(pointer) != Rf_install(kind)) return NULL;
    return R_ExternalPtrAddr(pointer);
}

/* What a condition of R is called for a status: stonet_data_error, .. */
static const char *const words[] = {[STONET_OK] = "unknown",
                                    [STONET_ERROR_ARGUMENT] = "argument",
                                    [STONET_ERROR_DATA] = "data",
                                    [STONET_ERROR_IO] = "io",
                                    [STONET_ERROR_FORMAT] = "format",
                                    [STONET_ERROR_MEMORY] = "memory",
                                    [STONET_ERROR_NUMERIC] = "numeric",
                                    [STONET_ERROR_UNSUPPORTED] = "unsupported",
                                    [STONET_ERROR_INTERRUPTED] = "interrupted"};

static SEXP failure_of(stonet_status status, const char *sentence)
{
    const char *names[] = {"kind", "message", ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    const size_t count = sizeof words / sizeof *words;
    SET_VECTOR_ELT(list, 0, Rf_mkString((size_t)status < count ? words[status] : words[0]));
    SET_VECTOR_ELT(list, 1, Rf_ScalarString(Rf_mkCharCE(sentence, CE_UTF8)));
    Rf_setAttrib(list, R_ClassSymbol, Rf_mkString("stonet_failure"));
    UNPROTECT(1);
    return list;
}

SEXP failure(stonet_status status)
{
    return failure_of(status, stonet_last_error());
}

SEXP out_of_memory(const char *sentence)
{
    return failure_of(STONET_ERROR_MEMORY, sentence);
}

bool is_failure(SEXP value)
{
    return Rf_inherits(value, "stonet_failure");
}
