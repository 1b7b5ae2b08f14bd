#include "stats/independence.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/run.h"
#include "math/linalg.h"
#include "math/noise.h"
#include "stats/covariance_test.h"
#include "stats/distributions.h"
#include "stats/features.h"
#include "stats/smoother.h"

enum {
    CONTROLS = 100,
    SHUFFLES = 9999,
    RANDOM_X = 20,    /* waves of x */
    MOST_PAIRS = 400, /* functions of x in a block times functions of y */
    MOST_RANDOM_Z = 200,
    MOST_WHITE = 300,
    MOST_SINGLE = 2000, /* columns of x that are looked at one by one */
    CUBIC_TARGETS = 10  /* with more columns of y the third polynomial is left out */
};

/* Streams of random numbers of a repeat; the features of z take three. */
enum { STREAM_FEW, STREAM_WHITE, STREAM_X, STREAM_Z, STREAM_FEATURES, STREAMS = STREAM_FEATURES + 3 };

static bool has_two_values(int64_t n, int64_t d, const double *column)
{
    int64_t other = 1;
    while (other < n && column[other * d] == column[0]) other++;
    for (int64_t i = other; i < n; i++)
        if (column[i * d] != column[0] && column[i * d] != column[other * d]) return false;
    return other < n;
}

/* Column `at` of `to` less its mean. */
static void centre_column(int64_t n, int64_t width, int64_t at, double *to)
{
    double mean = 0.0;
    for (int64_t i = 0; i < n; i++) mean += to[i * width + at] / (double)n;
    for (int64_t i = 0; i < n; i++) to[i * width + at] -= mean;
}

/* Legendre polynomials of v = 2 Phi(s) - 1, of variance 1 for v uniform on (-1, 1). */
static double legendre(int degree, double v)
{
    if (degree == 1) return sqrt(3.0) * v;
    if (degree == 2) return sqrt(5.0) * 0.5 * (3.0 * v * v - 1.0);
    return sqrt(7.0) * 0.5 * (5.0 * v * v - 3.0) * v;
}

stonet_status sn_response_functions(int64_t n, int64_t d, const double *y, sn_workspace *keep,
                                    int64_t *columns, double **values)
{
    const int degrees = d > CUBIC_TARGETS ? 2 : 3;
    *columns = 0;
    for (int64_t j = 0; j < d; j++) *columns += has_two_values(n, d, y + j) ? 1 : degrees;
    double *column = NULL;
    SN_TRY(SN_TAKE(keep, column, n * *columns));
    SN_ARRAY(n, double, held);
    *values = column;
    int64_t at = 0;
    for (int64_t j = 0; j < d; j++) {
        SN_WORKSPACE(one);
        sn_scores scores;
        const bool two = has_two_values(n, d, y + j);
        for (int64_t i = 0; i < n; i++) held[i] = y[i * d + j];
        SN_TRY(sn_scores_create(n, 1, held, &one, &scores));
        for (int k = 1; k <= (two ? 1 : degrees); k++, at++) {
            for (int64_t i = 0; i < n; i++) {
                double value = 0.0; /* of a constant column */
                if (two) value = held[i] == held[0] ? 2.0 : 0.0;
                if (!two && scores.columns > 0)
                    value = legendre(k, 2.0 * sn_normal_lower(scores.values[i]) - 1.0);
                column[i * *columns + at] = value;
            }
            centre_column(n, *columns, at, column);
        }
    }
    return STONET_OK;
}

stonet_status sn_check_rows_for(int64_t n, int64_t dz)
{
    const int64_t needed = 40 + 10 * dz;
    if (n >= needed) return STONET_OK;
    return sn_fail(
        STONET_ERROR_DATA,
        "%lld rows are too few to tell what depends on what given %lld column%s: at least %lld are "
        "needed; bring more rows, or reduce to fewer columns",
        (long long)n, (long long)dz, dz == 1 ? "" : "s", (long long)needed);
}

/* Everything that the repeats share. */
typedef struct prepared {
    sn_scores x, z;
    sn_standardised white_x, white_z; /* for the waves */
    int64_t my;
    double *y; /* n x my */
    const stonet_independence_options *options;
    uint64_t seed;
    int threads;
} prepared;

/* The blocks of functions: sums over the first three are tested. */
enum { COLUMNS, SQUARES, WAVES, OF_Z, BLOCKS };

/* The functions that are regressed on z, side by side, and the residuals. */
typedef struct functions {
    int64_t first[BLOCKS + 1], width; /* width: those of the blocks, the single ones of their own, and y */
    int64_t single, singles;          /* where the columns of x one by one begin, squares after them */
    double *values;                   /* n x width */
    double *residuals;                /* n x width: values less their regressions on z */
    double *twice;                    /* width: |(I - S_y) residuals|^2, S_y the regression of y */
    double left;                      /* tr (I - S_y)^2 */
} functions;

/* Waves of all the columns together, from `first` on. */
static stonet_status fill_waves(const prepared *p, const sn_standardised *white, int64_t count,
                                uint32_t substream, int64_t first, functions *f)
{
    return sn_fourier_features(white, count, (sn_drawing){p->seed, substream, p->threads}, f->width, first,
                               f->values);
}

/* At most MOST_WHITE columns are whitened: more are first reduced to as many random directions. */
static stonet_status whiten(const sn_scores *scores, uint64_t seed, sn_workspace *keep, sn_standardised *out)
{
    SN_WORKSPACE(scratch);
    sn_scores few = {0};
    *out = (sn_standardised){.n = scores->n};
    if (scores->columns > MOST_WHITE) {
        SN_TRY(sn_scores_project(scores, MOST_WHITE, seed, STREAM_WHITE, &scratch, &few));
        scores = &few;
    }
    SN_TRY(sn_scores_whiten(scores, keep, &out->columns, &out->values));
    out->bandwidth = sqrt(2.0 * (double)out->columns);
    return STONET_OK;
}

/* Columns `at` on: those of x, and as many squares. */
static void fill_columns(const sn_scores *x, int64_t at, functions *f)
{
    for (int64_t i = 0; i < x->n; i++) {
        double *row = f->values + i * f->width + at;
        for (int64_t j = 0; j < x->columns; j++) {
            const double value = x->plain[i * x->columns + j];
            row[j] = value;
            row[x->columns + j] = M_SQRT1_2 * value * value;
        }
    }
    for (int64_t j = at; j < at + 2 * x->columns; j++) centre_column(x->n, f->width, j, f->values);
}

/* The scores of x, their squares, and waves of all of them; the same waves of z; single columns, where they
   are not the first; y last. */
static stonet_status fill_functions(const prepared *p, uint32_t repeat, sn_workspace *keep, functions *f)
{
    SN_WORKSPACE(scratch);
    const int64_t n = p->x.n;
    const int64_t room = p->my > 0 && MOST_PAIRS / p->my > 1 ? MOST_PAIRS / p->my : 1;
    sn_scores few = {0};
    const sn_scores *x = &p->x;
    if (x->columns > room) {
        SN_TRY(sn_scores_project(&p->x, room, p->seed, STREAMS * repeat + STREAM_FEW, &scratch, &few));
        x = &few;
    }
    const int64_t waves = RANDOM_X < room ? RANDOM_X : room,
                  count[] = {x->columns, x->columns, waves, CONTROLS};
    for (int block = 0; block < BLOCKS; block++) f->first[block + 1] = f->first[block] + count[block];
    f->singles = p->x.columns <= MOST_SINGLE ? p->x.columns : 0;
    f->single = x == &p->x ? 0 : f->first[BLOCKS];
    f->width = f->first[BLOCKS] + (x == &p->x ? 0 : 2 * f->singles) + p->my;
    SN_TRY(SN_TAKE_EACH(keep, n * f->width, &f->values, &f->residuals));
    SN_TRY(SN_TAKE(keep, f->twice, f->width));
    SN_TRY(fill_waves(p, &p->white_x, waves, STREAMS * repeat + STREAM_X, f->first[WAVES], f));
    SN_TRY(fill_waves(p, &p->white_z, CONTROLS, STREAMS * repeat + STREAM_Z, f->first[OF_Z], f));
    fill_columns(x, 0, f);
    if (f->single > 0 && f->singles > 0) fill_columns(&p->x, f->single, f);
    for (int64_t i = 0; i < n; i++)
        memcpy(f->values + (i + 1) * f->width - p->my, p->y + i * p->my, (size_t)p->my * sizeof *p->y);
    return STONET_OK;
}

static double sum_of_squares(int64_t n, int64_t width, const double *column)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += column[i * width] * column[i * width];
    return sum;
}

/* The residuals of all functions; those of x and z with penalties of their own, those of y with one for all.
 */
static stonet_status regress_on_z(const prepared *p, const sn_smoother *smoother, functions *f)
{
    const int64_t n = p->z.n;
    SN_ARRAY(f->width, double, penalty);
    SN_ARRAY(f->width, double, y_penalty); /* the same for all columns */
    SN_ARRAY(n * f->width, double, again);
    SN_TRY(sn_smoother_choose(smoother, f->width, f->values, false, penalty));
    SN_TRY(sn_smoother_choose(smoother, p->my, p->y, true, y_penalty));
    for (int64_t j = 1; j < f->width; j++) y_penalty[j] = y_penalty[0];
    memcpy(penalty + f->width - p->my, y_penalty, (size_t)p->my * sizeof *penalty);
    SN_TRY(sn_smoother_residuals(smoother, f->width, penalty, f->residuals));
    memcpy(again, f->residuals, (size_t)(n * f->width) * sizeof *again);
    SN_TRY(sn_smoother_residuals(smoother, f->width, y_penalty, again));
    for (int64_t j = 0; j < f->width; j++) f->twice[j] = sum_of_squares(n, f->width, again + j);
    f->left = sn_smoother_left(smoother, y_penalty[0]);
    return STONET_OK;
}

/* Takes z out of the functions, with the features of this repeat. */
static stonet_status take_out_z(const prepared *p, uint32_t repeat, functions *f)
{
    SN_WORKSPACE(scratch);
    const int64_t n = p->z.n;
    memcpy(f->residuals, f->values, (size_t)(n * f->width) * sizeof *f->values);
    int64_t random = p->z.columns > 1 ? n / 3 : 0; /* of a single column its own waves are enough */
    if (random > MOST_RANDOM_Z) random = MOST_RANDOM_Z;
    const int64_t m = sn_regression_width(n, p->z.columns, SN_FEATURES_RICH, random);
    sn_smoother smoother = {0};
    SN_ARRAY(n * m, double, features);
    SN_TRY(sn_regression_features(&p->z, SN_FEATURES_RICH, random,
                                  (sn_drawing){p->seed, STREAMS * repeat + STREAM_FEATURES, p->threads}, m, 0,
                                  features));
    SN_TRY(sn_smoother_create(n, m, features, &scratch, &smoother));
    return regress_on_z(p, &smoother, f);
}

/* Whether z leaves more than this share of the variance of a function; what it determines has nothing to
   test. Of functions one by one it must leave more, or what the regressions miss would be
   much of the residual, and looks like dependence. */
static const double LEAST_LEFT = 1e-3, LEAST_LEFT_SINGLE = 0.3;
static bool is_left(const prepared *p, const functions *f, int64_t at, double share)
{
    return sum_of_squares(p->x.n, f->width, f->residuals + at) >
           share * sum_of_squares(p->x.n, f->width, f->values + at);
}

/* Columns first .. first + count - 1 of the residuals beside those of y, for the covariance test; e has room
   for n x (count + my). Functions that z determines exactly are left out. With residuals r = (I - S_x) f and
   (I - S_y) y the covariance is r'(I - S_y) y, whose variance for noise of variance 1 is |(I - S_y) r|^2,
   while the products of residuals suggest |r|^2 tr (I - S_y)^2 / n: `used` makes up for the difference. */
static sn_residuals gather(const prepared *p, const functions *f, int64_t first, int64_t count, double *e)
{
    const int64_t n = p->x.n;
    int64_t kept[MOST_PAIRS];
    sn_residuals out = {.n = n, .my = p->my, .e = e, .dz = p->z.columns, .z = p->z.plain};
    for (int64_t j = first; j < first + count; j++)
        if (is_left(p, f, j, LEAST_LEFT)) kept[out.mx++] = j;
    double once = 0.0;
    double twice = 0.0;
    for (int64_t k = 0; k < out.mx; k++) {
        once += sum_of_squares(n, f->width, f->residuals + kept[k]);
        twice += f->twice[kept[k]];
    }
    if (once > 0.0) out.used = (double)n - 1.0 - f->left * once / twice;
    for (int64_t i = 0; i < n; i++) {
        const double *row = f->residuals + i * f->width;
        double *to = e + i * (out.mx + p->my);
        for (int64_t k = 0; k < out.mx; k++) to[k] = row[kept[k]];
        memcpy(to + out.mx, row + f->width - p->my, (size_t)p->my * sizeof *to);
    }
    return out;
}

/* What the regressions leave over: by how much T exceeds its mean, on average over the controls, functions of
   variance 1. The controls are functions of z alone. A covariance of their residuals with those of y shows
   that the regressions miss something. They would miss as much for functions of x. */
static double left_over(const prepared *p, const functions *f, double *e)
{
    sn_residuals controls = gather(p, f, f->first[OF_Z], CONTROLS, e);
    if (controls.mx == 0) return 0.0;
    const double excess = sn_covariance_statistic(&controls) - sn_covariance_mean(&controls);
    return fmax(excess, 0.0) / CONTROLS;
}

/* The squared covariances of the residuals of column `at` with those of y, summed. */
static double strength(const prepared *p, const functions *f, int64_t at)
{
    double total = 0.0;
    for (int64_t k = f->width - p->my; k < f->width; k++) {
        double sum = 0.0;
        for (int64_t i = 0; i < p->x.n; i++)
            sum += f->residuals[i * f->width + at] * f->residuals[i * f->width + k];
        total += sum * sum;
    }
    return total;
}

/* Whether waves of x (the last block) have more to do with y than waves of z: the permutation test of the
   difference of their mean strengths. When x is z, both are draws from one law, and this is exact however
   badly the regressions do. */
static double waves_p_value(const prepared *p, const functions *f)
{
    double value[MOST_PAIRS + CONTROLS] = {0};
    const int64_t first = f->first[WAVES], few = f->first[OF_Z] - first, all = few + CONTROLS;
    double observed = 0.0;
    for (int64_t k = 0; k < all; k++) {
        value[k] = strength(p, f, first + k);
        if (k < few) observed += value[k];
    }
    int64_t above = 0;
    sn_random random = sn_random_from(p->seed, SN_STREAM_PERMUTE, (uint32_t)first);
    for (int b = 0; b < SHUFFLES; b++) {
        double sum = 0.0;
        for (int64_t k = 0; k < few; k++) { /* the first places of a random order */
            const int64_t other = k + (int64_t)sn_random_below(&random, (uint64_t)(all - k));
            const double held = value[k];
            value[k] = value[other];
            value[other] = held;
            sum += value[k];
        }
        above += sum >= observed * (1.0 - 1e-12);
    }
    return (double)(above + 1) / (double)(SHUFFLES + 1);
}

/* Whether z says no more about waves of itself than about waves of x: then there is no sign that x has
   anything that z has not. The means are those of few waves, so a difference of three standard errors is
   allowed. */
static bool waves_look_alike(const prepared *p, const functions *f)
{
    const double alike = 1.1;
    const double waves = (double)(f->first[OF_Z] - f->first[WAVES]);
    double x_mean = 0.0;
    double x_square = 0.0;
    double z_mean = 0.0;
    for (int64_t k = f->first[WAVES]; k < f->first[BLOCKS]; k++) {
        const double left = sum_of_squares(p->x.n, f->width, f->residuals + k);
        if (k < f->first[OF_Z]) {
            x_mean += left / waves;
            x_square += left * left / waves;
        } else {
            z_mean += left / CONTROLS;
        }
    }
    const double error = sqrt(fmax(x_square - x_mean * x_mean, 0.0) / waves);
    return x_mean < alike * z_mean + 3.0 * error;
}

/* t^2 of the regression of residual column k (of y) on a (of x), b = S / sum_i a_i^2, S = sum_i a_i k_i, with
   df degrees of freedom left: S^2 df / n over the larger of sum_i a_i^2 u_i^2 / (1 - h_i) and
   sum_i a_i^2 sum_i u_i^2 / n, where u = k - b a and h_i = a_i^2 / sum_i a_i^2. They are the variance that
   the products show and that of independent sides. The first keeps long tails from looking like dependence.
   The second does so for two rare indicators: without a row that has both, their products hardly vary. With k
   in place of u, what is to be found would count as noise. */
static double single_square(const prepared *p, const functions *f, int64_t a, int64_t k, double df)
{
    const int64_t n = p->x.n;
    const double *of_a = f->residuals + a, *of_k = f->residuals + k;
    const double once = sum_of_squares(n, f->width, of_a);
    double sum = 0.0, left = 0.0, squares = 0.0;
    for (int64_t i = 0; i < n; i++) sum += of_a[i * f->width] * of_k[i * f->width];
    for (int64_t i = 0; i < n; i++) {
        const double at = of_a[i * f->width], u = of_k[i * f->width] - sum / once * at;
        left += u * u;
        squares += at * at * u * u / fmax(1.0 - at * at / once, 1e-3);
    }
    squares = fmax(squares, once * left / (double)n);
    return squares > 0.0 ? sum * sum * df / ((double)n * squares) : 0.0;
}

/* The p-values of the largest covariance of one column of x, or its square, with one function of y: sparse
   dependence, which sums over many columns drown. One for the columns with the first function, which is where
   most dependence is, and one for all others: 1 - (1 - p)^m of the smallest p of m (Sidak). excess: as
   `left_over` gives it. NaN: z determines all. */
static void singles_p_values(const prepared *p, const functions *f, double excess, double p_value[2])
{
    double count[2] = {0.0, 0.0}, smallest[2] = {1.0, 1.0};
    for (int64_t a = f->single; a < f->single + 2 * f->singles; a++) {
        if (!is_left(p, f, a, LEAST_LEFT_SINGLE)) continue;
        const double once = sum_of_squares(p->x.n, f->width, f->residuals + a);
        const double df = fmax(f->left * once / f->twice[a] - 1.0, 1.0);
        for (int64_t k = f->width - p->my; k < f->width; k++) {
            const int rest = a >= f->single + f->singles || k > f->width - p->my;
            const double mean =
                once * sum_of_squares(p->x.n, f->width, f->residuals + k) / pow((double)p->x.n, 2);
            const double square = single_square(p, f, a, k, df) / (1.0 + excess / ((double)p->my * mean));
            count[rest] += 1.0;
            smallest[rest] = fmin(smallest[rest], sn_t_two_sided(df, sqrt(square)));
        }
    }
    for (int rest = 0; rest < 2; rest++)
        p_value[rest] = count[rest] > 0.0 ? -expm1(count[rest] * log1p(-smallest[rest])) : (double)NAN;
}

/* The p-values of the blocks that have something to test are appended to p_values. */
static stonet_status test_blocks(const prepared *p, const functions *f, stonet_independence_result *result,
                                 int64_t *count, double *p_values)
{
    SN_ARRAY(p->x.n * f->width, double, e);
    const double excess = left_over(p, f, e);
    const int64_t before = *count;
    for (int block = COLUMNS; block <= WAVES; block++) {
        const int64_t first = f->first[block];
        sn_residuals residuals = gather(p, f, first, f->first[block + 1] - first, e);
        if (residuals.mx == 0) continue;
        residuals.excess = excess * (double)residuals.mx / sn_covariance_mean(&residuals);
        double found = 0.0;
        if (block == WAVES && waves_look_alike(p, f)) {
            found = sn_covariance_statistic(&residuals);
            p_values[*count] = waves_p_value(p, f);
        } else {
            if (sn_covariance_permutes(&residuals, p->options->null_law))
                result->null_law = STONET_NULL_PERMUTATION;
            SN_TRY(sn_covariance_test(&residuals, p->options->null_law, p->options->permutations,
                                      (sn_drawing){p->seed, (uint32_t)first, p->threads}, &found,
                                      &p_values[*count]));
        }
        result->statistic += found;
        ++*count;
    }
    double largest[2];
    singles_p_values(p, f, excess, largest);
    if (!isnan(largest[1])) p_values[(*count)++] = largest[1];
    const int64_t others = *count > before ? *count - before : 1;
    for (int64_t k = 0; k < others && !isnan(largest[0]); k++) p_values[(*count)++] = largest[0];
    return STONET_OK;
}

static stonet_status one_repeat(const prepared *p, uint32_t repeat, stonet_independence_result *result,
                                int64_t *count, double *p_values)
{
    SN_WORKSPACE(scratch);
    functions f = {0};
    SN_TRY(fill_functions(p, repeat, &scratch, &f));
    SN_TRY(take_out_z(p, repeat, &f));
    return test_blocks(p, &f, result, count, p_values);
}

stonet_status sn_gcm_test(const stonet_sides *sides, const stonet_independence_options *options,
                          const stonet_run *run, stonet_independence_result *result)
{
    SN_WORKSPACE(scratch);
    const int64_t n = sides->n;
    prepared p = {.options = options, .seed = run->seed, .threads = sn_threads(run)};
    int64_t count = 0;
    SN_TRY(sn_scores_create(n, sides->dz, sides->z, &scratch, &p.z));
    SN_TRY(sn_check_rows_for(n, p.z.columns));
    SN_TRY(sn_scores_create(n, sides->dx, sides->x, &scratch, &p.x));
    SN_TRY(whiten(&p.x, p.seed, &scratch, &p.white_x));
    SN_TRY(whiten(&p.z, p.seed, &scratch, &p.white_z));
    /* The linear and quadratic functions of z are the same, in coordinates that a penalty does not blur. */
    if (p.white_z.columns == p.z.columns) p.z.plain = p.white_z.values;
    SN_TRY(sn_response_functions(n, sides->dy, sides->y, &scratch, &p.my, &p.y));
    SN_ARRAY((int64_t)2 * BLOCKS * options->repeats, double, p_values);
    result->statistic = 0.0;
    result->p_value = 1.0;
    const bool varies = p.x.columns > 0 && sum_of_squares(n * p.my, 1, p.y) > 0.0;
    for (int64_t r = 0; r < options->repeats && varies; r++) {
        if (sn_should_stop(run))
            return sn_fail(STONET_ERROR_INTERRUPTED, "the independence test was stopped before its end");
        SN_TRY(one_repeat(&p, (uint32_t)r, result, &count, p_values));
    }
    result->statistic /= (double)options->repeats;
    if (count > 0) result->p_value = sn_cauchy_combination(count, p_values);
    return STONET_OK;
}
