/*
 * Small fits of every kind give the numbers that they have given before: a choice among settings, columns or
 * fronts, both stages of a training, and what the fitted network says. The numbers are in golden/fits.txt,
 * and hold for every processor, to more digits than a change of the method would leave alone. Where one is
 * meant to change, CHANGELOG.md says so, and STONET_KEEP=FILE has this test write the file anew.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "data/test_source.h"
#include "math/noise.h"
#include "stonet/fitted.h"

/* What depends on the signs of eigenvectors, which are the processor's choice. */
#define ANY 1e9

enum { MOST = 2200, MOST_FEATURES = 256, MOST_TARGETS = 3, DRAWS = 2 };

/* ---- the numbers that are kept ------------------------------------------------------------------------ */

typedef struct kept {
    FILE *file;
    bool writes; /* the file anew */
    int wrong;
} kept;

/* The next line of the file is the name and this value. */
static void check(kept *k, const char *fit, const char *what, double value, double tolerance)
{
    char name[96], line[160] = "";
    snprintf(name, sizeof name, "%s.%s ", fit, what);
    if (k->writes) {
        assert_true(fprintf(k->file, "%s%.9g\n", name, value) > 0);
        return;
    }
    const bool there = fgets(line, sizeof line, k->file) != NULL && strncmp(line, name, strlen(name)) == 0;
    const double old = there ? strtod(line + strlen(name), NULL) : 0.0;
    if (there && (isnan(old) ? isnan(value) : fabs(value - old) <= tolerance * (0.05 + fabs(old)))) return;
    line[strcspn(line, "\n")] = '\0';
    print_error("%sis %.9g, and the file has '%s'\n", name, value, line);
    k->wrong++;
}

/* ---- data -------------------------------------------------------------------------------------------- */

/* The first feature is missing in every fourth row of a source. */
typedef struct table {
    sn_row_source source;
    sn_problem problem;
    float x[MOST * MOST_FEATURES], weight[MOST];
    double y[MOST * MOST_TARGETS];
    int32_t label[MOST];
    int64_t group[MOST_FEATURES + 1];
} table;

static void fetch(const sn_row_source *self, const sn_rows *rows, uint32_t draw, float *x, int64_t stride)
{
    const table *t = (const table *)self;
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i), p = t->problem.p;
        memcpy(x + i * stride, t->x + p * row, (size_t)p * sizeof *x);
        if (row % 4 != 0) continue;
        const double e = sn_noise_normal(3, SN_STREAM_TEST, (uint32_t)row, 0, 0, draw, 0);
        x[i * stride] = (float)(draw > 0 ? e : 0.0);
    }
}

static sn_gaps gaps(const sn_row_source *self, int64_t row)
{
    (void)self;
    return row % 4 != 0 ? SN_GAPS_NONE : SN_GAPS_GAUSSIAN;
}

/* x normal; y_t = x_t x_{t+1} + x_{t+2} / 2 + noise of a spread that grows with x_0, or what columns and
   their squares tell, mean 0 and variance 1; classes by where y_0 is. The features 1 and 2 are one column. */
static table *make(sn_task task, int64_t n, int64_t p, int64_t outputs, bool straight)
{
    table *t = sn_calloc(1, sizeof *t);
    assert_non_null(t);
    sn_random random;
    sn_random_init(&random, 21, SN_STREAM_TEST, 0);
    const int64_t targets = task == SN_CLASSIFICATION ? 1 : outputs;
    for (int64_t i = 0; i < n; i++) {
        float *x = t->x + i * p;
        for (int64_t j = 0; j < p; j++) x[j] = (float)sn_random_normal(&random);
        for (int64_t k = 0; k < targets; k++)
            t->y[i * targets + k] = straight ? (double)(x[k] + 0.8F * x[k + 1] * x[k + 1] + 0.6F * x[k + 3]) +
                                                   0.5 * sn_random_normal(&random)
                                             : (double)(x[k] * x[k + 1] + 0.5F * x[(k + 2) % p]) +
                                                   0.3 * exp(0.4 * (double)x[0]) * sn_random_normal(&random);
        const double cut[] = {-0.3, 0.6};
        for (int c = 0; c < 2 && c + 1 < outputs; c++) t->label[i] += t->y[i * targets] > cut[c];
        t->weight[i] = (float)(1 + i % 3);
    }
    for (int64_t k = 0; k < targets; k++) {
        double mean = 0.0, square = 0.0;
        for (int64_t i = 0; i < n; i++) mean += t->y[i * targets + k] / (double)n;
        for (int64_t i = 0; i < n; i++) square += pow(t->y[i * targets + k] - mean, 2) / (double)n;
        for (int64_t i = 0; i < n; i++) t->y[i * targets + k] = (t->y[i * targets + k] - mean) / sqrt(square);
    }
    for (int64_t c = 0; c < p; c++) t->group[c] = c < 2 ? c : c + 1;
    t->problem = (sn_problem){.n = n,
                              .p = p,
                              .x = t->x,
                              .task = task,
                              .outputs = outputs,
                              .y = task == SN_REGRESSION ? t->y : NULL,
                              .label = task == SN_CLASSIFICATION ? t->label : NULL,
                              .groups = p - 1,
                              .group = t->group};
    t->source = (sn_row_source){.prepare = rows_are_ready, .fetch = fetch, .gaps = gaps};
    return t;
}

/* ---- what is looked at ------------------------------------------------------------------------------- */

/* Of what was told on the way. */
typedef struct heard {
    double notes, warnings, calls, done, total, loss;
} heard;

static void on_message(stonet_level level, const char *text, void *user)
{
    heard *h = user;
    (void)text;
    *(level == STONET_WARNING ? &h->warnings : &h->notes) += 1.0;
}

static void on_progress(const stonet_progress *progress, void *user)
{
    heard *h = user;
    h->calls += 1.0;
    h->done += (double)progress->done;
    h->total += (double)progress->total;
    if (isfinite(progress->loss)) h->loss += progress->loss;
    if (isfinite(progress->validation_loss)) h->loss += progress->validation_loss;
}

/* One number of many, in which each counts with another factor; of floats or of doubles. */
static double sum_of(int64_t count, const float *single, const double *value)
{
    double sum = 0.0, squares = 0.0;
    for (int64_t k = 0; k < count; k++) {
        const double v = single != NULL ? (double)single[k] : value[k];
        sum += v * cos((double)k);
        squares += v * v;
    }
    return sum / sqrt((double)count) + sqrt(squares / (double)count);
}

/* What the network says of the rows. */
static void check_use(kept *k, const char *name, const sn_stonet *net, const sn_problem *problem,
                      double tolerance)
{
    const int64_t q = sn_stonet_dim(net), n = problem->n;
    float *z;
    double *answer;
    assert_int_equal(SN_NEW(z, n * (DRAWS + 1) * 16), STONET_OK);
    assert_int_equal(SN_NEW(answer, n * 16), STONET_OK);
    assert_true(q <= 16);
    assert_int_equal(sn_stonet_reduce(net, problem, false, 1, z), STONET_OK);
    check(k, name, "z", sum_of(n * q, z, NULL), tolerance);
    assert_int_equal(sn_stonet_draw(net, problem, 1, DRAWS, false, 7, 1, n, z), STONET_OK);
    check(k, name, "draws", sum_of(DRAWS * n * q, z, NULL), tolerance);
    if (net->front == NULL) {
        assert_int_equal(sn_stonet_impute(net, problem, false, 7, 1, z), STONET_OK);
        check(k, name, "imputed", sum_of(n * q, z, NULL), tolerance);
    }
    const bool plain = net->axes.of == SN_UNITS_PLAIN; /* then Z has the units themselves to give */
    assert_int_equal(sn_stonet_reduce(net, problem, true, 1, z),
                     plain ? STONET_OK : STONET_ERROR_UNSUPPORTED);
    if (plain) check(k, name, "activated", sum_of(n * q, z, NULL), tolerance);
    if (plain && net->front == NULL) {
        assert_int_equal(sn_stonet_impute(net, problem, true, 7, 1, z), STONET_OK);
        check(k, name, "imputed.activated", sum_of(n * q, z, NULL), tolerance);
    }
    assert_int_equal(sn_stonet_predict(net, problem, 1, answer), STONET_OK);
    check(k, name, "answers", sum_of(n * problem->outputs, NULL, answer), tolerance);
    if (net->response.kind == SN_RESPONSE_LOCATION_SCALE) {
        assert_int_equal(sn_stonet_spread(net, problem, 1, answer), STONET_OK);
        check(k, name, "spreads", sum_of(n * problem->outputs, NULL, answer), tolerance);
    }
    sn_free(z);
    sn_free(answer);
}

static void check_fit(kept *k, const char *name, const sn_stonet *net, const heard *h, double tolerance)
{
    check(k, name, "notes", h->notes, 0.0);
    check(k, name, "warnings", h->warnings, 0.0);
    check(k, name, "calls", h->calls, 0.0);
    check(k, name, "done", h->done, 0.0);
    check(k, name, "total", h->total, 0.0);
    check(k, name, "losses", h->loss, tolerance);
    check(k, name, "iterations", (double)net->iterations, 0.0);
    check(k, name, "tried", (double)net->settings_tried, 0.0);
    check(k, name, "rows", (double)net->held_out_rows, 0.0);
    check(k, name, "batch", (double)net->batch, 0.0);
    check(k, name, "lr", net->lr, tolerance);
    check(k, name, "decay", net->weight_decay, tolerance);
    check(k, name, "epochs", net->epochs, tolerance);
    check(k, name, "training", net->training_loss, tolerance);
    check(k, name, "stuck", net->stuck ? 1.0 : 0.0, 0.0);
    check(k, name, "finds", (double)net->linear_finds, 0.0);
    check(k, name, "loss", net->held_out.loss, tolerance);
    check(k, name, "loss_se", net->held_out.loss_se, tolerance);
    check(k, name, "error", net->held_out.error, tolerance);
    check(k, name, "error_se", net->held_out.error_se, tolerance);
    check(k, name, "constant", net->held_out_constant.loss, tolerance);
    check(k, name, "linear", net->held_out_linear.loss, tolerance);
    check(k, name, "residual_p", net->residual_p, tolerance);
    check(k, name, "penalty", net->select_penalty, tolerance);
    check(k, name, "smallest", net->smallest_step, tolerance);
    check(k, name, "inputs", (double)net->network.shape.width[0], 0.0);
    check(k, name, "units", (double)net->network.shape.width[net->network.shape.layers - 1], 0.0);
    check(k, name, "layers", (double)net->network.shape.layers, 0.0);
    check(k, name, "activation", (double)net->network.shape.activation, 0.0);
    const bool turned = net->front != NULL &&
                        (net->front->ops == &sn_front_kernel || net->front->ops == &sn_front_components);
    if (!turned) /* the features of a kernel and components have no sign of their own */
        check(k, name, "theta", sum_of(net->network.shape.parameters, net->network.theta, NULL), tolerance);
    check(k, name, "share", net->axes.share[0], tolerance);
}

/* ---- the fits ---------------------------------------------------------------------------------------- */

typedef enum rows_kind { PLAIN, STRAIGHT, WEIGHTED, DRAWN, JOINT, IMAGES } rows_kind;

typedef struct fit {
    const char *name;
    int64_t n, p, outputs, q;
    double tolerance;
    sn_task task;
    rows_kind rows;
    const char *settings; /* name=value, separated by blanks */
} fit;

static sn_settings *settings_of(const char *text)
{
    sn_settings *settings = NULL;
    char copy[512], *rest = copy;
    assert_int_equal(sn_settings_create(sn_stonet_params, SN_STONET_PARAMS, &settings), STONET_OK);
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        if (sn_settings_set(settings, word, value) != STONET_OK) fail_msg("%s", stonet_last_error());
    }
    return settings;
}

static void run_fit(kept *k, const fit *f)
{
    table *t = make(f->task, f->n, f->p, f->outputs, f->rows == STRAIGHT);
    sn_settings *settings = settings_of(f->settings);
    heard h = {0};
    stonet_run run = STONET_RUN_INIT;
    sn_stonet *net = NULL;
    stonet_outcome outcome;
    run.threads = 1;
    run.on_message = on_message;
    run.on_progress = on_progress;
    run.user = &h;
    if (f->rows == WEIGHTED) t->problem.weight = t->weight;
    if (f->rows == DRAWN || f->rows == JOINT) t->problem.source = &t->source;
    t->problem.joint = f->rows == JOINT;
    if (f->rows == IMAGES) t->problem.image = (sn_image){2, {6, 6}};
    if (sn_stonet_fit(&t->problem, f->q, settings, &run, &net, &outcome) != STONET_OK)
        fail_msg("%s: %s", f->name, stonet_last_error());
    check(k, f->name, "outcome", (double)outcome, 0.0);
    check_fit(k, f->name, net, &h, f->tolerance);
    check_use(k, f->name, net, &t->problem, f->tolerance);
    if (f->tolerance < ANY) { /* and goes on from there, on some of the rows */
        sn_problem more = t->problem;
        more.n = f->n / 2;
        if (sn_stonet_fit_more(net, &more, settings, &run, &outcome) != STONET_OK)
            fail_msg("%s: %s", f->name, stonet_last_error());
        check(k, f->name, "more.outcome", (double)outcome, 0.0);
        check(k, f->name, "more.iterations", (double)net->iterations, 0.0);
        check(k, f->name, "more.training", net->training_loss, f->tolerance);
        check_use(k, f->name, net, &more, f->tolerance);
    }
    sn_stonet_free(net);
    sn_settings_free(settings);
    sn_free(t);
}

static const fit fits[] = {
    {"given", 150, 4, 1, 2, 1e-4, SN_REGRESSION, PLAIN,
     "engine=ref hidden=5 epochs=12 weight_decay=0.001 batch=40 sdr_iterations=4"},
    {"averaged", 130, 3, 3, 1, 1e-4, SN_CLASSIFICATION, WEIGHTED,
     "engine=ref hidden=4 schedule=averaged epochs=30 weight_decay=0.01 batch=20 sdr_iterations=3 "
     "activation=relu"},
    {"absolute", 80, 3, 1, 2, 1e-4, SN_REGRESSION, PLAIN,
     "engine=ref hidden=4 sigma2=1e-4,1e-3,1e-2 epsilon=0.001,0.003 eta=20 gamma=1e-6,2e-6,3e-6 epochs=10 "
     "weight_decay=0.001 batch=20 sdr_iterations=2 sweeps=3"},
    {"refit", 120, 3, 2, 1, 1e-4, SN_CLASSIFICATION, PLAIN,
     "engine=ref hidden=4 epochs=10 weight_decay=0.001 batch=60 output=refit sdr_iterations=2 start=forward"},
    {"ensemble", 120, 4, 2, 2, 1e-4, SN_REGRESSION, PLAIN,
     "engine=ref response=ensemble hidden=4 epochs=8 weight_decay=0.001 batch=40 sdr_iterations=2"},
    {"drawn", 100, 3, 1, 1, 1e-4, SN_REGRESSION, DRAWN,
     "engine=ref hidden=4 epochs=8 weight_decay=0.001 batch=30 sdr_iterations=2"},
    {"joint", 100, 3, 1, 1, 1e-4, SN_REGRESSION, JOINT,
     "engine=ref hidden=4 epochs=8 weight_decay=0.001 batch=30 sdr_iterations=3"},
    {"joint-classes", 100, 3, 2, 1, 1e-4, SN_CLASSIFICATION, JOINT,
     "engine=ref hidden=4 epochs=8 weight_decay=0.001 batch=30 sdr_iterations=3"},
    {"stuck", 60, 3, 1, 1, 1e-4, SN_REGRESSION, PLAIN,
     "engine=ref hidden=none activation=tanh epochs=3 weight_decay=0.9 restarts=2 sdr_iterations=0"},
    {"decay", 90, 3, 1, 1, 1e-3, SN_REGRESSION, PLAIN,
     "hidden=4 activation=tanh epochs=6 batch=30 restarts=2 sdr_iterations=2"},
    {"diverges", 40, 3, 1, 1, 1e-3, SN_REGRESSION, PLAIN,
     "engine=ref hidden=4 lr=500 epochs=6 weight_decay=0 sdr_iterations=0"},
    {"kernel", 70, 3, 1, 1, ANY, SN_REGRESSION, PLAIN,
     "front=kernel front_landmarks=20 epochs=5 weight_decay=0.01 sdr_iterations=2"},
    {"columns", 50, 60, 2, 1, 1e-3, SN_CLASSIFICATION, PLAIN,
     "front=columns hidden=3 epochs=5 weight_decay=0.01 sdr_iterations=2"},
    {"components", 50, 60, 1, 1, ANY, SN_REGRESSION, PLAIN,
     "front=components hidden=3 epochs=5 weight_decay=0.01 sdr_iterations=2"},
    {"images", 40, 36, 2, 1, 1e-3, SN_CLASSIFICATION, IMAGES,
     "front=conv front_channels=2 hidden=3 epochs=3 weight_decay=0.001 batch=20 sdr_iterations=2"},
    {"rescued", 80, 3, 2, 1, 1e-3, SN_CLASSIFICATION, PLAIN,
     "engine=ref hidden=3 activation=relu epochs=4 weight_decay=0.3 batch=20 sdr_iterations=1"},
    {"open-spread", 60, 3, 1, 1, 1e-3, SN_REGRESSION, PLAIN,
     "response=location-scale hidden=4 restarts=1 epochs=30 batch=20 sdr_iterations=2"},
    {"open-images", 40, 36, 1, 1, 1e-3, SN_REGRESSION, IMAGES,
     "front=conv front_channels=2 hidden=3 batch=20 sdr_iterations=2"},
    {"wide", 40, 60, 1, 1, 1e-3, SN_REGRESSION, PLAIN, "hidden=3 epochs=10 restarts=2 sdr_iterations=2"},
    {"kernel-classes", 60, 3, 3, 2, ANY, SN_CLASSIFICATION, PLAIN,
     "front=kernel epochs=5 weight_decay=0.01 sdr_iterations=2"},
    {"spread", 160, 3, 2, 2, 1e-4, SN_REGRESSION, PLAIN,
     "engine=ref response=location-scale hidden=5 epochs=40 weight_decay=0.001 batch=40 sdr_iterations=2"},
    {"open-classes", 60, 3, 3, 2, 1e-3, SN_CLASSIFICATION, WEIGHTED, "restarts=2 epochs=10 sdr_iterations=2"},
    {"open-layer", 60, 3, 2, 2, 1e-3, SN_REGRESSION, PLAIN, "hidden=none restarts=2"},
    {"group", 60, 5, 1, 1, 1e-3, SN_REGRESSION, PLAIN,
     "select=group select_penalty=0.02 hidden=3 epochs=4 weight_decay=0.001 sdr_iterations=2"},
    {"group-classes", 60, 5, 2, 1, 1e-3, SN_CLASSIFICATION, WEIGHTED,
     "select=group select_penalty=0.01 hidden=3 epochs=4 weight_decay=0.001 sdr_iterations=2"},
    {"gives-way", 150, 3, 1, 1, 1e-4, SN_REGRESSION, PLAIN,
     "engine=ref hidden=3 activation=tanh epochs=5 weight_decay=3 batch=50 sdr_iterations=1"},
    {"gives-way-open", 150, 3, 1, 1, 1e-4, SN_REGRESSION, PLAIN,
     "hidden=3 activation=tanh epochs=1 lr=1e-7 restarts=1 batch=50 sdr_iterations=0"},
    {"columns-more", 120, 40, 3, 2, 1e-3, SN_REGRESSION, PLAIN,
     "front=columns hidden=3 epochs=5 weight_decay=0.01 sdr_iterations=2"},
    {"image-blocks", 90, 36, 2, 1, 1e-3, SN_CLASSIFICATION, IMAGES,
     "front=conv front_channels=2 hidden=3 epochs=3 weight_decay=0.001 batch=45 lr=0.05 sdr_iterations=2"},
    {"joint-blocks", 2200, 3, 1, 1, 1e-4, SN_REGRESSION, JOINT,
     "hidden=3 epochs=3 weight_decay=0.001 batch=1000 sdr_iterations=1"},
    {"one-part", 2050, 3, 1, 1, 1e-3, SN_REGRESSION, PLAIN,
     "hidden=3 epochs=2 batch=500 restarts=2 sdr_iterations=1"},
    {"straight-columns", 100, 30, 1, 1, 1e-3, SN_REGRESSION, STRAIGHT,
     "front=columns hidden=3 epochs=5 weight_decay=0.01 sdr_iterations=2"},
    {"straight-classes", 90, 30, 3, 2, 1e-3, SN_CLASSIFICATION, STRAIGHT,
     "front=columns hidden=3 epochs=5 weight_decay=0.01 sdr_iterations=2"},
    {"straight-wide", 80, 210, 1, 1, 1e-3, SN_REGRESSION, STRAIGHT,
     "hidden=3 epochs=3 restarts=2 sdr_iterations=2"},
    {"straight-group", 60, 5, 1, 1, 1e-3, SN_REGRESSION, STRAIGHT,
     "select=group hidden=3 epochs=4 weight_decay=0.001 sdr_iterations=2"},
    {"lost", 60, 3, 1, 1, 1e-4, SN_REGRESSION, PLAIN,
     "engine=ref hidden=none activation=tanh epochs=3 weight_decay=0 lr=1e-9 restarts=2 sdr_iterations=0"},
    {"power", 90, 3, 2, 2, 1e-4, SN_REGRESSION, PLAIN,
     "engine=ref hidden=4 schedule=power schedule_c=20 epochs=10 weight_decay=0 l1=0.001 batch=30 "
     "input_activation=tanh layer_step=residual momentum=0.5 restarts=3 sdr_iterations=2"},
    {"length", 90, 3, 2, 1, 1e-3, SN_CLASSIFICATION, PLAIN,
     "hidden=4 activation=tanh weight_decay=0.01 batch=30 restarts=2 sdr_iterations=2"},
    {"open", 60, 3, 1, 1, 1e-3, SN_REGRESSION, PLAIN, "restarts=2 sdr_iterations=2"},
    {"open-group", 30, 3, 1, 1, 1e-3, SN_REGRESSION, PLAIN,
     "select=group hidden=3 epochs=4 weight_decay=0.001 sdr_iterations=2"},
};

static void fits_are_what_they_were(void **state)
{
    (void)state;
    char path[1024];
    const char *root = getenv("STONET_GOLDEN"), *anew = getenv("STONET_KEEP");
    snprintf(path, sizeof path, "%s/src/stonet/golden/fits.txt", root != NULL ? root : ".");
    kept k = {.file = fopen(anew != NULL ? anew : path, anew != NULL ? "w" : "r"), .writes = anew != NULL};
    if (k.file == NULL) fail_msg("cannot open %s (set STONET_GOLDEN to the repository root)", path);
    for (size_t i = 0; i < sizeof fits / sizeof *fits && k.wrong == 0; i++) run_fit(&k, &fits[i]);
    fclose(k.file);
    assert_int_equal(k.wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fits_are_what_they_were)};
    return cmocka_run_group_tests_name("stonet_kept", tests, NULL, NULL);
}
