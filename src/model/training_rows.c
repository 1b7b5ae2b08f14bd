/* Whether rows may be those that a model was fitted on. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/model.h"

/* The mean of what training has centred, in standard deviations: rounding leaves 1e-8 or so, new rows have
   one of 1/sqrt(n). */
static const double NO_MEAN = 1e-6;
enum { BLOCK = 1024 };

static bool is_no_mean(double sum, double squares, int64_t n)
{
    return fabs(sum) <= NO_MEAN * sqrt(squares * (double)n);
}

/* checked (p): the features of columns that had no missing cells, whose training rows were given mean 0; the
   number of them. */
static stonet_status mark_checked(const sn_schema *schema, bool *checked, int64_t *count)
{
    int64_t used = 0;
    SN_ARRAY(sn_schema_used(schema) + 1, int64_t, group);
    sn_schema_groups(schema, group);
    *count = 0;
    for (int64_t input = 0; input < schema->n_inputs; input++) {
        if (strcmp(sn_schema_input_kind(schema, input), "none") == 0) continue;
        const bool whole = schema->input[input].missing == 0;
        for (int64_t j = group[used]; j < group[used + 1]; j++) checked[j] = whole;
        if (whole) *count += group[used + 1] - group[used];
        used++;
    }
    return STONET_OK;
}

/* Without features that could tell, `alone` says. */
static stonet_status features_are_centred(const stonet_model *model, const stonet_data *data, bool alone,
                                          bool *centred)
{
    const int64_t n = stonet_data_rows(data), p = model->schema->p;
    int64_t count_checked;
    SN_ARRAY(p, bool, checked);
    SN_TRY(mark_checked(model->schema, checked, &count_checked));
    *centred = alone;
    if (count_checked == 0) return STONET_OK;
    SN_ARRAY(BLOCK * p, float, x);
    SN_ZEROS(p, double, sum);
    SN_ZEROS(p, double, squares);
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t count = n - first < BLOCK ? n - first : BLOCK;
        SN_TRY(sn_schema_encode_rows(model->schema, data, first, count, x));
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < p; j++) {
                const double value = (double)x[i * p + j];
                sum[j] += value;
                squares[j] += value * value;
            }
    }
    *centred = true;
    for (int64_t j = 0; j < p; j++) *centred = *centred && (!checked[j] || is_no_mean(sum[j], squares[j], n));
    return STONET_OK;
}

/* So were numeric responses. */
static stonet_status response_is_centred(const stonet_model *model, const stonet_data *data, bool *centred)
{
    const int64_t n = stonet_data_rows(data), m = sn_schema_outputs(model->schema);
    SN_FREED_BY(sn_raw_response_clear) sn_raw_response raw = {0};
    SN_TRY(sn_schema_raw_response(model->schema, data, true, &raw));
    *centred = true;
    for (int64_t k = 0; k < m; k++) {
        double sum = 0.0, squares = 0.0;
        for (int64_t i = 0; i < n; i++) {
            const double value = sn_raw_number(&raw, i, k);
            sum += value;
            squares += value * value;
        }
        *centred = *centred && is_no_mean(sum, squares, n);
    }
    return STONET_OK;
}

stonet_status stonet_model_met(const stonet_model *model, const stonet_data *data, int *met)
{
    if (model == NULL || data == NULL || met == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_model_met needs a model, data and room for the answer");
    *met = 0;
    if (stonet_data_rows(data) != model->n_train) return STONET_OK;
    SN_TRY(sn_frame_check(data));
    const bool centred = model->schema->scale != SN_SCALE_NONE;
    const bool numbers = sn_schema_outputs(model->schema) > 0 && model->schema->task == SN_REGRESSION &&
                         data->y != NULL && !sn_schema_has_law(model->schema);
    if (!centred && !numbers) return STONET_OK;
    bool same = true;
    if (numbers) SN_TRY(response_is_centred(model, data, &same));
    if (same && centred) SN_TRY(features_are_centred(model, data, numbers, &same));
    *met = same;
    return STONET_OK;
}
