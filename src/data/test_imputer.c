/* What stands for missing cells: margins and back, conditional means and draws, the model file. */

#include "base/memory.h"
#include "base/test_kit.h"
#include "data/encoder.h"
#include "data/imputer.h"
#include "data/test_tables.h"
#include "math/noise.h"

enum { N = 1200 };
static double normal(uint32_t i, uint32_t j)
{
    return sn_noise_normal(9, SN_STREAM_TEST, i, 0, j, 0, 0);
}

/* a, b = .8 a + .6 e; grade 1, 2, 3 by thirds of a; colour red when a > .5, else blue or green by a coin;
   skewed = exp(a). One cell in five of the columns named is missing. */
static stonet_data *table(bool gaps, const char *target)
{
    static char text[N * 64];
    size_t used = (size_t)sprintf(text, "a,b,grade,colour,skewed,y\n");
    for (uint32_t i = 0; i < N; i++) {
        const double a = normal(i, 0), b = 0.8 * a + 0.6 * normal(i, 1);
        const char *colour = a > 0.5 ? "red" : normal(i, 2) > 0 ? "blue" : "green";
        char cell[5][40];
        snprintf(cell[0], 40, "%.6f", a);
        snprintf(cell[1], 40, "%.6f", b);
        snprintf(cell[2], 40, "%d", a < -0.43 ? 1 : a < 0.43 ? 2 : 3);
        snprintf(cell[3], 40, "%s", colour);
        snprintf(cell[4], 40, "%.6f", exp(a + 0.2 * normal(i, 3)));
        for (uint32_t j = 0; j < 5; j++)
            used += (size_t)sprintf(text + used, "%s,",
                                    gaps && i % 10 != 0 && normal(i, 10 + j) < -0.84 ? "" : cell[j]);
        used += (size_t)sprintf(text + used, "%.6f\n", a + normal(i, 4));
    }
    return table_with(text, target);
}

static sn_schema *fit(const stonet_data *data, int64_t levels)
{
    return FITTED(data, .missing = SN_MISSING_GAUSSIAN, .levels = levels);
}

TEST(levels_go_there_and_back)
{
    float x[1000];
    for (int i = 0; i < 1000; i++) x[i] = i < 700 ? 1 : i < 950 ? 2 : 5;
    SN_FREED_BY(sn_margin_free) sn_margin margin = {0};
    OK(sn_margin_fit(x, 1000, NULL, 0, &margin));
    assert_int_equal(margin.kind, SN_MARGIN_LEVELS);
    const float level[] = {1, 2, 5};
    const double share[] = {0.7, 0.25, 0.05};
    double expected = 0.0;
    for (int l = 0; l < 3; l++) {
        assert_true(sn_margin_value(&margin, sn_margin_score(&margin, level[l])) == (double)level[l]);
        assert_true(fabs(sn_margin_share(&margin, l, 0.0, 1.0) - share[l]) < 1e-9);
        expected += share[l] * (double)level[l];
    }
    assert_true(fabs(sn_margin_expected(&margin, 0.0, 1.0) - expected) < 1e-9);
}

TEST(skewed_columns_go_by_ranks)
{
    float x[N];
    for (uint32_t i = 0; i < N; i++) x[i] = (float)exp(1.5 * normal(i, 0));
    SN_FREED_BY(sn_margin_free) sn_margin margin = {0};
    OK(sn_margin_fit(x, N, NULL, 0, &margin));
    assert_int_equal(margin.kind, SN_MARGIN_SCORES);
    /* x is sorted by now; the score of the median is about 0, and the way back is the way there. */
    assert_true(fabs(sn_margin_score(&margin, x[N / 2])) < 0.05);
    for (int i = 5; i < N - 5; i += 50) {
        const double back = sn_margin_value(&margin, sn_margin_score(&margin, x[i]));
        assert_true(fabs(back - (double)x[i]) < 1e-3 * (double)x[i]);
    }
    assert_true(sn_margin_value(&margin, 40.0) == (double)x[N - 1]); /* never beyond what was seen */
    sn_margin_free(&margin);
    for (uint32_t i = 0; i < N; i++) x[i] = (float)normal(i, 0);
    OK(sn_margin_fit(x, N, NULL, 0, &margin));
    assert_int_equal(margin.kind, SN_MARGIN_PLAIN);
}

/* A feature as it was before it was scaled. */
static double raw(const sn_schema *schema, const float *row, int64_t f)
{
    return (double)row[f] / schema->factor[f] + schema->centre[f];
}

/* Encodes all rows with a draw of the missing cells. */
static float *encode(const sn_schema *schema, const stonet_data *data, uint32_t draw, bool by_content)
{
    float *x = test_zeros(data->n * schema->p, sizeof *x);
    SN_AUTO(sn_encoder) *encoder = NULL;
    OK(sn_encoder_create(schema, data, &encoder));
    sn_encoder_key(encoder, 5, by_content);
    const sn_rows rows = sn_rows_range(0, data->n);
    sn_encoder_source(encoder)->fetch(sn_encoder_source(encoder), &rows, draw, x, schema->p);
    return x;
}

TEST(what_is_there_keeps_its_bits)
{
    SN_AUTO(stonet_data) *gaps = table(true, "y"), *whole = table(false, "y");
    SN_AUTO(sn_schema) *schema = fit(gaps, 8);
    const int64_t p = schema->p;
    SN_BLOCK float *full = encode(schema, whole, 0, false);
    for (uint32_t draw = 0; draw < 3; draw++) {
        SN_BLOCK float *x = encode(schema, gaps, draw, false);
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < schema->n_inputs; j++)
                for (int64_t c = 0; c < schema->input[j].features; c++) {
                    const int64_t at = i * p + schema->input[j].first_feature + c;
                    assert_true(isfinite(x[at]));
                    if (!sn_frame_is_missing(gaps, i, j)) assert_true(x[at] == full[at]);
                }
    }
}

/* Drawn cells are values the column has, its levels' indicators follow them, and texts are one and no more.
 */
TEST(draws_are_possible_cells)
{
    SN_AUTO(stonet_data) *data = table(true, "y");
    SN_AUTO(sn_schema) *schema = fit(data, 8);
    const int64_t p = schema->p;
    SN_BLOCK float *x = encode(schema, data, 1, false);
    const sn_input *grade = &schema->input[2], *colour = &schema->input[3];
    assert_int_equal(grade->levels, 3);
    for (int64_t i = 0; i < N; i++) {
        const float *row = x + i * p;
        const int64_t g = grade->first_feature, c = colour->first_feature;
        const double number = raw(schema, row, g);
        assert_true(fabs(number - nearbyint(number)) < 1e-5 && number > 0.5 && number < 3.5);
        double total = 0.0;
        for (int64_t l = 0; l < 3; l++) {
            const double text = raw(schema, row, c + l);
            assert_near(raw(schema, row, g + 1 + l), nearbyint(number) == (double)(l + 1), 1e-5);
            assert_true(fabs(text) < 1e-5 || fabs(text - 1.0) < 1e-5);
            total += text;
        }
        assert_near(total, 1.0, 1e-5);
    }
}

/* Of cells that are missing: how far from the truth what stands for them is, by column; mean square over the
   column's variance 1. */
static double miss(const sn_schema *schema, const float *x, const float *truth, const stonet_data *data,
                   int64_t j)
{
    const int64_t p = schema->p, f = schema->input[j].first_feature;
    double sum = 0.0, count = 0.0;
    for (int64_t i = 0; i < N; i++) {
        if (!sn_frame_is_missing(data, i, j)) continue;
        const double gap = (double)x[i * p + f] - (double)truth[i * p + f];
        sum += gap * gap;
        count += 1.0;
    }
    return sum / count;
}

TEST(other_cells_tell_about_the_missing_ones)
{
    SN_AUTO(stonet_data) *gaps = table(true, "y"), *whole = table(false, "y");
    SN_AUTO(sn_schema) *schema = fit(gaps, 0);
    SN_BLOCK float *truth = encode(schema, whole, 0, false), *expected = encode(schema, gaps, 0, false),
                   *drawn = encode(schema, gaps, 1, false), *again = encode(schema, gaps, 1, false),
                   *other = encode(schema, gaps, 2, false);
    const int64_t p = schema->p;
    /* b given a alone leaves .36; a is told by skewed and grade too. */
    assert_true(miss(schema, expected, truth, gaps, 1) < 0.5);
    assert_true(miss(schema, expected, truth, gaps, 0) < 0.25);
    assert_true(miss(schema, expected, truth, gaps, 2) < 0.4);
    /* A draw is as far again from the expected as the truth is. */
    const double a = miss(schema, expected, truth, gaps, 1), b = miss(schema, drawn, truth, gaps, 1);
    assert_true(b > 1.5 * a && b < 2.6 * a);
    assert_memory_equal(drawn, again, (size_t)(N * p) * sizeof *drawn);
    assert_memory_not_equal(drawn, other, (size_t)(N * p) * sizeof *drawn);
}

/* In use a row's draws do not depend on where it stands. */
TEST(draws_by_content_stay_with_the_row)
{
    SN_AUTO(stonet_data) *data = table(true, "y"), *turned = NULL;
    SN_AUTO(sn_schema) *schema = fit(data, 0);
    const int64_t p = schema->p;
    int64_t rows[N];
    for (int64_t i = 0; i < N; i++) rows[i] = N - 1 - i;
    OK(stonet_data_subset(data, rows, N, &turned));
    SN_BLOCK float *x = encode(schema, data, 3, true), *y = encode(schema, turned, 3, true);
    for (int64_t i = 0; i < N; i++)
        assert_memory_equal(x + i * p, y + (N - 1 - i) * p, (size_t)p * sizeof *x);
}

TEST(rows_of_nothing_get_the_whole_law)
{
    SN_AUTO(stonet_data) *data = table(true, "y");
    SN_AUTO(sn_schema) *schema = fit(data, 0);
    const int64_t p = schema->p;
    double square = 0.0;
    for (uint32_t row = 0; row < 2000; row++) {
        float x[16];
        for (int64_t f = 0; f < p; f++) x[f] = NAN;
        sn_imputer_fill(schema->imputer, schema, &(sn_cell_draw){.seed = 1, .row = row, .draw = 1}, x);
        for (int64_t f = 0; f < p; f++) assert_true(isfinite(x[f]));
        square += (double)x[0] * (double)x[0] / 2000.0;
    }
    assert_true(fabs(square - 1.0) < 0.15);
}

TEST(the_file_has_it_all)
{
    SN_AUTO(stonet_data) *data = table(true, "y");
    for (int way = 0; way < 2; way++) {
        SN_AUTO(sn_schema) *schema = fit(data, way == 0 ? 8 : 0), *back = loaded_again(schema);
        SN_BLOCK float *x = encode(schema, data, 2, true), *y = encode(back, data, 2, true);
        assert_memory_equal(x, y, (size_t)(N * schema->p) * sizeof *x);
    }
}

/* Numbers of the file that do not go together are found before a row goes through. */
TEST(damage_is_found)
{
    SN_AUTO(stonet_data) *data = table(true, "y");
    SN_AUTO(sn_schema) *schema = fit(data, 8), *back = NULL;
    static const char *const names[] = {"feature", "margin", "count", "value", "score", "precision"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int way = 0; way < 2; way++) {
            SN_AUTO(sn_store) *store = stored(schema);
            char name[40];
            snprintf(name, sizeof name, "schema.cells.%s", names[k]);
            const sn_tensor *tensor = sn_store_find(store, name);
            assert_non_null(tensor);
            for (int64_t i = 0; i < sn_tensor_count(tensor); i++) {
                if (tensor->dtype == SN_I64)
                    ((int64_t *)tensor->data)[i] = way == 0 ? -1 : 1000000;
                else
                    ((double *)tensor->data)[i] = way == 0 ? (double)NAN : -1.0;
            }
            assert_int_equal(sn_schema_load(store, &back), STONET_ERROR_FORMAT);
        }
}

/* More columns than a full covariance is for: factors, and they help. */
TEST(wide_tables_have_factors)
{
    enum { ROWS = 600, P = 210 };
    SN_BLOCK float *x = test_zeros(ROWS * P, sizeof *x), *truth = test_zeros(ROWS * P, sizeof *truth);
    double y[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        y[i] = normal(i, 1000);
        for (uint32_t j = 0; j < P; j++) {
            truth[i * P + j] = (float)(normal(i, 2000 + j % 3) + 0.5 * normal(i, j));
            x[i * P + j] = normal(i, 3000 + j) < -1.0 ? NAN : truth[i * P + j];
        }
    }
    SN_AUTO(stonet_data) *data = wrapped(x, ROWS, P, y), *whole = wrapped(truth, ROWS, P, NULL);
    SN_AUTO(sn_schema) *schema = fit(data, 0);
    assert_int_equal(schema->imputer->gaussian.factors, SN_FACTORS_MOST);
    SN_BLOCK float *got = encode(schema, data, 0, false), *drawn = encode(schema, data, 1, false),
                   *want = encode(schema, whole, 0, false);
    double sum = 0.0, of_draws = 0.0, count = 0.0;
    for (int64_t k = 0; k < ROWS * P; k++) {
        if (!isnan(x[k])) continue;
        sum += ((double)got[k] - (double)want[k]) * ((double)got[k] - (double)want[k]);
        of_draws += ((double)drawn[k] - (double)want[k]) * ((double)drawn[k] - (double)want[k]);
        count += 1.0;
    }
    assert_true(sum / count < 0.3); /* .2 of the variance is noise */
    assert_true(of_draws / count > 1.5 * sum / count && of_draws / count < 2.5 * sum / count);
}

/* x ~ N(0, 1), y = x + e / 2, and x is missing where y > .7: those that are left have mean -.3. EM with y
   beside x has the law of all; given y, draws stand to y as the cells did. */
TEST(gaps_that_follow_the_response_do_not_move_the_law)
{
    enum { ROWS = 3000 };
    float x[2 * ROWS];
    double y[ROWS], seen = 0.0, drawn = 0.0, left = 0.0, cross = 0.0;
    for (uint32_t i = 0; i < ROWS; i++) {
        x[2 * i] = (float)normal(i, 30);
        x[2 * i + 1] = (float)normal(i, 31);
        y[i] = 1e6 + (double)x[2 * i] + 0.5 * normal(i, 32);
        if (y[i] > 1e6 + 0.7) x[2 * i] = NAN;
    }
    SN_AUTO(stonet_data) *data = wrapped(x, ROWS, 2, y);
    SN_AUTO(sn_schema) *schema = FITTED(data, .missing = SN_MISSING_GAUSSIAN, .scale = SN_SCALE_NONE);
    SN_BLOCK float *without = encode(schema, data, 1, false);
    SN_AUTO(sn_encoder) *encoder = NULL;
    OK(sn_encoder_create(schema, data, &encoder));
    sn_encoder_key(encoder, 1, false);
    sn_encoder_give_response(encoder);
    const sn_row_source *source = sn_encoder_source(encoder);
    sn_row_source *learned = NULL;
    const sn_rows half = sn_rows_range(0, ROWS / 2);
    OK(source->learned_from(source, &half, &learned));
    int others = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        float row[2], other[2];
        const sn_rows one = sn_rows_range(i, 1);
        source->fetch(source, &one, 1, row, 2);
        learned->fetch(learned, &one, 1, other, 2);
        others += row[0] != other[0];
        assert_true(row[0] == other[0] || (isnan(x[2 * i]) && fabsf(row[0] - other[0]) < 0.5F));
        seen += isnan(x[2 * i]) ? 0.0 : (double)x[2 * i];
        left += isnan(x[2 * i]) ? 0.0 : 1.0;
        drawn += (double)without[2 * i] * (isnan(x[2 * i]) ? 1.0 : 0.0);
        cross += (double)row[0] * (y[i] - 1e6) / ROWS;
    }
    learned->free(learned);
    assert_true(others > 100); /* half of the rows have a law of their own */
    assert_true(seen / left < -0.25);
    assert_true(fabs(drawn / (ROWS - left)) < 0.12); /* the law of new rows has mean 0 */
    assert_true(fabs(cross - 1.0) < 0.1);            /* cov(x, y) = 1 */
    sn_schema_forget_response(schema);
    assert_null(sn_imputer_response(schema->imputer, 0));
}

/* A completed table has all that was there, and cells that could have been there. */
TEST(completed_tables_keep_what_is_there)
{
    SN_AUTO(stonet_data) *with_target = table(true, "y"), *data = table(true, NULL), *first = NULL,
                         *again = NULL, *second = NULL;
    assert_int_equal(stonet_data_impute(with_target, 1, NULL, &first), STONET_ERROR_ARGUMENT);
    OK(stonet_data_impute(data, 1, NULL, &first));
    OK(stonet_data_impute(data, 1, NULL, &again));
    OK(stonet_data_impute(data, 2, NULL, &second));
    assert_int_equal(stonet_data_missing(first, -1), 0);
    assert_int_equal(first->n_columns, 6);
    int64_t differ = 0;
    double mean[2] = {0.0};
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < 6; j++) {
            const sn_column *column = &data->column[j];
            assert_string_equal(column->name, first->column[j].name);
            if (column->kind == SN_COLUMN_TEXT) {
                const int32_t code = data->text_code[column->slot][i],
                              drawn = first->text_code[column->slot][i];
                assert_in_range(drawn, 0, 2);
                if (code >= 0)
                    assert_string_equal(data->text_values[column->slot].text[code],
                                        first->text_values[column->slot].text[drawn]);
                continue;
            }
            const double was = sn_frame_number(data, i, column->slot),
                         is = sn_frame_number(first, i, column->slot);
            assert_true(isnan(was) ? isfinite(is) : is == was);
            assert_true(is == sn_frame_number(again, i, column->slot));
            differ += is != sn_frame_number(second, i, column->slot);
            if (strcmp(column->name, "grade") == 0) assert_true(is == 1.0 || is == 2.0 || is == 3.0);
            if (strcmp(column->name, "a") == 0) mean[isnan(was)] += is / N;
        }
    }
    assert_true(differ > N / 2);
    assert_true(fabs(mean[0] + mean[1]) < 0.12);
}

/* Complete tables, and columns of nothing or of names. */
TEST(what_cannot_be_drawn_stays_missing)
{
    char text[60 * 40] = "name,empty,a,count,b\n";
    for (uint32_t i = 0; i < 60; i++) {
        char name[20], cell[20];
        snprintf(name, sizeof name, "n%u", i);
        snprintf(cell, sizeof cell, "%u", 1000 + i * i);
        sprintf(text + strlen(text), "%s,,%.4f,%s,%.4f\n", i == 7 ? "" : name, normal(i, 50),
                i % 5 == 1 ? "" : cell, normal(i, 51));
    }
    SN_AUTO(stonet_data) *data = table_with(text, NULL), *out = NULL, *complete = table(false, NULL),
                         *whole = NULL;
    OK(stonet_data_impute(data, 3, NULL, &out));
    assert_int_equal(stonet_data_missing(out, 0), 1);
    assert_int_equal(stonet_data_missing(out, 1), 60);
    assert_int_equal(stonet_data_missing(out, 3), 0);
    for (int64_t i = 0; i < 60; i++) {
        const double count = sn_frame_number(out, i, out->column[3].slot);
        assert_true(count == rint(count));
    }
    OK(stonet_data_impute(complete, 1, NULL, &whole));
    assert_memory_equal(whole->x, complete->x,
                        (size_t)(complete->n * complete->n_numeric) * sizeof *whole->x);
    assert_int_equal(stonet_data_impute(complete, 0, NULL, &whole), STONET_ERROR_ARGUMENT);
}

RUN_TESTS(NULL, NULL)
