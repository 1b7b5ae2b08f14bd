/*
 * Small fits of every kind give the numbers that they have given before: Z, draws and predictions, after the
 * fit and after more rows. The numbers are in golden/fits.txt, and hold for every processor, to more digits
 * than a change of the method would leave alone. Where one is meant to change, CHANGELOG.md says so, and
 * STONET_KEEP=FILE has this test write the file anew.
 */
#include "base/memory.h"
#include "base/test_kit.h"
#include "choice/test_fit.h"
#include "stonet/test_table.h"

enum { MOST = 160, MOST_FEATURES = 60, MOST_TARGETS = 3, DRAWS = 2 };
static const double TOLERANCE = 1e-3; /* of a number: sums in another order, over some hundred updates */

/* ---- the numbers that are kept ------------------------------------------------------------------------ */

typedef struct kept {
    FILE *file;
    bool writes; /* the file anew */
    int wrong;
} kept;

/* The next line of the file is the name and this value. */
static void check(kept *k, const char *fit, const char *what, double value)
{
    char name[96], line[160] = "";
    snprintf(name, sizeof name, "%s.%s ", fit, what);
    if (k->writes) {
        assert_true(fprintf(k->file, "%s%.9g\n", name, value) > 0);
        return;
    }
    const bool there = fgets(line, sizeof line, k->file) != NULL && strncmp(line, name, strlen(name)) == 0;
    const double old = there ? strtod(line + strlen(name), NULL) : 0.0;
    if (there && (isnan(old) ? isnan(value) : fabs(value - old) <= TOLERANCE * fabs(old))) return;
    line[strcspn(line, "\n")] = '\0';
    print_error("%sis %.9g, and the file has '%s'\n", name, value, line);
    k->wrong++;
}

/* ---- data -------------------------------------------------------------------------------------------- */

typedef struct table {
    table_rows rows; /* the first feature is missing in every fourth */
    sn_problem problem;
    float x[MOST * MOST_FEATURES], weight[MOST];
    double y[MOST * MOST_TARGETS];
    int32_t label[MOST];
} table;

/* x normal; y_t = x_t x_{t+1} + x_{t+2} / 2 + noise of a spread that grows with x_0, mean 0 and variance 1;
   classes by where y_0 is. */
static table *make(sn_task task, int64_t n, int64_t p, int64_t outputs)
{
    table *t = sn_calloc(1, sizeof *t);
    assert_non_null(t);
    sn_random random = sn_random_from(21, SN_STREAM_TEST, 0);
    const int64_t targets = task == SN_CLASSIFICATION ? 1 : outputs;
    const double cut[] = {-0.3, 0.6};
    for (int64_t i = 0; i < n; i++) {
        float *x = t->x + i * p;
        for (int64_t j = 0; j < p; j++) x[j] = (float)sn_random_normal(&random);
        for (int64_t k = 0; k < targets; k++)
            t->y[i * targets + k] = (double)(x[k] * x[k + 1] + 0.5F * x[(k + 2) % p]) +
                                    0.3 * exp(0.4 * (double)x[0]) * sn_random_normal(&random);
        for (int c = 0; c < 2 && c + 1 < outputs; c++) t->label[i] += t->y[i * targets] > cut[c];
        t->weight[i] = (float)(1 + i % 3);
    }
    for (int64_t k = 0; k < targets; k++) {
        double mean = 0.0, square = 0.0;
        for (int64_t i = 0; i < n; i++) mean += t->y[i * targets + k] / (double)n;
        for (int64_t i = 0; i < n; i++) square += pow(t->y[i * targets + k] - mean, 2) / (double)n;
        for (int64_t i = 0; i < n; i++) t->y[i * targets + k] = (t->y[i * targets + k] - mean) / sqrt(square);
    }
    t->problem = (sn_problem){.n = n,
                              .p = p,
                              .x = t->x,
                              .task = task,
                              .outputs = outputs,
                              .y = task == SN_REGRESSION ? t->y : NULL,
                              .label = task == SN_CLASSIFICATION ? t->label : NULL};
    t->rows = table_of_rows(t->x, p, 4);
    return t;
}

/* ---- what is looked at ------------------------------------------------------------------------------- */

/* One number of many, in which each counts with another factor; of floats or of doubles. */
static double sum_of(int64_t count, const float *single, const double *value)
{
    double sum = 0.0, squares = 0.0;
    for (int64_t k = 0; k < count; k++) {
        const double v = single != NULL ? (double)single[k] : value[k];
        sum += v * cos((double)k);
        squares += v * v;
    }
    return sum / sqrt((double)count) + 3.0 * sqrt(squares / (double)count); /* not next to 0 */
}

/* What the network says of the rows. */
static void check_use(kept *k, const char *name, const sn_stonet *net, const sn_problem *problem)
{
    const int64_t q = sn_stonet_dim(net), n = problem->n;
    SN_BLOCK float *z = NULL;
    SN_BLOCK double *answer = NULL;
    OK(SN_NEW(z, n * (DRAWS + 1) * 16));
    OK(SN_NEW(answer, n * 16));
    assert_true(q <= 16);
    OK(sn_stonet_reduce(net, problem, false, 1, z));
    check(k, name, "z", sum_of(n * q, z, NULL));
    OK(sn_stonet_draw(net, problem, &(sn_draws){1, DRAWS, n, false, 7}, 1, z));
    check(k, name, "draws", sum_of(DRAWS * n * q, z, NULL));
    if (net->front == NULL) {
        OK(sn_stonet_impute(net, problem, false, 7, 1, z));
        check(k, name, "imputed", sum_of(n * q, z, NULL));
    }
    OK(sn_stonet_predict(net, problem, 1, NULL, answer));
    check(k, name, "answers", sum_of(n * problem->outputs, NULL, answer));
    if (net->response.kind == SN_RESPONSE_LOCATION_SCALE) {
        OK(sn_stonet_spread(net, problem, 1, answer));
        check(k, name, "spreads", sum_of(n * problem->outputs, NULL, answer));
    }
}

/* ---- the fits ---------------------------------------------------------------------------------------- */

typedef enum rows_kind { PLAIN, WEIGHTED, JOINT, IMAGES } rows_kind;

typedef struct fit {
    const char *name;
    int64_t n, p, outputs, q;
    sn_task task;
    rows_kind rows;
    const char *settings; /* names and values in turn */
} fit;

static void run_fit(kept *k, const fit *f)
{
    SN_BLOCK table *t = make(f->task, f->n, f->p, f->outputs);
    SN_AUTO(sn_settings) *settings = settings_with(f->settings);
    stonet_run run = STONET_RUN_INIT;
    char more_name[64];
    stonet_outcome outcome;
    run.threads = 1;
    if (f->rows == WEIGHTED) t->problem.weight = t->weight;
    if (f->rows == JOINT) t->problem.source = &t->rows.base;
    t->problem.joint = f->rows == JOINT;
    if (f->rows == IMAGES) t->problem.image = (sn_image){2, {6, 6}};
    SN_AUTO(sn_stonet) *net = fit_with(&t->problem, f->q, f->settings, &run, NULL);
    check(k, f->name, "training", net->training_loss);
    check(k, f->name, "held_out", net->held_out.loss);
    check(k, f->name, "share", net->axes.share[0]);
    check_use(k, f->name, net, &t->problem);
    sn_problem more = t->problem; /* and it goes on from there, on some of the rows */
    more.n = f->n / 2;
    snprintf(more_name, sizeof more_name, "%s.more", f->name);
    OK(sn_stonet_fit_more(net, &more, 1.0 / 3, settings, &run, &outcome));
    check_use(k, more_name, net, &more);
}

/* Kernel features and components have no sign of their own, so that no two processors give the same fit. */
static const fit fits[] = {
    {"given", 150, 4, 1, 2, SN_REGRESSION, PLAIN,
     "engine ref hidden 5 epochs 12 weight_decay 0.001 batch 40 sdr_iterations 4"},
    {"averaged", 130, 3, 3, 1, SN_CLASSIFICATION, WEIGHTED,
     "hidden 4 schedule averaged epochs 30 weight_decay 0.01 batch 20 sdr_iterations 3 activation relu"},
    {"absolute", 80, 3, 1, 2, SN_REGRESSION, PLAIN,
     "engine ref hidden 4 sigma2 1e-4,1e-3,1e-2 epsilon 0.001,0.003 eta 20 gamma 1e-6,2e-6,3e-6 epochs 10 "
     "weight_decay 0.001 batch 20 sdr_iterations 2 sweeps 3"},
    {"power", 90, 3, 2, 2, SN_REGRESSION, PLAIN,
     "hidden 4 schedule power schedule_c 20 epochs 10 weight_decay 0 l1 0.001 input_activation tanh "
     "layer_step residual momentum 0.5 restarts 3 sdr_iterations 2"},
    {"refit", 120, 3, 2, 1, SN_CLASSIFICATION, PLAIN,
     "hidden 4 epochs 10 weight_decay 0.001 batch 60 output refit sdr_iterations 2 start forward"},
    {"ensemble", 120, 4, 2, 2, SN_REGRESSION, PLAIN,
     "response ensemble epochs 8 weight_decay 0.001 batch 40 sdr_iterations 2"},
    {"spread", 160, 3, 2, 2, SN_REGRESSION, PLAIN,
     "response location-scale hidden 5 epochs 10 weight_decay 0.001 batch 40 sdr_iterations 2"},
    {"joint", 100, 3, 1, 1, SN_REGRESSION, JOINT,
     "hidden 4 epochs 8 weight_decay 0.001 batch 30 sdr_iterations 3"},
    {"columns", 50, 60, 2, 1, SN_CLASSIFICATION, PLAIN,
     "front columns epochs 5 weight_decay 0.01 sdr_iterations 2"},
    {"images", 40, 36, 2, 1, SN_CLASSIFICATION, IMAGES,
     "front conv front_channels 2 epochs 3 weight_decay 0.001 batch 20 sdr_iterations 2"},
    {"chosen", 90, 3, 3, 1, SN_CLASSIFICATION, PLAIN, "front none epochs 10 batch 30 sdr_iterations 2"},
};

TEST(fits_are_what_they_were)
{
    char path[1024];
    const char *root = getenv("STONET_GOLDEN"), *anew = getenv("STONET_KEEP");
    snprintf(path, sizeof path, "%s/src/choice/golden/fits.txt", root != NULL ? root : ".");
    kept k = {.file = fopen(anew != NULL ? anew : path, anew != NULL ? "w" : "r"), .writes = anew != NULL};
    if (k.file == NULL) fail_msg("cannot open %s (set STONET_GOLDEN to the repository root)", path);
    for (size_t i = 0; i < sizeof fits / sizeof *fits && k.wrong == 0; i++) run_fit(&k, &fits[i]);
    assert_true(k.writes || k.wrong > 0 || fgetc(k.file) == EOF); /* nothing that is no longer looked at */
    fclose(k.file);
    assert_int_equal(k.wrong, 0);
}

RUN_TESTS(NULL, NULL)
