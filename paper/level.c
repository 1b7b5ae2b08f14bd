/* How often the two looks at sufficiency, the test and the prediction, reject what is sufficient and what is
 * not. */
#include "paper/paper.h"

/* What z is: x itself; the sufficient predictors; these with the last of x and x1 x2; x_j + 3 x_{j-1}, all of
   x in other coordinates; the first or last sufficient predictor; x1; x1 and x3, the sufficient predictors of
   `sparse`. */
enum { ALL_X, TRUTH, TRUTH_MORE, LINEAR_MAP, FIRST_TRUTH, LAST_TRUTH, FIRST_X, X1_X3 };

static const column level_columns[] = {
    COLUMN("gcm", "independence", "", IN_QUICK),
    COLUMN("rcit", "independence", "", IN_QUICK | ASKED),
    COLUMN("rcot", "independence", "", IN_QUICK | ASKED),
    COLUMN("prediction", "prediction", "", IN_QUICK, .full = 50), /* takes longer */
    COLUMN("max", "max", "", IN_QUICK | ASKED),
};

#define LINE(data, z, what, sizes, form) ROW(data "/" z, sizes, form, .paper = (data), .number = (what))
#define BOTH                             (IN_QUICK | IN_FULL)
/* Numbers of rows stand in the place of dimensions. */
static const row level_rows[] = {
    LINE("friedman:5", "x", ALL_X, "2000 | 300", BOTH),
    LINE("friedman:10", "x", ALL_X, "2000 | 300", BOTH),
    LINE("friedman:20", "x", ALL_X, "2000 | 300", BOTH),
    LINE("ratio:5", "x", ALL_X, "2000 | 300", BOTH),
    LINE("ratio:10", "x", ALL_X, "2000 | 300", BOTH),
    LINE("ratio:20", "x", ALL_X, "2000 | 300", BOTH),
    LINE("ring", "x", ALL_X, "2000 | 300", BOTH),
    LINE("waveform", "x", ALL_X, "2000 | 300", BOTH),
    LINE("friedman", "linear-map", LINEAR_MAP, "2000 | 300", BOTH),
    LINE("friedman", "truth", TRUTH, "2000 | 300", BOTH),
    LINE("location-scale:10", "truth", TRUTH, "2000 | 300", BOTH),
    LINE("ring", "truth", TRUTH, "2000 | 300", BOTH),
    LINE("friedman", "truth-and-more", TRUTH_MORE, "2000 | 300", BOTH),
    LINE("waveform", "truth", TRUTH, "10000 2000", IN_FULL),
    LINE("location-scale:10", "T1", FIRST_TRUTH, "2000", IN_FULL),
    LINE("location-scale:10", "T2", LAST_TRUTH, "2000", IN_FULL),
    LINE("location-scale-linear", "T1", FIRST_TRUTH, "2000", IN_FULL),
    LINE("location-scale-linear", "T2", LAST_TRUTH, "2000", IN_FULL),
    LINE("ratio", "x1", FIRST_X, "2000", IN_FULL),
    LINE("ring", "x1", FIRST_X, "2000", IN_FULL),
    LINE("sparse:6", "x1-x3", X1_X3, "80 150 300 1000", IN_FULL),
    LINE("sparse:20", "x1-x3", X1_X3, "80 150 300 1000", IN_FULL),
    LINE("sparse:60", "x1-x3", X1_X3, "80 150 300 1000", IN_FULL),
    LINE("sparse:200", "x1-x3", X1_X3, "80 150 300 1000", IN_FULL),
    LINE("sparse:6", "x1", FIRST_X, "80 150 300 1000", IN_FULL),
    LINE("sparse:20", "x1", FIRST_X, "80 150 300 1000", IN_FULL),
    LINE("sparse:60", "x1", FIRST_X, "80 150 300 1000", IN_FULL),
    LINE("sparse:200", "x1", FIRST_X, "80 150 300 1000", IN_FULL),
};
static const measure level_measures[] = {{"rejected", "share of data sets with p < 0.05", true, 0},
                                         {"lost", "explained by x and z, less by z alone", true, 0}};

/* z of one row; gives its number of columns, and only that without x. */
static int64_t fill_z(int64_t what, const double *x, int64_t p, const double *truth, int64_t truths,
                      double *z)
{
    const bool all = what == ALL_X || what == LINEAR_MAP, more = what == TRUTH_MORE;
    const int64_t q = all ? p : what == TRUTH || more ? truths + (more ? 2 : 0) : what == X1_X3 ? 2 : 1;
    if (x == NULL) return q;
    for (int64_t j = 0; j < p && all; j++) z[j] = x[j] + (what == LINEAR_MAP && j > 0 ? 3 * x[j - 1] : 0);
    if (what == TRUTH || more) memcpy(z, truth, (size_t)truths * sizeof *z);
    if (more) {
        z[truths] = x[p - 1];
        z[truths + 1] = x[0] * x[1];
    }
    if (what == X1_X3) {
        z[0] = x[0];
        z[1] = x[2];
    }
    if (q == 1 && what >= FIRST_TRUTH)
        z[0] = what == FIRST_X ? x[0] : truth[what == LAST_TRUTH ? truths - 1 : 0];
    return q;
}

/* A data set as three matrices, classes as columns of 0 and 1. */
static stonet_status make_sides(const stonet_data *data, int64_t what, double **room, stonet_sides *out)
{
    int64_t truths = 0, classes = 0, m = 0;
    const float *x = stonet_data_x(data);
    const double *truth = stonet_data_truth(data, &truths), *y = stonet_data_targets(data, &m);
    const int32_t *label = stonet_data_classes(data, &classes);
    const int64_t n = stonet_data_rows(data), p = stonet_data_columns(data);
    const int64_t q = fill_z(what, NULL, p, truth, truths, NULL);
    if (label != NULL) m = classes;
    double *wide = *room = make_room((size_t)(n * (p + m + q)), sizeof *wide), *to_y = wide + n * p,
           *z = to_y + n * m;
    if (wide == NULL) return out_of_memory();
    for (int64_t i = 0; i < n * p; i++) wide[i] = (double)x[i];
    if (label == NULL) memcpy(to_y, y, (size_t)(n * m) * sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        if (label != NULL) to_y[i * m + label[i]] = 1.0;
        fill_z(what, wide + i * p, p, truth + i * truths, truths, z + i * q);
    }
    *out = (stonet_sides){.n = n, .dx = p, .dy = m, .dz = q, .x = wide, .y = to_y, .z = z};
    return STONET_OK;
}

/* sparse:P, y = x1 + x3 / 2 + e: the x and the e of wide:P, y = x1 + x2 + x3 - x4 - x5 + e / 2. */
static stonet_status generate(const char *name, int64_t n, uint64_t seed, stonet_data **data)
{
    char wide[32];
    if (strncmp(name, "sparse", strlen("sparse")) != 0) return stonet_generate(name, n, seed, data);
    snprintf(wide, sizeof wide, "wide%s", name + strlen("sparse"));
    TRY(stonet_generate(wide, n, seed, data));
    int64_t m;
    const int64_t p = stonet_data_columns(*data);
    const double *old = stonet_data_targets(*data, &m);
    ROOM double *y = make_room((size_t)n, sizeof *y);
    if (y == NULL) return out_of_memory();
    for (int64_t i = 0; i < n; i++) {
        const float *x = stonet_data_x(*data) + i * p;
        const double e = 2.0 * (old[i] - (double)(x[0] + x[1] + x[2] - x[3] - x[4]));
        y[i] = (double)x[0] + 0.5 * (double)x[2] + e;
    }
    return stonet_data_set_targets(*data, y, 1);
}

/* v less its regression on the columns of z and a constant, by Gram and Schmidt; u (n x (dz + 1)) is them,
   orthonormal. */
static void project_out(const double *u, int64_t n, int64_t d, double *v)
{
    for (int64_t k = 0; k < d; k++) {
        double sum = 0.0;
        for (int64_t i = 0; i < n; i++) sum += u[i * d + k] * v[i];
        for (int64_t i = 0; i < n; i++) v[i] -= sum * u[i * d + k];
    }
}

/* The max-GCM of the literature in its simplest form: linear regressions on z, the largest self-normalised
   covariance of residuals of single columns with those of y, Bonferroni. */
static stonet_status largest_column(const stonet_sides *s, double *p_value)
{
    const int64_t n = s->n, d = s->dz + 1;
    ROOM double *room = make_room((size_t)(n * (d + 2)), sizeof *room);
    if (room == NULL) return out_of_memory();
    double *u = room, *v = u + n * d, *y = v + n;
    for (int64_t k = 0; k < d; k++) {
        double norm = 0.0;
        for (int64_t i = 0; i < n; i++) v[i] = k == 0 ? 1.0 : s->z[i * s->dz + k - 1];
        project_out(u, n, d, v);
        for (int64_t i = 0; i < n; i++) norm += v[i] * v[i];
        for (int64_t i = 0; i < n && norm > 0.0; i++) u[i * d + k] = v[i] / sqrt(norm);
    }
    double largest = 0.0;
    for (int64_t i = 0; i < n; i++) y[i] = s->y[i * s->dy];
    project_out(u, n, d, y);
    for (int64_t j = 0; j < s->dx; j++) {
        double sum = 0.0, squares = 0.0, left = 0.0, all = 0.0;
        for (int64_t i = 0; i < n; i++) v[i] = s->x[i * s->dx + j];
        for (int64_t i = 0; i < n; i++) all += v[i] * v[i];
        project_out(u, n, d, v);
        for (int64_t i = 0; i < n; i++) {
            left += v[i] * v[i];
            sum += v[i] * y[i];
            squares += v[i] * v[i] * y[i] * y[i];
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
    AUTO(stonet_data) *data = NULL;
    ROOM double *room = NULL;
    stonet_run run = job_run(self, 0);
    run.seed = (uint64_t)(self->lab->options.seed + what->trial - 1);
    stonet_sides sides = {0};
    TRY(generate(what->on->paper, what->q, run.seed, &data));
    TRY(make_sides(data, what->on->number, &room, &sides));
    if (strcmp(what->method, "prediction") == 0) {
        stonet_prediction_gain gain = {0};
        TRY(stonet_prediction_compare(&sides, &run, &gain));
        TRY(put_value(values, "lost", gain.explained_zx - gain.explained_z));
        return put_value(values, "rejected", gain.p_value < 0.05);
    }
    if (strcmp(what->method, "max") == 0) {
        double p_value = 1.0;
        TRY(largest_column(&sides, &p_value));
        return put_value(values, "rejected", p_value < 0.05);
    }
    stonet_independence_options how = STONET_INDEPENDENCE_OPTIONS_INIT;
    how.test = strcmp(what->method, "rcit") == 0   ? STONET_TEST_RCIT
               : strcmp(what->method, "rcot") == 0 ? STONET_TEST_RCOT
                                                   : STONET_TEST_GCM;
    stonet_independence_result found = {0};
    TRY(stonet_independence(&sides, &how, &run, &found));
    return put_value(values, "rejected", found.p_value < 0.05);
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
