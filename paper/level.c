/* How often the two looks at sufficiency, the test and the prediction, reject what is sufficient and what is
 * not. */
#include "paper/paper.h"

static const column level_columns[] = {
    {"gcm", "independence", .settings = ""},
    {"rcit", "independence", .settings = "", .flags = ASKED},
    {"rcot", "independence", .settings = "", .flags = ASKED},
    {"prediction", "prediction", .settings = "", .full = 50}, /* takes longer */
    {"max", "max", .settings = "", .flags = ASKED},
};

/* GENERATOR/Z: x itself; x_j + 3 x_{j-1}, all of x in other coordinates; the sufficient predictors; these
   with the last of x and x1 x2; the first or last of them; x1; x1 and x3, the sufficient predictors of
   `sparse`. Numbers of rows stand in the place of dimensions. */
#define SPARSE "80 150 300 1000"
static const row level_rows[] = {
    {"friedman:5/x friedman:10/x friedman:20/x ratio:5/x ratio:10/x ratio:20/x ring/x waveform/x "
     "friedman/linear-map friedman/truth location-scale:10/truth ring/truth friedman/truth-and-more",
     "2000 300", .quick_dims = "300"},
    {"waveform/truth", "10000 2000", .flags = FULL_ALONE},
    {"location-scale:10/T1 location-scale:10/T2 location-scale-linear/T1 location-scale-linear/T2 "
     "ratio/x1 ring/x1",
     "2000", .flags = FULL_ALONE},
    {"sparse:6/x1-x3 sparse:20/x1-x3 sparse:60/x1-x3 sparse:200/x1-x3", SPARSE, .flags = FULL_ALONE},
    {"sparse:6/x1 sparse:20/x1 sparse:60/x1 sparse:200/x1", SPARSE, .flags = FULL_ALONE},
};
static const measure level_measures[] = {{"rejected", "share of data sets with p < 0.05", true, 0},
                                         {"lost", "explained by x and z, less by z alone", true, 0}};

/* Number k of the z of a row with p columns and t sufficient predictors. */
static double one_z(const char *z, int64_t k, const double *x, int64_t p, const double *truth, int64_t t)
{
    if (strcmp(z, "linear-map") == 0) return x[k] + (k > 0 ? 3 * x[k - 1] : 0);
    if (strcmp(z, "x1-x3") == 0) return x[2 * k];
    if (strcmp(z, "T2") == 0) return truth[t - 1];
    if (z[0] == 'x') return x[k];
    if (k < t) return truth[k];
    return k == t ? x[p - 1] : x[0] * x[1];
}

static int64_t count_z(const char *z, int64_t p, int64_t t)
{
    if (strcmp(z, "x") == 0 || strcmp(z, "linear-map") == 0) return p;
    if (strncmp(z, "truth", strlen("truth")) == 0) return strcmp(z, "truth") == 0 ? t : t + 2;
    return strcmp(z, "x1-x3") == 0 ? 2 : 1;
}

/* A data set as three matrices, classes as columns of 0 and 1. */
static stonet_status make_sides(const stonet_data *data, const char *by, double **room, stonet_sides *out)
{
    int64_t truths = 0, classes = 0, m = 0;
    const float *x = stonet_data_x(data);
    const double *truth = stonet_data_truth(data, &truths), *y = stonet_data_targets(data, &m);
    const int32_t *label = stonet_data_classes(data, &classes);
    const int64_t n = stonet_data_rows(data), p = stonet_data_columns(data);
    const int64_t q = count_z(by, p, truths);
    if (label != NULL) m = classes;
    double *wide = *room = room_for(n * (p + m + q), sizeof *wide), *to_y = wide + n * p, *z = to_y + n * m;
    for (int64_t i = 0; i < n * p; i++) wide[i] = (double)x[i];
    if (label == NULL) memcpy(to_y, y, (size_t)(n * m) * sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        if (label != NULL) to_y[i * m + label[i]] = 1.0;
        for (int64_t k = 0; k < q; k++)
            z[i * q + k] = one_z(by, k, wide + i * p, p, truth + i * truths, truths);
    }
    *out = (stonet_sides){.n = n, .dx = p, .dy = m, .dz = q, .x = wide, .y = to_y, .z = z};
    return STONET_OK;
}

/* sparse:P, y = x1 + x3 / 2 + e: the x and the e of wide:P, y = x1 + x2 + x3 - x4 - x5 + e / 2. `name` goes
   up to the slash. */
static stonet_status generate(const char *name, int64_t n, uint64_t seed, stonet_data **data)
{
    const bool sparse = strncmp(name, "sparse", strlen("sparse")) == 0;
    const char *rest = name + (sparse ? strlen("sparse") : 0);
    BLOCK char *generator = text_of("%s%.*s", sparse ? "wide" : "", (int)strcspn(rest, "/"), rest);
    int64_t m;
    TRY(stonet_generate(generator, n, seed, data));
    if (!sparse) return STONET_OK;
    const int64_t p = stonet_data_columns(*data);
    const double *old = stonet_data_targets(*data, &m);
    BLOCK double *y = room_for(n, sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        const float *x = stonet_data_x(*data) + i * p;
        const double e = 2.0 * (old[i] - (double)(x[0] + x[1] + x[2] - x[3] - x[4]));
        y[i] = (double)x[0] + 0.5 * (double)x[2] + e;
    }
    return stonet_data_set_targets(*data, y, 1);
}

/* The max-GCM of the literature in its simplest form: linear regressions on z, the largest self-normalised
   covariance of residuals of single columns with those of y, Bonferroni. */
static stonet_status largest_column(job *self, const stonet_sides *s, double *p_value)
{
    const int64_t n = s->n, m = s->dx + 1; /* columns and y */
    AUTO(stonet_data) *data = NULL;
    AUTO(stonet_model) *model = NULL;
    BLOCK double *both = room_for(n * m, sizeof *both), *fitted = room_for(n * m, sizeof *fitted);
    for (int64_t i = 0; i < n; i++) {
        memcpy(both + i * m, s->x + i * s->dx, (size_t)s->dx * sizeof *both);
        both[i * m + s->dx] = s->y[i * s->dy];
    }
    TRY(stonet_data_wrap_double(s->z, n, s->dz, &data));
    TRY(stonet_data_set_targets(data, both, m));
    TRY(fits_model(self, "none", s->dz, "learner=linear", data, 0, &model));
    TRY(stonet_predict(model, data, NULL, fitted));
    double largest = 0.0;
    for (int64_t j = 0; j < s->dx; j++) {
        double sum = 0.0, squares = 0.0, left = 0.0, all = 0.0;
        for (int64_t i = 0; i < n; i++) {
            const double *own = both + i * m, *mean = fitted + i * m;
            const double x = own[j] - mean[j], y = own[s->dx] - mean[s->dx];
            all += own[j] * own[j];
            left += x * x;
            sum += x * y;
            squares += x * x * y * y;
        }
        if (left > 1e-6 * all) largest = fmax(largest, sum * sum / squares);
    }
    *p_value = fmin(1.0, (double)s->dx * erfc(sqrt(largest / 2.0)));
    return STONET_OK;
}

/* Trial k is the data set of seed S + k - 1. */
static stonet_status compute(job *self, json_t *values)
{
    const cell *what = self->what;
    const char *method = what->by->name;
    double p_value = 1.0;
    AUTO(stonet_data) *data = NULL;
    BLOCK double *room = NULL;
    stonet_run run = job_run(self, 0);
    run.seed = (uint64_t)(self->lab->options.seed + what->trial - 1);
    stonet_sides sides = {0};
    TRY(generate(what->at->name, what->q, run.seed, &data));
    TRY(make_sides(data, strchr(what->at->name, '/') + 1, &room, &sides));
    if (strcmp(method, "prediction") == 0) {
        stonet_prediction_gain gain = {0};
        TRY(stonet_prediction_compare(&sides, &run, &gain));
        put_value(values, "lost", gain.explained_zx - gain.explained_z);
        p_value = gain.p_value;
    } else if (strcmp(method, "max") == 0) {
        TRY(largest_column(self, &sides, &p_value));
    } else {
        stonet_independence_options how = STONET_INDEPENDENCE_OPTIONS_INIT;
        stonet_independence_result found = {0};
        how.test = strcmp(method, "rcit") == 0   ? STONET_TEST_RCIT
                   : strcmp(method, "rcot") == 0 ? STONET_TEST_RCOT
                                                 : STONET_TEST_GCM;
        TRY(stonet_independence(&sides, &how, &run, &found));
        p_value = found.p_value;
    }
    put_value(values, "rejected", p_value < 0.05);
    return STONET_OK;
}

const experiment level = {
    .name = "sufficiency-level",
    .title = "How often sufficiency is rejected",
    .summary = "How often the tests of sufficiency reject, where they should and should not",
    .details = "Shares of data sets whose p-value is below .05, one line a model and reduction z. Where z "
               "is sufficient they should be near .05 or below; where it is T1, T2 or x1 alone, near 1. "
               "Methods: gcm, prediction; rcit, rcot and max, a maximum over columns, where they are named. "
               "The lines sparse, y = x1 + x3 / 2 + e, also where they are named. "
               "200 data sets a line, 50 for "
               "the look by prediction. --quick: only the lines with 300 rows. Needs no data folder.",
    .examples = "  stonet-paper sufficiency-level\n  stonet-paper sufficiency-level --quick --methods rcit",
    .lines = "rows n",
    .notes = "T1, T2 and x1 alone are not sufficient; the other z are.\n",
    LISTS(level),
    .full_trials = 200,
    .quick_trials = 200,
    .compute = compute,
};
