#include "net/regression.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "math/columns.h"
#include "math/linalg.h"
#include "math/logistic.h"

/* Into label, the rows' classes counted among those that are there; code[c]: the place of class c among them,
   -1: it is not there. Returns how many are. */
static int64_t collect_labels(const sn_regression *r, int32_t *label, int32_t *code)
{
    int32_t present = 0;
    for (int64_t c = 0; c < r->problem->outputs; c++) code[c] = -1;
    for (int64_t i = 0; i < r->rows->n; i++) {
        label[i] = sn_problem_label(r->problem, sn_rows_at(r->rows, i));
        if (sn_problem_weight(r->problem, sn_rows_at(r->rows, i)) > 0.0) code[label[i]] = 0;
    }
    for (int64_t c = 0; c < r->problem->outputs; c++)
        if (code[c] == 0) code[c] = present++;
    for (int64_t i = 0; i < r->rows->n; i++) label[i] = code[label[i]] < 0 ? 0 : code[label[i]];
    return present;
}

/* One row of coefficients is the difference of two classes' logits: half to each. */
static void share_out(int64_t d, double *coef, double *intercept)
{
    for (int64_t j = 0; j < d; j++) {
        coef[d + j] = 0.5 * coef[j];
        coef[j] *= -0.5;
    }
    intercept[1] = 0.5 * intercept[0];
    intercept[0] *= -0.5;
}

/* The classes' rows from where the regression has put them to their own places. A class that no row has is as
   likely as half a row of n, where x = 0. */
static void spread_out(int64_t classes, const int32_t *code, int64_t n, int64_t d, double *coef,
                       double *intercept)
{
    double largest = -(double)INFINITY, present = 0.0; /* in units of the largest, against overflow */
    for (int64_t c = 0; c < classes; c++)
        if (code[c] >= 0) largest = fmax(largest, intercept[code[c]]);
    for (int64_t c = classes - 1; c >= 0; c--) { /* none goes to a smaller number */
        if (code[c] < 0) continue;
        present += exp(intercept[code[c]] - largest);
        intercept[c] = intercept[code[c]];
        if (code[c] != c) memmove(coef + c * d, coef + code[c] * d, (size_t)d * sizeof *coef);
    }
    for (int64_t c = 0; c < classes; c++) {
        if (code[c] >= 0) continue;
        intercept[c] = largest + log(0.5 * present / (double)n);
        memset(coef + c * d, 0, (size_t)d * sizeof *coef);
    }
}

/* Classes without rows would have infinite intercepts. The solver sees only the classes that have rows, and
   spread_out gives the others a small share. *found is false when fewer than two classes have rows. */
static stonet_status fit_classes(const sn_regression *r, const stonet_run *run, double *coef,
                                 double *intercept, bool *found)
{
    const int64_t classes = r->problem->outputs;
    SN_ARRAY(r->rows->n, int32_t, label);
    SN_ARRAY(classes, int32_t, code);
    SN_BLOCK float *weight = NULL;
    const int64_t present = collect_labels(r, label, code);
    *found = present > 1;
    if (!*found) return STONET_OK;
    if (r->problem->weight != NULL) SN_TRY(SN_NEW_RAW(weight, r->rows->n));
    for (int64_t i = 0; weight != NULL && i < r->rows->n; i++)
        weight[i] = r->problem->weight[sn_rows_at(r->rows, i)];
    const sn_logistic_problem call = {.n = r->rows->n,
                                      .p = r->d,
                                      .m = present == 2 ? 1 : present,
                                      .x = r->x,
                                      .label = label,
                                      .weight = weight,
                                      .l2 = r->l2,
                                      .enough = r->enough};
    SN_TRY(sn_logistic(&call, run, coef, intercept));
    if (call.m == 1) share_out(r->d, coef, intercept);
    spread_out(classes, code, r->rows->n, r->d, coef, intercept);
    return STONET_OK;
}

/* w (outputs x (d + 1)) = the ridge regression of y on design (n x (d + 1)), standardised columns and ones,
   which is weighted in place;
   the penalty sees the columns as they were. */
static stonet_status solve_ridge(const sn_regression *r, const sn_column_moments *columns, double *design,
                                 double *w)
{
    const int64_t width = r->d + 1, m = r->problem->outputs;
    SN_ARRAY(width * width, double, gram);
    SN_ARRAY(r->rows->n * m, double, y);
    SN_ARRAY(width * m, double, right);
    for (int64_t i = 0; i < r->rows->n; i++) {
        const int64_t row = sn_rows_at(r->rows, i);
        const double root = r->problem->weight != NULL ? sqrt(sn_problem_weight(r->problem, row)) : 1.0;
        for (int64_t k = 0; k < m; k++) y[i * m + k] = root * sn_problem_target(r->problem, row, k);
        for (int64_t j = 0; r->problem->weight != NULL && j < width; j++) design[i * width + j] *= root;
    }
    sn_syrk_tn_lower(width, r->rows->n, 1.0, design, 0.0, gram);
    sn_multiply(sn_turned(design, r->rows->n, width), sn_as(y, r->rows->n, m), right);
    for (int64_t j = 0; j < r->d; j++) gram[j * width + j] += sn_standard_penalty(r->l2, &columns[j]);
    SN_TRY(sn_solve_spd(width, gram, m, right));
    sn_transpose(width, m, right, w);
    return STONET_OK;
}

static stonet_status fit_numbers(const sn_regression *r, double *coef, double *intercept)
{
    const int64_t m = r->problem->outputs;
    SN_ZEROS(r->d, sn_column_moments, columns);
    SN_ARRAY(r->rows->n * (r->d + 1), double, design);
    SN_ARRAY(m * (r->d + 1), double, w);
    sn_describe_columns(r->rows->n, r->d, r->x, columns);
    sn_standard_design(r->rows->n, r->d, r->x, columns, design);
    SN_TRY(solve_ridge(r, columns, design, w));
    sn_standard_undo(r->d, m, columns, w, coef, intercept);
    return STONET_OK;
}

bool sn_regression_is_small(const sn_problem *problem, int64_t rows)
{
    return (double)rows * (double)problem->p * (double)problem->outputs <= 2e7;
}

stonet_status sn_regress(const sn_regression *job, const stonet_run *run, double *coef, double *intercept,
                         bool *found)
{
    *found = true;
    return job->problem->task == SN_CLASSIFICATION ? fit_classes(job, run, coef, intercept, found)
                                                   : fit_numbers(job, coef, intercept);
}
