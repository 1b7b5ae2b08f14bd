/* How many dimensions, which variables, which settings, which method; tests; built-in data. */
#include "glue.h"

/* A member of a named list of options. */
static SEXP option(SEXP options, const char *name)
{
    SEXP names = Rf_getAttrib(options, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(options); i++)
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(options, i);
    return R_NilValue;
}

static int64_t whole_option(SEXP options, const char *name)
{
    return whole(option(options, name));
}

SEXP r_order(SEXP method, SEXP settings, SEXP table, SEXP options, SEXP run)
{
    SEXP spec = PROTECT(spec_make(method, settings)), result = spec;
    if (!is_failure(spec)) {
        SEXP pointer = PROTECT(handle_new("order", R_NilValue));
        stonet_order_options wish = STONET_ORDER_OPTIONS_INIT;
        stonet_order_result *found = NULL;
        wish.max = whole_option(options, "max");
        wish.level = Rf_asReal(option(options, "level"));
        wish.resamples = whole_option(options, "resamples");
        wish.folds = (int)whole_option(options, "folds");
        stonet_status status = stonet_order_rule_find(text_of(option(options, "rule")), &wish.rule);
        if (status == STONET_OK)
            status = stonet_order(handle_get(spec, "spec"), handle_get(table, "data"), &wish, run_get(run),
                                  &found);
        handle_fill(pointer, found);
        handle_clear(spec);
        result = status == STONET_OK ? json_take(stonet_order_json(found)) : failure(status);
        PROTECT(result);
        handle_clear(pointer);
        UNPROTECT(2);
    }
    UNPROTECT(1);
    return result;
}

SEXP r_coef(SEXP model, SEXP table, SEXP pairs, SEXP run)
{
    SEXP pointer = PROTECT(handle_new("coef", R_NilValue));
    stonet_coef_options options = STONET_COEF_OPTIONS_INIT;
    stonet_coef_result *found = NULL;
    options.pairs = whole(pairs);
    const stonet_status status =
        stonet_coef(handle_get(model, "model"), handle_get(table, "data"), &options, run_get(run), &found);
    handle_fill(pointer, found);
    SEXP result = PROTECT(status == STONET_OK ? json_take(stonet_coef_json(found)) : failure(status));
    handle_clear(pointer);
    UNPROTECT(2);
    return result;
}

SEXP r_importance(SEXP model, SEXP table, SEXP train, SEXP kind, SEXP repeats, SEXP run)
{
    SEXP pointer = PROTECT(handle_new("importance", R_NilValue));
    stonet_importance_options options = STONET_IMPORTANCE_OPTIONS_INIT;
    stonet_importance_result *found = NULL;
    options.repeats = whole(repeats);
    options.train = handle_get(train, "data");
    stonet_status status = stonet_importance_kind_find(text_of(kind), &options.kind);
    if (status == STONET_OK)
        status = stonet_importance(handle_get(model, "model"), handle_get(table, "data"), &options,
                                   run_get(run), &found);
    handle_fill(pointer, found);
    SEXP result = PROTECT(status == STONET_OK ? json_take(stonet_importance_json(found)) : failure(status));
    handle_clear(pointer);
    UNPROTECT(2);
    return result;
}

/* The rows, the best of them (from 1; 0: none), and what is minimised. */
static SEXP results_of(stonet_results *found)
{
    const char *names[] = {"rows", "best", "criterion", "stopped", ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    SEXP rows = json_take(stonet_results_json(found));
    SET_VECTOR_ELT(list, 0, rows);
    if (!is_failure(rows)) {
        SET_VECTOR_ELT(list, 1, Rf_ScalarInteger((int)stonet_results_best(found) + 1));
        SET_VECTOR_ELT(list, 2, Rf_mkString(stonet_results_criterion(found)));
        SET_VECTOR_ELT(list, 3, Rf_ScalarLogical(stonet_results_outcome(found) == STONET_STOPPED));
    }
    UNPROTECT(1);
    return is_failure(rows) ? rows : list;
}

static void tuning_from(SEXP options, stonet_tune_options *tuning)
{
    SEXP grid = option(options, "grid");
    tuning->folds = (int)whole_option(options, "inner_folds");
    tuning->grid = Rf_isNull(grid) ? NULL : texts_of(grid);
    tuning->n_grid = Rf_isNull(grid) ? 0 : Rf_xlength(grid);
    tuning->trials = whole_option(options, "trials");
    tuning->criterion = (stonet_criterion)whole_option(options, "criterion");
}

SEXP r_tune(SEXP method, SEXP settings, SEXP table, SEXP options, SEXP run)
{
    SEXP spec = PROTECT(spec_make(method, settings)), result = spec;
    if (!is_failure(spec)) {
        SEXP pointer = PROTECT(handle_new("results", R_NilValue));
        stonet_tune_options tuning = STONET_TUNE_OPTIONS_INIT;
        stonet_results *found = NULL;
        tuning_from(options, &tuning);
        const stonet_status status =
            stonet_tune(handle_get(spec, "spec"), handle_get(table, "data"), &tuning, run_get(run), &found);
        handle_fill(pointer, found);
        handle_clear(spec);
        result = PROTECT(status == STONET_OK ? results_of(found) : failure(status));
        handle_clear(pointer);
        UNPROTECT(2);
    }
    UNPROTECT(1);
    return result;
}

/* methods: texts; settings: a list of named lists, one a method. */
SEXP r_compare(SEXP methods, SEXP settings, SEXP table, SEXP test, SEXP options, SEXP run)
{
    const R_xlen_t count = Rf_xlength(methods);
    SEXP specs = PROTECT(Rf_allocVector(VECSXP, count));
    const stonet_spec **handles = (const stonet_spec **)R_alloc((size_t)count + 1, sizeof *handles);
    for (R_xlen_t i = 0; i < count; i++) {
        SEXP method = PROTECT(Rf_ScalarString(STRING_ELT(methods, i)));
        SEXP spec = spec_make(method, VECTOR_ELT(settings, i));
        SET_VECTOR_ELT(specs, i, spec);
        UNPROTECT(1);
        if (is_failure(spec)) {
            UNPROTECT(1);
            return spec;
        }
        handles[i] = handle_get(spec, "spec");
    }
    SEXP pointer = PROTECT(handle_new("results", R_NilValue));
    stonet_tune_options tuning = STONET_TUNE_OPTIONS_INIT;
    stonet_compare_options wish = STONET_COMPARE_OPTIONS_INIT;
    stonet_results *found = NULL;
    tuning_from(options, &tuning);
    wish.folds = (int)whole_option(options, "folds");
    wish.test = handle_get(test, "data");
    wish.criterion = tuning.criterion;
    if (Rf_asLogical(option(options, "tune")) == TRUE) {
        tuning.criterion = STONET_CRITERION_AUTO;
        wish.tuning = &tuning;
    }
    const stonet_status status =
        stonet_compare(handles, count, handle_get(table, "data"), &wish, run_get(run), &found);
    handle_fill(pointer, found);
    SEXP result = PROTECT(status == STONET_OK ? results_of(found) : failure(status));
    handle_clear(pointer);
    UNPROTECT(3);
    return result;
}

SEXP r_independence(SEXP x, SEXP y, SEXP z, SEXP options, SEXP run)
{
    stonet_independence_options wish = STONET_INDEPENDENCE_OPTIONS_INIT;
    stonet_independence_result found;
    wish.test = (stonet_test)whole_option(options, "test");
    wish.null_law = (stonet_null_law)whole_option(options, "null_law");
    wish.features = whole_option(options, "features");
    wish.condition_features = whole_option(options, "condition_features");
    wish.repeats = whole_option(options, "repeats");
    wish.permutations = whole_option(options, "permutations");
    const bool given = !Rf_isNull(z);
    const stonet_sides sides = {.n = Rf_nrows(x),
                                .dx = Rf_ncols(x),
                                .dy = Rf_ncols(y),
                                .dz = given ? Rf_ncols(z) : 0,
                                .x = rows_of(x),
                                .y = rows_of(y),
                                .z = given ? rows_of(z) : NULL};
    const stonet_status status = stonet_independence(&sides, &wish, run_get(run), &found);
    if (status != STONET_OK) return failure(status);
    const char *names[] = {"test", "statistic", "p_value", "n", ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(list, 0, Rf_ScalarInteger((int)found.test));
    SET_VECTOR_ELT(list, 1, Rf_ScalarReal(found.statistic));
    SET_VECTOR_ELT(list, 2, Rf_ScalarReal(found.p_value));
    SET_VECTOR_ELT(list, 3, Rf_ScalarReal((double)found.n));
    UNPROTECT(1);
    return list;
}

SEXP r_sufficiency(SEXP model, SEXP table, SEXP run)
{
    stonet_sufficiency_result found;
    const stonet_status status =
        stonet_sufficiency(handle_get(model, "model"), handle_get(table, "data"), NULL, run_get(run), &found);
    if (status != STONET_OK) return failure(status);
    const char *names[] = {
        "test", "statistic", "p_value", "prediction_p_value", "explained_by_z", "explained_by_z_and_x",
        "n",    ""};
    const double values[] = {found.statistic,        found.p_value,           found.gain.p_value,
                             found.gain.explained_z, found.gain.explained_zx, (double)found.gain.n};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(list, 0, Rf_ScalarInteger((int)found.test));
    for (int i = 0; i < 6; i++) SET_VECTOR_ELT(list, i + 1, Rf_ScalarReal(values[i]));
    UNPROTECT(1);
    return list;
}

static SEXP float_matrix(const float *values, int64_t rows, int64_t columns)
{
    SEXP matrix = Rf_allocMatrix(REALSXP, (int)rows, (int)columns);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++) REAL(matrix)[j * rows + i] = (double)values[i * columns + j];
    return matrix;
}

SEXP r_generate(SEXP name, SEXP rows, SEXP seed)
{
    SEXP pointer = PROTECT(handle_new("data", R_NilValue));
    stonet_data *data = NULL;
    const stonet_status status = stonet_generate(text_of(name), whole(rows), (uint64_t)whole(seed), &data);
    handle_fill(pointer, data);
    if (status != STONET_OK) {
        UNPROTECT(1);
        return failure(status);
    }
    const char *names[] = {"x", "y", "codes", "labels", "truth", ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    const int64_t n = stonet_data_rows(data);
    int64_t m = 0, classes = 0, truths = 0;
    SET_VECTOR_ELT(list, 0, float_matrix(stonet_data_x(data), n, stonet_data_columns(data)));
    const double *y = stonet_data_targets(data, &m);
    if (y != NULL) SET_VECTOR_ELT(list, 1, matrix_of(y, n, m));
    const int32_t *codes = stonet_data_classes(data, &classes);
    if (codes != NULL) {
        SEXP own = Rf_allocVector(INTSXP, (R_xlen_t)n);
        SET_VECTOR_ELT(list, 2, own);
        for (int64_t i = 0; i < n; i++) INTEGER(own)[i] = codes[i] + 1;
        SEXP labels = Rf_allocVector(STRSXP, (R_xlen_t)classes);
        SET_VECTOR_ELT(list, 3, labels);
        for (int64_t c = 0; c < classes; c++)
            SET_STRING_ELT(labels, (R_xlen_t)c, Rf_mkCharCE(stonet_data_class_label(data, c), CE_UTF8));
    }
    const double *truth = stonet_data_truth(data, &truths);
    if (truth != NULL) SET_VECTOR_ELT(list, 4, matrix_of(truth, n, truths));
    handle_clear(pointer);
    UNPROTECT(2);
    return list;
}

SEXP r_version(void)
{
    return Rf_mkString(stonet_version());
}

SEXP r_methods(void)
{
    return json_take(stonet_methods_json());
}

SEXP r_generators(void)
{
    return json_take(stonet_generators_json());
}
