#include "model/held_out_spread.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "stats/smoother.h"

enum {
    CENTRES = 100,     /* smooth functions of a few columns need no more */
    FEWEST_ROWS = 100, /* fewer residuals say how large they are, and not where */
    STEPS = 20,
    SUBSTREAM = 78 /* of the centres */
};
static const double LARGEST_RATIO = 4.0; /* r / s: a normal residual is beyond in one row of 700 */
static const double SETTLED = 1e-6;      /* change of log s */
static const double JITTER = 1e-6;       /* on the diagonal of the kernel: centres may be equal */

void sn_held_out_spread_free(sn_held_out_spread *self)
{
    if (self == NULL) return;
    SN_FREE_ALL(self->centre, self->coef, self->intercept, self);
}

static stonet_status make(int64_t lists, int64_t outputs, int64_t centres, int64_t p,
                          sn_held_out_spread **out)
{
    sn_held_out_spread *self;
    SN_TRY(SN_NEW(self, 1));
    *out = self;
    *self = (sn_held_out_spread){.lists = lists, .outputs = outputs, .centres = centres, .p = p};
    SN_TRY(SN_NEW(self->centre, centres * p));
    SN_TRY(SN_NEW(self->coef, lists * outputs * centres));
    return SN_NEW(self->intercept, lists * outputs);
}

static double kernel(const sn_held_out_spread *self, const float *x, const double *centre)
{
    double distance = 0.0, single = 0.0;
    for (int64_t j = 0; j < self->p; j++) {
        const double gap = (double)x[j] - centre[j];
        distance += gap * gap;
        const double wide = exp(-self->gamma * (double)self->p * gap * gap);
        single += wide + wide * wide * wide * wide;
    }
    return exp(-self->gamma * distance) + single / (double)self->p;
}

/* Some of the rows as centres. *out NULL: they are all alike. */
static stonet_status place_centres(const sn_scored_rows *rows, sn_held_out_spread **out)
{
    const int64_t p = rows->p, count = rows->n < CENTRES ? rows->n : CENTRES;
    double median = 0.0;
    SN_ARRAY(count, int64_t, chosen);
    SN_AUTO(sn_held_out_spread) *self = NULL;
    SN_TRY(sn_choose_rows(rows->n, count, rows->seed, SUBSTREAM, chosen));
    SN_TRY(make(rows->lists, rows->outputs, count, p, &self));
    for (int64_t c = 0; c < count; c++) sn_widen(p, rows->x + chosen[c] * p, self->centre + c * p);
    SN_TRY(sn_median_distance(count, p, self->centre, rows->seed, &median));
    if (!(median > 0.0)) return STONET_OK;
    self->gamma = 0.5 / (median * median);
    return SN_GIVE(self, out);
}

/* Features phi = L^{-1} k of the rows (n x centres), L L' the kernel among the centres: a ridge on them is
   one in the kernel's own norm. */
static stonet_status make_features(const sn_held_out_spread *self, const sn_scored_rows *rows, double *l,
                                   double *phi)
{
    const int64_t m = self->centres, p = self->p;
    SN_ARRAY(m * p, float, x);
    for (int64_t k = 0; k < m * p; k++) x[k] = (float)self->centre[k];
    for (int64_t i = 0; i < m * m; i++)
        l[i] = kernel(self, x + i / m * p, self->centre + i % m * p) + (i / m == i % m ? JITTER : 0.0);
    SN_TRY(sn_cholesky(m, l));
    for (int64_t i = 0; i < rows->n * m; i++)
        phi[i] = kernel(self, rows->x + i / m * p, self->centre + i % m * p);
    sn_triangular_solve_rows(m, l, rows->n, phi);
    return STONET_OK;
}

/* The rows that one member has seen: features of mean 0, and scores. */
typedef struct seen_rows {
    int64_t n, m;
    double *f, *mean, *score;
} seen_rows;

static void take_seen(const sn_scored_rows *rows, const double *phi, int64_t list, int64_t output,
                      seen_rows *seen)
{
    const int64_t m = seen->m;
    seen->n = 0;
    for (int64_t i = 0; i < rows->n; i++) {
        if (rows->list[i] == list) continue;
        memcpy(seen->f + seen->n * m, phi + i * m, (size_t)m * sizeof *phi);
        seen->score[seen->n++] = rows->score[output * rows->n + i];
    }
    sn_column_means(seen->n, m, seen->f, seen->mean);
    sn_subtract_row(seen->n, m, seen->mean, seen->f);
}

/* coef (m) of the features as they are, and the intercept, by Fisher scoring from a constant. */
static stonet_status fit_scores(const seen_rows *seen, double *coef, double *intercept)
{
    const int64_t n = seen->n, m = seen->m;
    SN_WORKSPACE(scratch);
    sn_smoother smoother;
    double *eta = NULL, penalty = 0.0, level = 0.0;
    for (int64_t i = 0; i < n; i++) level += seen->score[i] / (double)n;
    if (!(level > 0.0)) return STONET_OK; /* no errors at all: one spread will do */
    SN_TRY(SN_TAKE(&scratch, eta, n));
    SN_ARRAY(n, double, work);
    SN_TRY(sn_smoother_create(n, m, seen->f, &scratch, &smoother));
    for (int64_t i = 0; i < n; i++) eta[i] = log(level);
    double change = INFINITY;
    for (int step = 0; step < STEPS && change > SETTLED; step++) {
        *intercept = change = 0.0;
        for (int64_t i = 0; i < n; i++) {
            work[i] = eta[i] + fmin(seen->score[i] / exp(eta[i]), LARGEST_RATIO) - 1.0;
            *intercept += work[i] / (double)n;
        }
        for (int64_t i = 0; i < n; i++) work[i] -= *intercept;
        if (step == 0) SN_TRY(sn_smoother_choose(&smoother, 1, work, false, &penalty));
        SN_TRY(sn_smoother_fit(&smoother, 1, work, &penalty, coef));
        for (int64_t i = 0; i < n; i++) {
            const double now = *intercept + sn_dot(m, seen->f + i * m, coef);
            change = fmax(change, fabs(now - eta[i]));
            eta[i] = now;
        }
    }
    *intercept -= sn_dot(m, seen->mean, coef);
    return STONET_OK;
}

static stonet_status fit_lists(const sn_scored_rows *rows, sn_held_out_spread *self)
{
    const int64_t m = self->centres;
    SN_WORKSPACE(scratch);
    seen_rows seen = {.m = m};
    SN_ARRAY(m * m, double, l);
    SN_ARRAY(rows->n * m, double, phi);
    SN_TRY(make_features(self, rows, l, phi));
    SN_TRY(SN_TAKE(&scratch, seen.f, rows->n * m));
    SN_TRY(SN_TAKE(&scratch, seen.mean, m));
    SN_TRY(SN_TAKE(&scratch, seen.score, rows->n));
    for (int64_t k = 0; k < self->lists * self->outputs; k++) {
        take_seen(rows, phi, k / self->outputs, k % self->outputs, &seen);
        SN_TRY(fit_scores(&seen, self->coef + k * m, self->intercept + k));
        sn_triangular_solve(m, true, l, 1, self->coef + k * m);
    }
    return STONET_OK;
}

stonet_status sn_held_out_spread_fit(const sn_scored_rows *rows, sn_held_out_spread **out)
{
    *out = NULL;
    if (rows->n < FEWEST_ROWS) return STONET_OK;
    SN_AUTO(sn_held_out_spread) *self = NULL;
    SN_TRY(place_centres(rows, &self));
    if (self == NULL) return STONET_OK;
    SN_TRY(fit_lists(rows, self));
    return SN_GIVE(self, out);
}

void sn_held_out_spread_at(const sn_held_out_spread *self, const float *x, double *spread)
{
    const int64_t count = self->lists * self->outputs;
    memcpy(spread, self->intercept, (size_t)count * sizeof *spread);
    for (int64_t c = 0; c < self->centres; c++) {
        const double near = kernel(self, x, self->centre + c * self->p);
        for (int64_t j = 0; j < count; j++) spread[j] += near * self->coef[j * self->centres + c];
    }
    for (int64_t j = 0; j < count; j++) spread[j] = exp(spread[j]);
}

stonet_status sn_held_out_spread_put(const sn_held_out_spread *self, sn_store *store)
{
    if (self == NULL) return STONET_OK;
    SN_TRY(sn_store_put_real(store, "spread_gamma", self->gamma));
    SN_TRY(sn_store_put_matrix(store, "spread_centres", SN_F64, self->centres, self->p, self->centre));
    SN_TRY(sn_store_put_matrix(store, "spread_coef", SN_F64, self->lists * self->outputs, self->centres,
                               self->coef));
    return sn_store_put_matrix(store, "spread_intercept", SN_F64, self->lists, self->outputs,
                               self->intercept);
}

static stonet_status take(const sn_store *store, const char *name, int64_t rows, int64_t cols, double *to)
{
    const sn_tensor *tensor;
    SN_TRY(sn_store_get_matrix(store, name, SN_F64, rows, cols, &tensor));
    SN_TRY(sn_tensor_check_finite(tensor));
    memcpy(to, tensor->data, (size_t)(rows * cols) * sizeof *to);
    return STONET_OK;
}

stonet_status sn_held_out_spread_get(const sn_store *store, int64_t lists, int64_t outputs, int64_t p,
                                     sn_held_out_spread **out)
{
    const sn_tensor *centre;
    *out = NULL;
    if (sn_store_find(store, "spread_centres") == NULL) return STONET_OK;
    SN_TRY(sn_store_get_matrix(store, "spread_centres", SN_F64, -1, p, &centre));
    SN_TRY(make(lists, outputs, centre->shape[0], p, out));
    SN_TRY(sn_store_get_real(store, "spread_gamma", &(*out)->gamma));
    if (!((*out)->gamma > 0.0))
        return sn_fail(STONET_ERROR_FORMAT,
                       "the calibration of the model is damaged: its kernel has no width");
    SN_TRY(take(store, "spread_centres", (*out)->centres, p, (*out)->centre));
    SN_TRY(take(store, "spread_coef", lists * outputs, (*out)->centres, (*out)->coef));
    return take(store, "spread_intercept", lists, outputs, (*out)->intercept);
}
