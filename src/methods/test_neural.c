/* nnsdr and autoencoder: what they recover, their constraint, and odd data. */
#include "methods/test_support.h"
#include "net/network.h"

/* Fits, transforms and (out not NULL) predicts. */
static void fit_use(const char *name, const sn_problem *problem, int64_t dim, const char *options, float *z,
                    double *out, char **history)
{
    const sn_method *method = sn_method_find(name);
    sn_fit_result result;
    OK(fit_with(name, problem, dim, options, NULL, &result));
    assert_int_equal(result.outcome, STONET_DONE);
    OK(method->transform(result.state, problem->x, problem->n, NULL, z));
    if (out != NULL) OK(method->predict(result.state, problem->x, problem->n, NULL, out));
    if (history != NULL) *history = sn_strdup(method->history(result.state));
    method->free(result.state);
}

enum { P = 6 };

/* Of B, whose transpose is the first layer, from the truth. */
static double nnsdr_distance(const sample *data, int64_t dim, const char *options, const double *truth)
{
    sn_fit_result result;
    double b[P * P], gram[P * P], distance;
    OK(fit_with("nnsdr", &data->problem, dim, options, NULL, &result));
    const sn_network *net = result.state;
    for (int64_t i = 0; i < P * dim; i++) b[i] = (double)net->theta[i % dim * P + i / dim];
    sn_network_free(result.state);
    sn_syrk_tn(dim, P, 1.0, b, 0.0, gram);
    for (int64_t i = 0; i < dim; i++)
        for (int64_t j = 0; j < dim; j++) assert_true(fabs(gram[i * dim + j] - (i == j)) < 1e-5);
    OK(sn_subspace_distance(P, dim, b, truth, &distance));
    return distance;
}

static const double one_direction[P] = {0.5, 0.5, 0.5, 0.5, 0, 0};
static const double two_directions[P * 2] = {1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};
static const char *const quick = "hidden=64 epochs=60 refine=60";

static sample one_index(int64_t n, double (*link)(double), double noise)
{
    sample data = sample_normal(n, P, 1, 21);
    sn_random random = sn_random_from(22, SN_STREAM_TEST, 0);
    for (int64_t i = 0; i < n; i++) {
        double t = 0;
        for (int j = 0; j < P; j++) t += one_direction[j] * (double)data.x[i * P + j];
        data.y[i] = link(t) + noise * sn_random_normal(&random);
    }
    sample_scale_y(&data);
    return data;
}

static double straight(double t)
{
    return t;
}

static double bowl(double t)
{
    return t * t;
}

/* A linear link has a constant gradient: second moments about the mean gradient would see nothing. refine=0
   looks at the outer product of gradients alone. */
TEST(nnsdr_finds_one_direction)
{
    static const struct {
        double (*link)(double);
        int classes;
        const char *options;
        double within;
    } cases[] = {{straight, 0, "hidden=64 epochs=60 refine=0", 0.1},
                 {straight, 0, "hidden=64 epochs=60 refine=60", 0.1},
                 {bowl, 0, "hidden=64 epochs=60 refine=60", 0.15},
                 {straight, 3, "hidden=64 epochs=60 refine=60", 0.15}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        SN_FREED_BY(sample_free) sample data = one_index(600, cases[k].link, 0.1);
        if (cases[k].classes > 0) sample_cut_y(&data, cases[k].classes, (const double[]){-0.5, 0.5});
        assert_true(nnsdr_distance(&data, 1, cases[k].options, one_direction) < cases[k].within);
    }
}

/* OPG of g = w_2 relu(w_1 x) with the weights of the start, written out: 1/n sum_i J_i' J_i, J_i = w_2
   diag(on) w_1, and w_2 less its mean over the outputs for classes. */
static void outer_product_at_the_start(const sample *data, int64_t hidden, double *opg)
{
    const int64_t m = data->problem.outputs;
    SN_FREED_BY(sn_network_clear)
    sn_network net = {.shape = {.layers = 2, .width = {P, hidden, m}, .activation = SN_RELU}};
    OK(sn_network_start(&net, 1));
    const float *w1 = net.theta + net.shape.weight_at[0], *w2 = net.theta + net.shape.weight_at[1];
    SN_BLOCK double *v = test_zeros(m * hidden, sizeof *v), *on = test_zeros(hidden * P, sizeof *on),
                    *jacobian = test_zeros(m * P, sizeof *jacobian);
    for (int64_t i = 0; i < m * hidden; i++) {
        v[i] = (double)w2[i];
        for (int64_t k = 0; k < m && data->problem.task == SN_CLASSIFICATION; k++)
            v[i] -= (double)w2[k * hidden + i % hidden] / (double)m;
    }
    memset(opg, 0, sizeof(double[P * P]));
    for (int64_t i = 0; i < data->problem.n; i++) {
        for (int64_t u = 0; u < hidden; u++) {
            double mu = 0.0;
            for (int j = 0; j < P; j++) mu += (double)w1[u * P + j] * (double)data->x[i * P + j];
            for (int j = 0; j < P; j++) on[u * P + j] = mu > 0.0 ? (double)w1[u * P + j] : 0.0;
        }
        sn_multiply(sn_as(v, m, hidden), sn_as(on, hidden, P), jacobian);
        sn_syrk_tn(P, m, 1.0 / (double)data->problem.n, jacobian, 1.0, opg);
    }
}

/* Steps too small for a float to feel them leave the network of step 1 where it starts. */
TEST(nnsdr_starts_from_the_outer_product_of_gradients)
{
    enum { DIM = 2 };
    SN_FREED_BY(sample_free)
    sample data = sample_normal(1100, P, 3, 5); /* more rows than are looked at together */
    for (int64_t i = 0; i < 1100; i++)
        for (int k = 0; k < 3; k++) data.y[i * 3 + k] = (double)data.x[i * P + k];
    sample_scale_y(&data);
    for (int task = 0; task < 2; task++) {
        double opg[P * P], values[P], v[P * P], truth[P * DIM];
        outer_product_at_the_start(&data, 9, opg);
        OK(sn_eigh(P, opg, values, v));
        sn_first_columns(P, P, v, DIM, truth);
        assert_true(nnsdr_distance(&data, DIM, "hidden=9 epochs=1 refine=0 rate=1e-12", truth) < 1e-5);
        if (task == 1) break;
        data.label = test_zeros(1100, sizeof *data.label);
        for (int64_t i = 0; i < 1100; i++) data.label[i] = (int32_t)(i % 3);
        data.problem.task = SN_CLASSIFICATION;
        data.problem.label = data.label;
        data.problem.y = NULL;
    }
}

/* As many directions as columns lose nothing: before any step of the refinement the prediction is that of the
   network of step 1, here still at its start, w_2 relu(w_1 x). */
TEST(nnsdr_goes_on_from_the_first_network)
{
    enum { N = 30, HIDDEN = 9 };
    SN_FREED_BY(sample_free) sample data = one_index(N, straight, 0.1);
    SN_FREED_BY(sn_network_clear)
    sn_network net = {.shape = {.layers = 2, .width = {P, HIDDEN, 1}, .activation = SN_RELU}};
    OK(sn_network_start(&net, 1));
    float z[N * P];
    double out[N], expected[N];
    fit_use("nnsdr", &data.problem, P, "hidden=9 epochs=1 refine=0 rate=1e-12", z, out, NULL);
    OK(sn_network_predict(&net, data.x, N, expected));
    assert_true(largest_gap(N, out, expected) < 1e-5);
}

/* Two targets are fitted, three classes told apart. */
TEST(nnsdr_predicts)
{
    enum { N = 500 };
    SN_FREED_BY(sample_free) sample data = sample_normal(N, P, 2, 23), classes = one_index(N, straight, 0.1);
    for (int64_t i = 0; i < N; i++) {
        data.y[i * 2] = (double)data.x[i * P];
        data.y[i * 2 + 1] = (double)(data.x[i * P + 1] * data.x[i * P + 1]);
    }
    sample_scale_y(&data);
    assert_true(nnsdr_distance(&data, 2, quick, two_directions) < 0.15);
    float z[N * 2];
    double out[N * 3], residual = 0;
    int wrong = 0;
    SN_BLOCK char *history = NULL;
    fit_use("nnsdr", &data.problem, 2, quick, z, out, &history);
    for (int i = 0; i < N * 2; i++) residual += pow(out[i] - data.y[i], 2) / (N * 2);
    assert_true(residual < 0.2);
    assert_non_null(strstr(history, "\nnnsdr,60,"));
    assert_non_null(strstr(history, "\nnnsdr refinement,60,"));
    sample_cut_y(&classes, 3, (const double[]){-0.5, 0.5});
    fit_use("nnsdr", &classes.problem, 1, quick, z, out, NULL);
    for (int i = 0; i < N; i++) {
        const double *row = out + i * 3;
        assert_true(fabs(row[0] + row[1] + row[2] - 1) < 1e-9);
        for (int c = 0; c < 3; c++)
            if (row[c] > row[classes.label[i]]) {
                wrong++;
                break;
            }
    }
    assert_true(wrong < N / 8);
}

TEST(nnsdr_says_when_there_are_fewer_directions)
{
    SN_FREED_BY(sample_free) sample data = one_index(50, straight, 0.1);
    heard messages;
    sn_fit_result result;
    OK(fit_with("nnsdr", &data.problem, 9, "epochs=2 refine=2", &messages, &result));
    assert_int_equal(result.dim, P);
    assert_int_equal(messages.warnings, 1);
    sn_method_find("nnsdr")->free(result.state);
}

/* x of rank 3 in 12 columns, of which an autoencoder of 3 units must keep what PCA keeps. */
TEST(autoencoder_reaches_principal_components)
{
    enum { N = 500, COLUMNS = 12, RANK = 3 };
    SN_FREED_BY(sample_free) sample data = sample_normal(N, COLUMNS, 1, 25);
    double factor[RANK];
    for (int64_t i = 0; i < N; i++) {
        for (int k = 0; k < RANK; k++) factor[k] = (double)data.x[i * COLUMNS + k];
        for (int j = 0; j < COLUMNS; j++) {
            double sum = 0;
            for (int k = 0; k < RANK; k++) sum += factor[k] * cos(1.0 + j * (k + 1));
            data.x[i * COLUMNS + j] = (float)(sum + 0.1 * (double)data.x[i * COLUMNS + j]);
        }
    }
    /* Standardised columns, so that the loss is the unexplained share of the variance. */
    double scaled[N * COLUMNS], singular[COLUMNS], left_over = 0;
    for (int j = 0; j < COLUMNS; j++) {
        double mean = 0, square = 0;
        for (int i = 0; i < N; i++) mean += (double)data.x[i * COLUMNS + j] / N;
        for (int i = 0; i < N; i++) square += pow((double)data.x[i * COLUMNS + j] - mean, 2) / N;
        for (int i = 0; i < N; i++)
            scaled[i * COLUMNS + j] = ((double)data.x[i * COLUMNS + j] - mean) / sqrt(square);
    }
    OK(sn_svd(N, COLUMNS, scaled, NULL, singular, NULL));
    for (int j = RANK; j < COLUMNS; j++) left_over += singular[j] * singular[j] / (N * COLUMNS);

    float z[N * RANK];
    SN_BLOCK char *history = NULL;
    fit_use("autoencoder", &data.problem, RANK, "epochs=400 batch=50 rate=0.003", z, NULL, &history);
    const char *last = strstr(history, "\nautoencoder,400,");
    assert_non_null(last);
    double loss = strtod(last + strlen("\nautoencoder,400,"), NULL) * 2 / COLUMNS; /* per column */
    assert_true(loss > 0.1 * left_over);
    if (!(loss < 1.5 * left_over + 0.002)) fail_msg("%g left over, PCA leaves %g", loss, left_over);
    for (int i = 0; i < N * RANK; i++) assert_true(fabsf(z[i]) <= 1);
}

/* Z is what the decoder sees, after the activation: far out it saturates. */
TEST(the_bottleneck_is_activated)
{
    SN_FREED_BY(sample_free) sample data = sample_normal(100, P, 1, 26);
    sn_fit_result result;
    OK(fit_with("autoencoder", &data.problem, 2, "epochs=1 hidden=4", NULL, &result));
    float wide[P * P], z[P * 2], largest = 0;
    for (int i = 0; i < P * P; i++) wide[i] = 1e4f * data.x[i];
    OK(sn_method_find("autoencoder")->transform(result.state, wide, P, NULL, z));
    for (int i = 0; i < P * 2; i++) largest = fmaxf(largest, fabsf(z[i]));
    assert_true(largest <= 1 && largest > 0.5);
    sn_method_find("autoencoder")->free(result.state);
}

TEST(odd_data_is_survived_or_refused)
{
    const char *const names[] = {"nnsdr", "autoencoder"};
    for (int k = 0; k < 2; k++) {
        const sn_method *method = sn_method_find(names[k]);
        float z[8], x[8] = {1, 2, 1, -3, 1, 0.5F, 1, 7}; /* a constant column */
        double out[8], y[4] = {1, -1, 0, 0}, *predictions = k == 0 ? out : NULL;
        int32_t label[4] = {0, 0, 0, 0};
        sn_problem problem = {.n = 1, .p = 2, .x = x, .task = SN_REGRESSION, .outputs = 1, .y = y};
        fit_use(names[k], &problem, 2, "epochs=3", z, predictions, NULL); /* one row */
        problem = (sn_problem){
            .n = 4, .p = 2, .x = x, .task = SN_CLASSIFICATION, .outputs = 1, .label = label}; /* one class */
        fit_use(names[k], &problem, 1, "epochs=3", z, predictions, NULL);
        for (int i = 0; i < 4; i++) assert_true(isfinite(z[i]));
        for (int i = 0; i < 8; i++) x[i] *= 4e37F;
        problem = (sn_problem){.n = 4, .p = 2, .x = x, .task = SN_REGRESSION, .outputs = 1, .y = y};
        sn_fit_result result;
        const stonet_status status = fit_with(names[k], &problem, 1, "epochs=3 batch=2", NULL, &result);
        assert_true(status == STONET_OK || status == STONET_ERROR_NUMERIC);
        if (status == STONET_OK) OK(method->transform(result.state, x, 4, NULL, z));
        for (int i = 0; i < 4 && k == 1 && status == STONET_OK; i++) assert_true(isfinite(z[i]));
        method->free(result.state);
        SN_AUTO(sn_store) *empty = NULL;
        void *state;
        OK(sn_store_create(&empty));
        assert_int_equal(method->load(empty, &state), STONET_ERROR_FORMAT);
    }
}

RUN_TESTS(NULL, NULL)
