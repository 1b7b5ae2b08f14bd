/* Missing cells on the way through a whole model: every method, saved and loaded, in folds, in use. */
#include "base/test_kit.h"
#include "base/test_store.h"
#include "model/test_table.h"

enum { N = 160, P = 4 };

/* Correlated columns, so that cells tell about each other, with one cell in ten missing in rows that are no
   multiple of 4. */
static sn_table gaps(sn_table table)
{
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 1; j < P; j++)
            table.x[i * P + j] = 0.8F * table.x[i * P + j - 1] + 0.4F * table.x[i * P + j];
    for (int64_t i = 0; i < N * P; i++)
        if (i / P % 4 != 0 && sn_noise_normal(5, SN_STREAM_TEST, (uint32_t)i, 0, 0, 0, 0) < -1.0)
            table.x[i] = NAN;
    table.data->missing = sn_frame_count_missing(table.data, -1); /* which it counts when it is made */
    return table;
}

static stonet_model *fit_of(const char *method, const char *missing, const stonet_data *data)
{
    return sn_testing_fit(sn_testing_words("%s 1 hurry missing=%s", method, missing), data, NULL);
}

static stonet_model *reload(stonet_model *model)
{
    stonet_model *back = sn_testing_again(model);
    stonet_model_free(model);
    return back;
}

/* Every method is fitted on the table and answers for its rows; complete rows get the bits that they get when
   the others are complete too. */
TEST(every_method_takes_them)
{
    SN_TABLE table = gaps(sn_table_classes(N, P, 2, 3));
    assert_true(stonet_data_missing(table.data, -1) > 30);
    float filled[N * P];
    for (int64_t i = 0; i < N * P; i++) filled[i] = isnan(table.x[i]) ? 3.0F : table.x[i];
    SN_AUTO(stonet_data) *whole = sn_testing_data(filled, N, P, NULL);
    for (size_t k = 0; k < sn_method_count(); k++) {
        const sn_method *method = sn_method_at(k);
        if ((method->tasks & SN_TASK_CLASSIFICATION) == 0) continue;
        SN_AUTO(stonet_model) *model = reload(fit_of(method->name, "gaussian", table.data));
        double out[N * 2], same[N * 2], wrong = 0.0;
        float z[N * P], same_z[N * P];
        const size_t q = (size_t)stonet_model_dim(model); /* of none: all */
        if (stonet_predict(model, table.data, NULL, out) != STONET_OK)
            fail_msg("%s: %s", method->name, stonet_last_error());
        OK(stonet_predict(model, whole, NULL, same));
        OK(stonet_transform(model, table.data, NULL, z));
        OK(stonet_transform(model, whole, NULL, same_z));
        const int32_t *code = stonet_data_classes(table.data, NULL);
        for (int64_t i = 0; i < N; i++) {
            if (!(fabs(out[2 * i] + out[2 * i + 1] - 1.0) < 1e-5))
                fail_msg("%s: row %d: %g, %g", method->name, (int)i, out[2 * i], out[2 * i + 1]);
            wrong += (out[2 * i + 1] > 0.5) != (code[i] == 1);
        }
        for (int64_t i = 0; i < N; i += 4) {
            assert_memory_equal(out + 2 * i, same + 2 * i, 2 * sizeof *out);
            assert_memory_equal(z + i * (int64_t)q, same_z + i * (int64_t)q, q * sizeof *z);
        }
        if (strcmp(method->name, "none") == 0) assert_true(wrong < 0.25 * N);
    }
}

TEST(the_ways_differ_and_none_fails)
{
    SN_TABLE table = gaps(sn_table_numbers(N, P, 1, 4));
    sn_testing_refused("none 1 missing=error", table.data, "missing=error");
    static const char *const ways[] = {"drop", "mean", "gaussian"};
    double out[3][N];
    for (int k = 0; k < 3; k++) {
        SN_AUTO(stonet_model) *model = reload(fit_of("none", ways[k], table.data));
        OK(stonet_predict(model, table.data, NULL, out[k]));
    }
    assert_memory_not_equal(out[0], out[1], sizeof out[0]);
    assert_memory_not_equal(out[1], out[2], sizeof out[0]);
}

/* A model fitted on complete rows says something sensible of rows that are not. */
TEST(cells_may_be_missing_in_use_alone)
{
    SN_TABLE table = sn_table_numbers(N, P, 1, 5);
    for (int64_t i = 0; i < N; i++) table.x[i * P + 1] = table.x[i * P] + 0.1F * table.x[i * P + 1];
    SN_AUTO(stonet_model) *model = fit_of("none", "gaussian", table.data);
    double y[N], out[N];
    OK(stonet_predict(model, table.data, NULL, y));
    SN_BLOCK float *x = test_zeros((int64_t)N * P, sizeof *x);
    memcpy(x, table.x, (size_t)N * P * sizeof *x);
    for (int64_t i = 0; i < N; i++) x[i * P] = NAN; /* the one that matters; its neighbour tells it */
    SN_AUTO(stonet_data) *data = sn_testing_data(x, N, P, NULL);
    OK(stonet_predict(model, data, NULL, out));
    double mean = 0.0, left = 0.0, all = 0.0;
    for (int64_t i = 0; i < N; i++) mean += y[i] / N;
    for (int64_t i = 0; i < N; i++) {
        left += (out[i] - y[i]) * (out[i] - y[i]);
        all += (y[i] - mean) * (y[i] - mean);
    }
    assert_true(left < 0.1 * all);
}

/* Answers of the StoNet are means over draws: they do not depend on where a row stands, and have a spread. */
TEST(answers_are_means_over_draws)
{
    SN_TABLE table = gaps(sn_table_numbers(N, P, 1, 6));
    SN_AUTO(stonet_model) *model = reload(fit_of("stonet", "gaussian", table.data));
    SN_AUTO(stonet_data) *turned = sn_testing_rows(table.data, N - 1, N, -1);
    double out[N], back[N], sd[N], z_sd[N], many[N], squares = 0.0, incomplete = 0.0;
    float z[N], drawn[3 * N];
    OK(stonet_predict(model, table.data, NULL, out));
    OK(stonet_predict(model, turned, NULL, back));
    OK(stonet_missing_spread(model, table.data, NULL, z_sd, sd));
    stonet_use_options how = STONET_USE_OPTIONS_INIT;
    how.cell_draws = 400;
    OK(stonet_predict(model, table.data, &how, many));
    for (int64_t i = 0; i < N; i++) {
        assert_true(out[i] == back[N - 1 - i]);
        const bool complete = sn_frame_row_is_complete(table.data, i);
        assert_true(complete ? sd[i] == 0.0 && z_sd[i] == 0.0 : sd[i] > 0.0 && z_sd[i] > 0.0);
        if (complete) assert_true(many[i] == out[i]);
        if (complete) continue;
        const double off = (many[i] - out[i]) / (sd[i] / sqrt(20.0));
        squares += off * off;
        incomplete++;
    }
    /* In standard errors of 20 draws, which is how the many differ from the few, but for skewed rows. */
    assert_true(incomplete > 5 && squares < 3.0 * incomplete);
    const double *y = stonet_data_targets(table.data, NULL);
    for (int k = 0; k < 2; k++) { /* scores are of the predictions with the same options */
        const stonet_scores scores = sn_testing_scores(model, table.data, k == 0 ? NULL : &how);
        double mse = 0.0;
        for (int64_t i = 0; i < N; i++) mse += pow((k == 0 ? out : many)[i] - y[i], 2) / N;
        assert_true(fabs(scores.mse - mse) < 1e-12 * mse);
    }
    /* Passes with noise have draws of their own; those of complete rows are what they were. */
    how = (stonet_use_options)STONET_USE_OPTIONS_INIT;
    how.draws = 3;
    OK(stonet_transform(model, table.data, &how, drawn));
    SN_AUTO(stonet_data) *whole = sn_testing_rows(table.data, 0, 1, 1);
    OK(stonet_transform(model, whole, &how, z));
    for (int64_t d = 0; d < 3; d++) assert_true(drawn[d * N] == z[d]);
}

/* v + (1 + 1/M) b of an incomplete row, v one of the variances that complete rows have, or nearly; of a
   complete row what it has without the others. */
TEST(spreads_count_what_is_missing)
{
    enum { M = 25 };
    SN_TABLE table = gaps(sn_table_numbers(N, P, 1, 4));
    SN_AUTO(stonet_model) *model = sn_testing_fit(
        "stonet 1 response=location-scale hidden=4 epochs=150 activation=tanh weight_decay=0 front=none",
        table.data, NULL);
    const stonet_use_options how = {.size = sizeof how, .cell_draws = M};
    double spread[N], between[N], alone[N / 4], most = 0;
    SN_AUTO(stonet_data) *some = sn_testing_rows(table.data, 0, N / 4, 4); /* complete ones */
    OK(stonet_predict_spread(model, table.data, &how, spread));
    OK(stonet_missing_spread(model, table.data, &how, NULL, between));
    OK(stonet_predict_spread(model, some, &how, alone));
    for (int64_t k = 0; k < N / 4; k++) {
        assert_true(alone[k] == spread[4 * k] && between[4 * k] == 0.0);
        most = fmax(most, alone[k] * alone[k]);
    }
    int incomplete = 0, far = 0;
    for (int64_t i = 0; i < N; i++) {
        if (between[i] == 0.0) continue;
        const double b = (1.0 + 1.0 / M) * between[i] * between[i], v = spread[i] * spread[i] - b;
        assert_true(v > 0.0 && v < 4.0 * most);
        far += b > most;
        incomplete++;
    }
    assert_true(incomplete > 20 && far > 0);
}

/* Above 200 features the Gaussian has factors: kept, loaded, and refused when they are damaged. */
TEST(wide_tables_keep_their_factors)
{
    enum { ROWS = 50, WIDE = 210 };
    SN_TABLE table = sn_table_features(ROWS, WIDE, 7);
    for (int64_t i = 0; i < ROWS * WIDE; i += 37) table.x[i] = NAN;
    SN_AUTO(stonet_data) *data = sn_testing_data(table.x, ROWS, WIDE, NULL);
    SN_AUTO(stonet_model) *model = fit_of("pca", "gaussian", data), *again = sn_testing_again(model);
    stonet_model *back = NULL;
    assert_same_answers(model, again, data);
    SN_AUTO(sn_store) *whole = sn_testing_store(model);
    static const char *const CHANGED[] = {"schema.cells.noise", "schema.cells.loadings",
                                          "schema.cells.precision"};
    assert_null(sn_store_find(whole, CHANGED[2]));
    for (int way = 0; way < 3; way++) { /* noise below 0, too many factors, a precision beside them */
        SN_AUTO(sn_store) *damaged = sn_store_without(whole, CHANGED[way]);
        const sn_tensor *noise = sn_store_find(whole, CHANGED[0]);
        SN_BLOCK double *below = test_zeros(WIDE, sizeof *below);
        below[0] = -1;
        OK(way == 0 ? sn_store_put(damaged, CHANGED[0], SN_F64, noise->rank, noise->shape, below)
                    : sn_store_put_matrix(damaged, CHANGED[way], SN_F64, WIDE, way == 1 ? 21 : WIDE, NULL));
        assert_says(sn_model_from_store(damaged, &back), STONET_ERROR_FORMAT, "schema.cells.");
    }
}

TEST(threads_do_not_matter)
{
    SN_TABLE table = gaps(sn_table_numbers(N, P, 1, 7));
    double out[4][N];
    for (int k = 0; k < 4; k++) {
        stonet_run run = STONET_RUN_INIT;
        run.threads = 1 + k % 2;
        SN_AUTO(stonet_model) *model = sn_testing_fit(
            k < 2 ? "stonet 1 hurry missing=gaussian" : "stonet 1 hurry missing=joint", table.data, &run);
        OK(stonet_predict(model, table.data, NULL, out[k]));
    }
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    assert_memory_equal(out[2], out[3], sizeof out[0]);
    assert_memory_not_equal(out[0], out[2], sizeof out[0]); /* given the response, cells are others */
}

/* missing=auto is joint for a StoNet of numbers, and gaussian for complete rows, classes and other methods.
 */
TEST(auto_is_joint_for_numbers)
{
    SN_TABLE table = gaps(sn_table_numbers(N, P, 1, 7));
    SN_TABLE whole = sn_table_numbers(N, P, 1, 7);
    SN_TABLE classes = gaps(sn_table_classes(N, P, 2, 7));
    const struct {
        const char *method, *way;
        const stonet_data *data;
        const char *same; /* as which setting it has the same predictions */
    } cases[] = {{"stonet", "auto", table.data, "joint"},
                 {"stonet", "auto", whole.data, "gaussian"},
                 {"stonet", "auto", classes.data, "gaussian"},
                 {"sir", "auto", table.data, "gaussian"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        SN_AUTO(stonet_model) *model = fit_of(cases[k].method, "auto", cases[k].data);
        SN_AUTO(stonet_model) *same = fit_of(cases[k].method, cases[k].same, cases[k].data);
        assert_same_answers(model, same, cases[k].data);
        assert_int_equal(model->schema->missing, same->schema->missing);
    }
}

/* y = x1 + noise; x1 is missing where it is large (telling), or anywhere. */
static sn_table telling_gaps(bool telling, uint32_t seed)
{
    enum { ROWS = 400 };
    sn_table table = sn_table_features(ROWS, 3, seed);
    double y[ROWS];
    for (int64_t i = 0; i < ROWS; i++) {
        float *x = table.x + 3 * i;
        const double noise = sn_noise_normal(seed, SN_STREAM_TEST, (uint32_t)i, 1, 0, 0, 0);
        y[i] = (double)x[0] + 0.5 * noise;
        if (telling ? x[0] > 0.8F : noise > 0.8) x[0] = NAN;
        if (!telling) y[i] = (double)x[1];
    }
    stonet_data_free(table.data);
    table.data = sn_testing_data(table.x, ROWS, 3, y);
    return table;
}

static double error_of(stonet_model *model, const stonet_data *data)
{
    enum { ROWS = 400 };
    double out[ROWS], sum = 0.0;
    const double *y = stonet_data_targets(data, NULL);
    OK(stonet_predict(model, data, NULL, out));
    for (int i = 0; i < ROWS; i++) sum += (out[i] - y[i]) * (out[i] - y[i]) / ROWS;
    stonet_model_free(model);
    return sum;
}

/* Gaps that tell something can have a feature of their own, and new rows gain by it; without a word none has.
 */
TEST(gaps_that_tell_can_have_indicators)
{
    SN_TABLE train = telling_gaps(true, 1), test = telling_gaps(true, 2);
    static const char *const methods[] = {"none 1 learner=linear missing_indicators=on",
                                          "stonet 1 hurry missing_indicators=on"};
    for (int k = 0; k < 2; k++) {
        stonet_model *model = reload(sn_testing_fit(methods[k], train.data, NULL));
        assert_int_equal(stonet_model_features(model), 4);
        assert_string_equal(stonet_model_feature_name(model, 1), "x1 is missing");
        SN_BLOCK char *json = stonet_model_json(model);
        assert_non_null(strstr(json, "\"indicators\": [\n      \"x1\"\n    ]"));
        const double with = error_of(model, test.data);
        if (k > 0) continue;
        assert_true(with < 0.9 * error_of(sn_testing_fit("none 1 learner=linear missing_indicators=off",
                                                         train.data, NULL),
                                          test.data));
    }
    SN_AUTO(stonet_model) *plain = sn_testing_fit("none 1 learner=linear", train.data, NULL);
    assert_int_equal(stonet_model_features(plain), 3);
}

/* Complete tables are fitted as if there were no such thing, whatever is asked. */
TEST(complete_tables_have_no_indicators)
{
    static const char *const wishes[] = {"stonet 1 hurry missing_indicators=off", "stonet 1 hurry",
                                         "stonet 1 hurry missing_indicators=on"};
    SN_TABLE table = sn_table_numbers(N, P, 1, 8);
    double out[3][N];
    for (int k = 0; k < 3; k++) {
        SN_AUTO(stonet_model) *model = sn_testing_fit(wishes[k], table.data, NULL);
        assert_int_equal(stonet_model_features(model), P);
        OK(stonet_predict(model, table.data, NULL, out[k]));
        assert_memory_equal(out[0], out[k], sizeof out[0]);
    }
}

RUN_TESTS(NULL, NULL)
