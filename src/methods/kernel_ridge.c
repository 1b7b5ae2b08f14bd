#include "methods/kernel_ridge.h"

#include <math.h>
#include <string.h>

#include "math/kernel.h"
#include "math/linalg.h"
#include "methods/kernel_features.h"

enum { MOST_CENTRES = 500, SHARES = 33 };
static const double largest_share = 1.0, quarter_decade = 0.5623413251903491;
/* Directions of the features below this share of the first are rounding. */
static const double rounding = 1e-12;

/* A regression in the coordinates in which every ridge is a set of weights. */
typedef struct turned {
    int64_t n, m, r;
    double *value; /* m, descending: squared singular values of the features */
    double *u;     /* n x m: their left singular vectors */
    double *f;     /* n x r: the response */
    double *along; /* m x r: u'f */
    /* work space */
    double *square; /* n x m: the squares of u */
    double *weight; /* m */
    double *scaled; /* m x r */
    double *fitted; /* n x r */
    double *lever;  /* n */
} turned;

/* The leading principal components of f (n x rank) with 99 % of its squares. */
static stonet_status compress(int64_t n, int64_t rank, const double *f, sn_workspace *keep, turned *out)
{
    SN_WORKSPACE(scratch);
    double *gram = NULL, *value = NULL, *v = NULL, *leading = NULL;
    SN_TRY(SN_TAKE(&scratch, gram, rank * rank));
    SN_TRY(SN_TAKE(&scratch, value, rank));
    SN_TRY(SN_TAKE(&scratch, v, rank * rank));
    sn_syrk_tn(rank, n, 1.0, f, 0.0, gram);
    SN_TRY(sn_eigh(rank, gram, value, v));
    double total = 0.0, held = 0.0;
    for (int64_t k = 0; k < rank; k++) total += fmax(value[k], 0.0);
    for (out->r = 0; out->r < rank && held < 0.99 * total;) held += value[out->r++];
    if (out->r == 0) out->r = 1;
    SN_TRY(SN_TAKE(&scratch, leading, rank * out->r));
    SN_TRY(SN_TAKE(keep, out->f, n * out->r));
    sn_first_columns(rank, rank, v, out->r, leading);
    sn_gemm(false, false, n, out->r, rank, 1.0, f, leading, 0.0, out->f);
    return STONET_OK;
}

/* value, u, along of centred features phi (n x m). */
static stonet_status turn(int64_t n, int64_t m, const double *phi, sn_workspace *keep, turned *out)
{
    SN_WORKSPACE(scratch);
    double *gram = NULL, *v = NULL;
    SN_TRY(SN_TAKE(&scratch, gram, m * m));
    SN_TRY(SN_TAKE(&scratch, v, m * m));
    SN_TRY(SN_TAKE(keep, out->value, m));
    sn_syrk_tn(m, n, 1.0, phi, 0.0, gram);
    SN_TRY(sn_eigh(m, gram, out->value, v));
    for (out->m = 0; out->m < m && out->value[out->m] > rounding * out->value[0];) out->m++;
    sn_first_columns(m, m, v, out->m, v);
    SN_TRY(SN_TAKE(keep, out->u, n * out->m));
    SN_TRY(SN_TAKE(keep, out->square, n * out->m));
    SN_TRY(SN_TAKE(keep, out->along, out->m * out->r));
    sn_gemm(false, false, n, out->m, m, 1.0, phi, v, 0.0, out->u);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < out->m; k++) out->u[i * out->m + k] /= sqrt(out->value[k]);
    for (int64_t i = 0; i < n * out->m; i++) out->square[i] = out->u[i] * out->u[i];
    sn_gemm(true, false, out->m, out->r, n, 1.0, out->u, out->f, 0.0, out->along);
    return STONET_OK;
}

/* The sum of the squared errors with each row left out, at this ridge; infinite above n/2 degrees of freedom.
 */
static double left_out_error(turned *t, double ridge)
{
    double freedom = 1.0, sum = 0.0, n = (double)t->n;
    for (int64_t k = 0; k < t->m; k++) freedom += t->weight[k] = t->value[k] / (t->value[k] + ridge);
    if (freedom > 0.5 * n) return INFINITY;
    for (int64_t k = 0; k < t->m; k++)
        for (int64_t j = 0; j < t->r; j++) t->scaled[k * t->r + j] = t->weight[k] * t->along[k * t->r + j];
    sn_gemm(false, false, t->n, t->r, t->m, 1.0, t->u, t->scaled, 0.0, t->fitted);
    sn_gemv(false, t->n, t->m, 1.0, t->square, t->weight, 0.0, t->lever);
    for (int64_t i = 0; i < t->n; i++) {
        double rest = fmax(1.0 - 1.0 / n - t->lever[i], 1e-6), squares = 0.0;
        for (int64_t j = 0; j < t->r; j++) {
            double error = t->f[i * t->r + j] - t->fitted[i * t->r + j];
            squares += error * error;
        }
        sum += squares / (rest * rest);
    }
    return sum;
}

/* The input with no more than MOST_CENTRES kernel functions. */
static stonet_status thin(const sn_kernel_input *input, uint64_t seed, sn_workspace *keep,
                          sn_kernel_input *few)
{
    int64_t *row = NULL, p = input->p;
    *few = *input;
    if (input->m <= MOST_CENTRES) return STONET_OK;
    few->m = MOST_CENTRES;
    SN_TRY(SN_TAKE(keep, row, few->m));
    SN_TRY(SN_TAKE(keep, few->centres, few->m * p));
    SN_TRY(sn_choose_rows(input->m, few->m, seed, 4, row));
    for (int64_t i = 0; i < few->m; i++)
        memcpy(few->centres + i * p, input->centres + row[i] * p, (size_t)p * sizeof(double));
    return STONET_OK;
}

stonet_status sn_kernel_ridge_choose(const sn_kernel_input *input, int64_t rank, const double *f,
                                     uint64_t seed, double *share)
{
    SN_WORKSPACE(scratch);
    sn_kernel_input few;
    sn_features features;
    turned t = {.n = input->n};
    SN_TRY(compress(input->n, rank, f, &scratch, &t));
    SN_TRY(thin(input, seed, &scratch, &few));
    SN_TRY(sn_features_create(&few, &scratch, &features));
    SN_TRY(turn(t.n, features.landmarks.rank, features.phi, &scratch, &t));
    SN_TRY(SN_TAKE(&scratch, t.weight, t.m));
    SN_TRY(SN_TAKE(&scratch, t.scaled, t.m * t.r));
    SN_TRY(SN_TAKE(&scratch, t.fitted, t.n * t.r));
    SN_TRY(SN_TAKE(&scratch, t.lever, t.n));
    double lowest = INFINITY, tried = largest_share;
    *share = largest_share;
    for (int i = 0; i < SHARES; i++, tried *= quarter_decade) {
        double error = left_out_error(&t, tried * t.value[0]);
        if (!(error < lowest)) continue;
        lowest = error;
        *share = tried;
    }
    return STONET_OK;
}
