/*
 * Kernel sliced inverse regression (Wu 2008; Yeh, Huang and Lee 2009).
 *
 * SIR on the kernel columns k(x) = (k(x, c_1), ..., k(x, c_m)), the c all rows or landmarks. With slice means
 * kbar_h and proportions p_h,
 *
 *     sum_h p_h (kbar_h - kbar)(kbar_h - kbar)' b = lambda (cov(k) + ridge lambda_max(cov(k)) I) b,
 *
 * z(x) = b'(k(x) - kbar). The left side is D D' with a column of D (m x slices) a slice, so with the right
 * matrix L L' the b are L^{-T} u for the left singular vectors u of L^{-1} D. The ridge is relative: cov(k)
 * of a Gaussian kernel has only some tens of directions above rounding.
 */
#include <math.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/kernel_spectrum.h"
#include "math/linalg.h"
#include "methods/kernel_map.h"
#include "methods/slicing.h"

static const sn_param params[] = {
    SN_PARAMS_OF_KERNEL,
    {"slices", SN_INTEGER, "10", 2, 1e6, NULL, "slices of a numeric response; classes are their own slices"},
    {"ridge", SN_REAL, "1e-4", 1e-12, 1e3, NULL,
     "ridge on the covariance of the kernel columns, as a share of its largest eigenvalue"},
};

static stonet_status fit(const sn_problem *problem, int64_t dim, const sn_settings *settings,
                         const stonet_run *run, sn_fit_result *result)
{
    SN_WORKSPACE(scratch);
    sn_kernel_input input;
    sn_slices by;
    double largest;
    SN_TRY(sn_kernel_memory(problem, settings, "ksir", 2.1, 0.0));
    SN_TRY(sn_kernel_input_create(problem, settings, SN_MEAN_DISTANCE, run->seed, &scratch, &input));
    SN_TRY(sn_slices_to_compare(problem, "ksir", sn_int(settings, "slices"), &scratch, &by));
    const int64_t slices = by.count;
    /* a row in slice h has sqrt(p_h) / n_h there, so that K'f has sqrt(p_h) times the slice means */
    SN_ZEROS(problem->n * slices, double, f);
    for (int64_t h = 0; h < slices; h++) {
        const double rows = (double)(by.start[h + 1] - by.start[h]),
                     weight = sqrt(rows / (double)problem->n) / rows;
        for (int64_t i = by.start[h]; i < by.start[h + 1]; i++) f[by.row[i] * slices + h] = weight;
    }
    const sn_row_columns columns = sn_kernel_columns(&input, run->team);
    const int64_t n = columns.n, m = columns.m, r = m < slices ? m : slices;
    SN_ARRAY(m, double, mean);
    SN_ARRAY(m * m, double, gram);
    SN_ARRAY(m * m, double, cov);
    SN_ARRAY(m * slices, double, d);
    SN_ARRAY(m * r, double, u);
    SN_ARRAY(r, double, s);
    const double work = sn_gram_work(n, m, columns.p) + (double)n * (double)m * (double)m,
                 cube = (double)m * (double)m * (double)m / 3.0;
    sn_stages stages = sn_stages_of(run, work + cube);
    SN_TRY(sn_stages_next(&stages, "kernel matrix and covariance", work));
    SN_TRY(sn_row_columns_products(&columns, slices, f, mean, gram, d));
    for (int64_t i = 0; i < m * m; i++) cov[i] = gram[i] / (double)n;
    SN_TRY(sn_largest_eigenvalue(m, cov, &largest));
    sn_add_diagonal(m, sn_real(settings, "ridge") * largest, cov);
    SN_TRY(sn_stages_next(&stages, "factorisation", cube));
    SN_TRY(sn_cholesky(m, cov));
    sn_triangular_solve(m, false, cov, slices, d);
    SN_TRY(sn_svd(m, slices, d, u, s, NULL));
    SN_TRY(sn_kernel_limit(run, "ksir", dim, r, s, "H slices or classes have at most H - 1", &dim));
    SN_ARRAY(m * dim, double, b);
    sn_first_columns(m, r, u, dim, b);
    sn_triangular_solve(m, true, cov, dim, b);
    return sn_columns_map(&columns, mean, gram, dim, b, result);
}

const sn_method sn_method_ksir = {
    .name = "ksir",
    .title = "Kernel sliced inverse regression (Wu 2008)",
    .python = "KernelSIR",
    .tasks = SN_TASK_BOTH | SN_TASK_SLICES,
    .shares_landmarks = true,
    .grid = {{"complexity=0.1,0.3,1,3", SN_TASK_BOTH}, {"ridge=1e-6,1e-4,1e-2", SN_TASK_BOTH}},
    SN_KERNEL_METHOD,
};
