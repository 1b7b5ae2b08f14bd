#include "methods/gsave_middle.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "methods/kernel_map.h"

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

void sn_middle_free(sn_middle *middle)
{
    if (middle == NULL) return;
    sn_free(middle->count);
    sn_free(middle->e);
    sn_free(middle->sum);
    sn_free(middle->norm);
    sn_free(middle);
}

/*
 * Classes: c_j = 1{class of j} / n_c, so Lambda_j is (within-class centring) / n_c, and since that maps
 * centred vectors to centred ones
 *
 *     Mid v = v/n + sum_c (1/n_c - 2/n) (v - class mean of v on class c).
 */
static stonet_status apply_classes(const sn_middle *middle, int64_t columns, const double *in, double *out)
{
    double *mean = NULL, n = (double)middle->n;
    SN_TRY(SN_NEW(mean, middle->classes * columns));
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
    sn_free(mean);
    return STONET_OK;
}

/* out = (P.P) in for one column of a stride: row i is e_i' (E' diag(v) E) e_i. work: 2 n x r, square: r x r.
 */
static void apply_squared(const sn_middle *middle, int64_t stride, const double *in, double *work,
                          double *square, double *out)
{
    int64_t n = middle->n, r = middle->r;
    double *product = work + n * r;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < r; j++) work[i * r + j] = in[i * stride] * middle->e[i * r + j];
    sn_gemm(true, false, r, r, n, 1.0, middle->e, work, 0.0, square);
    sn_gemm(false, false, n, r, r, 1.0, middle->e, square, 0.0, product);
    for (int64_t i = 0; i < n; i++) out[i * stride] = sn_dot(r, product + i * r, middle->e + i * r);
}

/* out = P in. */
static void apply_smoother(const sn_middle *middle, int64_t columns, const double *in, double *small,
                           double *out)
{
    sn_gemm(true, false, middle->r, columns, middle->n, 1.0, middle->e, in, 0.0, small);
    sn_gemm(false, false, middle->n, columns, middle->r, 1.0, middle->e, small, 0.0, out);
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
    double *t = NULL, *inner = NULL, *squared = NULL, *work = NULL, *square = NULL, *small = NULL,
           *mean = NULL;
    double share = 1.0 / (double)n;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(t, block), done);
    SN_GOTO(status, SN_NEW_RAW(inner, block), done);
    SN_GOTO(status, SN_NEW_RAW(squared, block), done);
    SN_GOTO(status, SN_NEW_RAW(work, 2 * n * r), done);
    SN_GOTO(status, SN_NEW_RAW(square, r * r), done);
    SN_GOTO(status, SN_NEW_RAW(small, r * columns), done);
    SN_GOTO(status, SN_NEW_RAW(mean, columns), done);
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
done:
    sn_free(t);
    sn_free(inner);
    sn_free(squared);
    sn_free(work);
    sn_free(square);
    sn_free(small);
    sn_free(mean);
    return status;
}

stonet_status sn_middle_apply(const sn_middle *middle, int64_t columns, const double *in, double *out)
{
    return middle->classes > 0 ? apply_classes(middle, columns, in, out)
                               : apply_numbers(middle, columns, in, out);
}

static stonet_status create_classes(const sn_problem *problem, sn_middle *middle)
{
    int64_t present;
    SN_TRY(sn_classes_present(problem, &present));
    SN_TRY(SN_NEW(middle->count, problem->outputs));
    middle->classes = problem->outputs;
    middle->label = problem->label;
    for (int64_t i = 0; i < problem->n; i++) middle->count[problem->label[i]] += 1.0;
    return STONET_OK;
}

/* columns (n x (r + 1)) with k'k = 11' + K_Y^2 = columns columns': with K_Y = F F' and F'F = V D V' they are
   1 and F V D^{1/2}. */
static stonet_status response_columns(int64_t n, int64_t r, const double *f, double *columns)
{
    double *gram = NULL, *values = NULL, *v = NULL, *turned = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(gram, r * r), done);
    SN_GOTO(status, SN_NEW_RAW(values, r), done);
    SN_GOTO(status, SN_NEW_RAW(v, r * r), done);
    SN_GOTO(status, SN_NEW_RAW(turned, n * r), done);
    sn_syrk_tn(r, n, 1.0, f, 0.0, gram);
    SN_GOTO(status, sn_eigh(r, gram, values, v), done);
    sn_gemm(false, false, n, r, r, 1.0, f, v, 0.0, turned);
    for (int64_t i = 0; i < n; i++) {
        columns[i * (r + 1)] = 1.0;
        for (int64_t j = 0; j < r; j++)
            columns[i * (r + 1) + 1 + j] = turned[i * r + j] * sqrt(fmax(values[j], 0.0));
    }
done:
    sn_free(gram);
    sn_free(values);
    sn_free(v);
    sn_free(turned);
    return status;
}

/* E = N U (D + ridge)^{-1/2} for N'N = U D U', without the directions that are rounding. */
static stonet_status smoother_root(sn_middle *middle, double ey, int64_t k, const double *columns)
{
    int64_t n = middle->n;
    double *gram = NULL, *values = NULL, *u = NULL;
    stonet_status status;
    SN_GOTO(status, SN_NEW_RAW(gram, k * k), done);
    SN_GOTO(status, SN_NEW_RAW(values, k), done);
    SN_GOTO(status, SN_NEW_RAW(u, k * k), done);
    sn_syrk_tn(k, n, 1.0, columns, 0.0, gram);
    SN_GOTO(status, sn_eigh(k, gram, values, u), done);
    double ridge = ey * values[0];
    while (middle->r < k && values[middle->r] > 1e-14 * values[0]) middle->r++;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < middle->r; j++)
            gram[i * middle->r + j] = u[i * k + j] / sqrt(values[j] + ridge);
    SN_GOTO(status, SN_NEW_RAW(middle->e, n * middle->r), done);
    sn_gemm(false, false, n, middle->r, k, 1.0, columns, gram, 0.0, middle->e);
done:
    sn_free(gram);
    sn_free(values);
    sn_free(u);
    return status;
}

static stonet_status create_numbers(const sn_problem *problem, double ey, uint64_t seed, sn_middle *middle)
{
    int64_t n = problem->n, r;
    double *f = NULL, *columns = NULL, *ones = NULL, *work = NULL, *square = NULL, *small = NULL;
    stonet_status status;
    SN_GOTO(status, sn_response_factor(problem, SN_MEAN_DISTANCE, seed, &f, &r), done);
    SN_GOTO(status, SN_NEW_RAW(columns, n * (r + 1)), done);
    SN_GOTO(status, response_columns(n, r, f, columns), done);
    SN_GOTO(status, smoother_root(middle, ey, r + 1, columns), done);
    r = middle->r;
    SN_GOTO(status, SN_NEW_RAW(ones, n), done);
    SN_GOTO(status, SN_NEW_RAW(work, 2 * n * r), done);
    SN_GOTO(status, SN_NEW_RAW(square, r * r), done);
    SN_GOTO(status, SN_NEW_RAW(small, r), done);
    SN_GOTO(status, SN_NEW_RAW(middle->sum, n), done);
    SN_GOTO(status, SN_NEW_RAW(middle->norm, n), done);
    for (int64_t i = 0; i < n; i++) ones[i] = 1.0;
    apply_smoother(middle, 1, ones, small, middle->sum);
    apply_squared(middle, 1, ones, work, square, middle->norm);
done:
    sn_free(f);
    sn_free(columns);
    sn_free(ones);
    sn_free(work);
    sn_free(square);
    sn_free(small);
    return status;
}

stonet_status sn_middle_create(const sn_problem *problem, double ey, const stonet_run *run, sn_middle **out)
{
    SN_TRY(SN_NEW(*out, 1));
    (*out)->n = problem->n;
    stonet_status status = problem->task == SN_CLASSIFICATION
                               ? create_classes(problem, *out)
                               : create_numbers(problem, ey, run != NULL ? run->seed : 1, *out);
    if (status == STONET_OK) return STONET_OK;
    sn_middle_free(*out);
    *out = NULL;
    return status;
}
