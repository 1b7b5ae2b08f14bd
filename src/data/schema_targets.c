/*
 * The response of the training table: classes, numbers and their scale, or times and counts as their law sees
 * them (stats/law.h).
 *
 *     survival   a time above 0 and, in a second column, 1 where it was seen and 0 where it is censored
 *     interval   two bounds of a time; NaN or 0 below, NaN above: open
 *     count      a whole number and, in a second column, its exposure
 *
 * Times become logarithms, centred and scaled by the mean and the standard deviation of the log-normal law
 * that fits all rows best. Counts get the offset log(exposure) + log(all counts / all exposure).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/dictionary.h"
#include "data/moments.h"
#include "data/schema_parts.h"
#include "math/smallest.h"

enum { MAX_AUTO_CLASSES = 20 }; /* a numeric target with more distinct values is a quantity and not a class */

/* The values of the target, sorted. False if they are too many to guess classes or, with `whole`, if one is
   no whole number. */
static bool has_few_values(const stonet_data *train, bool whole, double *values, int64_t *count)
{
    *count = 0;
    for (int64_t i = 0; i < train->n; i++) {
        const double value = train->y[i];
        int64_t k = 0;
        while (k < *count && values[k] != value) k++;
        if ((whole && value != floor(value)) || k == MAX_AUTO_CLASSES) return false;
        if (k == *count) values[(*count)++] = value;
        sn_frame_passed_response(train, i);
    }
    qsort(values, (size_t)*count, sizeof *values, sn_by_double);
    return true;
}

/* The distinct values of y, sorted: an array that the caller frees. */
static stonet_status distinct_values(const double *y, int64_t n, double **out, int64_t *count)
{
    double *values;
    SN_TRY(SN_NEW_RAW(values, n));
    *out = values;
    memcpy(values, y, (size_t)n * sizeof *values);
    qsort(values, (size_t)n, sizeof *values, sn_by_double);
    *count = 0;
    for (int64_t i = 0; i < n; i++)
        if (*count == 0 || values[i] != values[*count - 1]) values[(*count)++] = values[i];
    return STONET_OK;
}

static stonet_status nothing_to_learn(const sn_schema *schema, int64_t target, int64_t n)
{
    return sn_fail(STONET_ERROR_DATA,
                   "the target '%s' is the same in all %lld rows: there is nothing to learn",
                   schema->target_name[target], (long long)n);
}

static stonet_status check_classes(const sn_schema *schema, int64_t classes, int64_t n)
{
    if (classes < 2) return nothing_to_learn(schema, 0, n);
    if (sn_is_identifier(classes, n))
        return sn_fail(
            STONET_ERROR_DATA,
            "the target '%s' has %lld distinct values in %lld rows, too many for classes: is it the right "
            "column, or should the task be regression?",
            schema->target_name[0], (long long)classes, (long long)n);
    return STONET_OK;
}

/* The labels in the order of the table's codes, without those that no row has. */
static stonet_status fit_text_classes(sn_schema *schema, const stonet_data *train)
{
    SN_ZEROS(train->labels.count, bool, met);
    for (int64_t i = 0; i < train->n; i++) {
        met[train->label[i]] = true;
        sn_frame_passed_response(train, i);
    }
    SN_TRY(SN_NEW(schema->classes.text, train->labels.count));
    for (int64_t c = 0; c < train->labels.count; c++)
        if (met[c]) SN_TRY(sn_dictionary_add(&schema->classes, train->labels.text[c]));
    schema->task = SN_CLASSIFICATION;
    return check_classes(schema, schema->classes.count, train->n);
}

/* A number as the file has it (01, 2.0), the first where there are several ways; else its plain digits. */
static const char *label_of(const stonet_data *train, double value, char plain[SN_NUMBER_SIZE])
{
    const double whole = 9007199254740992.0; /* 2^53: up to here all whole numbers are doubles */
    for (int64_t k = 0; k < train->spelled.count; k++) {
        double spelled;
        const char *text = train->spelled.text[k], *stop = sn_number_read(text, &spelled);
        if (stop != NULL && *stop == '\0' && spelled == value) return text;
    }
    if (value == floor(value) && fabs(value) <= whole)
        snprintf(plain, SN_NUMBER_SIZE, "%.0f", value + 0.0);
    else
        sn_number_print(value, plain);
    return plain;
}

/* values (distinct): the different numbers of the target, ascending, which is the order of the classes.
   Labels keep the spelling of the file (007). Two long labels that are the same double are an error. */
static stonet_status fit_numeric_classes(sn_schema *schema, const stonet_data *train, const double *values,
                                         int64_t distinct)
{
    const char *other, *lost = sn_dictionary_lost_digits(&train->spelled, &other);
    schema->task = SN_CLASSIFICATION;
    SN_TRY(check_classes(schema, distinct, train->n));
    if (lost != NULL)
        return sn_fail(
            STONET_ERROR_DATA,
            "the labels %s and %s of the target '%s' are the same number in double precision: put a "
            "letter before them",
            other, lost, schema->target_name[0]);
    SN_TRY(SN_NEW(schema->classes.text, distinct));
    for (int64_t k = 0; k < distinct; k++) {
        char plain[SN_NUMBER_SIZE];
        SN_TRY(sn_dictionary_add(&schema->classes, label_of(train, values[k], plain)));
    }
    return STONET_OK;
}

static stonet_status check_target(const sn_schema *schema, int64_t k, int64_t n, const sn_moments *columns)
{
    if (columns->low[k] == columns->high[k]) return nothing_to_learn(schema, k, n);
    if (!isfinite(columns->variance[k]) || columns->variance[k] == 0)
        return sn_fail(STONET_ERROR_DATA,
                       "the values of the target '%s' are too large or too close to compute with",
                       schema->target_name[k]);
    return STONET_OK;
}

static void rest_response(const stonet_data *table, int64_t first, int64_t count)
{
    sn_frame_passed_response(table, first + count - 1);
}

/* Population mean and standard deviation of each target. */
static stonet_status fit_regression(sn_schema *schema, const stonet_data *train, const stonet_run *run)
{
    const int64_t m = train->n_targets;
    schema->task = SN_REGRESSION;
    SN_FREED_BY(sn_moments_clear) sn_moments columns = {0};
    SN_TRY(sn_moments_of(&(sn_numbers){.doubles = train->y,
                                       .n = train->n,
                                       .m = m,
                                       .weight = train->weight,
                                       .team = run != NULL ? run->team : NULL,
                                       .rest = rest_response,
                                       .table = train},
                         &columns));
    for (int64_t k = 0; k < m; k++) {
        SN_TRY(check_target(schema, k, train->n, &columns));
        schema->target_mean[k] = columns.mean[k];
        schema->target_sd[k] = sqrt(columns.variance[k]);
    }
    return STONET_OK;
}

/* Numbers as classes, if that is what they are: few whole ones, each often. Anything else is a quantity. */
static stonet_status fit_numbers(sn_schema *schema, const stonet_data *train, sn_task_wish wish,
                                 const stonet_run *run)
{
    const bool automatic = wish == SN_TASK_AUTO;
    double few[MAX_AUTO_CLASSES];
    SN_BLOCK double *values = NULL;
    int64_t count;
    if (wish == SN_TASK_WISH_REGRESSION || (automatic && train->n_targets > 1))
        return fit_regression(schema, train, run);
    if (train->n_targets > 1)
        return sn_fail(STONET_ERROR_DATA, "classification takes one target, and there are %lld",
                       (long long)train->n_targets);
    const bool are_few = has_few_values(train, automatic, few, &count);
    if (automatic && (!are_few || (count != 2 && 10 * count > train->n)))
        return fit_regression(schema, train, run);
    if (!are_few) SN_TRY(distinct_values(train->y, train->n, &values, &count));
    SN_TRY(fit_numeric_classes(schema, train, are_few ? few : values, count));
    if (automatic)
        sn_message(run, STONET_NOTE,
                   "the target '%s' has %lld distinct whole values: classification (see the setting 'task')",
                   schema->target_name[0], (long long)count);
    return STONET_OK;
}

/* ---- times and counts ----------------------------------------------------------------------------- */

/* A row as the file has it. */
typedef struct cells {
    const char *table, *first, *second; /* names */
    int64_t row;                        /* 1-based */
    double a, b;                        /* b is NaN without a second column */
    bool has_b;
} cells;

static stonet_status read_time(const cells *c, double *seen)
{
    if (!(c->a > 0.0) || isinf(c->a))
        return sn_fail(STONET_ERROR_DATA, "%s: row %lld has the time %g in '%s': times must be above 0",
                       c->table, (long long)c->row, c->a, c->first);
    if (c->has_b && c->b != 0.0 && c->b != 1.0)
        return sn_fail(STONET_ERROR_DATA, "%s: row %lld has %g in '%s': an event is 1 (seen) or 0 (censored)",
                       c->table, (long long)c->row, c->b, c->second);
    seen[0] = log(c->a);
    seen[1] = c->has_b && c->b == 0.0 ? (double)INFINITY : seen[0];
    return STONET_OK;
}

static stonet_status read_interval(const cells *c, double *seen)
{
    const double low = isnan(c->a) ? 0.0 : c->a, high = isnan(c->b) ? (double)INFINITY : c->b;
    if (low < 0.0 || !(high > 0.0))
        return sn_fail(STONET_ERROR_DATA, "%s: row %lld has the bounds %g and %g: times must be above 0",
                       c->table, (long long)c->row, low, high);
    if (low > high)
        return sn_fail(STONET_ERROR_DATA, "%s: row %lld has %g in '%s', above the %g in '%s'", c->table,
                       (long long)c->row, low, c->first, high, c->second);
    seen[0] = log(low);
    seen[1] = log(high);
    return STONET_OK;
}

static stonet_status read_count(const cells *c, double *seen)
{
    if (!(c->a >= 0.0) || c->a != floor(c->a) || isinf(c->a))
        return sn_fail(STONET_ERROR_DATA, "%s: row %lld has %g in '%s': counts must be whole numbers from 0",
                       c->table, (long long)c->row, c->a, c->first);
    if (c->has_b && (!(c->b > 0.0) || isinf(c->b)))
        return sn_fail(STONET_ERROR_DATA, "%s: row %lld has the exposure %g in '%s': it must be above 0",
                       c->table, (long long)c->row, c->b, c->second);
    seen[0] = c->a;
    seen[1] = c->has_b ? log(c->b) : 0.0;
    return STONET_OK;
}

/* What is seen of all rows, not scaled. */
static stonet_status read_rows(const sn_schema *schema, const stonet_data *data, double *seen)
{
    const int64_t m = data->n_targets;
    cells c = {.table = sn_table_name(data), .first = schema->target_name[0], .has_b = m > 1};
    SN_TRY(sn_schema_check_targets(schema, data));
    if (data->y == NULL)
        return sn_fail(STONET_ERROR_DATA, "the target '%s' of %s is text, and task=%s needs numbers", c.first,
                       c.table, sn_schema_task_word(schema));
    c.second = c.has_b ? schema->target_name[1] : "";
    for (int64_t i = 0; i < data->n; i++) {
        c.row = i + 1;
        c.a = data->y[i * m];
        c.b = c.has_b ? data->y[i * m + 1] : (double)NAN;
        double *to = seen + i * SN_LAW_SEEN;
        SN_TRY(schema->law == SN_LAW_TIMES    ? read_time(&c, to)
               : schema->law == SN_LAW_COUNTS ? read_count(&c, to)
                                              : read_interval(&c, to));
        sn_frame_passed_response(data, i);
    }
    return STONET_OK;
}

/* A log-normal time whose logarithm has this mean and deviation; or the mean log rate of counts. */
static stonet_status fit_scale(sn_schema *schema, const stonet_data *train, double *seen)
{
    double sums[2] = {0.0, 0.0}, parameter[SN_LAW_PARAMETERS], low = (double)INFINITY, high = -low;
    const sn_law_sample sample = {.n = train->n, .seen = seen, .weight = train->weight};
    for (int64_t i = 0; i < train->n; i++) {
        const double weight = train->weight != NULL ? train->weight[i] : 1.0;
        const double *row = seen + i * SN_LAW_SEEN;
        sums[0] += weight * row[0];
        sums[1] += weight * exp(row[1]);
        for (int k = 0; k < 2; k++) {
            if (isfinite(row[k])) low = fmin(low, row[k]);
            if (isfinite(row[k])) high = fmax(high, row[k]);
        }
    }
    if (schema->law == SN_LAW_COUNTS) {
        if (!(sums[0] > 0.0))
            return sn_fail(STONET_ERROR_DATA,
                           "the target '%s' is 0 in all %lld rows: there is nothing to learn",
                           schema->target_name[0], (long long)train->n);
        schema->target_mean[0] = log(sums[0] / sums[1]);
        return STONET_OK;
    }
    /* Starts near the answer: the middle of the finite bounds, in units of a quarter of their range. */
    const double middle = 0.5 * (low + high), unit = high > low ? 0.25 * (high - low) : 1.0;
    for (int64_t k = 0; k < train->n * SN_LAW_SEEN; k++) seen[k] = (seen[k] - middle) / unit;
    sn_law_fit(sn_law_find(schema->law, "normal"), &sample, true, parameter);
    schema->target_mean[0] = middle + unit * parameter[0];
    schema->target_sd[0] = unit * exp(parameter[1]);
    return STONET_OK;
}

/* seen (n x SN_LAW_SEEN): the log bounds of each time, or a count and its offset. If no row
   has a finite upper bound, the likelihood grows with the times for ever. */
static stonet_status check_rows(const sn_schema *schema, int64_t n, const double *seen)
{
    int64_t bounded = 0, different = 0;
    for (int64_t i = 0; i < n; i++) {
        const double *row = seen + i * SN_LAW_SEEN;
        bounded += isfinite(row[1]) ? 1 : 0;
        different += row[0] != seen[0] || row[1] != seen[1] ? 1 : 0;
    }
    if (bounded == 0)
        return sn_fail(STONET_ERROR_DATA,
                       "all %lld rows of '%s' are censored on the right: nothing says how long a time is",
                       (long long)n, schema->target_name[0]);
    return different > 0 ? STONET_OK : nothing_to_learn(schema, 0, n);
}

/* Checks times or counts, and learns their scale. */
static stonet_status fit_law(sn_schema *schema, const stonet_data *train, const stonet_run *run)
{
    const int64_t most = 2, least = schema->law == SN_LAW_INTERVALS ? 2 : 1;
    schema->task = SN_REGRESSION;
    if (train->n_targets < least || train->n_targets > most)
        return sn_fail(STONET_ERROR_DATA, "task=%s takes %s, and there are %lld target columns",
                       sn_schema_task_word(schema),
                       schema->law == SN_LAW_TIMES       ? "a time and its event"
                       : schema->law == SN_LAW_INTERVALS ? "a lower and an upper bound"
                                                         : "a count and its exposure",
                       (long long)train->n_targets);
    for (int64_t k = 0; k < train->n_targets; k++) schema->target_sd[k] = 1.0;
    SN_ARRAY(train->n * SN_LAW_SEEN, double, seen);
    SN_TRY(read_rows(schema, train, seen));
    SN_TRY(check_rows(schema, train->n, seen));
    SN_TRY(fit_scale(schema, train, seen));
    if (schema->law == SN_LAW_TIMES && train->n_targets == 1)
        sn_message(run, STONET_NOTE,
                   "all %lld times of '%s' count as seen: no second target (--event) says which are censored",
                   (long long)train->n, schema->target_name[0]);
    if (isfinite(schema->target_mean[0]) && schema->target_sd[0] > 0.0) return STONET_OK;
    return sn_fail(STONET_ERROR_DATA, "the values of the target '%s' are too close to compute with",
                   schema->target_name[0]);
}

stonet_status sn_schema_encode_law(const sn_schema *schema, const stonet_data *data, double *seen, double *y)
{
    const double none[SN_LAW_PARAMETERS] = {0.0, 0.0, 1.0};
    const double mean = schema->target_mean[0], sd = schema->target_sd[0];
    const sn_law *law = sn_law_find(schema->law, "auto");
    SN_TRY(read_rows(schema, data, seen));
    for (int64_t i = 0; i < data->n; i++) {
        double *row = seen + i * SN_LAW_SEEN;
        if (schema->law == SN_LAW_COUNTS) {
            row[1] += mean;
            /* the log rate over the mean one, half a count more in both */
            if (y != NULL) y[i] = log((row[0] + 0.5) / (exp(row[1]) + 0.5));
            continue;
        }
        for (int k = 0; k < SN_LAW_SEEN; k++) row[k] = (row[k] - mean) / sd;
        if (y != NULL) y[i] = law->pull(law, row, 0.0, none, 0.0);
    }
    return STONET_OK;
}

stonet_status sn_schema_refuse_open(const stonet_data *train)
{
    for (int64_t i = 0; i < train->n; i++) {
        for (int64_t k = 0; k < train->n_targets; k++)
            if (!isfinite(train->y[i * train->n_targets + k]))
                return sn_fail(STONET_ERROR_DATA,
                               "row %lld of %s has no target: open bounds are for task=interval",
                               (long long)i + 1, sn_table_name(train));
        sn_frame_passed_response(train, i);
    }
    return STONET_OK;
}

stonet_status sn_schema_fit_targets(sn_schema *schema, const stonet_data *train, sn_task_wish wish,
                                    const stonet_run *run)
{
    if (train->n_targets == 0 && wish == SN_TASK_WISH_NONE) {
        schema->task = SN_REGRESSION; /* of no outputs */
        return STONET_OK;
    }
    if (train->n_targets == 0)
        return sn_fail(STONET_ERROR_DATA, "%s has no target: name the target column or the target file",
                       sn_table_name(train));
    SN_TRY(SN_NEW(schema->target_name, train->n_targets));
    SN_TRY(SN_NEW(schema->target_position, train->n_targets));
    SN_TRY(SN_NEW(schema->target_mean, train->n_targets));
    SN_TRY(SN_NEW(schema->target_sd, train->n_targets));
    schema->n_targets = train->n_targets;
    for (int64_t k = 0; k < train->n_targets; k++) {
        schema->target_position[k] = train->target_position[k];
        SN_TRY(sn_text_copy(train->target_name[k], &schema->target_name[k]));
    }
    schema->law = sn_wish_law(wish);
    const bool told = wish == SN_TASK_AUTO && train->label != NULL && train->labels.told;
    if (told) schema->law = SN_LAW_ORDERED;
    if (train->label == NULL && schema->law != SN_LAW_INTERVALS) SN_TRY(sn_schema_refuse_open(train));
    if (sn_schema_has_law(schema)) return fit_law(schema, train, run);
    if (schema->law == SN_LAW_ORDERED && train->label != NULL && !train->labels.ordered)
        return sn_fail(
            STONET_ERROR_DATA,
            "the classes of the target '%s' are texts without an order: say it (ordinal), or write them as "
            "numbers",
            schema->target_name[0]);
    if (train->label == NULL) return fit_numbers(schema, train, wish, run);
    if (wish == SN_TASK_WISH_REGRESSION)
        return sn_fail(STONET_ERROR_DATA, "the target '%s' holds labels, and regression needs numbers",
                       schema->target_name[0]);
    SN_TRY(fit_text_classes(schema, train));
    if (told)
        sn_message(run, STONET_NOTE, "the classes of '%s' are ordered, %s to %s (see the setting 'task')",
                   schema->target_name[0], schema->classes.text[0],
                   schema->classes.text[schema->classes.count - 1]);
    return STONET_OK;
}
