#include "base/json.h"
#include "base/test_kit.h"
#include "data/frame.h"

static stonet_data *generate(const char *name, int64_t rows, uint64_t seed)
{
    stonet_data *data;
    OK(stonet_generate(name, rows, seed, &data));
    return data;
}

/* Tables with text have no known predictor. */
static bool is_table(const json_t *entry)
{
    return json_integer_value(json_object_get(entry, "truth")) == 0;
}

/* Cells of a table as text, whatever they are. */
static const char *cell(const stonet_data *data, int64_t row, int64_t column, char text[64])
{
    int64_t texts;
    const int32_t *codes = stonet_data_column_codes(data, column, &texts);
    if (codes != NULL) return stonet_data_column_text(data, column, codes[row]);
    snprintf(text, 64, "%.17g", sn_frame_number(data, row, data->column[column].slot));
    return text;
}

/* A column does not depend on how many follow it; the response needs the first few only. */
static void check_more_columns(const char *name, int64_t least)
{
    char asked[64];
    snprintf(asked, sizeof asked, "%s:%d", name, (int)least);
    SN_AUTO(stonet_data) *narrow = generate(asked, 20, 4);
    snprintf(asked, sizeof asked, "%s:%d", name, (int)least + 7);
    SN_AUTO(stonet_data) *wider = generate(asked, 20, 4);
    assert_int_equal(stonet_data_columns(narrow), least);
    assert_int_equal(stonet_data_columns(wider), least + 7);
    for (int i = 0; i < 20; i++) {
        assert_memory_equal(narrow->x + i * least, wider->x + i * (least + 7), (size_t)least * sizeof(float));
        if (narrow->y != NULL) assert_true(narrow->y[i] == wider->y[i]);
        if (narrow->label != NULL) assert_int_equal(narrow->label[i], wider->label[i]);
    }
    assert_memory_equal(narrow->truth, wider->truth, (size_t)(20 * narrow->n_truth) * sizeof(double));
}

TEST(test_rows_do_not_depend_on_each_other)
{
    SN_BLOCK char *text = stonet_generators_json();
    SN_AUTO(json_t) *list = json_loads(text, 0, NULL);
    json_t *entry;
    size_t index;
    assert_true(json_array_size(list) >= 5);
    json_array_foreach(list, index, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        SN_AUTO(stonet_data) *few = generate(name, 10, 4), *many = generate(name, 50, 4),
                             *other = generate(name, 10, 5);
        int64_t p = stonet_data_columns(few), truths, differ = 0;
        assert_int_equal(p, json_integer_value(json_object_get(entry, "columns")));
        for (int64_t k = 0; k < 10 * p; k++) {
            char a[64], b[64], c[64];
            const char *of_few = cell(few, k / p, k % p, a);
            assert_string_equal(of_few, cell(many, k / p, k % p, b));
            differ += strcmp(of_few, cell(other, k / p, k % p, c)) != 0;
        }
        assert_true(differ > 5);
        assert_int_equal(stonet_data_truth(few, &truths) == NULL, is_table(entry));
        assert_int_equal(truths, json_integer_value(json_object_get(entry, "truth")));
        if (is_table(entry)) continue;
        assert_memory_equal(few->truth, many->truth, (size_t)(10 * few->n_truth) * sizeof(double));
        bool classes = strcmp(json_string_value(json_object_get(entry, "task")), "classification") == 0;
        assert_int_equal(classes, few->label != NULL);
        check_more_columns(name, json_integer_value(json_object_get(entry, "least_columns")));
    }
}

/* The log odds must be calibrated: in each bin of T, the share of the class is the mean of 1 / (1 + exp(-T)).
 */
static void check_log_odds(const char *name, double share, double tolerance, double bayes_error)
{
    enum { N = 40000, BINS = 8 };
    SN_AUTO(stonet_data) *data = generate(name, N, 1);
    double expected[BINS] = {0}, met[BINS] = {0}, spread[BINS] = {0}, total = 0, errors = 0;
    for (int i = 0; i < N; i++) {
        double t = data->truth[i], odds = 1 / (1 + exp(-t));
        int bin = (int)fmin(fmax(t + BINS / 2.0, 0), BINS - 1);
        expected[bin] += odds;
        spread[bin] += odds * (1 - odds);
        met[bin] += data->label[i];
        total += data->label[i];
        errors += (t > 0) != data->label[i];
    }
    assert_true(fabs(total / N - share) < tolerance);
    assert_true(fabs(errors / N - bayes_error) < 0.008);
    for (int k = 0; k < BINS; k++) {
        if (fabs(met[k] - expected[k]) > 4.5 * sqrt(spread[k]) + 1)
            fail_msg("%s: bin %d has %g where %g are due", name, k, met[k], expected[k]);
    }
}

TEST(test_classes)
{
    check_log_odds("waveform", 1.0 / 3, 0.01, 0.084);
    check_log_odds("ring", 0.52, 0.01, 0.112);
}

/* Mean by class of Breiman's waves where only one of them reaches: sensor 3 belongs to the early wave (peak
   7), sensor 19 to the late one (peak 15); each wave has weight 1/2 in the two classes it is part of. */
TEST(test_waves)
{
    enum { N = 20000 };
    SN_AUTO(stonet_data) *data = generate("waveform", N, 2);
    double early = 0, late = 0, count = 0;
    for (int i = 0; i < N; i++) {
        if (data->label[i] == 0) continue;
        count++;
        early += (double)data->x[21 * i + 2];
        late += (double)data->x[21 * i + 18];
    }
    assert_true(fabs(early / count - 1) < 0.06);
    assert_true(fabs(late / count) < 0.06);
    assert_string_equal(stonet_data_class_label(data, 1), "1");
}

static void check_residual(const char *name, double (*mean)(double truth), double variance, double tolerance)
{
    enum { N = 40000 };
    SN_AUTO(stonet_data) *data = generate(name, N, 1);
    double sum = 0, squares = 0, cross = 0;
    for (int i = 0; i < N; i++) {
        double m = mean(data->truth[i]), residual = data->y[i] - m;
        sum += residual;
        squares += residual * residual;
        cross += residual * m;
    }
    assert_true(fabs(sum / N) < 0.03);
    assert_true(fabs(squares / N - variance) < tolerance);
    assert_true(fabs(cross / N) < 0.1);
}

static double same(double t)
{
    return t;
}

static double r_log_r(double r)
{
    return r * log(r);
}

TEST(test_regressions)
{
    check_residual("m1", cos, 0.5, 0.08); /* heavy tails: kurtosis 25 */
    check_residual("ratio", same, 0.25, 0.01);
    check_residual("radial", r_log_r, 0.25, 0.01);
    check_residual("sigmoid", same, 0.25, 0.01);
    check_residual("friedman", same, 1, 0.03);
    const char *const half[] = {"mean-ratio:4",          "mean-ratio-poisson:4", "mean-ratio-t:4",
                                "mean-square:4",         "mean-square-t:4",      "mean-log:4",
                                "mean-square-poisson:4", "mean-log-poisson:4",   "wide:9"};
    for (size_t k = 0; k < sizeof half / sizeof *half; k++) check_residual(half[k], same, 0.25, 0.01);
    check_residual("select-regression:9", same, 1, 0.03);
}

/* y = T1 + T2 e: the standardised residual is N(0, 1), and its square does not depend on T2. T is computed
   again from x. */
static void check_spread(const char *name, double (*location)(const float *x, const double *t),
                         double (*scale)(const float *x, const double *t))
{
    enum { N = 40000 };
    SN_AUTO(stonet_data) *data = generate(name, N, 1);
    int64_t p = stonet_data_columns(data), q = data->n_truth;
    double mean = 0, square = 0, fourth = 0, cross = 0, total = 0;
    for (int i = 0; i < N; i++) {
        const float *x = data->x + i * p;
        const double *t = data->truth + i * q;
        double s = scale(x, t), e = (data->y[i] - location(x, t)) / s;
        mean += e / N;
        square += e * e / N;
        fourth += e * e * e * e / N;
        cross += e * e * s / N;
        total += s / N;
    }
    assert_true(fabs(mean) < 0.02);
    assert_true(fabs(square - 1) < 0.03);
    assert_true(fabs(fourth - 3) < 0.2);
    assert_true(fabs(cross / total - 1) < 0.08);
}

static double none(const float *x, const double *t)
{
    (void)x;
    (void)t;
    return 0;
}

static double first(const float *x, const double *t)
{
    double expected = sin(((double)x[0] + (double)x[1]) * M_PI / 10) + (double)x[0] * (double)x[0];
    assert_true(fabs(expected - t[0]) < 1e-9);
    return t[0];
}

static double spread(const float *x, const double *t)
{
    (void)t;
    return 2 * pow(sin(((double)x[2] + (double)x[3]) * M_PI / 10), 2) + (double)x[2] * (double)x[2];
}

static double ratio1(const float *x, const double *t)
{
    double square = pow(1 + (double)x[1], 2), expected = (double)x[0] / (1 + square) + square;
    assert_true(fabs(expected - t[0]) < 1e-9);
    return t[0];
}

static double ratio2(const float *x, const double *t)
{
    double square = pow(1 + (double)x[3], 2), expected = 3 * pow((double)x[2], 2) / (1 + square) + square;
    assert_true(fabs(expected - t[1]) < 1e-9);
    return t[1];
}

static double linear1(const float *x, const double *t)
{
    assert_true(fabs((double)x[0] + (double)x[1] - t[0]) < 1e-9);
    return 2 * sin(t[0] * M_PI / 20);
}

static double linear2(const float *x, const double *t)
{
    assert_true(fabs((double)x[2] + 3 * (double)x[3] - t[1]) < 1e-9);
    return 3 * pow(sin(t[1] * M_PI / 30), 2);
}

TEST(test_spreads)
{
    check_spread("location-scale:4", first, spread);
    check_spread("scale:4", none, spread);
    check_spread("location-scale-ratio:4", ratio1, ratio2);
    check_spread("location-scale-linear:4", linear1, linear2);
}

/* Mean, variance and covariance of the columns, as the papers say. */
static void check_columns(const char *name, double mean, double variance, double covariance, double tolerance)
{
    enum { N = 40000 };
    SN_AUTO(stonet_data) *data = generate(name, N, 2);
    int64_t p = stonet_data_columns(data);
    const int64_t a = p - 2, b = p - 1;
    double sum = 0, square = 0, cross = 0;
    for (int i = 0; i < N; i++) {
        double u = (double)data->x[i * p + a] - mean, v = (double)data->x[i * p + b] - mean;
        sum += u / N;
        square += u * u / N;
        cross += u * v / N;
    }
    assert_true(fabs(sum) < tolerance);
    assert_true(fabs(square - variance) < 2 * tolerance);
    assert_true(fabs(cross - covariance) < 2 * tolerance);
}

TEST(test_column_laws)
{
    check_columns("mean-log:3", 0, 0.5, 0, 0.015);
    check_columns("mean-log-poisson:3", 0, 1, 0, 0.02);
    check_columns("mean-log-t:3", 0, 2, 0.8, 0.06); /* t_4: covariance times 4 / (4 - 2) */
    check_columns("location-scale:4", 0.2, 0.5, 0, 0.015);
    check_columns("location-scale-linear:4", 2, 1, 0, 0.02);
    check_columns("select-regression:7", 0, 1, 0.5, 0.02);
    check_columns("wide:6", 0, 1, 0, 0.02);
}

/* Liang's classes: balanced, and a function of x1..x4. */
TEST(test_select_classes)
{
    enum { N = 20000, P = 6 };
    SN_AUTO(stonet_data) *data = generate("select-classes:6", N, 1);
    double ones = 0;
    for (int i = 0; i < N; i++) {
        const float *x = data->x + i * P;
        double t = exp((double)x[0]) + pow((double)x[1], 2) + 5 * sin((double)x[2] * (double)x[3]);
        assert_true(fabs(t - data->truth[i]) < 1e-9);
        assert_int_equal(data->label[i], t > 3);
        ones += data->label[i];
    }
    assert_true(fabs(ones / N - 0.5) < 0.015);
}

TEST(test_m1_features)
{
    enum { N = 20000 };
    SN_AUTO(stonet_data) *data = generate("m1", N, 3);
    double covariance[3] = {0};
    for (int i = 0; i < N; i++) {
        const float *x = data->x + 20 * i;
        for (int lag = 0; lag < 3; lag++) covariance[lag] += (double)x[10] * (double)x[10 + lag] / N;
        double t = 0;
        for (int j = 0; j < 6; j++) t += (double)x[j] / sqrt(6);
        assert_true(fabs(t - data->truth[i]) < 1e-9);
    }
    assert_true(fabs(covariance[0] - 1) < 0.05);
    assert_true(fabs(covariance[1] - 0.5) < 0.04);
    assert_true(fabs(covariance[2] - 0.25) < 0.04);
}

/* Women survive more often, and ages of those who do not survive are missing more often. */
TEST(test_passengers)
{
    enum { N = 20000, SEX = 1, AGE = 2, CLASS = 3, SURVIVED = 4 };
    SN_AUTO(stonet_data) *data = generate("passengers", N, 1);
    double count[2][2] = {{0}}, missing[2] = {0}, all[2] = {0};
    for (int64_t i = 0; i < N; i++) {
        char age[64];
        const int woman = strcmp(cell(data, i, SEX, NULL), "woman") == 0,
                  survived = strcmp(cell(data, i, SURVIVED, NULL), "yes") == 0;
        if (strcmp(cell(data, i, CLASS, NULL), "third") != 0) count[woman][survived]++;
        all[survived]++;
        missing[survived] += strstr(cell(data, i, AGE, age), "nan") != NULL;
    }
    assert_true(fabs(count[1][1] / (count[1][0] + count[1][1]) - (0.8 - 0.002 * 34.5)) < 0.02);
    assert_true(fabs(count[0][1] / (count[0][0] + count[0][1]) - (0.25 - 0.002 * 34.5)) < 0.02);
    assert_true(fabs(missing[1] / all[1] - 0.05) < 0.01);
    assert_true(fabs(missing[0] / all[0] - 0.3) < 0.01);
}

/* Days follow each other, and ozone is what the formula says, up to noise in (0, 10) and rounding. */
TEST(test_air)
{
    enum { N = 5000, DATE = 0, SOLAR = 1, WIND = 2, TEMP = 3, OZONE = 4, TEN_YEARS = 3653 };
    SN_AUTO(stonet_data) *data = generate("air", N, 1);
    assert_true(data->column[DATE].is_date);
    for (int64_t i = 0; i < N; i++) {
        double v[5];
        for (int64_t j = 0; j < 5; j++) v[j] = sn_frame_number(data, i, data->column[j].slot);
        assert_true(v[DATE] == 19723 + (double)(i % TEN_YEARS)); /* 2024-01-01 */
        const double noise = v[OZONE] - (v[TEMP] - 40 + 0.05 * v[SOLAR] + 100 / v[WIND]);
        assert_true(isnan(noise) || (noise > -0.1 && noise < 10.1));
    }
    assert_true(fabs((double)stonet_data_missing(data, SOLAR) / N - 0.1) < 0.02);
    assert_true(fabs((double)stonet_data_missing(data, OZONE) / N - 0.2) < 0.02);
}

TEST(test_refusals)
{
    stonet_data *data;
    assert_says(stonet_generate("wave", 10, 1, &data), STONET_ERROR_ARGUMENT,
                "no generator 'wave': choose one of waveform, m1");
    assert_int_equal(stonet_generate("m1", (int64_t)1 << 40, 1, &data), STONET_ERROR_ARGUMENT);
    const char *const wrong[] = {"ratio:1",  "ratio:",   "ratio:x",       "ratio:4x",
                                 "ratio:-4", "ratio: 4", "ratio:2000000", ":4"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        assert_int_equal(stonet_generate(wrong[k], 10, 1, &data), STONET_ERROR_ARGUMENT);
    assert_says(stonet_generate("passengers:6", 10, 1, &data), STONET_ERROR_ARGUMENT, "always has 5 columns");
    assert_says(stonet_generate("waveform:20", 10, 1, &data), STONET_ERROR_ARGUMENT, "from 21 to");
    assert_null(data);
}

RUN_TESTS(NULL, NULL)
