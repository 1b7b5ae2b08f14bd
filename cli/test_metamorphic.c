/*
 * What must not matter to a default fit, and what the same change of a table and of an answer must give: the
 * relations that docs/reliability.md promises. Some hold to the byte. Starts are drawn for the place of a
 * column or class; after another order of them a fit is another draw, as with another seed, and only its
 * error is held to.
 */
#include "cli/test_support.h"

#include <stonet/stonet.h>

enum { N = 80, P = 3, FRESH = 200, MOST = 2 * N + FRESH, CLASSES = 3 };

/* A table: N rows to fit (2 N where they are doubled), and FRESH ones. */
typedef struct table {
    double x[MOST * P], y[MOST], weight[2 * N];
    int32_t label[MOST];
    bool weighs, is_classes;
    const char *names[CLASSES];
    int64_t rows; /* of the fit; fresh ones follow */
} table;

/* About normal: the sum of twelve uniform numbers of a congruential generator. */
static double normal(uint64_t *state)
{
    double sum = -6.0;
    for (int k = 0; k < 12; k++) {
        *state = *state * 6364136223846793005U + 1442695040888963407U;
        sum += ldexp((double)(*state >> 11), -53);
    }
    return sum;
}

/* y = x1 + sin 2 x2 and noise; the class is the third of the range that y is in. */
static void draw(table *t, bool is_classes)
{
    uint64_t state = 38;
    *t = (table){.rows = N, .is_classes = is_classes, .names = {"a", "b", "c"}};
    for (int i = 0; i < N + FRESH; i++) {
        double *x = &t->x[(int64_t)i * P];
        for (int j = 0; j < P; j++) x[j] = (double)(float)normal(&state);
        t->y[i] = x[0] + sin(2.0 * x[1]) + 0.2 * normal(&state);
        t->label[i] = t->y[i] < -0.6 ? 0 : t->y[i] < 0.6 ? 1 : 2;
    }
}

static stonet_data *data_of(const table *t, int64_t first, int64_t count)
{
    stonet_data *data = NULL;
    assert_int_equal(stonet_data_wrap_double(t->x + first * P, count, P, &data), STONET_OK);
    if (t->is_classes)
        assert_int_equal(stonet_data_set_classes(data, t->label + first, t->names, CLASSES), STONET_OK);
    else
        assert_int_equal(stonet_data_set_targets(data, t->y + first, 1), STONET_OK);
    if (t->weighs && first == 0) assert_int_equal(stonet_data_set_weights(data, t->weight), STONET_OK);
    return data;
}

static stonet_model *fit(const table *t)
{
    SN_AUTO(stonet_spec) *spec = NULL;
    stonet_model *model = NULL;
    stonet_run run = STONET_RUN_INIT;
    run.threads = 1;
    SN_AUTO(stonet_data) *data = data_of(t, 0, t->rows);
    assert_int_equal(stonet_spec_create("stonet", &spec), STONET_OK);
    assert_int_equal(stonet_spec_set(spec, "dim", "1"), STONET_OK);
    if (stonet_fit(spec, data, &run, &model) != STONET_OK) fail_msg("%s", stonet_last_error());
    return model;
}

/* Predictions for the fresh rows. */
static void ask(const stonet_model *model, const table *t, double *out)
{
    SN_AUTO(stonet_data) *data = data_of(t, t->rows, FRESH);
    assert_int_equal(stonet_predict(model, data, NULL, out), STONET_OK);
}

/* Predictions of a fit for the fresh rows: FRESH numbers, or probabilities of each class. */
static void answer(const table *t, double *out)
{
    SN_AUTO(stonet_model) *model = fit(t);
    ask(model, t, out);
}

/* The root of the mean square of a - b over the fresh rows. */
static double apart(const double *a, const double *b, int64_t columns)
{
    double sum = 0.0;
    for (int64_t i = 0; i < FRESH * columns; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum / (double)(FRESH * columns));
}

/* Two fits that are two draws of one: they differ less from each other than either does from the truth, and
   are as far from it, to a quarter. */
static void assert_alike(const double *a, const double *b, const double *truth, int64_t columns)
{
    const double error = apart(a, truth, columns), other = apart(b, truth, columns);
    if (!(apart(a, b, columns) < fmin(error, other)) || error > 1.25 * other || other > 1.25 * error)
        fail_msg("%g from each other, %g and %g from the truth", apart(a, b, columns), error, other);
}

typedef struct fits {
    table numbers, classes;
    double number[FRESH], share[FRESH * CLASSES], truth[FRESH * CLASSES]; /* truth: of the classes */
} fits;
static fits usual;

static int set_up(void **state)
{
    draw(&usual.numbers, false);
    draw(&usual.classes, true);
    answer(&usual.numbers, usual.number);
    answer(&usual.classes, usual.share);
    for (int i = 0; i < FRESH; i++) usual.truth[i * CLASSES + usual.classes.label[N + i]] = 1.0;
    return enter_test_folder(state);
}

/* Units do not matter: by a power of two not in a bit. */
TEST(powers_of_two_change_nothing)
{
    static table t;
    double out[FRESH];
    t = usual.numbers;
    for (int i = 0; i < (N + FRESH) * P; i++) t.x[i] = ldexp(t.x[i], 5 * (i % P) - 7);
    for (int i = 0; i < N + FRESH; i++) t.y[i] *= 8.0;
    answer(&t, out);
    for (int i = 0; i < FRESH; i++) out[i] /= 8.0;
    assert_memory_equal(out, usual.number, sizeof out);
}

/* Other units, and another zero, round the standardised numbers anew, by 6e-8 of themselves. Each of up to a
   thousand updates may add as much: 6e-5 of the standard deviation of y, which is about 1. */
TEST(units_and_zeros_hardly_matter)
{
    static table t;
    double out[FRESH];
    t = usual.numbers;
    for (int i = 0; i < (N + FRESH) * P; i++) t.x[i] = 3.3 * t.x[i] + 17.0 * (i % P);
    answer(&t, out);
    for (int i = 0; i < FRESH; i++)
        if (!(fabs(out[i] - usual.number[i]) < 1e-4)) fail_msg("%g, not %g", out[i], usual.number[i]);
}

TEST(order_of_columns_is_another_draw)
{
    static table t;
    double out[FRESH];
    t = usual.numbers;
    for (int i = 0; i < (N + FRESH) * P; i++) t.x[i] = usual.numbers.x[i / P * P + (i + 1) % P];
    answer(&t, out);
    assert_alike(usual.number, out, t.y + N, 1);
}

TEST(equal_weights_change_nothing)
{
    static table t;
    double out[FRESH];
    t = usual.numbers;
    t.weighs = true;
    for (int i = 0; i < N; i++) t.weight[i] = 2.0;
    answer(&t, out);
    assert_memory_equal(out, usual.number, sizeof out);
}

/* Every second row twice, or with weight 2: other batches, so another draw. */
TEST(copies_are_weights)
{
    static table weighed, copied;
    double out[2][FRESH];
    int at = 0;
    weighed = copied = usual.numbers;
    weighed.weighs = true;
    for (int i = 0; i < N; i++) weighed.weight[i] = 1.0 + i % 2;
    for (int i = 0; i < N + FRESH; i++) {
        for (int copy = 0; copy < (i < N ? 1 + i % 2 : 1); copy++, at++) {
            memcpy(&copied.x[(int64_t)at * P], &weighed.x[(int64_t)i * P], P * sizeof *copied.x);
            copied.y[at] = weighed.y[i];
        }
    }
    copied.rows = at - FRESH;
    answer(&weighed, out[0]);
    answer(&copied, out[1]);
    assert_alike(out[0], out[1], weighed.y + N, 1);
}

TEST(names_of_classes_do_not_matter)
{
    static table t;
    double out[FRESH * CLASSES];
    t = usual.classes;
    t.names[0] = "z";
    answer(&t, out);
    assert_memory_equal(out, usual.share, sizeof out);
}

/* The first class becomes the second, and so on. */
TEST(order_of_classes_is_another_draw)
{
    static table t;
    double out[FRESH * CLASSES], back[FRESH * CLASSES];
    t = usual.classes;
    for (int i = 0; i < N + FRESH; i++) t.label[i] = (t.label[i] + 1) % CLASSES;
    answer(&t, out);
    for (int i = 0; i < FRESH * CLASSES; i++) back[i] = out[i / CLASSES * CLASSES + (i + 1) % CLASSES];
    assert_alike(usual.share, back, usual.truth, CLASSES);
}

/* The program and the library: the same model file and the same answers, and these row by row. */
TEST(one_answer_by_every_way)
{
    SN_AUTO(stonet_data) *train = data_of(&usual.numbers, 0, N / 2),
                         *fresh = data_of(&usual.numbers, N, FRESH);
    assert_int_equal(stonet_data_write(train, "train.csv"), STONET_OK);
    assert_int_equal(stonet_data_write(fresh, "fresh.csv"), STONET_OK);
    stonet_data_free(train);
    stonet_data_free(fresh);
    stonet_read_options how = STONET_READ_OPTIONS_INIT;
    how.target = "y";
    SN_AUTO(stonet_spec) *spec = NULL;
    SN_AUTO(stonet_model) *model = NULL;
    double all[FRESH], one;
    assert_int_equal(stonet_data_read("train.csv", &how, &train), STONET_OK);
    assert_int_equal(stonet_spec_create("stonet", &spec), STONET_OK);
    assert_int_equal(stonet_spec_set(spec, "dim", "1"), STONET_OK);
    assert_int_equal(stonet_fit(spec, train, NULL, &model), STONET_OK);
    assert_int_equal(stonet_model_save(model, "library.model"), STONET_OK);
    SH("stonet fit train.csv --target y --dim 1 --quiet --out program.model");
    SH("cmp program.model library.model");
    assert_int_equal(stonet_data_read_for(model, "fresh.csv", NULL, &fresh), STONET_OK);
    assert_int_equal(stonet_predict(model, fresh, NULL, all), STONET_OK);
    SH("stonet predict program.model fresh.csv | sed 1d");
    const char *line = captured_out;
    for (int64_t i = 0; i < FRESH; i++) {
        SN_AUTO(stonet_data) *row = NULL;
        assert_int_equal(stonet_data_subset(fresh, &i, 1, &row), STONET_OK);
        assert_int_equal(stonet_predict(model, row, NULL, &one), STONET_OK);
        assert_memory_equal(&one, &all[i], sizeof one);
        assert_non_null(line);
        assert_true(fabs(strtod(line, NULL) - one) <= 1e-15 * fabs(one));
        line = strchr(line, '\n') + 1;
    }
}

RUN_TESTS(set_up, leave_test_folder)
