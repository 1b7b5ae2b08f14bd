/* Which columns of a table are curves, and the moments of what these become. */
#include <string.h>

#include "base/memory.h"
#include "data/schema_parts.h"

/* The window of a derivative is this part of the curve where none is given: what is narrower is noise. */
enum { WINDOWS_A_CURVE = 15 };

static bool can_be_channel(const sn_input *input)
{
    return input->kind == SN_COLUMN_NUMBER && !input->is_date && !input->left_out;
}

/* The input of this name, or with this number from 1; -1: none. */
static int64_t find_input(const sn_schema *schema, const char *text, size_t length, bool by_name)
{
    int64_t number = 0;
    for (size_t k = 0; !by_name && k < length; k++) {
        if (text[k] < '0' || text[k] > '9' || number > schema->n_inputs) return -1;
        number = 10 * number + (text[k] - '0');
    }
    if (!by_name) return number <= schema->n_inputs ? number - 1 : -1;
    for (int64_t j = 0; j < schema->n_inputs; j++)
        if (strncmp(schema->input[j].name, text, length) == 0 && schema->input[j].name[length] == '\0')
            return j;
    return -1;
}

/* "FIRST-LAST": two names, which may have hyphens of their own, else two numbers. */
static stonet_status find_range(const sn_schema *schema, const char *text, size_t length, int64_t *first,
                                int64_t *last)
{
    for (int by_name = 1; by_name >= 0; by_name--)
        for (size_t k = 1; k + 1 < length; k++) {
            if (text[k] != '-') continue;
            *first = find_input(schema, text, k, by_name);
            *last = find_input(schema, text + k + 1, length - k - 1, by_name);
            if (*first >= 0 && *last > *first) return STONET_OK;
        }
    return sn_fail(
        STONET_ERROR_ARGUMENT,
        "curves_columns: '%.*s' is no range of the %lld feature columns: give the names or numbers "
        "of the first and the last channel, such as 850-1048",
        (int)length, text, (long long)schema->n_inputs);
}

/* Marks the columns of each range as one curve. */
static stonet_status mark_ranges(sn_schema *schema, const char *text)
{
    for (int64_t curve = 1;; curve++, text++) {
        int64_t first = 0, last = -1;
        const size_t length = strcspn(text, ",");
        SN_TRY(find_range(schema, text, length, &first, &last));
        for (int64_t j = first; j <= last; j++) {
            sn_input *input = &schema->input[j];
            if (!can_be_channel(input) || input->curve != 0)
                return sn_fail(STONET_ERROR_ARGUMENT, "curves_columns: column '%s' %s", input->name,
                               input->curve != 0 ? "is in two curves" : "is not one of plain numbers");
            input->curve = curve;
        }
        text += length;
        if (*text == '\0') return STONET_OK;
    }
}

stonet_status sn_schema_find_curves(sn_schema *schema, const stonet_data *train, const sn_encoding *wanted)
{
    if (wanted->curves == SN_CURVE_NONE) return STONET_OK;
    if (train->sparse != NULL)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "%s is sparse, and curves=%s is for full tables: write the table as .npy or .csv",
                       sn_table_name(train), sn_words_name(&sn_curve_words, wanted->curves));
    if (wanted->curve_columns != NULL) SN_TRY(mark_ranges(schema, wanted->curve_columns));
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        sn_input *input = &schema->input[j];
        if (wanted->curve_columns == NULL && can_be_channel(input)) input->curve = 1;
        if (input->curve != 0 && train->exact != NULL && train->exact[train->column[j].slot].at != NULL)
            schema->curves.fine = true;
    }
    schema->curves.how = wanted->curves;
    schema->curves.window = wanted->curve_window;
    return STONET_OK;
}

int64_t sn_curve_channels(const sn_schema *schema, int64_t curve, int64_t *input)
{
    int64_t m = 0;
    for (int64_t j = 0; j < schema->n_inputs; j++)
        if (schema->input[j].curve == curve && curve != 0) {
            if (input != NULL) input[m] = j;
            m++;
        }
    return m;
}

stonet_status sn_schema_check_curves(sn_schema *schema)
{
    sn_curves *curves = &schema->curves;
    int64_t shortest = SN_CURVE_MOST, most = 0;
    if (curves->how == SN_CURVE_NONE) return STONET_OK;
    for (int64_t j = 0; j < schema->n_inputs; j++)
        if (schema->input[j].curve > most) most = schema->input[j].curve;
    schema->n_curves = most;
    for (int64_t curve = 1; curve <= (most > 0 ? most : 1); curve++) {
        const int64_t m = sn_curve_channels(schema, curve, NULL);
        if (m < SN_CURVE_FEWEST || m > SN_CURVE_MOST)
            return sn_fail(
                STONET_ERROR_DATA, "curves=%s needs %d to %d columns of numbers, and there are %lld",
                sn_words_name(&sn_curve_words, curves->how), SN_CURVE_FEWEST, SN_CURVE_MOST, (long long)m);
        if (m < shortest) shortest = m;
    }
    if (curves->window == 0) {
        curves->window = shortest / WINDOWS_A_CURVE / 2 * 2 + 1;
        if (curves->window < SN_CURVE_FEWEST) curves->window = SN_CURVE_FEWEST;
    }
    if (curves->window % 2 == 0 || curves->window < SN_CURVE_FEWEST || curves->window > shortest)
        return sn_fail(
            STONET_ERROR_ARGUMENT,
            "curves_window=%lld: a window has an odd number of channels, %d to the %lld of the curve",
            (long long)curves->window, SN_CURVE_FEWEST, (long long)shortest);
    return STONET_OK;
}

stonet_status sn_curve_matrix(const sn_curves *curves, int64_t m, double *a)
{
    SN_ZEROS(m, double, unit);
    SN_ARRAY(m, double, made);
    for (int64_t j = 0; j < m; j++) {
        unit[j] = 1.0;
        sn_curve_linear(curves, m, unit, made);
        unit[j] = 0.0;
        for (int64_t k = 0; k < m; k++) a[k * m + j] = made[k];
    }
    return STONET_OK;
}

bool sn_curve_fetch(const sn_curves *curves, const stonet_data *data, int64_t row, int64_t m,
                    const int64_t *slot, double *out)
{
    double x[SN_CURVE_MOST];
    const float *from = data->x + row * data->n_numeric;
    for (int64_t k = 0; k < m; k++)
        x[k] = curves->fine ? sn_frame_number(data, row, slot[k]) : (double)from[slot[k]];
    return sn_curve_prepare(curves, m, x, out);
}

/* Means and variances of one curve's features by two passes over the rows. */
static stonet_status moments_of(sn_schema *schema, const stonet_data *train, int64_t curve, double *variance)
{
    double total = 0.0, all = 0.0;
    const int64_t m = sn_curve_channels(schema, curve, NULL);
    SN_ARRAY(m, int64_t, input);
    SN_ARRAY(m, int64_t, slot);
    SN_ARRAY(m, double, values);
    SN_ZEROS(m, double, mean);
    SN_ZEROS(m, double, squares);
    sn_curve_channels(schema, curve, input);
    for (int64_t k = 0; k < m; k++) slot[k] = train->column[input[k]].slot;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < train->n; i++) {
            const double weight = train->weight != NULL ? train->weight[i] : 1.0;
            const bool there = sn_curve_fetch(&schema->curves, train, i, m, slot, values);
            sn_frame_passed(train, i);
            if (!there) continue;
            if (pass == 0) total += weight;
            for (int64_t k = 0; k < m; k++)
                if (pass == 0)
                    mean[k] += weight * values[k];
                else
                    squares[k] += weight * (values[k] - mean[k]) * (values[k] - mean[k]);
        }
        for (int64_t k = 0; pass == 0 && k < m; k++) mean[k] = total > 0.0 ? mean[k] / total : 0.0;
    }
    for (int64_t k = 0; k < m; k++) all += squares[k] / (double)m;
    for (int64_t k = 0; k < m; k++) {
        const int64_t f = schema->input[input[k]].first_feature;
        schema->mean[f] = mean[k];
        /* A channel that hardly varies beside the others varies by rounding. */
        variance[f] = squares[k] > 1e-20 * all ? squares[k] / total : 0.0;
    }
    return STONET_OK;
}

stonet_status sn_schema_curve_moments(sn_schema *schema, const stonet_data *train, double *variance)
{
    for (int64_t curve = 1; curve <= schema->n_curves; curve++)
        SN_TRY(moments_of(schema, train, curve, variance));
    return STONET_OK;
}

stonet_status sn_schema_roughness(const sn_schema *schema, const stonet_data *train, double *out)
{
    enum { ROWS = 500 };
    const sn_curves centre = {.how = SN_CURVE_CENTRE, .fine = schema->curves.fine};
    const int64_t every = train->n / ROWS + 1;
    double sum = 0.0, value[SN_CURVE_MOST];
    int64_t curves = 0;
    SN_ARRAY(schema->n_inputs, int64_t, slot);
    for (int64_t curve = 1; curve <= schema->n_curves; curve++) {
        const int64_t m = sn_curve_channels(schema, curve, slot);
        for (int64_t k = 0; k < m; k++) slot[k] = train->column[slot[k]].slot;
        for (int64_t i = 0; i < train->n; i += every) {
            if (!sn_curve_fetch(&centre, train, i, m, slot, value)) continue;
            double steps = 0.0, squares = value[0] * value[0];
            for (int64_t k = 1; k < m; k++) {
                steps += (value[k] - value[k - 1]) * (value[k] - value[k - 1]);
                squares += value[k] * value[k];
            }
            if (!(squares > 0.0)) continue;
            sum += steps / (2.0 * squares);
            curves++;
        }
    }
    *out = curves > 0 ? sum / (double)curves : 1.0;
    return STONET_OK;
}
