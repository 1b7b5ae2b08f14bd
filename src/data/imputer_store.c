#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "data/imputer.h"

#define PREFIX "schema.cells."

/* ---- save -------------------------------------------------------------------------------------- */

/* The margins have tables of different lengths. The file holds these tables one after the other in three
   vectors (value, score, cut), and their lengths in `count`. Margins without cuts save 0. */
static stonet_status save_margins(const sn_imputer *m, sn_store *store)
{
    SN_WORKSPACE(scratch);
    const int64_t d = m->gaussian.d;
    int64_t total = 0, *count = NULL;
    for (int64_t k = 0; k < d; k++) total += m->margin[k].count;
    SN_ZEROS(d, int64_t, feature);
    SN_ZEROS(d, int64_t, kind);
    SN_TRY(SN_TAKE_ZERO(&scratch, count, d));
    SN_ZEROS(total, double, value);
    SN_ZEROS(total, double, score);
    SN_ZEROS(total, double, cut);
    total = 0;
    for (int64_t k = 0; k < d; k++) {
        const sn_margin *margin = &m->margin[k];
        feature[k] = margin->feature;
        kind[k] = (int64_t)margin->kind;
        count[k] = margin->count;
        for (int64_t i = 0; i < margin->count; i++, total++) {
            value[total] = (double)margin->value[i];
            score[total] = margin->score[i];
            cut[total] = margin->cut != NULL ? margin->cut[i] : 0.0;
        }
    }
    SN_TRY(sn_store_put_vector(store, PREFIX "feature", SN_I64, d, feature));
    SN_TRY(sn_store_put_vector(store, PREFIX "margin", SN_I64, d, kind));
    SN_TRY(sn_store_put_vector(store, PREFIX "count", SN_I64, d, count));
    SN_TRY(sn_store_put_vector(store, PREFIX "value", SN_F64, total, value));
    SN_TRY(sn_store_put_vector(store, PREFIX "score", SN_F64, total, score));
    SN_TRY(sn_store_put_vector(store, PREFIX "cut", SN_F64, total, cut));
    return STONET_OK;
}

stonet_status sn_imputer_save(const sn_imputer *m, sn_store *store)
{
    if (m == NULL || m->gaussian.d == 0) return STONET_OK;
    const sn_gaussian *g = &m->gaussian;
    SN_TRY(save_margins(m, store));
    SN_TRY(sn_store_put_vector(store, PREFIX "mean", SN_F64, g->d, g->mean));
    if (g->precision != NULL)
        return sn_store_put_matrix(store, PREFIX "precision", SN_F64, g->d, g->d, g->precision);
    SN_TRY(sn_store_put_matrix(store, PREFIX "loadings", SN_F64, g->d, g->factors, g->loadings));
    return sn_store_put_vector(store, PREFIX "noise", SN_F64, g->d, g->noise);
}

/* ---- load: every number may be anything --------------------------------------------------------- */

static stonet_status damaged(const char *what)
{
    return sn_fail(STONET_ERROR_FORMAT, "the model's entry " PREFIX "%s is damaged", what);
}

static stonet_status copy(const sn_store *store, const char *name, int64_t rows, int64_t columns,
                          double **out)
{
    const sn_tensor *tensor;
    SN_TRY(columns < 0 ? sn_store_get_vector(store, name, SN_F64, rows, &tensor)
                       : sn_store_get_matrix(store, name, SN_F64, rows, columns, &tensor));
    SN_TRY(sn_tensor_check_finite(tensor));
    const int64_t count = sn_tensor_count(tensor);
    SN_TRY(SN_NEW_RAW(*out, count));
    memcpy(*out, tensor->data, (size_t)count * sizeof **out);
    return STONET_OK;
}

/* A full Gaussian is stored as its precision matrix (d x d), a factor model as loadings (d x factors) and
   noise (d). g->d is set before. Later code divides by the diagonal and the noise: both must be above 0. */
static stonet_status load_gaussian(const sn_store *store, sn_gaussian *g)
{
    SN_TRY(copy(store, PREFIX "mean", g->d, -1, &g->mean));
    if (sn_store_find(store, PREFIX "precision") != NULL) {
        if (g->d > SN_FULL_MOST) return damaged("precision");
        SN_TRY(copy(store, PREFIX "precision", g->d, g->d, &g->precision));
        for (int64_t k = 0; k < g->d; k++)
            if (!(g->precision[k * g->d + k] > 0.0)) return damaged("precision");
        return STONET_OK;
    }
    const sn_tensor *loadings;
    SN_TRY(sn_store_get_matrix(store, PREFIX "loadings", SN_F64, g->d, -1, &loadings));
    g->factors = loadings->shape[1];
    if (g->factors > SN_FACTORS_MOST) return damaged("loadings");
    SN_TRY(copy(store, PREFIX "loadings", g->d, g->factors, &g->loadings));
    SN_TRY(copy(store, PREFIX "noise", g->d, -1, &g->noise));
    for (int64_t k = 0; k < g->d; k++)
        if (!(g->noise[k] > 0.0)) return damaged("noise");
    return sn_gaussian_ready(g);
}

/* Whether a margin with these numbers can be gone through both ways. */
static bool is_sound(const sn_margin *margin)
{
    if (margin->kind == SN_MARGIN_PLAIN || margin->kind == SN_MARGIN_CATEGORY)
        return margin->count == 2 && margin->value[1] > 0.0F;
    if (margin->count < 1) return false;
    for (int64_t i = 1; i < margin->count; i++)
        if (!(margin->value[i] > margin->value[i - 1]) || !(margin->score[i] > margin->score[i - 1]))
            return false;
    return true;
}

static stonet_status load_margin(const double *value, const double *score, const double *cut, sn_margin *out)
{
    SN_TRY(SN_NEW(out->value, out->count));
    SN_TRY(SN_NEW(out->score, out->count));
    if (out->kind == SN_MARGIN_LEVELS) SN_TRY(SN_NEW(out->cut, out->count));
    for (int64_t i = 0; i < out->count; i++) {
        out->value[i] = (float)value[i]; /* which a double may be too large for */
        if (!isfinite(out->value[i])) return damaged("value");
        out->score[i] = score[i];
        if (out->cut != NULL) out->cut[i] = cut[i];
    }
    return is_sound(out) ? STONET_OK : damaged("value");
}

/* The reverse of save_margins. A file may be damaged: features must rise, kinds must be known, and the
   lengths must add up to the size of the vectors. */
static stonet_status load_margins(const sn_store *store, const sn_schema *schema, sn_imputer *m)
{
    const int64_t d = m->gaussian.d;
    const sn_tensor *feature, *kind, *count, *part[3];
    const char *const names[] = {PREFIX "value", PREFIX "score", PREFIX "cut"};
    SN_TRY(sn_store_get_vector(store, PREFIX "feature", SN_I64, d, &feature));
    SN_TRY(sn_store_get_vector(store, PREFIX "margin", SN_I64, d, &kind));
    SN_TRY(sn_store_get_vector(store, PREFIX "count", SN_I64, d, &count));
    for (int k = 0; k < 3; k++) {
        SN_TRY(sn_store_get_vector(store, names[k], SN_F64, -1, &part[k]));
        SN_TRY(sn_tensor_check_finite(part[k]));
    }
    const int64_t *f = feature->data, *word = kind->data, *n = count->data;
    const double *value = part[0]->data, *score = part[1]->data, *cut = part[2]->data;
    const int64_t total = sn_tensor_count(part[0]);
    if (sn_tensor_count(part[1]) != total || sn_tensor_count(part[2]) != total) return damaged("score");
    int64_t at = 0;
    for (int64_t k = 0; k < d; k++) {
        if (f[k] < 0 || f[k] >= schema->p || (k > 0 && f[k] <= f[k - 1])) return damaged("feature");
        if (word[k] < 0 || word[k] > SN_MARGIN_CATEGORY) return damaged("margin");
        if (n[k] < 0 || n[k] > total - at) return damaged("count");
        m->margin[k] = (sn_margin){.kind = (sn_margin_kind)word[k], .feature = f[k], .count = n[k]};
        SN_TRY(load_margin(value + at, score + at, cut + at, &m->margin[k]));
        at += n[k];
    }
    return at == total ? sn_imputer_join(schema, m) : damaged("count");
}

stonet_status sn_imputer_join(const sn_schema *schema, sn_imputer *m)
{
    int64_t k = 0;
    SN_TRY(SN_NEW(m->centre, m->gaussian.d));
    SN_TRY(SN_NEW(m->inverse, m->gaussian.d));
    for (int64_t j = 0; j < m->gaussian.d; j++) {
        const sn_margin *margin = &m->margin[j];
        if (margin->kind != SN_MARGIN_PLAIN && margin->kind != SN_MARGIN_CATEGORY) continue;
        m->centre[j] = (double)margin->value[0];
        m->inverse[j] = 1.0 / (double)margin->value[1];
    }
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        const int64_t end = input->first_feature + input->features;
        const bool texts = input->kind == SN_COLUMN_TEXT && !input->categories.ordered;
        for (; k < m->gaussian.d && m->margin[k].feature < end; k++) {
            sn_margin *margin = &m->margin[k];
            const int64_t scores = texts ? input->categories.count : 1;
            if ((margin->kind == SN_MARGIN_CATEGORY) != texts ||
                margin->feature >= input->first_feature + scores)
                return damaged("feature");
            if (input->levels > 0 && (margin->kind != SN_MARGIN_LEVELS || margin->count != input->levels))
                return damaged("margin");
            margin->indicators = input->levels > 0;
        }
    }
    return STONET_OK;
}

stonet_status sn_imputer_load(const sn_store *store, const sn_schema *schema, sn_imputer **out)
{
    *out = NULL;
    const sn_tensor *feature = sn_store_find(store, PREFIX "feature");
    if (feature == NULL) return STONET_OK;
    if (feature->rank != 1 || feature->shape[0] < 1 || feature->shape[0] > schema->p)
        return damaged("feature");
    SN_AUTO(sn_imputer) *m = NULL;
    SN_TRY(SN_NEW(m, 1));
    m->gaussian.d = feature->shape[0];
    SN_TRY(SN_NEW(m->margin, m->gaussian.d));
    SN_TRY(load_margins(store, schema, m));
    SN_TRY(load_gaussian(store, &m->gaussian));
    return SN_GIVE(m, out);
}
