#include "explain/coef.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/take_options.h"
#include "math/linalg.h"
#include "methods/linear_map.h"
#include "model/settings_json.h"

/* ---- the table --------------------------------------------------------------------------------- */

static stonet_status result_create(const stonet_model *model, const char *kind, int64_t columns,
                                   stonet_coef_result *out)
{
    out->kind = kind;
    out->features = model->schema->p;
    out->columns = columns;
    SN_TRY(SN_NEW(out->feature, out->features));
    SN_TRY(SN_NEW(out->name, columns));
    SN_TRY(SN_NEW(out->value, out->features * columns));
    for (int64_t j = 0; j < out->features; j++) {
        out->feature[j] = sn_strdup(stonet_model_feature_name(model, j));
        if (out->feature[j] == NULL) return STONET_ERROR_MEMORY;
    }
    return STONET_OK;
}

__attribute__((format(printf, 3, 4))) static stonet_status
name_column(stonet_coef_result *out, int64_t column, const char *format, ...)
{
    char text[40];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    out->name[column] = sn_strdup(text);
    return out->name[column] != NULL ? STONET_OK : STONET_ERROR_MEMORY;
}

/* ---- directions -------------------------------------------------------------------------------- */

static stonet_status add_errors(const stonet_model *model, const stonet_data *data, int64_t pairs,
                                const stonet_run *run, stonet_coef_result *out)
{
    const int64_t p = out->features, q = model->dim;
    double differ = 0.0;
    SN_ARRAY(p * q, double, se);
    SN_TRY(sn_coef_errors(model, data, pairs, run, se, &differ));
    if (differ > 1e-6)
        sn_message(run, STONET_WARNING,
                   "these are not the rows the model was fitted on (a fit on them has other directions): the "
                   "standard errors are those of a fit on these rows");
    for (int64_t j = 0; j < p; j++)
        for (int64_t k = 0; k < q; k++)
            out->value[j * out->columns + 2 * k + 1] = model->schema->factor[j] * se[j * q + k];
    out->pairs = pairs;
    return STONET_OK;
}

static stonet_status find_directions(const stonet_model *model, const stonet_data *data, int64_t pairs,
                                     const stonet_run *run, stonet_coef_result *out)
{
    const int64_t q = model->dim, wide = pairs > 0 ? 2 : 1;
    SN_TRY(result_create(model, "directions", wide * q, out));
    const sn_linear_map *map = model->state;
    for (int64_t k = 0; k < q; k++) {
        SN_TRY(name_column(out, wide * k, "z%lld", (long long)k + 1));
        if (pairs > 0) SN_TRY(name_column(out, wide * k + 1, "z%lld_se", (long long)k + 1));
        for (int64_t j = 0; j < out->features; j++)
            out->value[j * out->columns + wide * k] = model->schema->factor[j] * map->direction[j * q + k];
    }
    return pairs > 0 ? add_errors(model, data, pairs, run, out) : STONET_OK;
}

/* ---- gradients --------------------------------------------------------------------------------- */

/* d z_k / d x_j = f_j d z_k / d(scaled x_j); a direction v of scaled features is f_j v_j in those of x. */
static stonet_status find_gradients(const stonet_model *model, const stonet_data *data, const stonet_run *run,
                                    stonet_coef_result *out)
{
    const int64_t p = model->schema->p, q = model->dim, leading = p < q ? p : q;
    SN_TRY(result_create(model, "gradients", q + leading, out));
    SN_TRY(SN_NEW(out->share, leading));
    out->n_shares = leading;
    double trace = 0.0;
    SN_ARRAY(p * q, double, mean);
    SN_ARRAY(p * p, double, outer);
    SN_ARRAY(leading, double, value);
    SN_ARRAY(p * leading, double, vector);
    SN_TRY(sn_coef_gradients(model, data, run, mean, outer));
    for (int64_t j = 0; j < p; j++) trace += outer[j * p + j];
    SN_TRY(sn_eigh_top(p, leading, outer, value, vector));
    sn_fix_signs(p, leading, vector);
    for (int64_t k = 0; k < q; k++) SN_TRY(name_column(out, k, "z%lld", (long long)k + 1));
    for (int64_t k = 0; k < leading; k++) {
        SN_TRY(name_column(out, q + k, "direction%lld", (long long)k + 1));
        out->share[k] = trace > 0.0 ? value[k] / trace : (double)NAN;
    }
    for (int64_t j = 0; j < p; j++) {
        double *row = out->value + j * out->columns;
        for (int64_t k = 0; k < q; k++) row[k] = model->schema->factor[j] * mean[j * q + k];
        for (int64_t k = 0; k < leading; k++) row[q + k] = model->schema->factor[j] * vector[j * leading + k];
    }
    return STONET_OK;
}

/* ---- the call ---------------------------------------------------------------------------------- */

/* Linear methods have directions, which need no rows. Other methods have mean derivatives, which need rows to
   average over. pairs > 0: standard errors too. */
static stonet_status find(const stonet_model *model, const stonet_data *data, int64_t pairs,
                          const stonet_run *run, stonet_coef_result *out)
{
    const bool linear = model->method->free == sn_linear_map_free;
    if (pairs > 0 && !linear)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "Z of method '%s' is not a linear function of x, and only directions have standard "
                       "errors",
                       model->method->name);
    if (data == NULL && !linear)
        return sn_fail(
            STONET_ERROR_DATA,
            "Z of method '%s' is not a linear function of x: give rows to average its derivatives over",
            model->method->name);
    if (data == NULL && pairs > 0)
        return sn_fail(STONET_ERROR_DATA, "standard errors need the rows the model was fitted on");
    if (linear) return find_directions(model, data, pairs, run, out);
    return find_gradients(model, data, run, out);
}

/* Numbers of a model that are finite can be too large for their products. */
static stonet_status check_values(const stonet_coef_result *result)
{
    for (int64_t i = 0; i < result->features * result->columns; i++)
        if (!isfinite(result->value[i]))
            return sn_fail(STONET_ERROR_NUMERIC,
                           "a coefficient of '%s' is not a finite number: the model may be damaged",
                           result->feature[i / result->columns]);
    return STONET_OK;
}

stonet_status stonet_coef(const stonet_model *model, const stonet_data *data,
                          const stonet_coef_options *options, const stonet_run *run, stonet_coef_result **out)
{
    enum { MOST_PAIRS = 100000 };
    if (model == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_coef needs a model and a place for the result");
    *out = NULL;
    stonet_coef_options how;
    stonet_run taken;
    SN_TRY(SN_TAKE_OPTIONS(stonet_coef_options, STONET_COEF_OPTIONS_INIT, options, &how));
    SN_TRY(sn_take_run(run, &taken));
    if (how.pairs < 0 || how.pairs > MOST_PAIRS)
        return sn_fail(STONET_ERROR_ARGUMENT, "standard errors take 1 to %d pairs of halves, or 0 for none",
                       MOST_PAIRS);
    SN_AUTO(stonet_coef_result) *result = NULL;
    SN_TRY(SN_NEW(result, 1));
    SN_THREADS(taken.threads);
    SN_TRY(find(model, data, how.pairs, &taken, result));
    if (how.pairs > 0 && strcmp(model->method->name, "lasso-sir") == 0)
        sn_message(&taken, STONET_WARNING,
                   "the standard errors of lasso-sir do not see that its penalty pulls coefficients to 0: "
                   "intervals made of them cover too little (.66 where .95 was meant). Fit sir on the "
                   "columns that lasso-sir keeps.");
    SN_TRY(check_values(result));
    return SN_GIVE(result, out);
}

/* ---- the result -------------------------------------------------------------------------------- */

int stonet_coef_is_linear(const stonet_coef_result *result)
{
    return result != NULL && result->n_shares == 0;
}

int64_t stonet_coef_rows(const stonet_coef_result *result)
{
    return result != NULL ? result->features : 0;
}

int64_t stonet_coef_columns(const stonet_coef_result *result)
{
    return result != NULL ? result->columns : 0;
}

const char *stonet_coef_feature(const stonet_coef_result *result, int64_t row)
{
    return result != NULL && row >= 0 && row < result->features ? result->feature[row] : NULL;
}

const char *stonet_coef_column_name(const stonet_coef_result *result, int64_t column)
{
    return result != NULL && column >= 0 && column < result->columns ? result->name[column] : NULL;
}

double stonet_coef_value(const stonet_coef_result *result, int64_t row, int64_t column)
{
    if (stonet_coef_feature(result, row) == NULL || stonet_coef_column_name(result, column) == NULL)
        return (double)NAN;
    return result->value[row * result->columns + column];
}

double stonet_coef_share(const stonet_coef_result *result, int64_t k)
{
    return result != NULL && k >= 1 && k <= result->n_shares ? result->share[k - 1] : (double)NAN;
}

static json_t *row_json(const stonet_coef_result *result, int64_t j)
{
    json_t *object = json_pack("{s:s}", "feature", result->feature[j]);
    for (int64_t c = 0; c < result->columns; c++)
        object = sn_json_put(object, result->name[c], json_real(result->value[j * result->columns + c]));
    return object;
}

char *stonet_coef_json(const stonet_coef_result *result)
{
    if (result == NULL) return NULL;
    json_t *rows = json_array(), *shares = json_array();
    for (int64_t j = 0; j < result->features; j++) rows = sn_json_add(rows, row_json(result, j));
    for (int64_t k = 0; k < result->n_shares; k++)
        shares = sn_json_add(shares, sn_json_number(result->share[k]));
    json_t *all = json_pack("{s:s, s:I}", "kind", result->kind, "pairs", (json_int_t)result->pairs);
    all = sn_json_put(all, "shares", shares);
    return sn_json_text(sn_json_put(all, "rows", rows), true);
}

void stonet_coef_free(stonet_coef_result *result)
{
    if (result == NULL) return;
    for (int64_t j = 0; result->feature != NULL && j < result->features; j++) sn_free(result->feature[j]);
    for (int64_t c = 0; result->name != NULL && c < result->columns; c++) sn_free(result->name[c]);
    SN_FREE_ALL(result->feature, result->name, result->value, result->share, result);
}
