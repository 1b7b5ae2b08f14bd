/*
 * Newton's method with each step solved by preconditioned conjugate gradients, so that the md x md Hessian is
 * never formed:
 *
 *     (H v)_k = sum_i r_ik x_i + lambda . v_k,   r_ik = p_ik (u_ik - sum_l p_il u_il),   u_i = V x_i
 *
 * The preconditioner is the Hessian's block of each class, M_k = X' diag(p_ik (1 - p_ik)) X + diag(lambda),
 * factored anew when the steps solved with it have cost about as much as factoring does. Of many columns it
 * begins with the diagonals of the M_k, which is all that is needed where the columns are nearly
 * uncorrelated, as kernel features are. It is followed by taking out the mean over the classes: neither the
 * gradient nor the minimiser has a part that all classes share. Sums over rows run over fixed blocks in fixed
 * order: the same bits for any number of threads.
 */
#include "math/logistic.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "math/columns.h"
#include "math/linalg.h"
#include "math/serial_blas.h"

enum {
    MAX_NEWTON_STEPS = 200,
    MAX_CG_STEPS = 1000,
    MAX_HALVINGS = 40,
    MAX_BLOCKS = 16,
    MIN_BLOCK_ROWS = 256,
    MIN_SHARED = 1 << 20, /* entries of n x d x m below which waking threads costs more than they save */
    PART_ROWS = 256,
    MAX_FACTORED =
        1024, /* columns above which M_k is reduced to its diagonal: it would cost more than it saves */
    STEPS_WORTH = 16, /* factoring an M_k takes as long as d / this steps solved with it, ... */
    WORTH_A_TRY = 4   /* ... and from this many on its diagonal is tried first */
};
static const double ENOUGH = 1e-11; /* of f: the decrement of the last step */

static const double least_weight = 1e-4; /* of a row in the preconditioner */

typedef struct solver {
    const sn_softmax_problem *problem;
    int threads;
    int64_t block_rows, blocks;
    double *rows;        /* n x m: eta, then what multiplies x_i */
    double *probability; /* n x m, at the last gradient */
    double *partial;     /* blocks x m x d */
    double *block_loss;  /* blocks */
    double *factor;      /* m x d x d: Cholesky factors of the M_k, or NULL */
    double *diagonal;    /* m x d: of the M_k */
    bool factored;       /* the preconditioner is the M_k, and not their diagonals */
    int64_t solved;      /* conjugate-gradient steps since it was made */
} solver;

static double weight_of(const solver *s, int64_t row)
{
    return s->problem->weight != NULL ? (double)s->problem->weight[row] : 1.0;
}

/* Rows first..last: turns m numbers a row into m numbers a row and returns their part of a sum. */
typedef double row_function(const solver *s, int64_t first, int64_t last);

/* rows: eta -> p - onehot(label). Fills probability; returns the loss. */
static double residual_rows(const solver *s, int64_t first, int64_t last)
{
    int64_t m = s->problem->m;
    double loss = 0;
    for (int64_t i = first; i < last; i++) {
        double *eta = s->rows + i * m, *p = s->probability + i * m;
        int32_t label = s->problem->label[i];
        const double weight = weight_of(s, i);
        if (m == 1) {
            double e = exp(-fabs(eta[0]));
            loss += weight * (log1p(e) + (eta[0] > 0 ? eta[0] : 0) - (label == 1 ? eta[0] : 0));
            p[0] = eta[0] > 0 ? 1 / (1 + e) : e / (1 + e);
            /* 1 - p without cancellation, so that well separated rows keep their weight */
            eta[0] = weight * (label == 1 ? (eta[0] > 0 ? -e / (1 + e) : -1 / (1 + e)) : p[0]);
            continue;
        }
        double top = eta[0], sum = 0, others = 0;
        for (int64_t k = 1; k < m; k++) top = eta[k] > top ? eta[k] : top;
        for (int64_t k = 0; k < m; k++) {
            p[k] = exp(eta[k] - top);
            sum += p[k];
            if (k != label) others += p[k];
        }
        loss += weight * (log(sum) + top - eta[label]);
        for (int64_t k = 0; k < m; k++) eta[k] = weight * (p[k] /= sum);
        eta[label] = -weight * others / sum;
    }
    return loss;
}

/* rows: u -> curvature times u. */
static double curvature_rows(const solver *s, int64_t first, int64_t last)
{
    int64_t m = s->problem->m;
    for (int64_t i = first; i < last; i++) {
        double *u = s->rows + i * m;
        const double *p = s->probability + i * m;
        if (m == 1) {
            u[0] *= weight_of(s, i) * p[0] * (1 - p[0]);
            continue;
        }
        double mean = 0;
        for (int64_t k = 0; k < m; k++) mean += p[k] * u[k];
        for (int64_t k = 0; k < m; k++) u[k] = weight_of(s, i) * p[k] * (u[k] - mean);
    }
    return 0;
}

/* out (m x d) = F(X v')' X + lambda . v for the row function F; returns F's sum. */
static double sweep(const solver *s, row_function *function, const double *v, double *out)
{
    const sn_softmax_problem *q = s->problem;
    int64_t n = q->n, d = q->d, m = q->m;
#pragma omp parallel num_threads(s->threads)
    {
        sn_serial_blas();
#pragma omp for schedule(static, 1)
        for (int64_t block = 0; block < s->blocks; block++) {
            int64_t first = block * s->block_rows;
            int64_t last = first + s->block_rows < n ? first + s->block_rows : n;
            sn_multiply(sn_as(q->x + first * d, last - first, d), sn_turned(v, m, d), s->rows + first * m);
            s->block_loss[block] = function(s, first, last);
            sn_multiply(sn_turned(s->rows + first * m, last - first, m),
                        sn_as(q->x + first * d, last - first, d), s->partial + block * m * d);
        }
    }
    double total = 0;
    for (int64_t k = 0; k < m; k++)
        for (int64_t j = 0; j < d; j++) out[k * d + j] = q->lambda[j] * v[k * d + j];
    for (int64_t block = 0; block < s->blocks; block++) {
        const double *part = s->partial + block * m * d;
        for (int64_t j = 0; j < m * d; j++) out[j] += part[j];
        total += s->block_loss[block];
    }
    return total;
}

static double objective(const solver *s, const double *w, double *gradient)
{
    const sn_softmax_problem *q = s->problem;
    double value = sweep(s, residual_rows, w, gradient);
    for (int64_t k = 0; k < q->m; k++)
        for (int64_t j = 0; j < q->d; j++) value += 0.5 * q->lambda[j] * w[k * q->d + j] * w[k * q->d + j];
    return value;
}

/* M_k's diagonal, and the matrix itself (its lower triangle) if m_k is not NULL; part: PART_ROWS x d work
   space. Rows whose class is nearly certain add next to nothing and are skipped. */
static void class_block(const solver *s, int64_t k, double *part, double *diagonal, double *m_k)
{
    const sn_softmax_problem *q = s->problem;
    int64_t d = q->d, filled = 0;
    memcpy(diagonal, q->lambda, (size_t)d * sizeof *diagonal);
    if (m_k != NULL) memset(m_k, 0, (size_t)(d * d) * sizeof *m_k);
    for (int64_t i = 0; i < q->n; i++) {
        double p = s->probability[i * q->m + k], weight = weight_of(s, i) * p * (1 - p);
        if (weight >= least_weight) {
            double *row = part + filled++ * d;
            for (int64_t j = 0; j < d; j++) {
                row[j] = sqrt(weight) * q->x[i * d + j];
                diagonal[j] += row[j] * row[j];
            }
        }
        if (filled == PART_ROWS || (i == q->n - 1 && filled > 0)) {
            if (m_k != NULL) sn_syrk_tn_lower(d, filled, 1.0, part, 1.0, m_k);
            filled = 0;
        }
    }
    /* Keeps M_k positive definite when columns repeat each other; it steers the steps and does not move the
       minimum. */
    for (int64_t j = 0; j < d; j++) diagonal[j] = diagonal[j] > 0 ? diagonal[j] * (1 + 1e-10) : 1;
}

static void factor_block(int64_t d, const double *diagonal, double *m_k)
{
    for (int64_t j = 0; j < d; j++) m_k[j * d + j] = diagonal[j];
    if (sn_cholesky(d, m_k) == STONET_OK) return;
    memset(m_k, 0, (size_t)(d * d) * sizeof *m_k);
    for (int64_t j = 0; j < d; j++) m_k[j * d + j] = sqrt(diagonal[j]);
}

/* The preconditioner at the probabilities of the last gradient. alike: where all coefficients are 0 and no
   class has a block of its own yet; whole: more than the diagonals, if there is room for that. */
static stonet_status build_preconditioner(solver *s, bool alike, bool whole)
{
    s->solved = 0;
    s->factored = whole && s->factor != NULL;
    int64_t d = s->problem->d, m = s->problem->m, blocks = alike ? 1 : m;
    SN_ARRAY(blocks * PART_ROWS * d, double, parts);
#pragma omp parallel num_threads(s->threads)
    {
        sn_serial_blas();
#pragma omp for schedule(dynamic, 1)
        for (int64_t k = 0; k < blocks; k++) {
            double *m_k = s->factored ? s->factor + k * d * d : NULL;
            class_block(s, k, parts + k * PART_ROWS * d, s->diagonal + k * d, m_k);
            if (m_k != NULL) factor_block(d, s->diagonal + k * d, m_k);
        }
    }
    for (int64_t k = blocks; k < m; k++) {
        memcpy(s->diagonal + k * d, s->diagonal, (size_t)d * sizeof *s->diagonal);
        if (s->factored) memcpy(s->factor + k * d * d, s->factor, (size_t)(d * d) * sizeof *s->factor);
    }
    return STONET_OK;
}

/* out (m x d): row k is M_k^-1 r_k, less the mean of the rows. */
static void precondition(const solver *s, const double *r, double *out)
{
    int64_t d = s->problem->d, m = s->problem->m;
#pragma omp parallel num_threads(s->threads)
    {
        sn_serial_blas();
#pragma omp for schedule(dynamic, 1)
        for (int64_t k = 0; k < m; k++) {
            if (s->factored) {
                memcpy(out + k * d, r + k * d, (size_t)d * sizeof *out);
                sn_triangular_solve(d, false, s->factor + k * d * d, 1, out + k * d);
                sn_triangular_solve(d, true, s->factor + k * d * d, 1, out + k * d);
            } else
                for (int64_t j = 0; j < d; j++) out[k * d + j] = r[k * d + j] / s->diagonal[k * d + j];
        }
    }
    if (m == 1) return;
    for (int64_t j = 0; j < d; j++) {
        double mean = 0;
        for (int64_t k = 0; k < m; k++) mean += out[k * d + j] / (double)m;
        for (int64_t k = 0; k < m; k++) out[k * d + j] -= mean;
    }
}

typedef struct vectors {
    double *gradient, *step, *residual, *preconditioned, *direction, *product, *trial; /* m x d each */
} vectors;

/* After how many steps the preconditioner is made anew: a step with the diagonals costs about half. */
static int64_t patience(const solver *s)
{
    const int64_t worth = s->problem->d / STEPS_WORTH;
    return s->factored || s->factor == NULL ? worth : 2 * worth;
}

/* The first preconditioner: the diagonals, unless the one block that several classes share at 0 costs less
   than to try them. */
static stonet_status begin_preconditioner(solver *s, bool alike)
{
    const bool worth_a_try = s->problem->d / STEPS_WORTH >= WORTH_A_TRY && s->problem->m == 1;
    return build_preconditioner(s, alike, !worth_a_try);
}

/* step = -H^-1 gradient, to a relative residual of tolerance in the preconditioner's norm. The diagonals'
   norm may not see what is left, so that with them the last conjugate-gradient step must have gained next to
   nothing as well. False: not as far as that, because it is time to factor the M_k. */
static bool newton_step(solver *s, const vectors *v, double tolerance)
{
    const bool tries = !s->factored && s->factor != NULL;
    const int64_t most = tries ? patience(s) + 1 - s->solved : MAX_CG_STEPS;
    double gained = 0; /* by all steps, in the quadratic model, twice */
    int64_t size = s->problem->m * s->problem->d;
    size_t bytes = (size_t)size * sizeof(double);
    memset(v->step, 0, bytes);
    for (int64_t i = 0; i < size; i++) v->residual[i] = -v->gradient[i];
    precondition(s, v->residual, v->preconditioned);
    memcpy(v->direction, v->preconditioned, bytes);
    double norm = sn_dot(size, v->residual, v->preconditioned), goal = norm * tolerance * tolerance;
    bool far = norm > goal;
    for (int64_t it = 0; it < most && far && norm > 0; it++) {
        sweep(s, curvature_rows, v->direction, v->product);
        double curvature = sn_dot(size, v->direction, v->product);
        if (!(curvature > 0)) return true;
        double length = norm / curvature, gain = length * norm;
        gained += gain;
        for (int64_t i = 0; i < size; i++) {
            v->step[i] += length * v->direction[i];
            v->residual[i] -= length * v->product[i];
        }
        precondition(s, v->residual, v->preconditioned);
        double next = sn_dot(size, v->residual, v->preconditioned);
        for (int64_t i = 0; i < size; i++)
            v->direction[i] = v->preconditioned[i] + next / norm * v->direction[i];
        norm = next;
        far = norm > goal || (tries && gain > tolerance * tolerance * gained);
        s->solved++;
    }
    return !tries || !far;
}

/* Moves w along the step, halving it until f falls enough; false when rounding leaves nothing to gain. */
static bool line_search(const solver *s, const vectors *v, double slope, double *value, double *w)
{
    int64_t size = s->problem->m * s->problem->d;
    double slack = 4 * DBL_EPSILON * fabs(*value), length = 1;
    for (int halving = 0; halving < MAX_HALVINGS; halving++, length /= 2) {
        for (int64_t i = 0; i < size; i++) v->trial[i] = w[i] + length * v->step[i];
        double next = objective(s, v->trial, v->gradient);
        if (next <= *value + 1e-4 * length * slope + slack) {
            memcpy(w, v->trial, (size_t)size * sizeof *w);
            *value = next;
            return true;
        }
    }
    return false;
}

static bool all_zero(int64_t n, const double *w)
{
    for (int64_t i = 0; i < n; i++)
        if (w[i] != 0) return false;
    return true;
}

/* Newton with conjugate gradients: steps are solved roughly at first and to 1e-6 near the minimum. The
   preconditioner is built again when a solve has taken long. */
static stonet_status minimise(solver *s, const vectors *v, const stonet_run *run, double *w)
{
    int64_t size = s->problem->m * s->problem->d;
    const bool roughly = s->problem->enough > 0;
    const double enough = roughly ? s->problem->enough : ENOUGH;
    double began = sn_seconds(), tolerance = 0.1, last_decrement = INFINITY;
    double value = objective(s, w, v->gradient);
    for (int it = 0; it < MAX_NEWTON_STEPS; it++) {
        if (!isfinite(value))
            return sn_fail(STONET_ERROR_NUMERIC, "logistic: the likelihood is not finite; check the features "
                                                 "for missing or infinite values");
        if (sn_should_stop(run)) return STONET_OK;
        if (it == 0)
            SN_TRY(begin_preconditioner(s, all_zero(size, w)));
        else if (s->solved > patience(s))
            SN_TRY(build_preconditioner(s, false, true));
        const bool whole = newton_step(s, v, tolerance);
        double slope = sn_dot(size, v->gradient, v->step), decrement = -slope;
        if (!(decrement > 0) || !line_search(s, v, slope, &value, w)) return STONET_OK;
        const double left =
            sn_steps_left(isfinite(last_decrement) ? last_decrement : 0.0, decrement, enough * value);
        sn_progress_of(run, "logistic regression", it + 1, (int64_t)fmin(it + 1 + left, MAX_NEWTON_STEPS),
                       value / (double)s->problem->n, began);
        /* |w - w*|_H^2 was about `decrement` before this step, and a step solved to 1e-6 about squares it in
           relation to f: what is left is below 1e-20 f. */
        if (whole && (roughly || tolerance < 1e-3) && decrement <= enough * value) return STONET_OK;
        if (whole && decrement >= 0.5 * last_decrement && decrement <= 1e-14 * value) return STONET_OK;
        last_decrement = decrement;
        tolerance = !roughly && decrement < 1e-2 * value ? 1e-6 : 0.1;
    }
    sn_message(run, STONET_WARNING, "logistic: stopped after %d Newton steps before full convergence",
               MAX_NEWTON_STEPS);
    return STONET_OK;
}

stonet_status sn_softmax_newton(const sn_softmax_problem *problem, const stonet_run *run, double *w)
{
    const int64_t size = problem->m * problem->d;
    SN_WORKSPACE(scratch);
    solver s = {.problem = problem};
    s.threads = problem->n * problem->d * problem->m >= MIN_SHARED ? sn_threads(run) : 1;
    vectors v = {0};
    s.block_rows = (problem->n + MAX_BLOCKS - 1) / MAX_BLOCKS;
    if (s.block_rows < MIN_BLOCK_ROWS) s.block_rows = MIN_BLOCK_ROWS;
    s.blocks = (problem->n + s.block_rows - 1) / s.block_rows;
    SN_TRY(SN_TAKE_EACH(&scratch, problem->n * problem->m, &s.rows, &s.probability));
    SN_TRY(SN_TAKE(&scratch, s.partial, s.blocks * size));
    SN_TRY(SN_TAKE(&scratch, s.block_loss, s.blocks));
    if (problem->d <= MAX_FACTORED) SN_TRY(SN_TAKE(&scratch, s.factor, size * problem->d));
    SN_TRY(SN_TAKE_EACH(&scratch, size, &s.diagonal, &v.gradient, &v.step, &v.residual, &v.preconditioned,
                        &v.direction, &v.product, &v.trial));
    return minimise(&s, &v, run, w);
}

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
