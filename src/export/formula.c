#include "export/formula.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "net/activation.h"
#include "net/forward.h"

SN_DEFINE_WORDS(sn_op_words, "step", SN_OP_EXP, SN_OP_WORDS);

void sn_formula_free(sn_formula *formula)
{
    sn_workspace_free(&formula->keep);
}

/* ---- building ------------------------------------------------------------------------------------ */

static int64_t width_of(const sn_formula *formula, int step)
{
    return formula->step[step].width;
}

/* Sets what follows from the rest: the length of `in`, no second step but of JOIN, one run. */
static stonet_status add(sn_formula *formula, const sn_step *step, int *out)
{
    if (formula->count == SN_FORMULA_STEPS)
        return sn_fail(STONET_ERROR_UNSUPPORTED, "the model has more layers than can be exported");
    sn_step *made = &formula->step[formula->count];
    *made = *step;
    if (step->in >= 0) made->inputs = width_of(formula, step->in);
    if (step->op != SN_OP_JOIN) made->other = -1;
    if (step->runs == 0) made->runs = 1;
    *out = formula->count++;
    return STONET_OK;
}

/* A copy of n numbers, or zeros where there are none. */
static stonet_status keep_numbers(sn_formula *formula, int64_t n, const double *numbers, const double **out)
{
    double *copy = NULL;
    SN_TRY(SN_TAKE_ZERO(&formula->keep, copy, n));
    if (numbers != NULL) memcpy(copy, numbers, (size_t)n * sizeof *copy);
    *out = copy;
    return STONET_OK;
}

stonet_status sn_formula_features(sn_formula *formula, int64_t p)
{
    int out;
    return add(formula, &(sn_step){.op = SN_OP_FEATURES, .in = -1, .width = p}, &out);
}

stonet_status sn_formula_affine(sn_formula *formula, int in, const sn_affine_map *map, int *out)
{
    const int64_t runs = map->runs > 0 ? map->runs : 1, width = map->width;
    const int64_t inputs = width_of(formula, in) / runs;
    sn_step step = {.op = SN_OP_AFFINE, .in = in, .width = runs * width, .runs = runs};
    double *copy = NULL;
    SN_TRY(SN_TAKE(&formula->keep, copy, width * inputs));
    for (int64_t k = 0; k < width; k++)
        for (int64_t j = 0; j < inputs; j++)
            copy[k * inputs + j] = map->turned ? map->matrix[j * width + k] : map->matrix[k * inputs + j];
    step.matrix = copy;
    SN_TRY(keep_numbers(formula, width, map->offset, &step.offset));
    return add(formula, &step, out);
}

stonet_status sn_formula_scale(sn_formula *formula, int in, const double *factor, const double *offset,
                               int *out)
{
    const int64_t width = width_of(formula, in);
    sn_step step = {.op = SN_OP_SCALE, .in = in, .width = width};
    SN_TRY(keep_numbers(formula, width, factor, &step.factor));
    SN_TRY(keep_numbers(formula, width, offset, &step.offset));
    return add(formula, &step, out);
}

stonet_status sn_formula_activation(sn_formula *formula, int in, sn_activation activation, int *out)
{
    *out = in;
    if (activation == SN_IDENTITY) return STONET_OK;
    const sn_step step = {
        .op = SN_OP_ACTIVATION, .in = in, .width = width_of(formula, in), .activation = activation};
    return add(formula, &step, out);
}

stonet_status sn_formula_kernel(sn_formula *formula, int in, int64_t centres, const float *centre,
                                double gamma, int *out)
{
    const int64_t inputs = width_of(formula, in);
    sn_step step = {.op = SN_OP_KERNEL, .in = in, .width = centres, .number = gamma};
    double *copy = NULL;
    SN_TRY(SN_TAKE(&formula->keep, copy, centres * inputs));
    sn_widen(centres * inputs, centre, copy);
    step.matrix = copy;
    return add(formula, &step, out);
}

stonet_status sn_formula_columns(sn_formula *formula, int in, int64_t count, const int64_t *column, int *out)
{
    sn_step step = {.op = SN_OP_COLUMNS, .in = in, .width = count};
    int64_t *copy = NULL;
    SN_TRY(SN_TAKE(&formula->keep, copy, count));
    memcpy(copy, column, (size_t)count * sizeof *copy);
    step.column = copy;
    return add(formula, &step, out);
}

stonet_status sn_formula_join(sn_formula *formula, int in, int other, int *out)
{
    const int64_t width = width_of(formula, in) + width_of(formula, other);
    return add(formula, &(sn_step){.op = SN_OP_JOIN, .in = in, .other = other, .width = width}, out);
}

stonet_status sn_formula_largest(sn_formula *formula, int in, int64_t width, int *out)
{
    return add(formula, &(sn_step){.op = SN_OP_LARGEST, .in = in, .width = width}, out);
}

stonet_status sn_formula_map(sn_formula *formula, sn_op op, int in, double number, int *out)
{
    const sn_step step = {.op = op, .in = in, .width = width_of(formula, in), .number = number};
    return add(formula, &step, out);
}

/* ---- use ------------------------------------------------------------------------------------------ */

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

stonet_status sn_formula_evaluate(const sn_formula *formula, const float *x, double *z, double *answer)
{
    int64_t at[SN_FORMULA_STEPS] = {0}, total = 0;
    for (int k = 0; k < formula->count; k++) {
        at[k] = total;
        total += width_of(formula, k);
    }
    SN_ARRAY(total, double, values);
    for (int64_t j = 0; j < width_of(formula, 0); j++) values[j] = (double)x[j];
    for (int k = 1; k < formula->count; k++) {
        const sn_step *step = &formula->step[k];
        evaluate(step, values + at[step->in], values + at[step->other >= 0 ? step->other : 0],
                 values + at[k]);
    }
    memcpy(z, values + at[formula->z], (size_t)width_of(formula, formula->z) * sizeof *z);
    if (formula->answer < 0) return STONET_OK;
    memcpy(answer, values + at[formula->answer], (size_t)width_of(formula, formula->answer) * sizeof *answer);
    return STONET_OK;
}
