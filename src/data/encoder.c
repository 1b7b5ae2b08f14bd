#include "data/encoder.h"

#include <string.h>

#include "base/clones.h"
#include "base/memory.h"
#include "base/number.h"
#include "data/dictionary.h"
#include "data/imputer.h"
#include "data/schema_parts.h"

/* A column of numbers that becomes the feature `feature`, and those of its levels and its season. */
typedef struct number_part {
    int64_t slot, feature;
    const sn_input *input;
    bool alone; /* the input has no other features */
} number_part;

/* A column that becomes the features of a text input. */
typedef struct text_part {
    const sn_input *input;
    int64_t slot;
    int32_t *category;      /* text: of each code of the table's dictionary, or */
    sn_interner categories; /* numbers where training had text: their shortest digits are the words */
} text_part;

/* Columns that become the features of a curve. */
typedef struct curve_part {
    int64_t m;
    int64_t *slot, *feature; /* m */
} curve_part;

struct sn_encoder {
    sn_row_source base;
    const sn_schema *schema;
    const stonet_data *data;
    number_part *number; /* first those that the table has in double, and that need it */
    int64_t numbers, fines;
    float *zero;      /* p: a row of a sparse table that is all 0, and */
    int64_t *feature; /* of each of its columns, the feature; -1: none */
    sn_scaled_cells scaled;
    bool incomplete;           /* the table has missing cells, and they are to be filled in */
    uint64_t seed;             /* of their draws */
    bool by_row;               /* these are keyed by the number of the row */
    bool given_response;       /* and given its response */
    const sn_imputer *imputer; /* the schema's, or */
    sn_imputer *own;           /* one of some rows */
    bool in_order; /* feature k is column k of the table's numbers, for all of them: nothing to look up */
    text_part *text;
    int64_t texts;
    curve_part *curve;
    int64_t curves;
};

/* ---- what is found out once -------------------------------------------------------------------- */

/* -1: one that training never saw. */
static int32_t find_category(const text_part *part, const char *word, size_t length)
{
    const int32_t found = sn_interner_find(&part->categories, word, length);
    return found < 0 && part->input->has_other ? (int32_t)part->input->categories.count - 1 : found;
}

static stonet_status prepare_text(const stonet_data *data, const sn_input *input, const sn_column *column,
                                  text_part *part)
{
    *part = (text_part){.input = input, .slot = column->slot};
    SN_TRY(sn_interner_of(&input->categories, &part->categories));
    if (column->kind == SN_COLUMN_NUMBER) return STONET_OK;
    const sn_dictionary *words = &data->text_values[column->slot];
    SN_TRY(SN_NEW(part->category, words->count));
    for (int64_t c = 0; c < words->count; c++)
        part->category[c] = find_category(part, words->text[c], strlen(words->text[c]));
    return STONET_OK;
}

/* For each curve of the schema: the slots of its columns in this table, and the features they become. One
   block holds both lists, so `slot` alone is freed. column[j]: the column of the table that is input j. */
static stonet_status prepare_curves(sn_encoder *e, const int64_t *column)
{
    const sn_schema *schema = e->schema;
    if (schema->n_curves > 0 && e->data->sparse != NULL)
        return sn_fail(STONET_ERROR_DATA, "%s is sparse, and the model was fitted on curves",
                       sn_table_name(e->data));
    SN_TRY(SN_NEW(e->curve, schema->n_curves));
    for (; e->curves < schema->n_curves; e->curves++) {
        curve_part *part = &e->curve[e->curves];
        part->m = sn_curve_channels(schema, e->curves + 1, NULL);
        part->slot = sn_malloc((size_t)part->m, 2 * sizeof *part->slot);
        if (part->slot == NULL) return STONET_ERROR_MEMORY;
        part->feature = part->slot + part->m;
        sn_curve_channels(schema, e->curves + 1, part->feature);
        for (int64_t k = 0; k < part->m; k++) {
            const int64_t j = part->feature[k];
            part->slot[k] = e->data->column[column[j]].slot;
            part->feature[k] = schema->input[j].first_feature;
        }
    }
    return STONET_OK;
}

/* The first missing cell of a column that the schema uses is an error where the schema refuses them. */
static stonet_status check_missing(const sn_schema *schema, const stonet_data *data, const int64_t *column)
{
    if (schema->missing != SN_MISSING_ERROR || data->missing == 0) return STONET_OK;
    for (int64_t i = 0; i < data->n; i++)
        for (int64_t j = 0; j < schema->n_inputs; j++)
            if (schema->input[j].features > 0 && sn_frame_is_missing(data, i, column[j]))
                return sn_fail(STONET_ERROR_DATA,
                               "%s: row %lld: the value of '%s' is missing, and the model was fitted with "
                               "missing=error, or before stonet 0.2: fill in the cell",
                               sn_table_name(data), (long long)i + 1, schema->input[j].name);
    return STONET_OK;
}

/* Whether the table has a column in double, and float is too coarse for it. */
static bool is_fine(const sn_encoder *e, const number_part *part)
{
    return e->data->exact != NULL && e->data->exact[part->slot].at != NULL &&
           sn_far_from_zero(e->schema->centre[part->feature], e->schema->factor[part->feature]);
}

static stonet_status prepare_numbers(sn_encoder *e, const int64_t *column)
{
    const sn_schema *schema = e->schema;
    SN_TRY(SN_NEW(e->number, schema->n_inputs));
    e->in_order = true;
    for (int coarse = 0; coarse < 2; coarse++) {
        for (int64_t j = 0; j < schema->n_inputs; j++) {
            const sn_input *input = &schema->input[j];
            if (input->kind != SN_COLUMN_NUMBER || input->features == 0 || input->curve != 0) continue;
            const number_part part = {.slot = e->data->column[column[j]].slot,
                                      .feature = input->first_feature,
                                      .input = input,
                                      .alone = input->features == 1};
            if (is_fine(e, &part) == (coarse == 1)) continue;
            e->number[e->numbers++] = part;
            e->in_order = e->in_order && part.slot == part.feature;
        }
        if (coarse == 0) e->fines = e->numbers;
    }
    e->in_order = e->in_order && e->numbers == schema->p;
    return STONET_OK;
}

static stonet_status prepare_texts(sn_encoder *e, const int64_t *column)
{
    const sn_schema *schema = e->schema;
    SN_TRY(SN_NEW(e->text, schema->n_inputs));
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        if (input->kind == SN_COLUMN_TEXT && input->features > 0)
            SN_TRY(prepare_text(e->data, input, &e->data->column[column[j]], &e->text[e->texts++]));
    }
    return STONET_OK;
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* to[f] = (from[f] - centre[f]) factor[f] in double, rounded once: the same bits on every instruction set. */
SN_CLONES
static void scale_row(const float *from, const double *centre, const double *factor, int64_t p, float *to)
{
    for (int64_t f = 0; f < p; f++) to[f] = (float)(((double)from[f] - centre[f]) * factor[f]);
}

enum { UNSEEN = -1, MISSING = -2 }; /* instead of a category or level */

/* Sets a feature to a raw number, centred and scaled. */
static void set_feature(const sn_schema *schema, int64_t f, double raw, float *to)
{
    to[f] = (float)((raw - schema->centre[f]) * schema->factor[f]);
}

/* What stands for a category or level: one that training never saw counts as the average of the training
   rows: nothing is known about it, and the average says nothing either way. A missing one is still to be
   filled in. */
static double raw_of(const sn_schema *schema, int64_t f, int64_t category, double known)
{
    return category == MISSING ? (double)NAN : category == UNSEEN ? schema->mean[f] : known;
}

/* The indicators first .. first + count - 1 of one category or level. */
static void encode_category(const sn_schema *schema, int64_t first, int64_t count, int64_t category,
                            float *to)
{
    for (int64_t c = 0; c < count; c++)
        set_feature(schema, first + c, raw_of(schema, first + c, category, c == category ? 1.0 : 0.0), to);
}

/* The feature, if there is one, that says whether the input is missing. */
static void encode_indicator(const sn_schema *schema, const sn_input *input, float *to)
{
    if (input->indicator)
        set_feature(schema, input->first_feature + input->features - 1,
                    isnan(to[input->first_feature]) ? 1.0 : 0.0, to);
}

static int32_t category_of(const sn_encoder *e, const text_part *part, int64_t row)
{
    if (part->category != NULL) {
        const int32_t code = e->data->text_code[part->slot][row];
        return code >= 0 ? part->category[code] : MISSING;
    }
    char word[SN_NUMBER_SIZE];
    const double number = sn_frame_number(e->data, row, part->slot);
    if (isnan(number)) return MISSING;
    const size_t length = sn_number_print(number, word);
    return find_category(part, word, length);
}

/* The first `count` columns of numbers, with their levels and seasons. */
static void encode_numbers(const sn_encoder *e, int64_t row, int64_t count, float *to)
{
    const sn_schema *schema = e->schema;
    const float *from = e->data->x + row * e->data->n_numeric;
    for (int64_t k = 0; k < count; k++) {
        const number_part *part = &e->number[k];
        const int64_t f = part->feature;
        const float value = from[part->slot];
        set_feature(schema, f, k < e->fines ? sn_frame_number(e->data, row, part->slot) : (double)value, to);
        if (part->alone) continue;
        const sn_input *input = part->input;
        if (input->levels > 0)
            encode_category(schema, f + 1, input->levels,
                            isnan(value) ? MISSING : sn_input_level(input, value), to);
        if (input->season) {
            double season[2];
            sn_season(sn_frame_number(e->data, row, part->slot), season);
            for (int i = 0; i < 2; i++) set_feature(schema, f + 1 + i, season[i], to);
        }
        encode_indicator(schema, input, to);
    }
}

static void encode_text(const sn_encoder *e, const text_part *part, int64_t row, float *to)
{
    const sn_input *input = part->input;
    const int64_t f = input->first_feature, category = category_of(e, part, row);
    if (input->categories.ordered) /* its rank */
        set_feature(e->schema, f, raw_of(e->schema, f, category, (double)(1 + category)), to);
    else
        encode_category(e->schema, f, input->categories.count, category, to);
    encode_indicator(e->schema, input, to);
}

static void encode_curve(const sn_encoder *e, const curve_part *part, int64_t row, float *to)
{
    const sn_schema *schema = e->schema;
    double value[SN_CURVE_MOST];
    const bool there = sn_curve_fetch(&schema->curves, e->data, row, part->m, part->slot, value);
    for (int64_t k = 0; k < part->m; k++)
        set_feature(schema, part->feature[k], there ? value[k] : (double)NAN, to);
}

/* The features that are there, as a number (FNV-1a). */
static uint32_t hash_of(const float *x, int64_t p)
{
    uint32_t hash = 2166136261U;
    for (int64_t f = 0; f < p; f++) {
        uint32_t bits;
        memcpy(&bits, &x[f], sizeof bits);
        if (isnan(x[f])) bits = (uint32_t)f;
        for (int shift = 0; shift < 32; shift += 8) hash = (hash ^ (bits >> shift & 0xFF)) * 16777619U;
    }
    return hash;
}

/* What stands for the missing cells of a row: what the imputer says, the mean where there is none. */
static void fill(const sn_encoder *e, int64_t row, uint32_t draw, float *to)
{
    const sn_schema *schema = e->schema;
    if (e->imputer != NULL) {
        sn_cell_draw which = {.seed = e->seed,
                              .row = draw == 0   ? 0
                                     : e->by_row ? (uint32_t)row
                                                 : hash_of(to, schema->p),
                              .draw = draw};
        if (e->given_response && draw > 0) which.response = sn_imputer_response(e->imputer, row);
        sn_imputer_fill(e->imputer, schema, &which, to);
    }
    for (int64_t f = 0; f < schema->p; f++)
        if (isnan(to[f])) set_feature(schema, f, schema->mean[f], to);
}

/* Rows of a sparse table: all 0, but for the cells that are kept. */
static void fetch_sparse(const sn_row_source *source, const sn_rows *rows, uint32_t draw, float *x,
                         int64_t stride)
{
    (void)draw;
    const sn_encoder *e = (const sn_encoder *)source;
    const sn_schema *schema = e->schema;
    const sn_cells *from = e->data->sparse;
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        float *to = x + i * stride;
        memcpy(to, e->zero, (size_t)schema->p * sizeof *to);
        for (int64_t k = from->start[row]; k < from->start[row + 1]; k++) {
            const int64_t f = e->feature[from->column[k]];
            if (f >= 0) set_feature(schema, f, (double)from->value[k], to);
        }
    }
}

/* Only columns of numbers without levels are sparse. */
static stonet_status prepare_sparse(sn_encoder *e)
{
    const sn_schema *schema = e->schema;
    if (e->data->sparse == NULL) return STONET_OK;
    if (e->texts > 0 || e->numbers != schema->p)
        return sn_fail(STONET_ERROR_DATA,
                       "%s is sparse, and the model was fitted on a table with text or codes",
                       sn_table_name(e->data));
    SN_TRY(SN_NEW(e->zero, schema->p));
    SN_TRY(SN_NEW_RAW(e->feature, e->data->n_numeric));
    for (int64_t j = 0; j < e->data->n_numeric; j++) e->feature[j] = -1;
    for (int64_t k = 0; k < e->numbers; k++) {
        const int64_t f = e->number[k].feature;
        e->feature[e->number[k].slot] = f;
        set_feature(schema, f, 0.0, e->zero);
    }
    e->base.fetch = fetch_sparse;
    e->scaled = (sn_scaled_cells){
        .cells = e->data->sparse, .feature = e->feature, .centre = schema->centre, .factor = schema->factor};
    e->base.sparse = &e->scaled;
    return STONET_OK;
}

/* The features of some rows; missing cells last. */
static void fetch(const sn_row_source *source, const sn_rows *rows, uint32_t draw, float *x, int64_t stride)
{
    const sn_encoder *e = (const sn_encoder *)source;
    const sn_schema *schema = e->schema;
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        float *to = x + i * stride;
        if (e->in_order)
            scale_row(e->data->x + row * e->data->n_numeric, schema->centre, schema->factor, schema->p, to);
        encode_numbers(e, row, e->in_order ? e->fines : e->numbers, to);
        for (int64_t k = 0; k < e->curves; k++) encode_curve(e, &e->curve[k], row, to);
        for (int64_t k = 0; k < e->texts; k++) encode_text(e, &e->text[k], row, to);
        if (e->incomplete) fill(e, row, draw, to);
    }
}

/* Which missing cells a row has, before any is filled. Gaussian gaps need an imputer and numbers whose
   feature is a plain score. A text, a curve or another number makes the row SN_GAPS_OTHER. */
static sn_gaps gaps(const sn_row_source *source, int64_t row)
{
    const sn_encoder *e = (const sn_encoder *)source;
    if (!e->incomplete) return SN_GAPS_NONE;
    bool some = false, gaussian = e->imputer != NULL;
    for (int64_t k = 0; k < e->texts; k++) {
        const bool missing = category_of(e, &e->text[k], row) == MISSING;
        some = some || missing;
        gaussian = gaussian && !missing;
    }
    for (int64_t k = 0; k < e->numbers; k++) {
        if (!isnan(e->data->x[row * e->data->n_numeric + e->number[k].slot])) continue;
        some = true;
        gaussian = gaussian && sn_imputer_is_plain(e->imputer, e->number[k].feature);
    }
    for (int64_t k = 0; k < e->curves; k++) {
        double value[SN_CURVE_MOST];
        if (sn_curve_fetch(&e->schema->curves, e->data, row, e->curve[k].m, e->curve[k].slot, value))
            continue;
        some = true;
        gaussian = false;
    }
    return !some ? SN_GAPS_NONE : gaussian ? SN_GAPS_GAUSSIAN : SN_GAPS_OTHER;
}

static stonet_status prepare(const sn_row_source *source, const sn_rows *rows)
{
    (void)rows;
    return sn_frame_check(((const sn_encoder *)source)->data);
}

static void expect(const sn_row_source *source, int64_t first, int64_t count, sn_outlook outlook)
{
    const stonet_data *data = ((const sn_encoder *)source)->data;
    if (outlook == SN_SOON) sn_frame_ahead(data, first, count);
    if (outlook == SN_FEATURES_REST || outlook == SN_ROWS_REST) sn_frame_rest_features(data, first, count);
    if (outlook == SN_RESPONSE_RESTS || outlook == SN_ROWS_REST) sn_frame_rest_response(data, first, count);
}

void sn_encoder_free(sn_encoder *e)
{
    if (e == NULL) return;
    for (int64_t k = 0; k < e->texts; k++) {
        sn_free(e->text[k].category);
        sn_interner_free(&e->text[k].categories);
    }
    for (int64_t k = 0; e->curve != NULL && k < e->schema->n_curves; k++) sn_free(e->curve[k].slot);
    SN_FREE_ALL(e->curve, e->text, e->number, e->zero, e->feature, e);
}

stonet_status sn_encoder_create(const sn_schema *schema, const stonet_data *data, sn_encoder **out)
{
    *out = NULL;
    SN_AUTO(sn_encoder) *e = NULL;
    SN_ZEROS(schema->n_inputs, int64_t, column);
    SN_TRY(SN_NEW(e, 1));
    e->base = (sn_row_source){
        .prepare = prepare, .fetch = fetch, .gaps = gaps, .raw = data->x, .raw_width = data->n_numeric};
    if (data->mapped_x != NULL) e->base.expect = expect;
    e->schema = schema;
    e->imputer = schema->imputer;
    e->data = data;
    e->incomplete = data->missing > 0;
    e->seed = 1;
    SN_TRY(sn_schema_match(schema, data, column));
    SN_TRY(check_missing(schema, data, column));
    SN_TRY(prepare_numbers(e, column));
    SN_TRY(prepare_texts(e, column));
    SN_TRY(prepare_curves(e, column));
    SN_TRY(prepare_sparse(e));
    return SN_GIVE(e, out);
}

void sn_encoder_key(sn_encoder *encoder, uint64_t seed, bool by_content)
{
    encoder->seed = seed;
    encoder->by_row = !by_content;
}

static void free_learned(sn_row_source *source)
{
    sn_encoder *e = (sn_encoder *)source;
    sn_imputer_free(e->own);
    sn_free(e); /* all else is that of the encoder it is a copy of */
}

static stonet_status learned_from(const sn_row_source *source, const sn_rows *rows, sn_row_source **out)
{
    const sn_encoder *all = (const sn_encoder *)source;
    SN_BLOCK sn_encoder *e = NULL;
    SN_TRY(SN_NEW(e, 1));
    *e = *all;
    e->base.free = free_learned;
    SN_TRY(sn_imputer_fit(e->schema, e->data, rows, true, &e->own));
    e->imputer = e->own;
    *out = &e->base;
    e = NULL;
    return STONET_OK;
}

void sn_encoder_give_response(sn_encoder *encoder)
{
    if (encoder->imputer == NULL || encoder->imputer->response == NULL) return;
    encoder->given_response = true;
    encoder->base.learned_from = learned_from;
}

void sn_encoder_leave_missing(sn_encoder *encoder)
{
    encoder->incomplete = false;
}

const sn_row_source *sn_encoder_source(const sn_encoder *encoder)
{
    return &encoder->base;
}

stonet_status sn_schema_encode_x(const sn_schema *schema, const stonet_data *data, float *x)
{
    return sn_schema_encode_rows(schema, data, 0, data->n, x);
}

stonet_status sn_schema_encode_rows(const sn_schema *schema, const stonet_data *data, int64_t first,
                                    int64_t count, float *x)
{
    enum { REST_ROWS = 4096 }; /* encoded before those of the table are let go: not needed again soon */
    SN_AUTO(sn_encoder) *e = NULL;
    SN_TRY(sn_frame_check(data));
    SN_TRY(sn_encoder_create(schema, data, &e));
    for (int64_t done = 0; done < count; done += REST_ROWS) {
        const sn_rows part = sn_rows_range(first + done, count - done < REST_ROWS ? count - done : REST_ROWS);
        e->base.fetch(&e->base, &part, 0, x + done * schema->p, schema->p);
        sn_frame_rest(data, part.first, part.n);
    }
    return STONET_OK;
}
