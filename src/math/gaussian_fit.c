/* EM for a Gaussian from rows with missing entries. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "math/gaussian.h"
#include "math/linalg.h"
#include "math/noise.h"

enum { BLOCK = 256, MOST_ITERATIONS = 100, FACTOR_ITERATIONS = 60 };
static const double SMALL_CHANGE = 1e-4; /* of means and covariances, in standard deviations */
static const double LEAST_NOISE = 1e-3;  /* of an entry in a factor model, of its variance */

/* Mean and variance of the entries that are there. */
static void observed_moments(const sn_gaussian_fit *fit, double *mean, double *variance)
{
    for (int64_t j = 0; j < fit->d; j++) {
        double sum = 0.0, squares = 0.0, count = 0.0;
        for (int64_t i = 0; i < fit->n; i++) {
            const double value = (double)fit->x[i * fit->d + j];
            if (isnan(value)) continue;
            sum += value;
            squares += value * value;
            count += 1.0;
        }
        mean[j] = count > 0.0 ? sum / count : 0.0;
        variance[j] = count > 0.0 ? fmax(squares / count - mean[j] * mean[j], 1e-8) : 1.0;
    }
}

static bool is_complete(const float *row, int64_t d)
{
    for (int64_t j = 0; j < d; j++)
        if (isnan(row[j])) return false;
    return true;
}

/* ---- any covariance ---------------------------------------------------------------------------- */

/* Sums over rows of x and x x', the missing entries at their conditional means, plus their covariances. */
typedef struct sums {
    double *first, *second; /* d, d x d */
    double *block;          /* BLOCK x d */
    int64_t filled;
} sums;

static void flush(sums *to, int64_t d)
{
    for (int64_t i = 0; i < to->filled; i++)
        for (int64_t j = 0; j < d; j++) to->first[j] += to->block[i * d + j];
    if (to->filled > 0) sn_syrk_tn(d, to->filled, 1.0, to->block, 1.0, to->second);
    to->filled = 0;
}

static double *next_row(sums *to, int64_t d)
{
    if (to->filled == BLOCK) flush(to, d);
    return to->block + d * to->filled++;
}

/* Adds W_uu^-1 to the sums: column by column from its Cholesky factor. */
static void add_covariance(const sn_full_row *row, int64_t d, double *second)
{
    for (int64_t i = 0; i < row->count; i++) {
        double column[SN_FULL_MOST] = {0};
        column[i] = 1.0;
        sn_packed_forward(i, row->count, row->factor, column);
        sn_packed_backward(0, row->count, row->factor, column);
        for (int64_t a = 0; a < row->count; a++) second[row->at[a] * d + row->at[i]] += column[a];
    }
}

/* The E-step over rows with missing entries. */
static void add_incomplete(const sn_gaussian_fit *fit, const sn_gaussian *g, sn_full_row *row, sums *to)
{
    const int64_t d = fit->d;
    for (int64_t i = 0; i < fit->n; i++) {
        const float *x = fit->x + i * d;
        if (is_complete(x, d)) continue;
        double *z = next_row(to, d);
        for (int64_t j = 0; j < d; j++) z[j] = (double)x[j];
        sn_full_condition(g, z, NULL, row);
        for (int64_t k = 0; k < row->count; k++) z[row->at[k]] = row->mean[k];
        add_covariance(row, d, to->second);
    }
    flush(to, d);
}

static void add_complete(const sn_gaussian_fit *fit, sums *to)
{
    for (int64_t i = 0; i < fit->n; i++) {
        const float *x = fit->x + i * fit->d;
        if (!is_complete(x, fit->d)) continue;
        double *z = next_row(to, fit->d);
        for (int64_t j = 0; j < fit->d; j++) z[j] = (double)x[j];
    }
    flush(to, fit->d);
}

/* W = ((n S + prior diag S) / (n + prior))^-1. */
static stonet_status invert(const sn_gaussian_fit *fit, const double *s, double *room, double *precision)
{
    const int64_t d = fit->d;
    const double part = (double)fit->n / ((double)fit->n + fit->prior);
    for (int64_t i = 0; i < d * d; i++) {
        const bool diagonal = i % d == i / d;
        room[i] = diagonal ? s[i] * (1.0 + 1e-9) : part * s[i];
        precision[i] = diagonal ? 1.0 : 0.0;
    }
    return sn_solve_spd(d, room, d, precision);
}

/* The M-step; gives the largest change. */
static double update(const sn_gaussian_fit *fit, const sums *from, double *mean, double *s)
{
    const int64_t d = fit->d;
    const double n = (double)fit->n;
    double change = 0.0;
    for (int64_t i = 0; i < d; i++) {
        const double new_mean = from->first[i] / n;
        change = fmax(change, fabs(new_mean - mean[i]) / sqrt(s[i * d + i]));
        mean[i] = new_mean;
    }
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++) {
            double value = from->second[i * d + j] / n - mean[i] * mean[j];
            if (i == j) value = fmax(value, 1e-8);
            change = fmax(change, fabs(value - s[i * d + j]));
            s[i * d + j] = value;
        }
    return change;
}

/* EM for a full covariance matrix s (d x d). Complete rows are summed once (`once`); each round adds what
   is expected of the incomplete rows, until mean and s change little. */
static stonet_status iterate_full(const sn_gaussian_fit *fit, double *s, sn_gaussian *g)
{
    const int64_t d = fit->d;
    SN_WORKSPACE(scratch);
    sums once = {0}, all = {0};
    SN_ARRAY(1, sn_full_row, row);
    SN_ARRAY(d * d, double, room);
    SN_ARRAY(d, double, variance);
    SN_TRY(SN_TAKE(&scratch, once.block, BLOCK * d));
    SN_TRY(SN_TAKE_ZERO(&scratch, once.first, d));
    SN_TRY(SN_TAKE_ZERO(&scratch, once.second, d * d));
    SN_TRY(SN_TAKE(&scratch, all.first, d));
    SN_TRY(SN_TAKE(&scratch, all.second, d * d));
    all.block = once.block;
    observed_moments(fit, g->mean, variance);
    for (int64_t i = 0; i < d; i++) s[i * d + i] = variance[i];
    add_complete(fit, &once);
    const int most = fit->iterations > 0 ? fit->iterations : MOST_ITERATIONS;
    double change = (double)INFINITY;
    for (int k = 0; k < most && change > SMALL_CHANGE; k++) {
        SN_TRY(invert(fit, s, room, g->precision));
        memcpy(all.first, once.first, (size_t)d * sizeof *all.first);
        memcpy(all.second, once.second, (size_t)(d * d) * sizeof *all.second);
        add_incomplete(fit, g, row, &all);
        change = update(fit, &all, g->mean, s);
    }
    return invert(fit, s, room, g->precision);
}

stonet_status sn_gaussian_fit_full(const sn_gaussian_fit *fit, double *covariance, sn_gaussian *out)
{
    SN_FREED_BY(sn_gaussian_free) sn_gaussian g = {.d = fit->d};
    SN_ZEROS(fit->d * fit->d, double, s);
    SN_TRY(SN_NEW(g.mean, fit->d));
    SN_TRY(SN_NEW(g.precision, fit->d * fit->d));
    SN_TRY(iterate_full(fit, s, &g));
    if (covariance != NULL) memcpy(covariance, s, (size_t)(fit->d * fit->d) * sizeof *s);
    return sn_gaussian_give(&g, out);
}

/* ---- factors ----------------------------------------------------------------------------------- */

/* Sums over the rows: E[f f'] (k x k), E[(x_j - m_j) f] (d x k), E[(x_j - m_j)^2] and the gaps of known
   entries from m + L f (d). */
typedef struct factor_sums {
    double *ff, *xf, *xx, *gap;
} factor_sums;

/* P^-1 + f f' of a solved row into ff (k x k). */
static void second_moment(const sn_gaussian *g, const sn_factor_row *row, double *ff)
{
    const int64_t k = g->factors;
    for (int64_t a = 0; a < k; a++) {
        double column[SN_FACTORS_MOST] = {0};
        column[a] = 1.0;
        sn_packed_forward(a, k, row->precision, column);
        sn_packed_backward(0, k, row->precision, column);
        for (int64_t b = 0; b < k; b++) ff[b * k + a] = column[b] + row->f[a] * row->f[b];
    }
}

/* E-step of factor analysis for one row: adds E[ff'], E[(x - mean) f'] and E[(x - mean)^2] given the known
   cells. */
static void add_row(const sn_gaussian *g, const float *x, factor_sums *to)
{
    const int64_t k = g->factors;
    sn_factor_row row;
    double ff[SN_FACTORS_MOST * SN_FACTORS_MOST] = {0};
    sn_factor_start(g, &row);
    for (int64_t j = 0; j < g->d; j++) {
        if (isnan(x[j]))
            sn_factor_missing(g, j, &row);
        else
            sn_factor_known(g, j, (double)x[j], &row);
    }
    sn_factor_solve(g, &row);
    second_moment(g, &row, ff);
    for (int64_t a = 0; a < k * k; a++) to->ff[a] += ff[a];
    for (int64_t j = 0; j < g->d; j++) {
        const double *l = g->loadings + j * k;
        if (isnan(x[j])) {
            double square = g->noise[j];
            for (int64_t a = 0; a < k; a++) {
                double sum = 0.0;
                for (int64_t b = 0; b < k; b++) sum += ff[a * k + b] * l[b];
                to->xf[j * k + a] += sum;
                square += sum * l[a];
            }
            to->xx[j] += square;
            continue;
        }
        const double gap = (double)x[j] - g->mean[j];
        for (int64_t a = 0; a < k; a++) to->xf[j * k + a] += gap * row.f[a];
        to->xx[j] += gap * gap;
        to->gap[j] += (double)x[j] - sn_factor_mean(g, j, &row);
    }
}

/* L_j = E[x_j f'] E[f f']^-1, noise_j = what it leaves, m_j moved by the mean gap. */
static stonet_status update_factors(const sn_gaussian_fit *fit, factor_sums *from, const double *variance,
                                    sn_gaussian *g)
{
    const int64_t k = g->factors;
    const double n = (double)fit->n;
    memcpy(g->loadings, from->xf, (size_t)(g->d * k) * sizeof *g->loadings);
    SN_TRY(sn_cholesky(k, from->ff));
    for (int64_t j = 0; j < g->d; j++) {
        double *l = g->loadings + j * k, explained = 0.0;
        SN_TRY(sn_cholesky_solve(k, from->ff, 1, l));
        for (int64_t a = 0; a < k; a++) explained += l[a] * from->xf[j * k + a];
        g->noise[j] = fmax((from->xx[j] - explained) / n, LEAST_NOISE * variance[j]);
        g->mean[j] += from->gap[j] / n;
    }
    return STONET_OK;
}

/* EM for x = mean + L f + noise with few factors f: random small loadings first, then a fixed number of
   rounds. */
static stonet_status iterate_factors(const sn_gaussian_fit *fit, sn_gaussian *g)
{
    const int64_t d = g->d, k = g->factors;
    SN_WORKSPACE(scratch);
    factor_sums all = {0};
    SN_ARRAY(d, double, variance);
    SN_TRY(SN_TAKE(&scratch, all.ff, k * k));
    SN_TRY(SN_TAKE(&scratch, all.xf, d * k));
    SN_TRY(SN_TAKE_EACH(&scratch, d, &all.xx, &all.gap));
    observed_moments(fit, g->mean, variance);
    for (int64_t j = 0; j < d; j++) {
        g->noise[j] = k > 0 ? 0.5 * variance[j] : variance[j];
        for (int64_t a = 0; a < k; a++)
            g->loadings[j * k + a] = 0.3 * sqrt(variance[j]) *
                                     sn_noise_normal(1, SN_STREAM_START, (uint32_t)j, 0, (uint32_t)a, 0, 0);
    }
    const int most = fit->iterations > 0 ? fit->iterations : FACTOR_ITERATIONS;
    for (int round = 0; k > 0 && round < most; round++) {
        SN_FREE(g->all);
        SN_TRY(sn_gaussian_ready(g));
        memset(all.ff, 0, (size_t)(k * k) * sizeof *all.ff);
        memset(all.xf, 0, (size_t)(d * k) * sizeof *all.xf);
        memset(all.xx, 0, (size_t)d * sizeof *all.xx);
        memset(all.gap, 0, (size_t)d * sizeof *all.gap);
        for (int64_t i = 0; i < fit->n; i++) add_row(g, fit->x + i * d, &all);
        SN_TRY(update_factors(fit, &all, variance, g));
    }
    SN_FREE(g->all);
    return sn_gaussian_ready(g);
}

stonet_status sn_gaussian_fit_factors(const sn_gaussian_fit *fit, int64_t k, sn_gaussian *out)
{
    SN_FREED_BY(sn_gaussian_free) sn_gaussian g = {.d = fit->d, .factors = k};
    SN_TRY(SN_NEW(g.mean, fit->d));
    SN_TRY(SN_NEW(g.loadings, fit->d * k));
    SN_TRY(SN_NEW(g.noise, fit->d));
    SN_TRY(iterate_factors(fit, &g));
    return sn_gaussian_give(&g, out);
}
