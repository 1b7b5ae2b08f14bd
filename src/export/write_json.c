/*
 * A model as JSON, for people and for programs that compute it somewhere else. The file has what is known
 * about the model, how columns become features, and the steps of the formula. Each row of a matrix is a line.
 */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/number.h"
#include "data/schema.h"
#include "export/writers.h"

/* The shortest digits that are the same double. */
static void put_number(sn_bytes *out, double value)
{
    char text[SN_NUMBER_SIZE];
    for (int digits = 15; digits <= 17; digits++) {
        double back;
        sn_format(text, sizeof text, "%.*g", digits, value);
        if (sn_number_read(text, &back) != NULL && back == value) break;
    }
    sn_bytes_text(out, text);
}

/* After the first of a list. */
static void put_comma(sn_bytes *out, int64_t k)
{
    if (k > 0) sn_bytes_text(out, ", ");
}

static void put_numbers(sn_bytes *out, const char *before, int64_t count, const double *values)
{
    sn_bytes_print(out, "%s[", before);
    for (int64_t i = 0; i < count; i++) {
        put_comma(out, i);
        put_number(out, values[i]);
    }
    sn_bytes_text(out, "]");
}

/* An entry after others. */
static void put_entry(sn_bytes *out, const char *name, double value)
{
    sn_bytes_print(out, ", \"%s\": ", name);
    put_number(out, value);
}

static void put_string(sn_bytes *out, const char *text)
{
    SN_AUTO(json_t) *string = json_string(text);
    SN_BLOCK char *printed = sn_json_print(string, JSON_ENCODE_ANY);
    if (printed != NULL)
        sn_bytes_text(out, printed);
    else if (out->status == STONET_OK)
        out->status = sn_json_failed();
}

static void put_words(sn_bytes *out, int64_t count, char *const *word)
{
    sn_bytes_text(out, "[");
    for (int64_t i = 0; i < count; i++) {
        put_comma(out, i);
        put_string(out, word[i]);
    }
    sn_bytes_text(out, "]");
}

static void put_columns(sn_bytes *out, const sn_schema *schema)
{
    sn_bytes_print(out, "  \"columns_by\": \"%s\",\n  \"columns\": [\n",
                   schema->has_header ? "name" : "position");
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        const bool text = input->kind == SN_COLUMN_TEXT;
        sn_bytes_text(out, "    {\"name\": ");
        put_string(out, input->name);
        sn_bytes_print(out, ", \"kind\": \"%s\", \"first_feature\": %" PRId64 ", \"features\": %" PRId64,
                       input->features == 0 ? "not used"
                       : text               ? (input->categories.ordered ? "ordered" : "text")
                                            : (input->is_date ? "date" : "number"),
                       input->first_feature, input->features);
        if (input->season) sn_bytes_text(out, ", \"season\": true");
        if (input->indicator) sn_bytes_text(out, ", \"indicator\": true");
        if (input->has_other) sn_bytes_text(out, ", \"other\": true");
        if (text) {
            sn_bytes_text(out, ", \"categories\": ");
            put_words(out, input->categories.count, input->categories.text);
        }
        if (input->levels > 0) {
            sn_bytes_text(out, ", \"levels\": [");
            for (int64_t k = 0; k < input->levels; k++) {
                put_comma(out, k);
                put_number(out, (double)input->level[k]);
            }
            sn_bytes_text(out, "]");
        }
        sn_bytes_text(out, j + 1 < schema->n_inputs ? "},\n" : "}\n");
    }
    sn_bytes_text(out, "  ],\n");
}

static void put_features(sn_bytes *out, const sn_schema *schema)
{
    sn_bytes_text(out, "  \"features\": [\n");
    for (int64_t f = 0; f < schema->p; f++) {
        sn_bytes_text(out, "    {\"name\": ");
        put_string(out, schema->feature_name[f]);
        put_entry(out, "mean", schema->mean[f]);
        put_entry(out, "centre", schema->centre[f]);
        put_entry(out, "factor", schema->factor[f]);
        sn_bytes_text(out, f + 1 < schema->p ? "},\n" : "}\n");
    }
    sn_bytes_text(out, "  ],\n");
}

static void put_matrix(sn_bytes *out, int64_t rows, int64_t columns, const double *matrix)
{
    sn_bytes_text(out, ",\n     \"matrix\": [\n");
    for (int64_t k = 0; k < rows; k++) {
        put_numbers(out, "       ", columns, matrix + k * columns);
        sn_bytes_text(out, k + 1 < rows ? ",\n" : "]");
    }
}

/* What is done to curves, before features are scaled. */
static stonet_status put_curves(sn_bytes *out, const sn_schema *schema)
{
    SN_WORKSPACE(scratch);
    double *matrix = NULL;
    if (schema->n_curves == 0) return STONET_OK;
    SN_ARRAY(schema->n_inputs, int64_t, input);
    sn_bytes_print(out,
                   "  \"curves\": {\"how\": \"%s\", \"formula\": \"raw = matrix x%s, x: the features "
                   "of the channels as they are in the table%s; a missing one: no answer\", \"of\": [\n",
                   sn_words_name(&sn_curve_words, schema->curves.how),
                   sn_curve_divides(schema->curves.how)
                       ? " / sd(x), or 0 where sd(x) <= 1e-12 |mean(x)| (sd with m - 1)"
                       : "",
                   schema->curves.fine ? "" : ", rounded to float32");
    for (int64_t curve = 1; curve <= schema->n_curves; curve++) {
        const int64_t m = sn_curve_channels(schema, curve, input);
        SN_TRY(SN_TAKE(&scratch, matrix, m * m));
        SN_TRY(sn_curve_matrix(&schema->curves, m, matrix));
        sn_bytes_text(out, "    {\"features\": [");
        for (int64_t k = 0; k < m; k++)
            sn_bytes_print(out, "%s%" PRId64, k == 0 ? "" : ", ", schema->input[input[k]].first_feature);
        sn_bytes_text(out, "]");
        put_matrix(out, m, m, matrix);
        sn_bytes_text(out, curve < schema->n_curves ? "},\n" : "}\n");
    }
    sn_bytes_text(out, "  ]},\n");
    return STONET_OK;
}

/* What a step does, as one would write it; v is the result. */
static const char *formula_of(const sn_step *step)
{
    switch (step->op) {
    case SN_OP_FEATURES:
        return "v_f = (raw_f - centre_f) factor_f";
    case SN_OP_AFFINE:
        return step->runs == 1 ? "v = matrix in + offset"
                               : "v_r = matrix in_r + offset, r = 1 .. runs: equal parts of in and of v";
    case SN_OP_SCALE:
        return "v_k = factor_k in_k + offset_k";
    case SN_OP_ACTIVATION:
        return step->activation == SN_TANH   ? "v_k = tanh(in_k)"
               : step->activation == SN_RELU ? "v_k = max(0, in_k)"
                                             : "v_k = 1 / (1 + exp(-in_k))";
    case SN_OP_KERNEL:
        return "v_k = exp(-number |in - matrix_k|^2)";
    case SN_OP_COLUMNS:
        return "v_k = in_(columns_k), from 0";
    case SN_OP_JOIN:
        return "v = (in, other)";
    case SN_OP_LARGEST:
        return "v_k = the largest of part k of in, of width equal parts";
    case SN_OP_SOFTMAX:
        return "v_k = exp(in_k) / sum_j exp(in_j)";
    case SN_OP_TEMPER:
        return "v_k = in_k^number / sum_j in_j^number";
    case SN_OP_EXP:
        return "v_k = exp(in_k)";
    }
    return "";
}

/* Entries that a kind of step does not have are left out. "in" and "other" are numbers of earlier steps. */
static void put_step(sn_bytes *out, const sn_step *step, int k)
{
    sn_bytes_print(out, "    {\"step\": %d, \"kind\": \"%s\", \"formula\": \"%s\", \"width\": %" PRId64, k,
                   sn_words_name(&sn_op_words, (int)step->op), formula_of(step), step->width);
    if (step->in >= 0) sn_bytes_print(out, ", \"in\": %d", step->in);
    if (step->other >= 0) sn_bytes_print(out, ", \"other\": %d", step->other);
    if (step->op == SN_OP_ACTIVATION)
        sn_bytes_print(out, ", \"activation\": \"%s\"",
                       sn_words_name(&sn_activation_words, step->activation));
    if (step->op == SN_OP_KERNEL || step->op == SN_OP_TEMPER) put_entry(out, "number", step->number);
    if (step->runs > 1) sn_bytes_print(out, ", \"runs\": %" PRId64, step->runs);
    if (step->matrix != NULL) put_matrix(out, sn_step_rows(step), sn_step_columns(step), step->matrix);
    if (step->factor != NULL) put_numbers(out, ",\n     \"factor\": ", step->width, step->factor);
    if (step->offset != NULL) put_numbers(out, ",\n     \"offset\": ", sn_step_rows(step), step->offset);
    if (step->column != NULL) {
        sn_bytes_text(out, ",\n     \"columns\": [");
        for (int64_t i = 0; i < step->width; i++)
            sn_bytes_print(out, "%s%" PRId64, i == 0 ? "" : ", ", step->column[i]);
        sn_bytes_text(out, "]");
    }
    sn_bytes_text(out, "}");
}

static void put_results(sn_bytes *out, const sn_exported *of)
{
    const bool classes = of->schema->task == SN_CLASSIFICATION;
    sn_bytes_print(out, "  \"z\": {\"step\": %d},\n", of->formula->z);
    if (of->formula->answer < 0) {
        sn_bytes_text(out, "  \"answer\": null\n");
        return;
    }
    sn_bytes_print(out, "  \"answer\": {\"step\": %d, \"kind\": \"%s\", \"what\": \"%s\", \"of\": [",
                   of->formula->answer, classes ? "probabilities" : "numbers",
                   classes ? "probabilities of the classes" : sn_exported_numbers(of));
    for (int64_t k = 0; k < sn_schema_outputs(of->schema); k++) {
        put_comma(out, k);
        put_string(out, sn_exported_output(of, k));
    }
    sn_bytes_text(out, "]}\n");
}

/* The file explains itself: how cells become features is a text in it, and each step has its formula. Writing
   goes on after a failure; out->status has the first one. */
stonet_status sn_export_json(const sn_exported *exported, sn_bytes *out)
{
    SN_BLOCK char *about = stonet_model_json(exported->model);
    if (about == NULL) return STONET_ERROR_MEMORY;
    sn_bytes_text(out, "{\n  \"about\": ");
    for (const char *line = about; *line != '\0';) { /* two blanks deeper */
        const size_t length = strcspn(line, "\n");
        sn_bytes_put(out, line, length);
        line += length;
        if (*line == '\n') {
            sn_bytes_text(out, "\n  ");
            line++;
        }
    }
    sn_bytes_text(
        out,
        ",\n  \"encoding\": \"A column of numbers is one feature, the number rounded to float32 (not where "
        "|centre factor| > 256), then one for each level, 1 where the number is that level, else 0. A column "
        "of "
        "text is one feature for each category, 1 where the cell is that word, else 0. A number or word that "
        "is "
        "none of them counts as the mean of these features. An ordered column is one feature, the place of "
        "the "
        "word among the categories, from 1. A date is a number, of days since 1970-01-01; with a season two "
        "features follow it, sine and cosine of 2 pi days / 365.2425. With \\\"other\\\" the last category "
        "is "
        "every word that is none of those before it. With an indicator the last feature of the column is 1 "
        "where the cell is missing, else 0. ");
    sn_bytes_text(out, sn_exported_fills(exported)
                           ? "A missing cell counts as the mean of its features, too. "
                           : "A missing cell has no features: the model has no answer for its row. ");
    sn_bytes_text(out, "Features are then (raw - centre) factor, rounded to float32.\",\n");
    sn_bytes_text(out, "  \"na\": ");
    put_words(out, exported->na.count, exported->na.word);
    sn_bytes_text(out, ",\n");
    put_columns(out, exported->schema);
    SN_TRY(put_curves(out, exported->schema));
    put_features(out, exported->schema);
    sn_bytes_text(out, "  \"steps\": [\n");
    for (int k = 0; k < exported->formula->count; k++) {
        put_step(out, &exported->formula->step[k], k);
        sn_bytes_text(out, k + 1 < exported->formula->count ? ",\n" : "\n");
    }
    sn_bytes_text(out, "  ],\n");
    put_results(out, exported);
    sn_bytes_text(out, "}\n");
    return out->status;
}
