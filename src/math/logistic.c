#include "math/logistic.h"

#include "base/memory.h"
#include "base/workspace.h"
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
    SN_WORKSPACE(scratch);
    int64_t n = problem->n, p = problem->p, m = problem->m;
    SN_TRY(sn_memory_require(sizeof(double) * (uint64_t)((p + 1) * (n + 24 * m) + 2 * n * m +
                                                         (p < 1024 ? m * (p + 1) * (p + 1) : 0)),
                             "logistic regression", "use fewer rows or columns"));
    sn_column_moments *columns = NULL;
    double *x = NULL, *lambda = NULL, *w = NULL;
    SN_TRY(SN_TAKE_ZERO(&scratch, columns, p));
    SN_TRY(SN_TAKE(&scratch, x, n * (p + 1)));
    SN_TRY(SN_TAKE_ZERO(&scratch, lambda, p + 1));
    SN_TRY(SN_TAKE_ZERO(&scratch, w, m * (p + 1)));
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
