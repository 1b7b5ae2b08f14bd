/*
 * What the columns of Z are made of, in units of x: the directions of linear maps and their standard errors,
 * the derivatives of other methods.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/take_options.h"
#include "data/partitions.h"
#include "math/linalg.h"
#include "math/noise.h"
#include "methods/linear_map.h"
#include "model/model.h"
#include "model/settings_json.h"

struct stonet_coef_result {
    const char *kind; /* "directions" or "gradients" */
    int64_t pairs;    /* of halves behind the standard errors; 0: none */
    int64_t features, columns, n_shares;
    char **feature, **name; /* features; columns */
    double *value;          /* features x columns */
    double *share;          /* n_shares */
};

static stonet_status result_create(const stonet_model *model, const char *kind, int64_t columns,
                                   stonet_coef_result *out)
{
    out->kind = kind;
    out->features = model->schema->p;
    out->columns = columns;
    SN_TRY(SN_NEW(out->feature, out->features));
    SN_TRY(SN_NEW(out->name, columns));
    SN_TRY(SN_NEW(out->value, out->features * columns));
    for (int64_t j = 0; j < out->features; j++)
        SN_TRY(sn_text_copy(stonet_model_feature_name(model, j), &out->feature[j]));
    return STONET_OK;
}

static stonet_status name_column(stonet_coef_result *out, int64_t column, const char *kind, int64_t number,
                                 const char *suffix)
{
    char text[40];
    snprintf(text, sizeof text, "%s%lld%s", kind, (long long)number, suffix);
    return sn_text_copy(text, &out->name[column]);
}

/* ---- directions -------------------------------------------------------------------------------- */

/* The directions of a fit on the problem, each with the sign that is nearer to that of `like`. */
static stonet_status fit_directions(const stonet_model *model, const sn_problem *problem,
                                    const stonet_run *run, const double *like, double *direction)
{
    const int64_t p = problem->p, q = model->dim;
    sn_fit_result fitted = {.dim = q};
    sn_quiet_run quiet;
    sn_quiet_run_init(&quiet, run);
    quiet.run.seed = model->seed;
    quiet.run.threads = run->threads;
    stonet_status status = sn_method_fit(model->method, problem, q, model->settings, &quiet.run, &fitted);
    if (status == STONET_OK && fitted.dim != q)
        status = sn_fail(
            STONET_ERROR_NUMERIC,
            "on half of the rows the method finds %lld directions, not %lld: so there are no standard errors",
            (long long)fitted.dim, (long long)q);
    if (status == STONET_OK) {
        const sn_linear_map *map = fitted.state;
        memcpy(direction, map->direction, (size_t)(p * q) * sizeof *direction);
        for (int64_t k = 0; k < q; k++) {
            double agreement = 0.0;
            for (int64_t j = 0; j < p; j++) agreement += direction[j * q + k] * like[j * q + k];
            for (int64_t j = 0; j < p && agreement < 0.0; j++) direction[j * q + k] *= -1.0;
        }
    }
    if (fitted.state != NULL) model->method->free(fitted.state);
    return status;
}

/* Fits on both halves of the rows of pair number `pair`: adds (b_1 - b_2)^2 to the sums, p x q. */
static stonet_status add_pair(const stonet_model *model, const sn_problem *all, int64_t pair,
                              const stonet_run *run, double *sum)
{
    const int64_t size = all->p * model->dim;
    const double *like = ((const sn_linear_map *)model->state)->direction;
    SN_ARRAY(all->n, int64_t, rows);
    SN_ARRAY(all->n, int32_t, half);
    SN_ARRAY(2 * size, double, direction);
    SN_TRY(sn_split_folds(all->n, all->label, all->outputs, all->kin, 2, run->seed + (uint64_t)pair, half));
    for (int side = 0; side < 2; side++) {
        int64_t count = 0;
        for (int64_t i = 0; i < all->n; i++)
            if (half[i] == side) rows[count++] = i;
        SN_FREED_BY(sn_problem_subset_free) sn_problem part = {0};
        SN_TRY(sn_problem_subset(all, rows, count, &part));
        SN_TRY(fit_directions(model, &part, run, like, direction + side * size));
    }
    for (int64_t e = 0; e < size; e++) sum[e] += pow(direction[e] - direction[size + e], 2);
    return STONET_OK;
}

/*
 * Standard errors of the directions b (p x q) from pairs of complementary halves of the rows, stratified by
 * class. Each half gives an estimate of twice the variance, independent of the other's (b_1, b_2 with the
 * signs of b):
 *
 *     se^2 = sum over the pairs of (b_1 - b_2)^2 / (4 pairs)        for each entry.
 *
 * Leaving out few rows at a time (the jackknife) will not do: slices that move by a row make b jump, and such
 * errors were a quarter too large. The rows keep the model's scaling, so that all b are for the same
 * features. *differ: how far the fit on all these rows is from the model's own directions, |b_all - b| / |b|:
 * 0 when they are the training rows.
 */
static stonet_status find_errors(const stonet_model *model, const stonet_data *data, int64_t pairs,
                                 const stonet_run *run, double *se, double *differ)
{
    const double started = sn_seconds();
    SN_WORKSPACE(scratch);
    sn_problem all;
    SN_TRY(sn_schema_problem(model->schema, data, &scratch, &all));
    const int64_t size = all.p * model->dim;
    const double *own = ((const sn_linear_map *)model->state)->direction;
    SN_ARRAY(size, double, whole);
    SN_TRY(fit_directions(model, &all, run, own, whole));
    for (int64_t e = 0; e < size; e++) whole[e] -= own[e];
    *differ = sn_norm(size, whole) / sn_norm(size, own);
    memset(se, 0, (size_t)size * sizeof *se);
    for (int64_t pair = 0; pair < pairs; pair++) {
        if (sn_should_stop(run))
            return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before the standard errors were finished");
        SN_TRY(add_pair(model, &all, pair, run, se));
        sn_progress_of(run, "standard errors", pair + 1, pairs, (double)NAN, started);
    }
    for (int64_t e = 0; e < size; e++) se[e] = sqrt(se[e] / (4.0 * (double)pairs));
    return STONET_OK;
}

static stonet_status add_errors(const stonet_model *model, const stonet_data *data, int64_t pairs,
                                const stonet_run *run, stonet_coef_result *out)
{
    const int64_t p = out->features, q = model->dim;
    double differ = 0.0;
    SN_ARRAY(p * q, double, se);
    SN_TRY(find_errors(model, data, pairs, run, se, &differ));
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
        SN_TRY(name_column(out, wide * k, "z", k + 1, ""));
        if (pairs > 0) SN_TRY(name_column(out, wide * k + 1, "z", k + 1, "_se"));
        for (int64_t j = 0; j < out->features; j++)
            out->value[j * out->columns + wide * k] = model->schema->factor[j] * map->direction[j * q + k];
    }
    return pairs > 0 ? add_errors(model, data, pairs, run, out) : STONET_OK;
}

/* ---- gradients --------------------------------------------------------------------------------- */

enum { MOST_ROWS = 2000 };
static const double STEP = 0.01; /* of a scaled feature: small beside bends, large beside rounding */

/* The rows looked at, encoded (n x p): all, or MOST_ROWS drawn by the seed. */
static stonet_status encode(const stonet_model *model, const stonet_data *data, uint64_t seed,
                            sn_workspace *keep, float **x, int64_t *n)
{
    const int64_t rows = stonet_data_rows(data), p = model->schema->p;
    *n = rows < MOST_ROWS ? rows : MOST_ROWS;
    SN_TRY(SN_TAKE(keep, *x, *n * p));
    if (*n == rows) return sn_schema_encode_x(model->schema, data, *x);
    SN_ARRAY(rows, int64_t, order);
    SN_TRY(stonet_permutation(seed, SN_STREAM_SPLIT, rows, order));
    SN_AUTO(stonet_data) *drawn = NULL;
    SN_TRY(stonet_data_subset(data, order, *n, &drawn));
    return sn_schema_encode_x(model->schema, drawn, *x);
}

/* Column `feature` of J for all rows: n x q into slope[i * p * q + k * p + feature]. */
static stonet_status add_feature(const stonet_model *model, float *x, int64_t n, int64_t p, int64_t feature,
                                 float *z[2], double *slope)
{
    const int64_t q = model->dim;
    for (int side = 0; side < 2; side++) {
        const float step = (float)(side == 0 ? -STEP : 2.0 * STEP);
        for (int64_t i = 0; i < n; i++) x[i * p + feature] += step;
        SN_TRY(sn_model_reduce(model, x, n, NULL, z[side]));
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < q; k++)
            slope[(i * q + k) * p + feature] =
                ((double)z[1][i * q + k] - (double)z[0][i * q + k]) / (2.0 * STEP);
    return STONET_OK;
}

/* Derivatives of Z at the rows of data (MOST_ROWS of them at most), by central differences of features as the
   model scales them: mean (p x q) and G = mean J'J (p x p). slope: J_i = dZ/dx at row i (q x p), one after
   the other. */
static stonet_status mean_gradients(const stonet_model *model, const stonet_data *data, const stonet_run *run,
                                    double *mean, double *outer)
{
    const int64_t p = model->schema->p, q = model->dim;
    SN_WORKSPACE(scratch);
    float *x = NULL, *z[2] = {NULL, NULL};
    int64_t n = 0;
    SN_TRY(encode(model, data, run->seed, &scratch, &x, &n));
    SN_ARRAY(n * q * p, double, slope);
    SN_ARRAY(n, float, column);
    for (int side = 0; side < 2; side++) SN_TRY(SN_TAKE(&scratch, z[side], n * q));
    for (int64_t j = 0; j < p; j++) {
        if (sn_should_stop(run))
            return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before all variables were looked at");
        for (int64_t i = 0; i < n; i++) column[i] = x[i * p + j];
        SN_TRY(add_feature(model, x, n, p, j, z, slope));
        for (int64_t i = 0; i < n; i++) x[i * p + j] = column[i];
    }
    memset(mean, 0, (size_t)(p * q) * sizeof *mean);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < q; k++)
            for (int64_t j = 0; j < p; j++) mean[j * q + k] += slope[(i * q + k) * p + j] / (double)n;
    sn_syrk_tn(p, n * q, 1.0 / (double)n, slope, 0.0, outer);
    return STONET_OK;
}

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
    SN_TRY(mean_gradients(model, data, run, mean, outer));
    for (int64_t j = 0; j < p; j++) trace += outer[j * p + j];
    SN_TRY(sn_eigh_top(p, leading, outer, value, vector));
    sn_fix_signs(p, leading, vector);
    for (int64_t k = 0; k < q; k++) SN_TRY(name_column(out, k, "z", k + 1, ""));
    for (int64_t k = 0; k < leading; k++) {
        SN_TRY(name_column(out, q + k, "direction", k + 1, ""));
        out->share[k] = trace > 0.0 ? value[k] / trace : (double)NAN;
    }
    for (int64_t j = 0; j < p; j++) {
        double *row = out->value + j * out->columns;
        for (int64_t k = 0; k < q; k++) row[k] = model->schema->factor[j] * mean[j * q + k];
        for (int64_t k = 0; k < leading; k++) row[q + k] = model->schema->factor[j] * vector[j * leading + k];
    }
    return STONET_OK;
}

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
