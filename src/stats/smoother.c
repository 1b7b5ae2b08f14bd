#include "stats/smoother.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "math/linalg.h"

static const double most_used = 0.7;         /* of the degrees of freedom */
static const double smallest_kept = 1e-10;   /* of the largest eigenvalue */
static const double weakest_penalty = 1e-10; /* the same */
static const int steps = 21;                 /* up to the largest eigenvalue itself, in steps of sqrt 10 */

stonet_status sn_smoother_create(int64_t n, int64_t m, const double *f, sn_workspace *keep, sn_smoother *out)
{
    *out = (sn_smoother){.n = n, .m = m, .f = f};
    SN_ARRAY(m * m, double, gram);
    SN_TRY(SN_TAKE(keep, out->value, m));
    SN_TRY(SN_TAKE(keep, out->vector, m * m));
    sn_syrk_tn(m, n, 1.0, f, 0.0, gram);
    SN_TRY(sn_eigh(m, gram, out->value, out->vector));
    while (out->rank < m && out->value[out->rank] > smallest_kept * out->value[0]) out->rank++;
    return STONET_OK;
}

/* along (m x k) = V'F'A */
static stonet_status turn(const sn_smoother *s, int64_t k, const double *a, double *along)
{
    SN_ARRAY(s->m * k, double, cross);
    sn_multiply(sn_turned(s->f, s->n, s->m), sn_as(a, s->n, k), cross);
    sn_multiply(sn_turned(s->vector, s->m, s->m), sn_as(cross, s->m, k), along);
    return STONET_OK;
}

/* square (rank) = the squared lengths of the columns along the eigenvectors, summed over the columns; total =
   that of the columns themselves. */
static double best_of_grid(const sn_smoother *s, const double *square, double total)
{
    double best = INFINITY;
    double chosen = s->rank > 0 ? s->value[0] : 1.0;
    for (int step = 0; step < steps && s->rank > 0; step++) {
        const double penalty = s->value[0] * weakest_penalty * pow(10.0, 0.5 * step);
        double degrees = 1.0;
        double left = total;
        for (int64_t j = 0; j < s->rank; j++) {
            const double share = s->value[j] / (s->value[j] + penalty);
            degrees += share;
            left -= (2.0 - share) * share * square[j];
        }
        if (degrees > most_used * (double)s->n) continue;
        const double free_share = 1.0 - degrees / (double)s->n;
        const double criterion = fmax(left, 0.0) / (free_share * free_share);
        if (criterion >= best) continue;
        best = criterion;
        chosen = penalty;
    }
    return chosen;
}

/* Adds column c of the k to square and *total. */
static void add_column(const sn_smoother *s, int64_t k, int64_t c, const double *a, const double *along,
                       double *square, double *total)
{
    for (int64_t j = 0; j < s->rank; j++) square[j] += along[j * k + c] * along[j * k + c] / s->value[j];
    for (int64_t i = 0; i < s->n; i++) *total += a[i * k + c] * a[i * k + c];
}

stonet_status sn_smoother_choose(const sn_smoother *s, int64_t k, const double *a, bool one_for_all,
                                 double *penalty)
{
    double total = 0.0;
    SN_ARRAY(s->m * k, double, along);
    SN_ZEROS(s->m, double, square);
    SN_TRY(turn(s, k, a, along));
    for (int64_t c = 0; c < k; c++) {
        if (!one_for_all) {
            memset(square, 0, (size_t)s->m * sizeof *square);
            total = 0.0;
        }
        add_column(s, k, c, a, along, square, &total);
        penalty[c] = one_for_all && c + 1 < k ? 0.0 : best_of_grid(s, square, total);
    }
    for (int64_t c = 0; c < k && one_for_all; c++) penalty[c] = penalty[k - 1];
    return STONET_OK;
}

stonet_status sn_smoother_fit(const sn_smoother *s, int64_t k, const double *a, const double *penalty,
                              double *coef)
{
    SN_ARRAY(s->m * k, double, along);
    SN_TRY(turn(s, k, a, along));
    for (int64_t j = 0; j < s->m; j++) {
        for (int64_t c = 0; c < k; c++)
            along[j * k + c] = j < s->rank ? along[j * k + c] / (s->value[j] + penalty[c]) : 0.0;
    }
    sn_multiply(sn_as(s->vector, s->m, s->m), sn_as(along, s->m, k), coef);
    return STONET_OK;
}

stonet_status sn_smoother_residuals(const sn_smoother *s, int64_t k, const double *penalty, double *a)
{
    SN_ARRAY(s->m * k, double, coef);
    SN_TRY(sn_smoother_fit(s, k, a, penalty, coef));
    sn_gemm(-1.0, sn_as(s->f, s->n, s->m), sn_as(coef, s->m, k), 1.0, a);
    return STONET_OK;
}

double sn_smoother_left(const sn_smoother *s, double penalty)
{
    double left = (double)s->n - 1.0;
    for (int64_t j = 0; j < s->rank; j++) {
        const double share = s->value[j] / (s->value[j] + penalty);
        left -= (2.0 - share) * share;
    }
    return left;
}
