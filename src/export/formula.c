#include "export/formula.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/noise.h"
#include "model/calibration.h"
#include "net/activation.h"
#include "net/forward.h"
#include "stats/temperature.h"

SN_DEFINE_WORDS(sn_op_words, "step", SN_OP_EXP, SN_OP_WORDS);

void sn_formula_free(sn_formula *formula)
{
    sn_workspace_free(&formula->keep);
}

void sn_formula_needed(const sn_formula *formula, int step, bool needed[SN_FORMULA_STEPS])
{
    needed[step] = true;
    for (int k = step; k > 0; k--) {
        if (!needed[k]) continue;
        needed[formula->step[k].in] = true;
        if (formula->step[k].other >= 0) needed[formula->step[k].other] = true;
    }
}

void sn_formula_prune(sn_formula *formula)
{
    bool needed[SN_FORMULA_STEPS] = {true};
    int to[SN_FORMULA_STEPS] = {0}, count = 0;
    sn_formula_needed(formula, formula->z, needed);
    if (formula->answer >= 0) sn_formula_needed(formula, formula->answer, needed);
    for (int k = 0; k < formula->count; k++) {
        if (!needed[k]) continue;
        sn_step step = formula->step[k];
        if (step.in >= 0) step.in = to[step.in];
        if (step.other >= 0) step.other = to[step.other];
        to[k] = count;
        formula->step[count++] = step;
    }
    formula->count = count;
    formula->z = to[formula->z];
    if (formula->answer >= 0) formula->answer = to[formula->answer];
}

int64_t sn_step_rows(const sn_step *step)
{
    return step->width / step->runs;
}

int64_t sn_step_columns(const sn_step *step)
{
    return step->inputs / step->runs;
}

static void evaluate_affine(const sn_step *step, const double *in, double *out)
{
    const int64_t rows = sn_step_rows(step), columns = sn_step_columns(step);
    for (int64_t k = 0; k < step->width; k++) {
        const double *w = step->matrix + k % rows * columns, *from = in + k / rows * columns;
        double sum = step->offset[k % rows];
        for (int64_t j = 0; j < columns; j++) sum += w[j] * from[j];
        out[k] = sum;
    }
}

static void evaluate_largest(const sn_step *step, const double *in, double *out)
{
    const int64_t part = step->inputs / step->width;
    for (int64_t k = 0; k < step->width; k++) {
        out[k] = in[k * part];
        for (int64_t j = 1; j < part; j++) out[k] = fmax(out[k], in[k * part + j]);
    }
}

static void evaluate_kernel(const sn_step *step, const double *in, double *out)
{
    for (int64_t k = 0; k < step->width; k++) {
        double sum = 0.0;
        for (int64_t j = 0; j < step->inputs; j++) {
            const double apart = in[j] - step->matrix[k * step->inputs + j];
            sum += apart * apart;
        }
        out[k] = exp(-step->number * sum);
    }
}

static void evaluate_temper(const sn_step *step, const double *in, double *out)
{
    double largest = in[0], sum = 0.0;
    for (int64_t k = 1; k < step->width; k++) largest = fmax(largest, in[k]);
    for (int64_t k = 0; k < step->width; k++) sum += out[k] = pow(in[k] / largest, step->number);
    for (int64_t k = 0; k < step->width; k++) out[k] /= sum;
}

/* The values of one step for one row, in double: out has step->width numbers. The caller has put the features
   into step 0. other: values of the second step of a JOIN. */
static void evaluate(const sn_step *step, const double *in, const double *other, double *out)
{
    switch (step->op) {
    case SN_OP_FEATURES:
        break;
    case SN_OP_AFFINE:
        evaluate_affine(step, in, out);
        break;
    case SN_OP_SCALE:
        for (int64_t k = 0; k < step->width; k++) out[k] = step->factor[k] * in[k] + step->offset[k];
        break;
    case SN_OP_ACTIVATION:
        for (int64_t k = 0; k < step->width; k++) out[k] = sn_psi(step->activation, in[k]);
        break;
    case SN_OP_KERNEL:
        evaluate_kernel(step, in, out);
        break;
    case SN_OP_COLUMNS:
        for (int64_t k = 0; k < step->width; k++) out[k] = in[step->column[k]];
        break;
    case SN_OP_JOIN:
        for (int64_t k = 0; k < step->width; k++) out[k] = k < step->inputs ? in[k] : other[k - step->inputs];
        break;
    case SN_OP_LARGEST:
        evaluate_largest(step, in, out);
        break;
    case SN_OP_SOFTMAX:
        memcpy(out, in, (size_t)step->inputs * sizeof *out);
        sn_softmax(1, step->width, out);
        break;
    case SN_OP_TEMPER:
        evaluate_temper(step, in, out);
        break;
    case SN_OP_EXP:
        for (int64_t k = 0; k < step->width; k++) out[k] = exp(in[k]);
        break;
    }
}

/* Z and the answer, if there is one, of one row; x has the width of step 0. */
static stonet_status evaluate_row(const sn_formula *formula, const float *x, double *z, double *answer)
{
    int64_t at[SN_FORMULA_STEPS] = {0}, total = 0;
    for (int k = 0; k < formula->count; k++) {
        at[k] = total;
        total += formula->step[k].width;
    }
    SN_ARRAY(total, double, values);
    for (int64_t j = 0; j < formula->step[0].width; j++) values[j] = (double)x[j];
    for (int k = 1; k < formula->count; k++) {
        const sn_step *step = &formula->step[k];
        evaluate(step, values + at[step->in], values + at[step->other >= 0 ? step->other : 0],
                 values + at[k]);
    }
    memcpy(z, values + at[formula->z], (size_t)formula->step[formula->z].width * sizeof *z);
    if (formula->answer < 0) return STONET_OK;
    memcpy(answer, values + at[formula->answer],
           (size_t)formula->step[formula->answer].width * sizeof *answer);
    return STONET_OK;
}

enum { CHECKED_ROWS = 16 };

/* Whether `got` is `wanted`, up to what float and a fast tanh take from it. */
static stonet_status check_numbers(int64_t count, const double *wanted, const double *got, const char *what)
{
    static const double TOLERANCE = 1e-3;
    double largest = 0.0;
    for (int64_t i = 0; i < count; i++) largest = fmax(largest, fabs(wanted[i]));
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(got[i] - wanted[i]) <= TOLERANCE * largest + 1e-6))
            return sn_fail(STONET_ERROR_UNSUPPORTED,
                           "this model cannot be exported: written as a formula its %s would not be the same",
                           what);
    return STONET_OK;
}

stonet_status sn_formula_check(const sn_formula *formula, const stonet_model *model)
{
    const bool answers = formula->answer >= 0;
    const int64_t p = formula->step[0].width, q = model->dim, m = sn_schema_outputs(model->schema);
    if (formula->step[formula->z].width != q || (answers && formula->step[formula->answer].width != m))
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "this model cannot be exported: its formula has another shape");
    SN_ARRAY(CHECKED_ROWS * p, float, x);
    SN_ARRAY(CHECKED_ROWS * q, float, z);
    SN_ARRAY(CHECKED_ROWS * q, double, wanted_z);
    SN_ARRAY(CHECKED_ROWS * q, double, got_z);
    SN_ARRAY(CHECKED_ROWS * m, double, wanted);
    SN_ARRAY(CHECKED_ROWS * m, double, got);
    sn_random random = sn_random_from(model->seed, SN_STREAM_DATA, 0);
    for (int64_t i = 0; i < CHECKED_ROWS * p; i++) x[i] = (float)sn_random_normal(&random);
    SN_TRY(answers ? sn_model_predict(model, x, CHECKED_ROWS, z, wanted)
                   : sn_model_reduce(model, x, CHECKED_ROWS, NULL, z));
    sn_widen(CHECKED_ROWS * q, z, wanted_z);
    for (int64_t i = 0; i < CHECKED_ROWS; i++)
        SN_TRY(evaluate_row(formula, x + i * p, got_z + i * q, got + i * m));
    SN_TRY(check_numbers(CHECKED_ROWS * q, wanted_z, got_z, "Z"));
    if (!answers) return STONET_OK;
    if (model->schema->task == SN_CLASSIFICATION && model->calibration != NULL)
        sn_temperature_apply(CHECKED_ROWS, m, model->calibration->temperature, wanted);
    return check_numbers(CHECKED_ROWS * m, wanted, got, "prediction");
}
