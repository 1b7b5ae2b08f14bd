#include "data/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/dictionary.h"
#include "data/imputer.h"
#include "data/schema_parts.h"

SN_DEFINE_WORDS(sn_task_words, "task", SN_CLASSIFICATION, SN_TASK_WORDS);
SN_DEFINE_WORDS(sn_missing_words, "missing", SN_MISSING_JOINT, SN_MISSING_WORDS);
SN_DEFINE_WORDS(sn_scale_words, "scale", SN_SCALE_NONE, SN_SCALE_WORDS);

void sn_schema_free(sn_schema *schema)
{
    if (schema == NULL) return;
    for (int64_t j = 0; schema->input != NULL && j < schema->n_inputs; j++) {
        sn_free(schema->input[j].name);
        sn_dictionary_free(&schema->input[j].categories);
        sn_free(schema->input[j].level);
    }
    for (int64_t f = 0; schema->feature_name != NULL && f < schema->p; f++) sn_free(schema->feature_name[f]);
    for (int64_t k = 0; schema->target_name != NULL && k < schema->n_targets; k++)
        sn_free(schema->target_name[k]);
    sn_dictionary_free(&schema->classes);
    sn_free(schema->na);
    sn_imputer_free(schema->imputer);
    SN_FREE_ALL(schema->input, schema->feature_name, schema->mean, schema->centre, schema->factor,
                schema->target_name, schema->target_position, schema->target_mean, schema->target_sd,
                schema->id_name, schema);
}

/* Of feature c of an input: "colour=red", "age", "grade=2", "sold=season sine", "age is missing", "850
   snv". */
static char *name_feature(const sn_input *input, int64_t c, sn_curve curves)
{
    char number[SN_NUMBER_SIZE];
    const char *value = NULL;
    const bool indicator = input->indicator && c == input->features - 1;
    if (input->curve != 0)
        value = sn_words_name(&sn_curve_words, curves);
    else if (indicator)
        value = "is missing";
    else if (input->kind == SN_COLUMN_TEXT) {
        if (!input->categories.ordered) value = input->categories.text[c];
    } else if (c > 0 && input->season) {
        value = c == 1 ? "season sine" : "season cosine";
    } else if (c > 0) {
        sn_number_print((double)input->level[c - 1], number);
        value = number;
    }
    const size_t size = strlen(input->name) + (value != NULL ? strlen(value) + 1 : 0) + 1;
    char *name = sn_malloc(size, 1);
    if (name != NULL)
        snprintf(name, size, "%s%s%s", input->name,
                 indicator || input->curve != 0 ? " "
                 : value != NULL                ? "="
                                                : "",
                 value != NULL ? value : "");
    return name;
}

static int64_t feature_count(const sn_input *input)
{
    if (input->left_out) return 0;
    const int64_t more = input->indicator ? 1 : 0;
    if (input->kind == SN_COLUMN_NUMBER) return 1 + input->levels + (input->season ? 2 : 0) + more;
    return (input->categories.ordered ? 1 : input->categories.count) + more;
}

stonet_status sn_schema_lay_out(sn_schema *schema)
{
    int64_t p = 0;
    SN_TRY(sn_schema_check_curves(schema));
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        sn_input *input = &schema->input[j];
        input->first_feature = p;
        input->features = feature_count(input);
        p += input->features;
    }
    SN_TRY(SN_NEW(schema->feature_name, p));
    schema->p = p;
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        for (int64_t c = 0; c < input->features; c++) {
            char *name = name_feature(input, c, schema->curves.how);
            if (name == NULL) return STONET_ERROR_MEMORY;
            schema->feature_name[input->first_feature + c] = name;
        }
    }
    return STONET_OK;
}

void sn_schema_groups(const sn_schema *schema, int64_t *group)
{
    int64_t count = 0;
    for (int64_t j = 0; j < schema->n_inputs; j++)
        if (schema->input[j].features > 0) group[count++] = schema->input[j].first_feature;
    group[count] = schema->p;
}

const char *sn_schema_input_kind(const sn_schema *schema, int64_t input)
{
    const sn_input *about = &schema->input[input];
    if (about->features == 0) return "none";
    if (about->kind == SN_COLUMN_TEXT) return about->categories.ordered ? "ordered" : "text";
    return about->is_date ? "date" : "number";
}

bool sn_schema_has_law(const sn_schema *schema)
{
    return schema->law != SN_LAW_NONE && schema->law != SN_LAW_ORDERED;
}

const char *sn_schema_task_word(const sn_schema *schema)
{
    if (schema->law != SN_LAW_NONE) return sn_words_name(&sn_law_kind_words, schema->law);
    return sn_schema_outputs(schema) > 0 ? sn_words_name(&sn_task_words, schema->task) : "none";
}

int64_t sn_schema_outputs(const sn_schema *schema)
{
    if (sn_schema_has_law(schema)) return 1;
    return schema->task == SN_CLASSIFICATION ? schema->classes.count : schema->n_targets;
}

double sn_schema_target_mean(const sn_schema *schema, int64_t target)
{
    return schema->task == SN_REGRESSION ? schema->target_mean[target] : 0;
}

double sn_schema_target_sd(const sn_schema *schema, int64_t target)
{
    return schema->task == SN_REGRESSION ? schema->target_sd[target] : 1;
}

void sn_schema_forget_response(sn_schema *schema)
{
    sn_imputer_forget_response(schema->imputer);
}

bool sn_schema_needs_digits(const sn_schema *schema)
{
    if (schema->curves.fine) return true;
    for (int64_t f = 0; f < schema->p; f++)
        if (sn_far_from_zero(schema->centre[f], schema->factor[f])) return true;
    return false;
}

int64_t sn_schema_level_inputs(const sn_schema *schema)
{
    int64_t count = 0;
    for (int64_t j = 0; j < schema->n_inputs; j++) count += schema->input[j].levels > 0;
    return count;
}

int64_t sn_input_level(const sn_input *input, float value)
{
    for (int64_t c = 0; c < input->levels; c++)
        if (input->level[c] == value) return c;
    return -1;
}

int64_t sn_schema_used(const sn_schema *schema)
{
    int64_t used = 0;
    for (int64_t j = 0; j < schema->n_inputs; j++) used += schema->input[j].features > 0;
    return used;
}

/* ---- which column of the table is which input -------------------------------------------------- */

/* A second column of a name that the model knows once may be the one that is meant. Where the training table
   had two, both have their names. */
static stonet_status check_again(const sn_schema *schema, const sn_header *header, const sn_interner *index,
                                 const int64_t *column)
{
    SN_ZEROS(header->n_columns, bool, known);
    SN_ZEROS(header->n_columns, bool, used);
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        if (column[j] < 0) continue;
        known[column[j]] = true;
        used[column[j]] = schema->input[j].features > 0;
    }
    for (int64_t k = 0; k < header->n_columns; k++) {
        const char *number = strrchr(header->name[k], '.');
        if (!header->again[k] || known[k] || number == NULL) continue;
        const int32_t first = sn_interner_find(index, header->name[k], (size_t)(number - header->name[k]));
        if (first >= 0 && used[first])
            return sn_fail(STONET_ERROR_DATA,
                           "%s has two columns '%s', and the model was fitted on one: rename or remove one",
                           header->source, header->name[first]);
    }
    return STONET_OK;
}

static stonet_status match_by_name(const sn_schema *schema, const sn_header *header, int64_t *column)
{
    const sn_dictionary names = {.count = header->n_columns, .text = header->name};
    SN_FREED_BY(sn_interner_free) sn_interner index = {0};
    SN_TRY(sn_interner_of(&names, &index));
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const char *name = schema->input[j].name;
        column[j] = sn_interner_find(&index, name, strlen(name));
        if (column[j] < 0 && schema->input[j].features > 0)
            return sn_fail(STONET_ERROR_DATA, "%s has no column '%s', which the model was fitted on",
                           header->source, name);
    }
    return check_again(schema, header, &index, column);
}

static bool is_among(const int64_t *positions, int64_t count, int64_t position)
{
    for (int64_t k = 0; k < count; k++)
        if (positions[k] == position) return true;
    return false;
}

/* Whether the table has all columns of the training file, those that were no inputs too, and where the inputs
   are among them. */
static bool match_in_file(const sn_schema *schema, const sn_header *header, int64_t *column)
{
    if (schema->width == 0 || header->width != schema->width) return false;
    int64_t next = 0; /* both are in the order of the file */
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const int64_t position = schema->input[j].position;
        while (next < header->n_columns && header->position[next] < position) next++;
        const bool found = next < header->n_columns && header->position[next] == position;
        column[j] = found ? next : -1;
        if (!found && schema->input[j].features > 0) return false;
    }
    return true;
}

/* The table has the inputs in their order, with or without the target among them; or the inputs without those
   that the model leaves out. */
static stonet_status match_by_position(const sn_schema *schema, const sn_header *header, int64_t *column)
{
    if (match_in_file(schema, header, column)) return STONET_OK;
    const int64_t used = sn_schema_used(schema);
    int64_t in_file = 0;
    for (int64_t k = 0; k < schema->n_targets; k++) in_file += schema->target_position[k] >= 0;
    bool with_target = in_file > 0 && schema->width == 0 && header->n_columns == schema->n_inputs + in_file;
    bool used_alone = header->n_columns == used && used < schema->n_inputs;
    if (header->n_columns != schema->n_inputs && !with_target && !used_alone)
        return sn_fail(STONET_ERROR_DATA, "%s has %lld columns and the model was fitted on %lld",
                       header->source, (long long)header->n_columns, (long long)schema->n_inputs);
    int64_t next = 0;
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        while (with_target && is_among(schema->target_position, schema->n_targets, next)) next++;
        if (used_alone && schema->input[j].features == 0) {
            column[j] = -1;
            continue;
        }
        if (next >= header->n_columns)
            return sn_fail(STONET_ERROR_DATA, "%s does not have the target in the columns it had in training",
                           header->source);
        column[j] = next++;
    }
    return STONET_OK;
}

static stonet_status match_header(const sn_schema *schema, const sn_header *header, int64_t *column)
{
    return schema->has_header && header->has_names ? match_by_name(schema, header, column)
                                                   : match_by_position(schema, header, column);
}

stonet_status sn_schema_wanted(const sn_schema *schema, const sn_header *header, bool *wanted, bool *ordered)
{
    SN_ZEROS(schema->n_inputs, int64_t, column);
    SN_TRY(match_header(schema, header, column));
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        if (schema->input[j].features == 0) continue;
        wanted[column[j]] = true;
        ordered[column[j]] = schema->input[j].categories.ordered;
    }
    return STONET_OK;
}

/* Finds the column of the table for every input of the schema, by name or by position. */
static stonet_status match_frame(const sn_schema *schema, const stonet_data *data, int64_t *column)
{
    int64_t next = 0;
    SN_ZEROS(data->n_columns, char *, name);
    SN_ZEROS(data->n_columns, bool, again);
    SN_ZEROS(data->n_columns, int64_t, position);
    for (int64_t j = 0; j < data->n_columns; j++) {
        name[j] = data->column[j].name;
        again[j] = data->column[j].again;
        while (is_among(data->target_position, data->n_targets, next)) next++;
        position[j] = data->width > 0 ? data->column[j].position : next++;
    }
    while (is_among(data->target_position, data->n_targets, next)) next++;
    const sn_header header = {.source = sn_table_name(data),
                              .has_names = data->has_header,
                              .n_columns = data->n_columns,
                              .name = name,
                              .again = again,
                              .position = position,
                              .width = data->width > 0 ? data->width : next};
    return match_header(schema, &header, column);
}

/* "28 x 28" */
static const char *image_text(const sn_image *image, char *text, size_t size)
{
    size_t used = 0;
    for (int k = 0; k < image->rank && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", k > 0 ? " x " : "",
                                 (long long)image->extent[k]);
    return text;
}

/* As many numbers in another order would go through without a word. */
static stonet_status match_image(const sn_schema *schema, const stonet_data *data)
{
    char now[80], then[80];
    if (schema->image.rank == 0 || data->image.rank == 0 || sn_image_same(&schema->image, &data->image))
        return STONET_OK;
    return sn_fail(STONET_ERROR_DATA, "%s has images of %s, and the model was fitted on images of %s",
                   sn_table_name(data), image_text(&data->image, now, sizeof now),
                   image_text(&schema->image, then, sizeof then));
}

stonet_status sn_schema_match(const sn_schema *schema, const stonet_data *data, int64_t *column)
{
    SN_TRY(match_image(schema, data));
    SN_TRY(match_frame(schema, data, column));
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        if (input->kind != SN_COLUMN_NUMBER || input->features == 0) continue;
        const sn_column *found = &data->column[column[j]];
        if (found->kind == SN_COLUMN_TEXT || found->is_date != input->is_date)
            return sn_fail(STONET_ERROR_DATA, "%s: column '%s' has %s and was %s when the model was fitted",
                           sn_table_name(data), input->name,
                           found->kind == SN_COLUMN_TEXT ? "text"
                           : found->is_date              ? "dates"
                                                         : "numbers",
                           input->is_date ? "dates" : "numbers");
    }
    return STONET_OK;
}
