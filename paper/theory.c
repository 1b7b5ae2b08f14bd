/*
 * The theorems, measured: how fast each distance falls, with the slope that is predicted.
 *
 * Theorem 2.1: a trained 10-16-4-1 tanh network; noise of standard deviation sigma in every hidden unit.
 * Theorem 3.1: a linear StoNet 3-1-1 with its output layer frozen, whose estimate is least squares.
 * Theorem 3.2: a linear StoNet 3-2-1 with given weights, whose latents have a Gaussian posterior.
 */
#include "paper/paper.h"

FREED_BY(stonet_tensors, stonet_tensors_free)

/* `count` numbers of a fitted model, by their name in its file. */
static stonet_status get_tensor(const stonet_model *model, const char *name, int64_t count, double *values)
{
    AUTO(stonet_tensors) *tensors = NULL;
    TRY(stonet_model_tensors(model, &tensors));
    return stonet_tensors_get(tensors, name, values, count);
}

/* Mean and standard deviation that the response was scaled by. */
static stonet_status get_scale(const stonet_model *model, double *mean, double *sd)
{
    TRY(get_tensor(model, "schema.target_mean", 1, mean));
    return get_tensor(model, "schema.target_sd", 1, sd);
}

/* ---- theorem 2.1 ------------------------------------------------------------------------------- */

enum { GAP_ROWS = 500, GAP_DIM = 4, GAP_LAYERS = 3, GAP_DRAWS = 400 };

/* With residuals r (without noise) and e (with it): the mean of e^2/2 - r^2/2, and of its absolute value. */
static stonet_status loss_gap(job *self, double sigma, json_t *values)
{
    static const char settings[] = "hidden=16 activation=tanh epochs=100 weight_decay=0 lr=0.05";
    AUTO(stonet_data) *data = NULL;
    AUTO(stonet_model) *trained = NULL, *noisy = NULL;
    AUTO(stonet_tensors) *tensors = NULL;
    const double s[GAP_LAYERS] = {sigma * sigma, sigma * sigma, sigma * sigma};
    const uint64_t seed = job_run(self, 5).seed;
    TRY(stonet_generate("friedman", GAP_ROWS, seed, &data));
    TRY(fits_model(self, "stonet", GAP_DIM, settings, data, 2, &trained));
    TRY(stonet_model_tensors(trained, &tensors));
    TRY(stonet_tensors_set(tensors, "method.variances", s, GAP_LAYERS));
    TRY(stonet_tensors_model(tensors, &noisy));
    const stonet_use_options how = {.size = sizeof how, .draws = GAP_DRAWS, .activated = 1, .seed = seed};
    const int64_t count = (int64_t)GAP_DRAWS * GAP_ROWS;
    double mean = 0, sd = 1, gap = 0, absolute = 0, plain[GAP_ROWS], w[GAP_DIM], b = 0;
    BLOCK float *psi = room_for(count * GAP_DIM, sizeof *psi);
    TRY(stonet_transform(noisy, data, &how, psi));
    TRY(stonet_predict(noisy, data, NULL, plain));
    TRY(get_scale(noisy, &mean, &sd));
    TRY(get_tensor(noisy, "method.w3", GAP_DIM, w));
    TRY(get_tensor(noisy, "method.b3", 1, &b));
    int64_t m = 0;
    const double *y = stonet_data_targets(data, &m);
    for (int64_t k = 0; k < count; k++) {
        int64_t i = k % GAP_ROWS;
        double out = b;
        for (int64_t j = 0; j < GAP_DIM; j++) out += w[j] * (double)psi[k * GAP_DIM + j];
        double with = (y[i] - mean) / sd - out, without = (y[i] - plain[i]) / sd;
        gap += 0.5 * (with * with - without * without);
        absolute += 0.5 * fabs(with * with - without * without);
    }
    put_value(values, "gap", fabs(gap) / (double)count);
    put_value(values, "gap_row", absolute / (double)count);
    return STONET_OK;
}

/* ---- theorem 3.1 ------------------------------------------------------------------------------- */

enum { P = 3, THETA_ROWS = 500, THETA_BATCH = 50, MOST_STARTS = 40, POSTERIOR_ROWS = 100 };
static const double step_c = 10, step_a = 0.6, smallest_output = 0.5, variance = 0.25;
static const uint64_t toy_stream = (uint64_t)5 << 32 | 77;

/* y = x1 - x2/2 + x3/4 + e/2 with normal x and e; x in *x, behind the data. */
static stonet_status toy_make(uint64_t seed, int64_t n, float **x, stonet_data **out)
{
    static const double slope[P] = {1, -0.5, 0.25};
    BLOCK double *noise = room_for(n * (P + 1), sizeof *noise); /* for each row e, x1, x2, x3 */
    BLOCK double *y = room_for(n, sizeof *y);
    *x = room_for(n * P, sizeof **x);
    TRY(stonet_normals(seed, toy_stream, n * (P + 1), noise));
    for (int64_t i = 0; i < n; i++) {
        y[i] = 0.5 * noise[i * (P + 1)];
        for (int64_t j = 0; j < P; j++) {
            (*x)[i * P + j] = (float)noise[i * (P + 1) + j + 1];
            y[i] += slope[j] * (double)(*x)[i * P + j];
        }
    }
    TRY(stonet_data_wrap(*x, n, P, out));
    return stonet_data_set_targets(*out, y, 1);
}

/* A fit of so many iterations. The frozen output weight comes with the starting weights; starts where it is
   next to nothing, and with it the information about the first layer, are passed over. */
static stonet_status fit_frozen(job *self, const stonet_data *data, double iterations, stonet_model **out)
{
    BLOCK char *settings = text_of(
        "hidden=none activation=identity scale=none sigma2=0.1,0.1 epsilon=0.05 alpha=0.1 start=forward "
        "sweeps=25 gamma=%g,0 momentum=0 weight_decay=0 schedule=power schedule_c=%g schedule_a=%g "
        "sdr_iterations=0 batch=%d epochs=%.9g",
        0.1 / THETA_ROWS, step_c, step_a, THETA_BATCH, iterations * THETA_BATCH / THETA_ROWS);
    for (uint64_t start = 0; start < MOST_STARTS; start++) {
        double w = 0;
        TRY(fits_model(self, "stonet", 1, settings, data, 10 + start, out));
        TRY(get_tensor(*out, "method.w2", 1, &w));
        if (fabs(w) >= smallest_output) return STONET_OK;
        stonet_model_free(*out);
        *out = NULL;
    }
    return stonet_fail(STONET_ERROR_NUMERIC, "no start with a usable output weight");
}

/* Squared distance of the fitted line's coefficients from least squares, after k iterations. Both lines are
   known by their values at 0 and at the unit vectors. */
static stonet_status theta(job *self, double iterations, json_t *values)
{
    static const float corners[(P + 1) * P] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    BLOCK float *x = NULL;
    AUTO(stonet_data) *data = NULL, *at = NULL;
    AUTO(stonet_model) *fitted = NULL, *best = NULL;
    double mean = 0, sd = 1, a[P + 1], b[P + 1], sum = 0;
    TRY(toy_make(job_run(self, 5).seed, THETA_ROWS, &x, &data));
    TRY(fit_frozen(self, data, iterations, &fitted));
    TRY(fits_model(self, "none", P, "scale=none learner=linear", data, 1, &best));
    TRY(stonet_data_wrap(corners, P + 1, P, &at));
    TRY(stonet_predict(fitted, at, NULL, a));
    TRY(stonet_predict(best, at, NULL, b));
    TRY(get_scale(fitted, &mean, &sd));
    for (int j = 0; j <= P; j++) {
        double error = (a[j] - b[j] - (j > 0 ? a[0] - b[0] : 0)) / sd;
        sum += error * error;
    }
    put_value(values, "error2", sum);
    return STONET_OK;
}

/* ---- theorem 3.2 ------------------------------------------------------------------------------- */

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
static stonet_status exact_posterior(const stonet_model *model, const float *x, double y, plane_normal *out)
{
    double w1[2 * P], mu[2], w[2], b = 0;
    TRY(get_tensor(model, "method.w1", (int64_t)2 * P, w1));
    TRY(get_tensor(model, "method.b1", 2, mu));
    TRY(get_tensor(model, "method.w2", 2, w));
    TRY(get_tensor(model, "method.b2", 1, &b));
    double pa = (1 + w[0] * w[0]) / variance, pb = w[0] * w[1] / variance, pc = (1 + w[1] * w[1]) / variance;
    double det = pa * pc - pb * pb;
    for (int k = 0; k < 2 * P; k++) mu[k / P] += w1[k] * (double)x[k % P];
    double left = (mu[0] + w[0] * (y - b)) / variance, right = (mu[1] + w[1] * (y - b)) / variance;
    *out = (plane_normal){.a = pc / det, .b = -pb / det, .c = pa / det};
    out->mean[0] = out->a * left + out->b * right;
    out->mean[1] = out->b * left + out->c * right;
    return STONET_OK;
}

/* Imputes the first row `draws` times, each copy with its own noise: mean and covariance of the latents. */
static stonet_status impute_copies(const stonet_model *model, const stonet_data *data, uint64_t seed,
                                   int64_t draws, plane_normal *out)
{
    BLOCK int64_t *rows = room_for(draws, sizeof *rows);
    BLOCK float *z = room_for(2 * draws, sizeof *z);
    AUTO(stonet_data) *copies = NULL;
    /* activated: the network's own units, whose activation is the identity */
    stonet_use_options how = {.size = sizeof how, .impute = 1, .activated = 1, .seed = seed};
    TRY(stonet_data_subset(data, rows, draws, &copies));
    TRY(stonet_transform(model, copies, &how, z));
    for (int64_t i = 0; i < 2 * draws; i++) out->mean[i % 2] += (double)z[i] / (double)draws;
    for (int64_t i = 0; i < draws; i++) {
        double x = (double)z[2 * i] - out->mean[0], y = (double)z[2 * i + 1] - out->mean[1];
        out->a += x * x / (double)draws;
        out->b += x * y / (double)draws;
        out->c += y * y / (double)draws;
    }
    return STONET_OK;
}

/* The 2-Wasserstein distance between the posterior of a row's latents and the Gaussian of many independent
   imputations. tau: step in units of sigma; time: sweeps x step, in units of sigma. */
static stonet_status posterior(job *self, double tau, double time, json_t *values)
{
    BLOCK float *x = NULL;
    AUTO(stonet_data) *data = NULL;
    AUTO(stonet_model) *model = NULL;
    double mean = 0, sd = 1, sigma = sqrt(variance);
    /* eta is the same for every step: the friction of a sweep is 0.1 where the step is 0.1 sigma. */
    BLOCK char *settings =
        text_of("hidden=none activation=identity scale=none sigma2=%g,%g epsilon=%g eta=%g start=forward "
                "sweeps=%.0f gamma=0 momentum=0 weight_decay=0 sdr_iterations=0 epochs=0.01",
                variance, variance, tau * sigma, 1 / sigma, ceil(time / tau));
    const uint64_t seed = job_run(self, 5).seed;
    plane_normal drawn = {0}, exact = {0};
    int64_t m = 0;
    TRY(toy_make(seed, POSTERIOR_ROWS, &x, &data));
    TRY(fits_model(self, "stonet", 2, settings, data, 6, &model));
    TRY(get_scale(model, &mean, &sd));
    TRY(exact_posterior(model, x, (stonet_data_targets(data, &m)[0] - mean) / sd, &exact));
    TRY(impute_copies(model, data, seed, self->lab->options.quick ? 100000 : 1000000, &drawn));
    put_value(values, "w2", wasserstein(&drawn, &exact) / sigma);
    return STONET_OK;
}

/* ---- the curves -------------------------------------------------------------------------------- */

static const column theory_columns[] = {{"measured", "stonet", .settings = ""}};
enum { LOSS_GAP, THETA, POSTERIOR_STEP }; /* rows, by their place */
/* Points stand in the place of dimensions: sigma x 1000, iterations, epsilon / sigma x 100, and the time,
   sweeps x epsilon / sigma, x 10. The longest fits are left to the full form. */
static const row theory_rows[] = {
    {"loss-gap", "2 5 10 20 50 100", .number = 1000, .full = 10, .quick = 3},
    {"theta", "100000 30000 10000 3000 1000 300 100", "3000 1000 300 100", .number = 1},
    {"posterior-step", "5 10 20 40", .number = 100, .full = 5, .quick = 2},
    {"posterior-time", "2 5 10 20 40 80 160 400", .number = 10, .full = 5, .quick = 2},
};
static const measure theory_measures[] = {{"gap", "theorem 2.1: gap of the mean losses by sigma", false, 0},
                                          {"gap_row", "theorem 2.1: mean absolute gap of a row", false, 0},
                                          {"error2", "theorem 3.1: squared distance to theta*", false, 0},
                                          {"w2", "theorem 3.2: distance to the posterior", false, 0}};
static const struct {
    size_t row;
    const char *field, *title, *prediction;
} slopes[] = {
    {LOSS_GAP, "gap", "2.1: gap of the mean losses against sigma", "2: the gap is of second order"},
    {LOSS_GAP, "gap_row", "2.1: mean absolute gap of a row against sigma", "1: of first order"},
    {THETA, "error2", "3.1: E\\|theta_k - theta*\\|^2 against gamma_k", "1"},
    {POSTERIOR_STEP, "w2", "3.2: W2 to the posterior against epsilon, after a long run",
     "the bound says 1/2 or faster"},
};

static stonet_status compute(job *self, json_t *values)
{
    const row *on = self->what->at->on;
    const double point = (double)self->what->q / (double)on->number;
    if (on == &theory_rows[LOSS_GAP]) return loss_gap(self, point, values);
    if (on == &theory_rows[THETA]) return theta(self, point, values);
    if (on == &theory_rows[POSTERIOR_STEP]) return posterior(self, point, 60, values);
    return posterior(self, 0.1, point, values);
}

/* The slope in logarithms of the means over the trials but `left_out` (0: none); theta's abscissa is the step
   gamma_k. NaN with a point that has none. */
static double slope_of(const lab *self, const row *on, const char *field, int64_t left_out)
{
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t l = 0; l < self->n_lines; l++) {
        if (self->lines[l].on != on) continue;
        double sum = 0, count = 0, at = (double)self->lines[l].q / (double)on->number;
        for (const cell *one = self->cells; one < self->cells + self->n_cells; one++) {
            double value =
                one->at == &self->lines[l] && one->trial != left_out ? cell_value(one, field) : (double)NAN;
            if (!isfinite(value)) continue;
            sum += value;
            count++;
        }
        if (on == &theory_rows[THETA]) at = (step_c + 1) / (step_c + pow(at, step_a));
        double x = log10(at), y = log10(sum / count);
        n++;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return (sxy - sx * sy / n) / (sxx - sx * sx / n);
}

/* With jackknife errors over the trials. */
static void put_slopes(const lab *self, FILE *out)
{
    fputs("### slopes in logarithms, with jackknife errors\n\n| | measured | predicted |\n| --- | --- | --- "
          "|\n",
          out);
    for (size_t c = 0; c < COUNT(slopes); c++) {
        const row *on = &theory_rows[slopes[c].row];
        double slope = slope_of(self, on, slopes[c].field, 0), spread = 0, trials = 0;
        for (const cell *one = self->cells; one < self->cells + self->n_cells; one++) {
            if (one->at->on != on ||
                (one > self->cells && one[-1].at->on == on && one[-1].trial == one->trial))
                continue;
            double difference = slope_of(self, on, slopes[c].field, one->trial) - slope;
            spread += difference * difference;
            trials++;
        }
        if (isfinite(slope))
            fprintf(out, "| Theorem %s | %.3f (%.3f) | %s |\n", slopes[c].title, slope,
                    sqrt(spread * (trials - 1) / trials), slopes[c].prediction);
    }
    fputc('\n', out);
}

const experiment theory = {
    .name = "theory",
    .title = "The theorems, measured",
    .summary = "Theorems 2.1, 3.1 and 3.2: measured slopes beside the predicted ones",
    .details = "Curves (for --methods or --rows): loss-gap, theta, posterior-step, posterior-time. 5 to 50 "
               "repetitions "
               "of every point, by the curve. Needs no data folder.",
    .examples = "  stonet-paper theory --out results",
    .lines = "point",
    LISTS(theory),
    .full_trials = 50,
    .quick_trials = 10,
    .compute = compute,
    .conclude = put_slopes,
    .logs = true,
};
