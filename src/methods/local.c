#include "methods/local.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "math/noise.h"
#include "math/smallest.h"
#include "methods/responses.h"

enum { BLOCK = 512 };
/* A weight this small changes nothing that double precision keeps. */
static const double NO_WEIGHT = 1e-12;

const sn_param sn_local_params[SN_LOCAL_PARAMS] = {
    {"anchors", SN_INTEGER, "auto", 1, 1e6, "auto",
     "rows at which the regression is linearised; auto: the larger of 100 and sqrt(n)"},
    {"subspace", SN_CHOICE, "mean", 0, 0, "mean|central",
     "for numeric targets: look at their mean, or at their whole distribution given x"},
    {"bandwidth", SN_REAL, "1.2", 1e-3, 1e3, NULL, "factor of the bandwidth n^(-1/(dim+4))"},
    {"ridge", SN_REAL, "0", 0, 1e6, NULL, "added to the diagonal of the correlation matrix of x"},
};

static stonet_status prepare(const sn_problem *problem, const char *method, const sn_settings *settings,
                             const stonet_run *run, sn_workspace *keep, sn_local *out)
{
    int64_t n = problem->n, most = n > 2 ? (int64_t)((double)n / log((double)n)) : 1;
    *out = (sn_local){.n = n, .threads = sn_threads(run), .bandwidth = sn_real(settings, "bandwidth")};
    stonet_status status =
        sn_whitening_fit(problem, sn_real(settings, "ridge"), most, NULL, keep, &out->whitening);
    if (status != STONET_OK) return sn_fail_prefix(status, "%s", method);
    out->rank = out->whitening.rank;
    if (out->rank == most && most < problem->p)
        sn_message(run, STONET_WARNING,
                   "%s: %lld columns are many for %lld rows; the %lld leading principal components are used",
                   method, (long long)problem->p, (long long)n, (long long)most);
    SN_TRY(sn_memory_require((uint64_t)(16.0 * (double)n * (double)out->rank), method,
                             "use fewer rows, or fewer columns (pca)"));
    SN_TRY(SN_TAKE(keep, out->z, n * out->rank));
    SN_TRY(sn_whiten_rows(&out->whitening, problem->x, NULL, n, out->z));
    SN_TRY(sn_responses(problem, sn_is(settings, "subspace", "central"), keep, &out->responses, &out->y));
    const int64_t anchors = sn_is(settings, "anchors", "auto") ? (int64_t)fmax(100.0, sqrt((double)n))
                                                               : sn_int(settings, "anchors");
    sn_random random = sn_random_from(run->seed, SN_STREAM_FEATURES, 0);
    out->anchors = anchors < n ? anchors : n;
    SN_TRY(SN_TAKE(keep, out->anchor, n));
    sn_random_permutation(&random, n, out->anchor);
    return STONET_OK;
}

/* w: exp(-D_i / max(2 h^2, D_(2m))) with D the squared distances to row `at` in v (n x m), D_(2m) the 2m-th
   smallest and h = bandwidth n^(-1/(m+4)); at least 2m rows so keep a weight. */
static void weigh(const sn_local *local, int64_t m, const double *v, int64_t at, sn_local_bench *b)
{
    int64_t n = local->n, near = 2 * m < n ? 2 * m : n;
    double *w = b->w;
    for (int64_t i = 0; i < n; i++) {
        double square = 0.0;
        for (int64_t k = 0; k < m; k++) {
            double d = v[i * m + k] - v[at * m + k];
            square += d * d;
        }
        w[i] = square;
    }
    memcpy(b->scratch, w, (size_t)n * sizeof *w);
    double h = local->bandwidth * pow((double)n, -1.0 / (double)(m + 4));
    double width = fmax(2.0 * h * h, sn_kth_smallest(n, near - 1, b->scratch));
    for (int64_t i = 0; i < n; i++) w[i] = exp(-w[i] / width);
}

stonet_status sn_local_bench_create(const sn_local *local, sn_workspace *keep, sn_local_bench *b)
{
    SN_TRY(SN_TAKE_EACH(keep, local->n, &b->w, &b->scratch));
    SN_TRY(SN_TAKE(keep, b->row, b->block * b->width));
    SN_TRY(SN_TAKE(keep, b->left, b->block * local->responses));
    SN_TRY(SN_TAKE(keep, b->second, b->width * b->width));
    return SN_TAKE(keep, b->cross, b->width * local->responses);
}

void sn_local_sums(const sn_local *local, int64_t m, const double *v, const double *u, int64_t at,
                   const double *intercept, sn_local_bench *b)
{
    const int64_t n = local->n, k = local->responses, wide = b->width, ones = intercept == NULL,
                  q = wide - ones;
    int64_t filled = 0;
    weigh(local, m, v, at, b);
    memset(b->cross, 0, (size_t)(wide * k) * sizeof *b->cross);
    memset(b->second, 0, (size_t)(wide * wide) * sizeof *b->second);
    sn_add_diagonal(wide, b->ridge, b->second);
    for (int64_t i = 0; i < n; i++) {
        if (b->w[i] > NO_WEIGHT) {
            const double root = sqrt(b->w[i]);
            double *row = b->row + filled * wide, *left = b->left + filled * k;
            row[0] = root;
            for (int64_t j = 0; j < q; j++) row[ones + j] = root * (u[i * q + j] - u[at * q + j]);
            for (int64_t j = 0; j < k; j++)
                left[j] = root * (local->y[i * k + j] - (ones ? 0.0 : intercept[j]));
            filled++;
        }
        if (filled == b->block || (i == n - 1 && filled > 0)) {
            sn_syrk_tn(wide, filled, 1.0, b->row, 1.0, b->second);
            sn_gemm(1.0, sn_turned(b->row, filled, wide), sn_as(b->left, filled, k), 1.0, b->cross);
            filled = 0;
        }
    }
}

stonet_status sn_local_fit(const sn_local *local, int64_t m, const double *v, int64_t q, const double *u,
                           double *coefficient)
{
    const int64_t size = (q + 1) * local->responses;
    stonet_status status = STONET_OK;
#pragma omp parallel num_threads(local->threads)
    {
        SN_WORKSPACE(own);
        sn_local_bench b = {.width = q + 1, .block = BLOCK, .ridge = 1.0 / (double)local->n};
        stonet_status mine = sn_local_bench_create(local, &own, &b);
#pragma omp for schedule(dynamic)
        for (int64_t j = 0; j < local->anchors; j++) {
            if (mine != STONET_OK) continue;
            sn_local_sums(local, m, v, u, local->anchor[j], NULL, &b);
            mine = sn_solve_spd(q + 1, b.second, local->responses, b.cross);
            memcpy(coefficient + j * size, b.cross, (size_t)size * sizeof *coefficient);
        }
        if (mine != STONET_OK) {
#pragma omp critical
            status = mine;
        }
    }
    /* the sentence of another thread is not ours to read */
    if (status == STONET_ERROR_MEMORY) return sn_fail(status, "memory ran out in the local regressions");
    if (status != STONET_OK)
        return sn_fail(status, "a local regression failed: x has values that are not finite");
    return STONET_OK;
}

void sn_local_outer(const sn_local *local, int64_t q, const double *coefficient, double *outer)
{
    int64_t k = local->responses;
    memset(outer, 0, (size_t)(q * q) * sizeof *outer);
    for (int64_t j = 0; j < local->anchors; j++) {
        const double *slope = coefficient + j * (q + 1) * k + k; /* q x k */
        sn_gemm(1.0, sn_as(slope, q, k), sn_turned(slope, q, k), 1.0, outer);
    }
}

stonet_status sn_local_opg(const sn_problem *problem, const char *method, const sn_settings *settings,
                           const stonet_run *run, sn_workspace *keep, sn_local *local, int64_t *dim)
{
    SN_TRY(prepare(problem, method, settings, run, keep, local));
    const int64_t n = local->n, rank = local->rank;
    *dim = sn_limit_dim(run, method, *dim, rank, "the rank of x");
    SN_TRY(SN_TAKE(keep, local->value, rank));
    SN_TRY(SN_TAKE(keep, local->vector, rank * rank));
    SN_ARRAY(n * rank, double, reduced);
    SN_ARRAY(rank * rank, double, leading);
    SN_ARRAY(local->anchors * (rank + 1) * local->responses, double, coefficient);
    SN_ARRAY(rank * rank, double, outer);
    memcpy(reduced, local->z, (size_t)(n * rank) * sizeof *reduced);
    const double start = sn_seconds();
    int64_t m = rank;
    for (bool last = false; !last;) {
        last = m <= *dim;
        if (sn_should_stop(run))
            return sn_fail(STONET_ERROR_INTERRUPTED, "stopped before the gradients were found");
        if (m < rank) {
            sn_first_columns(rank, rank, local->vector, m, leading);
            sn_multiply(sn_as(local->z, n, rank), sn_as(leading, rank, m), reduced);
        }
        SN_TRY(sn_local_fit(local, m, reduced, rank, local->z, coefficient));
        sn_local_outer(local, rank, coefficient, outer);
        for (int64_t i = 0; i < rank * rank; i++) outer[i] /= (double)local->anchors;
        SN_TRY(sn_eigh(rank, outer, local->value, local->vector));
        sn_progress_of(run, "gradients", rank - m + 1, rank - *dim + 1, NAN, start);
        m = rank <= 20 ? m - 1 : (int64_t)(0.8 * (double)m); /* by one when small, else by a fifth */
        if (m < *dim) m = *dim;
    }
    return STONET_OK;
}
