/*
 * Times and counts of a table as their law sees them (stats/law.h).
 *
 *     survival   a time above 0 and, in a second column, 1 where it was seen and 0 where it is censored
 *     interval   two bounds of a time; NaN or 0 below, NaN above: open
 *     count      a whole number and, in a second column, its exposure
 *
 * Times become logarithms, centred and scaled by the mean and the standard deviation of the log-normal law
 * that fits all rows best. Counts get the offset log(exposure) + log(all counts / all exposure).
 */
#include <math.h>

#include "base/memory.h"
#include "data/schema_parts.h"

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
    if (different == 0)
        return sn_fail(STONET_ERROR_DATA,
                       "the target '%s' is the same in all %lld rows: there is nothing to learn",
                       schema->target_name[0], (long long)n);
    return STONET_OK;
}

stonet_status sn_schema_fit_law(sn_schema *schema, const stonet_data *train, const stonet_run *run)
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
    SN_TRY(SN_NEW(schema->target_mean, train->n_targets));
    SN_TRY(SN_NEW(schema->target_sd, train->n_targets));
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
