/*
 * A model as an ONNX graph in double precision. Inputs: a column each by its name, rows x 1, numbers as
 * double and words as string; of a model whose columns go by position and are all numbers one matrix "x".
 * Outputs: z, and prediction, or probabilities and label. A missing cell counts as the average of its column
 * if the model fills cells. Otherwise all numbers of its row are NaN, and the label is empty.
 */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema.h"
#include "export/onnx_graph.h"
#include "export/writers.h"

/* What LabelEncoder gives for a word that is in no category: it is new, or means that nothing is known. */
enum { NEW_WORD = -1, NO_WORD = -2 };
static const char *const MISSING[] = {"",    "NA",  "Na",   "na",   "N/A",  "n/a", "NaN", "nan",
                                      "NAN", "Nan", "NULL", "null", "Null", "?",   "."};
enum { N_MISSING = sizeof MISSING / sizeof *MISSING };

/* ---- features ---------------------------------------------------------------------------------------- */

/* Features in the order they are made, to be put in that of the model. */
typedef struct encoding {
    sn_onnx_graph *graph;
    const sn_schema *schema;
    bool fills;  /* missing cells count as the average */
    bool matrix; /* numbers come as one matrix */
    const sn_na *na;
    int parts;
    sn_onnx_value *part; /* blocks of features */
    int64_t *feature;    /* p: which feature each column of the blocks is */
    int64_t made;
    sn_onnx_value *input; /* of each column; of numbers as one matrix the first */
    double *scratch;      /* p + columns: to make constants in */
    sn_workspace *keep;
} encoding;

static bool is_number(const sn_input *input)
{
    return input->kind == SN_COLUMN_NUMBER && input->features > 0;
}

static bool is_words(const sn_input *input)
{
    return input->kind == SN_COLUMN_TEXT && input->features > 0;
}

static bool has_words(const sn_schema *schema)
{
    for (int64_t j = 0; j < schema->n_inputs; j++)
        if (is_words(&schema->input[j])) return true;
    return false;
}

/* One number for each of `count` features. */
static sn_onnx_value of_features(encoding *e, const double *all, int64_t count, const int64_t *feature)
{
    for (int64_t k = 0; k < count; k++) e->scratch[k] = all[feature[k]];
    return sn_onnx_doubles(e->graph, 1, count, e->scratch);
}

/* The block of the next features, which are named already: (raw - centre) factor, rounded to float. */
static void add_block(encoding *e, sn_onnx_value raw, int64_t count)
{
    const int64_t *feature = e->feature + e->made;
    sn_onnx_value value =
        sn_onnx_two(e->graph, "Sub", raw, of_features(e, e->schema->centre, count, feature));
    value = sn_onnx_two(e->graph, "Mul", value, of_features(e, e->schema->factor, count, feature));
    e->part[e->parts++] = sn_onnx_rounded(e->graph, value);
    e->made += count;
}

/* Indicators of `count` features from `first` on: hits (rows x count) are 1 at the category or level of a
   row. A category that training never saw has 0 everywhere and counts as the mean. */
static void add_indicators(encoding *e, sn_onnx_value hits, int64_t first, int64_t count)
{
    sn_onnx_graph *g = e->graph;
    const sn_onnx_value unknown = sn_onnx_two(g, "Sub", sn_onnx_number(g, 1.0), sn_onnx_row_sums(g, hits));
    const sn_onnx_value mean = sn_onnx_doubles(g, 1, count, e->schema->mean + first);
    const sn_onnx_value raw = sn_onnx_two(g, "Add", hits, sn_onnx_two(g, "Mul", unknown, mean));
    for (int64_t k = 0; k < count; k++) e->feature[e->made + k] = first + k;
    add_block(e, raw, count);
}

/* One feature from its raw values, rows x 1. */
static void add_feature(encoding *e, sn_onnx_value raw, int64_t f)
{
    e->feature[e->made] = f;
    add_block(e, raw, 1);
}

/* 1 where the cell is missing. */
static void add_missing(encoding *e, sn_onnx_value missing, const sn_input *input)
{
    if (input->indicator)
        add_feature(e, sn_onnx_cast(e->graph, missing, SN_ONNX_DOUBLE),
                    input->first_feature + input->features - 1);
}

/* Sine and cosine of the time of the year; a missing date counts as their mean, or is NaN. */
static void add_season(encoding *e, sn_onnx_value days, const sn_input *input)
{
    sn_onnx_graph *g = e->graph;
    const double turn = 2 * acos(-1.0);
    const sn_onnx_value years = sn_onnx_two(g, "Div", days, sn_onnx_number(g, 365.2425));
    const sn_onnx_value part = sn_onnx_two(g, "Sub", years, sn_onnx_one(g, "Floor", years));
    for (int k = 0; k < 2; k++) {
        const int64_t f = input->first_feature + 1 + k;
        const sn_onnx_value phase = sn_onnx_two(
            g, "Add", sn_onnx_two(g, "Mul", part, sn_onnx_number(g, turn)), sn_onnx_number(g, k * turn / 4));
        sn_onnx_value raw = sn_onnx_one(g, "Sin", phase); /* cos(a) = sin(a + pi/2): not all have cosines */
        const sn_onnx_value gone = sn_onnx_one(g, "IsNaN", days);
        const sn_onnx_value mean = sn_onnx_number(g, e->schema->mean[f]);
        if (e->fills) raw = sn_onnx_where(g, gone, mean, raw);
        add_feature(e, raw, f);
    }
}

/* Numbers that stand for missing cells become NaN. */
static sn_onnx_value without_na(const encoding *e, sn_onnx_value numbers)
{
    sn_onnx_graph *g = e->graph;
    for (int64_t k = 0; k < e->na->count; k++) {
        if (isnan(e->na->number[k])) continue;
        const sn_onnx_value hit = sn_onnx_two(g, "Equal", numbers, sn_onnx_number(g, e->na->number[k]));
        const sn_onnx_value none = sn_onnx_number(g, (double)NAN);
        numbers = sn_onnx_where(g, hit, none, numbers);
    }
    return numbers;
}

/* Levels of column k of the numbers (rounded to float). */
static void add_levels(encoding *e, sn_onnx_value numbers, int64_t k, const sn_input *input)
{
    sn_onnx_graph *g = e->graph;
    for (int64_t c = 0; c < input->levels; c++) e->scratch[c] = (double)input->level[c];
    const sn_onnx_value levels = sn_onnx_doubles(g, 1, input->levels, e->scratch);
    const sn_onnx_value hits = sn_onnx_two(g, "Equal", sn_onnx_gather(g, numbers, 1, &k), levels);
    add_indicators(e, sn_onnx_cast(g, hits, SN_ONNX_DOUBLE), input->first_feature + 1, input->levels);
}

/* Numbers where float is too coarse stay as they came; fine (1 x count) is 1 for these. */
static sn_onnx_value keep_fine(encoding *e, sn_onnx_value numbers, sn_onnx_value single, int64_t count,
                               const double *fine)
{
    sn_onnx_graph *g = e->graph;
    bool any = false;
    for (int64_t k = 0; k < count; k++) {
        any = any || fine[k] > 0.0;
        e->scratch[k] = 1.0 - fine[k];
    }
    if (!any) return single;
    const sn_onnx_value coarse = sn_onnx_two(g, "Mul", single, sn_onnx_doubles(g, 1, count, e->scratch));
    return sn_onnx_two(g, "Add", coarse, sn_onnx_two(g, "Mul", numbers, sn_onnx_doubles(g, 1, count, fine)));
}

/* The columns of the table that are used, by name, or the matrix. */
static stonet_status add_inputs(encoding *e, const sn_exported *of)
{
    const sn_schema *schema = e->schema;
    if (e->matrix) {
        const int type = of->matrix ? SN_ONNX_FLOAT : SN_ONNX_DOUBLE;
        SN_TRY(sn_onnx_input(e->graph, "x", type, schema->n_inputs, &e->input[0]));
        if (of->matrix) e->input[0] = sn_onnx_cast(e->graph, e->input[0], SN_ONNX_DOUBLE);
        return STONET_OK;
    }
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        const int type = is_number(input) ? SN_ONNX_DOUBLE : SN_ONNX_STRING;
        if (input->features == 0) continue;
        SN_TRY(sn_onnx_input(e->graph, input->name, type, 1, &e->input[j]));
    }
    return STONET_OK;
}

/* The average in place of missing numbers, after rounding, which the average does not get. */
static sn_onnx_value fill_numbers(encoding *e, sn_onnx_value numbers, sn_onnx_value raw, int64_t count)
{
    if (!e->fills) return raw;
    const sn_onnx_value gone = sn_onnx_one(e->graph, "IsNaN", numbers);
    const sn_onnx_value mean = of_features(e, e->schema->mean, count, e->feature + e->made);
    return sn_onnx_where(e->graph, gone, mean, raw);
}

static stonet_status add_numbers(encoding *e)
{
    sn_onnx_graph *g = e->graph;
    const sn_schema *schema = e->schema;
    sn_onnx_value *column = NULL;
    double *fine = NULL;
    int64_t count = 0, *feature = e->feature + e->made, *of = NULL;
    SN_TRY(SN_TAKE(e->keep, column, schema->n_inputs));
    SN_TRY(SN_TAKE(e->keep, of, schema->n_inputs));
    SN_TRY(SN_TAKE(e->keep, fine, schema->n_inputs));
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const int64_t f = schema->input[j].first_feature;
        if (!is_number(&schema->input[j]) || schema->input[j].curve != 0) continue;
        feature[count] = f;
        fine[count] = sn_far_from_zero(schema->centre[f], schema->factor[f]) ? 1.0 : 0.0;
        column[count] = e->input[j];
        of[count++] = j;
    }
    if (count == 0) return STONET_OK;
    sn_onnx_value numbers = e->matrix ? e->input[0] : sn_onnx_concat(g, (int)count, column);
    if (e->matrix && count < schema->n_inputs) numbers = sn_onnx_gather(g, numbers, count, of);
    numbers = without_na(e, numbers);
    const sn_onnx_value single = sn_onnx_rounded(g, numbers);
    const sn_onnx_value raw = keep_fine(e, numbers, single, count, fine);
    add_block(e, fill_numbers(e, numbers, raw, count), count);
    for (int64_t k = 0; k < count; k++) {
        const sn_input *input = &schema->input[of[k]];
        if (input->levels > 0) add_levels(e, single, k, input);
        if (input->season) add_season(e, sn_onnx_gather(g, raw, 1, &k), input);
        if (input->indicator)
            add_missing(e, sn_onnx_one(g, "IsNaN", sn_onnx_gather(g, numbers, 1, &k)), input);
    }
    return STONET_OK;
}

/* The channels of a curve, prepared: rows x m. A missing cell makes all of them NaN. */
static stonet_status add_curve(encoding *e, int64_t curve)
{
    sn_onnx_graph *g = e->graph;
    const sn_schema *schema = e->schema;
    const sn_curves *curves = &schema->curves;
    const int64_t m = sn_curve_channels(schema, curve, NULL);
    int64_t *feature = e->feature + e->made;
    SN_ARRAY(m, int64_t, input);
    SN_ARRAY(m, sn_onnx_value, column);
    SN_ARRAY(m * m, double, a);
    SN_ARRAY(m * m, double, turned);
    sn_curve_channels(schema, curve, input);
    SN_TRY(sn_curve_matrix(curves, m, a));
    for (int64_t k = 0; k < m; k++) {
        if (!e->matrix) column[k] = e->input[input[k]];
        feature[k] = schema->input[input[k]].first_feature;
        for (int64_t j = 0; j < m; j++) turned[j * m + k] = a[k * m + j];
    }
    sn_onnx_value x =
        e->matrix ? sn_onnx_gather(g, e->input[0], m, input) : sn_onnx_concat(g, (int)m, column);
    x = without_na(e, x);
    if (!curves->fine) x = sn_onnx_rounded(g, x);
    sn_onnx_value made = sn_onnx_two(g, "MatMul", x, sn_onnx_doubles(g, m, m, turned));
    if (sn_curve_divides(curves->how)) {
        const sn_onnx_value mean =
            sn_onnx_two(g, "Mul", sn_onnx_row_sums(g, x), sn_onnx_number(g, 1.0 / (double)m));
        const sn_onnx_value apart = sn_onnx_two(g, "Sub", x, mean);
        const sn_onnx_value sd =
            sn_onnx_one(g, "Sqrt",
                        sn_onnx_two(g, "Mul", sn_onnx_row_sums(g, sn_onnx_two(g, "Mul", apart, apart)),
                                    sn_onnx_number(g, 1.0 / (double)(m - 1))));
        const sn_onnx_value least =
            sn_onnx_two(g, "Mul", sn_onnx_one(g, "Abs", mean), sn_onnx_number(g, SN_CURVE_FLAT));
        const sn_onnx_value flat = sn_onnx_two(g, "LessOrEqual", sd, least), zero = sn_onnx_number(g, 0.0);
        made = sn_onnx_where(g, flat, zero, sn_onnx_two(g, "Div", made, sd));
    }
    add_block(e, made, m);
    return STONET_OK;
}

/* A word that means that nothing is known, unless it is a category. */
static void add_no_word(const sn_interner *known, const char *word, const char **key, int64_t *code,
                        int64_t *count)
{
    if (sn_interner_find(known, word, strlen(word)) >= 0) return;
    key[*count] = word;
    code[(*count)++] = NO_WORD;
}

/* Codes of words: their category, NO_WORD or NEW_WORD. */
static stonet_status code_words(encoding *e, int64_t j, sn_onnx_value *out)
{
    const sn_input *input = &e->schema->input[j];
    const int64_t categories = input->categories.count, most = categories + N_MISSING + e->na->count;
    const char **key = NULL;
    int64_t *code = NULL, count = 0;
    sn_bytes attributes = {0};
    SN_FREED_BY(sn_interner_free) sn_interner known = {0};
    SN_TRY(SN_TAKE(e->keep, key, most));
    SN_TRY(SN_TAKE(e->keep, code, most));
    SN_TRY(sn_interner_of(&input->categories, &known));
    for (; count < categories; count++) {
        key[count] = input->categories.text[count];
        code[count] = count;
    }
    for (int i = 0; i < N_MISSING; i++) add_no_word(&known, MISSING[i], key, code, &count);
    for (int64_t i = 0; i < e->na->count; i++) add_no_word(&known, e->na->word[i], key, code, &count);
    sn_onnx_attribute_strings(&attributes, "keys_strings", count, key);
    sn_onnx_attribute_ints(&attributes, "values_int64s", count, code);
    sn_onnx_attribute_int(&attributes, "default_int64", input->has_other ? categories - 1 : NEW_WORD);
    *out = sn_onnx_node(e->graph, &(sn_onnx_call){.op = "LabelEncoder",
                                                  .n_inputs = 1,
                                                  .input = &e->input[j],
                                                  .attributes = &attributes,
                                                  .ml = true});
    return STONET_OK;
}

/* Where there is no word. */
static sn_onnx_value no_word(sn_onnx_graph *g, sn_onnx_value code)
{
    static const int64_t none = NO_WORD;
    return sn_onnx_two(g, "Equal", code, sn_onnx_ints(g, 1, &none));
}

/* 0, or NaN by 0 / (1 - 1) where there is no word. */
static sn_onnx_value poison_of_words(sn_onnx_graph *g, sn_onnx_value code)
{
    const sn_onnx_value gone = sn_onnx_cast(g, no_word(g, code), SN_ONNX_DOUBLE);
    return sn_onnx_two(g, "Div", sn_onnx_number(g, 0.0), sn_onnx_two(g, "Sub", sn_onnx_number(g, 1.0), gone));
}

/* The rank among ordered categories: one feature, hits (1, 2, ..)'. */
static stonet_status add_rank(encoding *e, sn_onnx_value hits, const sn_input *input)
{
    sn_onnx_graph *g = e->graph;
    const int64_t count = input->categories.count, f = input->first_feature;
    SN_ARRAY(count, double, rank);
    for (int64_t c = 0; c < count; c++) rank[c] = (double)(c + 1);
    const sn_onnx_value unknown = sn_onnx_two(g, "Sub", sn_onnx_number(g, 1.0), sn_onnx_row_sums(g, hits));
    const sn_onnx_value raw =
        sn_onnx_two(g, "Add", sn_onnx_two(g, "MatMul", hits, sn_onnx_doubles(g, count, 1, rank)),
                    sn_onnx_two(g, "Mul", unknown, sn_onnx_number(g, e->schema->mean[f])));
    add_feature(e, raw, f);
    return STONET_OK;
}

static stonet_status add_words(encoding *e, int64_t j)
{
    sn_onnx_graph *g = e->graph;
    const sn_input *input = &e->schema->input[j];
    const int64_t count = input->categories.count;
    sn_onnx_value code;
    SN_ARRAY(count, int64_t, all);
    for (int64_t c = 0; c < count; c++) all[c] = c;
    SN_TRY(code_words(e, j, &code));
    sn_onnx_value hits =
        sn_onnx_cast(g, sn_onnx_two(g, "Equal", code, sn_onnx_ints(g, count, all)), SN_ONNX_DOUBLE);
    if (!e->fills) hits = sn_onnx_two(g, "Add", hits, poison_of_words(g, code));
    add_missing(e, no_word(g, code), input);
    if (input->categories.ordered) return add_rank(e, hits, input);
    add_indicators(e, hits, input->first_feature, count);
    return STONET_OK;
}

static sn_onnx_value in_order(encoding *e, int64_t *place)
{
    bool ordered = true;
    for (int64_t k = 0; k < e->made; k++) {
        place[e->feature[k]] = k;
        ordered = ordered && e->feature[k] == k;
    }
    const sn_onnx_value all = sn_onnx_concat(e->graph, e->parts, e->part);
    return ordered ? all : sn_onnx_gather(e->graph, all, e->made, place);
}

/* From the inputs of the graph to the encoded features (rows x p). Blocks are made by kind (numbers, curves,
   words) and put into the order of the model at the end. */
static stonet_status add_features(sn_onnx_graph *graph, const sn_exported *of, sn_onnx_value *out)
{
    SN_WORKSPACE(keep);
    const sn_schema *schema = of->schema;
    if (of->matrix && has_words(schema))
        return sn_fail(
            STONET_ERROR_UNSUPPORTED,
            "the model has columns of words, which a matrix of numbers cannot hold: use the format onnx, with the columns by name");
    encoding e = {.graph = graph,
                  .schema = schema,
                  .fills = sn_exported_fills(of),
                  .matrix = of->matrix || (!schema->has_header && !has_words(schema)),
                  .na = &of->na,
                  .keep = &keep};
    SN_TRY(SN_TAKE(&keep, e.part, 5 * schema->n_inputs + 1)); /* number, levels, season, whether missing */
    SN_TRY(SN_TAKE(&keep, e.input, schema->n_inputs));
    SN_TRY(SN_TAKE(&keep, e.feature, schema->p));
    SN_TRY(SN_TAKE(&keep, e.scratch, schema->p + schema->n_inputs));
    SN_ARRAY(schema->p, int64_t, place);
    SN_TRY(add_inputs(&e, of));
    SN_TRY(add_numbers(&e));
    for (int64_t curve = 1; curve <= schema->n_curves; curve++) SN_TRY(add_curve(&e, curve));
    for (int64_t j = 0; j < schema->n_inputs; j++)
        if (is_words(&schema->input[j])) SN_TRY(add_words(&e, j));
    *out = in_order(&e, place);
    return STONET_OK;
}

/* ---- steps --------------------------------------------------------------------------------------------- */

/* The same numbers in rows of this length. */
static sn_onnx_value rows_of(sn_onnx_graph *g, sn_onnx_value in, int64_t length)
{
    return sn_onnx_two(g, "Reshape", in, sn_onnx_ints(g, 2, (const int64_t[]){-1, length}));
}

static sn_onnx_value affine(sn_onnx_graph *g, const sn_step *step, sn_onnx_value in)
{
    const int64_t rows = sn_step_rows(step), columns = sn_step_columns(step);
    if (step->runs > 1) in = rows_of(g, in, columns);
    const sn_onnx_value parts[] = {in, sn_onnx_doubles(g, rows, columns, step->matrix),
                                   sn_onnx_doubles(g, 1, rows, step->offset)};
    const sn_onnx_value out = sn_onnx_with(g, "Gemm", 3, parts, "transB", 1);
    return step->runs > 1 ? rows_of(g, out, step->width) : out;
}

/* exp(-gamma (|x|^2 - 2 x'c + |c|^2)) */
static stonet_status kernel(sn_onnx_graph *g, const sn_step *step, sn_onnx_value in, sn_onnx_value *out)
{
    const int64_t m = step->width, p = step->inputs;
    SN_ARRAY(m * p, double, turned);
    SN_ZEROS(m, double, squares);
    for (int64_t k = 0; k < m; k++)
        for (int64_t j = 0; j < p; j++) {
            const double c = step->matrix[k * p + j];
            turned[j * m + k] = -2.0 * c;
            squares[k] += c * c;
        }
    const sn_onnx_value own = sn_onnx_row_sums(g, sn_onnx_two(g, "Mul", in, in));
    const sn_onnx_value cross = sn_onnx_two(g, "MatMul", in, sn_onnx_doubles(g, p, m, turned));
    const sn_onnx_value apart =
        sn_onnx_two(g, "Add", sn_onnx_two(g, "Add", cross, own), sn_onnx_doubles(g, 1, m, squares));
    *out = sn_onnx_one(g, "Exp", sn_onnx_two(g, "Mul", apart, sn_onnx_number(g, -step->number)));
    return STONET_OK;
}

static sn_onnx_value temper(sn_onnx_graph *g, const sn_step *step, sn_onnx_value in)
{
    const sn_onnx_value relative = sn_onnx_two(g, "Div", in, sn_onnx_row_maxima(g, in));
    const sn_onnx_value power = sn_onnx_two(g, "Pow", relative, sn_onnx_number(g, step->number));
    return sn_onnx_two(g, "Div", power, sn_onnx_row_sums(g, power));
}

/* The nodes of one step; at: the values of the steps before, rows x width each. Everything is in double, as
   in the formula, so that results agree to rounding. */
static stonet_status add_step(sn_onnx_graph *g, const sn_step *step, const sn_onnx_value *at,
                              sn_onnx_value *out)
{
    const sn_onnx_value in = at[step->in];
    switch (step->op) {
    case SN_OP_FEATURES:
        break;
    case SN_OP_AFFINE:
        *out = affine(g, step, in);
        break;
    case SN_OP_SCALE:
        *out =
            sn_onnx_two(g, "Add", sn_onnx_two(g, "Mul", in, sn_onnx_doubles(g, 1, step->width, step->factor)),
                        sn_onnx_doubles(g, 1, step->width, step->offset));
        break;
    case SN_OP_ACTIVATION:
        *out = sn_onnx_one(g,
                           step->activation == SN_TANH   ? "Tanh"
                           : step->activation == SN_RELU ? "Relu"
                                                         : "Sigmoid",
                           in);
        break;
    case SN_OP_KERNEL:
        return kernel(g, step, in, out);
    case SN_OP_COLUMNS:
        *out = sn_onnx_gather(g, in, step->width, step->column);
        break;
    case SN_OP_JOIN:
        *out = sn_onnx_concat(g, 2, (sn_onnx_value[]){in, at[step->other]});
        break;
    case SN_OP_LARGEST:
        *out = rows_of(g, sn_onnx_row_maxima(g, rows_of(g, in, step->inputs / step->width)), step->width);
        break;
    case SN_OP_SOFTMAX:
        *out = sn_onnx_with(g, "Softmax", 1, &in, "axis", 1);
        break;
    case SN_OP_TEMPER:
        *out = temper(g, step, in);
        break;
    case SN_OP_EXP:
        *out = sn_onnx_one(g, "Exp", in);
        break;
    }
    return STONET_OK;
}

/* ---- outputs ------------------------------------------------------------------------------------------- */

/* The most probable class of each row; "" for a row without an answer: 2 beside the probabilities of 0. */
static stonet_status add_label(sn_onnx_graph *g, const sn_exported *of, sn_onnx_value probabilities)
{
    SN_WORKSPACE(scratch);
    const int64_t classes = sn_schema_outputs(of->schema);
    const char **label = NULL;
    sn_onnx_value into;
    sn_bytes attributes = {0};
    const sn_onnx_value gone = sn_onnx_one(g, "IsNaN", probabilities), zero = sn_onnx_number(g, 0.0);
    const sn_onnx_value none =
        sn_onnx_cast(g, sn_onnx_one(g, "IsNaN", sn_onnx_row_sums(g, probabilities)), SN_ONNX_DOUBLE);
    const sn_onnx_value shares[] = {sn_onnx_where(g, gone, zero, probabilities),
                                    sn_onnx_two(g, "Mul", none, sn_onnx_number(g, 2.0))};
    probabilities = sn_onnx_concat(g, 2, shares);
    SN_TRY(SN_TAKE(&scratch, label, classes + 1));
    for (int64_t c = 0; c < classes; c++) label[c] = sn_exported_output(of, c);
    label[classes] = "";
    SN_TRY(sn_onnx_output(g, "label", SN_ONNX_STRING, 0, &into));
    sn_onnx_attribute_int(&attributes, "axis", 1);
    sn_onnx_attribute_int(&attributes, "keepdims", 0);
    const sn_onnx_value best = sn_onnx_node(
        g,
        &(sn_onnx_call){.op = "ArgMax", .n_inputs = 1, .input = &probabilities, .attributes = &attributes});
    const sn_onnx_value both[] = {sn_onnx_strings(g, classes + 1, label), best};
    sn_onnx_node(g, &(sn_onnx_call){.op = "Gather", .n_inputs = 2, .input = both, .into = &into});
    return STONET_OK;
}

/* value + poison under the name of an output; poison (rows x 1) is 0, or NaN for rows that are not whole. */
static stonet_status add_result(sn_onnx_graph *g, const char *name, int64_t width, sn_onnx_value value,
                                sn_onnx_value poison, sn_onnx_value *out)
{
    const sn_onnx_value both[] = {value, poison};
    SN_TRY(sn_onnx_output(g, name, SN_ONNX_DOUBLE, width, out));
    sn_onnx_node(g, &(sn_onnx_call){.op = "Add", .n_inputs = 2, .input = both, .into = out});
    return STONET_OK;
}

static stonet_status add_graph(sn_onnx_graph *g, const sn_exported *of)
{
    const sn_formula *formula = of->formula;
    sn_onnx_value at[SN_FORMULA_STEPS], z, answer;
    SN_TRY(add_features(g, of, &at[0]));
    for (int k = 1; k < formula->count; k++) SN_TRY(add_step(g, &formula->step[k], at, &at[k]));
    /* 0 x, summed: 0 where all features are finite, else NaN. Some activations lose it (max(0, NaN) = 0). */
    SN_ZEROS(of->schema->p, double, zeros);
    const sn_onnx_value poison = sn_onnx_two(g, "MatMul", at[0], sn_onnx_doubles(g, of->schema->p, 1, zeros));
    SN_TRY(add_result(g, "z", of->model->dim, at[formula->z], poison, &z));
    if (formula->answer < 0) return STONET_OK;
    const bool classes = of->schema->task == SN_CLASSIFICATION;
    SN_TRY(add_result(g, classes ? "probabilities" : "prediction", sn_schema_outputs(of->schema),
                      at[formula->answer], poison, &answer));
    return classes ? add_label(g, of, answer) : STONET_OK;
}

/* The graph with a description and the facts about the model, which ONNX keeps as metadata. */
static void write_file(sn_onnx_graph *graph, const sn_exported *of, sn_bytes *out)
{
    char dim[24], rows[24];
    snprintf(dim, sizeof dim, "%" PRId64, of->model->dim);
    snprintf(rows, sizeof rows, "%" PRId64, of->model->n_train);
    const char *const facts[][2] = {
        {"method", of->model->method->name},
        {"dim", dim},
        {"rows", rows},
        {"task", of->formula->answer < 0 ? "none" : sn_schema_task_word(of->schema)},
        {NULL, NULL}};
    sn_onnx_file(
        graph, of->name,
        sn_exported_fills(of)
            ? "A model of stonet. Inputs are columns as they are in the table, dates as days since "
              "1970-01-01. A missing cell (NaN, an empty text) and a category that training never saw "
              "count as the average of the training rows."
            : "A model of stonet. Inputs are columns as they are in the table, dates as days since "
              "1970-01-01. A row with a missing cell gives NaN, and an empty label; a category that training "
              "never saw counts "
              "as the average of the training rows.",
        facts, out);
}

stonet_status sn_export_onnx(const sn_exported *exported, sn_bytes *out)
{
    SN_FREED_BY(sn_onnx_free) sn_onnx_graph graph = {0};
    SN_TRY(add_graph(&graph, exported));
    write_file(&graph, exported, out);
    SN_TRY(out->status);
    return out->pack.size <= INT_MAX
               ? STONET_OK
               : sn_fail(STONET_ERROR_UNSUPPORTED, "the model is too large for an ONNX file, which ends at "
                                                   "2 GB");
}
