#include "model/calibration.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "model/held_out_spread.h"
#include "stats/conformal.h"

SN_DEFINE_WORDS(sn_calibration_words, "calibration", SN_CALIBRATION_FRESH, SN_CALIBRATION_WORDS);
SN_DEFINE_WORDS(sn_score_words, "score", SN_SCORE_LAC, SN_SCORE_WORDS);

static bool has_classes(const stonet_model *model)
{
    return model->schema->task == SN_CLASSIFICATION;
}

/* Rows of the matrix of scores. */
static int64_t score_rows(const stonet_model *model)
{
    return has_classes(model) ? 1 : sn_schema_outputs(model->schema);
}

stonet_status sn_calibration_create(const stonet_model *model, int64_t n_members, int64_t rows,
                                    sn_calibration **out)
{
    SN_AUTO(sn_calibration) *made = NULL;
    SN_TRY(SN_NEW(made, 1));
    made->n_members = n_members;
    made->rows = rows;
    made->temperature = 1.0;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
    SN_TRY(SN_NEW(made->member, n_members));
    SN_TRY(SN_NEW(made->score, score_rows(model) * rows));
    SN_TRY(SN_NEW(made->member_of, rows));
    SN_TRY(has_classes(model) ? SN_NEW(made->label, rows)
                              : SN_NEW(made->residual_variance, sn_schema_outputs(model->schema)));
    return SN_GIVE(made, out);
}

void sn_calibration_free(sn_calibration *calibration)
{
    if (calibration == NULL) return;
    for (int64_t k = 0; calibration->member != NULL && k < calibration->n_members; k++)
        stonet_model_free(calibration->member[k]);
    sn_held_out_spread_free(calibration->spread);
    SN_FREE_ALL(calibration->member, calibration->score, calibration->member_of, calibration->label,
                calibration->residual_variance, calibration);
}

int64_t sn_calibration_lists(const sn_calibration *calibration)
{
    return calibration->n_members > 0 ? calibration->n_members : 1;
}

const stonet_model *sn_calibration_asked(const stonet_model *model, const sn_calibration *calibration,
                                         int64_t l)
{
    return calibration->n_members > 0 ? calibration->member[l] : model;
}

/* ---- answers ---- */

int64_t sn_calibration_block(const stonet_model *model)
{
    enum { FLOATS = 1 << 21, FEWEST = 256, MOST = 8192 };
    const int64_t rows = FLOATS / model->schema->p;
    return rows < FEWEST ? FEWEST : rows > MOST ? MOST : rows;
}

/* A number in (0, 1) by the bits of p features (-0 as 0): the mixer of splitmix64 over their words. */
static double uniform_of(int64_t p, const float *x)
{
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (int64_t j = 0; j < p; j++) {
        const float value = x[j] + 0.0F;
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        state += bits + 0x9e3779b97f4a7c15u;
        state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
        state = (state ^ state >> 27) * 0x94d049bb133111ebu;
        state ^= state >> 31;
    }
    return ((double)(state >> 11) + 0.5) * 0x1p-53;
}

/* The class of `model` that class `code` of `asked` is; -1: it has none of that label. */
static int64_t class_in(const stonet_model *model, const stonet_model *asked, int64_t code)
{
    const char *label = asked->schema->classes.text[code];
    for (int64_t c = 0; c < sn_schema_outputs(model->schema); c++)
        if (strcmp(model->schema->classes.text[c], label) == 0) return c;
    return -1;
}

/* Whether both have the same outputs in the same order: rows met in another order can have given the classes
   of a member other codes. */
static bool same_outputs(const stonet_model *model, const stonet_model *asked)
{
    bool same = sn_schema_outputs(asked->schema) == sn_schema_outputs(model->schema);
    for (int64_t k = 0; same && has_classes(model) && k < sn_schema_outputs(asked->schema); k++)
        same = class_in(model, asked, k) == k;
    return same;
}

/* Probabilities in the classes of `asked`, as those of `model`. */
static stonet_status rename_classes(const stonet_model *model, const stonet_model *asked, int64_t count,
                                    const double *from, double *to)
{
    const int64_t classes = sn_schema_outputs(model->schema), known = sn_schema_outputs(asked->schema);
    memset(to, 0, (size_t)(count * classes) * sizeof *to);
    for (int64_t k = 0; k < known; k++) {
        const int64_t c = class_in(model, asked, k);
        if (c < 0)
            return sn_fail(STONET_ERROR_DATA,
                           "the rows to calibrate on have the class '%.80s', which the model has not met: "
                           "leave its rows out, or fit again with them",
                           asked->schema->classes.text[k]);
        for (int64_t i = 0; i < count; i++) to[i * classes + c] = from[i * known + k];
    }
    return STONET_OK;
}

bool sn_calibration_has_spread(const stonet_model *model)
{
    SN_WORKSPACE(scratch);
    float *x = NULL;
    double *spread = NULL;
    return !has_classes(model) && SN_TAKE_ZERO(&scratch, x, model->schema->p) == STONET_OK &&
           SN_TAKE(&scratch, spread, sn_schema_outputs(model->schema)) == STONET_OK &&
           sn_model_spread(model, x, 1, spread) == STONET_OK;
}

/* A spread (count x m) that is not above 0 would make an interval of no width, or of none at all. */
static stonet_status check_spread(int64_t first, int64_t count, int64_t m, const double *spread)
{
    for (int64_t i = 0; i < count * m; i++)
        if (!(spread[i] > 0.0 && isfinite(spread[i])))
            return sn_fail(STONET_ERROR_NUMERIC, "the model gives no spread above 0 for row %lld",
                           (long long)(first + i / m) + 1);
    return STONET_OK;
}

stonet_status sn_calibration_ask(const stonet_model *model, const stonet_model *asked,
                                 const stonet_data *data, int64_t first, int64_t count, double *out,
                                 double *spread)
{
    const bool same = same_outputs(model, asked);
    SN_WORKSPACE(scratch);
    double *own = out;
    SN_ARRAY(count * asked->schema->p, float, x);
    if (!same) SN_TRY(SN_TAKE(&scratch, own, count * sn_schema_outputs(asked->schema)));
    SN_TRY(sn_model_predict_rows(asked, data, first, count, x, own));
    if (!same) SN_TRY(rename_classes(model, asked, count, own, out));
    if (spread == NULL) return STONET_OK;
    SN_TRY(sn_model_spread(asked, x, count, spread));
    return check_spread(first, count, sn_schema_outputs(asked->schema), spread);
}

/* Multiplies the spread of all lists by what is learned from held-out rows. */
static stonet_status widen(const stonet_model *model, const stonet_data *data, int64_t first, int64_t count,
                           double *spread)
{
    const int64_t p = model->schema->p, m = sn_schema_outputs(model->schema);
    const sn_held_out_spread *learned = model->calibration->spread;
    const int64_t lists = learned->lists;
    SN_ARRAY(count * p, float, x);
    SN_ARRAY(lists * m, double, of_row);
    SN_TRY(sn_schema_encode_rows(model->schema, data, first, count, x));
    for (int64_t i = 0; i < count; i++) {
        sn_held_out_spread_at(learned, x + i * p, of_row);
        for (int64_t k = 0; k < lists * m; k++) spread[(k / m * count + i) * m + k % m] *= of_row[k];
    }
    for (int64_t l = 0; l < lists; l++) SN_TRY(check_spread(first, count, m, spread + l * count * m));
    return STONET_OK;
}

bool sn_calibration_uses_spread(const sn_calibration *calibration)
{
    return calibration->score_kind == SN_SCORE_NORMALISED || calibration->spread != NULL;
}

stonet_status sn_calibration_ask_all(const stonet_model *model, const stonet_data *data, int64_t first,
                                     int64_t count, double *out, double *spread)
{
    const sn_calibration *calibration = model->calibration;
    const int64_t cells = count * sn_schema_outputs(model->schema), lists = sn_calibration_lists(calibration);
    const bool own = calibration->score_kind == SN_SCORE_NORMALISED;
    for (int64_t l = 0; l < lists; l++)
        SN_TRY(sn_calibration_ask(model, sn_calibration_asked(model, calibration, l), data, first, count,
                                  out + l * cells, own ? spread + l * cells : NULL));
    if (calibration->spread == NULL) return STONET_OK;
    for (int64_t k = 0; !own && k < lists * cells; k++) spread[k] = 1.0;
    return widen(model, data, first, count, spread);
}

stonet_status sn_calibration_uniforms(const stonet_model *model, const stonet_data *data, int64_t first,
                                      int64_t count, double *u)
{
    const int64_t p = model->schema->p;
    SN_ARRAY(count * p, float, x);
    SN_TRY(sn_schema_encode_rows(model->schema, data, first, count, x));
    for (int64_t i = 0; i < count; i++) u[i] = uniform_of(p, x + i * p);
    return STONET_OK;
}

void sn_calibration_class_scores(sn_score_kind kind, int64_t classes, const double *p, double u,
                                 int64_t *order, double *score)
{
    if (kind == SN_SCORE_APS)
        sn_aps_scores(classes, p, u, order, score);
    else
        sn_lac_scores(classes, p, score);
}

/* ---- the model file ---- */

/* The entries of member k. */
static stonet_status member_part(const sn_store *part, int64_t k, sn_store **out)
{
    char name[32];
    snprintf(name, sizeof name, "model%lld.", (long long)k + 1);
    return sn_store_part(part, name, out);
}

static stonet_status save_entries(const sn_calibration *self, const stonet_model *model, sn_store *part)
{
    SN_TRY(sn_words_put(&sn_calibration_words, part, "kind", (int)self->kind));
    SN_TRY(sn_words_put(&sn_score_words, part, "score", (int)self->score_kind));
    SN_TRY(sn_store_put_int(part, "models", self->n_members));
    SN_TRY(sn_store_put_matrix(part, "scores", SN_F64, score_rows(model), self->rows, self->score));
    SN_TRY(sn_store_put_vector(part, "model_of", SN_I32, self->rows, self->member_of));
    SN_TRY(sn_held_out_spread_put(self->spread, part));
    if (!has_classes(model))
        return sn_store_put_vector(part, "residual_variance", SN_F64, sn_schema_outputs(model->schema),
                                   self->residual_variance);
    SN_TRY(sn_store_put_real(part, "temperature", self->temperature));
    return sn_store_put_vector(part, "label", SN_I32, self->rows, self->label);
}

stonet_status sn_calibration_save(const sn_calibration *calibration, const stonet_model *model,
                                  sn_store *store)
{
    SN_AUTO(sn_store) *part = NULL;
    SN_TRY(sn_store_part(store, "calibration.", &part));
    SN_TRY(save_entries(calibration, model, part));
    for (int64_t k = 0; k < calibration->n_members; k++) {
        SN_AUTO(sn_store) *inner = NULL;
        SN_TRY(member_part(part, k, &inner));
        SN_TRY(sn_model_put(calibration->member[k], inner));
    }
    return STONET_OK;
}

static stonet_status damaged(const char *what)
{
    return sn_fail(STONET_ERROR_FORMAT, "the calibration of the model is damaged: %s", what);
}

/* Codes below `limit`. */
static stonet_status get_codes(const sn_store *part, const char *name, int64_t rows, int64_t limit,
                               int32_t *out)
{
    const sn_tensor *codes;
    SN_TRY(sn_store_get_vector(part, name, SN_I32, rows, &codes));
    memcpy(out, codes->data, (size_t)rows * sizeof *out);
    for (int64_t i = 0; i < rows; i++)
        if (out[i] < 0 || out[i] >= limit) return damaged("a row is of no class or no model that there is");
    return STONET_OK;
}

/* Fills the arrays of `self`, whose rows and kinds are set. Negative residuals, a temperature of 0 and codes
   out of range are refused: intervals and sets made from them would be wrong without a sign of it. */
static stonet_status load_rows(const sn_store *part, const stonet_model *model, sn_calibration *self)
{
    const int64_t outputs = sn_schema_outputs(model->schema);
    const sn_tensor *tensor;
    SN_TRY(sn_store_get_matrix(part, "scores", SN_F64, score_rows(model), self->rows, &tensor));
    memcpy(self->score, tensor->data, (size_t)(score_rows(model) * self->rows) * sizeof *self->score);
    for (int64_t i = 0; !has_classes(model) && i < outputs * self->rows; i++)
        if (self->score[i] < 0.0) return damaged("a residual is negative");
    SN_TRY(get_codes(part, "model_of", self->rows, sn_calibration_lists(self), self->member_of));
    if (has_classes(model)) {
        SN_TRY(sn_store_get_real(part, "temperature", &self->temperature));
        if (!(self->temperature > 0.0)) return damaged("the temperature is not above 0");
        return get_codes(part, "label", self->rows, outputs, self->label);
    }
    SN_TRY(sn_store_get_vector(part, "residual_variance", SN_F64, outputs, &tensor));
    memcpy(self->residual_variance, tensor->data, (size_t)outputs * sizeof *self->residual_variance);
    return sn_held_out_spread_get(part, sn_calibration_lists(self), outputs, model->schema->p, &self->spread);
}

/* A member must answer the questions of the model. */
static stonet_status load_members(const sn_store *part, const stonet_model *model, sn_calibration *self)
{
    for (int64_t k = 0; k < self->n_members; k++) {
        SN_AUTO(sn_store) *inner = NULL;
        SN_TRY(member_part(part, k, &inner));
        if (sn_store_find_text(inner, "calibration.kind") != NULL)
            return damaged("one of its models has a calibration of its own");
        SN_TRY(sn_model_get(inner, &self->member[k]));
        const sn_schema *own = self->member[k]->schema;
        const int64_t outputs = sn_schema_outputs(own);
        bool fits = own->task == model->schema->task && outputs > 0 &&
                    (has_classes(model) || outputs == sn_schema_outputs(model->schema));
        for (int64_t c = 0; fits && has_classes(model) && c < outputs; c++)
            fits = class_in(model, self->member[k], c) >= 0;
        if (!fits) return damaged("one of its models has another response");
    }
    return STONET_OK;
}

/* The entries below "calibration.", checked against the model. cv+ has a member for each fold, split has one
   member and fresh has none. The caller frees *out. */
static stonet_status load_part(const sn_store *part, const stonet_model *model, sn_calibration **out)
{
    enum { MOST_MEMBERS = 10000 };
    int kind, score;
    int64_t members;
    const sn_tensor *rows;
    SN_TRY(sn_words_get(&sn_calibration_words, part, "kind", &kind));
    SN_TRY(sn_words_get(&sn_score_words, part, "score", &score));
    SN_TRY(sn_store_get_int(part, "models", 0, MOST_MEMBERS, &members));
    SN_TRY(sn_store_get_vector(part, "model_of", SN_I32, -1, &rows));
    if ((kind == SN_CALIBRATION_FRESH) != (members == 0) || (kind == SN_CALIBRATION_SPLIT && members != 1))
        return damaged("its models are not as many as its kind has");
    if ((score == SN_SCORE_RESIDUAL || score == SN_SCORE_NORMALISED) == has_classes(model))
        return damaged("the score is for another response");
    if (sn_schema_outputs(model->schema) == 0) return damaged("the model has no response");
    SN_AUTO(sn_calibration) *made = NULL;
    SN_TRY(sn_calibration_create(model, members, sn_tensor_count(rows), &made));
    made->kind = (sn_calibration_kind)kind;
    made->score_kind = (sn_score_kind)score;
    SN_TRY(load_rows(part, model, made));
    SN_TRY(load_members(part, model, made));
    return SN_GIVE(made, out);
}

stonet_status sn_calibration_load(const sn_store *store, const stonet_model *model, sn_calibration **out)
{
    *out = NULL;
    SN_AUTO(sn_store) *part = NULL;
    SN_TRY(sn_store_part(store, "calibration.", &part));
    return sn_store_find_text(part, "kind") != NULL ? load_part(part, model, out) : STONET_OK;
}
