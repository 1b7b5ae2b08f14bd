#include "math/logistic.h"

#include "base/memory.h"
#include "math/columns.h"
#include "math/softmax_newton.h"

/* The softmax does not see a common shift of the intercepts: fix it at the one with sum 0. */
static void centre(int64_t m, double *intercept)
{
    double mean = 0;
    for (int64_t k = 0; k < m; k++) mean += intercept[k] / (double)m;
    for (int64_t k = 0; k < m && m > 1; k++) intercept[k] -= mean;
}

stonet_status sn_logistic(const sn_logistic_problem *problem, const stonet_run *run, double *coef,
                          double *intercept)
{
    int64_t n = problem->n, p = problem->p, m = problem->m;
    SN_TRY(sn_memory_require(sizeof(double) * (uint64_t)((p + 1) * (n + 24 * m) + 2 * n * m +
                                                         (p < 1024 ? m * (p + 1) * (p + 1) : 0)),
                             "logistic regression", "use fewer rows or columns"));
    SN_ZEROS(p, sn_column_moments, columns);
    SN_ARRAY(n * (p + 1), double, x);
    SN_ZEROS(p + 1, double, lambda);
    SN_ZEROS(m * (p + 1), double, w);
    sn_describe_columns(n, p, problem->x, columns);
    sn_standard_design(n, p, problem->x, columns, x);
    for (int64_t j = 0; j < p; j++) lambda[j] = sn_standard_penalty(problem->l2, &columns[j]);
    sn_softmax_problem design = {.n = n,
                                 .d = p + 1,
                                 .m = m,
                                 .x = x,
                                 .label = problem->label,
                                 .lambda = lambda,
                                 .weight = problem->weight,
                                 .enough = problem->enough};
    SN_TRY(sn_softmax_newton(&design, run, w));
    sn_standard_undo(p, m, columns, w, coef, intercept);
    centre(m, intercept);
    return STONET_OK;
}
