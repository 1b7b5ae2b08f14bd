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
                                 sn_workspace *keep, int64_t *count, double **d)
{
    SN_WORKSPACE(scratch);
    sn_slices slices;
    SN_TRY(sn_slices_to_compare(problem, "ksir", wanted, &scratch, &slices));
    SN_TRY(SN_TAKE_ZERO(keep, *d, slices.count * m));
    for (int64_t h = 0; h < slices.count; h++) {
        double rows = (double)(slices.start[h + 1] - slices.start[h]);
        double weight = sqrt(rows / (double)problem->n) / rows;
        for (int64_t i = slices.start[h]; i < slices.start[h + 1]; i++)
            for (int64_t j = 0; j < m; j++) (*d)[h * m + j] += weight * k[slices.row[i] * m + j];
    }
    *count = slices.count;
    return STONET_OK;
}

/* u (m x r), s (r): left singular vectors and values of L^{-1} D', r = min(m, slices). */
static stonet_status between_vectors(int64_t m, int64_t slices, const double *l, const double *d,
                                     sn_workspace *keep, double **u, double **s, int64_t *r)
{
    SN_WORKSPACE(scratch);
    double *e = NULL;
    *r = m < slices ? m : slices;
    SN_TRY(SN_TAKE(&scratch, e, m * slices));
    SN_TRY(SN_TAKE(keep, *u, m * *r));
    SN_TRY(SN_TAKE(keep, *s, *r));
    sn_transpose(slices, m, d, e);
    sn_triangular_solve(m, false, l, slices, e);
    return sn_svd(m, slices, e, *u, *s, NULL);
}

static stonet_status fit_columns(const sn_problem *problem, const sn_kernel_input *input,
                                 const sn_settings *settings, const stonet_run *run, int64_t *dim,
                                 sn_kernel_map **map)
{
    SN_WORKSPACE(scratch);
    int64_t n = input->n, m = input->m, slices, r;
    double *k = NULL, *mean = NULL, *cov = NULL, *d = NULL, *u = NULL, *s = NULL, *b = NULL, *scores = NULL;
    double largest;
    SN_TRY(SN_TAKE(&scratch, k, n * m));
    SN_TRY(SN_TAKE(&scratch, mean, m));
    SN_TRY(SN_TAKE(&scratch, cov, m * m));
    const double gram = sn_gram_work(n, m, input->p), products = (double)n * (double)m * (double)m,
                 cube = (double)m * (double)m * (double)m / 3.0;
    sn_stages stages = sn_stages_of(run, gram + products + cube);
    SN_TRY(sn_stages_next(&stages, "kernel matrix", gram));
    SN_TRY(sn_gaussian_gram(n, m, input->p, input->x, input->centres, input->gamma, k));
    sn_column_means(n, m, k, mean);
    sn_subtract_row(n, m, mean, k);
    SN_TRY(sn_stages_next(&stages, "covariance", products));
    sn_syrk_tn(m, n, 1.0 / (double)n, k, 0.0, cov);
    SN_TRY(sn_largest_eigenvalue(m, cov, &largest));
    sn_add_diagonal(m, sn_real(settings, "ridge") * largest, cov);
    SN_TRY(sn_stages_next(&stages, "factorisation", cube));
    SN_TRY(sn_cholesky(m, cov));
    SN_TRY(slice_means(problem, sn_int(settings, "slices"), m, k, &scratch, &slices, &d));
    SN_TRY(between_vectors(m, slices, cov, d, &scratch, &u, &s, &r));
    SN_TRY(sn_kernel_limit(run, "ksir", *dim, r, s, "H slices or classes have at most H - 1", dim));
    SN_TRY(SN_TAKE(&scratch, b, m * *dim));
    SN_TRY(SN_TAKE(&scratch, scores, n * *dim));
    sn_first_columns(m, r, u, *dim, b);
    sn_triangular_solve(m, true, cov, *dim, b);
    sn_gemm(false, false, n, *dim, m, 1.0, k, b, 0.0, scores);
    return sn_kernel_map_create(input, *dim, b, mean, scores, map);
}

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    SN_WORKSPACE(scratch);
    sn_kernel_input input;
    sn_kernel_map *map = NULL;
    SN_TRY(sn_kernel_memory(problem, settings, "ksir", 2.1));
    SN_TRY(sn_kernel_input_create(problem, settings, SN_MEAN_DISTANCE, run, &scratch, &input));
    SN_TRY(fit_columns(problem, &input, settings, run, &dim, &map));
    *result = (sn_fit_result){.state = map, .dim = dim, .outcome = STONET_DONE};
    return STONET_OK;
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
