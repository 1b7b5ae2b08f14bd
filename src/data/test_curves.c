/* Curves: the formulas against their definitions, and columns that are curves in a table. */
#include <math.h>
#include <unistd.h>

#include "base/test_kit.h"
#include "data/test_tables.h"

enum { M = 21 };

static void prepare(sn_curve how, int64_t window, const double *x, double *out)
{
    double copy[M];
    memcpy(copy, x, sizeof copy);
    assert_true(sn_curve_prepare(&(sn_curves){.how = how, .window = window}, M, copy, out));
}

static void bumpy(double *x)
{
    for (int k = 0; k < M; k++) x[k] = sin(0.7 * k) + 0.1 * k * k + ((k * 7) % 5) / 3.0;
}

/* Of a parabola the derivatives are exact, at the ends too. */
TEST(derivatives_of_a_parabola)
{
    double x[M], out[M];
    for (int k = 0; k < M; k++) x[k] = 3.0 - 2.0 * k + 0.5 * k * k;
    for (int64_t window = 5; window <= M; window += 8) {
        prepare(SN_CURVE_DERIVATIVE1, window, x, out);
        for (int k = 0; k < M; k++) assert_near(out[k], -2.0 + k, 1e-10);
        prepare(SN_CURVE_DERIVATIVE2, window, x, out);
        for (int k = 0; k < M; k++) assert_near(out[k], 1.0, 1e-10);
    }
}

/* The coefficients that Savitzky and Golay print for five points. */
TEST(derivatives_have_the_published_coefficients)
{
    static const double FIRST[] = {-0.2, -0.1, 0.0, 0.1, 0.2},
                        SECOND[] = {2.0 / 7, -1.0 / 7, -2.0 / 7, -1.0 / 7, 2.0 / 7};
    double x[M], one[M], two[M], sd[2] = {0.0, 0.0};
    bumpy(x);
    prepare(SN_CURVE_DERIVATIVE1, 5, x, one);
    prepare(SN_CURVE_DERIVATIVE2, 5, x, two);
    for (int k = 2; k < M - 2; k++) {
        double sum[2] = {0.0, 0.0};
        for (int i = 0; i < 5; i++) {
            sum[0] += FIRST[i] * x[k - 2 + i];
            sum[1] += SECOND[i] * x[k - 2 + i];
        }
        assert_near(one[k], sum[0], 1e-12);
        assert_near(two[k], sum[1], 1e-12);
    }
    for (int k = 0; k < M; k++) sd[0] += x[k] / M;
    for (int k = 0; k < M; k++) sd[1] += (x[k] - sd[0]) * (x[k] - sd[0]) / (M - 1);
    double both[M];
    prepare(SN_CURVE_SNV_DERIVATIVE2, 5, x, both);
    for (int k = 0; k < M; k++) assert_near(both[k], two[k] / sqrt(sd[1]), 1e-12);
}

/* Standard normal variates have mean 0 and variance 1, and do not see an offset and a factor. */
TEST(what_the_rows_have_in_common_goes)
{
    double x[M], out[M], moved[M], again[M], flat[M], mean = 0.0, square = 0.0;
    bumpy(x);
    prepare(SN_CURVE_SNV, 5, x, out);
    for (int k = 0; k < M; k++) mean += out[k];
    for (int k = 0; k < M; k++) square += out[k] * out[k];
    assert_near(mean, 0.0, 1e-12);
    assert_near(square, M - 1.0, 1e-10);
    for (int k = 0; k < M; k++) moved[k] = 5.0 + 3.0 * x[k];
    prepare(SN_CURVE_SNV, 5, moved, again);
    for (int k = 0; k < M; k++) assert_near(again[k], out[k], 1e-12);
    prepare(SN_CURVE_CENTRE, 5, x, out);
    for (int k = 1; k < M; k++) assert_near(out[k] - out[k - 1], x[k] - x[k - 1], 1e-12);
    for (int k = 0; k < M; k++) moved[k] = 3.0 - 2.0 * k + 0.5 * k * k;
    prepare(SN_CURVE_DETREND, 5, moved, out);
    for (int k = 0; k < M; k++) assert_near(out[k], 0.0, 1e-10);
    for (int k = 0; k < M; k++) flat[k] = 0.1;
    for (int how = SN_CURVE_SNV; how < sn_curve_words.count; how++) {
        prepare((sn_curve)how, 5, flat, out);
        for (int k = 0; k < M; k++) assert_near(out[k], 0.0, 1e-14);
    }
}

TEST(gaps_are_on_the_line_between_neighbours)
{
    double x[M], gaps[M], out[M], again[M];
    const sn_curves snv = {.how = SN_CURVE_SNV, .window = 5};
    for (int k = 0; k < M; k++) gaps[k] = x[k] = k < 3 ? 3.0 : k > 17 ? 17.0 : (double)k;
    gaps[0] = gaps[2] = gaps[8] = gaps[9] = gaps[20] = (double)NAN;
    prepare(SN_CURVE_SNV, 5, x, out);
    prepare(SN_CURVE_SNV, 5, gaps, again);
    for (int k = 0; k < M; k++) assert_near(again[k], out[k], 1e-14);
    for (int k = 0; k < 11; k++) gaps[k] = (double)NAN; /* 12 of 21 */
    assert_false(sn_curve_prepare(&snv, M, gaps, again));
}

/* ---- tables ------------------------------------------------------------------------------------------- */

enum { ROWS = 30, COLUMNS = 14, P = 15 };

/* A word, six channels, a number, seven channels. */
static stonet_data *table(const char *first_cell)
{
    char path[] = "/tmp/stonet_curves_XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    fprintf(file, "word,a1,a2,a3,a4,a5,a6,n,b1,b2,b3,b4,b5,b6,b7,y\n");
    for (int i = 0; i < ROWS; i++) {
        fprintf(file, "%s,", i % 2 == 0 ? "yes" : "no");
        for (int k = 0; k < COLUMNS; k++)
            if (i == 0 && k == 1 && first_cell != NULL)
                fprintf(file, "%s,", first_cell);
            else
                fprintf(file, "%.6g,", 5 + sin(0.3 * i + k) + 0.2 * ((i * 7 + k * k) % 11));
        fprintf(file, "%d.5\n", i * i % 13);
    }
    assert_int_equal(fclose(file), 0);
    stonet_read_options options = STONET_READ_OPTIONS_INIT;
    stonet_data *data = NULL;
    options.target = "y";
    OK(stonet_data_read(path, &options, &data));
    unlink(path);
    return data;
}

static sn_encoding wanted(sn_curve how, const char *columns)
{
    return (sn_encoding){.scale = SN_SCALE_COLUMN,
                         .task = SN_TASK_WISH_REGRESSION,
                         .missing = SN_MISSING_GAUSSIAN,
                         .levels = 8,
                         .curves = how,
                         .curve_columns = columns};
}

TEST(curves_of_a_table)
{
    SN_AUTO(stonet_data) *data = table(NULL);
    float x[ROWS * (P + 1)], again[P + 1], raw[ROWS * (P + 1)];
    const sn_encoding how = wanted(SN_CURVE_SNV_DERIVATIVE1, "a1-a6,9-15");
    SN_AUTO(sn_schema) *schema = fitted(data, &how);
    assert_int_equal(schema->p, P + 1); /* the word has two */
    assert_string_equal(schema->feature_name[2], "a1 snv-derivative1");
    assert_string_equal(schema->feature_name[8], "n");
    OK(sn_schema_encode_x(schema, data, x));
    /* Words and the number are as they are without curves; channels have mean 0 and variance 1. */
    const sn_encoding none = wanted(SN_CURVE_NONE, "2-7");
    SN_AUTO(sn_schema) *plain = fitted(data, &none);
    OK(sn_schema_encode_x(plain, data, raw));
    for (int i = 0; i < ROWS; i++)
        for (int f = 0; f < 9; f += f == 1 ? 7 : 1) assert_true(x[i * (P + 1) + f] == raw[i * (P + 1) + f]);
    double value[6], out[6];
    for (int k = 0; k < 6; k++) value[k] = (double)data->x[data->n_numeric + data->column[1 + k].slot];
    assert_true(sn_curve_prepare(&schema->curves, 6, value, out));
    for (int k = 0; k < 6; k++) {
        assert_near(mean_of(x + 2 + k, ROWS, P + 1), 0.0, 1e-6);
        assert_near(mean_square(x + 2 + k, ROWS, P + 1, 0.0), 1.0, 1e-5);
        assert_near((double)x[P + 1 + 2 + k], (out[k] - schema->centre[2 + k]) * schema->factor[2 + k], 1e-5);
    }
    /* Saved and loaded, and a row alone: the same bits. */
    SN_AUTO(sn_schema) *back = loaded_again(schema);
    OK(sn_schema_encode_rows(back, data, 7, 1, again));
    assert_memory_equal(again, x + 7 * (P + 1), sizeof again);
}

/* scale=auto: the variances of all channels of a curve have the mean 1, and what hardly varies stays small.
 */
TEST(channels_of_a_curve_share_their_scale)
{
    SN_AUTO(stonet_data) *data = table(NULL);
    float x[ROWS * (P + 1)];
    static const int FIRST[] = {2, 8, 9, P + 1}; /* features: a1 .., n, b1 .. */
    sn_encoding how = wanted(SN_CURVE_DERIVATIVE1, "a1-a6,b1-b7");
    how.scale = SN_SCALE_AUTO;
    SN_AUTO(sn_schema) *schema = fitted(data, &how);
    OK(sn_schema_encode_x(schema, data, x));
    for (int part = 0; part < 3; part++) {
        double square = 0.0;
        for (int f = FIRST[part]; f < FIRST[part + 1]; f++) {
            if (part != 1) assert_true(schema->factor[f] == schema->factor[FIRST[part]]);
            square += mean_square(x + f, ROWS, P + 1, 0.0);
        }
        assert_near(square, FIRST[part + 1] - FIRST[part], 1e-4);
    }
    assert_true(schema->factor[2] != schema->factor[9]);
}

/* A channel that is missing lies between its neighbours and is no cell to impute. */
TEST(missing_channels_of_a_table)
{
    SN_AUTO(stonet_data) *data = table("NA"), *full = table(NULL);
    const sn_encoding how = wanted(SN_CURVE_CENTRE, "2-7,9-15");
    float x[ROWS * (P + 1)];
    double value[6], out[6];
    SN_AUTO(sn_schema) *schema = fitted(data, &how);
    OK(sn_schema_encode_x(schema, data, x));
    for (int k = 0; k < 6; k++) value[k] = (double)full->x[full->column[1 + k].slot];
    value[1] = (value[0] + value[2]) / 2.0;
    sn_curve_linear(&schema->curves, 6, value, out);
    for (int k = 0; k < 6; k++)
        assert_near((double)x[2 + k], (out[k] - schema->centre[2 + k]) * schema->factor[2 + k], 1e-5);
}

/* Columns are named, or numbered; names that are numbers or have hyphens are names first. */
TEST(names_of_channels_come_first)
{
    static float x[ROWS * 12];
    static const char *const NAMES[] = {"n", "7", "6", "5", "4", "3", "c-1", "c-2", "c-3", "c-4", "c-5", "m"};
    for (int i = 0; i < ROWS * 12; i++) x[i] = (float)(i * i % 31);
    SN_AUTO(stonet_data) *data = wrapped(x, ROWS, 12, NULL);
    OK(stonet_data_set_names(data, NAMES));
    for (int k = 0; k < 2; k++) {
        sn_encoding how = wanted(SN_CURVE_CENTRE, k == 0 ? "7-3,c-1-c-5" : "2-6,7-11");
        how.task = SN_TASK_WISH_NONE;
        SN_AUTO(sn_schema) *schema = fitted(data, &how);
        for (int j = 0; j < 12; j++)
            assert_int_equal(schema->input[j].curve, j == 0 || j == 11 ? 0 : 1 + (j > 5));
    }
}

TEST(what_is_no_curve_is_refused)
{
    static const struct {
        const char *columns, *words;
        int64_t window;
    } REFUSED[] = {{"2", "'2' is no range of the 15 feature columns", 0},
                   {"2-7,", "'' is no range", 0},
                   {"a1-a9", "'a1-a9' is no range", 0},
                   {"0-7", "is no range", 0},
                   {"7-2", "is no range", 0},
                   {"9-16", "is no range", 0},
                   {"2-99999999999999999999", "is no range", 0},
                   {"2-7,7-15", "is in two curves", 0},
                   {"1-7", "not one of plain numbers", 0},
                   {"2-5,9-15", "5 to 8192 columns", 0},
                   {"2-7,9-15", "5 to the 6", 7},
                   {"2-7,9-15", "an odd number", 6}};
    SN_AUTO(stonet_data) *data = table(NULL);
    for (size_t k = 0; k < sizeof REFUSED / sizeof *REFUSED; k++) {
        sn_encoding how = wanted(SN_CURVE_DERIVATIVE1, REFUSED[k].columns);
        sn_schema *schema = NULL;
        how.curve_window = REFUSED[k].window;
        assert_int_not_equal(sn_schema_fit(data, &how, NULL, &schema), STONET_OK);
        assert_null(schema);
        if (strstr(stonet_last_error(), REFUSED[k].words) == NULL) fail_msg("%s", stonet_last_error());
    }
}

RUN_TESTS(NULL, NULL)
