#include "stonet/axes.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "math/linalg.h"
#include "net/activation.h"

SN_DEFINE_WORDS(sn_units_words, "kind of units", SN_UNITS_ACTIVATED, SN_UNITS_WORDS);

enum { MOST_LAGS = 8, BLOCK = 1024 };
static const double MOST_PRODUCTS = 4e9; /* spent on E[J'J] */
static const double NO_VARIANCE =
    1e-10; /* part of the largest, or of the square of a mean: sums of rounded floats */
/* Part of the whole effect, and variance of the output in its own units, below which an axis has none. */
static const double NO_EFFECT = 1e-10, NO_OUTPUT = 1e-6;
static const double A_TIE = 1e-6;

/* The rows of the units and what psi, which stands between them and W, makes of them. */
typedef struct sample {
    const sn_shape *shape;
    sn_activation activation; /* psi */
    int64_t n, q;
    const float *z;
    const double *psi; /* n x q */
} sample;

static void apart(const sample *s, double *mean, double *centred)
{
    memset(mean, 0, (size_t)s->q * sizeof *mean);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t k = 0; k < s->q; k++) mean[k] += (double)s->z[i * s->q + k] / (double)s->n;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t k = 0; k < s->q; k++) centred[i * s->q + k] = (double)s->z[i * s->q + k] - mean[k];
}

/* The slope of psi's secant between rows i and j in column k; where they meet, its derivative. */
static double secant(const sample *s, int64_t i, int64_t j, int64_t k)
{
    const int64_t a = i * s->q + k, b = j * s->q + k;
    const double step = (double)s->z[a] - (double)s->z[b];
    if (fabs(step) < 1e-5) return sn_psi_slope(s->activation, (double)s->z[a], s->psi[a]);
    return (s->psi[a] - s->psi[b]) / step;
}

/* E[s s'] (q x q) over pairs of rows at some distances in the table, which cover it whatever its order. */
static stonet_status mean_slopes(const sample *s, double *out)
{
    const double products = (double)s->n * (double)s->q * (double)s->q;
    const int lags = (int)fmax(1.0, fmin(MOST_LAGS, MOST_PRODUCTS / products));
    SN_ARRAY(BLOCK * s->q, double, slope);
    memset(out, 0, (size_t)(s->q * s->q) * sizeof *out);
    const double part = 1.0 / ((double)s->n * lags);
    for (int lag = 0; lag < lags; lag++) {
        const int64_t distance = 1 + (s->n - 1) * lag / (lags + 1);
        for (int64_t first = 0; first < s->n; first += BLOCK) {
            const int64_t rows = s->n - first < BLOCK ? s->n - first : BLOCK;
            for (int64_t i = 0; i < rows; i++)
                for (int64_t k = 0; k < s->q; k++)
                    slope[i * s->q + k] = secant(s, first + i, (first + i + distance) % s->n, k);
            sn_syrk_tn(s->q, rows, part, slope, 1.0, out);
        }
    }
    return STONET_OK;
}

/* W in double, m x q; of classes less the mean over them. */
static void output_weights(const sample *s, const float *theta, double *w)
{
    const int h = s->shape->layers - 1;
    const int64_t m = s->shape->width[h + 1], q = s->q;
    for (int64_t a = 0; a < m * q; a++) w[a] = (double)theta[s->shape->weight_at[h] + a];
    for (int64_t k = 0; k < q && s->shape->task == SN_CLASSIFICATION; k++) {
        double mean = 0.0;
        for (int64_t a = 0; a < m; a++) mean += w[a * q + k] / (double)m;
        for (int64_t a = 0; a < m; a++) w[a * q + k] -= mean;
    }
}

/* E[J'J] = W'W . E[s s'] */
static stonet_status effect(const sample *s, const double *w, double *out)
{
    const int64_t m = s->shape->width[s->shape->layers], q = s->q;
    SN_ARRAY(q * q, double, gram);
    SN_TRY(mean_slopes(s, out));
    sn_syrk_tn(q, m, 1.0, w, 0.0, gram);
    for (int64_t a = 0; a < q * q; a++) out[a] *= gram[a];
    return STONET_OK;
}

/* The sign of each axis: c = W Cov(psi(Z), Z') (m x q), its largest entry in a column made positive. */
static stonet_status fix_signs(const sample *s, const double *w, const double *centred, sn_axes *axes)
{
    const int64_t m = s->shape->width[s->shape->layers], q = s->q, kept = axes->q;
    SN_ARRAY(q * q, double, cross);
    SN_ARRAY(q * kept, double, turned);
    SN_ARRAY(m * kept, double, c);
    sn_gemm(1.0 / (double)s->n, sn_turned(s->psi, s->n, q), sn_as(centred, s->n, q), 0.0, cross);
    sn_multiply(sn_as(cross, q, q), sn_turned(axes->map, kept, q), turned);
    sn_multiply(sn_as(w, m, q), sn_as(turned, q, kept), c);
    for (int64_t k = 0; k < kept; k++) {
        double largest = 0.0;
        for (int64_t a = 0; a < m; a++)
            if (fabs(c[a * kept + k]) > (1.0 - A_TIE) * fabs(largest)) largest = c[a * kept + k];
        for (int64_t j = 0; largest < 0.0 && j < q; j++) axes->map[k * q + j] *= -1.0;
    }
    return STONET_OK;
}

/* Eigenvectors V (columns) and values l of Cov(Z); the number that are more than rounding. */
static stonet_status decompose(const sample *s, const double *mean, const double *centred, double *l,
                               double *v, int64_t *rank)
{
    double largest = 0.0;
    for (int64_t k = 0; k < s->q; k++) largest = fmax(largest, mean[k] * mean[k]);
    SN_ARRAY(s->q * s->q, double, covariance);
    sn_syrk_tn(s->q, s->n, 1.0 / (double)s->n, centred, 0.0, covariance);
    SN_TRY(sn_eigh(s->q, covariance, l, v));
    const double floor_at = NO_VARIANCE * fmax(l[0], 0.01 * largest);
    for (*rank = 0; *rank < s->q && l[*rank] > floor_at;) ++*rank;
    return STONET_OK;
}

/* P diag(l) P with P = I - A'A, A (count x rank) orthonormal rows: what the axes so far leave of the units.
 */
static stonet_status leave_out(int64_t rank, int64_t count, const double *a, const double *l, double *out)
{
    SN_ZEROS(rank * rank, double, p);
    SN_ARRAY(rank * rank, double, weighed);
    for (int64_t j = 0; j < rank; j++) p[j * rank + j] = 1.0;
    if (count > 0) sn_gemm(-1.0, sn_turned(a, count, rank), sn_as(a, count, rank), 1.0, p);
    for (int64_t i = 0; i < rank; i++)
        for (int64_t j = 0; j < rank; j++) weighed[i * rank + j] = p[i * rank + j] * l[j];
    sn_multiply(sn_as(weighed, rank, rank), sn_as(p, rank, rank), out);
    return STONET_OK;
}

/* Rows of the map, in coordinates of unit variance (kept x rank), and the variance of each: first the axes of
   the effect R, then those of the units. */
static stonet_status choose_axes(int64_t rank, const double *l, double *r, sn_axes *axes, double *a,
                                 double *variance, int64_t *kept)
{
    double total = 0.0;
    int64_t count = 0;
    SN_ARRAY(rank, double, d);
    SN_ARRAY(rank * rank, double, u);
    SN_ARRAY(rank * rank, double, rest);
    SN_TRY(sn_eigh(rank, r, d, u));
    for (int64_t k = 0; k < rank; k++) total += fmax(d[k], 0.0);
    *kept = rank < axes->q ? rank : axes->q;
    for (; count < *kept && d[count] > fmax(NO_EFFECT * total, NO_OUTPUT); count++) {
        axes->share[count] = d[count] / total;
        variance[count] = d[count];
        for (int64_t j = 0; j < rank; j++) a[count * rank + j] = u[j * rank + count];
    }
    if (count == *kept) return STONET_OK;
    SN_TRY(leave_out(rank, count, a, l, rest));
    SN_TRY(sn_eigh(rank, rest, d, u));
    for (int64_t k = 0; count < *kept; k++, count++) {
        variance[count] = fmax(d[k], 0.0);
        for (int64_t j = 0; j < rank; j++) a[count * rank + j] = u[j * rank + k];
    }
    return STONET_OK;
}

/* map and share; rows of the map beyond the rank of Cov(Z) stay 0. */
static stonet_status turn(int64_t q, int64_t rank, const double *l, const double *v, const double *jj,
                          sn_axes *axes)
{
    int64_t kept;
    SN_ARRAY(q * rank, double, b);
    SN_ARRAY(q * rank, double, half);
    SN_ARRAY(rank * rank, double, r);
    SN_ARRAY(rank * rank, double, a);
    SN_ARRAY(rank, double, variance);
    for (int64_t j = 0; j < q; j++)
        for (int64_t k = 0; k < rank; k++) b[j * rank + k] = v[j * q + k] * sqrt(l[k]);
    sn_multiply(sn_as(jj, q, q), sn_as(b, q, rank), half);
    sn_multiply(sn_turned(b, q, rank), sn_as(half, q, rank), r);
    SN_TRY(choose_axes(rank, l, r, axes, a, variance, &kept));
    for (int64_t j = 0; j < q; j++) /* V l^{-1/2} */
        for (int64_t k = 0; k < rank; k++) half[j * rank + k] = b[j * rank + k] / l[k];
    sn_multiply(sn_as(a, kept, rank), sn_turned(half, q, rank), axes->map);
    for (int64_t k = 0; k < kept; k++)
        for (int64_t j = 0; j < q; j++) axes->map[k * q + j] *= sqrt(variance[k]);
    return STONET_OK;
}

static stonet_status make(int64_t width, sn_units of, int64_t q, sn_axes *axes)
{
    *axes = (sn_axes){.q = q, .width = width, .of = of};
    SN_TRY(SN_NEW(axes->mean, width));
    SN_TRY(SN_NEW(axes->map, q * width));
    return SN_NEW(axes->share, q);
}

stonet_status sn_axes_learn(const sn_shape *shape, const float *theta, int64_t n, const float *units,
                            sn_units of, int64_t kept, sn_axes *axes)
{
    const int64_t q = shape->width[shape->layers - 1];
    int64_t rank;
    *axes = (sn_axes){0};
    SN_FREED_BY(sn_axes_free) sn_axes own = {0};
    SN_ARRAY(n * q, double, psi);
    SN_ARRAY(n * q, double, centred);
    SN_ARRAY(q, double, l);
    SN_ARRAY(q * q, double, v);
    SN_ARRAY(q * q, double, jj);
    SN_ARRAY(shape->width[shape->layers] * q, double, w);
    const sample s = {.shape = shape,
                      .activation = of == SN_UNITS_PLAIN ? shape->activation : SN_IDENTITY,
                      .n = n,
                      .q = q,
                      .z = units,
                      .psi = psi};
    for (int64_t a = 0; a < n * q; a++) psi[a] = sn_psi(s.activation, (double)units[a]);
    SN_TRY(make(q, of, kept, &own));
    apart(&s, own.mean, centred);
    output_weights(&s, theta, w);
    SN_TRY(decompose(&s, own.mean, centred, l, v, &rank));
    if (rank == 0) return STONET_OK; /* all units are constant */
    SN_TRY(effect(&s, w, jj));
    SN_TRY(turn(q, rank, l, v, jj, &own));
    SN_TRY(fix_signs(&s, w, centred, &own));
    *axes = own;
    own = (sn_axes){0};
    return STONET_OK;
}

stonet_status sn_axes_apply(const sn_axes *axes, int64_t n, const float *units, float *z)
{
    const int64_t q = axes->q, width = axes->width;
    SN_ARRAY(width, double, row);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < width; j++) row[j] = (double)units[i * width + j] - axes->mean[j];
        for (int64_t k = 0; k < q; k++) {
            double sum = 0.0;
            for (int64_t j = 0; j < width; j++) sum += axes->map[k * width + j] * row[j];
            z[i * q + k] = (float)sum;
        }
    }
    return STONET_OK;
}

static double total_share(const sn_axes *axes)
{
    double sum = 0.0;
    for (int64_t k = 0; k < axes->q; k++) sum += axes->share[k];
    return sum;
}

double sn_axes_effective(const sn_axes *axes)
{
    double squares = 0.0;
    for (int64_t k = 0; k < axes->q; k++) squares += axes->share[k] * axes->share[k];
    return squares > 0.0 ? total_share(axes) * total_share(axes) / squares : (double)NAN;
}

double sn_axes_carried(const sn_axes *axes)
{
    return axes->q > 0 && axes->share[0] > 0.0 ? total_share(axes) : 1.0;
}

void sn_axes_trim(sn_axes *axes)
{
    while (axes->q > 1) {
        bool empty = true;
        for (int64_t j = 0; j < axes->width; j++)
            empty = empty && axes->map[(axes->q - 1) * axes->width + j] == 0.0;
        if (!empty) return;
        axes->q--;
    }
}

void sn_axes_free(sn_axes *axes)
{
    SN_FREE_ALL(axes->mean, axes->map, axes->share);
    *axes = (sn_axes){0};
}

stonet_status sn_axes_put(const sn_axes *axes, sn_store *store)
{
    if (axes->q == 0) return STONET_OK;
    SN_TRY(sn_words_put(&sn_units_words, store, "z_units", axes->of));
    SN_TRY(sn_store_put_vector(store, "z_mean", SN_F64, axes->width, axes->mean));
    SN_TRY(sn_store_put_matrix(store, "z_map", SN_F64, axes->q, axes->width, axes->map));
    SN_TRY(sn_store_put_vector(store, "explained_share", SN_F64, axes->q, axes->share));
    const double effective = sn_axes_effective(axes);
    return isnan(effective) ? STONET_OK : sn_store_put_real(store, "effective_dimension", effective);
}

/* Shares of explained effect are at least 0 and sum to 1 at the most, but for rounding. */
static bool are_shares(const sn_axes *axes)
{
    for (int64_t k = 0; k < axes->q; k++)
        if (!(axes->share[k] >= 0.0)) return false;
    return total_share(axes) < 1.0 + 1e-6;
}

stonet_status sn_axes_get(const sn_store *store, int64_t width, sn_axes *axes)
{
    *axes = (sn_axes){0};
    SN_FREED_BY(sn_axes_free) sn_axes own = {0};
    const sn_tensor *mean, *map, *share;
    char room[64];
    int of;
    if (sn_store_find(store, "z_map") == NULL) return STONET_OK; /* files before 0.2 */
    SN_TRY(sn_words_get(&sn_units_words, store, "z_units", &of));
    SN_TRY(sn_store_get_vector(store, "explained_share", SN_F64, -1, &share));
    const int64_t q = share->shape[0];
    if (q < 1 || q > width)
        return sn_fail(STONET_ERROR_FORMAT, "the model has %lld columns of Z from %lld units", (long long)q,
                       (long long)width);
    SN_TRY(make(width, (sn_units)of, q, &own));
    SN_TRY(sn_store_get_vector(store, "z_mean", SN_F64, width, &mean));
    SN_TRY(sn_store_get_matrix(store, "z_map", SN_F64, q, width, &map));
    memcpy(own.mean, mean->data, (size_t)width * sizeof *own.mean);
    memcpy(own.map, map->data, (size_t)(q * width) * sizeof *own.map);
    memcpy(own.share, share->data, (size_t)q * sizeof *own.share);
    if (!are_shares(&own))
        return sn_fail(STONET_ERROR_FORMAT, "entry '%s' does not hold shares of one whole",
                       sn_store_name(store, "explained_share", room, sizeof room));
    *axes = own;
    own = (sn_axes){0};
    return STONET_OK;
}
