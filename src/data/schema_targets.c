/* The response of the training table: classes, or numbers and their scale. */
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

static stonet_status check_classes(const sn_schema *schema, int64_t classes, int64_t n)
{
    if (classes < 2)
        return sn_fail(STONET_ERROR_DATA,
                       "the target '%s' is the same in all %lld rows: there is nothing to learn",
                       schema->target_name[0], (long long)n);
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
    if (columns->low[k] == columns->high[k])
        return sn_fail(STONET_ERROR_DATA,
                       "the target '%s' is the same in all %lld rows: there is nothing to learn",
                       schema->target_name[k], (long long)n);
    if (!isfinite(columns->variance[k]) || columns->variance[k] == 0)
        return sn_fail(STONET_ERROR_DATA,
                       "the values of the target '%s' are too large or too close to compute with",
                       schema->target_name[k]);
    return STONET_OK;
}

static void rest_response(const void *table, int64_t first, int64_t count)
{
    sn_frame_passed_response(table, first + count - 1);
}

/* Population mean and standard deviation of each target. */
static stonet_status fit_regression(sn_schema *schema, const stonet_data *train, stonet_team *team)
{
    const int64_t m = train->n_targets;
    schema->task = SN_REGRESSION;
    SN_TRY(SN_NEW(schema->target_mean, m));
    SN_TRY(SN_NEW(schema->target_sd, m));
    SN_FREED_BY(sn_moments_clear) sn_moments columns = {0};
    const sn_rest rests = {.rest = rest_response, .user = train};
    SN_TRY(sn_moments_of(&(sn_numbers){.doubles = train->y,
                                       .n = train->n,
                                       .m = m,
                                       .weight = train->weight,
                                       .team = team,
                                       .rest = &rests},
                         &columns));
    for (int64_t k = 0; k < m; k++) {
        SN_TRY(check_target(schema, k, train->n, &columns));
        schema->target_mean[k] = columns.mean[k];
        schema->target_sd[k] = sqrt(columns.variance[k]);
    }
    return STONET_OK;
}

/* One target of numbers as classes, if that is what they are. */
static stonet_status fit_one_number(sn_schema *schema, const stonet_data *train, sn_task_wish wish,
                                    const stonet_run *run)
{
    double few[MAX_AUTO_CLASSES];
    SN_BLOCK double *values = NULL;
    int64_t count;
    if (has_few_values(train, wish == SN_TASK_AUTO, few, &count)) {
        /* Few whole numbers, each often: classes. Anything else is a quantity. */
        if (wish == SN_TASK_AUTO && count != 2 && 10 * count > train->n)
            return fit_regression(schema, train, run != NULL ? run->team : NULL);
        SN_TRY(fit_numeric_classes(schema, train, few, count));
        if (wish == SN_TASK_AUTO)
            sn_message(
                run, STONET_NOTE,
                "the target '%s' has %lld distinct whole values: classification (see the setting 'task')",
                schema->target_name[0], (long long)count);
        return STONET_OK;
    }
    if (wish == SN_TASK_AUTO) return fit_regression(schema, train, run != NULL ? run->team : NULL);
    SN_TRY(distinct_values(train->y, train->n, &values, &count));
    return fit_numeric_classes(schema, train, values, count);
}

static stonet_status fit_numeric_response(sn_schema *schema, const stonet_data *train, sn_task_wish wish,
                                          const stonet_run *run)
{
    if (wish == SN_TASK_WISH_REGRESSION || (wish == SN_TASK_AUTO && train->n_targets > 1))
        return fit_regression(schema, train, run != NULL ? run->team : NULL);
    if (train->n_targets > 1)
        return sn_fail(STONET_ERROR_DATA, "classification takes one target, and there are %lld",
                       (long long)train->n_targets);
    return fit_one_number(schema, train, wish, run);
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
                       train->source != NULL ? train->source : "the table");
    SN_TRY(SN_NEW(schema->target_name, train->n_targets));
    SN_TRY(SN_NEW(schema->target_position, train->n_targets));
    schema->n_targets = train->n_targets;
    for (int64_t k = 0; k < train->n_targets; k++) {
        schema->target_position[k] = train->target_position[k];
        SN_TRY(sn_text_copy(train->target_name[k], &schema->target_name[k]));
    }
    schema->law = sn_wish_law(wish);
    const bool told = wish == SN_TASK_AUTO && train->label != NULL && train->labels.told;
    if (told) schema->law = SN_LAW_ORDERED;
    if (train->label == NULL && schema->law != SN_LAW_INTERVALS) SN_TRY(sn_schema_refuse_open(train));
    if (sn_schema_has_law(schema)) return sn_schema_fit_law(schema, train, run);
    if (schema->law == SN_LAW_ORDERED && train->label != NULL && !train->labels.ordered)
        return sn_fail(
            STONET_ERROR_DATA,
            "the classes of the target '%s' are texts without an order: say it (ordinal), or write them as "
            "numbers",
            schema->target_name[0]);
    if (train->label == NULL) return fit_numeric_response(schema, train, wish, run);
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
