#include "stonet/refit.h"

#include "base/memory.h"
#include "math/columns.h"
#include "math/linalg.h"
#include "math/logistic.h"

static const double penalty = 0.1;

typedef struct refit {
    int64_t n, q, outputs;
    float *psi;          /* n x q */
    double *coef;        /* outputs x q; one row for two classes */
    double *intercept;   /* outputs */
    const sn_rows *rows; /* of the problem */
    const sn_problem *problem;
} refit;

static bool is_constant(const refit *r)
{
    for (int64_t i = r->q; i < r->n * r->q; i++)
        if (r->psi[i] != r->psi[i % r->q]) return false;
    return true;
}

/* The rows' classes into label; whether every class is among them. */
static stonet_status collect_labels(const refit *r, int32_t *label, bool *complete)
{
    bool *seen;
    SN_TRY(SN_NEW(seen, r->outputs));
    for (int64_t i = 0; i < r->n; i++) {
        label[i] = r->problem->label[sn_rows_at(r->rows, i)];
        seen[label[i]] = true;
    }
    *complete = r->outputs > 1;
    for (int64_t c = 0; c < r->outputs; c++) *complete = *complete && seen[c];
    sn_free(seen);
    return STONET_OK;
}

static stonet_status fit_classes(const refit *r, const stonet_run *run, bool *done)
{
    int32_t *label = NULL;
    SN_TRY(SN_NEW_RAW(label, r->n));
    stonet_status status = collect_labels(r, label, done);
    if (status == STONET_OK && *done) {
        const sn_logistic_problem call = {.n = r->n,
                                          .p = r->q,
                                          .m = r->outputs == 2 ? 1 : r->outputs,
                                          .x = r->psi,
                                          .label = label,
                                          .l2 = penalty};
        status = sn_logistic(&call, run, r->coef, r->intercept);
    }
    sn_free(label);
    return status;
}

/* w (outputs x (q + 1)) = the ridge regression of y on design (n x (q + 1)), standardised columns and ones;
   the penalty sees the columns as they were. */
static stonet_status solve_ridge(const refit *r, const sn_column_moments *columns, const double *design,
                                 double *w)
{
    int64_t d = r->q + 1, m = r->outputs;
    double *gram = NULL, *y = NULL, *right = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(gram, d * d), done);
    SN_GOTO(status, SN_NEW_RAW(y, r->n * m), done);
    SN_GOTO(status, SN_NEW_RAW(right, d * m), done);
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t k = 0; k < m; k++) y[i * m + k] = r->problem->y[sn_rows_at(r->rows, i) * m + k];
    sn_syrk_tn(d, r->n, 1.0, design, 0.0, gram);
    sn_gemm(true, false, d, m, r->n, 1.0, design, y, 0.0, right);
    for (int64_t j = 0; j < r->q; j++) gram[j * d + j] += sn_standard_penalty(penalty, &columns[j]);
    SN_GOTO(status, sn_solve_spd(d, gram, m, right), done);
    sn_transpose(d, m, right, w);
done:
    sn_free(gram);
    sn_free(y);
    sn_free(right);
    return status;
}

static stonet_status fit_numbers(const refit *r)
{
    sn_column_moments *columns = NULL;
    double *design = NULL, *w = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW(columns, r->q), done);
    SN_GOTO(status, SN_NEW_RAW(design, r->n * (r->q + 1)), done);
    SN_GOTO(status, SN_NEW_RAW(w, r->outputs * (r->q + 1)), done);
    sn_describe_columns(r->n, r->q, r->psi, columns);
    sn_standard_design(r->n, r->q, r->psi, columns, design);
    SN_GOTO(status, solve_ridge(r, columns, design, w), done);
    sn_standard_undo(r->q, r->outputs, columns, w, r->coef, r->intercept);
done:
    sn_free(columns);
    sn_free(design);
    sn_free(w);
    return status;
}

/* Into theta. The one row of two classes is the difference of their logits: half to each. */
static void put(const refit *r, const sn_shape *shape, float *theta)
{
    const int top = shape->layers - 1;
    const bool one_row = shape->task == SN_CLASSIFICATION && r->outputs == 2;
    for (int64_t k = 0; k < r->outputs; k++) {
        const int64_t from = one_row ? 0 : k;
        const double share = !one_row ? 1.0 : k == 1 ? 0.5 : -0.5;
        for (int64_t j = 0; j < r->q; j++)
            theta[shape->weight_at[top] + k * r->q + j] = (float)(share * r->coef[from * r->q + j]);
        theta[shape->bias_at[top] + k] = (float)(share * r->intercept[from]);
    }
}

stonet_status sn_refit_output(sn_engine *engine, const sn_shape *shape, const sn_problem *problem,
                              const sn_rows *rows, const stonet_run *run, float *theta)
{
    const int h = shape->layers - 1;
    refit r = {
        .n = rows->n, .q = shape->width[h], .outputs = shape->width[h + 1], .rows = rows, .problem = problem};
    bool found = true;
    stonet_status status;
    if (problem->weight != NULL)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "the output layer cannot be refitted on weighted rows: set output=trained");
    SN_GOTO(status, SN_NEW_RAW(r.psi, r.n * r.q), done);
    SN_GOTO(status, SN_NEW(r.coef, r.outputs * r.q), done);
    SN_GOTO(status, SN_NEW(r.intercept, r.outputs), done);
    engine->ops->start(engine, theta);
    SN_GOTO(status,
            engine->ops->forward(engine, &(sn_pass){.rows = *rows, .layer = h, .activated = true}, r.psi),
            done);
    if (is_constant(&r)) goto done;
    if (shape->task == SN_CLASSIFICATION)
        SN_GOTO(status, fit_classes(&r, run, &found), done);
    else
        SN_GOTO(status, fit_numbers(&r), done);
    if (found) put(&r, shape, theta);
done:
    sn_free(r.psi);
    sn_free(r.coef);
    sn_free(r.intercept);
    return status;
}
