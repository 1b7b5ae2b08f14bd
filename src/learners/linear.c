/*
 * Least squares with several outputs. With X and Y centred by their training means,
 *
 *     B = argmin sum_i w_i |y_i - B'x_i|^2 + ridge |B|^2,   intercept = mean(y) - B' mean(x)
 *
 * and of all minimisers the one of smallest norm. The ridge is added as p more rows sqrt(ridge) I, so that
 * there is one solver: QR followed by an SVD that leaves out singular values below rounding, max(rows, p)
 * epsilon times the largest.
 *
 * Times and counts: y is what their law expects given the present line, again and again (EM), as long as the
 * likelihood grows. What is predicted is the median of the log time, or the log of the mean count.
 */
#include <float.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>

#include "base/memory.h"
#include "learners/affine.h"
#include "learners/learner.h"
#include "math/linalg.h"
#include "math/serial_blas.h"

static const sn_param params[] = {
    {"ridge", SN_REAL, "0", 0, 1e12, NULL, "penalty on the squared coefficients (0: plain least squares)"},
};

/* Fills the map from the data. */
static stonet_status solve(const sn_problem *problem, double ridge, sn_affine *map)
{
    int64_t n = problem->n, p = problem->p, m = problem->outputs;
    int64_t rows = ridge > 0 ? n + p : n;
    int64_t size = rows > p ? rows : p; /* leading dimension of B: it comes back with the p x m solution */
    if (rows > INT_MAX || p > INT_MAX || m > INT_MAX)
        return sn_fail(STONET_ERROR_UNSUPPORTED, "linear: %lld rows are more than the solver can take",
                       (long long)rows);
    uint64_t bytes = 2 * sizeof(double) * (uint64_t)(rows * p + size * m);
    SN_TRY(sn_memory_require(bytes, "linear regression", "use fewer rows or columns"));

    SN_ZEROS(p + m, double, mean);
    SN_ZEROS(rows * p, double, a);
    SN_ZEROS(size * m, double, b);
    SN_ZEROS(rows < p ? rows : p, double, singular);
    const double total = sn_problem_total(problem);
    for (int64_t i = 0; i < n; i++) {
        const double weight = sn_problem_weight(problem, i);
        for (int64_t j = 0; j < p; j++) mean[j] += weight * (double)problem->x[i * p + j] / total;
        for (int64_t k = 0; k < m; k++) mean[p + k] += weight * problem->y[i * m + k] / total;
    }
    /* column-major A (rows x p) = centred x over sqrt(ridge) I, and B (size x m) = centred y over 0 */
    for (int64_t i = 0; i < n; i++) {
        const double root = problem->weight != NULL ? sqrt(sn_problem_weight(problem, i)) : 1.0;
        for (int64_t j = 0; j < p; j++) a[j * rows + i] = root * ((double)problem->x[i * p + j] - mean[j]);
        for (int64_t k = 0; k < m; k++) b[k * size + i] = root * (problem->y[i * m + k] - mean[p + k]);
    }
    for (int64_t j = 0; rows > n && j < p; j++) a[j * rows + n + j] = sqrt(ridge);
    lapack_int rank;
    double cutoff = (double)size * DBL_EPSILON;
    SN_SERIAL_BLAS;
    lapack_int info = LAPACKE_dgelsd(LAPACK_COL_MAJOR, (lapack_int)rows, (lapack_int)p, (lapack_int)m, a,
                                     (lapack_int)rows, b, (lapack_int)size, singular, cutoff, &rank);
    SN_TRY(sn_lapack_status(info, "singular value decomposition of the linear regression"));
    for (int64_t k = 0; k < m; k++) {
        map->intercept[k] = mean[p + k];
        for (int64_t j = 0; j < p; j++) {
            map->coef[k * p + j] = b[k * size + j];
            map->intercept[k] -= b[k * size + j] * mean[j];
        }
    }
    return STONET_OK;
}

typedef struct line {
    sn_affine map;
    double scale; /* of the law; negative: there is none */
} line;

static void linear_free(void *state)
{
    if (state != NULL) sn_affine_clear(&((line *)state)->map);
    sn_free(state);
}
SN_DROP(line, linear_free)

/* EM for times and counts. A round is least squares on y_i = E(y_i | seen_i, mu_i), then the law's parameters
   at the new mu. It ends when the loss falls by less than 1e-9 of itself. The law's answer at mu = 0 is added
   to the intercept. */
static stonet_status solve_law(const sn_problem *problem, double ridge, line *out)
{
    enum { ROUNDS = 200 };
    const int64_t n = problem->n;
    sn_problem guessed = *problem;
    double parameter[SN_LAW_PARAMETERS], least = (double)INFINITY, add;
    SN_ARRAY(n, double, y);
    SN_ARRAY(n, double, mu);
    SN_ARRAY(n, double, weight);
    for (int64_t i = 0; i < n; i++) {
        y[i] = problem->y[i];
        weight[i] = sn_problem_weight(problem, i);
    }
    guessed.y = y;
    for (int round = 0; round < ROUNDS; round++) {
        SN_TRY(solve(&guessed, ridge, &out->map));
        SN_TRY(sn_affine_apply(&out->map, problem->x, n, mu));
        sn_law_fit(problem->law, &(sn_law_sample){.n = n, .seen = problem->seen, .mu = mu, .weight = weight},
                   round == 0, parameter);
        double loss = 0.0;
        for (int64_t i = 0; i < n; i++) { /* and the y that the law expects there */
            const double *seen = problem->seen + i * SN_LAW_SEEN;
            loss += weight[i] * problem->law->loss(problem->law, seen, mu[i], parameter, NULL);
            y[i] = mu[i] + problem->law->pull(problem->law, seen, mu[i], parameter, 0.0);
        }
        if (!(loss < least - 1e-9 * fabs(least)) && round > 0) break;
        least = loss;
    }
    problem->law->answer(problem->law, 0.0, parameter, 1, &add);
    out->map.intercept[0] += add;
    out->scale = sn_law_scale(problem->law, parameter);
    return STONET_OK;
}

static stonet_status linear_fit(const sn_problem *problem, const sn_settings *settings, const stonet_run *run,
                                void **state)
{
    (void)run;
    SN_AUTO(line) *made = NULL;
    const double ridge = sn_real(settings, "ridge");
    SN_TRY(SN_NEW(made, 1));
    made->scale = -1.0;
    SN_TRY(sn_affine_create(&made->map, problem->p, problem->outputs));
    SN_TRY(problem->law != NULL ? solve_law(problem, ridge, made) : solve(problem, ridge, &made->map));
    return SN_GIVE(made, state);
}

static stonet_status linear_predict(const void *state, const float *z, int64_t n, double *out)
{
    return sn_affine_apply(&((const line *)state)->map, z, n, out);
}

static stonet_status linear_save(const void *state, sn_store *store)
{
    const line *of = state;
    if (of->scale >= 0.0) SN_TRY(sn_store_put_real(store, "law_scale", of->scale));
    return sn_affine_save(&of->map, store);
}

static stonet_status linear_load(const sn_store *store, void **state)
{
    SN_AUTO(line) *loaded = NULL;
    SN_TRY(SN_NEW(loaded, 1));
    loaded->scale = -1.0;
    SN_TRY(sn_affine_load(store, &loaded->map));
    if (sn_store_find_text(store, "law_scale") != NULL)
        SN_TRY(sn_store_get_real(store, "law_scale", &loaded->scale));
    return SN_GIVE(loaded, state);
}

static sn_sizes linear_sizes(const void *state)
{
    const sn_affine *map = &((const line *)state)->map;
    return (sn_sizes){.inputs = map->inputs, .outputs = map->outputs};
}

static double linear_scale(const void *state)
{
    return ((const line *)state)->scale;
}

const sn_learner sn_learner_linear = {
    .name = "linear",
    .title = "Linear regression by least squares",
    .tasks = SN_TASK_REGRESSION | SN_TASK_LAWS,
    .weighted = true,
    SN_PARAMS_OF(params),
    .fit = linear_fit,
    .predict = linear_predict,
    .save = linear_save,
    .load = linear_load,
    .free = linear_free,
    .sizes = linear_sizes,
    .scale = linear_scale,
};
