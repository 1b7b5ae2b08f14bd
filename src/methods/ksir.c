/*
 * Kernel sliced inverse regression (Wu 2008; Yeh, Huang and Lee 2009).
 *
 * SIR on the kernel columns k(x) = (k(x, c_1), ..., k(x, c_m)), the c all rows or landmarks. With slice means
 * kbar_h and proportions p_h,
 *
 *     sum_h p_h (kbar_h - kbar)(kbar_h - kbar)' b = lambda (cov(k) + ridge lambda_max(cov(k)) I) b,
 *
 * z(x) = b'(k(x) - kbar). The left side is D'D with a row of D (slices x m) a slice, so with the right matrix
 * L L' the b are L^{-T} u for the left singular vectors u of L^{-1} D'. The ridge is relative: cov(k) of a
 * Gaussian kernel has only some tens of directions above rounding.
 */
#include <math.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/kernel_spectrum.h"
#include "math/linalg.h"
#include "methods/kernel_map.h"
#include "methods/slicing.h"

static const sn_param params[] = {
    SN_PARAM_COMPLEXITY,
    SN_PARAM_BANDWIDTH,
    SN_PARAM_LANDMARKS,
    {"slices", SN_INTEGER, "10", 2, 1e6, NULL, "slices of a numeric response; classes are their own slices"},
    {"ridge", SN_REAL, "1e-4", 1e-12, 1e3, NULL,
     "ridge on the covariance of the kernel columns, as a share of its largest eigenvalue"},
};

/* d (slices x m): sqrt(p_h) times the slice mean of the centred columns k (n x m). */
static stonet_status slice_means(const sn_problem *problem, int64_t wanted, int64_t m, const double *k,
                                 int64_t *count, double **d)
{
    SN_WORKSPACE(scratch);
    sn_slices slices;
    SN_TRY(sn_slices_to_compare(problem, "ksir", wanted, &scratch, &slices));
    stonet_status status = SN_NEW(*d, slices.count * m);
    for (int64_t h = 0; status == STONET_OK && h < slices.count; h++) {
        double rows = (double)(slices.start[h + 1] - slices.start[h]);
        double weight = sqrt(rows / (double)problem->n) / rows;
        for (int64_t i = slices.start[h]; i < slices.start[h + 1]; i++)
            for (int64_t j = 0; j < m; j++) (*d)[h * m + j] += weight * k[slices.row[i] * m + j];
    }
    *count = slices.count;
    return status;
}

/* u (m x r), s (r): left singular vectors and values of L^{-1} D', r = min(m, slices). */
static stonet_status between_vectors(int64_t m, int64_t slices, const double *l, const double *d, double **u,
                                     double **s, int64_t *r)
{
    double *e = NULL;
    stonet_status status;
    *r = m < slices ? m : slices;
    SN_GOTO(status, SN_NEW_RAW(e, m * slices), done);
    SN_GOTO(status, SN_NEW_RAW(*u, m * *r), done);
    SN_GOTO(status, SN_NEW_RAW(*s, *r), done);
    sn_transpose(slices, m, d, e);
    sn_triangular_solve(m, false, l, slices, e);
    status = sn_svd(m, slices, e, *u, *s, NULL);
done:
    sn_free(e);
    return status;
}

static stonet_status fit_columns(const sn_problem *problem, const sn_kernel_input *input,
                                 const sn_settings *settings, const stonet_run *run, int64_t *dim,
                                 sn_kernel_map **map)
{
    int64_t n = input->n, m = input->m, slices, r;
    double *k = NULL, *mean = NULL, *cov = NULL, *d = NULL, *u = NULL, *s = NULL, *b = NULL, *scores = NULL;
    double largest;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(k, n * m), done);
    SN_GOTO(status, SN_NEW_RAW(mean, m), done);
    SN_GOTO(status, SN_NEW_RAW(cov, m * m), done);
    SN_GOTO(status, sn_kernel_stage(run, "kernel matrix", 0, 3), done);
    SN_GOTO(status, sn_gaussian_gram(n, m, input->p, input->x, input->centres, input->gamma, k), done);
    sn_column_means(n, m, k, mean);
    sn_subtract_row(n, m, mean, k);
    SN_GOTO(status, sn_kernel_stage(run, "covariance", 1, 3), done);
    sn_syrk_tn(m, n, 1.0 / (double)n, k, 0.0, cov);
    SN_GOTO(status, sn_largest_eigenvalue(m, cov, &largest), done);
    sn_add_diagonal(m, sn_real(settings, "ridge") * largest, cov);
    SN_GOTO(status, sn_kernel_stage(run, "factorisation", 2, 3), done);
    SN_GOTO(status, sn_cholesky(m, cov), done);
    SN_GOTO(status, slice_means(problem, sn_int(settings, "slices"), m, k, &slices, &d), done);
    SN_GOTO(status, between_vectors(m, slices, cov, d, &u, &s, &r), done);
    SN_GOTO(status, sn_kernel_limit(run, "ksir", *dim, r, s, "H slices or classes have at most H - 1", dim),
            done);
    SN_GOTO(status, SN_NEW_RAW(b, m * *dim), done);
    SN_GOTO(status, SN_NEW_RAW(scores, n * *dim), done);
    sn_first_columns(m, r, u, *dim, b);
    sn_triangular_solve(m, true, cov, *dim, b);
    sn_gemm(false, false, n, *dim, m, 1.0, k, b, 0.0, scores);
    status = sn_kernel_map_create(m, input->p, input->centres, input->gamma, *dim, b, mean, n, scores, map);
done:
    sn_free(k);
    sn_free(mean);
    sn_free(cov);
    sn_free(d);
    sn_free(u);
    sn_free(s);
    sn_free(b);
    sn_free(scores);
    return status;
}

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    sn_kernel_input input = {0};
    sn_kernel_map *map = NULL;
    SN_TRY(sn_kernel_memory(problem, settings, "ksir", 2.1));
    stonet_status status;
    SN_GOTO(status, sn_kernel_input_create(problem, settings, run, &input), done);
    SN_GOTO(status, fit_columns(problem, &input, settings, run, &dim, &map), done);
    *result = (sn_fit_result){.state = map, .dim = dim, .outcome = STONET_DONE};
done:
    sn_kernel_input_free(&input);
    return status;
}

extern const sn_method sn_method_ksir;
const sn_method sn_method_ksir = {
    .name = "ksir",
    .title = "Kernel sliced inverse regression (Wu 2008)",
    .python = "KernelSIR",
    .tasks = SN_TASK_BOTH,
    .multi_output = true,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .grid = {{"complexity=0.1,0.3,1,3", SN_TASK_BOTH}, {"ridge=1e-6,1e-4,1e-2", SN_TASK_BOTH}},
    .fit = fit,
    SN_KERNEL_MAP_STATE,
};
