#include "methods/lsmie_ascent.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/memory.h"
#include "math/kernel.h"
#include "math/linalg.h"
#include "math/serial_blas.h"
#include "methods/linear_map.h"

enum { MOST_TRIALS = 12, BLOCK_ROWS = 64 };
static const double armijo = 1e-4, first_angle = 0.5, largest_angle = 1.5;

/* Rows from .. from + count - 1 of X, in the order of the sums, as doubles. */
static void widen_rows(const sn_lsmie_ascent *a, int64_t from, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++)
        sn_widen(a->p, a->problem->x + a->lsmi.row[from + i] * a->p, out + i * a->p);
}

/* out (n x d) = X b. */
static void project(const sn_lsmie_ascent *a, const double *b, double *out)
{
    int64_t n = a->problem->n;
#pragma omp parallel num_threads(a->lsmi.threads)
    {
        sn_serial_blas();
        double *rows = a->rows + (int64_t)omp_get_thread_num() * BLOCK_ROWS * a->p;
#pragma omp for
        for (int64_t from = 0; from < n; from += BLOCK_ROWS) {
            int64_t count = n - from < BLOCK_ROWS ? n - from : BLOCK_ROWS;
            widen_rows(a, from, count, rows);
            sn_multiply(sn_as(rows, count, a->p), sn_as(b, a->p, a->d), out + from * a->d);
        }
    }
}

/* gradient (p x d) = X'dz, summed over fixed parts of the rows. */
static void pull_back(sn_lsmie_ascent *a)
{
    int64_t n = a->problem->n, size = a->p * a->d;
#pragma omp parallel num_threads(a->lsmi.threads)
    {
        sn_serial_blas();
        double *rows = a->rows + (int64_t)omp_get_thread_num() * BLOCK_ROWS * a->p;
#pragma omp for schedule(dynamic)
        for (int64_t slab = 0; slab < SN_LSMI_SLABS; slab++) {
            double *part = a->parts + slab * size;
            int64_t end = n * (slab + 1) / SN_LSMI_SLABS;
            memset(part, 0, (size_t)size * sizeof *part);
            for (int64_t from = n * slab / SN_LSMI_SLABS; from < end; from += BLOCK_ROWS) {
                int64_t count = end - from < BLOCK_ROWS ? end - from : BLOCK_ROWS;
                widen_rows(a, from, count, rows);
                sn_gemm(1.0, sn_turned(rows, count, a->p), sn_as(a->dz + from * a->d, count, a->d), 1.0,
                        part);
            }
        }
    }
    memcpy(a->gradient, a->parts, (size_t)size * sizeof(double));
    for (int64_t slab = 1; slab < SN_LSMI_SLABS; slab++)
        for (int64_t i = 0; i < size; i++) a->gradient[i] += a->parts[slab * size + i];
}

/* matrix (rows x d) <- matrix V. */
static void rotate(sn_lsmie_ascent *a, int64_t rows, double *matrix)
{
    memcpy(a->copy, matrix, (size_t)(rows * a->d) * sizeof(double));
    sn_multiply(sn_as(a->copy, rows, a->d), sn_turned(a->vt, a->d, a->d), matrix);
}

/* U D V' of the next direction and X U; B, Z and what is carried are turned by V. The direction is gradient +
   beta direction, or the gradient alone where that hardly leads up; slope: of S along it. */
static stonet_status next_direction(sn_lsmie_ascent *a, double *slope)
{
    const int64_t p = a->p, d = a->d, size = p * d;
    const double *g = a->gradient;
    sn_lsmi_gradient(&a->lsmi, a->dz);
    pull_back(a);
    sn_make_tangent(p, d, a->b, a->copy, a->gradient);
    const double square = sn_dot(size, g, g);
    double beta = 0.0;
    *slope = square;
    if (!a->fresh) {
        beta = fmax(0.0, (square - sn_dot(size, g, a->last)) / sn_dot(size, a->last, a->last));
        *slope = square + beta * sn_dot(size, g, a->direction);
        if (!(*slope > 0.1 * square)) {
            beta = 0.0;
            *slope = square;
        }
    }
    for (int64_t i = 0; i < size; i++) a->direction[i] = g[i] + (beta > 0.0 ? beta * a->direction[i] : 0.0);
    memcpy(a->last, g, (size_t)size * sizeof(double));
    memcpy(a->gradient, a->direction, (size_t)size * sizeof(double));
    SN_TRY(sn_svd(p, d, a->gradient, a->u, a->sigma, a->vt));
    rotate(a, p, a->b);
    rotate(a, p, a->last);
    rotate(a, a->problem->n, a->z);
    project(a, a->u, a->zu);
    return STONET_OK;
}

/* out (rows x d) = from cos(D t) + to sin(D t). */
static void turn(const sn_lsmie_ascent *a, int64_t rows, const double *from, const double *to, double *out)
{
    int64_t d = a->d;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < d; j++)
            out[i * d + j] = from[i * d + j] * a->cosine[j] + to[i * d + j] * a->sine[j];
}

/* S at Z(t). */
static stonet_status try_step(sn_lsmie_ascent *a, double t, double *value)
{
    for (int64_t j = 0; j < a->d; j++) {
        a->cosine[j] = cos(a->sigma[j] * t);
        a->sine[j] = sin(a->sigma[j] * t);
    }
    turn(a, a->problem->n, a->z, a->zu, a->trial);
    return sn_lsmi_value(&a->lsmi, a->trial, value);
}

/* Moves to the point last tried. A tangent G is carried along the geodesic to G - (B sin(D t) + U (1 - cos(D
   t))) U'G. */
static void move(sn_lsmie_ascent *a)
{
    int64_t p = a->p, d = a->d;
    double *inner = a->copy, *shift = inner + d * d;
    memcpy(a->z, a->trial, (size_t)(a->problem->n * d) * sizeof(double));
    sn_multiply(sn_turned(a->u, p, d), sn_as(a->last, p, d), inner);
    for (int64_t i = 0; i < p; i++)
        for (int64_t j = 0; j < d; j++) {
            double b = a->b[i * d + j], u = a->u[i * d + j];
            shift[i * d + j] = -b * a->sine[j] - u * (1.0 - a->cosine[j]);
            a->direction[i * d + j] = a->sigma[j] * (u * a->cosine[j] - b * a->sine[j]);
        }
    sn_gemm(1.0, sn_as(shift, p, d), sn_as(inner, d, d), 1.0, a->last);
    turn(a, p, a->b, a->u, a->b);
    a->fresh = false;
}

/* Where the parabola with this slope at 0 that gains `gain` at t is highest, within reach of t. */
static double parabola_top(double slope, double t, double gain)
{
    double bend = slope * t - gain, furthest = 4.0 * t;
    return bend > 0.0 ? fmin(fmax(0.5 * slope * t * t / bend, 0.1 * t), furthest) : furthest;
}

/* One step: the last length, then the top of the parabola through it where that is elsewhere; shorter until S
   grows. *gain is 0 at a maximum. */
static stonet_status take_step(sn_lsmie_ascent *a, double *gain)
{
    double slope, value, other;
    *gain = 0.0;
    SN_TRY(next_direction(a, &slope));
    if (!(a->sigma[0] > 0.0)) return STONET_OK;
    double longest = largest_angle / a->sigma[0], t = fmin(a->step, first_angle / a->sigma[0]);
    for (int trial = 0; trial < MOST_TRIALS; trial++, t *= 0.25) {
        SN_TRY(try_step(a, t, &value));
        double top = fmin(parabola_top(slope, t, value - a->value), longest);
        if (fabs(top - t) > 0.3 * t) {
            SN_TRY(try_step(a, top, &other));
            if (other >= value || !(value >= a->value + armijo * t * slope)) {
                t = top;
                value = other;
            } else {
                SN_TRY(try_step(a, t, &value));
            }
        }
        if (!(value >= a->value + armijo * t * slope)) continue;
        move(a);
        *gain = value - a->value;
        a->value = value;
        a->step = t;
        return STONET_OK;
    }
    a->fresh = true;
    return STONET_OK;
}

/* What was carried belongs to other settings when they change. */
static stonet_status tune(sn_lsmie_ascent *a)
{
    double s = a->lsmi.s, lambda = a->lsmi.lambda;
    SN_TRY(sn_lsmi_tune(&a->lsmi, a->z, &a->grid));
    if (s != a->lsmi.s || lambda != a->lsmi.lambda) a->fresh = true;
    return sn_lsmi_value(&a->lsmi, a->z, &a->value);
}

stonet_status sn_lsmie_climb(sn_lsmie_ascent *a, sn_lsmie_report *report)
{
    double gained = INFINITY, gain;
    int64_t step = 0;
    a->fresh = true;
    a->step = INFINITY;
    SN_TRY(sn_orthonormalise(a->p, a->d, a->b));
    project(a, a->b, a->z);
    SN_TRY(sn_lsmi_set_unit(&a->lsmi, a->z, a->seed));
    for (; step < a->iterations && !report->stopped; step++) {
        if (step % a->tune_every == 0) {
            if (gained < a->tolerance * (fabs(a->value) + 0.5)) break;
            SN_TRY(tune(a));
            gained = 0.0;
        }
        SN_TRY(take_step(a, &gain));
        gained += gain;
        sn_progress_of(report->run, "lsmie", ++report->done, report->total, -a->value, report->started);
        report->stopped = sn_should_stop(report->run);
    }
    report->done += a->iterations - step;
    if (!report->stopped) SN_TRY(tune(a));
    SN_TRY(sn_lsmi_loss(&a->lsmi, a->z, &a->loss));
    return sn_orthonormalise(a->p, a->d, a->b); /* against rounding */
}

stonet_status sn_lsmie_ascent_create(int64_t centres, sn_workspace *keep, sn_lsmie_ascent *a)
{
    int64_t n = a->problem->n, p = a->problem->p, d = a->d, size = p * d, tall = n > p + d ? n : p + d;
    int64_t besides = (5 + SN_LSMI_SLABS) * size + 4 * n * d + tall * d + d * d +
                      (int64_t)omp_get_max_threads() * BLOCK_ROWS * p;
    a->p = p;
    SN_TRY(sn_lsmi_create(a->problem, centres, d, a->seed, (double)besides, keep, &a->lsmi));
    SN_TRY(SN_TAKE_EACH(keep, size, &a->b, &a->u, &a->gradient));
    SN_TRY(SN_TAKE_ZERO(keep, a->direction, size));
    SN_TRY(SN_TAKE_ZERO(keep, a->last, size));
    SN_TRY(SN_TAKE_EACH(keep, d, &a->sigma, &a->cosine, &a->sine));
    SN_TRY(SN_TAKE(keep, a->vt, d * d));
    SN_TRY(SN_TAKE_EACH(keep, n * d, &a->z, &a->zu, &a->trial, &a->dz));
    SN_TRY(SN_TAKE(keep, a->rows, (int64_t)a->lsmi.threads * BLOCK_ROWS * p));
    SN_TRY(SN_TAKE(keep, a->parts, SN_LSMI_SLABS * size));
    return SN_TAKE(keep, a->copy, tall * d);
}
