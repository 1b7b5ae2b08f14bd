#include "methods/gsave_middle.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "methods/kernel_response.h"

struct sn_middle {
    int64_t n;
    /* Classes. */
    int64_t classes;
    const int32_t *label; /* the problem's */
    double *count;        /* rows of each class */
    /* Numbers: P = E E'. */
    int64_t r;
    double *e;    /* n x r */
    double *sum;  /* n: P 1 */
    double *norm; /* n: (P.P) 1, the squared lengths of the c_j */
};

/*
 * Classes: c_j = 1{class of j} / n_c, so Lambda_j is (within-class centring) / n_c, and since that maps
 * centred vectors to centred ones
 *
 *     Mid v = v/n + sum_c (1/n_c - 2/n) (v - class mean of v on class c).
 */
static stonet_status apply_classes(const sn_middle *middle, int64_t columns, const double *in, double *out)
{
    double n = (double)middle->n;
    SN_ZEROS(middle->classes * columns, double, mean);
    for (int64_t i = 0; i < middle->n; i++) {
        double *row = mean + middle->label[i] * columns, share = 1.0 / middle->count[middle->label[i]];
        for (int64_t j = 0; j < columns; j++) row[j] += share * in[i * columns + j];
    }
    for (int64_t i = 0; i < middle->n; i++) {
        const double *row = mean + middle->label[i] * columns;
        double weight = 1.0 / middle->count[middle->label[i]] - 2.0 / n;
        for (int64_t j = 0; j < columns; j++) {
            double value = in[i * columns + j];
            out[i * columns + j] = value / n + weight * (value - row[j]);
        }
    }
    return STONET_OK;
}

/* out = (P.P) in, one column of a stride: row i is e_i' (E' diag(v) E) e_i. work: 2 n x r, square: r x r. */
static void apply_squared(const sn_middle *middle, int64_t stride, const double *in, double *work,
                          double *square, double *out)
{
    int64_t n = middle->n, r = middle->r;
    double *product = work + n * r;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < r; j++) work[i * r + j] = in[i * stride] * middle->e[i * r + j];
    sn_multiply(sn_turned(middle->e, n, r), sn_as(work, n, r), square);
    sn_multiply(sn_as(middle->e, n, r), sn_as(square, r, r), product);
    for (int64_t i = 0; i < n; i++) out[i * stride] = sn_dot(r, product + i * r, middle->e + i * r);
}

/* out = P in. */
static void apply_smoother(const sn_middle *middle, int64_t columns, const double *in, double *small,
                           double *out)
{
    sn_multiply(sn_turned(middle->e, middle->n, middle->r), sn_as(in, middle->n, columns), small);
    sn_multiply(sn_as(middle->e, middle->n, middle->r), sn_as(small, middle->r, columns), out);
}

/*
 * Numbers, for centred u, with t = P u, s = P 1, q = (P.P) 1 = diag(P P):
 *
 *     Mid u = Q [ u/n - (2/n)(s u - P t) + q u - (P.P) t - P (P.P) u + P (q - (1 - s)^2 / n) t ],
 *
 * from sum Lambda = diag(s) - P P and sum Lambda Q Lambda = sum Lambda^2 - sum (Lambda 1)(Lambda 1)'/n with
 * Lambda_j 1 = (1 - s_j) c_j.
 */
static stonet_status apply_numbers(const sn_middle *middle, int64_t columns, const double *in, double *out)
{
    int64_t n = middle->n, r = middle->r, block = n * columns;
    double share = 1.0 / (double)n;
    SN_ARRAY(block, double, t);
    SN_ARRAY(block, double, inner);
    SN_ARRAY(block, double, squared);
    SN_ARRAY(2 * n * r, double, work);
    SN_ARRAY(r * r, double, square);
    SN_ARRAY(r * columns, double, small);
    SN_ARRAY(columns, double, mean);
    apply_smoother(middle, columns, in, small, t);
    for (int64_t j = 0; j < columns; j++) apply_squared(middle, columns, in + j, work, square, squared + j);
    /* What P is applied to in the end: (2/n) t - (P.P) u + (q - (1 - s)^2 / n) t. */
    for (int64_t i = 0; i < n; i++) {
        double weight = 2.0 * share + middle->norm[i] - pow(1.0 - middle->sum[i], 2) * share;
        for (int64_t j = i * columns; j < (i + 1) * columns; j++) inner[j] = weight * t[j] - squared[j];
    }
    apply_smoother(middle, columns, inner, small, out);
    for (int64_t j = 0; j < columns; j++) apply_squared(middle, columns, t + j, work, square, squared + j);
    for (int64_t i = 0; i < n; i++) {
        double weight = share - 2.0 * share * middle->sum[i] + middle->norm[i];
        for (int64_t j = i * columns; j < (i + 1) * columns; j++) out[j] += weight * in[j] - squared[j];
    }
    sn_column_means(n, columns, out, mean);
    sn_subtract_row(n, columns, mean, out);
    return STONET_OK;
}

stonet_status sn_middle_apply(const sn_middle *middle, int64_t columns, const double *in, double *out)
{
    return middle->classes > 0 ? apply_classes(middle, columns, in, out)
                               : apply_numbers(middle, columns, in, out);
}

/* P = E E', the smoother of the response, as its factor E (n x r): the n x n matrix is never formed.
   E = N U (D + ridge)^{-1/2} for N'N = U D U', without the directions that are rounding; N N' = k'k = 11' +
   K_Y^2, so with K_Y = F F' and F'F = V C V' the columns of N are 1 and F V C^{1/2}.
   sum = P 1 and norm = (P.P) 1 are needed by every product and computed once. */
static stonet_status create_numbers(const sn_problem *problem, double ey, uint64_t seed, sn_workspace *keep,
                                    sn_middle *middle)
{
    SN_WORKSPACE(scratch);
    int64_t n = problem->n, r;
    double *f = NULL;
    SN_TRY(sn_response_factor(problem, SN_MEAN_DISTANCE, seed, &scratch, &f, &r));
    SN_ARRAY(r * r, double, gram);
    SN_ARRAY(r, double, values);
    SN_ARRAY(r * r, double, v);
    SN_ARRAY(n * r, double, turned);
    SN_ARRAY(n * (r + 1), double, columns);
    sn_syrk_tn(r, n, 1.0, f, 0.0, gram);
    SN_TRY(sn_eigh(r, gram, values, v));
    sn_multiply(sn_as(f, n, r), sn_as(v, r, r), turned);
    for (int64_t i = 0; i < n; i++) {
        columns[i * (r + 1)] = 1.0;
        for (int64_t j = 0; j < r; j++)
            columns[i * (r + 1) + 1 + j] = turned[i * r + j] * sqrt(fmax(values[j], 0.0));
    }
    SN_TRY(sn_whiten_columns(1.0, sn_as(columns, n, r + 1), ey, 1e-14, keep, &middle->r, &middle->e));
    r = middle->r;
    SN_ARRAY(n, double, ones);
    SN_ARRAY(2 * n * r, double, work);
    SN_ARRAY(r * r, double, square);
    SN_ARRAY(r, double, small);
    SN_TRY(SN_TAKE_EACH(keep, n, &middle->sum, &middle->norm));
    for (int64_t i = 0; i < n; i++) ones[i] = 1.0;
    apply_smoother(middle, 1, ones, small, middle->sum);
    apply_squared(middle, 1, ones, work, square, middle->norm);
    return STONET_OK;
}

stonet_status sn_middle_create(const sn_problem *problem, double ey, uint64_t seed, sn_workspace *keep,
                               sn_middle **out)
{
    int64_t present;
    SN_TRY(SN_TAKE_ZERO(keep, *out, 1));
    sn_middle *middle = *out;
    middle->n = problem->n;
    if (problem->task != SN_CLASSIFICATION) return create_numbers(problem, ey, seed, keep, middle);
    SN_TRY(sn_classes_present(problem, &present));
    SN_TRY(SN_TAKE_ZERO(keep, middle->count, problem->outputs));
    middle->classes = problem->outputs;
    middle->label = problem->label;
    for (int64_t i = 0; i < problem->n; i++) middle->count[problem->label[i]] += 1.0;
    return STONET_OK;
}
