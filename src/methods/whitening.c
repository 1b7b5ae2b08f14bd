#include "methods/whitening.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/linalg.h"
#include "methods/row_sums.h"

/* Rows first.. of x, centred, divided by the scale (constant columns become 0) and times the root of their
   weights. */
static void scaled_rows(const sn_problem *rows, const double *mean, const double *scale, int64_t first,
                        int64_t count, double *out)
{
    const int64_t p = rows->p;
    sn_centred_rows(rows->x, p, mean, NULL, first, count, out);
    for (int64_t i = 0; i < count; i++) {
        const double root = rows->weight != NULL ? sqrt(sn_problem_weight(rows, first + i)) : 1.0;
        for (int64_t j = 0; j < p; j++)
            out[i * p + j] = scale[j] > 0.0 ? root * (out[i * p + j] / scale[j]) : 0.0;
    }
}

/* X - 1 mean' = U diag(s) V' diag(scale), U not kept; rows of X times the roots of their weights. */
typedef struct spectrum {
    const sn_problem *rows;
    stonet_team *team;
    double total;        /* of the weights */
    int64_t n, p, count; /* count = min(n, p) */
    double *mean;        /* p */
    double *scale; /* p: standard deviations (divisor n), or ones; 0 for a constant standardised column */
    double *s;     /* count, descending */
    double *v;     /* p x count, orthonormal columns */
} spectrum;

/* Sums of deviations from the first row, so that a constant column has deviations of exactly 0. */
static stonet_status add_deviations(const void *user, int64_t first, int64_t count, double *sum)
{
    const sn_problem *rows = ((const spectrum *)user)->rows;
    const float *x = rows->x;
    const int64_t p = rows->p;
    for (int64_t i = first; i < first + count; i++) {
        const double weight = sn_problem_weight(rows, i);
        for (int64_t j = 0; j < p; j++) sum[j] += weight * ((double)x[i * p + j] - (double)x[j]);
    }
    return STONET_OK;
}

static stonet_status add_squares(const void *user, int64_t first, int64_t count, double *sum)
{
    const spectrum *of = user;
    const int64_t p = of->p;
    for (int64_t i = first; i < first + count; i++) {
        const double weight = sn_problem_weight(of->rows, i);
        for (int64_t j = 0; j < p; j++) {
            const double d = (double)of->rows->x[i * p + j] - of->mean[j];
            sum[j] += weight * (d * d);
        }
    }
    return STONET_OK;
}

/* X'X (p x p) of some rows, block by block. */
static stonet_status add_products(const void *user, int64_t first, int64_t count, double *gram)
{
    const spectrum *of = user;
    const int64_t p = of->p, block = sn_block_rows(count, p), end = first + count;
    SN_ARRAY(block * p, double, rows);
    for (; first < end; first += block) {
        const int64_t some = end - first < block ? end - first : block;
        scaled_rows(of->rows, of->mean, of->scale, first, some, rows);
        sn_syrk_tn(p, some, 1.0, rows, 1.0, gram);
    }
    return STONET_OK;
}

static stonet_status find_spectrum(const sn_problem *rows, bool standardise, stonet_team *team,
                                   sn_workspace *keep, spectrum *out)
{
    const int64_t n = rows->n, p = rows->p, count = n < p ? n : p;
    *out = (spectrum){
        .rows = rows, .team = team, .total = sn_problem_total(rows), .n = n, .p = p, .count = count};
    /* X'X or the rows, the vectors, and about twice as much inside the decomposition */
    SN_TRY(sn_memory_require((uint64_t)(32.0 * (double)count * (double)p),
                             "the singular value decomposition of x", "use fewer columns or fewer rows"));
    SN_TRY(SN_TAKE_EACH(keep, p, &out->mean, &out->scale));
    SN_TRY(SN_TAKE(keep, out->s, count));
    SN_TRY(SN_TAKE(keep, out->v, p * count));
    SN_TRY(sn_row_sums(team, n, p, add_deviations, out, out->mean));
    for (int64_t j = 0; j < p; j++) out->mean[j] = (double)rows->x[j] + out->mean[j] / out->total;
    if (standardise) SN_TRY(sn_row_sums(team, n, p, add_squares, out, out->scale));
    for (int64_t j = 0; j < p; j++) out->scale[j] = standardise ? sqrt(out->scale[j] / out->total) : 1.0;
    SN_ARRAY(count * p, double, work);
    if (n < p) { /* the thin SVD of the rows */
        SN_ARRAY(n * p, double, vt);
        scaled_rows(rows, out->mean, out->scale, 0, n, work);
        SN_TRY(sn_svd(n, p, work, NULL, out->s, vt));
        sn_transpose(n, p, vt, out->v);
        return STONET_OK;
    }
    SN_TRY(sn_row_sums(team, n, p * p, add_products, out, work)); /* the eigenvectors of X'X */
    SN_TRY(sn_eigh(p, work, out->s, out->v));
    for (int64_t k = 0; k < p; k++) out->s[k] = out->s[k] > 0.0 ? sqrt(out->s[k]) : 0.0;
    return STONET_OK;
}

/* Fills in all but `back`, which is allocated; `most` as for sn_whitening_fit. */
static stonet_status components(const spectrum *of, int64_t most, sn_workspace *keep, sn_whitening *out)
{
    /* Columns that depend on each other in exact arithmetic do so only up to float rounding in x. For columns
       of one size this is at most a few FLT_EPSILON of the largest singular value. Eigenvalues of X'X are
       known to DBL_EPSILON p of the largest. Anything smaller is not a direction. */
    const double tolerance = fmax(4.0 * (double)FLT_EPSILON, sqrt(DBL_EPSILON * (double)of->p));
    int64_t rank = 0;
    while (rank < of->count && of->s[rank] > tolerance * of->s[0]) rank++;
    if (most > 0 && most < rank) rank = most;
    if (rank == 0)
        return sn_fail(STONET_ERROR_DATA,
                       "every column of x is constant over the %lld row%s, so no direction can "
                       "be found; use more rows",
                       (long long)of->n, of->n == 1 ? "" : "s");
    *out = (sn_whitening){.n = of->n, .p = of->p, .rank = rank, .mean = of->mean, .turn = of->v};
    sn_first_columns(of->p, of->count, of->v, rank, of->v);
    SN_TRY(SN_TAKE(keep, out->variance, rank));
    for (int64_t k = 0; k < rank; k++) out->variance[k] = of->s[k] * of->s[k] / of->total;
    return SN_TAKE(keep, out->back, of->p * rank);
}

stonet_status sn_whitening_fit(const sn_problem *rows, double ridge, int64_t most, stonet_team *team,
                               sn_workspace *keep, sn_whitening *out)
{
    spectrum of;
    SN_TRY(find_spectrum(rows, true, team, keep, &of));
    SN_TRY(components(&of, most, keep, out));
    for (int64_t j = 0; j < rows->p; j++)
        for (int64_t k = 0; k < out->rank; k++)
            out->back[j * out->rank + k] =
                of.scale[j] > 0.0
                    ? out->turn[j * out->rank + k] / (of.scale[j] * sqrt(out->variance[k] + ridge))
                    : 0.0;
    return STONET_OK;
}

stonet_status sn_components_fit(const sn_problem *rows, stonet_team *team, sn_workspace *keep,
                                sn_whitening *out)
{
    spectrum of;
    SN_TRY(find_spectrum(rows, false, team, keep, &of));
    SN_TRY(components(&of, 0, keep, out));
    memcpy(out->back, out->turn, (size_t)(rows->p * out->rank) * sizeof *out->back);
    return STONET_OK;
}

stonet_status sn_whiten_rows(const sn_whitening *whitening, const float *x, const int64_t *row, int64_t count,
                             double *z)
{
    SN_WORKSPACE(scratch);
    sn_blocks rows = sn_whitened_blocks(whitening, x);
    rows.row = row;
    SN_TRY(sn_blocks_open(&rows, 0, count, &scratch));
    while (sn_blocks_next(&rows))
        memcpy(z + rows.at * rows.dim, rows.z, (size_t)(rows.count * rows.dim) * sizeof *z);
    return STONET_OK;
}

stonet_status sn_whitened_result(const sn_whitening *whitening, const sn_linear_map *found, int64_t columns,
                                 const double *v, sn_fit_result *result)
{
    int64_t p = whitening->p, rank = whitening->rank, dim = found->dim;
    sn_linear_map map = *found;
    map.p = p;
    map.centre = whitening->mean;
    SN_WORKSPACE(scratch);
    SN_ARRAY(rank * dim, double, leading);
    SN_TRY(SN_TAKE(&scratch, map.direction, p * dim));
    sn_first_columns(rank, columns, v, dim, leading);
    sn_multiply(sn_as(whitening->back, p, rank), sn_as(leading, rank, dim), map.direction);
    return sn_linear_map_result(&map, result);
}
