/*
 * Minimum average variance estimation: from the OPG directions, alternate between the local fits
 * y ~ a_j + b_j'B'(z - z_j) for fixed B (whitened x, rank x dim) and least squares for B with the a_j, b_j
 * and the weights w_ij fixed:
 *
 *     B = argmin sum_j sum_i w_ij |y_i - a_j - b_j'B'(z_i - z_j)|^2,   then made orthonormal.
 */
#include <float.h>
#include <string.h>

#include "base/memory.h"
#include "math/linalg.h"
#include "methods/local.h"

enum { BLOCK = 1024, BATCH = 16 };

/* What one anchor adds to the normal equations of B. */
typedef struct part {
    sn_local_bench sums; /* of z */
    double *slopes;      /* dim x dim: sum over responses of b b' */
} part;

/* One step's arrays. Anchors are processed in batches: their parts in parallel, the sum in order, so that the
   result does not depend on the threads. */
typedef struct step {
    int64_t dim;
    double *v;           /* n x dim: z B */
    double *coefficient; /* anchors x (dim + 1) x responses */
    double *normal;      /* (rank dim) x (rank dim) */
    part parts[BATCH];
} step;

/* All arrays of a step, made once and used by every step; they belong to `keep`. Memory is checked first,
   since the normal equations have (rank dim)^2 numbers. */
static stonet_status step_create(const sn_local *local, int64_t dim, sn_workspace *keep, step *s)
{
    int64_t rank = local->rank, unknowns = rank * dim;
    *s = (step){.dim = dim};
    double cells = (double)unknowns * (double)unknowns + BATCH * (double)rank * (double)(rank + BLOCK);
    SN_TRY(sn_memory_require((uint64_t)(8.0 * cells), "mave", "use opg, a smaller dim, or fewer columns"));
    SN_TRY(SN_TAKE(keep, s->v, local->n * dim));
    SN_TRY(SN_TAKE(keep, s->coefficient, local->anchors * (dim + 1) * local->responses));
    SN_TRY(SN_TAKE(keep, s->normal, unknowns * unknowns));
    for (int i = 0; i < BATCH; i++) {
        s->parts[i].sums = (sn_local_bench){.width = rank, .block = BLOCK};
        SN_TRY(sn_local_bench_create(local, keep, &s->parts[i].sums));
        SN_TRY(SN_TAKE(keep, s->parts[i].slopes, dim * dim));
    }
    return STONET_OK;
}

/* b (rank x dim) to the least-squares B for the weights and local fits at the old one, orthonormal. */
static stonet_status improve(const sn_local *local, step *s, double *b)
{
    int64_t n = local->n, rank = local->rank, dim = s->dim, k = local->responses, unknowns = rank * dim;
    sn_multiply(sn_as(local->z, n, rank), sn_as(b, rank, dim), s->v);
    SN_TRY(sn_local_fit(local, dim, s->v, dim, s->v, s->coefficient));
    memset(s->normal, 0, (size_t)(unknowns * unknowns) * sizeof *s->normal);
    memset(b, 0, (size_t)unknowns * sizeof *b);
    for (int64_t first = 0; first < local->anchors; first += BATCH) {
        int64_t count = local->anchors - first < BATCH ? local->anchors - first : BATCH;
#pragma omp parallel for num_threads(local->threads) schedule(dynamic)
        for (int64_t j = 0; j < count; j++) {
            part *t = &s->parts[j];
            const double *intercept = s->coefficient + (first + j) * (dim + 1) * k, *slope = intercept + k;
            sn_local_sums(local, dim, s->v, local->z, local->anchor[first + j], intercept, &t->sums);
            sn_multiply(sn_as(slope, dim, k), sn_turned(slope, dim, k), t->slopes);
        }
        /* the sum over the parts of second (x) slopes, in the order of the entries of B, row by row */
#pragma omp parallel for num_threads(local->threads) if (unknowns > 200)
        for (int64_t a = 0; a < unknowns; a++) {
            double *to = s->normal + a * unknowns;
            for (int64_t j = 0; j < count; j++) {
                const double *second = s->parts[j].sums.second + a / dim * rank,
                             *slopes = s->parts[j].slopes + a % dim * dim;
                for (int64_t i = 0; i < rank; i++)
                    for (int64_t c = 0; c < dim; c++) to[i * dim + c] += second[i] * slopes[c];
            }
        }
        for (int64_t j = 0; j < count; j++) {
            const double *slope = s->coefficient + (first + j) * (dim + 1) * k + k; /* dim x k */
            sn_gemm(1.0, sn_as(s->parts[j].sums.cross, rank, k), sn_turned(slope, dim, k), 1.0, b);
        }
    }
    /* a ridge too small to matter, for a direction with no slope anywhere */
    double trace = 0.0;
    for (int64_t a = 0; a < unknowns; a++) trace += s->normal[a * unknowns + a];
    for (int64_t a = 0; a < unknowns; a++)
        s->normal[a * unknowns + a] += 1e-12 * trace / (double)unknowns + DBL_MIN;
    SN_TRY(sn_solve_spd(unknowns, s->normal, 1, b));
    return sn_orthonormalise(rank, dim, b);
}

/* Steps are many for few directions, and for many directions too dear for what they add to OPG. */
static int steps_for(int64_t dim)
{
    if (dim <= 10) return 4;
    return dim < 20 ? 1 : 0;
}

/* Starts at the directions of outer products of gradients; refines them, where the dimension allows it. */
static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    SN_WORKSPACE(scratch);
    sn_local local;
    SN_TRY(sn_local_opg(problem, "mave", settings, run, &scratch, &local, &dim));
    SN_ARRAY(local.rank * dim, double, b);
    sn_first_columns(local.rank, local.rank, local.vector, dim, b);
    if (steps_for(dim) == 0) {
        sn_message(run, STONET_NOTE, "mave: with dim %lld the directions are those of opg", (long long)dim);
    } else {
        step s;
        SN_TRY(step_create(&local, dim, &scratch, &s));
        for (int i = 0; i < steps_for(dim) && !sn_should_stop(run); i++) SN_TRY(improve(&local, &s, b));
        /* turned so that the slopes along the columns are uncorrelated, the steepest first */
        const int64_t n = local.n, rank = local.rank;
        SN_ARRAY(dim * dim, double, slopes);
        SN_ARRAY(dim * dim, double, turn);
        SN_ARRAY(rank * dim, double, turned);
        sn_multiply(sn_as(local.z, n, rank), sn_as(b, rank, dim), s.v);
        SN_TRY(sn_local_fit(&local, dim, s.v, dim, s.v, s.coefficient));
        sn_local_outer(&local, dim, s.coefficient, slopes);
        for (int64_t i = 0; i < dim * dim; i++) slopes[i] /= (double)local.anchors;
        SN_TRY(sn_eigh(dim, slopes, local.value, turn));
        sn_multiply(sn_as(b, rank, dim), sn_as(turn, dim, dim), turned);
        memcpy(b, turned, (size_t)(rank * dim) * sizeof *b);
    }
    const sn_linear_map found = {.dim = dim, .n_values = dim, .value = local.value};
    return sn_whitened_result(&local.whitening, &found, dim, b, result);
}

const sn_method sn_method_mave = {
    .name = "mave",
    .title = "Minimum average variance estimation (Xia, Tong, Li and Zhu 2002)",
    .python = "MAVE",
    SN_LOCAL_METHOD,
};
