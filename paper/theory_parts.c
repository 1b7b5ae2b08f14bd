#include "paper/theory_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "paper/fits.h"
#include "paper/weights.h"

static stonet_status fit(lab *self, int64_t dim, const char *settings, const stonet_data *data,
                         uint64_t stream, stonet_model **out)
{
    stonet_spec *spec = NULL;
    stonet_run run = lab_stonet_run(self, stream);
    stonet_status status = fits_spec("stonet", dim, settings, &spec);
    if (status == STONET_OK) status = stonet_fit(spec, data, &run, out);
    stonet_spec_free(spec);
    return status;
}

/* ---- Theorem 2.1 ------------------------------------------------------------------------------- */

enum { GAP_ROWS = 500, GAP_DIM = 4, GAP_LAYERS = 3, GAP_DRAWS = 400 };

/* With residuals r (without noise) and e (with it): the mean of e^2/2 - r^2/2, and of its absolute value. */
static stonet_status put_gap(const stonet_model *noisy, const stonet_data *data, uint64_t seed,
                             json_t *values)
{
    int64_t m = 0;
    const double *y = stonet_data_targets(data, &m);
    double mean = 0, sd = 1, gap = 0, absolute = 0;
    layer top;
    float *psi = malloc((size_t)GAP_DRAWS * GAP_ROWS * GAP_DIM * sizeof *psi);
    double *plain = malloc(GAP_ROWS * sizeof *plain);
    stonet_status status = psi != NULL && plain != NULL ? STONET_OK : out_of_memory();
    stonet_use_options how = {.size = sizeof how, .draws = GAP_DRAWS, .activated = 1, .seed = seed};
    if (status == STONET_OK) status = stonet_transform(noisy, data, &how, psi);
    if (status == STONET_OK) status = stonet_predict(noisy, data, NULL, plain);
    if (status == STONET_OK) status = weights_response_scale(noisy, &mean, &sd);
    if (status == STONET_OK) status = weights_layer(noisy, GAP_LAYERS, &top);
    if (status == STONET_OK) {
        for (int64_t k = 0; k < (int64_t)GAP_DRAWS * GAP_ROWS; k++) {
            int64_t i = k % GAP_ROWS;
            double out = top.b[0];
            for (int64_t j = 0; j < GAP_DIM; j++) out += top.w[j] * (double)psi[k * GAP_DIM + j];
            double with = (y[i] - mean) / sd - out, without = (y[i] - plain[i]) / sd;
            gap += 0.5 * (with * with - without * without);
            absolute += 0.5 * fabs(with * with - without * without);
        }
        status = put_value(values, "gap", fabs(gap) / ((double)GAP_DRAWS * GAP_ROWS));
        if (status == STONET_OK)
            status = put_value(values, "gap_row", absolute / ((double)GAP_DRAWS * GAP_ROWS));
        layer_free(&top);
    }
    free(plain);
    free(psi);
    return status;
}

stonet_status theory_loss_gap(lab *self, double sigma, json_t *values)
{
    stonet_data *data = NULL;
    stonet_model *trained = NULL, *noisy = NULL;
    const double s[GAP_LAYERS] = {sigma * sigma, sigma * sigma, sigma * sigma};
    stonet_run run = lab_stonet_run(self, 5);
    stonet_status status = stonet_generate("friedman", GAP_ROWS, run.seed, &data);
    if (status == STONET_OK)
        status = fit(self, GAP_DIM, "hidden=16 activation=tanh epochs=100 weight_decay=0 lr=0.05", data, 2,
                     &trained);
    if (status == STONET_OK) status = weights_with_variances(trained, s, GAP_LAYERS, &noisy);
    if (status == STONET_OK) status = put_gap(noisy, data, run.seed, values);
    stonet_model_free(noisy);
    stonet_model_free(trained);
    stonet_data_free(data);
    return status;
}

/* ---- linear toys ------------------------------------------------------------------------------- */

enum { TOY_P = 3 };
static const uint64_t toy_stream = (uint64_t)5 << 32 | 77;

typedef struct toy {
    stonet_data *data;
    float *x;
    double *y;
} toy;

static void toy_free(toy *self)
{
    stonet_data_free(self->data);
    free(self->x);
    free(self->y);
}

/* y = x1 - x2/2 + x3/4 + e/2 with normal x and e. */
static stonet_status toy_make(uint64_t seed, int64_t n, toy *out)
{
    static const double slope[TOY_P] = {1, -0.5, 0.25};
    *out = (toy){.x = malloc((size_t)(n * TOY_P) * sizeof(float)), .y = calloc((size_t)n, sizeof(double))};
    if (out->x == NULL || out->y == NULL) return out_of_memory();
    double *noise = malloc((size_t)(n * (TOY_P + 1)) * sizeof *noise); /* for each row e, x1, x2, x3 */
    if (noise == NULL) return out_of_memory();
    stonet_status status = stonet_normals(seed, toy_stream, n * (TOY_P + 1), noise);
    for (int64_t i = 0; i < n && status == STONET_OK; i++) {
        const double *row = noise + i * (TOY_P + 1);
        out->y[i] = 0.5 * row[0];
        for (int64_t j = 0; j < TOY_P; j++) {
            out->x[i * TOY_P + j] = (float)row[j + 1];
            out->y[i] += slope[j] * (double)out->x[i * TOY_P + j];
        }
    }
    free(noise);
    if (status == STONET_OK) status = stonet_data_wrap(out->x, n, TOY_P, &out->data);
    return status == STONET_OK ? stonet_data_set_targets(out->data, out->y, 1) : status;
}

/* ---- Theorem 3.1 ------------------------------------------------------------------------------- */

enum { THETA_ROWS = 500, THETA_BATCH = 50, MOST_STARTS = 40 };
static const double step_c = 10, step_a = 0.6, smallest_output = 0.5;

double theory_theta_step(int64_t k)
{
    return (step_c + 1) / (step_c + pow((double)k, step_a));
}

/* Solves the normal equations in place, by elimination: the matrix is positive definite, so no pivot is
 * sought.
 */
static stonet_status solve(double a[(TOY_P + 1) * (TOY_P + 1)], double b[TOY_P + 1])
{
    enum { M = TOY_P + 1 };
    for (int k = 0; k < M; k++) {
        if (!(a[k * M + k] > 0))
            return stonet_fail(STONET_ERROR_NUMERIC, "the normal equations are singular");
        for (int i = k + 1; i < M; i++) {
            double factor = a[i * M + k] / a[k * M + k];
            for (int j = k; j < M; j++) a[i * M + j] -= factor * a[k * M + j];
            b[i] -= factor * b[k];
        }
    }
    for (int i = M - 1; i >= 0; i--) {
        for (int j = i + 1; j < M; j++) b[i] -= a[i * M + j] * b[j];
        b[i] /= a[i * M + i];
    }
    return STONET_OK;
}

/* Least squares of (y - mean) / sd on (1, x). */
static stonet_status least_squares(const toy *problem, int64_t n, double mean, double sd,
                                   double coefficient[TOY_P + 1])
{
    double gram[(TOY_P + 1) * (TOY_P + 1)] = {0};
    for (int a = 0; a <= TOY_P; a++) coefficient[a] = 0;
    for (int64_t i = 0; i < n; i++) {
        double row[TOY_P + 1] = {1};
        for (int j = 0; j < TOY_P; j++) row[j + 1] = (double)problem->x[i * TOY_P + j];
        for (int a = 0; a <= TOY_P; a++) {
            coefficient[a] += row[a] * (problem->y[i] - mean) / sd;
            for (int b = 0; b <= TOY_P; b++) gram[a * (TOY_P + 1) + b] += row[a] * row[b];
        }
    }
    return solve(gram, coefficient);
}

/* A fit of so many iterations. The frozen output weight comes with the starting weights; starts where it is
   next to nothing, and with it the information about the first layer, are passed over. */
static stonet_status fit_frozen(lab *self, const toy *problem, int64_t iterations, layer *first, layer *top,
                                double *mean, double *sd)
{
    char settings[320];
    snprintf(settings, sizeof settings,
             "hidden=none activation=identity scale=none sigma2=0.1,0.1 epsilon=0.05 alpha=0.1 start=forward "
             "sweeps=25 "
             "gamma=%g,0 momentum=0 weight_decay=0 schedule=power schedule_c=%g schedule_a=%g "
             "sdr_iterations=0 batch=%d "
             "epochs=%.9g",
             0.1 / THETA_ROWS, step_c, step_a, THETA_BATCH, (double)iterations * THETA_BATCH / THETA_ROWS);
    stonet_status status = STONET_OK;
    for (uint64_t start = 0; start < MOST_STARTS && status == STONET_OK; start++) {
        stonet_model *model = NULL;
        status = fit(self, 1, settings, problem->data, 10 + start, &model);
        if (status == STONET_OK) status = weights_layer(model, 2, top);
        if (status == STONET_OK && fabs(top->w[0]) < smallest_output) {
            layer_free(top);
            stonet_model_free(model);
            continue;
        }
        if (status == STONET_OK) status = weights_response_scale(model, mean, sd);
        if (status == STONET_OK) status = weights_layer(model, 1, first);
        stonet_model_free(model);
        return status;
    }
    return status == STONET_OK ? stonet_fail(STONET_ERROR_NUMERIC, "no start with a usable output weight")
                               : status;
}

stonet_status theory_theta(lab *self, int64_t iterations, json_t *values)
{
    toy problem;
    layer first = {0}, top = {0};
    double mean = 0, sd = 1, best[TOY_P + 1];
    stonet_run run = lab_stonet_run(self, 5);
    stonet_status status = toy_make(run.seed, THETA_ROWS, &problem);
    if (status == STONET_OK) status = fit_frozen(self, &problem, iterations, &first, &top, &mean, &sd);
    if (status == STONET_OK) status = least_squares(&problem, THETA_ROWS, mean, sd, best);
    if (status == STONET_OK) {
        double w = top.w[0], error = top.b[0] + w * first.b[0] - best[0], sum = error * error;
        for (int j = 0; j < TOY_P; j++) {
            error = w * first.w[j] - best[j + 1];
            sum += error * error;
        }
        status = put_value(values, "error2", sum);
        if (status == STONET_OK) status = put_value(values, "output_weight", w);
    }
    layer_free(&first);
    layer_free(&top);
    toy_free(&problem);
    return status;
}

/* ---- Theorem 3.2 ------------------------------------------------------------------------------- */

enum { POSTERIOR_ROWS = 100 };
static const double variance = 0.25;

/* A Gaussian in the plane: covariance (a, b; b, c). */
typedef struct plane_normal {
    double mean[2], a, b, c;
} plane_normal;

/* W2^2 = |m - m'|^2 + tr S + tr S' - 2 tr (S^1/2 S' S^1/2)^1/2; in the plane the last trace is
   sqrt(tr SS' + 2 sqrt(det S det S')). */
static double wasserstein(const plane_normal *p, const plane_normal *q)
{
    double x = p->mean[0] - q->mean[0], y = p->mean[1] - q->mean[1];
    double both = p->a * q->a + 2 * p->b * q->b + p->c * q->c;
    double determinants = (p->a * p->c - p->b * p->b) * (q->a * q->c - q->b * q->b);
    double cross = sqrt(fmax(both + 2 * sqrt(fmax(determinants, 0)), 0));
    return sqrt(fmax(x * x + y * y + p->a + p->c + q->a + q->c - 2 * cross, 0));
}

/* Precision I/s + w'w/s; mean = covariance (mu/s + w' (y - b)/s) with mu the first layer at x. */
static plane_normal exact_posterior(const layer *first, const layer *top, const float *x, double y)
{
    double u = top->w[0], v = top->w[1], residual = y - top->b[0];
    double pa = (1 + u * u) / variance, pb = u * v / variance, pc = (1 + v * v) / variance,
           det = pa * pc - pb * pb;
    plane_normal out = {.a = pc / det, .b = -pb / det, .c = pa / det};
    double mu[2];
    for (int i = 0; i < 2; i++) {
        mu[i] = first->b[i];
        for (int j = 0; j < TOY_P; j++) mu[i] += first->w[i * TOY_P + j] * (double)x[j];
    }
    double left = (mu[0] + u * residual) / variance, right = (mu[1] + v * residual) / variance;
    out.mean[0] = out.a * left + out.b * right;
    out.mean[1] = out.b * left + out.c * right;
    return out;
}

static plane_normal sample_law(const float *z, int64_t n)
{
    plane_normal out = {0};
    for (int64_t i = 0; i < 2 * n; i++) out.mean[i % 2] += (double)z[i] / (double)n;
    for (int64_t i = 0; i < n; i++) {
        double x = (double)z[2 * i] - out.mean[0], y = (double)z[2 * i + 1] - out.mean[1];
        out.a += x * x / (double)n;
        out.b += x * y / (double)n;
        out.c += y * y / (double)n;
    }
    return out;
}

/* Imputes the first row of the problem `draws` times: each copy has its own noise. */
static stonet_status impute_copies(const stonet_model *model, const toy *problem, uint64_t seed,
                                   int64_t draws, plane_normal *out)
{
    int64_t *rows = calloc((size_t)draws, sizeof *rows);
    float *z = malloc((size_t)(2 * draws) * sizeof *z);
    stonet_data *copies = NULL;
    /* activated: the network's own units, whose activation is the identity */
    stonet_use_options how = {.size = sizeof how, .impute = 1, .activated = 1, .seed = seed};
    stonet_status status = rows != NULL && z != NULL ? STONET_OK : out_of_memory();
    if (status == STONET_OK) status = stonet_data_subset(problem->data, rows, draws, &copies);
    if (status == STONET_OK) status = stonet_transform(model, copies, &how, z);
    if (status == STONET_OK) *out = sample_law(z, draws);
    stonet_data_free(copies);
    free(z);
    free(rows);
    return status;
}

stonet_status theory_posterior(lab *self, double tau, double time, int64_t draws, json_t *values)
{
    toy problem = {0};
    layer first = {0}, top = {0};
    stonet_model *model = NULL;
    double mean = 0, sd = 1, sigma = sqrt(variance), epsilon = tau * sigma;
    char settings[320];
    /* eta is the same for every step: the friction of a sweep is 0.1 where the step is 0.1 sigma. */
    snprintf(
        settings, sizeof settings,
        "hidden=none activation=identity scale=none sigma2=%g,%g epsilon=%g eta=%g start=forward sweeps=%.0f "
        "gamma=0 momentum=0 weight_decay=0 sdr_iterations=0 epochs=0.01",
        variance, variance, epsilon, 1 / sigma, ceil(time / tau));
    stonet_run run = lab_stonet_run(self, 5);
    plane_normal drawn = {0};
    stonet_status status = toy_make(run.seed, POSTERIOR_ROWS, &problem);
    if (status == STONET_OK) status = fit(self, 2, settings, problem.data, 6, &model);
    if (status == STONET_OK) status = weights_response_scale(model, &mean, &sd);
    if (status == STONET_OK) status = weights_layer(model, 1, &first);
    if (status == STONET_OK) status = weights_layer(model, 2, &top);
    if (status == STONET_OK) status = impute_copies(model, &problem, run.seed, draws, &drawn);
    if (status == STONET_OK) {
        plane_normal exact = exact_posterior(&first, &top, problem.x, (problem.y[0] - mean) / sd);
        status = put_value(values, "w2", wasserstein(&drawn, &exact) / sigma);
    }
    layer_free(&first);
    layer_free(&top);
    stonet_model_free(model);
    toy_free(&problem);
    return status;
}
