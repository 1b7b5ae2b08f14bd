/* Models: fitted, kept as bytes, written, read, described, calibrated. */
#include <string.h>

#include "glue.h"

SEXP r_fit(SEXP method, SEXP settings, SEXP table, SEXP run)
{
    SEXP spec = PROTECT(spec_make(method, settings));
    SEXP result = spec;
    if (!is_failure(spec)) {
        SEXP pointer = PROTECT(handle_new("model", R_NilValue));
        stonet_model *model = NULL;
        const stonet_status status =
            stonet_fit(handle_get(spec, "spec"), handle_get(table, "data"), run_get(run), &model);
        handle_fill(pointer, model);
        handle_clear(spec);
        result = status == STONET_OK ? pointer : failure(status);
        UNPROTECT(1);
    }
    UNPROTECT(1);
    return result;
}

/* The spec of a model, fitted on other rows. */
SEXP r_refit(SEXP model, SEXP table, SEXP run)
{
    SEXP spec = PROTECT(handle_new("spec", R_NilValue)), pointer = PROTECT(handle_new("model", R_NilValue));
    stonet_spec *what = NULL;
    stonet_model *made = NULL;
    stonet_status status = stonet_model_spec(handle_get(model, "model"), &what);
    handle_fill(spec, what);
    if (status == STONET_OK) status = stonet_fit(what, handle_get(table, "data"), run_get(run), &made);
    handle_fill(pointer, made);
    handle_clear(spec);
    SEXP result = status == STONET_OK ? pointer : failure(status);
    UNPROTECT(2);
    return result;
}

SEXP r_needs_response(SEXP method, SEXP settings)
{
    SEXP spec = PROTECT(spec_make(method, settings));
    SEXP result =
        is_failure(spec) ? spec : Rf_ScalarLogical(stonet_spec_needs_response(handle_get(spec, "spec")));
    UNPROTECT(1);
    return result;
}

/* FALSE for what came back from a file of R: pointers do not travel. */
SEXP r_model_is_there(SEXP model)
{
    return Rf_ScalarLogical(handle_get(model, "model") != NULL);
}

SEXP r_model_bytes(SEXP model)
{
    SEXP pointer = PROTECT(handle_new("bytes", R_NilValue));
    unsigned char *bytes = NULL;
    size_t size = 0;
    const stonet_status status = stonet_model_save_bytes(handle_get(model, "model"), &bytes, &size);
    handle_fill(pointer, bytes);
    SEXP result;
    if (status == STONET_OK) {
        result = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)size));
        memcpy(RAW(result), bytes, size);
    } else {
        result = PROTECT(failure(status));
    }
    handle_clear(pointer);
    UNPROTECT(2);
    return result;
}

SEXP r_model_from_bytes(SEXP bytes)
{
    SEXP pointer = PROTECT(handle_new("model", R_NilValue));
    stonet_model *model = NULL;
    const stonet_status status = stonet_model_load_bytes(RAW(bytes), (size_t)Rf_xlength(bytes), &model);
    handle_fill(pointer, model);
    SEXP result = status == STONET_OK ? pointer : failure(status);
    UNPROTECT(1);
    return result;
}

SEXP r_model_save(SEXP pointer, SEXP path, SEXP note)
{
    stonet_model *model = handle_get(pointer, "model");
    stonet_status status = Rf_isNull(note) ? STONET_OK : stonet_model_set_note(model, text_of(note));
    if (status == STONET_OK) status = stonet_model_save(model, text_of(path));
    return status == STONET_OK ? R_NilValue : failure(status);
}

SEXP r_model_load(SEXP path)
{
    SEXP pointer = PROTECT(handle_new("model", R_NilValue));
    stonet_model *model = NULL;
    const stonet_status status = stonet_model_load(text_of(path), &model);
    handle_fill(pointer, model);
    SEXP result = status == STONET_OK ? pointer : failure(status);
    UNPROTECT(1);
    return result;
}

/* For programs that do not have the library: format is "onnx", "c" or "json". */
SEXP r_model_export(SEXP model, SEXP format, SEXP name, SEXP path)
{
    SEXP pointer = PROTECT(handle_new("bytes", R_NilValue));
    stonet_export_format kind;
    unsigned char *bytes = NULL;
    size_t size = 0;
    stonet_status status = stonet_export_format_find(text_of(format), &kind);
    if (status == STONET_OK)
        status = stonet_model_export(handle_get(model, "model"), kind, text_of(name), &bytes, &size);
    handle_fill(pointer, bytes);
    if (status == STONET_OK) status = stonet_bytes_write(text_of(path), bytes, size);
    handle_clear(pointer);
    UNPROTECT(1);
    return status == STONET_OK ? R_NilValue : failure(status);
}

/* What the library says about it, and what only calls tell: outcome, features, the training history (CSV). */
SEXP r_model_info(SEXP pointer)
{
    const stonet_model *model = handle_get(pointer, "model");
    const char *names[] = {"about",    "dim",     "outputs", "classifier", "calibrated",
                           "features", "history", "hash",    "note",       ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(list, 0, json_take(stonet_model_json(model)));
    SET_VECTOR_ELT(list, 1, Rf_ScalarInteger((int)stonet_model_dim(model)));
    SET_VECTOR_ELT(list, 2, Rf_ScalarInteger((int)stonet_model_outputs(model)));
    SET_VECTOR_ELT(list, 3, Rf_ScalarLogical(stonet_model_is_classifier(model)));
    SET_VECTOR_ELT(list, 4, Rf_ScalarLogical(stonet_model_is_calibrated(model)));
    const int64_t count = stonet_model_features(model);
    SEXP features = Rf_allocVector(STRSXP, (R_xlen_t)count);
    SET_VECTOR_ELT(list, 5, features);
    for (int64_t j = 0; j < count; j++)
        SET_STRING_ELT(features, (R_xlen_t)j, Rf_mkCharCE(stonet_model_feature_name(model, j), CE_UTF8));
    SEXP history = PROTECT(handle_new("string", R_NilValue));
    handle_fill(history, stonet_model_history_csv(model));
    if (R_ExternalPtrAddr(history) != NULL)
        SET_VECTOR_ELT(list, 6, Rf_mkString((const char *)R_ExternalPtrAddr(history)));
    handle_clear(history);
    const char *hash = stonet_model_hash(model);
    if (hash != NULL) SET_VECTOR_ELT(list, 7, Rf_mkString(hash));
    if (stonet_model_note(model) != NULL)
        SET_VECTOR_ELT(list, 8, Rf_ScalarString(Rf_mkCharCE(stonet_model_note(model), CE_UTF8)));
    UNPROTECT(2);
    return list;
}

/* Changes the model, which nobody else may know yet. */
SEXP r_calibrate(SEXP model, SEXP table, SEXP kind, SEXP folds, SEXP sets, SEXP run)
{
    stonet_calibrate_options options = STONET_CALIBRATE_OPTIONS_INIT;
    options.kind = (stonet_calibration)whole(kind);
    options.folds = (int)whole(folds);
    options.sets = (stonet_set_score)whole(sets);
    const stonet_status status =
        stonet_calibrate(handle_get(model, "model"), handle_get(table, "data"), &options, run_get(run));
    return status == STONET_OK ? model : failure(status);
}
