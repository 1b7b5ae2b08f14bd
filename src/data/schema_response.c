/* The response of a table as a schema encodes it, and the whole table as a problem. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/dictionary.h"
#include "data/kin.h"
#include "data/schema_parts.h"

static stonet_status unknown_label(const sn_schema *schema, const stonet_data *data, int64_t row)
{
    char known[160] = "", word[SN_NUMBER_SIZE];
    const char *label = word;
    size_t used = 0;
    int64_t shown = 0;
    if (data->label != NULL)
        label = data->labels.text[data->label[row]];
    else
        sn_number_print(data->y[row], word);
    for (; shown < schema->classes.count && used + strlen(schema->classes.text[shown]) + 3 < 140; shown++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", shown > 0 ? ", " : "",
                                 schema->classes.text[shown]);
    return sn_fail(STONET_ERROR_DATA, "%s: row %lld has the label '%s', and the model knows %s%s",
                   sn_table_name(data), (long long)row + 1, label, known,
                   shown < schema->classes.count ? ", .." : "");
}

/* Which class each label of the table is. */
static stonet_status match_labels(const sn_schema *schema, const stonet_data *data, sn_raw_response *out)
{
    SN_FREED_BY(sn_interner_free) sn_interner classes = {0};
    out->code = data->label;
    SN_TRY(sn_interner_of(&schema->classes, &classes));
    SN_TRY(SN_NEW(out->class_of, data->labels.count));
    for (int64_t c = 0; c < data->labels.count; c++)
        out->class_of[c] = sn_interner_find(&classes, data->labels.text[c], strlen(data->labels.text[c]));
    return STONET_OK;
}

bool sn_schema_needs_text(const sn_schema *schema)
{
    const char *other;
    return sn_dictionary_lost_digits(&schema->classes, &other) != NULL;
}

/* The classes as numbers; one that is none is no number of the table. */
static stonet_status match_numbers(const sn_schema *schema, sn_raw_response *out)
{
    const char *other, *lost = sn_dictionary_lost_digits(&schema->classes, &other);
    if (lost != NULL)
        return sn_fail(
            STONET_ERROR_DATA,
            "the model's labels %s and %s are the same number in double precision: give the target "
            "'%s' as text",
            other, lost, schema->target_name[0]);
    SN_TRY(SN_NEW(out->value, schema->classes.count));
    for (int64_t c = 0; c < schema->classes.count; c++) {
        const char *word = schema->classes.text[c], *stop = sn_number_read(word, &out->value[c]);
        if (stop == NULL || *stop != '\0') out->value[c] = (double)NAN;
    }
    return STONET_OK;
}

/* All labels must be known; checked before any is encoded. */
static stonet_status check_labels(const sn_schema *schema, const stonet_data *data,
                                  const sn_raw_response *raw)
{
    for (int64_t i = 0; i < data->n; i++) {
        if (sn_raw_label(raw, i) < 0) return unknown_label(schema, data, i);
        sn_frame_passed_response(data, i);
    }
    return STONET_OK;
}

void sn_raw_response_clear(sn_raw_response *raw)
{
    sn_free(raw->class_of);
    sn_free(raw->value);
    *raw = (sn_raw_response){0};
}

stonet_status sn_schema_check_targets(const sn_schema *schema, const stonet_data *data)
{
    const char *table = sn_table_name(data);
    if (data->n_targets == schema->n_targets) return STONET_OK;
    if (data->n_targets == 0)
        return sn_fail(STONET_ERROR_DATA, "%s has no target: name the target column or the target file",
                       table);
    if (schema->n_targets == 0)
        return sn_fail(STONET_ERROR_DATA, "%s has a target, and the model was fitted without one", table);
    return sn_fail(
        STONET_ERROR_DATA,
        "%s has %lld target column%s and the model was fitted on %lld, '%s' the first: name all of them",
        table, (long long)data->n_targets, data->n_targets == 1 ? "" : "s", (long long)schema->n_targets,
        schema->target_name[0]);
}

stonet_status sn_schema_raw_response(const sn_schema *schema, const stonet_data *data, bool scaled,
                                     sn_raw_response *out)
{
    *out = (sn_raw_response){.number = data->y, .columns = data->n_targets};
    SN_TRY(sn_schema_check_targets(schema, data));
    if (sn_schema_has_law(schema))
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "the response '%s' is of task=%s, and this command knows plain numbers and classes "
                       "alone",
                       schema->target_name[0], sn_schema_task_word(schema));
    if (schema->task == SN_CLASSIFICATION) {
        out->classes = schema->classes.count;
        SN_TRY(data->label != NULL ? match_labels(schema, data, out) : match_numbers(schema, out));
        return check_labels(schema, data, out);
    }
    if (data->y == NULL)
        return sn_fail(STONET_ERROR_DATA, "the target '%s' of %s is text, and the model predicts numbers",
                       data->target_name[0], sn_table_name(data));
    if (data->n_targets == 2) SN_TRY(sn_schema_refuse_open(data)); /* which could be meant as bounds */
    if (!scaled) return STONET_OK;
    out->mean = schema->target_mean;
    out->sd = schema->target_sd;
    return STONET_OK;
}

static stonet_status copy(const sn_schema *schema, const stonet_data *data, bool scaled, int32_t *label,
                          double *y)
{
    SN_FREED_BY(sn_raw_response_clear) sn_raw_response raw = {0};
    SN_TRY(sn_schema_raw_response(schema, data, scaled, &raw));
    for (int64_t i = 0; i < data->n; i++) {
        if (raw.classes > 0 && label != NULL) label[i] = sn_raw_label(&raw, i);
        for (int64_t k = 0; raw.classes == 0 && y != NULL && k < raw.columns; k++)
            y[i * raw.columns + k] = sn_raw_number(&raw, i, k);
        sn_frame_passed_response(data, i);
    }
    return STONET_OK;
}

stonet_status sn_schema_response(const sn_schema *schema, const stonet_data *data, int32_t *label, double *y)
{
    return copy(schema, data, false, label, y);
}

stonet_status sn_schema_encode_y(const sn_schema *schema, const stonet_data *data, int32_t *label, double *y)
{
    return copy(schema, data, true, label, y);
}

stonet_status sn_schema_problem(const sn_schema *schema, const stonet_data *data, sn_workspace *keep,
                                sn_problem *out)
{
    float *x = NULL;
    int32_t *label = NULL;
    double *y = NULL;
    *out = (sn_problem){.n = stonet_data_rows(data),
                        .p = schema->p,
                        .image = schema->image,
                        .task = schema->task,
                        .outputs = sn_schema_outputs(schema)};
    SN_TRY(sn_memory_require((uint64_t)out->n * (uint64_t)out->p * 2 * sizeof *x, "the scaled data",
                             "take fewer rows or columns"));
    SN_TRY(SN_TAKE(keep, x, out->n * out->p));
    SN_TRY(sn_schema_encode_x(schema, data, x));
    out->x = x;
    int64_t *group = NULL;
    out->groups = sn_schema_used(schema);
    SN_TRY(SN_TAKE(keep, group, out->groups + 1));
    sn_schema_groups(schema, group);
    out->group = group;
    if (data->weight != NULL) {
        float *weight = NULL;
        SN_TRY(SN_TAKE(keep, weight, out->n));
        for (int64_t i = 0; i < out->n; i++) weight[i] = (float)data->weight[i];
        out->weight = weight;
    }
    SN_TRY(sn_kin_find(data, NULL, keep, &out->kin));
    if (out->outputs == 0) return STONET_OK;
    if (out->task == SN_CLASSIFICATION)
        SN_TRY(SN_TAKE(keep, label, out->n));
    else
        SN_TRY(SN_TAKE(keep, y, out->n * out->outputs));
    SN_TRY(sn_schema_encode_y(schema, data, label, y));
    out->label = label;
    out->y = y;
    return STONET_OK;
}
