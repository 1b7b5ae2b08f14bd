/* What a model says about rows: Z, predictions, scores. */
#include <math.h>
#include <string.h>

#include "glue.h"

SEXP r_transform(SEXP pointer, SEXP table, SEXP draws, SEXP activated, SEXP seed, SEXP threads)
{
    const stonet_model *model = handle_get(pointer, "model");
    const stonet_data *data = handle_get(table, "data");
    stonet_use_options options = STONET_USE_OPTIONS_INIT;
    options.draws = whole(draws);
    options.activated = Rf_asLogical(activated) == TRUE;
    options.seed = (uint64_t)whole(seed);
    options.threads = threads_of(threads);
    const int64_t q = stonet_model_dim(model);
    const int64_t rows = stonet_data_rows(data) * (options.draws > 0 ? options.draws : 1);
    float *z = (float *)R_alloc((size_t)(rows * q) + 1, sizeof *z);
    const stonet_status status = stonet_transform(model, data, &options, z);
    if (status != STONET_OK) return failure(status);
    SEXP result = PROTECT(Rf_allocMatrix(REALSXP, (int)rows, (int)q));
    for (int64_t k = 0; k < q; k++)
        for (int64_t i = 0; i < rows; i++) REAL(result)[k * rows + i] = (double)z[i * q + k];
    UNPROTECT(1);
    return result;
}

/* What the rows have that the model has not met is said through the run. */
SEXP r_check_rows(SEXP pointer, SEXP table, SEXP run)
{
    const stonet_status status =
        stonet_check_rows(handle_get(pointer, "model"), handle_get(table, "data"), run_get(run));
    return status == STONET_OK ? R_NilValue : failure(status);
}

/* Whether these may be the rows that the model was fitted on. */
SEXP r_met(SEXP pointer, SEXP table)
{
    int met = 0;
    const stonet_status status =
        stonet_model_met(handle_get(pointer, "model"), handle_get(table, "data"), &met);
    return status == STONET_OK ? Rf_ScalarLogical(met) : failure(status);
}

SEXP r_transform_se(SEXP pointer, SEXP train, SEXP table, SEXP refits, SEXP run)
{
    const stonet_model *model = handle_get(pointer, "model");
    const stonet_data *data = handle_get(table, "data");
    const int64_t rows = stonet_data_rows(data), q = stonet_model_dim(model);
    double stability = NAN, *se = (double *)R_alloc((size_t)(rows * q) + 1, sizeof *se);
    const stonet_status status = stonet_transform_se(model, handle_get(train, "data"), data, whole(refits),
                                                     run_get(run), se, &stability);
    if (status != STONET_OK) return failure(status);
    const char *names[] = {"se", "stability", ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(list, 0, matrix_of(se, rows, q));
    SET_VECTOR_ELT(list, 1, Rf_ScalarReal(stability));
    UNPROTECT(1);
    return list;
}

static SEXP interval(const stonet_model *model, const stonet_data *data, const stonet_use_options *options)
{
    const int64_t rows = stonet_data_rows(data), m = stonet_model_outputs(model);
    double *low = (double *)R_alloc((size_t)(rows * m) + 1, sizeof *low);
    double *high = (double *)R_alloc((size_t)(rows * m) + 1, sizeof *high);
    const stonet_status status = stonet_predict_interval(model, data, options, low, high);
    if (status != STONET_OK) return failure(status);
    const char *names[] = {"low", "high", ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(list, 0, matrix_of(low, rows, m));
    SET_VECTOR_ELT(list, 1, matrix_of(high, rows, m));
    UNPROTECT(1);
    return list;
}

static SEXP set(const stonet_model *model, const stonet_data *data, const stonet_use_options *options)
{
    const int64_t rows = stonet_data_rows(data), classes = stonet_model_outputs(model);
    unsigned char *inside = (unsigned char *)R_alloc((size_t)(rows * classes) + 1, 1);
    const stonet_status status = stonet_predict_set(model, data, options, inside);
    if (status != STONET_OK) return failure(status);
    SEXP result = PROTECT(Rf_allocMatrix(LGLSXP, (int)rows, (int)classes));
    for (int64_t c = 0; c < classes; c++)
        for (int64_t i = 0; i < rows; i++) LOGICAL(result)[c * rows + i] = inside[i * classes + c];
    UNPROTECT(1);
    return result;
}

/* what: "mean" (numbers or probabilities), "spread", "interval", "set". */
SEXP r_predict(SEXP pointer, SEXP table, SEXP what, SEXP level, SEXP by_class, SEXP threads)
{
    const stonet_model *model = handle_get(pointer, "model");
    const stonet_data *data = handle_get(table, "data");
    stonet_use_options options = STONET_USE_OPTIONS_INIT;
    options.threads = threads_of(threads);
    options.level = Rf_asReal(level);
    options.by_class = Rf_asLogical(by_class) == TRUE;
    const char *word = text_of(what);
    if (strcmp(word, "interval") == 0) return interval(model, data, &options);
    if (strcmp(word, "set") == 0) return set(model, data, &options);
    const int64_t rows = stonet_data_rows(data), m = stonet_model_outputs(model);
    double *out = (double *)R_alloc((size_t)(rows * m) + 1, sizeof *out);
    const stonet_status status = strcmp(word, "spread") == 0
                                     ? stonet_predict_spread(model, data, &options, out)
                                     : stonet_predict(model, data, &options, out);
    return status == STONET_OK ? matrix_of(out, rows, m) : failure(status);
}

/* The probability of being beyond each time (n x times), and the mean time up to the last (n x 1). */
SEXP r_survival(SEXP pointer, SEXP table, SEXP times, SEXP threads)
{
    const stonet_model *model = handle_get(pointer, "model");
    const stonet_data *data = handle_get(table, "data");
    stonet_use_options options = STONET_USE_OPTIONS_INIT;
    options.threads = threads_of(threads);
    const int64_t rows = stonet_data_rows(data), count = (int64_t)Rf_xlength(times);
    double *out = (double *)R_alloc((size_t)(rows * (count + 1)) + 1, sizeof *out);
    const stonet_status status =
        stonet_predict_survival(model, data, &options, REAL(times), count, out, out + rows * count);
    if (status != STONET_OK) return failure(status);
    SEXP list = PROTECT(Rf_allocVector(VECSXP, 2));
    SET_VECTOR_ELT(list, 0, matrix_of(out, rows, count));
    SET_VECTOR_ELT(list, 1, matrix_of(out + rows * count, rows, 1));
    UNPROTECT(1);
    return list;
}

/* The members of stonet_scores that are numbers, as R has them too. */
/* clang-format off */
#define SCORES(DO)                                                                                           \
    DO(error_rate) DO(accuracy) DO(log_loss) DO(mse) DO(mse_scaled) DO(r2) DO(correlation)                   \
    DO(balanced_accuracy) DO(brier) DO(calibration_error) DO(auc) DO(level) DO(coverage) DO(width)           \
    DO(log_likelihood) DO(concordance) DO(uno) DO(integrated_brier) DO(deviance) DO(deviance_explained)      \
    DO(rank_error) DO(kappa)
/* clang-format on */
#define NAME(score)  #score,
#define VALUE(score) scores.score,

/* A list of the scores that there are, and the table of confusions for classes. */
SEXP r_score(SEXP pointer, SEXP table, SEXP level, SEXP by_class, SEXP threads)
{
    const stonet_model *model = handle_get(pointer, "model");
    const stonet_data *data = handle_get(table, "data");
    stonet_use_options options = STONET_USE_OPTIONS_INIT;
    stonet_scores scores = STONET_SCORES_INIT;
    options.threads = threads_of(threads);
    options.level = Rf_asReal(level);
    options.by_class = Rf_asLogical(by_class) == TRUE;
    stonet_status status = stonet_score(model, data, &options, &scores);
    if (status != STONET_OK) return failure(status);
    const char *names[] = {"n", SCORES(NAME) "confusion", ""};
    const double values[] = {(double)scores.n, SCORES(VALUE)};
    const int count = (int)(sizeof values / sizeof values[0]);
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    for (int i = 0; i < count; i++) SET_VECTOR_ELT(list, i, Rf_ScalarReal(values[i]));
    if (scores.is_classifier) {
        const int64_t classes = stonet_model_outputs(model);
        const stonet_use_options plain = {.size = sizeof plain, .seed = 1, .threads = options.threads};
        int64_t *confusion = (int64_t *)R_alloc((size_t)(classes * classes), sizeof *confusion);
        status = stonet_confusion(model, data, &plain, confusion);
        if (status != STONET_OK) {
            UNPROTECT(1);
            return failure(status);
        }
        SEXP matrix = Rf_allocMatrix(INTSXP, (int)classes, (int)classes);
        SET_VECTOR_ELT(list, count, matrix);
        for (int64_t i = 0; i < classes * classes; i++)
            INTEGER(matrix)[(i % classes) * classes + i / classes] = (int)confusion[i];
    }
    UNPROTECT(1);
    return list;
}
