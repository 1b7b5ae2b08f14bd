/* Results as text: JSON and CSV. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/number.h"
#include "model/settings_json.h"
#include "select/results.h"

/* JSON has no NaN: sn_json_number writes null for values of splits that failed. "chosen" is there only if
   some split was tuned. */
static json_t *row_json(const stonet_results *results, const sn_row *row)
{
    json_t *values = json_array();
    for (int64_t k = 0; k < results->n_splits; k++)
        values = sn_json_add(values, sn_json_number(row->value[k]));
    json_t *object =
        json_pack("{s:s, s:I, s:o, s:s, s:o, s:o, s:f, s:o, s:o}", "method", row->spec->method->name, "dim",
                  (json_int_t)sn_row_dim(row), "settings", sn_spec_settings_json(row->spec), "criterion",
                  stonet_results_criterion(results), "mean", sn_json_number(row->mean), "se",
                  sn_json_number(row->se), "seconds", row->seconds, "values", values, "failure",
                  row->failure != NULL ? json_string(row->failure) : json_null());
    object = sn_json_put(object, "learner", row->learners != NULL ? json_string(row->learners) : json_null());
    if (results->compares) object = sn_json_put(object, "p_value", sn_json_number(row->p_value));
    bool tuned = false;
    json_t *chosen = json_array();
    for (int64_t k = 0; k < results->n_splits; k++) {
        tuned = tuned || row->chosen[k] != NULL;
        chosen = sn_json_add(chosen, row->chosen[k] != NULL ? json_incref(row->chosen[k]) : json_null());
    }
    if (tuned) return sn_json_put(object, "chosen", chosen);
    json_decref(chosen);
    return object;
}

char *stonet_results_json(const stonet_results *results)
{
    if (results == NULL) {
        sn_fail(STONET_ERROR_ARGUMENT, "there are no results to write");
        return NULL;
    }
    json_t *list = json_array();
    for (int64_t i = 0; i < results->n_rows; i++)
        list = sn_json_add(list, row_json(results, &results->row[i]));
    return sn_json_text(list, true);
}

/* Each row is one line. */
static int put_in_line(const char *bytes, size_t count, void *out)
{
    for (size_t i = 0; i < count; i++) fputc(bytes[i] == '\n' ? ' ' : bytes[i], out);
    return 0;
}

static void csv_text(FILE *out, const char *text)
{
    stonet_csv_cell(text, put_in_line, out);
}

/* An empty cell where there is no number. */
static void csv_number(FILE *out, double value)
{
    fputc(',', out);
    char text[32];
    if (!isfinite(value)) return;
    sn_format(text, sizeof text, "%.10g", value);
    fputs(text, out);
}

static void csv_row(FILE *out, const stonet_results *results, const sn_row *row)
{
    fprintf(out, "%s,%lld,", row->spec->method->name, (long long)sn_row_dim(row));
    csv_text(out, row->settings);
    fputc(',', out);
    if (row->learners != NULL) csv_text(out, row->learners);
    csv_number(out, row->mean);
    csv_number(out, row->se);
    csv_number(out, row->seconds);
    if (results->compares) csv_number(out, row->p_value);
    for (int64_t k = 0; k < results->n_splits; k++) csv_number(out, row->value[k]);
    fputc(',', out);
    if (row->failure != NULL) csv_text(out, row->failure);
    fputc('\n', out);
}

char *stonet_results_csv(const stonet_results *results)
{
    if (results == NULL) {
        sn_fail(STONET_ERROR_ARGUMENT, "there are no results to write");
        return NULL;
    }
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        sn_fail(STONET_ERROR_MEMORY, "memory ran out while writing CSV");
        return NULL;
    }
    fprintf(out, "method,dim,settings,learner,mean,se,seconds%s", results->compares ? ",p_value" : "");
    for (int64_t k = 0; k < results->n_splits; k++) fprintf(out, ",split%lld", (long long)k + 1);
    fputs(",failure\n", out);
    for (int64_t i = 0; i < results->n_rows; i++) csv_row(out, results, &results->row[i]);
    bool whole = ferror(out) == 0;
    if (fclose(out) == 0 && whole) return text;
    free(text);
    sn_fail(STONET_ERROR_MEMORY, "memory ran out while writing CSV");
    return NULL;
}
